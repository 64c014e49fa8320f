"""Andrews' squeezing mechanism: seven planar bodies in three loops, pulled by a spring, driven by a constant torque.

Numbers and names as in Hairer, Wanner, Solving Ordinary Differential Equations II, VII.7, and the test set. Body Ki turns by the
coordinate q_i, relative to the body it stands on: K2 on K1, K4 on K5, K6 on K7; K1 stands on the origin, K3 on B, K5 and K7 on A.
"""

from __future__ import annotations

from typing import Any

from pliant.model.joint import Revolute
from pliant.model.rigid import RigidBody
from pliant.model.system import System
from pliant.scalar import Scalar, cos, sin, sqrt

MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)  # kg
INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)  # kg m^2, about the mass centres
A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)  # m, pivots; the spring is fixed at C
STIFFNESS, REST = 4530.0, 0.07785  # N/m, m, of the spring
TORQUE = 0.033  # N m
D, DA, E, EA, RR, RA = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092  # m
SS, SA, SB, SC, SD, TA, TB = 0.035, 0.01874, 0.01043, 0.018, 0.02, 0.02308, 0.00916
U, UA, UB, ZF, ZT, FA = 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421
START = (-0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885884, 0.487364979543842550,
         -0.222668390165885884, 1.23054744454982119)  # fmt: skip  # rad

PINS = ("K3", "K4", "K6")  # bodies to whose tips the tip of K2 is pinned, in the order of the test set's six constraints


def andrews_squeezer() -> System:
    """The squeezer at rest, its loops closed by multipliers.

    The test set writes M q'' = f - G^T lambda with g = tip of K2 - tip of K3 (then K4, K6), x before y. A closure's residual is
    frame a less frame b with M q'' = f + A^T lam here: with a the tip of K2, A = G and lam = -lambda, row by row.
    """
    system = System("Andrews' squeezer", gravity=(0.0, 0.0))
    crank = system.add("K1", _body(0, (RA, 0.0), (RR, 0.0)), joint=_turn(0))
    middle = system.add("K2", _body(1, (-DA, 0.0), (-D, 0.0)), joint=_turn(1), on=crank.tip)
    hook = _body(2, (SB, -SA), (0.0, -SS), D=(SD, -SC))
    system.add("K3", hook, joint=_turn(2), on=system.ground.moved(B))
    left = system.add("K5", _body(4, (TB, TA), (ZT, 0.0)), joint=_turn(4), on=system.ground.moved(A))
    system.add("K4", _body(3, (0.0, EA - E), (0.0, -E)), joint=_turn(3), on=left.tip)
    right = system.add("K7", _body(6, (UB, -UA), (0.0, -U)), joint=_turn(6), on=system.ground.moved(A))
    system.add("K6", _body(5, (ZF - FA, 0.0), (ZF, 0.0)), joint=_turn(5), on=right.tip)
    for name in PINS:
        system.close(f"pin {name}", "point", middle.tip, system.handle(name).tip)
    system.drive("motor", "K1.angle", TORQUE)
    system.force("spring", system.handle("K3").at("D"), (_pull(0), _pull(1)))
    return system


def _body(k: int, com: tuple[float, float], tip: tuple[float, float], **frames: tuple[float, float]) -> RigidBody:
    return RigidBody(mass=MASSES[k], inertia=INERTIAS[k], com=com, tip=tip, frames=frames)


def _turn(k: int) -> Revolute:
    return Revolute(angle=START[k])


def _pull(direction: int) -> Any:
    """The spring's force on D, as a function of the angle of K3."""

    def force(t: Scalar, q: Any, v: Any) -> Scalar:
        c, s = cos(q["K3.angle"]), sin(q["K3.angle"])
        stretch = (B[0] + SD * c + SC * s - C[0], B[1] + SD * s - SC * c - C[1])
        length = sqrt(stretch[0] ** 2 + stretch[1] ** 2)
        return -STIFFNESS * (length - REST) / length * stretch[direction]

    return force
