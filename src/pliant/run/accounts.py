"""The energy ledger of a whole run and its warnings, based on the steps of the run, because saved rows may be few."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.arrays import Floats
from pliant.results.ledger import ROUND_OFF_HELD, Extremes, exchange
from pliant.results.table import HELD, QUANTITIES

if TYPE_CHECKING:  # casadi and LLVM are imported when a run begins
    from pliant.codegen.llvm import MachineCode
    from pliant.integrate.memory.course import Course
    from pliant.run.evidence import Evidence
    from pliant.trace.traced_system import TracedSystem

# A balance error beyond this many times rtol causes a warning. Smooth runs stay within it over thousands of steps.
TOLERANCES = 1e2
ALWAYS = 1e-2  # of the largest exchange: an error beyond this causes a warning for any rtol
AT_REST = 10.0  # times rtol times the energy at hand, the scale of the work's error control; a body at rest exchanges nothing
FIXED_STEP = 1e-3  # of the largest exchange: the limit for methods without error control
ROUND_OFF = 1e-9  # of the largest exchange, and


def observed_along(observe: MachineCode, course: Course) -> Floats:
    """The observed numbers at the states that a run kept."""
    from pliant.integrate.rows import evaluate_rows

    observed = np.empty((course.times.size, observe.n_out))
    evaluate_rows(observe.address, course.times, course.states, course.parameters, observed, observe.n_work, course.constants)
    return observed


# Quantities whose extremes are kept, with the number of components of each vector
LOADS = {"reaction_force": 3, "reaction_moment": 3, "multiplier": 1, "strut_force": 1, "motor_speed": 1, "motor_torque": 1,
         "effort": 1}  # fmt: skip


@dataclass(frozen=True)
class Loads:
    """Vectors among the observed numbers whose largest magnitudes are kept."""

    name: str
    quantity: str  # whose numbers they are
    labels: tuple[str, ...]
    places: tuple[tuple[int, int], ...]  # of each vector: its first component within the quantity, and their number


def loads_of(traced: TracedSystem) -> Iterator[Loads]:
    """The quantities in LOADS, then the forces and the moments of closures: all directions of one together."""
    for name, width in LOADS.items():
        labels = traced.columns[QUANTITIES[name].dims[0]]
        yield Loads(name, name, labels, tuple((k * width, width) for k in range(len(labels))))
    for name, angular in (("closure_force", False), ("closure_moment", True)):
        own = dict[str, list[int]]()  # rows, which follow each other
        for row, (closure, turns) in enumerate(traced.kinds):
            if turns is angular:
                own.setdefault(closure, []).append(row)
        yield Loads(name, "multiplier", tuple(own), tuple((rows[0], len(rows)) for rows in own.values()))


def with_loads(evidence: Evidence, noted: Floats) -> Extremes:
    """The extremes, with the largest magnitudes of loads: in rows, of the course and those that the loop noted.

    noted: see `Stepper.largest`.
    """
    largest, jumps, first = dict[str, dict[str, tuple[float, float]]](), dict[str, dict[str, float]](), 0
    instants = cache(lambda in_rows: _instants(evidence, in_rows))
    for loads in loads_of(evidence.traced):
        if not loads.labels:
            continue
        in_loop, first = noted[first : first + len(loads.labels)], first + len(loads.labels)
        sizes, times, beside = _peaks(evidence, loads, instants)
        beside = np.maximum(beside, in_loop[:, 0])
        jump = np.divide(sizes - beside, sizes, out=np.zeros_like(sizes), where=sizes > beside)
        seen, own = (zip(of.tolist(), t.tolist(), strict=True) for of, t in ((sizes, times), in_loop.T))
        every = zip(loads.labels, seen, own, strict=True)
        largest[loads.name] = {label: max(one, other, key=_first) for label, one, other in every}
        jumps[loads.name] = {label: share for label, share in zip(loads.labels, jump.tolist(), strict=True) if share > 0.0}
    return replace(evidence.extremes, largest=largest, jumps=jumps)


def _first(peak: tuple[float, float]) -> tuple[float, float]:
    """For sorting: the largest, and of equal ones the earliest."""
    return peak[0], -peak[1]


def _instants(evidence: Evidence, in_rows: bool) -> tuple[Floats, NDArray[np.intp]]:
    """The instants of the course, and of rows, in order of time; and which of both, one after the other, each of them is."""
    course = evidence.course.times
    times, order = np.unique(np.concatenate([course, evidence.times]) if in_rows else course, return_index=True)
    return times, order


def _peaks(
    evidence: Evidence, loads: Loads, instants: Callable[[bool], tuple[Floats, NDArray[np.intp]]]
) -> tuple[Floats, Floats, Floats]:
    """Of every vector: the largest magnitude in rows and of the course, its time, and the larger of those before and after it."""
    parts = [evidence.observed[:, evidence.traced.layout.observed[loads.quantity]]]
    if isinstance(rows := dict(evidence.values).get(loads.quantity), np.ndarray) and len(rows):
        parts.append(rows.reshape(len(rows), -1))
    times, order = instants(len(parts) > 1)
    sizes = np.concatenate([_sizes(numbers, loads.places) for numbers in parts], axis=1)[:, order]
    at, each = np.argmax(sizes, axis=1), np.arange(len(loads.labels))
    beside = np.maximum(sizes[each, np.maximum(at - 1, 0)], sizes[each, np.minimum(at + 1, times.size - 1)])
    return sizes[each, at], times[at], beside


def _sizes(rows: Floats, places: Sequence[tuple[int, int]]) -> Floats:
    """(vector, row): magnitudes."""
    squares = np.square(np.ascontiguousarray(rows.T))  # takes a fifth of the time
    sizes = np.sqrt([squares[first : first + width].sum(axis=0) for first, width in places])
    return sizes if np.all(np.isfinite(sizes)) else np.nan_to_num(sizes)


def extremes_of(traced: TracedSystem, observed: Floats, course: Course) -> Extremes:
    """The extremes over a run: of works at all steps, of energies at the states that it kept."""
    columns = traced.layout.observed
    held = observed[:, [columns[name].start for name in HELD]].T
    works = course.states[:, traced.n_controlled : traced.n_controlled + len(traced.sources)]
    unaccounted = held.sum(axis=0) - works.sum(axis=1)
    return Extremes(
        scale=exchange(held, course.highest - course.lowest),
        size=float(np.max(np.abs(held))),
        balance_error=float(np.max(np.abs(unaccounted - unaccounted[0]))),
        given=_given(traced, course),
        idle=tuple(traced.sources[slots.rubbed - traced.n_controlled] for slots in traced.pairs if slots.pair.friction is None)
        + tuple(f"{group.name} friction" for group in traced.system.groups.values() if group.friction is None),
    )


def _given(traced: TracedSystem, course: Course) -> dict[str, tuple[float, float]]:
    """The energy (J) that each purely dissipative source released, and the time (s) by which it did.

    A source that can release stored energy counts from the first start, where its work is zero, also in a continued run.
    """
    given = {}
    for k, name in enumerate(traced.sources):
        if name in traced.dissipative:
            returns = traced.dissipative[name]
            energy, t = (course.highest[k], course.highest_at[k]) if returns else (course.rise[k], course.risen_at[k])
            given[name] = (max(float(energy), 0.0), float(t))
    return given


def energy_given(evidence: Evidence) -> Iterator[str]:
    """Warn of sources that must only dissipate energy but released some."""
    yield from evidence.extremes.violations(evidence.balance_error)


def energy_balance(evidence: Evidence) -> Iterator[str]:
    """Warn if the energy balance is off by more than the method's tolerance explains."""
    error, extremes, rtol = evidence.balance_error, evidence.extremes, evidence.method.tolerance
    scale = extremes.scale
    allowed = FIXED_STEP * scale if rtol is None else allowed_share(rtol) * scale + AT_REST * rtol * evidence.at_hand
    if error <= allowed + ROUND_OFF_HELD * extremes.size:
        return
    share = f"{error / scale:.2g} of the largest exchange, {scale:.3g} J" if scale > 0.0 else "though nothing was exchanged"
    if rtol is not None and scale > 0.0:
        share += f", {error / scale / rtol:,.0f} times rtol = {rtol:g}"
    yield f"the energy balance is off by up to {error:.2g} J ({share}): {_cause(evidence.traced, rtol)}"


def _cause(traced: TracedSystem, rtol: float | None) -> str:
    """Why the balance may be off, and what the user can do."""
    published = [node.name for node in traced.tree.nodes if node.as_published]
    if published:
        return f"the equations of {', '.join(published)} as published omit terms that the energy contains, with any method"
    if rtol is None:
        return "use a shorter step, or a method with error control"
    return (
        "fast modes (such as stretching) or stiff contacts are not resolved that accurately, or errors grow near an unstable "
        "position; use a smaller rtol, or fewer such modes"
    )


def allowed_share(rtol: float) -> float:
    """The fraction of the largest exchange by which the balance may be off without a warning."""
    return max(min(TOLERANCES * rtol, ALWAYS), ROUND_OFF)
