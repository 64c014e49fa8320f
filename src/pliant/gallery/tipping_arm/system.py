"""The tipping arm of Wang, Yan, Fang and Jin 2012: an elastic arm, pinned at its foot, falls against a wall and bounces off.

Table 1's tube, cantilever shapes with the printed roots (eq. 10), foreshortening (eq. 3, 11, 12), contact at the tip (eq. 13, 15).
Our own choices, where the text gives no value: g = 9.81 m/s2, the damping of the contact, and alpha of the structure. The paper's
signs contradict each other, so there are two geometries: `down45` falls along G of eq. 22, from 45 to 90 degrees; `swing135` falls
along eq. 13 and 21, from 45 to -90 degrees. The wall is x = 0, and the arm stands at x > 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.model import check
from pliant.model.beam import Beam
from pliant.model.contact import Plane
from pliant.model.damping import Rayleigh
from pliant.model.joint import Revolute, Weld
from pliant.model.material import Material
from pliant.model.modes import GivenModes, Modes, ShapeFunction
from pliant.model.normal_law import FixedHuntCrossley, Hertz, NormalLaw, WangYanFangJin
from pliant.model.rigid import RigidBody
from pliant.model.section import Section
from pliant.model.system import System

# Table 1
DENSITY, LENGTH, AREA = 2700.0, 0.8, 7.297e-5  # kg/m^3, m, m^2
YOUNG, INERTIA = 6.895e10, 2.031e-9  # Pa, m^4 (printed as kg m^2)
START = 0.25 * math.pi  # rad
STIFFNESS = 5.0351e9  # N/m^1.5 (printed as N/m)
ROOTS = (1.875, 4.694)  # beta l, eq. 10

# our choices where the text gives no value
GRAVITY = 9.81  # m/s^2
RESTITUTION = 0.8  # of Hunt and Crossley's law, at the speed of the rigid arm
DASHPOT = 100.0  # N s/m, of eq. 15
ALPHA = 5.0  # 1/s, where the structure is damped

BODY_LENGTH, BODY_MASS = 0.6, 1.0  # m, kg, of the body of section 1.1
LEAN, TIPPING = 0.3, 1.5  # rad from upright and rad/s, at the touch
GAP = 1e-4  # m from the wall at the start

GRAVITY_ALONG = {"down45": 1.0, "swing135": -1.0}  # Y0
WALL = {"down45": 0.5 * math.pi, "swing135": -0.5 * math.pi}  # rad: the angle of a straight arm at the wall
MODELS = ("full", "as-published")
LAWS = ("hertz", "hunt-crossley", "dashpot")


@dataclass(frozen=True)
class Case:
    """One arm: its direction of fall, the terms kept, the dissipation in wall and structure, and its stiffness."""

    geometry: str = "down45"
    model: str = "full"
    law: str = "hertz"
    alpha: float = 0.0  # 1/s, Rayleigh's
    bending: float = 1.0  # EI over Table 1's
    modes: int | None = None  # None: the two shapes as printed; a number: that many exact cantilever modes
    stiffness: float = STIFFNESS  # of the contact, N/m^1.5

    def __post_init__(self) -> None:
        part = "tipping arm"
        check.choice(part, "geometry", self.geometry, tuple(WALL))
        check.choice(part, "model", self.model, MODELS)
        check.choice(part, "law", self.law, LAWS)
        check.not_negative(part, "alpha", self.alpha, "1/s")
        check.positive(part, "bending", self.bending)
        if self.modes is not None:
            check.count(part, "modes", self.modes)
        check.positive(part, "stiffness", self.stiffness, "N/m^1.5")

    @property
    def name(self) -> str:
        """The name in summary.json, such as down45/full/hertz/alpha0/EI1."""
        return f"{self.geometry}/{self.model}/{self.law}/alpha{self.alpha:g}/EI{self.bending:g}"

    @property
    def wall(self) -> float:
        """The angle at the wall, rad."""
        return WALL[self.geometry]

    @property
    def fall(self) -> float:
        """Energy of the fall, J, the scale of energy errors: m g times the drop of the straight arm's middle to the wall."""
        drop = 0.5 * LENGTH * (1.0 - GRAVITY_ALONG[self.geometry] * math.sin(START))
        return DENSITY * AREA * LENGTH * GRAVITY * drop

    @property
    def rigid_speed(self) -> float:
        """Speed of the tip of a rigid arm at the wall, m/s."""
        return math.sqrt(2.0 * self.fall * 3.0 / (DENSITY * AREA * LENGTH))

    @property
    def normal(self) -> NormalLaw:
        if self.law == "hertz":
            return Hertz(stiffness=self.stiffness)
        if self.law == "dashpot":
            return WangYanFangJin(stiffness=self.stiffness, damping=DASHPOT)
        return FixedHuntCrossley(stiffness=self.stiffness, chi=1.5 * (1.0 - RESTITUTION) / self.rigid_speed)


def shape(root: float) -> ShapeFunction:
    """Eq. 10 for one beta l. The printed roots are rounded, so the shapes meet the free end's conditions only to four digits."""
    beta = root / LENGTH
    gamma = -(math.cos(root) + math.cosh(root)) / (math.sin(root) + math.sinh(root))

    def w(x: Any) -> Any:
        return np.cos(beta * x) - np.cosh(beta * x) + gamma * (np.sin(beta * x) - np.sinh(beta * x))

    def dw(x: Any) -> Any:
        return beta * (-np.sin(beta * x) - np.sinh(beta * x) + gamma * (np.cos(beta * x) - np.cosh(beta * x)))

    def ddw(x: Any) -> Any:
        return beta**2 * (-np.cos(beta * x) - np.cosh(beta * x) - gamma * (np.sin(beta * x) + np.sinh(beta * x)))

    return ShapeFunction(w=w, dw=dw, ddw=ddw)


def arm(case: Case) -> Beam:
    return Beam(
        length=LENGTH,
        section=Section(A=AREA, Iz=case.bending * INERTIA),
        material=Material(E=YOUNG, density=DENSITY),
        theory="euler-bernoulli",
        modes=GivenModes(tuple(shape(root) for root in ROOTS)) if case.modes is None else Modes("cf", case.modes, static=False),
        damping=(Rayleigh(alpha=case.alpha),) if case.alpha else (),
        stiffening=case.model,
    )


def tipping_arm(case: Case | None = None) -> System:
    """The arm 45 degrees from level, at rest, and the wall."""
    case = Case() if case is None else case
    system = System(f"tipping arm {case.name}", gravity=(0.0, GRAVITY_ALONG[case.geometry] * GRAVITY))
    link = system.add("arm", arm(case), joint=Revolute(angle=START))
    system.contact(points=link.tip, against=Plane(normal=(1, 0)), normal=case.normal, name="wall")
    return system


def body_and_arm(locked: bool, raised: float = 0.0) -> System:
    """The two links of section 1.1 just before the arm touches the wall: a body that tips about its foot, and the arm on it.

    locked: whether the arm is fixed to the body, as the paper then takes it. raised: of the arm from level, rad. The text gives no
    numbers for the body.
    """
    system = System(f"body and arm, {'locked' if locked else 'hinged'}, {raised:g} rad", gravity=(0.0, -GRAVITY))
    reach = BODY_LENGTH * math.sin(LEAN) + LENGTH * math.cos(raised)
    rod = RigidBody.rod(BODY_LENGTH, BODY_MASS)
    body = system.add(
        "body", rod, joint=Revolute(angle=0.5 * math.pi + LEAN, rate=TIPPING), on=system.ground.moved((reach + GAP, 0.0))
    )
    from_body = 0.5 * math.pi - LEAN - raised
    joint, on = (Weld(), body.tip.turned(from_body)) if locked else (Revolute(angle=from_body), body.tip)
    link = system.add("arm", arm(Case(alpha=ALPHA)), joint=joint, on=on)
    system.contact(points=link.tip, against=Plane(normal=(1, 0)), normal=Case().normal, name="wall")
    return system
