"""What sensors measure at a traced state: one formula for each kind, before filter, delay, gain and offset."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pliant.codegen.tracer import Scalar
from pliant.dynamics.algebra import sub, total
from pliant.dynamics.kinematics import place_pose, place_twist, poses, twists
from pliant.model.sensor import AXES, FORCE, FRICTION, Accelerometer, Encoder, ForceSensor, Gyro, Sensor, StrainGauge

if TYPE_CHECKING:
    from pliant.trace.signals import Signals


def measured(here: Signals, name: str, part: str) -> list[Scalar]:
    """What a sensor measures, by its components. part: the owner of the formula that reads it."""
    sensor = here.system.sensors[name]
    return MEASURED[type(sensor)](here, name, sensor, part)


def _strain(here: Signals, name: str, gauge: Any, part: str) -> list[Scalar]:
    node = here.tree.nodes[here.tree.index(gauge.at.body)]
    z, _ = node.own(here.q, here.v)
    return [total(weight * x for weight, x in zip(here.tree.gauges[name], z, strict=True))]


def _position(here: Signals, name: str, encoder: Any, part: str) -> list[Scalar]:
    """A coordinate, or the angle of a rotor, which is ahead of its coordinate by the deflection of an elastic gear."""
    q, _ = here.seen(part)
    drive = here.system.motors.get(encoder.of)
    if drive is None:
        return [q[encoder.of]]
    turned = q[drive.coordinate] + (q[drive.gear_states[0]] if drive.motor.is_elastic else 0.0)
    return [drive.motor.ratio * turned]


def _acceleration(here: Signals, name: str, sensor: Any, part: str) -> list[Scalar]:
    """R^T (a - g): the velocity of the origin in the world, differentiated along the motion."""
    place = here.tree.place(sensor.at)
    pose = place_pose(here.tree, place, poses(here.tree, here.q), here.q)
    twist = place_twist(here.tree, place, twists(here.tree, here.q, here.v), here.q, here.v)
    x, y, z = here.changing(pose.rotation.out(twist.velocity), part, name)
    return _along(sensor, pose.rotation.into(sub((x, y, z), here.tree.gravity)))


def _turning(here: Signals, name: str, sensor: Any, part: str) -> list[Scalar]:
    place = here.tree.place(sensor.at)
    return _along(sensor, place_twist(here.tree, place, twists(here.tree, here.q, here.v), here.q, here.v).omega)


def _force(here: Signals, name: str, sensor: Any, part: str) -> list[Scalar]:
    if sensor.touching:
        force, friction = here.contact_force(sensor.of, part, name)
        return [force, *_along(sensor, friction)]
    number = here.tree.index(sensor.of)
    moment, force = here.reaction(number, part, name)
    if sensor.expressed == "body":
        turn = poses(here.tree, here.q)[number].rotation
        moment, force = turn.into(moment), turn.into(force)
    kinds = (own.split(" ") for own in sensor.components)
    return [(force if kind == FORCE else moment)[AXES.index(axis)] for kind, axis in kinds]


def _along(sensor: Any, vector: Any) -> list[Scalar]:
    """The components that a sensor reads."""
    axes = [own.removeprefix(f"{FRICTION} ") for own in sensor.components]
    return [vector[AXES.index(axis)] for axis in axes if axis in AXES]


MEASURED: dict[type[Sensor], Callable[[Signals, str, Any, str], list[Scalar]]] = {
    StrainGauge: _strain,
    Encoder: _position,
    Accelerometer: _acceleration,
    Gyro: _turning,
    ForceSensor: _force,
}
