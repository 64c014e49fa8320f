"""A System and its run settings, written as a model file that reads back equal."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from pliant.errors import ModelError
from pliant.files import vocabulary
from pliant.files.formula import ParsedFormula, parse_formula
from pliant.files.reader import BODY_KINDS, VERSION
from pliant.files.run_settings import RunSettings
from pliant.model.beam import Beam
from pliant.model.force import Condition, PointForce, PointMoment
from pliant.model.frame import GROUND, Frame
from pliant.model.joint import Joint
from pliant.model.signal import Constant, Formula, Prescribed, Signal
from pliant.model.system import PAYLOAD, Body, Link, System

Data = dict[str, Any]


def dump_model(system: System, run: RunSettings | None = None) -> str:
    """The model file of a system. A Python function has no text, so it is refused by name."""
    links = [link for link in system.links.values() if not _is_payload(system, link)]
    shared = _shared_bodies(links)
    data: Data = {"pliant": VERSION, "system": system.name, "gravity": list(system.gravity)}
    if shared:
        data["parts"] = {name: _body(body) for name, body in shared}
    data["bodies"] = {link.name: _link(system, link, shared) for link in links}
    loads = system.loads.values()
    sections = {
        "drives": {d.name: {"coordinate": d.coordinate, "effort": _signal(f"drive {d.name!r}", d.effort)}
                   for d in system.drives.values()},
        "forces": {load.name: _load(system, load) for load in loads if isinstance(load, PointForce)},
        "moments": {load.name: _load(system, load) for load in loads if isinstance(load, PointMoment)},
        "events": {c.name: _event(c) for c in system.conditions.values()},
    }  # fmt: skip
    data |= {name: section for name, section in sections.items() if section}
    if run is not None:
        save = list(run.save) if isinstance(run.save, tuple) else run.save
        method = {} if run.method is None else {"method": _named(run.method)}
        data["run"] = {"t_end": run.t_end, **method, "save": save}
    return str(yaml.dump(data, Dumper=_Plain, sort_keys=False, default_flow_style=None, width=110, allow_unicode=True))


class _Plain(yaml.SafeDumper):
    """Words such as `on` and `y` stay unquoted: pliant reads scalars as text first. Nothing is shared by anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Plain.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":bool")]
    for first, resolvers in yaml.SafeDumper.yaml_implicit_resolvers.items()
}


# ---- bodies


def _is_payload(system: System, link: Link) -> bool:
    """A body that System.add made of a beam's payload; it comes back with the beam."""
    carrier = system.links.get(link.name.removesuffix(PAYLOAD))
    return carrier is not None and carrier is not link and isinstance(carrier.body, Beam) and bool(carrier.body.payload)


def _shared_bodies(links: Sequence[Link]) -> list[tuple[str, Body]]:
    """Bodies that several links have, each named after the first link."""
    seen: list[tuple[str, Body]] = []
    shared: list[tuple[str, Body]] = []
    for link in links:
        if _part_of(link, shared):
            continue
        earlier = _part_of(link, seen)
        if earlier:
            shared.append((earlier, link.body))
        else:
            seen.append((link.name, link.body))
    return shared


def _part_of(link: Link, parts: Sequence[tuple[str, Body]]) -> str | None:
    return next((name for name, body in parts if body is link.body or body == link.body), None)


def _body(body: Body) -> Data:
    kind = next(name for name, kind in BODY_KINDS.items() if isinstance(body, kind))
    return {kind: _fields(body)}


def _link(system: System, link: Link, shared: Sequence[tuple[str, Body]]) -> Data:
    part = _part_of(link, shared)
    data: Data = {"part": part} if part else _body(link.body)
    data["joint"] = _write(Joint, link.joint, f"body {link.name!r}: joint")
    if link.on != system.ground:
        data["on"] = _place(system, link.on)
    data |= {"initial": dict(link.initial)} if link.initial else {}
    return data | ({"initial_rates": dict(link.initial_rates)} if link.initial_rates else {})


def _place(system: System, frame: Frame) -> str | Data:
    place, offset = _nearest(system, frame)
    if not any(offset) and not frame.turns:
        return place
    data: Data = {"frame": place}
    if any(offset):
        data["offset"] = list(offset)
    if frame.turns:
        data["turn"] = [{"axis": list(axis), "angle": angle} for axis, angle in frame.turns]
    return data


def _nearest(system: System, frame: Frame) -> tuple[str, Sequence[float]]:
    """The place a frame has in words, and what is left as an offset from there."""
    if frame.body == GROUND:
        return GROUND, frame.offset
    body = system.links[frame.body].body
    if isinstance(body, Beam):
        assert frame.station is not None  # checked when added
        named = {0.0: "root", body.length: "tip"}.get(frame.station)
        return (f"{frame.body}.{named}" if named else f"{frame.body}@{frame.station!r}"), frame.offset
    points = {"root": (0.0, 0.0, 0.0), "tip": body.tip, **body.frames}
    named = next((name for name, point in points.items() if tuple(point) == frame.offset), None)
    return (f"{frame.body}.{named}", ()) if named else (f"{frame.body}.root", frame.offset)


# ---- what acts, and what is watched


def _load(system: System, load: PointForce | PointMoment) -> Data:
    part = f"load {load.name!r}"
    vector = [_signal(f"{part}: vector[{k}]", component) for k, component in enumerate(load.vector)]
    return {"at": _place(system, load.at), "vector": vector, "expressed": load.expressed}


def _event(condition: Condition) -> Data:
    text = _text(f"event {condition.name!r}", condition.function, "")
    return {"function": text, "direction": condition.direction, "stop": _truth(condition.stop)}


def _signal(part: str, signal: Signal) -> Any:
    if isinstance(signal, Constant):
        return signal.value
    return _function(part, signal) if isinstance(signal, Formula) else _named(signal)


def _function(part: str, formula: Formula | Prescribed) -> Any:
    """The text alone, where its breakpoints follow from it."""
    text = _text(part, formula.function, formula.text)
    variables = ("t", "q", "v") if isinstance(formula, Formula) else ("t",)
    if parse_formula(text, variables).breakpoints == formula.breakpoints:
        return text
    inner = {"function": text, "breakpoints": list(formula.breakpoints)}
    return {"formula": inner} if isinstance(formula, Formula) else inner


def _text(part: str, function: Any, text: str) -> str:
    if isinstance(function, ParsedFormula):
        return function.text
    if not text:
        rule = "a Python function cannot be written to a file (write it as a formula)"
        raise ModelError(f"{part}: {rule}, got {function!r}")
    return text


# ---- dataclasses in general


def _named(value: Any) -> Data:
    return {vocabulary.word(type(value)): _fields(value)}


def _fields(value: Any, part: str = "") -> Data:
    """The fields that differ from what they would be if left out."""
    hints = vocabulary.field_hints(type(value))
    plain = type(value)() if not vocabulary.required_fields(type(value)) else None
    data: Data = {}
    for field in dataclasses.fields(value):
        if field.name not in hints:
            continue
        given = getattr(value, field.name)
        usual = getattr(plain, field.name) if plain is not None else field.default
        if given != usual and not (given in ((), {}) and field.name not in vocabulary.required_fields(type(value))):
            data[field.name] = _write(hints[field.name], given, f"{part or type(value).__name__}: {field.name}")
    return data


def _write(hint: Any, value: Any, part: str) -> Any:
    if isinstance(value, bool):
        return _truth(value)
    if isinstance(value, (Formula, Prescribed)):
        return _function(part, value)
    if dataclasses.is_dataclass(value):
        family = vocabulary.family(hint)
        tagged = type(value) in family.values() and type(value) not in vocabulary.WITHOUT_NAME
        return {vocabulary.word(type(value)): _fields(value, part)} if tagged else _fields(value, part)
    if isinstance(value, Mapping):
        held = next((vocabulary.held(m) for m in vocabulary.mappings(hint)), Any)
        return {name: _write(held, inner, f"{part}[{name!r}]") for name, inner in value.items()}
    if isinstance(value, (tuple, list)):
        inner = next((vocabulary.element(s) for s in vocabulary.sequences(hint)), Any)
        return [_write(inner, item, f"{part}[{k}]") for k, item in enumerate(value)]
    if callable(value):
        raise ModelError(f"{part}: a Python function cannot be written to a file, got {value!r}")
    return value


def _truth(value: bool) -> str:
    return "true" if value else "false"
