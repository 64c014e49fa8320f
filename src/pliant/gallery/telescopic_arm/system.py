"""The elastic arm in a sleeve of Korayem, Shafei and Dehkordi: one link that turns about z and slides out by its free length l.

Numbers are those of Table 1. The paper prints g = 10 m/s^2, but only a horizontal plane is plausible: with gravity in the plane the
arm leaves its sleeve before half the run is over. Even in a horizontal plane, l exceeds L in the paper's own example; the run is
then a formal continuation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from pliant.model.joint import Revolute, Weld
from pliant.model.material import Material
from pliant.model.modes import Modes
from pliant.model.section import Section
from pliant.model.signal import PiecewiseConstant
from pliant.model.system import System
from pliant.model.telescopic import FORMS, TelescopicBeam
from pliant.scalar import pi, sin

MODELS = FORMS
FORCES = {"F10": 10.0, "F5": 5.0}  # N: the paper's, and one that keeps the arm in its sleeve
MODE_COUNTS = (1, 2, 3)
T_END = 1.0  # s

# Table 1
LENGTH, AREA, INERTIA, MU, YOUNG, SHEAR = 1.0, 3.6482e-4, 1.1772e-8, 2.0, 2e11, 77e9  # m, m^2, m^4, kg/m, Pa, Pa
GRAVITY = 10.0  # m/s^2, printed, in a plane that must be horizontal
TORQUE, START = 10.0, 0.5  # N m, m
SWITCHES = (0.0, 0.3, 0.6)  # s: forward, back, nothing
DEFLECTION = 1e-3  # m: mode weight at the start of the slow extension


def link(model: str, modes: int, **changes: Any) -> TelescopicBeam:
    return TelescopicBeam(
        length=LENGTH,
        section=Section(A=AREA, Iz=INERTIA, Iy=INERTIA),
        material=Material(E=YOUNG, G=SHEAR),
        mass_per_length=MU,
        modes=Modes("cf", modes, normalise="length", static=False),
        extension=START,
        form=model,
        on_sleeve_end="continue",
        **changes,
    )


def telescopic_arm(model: str = "consistent", force: float = 10.0, modes: int = 1, gravity: float = 0.0) -> System:
    """The paper's example: torque and force push, pull back and let go."""
    system = System(f"telescopic arm {model} {force:g} N {modes}", gravity=(0.0, -gravity))
    system.add("arm", link(model, modes), joint=Revolute())
    for name, coordinate, size in (("tau", "arm.angle", TORQUE), ("F", "arm.extension", force)):
        system.drive(name, coordinate, PiecewiseConstant(SWITCHES, (size, -size, 0.0)))
    return system


def arms_in_line(count: int) -> System:
    """Arms on each other's tips, all with revolute-prismatic joints, as in the paper's general equations."""
    system, on = System(f"{count} telescopic arms", gravity=(0.0, 0.0)), None
    for k in range(count):
        on = system.add(f"arm{k + 1}", link("consistent", 1), joint=Revolute(), on=on).tip
    return system


def turning(t: Any) -> Any:
    """q of the inverse dynamics, rad."""
    return 0.5 * sin(pi * t) ** 2


def sliding(t: Any) -> Any:
    """l of the inverse dynamics, m."""
    return START + 0.1 * sin(pi * t) ** 2


MOTION = {"arm.angle": turning, "arm.extension": sliding}


def extending_arm(model: str, duration: float, phase: float = 0.0, modes: int = 1) -> System:
    """A clamped arm that vibrates in its first mode while it is extended from L/2 to L, slowly and smoothly at both ends.

    phase: of the vibration at the start, rad; it must not matter if the extension is slow.
    """
    frequency = first_frequency(START)
    start = {"y1": DEFLECTION * math.cos(phase)}, {"y1": -DEFLECTION * frequency * math.sin(phase)}
    system = System(f"extending arm {model} {duration:g} s", gravity=(0.0, 0.0))
    drawn = link(model, modes, motion=_eased(START, LENGTH, duration))
    system.add("arm", drawn, joint=Weld(), initial=start[0], initial_rates=start[1])
    return system


def first_frequency(free_length: float) -> float:
    """The first frequency of a cantilever of this length, rad/s."""
    return 1.8751040687119611**2 * math.sqrt(YOUNG * INERTIA / MU) / free_length**2


def _eased(begin: float, end: float, duration: float) -> Callable[[Any], Any]:
    """From one length to another with four derivatives zero at both ends."""

    def length(t: Any) -> Any:
        x = t * (1.0 / duration)
        return begin + (end - begin) * x**5 * (126.0 + x * (-420.0 + x * (540.0 + x * (-315.0 + 70.0 * x))))

    return length
