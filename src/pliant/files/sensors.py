"""Sensors in model files: {strain_gauge: {at: arm@0.1, side: top}}, one for each name; read and written."""

from __future__ import annotations

from pliant.files.document import Item, build
from pliant.files.places import write_place
from pliant.files.values import read
from pliant.files.vocabulary import AnySensor, word
from pliant.files.written import Data, write_fields
from pliant.model.frame import Frame
from pliant.model.sensor import AXES, FORCE, FRICTION, MOMENT, NORMAL, Sensor
from pliant.model.system import System

SENSORS_SECTION = "sensors"


def read_sensor(system: System, name: str, item: Item) -> None:
    build(system.sensor.add, item, name, read(AnySensor, item))


def channels_of(name: str) -> list[str]:
    """The names that readings of a sensor may have, whatever its kind: formulas are read before all sensors are known."""
    components = [*AXES, NORMAL, *(f"{kind} {axis}" for kind in (FORCE, MOMENT, FRICTION) for axis in AXES)]
    return [name, *(f"{name}.{own}" for own in components)]


def write_sensor(system: System, name: str, sensor: Sensor) -> Data:
    place = getattr(sensor, "at", None)
    where = {"at": write_place(system, place)} if isinstance(place, Frame) else {}
    return {word(type(sensor)): {**where, **write_fields(sensor, f"sensor {name!r}", leaving=("at",))}}
