"""The dependence of a run on theta: parameters of a System, and initial coordinates and rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from pliant.arrays import Floats, Ints
from pliant.errors import ModelError
from pliant.host.stages import Stages
from pliant.model.resolve import checked_values, parameters_of
from pliant.model.system import System
from pliant.run.prepare import Compiled, CompiledStructure, compile_to_hold
from pliant.run.system_memory import SystemMemory
from pliant.trace.layout import CONSTANTS, OWN, PIECES, POSITIONS, RATES
from pliant.trace.lowering import every_number
from pliant.trace.parameter_slopes import STEP, Ingredients, slopes_of
from pliant.trace.traced_system import TracedSystem

# For derivatives, equations are traced with parameters slightly off their values, by these fractions of a step. Then a number that
# happens to be 0, 1 or equal to another number is not built into the structure.
ASIDE = 0.074
MOST_REMEMBERED = 16  # sets of parameter values
Given = slice | tuple[int, ...]  # entries of y: all, or these


@dataclass(frozen=True)
class Theta:
    """The names of theta, and the derivatives of everything by theta, one column per entry."""

    names: tuple[str, ...]
    sizes: Floats  # (theta) magnitudes of parameters; 1 for initial values and for parameters that are zero
    structure: CompiledStructure  # whose functions are differentiated
    constants: Floats  # of that structure, at the present values
    constant_slopes: Floats  # (constant, theta)
    start: Floats  # (component of y, theta)
    breakpoints: Floats  # s
    breakpoint_slopes: Floats  # (breakpoint, theta)
    piece_slopes: Floats  # (piece of time, entry of p, theta): of tables


@dataclass(frozen=True)
class ThetaPlan:
    """The names of theta, by kind."""

    parameters: tuple[str, ...]
    starts: tuple[str, ...]
    rates: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.parameters, *self.starts, *(f"rate of {name}" for name in self.rates))

    def check(self, traced: TracedSystem) -> None:
        """Refuse unknown names, and an empty list of names."""
        if not self.names:
            raise ModelError.of("sensitivities", "parameters", "must name a parameter (or starts or rates a coordinate)", [])
        for name in self.parameters:
            if name not in traced.parameter_values:
                checked_values(traced.original.parameters, {name: 0.0})  # refuses the name and suggests the nearest
            if name in traced.inputs:
                raise ModelError.of("sensitivities", "parameters", "must not name an input, whose values are given", name)
        for kind, names in (("parameters", self.parameters), ("starts", self.starts), ("rates", self.rates)):
            if len(set(names)) < len(names):
                raise ModelError.of("sensitivities", kind, "must be different names", list(names))
            if kind == "parameters" or not names:
                continue
            if traced.held:
                rule = "must be left out for a system with closures (use parameters in joints, from which the start is assembled)"
                raise ModelError.of("sensitivities", kind, rule, list(names))
            for name in names:
                traced.start_place("sensitivities", kind, name)


def theta_of(
    system: System, compiled: Compiled, plan: ThetaPlan, t_start: float, t_end: float, given: Given, stages: Stages
) -> Theta:
    """The dependence on theta. system: the user's own. given: the entries of y with which the run is told to start."""
    traced = compiled.traced
    known = SystemMemory.of(system, traced.original)
    key = _key(known, compiled, plan, (t_start, t_end), given)
    theta: Theta | None = known.slopes.get(key)
    if theta is None:  # another thread may change the memory meanwhile
        theta = _theta(known, compiled, plan, (t_start, t_end), given, stages)
        if len(known.slopes) >= MOST_REMEMBERED:
            known.slopes.clear()
        known.slopes[key] = theta
    return theta


def _key(known: SystemMemory, compiled: Compiled, plan: ThetaPlan, span: tuple[float, float], given: Given) -> tuple[Any, ...]:
    """Everything that Theta depends on. Runs that only start elsewhere, such as the experiments of a fit, share it."""
    traced = compiled.traced
    inside = [b for b in traced.breakpoints if span[0] < b < span[1]]
    heads = [traced.head(begin, end) for begin, end in pairwise([span[0], *inside, span[1]])]
    numbers = (traced.parameters(*span)[traced.layout.p[CONSTANTS]], *(head[traced.layout.p[PIECES]] for head in heads))
    read = set(traced.plain_values)
    shared = (
        plan,
        tuple(inside),
        tuple(traced.inputs),
        traced.formulation,
        traced.near,
        compiled.structure,
        *(own.tobytes() for own in numbers),
    )
    if isinstance(given, slice) or _start_stays(known, traced, plan):
        read &= known.beyond_starts(traced.original)
        own: tuple[Any, ...] = ()
    else:
        own = (span, traced.y0.tobytes(), *given)
    return (*shared, tuple((name, value) for name, value in traced.plain_values.items() if name in read), own)


def _start_stays(known: SystemMemory, traced: TracedSystem, plan: ThetaPlan) -> bool:
    """Whether the parameters of theta surely leave the start alone: nothing is assembled, and no start contains one of them."""
    system = traced.original
    if system.closures or system.states or system.motors or system.controllers:
        return False
    starts: list[Any] = []
    for link in system.links.values():
        starts += [getattr(link.joint, name) for name in (*link.joint.STARTS, *link.joint.START_RATES)]
        starts += [link.initial, link.initial_rates, dict(link.body.lengths)]
    return parameters_of(starts).keys().isdisjoint(plan.parameters)


def _theta(
    known: SystemMemory, compiled: Compiled, plan: ThetaPlan, span: tuple[float, float], given: Given, stages: Stages
) -> Theta:
    traced = compiled.traced
    values = dict(traced.parameter_values)
    stops = np.array([span[0], *(b for b in traced.breakpoints if span[0] < b < span[1]), span[1]])
    between = (0.5 * (stops[1:] + stops[:-1])).tolist()

    def at(changed: Mapping[str, float]) -> Ingredients:
        return Ingredients.of(known.lowered(traced, {**values, **changed}), between)

    here = at({})
    m, count = len(plan.names), len(plan.parameters)
    columns = np.zeros((here.column.size, m))
    for k, name in enumerate(plan.parameters):
        columns[:, k] = slopes_of(name, values[name], at, here)
    numbers, start, breakpoints, pieces = here.parts(columns)
    structure, places = structure_aside(known, compiled, plan.parameters, values)
    order = list(values)
    own = np.zeros((len(order), m))
    for k, name in enumerate(plan.parameters):
        own[order.index(name), k] = 1.0
    slopes = np.vstack([own, numbers[places]])
    at_values = np.concatenate([list(values.values()), here.every.values[places]])
    constants, constant_slopes = _constants(structure, at_values, slopes, stages)
    sizes = np.array([abs(values[name]) or 1.0 for name in plan.parameters] + [1.0] * (m - count))
    inside = [k for k, b in enumerate(traced.breakpoints) if span[0] < b < span[1]]
    return Theta(
        plan.names, sizes, structure, constants, constant_slopes,
        _start(traced, plan, start, count, given),
        np.array([traced.breakpoints[k] for k in inside]), breakpoints[inside],
        pieces.reshape(len(inside) + 1, -1, m),
    )  # fmt: skip


def structure_aside(
    known: SystemMemory, compiled: Compiled, names: Sequence[str], values: Mapping[str, float]
) -> tuple[CompiledStructure, Ints]:
    """A structure in which no number that depends on parameters is treated as special; and the places of its numbers."""
    traced = compiled.traced
    shifts = {name: ASIDE * STEP * (abs(values[name]) or 1.0) / (k + 1.0) for k, name in enumerate(names)}
    aside = {**values, **{name: values[name] + shift for name, shift in shifts.items()}}
    if not _may_be(known, traced, aside, names):  # some are at their bounds
        aside = dict(values)
        for name, shift in shifts.items():
            ahead = {**values, name: values[name] + shift}
            aside[name] = ahead[name] if _may_be(known, traced, ahead, [name]) else values[name] - shift
    lowered = known.lowered(traced, aside)
    places = every_number(lowered.root).places
    if not names or lowered.lowered.structure == known.lowered(traced, values).lowered.structure:
        return compiled.structure, places
    cached = compiled.structure.cache is not None
    args = (traced.original, traced.formulation, cached, True, traced.near, traced.t_start, aside)
    other = compile_to_hold(traced.hold_at, *args)
    return other.structure, places


def _may_be(known: SystemMemory, traced: TracedSystem, values: Mapping[str, float], names: Sequence[str]) -> bool:
    """Whether the mechanism exists at these values."""
    try:
        for name in names:
            traced.original.parameters[name].check(values[name])
        known.lowered(traced, values)
    except ModelError:
        return False
    return True


def _constants(structure: CompiledStructure, numbers: Floats, slopes: Floats, stages: Stages) -> tuple[Floats, Floats]:
    """The constants of the equations and their derivatives, from the numbers and theirs."""
    preparation = structure.traced.preparation
    active = tuple(np.flatnonzero(np.any(slopes != 0.0, axis=1)).tolist())
    kernel = structure.directional("prepare", active, tuple(range(preparation.count)), stages)
    return kernel(0.0, np.empty(0), numbers, np.zeros((0, slopes.shape[1])), None, slopes)


def _start(traced: TracedSystem, plan: ThetaPlan, start: Floats, count: int, given: Given) -> Floats:
    """(component of y, theta); what is given depends on no parameter."""
    n_q, n_v, y = len(traced.tree.positions), len(traced.tree.rates), traced.layout.y
    columns = np.zeros((traced.y0.size, start.shape[1]))
    columns[y[POSITIONS]] = start[:n_q][list(traced.free_q)]
    columns[y[RATES]] = start[n_q : n_q + n_v][list(traced.free_v)]
    columns[y[OWN]] = start[n_q + n_v :]
    columns[given if isinstance(given, slice) else list(given)] = 0.0
    for kind, names in (("starts", plan.starts), ("rates", plan.rates)):
        for k, name in enumerate(names, start=count + (len(plan.starts) if kind == "rates" else 0)):
            columns[traced.start_places[kind][name], k] = 1.0
    return columns


def active_entries(theta: Theta, traced: TracedSystem) -> tuple[int, ...]:
    """The entries of p with possibly non-zero derivatives: constants, tables, entry speeds and directions of slip."""
    layout = traced.layout.p
    found = (layout[CONSTANTS].start + np.flatnonzero(np.any(theta.constant_slopes != 0.0, axis=1))).tolist()
    if theta.piece_slopes.size:
        found += (layout[PIECES].start + np.flatnonzero(np.any(theta.piece_slopes != 0.0, axis=(0, 2)))).tolist()
    for slots in traced.pairs:
        found.append(slots.entry)
        if slots.grip is not None:
            found += range(slots.grip + 1, slots.grip + 4)
    for joint in traced.joints:
        if joint.grip is not None and not joint.exact:
            found += range(joint.grip + 1, joint.grip + 4)
    return tuple(sorted(found))
