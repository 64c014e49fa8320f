"""Two slider-cranks with clearance: a worn bearing between rod and slider, and a slider with play in its guide.

The first is that of Flores, Ambrosio, Claro, Lankarani and co-workers (many papers since 2004): its crank turns at 5000 rpm. The
rod is as heavy as a bar of steel of 15 mm by 15 mm, which it is where it may bend (Schwab, Meijaard, Meijers 2002). The second is
table 1 of Flores, Leine, Glocker 2010: nothing drives it, and the four corners of its slider touch the guide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pliant.model.beam import Beam
from pliant.model.clearance import ClearancePrismatic, ClearanceRevolute
from pliant.model.damping import ModalDamping
from pliant.model.friction_law import Ambrosio, Coulomb
from pliant.model.hertz import hertz_stiffness
from pliant.model.joint import Prismatic, Revolute
from pliant.model.journal_law import JohnsonJournal, contact_modulus
from pliant.model.material import Material
from pliant.model.modes import AxialModes, Modes
from pliant.model.normal_law import Exact, Impulsive, LankaraniNikravesh, NormalLaw
from pliant.model.rigid import RigidBody
from pliant.model.section import Section
from pliant.model.system import System

GRAVITY = (0.0, -9.81)  # m/s^2

# The bearing between rod and slider
CRANK, ROD = 0.05, 0.12  # m
CRANK_MASS, CRANK_INERTIA = 0.30, 1.0e-4  # kg, kg m^2
ROD_MASS, ROD_INERTIA = 0.21, 2.5e-4
SLIDER_MASS = 0.14
SPEED = 5000.0 * 2.0 * math.pi / 60.0  # rad/s
TURN = 2.0 * math.pi / SPEED  # s
JOURNAL, WIDTH = 0.01, 0.015  # m: its radius, and the length of the line of contact (ours)
CLEARANCES = (1e-4, 2.5e-4, 5e-4)  # m
STEEL = Material(E=207e9, nu=0.3, density=ROD_MASS / (ROD * 0.015**2))
RESTITUTION = 0.9
FRICTION = 0.03
RUB = (1e-3, 1e-2)  # m/s: between these speeds friction grows to its full size (ours)
DAMPING = 0.01  # of the rod's modes, where it bends (ours)

# The slider in its guide: table 1
GUIDED_CRANK, GUIDED_ROD = 0.153, 0.306  # m
GUIDED_MASSES = (0.038, 0.038, 0.076)  # kg: crank, rod, slider
GUIDED_INERTIAS = (7.4e-5, 5.9e-4, 2.7e-6)  # kg m^2
SLIDER, GUIDE_PLAY = (0.1, 0.05), 1e-3  # m: length and height of the slider, clearance on each side
GUIDED_RATES = (150.0, -75.0, 0.0)  # rad/s of the three bodies at the start, stretched out
GUIDED_RESTITUTION, GUIDED_FRICTION = 0.4, 0.01
GUIDED_END = 0.2  # s
STIFF = 1e9  # N/m^1.5, of the corners where they are elastic (ours)


@dataclass(frozen=True)
class Case:
    """One bearing between rod and slider. law: "lankarani", as in the literature, or "johnson", of a line of contact."""

    clearance: float = CLEARANCES[-1]  # m
    friction: float = 0.0
    elastic: bool = False
    law: str = "lankarani"

    @property
    def normal(self) -> NormalLaw:
        if self.law == "johnson":
            return JohnsonJournal(modulus=contact_modulus(STEEL), length=WIDTH, radius=JOURNAL, clearance=self.clearance,
                                  restitution=RESTITUTION)  # fmt: skip
        stiffness = hertz_stiffness(JOURNAL, STEEL, -(JOURNAL + self.clearance), STEEL)
        return LankaraniNikravesh(stiffness=stiffness, restitution=RESTITUTION)


def slider_crank(case: Case | None = None, touching: bool = True) -> System:
    """Rod and slider joined by a bearing with clearance. touching=False: the free mechanism, which is the same until they touch."""
    case = case or Case()
    system = System("slider-crank with clearance", gravity=GRAVITY)
    crank = RigidBody(mass=CRANK_MASS, inertia=CRANK_INERTIA, com=(CRANK / 2.0, 0.0), tip=(CRANK, 0.0))
    crank_of = system.add("crank", crank, joint=Revolute(motion=lambda t: SPEED * t))
    rod_of = system.add("rod", _rod(case), joint=Revolute(rate=-SPEED * (1.0 + CRANK / ROD)), on=crank_of.tip)
    slider = system.add("slider", RigidBody(mass=SLIDER_MASS), joint=Prismatic(displacement=CRANK + ROD))
    rub = Ambrosio(mu=case.friction, v0=RUB[0], v1=RUB[1]) if case.friction else None
    if touching:
        pin = ClearanceRevolute(radius=JOURNAL, clearance=case.clearance, normal=case.normal, friction=rub)
        system.close("pin", pin, rod_of.tip, slider.root)
    return system


def _rod(case: Case) -> RigidBody | Beam:
    if not case.elastic:
        return RigidBody(mass=ROD_MASS, inertia=ROD_INERTIA, com=(ROD / 2.0, 0.0), tip=(ROD, 0.0))
    modes = (Modes("ss", 2), AxialModes("cf", 2))
    return Beam(length=ROD, section=Section.rectangle(0.015, 0.015), material=STEEL, theory="euler-bernoulli", modes=modes,
                damping=ModalDamping(DAMPING))  # fmt: skip


def ideal_slider_crank() -> System:
    """The same with an ideal joint."""
    system = slider_crank(touching=False)
    system.close("pin", "point", system.handle("rod").tip, system.handle("slider").root)
    return system


def guided_slider_crank(impulsive: bool = True, touching: bool = True) -> System:
    """A slider with play in its guide; impulsive: Newton's impacts and Coulomb's friction, as in the paper, or elastic corners."""
    system = System("slider-crank with a guide", gravity=GRAVITY)
    lengths, on, bodies = (GUIDED_CRANK, GUIDED_ROD), system.ground, []
    turning = 0.0
    for name, length, mass, inertia, rate in zip(("crank", "rod"), lengths, GUIDED_MASSES, GUIDED_INERTIAS, GUIDED_RATES,
                                                 strict=False):  # fmt: skip
        body = RigidBody(mass=mass, inertia=inertia, com=(length / 2.0, 0.0), tip=(length, 0.0))
        bodies.append(system.add(name, body, joint=Revolute(rate=rate - turning), on=on))
        on, turning = bodies[-1].tip, rate
    block = RigidBody(mass=GUIDED_MASSES[2], inertia=GUIDED_INERTIAS[2])
    slider = system.add("slider", block, joint=Revolute(rate=GUIDED_RATES[2] - turning), on=on)
    if touching:
        normal: NormalLaw = Impulsive(restitution=GUIDED_RESTITUTION)
        rub: Coulomb | Ambrosio = Coulomb(mu=GUIDED_FRICTION)
        if not impulsive:
            normal, rub = (
                Exact(stiffness=STIFF, restitution=GUIDED_RESTITUTION, exponent=1.5),
                Ambrosio(mu=GUIDED_FRICTION, v0=RUB[0], v1=RUB[1]),
            )
        guide = ClearancePrismatic(length=SLIDER[0], height=SLIDER[1], clearance=GUIDE_PLAY, normal=normal, friction=rub)
        system.close("guide", guide, slider.root, system.ground)
    return system
