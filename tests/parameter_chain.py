"""The falling elastic chain with ten parameters."""

from __future__ import annotations

import math

import pliant as pl
from pliant.gallery.falling_chain import system as paper

PARAMETERS = ["length", "young", "mass", "stiffness", "e", "mu", "drop", "angle", "gravity", "damping"]


def falling_chain(angle: float = 30.0) -> pl.System:
    """As published but for mode shapes: they are the links' own, so that they change with the links. angle: degrees."""
    length, young, mass = pl.Parameter("length", 1.0), pl.Parameter("young", paper.YOUNG), pl.Parameter("mass", paper.MU)
    damping, gravity = pl.Parameter("damping", paper.AIR), pl.Parameter("gravity", 9.81)
    link = pl.Beam(
        length=length,
        section=pl.Section(A=paper.AREA, Iz=paper.INERTIA, shear_factor=paper.SHEAR_FACTOR),
        material=pl.Material(E=young, G=paper.SHEAR),
        theory="timoshenko",
        mass_per_length=mass,
        rotary_inertia=paper.ROTARY,
        modes=pl.Modes("ss", 1),
        stiffening="none",
        damping=(pl.KelvinVoigt(paper.VISCOSITY), pl.AirDrag(damping)),
    )
    system = pl.System("falling chain", gravity=(0.0, -gravity))
    position = (-0.5 - math.sin(pl.deg(60.0)), pl.Parameter("drop", 0.9))
    start = pl.Planar(position=position, angle=pl.Parameter("angle", pl.deg(angle)))
    a = system.add("a", link, joint=start)
    b = system.add("b", link, joint=pl.Revolute(angle=pl.deg(-30.0)), on=a.tip)
    c = system.add("c", link, joint=pl.Revolute(angle=pl.deg(-30.0)), on=b.tip)
    system.contact(
        points=[a.root, a.tip, b.tip, c.tip],
        against=pl.Plane(normal=(0, 1)),
        normal=pl.HuGuo(stiffness=pl.Parameter("stiffness", paper.STIFFNESS), restitution=pl.Parameter("e", paper.RESTITUTION)),
        friction=pl.Ambrosio(mu=pl.Parameter("mu", paper.FRICTION), v0=paper.V0, v1=paper.V1),
        name="ground",
    )
    return system
