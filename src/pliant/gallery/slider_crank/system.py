"""The slider-crank with a flexible rod under impact, of Ebrahimi, Nouri and Salahshoor: table 1, and section 4-3's three materials.

The rod is a mesh of beam elements in a frame through its two pins, one element in the paper. The slider meets a fixed sphere.
"""

from __future__ import annotations

import math
from functools import cache

from pliant.arrays import Floats
from pliant.beams.damping import rayleigh_from_ratios
from pliant.beams.integrals import shape_integrals
from pliant.beams.shapes import beam_shapes
from pliant.beams.stability import buckling_load
from pliant.errors import ModelError
from pliant.model.beam import Beam
from pliant.model.contact import Sphere
from pliant.model.damping import Damping, Rayleigh, RayleighRatios
from pliant.model.frame import Frame
from pliant.model.hertz import hertz_stiffness
from pliant.model.joint import Prismatic, Revolute
from pliant.model.material import Material
from pliant.model.modes import AxialElements, ElementModes
from pliant.model.normal_law import LankaraniNikravesh
from pliant.model.reduction import Reduction
from pliant.model.rigid import RigidBody
from pliant.model.section import Section
from pliant.model.system import System

# Table 1
CRANK, ROD, RADIUS = 0.153, 0.306, 0.003  # m
OBSTACLE, SPHERE = 0.45, 0.0085  # m: the obstacle's centre on the guide, the radius of both spheres
TOUCH = OBSTACLE - 2.0 * SPHERE  # m, the slider's position when they meet
RESTITUTION = 0.834
START, SPEED = math.pi / 6.0, 150.0  # rad, rad/s of the crank
RATIOS = (0.04, 0.04)  # damping ratios, eq. 18 and 19
RULE = "low2_high1"  # of the frequencies they belong to: the mean of the two lower, and the third

POISSON = 0.3
MATERIALS = {
    "steel": Material(E=200e9, nu=POISSON, density=7860.0),
    "copper": Material(E=120e9, nu=POISSON, density=8910.0),
    "aluminium": Material(E=75e9, nu=POISSON, density=2800.0),
}  # section 4-3
STEEL = MATERIALS["steel"]

AREA = math.pi * RADIUS**2
SECTION = Section(A=AREA, Iz=math.pi * RADIUS**4 / 4.0)
SLIDER_MASS = 7860.0 * AREA * CRANK  # kg, that of the crank
SLIDER_INERTIA = 0.01  # kg m^2: the slider never turns; this value gives the guide's rows in m and in rad equal weight
RUN_UP = 1e-3  # m before the obstacle, of a free slider


def rod(
    elements: int = 1, material: Material = STEEL, damping: tuple[Damping, ...] = (), reduction: Reduction | None = None
) -> Beam:
    """The rod: coordinates are u of the nodes, then slopes and deflections; no rotary inertia, linear strain."""
    bending = ElementModes(elements, reference="simply-supported", reduction=reduction)
    meshes = (AxialElements(elements, reduction), bending)
    return Beam(length=ROD, section=SECTION, material=material, theory="euler-bernoulli", modes=meshes, damping=damping,
                stiffening="none")  # fmt: skip


@cache
def frequencies(material: Material = STEEL, elements: int = 1) -> Floats:
    """Frequencies of the rod between its pins, rad/s: 885.2027, 4056.509, 28552.42 for one element of steel."""
    return shape_integrals(rod(elements, material)).free_frequencies


@cache
def rod_buckling_load(elements: int = 1) -> float:
    """The load at which the steel rod buckles between its pins, N, in its own shapes: what the warnings of a run compare with."""
    beam = rod(elements)
    shapes = beam_shapes(beam)
    return buckling_load(shapes, shape_integrals(beam, shapes).stiffness, ROD, tip_held=True)


@cache
def internal_damping(material: Material = STEEL) -> Rayleigh:
    """alpha and beta of eq. 18 and 19 from the frequencies of the one-element rod.

    A finer mesh keeps them: damping belongs to the material, and the rule's frequencies, if taken from the mesh, rise with it.
    """
    asked = RayleighRatios(ratios=RATIOS, rule=RULE)
    alpha, beta = rayleigh_from_ratios(asked, frequencies(material))
    return Rayleigh(alpha=alpha, beta=beta)


def modal_damping(material: Material = STEEL) -> tuple[float, float]:
    """Damping ratio and decay rate (1/s) of the first mode of the one-element rod."""
    damping, first = internal_damping(material), float(frequencies(material)[0])
    rate = 0.5 * (damping.alpha + damping.beta * first**2)
    return rate / first, rate


def slider_crank(elements: int = 1, damped: bool = False, reduction: Reduction | None = None) -> System:
    """Released at pi/6 with 150 rad/s towards the obstacle. elements: of the rod, 0 for a rigid one; its mesh may be reduced."""
    if elements == 0 and damped:
        raise ModelError("slider_crank: a rigid rod (elements = 0) has no internal damping, got damped = True")
    link: Beam | RigidBody = RigidBody.rod(ROD, 7860.0 * AREA * ROD)
    if elements:
        link = rod(elements, damping=(internal_damping(),) if damped else (), reduction=reduction)
    system, slider = _linkage("slider-crank", link, Revolute(angle=START, rate=SPEED))
    _obstacle(system, Sphere(slider, SPHERE))
    return system


def driven_crank(material: str = "steel", elements: int = 1, damped: bool = True, slider_mass: float = SLIDER_MASS) -> System:
    """The crank turns at 150 rad/s without an obstacle; the rod is of another material, the slider is unchanged (section 4-3)."""
    if material not in MATERIALS:
        raise ModelError.of("driven_crank", "material", f"must be one of {tuple(MATERIALS)}", material)
    of = MATERIALS[material]
    link = rod(elements, of, (internal_damping(of),) if damped else ())
    turning = Revolute(angle=START, rate=SPEED, motion={"angle": lambda t: START + SPEED * t})
    return _linkage(f"driven slider-crank, {material}", link, turning, slider_mass)[0]


def free_slider(speed: float) -> System:
    """The slider alone hits the obstacle: shows which restitution the contact law delivers for the prescribed one."""
    system = System("free slider", gravity=(0.0, 0.0))
    joint = Prismatic(displacement=TOUCH - RUN_UP, rate=speed)
    slider = system.add("slider", RigidBody(mass=SLIDER_MASS, inertia=SLIDER_INERTIA), joint=joint)
    _obstacle(system, Sphere(slider.root, SPHERE))
    return system


def _linkage(name: str, link: Beam | RigidBody, joint: Revolute, mass: float = SLIDER_MASS) -> tuple[System, Frame]:
    """Crank, rod and slider as a chain whose last body is held to the guide by multipliers."""
    lean = -math.asin(CRANK * math.sin(START) / ROD)  # of the rod
    turn = -CRANK * math.cos(START) * SPEED / (ROD * math.cos(lean))  # rad/s of it
    system = System(name, gravity=(0.0, 0.0))
    crank = system.add("crank", RigidBody.rod(CRANK, SLIDER_MASS), joint=joint)
    arm = system.add("rod", link, joint=Revolute(angle=lean - START, rate=turn - SPEED), on=crank.tip)
    slider = system.add("slider", RigidBody(mass=mass, inertia=SLIDER_INERTIA), on=arm.tip,
                        joint=Revolute(angle=-lean, rate=-turn))  # fmt: skip
    system.close("guide", "prismatic", slider.root, system.ground, axis="x")
    return system, slider.root


def _obstacle(system: System, ball: Sphere) -> None:
    law = LankaraniNikravesh(stiffness=hertz_stiffness(SPHERE, STEEL, SPHERE, STEEL), restitution=RESTITUTION)
    system.contact(points=ball, against=Sphere(system.ground.moved((OBSTACLE, 0.0)), SPHERE), normal=law, name="obstacle")
