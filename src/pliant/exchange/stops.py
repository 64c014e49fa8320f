"""Ends of travel that a file gives without saying how hard they are.

By default such a stop is a spring that yields a thousandth of a radian, or a tenth of a millimetre, under the weight of all that
its joint carries, stretched out, with a damper of half its critical damping. That is hard enough for the motion and soft enough for
the time step; a law of one's own replaces it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from pliant.exchange.description import Description, JointPart
from pliant.model.joint import Prismatic

WEIGHT = 9.81  # m/s^2, also where there is no gravity
YIELDS = {True: 1e-4, False: 1e-3}  # m of a slide, rad of a hinge
DAMPING_RATIO = 0.5
LIGHTEST = 1e-6  # kg or kg m^2: what a joint without mass behind it is taken to carry


def stiffness_and_damping(description: Description, joint: JointPart, ratios: Mapping[str, float]) -> tuple[float, float]:
    """Of the stops of a joint, N/m and N s/m, or N m/rad and N m s/rad. ratios: of the joints that follow it."""
    load, inertia = 0.0, LIGHTEST
    for name, ratio in {joint.name: 1.0, **ratios}.items():
        slides = description.joints[name].kind is Prismatic
        for mass, lever, own in _carried(description, name):
            load += abs(ratio) * mass * WEIGHT * (1.0 if slides else lever)
            inertia += ratio**2 * (mass if slides else mass * lever**2 + own)
    stiffness = max(load, LIGHTEST * WEIGHT) / YIELDS[joint.kind is Prismatic]
    return stiffness, 2.0 * DAMPING_RATIO * math.sqrt(stiffness * inertia)


def _carried(description: Description, name: str) -> Iterator[tuple[float, float, float]]:
    """Mass, kg, largest distance of its centre, m, and largest moment of inertia, kg m^2, of all links that a joint carries."""
    waiting = [(description.joints[name].child, 0.0)]
    while waiting:
        link, reach = waiting.pop()
        inertial = description.links[link].inertial
        if inertial is not None:
            yield inertial.mass, reach + float(np.linalg.norm(inertial.com)), float(np.max(np.diag(inertial.inertia)))
        waiting += [(other.child, reach + float(np.linalg.norm(other.place.origin)))
                    for other in description.joints.values() if other.parent == link]  # fmt: skip
