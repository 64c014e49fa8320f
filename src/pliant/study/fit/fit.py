"""fit(): finds parameters of a mechanism for which its run matches measured data, by least squares with exact derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError, SolveError
from pliant.files.units import convert
from pliant.host.progress import counted
from pliant.model import check
from pliant.model.system import System
from pliant.run.mechanism import AnySystem, mechanism_of
from pliant.scalar import Numbers
from pliant.study.fit.differentiated_run import DifferentiatedRun, Runner
from pliant.study.fit.fitted import Compared, Fit, fitted
from pliant.study.fit.free_parameters import FreeParameters
from pliant.study.fit.measurements import Measurements, measurements_of
from pliant.study.fit.series import Series, SeriesNames, split_head

Floats = NDArray[np.float64]
Weights = Mapping[str, float | Numbers]
PART = "fit"
REFUSED = 1e3  # factor on the initial residuals, assigned to a failed run so that the search turns back
ROUGHLY, CLOSELY = 1e-4, 1e-9  # relative changes of values, and of the sum of squares, at which a search ends
CONVERGED = {  # by the status of scipy's search
    1: "no small change of the values lowers the sum of squares",
    2: "the sum of squares no longer decreases",
    3: "the values no longer change",
    4: "neither the values nor the sum of squares change any more",
}
REWEIGHED = 1e-3  # fraction of the largest scatter: no column counts as more than a thousand times as accurate as another


@dataclass(frozen=True)
class Experiment:
    """The data of one experiment, and the parameter values that apply to this experiment only."""

    data: Any
    parameters: Mapping[str, float] = field(default_factory=dict)
    name: str = ""


def fit(
    system: AnySystem,
    data: Any,
    parameters: Sequence[str] | Mapping[str, float],
    of: Sequence[str] | Mapping[str, str] | None = None,
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    *,
    weights: Weights | None = None,
    guess: Mapping[str, float] | None = None,
    progress: Callable[[int, float], object] | bool | None = None,
    max_runs: int = 200,
    **run: Any,
) -> Fit:
    """Find the parameter values for which a run best matches measured data.

    - data: a CSV file, a pandas table, an xarray Dataset or a mapping of arrays, with a column `time` and columns named after
      numbers of the result ("arm.angle", "tip_position arm y"), with a unit in brackets if it differs from that of the result; or
      a list of these, or of `Experiment`s, all of which are fitted with the same values.
    - parameters: names of the System's parameters that are free, or a mapping of these and their first values.
    - of: the columns to use, all by default; or a mapping from columns to numbers of the result.
    - bounds: {name: (low, high)}, None for no bound; by default the parameter's own bounds.
    - weights: factors of the differences, by column: one number, or one for each time. By default each column is weighted by one
      over its scatter about the best fit.
    - guess: initial values by name; by default the parameters' own values.
    - progress: True shows a bar; a function is called with the number of runs and the sum of squares.
    - max_runs: largest number of runs of each experiment.
    - run: arguments of `simulate` by name: method, start, t_start, formulation, ...

    Returns values, covariance, confidence intervals, correlation, and which parameters the data do not determine, and why.
    """
    if "save" in run:
        raise ModelError.of(PART, "run", "must not contain save: rows are saved at the times of the data", run["save"])
    check.progress(PART, progress)
    system = mechanism_of(system, PART)
    free = FreeParameters.of(PART, system, parameters, bounds, guess)
    compared = _comparisons(system, data, of, weights, free, run)
    with counted(progress, "runs", max_runs) as tell:
        search = _Search(compared, free, tell, max_runs)
        best = free.start
        if weights is None and len({one.column for part in compared for one in part.columns}) > 1:
            best = search.run(best, ROUGHLY)
            search.weigh_by_scatter(best)
        best = search.run(best, CLOSELY)
    return fitted(free, search.at(best), search.ok, search.message, search.runs, search.warnings)


@dataclass(frozen=True)
class _Column:
    """One measured series, and the number of the result that it measures."""

    column: str
    series: Series
    values: Floats  # in SI units, nan where there is no measurement
    weights: Floats | None  # as given by the user


@dataclass(frozen=True)
class _Comparison:
    """An experiment, and how to run it."""

    name: str
    time: Floats
    columns: tuple[_Column, ...]
    runner: Runner

    @property
    def measured(self) -> int:
        """The number of measured values."""
        return sum(int(np.sum(np.isfinite(column.values))) for column in self.columns)


def _comparisons(
    system: System, data: Any, of: Any, weights: Weights | None, free: FreeParameters, run: Mapping[str, Any]
) -> list[_Comparison]:
    given = list(data) if isinstance(data, (list, tuple)) else [data]
    if not given:
        raise ModelError.of(PART, "data", "must hold at least one experiment", data)
    experiments = [one if isinstance(one, Experiment) else Experiment(one) for one in given]
    comparisons = []
    for number, experiment in enumerate(experiments, start=1):
        _check_own(experiment, system.parameters, free)
        name = experiment.name or (f"experiment {number}" if len(experiments) > 1 else "data")
        comparisons.append(_comparison(name, system, experiment, of, weights, free, run))
    return comparisons


def _check_own(experiment: Experiment, known: Mapping[str, Any], free: FreeParameters) -> None:
    for name in experiment.parameters:
        if name not in known:
            raise ModelError.of(PART, "experiment parameters", f"must be among {', '.join(known)}", name)
        if name in free.names:
            raise ModelError.of(PART, "experiment parameters", "must not be one of the free parameters", name)


def _comparison(
    name: str,
    system: System,
    experiment: Experiment,
    of: Any,
    weights: Weights | None,
    free: FreeParameters,
    run: Mapping[str, Any],
) -> _Comparison:
    measured = measurements_of(experiment.data)
    begin = float(run.get("t_start", 0.0)) if isinstance(run.get("start"), Mapping | None) else None
    if begin is not None and measured.time[0] < begin:
        raise ModelError.of(PART, "data", f"must not begin before the run begins at t = {begin:g} s", float(measured.time[0]))
    times = _beyond(begin, measured.time)
    values = {**free.fixed, **experiment.parameters}
    runner = Runner(PART, system, float(measured.time[-1]), free.names, values, {**run, "save": times})
    names = runner.series_names()
    columns = tuple(_column(head, wanted, measured, names, weights) for head, wanted in _chosen(measured, of))
    runner.watch([column.series for column in columns])
    return _Comparison(name, measured.time, columns, runner)


def _beyond(begin: float | None, time: Floats) -> Floats:
    """The times of the rows; at least one must lie after the start of the run, so that it can end there."""
    if begin is not None and time[-1] <= begin:
        raise ModelError.of(PART, "data", f"must end after the run begins at t = {begin:g} s", float(time[-1]))
    return time


def _chosen(measured: Measurements, of: Any) -> list[tuple[str, str]]:
    """(heading of the column, name in the result) of all columns in use."""
    heads = {split_head(head)[0]: head for head in measured.columns}
    if of is None:
        return [(head, name) for name, head in heads.items()]
    names = [of] if isinstance(of, str) else of
    pairs: list[tuple[str, str]] = list(of.items()) if isinstance(of, Mapping) else [(name, name) for name in names]
    for column, _ in pairs:
        if column not in heads and column not in measured.columns:
            raise ModelError.of(PART, "of", f"must name columns of the data: {', '.join(heads)}", column)
    return [(heads.get(column, column), name) for column, name in pairs]


def _column(head: str, wanted: str, measured: Measurements, names: SeriesNames, weights: Weights | None) -> _Column:
    series = names.find(PART, f"data {head!r}", wanted)
    column, unit = split_head(head)
    values = measured.columns[head]
    if unit is not None and unit != series.unit:
        try:
            values = values * convert(1.0, unit, series.unit)
        except ModelError as trouble:
            raise ModelError.of(PART, f"data {head!r}", "must be in a unit of its quantity", str(trouble)) from None
    return _Column(column, series, values, _weights(column, values, weights))


def _weights(column: str, values: Floats, weights: Weights | None) -> Floats | None:
    if weights is None:
        return None
    if column not in weights:
        raise ModelError.of(PART, "weights", f"must hold an entry for every column in use; {column!r} is missing", list(weights))
    given = np.asarray(weights[column], dtype=np.float64)
    if given.shape not in ((), values.shape) or not np.all(np.isfinite(given)) or np.any(given < 0.0) or not np.any(given > 0.0):
        raise ModelError.of(PART, f"weights {column!r}", f"must be one number or {values.size}, >= 0, not all 0", weights[column])
    return np.broadcast_to(given, values.shape)


class _Search:
    """The search for the smallest sum of squares: runs, remembered by values, and their differences from the data."""

    def __init__(
        self, comparisons: Sequence[_Comparison], free: FreeParameters, progress: Callable[..., object] | None, most: int
    ) -> None:
        self._comparisons, self._free, self._progress, self._most = comparisons, free, progress, most
        self._scatter = {name: _spread(_all_of(comparisons, name)) for name in _column_names(comparisons)}
        self._refused = 0.0
        self.runs, self.ok, self.message, self.warnings = 0, False, "", list[str]()

    def run(self, start: Floats, end: float) -> Floats:
        """The best values, in the scaled coordinates of the free parameters; end: relative change at which the search ends."""
        from scipy.optimize import least_squares

        self._refused = 0.0
        first = self._residuals(start)
        self._refused = REFUSED * max(float(np.sqrt(np.mean(first**2))), 1.0)
        low, high = self._free.bounds
        inside = np.clip(start, low, high)
        options = {"xtol": end, "ftol": end, "gtol": 1e-12, "max_nfev": self._most}
        done = least_squares(self._residuals, inside, self._slopes, bounds=(low, high), **options)
        self.ok, stopped = done.status > 0, f"stopped after {self._most} runs of each experiment, before it converged"
        self.message = f"the search {f'converged: {CONVERGED[done.status]}' if self.ok else stopped}"
        return np.asarray(done.x)

    def at(self, x: Floats) -> list[Compared]:
        """All data of the runs with these values."""
        return [self._compared(comparison, run) for comparison, run in zip(self._comparisons, self._runs(x), strict=True)]

    def weigh_by_scatter(self, x: Floats) -> None:
        """From now on weight each column by one over its scatter."""
        compared = self.at(x)
        for name in self._scatter:
            left = np.concatenate([part.differences[name] for part in compared if name in part.differences])
            self._scatter[name] = float(np.sqrt(np.nanmean(left**2)))
        least = REWEIGHED * max(self._scatter.values())
        self._scatter = {name: max(scatter, least) or 1.0 for name, scatter in self._scatter.items()}

    def _runs(self, x: Floats) -> list[DifferentiatedRun]:
        values = self._free.values(x)
        runs = [comparison.runner.at(values) for comparison in self._comparisons]
        self.runs = sum(comparison.runner.count for comparison in self._comparisons)
        return runs

    def _residuals(self, x: Floats) -> Floats:
        try:
            parts = self.at(x)
        except SolveError as trouble:
            if not self._refused:
                raise SolveError(f"fit: the run with the initial values failed: {trouble}") from trouble
            sentence = f"a run during the search failed: {trouble}"
            self.warnings += [] if sentence in self.warnings else [sentence]
            return np.full(sum(part.measured for part in self._comparisons), self._refused)
        residuals = np.concatenate([part.residuals for part in parts])
        if self._progress is not None:
            self._progress(self.runs, float(residuals @ residuals))
        return residuals

    def _slopes(self, x: Floats) -> Floats:
        parts = self.at(x)
        for part in parts:
            self.warnings += [sentence for sentence in part.warnings if sentence not in self.warnings]
        return np.concatenate([part.slopes for part in parts]) * self._free.scales

    def _compared(self, comparison: _Comparison, run: DifferentiatedRun) -> Compared:
        differences, residuals, slopes, squares = {}, [], [], 0.0
        for column in comparison.columns:
            there = np.isfinite(column.values)
            modelled = run.series(column.series)
            if modelled.value.shape != column.values.shape:
                raise SolveError(f"the run ended before the data of {comparison.name}: {run.result.message}")
            difference = np.where(there, modelled.value - column.values, np.nan)
            weight = 1.0 / self._scatter[column.column] if column.weights is None else column.weights[there]
            differences[column.column] = difference
            residuals.append(weight * difference[there])
            squares += float(np.sum((weight * column.values[there]) ** 2))
            slopes.append(np.broadcast_to(np.asarray(weight), residuals[-1].shape)[:, None] * modelled.slope[there])
        return Compared(
            name=comparison.name,
            time=comparison.time,
            measured={column.column: column.values for column in comparison.columns},
            units={column.column: column.series.unit for column in comparison.columns},
            differences=differences,
            residuals=np.concatenate(residuals),
            size=squares**0.5,
            slopes=np.concatenate(slopes),
            result=run.result,
            warnings=run.warnings,
        )


def _column_names(comparisons: Iterable[_Comparison]) -> list[str]:
    return list(dict.fromkeys(column.column for part in comparisons for column in part.columns))


def _all_of(comparisons: Iterable[_Comparison], name: str) -> Floats:
    return np.concatenate([column.values for part in comparisons for column in part.columns if column.column == name])


def _spread(values: Floats) -> float:
    """The variation of a column; its size if it does not vary."""
    there = values[np.isfinite(values)]
    return float(np.std(there)) or float(np.max(np.abs(there), initial=0.0)) or 1.0
