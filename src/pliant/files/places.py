"""Places in model files: arm.tip, arm@0.3, ground, or one of these moved and turned; read and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pliant.files import units
from pliant.files.document import Item, build
from pliant.files.formula import parse_number
from pliant.files.named_numbers import alike, expressions_in, text_of
from pliant.model.frame import GROUND, Frame
from pliant.model.parameter import expression_of
from pliant.model.system import System


@dataclass(frozen=True)
class Place:
    """The location of a frame in a file: a body, a place on it, and an offset and turns from there."""

    item: Item
    body: str
    at: str | float | None = None  # a named place or a station in m; None for the ground
    offset: tuple[float, ...] | None = None  # m
    turns: tuple[tuple[float, Any], ...] = ()  # angle in rad, axis


def read_place(item: Item) -> Place:
    """Read arm.tip, arm.root, arm.<frame>, arm@0.3, ground, or {frame: one of these, offset: [...], turn: ...}."""
    if not item.is_mapping:
        return Place(item, *_split(item))
    found = item.fields(("frame", "offset", "turn"), ("frame",))
    body, at = _split(found["frame"])
    offset = tuple(x.number() for x in found["offset"].of_unit("m").items()) if "offset" in found else None
    turns = _read_turns(found["turn"]) if "turn" in found else ()
    return Place(item, body, at, offset, turns)


def _split(item: Item) -> tuple[str, str | float | None]:
    text = item.text("a place such as arm.tip")
    if text == GROUND:
        return GROUND, None
    cut = min((text.index(mark) for mark in ".@" if mark in text), default=-1)
    body, place = text[:cut], text[cut + 1 :]
    if cut < 1 or not place:
        raise item.wrong("must be ground, body.tip, body.root, body.frame or body@station")
    if text[cut] == ".":
        return body, place
    with_unit = units.split(place)
    if with_unit is not None:
        return body, build(units.convert, item, *with_unit, "m")
    return body, build(parse_number, item, place, item.scope.definitions, "m")


def _read_turns(item: Item) -> tuple[tuple[float, Any], ...]:
    """Read an angle about z, or {axis, angle}, or a list of these."""
    if item.is_list:
        return tuple(turn for inner in item.items() for turn in _read_turns(inner))
    if not item.is_mapping:
        return ((item.of_unit("rad").number("an angle"), "z"),)
    found = item.fields(("axis", "angle"), ("axis", "angle"))
    return ((found["angle"].of_unit("rad").number("an angle"), found["axis"].of_unit("1").anything()),)


def read_frame(item: Item) -> Frame:
    """Read a place on the system read so far."""
    return frame_of(item.scope.system, read_place(item))


def frame_of(system: System, place: Place) -> Frame:
    frame: Frame = build(_placed, place.item, system, place)
    return frame


def is_place(item: Item) -> bool:
    """Whether an item is a place: text, or a mapping with the key `frame`."""
    return not item.is_mapping or "frame" in item.mapping()


def _placed(system: System, place: Place) -> Frame:
    frame = system.ground if place.body == GROUND else system.handle(place.body).at(place.at)
    if place.offset is not None:
        frame = frame.moved(place.offset)
    for angle, axis in place.turns:
        frame = frame.turned(angle, axis)
    return frame


def write_place(system: System, frame: Frame) -> str | dict[str, Any]:
    place, offset = _nearest(system, frame)
    moved = any(offset) or any(expressions_in(offset))
    if not moved and not frame.turns:
        return place
    data: dict[str, Any] = {"frame": place}
    if moved:
        data["offset"] = list(offset)
    if frame.turns:
        data["turn"] = [{"axis": list(axis), "angle": angle} for axis, angle in frame.turns]
    return data


def _nearest(system: System, frame: Frame) -> tuple[str, Sequence[float]]:
    """The name of the place nearest to a frame, and the remaining offset from there."""
    if frame.body == GROUND:
        return GROUND, frame.offset
    places = system.handle(frame.body).body.places(frame.body)
    there = Frame(frame.body, frame.station, frame.offset)
    for found, left in ((there, ()), (Frame(frame.body, frame.station), frame.offset)):
        named = next((name for name, place in places.items() if alike(place, found)), None)
        if named is not None:
            return f"{frame.body}.{named}", left
    expression = expression_of(frame.station)
    station = repr(frame.station) if expression is None else text_of(expression)
    return f"{frame.body}@{station}", frame.offset
