"""sensitivities(): derivatives of a whole run, through all its events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError, SolveError
from pliant.host.stages import Stages, Tell
from pliant.integrate.methods.method import Method
from pliant.model import check
from pliant.model.check import did_you_mean
from pliant.model.system import System
from pliant.results.result import Result
from pliant.results.state import FinalState
from pliant.results.table import QUANTITIES
from pliant.run.given_inputs import with_inputs
from pliant.run.mechanism import AnySystem
from pliant.run.prepare import Compiled, runnable
from pliant.run.save_times import Every
from pliant.run.simulate import AUTO, Progress, Run, method_of, run_to_end, state_of, told
from pliant.run.starts import AnyStart, split_starts, start_places
from pliant.scalar import Numbers
from pliant.study.derivatives.differences import (
    Around,
    DifferencedSensitivities,
    PartlyDifferencedSensitivities,
    around,
    without_exact_ones,
)
from pliant.study.derivatives.run_derivatives import Sensitivities

if TYPE_CHECKING:
    from pliant.run.theta import ThetaPlan

Floats = NDArray[np.float64]

ATOL = 1e-3  # ratio atol/rtol if only rtol is given, as in the default method


def sensitivities(
    system: AnySystem | Compiled,
    t_end: float,
    parameters: Sequence[str] | Mapping[str, float] = (),
    starts: Sequence[str] = (),
    rates: Sequence[str] = (),
    *,
    of: str | Sequence[str] | None = None,
    values: Mapping[str, float] | None = None,
    inputs: Mapping[str, Any] | None = None,
    control: bool = False,
    method: Method | type[Method] | str | None = AUTO,
    rtol: float | None = None,
    save: Every | float | Numbers | str | None = None,
    t_start: float = 0.0,
    start: AnyStart = None,
    formulation: str = "articulated",
    progress: Progress | bool | None = None,
    phase: Tell | None = None,
    max_steps: int | None = None,
    max_seconds: float | None = None,
    cache: bool = True,
) -> Sensitivities:
    """Run a mechanism exactly as `simulate` does, bit for bit, and differentiate all results.

    parameters: names of the System's parameters, or a mapping of these and their values; starts, rates: names of coordinates whose
    start positions and start rates are varied; all of these together are theta. of: quantities of the result to differentiate; all
    by default. values: parameter values by name, in SI units, that replace the parameters' own. inputs: series in place of
    parameters, as for `simulate`. control: keep the relative error of the derivatives below the method's rtol in every step;
    without it, below 33 rtol. rtol: replaces the method's own. All other arguments are those of `simulate`. If the run continues an
    earlier one, the state where that one ended counts as given, and so does every initial value that `start` names. If contacts are
    impulsive or controllers are sampled, all derivatives are differences of runs; if no exact derivative exists by some of theta
    only, those are. `warnings` says so, and by which.
    """
    from pliant.run.theta import ThetaPlan, theta_of
    from pliant.study.derivatives.saltation import Walk

    system = runnable(system, "sensitivities")
    if isinstance(parameters, Mapping):
        values = {**parameters, **check.mapping("sensitivities", "values", values)}
    given = {"parameters": tuple(parameters) if isinstance(parameters, Mapping) else parameters, "starts": starts, "rates": rates}
    plan = ThetaPlan(*(check.names("sensitivities", field, names) for field, names in given.items()))
    wanted = _quantities(of)
    owner = system.traced.original if isinstance(system, Compiled) else system
    if rtol is not None:
        rtol = check.positive("sensitivities", "rtol", rtol)
        method = replace(method_of(method), rtol=rtol, atol=ATOL * rtol)  # type: ignore[type-var]  # all methods are dataclasses
    if method_of(method).events_at_ends:
        raise ModelError.of("sensitivities", "method", "must locate events, because their times have derivatives too", method)
    inexact = without_exact_ones(owner)
    options: dict[str, Any] = {"method": method, "t_start": t_start, "formulation": formulation, "progress": progress,
                               "phase": phase, "max_steps": max_steps, "max_seconds": max_seconds, "cache": cache}  # fmt: skip
    values = with_inputs("sensitivities", system, values, inputs, _begin(start, t_start), t_end)
    with told(progress, phase, t_start, t_end) as (tell, say):
        options |= {"progress": tell, "phase": say}
        run, result = run_to_end(system, t_end, save=save, start=start, parameters=values, tape=not inexact, **options)
    options |= {"progress": None, "phase": phase}
    stages = Stages(phase)
    plan.check(run.traced)
    options |= {"save": result.time.tolist() if isinstance(save, str) else save, "start": start}
    if inexact:
        beside = _beside(owner, plan, range(len(plan.names)), run, options)
        return DifferencedSensitivities(result, plan.names, wanted, beside, "; ".join(inexact))
    theta = theta_of(owner, run.compiled, plan, run.stops[0], run.stops[-1], _given(run, start), stages)
    tape = run.stepper.tape()
    if not len(tape.times):
        raise SolveError(f"sensitivities: the run did not take a single step: {result.message}")
    walk = Walk(run, tape, theta, stages, control)
    times, states = run.stepper.rows()
    walk.go(asked_times(times, run, result))
    exact = Sensitivities(result, walk, wanted, (times, states))
    return PartlyDifferencedSensitivities(exact, _beside(owner, plan, walk.lost, run, options), walk.lost) if walk.lost else exact


def _given(run: Run, start: AnyStart) -> slice | tuple[int, ...]:
    """The components of y that the start gives: all if the run continues another, otherwise those that are named."""
    if not isinstance(start, Mapping):
        return () if start is None else slice(None)
    positions, rates = split_starts(start)
    return tuple(start_places(run.traced, "sensitivities", {"starts": positions, "rates": rates}).values())


def _begin(start: AnyStart, t_start: float) -> float:
    state = None if isinstance(start, Mapping) else state_of(start)
    return t_start if state is None else state.t


def _beside(system: System, plan: ThetaPlan, places: Iterable[int], run: Run, options: Mapping[str, Any]) -> list[Around]:
    """Runs beside this one, for each of these entries of theta."""
    traced, begin = run.traced, float(run.stops[0])
    known, t_end = dict(traced.parameter_values), run.t_end

    def with_parameter(name: str, value: float) -> Result:
        return run_to_end(system, t_end, parameters={**known, name: value}, **options)[1]

    def with_start(place: int, value: float) -> Result:
        y = run.y0.copy()
        y[place] = value
        start = FinalState(begin, y, {}, traced.labels_of_y, traced.t_start, begin)
        return run_to_end(system, t_end, parameters=known, **{**options, "start": start})[1]

    every: list[Callable[[], Around]] = []
    for name in plan.parameters:
        own = system.parameters[name]
        every.append(partial(around, partial(with_parameter, name), known[name], own.low, own.high))
    for kind, names in (("starts", plan.starts), ("rates", plan.rates)):
        for name in names:
            place = traced.start_places[kind][name]
            every.append(partial(around, partial(with_start, place), float(run.y0[place]), None, None))
    return [every[k]() for k in places]


def asked_times(rows: Floats, run: Run, result: Result) -> Floats:
    """The requested times: rows, events, peaks and ends of contacts, and the end of the run."""
    contacts = [t for record in result.contacts for t in (record.peak_time, record.end)]
    events = [event.t for event in run.stepper.logged()]
    end = run.stepper.tape().times[-1:, 1]
    every = np.concatenate([rows, end, np.array(contacts, dtype=np.float64), np.array(events, dtype=np.float64)])
    return np.unique(every[np.isfinite(every)])


def _quantities(of: str | Sequence[str] | None) -> tuple[str, ...]:
    if of is None:
        return tuple(QUANTITIES)
    names = check.names("sensitivities", "of", of)
    for name in names:
        if name not in QUANTITIES:
            rule = f"must name quantities of the result{did_you_mean(name, list(QUANTITIES))}"
            raise ModelError.of("sensitivities", "of", rule, name)
    return names
