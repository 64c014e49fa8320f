"""The runs of a fit's experiments: here, in threads, or in the processes of an executor.

The derivatives of a run come from the record of its steps, which stays in the process that made it: each process is asked for those
that it can compute. What is left, because another process was busy with it, is run again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError, SolveError
from pliant.results.result import Result
from pliant.study.fit.differentiated_run import DifferentiatedRun, Runner
from pliant.study.fit.experiment import Comparison
from pliant.study.fit.free_parameters import FreeParameters
from pliant.study.fit.series import Series
from pliant.study.sweep.executors import Executing, Task, processors
from pliant.study.sweep.work import Stopping

Floats = NDArray[np.float64]
ROWS, SLOPES, WHOLE = range(3)  # what is asked of a run: its rows, their derivatives, too, and the Result
MOVED = 1e-3  # of the first values: there, too, a System that arrives in another process must be the same
WORTH_THREADS = 0.3  # share of compiled code in the time of all runs: with less, threads would wait for Python's lock


@dataclass(frozen=True)
class Order:
    """What is asked of one experiment."""

    number: int
    values: Mapping[str, float]
    want: int
    if_recorded: bool = False  # only by whoever has the record of this run


@dataclass(frozen=True)
class Answer:
    """What a search reads of a run."""

    want: int
    values: Mapping[str, float]  # of its free parameters
    time: Floats
    rows: Mapping[Series, Floats]
    message: str  # how the run ended
    seconds: float  # of the computation
    compiled: float  # of these, in the time loop
    slopes: Mapping[Series, Floats] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    exact: bool = True  # whether no derivative is a difference of runs
    more_runs: int = 0  # for differences
    result: Result | None = None


@dataclass(frozen=True)
class ExperimentWork:
    """The experiments as work that can be sent to other processes."""

    names: tuple[str, ...]
    runners: tuple[Runner, ...]
    series: tuple[tuple[Series, ...], ...]
    part = "fit"
    title = "the System of the fit"

    def compute(self, order: Order, stopping: Stopping | None = None) -> Answer | Exception | None:
        """An answer, or the error of the run; None if somebody else has its record."""
        runner = self.runners[order.number]
        if order.if_recorded and not runner.remembers(order.values):
            return None
        try:
            return self._answer(order, runner)
        except (MemoryError, OSError):  # of the machine
            raise
        except Exception as trouble:
            return trouble

    def _answer(self, order: Order, runner: Runner) -> Answer:
        began, series = perf_counter(), self.series[order.number]
        run, runs = runner.at(order.values), runner.count
        rows = {one: run.value(one) for one in series}
        more = {} if order.want == ROWS else self._derivatives(run, series)
        return Answer(
            order.want, order.values, run.time, rows, run.message, perf_counter() - began, run.compiled_s, **more,
            more_runs=runner.count - runs, result=run.result if order.want == WHOLE else None,
        )  # fmt: skip

    def _derivatives(self, run: DifferentiatedRun, series: Sequence[Series]) -> dict[str, Any]:
        slopes = {one: run.series(one).slope for one in series}
        return {"slopes": slopes, "warnings": run.warnings, "exact": run.exact}

    def lost(self, order: Order, why: str) -> Exception:
        return SolveError(why)

    def content(self, order: Order) -> str:
        return self.runners[order.number].content(order.values)


class ExperimentRuns:
    """The runs of all experiments, remembered: the last ones, and the last ones that were differentiated."""

    def __init__(self, comparisons: Sequence[Comparison], free: FreeParameters, executor: Any) -> None:
        self._comparisons, self._free, self._executor = comparisons, free, executor
        self._work = ExperimentWork(
            tuple(one.name for one in comparisons),
            tuple(one.runner for one in comparisons),
            tuple(tuple(column.series for column in one.columns) for one in comparisons),
        )
        self._executing: Executing | None = None
        self._known: dict[bytes, list[Answer]] = {}
        self._seconds = np.ones(len(comparisons))
        self.count = 0  # runs so far

    def __enter__(self) -> Self:
        if self._executor is not None:
            start = self._free.start
            moved = np.clip(start + MOVED * np.maximum(np.abs(start), 1.0), *self._free.bounds)
            some = (self._orders(start, ROWS)[0], self._orders(moved, ROWS)[-1])
            self._executing = Executing(self._work, some, self._executor)
        return self

    def __exit__(self, *trouble: Any) -> None:
        """What is asked afterwards is computed here."""
        if self._executing is not None:
            self._executing.__exit__(*trouble)
            self._executing = None

    def at(self, x: Floats, want: int) -> list[Answer]:
        """Of all experiments at these values (scaled); the error of a run is raised."""
        key = np.asarray(x).tobytes()
        known = self._known.get(key)
        if known is None:
            self._known = {old: answers for old, answers in self._known.items() if answers[0].want > ROWS}
            self.count += len(self._comparisons)
        if known is None or known[0].want < want:
            answers = self._asked(self._orders(x, want), is_new=known is None)
            self.count += sum(one.more_runs for one in answers) if known is None or known[0].want == ROWS else 0
            self._known = {**({} if want > ROWS else self._known), key: answers}
            return answers
        return known

    def _orders(self, x: Floats, want: int) -> list[Order]:
        return [Order(k, one.values(self._free, x), want) for k, one in enumerate(self._comparisons)]

    def _asked(self, orders: Sequence[Order], is_new: bool) -> list[Answer]:
        outcomes: dict[int, Any] = {}

        def done(numbers: tuple[int, ...], found: list[Any]) -> None:
            outcomes.update({k: outcome for k, outcome in zip(numbers, found, strict=True) if outcome is not None})

        executing = self._executing
        if executing is None:
            outcomes = {order.number: self._work.compute(order) for order in orders}
        else:
            if not (is_new or executing.shares_memory):  # whoever has run an experiment differentiates it
                recorded = _task([replace(order, if_recorded=True) for order in orders])
                executing.compute([recorded] * executing.workers, done)
            executing.compute(self._shares([order for order in orders if order.number not in outcomes], executing.workers), done)
        answers = [self._checked(order.number, outcomes[order.number]) for order in orders]
        if executing is None:
            self._start_threads(answers)
        return answers

    def _checked(self, number: int, outcome: Answer | Exception) -> Answer:
        if isinstance(outcome, Answer):
            self._seconds[number] = outcome.seconds
            return outcome
        if type(outcome) in (ModelError, SolveError) and len(self._comparisons) > 1:
            raise type(outcome)(f"{self._comparisons[number].name}: {outcome}") from outcome
        raise outcome

    def _shares(self, orders: Sequence[Order], workers: int) -> list[Task]:
        """One task for each worker, which take about equally long."""
        shares: list[list[Order]] = [[] for _ in range(min(workers, len(orders)))]
        loads = np.zeros(len(shares))
        for order in sorted(orders, key=lambda order: -self._seconds[order.number]):
            least = int(np.argmin(loads))
            shares[least].append(order)
            loads[least] += self._seconds[order.number]
        return [_task(share) for share in shares]

    def _start_threads(self, answers: Sequence[Answer]) -> None:
        """From now on in threads, if compiled code, which needs no lock of Python, takes enough of the time."""
        compiled, whole = (sum(each) for each in zip(*((one.compiled, one.seconds) for one in answers), strict=True))
        if min(processors(), len(answers)) > 1 and compiled > WORTH_THREADS * whole:
            self._executing = Executing(self._work, (), None)


def _task(orders: Sequence[Order]) -> Task:
    return Task(tuple(order.number for order in orders), tuple(orders))
