"""The search for the parameter values with the smallest sum of squares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from pliant.errors import SolveError
from pliant.study.fit.differentiated_run import DifferentiatedRun
from pliant.study.fit.experiment import Comparison
from pliant.study.fit.fitted import Compared
from pliant.study.fit.free_parameters import FreeParameters
from pliant.study.fit.settling import MESSAGE, Settled, Settling

Floats = NDArray[np.float64]
REFUSED = 1e3  # factor on the initial residuals, assigned to a failed run so that the search turns back
ROUGHLY, CLOSELY = 1e-4, 1e-9  # relative changes of values, and of the sum of squares, at which a search ends
CONVERGED = {  # by the status of scipy's search
    1: "no small change of the values lowers the sum of squares",
    2: "the sum of squares no longer decreases",
    3: "the values no longer change",
    4: "neither the values nor the sum of squares change any more",
}
REWEIGHED = 1e-3  # fraction of the largest scatter: no column counts as more than a thousand times as accurate as another


class Search:
    """The search for the smallest sum of squares: runs, remembered by values, and their differences from the data."""

    def __init__(
        self, comparisons: Sequence[Comparison], free: FreeParameters, progress: Callable[..., object] | None, most: int
    ) -> None:
        self._comparisons, self._free, self._progress, self._most = comparisons, free, progress, most
        self._scatter = {name: _spread(_all_of(comparisons, name)) for name in _column_names(comparisons)}
        self._refused, self._settling = 0.0, Settling()
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
        self._settling = Settling()
        try:
            done = least_squares(self._residuals, inside, self._slopes, bounds=(low, high), **options)
        except Settled as settled:
            self.ok, self.message = True, f"the search converged: {MESSAGE}"
            return settled.x
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
        if self._settling.is_over([part.residuals for part in parts]):
            raise Settled(np.array(x))
        for part in parts:
            self.warnings += [sentence for sentence in part.warnings if sentence not in self.warnings]
        return np.concatenate([part.slopes for part in parts]) * self._free.scales

    def _compared(self, comparison: Comparison, run: DifferentiatedRun) -> Compared:
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


def _column_names(comparisons: Iterable[Comparison]) -> list[str]:
    return list(dict.fromkeys(column.column for part in comparisons for column in part.columns))


def _all_of(comparisons: Iterable[Comparison], name: str) -> Floats:
    return np.concatenate([column.values for part in comparisons for column in part.columns if column.column == name])


def _spread(values: Floats) -> float:
    """The variation of a column; its size if it does not vary."""
    there = values[np.isfinite(values)]
    return float(np.std(there)) or float(np.max(np.abs(there), initial=0.0)) or 1.0
