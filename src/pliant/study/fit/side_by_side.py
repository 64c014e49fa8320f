"""Residuals of a fit at many values at once, without derivatives: by an ensemble or, where none can run them, by `simulate`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.ensemble.ensemble import ensemble
from pliant.ensemble.keep import ValuesAt
from pliant.errors import ModelError, SolveError
from pliant.model.parameter import InputValue
from pliant.run.starts import split_starts
from pliant.study.fit.experiment import Comparison
from pliant.study.fit.search import Search

Floats = NDArray[np.float64]
MANY = 32  # members of one call from which lock-step is faster, if such calls are repeated
TAKEN = {"method", "t_start", "formulation", "max_steps"}  # options that `ensemble` has too


def _at(values: Any, *place: Any) -> Floats:
    return np.asarray(values[place])


class SideBySide:
    """Residuals at many values; rows of values whose run fails are nan."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._alone = [_needs_simulate(comparison) for comparison in search.comparisons]
        self._general = [False] * len(self._alone)  # whether lock-step has refused
        self.runs = 0

    @property
    def reasons(self) -> list[str]:
        """Why experiments were run one by one."""
        return [why for why in dict.fromkeys(self._alone) if why]

    def residuals(self, x: Floats) -> Floats:
        """By row of x (scaled values) and residual."""
        x = np.atleast_2d(x)
        self.runs += x.shape[0] * len(self._search.comparisons)
        return np.concatenate([self._of(number, x) for number in range(len(self._search.comparisons))], axis=1)

    def losses(self, x: Floats) -> Floats:
        """The sum that a search makes small, by row of x; inf where a run fails."""
        found = [self._search.loss.total(row) if np.all(np.isfinite(row)) else np.inf for row in self.residuals(x)]
        return np.array(found)

    def _of(self, number: int, x: Floats) -> Floats:
        comparison = self._search.comparisons[number]
        if not self._alone[number]:
            for loop in ("lockstep", "auto") if x.shape[0] >= MANY and not self._general[number] else ("auto",):
                try:
                    return self._together(number, x, loop)
                except ModelError as refused:  # a mechanism that lock-step, or no ensemble, runs
                    self._general[number] = True
                    self._alone[number] = str(refused) if loop == "auto" else ""
        rows = [self._one(number, row) for row in x]
        width = next((row.size for row in rows if row is not None), comparison.measured)
        return np.array([np.full(width, np.nan) if row is None else row for row in rows])

    def _one(self, number: int, x: Floats) -> Floats | None:
        comparison = self._search.comparisons[number]
        try:
            result = comparison.runner.plain(comparison.values(self._search.free, x))
        except SolveError:
            return None
        if result.time.size != comparison.time.size:
            return None
        columns = {
            one.column: _at(result.values[one.series.quantity], slice(None), *one.series.place) for one in comparison.columns
        }
        return self._search.residuals_of(number, columns)

    def _together(self, number: int, x: Floats, loop: str) -> Floats:
        comparison = self._search.comparisons[number]
        system, _, options = comparison.runner.arguments
        given = [comparison.runner.given(comparison.values(self._search.free, row)) for row in x]
        parts = [(values, *split_starts(start.get("start", options.get("start")) or {})) for values, start in given]
        parameters, starts, rates = ({name: np.array([one[k][name] for one in parts]) for name in parts[0][k]} for k in range(3))
        series = [one.series for one in comparison.columns]
        done = ensemble(
            system, comparison.runner.t_end,
            parameters=parameters, starts=starts, rates=rates, loop=loop,
            keep=[ValuesAt(comparison.time.tolist(), *dict.fromkeys(one.quantity for one in series))],
            **{name: value for name, value in options.items() if name in TAKEN},
        )  # fmt: skip
        ok = np.atleast_1d(done["ok"].values)
        numbers = {name: np.asarray(done[name].values) for name in {one.quantity for one in series}}
        rows = []
        for member in range(x.shape[0]):
            columns = {
                one.column: _at(numbers[one.series.quantity], member, slice(None), *one.series.place) for one in comparison.columns
            }
            left = self._search.residuals_of(number, columns)
            rows.append(left if ok[member] else np.full(left.size, np.nan))
        return np.array(rows)


def _needs_simulate(comparison: Comparison) -> str:
    """Why an ensemble cannot run an experiment; empty if it can."""
    _, fixed, options = comparison.runner.arguments
    if any(isinstance(value, InputValue) for value in fixed.values()):
        return "an ensemble takes no inputs"
    others = (
        {name for name, value in options.items() if value is not None}
        - TAKEN
        - {"save", "start", "max_seconds", "progress", "cache"}
    )
    if others:
        return f"an ensemble does not take {', '.join(sorted(others))}"
    start: Any = options.get("start")
    return "" if start is None or hasattr(start, "items") else "an ensemble does not continue an earlier run"
