"""The JSON Schema of model files, with which editors complete and check them; made from the same vocabulary as the reader.

Numbers may be strings, for expressions and units; the content of strings is left to the reader. The reader refuses everything
that the schema refuses.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pliant.files import vocabulary
from pliant.files.contacts import AMONG, ENDS, PAIRED
from pliant.files.definitions import BOUNDS, UNIT, VALUE
from pliant.files.reader import BAUMGARTE, DRIVE_BY, HOLD, LINK_KEYS, NEEDED, SECTIONS, SEGMENTS, TOLERANCE, VERSION
from pliant.files.run_settings import STEPS, RunSettings
from pliant.files.sensors import SENSORS_SECTION
from pliant.files.vocabulary import CALLS, FORMULAS
from pliant.model.check import AXES, Axis
from pliant.model.frame import Frame
from pliant.model.inverse_problem import InverseProblem
from pliant.model.joint import Joint
from pliant.model.material import Material
from pliant.model.rigid import RigidBody
from pliant.model.system import BODIES

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TEXT: Schema = {"type": ["string", "number"]}  # YAML takes some words for numbers
NUMBER: Schema = {"type": ["number", "string"]}
LETTERS = [sign + letter for sign in ("", "-") for letter in AXES]
SECTION_WORDS = {
    "pliant": f"version of this vocabulary, {VERSION}",
    "include": "files with definitions, materials and parts, relative to this one",
    "system": "the mechanism's name",
    "gravity": "acceleration, m/s^2; a pair lies in the x-y plane",
    TOLERANCE: "largest misfit of constraint rows that other rows imply, relative to the mechanism's size",
    BAUMGARTE: "1/s; exact closures obey c'' + 2 a c' + a^2 c = 0 instead of being projected after every step",
    "define": "names for numbers, which are parameters, and for formulas; each may use the ones before it",
    "materials": "materials by name",
    "parts": "bodies that several links share",
    "bodies": "the tree: each body with its joint and the place that carries it",
    HOLD: "joint coordinates that keep their start while loops are closed",
    SENSORS_SECTION: "sensors by name; results and formulas read them",
    DRIVE_BY: "a motion; the efforts that it requires, by inverse dynamics, drive the System from where it begins",
    "run": "settings of the run",
}


def schema() -> Schema:
    """The schema of a model file."""
    return _Builder().model()


class _Builder:
    """Builds the schemas of types; the schema of a class appears once, under $defs."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}

    def model(self) -> Schema:
        sections = {name: {"description": SECTION_WORDS.get(name, "")} | self._section(name) for name in SECTIONS}
        for name, call in CALLS.items():
            sections[name]["description"] = _first_line(call)
        head = {"$schema": DIALECT, "title": "pliant model file", "type": "object"}
        return {**head, "properties": sections, "required": list(NEEDED), "additionalProperties": False,
                "$defs": self.definitions}  # fmt: skip

    def _section(self, name: str) -> Schema:
        if name in CALLS:
            return self._contacts() if name == "contacts" else _by_name(self._call(name))
        made: dict[str, Callable[[], Schema]] = {
            "pliant": lambda: {"enum": [VERSION, str(VERSION)]},
            "include": lambda: _one_or_many({"type": "string"}),
            "system": lambda: TEXT,
            "gravity": lambda: _described(_list(NUMBER), "m/s^2"),
            TOLERANCE: lambda: NUMBER,
            BAUMGARTE: lambda: NUMBER,
            "define": lambda: _by_name({"anyOf": [NUMBER, _parameter()]}),
            "materials": lambda: _by_name(self.of(Material)),
            "parts": lambda: _by_name(self._body({}, [])),
            "bodies": lambda: _by_name(self._link()) | {"minProperties": 1},
            HOLD: lambda: _one_or_many({"type": "string"}),
            SENSORS_SECTION: lambda: _by_name(self.of(vocabulary.AnySensor)),
            DRIVE_BY: lambda: self.of_class(InverseProblem),
            "run": lambda: self.of_class(RunSettings),
        }
        return made[name]()

    # ---- sections

    def _body(self, more: Mapping[str, Schema], required: Sequence[str]) -> Schema:
        """Exactly one kind of body, and the other keys of a link."""
        kinds = {name: self.of_class(kind) for name, kind in BODIES.items()}
        kinds |= {name: self._built(make) for name, make in vocabulary.builders(RigidBody).items()}
        kinds |= {"part": TEXT} if more else {}
        one = [{"required": [name]} for name in kinds]
        return {"type": "object", "properties": {**kinds, **more}, "required": list(required), "oneOf": one,
                "additionalProperties": False}  # fmt: skip

    def _link(self) -> Schema:
        initial = {key: _described(_by_name(NUMBER), LINK_KEYS[key] or "") for key in ("initial", "initial_rates")}
        segments = _described(self.of(int), "number of short beams, welded in line, into which a beam is divided")
        return self._body({"joint": self.of(Joint), "on": self.of(Frame), **initial, SEGMENTS: segments}, ["joint"])

    def _call(self, section: str) -> Schema:
        hints, required = vocabulary.call_hints(section)
        properties = {
            name: self.of(hint, vocabulary.call_unit(section, name), vocabulary.call_choices(section, name))
            for name, hint in hints.items()
        }
        return _object(properties, required)

    def _contacts(self) -> Schema:
        entry = self._call("contacts")
        point = {"anyOf": [self.of(Frame), self.of(vocabulary.Body)]}
        entry["properties"]["points"] = {"anyOf": [{"const": ENDS}, *_one_or_many(point)["anyOf"]]}
        entry["oneOf"] = [{"required": list(PAIRED)}, {"required": [AMONG]}]
        return _by_name(_one_or_many(entry))

    # ---- types

    def of(self, hint: Any, unit: str | None = None, choices: Sequence[str] = ()) -> Schema:
        """The schema of a value of a type."""
        if hint == Axis:
            return {"anyOf": [{"enum": LETTERS}, _list(NUMBER)]}
        found = self._plain(hint, choices)
        found += [_list(self.of(vocabulary.element(inner))) for inner in vocabulary.sequences(hint)]
        found += [_by_name(self.of(vocabulary.held(inner))) for inner in vocabulary.mappings(hint)]
        kinds = [kind for kind in vocabulary.classes(hint) if kind is not Frame]
        family = vocabulary.family(hint)
        if family:
            found += self._family(family, hint)
        elif kinds:
            found.append(self.of_class(kinds[0]))
        return _described(found[0] if len(found) == 1 else {"anyOf": found}, unit or "")

    def _plain(self, hint: Any, choices: Sequence[str]) -> list[Schema]:
        options = vocabulary.options(hint)
        found: list[Schema] = [{"type": "null"}] if type(None) in options else []
        if float in options:
            found.append(NUMBER)
        elif int in options and bool not in options:
            found.append({"type": ["integer", "string"]})
        if bool in options:
            found.append({"enum": [True, False, "true", "false"]})
        if hint is Path:
            found.append(TEXT)
        if str in options and float not in options:
            found.append({"enum": list(choices)} if choices else TEXT)
        if Frame in options:
            found.append(self._place())
        return found

    def _family(self, family: Mapping[str, type], hint: Any) -> list[Schema]:
        """One of several classes: {word: fields}, a bare word, a class that needs no word, or a formula."""
        tagged = {word: self.of_class(kind) for word, kind in family.items()}
        bare = [word for word, kind in family.items() if not vocabulary.required_fields(kind)]
        empty = {word: {"anyOf": [one, {"type": "null"}]} if word in bare else one for word, one in tagged.items()}
        found: list[Schema] = [_object(empty, []) | {"minProperties": 1, "maxProperties": 1}]
        found += [{"enum": bare}] if bare else []
        found += [self.of_class(kind) for kind in family.values() if kind in vocabulary.WITHOUT_NAME]
        found += [NUMBER] if vocabulary.formula_class(hint) is not None else []
        return found

    def of_class(self, kind: type) -> Schema:
        name = kind.__name__
        if name not in self.definitions:
            self.definitions[name] = {}  # entered before it is filled, because classes may refer to each other
            self.definitions[name] = self._class(kind)
        return {"$ref": f"#/$defs/{name}"}

    def _class(self, kind: type) -> Schema:
        """A mapping of its fields, one of its builders, or its only field alone."""
        hints, required = vocabulary.field_hints(kind), vocabulary.required_fields(kind)
        properties = {name: self._field(kind, name, hint) for name, hint in hints.items()}
        ways = [_object(properties, required)]
        built = vocabulary.builders(kind) if kind is not RigidBody else {}
        ways += [_object({name: self._built(make)}, [name]) for name, make in built.items()]
        if len(required) <= 1 and hints and kind is not RunSettings:
            ways.append(properties[required[0] if required else next(iter(hints))])
        if kind is Material:
            ways.append(TEXT)
        about = _first_line(kind)
        return {"description": about, **ways[0]} if len(ways) == 1 else {"description": about, "anyOf": ways}

    def _field(self, kind: type, name: str, hint: Any) -> Schema:
        if name in FORMULAS.get(kind, {}):
            made = _described(NUMBER, f"a formula of {', '.join(FORMULAS[kind][name])}")
            return {"anyOf": [made, {"type": "null"}]} if type(None) in vocabulary.options(hint) else made
        made = self.of(hint, vocabulary.field_unit(kind, name), vocabulary.field_choices(kind, name))
        if kind is RunSettings and name == "save":
            made = {"anyOf": [{"const": STEPS}, made]}
        function = vocabulary.computed(kind, name)
        if function is None:
            return made
        return {"anyOf": [made, _object({function.__name__: self._built(function)}, [function.__name__])]}

    def _built(self, make: Callable[..., Any]) -> Schema:
        hints, required = vocabulary.builder_hints(make)
        hints.pop("return", None)
        properties = {name: self.of(hint, vocabulary.argument_unit(name)) for name, hint in hints.items()}
        made = {"description": _first_line(make)} | _object(properties, required)
        return {"anyOf": [made, properties[required[0]]]} if len(required) == 1 else made

    def _place(self) -> Schema:
        if "Place" not in self.definitions:
            turn = {"anyOf": [NUMBER, _object({"axis": self.of(Axis), "angle": NUMBER}, ["axis", "angle"])]}
            moved = _object({"frame": {"type": "string"}, "offset": _list(NUMBER), "turn": _one_or_many(turn)}, ["frame"])
            about = "ground, body.root, body.tip, body.frame, body@station; or one of these moved and turned"
            self.definitions["Place"] = {"description": about, "anyOf": [{"type": "string"}, moved]}
        return {"$ref": "#/$defs/Place"}


def _object(properties: Mapping[str, Schema], required: Sequence[str]) -> Schema:
    return {"type": "object", "properties": dict(properties), "required": list(required), "additionalProperties": False}


def _parameter() -> Schema:
    return _object({**{name: NUMBER for name in (VALUE, *BOUNDS)}, UNIT: {"type": "string"}}, [VALUE])


def _by_name(entry: Schema) -> Schema:
    return {"type": "object", "additionalProperties": entry}


def _list(entry: Schema) -> Schema:
    return {"type": "array", "items": entry}


def _one_or_many(entry: Schema) -> Schema:
    return {"anyOf": [entry, _list(entry)]}


def _described(made: Schema, words: str) -> Schema:
    return {"description": words, **made} if words and words != "1" else made


def _first_line(what: Any) -> str:
    return (inspect.getdoc(what) or "").split("\n")[0]
