"""The flexible slider-crank of Simeon 1996 as the test set has it: a stiff rod on a crank with prescribed rotation.

The rod bends in two sines and stretches in one quadratic element (its middle and its end); linear strain, no damping, no gravity.
The test set's program differs from its model in two numbers. Its reference solution contains them, so they are kept here: the
masses of the two stretching shapes are 15 times int mu N_j N_k (the division by 15 was lost), and pi is 3.1415927, of which the
fourth power in the bending stiffness is kept (elsewhere it changes the result by less than the start values do). Its rod turns
with the inertia of a block, m (L^2 / 3 + H^2 / 12), and bends without rotary inertia: the second part is a ring at the hinge.
"""

from __future__ import annotations

import math

import numpy as np

from pliant.model.beam import Beam
from pliant.model.joint import Prismatic, Revolute, Weld
from pliant.model.material import Material
from pliant.model.modes import GivenModes, ShapeFunction
from pliant.model.rigid import RigidBody
from pliant.model.section import Section
from pliant.model.system import System
from pliant.scalar import Scalar

CRANK, ROD = 0.15, 0.30  # m
MASS_CRANK, MASS_SLIDER = 0.36, 0.075552  # kg
INERTIA_CRANK, INERTIA_ROD = 0.002727, 0.0045339259  # kg m^2, about their inner pins
WIDTH, DENSITY, YOUNG = 0.008, 7870.0, 0.2e12  # m, kg/m^3, Pa
SPEED = 150.0  # rad/s
ROUNDED_PI = 3.1415927

BENT, BENT_RATES = (0.0, 0.0), (0.444896105, 0.463434311e-2)  # m, m/s
STRETCHED, STRETCHED_RATES = (0.103339863e-4, 0.169327969e-4), (-0.178591076e-5, -0.268938672e-5)


def flexible_slider_crank() -> System:
    """The mechanism on its slow motion: the test set's second set of start values.

    Modal coordinates and their rates are the test set's; the rod's angle and the slider's position are computed from them, because
    the nine digits given are not quite consistent. The slider is pinned to the rod's tip: c = tip - slider, M q'' = f + A^T lam.
    The test set's constraints are g1 = c_y, g2 = -c_x, g3 = phi1 - 150 t with M q'' = f - G^T lambda. Therefore lambda1 = -lam_y,
    lambda2 = lam_x, and lambda3 is minus the torque that turns the crank.
    """
    rod = _rod()
    system = System("flexible slider-crank", gravity=(0.0, 0.0))
    body = RigidBody(mass=MASS_CRANK, inertia=INERTIA_CRANK - MASS_CRANK * CRANK**2 / 4, com=(CRANK / 2, 0), tip=(CRANK, 0))
    crank = system.add("crank", body, joint=Revolute(motion=_turning))
    span = ROD + STRETCHED[1]
    labels = ("y1", "y2", "axial1", "axial2")
    # the rod's inertia beyond m L^2 / 3 turns with the rod's frame, not with its bent root
    block = RigidBody(mass=0.0, inertia=INERTIA_ROD - rod.mass * ROD**2 / 3)
    hinge = system.add("hinge", block, joint=Revolute(rate=-SPEED * CRANK / span - SPEED), on=crank.tip)
    arm = system.add("rod", rod, joint=Weld(), on=hinge.root,
                     initial=dict(zip(labels, (*BENT, *STRETCHED), strict=True)),
                     initial_rates=dict(zip(labels, (*BENT_RATES, *STRETCHED_RATES), strict=True)))  # fmt: skip
    slider = system.add("slider", RigidBody(mass=MASS_SLIDER),
                        joint=Prismatic(displacement=CRANK + span, rate=STRETCHED_RATES[1]))  # fmt: skip
    system.close("pin", "point", arm.tip, slider.root)
    return system


def _turning(t: Scalar) -> Scalar:
    return SPEED * t


def _rod() -> Beam:
    mass = DENSITY * WIDTH**2 * ROD
    lateral = GivenModes((_sine(1), _sine(2)), mass=((0.5 * mass, 0.0), (0.0, 0.5 * mass)))
    axial = GivenModes((MIDDLE, END), plane="x", mass=((8.0 * mass, mass), (mass, 2.0 * mass)))
    section = Section(A=WIDTH**2, Iz=WIDTH**4 / 12 * (ROUNDED_PI / math.pi) ** 4)
    return Beam(length=ROD, section=section, material=Material(E=YOUNG, density=DENSITY), theory="euler-bernoulli",
                modes=(lateral, axial), stiffening="none")  # fmt: skip


def _sine(number: int) -> ShapeFunction:
    """sin(n pi x / L), zero at both ends to the last digit."""
    k = number * math.pi / ROD
    return ShapeFunction(
        w=lambda x: np.sin(k * x) * (x < ROD),
        dw=lambda x: k * np.cos(k * x),
        ddw=lambda x: -(k**2) * np.sin(k * x),
    )


# quadratic Lagrange functions of an element fixed at its root
MIDDLE = ShapeFunction(
    w=lambda x: 4 * (x / ROD) * (1 - x / ROD),
    dw=lambda x: 4 * (1 - 2 * x / ROD) / ROD,
    ddw=lambda x: -8 / ROD**2 + 0 * x,
)
END = ShapeFunction(
    w=lambda x: (x / ROD) * (2 * x / ROD - 1),
    dw=lambda x: (4 * x / ROD - 1) / ROD,
    ddw=lambda x: 4 / ROD**2 + 0 * x,
)
