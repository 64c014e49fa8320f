"""Motors at a state: what their rotors give, what their gears pass on, and where their power goes."""

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
    """One motor: its rotor's speed and torque, and the effort on its coordinate."""

    drive: MotorDrive
    speed: Scalar  # rad/s, of the rotor against its stator
    torque: Scalar  # N m, that the motor gives to its rotor
    effort: Scalar  # N m or N, behind the gear, without the rotor's inertia and damping


def push_motors(
    tree: Tree,
    drives: Iterable[MotorDrive],
    v: Sequence[Scalar],
    commands: Mapping[str, Scalar],
    own: Mapping[str, Scalar],
    applied: AppliedForces,
) -> list[MotorState]:
    """Efforts of all motors, and their lines in the ledger. commands: of those that have one; own: states by name."""
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
    flowing = settled if drive.state is None else own[drive.state]  # the current, or without electrical numbers the torque
    torque = motor.constant * flowing if motor.is_electrical else flowing
    _electrical(drive, settled, flowing, torque * speed, applied)
    effort = motor.ratio * (torque - _gear_loss(drive, torque, speed))
    if not all(is_zero(loss) for loss in motor.losses):
        applied.dissipate(f"{drive.name} gear", effort * v[number] - torque * speed)
    applied.tau[number] = applied.tau[number] + effort
    return MotorState(drive, speed, torque, effort)


def _electrical(drive: MotorDrive, settled: Scalar, flowing: Scalar, given: Scalar, applied: AppliedForces) -> None:
    """V i in, R i^2 lost in copper, i L i' into the field and back; given: W to the rotor, which is the rest.

    What limits the current lowers the voltage, so that V = R i_settled + k w. Of a line R i^2 = T^2/slope.
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
    """The torque that the gear takes: against the speed, a share of the motor's own, whoever drives; none at rest."""
    driving, driven = drive.motor.losses
    if is_zero(driving) and is_zero(driven):
        return 0.0
    share = where(torque * speed > 0.0, driving, driven)
    return absolute(torque) * share * tanh(speed / drive.motor.transition)
