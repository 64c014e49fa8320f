"""Experiments: measured data, the values that apply to them only, and the runs they are compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.files.units import convert
from pliant.model.system import System
from pliant.scalar import Numbers
from pliant.study.fit.differentiated_run import Runner
from pliant.study.fit.free_parameters import FreeParameters
from pliant.study.fit.measurements import Measurements, measurements_of
from pliant.study.fit.series import Series, SeriesNames, split_head

Floats = NDArray[np.float64]
Weights = Mapping[str, float | Numbers]
PART = "fit"


@dataclass(frozen=True)
class Experiment:
    """The data of one experiment, and the parameter values that apply to this experiment only."""

    data: Any
    parameters: Mapping[str, float] = field(default_factory=dict)
    name: str = ""


@dataclass(frozen=True)
class Column:
    """One measured series, and the number of the result that it measures."""

    column: str
    series: Series
    values: Floats  # in SI units, nan where there is no measurement
    weights: Floats | None  # as given by the user


@dataclass(frozen=True)
class Comparison:
    """An experiment, and how to run it."""

    name: str
    time: Floats
    columns: tuple[Column, ...]
    runner: Runner

    @property
    def measured(self) -> int:
        """The number of measured values."""
        return sum(int(np.sum(np.isfinite(column.values))) for column in self.columns)


def comparisons_of(
    system: System, data: Any, of: Any, weights: Weights | None, free: FreeParameters, run: Mapping[str, Any]
) -> list[Comparison]:
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
) -> Comparison:
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
    return Comparison(name, measured.time, columns, runner)


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


def _column(head: str, wanted: str, measured: Measurements, names: SeriesNames, weights: Weights | None) -> Column:
    series = names.find(PART, f"data {head!r}", wanted)
    column, unit = split_head(head)
    values = measured.columns[head]
    if unit is not None and unit != series.unit:
        try:
            values = values * convert(1.0, unit, series.unit)
        except ModelError as trouble:
            raise ModelError.of(PART, f"data {head!r}", "must be in a unit of its quantity", str(trouble)) from None
    return Column(column, series, values, _weights(column, values, weights))


def _weights(column: str, values: Floats, weights: Weights | None) -> Floats | None:
    if weights is None:
        return None
    if column not in weights:
        raise ModelError.of(PART, "weights", f"must hold an entry for every column in use; {column!r} is missing", list(weights))
    given = np.asarray(weights[column], dtype=np.float64)
    if given.shape not in ((), values.shape) or not np.all(np.isfinite(given)) or np.any(given < 0.0) or not np.any(given > 0.0):
        raise ModelError.of(PART, f"weights {column!r}", f"must be one number or {values.size}, >= 0, not all 0", weights[column])
    return np.broadcast_to(given, values.shape)
