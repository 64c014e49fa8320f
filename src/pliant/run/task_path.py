"""Task-space inverse dynamics: the motor efforts for a given path of a tool or a platform.

At every instant the loops and the path determine the positions, rates and accelerations of the joints. The efforts of motors and
the reactions of loops follow from the joints' equations; the modes' equations determine how beams bend, in balance (quasi-static)
or with their own inertia (dynamic). In the dynamic case the bending has an equation of its own over time; for a tool beyond the
elastic part its solutions grow without bound in both directions of time, so it is solved as a boundary value problem for the
bounded solution from balance to balance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.model import check
from pliant.model.force import Drive
from pliant.model.frame import Frame
from pliant.model.joint import Prismatic, Revolute
from pliant.model.parameter import Parameter
from pliant.model.rigid import RigidBody
from pliant.model.signal import MotionTable, Prescribed, signal
from pliant.model.system import System
from pliant.results.result import Result
from pliant.run.prepare import compile_system
from pliant.run.provenance import Provenance
from pliant.run.save_times import save_times
from pliant.run.task_motion import Instant, TaskMotion

Motion = Callable[..., Any] | Prescribed | MotionTable
Path = Mapping[Frame, Any]


def path_dynamics(
    system: System, path: Path, motors: Sequence[str] | None, t_start: float, t_end: float, elastic: str | None, **options: Any
) -> Result:
    """See `inverse.inverse_dynamics`. system: with the coordinates of given motions already prescribed."""
    _check(system, path, options)
    motors = _motors_of(system, motors)
    modes = _modes_of(system)
    if modes and elastic not in ("quasi-static", "dynamic"):
        rule = "must be 'quasi-static' or 'dynamic' when a path is given and links bend"
        raise ModelError.of("inverse_dynamics", "elastic", rule, elastic)
    from pliant.trace.task_rows import task_rows
    from pliant.trace.tracing import FORMULATIONS

    formulation = options.get("formulation", "articulated")
    check.choice("inverse_dynamics", "formulation", formulation, FORMULATIONS)
    led, followers = _with_targets(system, path, motors)
    rows = task_rows(led, formulation, followers)
    times = save_times(options.get("save"), t_start, t_end)
    task = TaskMotion(rows, motors, modes)
    instants = task.dynamic(times) if modes and elastic == "dynamic" else task.quasi_static(times)
    settings = {"t_start": t_start, "t_end": t_end, "save": options.get("save"), "formulation": formulation}
    targets = System("the path", system.gravity)
    targets.links |= {name: link for name, link in led.links.items() if name not in system.links}
    corners = compile_system(targets, still=True).traced.corners(t_start, t_end)
    return _collect(system, motors, times, instants, formulation, settings, elastic or "rigid", corners)


# ---- arguments


def _check(system: System, path: Path, options: Mapping[str, Any]) -> None:
    if system.contacts:
        raise ModelError.of("inverse_dynamics", "path", "must not be given for a system with contacts", sorted(system.contacts))
    if system.cut_joints:
        raise ModelError.of("inverse_dynamics", "path", "must not be given with absolute coordinates", sorted(system.cut_joints))
    unknown = sorted(set(options) - {"save", "formulation"})
    if unknown:
        raise ModelError.of("inverse_dynamics", "options", "must be only save and formulation when a path is given", unknown)
    if not isinstance(path, Mapping) or not path:
        raise ModelError.of("inverse_dynamics", "path", "must be a mapping from frames, as in {arm.tip: function of t}", path)
    for frame in path:
        check.instance("inverse_dynamics", "path", frame, Frame, "a mapping from frames such as arm.tip")
        if frame.body not in system.links:
            raise ModelError.of("inverse_dynamics", "path", f"must be for frames on one of {sorted(system.links)}", frame.body)


def _motors_of(system: System, motors: Sequence[str] | None) -> tuple[str, ...]:
    known = [f"{link.name}.{name}" for link in system.links.values() for name in link.rates if name not in link.prescribed]
    if motors is None:
        motors = list(dict.fromkeys(drive.coordinate for drive in system.drives.values()))
        if not motors:
            raise ModelError.of("inverse_dynamics", "motors", f"must name the driven coordinates out of {known}", None)
    for name in motors:
        if name not in known:
            rule = f"must name free coordinates out of {known}{check.did_you_mean(name, known)}"
            raise ModelError.of("inverse_dynamics", "motors", rule, name)
    if len(set(motors)) < len(motors):
        raise ModelError.of("inverse_dynamics", "motors", "must name each coordinate only once", list(motors))
    return tuple(motors)


def _modes_of(system: System) -> tuple[str, ...]:
    links = system.links.values()
    return tuple(f"{link.name}.{name}" for link in links for name in link.mode_labels if name not in link.prescribed)


def _with_targets(system: System, path: Path, motors: Sequence[str]) -> tuple[System, list[str]]:
    """A copy without the motors' drives, with a body that moves along each path and closures from frames to these bodies."""
    copy = _without_drives(system, motors)
    followers = []
    for k, (frame, told) in enumerate(path.items()):
        position, angles = _path_of(k, told)
        on = copy.ground
        body = RigidBody(mass=1.0, inertia=1.0)  # its motion is prescribed, so its mass does not matter
        for axis, motion in zip("xyz", position, strict=True):
            on = copy.add(f"path{k} {axis}", body, joint=Prismatic(axis=axis, motion=motion), on=on).root
        for axis, motion in zip("zyx", angles, strict=False):
            on = copy.add(f"path{k} about {axis}", body, joint=Revolute(axis=axis, motion=motion), on=on).root
        followers.append(f"path of {frame.body}" if len(path) == 1 else f"path {k + 1}, of {frame.body}")
        copy.close(followers[-1], "weld" if angles else "point", frame, on)
    return copy, followers


def _without_drives(system: System, motors: Sequence[str]) -> System:
    copy = system.snapshot()
    copy.drives = {name: drive for name, drive in system.drives.items() if drive.coordinate not in motors}
    copy.conditions = {}
    return copy


def _path_of(k: int, told: Any) -> tuple[list[Motion], list[Motion]]:
    """(motions along x, y, z; angles about z, then y, then x, empty if the orientation is free)"""
    angles: list[Motion] = []
    if isinstance(told, Mapping):
        unknown = sorted(set(told) - {"position", "angle"})
        if unknown or "position" not in told:
            rule = "must contain 'position' and, optionally, 'angle'"
            raise ModelError.of("inverse_dynamics", f"path[{k}]", rule, sorted(told))
        if "angle" in told:
            angles = _components(k, "angle", told["angle"], (1, 3))
        told = told["position"]
    position = _components(k, "position", told, (2, 3))
    return [*position, *([lambda t: 0.0 * t] * (3 - len(position)))], angles


def _components(k: int, name: str, told: Any, sizes: tuple[int, int]) -> list[Motion]:
    """One motion per component, from a function of t that returns several numbers, or from several functions."""
    part = f"path[{k}][{name!r}]"
    if callable(told) and not isinstance(told, (Prescribed, MotionTable)):
        try:
            first = told(0.5)
        except Exception as trouble:
            raise ModelError.of("inverse_dynamics", part, f"must be a function of t, but it failed ({trouble})", told) from trouble
        if not isinstance(first, (tuple, list, np.ndarray)):
            told = (told,)
        else:
            function, breakpoints = told, getattr(told, "breakpoints", ())
            told = tuple(Prescribed(lambda t, i=i: function(t)[i], breakpoints) for i in range(len(first)))
    if isinstance(told, (Prescribed, MotionTable)):
        told = (told,)
    if not isinstance(told, (tuple, list)) or len(told) not in sizes:
        rule = f"must be a function of t that returns {sizes[0]} or {sizes[1]} numbers, or that many functions"
        raise ModelError.of("inverse_dynamics", part, rule, told)
    return list(told)


# ---- result


def _collect(
    system: System, motors: Sequence[str], times: Floats, instants: Sequence[Instant], formulation: str,
    settings: Mapping[str, Any], elastic: str, corners: Sequence[float],
) -> Result:  # fmt: skip
    """The result: rows of the mechanism with the motors' efforts as drives, from which all quantities follow."""
    from pliant.run.inputs import Inputs, with_inputs_apart
    from pliant.run.observed import values_of
    from pliant.run.simulate import collect_rows
    from pliant.trace.layout import POSITIONS, RATES

    driven = _without_drives(system, motors)
    names = {name: f"effort_{k}" for k, name in enumerate(motors)}
    for coordinate, name in names.items():
        effort = signal("motor", "effort", Parameter(name, 0.7))
        driven.drives[f"{coordinate} motor"] = Drive(f"{coordinate} motor", coordinate, effort)
    plain = compile_system(driven, formulation, t_start=float(times[0]))
    compiled, places = with_inputs_apart(driven, plain, list(names.values()))
    traced, inputs = compiled.traced, Inputs(driven, compiled, places)
    states, observed = np.zeros((times.size, traced.y0.size)), np.empty((times.size, compiled.observe.n_out))
    for k, (t, instant) in enumerate(zip(times.tolist(), instants, strict=True)):
        states[k, traced.layout.y[POSITIONS]], states[k, traced.layout.y[RATES]] = instant.q, instant.v
        p = traced.parameters_at(t)
        for name, effort in zip(names.values(), instant.efforts.tolist(), strict=True):
            inputs.put(name, effort, p)
        observed[k] = compiled.observe(t, states[k], compiled.with_flags(t, states[k], p))
    values = values_of(traced, times, states, observed)
    values["a"][:, list(traced.free_v)] = [instant.a for instant in instants]
    provenance = Provenance(system, settings, float(times[0]), {}, elastic=elastic, motors=list(motors))
    corners = sorted({*corners, *traced.corners(float(times[0]), float(times[-1]))})
    result = collect_rows(compiled, times, values, "the path is followed at every saved time", provenance, corners)
    return replace(result, parameters={name: x for name, x in result.parameters.items() if name not in names.values()})
