"""Inverse dynamics: the torques and forces that a given motion of the joints requires.

The coordinates of the motion are prescribed. Elastic coordinates are integrated forward, computed in balance at every instant
(quasi-static), or prescribed as well. The efforts are `result.values["effort"]`, one per coordinate of the motion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError, SolveError
from pliant.model import check
from pliant.model.coordinate_pair import refuse_coordinate_pairs
from pliant.model.driven_by import CORNERS
from pliant.model.signal import MotionTable, Prescribed, PrescribedMotion, prescribed
from pliant.model.system import Link, System
from pliant.results.result import Result
from pliant.run.mechanism import AnySystem, mechanism_of
from pliant.run.prepare import Compiled, compile_system
from pliant.run.provenance import Provenance
from pliant.run.simulate import simulate
from pliant.scalar import Numbers

if TYPE_CHECKING:
    from pliant.run.task_path import Path
    from pliant.trace.traced_system import TracedSystem

ELASTIC = ("integrated", "quasi-static", "prescribed")

Motion = Callable[..., Any] | Prescribed | MotionTable | tuple[Numbers, Numbers]

NEWTON_STEPS = 30
NEWTON_TOLERANCE = 1e-13  # of the largest modal force: the level of round-off


def inverse_dynamics(
    system: AnySystem,
    motion: Mapping[str, Motion] | None = None,
    t_end: float | None = None,
    *,
    path: Path | None = None,
    motors: Sequence[str] | None = None,
    elastic: str | None = None,
    t_start: float = 0.0,
    **options: Any,
) -> Result:
    """Compute the efforts that a motion {"arm.angle": function of t, or (times, values), ...} requires; other coordinates are free.

    elastic: `integrated` integrates the modes from their initial values; `quasi-static` computes them in balance with the forces of
    the motion at every instant; `prescribed` expects them in the motion too. Drives on coordinates of the motion are ignored,
    because their efforts are the result. Other options are those of simulate(). If nothing is integrated (quasi-static, or with
    every coordinate prescribed), works are unknown and are nan.

    path: motion of frames instead of coordinates, {arm.tip: function of t that returns (x, y) or (x, y, z)}, or {"position": ...,
    "angle": ...} with an angle about z, or three angles about z, then y, then x. motors: coordinates whose efforts are computed; by
    default, those on which drives act. With a path, elastic is `quasi-static` or `dynamic`: including the inertia of the beams, as
    the bounded solution from balance to balance.
    """
    t_start = check.number("inverse_dynamics", "t_start", t_start, "s")
    t_end = check.number("inverse_dynamics", "t_end", t_end, "s")
    if not t_end > t_start:
        raise ModelError.of("inverse_dynamics", "t_end", f"must be > t_start = {t_start} s", t_end)
    system, motion = mechanism_of(system, "inverse_dynamics"), check.mapping("inverse_dynamics", "motion", motion)
    if path is not None:
        from pliant.run.task_path import path_dynamics

        return path_dynamics(prescribed_system(system, motion, t_start, t_end), path, motors, t_start, t_end, elastic, **options)
    if motors is not None:
        raise ModelError.of("inverse_dynamics", "motors", "must be left out unless a path is given", list(motors))
    elastic = "integrated" if elastic is None else elastic
    check.choice("inverse_dynamics", "elastic", elastic, ELASTIC)
    driven = prescribed_system(system, motion, t_start, t_end)
    missing = [name for name in _free_names(driven) if elastic == "prescribed" and name.split(".")[1] in _modes(driven, name)]
    if missing:
        raise ModelError.of("inverse_dynamics", "motion", f"must also prescribe {missing}", sorted(motion))
    if elastic == "quasi-static" or not _free_names(driven):
        _check_still(driven, options)
        return (_quasi_static if elastic == "quasi-static" else _all_prescribed)(driven, t_start, t_end, elastic, **options)
    result = simulate(driven, t_end, t_start=t_start, **options)
    compiling = {name: options[name] for name in ("formulation", "parameters", "cache") if name in options}
    corners = compile_system(driven, **compiling, t_start=t_start).traced.corners(t_start, t_end)
    return replace(result, stats={**result.stats, CORNERS: corners})


def prescribed_system(system: System, motion: Mapping[str, Motion], t_start: float, t_end: float) -> System:
    """A copy of the system whose coordinates in `motion` are prescribed."""
    wanted = {name: _motion_of(name, value, t_start, t_end) for name, value in motion.items()}
    known = [f"{link.name}.{name}" for link in system.links.values() for name in _prescribable(link)]
    for name in wanted:
        if name not in known:
            rule = f"must name one of {known}{check.did_you_mean(name, known)}"
            raise ModelError.of("inverse_dynamics", "motion", rule, name)
    copy = System(system.name, system.gravity, system.closure_tolerance, system.baumgarte)
    for link in system.links.values():
        own = {name.split(".")[1]: value for name, value in wanted.items() if name.split(".")[0] == link.name}
        copy.links[link.name] = _prescribed_link(link, own)
    copy.drives |= {name: drive for name, drive in system.drives.items() if drive.coordinate not in wanted}
    copy.loads |= system.loads
    copy.struts |= system.struts
    for name, drive in system.motors.items():  # the torque of such a motor is the result; its rotor still turns with the joint
        if drive.motor.is_elastic:
            rule = "must be left out for inverse dynamics, in which rotors turn with their coordinates"
            raise ModelError.of(f"motor {name!r}", "gear_stiffness", rule, drive.motor.gear_stiffness)
        copy.motors[name] = replace(drive, command=None) if drive.coordinate in wanted else drive
    copy.contacts |= system.contacts
    copy.closures |= system.closures
    copy.conditions |= system.conditions
    copy.sensors |= system.sensors
    kept = {drive.state for drive in copy.motors.values()} | set(system.own_states) | system.filter_states
    copy.states |= {name: state for name, state in system.states.items() if name in kept}
    copy.controllers |= system.controllers
    copy.cut_joints |= system.cut_joints
    copy.segmented |= system.segmented
    copy.held = tuple(name for name in system.held if name not in wanted)
    return copy


def _prescribed_link(link: Link, motion: Mapping[str, PrescribedMotion]) -> Link:
    joints = {name: value for name, value in motion.items() if name in {m.name for m in link.joint.motions}}
    modes = {name: value for name, value in motion.items() if name in link.mode_labels}
    changed = replace(link, mode_motions={**link.mode_motions, **modes})
    if joints:
        changed = replace(changed, joint=replace(link.joint, motion={**link.joint.prescribed, **joints}))
    lengths = {name: replace(length, motion=motion.get(name, length.motion)) for name, length in link.body.lengths.items()}
    return replace(changed, body=link.body.with_lengths(lengths))


def _motion_of(name: str, value: Motion, t_start: float, t_end: float) -> PrescribedMotion:
    if isinstance(value, tuple):
        value = MotionTable(*value)
    checked = prescribed("inverse_dynamics", f"motion[{name!r}]", value)
    if isinstance(checked, MotionTable) and not (checked.times[0] <= t_start and t_end <= checked.times[-1]):
        rule = f"must contain times from {t_start} to {t_end} s"
        raise ModelError.of("inverse_dynamics", f"motion[{name!r}]", rule, (checked.times[0], checked.times[-1]))
    return checked


def _prescribable(link: Link) -> list[str]:
    return [m.name for m in link.joint.motions if m.kind != "ball"] + list(link.own_labels)


def _free_names(system: System) -> list[str]:
    return [f"{link.name}.{name}" for link in system.links.values() for name in link.rates if name not in link.prescribed]


def _modes(system: System, name: str) -> tuple[str, ...]:
    return system.links[name.split(".")[0]].mode_labels


# ---- without integration


def _check_still(system: System, options: Mapping[str, Any]) -> None:
    """Refuse contacts and options of a run, because nothing is integrated."""
    if system.contacts:
        raise ModelError.of("inverse_dynamics", "elastic", "must be integrated for a system with contacts", sorted(system.contacts))
    rule = "must be integrated for a system with backlash, or with stops that have a contact law"
    refuse_coordinate_pairs(system, "inverse_dynamics", "elastic", rule)
    if system.closures:
        raise ModelError.of("inverse_dynamics", "elastic", "must be integrated for a system with closures", sorted(system.closures))
    if system.states or system.controllers:
        rule = "must be integrated for a system with states of the user's own, filters of sensors or sampled controllers"
        raise ModelError.of("inverse_dynamics", "elastic", rule, sorted({*system.states, *system.controllers}))
    unknown = sorted(set(options) - {"save", "formulation"})
    if unknown:
        rule = "must be only save and formulation when nothing is integrated"
        raise ModelError.of("inverse_dynamics", "options", rule, unknown)


def _rows(compiled: Compiled, times: Floats, states: Floats) -> Any:
    """The observed quantities at given states, evaluated piece by piece of time."""
    p = [compiled.with_flags(t, y, compiled.traced.parameters_at(t)) for t, y in zip(times.tolist(), states, strict=True)]
    return np.array([compiled.observe(*each) for each in zip(times.tolist(), states, p, strict=True)])


def _all_prescribed(system: System, t_start: float, t_end: float, elastic: str, **options: Any) -> Result:
    """The result for a motion that prescribes every coordinate: efforts follow directly, nothing is integrated."""
    from pliant.run.observed import values_of
    from pliant.run.save_times import save_times
    from pliant.run.simulate import collect_rows

    compiled = compile_system(system, options.get("formulation", "articulated"), still=True)
    times = save_times(options.get("save"), t_start, t_end)
    states = np.zeros((len(times), compiled.traced.y0.size))
    values = values_of(compiled.traced, times, states, _rows(compiled, times, states))
    provenance = _provenance(compiled.traced, t_start, t_end, elastic, options)
    corners = compiled.traced.corners(t_start, t_end)
    return collect_rows(compiled, times, values, "the motion is completely prescribed", provenance, corners)


def _quasi_static(system: System, t_start: float, t_end: float, elastic: str, **options: Any) -> Result:
    """The result with modes in balance with the forces of the motion at every instant, without modal rates and accelerations."""
    from pliant.run.observed import values_of
    from pliant.run.save_times import save_times
    from pliant.run.simulate import collect_rows

    formulation = options.get("formulation", "articulated")
    compiled = compile_system(system, formulation)
    traced = compiled.traced
    loose = [traced.tree.rates[k] for k in traced.free_v if traced.tree.rates[k] not in _all_modes(system)]
    if loose:
        given = [traced.tree.rates[coordinate.v] for coordinate in traced.tree.prescribed]
        raise ModelError.of("inverse_dynamics", "motion", f"must also prescribe {loose} for quasi-static modes", given)
    balance = _Balance(traced, formulation)
    times = save_times(options.get("save"), t_start, t_end)
    states = np.zeros((len(times), traced.y0.size))
    efforts = np.zeros((len(times), len(traced.tree.prescribed)))
    z = np.zeros(len(traced.free_q))
    for row, t in enumerate(times):
        z = balance.solve(float(t), z)
        states[row, : z.size] = z
        efforts[row] = balance.efforts(float(t), z)
    values = values_of(traced, times, states, _rows(compiled, times, states))
    names = list(traced.columns["drive"])
    for k, coordinate in enumerate(traced.tree.prescribed):
        values["effort"][:, names.index(f"{traced.tree.rates[coordinate.v]} motion")] = efforts[:, k]
    values["a"][:, list(traced.free_v)] = 0.0
    provenance = _provenance(traced, t_start, t_end, elastic, options)
    corners = traced.corners(t_start, t_end)
    return collect_rows(compiled, times, values, "modes in balance at every saved time", provenance, corners)


def _provenance(traced: TracedSystem, t_start: float, t_end: float, elastic: str, options: Mapping[str, Any]) -> Provenance:
    """The provenance of a result without integration: the System with prescribed motions, and the treatment of elastic parts."""
    settings = {"t_start": t_start, "t_end": t_end, "save": options.get("save"), "formulation": traced.formulation}
    return Provenance(traced.original, settings, t_start, traced.parameter_values, elastic=elastic)


def _all_modes(system: System) -> set[str]:
    return {f"{link.name}.{name}" for link in system.links.values() for name in link.mode_labels}


class _Balance:
    """The modal rows of inverse dynamics with modes at rest, as functions of (t, modes)."""

    def __init__(self, traced: TracedSystem, formulation: str) -> None:
        from pliant.trace.statics import static_rows

        self._traced = traced
        self._residual, self._jacobian, self._efforts = static_rows(traced, formulation)

    def _parameters(self, t: float) -> Floats:
        return self._traced.parameters_at(t)[: self._residual.numel_in(2)]  # comparisons in formulas need no flags here

    def solve(self, t: float, guess: Floats) -> Floats:
        z, p = guess.copy(), self._parameters(t)
        for _ in range(NEWTON_STEPS):
            residual = np.array(self._residual(t, z, p)).ravel()
            try:
                step = np.linalg.solve(np.array(self._jacobian(t, z, p)), residual)
            except np.linalg.LinAlgError:  # no stiffness at this load: buckling
                break
            z = z - step
            if np.max(np.abs(step)) <= NEWTON_TOLERANCE * max(float(np.max(np.abs(z))), 1e-9):
                return z
        raise SolveError(
            f"inverse_dynamics: modes must find their balance in {NEWTON_STEPS} Newton steps, but did not at t = {t} s; each saved "
            "time starts from the one before, so ramp the load or the motion up from zero over more saved times (near buckling "
            "there may be no balance at all)"
        )

    def efforts(self, t: float, z: Floats) -> Floats:
        return np.array(self._efforts(t, z, self._parameters(t))).ravel()
