"""Contacts in files: which points may touch what, and by which laws; read and written.

Laws stand under the snake-case names of their classes, taken from the registries: a new law needs no line here. A law of one's
own is a formula: of depth, rate and entry_speed for the normal force, of speed and normal for friction.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from pliant.errors import ModelError
from pliant.files import vocabulary
from pliant.files.document import Item, did_you_mean
from pliant.files.formula import ParsedFormula
from pliant.files.places import frame_of, read_place, write_place
from pliant.files.values import build, read, read_formula, read_named
from pliant.files.written import Data, write, write_named
from pliant.model.contact import Capsule, ContactPair, Point, Shape
from pliant.model.frame import Frame
from pliant.model.friction_law import FRICTION_LAWS, CustomFriction
from pliant.model.normal_law import NORMAL_LAWS, CustomNormal
from pliant.model.system import System

ENDS = "ends"  # the ends of all links
SHAPES: dict[str, type] = {vocabulary.word(kind): kind for kind in get_args(Shape)}


@dataclasses.dataclass(frozen=True)
class _Family:
    """The laws of one kind, and how a formula stands among them."""

    laws: Mapping[str, type]
    custom: Any  # a class
    formulas: Mapping[str, tuple[str, ...]]  # fields of the custom law that are formulas, with their variables


NORMAL = _Family({vocabulary.word(law): law for law in NORMAL_LAWS}, CustomNormal,
                 {"function": ("depth", "rate", "entry_speed"), "energy": ("depth",)})  # fmt: skip
FRICTION = _Family({vocabulary.word(law): law for law in FRICTION_LAWS}, CustomFriction,
                   {"function": ("speed", "normal")})  # fmt: skip
FORMULA = "formula"  # the name a law of one's own stands under where it has more than its function


# ---- reading


def read_contact(system: System, name: str, item: Item) -> None:
    """{points, against, normal, friction}, or a list of these that share the name."""
    if item.is_list:
        for inner in item.items():
            read_contact(system, name, inner)
        return
    found = item.fields(("points", "against", "normal", "friction"), ("points", "against", "normal"))
    friction = found.get("friction")
    build(
        system.contact,
        item,
        points=_read_points(system, found["points"]),
        against=_read_shape(system, found["against"]),
        normal=_read_law(NORMAL, found["normal"]),
        friction=None if friction is None or friction.is_nothing else _read_law(FRICTION, friction),
        name=name,
    )


def _read_points(system: System, item: Item) -> list[Any]:
    if item.is_scalar and item.text() == ENDS:
        return list(system.ends())
    return [_read_point(system, inner) for inner in (item.items() if item.is_list else [item])]


def _read_point(system: System, item: Item) -> Any:
    """A place, which is a point, or a shape."""
    return frame_of(system, read_place(item)) if _is_place(item) else _read_shape(system, item)


def _is_place(item: Item) -> bool:
    return not item.is_mapping or "frame" in item.mapping()


def _read_shape(system: System, item: Item) -> Any:
    """{plane: ...}, {sphere: ...}, {capsule: ...} or {point: place}."""
    names = list(SHAPES)
    found = item.mapping(f"one of {', '.join(names)}")
    if len(found) != 1:
        raise item.error(f"must hold one of {', '.join(names)}, got {', '.join(found) or 'nothing'}")
    name, inner = next(iter(found.items()))
    if name not in SHAPES:
        raise inner.at_key(f"unknown kind {name!r}{did_you_mean(name, names)}; known: {', '.join(names)}", item)
    kind = SHAPES[name]
    hints, required = vocabulary.field_hints(kind), vocabulary.required_fields(kind)
    alone = len(required) == 1 and hints[required[0]] is Frame and _is_place(inner)
    given = {required[0]: inner} if alone else inner.fields(hints, required)
    values = {field: _read_field(system, hints[field], value) for field, value in given.items()}
    return build(kind, inner, **values)


def _read_field(system: System, hint: Any, item: Item) -> Any:
    return frame_of(system, read_place(item)) if hint is Frame else read(hint, item)


def _read_law(family: _Family, item: Item) -> Any:
    """{law: fields}, a formula alone, or {formula: {function: ..., and what else the law has}}."""
    if item.is_scalar and not item.text().isidentifier():
        return _read_custom(family, {"function": item}, item)
    if item.is_mapping and list(item.mapping()) == [FORMULA]:
        inner = item.mapping()[FORMULA]
        known = vocabulary.field_hints(family.custom)
        given = inner.fields(known, ("function",)) if inner.is_mapping else {"function": inner}
        return _read_custom(family, given, inner)
    return read_named(family.laws, item)


def _read_custom(family: _Family, given: Mapping[str, Item], item: Item) -> Any:
    hints = vocabulary.field_hints(family.custom)
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name not in family.formulas:
            values[name] = read(hints[name], value)
            continue
        values[name] = read_formula(value, family.formulas[name])
        if values[name].constant is not None:
            variables, example = ", ".join(family.formulas[name]), next(iter(family.laws))
            raise value.wrong(f"must be a law, as in {{{example}: ...}}, or a formula of {variables}")
    return build(family.custom, item, **values)


# ---- writing


def write_contacts(system: System) -> Data:
    """The section, pairs of one call together again; calls that share a name stand in a list."""
    calls: dict[str, list[Data]] = {}
    for name, pairs in _calls(system):
        part, first = f"contact {name!r}", pairs[0]
        data: Data = {"points": _write_points(system, pairs), "against": _write_shape(system, first.against)}
        data["normal"] = _write_law(NORMAL, f"{part}: normal", first.normal)
        if first.friction is not None:
            data["friction"] = _write_law(FRICTION, f"{part}: friction", first.friction)
        calls.setdefault(name, []).append(data)
    return {name: data[0] if len(data) == 1 else data for name, data in calls.items()}


def _calls(system: System) -> list[tuple[str, list[ContactPair]]]:
    """Neighbours that share name, counterpart and laws."""
    found: list[tuple[str, list[ContactPair]]] = []
    for pair in system.contacts.values():
        name = _name_of(system, pair)
        if found and found[-1][0] == name and _alike(found[-1][1][-1], pair):
            found[-1][1].append(pair)
        else:
            found.append((name, [pair]))
    return found


def _alike(one: ContactPair, other: ContactPair) -> bool:
    return (one.against, one.normal, one.friction) == (other.against, other.normal, other.friction)


def _name_of(system: System, pair: ContactPair) -> str:
    """What the contact was called: the pair's name without its place."""
    for place in _places_of(system, pair):
        if pair.name.endswith(f" {place}"):
            return pair.name.removesuffix(f" {place}")
    raise ModelError(f"system {system.name!r}: contacts must be named by System.contact, got {pair.name!r}")


def _places_of(system: System, pair: ContactPair) -> list[str]:
    """How the pair's place may be called: as a ball of its own, by asking a system of the same bodies, or as a capsule's end."""
    probe = System(system.name, system.gravity)
    probe.links.update(system.links)
    (own,) = probe.contact(points=pair.ball, against=pair.against, normal=pair.normal, name="")
    return [own.strip(), *(f"{pair.ball.at.body}.{end}" for end in CAPSULE_ENDS)]


CAPSULE_ENDS = ("start", "end")


def _write_points(system: System, pairs: Sequence[ContactPair]) -> Any:
    if [pair.ball for pair in pairs] == [Point(frame) for frame in system.ends()]:
        return ENDS
    points: list[Any] = []
    k = 0
    while k < len(pairs):
        if k + 1 < len(pairs) and _is_capsule(system, pairs[k], pairs[k + 1]):
            points.append(_write_shape(system, _capsule(pairs[k], pairs[k + 1])))
            k += 2
        else:
            ball = pairs[k].ball
            points.append(write_place(system, ball.at) if isinstance(ball, Point) else _write_shape(system, ball))
            k += 1
    return points


def _is_capsule(system: System, first: ContactPair, second: ContactPair) -> bool:
    """Two pairs of which one is called an end of a capsule, not a place of its own."""
    return any(
        not pair.name.endswith(f" {_places_of(system, pair)[0]}") and pair.name.endswith(f".{end}")
        for pair, end in zip((first, second), CAPSULE_ENDS, strict=True)
    )


def _capsule(first: ContactPair, second: ContactPair) -> Capsule:
    """The capsule with these ends; its length to the last bit that gives the second."""
    lengths = [math.dist(first.ball.at.offset, second.ball.at.offset)]
    for _ in range(4):
        lengths += [math.nextafter(max(lengths), math.inf), math.nextafter(min(lengths), 0.0)]
    made = [Capsule(first.ball.at, length, first.radius) for length in lengths]
    return next((capsule for capsule in made if capsule.ends()[1] == second.ball), made[0])


def _write_shape(system: System, shape: Any) -> Data:
    data: Data = {}
    for name in vocabulary.field_hints(type(shape)):
        value = getattr(shape, name)
        if isinstance(value, Frame):
            if name == "at" or value != system.ground:
                data[name] = write_place(system, value)
        elif isinstance(value, tuple):
            data[name] = list(value)
        else:
            data[name] = value
    return {vocabulary.word(type(shape)): data}


def _write_law(family: _Family, part: str, law: Any) -> Any:
    if type(law) in family.laws.values():
        return write_named(law)
    if not isinstance(law, family.custom):
        known = ", ".join(family.laws)
        raise ModelError(f"{part}: must be one of {known} to be written to a file, got {type(law).__name__}")
    data: Data = {}
    for field in dataclasses.fields(law):
        value = getattr(law, field.name)
        if value == field.default:
            continue
        if field.name not in family.formulas:
            data[field.name] = write(vocabulary.field_hints(type(law))[field.name], value, part)
        elif isinstance(value, ParsedFormula):
            data[field.name] = value.text
        else:
            rule = "a Python function cannot be written to a file (write it as a formula)"
            raise ModelError(f"{part}: {rule}, got {value!r}")
    return data["function"] if list(data) == ["function"] else {FORMULA: data}
