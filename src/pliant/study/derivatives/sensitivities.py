"""sensitivities(): derivatives of a whole run, through all its events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats
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
from pliant.run.observed import values_of
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
    from pliant.study.derivatives.saltation import Walk

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
    return _recorded(**locals()).derivatives


def recorded_run(system: AnySystem | Compiled, t_end: float, **options: Any) -> RecordedRun:
    """The run of `sensitivities` with these arguments; its derivatives are computed when they are asked for."""
    given = signature(sensitivities).bind(system, t_end, **options)
    given.apply_defaults()
    return _recorded(**given.arguments)


def _recorded(
    system: AnySystem | Compiled, t_end: float, parameters: Any, starts: Any, rates: Any, of: Any, values: Any, inputs: Any,
    control: bool, rtol: float | None, start: AnyStart, **options: Any,
) -> RecordedRun:  # fmt: skip
    from pliant.run.theta import ThetaPlan

    system = runnable(system, "sensitivities")
    if isinstance(parameters, Mapping):
        values = {**parameters, **check.mapping("sensitivities", "values", values)}
    given = {"parameters": tuple(parameters) if isinstance(parameters, Mapping) else parameters, "starts": starts, "rates": rates}
    plan = ThetaPlan(*(check.names("sensitivities", field, names) for field, names in given.items()))
    wanted = _quantities(of)
    owner = system.traced.original if isinstance(system, Compiled) else system
    if rtol is not None:
        rtol = check.positive("sensitivities", "rtol", rtol)
        method: Any = method_of(options["method"])  # all methods are dataclasses
        options["method"] = replace(method, rtol=rtol, atol=ATOL * rtol)
    if method_of(options["method"]).events_at_ends:
        rule = "must locate events, because their times have derivatives too"
        raise ModelError.of("sensitivities", "method", rule, options["method"])
    inexact, t_start, options = without_exact_ones(owner), options["t_start"], {**options, "start": start}
    values = with_inputs("sensitivities", system, values, inputs, _begin(start, t_start), t_end)
    with told(options["progress"], options["phase"], t_start, t_end) as (tell, say):
        run = run_to_end(system, t_end, parameters=values, tape=not inexact, **{**options, "progress": tell, "phase": say})
    plan.check(run.traced)
    return RecordedRun(run, owner, plan, wanted, control, inexact, options)


@dataclass
class RecordedRun:
    """A run whose steps are recorded, so that it can be differentiated afterwards."""

    run: Run
    system: System
    plan: ThetaPlan
    of: tuple[str, ...]
    control: bool
    inexact: Sequence[str]  # what stands in the way of exact derivatives by anything
    options: Mapping[str, Any]  # of the run

    @property
    def rows(self) -> tuple[Floats, dict[str, Floats]]:
        """The times of the saved rows, and the quantities that are wanted."""
        times, states, observed = self.run.rows()
        return times, values_of(self.run.traced, times, states, observed, self.of)

    @cached_property
    def derivatives(self) -> Sensitivities:
        if self.inexact:
            beside = self._beside(range(len(self.plan.names)))
            return DifferencedSensitivities(self.run.result, self.plan.names, self.of, beside, "; ".join(self.inexact))
        walk, rows = self._walk()
        exact = Sensitivities(walk, self.of, rows)
        return PartlyDifferencedSensitivities(exact, self._beside(walk.lost), walk.lost) if walk.lost else exact

    def _walk(self) -> tuple[Walk, tuple[Floats, Floats]]:
        """The walk along the steps, and the saved rows: (times, states)."""
        from pliant.run.theta import theta_of
        from pliant.study.derivatives.saltation import Walk

        run, stages = self.run, Stages(self.options["phase"])
        given = _given(run, self.options["start"])
        theta = theta_of(self.system, run.compiled, self.plan, run.stops[0], run.stops[-1], given, stages)
        tape = run.stepper.tape()
        if not len(tape.times):
            raise SolveError(f"sensitivities: the run did not take a single step: {run.message}")
        walk, (times, states) = Walk(run, tape, theta, stages, self.control), run.stepper.rows()
        walk.go(asked_times(times, run))
        return walk, (times, states)

    def _beside(self, places: Iterable[int]) -> list[Around]:
        """Runs beside this one, for each of these entries of theta."""
        save = self.options["save"]
        save = self.run.result.time.tolist() if isinstance(save, str) else save
        return _beside(self.system, self.plan, places, self.run, {**self.options, "save": save, "progress": None})


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
        return run_to_end(system, t_end, parameters={**known, name: value}, **options).result

    def with_start(place: int, value: float) -> Result:
        y = run.y0.copy()
        y[place] = value
        start = FinalState(begin, y, {}, traced.labels_of_y, traced.t_start, begin)
        return run_to_end(system, t_end, parameters=known, **{**options, "start": start}).result

    every: list[Callable[[], Around]] = []
    for name in plan.parameters:
        own = system.parameters[name]
        every.append(partial(around, partial(with_parameter, name), known[name], own.low, own.high))
    for kind, names in (("starts", plan.starts), ("rates", plan.rates)):
        for name in names:
            place = traced.start_places[kind][name]
            every.append(partial(around, partial(with_start, place), float(run.y0[place]), None, None))
    return [every[k]() for k in places]


def asked_times(rows: Floats, run: Run) -> Floats:
    """The requested times: rows, events, peaks and ends of contacts, and the end of the run."""
    contacts = [t for record in run.contact_table() for t in (record.peak_time, record.end)]
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
