"""Contacts in model files: which shapes can touch, and by which laws; read and written.

Laws are named by the snake-case names of their classes, which come from the registries, so a new law needs no change here. A law
of the user's own is a formula: of depth, rate and entry_speed for the normal force, of speed and normal for friction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pliant.errors import ModelError
from pliant.files import vocabulary
from pliant.files.document import Item, build
from pliant.files.named_numbers import alike
from pliant.files.places import is_place, read_frame, write_place
from pliant.files.values import read
from pliant.files.vocabulary import Friction, Normal
from pliant.files.written import Data, write
from pliant.model.contact import PARTS, Capsule, ContactPair, Point
from pliant.model.contact_group import ContactGroup
from pliant.model.frame import Frame
from pliant.model.system import System
from pliant.model.wear import Archard

ENDS = "ends"  # the ends of all links
AMONG, PAIRED = "among", ("points", "against")  # keys, of which a contact has either the one or the others


# ---- reading


def read_contact(system: System, name: str, item: Item) -> None:
    """Read {points, against, normal, friction}, or a list of these under the same name."""
    if item.is_list:
        for inner in item.items():
            read_contact(system, name, inner)
        return
    hints, required = vocabulary.call_hints("contacts")
    found = item.fields(hints, [*(() if AMONG in item.mapping() else PAIRED), *required])
    values = {key: read(hints[key], value) for key, value in found.items() if key != "points"}
    if "points" in found:
        values["points"] = _read_points(system, found["points"])
    build(system.contact, item, **values, name=name)


def _read_points(system: System, item: Item) -> list[Any]:
    if item.is_scalar and item.text() == ENDS:
        return list(system.ends())
    return [_read_point(inner) for inner in (item.items() if item.is_list else [item])]


def _read_point(item: Item) -> Any:
    """Read a shape; a bare place is a point."""
    return read_frame(item) if is_place(item) else read(vocabulary.Body, item)


# ---- writing


def write_contacts(system: System) -> Data:
    """Write the section. Pairs of one call of `System.contact` are one entry again; entries with the same name form a list."""
    calls: dict[str, list[Data]] = {}
    for name, pairs in _calls(system):
        part, first = f"contact {name!r}", pairs[0]
        data: Data = {"points": _write_points(system, pairs), "against": write_shape(system, first.against)}
        data["normal"] = _write_law(Normal, f"{part}: normal", first.normal)
        if first.friction is not None:
            data["friction"] = _write_law(Friction, f"{part}: friction", first.friction)
        if first.wear is not None:
            data["wear"] = write(Archard, first.wear, f"{part}: wear")
        calls.setdefault(name, []).append(data)
    for name, group in system.groups.items():
        calls.setdefault(name, []).append(_write_group(system, group))
    return {name: data[0] if len(data) == 1 else data for name, data in calls.items()}


def _write_group(system: System, group: ContactGroup) -> Data:
    part = f"contact {group.name!r}"
    data: Data = {AMONG: [write_shape(system, shape) for shape in (*group.balls, *group.planes)]}
    data["normal"] = _write_law(Normal, f"{part}: normal", group.normal)
    if group.friction is not None:
        data["friction"] = _write_law(Friction, f"{part}: friction", group.friction)
    return data


def _calls(system: System) -> list[tuple[str, list[ContactPair]]]:
    """Groups of consecutive pairs with the same name, counterpart and laws; of two boxes only the corners of the first."""
    found: list[tuple[str, list[ContactPair]]] = []
    for pair in system.contacts.values():
        name = _name_of(system, pair)
        if found and found[-1][0] == name and _is_mirrored(found[-1][1][-1], pair):
            continue
        if found and found[-1][0] == name and _alike(found[-1][1][-1], pair):
            found[-1][1].append(pair)
        else:
            found.append((name, [pair]))
    return found


def _is_mirrored(one: ContactPair, other: ContactPair) -> bool:
    """Whether parts of what the one touches touch it."""
    return isinstance(one.ball, PARTS) and one.shapes == other.shapes[::-1]


def _alike(one: ContactPair, other: ContactPair) -> bool:
    return alike(*((pair.against, pair.normal, pair.friction, pair.wear) for pair in (one, other)))


def _name_of(system: System, pair: ContactPair) -> str:
    """The name of the contact: the pair's name without its place."""
    for place in _places_of(system, pair):
        if pair.name.endswith(f" {place}"):
            return pair.name.removesuffix(f" {place}")
    raise ModelError(f"system {system.name!r}: contacts must be added by System.contact, which names them, got {pair.name!r}")


def _places_of(system: System, pair: ContactPair) -> list[str]:
    """Possible names of the pair's place: its own name, which a system with the same bodies gives, or an end of a capsule."""
    probe = System(system.name, system.gravity)
    probe.links.update(system.links)
    own = probe.contact(points=pair.shapes[0], against=pair.against, normal=pair.normal, name="")
    return [*(name.strip() for name in own), *(f"{pair.ball.at.body}.{end}" for end in CAPSULE_ENDS)]


CAPSULE_ENDS = ("start", "end")


def _write_points(system: System, pairs: Sequence[ContactPair]) -> Any:
    if [pair.ball for pair in pairs] == [Point(frame) for frame in system.ends()]:
        return ENDS
    points: list[Any] = []
    k = 0
    while k < len(pairs):
        if isinstance(ball := pairs[k].ball, PARTS):
            points.append(write_shape(system, ball.of))
            k += sum(pair.shapes[0] == ball.of for pair in pairs)
        elif k + 1 < len(pairs) and _is_capsule(system, pairs[k], pairs[k + 1]):
            points.append(write_shape(system, _capsule(pairs[k], pairs[k + 1])))
            k += 2
        else:
            points.append(write_place(system, ball.at) if isinstance(ball, Point) else write_shape(system, ball))
            k += len(_places_of(system, pairs[k])) - len(CAPSULE_ENDS)  # a pin may touch at two places
    return points


def _is_capsule(system: System, first: ContactPair, second: ContactPair) -> bool:
    """Whether two pairs are the ends of a capsule, by the name of one of them."""
    return any(
        not pair.name.endswith(f" {_places_of(system, pair)[0]}") and pair.name.endswith(f".{end}")
        for pair, end in zip((first, second), CAPSULE_ENDS, strict=True)
    )


def _capsule(first: ContactPair, second: ContactPair) -> Capsule:
    """The capsule with these ends; its length reproduces the second end to the last bit."""
    lengths = [math.dist(first.ball.at.offset, second.ball.at.offset)]
    for _ in range(4):
        lengths += [math.nextafter(max(lengths), math.inf), math.nextafter(min(lengths), 0.0)]
    made = [Capsule(first.ball.at, length, first.radius) for length in lengths]
    return next((capsule for capsule in made if capsule.ends()[1] == second.ball), made[0])


def write_shape(system: System, shape: Any) -> Data:
    data: Data = {}
    for name in vocabulary.field_hints(type(shape)):
        value = getattr(shape, name)
        if isinstance(value, Frame):
            if name == "at" or value != system.ground:
                data[name] = write_place(system, value)
        elif isinstance(value, tuple):
            data[name] = [list(item) if isinstance(item, tuple) else item for item in value]
        else:
            data[name] = value
    return {vocabulary.word(type(shape)): data}


def _write_law(hint: Any, part: str, law: Any) -> Any:
    if type(law) not in vocabulary.classes(hint):
        known = ", ".join(vocabulary.family(hint))
        raise ModelError(f"{part}: must be one of {known} to be written to a file, got {type(law).__name__}")
    return write(hint, law, part)
