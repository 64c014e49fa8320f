"""The falling elastic chain of Yousefzadeh and Shafei 2024: three Timoshenko links fall, hit the ground with their ends and bounce.

Mode shapes are Table 2's, which are the first modes of a 30 x 12.5 mm beam; all other numbers are Table 3's, as in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from pliant.beams.bending import bending_modes
from pliant.model.beam import Beam
from pliant.model.contact import Plane
from pliant.model.damping import AirDrag, KelvinVoigt
from pliant.model.frame import Frame
from pliant.model.friction_law import Ambrosio
from pliant.model.joint import Planar, Prismatic, Revolute
from pliant.model.material import Material
from pliant.model.modes import GivenModes, Modes, ShapeFunction
from pliant.model.normal_law import HuGuo
from pliant.model.rigid import RigidBody
from pliant.model.section import Section
from pliant.model.system import System
from pliant.scalar import deg

MODE_SETS = ("ss-ss-ss", "cc-cc-cc", "sc-cc-cs", "cs-ss-sc")
T_END = 1.5  # s
ENDS = ("O1", "O2", "O3", "O4")  # the paper's names of the ends of the links

# Table 3
LENGTH, AREA, INERTIA, MU, ROTARY = 1.0, 3.75e-4, 4.883e-9, 1.0, 2.9473e-5  # m, m^2, m^4, kg/m, kg m
YOUNG, SHEAR, SHEAR_FACTOR = 2e11, 7.7e10, 5.0 / 6.0  # Pa, Pa, 1
VISCOSITY, AIR = 125.0, 0.025  # Pa s, kg/(m s)
STIFFNESS, RESTITUTION = 140e6, 0.8  # N/m^1.5, 1
FRICTION, V0, V1 = 0.1, 1e-4, 1e-3  # 1, m/s, m/s

HEIGHT = 0.9  # m, of O1 and O4 at the start
FREE_FALL = math.sqrt(2.0 * HEIGHT / 9.81)  # s, until they touch

TABLE_2_INERTIA = 0.03 * 0.0125**3 / 12.0  # m^4: the value behind the printed mode functions


def shape(ends: str) -> ShapeFunction:
    """One row of Table 2: the first Timoshenko mode with these ends, max W = 1."""
    section = Section(A=AREA, Iz=TABLE_2_INERTIA, shear_factor=SHEAR_FACTOR)
    beam = Beam(length=LENGTH, section=section, material=Material(E=YOUNG, G=YOUNG / 2.6), theory="timoshenko",
                mass_per_length=MU, rotary_inertia=MU / AREA * TABLE_2_INERTIA, modes=Modes(ends, 1))  # fmt: skip
    mode = bending_modes(beam, Modes(ends, 1))[0]
    return ShapeFunction(w=mode.w, dw=partial(mode.w, order=1), ddw=partial(mode.w, order=2),
                         theta=mode.theta, dtheta=partial(mode.theta, order=1))  # fmt: skip


def link(ends: str) -> Beam:
    return Beam(
        length=LENGTH,
        section=Section(A=AREA, Iz=INERTIA, shear_factor=SHEAR_FACTOR),
        material=Material(E=YOUNG, G=SHEAR),
        theory="timoshenko",
        mass_per_length=MU,
        rotary_inertia=ROTARY,
        modes=GivenModes((shape(ends),)),
        damping=(KelvinVoigt(VISCOSITY), AirDrag(AIR)),
        stiffening="none",
    )


def rigid_link() -> RigidBody:
    """The same link without elasticity."""
    turning = MU * LENGTH**3 / 12.0 + ROTARY * LENGTH
    return RigidBody(mass=MU * LENGTH, inertia=turning, com=(LENGTH / 2.0, 0.0), tip=(LENGTH, 0.0))


def falling_chain(modes: str = "ss-ss-ss") -> System:
    """The chain 0.9 m above the ground, at rest. modes: end conditions of the three links, or "rigid"."""
    first, second, third = (rigid_link(),) * 3 if modes == "rigid" else [link(ends) for ends in modes.split("-")]
    system = System(f"falling chain {modes}", gravity=(0.0, -9.81))
    start = Planar(position=(-0.5 - math.sin(deg(60.0)), HEIGHT), angle=deg(30.0))
    a = system.add("a", first, joint=start)
    b = system.add("b", second, joint=Revolute(angle=deg(-30.0)), on=a.tip)
    c = system.add("c", third, joint=Revolute(angle=deg(-30.0)), on=b.tip)
    _ground(system, [a.root, a.tip, b.tip, c.tip])
    return system


def half_chain(modes: str = "ss-ss-ss") -> System:
    """The left half of the chain, symmetric by construction: O2 moves up and down, and half of the middle link is fixed to it.

    The middle link's shape is symmetric and zero at its ends, so that the line through them stays level. The outer link goes out
    from O2, with its shape seen from there.
    """
    outer, middle, _ = modes.split("-")
    system = System(f"half of the falling chain {modes}", gravity=(0.0, -9.81))
    height = HEIGHT + LENGTH * math.sin(deg(30.0))
    b = system.add("b", replace(link(middle), length=0.5 * LENGTH), joint=Prismatic(axis="y", displacement=height),
                   on=system.ground.moved((-0.5 * LENGTH, 0.0)))  # fmt: skip
    a = system.add("a", replace(link(outer), modes=GivenModes((_backwards(shape(outer)),))), on=b.root,
                   joint=Revolute(angle=deg(180.0 + 30.0)))  # fmt: skip
    _ground(system, [a.tip, b.root])
    return system


def _backwards(shape: ShapeFunction) -> ShapeFunction:
    """The shape seen from the other end of the link; slopes and rotations change their sign."""

    def seen(function: Callable[[Any], Any] | None, sign: float) -> Callable[[Any], Any]:
        assert function is not None
        return lambda x: sign * function(LENGTH - x)

    return ShapeFunction(w=seen(shape.w, 1.0), dw=seen(shape.dw, -1.0), ddw=seen(shape.ddw, 1.0),
                         theta=seen(shape.theta, -1.0), dtheta=seen(shape.dtheta, 1.0))  # fmt: skip


def _ground(system: System, points: list[Frame]) -> None:
    system.contact(
        points=points,
        against=Plane(normal=(0, 1)),
        normal=HuGuo(stiffness=STIFFNESS, restitution=RESTITUTION),
        friction=Ambrosio(mu=FRICTION, v0=V0, v1=V1),
        name="ground",
    )
