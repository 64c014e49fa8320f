"""Friction and losses that are smoothed at rest: the damping by their slope there, and the rates up to which it holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import casadi as ca

from pliant.analysis.local_dynamics import Dynamics
from pliant.analysis.symbolic_equations import SymbolicEquations
from pliant.analysis.trim import effort_unit
from pliant.codegen.tracer import Scalar
from pliant.dynamics.joint_friction import frictions_in_order
from pliant.model.friction_law import FrictionLaw
from pliant.model.joint import TRANSLATION
from pliant.model.motor import Motor

SLOWEST, FASTEST = 1e-9, 1e3  # m/s or rad/s: slopes at rest are taken at the first; what does not bend up to the second is linear
BENT = math.tanh(1.0)  # fraction of its slope at rest that a smoothed force has at its transition speed
HALVINGS = 50  # of the logarithm of a speed
NOTHING = 1e-9  # N m s/rad or N s/m: damping by a load that is zero but for round-off


class Smoothed(NamedTuple):
    """A force against a speed, which vanishes smoothly as the speed does."""

    what: str
    along: str  # what it damps
    turns: bool  # whether that is a rotation
    load: Scalar  # of the law: N of normal force, or N m of a motor
    speed: Scalar  # of the law, m/s or rad/s
    lever: Scalar  # that speed per rate
    force: Callable[[Any, Any], Any]  # of speed and load
    without: str  # what to write to be without it

    def secant(self, speed: float, load: float) -> float:
        """The ratio of force to speed, in the direction in which it is larger."""
        return max(float(self.force(s * speed, load)) / (s * speed) for s in (1.0, -1.0))

    def reach(self, load: float) -> float:
        """The speed at which the ratio has fallen to that of tanh(1)."""
        slope, low, high = self.secant(SLOWEST, load), SLOWEST, FASTEST
        for _ in range(HALVINGS):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if self.secant(middle, load) < BENT * slope else (middle, high)
        return high


def smoothed_at_rest(dynamics: Dynamics) -> Iterator[str]:
    """Friction and losses that rest or creep at the point: how they damp small motions, and up to which rate."""
    equations = dynamics.equations
    found = list(_smoothed(dynamics, equations.symbols))
    if not found:
        return

    def outputs(e: SymbolicEquations) -> list[ca.SX]:
        return [e.tracer.column([x for one in _smoothed(dynamics, e) for x in (one.load, one.speed, one.lever)])]

    key = ("smoothed", *(one.what for one in found))
    numbers = equations.evaluate(key, outputs, dynamics.point)[0].reshape(-1, 3)
    for one, (load, speed, lever) in zip(found, numbers.tolist(), strict=True):
        damping, reach = one.secant(SLOWEST, load) * lever**2, one.reach(load)
        if damping > NOTHING and abs(speed) < reach < 0.5 * FASTEST:
            unit, rate = ("N m s/rad", "rad/s") if one.turns else ("N s/m", "m/s")
            yield (
                f"{one.what} is smoothed at rest: its slope there damps {one.along} by {damping:.3g} {unit}, at rates below "
                f"{reach / abs(lever):.3g} {rate} only; faster motions are damped far less: linearise with {one.without} for those"
            )


def _smoothed(dynamics: Dynamics, e: SymbolicEquations) -> Iterator[Smoothed]:
    """Loads, speeds and levers are those of the symbolic equations, laws and motors those of the System."""
    equations, driven = dynamics.equations, {dynamics.equations.tree.rates[k] for k in dynamics.driven}
    frictions = frictions_in_order(equations.system, equations.tree)
    for own, load, friction in zip(e.rubbing, e.friction.loads, frictions, strict=bool(e.rubbing)):
        joint = own.joint
        if _is_smoothed(friction.law) and joint.free and not driven.issuperset(joint.rates):
            turns = all(motion.kind != TRANSLATION for motion in joint.motions)
            lever = joint.levers[0] if turns else 1.0
            what, force = f"friction of {joint.label!r}", _along(friction.law)
            yield Smoothed(what, "it", turns, load, joint.speed, lever, force, "no friction there")
    for contact, pair in zip(e.contacts, equations.pairs, strict=True):
        slip = contact.kinematics.slip
        if slip and _is_smoothed(pair.friction):
            what, force = f"friction of contact {pair.name!r}", _along(pair.friction)
            yield Smoothed(what, "slip", False, contact.force, contact.kinematics.speed, 1.0, force, "friction=None")
    for state in e.motors:
        drive = equations.system.motors[state.drive.name]
        motor = drive.motor
        if motor.loses and drive.command is not None and (motor.is_elastic or drive.coordinate not in driven):
            turns = motor.is_elastic or effort_unit(equations.system, drive.coordinate) == "N m"
            along, lever = ("its rotor", 1.0) if motor.is_elastic else (drive.coordinate, motor.ratio)
            what, force = f"the gear loss of motor {drive.name!r}", partial(_lost, motor)
            yield Smoothed(what, along, turns, state.torque, state.speed, lever, force, "efficiency=1")


def _is_smoothed(law: object) -> bool:
    return isinstance(law, FrictionLaw) and not law.holds


def _along(law: Any) -> Callable[[Any, Any], Any]:
    """The force of a friction law, which gives its magnitude, with the sign of the speed."""
    return lambda speed, load: math.copysign(law.force(abs(speed), load), speed)


def _lost(motor: Motor, speed: Any, torque: Any) -> Any:
    return motor.gear_loss(torque, speed)
