"""Motors at a state: rotor torque, effort behind the gear, and the flow of power."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pliant.arrays import Floats
from pliant.dynamics.algebra import Scalar
from pliant.dynamics.loads import AppliedForces
from pliant.dynamics.tree import Tree
from pliant.model.motor import MotorDrive
from pliant.model.system import System


@dataclass(frozen=True)
class MotorState:
    """One motor: speed and torque of its rotor, and the effort on its coordinate."""

    drive: MotorDrive
    speed: Scalar  # rad/s, rotor relative to stator
    torque: Scalar  # N m, torque on the rotor
    effort: Scalar  # N m or N, effort behind the gear, without the rotor's inertia and damping unless the gear is elastic
    kinetic: Scalar = 0.0  # J, of a rotor behind an elastic gear; other rotors turn with their coordinates
    stored: Scalar = 0.0  # J, in an elastic gear


def push_motors(
    tree: Tree,
    drives: Iterable[MotorDrive],
    v: Sequence[Scalar],
    commands: Mapping[str, Scalar],
    own: Mapping[str, Scalar],
    applied: AppliedForces,
) -> list[MotorState]:
    """Apply the efforts of all motors and enter their powers in the ledger. commands: values by motor; own: states by name."""
    return [_push(tree, drive, v, commands.get(drive.name), own, applied) for drive in drives]


def _push(
    tree: Tree,
    drive: MotorDrive,
    v: Sequence[Scalar],
    command: Scalar | None,
    own: Mapping[str, Scalar],
    applied: AppliedForces,
) -> MotorState:
    motor, number = drive.motor, tree.rates.index(drive.coordinate)
    speed = drive.speed(own, v[number])
    torque: Scalar = 0.0
    effort: Scalar = 0.0
    if motor.damping > 0.0:
        resisting = -motor.damping * speed
        applied.dissipate(f"{drive.name} friction", resisting * speed)
        if not motor.is_elastic:
            applied.tau[number] = applied.tau[number] + motor.ratio * resisting
    if command is not None:
        settled, flowing, torque = drive.torques(own, command, speed)
        _electrical(drive, settled, flowing, torque * speed, applied)
        loss = motor.gear_loss(torque, speed)
        effort = motor.ratio * (torque - loss)
        if motor.loses:
            applied.dissipate(f"{drive.name} gear", -loss * speed)
    kinetic: Scalar = 0.0
    stored: Scalar = 0.0
    if motor.is_elastic:
        deflection, growing, effort = drive.gear(own, v[number])
        kinetic = 0.5 * motor.inertia * speed * speed
        stored = 0.5 * motor.gear_stiffness * deflection * deflection  # type: ignore[operator]
        if motor.gear_damping > 0.0:
            applied.dissipate(f"{drive.name} gear damper", -motor.gear_damping * growing * growing)
    applied.tau[number] = applied.tau[number] + effort
    return MotorState(drive, speed, torque, effort, kinetic, stored)


def _electrical(drive: MotorDrive, settled: Scalar, flowing: Scalar, given: Scalar, applied: AppliedForces) -> None:
    """Electrical powers: V i in, R i^2 lost in copper, i L i' stored in the field. given: the remainder, W to the rotor.

    A current limit lowers the voltage, so that V = R i_settled + k w. For a torque-speed line, R i^2 = T^2/slope.
    """
    motor = drive.motor
    if not motor.is_electrical and not motor.has_line:
        applied.power[drive.name] = given
        return
    resistance: Scalar = motor.resistance if motor.is_electrical else 1.0 / motor.slope
    applied.power[drive.name] = resistance * settled * flowing + given
    applied.dissipate(f"{drive.name} copper", -resistance * flowing * flowing)
    if drive.state is not None:
        applied.power[f"{drive.name} field"] = -resistance * (settled - flowing) * flowing


def starts_of_states(system: System, tree: Tree, v: Floats) -> list[float]:
    """All states besides the motion at the start; rotors behind elastic gears then turn with their coordinates, at the rates v."""
    elastic = [drive for drive in system.motors.values() if drive.motor.is_elastic]
    rotors = {drive.gear_states[1]: drive.motor.ratio * float(v[tree.rates.index(drive.coordinate)]) for drive in elastic}
    return [rotors.get(name, state.start) for name, state in system.states.items()]
