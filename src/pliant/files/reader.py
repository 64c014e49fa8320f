"""A model file, read into a System and its run settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pliant.files.contacts import read_contact
from pliant.files.document import Item, ModelFileError, did_you_mean, read_document
from pliant.files.formula import Known
from pliant.files.places import Place, frame_of, read_place
from pliant.files.run_settings import STEPS, RunSettings, method_classes
from pliant.files.values import build, read, read_built, read_formula, read_named, read_object
from pliant.files.vocabulary import builders
from pliant.model.beam import Beam
from pliant.model.frame import GROUND, Frame
from pliant.model.joint import Joint
from pliant.model.loop import GEAR, PRESCRIBED
from pliant.model.rigid import RigidBody
from pliant.model.signal import Prescribed, Signal
from pliant.model.system import PAYLOAD, Body, System
from pliant.model.telescopic import TelescopicBeam

VERSION = 1  # of the vocabulary
BODY_KINDS: dict[str, type] = {"beam": Beam, "telescopic": TelescopicBeam, "rigid": RigidBody}


@dataclass(frozen=True)
class Model:
    """What a model file holds."""

    system: System
    run: RunSettings | None  # None where the file has no run section


def load_model(path: str | Path) -> Model:
    """Read a model file; every refusal names the file, the line, the keys, the rule and the value."""
    source = str(path)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as trouble:
        raise ModelFileError(f"{source}: cannot be read: {trouble.strerror or trouble}") from None
    except UnicodeDecodeError as trouble:
        raise ModelFileError(f"{source}: must be UTF-8 text, got byte {trouble.object[trouble.start]:#04x}") from None
    return loads_model(text, source)


SECTIONS = (
    "pliant",
    "system",
    "gravity",
    "parts",
    "bodies",
    "drives",
    "forces",
    "moments",
    "contacts",
    "closures",
    "events",
    "run",
)


def loads_model(text: str, source: str = "<text>") -> Model:
    """Read a model from a text; `source` is how messages call it."""
    sections = read_document(text, source).fields(SECTIONS, ("pliant", "system", "gravity", "bodies"))
    if sections["pliant"].whole() != VERSION:
        raise sections["pliant"].wrong(f"must be {VERSION}, the version of the vocabulary")
    gravity = read(Sequence[float], sections["gravity"])
    system = build(System, sections["gravity"], sections["system"].text(), gravity)
    _read_bodies(system, sections)
    known = _coordinates(system)
    for name, item in _entries(sections, "drives"):
        _read_drive(system, name, item, known)
    for name, item in _entries(sections, "forces"):
        _read_load(system, name, item, known, Sequence[Signal], system.force)
    for name, item in _entries(sections, "moments"):
        _read_load(system, name, item, known, Sequence[Signal] | Signal, system.moment)
    for name, item in _entries(sections, "contacts"):
        read_contact(system, name, item)
    for name, item in _entries(sections, "closures"):
        _read_closure(system, name, item)
    for name, item in _entries(sections, "events"):
        _read_event(system, name, item, known)
    return Model(system, _read_run(sections["run"]) if "run" in sections else None)


def _entries(sections: Mapping[str, Item], name: str) -> list[tuple[str, Item]]:
    return list(sections[name].mapping().items()) if name in sections else []


# ---- bodies


def _read_bodies(system: System, sections: Mapping[str, Item]) -> None:
    parts = {name: _read_body(item) for name, item in _entries(sections, "parts")}
    bodies = sections["bodies"].mapping("a mapping of names and bodies")
    if not bodies:
        raise sections["bodies"].error("must hold at least one body, got none")
    keys = ("part", *BODY_KINDS, *builders(RigidBody), "joint", "on", "initial", "initial_rates")
    found = {name: item.fields(keys, ["joint"]) for name, item in bodies.items()}
    for name, item in bodies.items():
        if "@" in name:
            raise item.error(f"a body's name must not hold @, which marks a station, got {name!r}")
    places = {name: read_place(fields["on"]) for name, fields in found.items() if "on" in fields}
    for name in _in_order(bodies, places):
        fields = found[name]
        build(
            system.add,
            bodies[name],
            name,
            _read_body(bodies[name], parts),
            joint=read(Joint, fields["joint"]),
            on=frame_of(system, places[name]) if name in places else None,
            initial=read(Mapping[str, float], fields["initial"]) if "initial" in fields else None,
            initial_rates=read(Mapping[str, float], fields["initial_rates"]) if "initial_rates" in fields else None,
        )


def _read_body(item: Item, parts: Mapping[str, Body] | None = None) -> Body:
    """{part: name}, {beam: ...}, {rigid: ...}, or a builder of rigid bodies, as {rod: ...}; the rest is the link's."""
    known = ([] if parts is None else ["part"]) + [*BODY_KINDS, *builders(RigidBody)]
    found = item.mapping() if parts is not None else item.fields(known)
    given = [name for name in known if name in found]
    if len(given) != 1:
        raise item.error(f"must hold one of {', '.join(known)}, got {', '.join(given) or 'none'}")
    kind, inner = given[0], found[given[0]]
    if kind == "part":
        return _part(inner, parts or {})
    if kind in BODY_KINDS:
        body: Body = read_object(BODY_KINDS[kind], inner)
        return body
    rigid: Body = read_built(builders(RigidBody)[kind], inner)
    return rigid


def _part(item: Item, parts: Mapping[str, Body]) -> Body:
    name = item.text("the name of a part")
    if name not in parts:
        raise item.wrong(f"must be one of the parts {', '.join(parts) or '(none)'}{did_you_mean(name, parts)}")
    return parts[name]


def _in_order(bodies: Mapping[str, Item], places: Mapping[str, Place]) -> list[str]:
    """Parents before children, else as written; a chain that comes back to itself is refused with its bodies."""
    order: dict[str, None] = {}
    for name in bodies:
        chain: list[str] = []  # from this body towards the ground, as far as not yet in order
        here: str | None = name
        while here is not None and here not in order:
            if here in chain:
                loop = [*chain[chain.index(here) :], here]
                raise bodies[here].error(f"the tree must have no loop, got {' on '.join(loop)}")
            chain.append(here)
            here = _parent(here, bodies, places)
        order.update(dict.fromkeys(reversed(chain)))
    return list(order)


def _parent(name: str, bodies: Mapping[str, Item], places: Mapping[str, Place]) -> str | None:
    if name not in places or places[name].body == GROUND:
        return None
    parent = places[name].body
    carrier = parent.removesuffix(PAYLOAD)
    if parent not in bodies and carrier not in bodies:
        known = [GROUND, *bodies]
        rule = f"must stand on ground or a body of {', '.join(bodies)}{did_you_mean(parent, known)}, got {parent!r}"
        raise places[name].item.error(rule)
    return parent if parent in bodies else carrier


# ---- what acts, and what is watched


def _coordinates(system: System) -> Known:
    links = system.links.values()
    return {
        "q": [f"{link.name}.{name}" for link in links for name in link.positions],
        "v": [f"{link.name}.{name}" for link in links for name in link.rates],
    }


def _read_drive(system: System, name: str, item: Item, known: Known) -> None:
    found = item.fields(("coordinate", "effort"), ("coordinate", "effort"))
    build(system.drive, item, name, found["coordinate"].text(), read(Signal, found["effort"], known))


def _read_load(system: System, name: str, item: Item, known: Known, hint: Any, add: Any) -> None:
    found = item.fields(("at", "vector", "expressed"), ("at", "vector"))
    at = frame_of(system, read_place(found["at"]))
    expressed = {"expressed": found["expressed"].text()} if "expressed" in found else {}
    build(add, item, name, at, read(hint, found["vector"], known), **expressed)


def _read_closure(system: System, name: str, item: Item) -> None:
    hints = {"axis": Any, "other_axis": Any, "ratio": float, "by": str, "stiffness": float, "damping": float}
    found = item.fields(("kind", "a", "b", "length", "motion", *hints), ("kind", "a"))
    kind = found["kind"].text()
    ends = [_read_end(system, kind, found[key]) if key in found else None for key in ("a", "b")]
    settings = {key: read(hint, found[key]) for key, hint in hints.items() if key in found}
    settings |= {key: _read_motion(found[key]) for key in ("length", "motion") if key in found}
    build(system.close, item, name, kind, *ends, **settings)


def _read_end(system: System, kind: str, item: Item) -> Frame | str:
    """A place, or a coordinate where those are held: of a gear, or prescribed and of that name."""
    if kind == GEAR:
        return item.text("a coordinate such as arm.angle")
    known = _coordinates(system)["q"]
    if kind == PRESCRIBED and item.is_scalar and item.text() in known:
        return item.text()
    return frame_of(system, read_place(item))


def _read_motion(item: Item) -> Any:
    """A number, a formula of t, or a list of these in which an empty entry is free."""
    if item.is_list:
        return [None if inner.is_nothing else read(Prescribed, inner) for inner in item.items()]
    if item.is_scalar:
        formula = read_formula(item, ("t",))
        if formula.constant is not None:
            return formula.constant
    return read(Prescribed, item)


def _read_event(system: System, name: str, item: Item, known: Known) -> None:
    hints = {"direction": str, "stop": bool}
    found = item.fields(("function", *hints), ("function",))
    settings = {key: read(hint, found[key]) for key, hint in hints.items() if key in found}
    build(system.event, item, name, read_formula(found["function"], known=known), **settings)


def _read_run(item: Item) -> RunSettings:
    found = item.fields(("t_end", "method", "save"), ("t_end",))
    values: dict[str, Any] = {"t_end": found["t_end"].number()}
    if "method" in found:
        values["method"] = read_named(method_classes(), found["method"])
    if "save" in found:
        values["save"] = _read_save(found["save"])
    settings: RunSettings = build(RunSettings, item, **values)
    return settings


def _read_save(item: Item) -> float | tuple[float, ...] | str:
    if item.is_list:
        return tuple(time.number("a time") for time in item.items())
    if item.is_scalar and item.text() == STEPS:
        return STEPS
    return item.number(f"an interval in s, a list of times or the word {STEPS}")
