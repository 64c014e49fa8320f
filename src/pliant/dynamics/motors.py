"""Motors at a state: rotor torque, effort behind the gear, and the flow of power."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pliant.dynamics.algebra import Scalar, is_zero
from pliant.dynamics.loads import AppliedForces
from pliant.dynamics.tree import Tree
from pliant.model.motor import MotorDrive
from pliant.scalar import absolute, tanh, where


@dataclass(frozen=True)
class MotorState:
    """One motor: speed and torque of its rotor, and the effort on its coordinate."""

    drive: MotorDrive
    speed: Scalar  # rad/s, rotor relative to stator
    torque: Scalar  # N m, torque on the rotor
    effort: Scalar  # N m or N, effort behind the gear, without the rotor's inertia and damping


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
    speed = motor.ratio * v[number]
    if motor.damping > 0.0:
        resisting = -motor.damping * speed
        applied.tau[number] = applied.tau[number] + motor.ratio * resisting
        applied.dissipate(f"{drive.name} friction", resisting * speed)
    if command is None:
        return MotorState(drive, speed, 0.0, 0.0)
    settled = motor.settled(command, speed)
    flowing = settled if drive.state is None else own[drive.state]  # the current, or the torque if the motor has no electrical data
    torque = motor.constant * flowing if motor.is_electrical else flowing
    _electrical(drive, settled, flowing, torque * speed, applied)
    effort = motor.ratio * (torque - _gear_loss(drive, torque, speed))
    if not all(is_zero(loss) for loss in motor.losses):
        applied.dissipate(f"{drive.name} gear", effort * v[number] - torque * speed)
    applied.tau[number] = applied.tau[number] + effort
    return MotorState(drive, speed, torque, effort)


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


def _gear_loss(drive: MotorDrive, torque: Scalar, speed: Scalar) -> Scalar:
    """The torque lost in the gear, against the speed: a fraction of the motor torque, by the side that drives; zero at rest."""
    driving, driven = drive.motor.losses
    if is_zero(driving) and is_zero(driven):
        return 0.0
    share = where(torque * speed > 0.0, driving, driven)
    return absolute(torque) * share * tanh(speed / drive.motor.transition)
