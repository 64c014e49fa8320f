"""Reads a model file into a System and its run settings."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pliant.files.contacts import read_contact
from pliant.files.definitions import check_given, read_definitions, read_formulas_again
from pliant.files.document import Item, Scope, build, did_you_mean, read_document
from pliant.files.formula import PLACES, ROTATIONS, Known, ParsedFormula, parse_formula
from pliant.files.include import SHARED, read_includes, read_text
from pliant.files.places import Place, frame_of, read_place
from pliant.files.quantities import along, coordinate_units
from pliant.files.run_settings import RunSettings
from pliant.files.sensors import SENSORS_SECTION, channels_of, read_sensor
from pliant.files.struts import read_strut_force
from pliant.files.units import most_written
from pliant.files.values import read, read_built, read_formula, read_object
from pliant.files.vocabulary import CALLS, MATERIALS, UPDATE, builders, call_hints, call_unit
from pliant.model import check
from pliant.model.body import Body
from pliant.model.closure import closure_tolerance
from pliant.model.frame import GROUND
from pliant.model.inverse_problem import InverseProblem
from pliant.model.joint import Joint
from pliant.model.material import Material
from pliant.model.motor import COMMAND, CURRENT, TORQUE
from pliant.model.resolve import resolved
from pliant.model.rigid import RigidBody
from pliant.model.segmented import SegmentedBeam, segmented
from pliant.model.signal import Formula
from pliant.model.system import BODIES, PAYLOAD, System

VERSION = 1  # of the vocabulary
INITIAL = ("initial", "initial_rates")
SEGMENTS = "segments"  # number of short beams into which a beam is divided
LINK_KEYS: dict[str, str | None] = {"joint": None, "on": "m", "initial": "m or rad", "initial_rates": "m/s or rad/s",
                                    SEGMENTS: None}  # fmt: skip


@dataclass(frozen=True)
class Model:
    """The content of a model file: a System and, optionally, run settings."""

    system: System
    run: RunSettings | Any  # None if the file has no run section
    units: Mapping[str, str] = field(default_factory=dict, compare=False)  # in which the file defines numbers, such as mm
    unused: tuple[str, ...] = field(default=(), compare=False)  # definitions of the file itself that nothing in it reads


def load_model(path: str | Path, includes_outside: bool = False, parameters: Mapping[str, float | str] | None = None) -> Model:
    """Read a model file. Every error message names the file, line and column, the keys, the rule and the value.

    includes_outside: allow it to include files from outside its folder. parameters: values that replace those of the file's
    definitions, as numbers in SI or as strings with a unit.
    """
    file = check.path("load_model", "path", path)
    source = _Source(read_text(path), str(path), file.parent, (file.resolve(),), includes_outside)
    return _read_model(source, check.mapping("load_model", "parameters", parameters))


def loads_model(
    text: str,
    source: str = "<text>",
    folder: str | Path | None = None,
    includes_outside: bool = False,
    parameters: Mapping[str, float | str] | None = None,
) -> Model:
    """Read a model from a string. source: its name in messages. folder: the folder of the files that it includes.

    includes_outside, parameters: as for `load_model`.
    """
    check.instance("loads_model", "text", text, str, "the text of a model file")
    place = None if folder is None else check.path("loads_model", "folder", folder)
    return _read_model(_Source(text, source, place, (), includes_outside), check.mapping("loads_model", "parameters", parameters))


TOLERANCE, BAUMGARTE, HOLD, DRIVE_BY = "closure_tolerance", "baumgarte", "hold", "drive_by"
NEEDED = ("pliant", "system", "gravity", "bodies")
SECTIONS = ("pliant", "include", "system", "gravity", TOLERANCE, BAUMGARTE, *SHARED, "bodies", HOLD, *CALLS, SENSORS_SECTION,
            DRIVE_BY, "run")  # fmt: skip


@dataclass(frozen=True)
class _Source:
    """The origin of a model."""

    text: str
    name: str
    folder: Path | None  # folder of the files that it includes
    above: tuple[Path, ...]
    outside: bool  # whether these may be elsewhere


def _read_model(source: _Source, given: Mapping[str, float | str]) -> Model:
    about: dict[str, Any] = {"given": given, "folder": source.folder, "outside": source.outside}
    scope = Scope(**about)
    model = _read_sections(source, scope)
    if not scope.structural:
        return model
    return _read_sections(source, Scope(**about, fixed=frozenset(scope.structural)))  # again, these no longer parameters


def _read_sections(source: _Source, scope: Scope) -> Model:
    document = read_document(source.text, source.name, scope)
    sections = document.fields(SECTIONS, NEEDED)
    place = (source.folder, source.above, source.outside)
    included = read_includes(sections["include"], *place) if "include" in sections else []
    parts: dict[str, Body] = {}
    defined: list[tuple[str, Item]] = []
    for shared in (*included, sections):  # the file's own sections last, because they may use the included ones
        if "pliant" in shared:
            _check_version(shared["pliant"])
        defined += read_definitions(shared)
        _read_materials(shared)
        _read_parts(shared, parts)
    check_given(scope)
    gravity = read(Sequence[float], sections["gravity"].of_unit("m/s^2"))
    system = scope.system = build(System, sections["gravity"], sections["system"].text(), gravity)
    texts = (item.scalars() for shared in (sections, *included) for item in shared.values())
    system.shown_units = most_written(itertools.chain.from_iterable(texts))
    if TOLERANCE in sections:
        part, item = f"system {system.name!r}", sections[TOLERANCE].of_unit("1")
        system.closure_tolerance = build(closure_tolerance, item, part, item.number())
    if BAUMGARTE in sections:
        item = sections[BAUMGARTE].of_unit("1/s")
        system.baumgarte = build(check.positive, item, f"system {system.name!r}", "baumgarte", item.number(), "1/s")
    _read_bodies(system, sections, parts)
    if HOLD in sections:
        held = sections[HOLD]
        for item in held.items() if held.is_list else [held]:
            build(system.hold, item, item.text("the name of a joint coordinate"))
    scope.coordinates = _coordinates(system, sections)
    read_formulas_again(defined)
    for section in CALLS:
        for name, item in _entries(sections, section):
            _read_call(system, section, name, item)
    for name, item in _entries(sections, SENSORS_SECTION):
        read_sensor(system, name, item)
    run = _read_run(sections["run"]) if "run" in sections else None
    if DRIVE_BY in sections:
        system.problem = read_object(InverseProblem, _plain_numbers(sections[DRIVE_BY]))
    return Model(system, run, scope.units, _unused(sections))


def _unused(sections: Mapping[str, Item]) -> tuple[str, ...]:
    """Definitions whose names occur in no value of the file. Those of included files are shared, and may wait for other models."""
    if "define" not in sections:
        return ()
    words = {word for item in sections.values() for text in item.scalars() for word in re.findall(r"[^\W\d]\w*", text)}
    return tuple(name for name, _ in _entries(sections, "define") if name not in words)


def _read_run(item: Item) -> RunSettings:
    settings: RunSettings = read_object(RunSettings, _plain_numbers(item))
    return settings


def _plain_numbers(item: Item) -> Item:
    """The item with the values of definitions in place of parameters, because settings and motions are not part of the System."""
    return replace(item, scope=replace(item.scope, definitions=resolved(item.scope.definitions, {})))


def _check_version(item: Item) -> None:
    if item.whole() != VERSION:
        raise item.wrong(f"must be {VERSION}, the version of the vocabulary")


def _entries(sections: Mapping[str, Item], name: str) -> list[tuple[str, Item]]:
    return list(sections[name].mapping().items()) if name in sections else []


# ---- what other values refer to


def _read_materials(sections: Mapping[str, Item]) -> None:
    for name, item in _entries(sections, "materials"):
        if name in {**MATERIALS, **item.scope.materials}:
            own = "is a material of pliant" if name in MATERIALS else "is given twice"
            raise item.error(f"a material's name must be new, got {name!r}, which {own}")
        item.scope.materials[name] = read(Material, item)


def _read_parts(sections: Mapping[str, Item], parts: dict[str, Body]) -> None:
    for name, item in _entries(sections, "parts"):
        if name in parts:
            raise item.error(f"{name!r} must be given only once, got it twice")
        parts[name] = _read_body(item)


# ---- bodies


def _read_bodies(system: System, sections: Mapping[str, Item], parts: Mapping[str, Body]) -> None:
    bodies = sections["bodies"].mapping("a mapping of names and bodies")
    if not bodies:
        raise sections["bodies"].error("must hold at least one body, got none")
    keys = ("part", *BODIES, *builders(RigidBody), *LINK_KEYS)
    found = {name: item.fields(keys, ["joint"]) for name, item in bodies.items()}
    for name, item in bodies.items():
        if "@" in name:
            raise item.error(f"a body's name must not contain @, which marks a station, got {name!r}")
    places = {name: read_place(fields["on"]) for name, fields in found.items() if "on" in fields}
    for name in _in_order(bodies, places):
        fields = found[name]
        build(
            system.add,
            bodies[name],
            name,
            _segmented(_read_body(bodies[name], parts), fields),
            joint=read(Joint, fields["joint"]),
            on=frame_of(system, places[name]) if name in places else None,
            **{key: read(Mapping[str, float], fields[key].of_unit(LINK_KEYS[key])) for key in INITIAL if key in fields},
        )


def _read_body(item: Item, parts: Mapping[str, Body] | None = None) -> Body:
    """Read {part: name}, {beam: ...}, {rigid: ...}, or a builder of rigid bodies such as {rod: ...}; other keys are the link's."""
    known = ([] if parts is None else ["part"]) + [*BODIES, *builders(RigidBody)]
    found = item.mapping() if parts is not None else item.fields(known)
    given = [name for name in known if name in found]
    if len(given) != 1:
        raise item.error(f"must contain exactly one of {', '.join(known)}, got {', '.join(given) or 'none'}")
    kind, inner = given[0], found[given[0]]
    if kind == "part":
        return _part(inner, parts or {})
    if kind in BODIES:
        body: Body = read_object(BODIES[kind], inner)
        return body
    rigid: Body = read_built(builders(RigidBody)[kind], inner)
    return rigid


def _segmented(body: Body, fields: Mapping[str, Item]) -> Body | SegmentedBeam:
    if SEGMENTS not in fields:
        return body
    cut: SegmentedBeam = build(segmented, fields[SEGMENTS], body, fields[SEGMENTS].whole())
    return cut


def _part(item: Item, parts: Mapping[str, Body]) -> Body:
    name = item.text("the name of a part")
    if name not in parts:
        raise item.wrong(f"must be one of the parts {', '.join(parts) or '(none)'}{did_you_mean(name, parts)}")
    return parts[name]


def _in_order(bodies: Mapping[str, Item], places: Mapping[str, Place]) -> list[str]:
    """The bodies in the order of the file, but parents before children; a circular chain is refused, with its bodies named."""
    order: dict[str, None] = {}
    for name in bodies:
        chain: list[str] = []  # from this body towards the ground, up to a body already sorted
        here: str | None = name
        while here is not None and here not in order:
            if here in chain:
                loop = [*chain[chain.index(here) :], here]
                raise bodies[here].error(f"the tree of bodies must not contain a loop, got {' on '.join(loop)}")
            chain.append(here)
            here = _parent(here, bodies, places)
        order.update(dict.fromkeys(reversed(chain)))
    return list(order)


def _parent(name: str, bodies: Mapping[str, Item], places: Mapping[str, Place]) -> str | None:
    if name not in places or places[name].body == GROUND:
        return None
    parent = places[name].body
    carrier = parent.removesuffix(PAYLOAD)
    whole, _, number = carrier.rpartition("_")
    if carrier not in bodies and number.isdigit() and whole in bodies and SEGMENTS in bodies[whole].mapping():
        carrier = whole  # one of its segments
    if parent not in bodies and carrier not in bodies:
        known = [GROUND, *bodies]
        rule = f"must be on ground or on one of the bodies {', '.join(bodies)}{did_you_mean(parent, known)}, got {parent!r}"
        raise places[name].item.error(rule)
    return parent if parent in bodies else carrier


# ---- what acts, and what is watched


def _coordinates(system: System, sections: Mapping[str, Item]) -> Known:
    """The names that formulas read: coordinates, struts, states, values of motors, controllers and sensors; bodies of frames."""
    links, named = system.links.values(), [name for section in ("struts", "states") for name, _ in _entries(sections, section)]
    held = [f"{name}.{own}" for name, item in _entries(sections, "sampled") for own in _held_names(item)]
    held += [f"{name}.{own}" for name, _ in _entries(sections, "motors") for own in (CURRENT, TORQUE, COMMAND)]
    held += [channel for name, _ in _entries(sections, SENSORS_SECTION) for channel in channels_of(name)]
    return {
        "q": [*(f"{link.name}.{name}" for link in links for name in link.positions), *named, *held],
        "v": [*(f"{link.name}.{name}" for link in links for name in link.rates), *named],
        ROTATIONS: [f"{link.name}.{name}" for link in links for motion in link.joint.motions if motion.unit == "rad"
                    for name in motion.rates],
        PLACES: [GROUND, *system.links, *system.segmented],
    }  # fmt: skip


def _held_names(item: Item) -> list[str]:
    """The outputs of a sampled controller, then its memories; errors in them are reported when the controller is read."""
    found = item.mapping() if item.is_mapping else {}
    outputs, start = found.get("outputs"), found.get("start")
    given = [] if outputs is None else outputs.items() if outputs.is_list else [outputs]
    names = [each.text() for each in given if each.is_scalar]
    return [*names, *(key for key in (start.mapping() if start is not None and start.is_mapping else {}) if key not in names)]


def _read_update(item: Item, controller: Item) -> dict[str, ParsedFormula]:
    """Read the update of a sampled controller: formulas by the names of its outputs and memories."""
    scope = item.scope
    known = {**(scope.coordinates or {}), "memory": _held_names(controller)}
    return {name: build(parse_formula, inner, inner.text("a formula"), UPDATE, known, scope.definitions)
            for name, inner in item.mapping("a mapping of names and formulas").items()}  # fmt: skip


def _measure(system: System, found: Mapping[str, Item]) -> dict[str, str]:
    """The coordinate of a joint that an entry is about, and whether it is in m or rad; nothing of another entry."""
    item = found.get("coordinate")
    name = item.text() if item is not None and item.is_scalar else ""
    body, _, own = name.rpartition(".")
    units = coordinate_units(system.links[body].joint) if body in system.links else {}
    return {name: units[own]} if own in units else {}


def _read_call(system: System, section: str, name: str, item: Item) -> None:
    """Read an entry of drives, forces, ... and call System's method of that kind."""
    if section == "contacts":
        read_contact(system, name, item)
        return
    hints, required = call_hints(section)
    found = item.fields(hints, required)
    measure = _measure(system, found)
    values: dict[str, Any] = {}
    for key, value in found.items():
        if (section, key) == ("sampled", "update"):
            values[key] = _read_update(value, item)
            continue
        value = value.of_coordinates(measure)
        value = value.of_unit(along(call_unit(section, key), value.coordinate))
        if (section, key) == ("struts", "force"):
            values[key] = read_strut_force(name, value)
            continue
        values[key] = read_formula(value) if hints[key] is Formula else read(hints[key], value)
    build(CALLS[section], item, system, name, **values)
