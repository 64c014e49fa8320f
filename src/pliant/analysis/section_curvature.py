"""Section forces of a beam from its strains: N = E A u', V = k A G (w' - theta), T = G J phi', M = E I theta'.

These forces depend on the loads only through the modes. With few modes they are rough; they converge with the number of modes, but
slowly near a force or a support. They are nan in a direction in which the beam has no modes, since there is no strain. The shear
force of an Euler-Bernoulli beam, which has no shear strain, is nan too.
"""

from __future__ import annotations

import numpy as np

from pliant.analysis.material_line import Floats, MaterialLine
from pliant.analysis.section_balance import SectionWrench
from pliant.model.beam import Beam
from pliant.model.telescopic import TelescopicBeam

TIMOSHENKO = "timoshenko"


def curvature(line: MaterialLine, body: Beam | TelescopicBeam, stations: Floats) -> SectionWrench:
    """Section forces in the axes of the sections; stations are fractions of the length."""
    strain, bend = line.strains(stations)
    force, moment = stiffness(body)
    return SectionWrench(strain * force, bend * moment)


def stiffness(body: Beam | TelescopicBeam) -> tuple[Floats, Floats]:
    """(E A, k A G, k A G), (G J, E Iy, E Iz); nan where the body has no modes of that kind, or its theory has no shear."""
    section, material = body.section, body.material
    shear = material.shear_modulus or np.nan
    sheared = (section.shear_factor or np.nan) * section.A * shear if getattr(body, "theory", "") == TIMOSHENKO else np.nan
    kinds = {label.rstrip("0123456789") for label in body.mode_labels}
    along = {"axial": material.E * section.A, "y": sheared, "z": sheared}
    about = {"torsion": shear * (section.J or np.nan), "z": material.E * (section.Iy or np.nan),
             "y": material.E * (section.Iz or np.nan)}  # fmt: skip
    force, moment = (np.array([x if kind in kinds else np.nan for kind, x in of.items()]) for of in (along, about))
    return force, moment
