"""The planar parallel robot 3RRR of Raoofian, Taghvaeipour and Kamali 2017: three legs of two links carry a platform along a rose.

Horizontal plane, no gravity, no friction. Each leg is a tree of its own and so is the platform; three pins close the loops, exactly
by multipliers or approximately by penalty springs. Motors turn the first link of every leg.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.model.frame import Frame
from pliant.model.joint import Planar, Revolute
from pliant.model.rigid import RigidBody
from pliant.model.system import System
from pliant.scalar import Scalar, atan2, cos, deg, pi, sin, sqrt

LEGS = ("I", "II", "III")
UPPER, LOWER = 0.4, 0.6  # m, the two links of a leg; mass centres at mid-length
MASS_UPPER, MASS_LOWER, MASS_PLATFORM = 3.0, 4.0, 8.0  # kg
INERTIA_UPPER, INERTIA_LOWER, INERTIA_PLATFORM = 0.04, 0.12, 0.0817  # kg m^2; the platform's fits a side of 0.35 m
BASE, PLATFORM = 1.2, 0.4  # m, sides of the two equilateral triangles
CORNERS = tuple(deg(angle) for angle in (210.0, 330.0, 90.0))  # of both triangles, seen from their centres
RADIUS, T_LOOP, T_END = 0.05, 2.0, 6.0  # m, s, s: three roses

SQUARED_OVER = 0.01  # m, so that a squared distance is in m too
INSTANT = 1e-4  # s, for the rate of a force by differences: good to 1e-5 of itself

Pair = tuple[Scalar, Scalar]


def _corners(side: float) -> tuple[tuple[float, float], ...]:
    reach = side / 3.0**0.5
    return tuple((reach * float(np.cos(a)), reach * float(np.sin(a))) for a in CORNERS)


BASE_PINS, PLATFORM_PINS = _corners(BASE), _corners(PLATFORM)


# ---- the path


def rose(t: Scalar) -> tuple[Pair, Pair, Pair]:
    """Position, velocity and acceleration of the platform: r = r0 cos 2th (cos th, sin th), th = pi t. It does not turn."""
    w = 2.0 * pi / T_LOOP
    c1, s1, c3, s3 = cos(w * t), sin(w * t), cos(3.0 * w * t), sin(3.0 * w * t)
    half = 0.5 * RADIUS  # cos 2th cos th = (cos th + cos 3th) / 2, cos 2th sin th = (sin 3th - sin th) / 2
    return (
        (half * (c1 + c3), half * (s3 - s1)),
        (-half * w * (s1 + 3.0 * s3), half * w * (3.0 * c3 - c1)),
        (-half * w**2 * (c1 + 9.0 * c3), half * w**2 * (s1 - 9.0 * s3)),
    )


# ---- a leg and the platform in closed form, over any scalar


@dataclass(frozen=True)
class LegMotion:
    """Absolute angles of the two links of a leg with their rates and accelerations."""

    upper: Scalar
    elbow: Scalar  # the second link relative to the first, in (0, pi): the assembly mode
    rates: Pair
    accelerations: Pair

    @property
    def lower(self) -> Scalar:
        return self.upper + self.elbow


def leg_motion(tip: Pair, velocity: Pair, acceleration: Pair) -> LegMotion:
    """The motion of a leg whose tip has this position, velocity and acceleration; tip is measured from the leg's base pin."""
    x, y = tip
    c = (x * x + y * y - UPPER**2 - LOWER**2) / (2.0 * UPPER * LOWER)
    s = sqrt(1.0 - c * c)
    upper = atan2(y, x) - atan2(LOWER * s, UPPER + LOWER * c)
    elbow = atan2(s, c)
    a, b = _along(upper), _along(upper + elbow)
    da, db = _dot(velocity, b) / (UPPER * s), -_dot(velocity, a) / (LOWER * s)
    # the tip's acceleration minus the part due to the rates
    rest = tuple(acceleration[k] + UPPER * da * da * a[k] + LOWER * db * db * b[k] for k in (0, 1))
    dda, ddb = _dot(rest, b) / (UPPER * s), -_dot(rest, a) / (LOWER * s)
    return LegMotion(upper, elbow, (da, db), (dda, ddb))


def leg_efforts(leg: LegMotion) -> Pair:
    """M a + h of a leg in absolute angles: the generalized force that its motor and the force on its tip must supply together."""
    coupling = 0.5 * MASS_LOWER * UPPER * LOWER
    c, s = cos(leg.elbow), sin(leg.elbow)
    (da, db), (dda, ddb) = leg.rates, leg.accelerations
    first = INERTIA_UPPER + 0.25 * MASS_UPPER * UPPER**2 + MASS_LOWER * UPPER**2
    second = INERTIA_LOWER + 0.25 * MASS_LOWER * LOWER**2
    return (
        first * dda + coupling * (c * ddb - s * db * db),
        coupling * (c * dda + s * da * da) + second * ddb,
    )


@dataclass(frozen=True)
class Efforts:
    """The torques and forces that the rose requires at one time."""

    motors: tuple[Scalar, ...]  # torques, N m
    tips: tuple[Pair, ...]  # forces on the tips of the legs, N
    legs: tuple[LegMotion, ...]


def efforts_on_the_rose(t: Scalar) -> Efforts:
    """Inverse dynamics in closed form.

    An elbow has no motor, so the lower link determines the transverse component of the tip's force; the components along the three
    lower links follow from the balance of the platform, which does not turn.
    """
    position, velocity, acceleration = rose(t)
    legs, across, balance = [], [], [-MASS_PLATFORM * acceleration[0], -MASS_PLATFORM * acceleration[1], 0.0]
    for base, pin in zip(BASE_PINS, PLATFORM_PINS, strict=True):
        tip = (position[0] + pin[0] - base[0], position[1] + pin[1] - base[1])
        leg = leg_motion(tip, velocity, acceleration)
        normal = _across(leg.lower)
        pushed = leg_efforts(leg)[1] / LOWER
        legs.append(leg)
        across.append((pushed * normal[0], pushed * normal[1]))
        for k, part in enumerate((*across[-1], _turn(pin, across[-1]))):
            balance[k] = balance[k] - part
    columns = [(*_along(leg.lower), _turn(pin, _along(leg.lower))) for leg, pin in zip(legs, PLATFORM_PINS, strict=True)]
    along = _solve3(columns, balance)
    tips, motors = [], []
    for leg, side, pull in zip(legs, across, along, strict=True):
        direction = _along(leg.lower)
        force = (side[0] + pull * direction[0], side[1] + pull * direction[1])
        tips.append(force)
        motors.append(leg_efforts(leg)[0] - UPPER * _dot(_across(leg.upper), force))
    return Efforts(tuple(motors), tuple(tips), tuple(legs))


def _along(angle: Scalar) -> Pair:
    return (cos(angle), sin(angle))


def _across(angle: Scalar) -> Pair:
    return (-sin(angle), cos(angle))


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return a[0] * b[0] + a[1] * b[1]


def _turn(arm: Sequence[Scalar], force: Sequence[Scalar]) -> Scalar:
    return arm[0] * force[1] - arm[1] * force[0]


def _solve3(columns: Sequence[Sequence[Scalar]], right: Sequence[Scalar]) -> list[Scalar]:
    """x of columns x = right, by Cramer's rule."""
    whole = _determinant(*columns)
    return [_determinant(*(right if k == j else columns[k] for k in range(3))) / whole for j in range(3)]


def _determinant(a: Sequence[Scalar], b: Sequence[Scalar], c: Sequence[Scalar]) -> Scalar:
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - b[0] * (a[1] * c[2] - a[2] * c[1]) + c[0] * (a[1] * b[2] - a[2] * b[1])


# ---- the mechanism


def parallel_robot(
    stiffness: float | None = None, *, damping: float = 0.0, prestretched: bool = False, prescribed: bool = False
) -> System:
    """The robot in motion at the start of the rose.

    stiffness: Ks of the penalty springs, N/m; None closes the loops by multipliers. prestretched: springs start with the forces of
    the exact robot instead of none. prescribed: the motors follow the rose's angles instead of being driven by its torques.
    """
    name = "by multipliers" if stiffness is None else f"Ks = {stiffness:g} N/m"
    system = System(f"parallel robot, {name}", gravity=(0.0, 0.0))
    position, velocity, _ = rose(0.0)
    pins = dict(zip(LEGS, PLATFORM_PINS, strict=True))
    body = RigidBody(mass=MASS_PLATFORM, inertia=INERTIA_PLATFORM, frames=pins)
    start = efforts_on_the_rose(0.0)
    tips = []
    for k, leg in enumerate(LEGS):
        first = start.legs[k]
        if prestretched and stiffness is not None:
            first = _stretched(k, stiffness)
        turn = Revolute(motion=_motor_angle(k)) if prescribed else Revolute(angle=first.upper, rate=first.rates[0])
        upper = system.add(
            f"upper {leg}", _link(UPPER, MASS_UPPER, INERTIA_UPPER), joint=turn, on=system.ground.moved(BASE_PINS[k])
        )
        bend = Revolute(angle=first.elbow, rate=first.rates[1] - first.rates[0])
        lower = system.add(f"lower {leg}", _link(LOWER, MASS_LOWER, INERTIA_LOWER), joint=bend, on=upper.tip)
        tips.append(lower.tip)
        if not prescribed:
            system.drive(f"motor {leg}", f"upper {leg}.angle", _motor_torque(k))
    platform = system.add("platform", body, joint=Planar(position=position, velocity=velocity))
    for leg, tip in zip(LEGS, tips, strict=True):
        by = "multipliers" if stiffness is None else "springs"
        system.close(f"pin {leg}", "point", tip, platform.at(leg), by=by, stiffness=stiffness, damping=damping)
    return system


def constrained_robot(formulas: str, stiffness: float) -> System:
    """The robot with its loops closed by penalty springs on formulas that vanish where the pins meet.

    formulas: "elongations" of springs along x and y, as in the paper; the same "scaled" by 3 and 1/2; "polar": the angle and the
    distance from the leg's base; "squared": the square of the distance alone.
    """
    system = parallel_robot()
    system.closures.clear()
    for k, leg in enumerate(LEGS):
        tip, pin = system.handle(f"lower {leg}").tip, system.handle("platform").at(leg)
        for row, (formula, unit) in enumerate(_vanishing(formulas, tip, pin, system.ground.moved(BASE_PINS[k]))):
            system.constrain(f"pin {leg} {row}", formula, unit=unit, by="springs", stiffness=stiffness)
    return system


def _vanishing(formulas: str, tip: Frame, pin: Frame, base: Frame) -> list[tuple[Callable[..., Scalar], str]]:
    """Formulas of (t, q, v) with their units."""

    def turned(t: Scalar, q: Any, v: Any) -> Scalar:
        a, b = q.position(tip, base), q.position(pin, base)
        return atan2(_turn(b, a), _dot(a, b))

    def along(axis: int, size: float) -> Callable[..., Scalar]:
        return lambda t, q, v: size * (q.position(tip)[axis] - q.position(pin)[axis])

    if formulas == "polar":
        return [(turned, "rad"), (lambda t, q, v: q.distance(tip, base) - q.distance(pin, base), "m")]
    if formulas == "squared":
        return [(lambda t, q, v: sum((q.position(tip)[k] - q.position(pin)[k]) ** 2 for k in (0, 1)) / SQUARED_OVER, "m")]
    sizes = {"elongations": (1.0, 1.0), "scaled": (3.0, 0.5)}[formulas]
    return [(along(axis, size), "m") for axis, size in enumerate(sizes)]


def _link(length: float, mass: float, inertia: float) -> RigidBody:
    return RigidBody(mass=mass, inertia=inertia, com=(0.5 * length, 0.0), tip=(length, 0.0))


def _motor_angle(k: int) -> Callable[..., Scalar]:
    return lambda t: efforts_on_the_rose(t).legs[k].upper


def _motor_torque(k: int) -> Callable[..., Scalar]:
    return lambda t, q, v: efforts_on_the_rose(t).motors[k]


def _stretched(k: int, stiffness: float) -> LegMotion:
    """Leg k at the start. Its tip is c = -lam / Ks off its pin, with c' = -lam' / Ks, so that the spring force is lam at first."""
    before, force, after = (efforts_on_the_rose(t).tips[k] for t in (-INSTANT, 0.0, INSTANT))
    position, velocity, acceleration = rose(0.0)
    pin, base = PLATFORM_PINS[k], BASE_PINS[k]
    tip, speed = (
        tuple(whole[d] - part[d] / stiffness for d in (0, 1))
        for whole, part in (
            ([position[d] + pin[d] - base[d] for d in (0, 1)], force),
            (velocity, [0.5 * (after[d] - before[d]) / INSTANT for d in (0, 1)]),
        )
    )
    return leg_motion((tip[0], tip[1]), (speed[0], speed[1]), acceleration)
