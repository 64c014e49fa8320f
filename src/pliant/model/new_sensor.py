"""`system.sensor`: adds sensors to a System, with one method for each kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.beam import Beam
from pliant.model.frame import Frame
from pliant.model.joint import BALL, ROTATION
from pliant.model.modes import direction_of
from pliant.model.own_state import OwnState
from pliant.model.segmented import SegmentedBeam
from pliant.model.sensor import (
    SENSORS,
    SIDES,
    Accelerometer,
    Encoder,
    ForceSensor,
    Gyro,
    Sensor,
    StrainGauge,
)

if TYPE_CHECKING:
    from pliant.model.system import BodyHandle, Link, System

KINDS = {StrainGauge: "strain gauge", Encoder: "encoder", Accelerometer: "accelerometer", Gyro: "gyro", ForceSensor: "force"}
STRAINED_BY = {1: "y", 2: "z"}  # the bending modes that strain a side, by the axis of the section towards it


class NewSensor:
    """Adds sensors. Each method returns the name of the new one, by which results and formulas read it.

    Every method also takes name, and the fields that all sensors have: gain, offset, low_pass (Hz), order, damping, delay (s) with
    pade, noise, seed. See the guide's page on sensors.
    """

    def __init__(self, system: System) -> None:
        self._system = system

    def strain_gauge(self, beam: BodyHandle | str, at: float = 0.0, side: str = "top", *, name: str | None = None,
                     **fields: Any) -> str:  # fmt: skip
        """A strain gauge on the surface of a beam, at a station in m from its root, on its top, bottom, left or right side."""
        part = _part(name, StrainGauge)
        handle = self._system.handle(self._body(part, "beam", beam))
        whole = handle.body.beam if isinstance(handle.body, SegmentedBeam) else handle.body
        if not isinstance(whole, Beam):
            raise ModelError.of(part, "beam", "must be an elastic Beam, as nothing else strains", handle.name)
        if not 0.0 <= check.number(part, "at", at, "m") <= whole.length:
            raise ModelError.of(part, "at", f"must be a station in [0, {whole.length:g}] m from the root of {handle.name!r}", at)
        made = StrainGauge(handle.at(at), side, **fields)
        return self.add(self._named(name, made, handle.name), made)

    def encoder(self, joint: BodyHandle | str, counts: float | None = None, *, name: str | None = None, **fields: Any) -> str:
        """An encoder of a joint: a coordinate ("arm.angle"), a body whose joint has one, or a motor, for its rotor.

        counts: steps of its reading per revolution, or per m of a sliding joint; without it the reading is smooth.
        """
        made = Encoder(self._coordinate(_part(name, Encoder), joint), counts, **fields)
        return self.add(self._named(name, made, made.of), made)

    def accelerometer(self, frame: Frame, axes: str | None = None, *, name: str | None = None, **fields: Any) -> str:
        """An accelerometer on a frame: acceleration less gravity along the frame's axes, m/s^2, read as "name.x", "name.y" ..."""
        return self._on_frame(Accelerometer(frame, axes, **fields), name)

    def gyro(self, frame: Frame, axes: str | None = None, *, name: str | None = None, **fields: Any) -> str:
        """A gyro on a frame: its angular velocity along the frame's axes, rad/s; in the plane one number, about z."""
        return self._on_frame(Gyro(frame, axes, **fields), name)

    def force(self, of: BodyHandle | str | Sequence[str], axes: str | None = None, expressed: str = "world", *,
              name: str | None = None, **fields: Any) -> str:  # fmt: skip
        """A force sensor in the joint that carries a body, or at a contact pair (by its name, as `System.contact` returns it).

        A joint has "name.force x", ... and "name.moment z", ...; a contact has "name.normal" and "name.friction x", ...
        """
        part = _part(name, ForceSensor)
        one = of[0] if isinstance(of, (list, tuple)) and len(of) == 1 else of
        made = ForceSensor(one if isinstance(one, str) else self._body(part, "of", one), axes, expressed, **fields)
        return self.add(self._named(name, made, made.of), made)

    def add(self, name: str, sensor: Sensor) -> str:
        """Add a sensor made before, as files do."""
        system, part = self._system, f"sensor {name!r}"
        system._check_new_name(name)
        check.instance(part, "sensor", sensor, SENSORS, f"one of {', '.join(kind.__name__ for kind in SENSORS)}")
        made = self._placed(part, sensor)
        system.sensors[name] = made
        for channel in made.channels(name):
            for state, rate in made.rates(channel).items():
                system.states[state] = OwnState(state, rate)
        return name

    # ---- what a sensor is added to

    def _placed(self, part: str, sensor: Sensor) -> Sensor:
        """The sensor, checked against the System, with what follows from it."""
        system = self._system
        if isinstance(sensor, StrainGauge):
            self._check_gauge(part, sensor)
        if isinstance(sensor, Encoder):
            return replace(sensor, slides=self._slides(part, sensor.of))
        if isinstance(sensor, ForceSensor):
            if sensor.of not in system.links and sensor.of not in system.contacts:
                known = [*system.links, *system.contacts]
                rule = f"must be one of the bodies and contacts added so far, {known}{check.did_you_mean(sensor.of, known)}"
                raise ModelError.of(part, "of", rule, sensor.of)
            touching = sensor.of in system.contacts
            if touching and sensor.expressed != "world":
                raise ModelError.of(part, "expressed", "must be 'world' for the force of a contact", sensor.expressed)
            return replace(sensor, touching=touching, axes=sensor.axes or ("xy" if self._is_planar() else None))
        if isinstance(sensor, (Accelerometer, Gyro)):
            system._check_frame(part, "at", sensor.at)
            return replace(sensor, axes=sensor.axes or (sensor.IN_PLANE if self._is_planar() else None))
        return sensor

    def _check_gauge(self, part: str, gauge: StrainGauge) -> None:
        """A gauge sits on a beam that bends to its side, or stretches, and whose section has an outline."""
        system = self._system
        system._check_frame(part, "at", gauge.at)
        link = system.links.get(gauge.at.body)
        if link is None or not isinstance(link.body, Beam):
            raise ModelError.of(part, "at", "must be on an elastic Beam, as nothing else strains", gauge.at.body)
        if any(gauge.at.offset) or gauge.at.turns:
            raise ModelError.of(part, "at", "must be a frame on the beam's axis, neither moved nor turned", gauge.at)
        if link.body.section.outline is None:
            rule = "must be on a beam whose section has an outline: Section.rectangle, round or tube, or Section(outline=...)"
            raise ModelError.of(part, "at", rule, gauge.at.body)
        strained = ("axial", STRAINED_BY[SIDES[gauge.side][0]])
        if not any(direction_of(modes) in strained for modes in link.body.mode_sets):
            rule = f"must be a side that the modes of beam {link.name!r} strain: it has none in {' or '.join(strained)}"
            raise ModelError.of(part, "side", rule, gauge.side)

    def _body(self, part: str, field: str, given: Any) -> str:
        """The name of a body from its handle or its name."""
        name = given if isinstance(given, str) else getattr(given, "name", None)
        if not isinstance(name, str) or (name not in self._system.links and name not in self._system.segmented):
            known = [*self._system.links, *self._system.segmented]
            rule = f"must be one of the bodies added so far, {known}{check.did_you_mean(str(name), known)}"
            raise ModelError.of(part, field, rule, given)
        return name

    def _coordinate(self, part: str, joint: Any) -> str:
        """The coordinate, or the motor, that an encoder reads."""
        name = joint if isinstance(joint, str) else self._body(part, "joint", joint)
        if name not in self._system.links:
            return name
        own = _counted(self._system.links[name])
        if len(own) != 1:
            rule = f"must be the name of one coordinate, as the joint of {name!r} has {len(own)}: {own}"
            raise ModelError.of(part, "joint", rule, name)
        return own[0]

    def _slides(self, part: str, of: str) -> bool:
        system = self._system
        known = [name for link in system.links.values() for name in _counted(link)]
        if of in system.motors:
            return False  # a rotor turns
        if of not in known:
            every = [*known, *system.motors]
            rule = f"must be one of {every}{check.did_you_mean(of, every)}"
            raise ModelError.of(part, "of", rule, of)
        body, _, own = of.partition(".")
        return all(motion.name != own or motion.kind != ROTATION for motion in system.links[body].joint.motions)

    def _on_frame(self, made: Accelerometer | Gyro, name: str | None) -> str:
        return self.add(self._named(name, made, made.at.body), made)

    def _named(self, name: str | None, made: Sensor, subject: str) -> str:
        """The given name, or one from kind and subject, as in "strain gauge upper"; a number follows if it is taken."""
        if name is not None:
            return name
        own = f"{KINDS[type(made)]} {subject}".replace(".", " ").replace("@", " ")
        names = [own, *(f"{own} {k}" for k in range(2, len(self._system.sensors) + 2))]
        return next(one for one in names if one not in self._system.sensors)

    def _is_planar(self) -> bool:
        """Whether gravity and all bodies added so far stay in the x-y plane."""
        return self._system.gravity[2] == 0.0 and all(_stays_in_plane(link) for link in self._system.links.values())


def _part(name: str | None, kind: type[Sensor]) -> str:
    """A sensor to be, in messages."""
    return f"sensor {name!r}" if name is not None else f"{KINDS[kind]} sensor"


def _counted(link: Link) -> list[str]:
    """The coordinates of a joint that an encoder can read."""
    return [f"{link.name}.{motion.name}" for motion in link.joint.motions if motion.kind != BALL]


def _stays_in_plane(link: Link) -> bool:
    """Whether a body moves in the x-y plane if its carrier does."""
    turns = [axis for axis, _ in link.on.turns]
    for motion in link.joint.motions:
        if motion.kind == BALL or (motion.kind != ROTATION and motion.axis[2] != 0.0):
            return False
        turns += [motion.axis] if motion.kind == ROTATION else []
    flat = all(label.startswith(("y", "axial")) for label in link.mode_labels)
    return flat and all(axis[0] == axis[1] == 0.0 for axis in turns)
