"""Bands about a fitted run: where it lies, and where further measurements lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.model import check
from pliant.study.fit.covariance import standard_errors_within
from pliant.study.fit.losses import scatter

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pliant.study.fit.fitted import Fit

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bands:
    """A number of the run over time with bands, linear in the parameters."""

    name: str
    unit: str
    level: float
    time: Floats
    value: Floats
    standard_error: Floats  # of the run; inf where it depends on what the data do not determine
    confidence: tuple[Floats, Floats]  # where the run lies
    prediction: tuple[Floats, Floats]  # where further measurements lie; the confidence band if it was not measured
    measured: Floats | None

    def plot(self, *, ax: Any = None, figsize: tuple[float, float] | None = None) -> Figure:
        """Plot the run with its bands and the data."""
        from pliant.show.plot.fits import fit_bands

        return fit_bands(self, ax=ax, figsize=figsize)


def bands_of(fit: Fit, name: str, level: float, experiment: int | str) -> Bands:
    """One run with derivatives of this number, at the times of the experiment's data."""
    if not 0.0 < check.number("bands", "level", level) < 1.0:
        raise ModelError.of("bands", "level", "must be between 0 and 1", level)
    number = _number(fit, experiment)
    comparison, part = fit.search.comparisons[number], fit.experiments[number]
    column = next((one for one in comparison.columns if name == one.column), None)
    series = column.series if column is not None else comparison.runner.series_names().find("bands", "name", name)
    column = column or next((one for one in comparison.columns if one.series == series), None)
    values = {own: fit.values[name] for own, name in comparison.names.items()}
    run = comparison.runner.watching(series).at(values).series(series)
    error = np.sqrt(_variance(fit, comparison.spread(run.slope, fit.search.free)))
    times = float(standard_errors_within(level, fit.degrees_of_freedom))
    noise = 0.0
    if column is not None and column.column in part.differences:
        left = [one.differences[column.column] for one in fit.experiments if column.column in one.differences]
        noise = scatter(np.concatenate(left), fit.search.loss)
    wide = np.sqrt(error**2 + noise**2)
    return Bands(
        name=name,
        unit=series.unit,
        level=level,
        time=part.time,
        value=run.value,
        standard_error=error,
        confidence=(run.value - times * error, run.value + times * error),
        prediction=(run.value - times * wide, run.value + times * wide),
        measured=None if column is None else column.values,
    )


def _variance(fit: Fit, slopes: Floats) -> Floats:
    """J C J^T along the rows; inf where a row depends on a direction that the data do not determine."""
    whole = np.nan_to_num(fit.scatter.covariance)
    found = np.maximum(np.einsum("ij,jk,ik->i", slopes, whole, slopes), 0.0)
    if fit.flat.size:
        sizes = np.maximum(np.abs([fit.values[name] for name in fit.names]), fit.search.free.scales)
        along = np.abs(slopes @ (fit.flat * sizes / np.linalg.norm(fit.flat, axis=1, keepdims=True)).T)
        whole_change = np.linalg.norm(slopes * sizes, axis=1)
        found[np.any(along > 1e-4 * np.maximum(np.max(whole_change), 1e-300), axis=1)] = np.inf
    return np.asarray(found)


def _number(fit: Fit, experiment: int | str) -> int:
    names = [part.name for part in fit.experiments]
    if isinstance(experiment, str) and experiment in names:
        return names.index(experiment)
    if isinstance(experiment, int) and not isinstance(experiment, bool) and 0 <= experiment < len(names):
        return experiment
    raise ModelError.of("bands", "experiment", f"must be one of {', '.join(names)}, or its number", experiment)
