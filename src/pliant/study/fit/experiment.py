"""Experiments: measured data, the values that apply to them only, and the runs they are compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.files.units import convert
from pliant.model import check
from pliant.model.check import did_you_mean
from pliant.model.sensor import Encoder
from pliant.model.system import System
from pliant.results.table import QUANTITIES
from pliant.run.given_inputs import with_inputs
from pliant.run.simulate import state_of
from pliant.run.starts import split_starts
from pliant.scalar import Numbers
from pliant.study.fit.differentiated_run import Runner
from pliant.study.fit.free_parameters import FreeParameters
from pliant.study.fit.measurements import Measurements, measurements_of
from pliant.study.fit.series import TIME, Series, SeriesNames, split_head
from pliant.study.fit.unknown import PARAMETERS, RATES, STARTS, OwnUnknown, Unknown

Floats = NDArray[np.float64]
Weights = Mapping[str, float | Numbers]
PART = "fit"


@dataclass(frozen=True)
class Experiment:
    """The data of one experiment, and what applies to this experiment only.

    An `Unknown(guess, low, high)` in place of a value is found by the fit, for this experiment.
    """

    data: Any
    parameters: Mapping[str, float | Unknown] = field(default_factory=dict)
    name: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)  # series in place of parameters, as for `simulate`
    starts: Mapping[Any, float | Unknown] = field(default_factory=dict)  # initial coordinates and rates, as `start` of `simulate`
    weights: Weights | None = None  # factors of the differences by column, in place of those of the fit
    until: float | None = None  # s; later rows are not compared, and the run ends at the last one before

    def __post_init__(self) -> None:
        for each in ("parameters", "inputs", "starts"):
            object.__setattr__(self, each, check.mapping(PART, f"experiment {each}", getattr(self, each)))
        if self.until is not None:
            object.__setattr__(self, "until", check.number(PART, "experiment until", self.until, "s"))

    @property
    def unknowns(self) -> list[tuple[str, str, Unknown]]:
        """(kind, name, unknown) in the order of theta: parameters, starts, rates."""
        positions, rates = split_starts(self.starts)
        every = [(PARAMETERS, self.parameters), (STARTS, positions), (RATES, rates)]
        return [(kind, name, one) for kind, given in every for name, one in given.items() if isinstance(one, Unknown)]


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
    names: Mapping[str, str]  # of the numbers that its runs are differentiated by: their names among all free ones

    def values(self, free: FreeParameters, x: Floats) -> dict[str, float]:
        """Its own values at x, by the names that its runs know them by."""
        every = free.values(x)
        return {own: every[name] for own, name in self.names.items()}

    def spread(self, slopes: Floats, free: FreeParameters) -> Floats:
        """Derivatives by its own unknowns as derivatives by all: nothing here depends on unknowns of other experiments."""
        found = np.zeros((slopes.shape[0], len(free.names)))
        found[:, [free.names.index(name) for name in self.names.values()]] = slopes
        return found

    @property
    def measured(self) -> int:
        """The number of measured values."""
        return sum(int(np.sum(np.isfinite(column.values))) for column in self.columns)


def experiments_of(data: Any) -> list[Experiment]:
    """The experiments that a user gives, each with a name."""
    given = list(data) if isinstance(data, (list, tuple)) else [data]
    if not given:
        raise ModelError.of(PART, "data", "must hold at least one experiment", data)
    every = [one if isinstance(one, Experiment) else Experiment(one) for one in given]
    return [replace(one, name=one.name or (f"experiment {number}" if len(every) > 1 else "data"))
            for number, one in enumerate(every, start=1)]  # fmt: skip


def comparisons_of(
    system: System, experiments: Sequence[Experiment], of: Any, weights: Weights | None, shared: FreeParameters,
    run: Mapping[str, Any],
) -> tuple[list[Comparison], FreeParameters]:  # fmt: skip
    """How each experiment is run and compared, and all free numbers: shared ones first, then those of single experiments."""
    own = [_own_unknowns(experiment, system, shared) for experiment in experiments]
    titles = [one.title for each in own for one in each]
    if len(set(titles)) < len(titles):
        twice = next(title for title in titles if titles.count(title) > 1)
        raise ModelError.of(PART, "experiment name", "must be unique among experiments with unknowns of their own", twice)
    compared: list[Comparison] = []
    names: SeriesNames | None = None  # the same in all runs of the System
    for experiment, each in zip(experiments, own, strict=True):
        one, names = _comparison(system, experiment, each, of, weights, shared, run, names)
        compared.append(one)
    _refuse_weights_of_some(compared)
    return compared, shared.with_own([_with_unit(one, names) for each in own for one in each])


def _refuse_weights_of_some(compared: Sequence[Comparison]) -> None:
    """Weights are factors: those of one experiment cannot be compared with the scatter of another."""
    without = [one.name for one in compared if any(column.weights is None for column in one.columns)]
    if 0 < len(without) < len(compared):
        rule = "must be given for all experiments or for none (`weights` of the fit hold for those without their own); without are"
        raise ModelError.of(PART, "experiment weights", rule, ", ".join(without))


def _with_unit(own: OwnUnknown, names: SeriesNames | None) -> OwnUnknown:
    """An initial value has the unit of its coordinate, or of its rate."""
    if own.kind == PARAMETERS or names is None:
        return own
    return replace(own, unit=names.unit_of(f"v {own.name}" if own.kind == RATES else own.name))


def _own_unknowns(experiment: Experiment, system: System, shared: FreeParameters) -> list[OwnUnknown]:
    known = system.parameters
    for name in (*experiment.parameters, *experiment.inputs):
        field_name = "experiment parameters" if name in experiment.parameters else "experiment inputs"
        if name not in known:
            rule = f"must be among {', '.join(known)}{did_you_mean(name, known)}"
            raise ModelError.of(PART, field_name, rule, name)
        if name in shared.names:
            raise ModelError.of(PART, field_name, "must not be one of the free parameters", name)
    found = []
    for kind, name, unknown in experiment.unknowns:
        own = unknown
        if kind == PARAMETERS:
            parameter = known[name]
            for value in (unknown.guess, unknown.low, unknown.high):
                parameter.check(unknown.guess if value is None else value)
            own = replace(unknown, low=unknown.low if unknown.low is not None else parameter.low,
                          high=unknown.high if unknown.high is not None else parameter.high)  # fmt: skip
        elif name in known:
            raise ModelError.of(PART, "experiment starts", "must not have the name of a parameter", name)
        found.append(OwnUnknown(kind, name, experiment.name, own, known[name].unit or "" if kind == PARAMETERS else ""))
    return found


def _comparison(
    system: System, experiment: Experiment, own: Sequence[OwnUnknown], of: Any, weights: Weights | None, shared: FreeParameters,
    run: Mapping[str, Any], names_before: SeriesNames | None,
) -> tuple[Comparison, SeriesNames]:  # fmt: skip
    wanted = of if of is None or isinstance(of, Mapping) else check.names(PART, "of", of)
    measured = measurements_of(experiment.data, wanted)
    start = run.get("start")
    begin = float(run.get("t_start", 0.0)) if isinstance(start, Mapping | None) else None
    if begin is not None and measured.time[0] < begin:
        raise ModelError.of(PART, "data", f"must not begin before the run begins at t = {begin:g} s", float(measured.time[0]))
    rows, measured = measured.time.size, _cut(measured, experiment.until)
    end = float(_beyond(begin, measured.time)[-1])
    begins = begin if begin is not None else float(getattr(state_of(start), "t", -np.inf))
    fixed = {name: value for name, value in experiment.parameters.items() if not isinstance(value, Unknown)}
    values = with_inputs(PART, system, {**shared.fixed, **fixed}, experiment.inputs, begins, end) or {}
    names = {kind: [one.name for one in own if one.kind == kind] for kind in (PARAMETERS, STARTS, RATES)}
    options = {**run, "save": measured.time, **_start(experiment, start)}
    free = [*shared.names, *names[PARAMETERS]]
    runner = Runner(PART, system, end, free, values, options, names[STARTS], names[RATES])
    series, used = names_before or runner.series_names(), weights if experiment.weights is None else experiment.weights
    columns = tuple(_column(head, name, measured, series, used, rows) for head, name in _chosen(measured, wanted))
    for column in columns:
        _refuse_counts(system, column)
    runner.watch([column.series for column in columns])
    titles = {**{name: name for name in shared.names}, **{one.own: one.title for one in own}}
    return Comparison(experiment.name, measured.time, columns, runner, titles), series


def _start(experiment: Experiment, start: Any) -> dict[str, Any]:
    """The argument `start` of an experiment's runs, with the initial values that are given."""
    fixed = {name: value for name, value in experiment.starts.items() if not isinstance(value, Unknown)}
    if experiment.starts and not isinstance(start, Mapping | None):
        raise ModelError.of(PART, "experiment starts", "must be left out if runs continue another run", list(experiment.starts))
    return {"start": {**(start or {}), **fixed}} if fixed else {}


def _cut(measured: Measurements, until: float | None) -> Measurements:
    """The rows up to a time."""
    if until is None:
        return measured
    there = measured.time <= until
    if not np.any(there):
        raise ModelError.of(PART, "experiment until", f"must be >= the first time of the data, {measured.time[0]:g} s", until)
    return measurements_of({TIME: measured.time[there], **{head: x[there] for head, x in measured.columns.items()}})


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
    pairs: list[tuple[str, str]] = list(of.items()) if isinstance(of, Mapping) else [(name, name) for name in of]
    for column, _ in pairs:
        if column not in heads and column not in measured.columns:
            raise ModelError.of(PART, "of", f"must name columns of the data: {', '.join(heads)}", column)
    return [(heads.get(column, column), name) for column, name in pairs]


def _column(head: str, wanted: str, measured: Measurements, names: SeriesNames, weights: Weights | None, rows: int) -> Column:
    """rows: of the data, of which those after `until` are left out."""
    series = names.find(PART, f"data {head!r}", wanted)
    column, unit = split_head(head)
    values = measured.columns[head]
    if unit not in (None, series.unit, QUANTITIES[series.quantity].unit):
        try:
            values = values * convert(1.0, str(unit), series.unit)
        except ModelError as trouble:
            raise ModelError.of(PART, f"data {head!r}", "must be in a unit of its quantity", str(trouble)) from None
    return Column(column, series, values, _weights(column, values, weights, rows))


def _refuse_counts(system: System, column: Column) -> None:
    """A reading that counts is a staircase: no derivative leads to the values that fit it."""
    sensor = system.sensors.get(column.series.name.removeprefix("sensor ")) if column.series.quantity == "sensor" else None
    if isinstance(sensor, Encoder) and sensor.counts is not None:
        rule = "must be compared with an encoder without counts, because counts have no slope: leave them out, or add one"
        raise ModelError.of(PART, f"data {column.column!r}", rule, f"counts = {sensor.counts!r}")


def _weights(column: str, values: Floats, weights: Weights | None, rows: int) -> Floats | None:
    if weights is None:
        return None
    if column not in weights:
        raise ModelError.of(PART, "weights", f"must hold an entry for every column in use; {column!r} is missing", list(weights))
    given = np.asarray(weights[column], dtype=np.float64)
    given = given[: values.size] if given.shape == (rows,) else given
    if given.shape not in ((), values.shape) or not np.all(np.isfinite(given)) or np.any(given < 0.0) or not np.any(given > 0.0):
        raise ModelError.of(PART, f"weights {column!r}", f"must be one number or {rows}, >= 0, not all 0", weights[column])
    return np.broadcast_to(given, values.shape)
