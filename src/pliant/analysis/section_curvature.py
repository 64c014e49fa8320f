"""Section forces of a beam from its strains: N = E A u', V = k A G (w' - theta), T = G J phi', M = E I theta'.

These forces depend on the loads only through the modes. With few modes they are rough; they converge with the number of modes, but
slowly near a force or a support. They are nan in a direction in which the beam has no modes, since there is no strain. The shear
force of an Euler-Bernoulli beam, which has no shear strain, is nan too.
"""

from __future__ import annotations

import numpy as np

from pliant.analysis.material_line import MaterialLine
from pliant.analysis.section_balance import SectionWrench
from pliant.arrays import Floats
from pliant.beams.ritz import rigidities
from pliant.model.beam import Beam
from pliant.model.telescopic import TelescopicBeam

TIMOSHENKO = "timoshenko"


def curvature(line: MaterialLine, body: Beam | TelescopicBeam, stations: Floats) -> SectionWrench:
    """Section forces in the axes of the sections; stations are fractions of the length."""
    strain, bend = line.strains(stations)
    force, moment = stiffness(body, stations)
    return SectionWrench(strain * force, bend * moment)


def stiffness(body: Beam | TelescopicBeam, stations: Floats) -> tuple[Floats, Floats]:
    """(E A, k A G, k A G), (G J, E Iy, E Iz) at fractions of the length, (len, 3) each; nan without such modes or shear."""
    stiff = rigidities(body.along(stations * body.length) if isinstance(body, Beam) else body)
    sheared = stiff["shear"] if getattr(body, "theory", "") == TIMOSHENKO else np.nan
    kinds = {label.rstrip("0123456789") for label in body.mode_labels}
    along = {"axial": stiff["axial"], "y": sheared, "z": sheared}
    about = {kind: stiff[kind] for kind in ("torsion", "z", "y")}
    force, moment = (np.stack([np.broadcast_to(x if kind in kinds else np.nan, stations.shape) for kind, x in of.items()], axis=1)
                     for of in (along, about))  # fmt: skip
    return force, moment
