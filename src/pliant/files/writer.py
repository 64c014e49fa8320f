"""Writes a System and its run settings as a model file, which reads back as an equal System."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import yaml

from pliant.errors import ModelError
from pliant.files.contacts import write_contacts, write_shape
from pliant.files.motors import write_motor
from pliant.files.named_numbers import alike
from pliant.files.places import write_place
from pliant.files.reader import BAUMGARTE, DRIVE_BY, HOLD, SEGMENTS, TOLERANCE, VERSION, loads_model
from pliant.files.run_settings import RunSettings
from pliant.files.sensors import SENSORS_SECTION, write_sensor
from pliant.files.struts import write_strut
from pliant.files.written import (
    PYTHON_FUNCTION,
    Data,
    definitions_in,
    write,
    write_fields,
    write_function,
    write_named,
    write_text,
    write_truth,
)
from pliant.model import check
from pliant.model.body import Body
from pliant.model.closure import CLOSURE_TOLERANCE, SPRINGS, Closure, FormulaClosure, own_fields
from pliant.model.force import Condition, PointForce, PointMoment
from pliant.model.inverse_problem import FramePath, InverseProblem
from pliant.model.joint import Joint, Weld
from pliant.model.joint_friction import JointFriction
from pliant.model.resolve import checked_values
from pliant.model.rolling import HOLONOMIC, NONHOLONOMIC, Wheel
from pliant.model.sampled import Sampled
from pliant.model.segmented import SegmentedBeam
from pliant.model.signal import Constant, Formula, PrescribedMotion, Signal
from pliant.model.system import BODIES, PAYLOAD, Link, System
from pliant.model.wear import WearRate


def dump_model(system: System, run: RunSettings | None = None, parameters: Mapping[str, float] | None = None) -> str:
    """The text of a model file for a System. A Python function cannot be written, so a System that contains one is refused.

    run: run settings to include. parameters: values to write instead of the parameters' own.
    """
    check.instance("dump_model", "system", system, System, "a System")
    if run is not None:
        check.instance("dump_model", "run", run, RunSettings, "RunSettings")
    system = system.undriven or system  # the motion instead of the efforts that were computed from it
    values = checked_values(system.parameters, parameters)
    text = _dumped(system, run, values, with_units=True)
    if any(parameter.unit for parameter in system.parameters.values()):
        try:
            loads_model(text)
        except ModelError:  # a parameter's unit is only a label in Python, but is checked in a file, where it may not fit the field
            return _dumped(system, run, values, with_units=False)
    return text


def _dumped(system: System, run: RunSettings | None, values: Mapping[str, float], with_units: bool) -> str:
    if system.cut_joints:
        rule = "must be empty (write the System that was given to absolute_coordinates)"
        raise ModelError.of(f"system {system.name!r}", "couplings", rule, list(system.cut_joints))
    links = list(_written_links(system).values())
    shared = _shared_bodies(links)
    data: Data = {"pliant": VERSION, "system": system.name, "gravity": list(system.gravity)}
    if system.closure_tolerance != CLOSURE_TOLERANCE:
        data[TOLERANCE] = system.closure_tolerance
    if system.baumgarte is not None:
        data[BAUMGARTE] = system.baumgarte
    data["define"] = {}  # reserves its place
    if shared:
        data["parts"] = {name: _body(body) for name, body in shared}
    data["bodies"] = {link.name: _link(system, link, shared) for link in links}
    if system.held:
        data[HOLD] = list(system.held)
    loads = system.loads.values()
    given = [closure for closure in system.closures.values() if isinstance(closure, FormulaClosure)]
    sections = {
        "drives": {d.name: {"coordinate": d.coordinate, "effort": _signal(f"drive {d.name!r}", d.effort)}
                   for d in system.drives.values()},
        "forces": {load.name: _load(system, load) for load in loads if isinstance(load, PointForce)},
        "moments": {load.name: _load(system, load) for load in loads if isinstance(load, PointMoment)},
        "motors": {m.name: write_motor(system, m) for m in system.motors.values()},
        "struts": {s.name: write_strut(system, s) for s in system.struts.values()},
        "contacts": write_contacts(system),
        "closures": {c.name: _closure(system, c) for c in system.closures.values() if not isinstance(c, FormulaClosure)},
        "constraints": {c.name: _constraint(c) for c in given if c.wheel is None},
        "wheels": {c.wheel.name: _wheel(system, c.wheel) for c in given if c.wheel is not None},
        "events": {c.name: _event(c) for c in system.conditions.values()},
        "states": {s.name: {"rate": _signal(f"state {s.name!r}", s.rate), "start": s.start} for s in system.own_states.values()
                   if not (isinstance(s.rate, Formula) and isinstance(s.rate.function, WearRate))},
        "sampled": {c.name: _controller(c) for c in system.controllers.values()},
        SENSORS_SECTION: {name: write_sensor(system, name, sensor) for name, sensor in system.sensors.items()},
    }  # fmt: skip
    data |= {name: section for name, section in sections.items() if section}
    if system.problem is not None:
        data[DRIVE_BY] = _problem(system, system.problem)
    if run is not None:
        data["run"] = write_fields(run, "run")
    layout: Data = {"sort_keys": False, "default_flow_style": None, "width": 110, "allow_unicode": True}
    named = definitions_in(system, values, with_units)
    written = {**named.written(data), "define": named.definitions}
    if not named.definitions:
        del written["define"]
    return str(yaml.dump(written, Dumper=_Plain, **layout))


class _Plain(yaml.SafeDumper):
    """A dumper that leaves words such as `on` and `y` unquoted, because pliant reads scalars as text, and that uses no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Plain.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":bool")]
    for first, resolvers in yaml.SafeDumper.yaml_implicit_resolvers.items()
}


# ---- bodies


def _is_payload(system: System, link: Link) -> bool:
    """Whether a link is a payload that System.add made; it is written with its beam."""
    carrier = system.links.get(link.name.removesuffix(PAYLOAD))
    return carrier is not None and carrier is not link and carrier.body.payload is not None


def _shared_bodies(links: Sequence[Link]) -> list[tuple[str, Body]]:
    """Bodies that several links share, each named after the first of these links."""
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
    return next((name for name, body in parts if body is link.body or alike(body, link.body)), None)


def _body(body: Body) -> Data:
    kind = next(name for name, kind in BODIES.items() if isinstance(body, kind))
    return {kind: write_fields(body)}


def _written_links(system: System) -> dict[str, Link]:
    """The links without payloads; the segments of a beam become one link of the whole beam if they are unchanged since added."""
    whole = {own: name for name, beam in system.segmented.items() if _as_added(system, name, beam) for own in beam.names(name)}
    links: dict[str, Link] = {}
    for link in system.links.values():
        name = whole.get(link.name, link.name)
        if name not in links and not _is_payload(system, link):
            body = link.body if name == link.name else system.segmented[name].beam
            links[name] = replace(link, name=name, body=body)
    return links


def _as_added(system: System, name: str, beam: SegmentedBeam) -> bool:
    """Whether the segments are still those that System.add makes, so that a file can express them as one beam."""
    links = [system.links[own] for own in beam.names(name)]
    welded = all(alike(link.joint, Weld()) for link in links[1:])
    plain = not any(link.initial or link.initial_rates or link.mode_motions for link in links)
    same = all(alike(link.body, part) for link, part in zip(links, beam.parts, strict=True))
    return beam.modes is None and beam.is_straight and welded and plain and same


def _link(system: System, link: Link, shared: Sequence[tuple[str, Body]]) -> Data:
    part = _part_of(link, shared)
    data: Data = {"part": part} if part else _body(link.body)
    data["joint"] = write(Joint, link.joint, f"body {link.name!r}: joint")
    if link.name not in system.links:
        data[SEGMENTS] = system.segmented[link.name].segments
    if link.on != system.ground:
        data["on"] = write_place(system, link.on)
    data |= {"initial": dict(link.initial)} if link.initial else {}
    return data | ({"initial_rates": dict(link.initial_rates)} if link.initial_rates else {})


# ---- what acts, and what is watched


def _load(system: System, load: PointForce | PointMoment) -> Data:
    part = f"load {load.name!r}"
    vector = [_signal(f"{part}: vector[{k}]", component) for k, component in enumerate(load.vector)]
    return {"at": write_place(system, load.at), "vector": vector, "expressed": load.expressed}


def _closure(system: System, closure: Closure) -> Data:
    part = f"closure {closure.name!r}"
    data: Data = {"kind": closure.kind}
    for key, end in (("a", closure.a), ("b", closure.b)):
        if end is not None:
            data[key] = end if isinstance(end, str) else write_place(system, end)
    own = {name: getattr(closure, name) for name in own_fields(type(closure))}
    data |= {name: _closure_field(f"{part}: {name}", value) for name, value in own.items() if value is not None}
    data["by"] = closure.by
    if closure.friction:
        data["friction"] = write(Mapping[str, JointFriction], closure.friction, f"{part}: friction")
    return data | ({"stiffness": closure.stiffness, "damping": closure.damping} if closure.by == SPRINGS else {})


def _constraint(closure: FormulaClosure) -> Data:
    data: Data = {"formula": write_function(closure.part, closure.formula)}
    data |= {
        "kind": NONHOLONOMIC if closure.nonholonomic else HOLONOMIC,
        "unit": "rad" if closure.angular else "m",
        "by": closure.by,
    }
    return data | ({"stiffness": closure.stiffness, "damping": closure.damping} if closure.by == SPRINGS else {})


def _wheel(system: System, wheel: Wheel) -> Data:
    return {"wheel": write_place(system, wheel.wheel), "radius": wheel.radius, "against": write_shape(system, wheel.against),
            "axis": list(wheel.axis)}  # fmt: skip


def _closure_field(part: str, value: Any) -> Any:
    """Write a number, a motion, or several of either."""
    if isinstance(value, tuple):
        return [_closure_field(part, item) for item in value]
    return value if value is None or isinstance(value, float) else write(PrescribedMotion, value, part)


def _problem(system: System, problem: InverseProblem) -> Data:
    paths = [{"frame": write_place(system, one.frame), **write_fields(one, DRIVE_BY, leaving=("frame",))} for one in problem.paths]
    told = write_fields(replace(problem, path=None), DRIVE_BY)
    return {**told, "path": paths[0] if isinstance(problem.path, FramePath) else paths} if paths else told


def _event(condition: Condition) -> Data:
    text = write_text(f"event {condition.name!r}", condition.function, "")
    return {"function": text, "direction": condition.direction, "stop": write_truth(condition.stop)}


def _controller(controller: Sampled) -> Data:
    part, update = f"sampled {controller.name!r}", controller.update
    if not isinstance(update, Mapping):
        raise ModelError(f"{part}: {PYTHON_FUNCTION}, got {update or controller.python!r}")
    data: Data = {"period": controller.period, "outputs": list(controller.outputs)}
    data["update"] = {name: write_text(f"{part}: update[{name!r}]", formula, "") for name, formula in update.items()}
    data |= {"start": dict(controller.start)} if controller.start else {}
    return data | ({"delay": controller.delay} if controller.delay else {})


def _signal(part: str, signal: Signal) -> Any:
    if isinstance(signal, Constant):
        return signal.value
    return write_function(part, signal) if isinstance(signal, Formula) else write_named(signal)
