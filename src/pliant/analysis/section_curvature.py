"""Section forces of a beam by its strains: N = E A u', V = k A G (w' - theta), T = G J phi', M = E I theta'.

They know nothing of what acts but by the modes: of a few modes they are a rough answer that converges with their number, at a
force or a support slowly. A direction in which the beam has no modes has no strain to go by: nan. The shear force of an
Euler-Bernoulli beam, which does not shear, is nan too.
"""

from __future__ import annotations

import numpy as np

from pliant.analysis.material_line import Floats, MaterialLine
from pliant.analysis.section_balance import SectionWrench
from pliant.model.beam import Beam
from pliant.model.telescopic import TelescopicBeam

TIMOSHENKO = "timoshenko"


def curvature(line: MaterialLine, body: Beam | TelescopicBeam, stations: Floats) -> SectionWrench:
    """Section forces at stations, fractions, in the axes of the sections."""
    strain, bend = line.strains(stations)
    force, moment = stiffness(body)
    return SectionWrench(strain * force, bend * moment)


def stiffness(body: Beam | TelescopicBeam) -> tuple[Floats, Floats]:
    """(E A, k A G, k A G), (G J, E Iy, E Iz); nan where the body has no modes of the kind, or does not shear."""
    section, material = body.section, body.material
    shear = material.shear_modulus or np.nan
    sheared = (section.shear_factor or np.nan) * section.A * shear if getattr(body, "theory", "") == TIMOSHENKO else np.nan
    kinds = {label.rstrip("0123456789") for label in body.mode_labels}
    along = {"axial": material.E * section.A, "y": sheared, "z": sheared}
    about = {"torsion": shear * (section.J or np.nan), "z": material.E * (section.Iy or np.nan),
             "y": material.E * (section.Iz or np.nan)}  # fmt: skip
    force, moment = (np.array([x if kind in kinds else np.nan for kind, x in of.items()]) for of in (along, about))
    return force, moment
