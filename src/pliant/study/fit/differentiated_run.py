"""Runs of a mechanism at given parameter values, each with its derivatives by them, for fits and optimisations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError, SolveError
from pliant.model.input_series import InputSeries
from pliant.model.parameter import InputValue
from pliant.model.system import System
from pliant.results.contacts import NUMBERS, ContactRecord
from pliant.results.ledger import HELD
from pliant.results.result import Result
from pliant.run.prepare import compile_system
from pliant.run.simulate import Run, simulate
from pliant.study.derivatives.differences import Around, around, jumps
from pliant.study.derivatives.differentiated import Differentiated
from pliant.study.derivatives.run_derivatives import Sensitivities
from pliant.study.derivatives.sensitivities import RecordedRun, recorded_run
from pliant.study.fit.series import Series, SeriesNames
from pliant.study.sweep.fingerprint import content_of, fingerprint

Floats = NDArray[np.float64]


class Runner:
    """Runs one mechanism at given parameter values; the last run, and the last one that was differentiated, are remembered."""

    def __init__(
        self, part: str, system: System, t_end: float, names: Sequence[str], fixed: Mapping[str, float], options: Mapping[str, Any],
        starts: Sequence[str] = (), rates: Sequence[str] = (),
    ) -> None:  # fmt: skip
        """names: free parameters; starts, rates: coordinates whose initial values are free, too."""
        if "parameters" in options or "values" in options:
            raise ModelError.of(part, "run", "must not set parameters; use guess={...} instead", "parameters")
        self.part, self.names, self.t_end = part, (*names, *starts, *(f"rate of {name}" for name in rates)), t_end
        self._theta = {"parameters": list(names), "starts": list(starts), "rates": list(rates)}
        self._system, self._options = system, dict(options)
        self._fixed: dict[str, Any] = dict(fixed)
        self._quantities: tuple[str, ...] | None = None
        self._known: dict[tuple[float, ...], DifferentiatedRun] = {}
        self.count = 0  # runs so far

    def watch(self, series: Sequence[Series]) -> None:
        """Compute only these quantities from now on."""
        self._quantities = tuple(dict.fromkeys(one.quantity for one in series))

    def watching(self, series: Series) -> Runner:
        """A runner of the same runs that computes one quantity only."""
        parameters, starts, rates = (self._theta[kind] for kind in ("parameters", "starts", "rates"))
        other = Runner(self.part, self._system, self.t_end, parameters, self._fixed, self._options, starts, rates)
        other.watch([series])
        return other

    def series_names(self) -> SeriesNames:
        """Names of the series that a run will have, known before any run."""
        compiled = compile_system(self._system, self._options.get("formulation", "articulated"), parameters=self._fixed or None)
        return SeriesNames(compiled.traced.columns, {**compiled.drawing.units, **self._units_of_readings})

    @property
    def _units_of_readings(self) -> dict[str, str]:
        return {channel: unit for name, sensor in self._system.sensors.items() for channel, unit in sensor.units(name).items()}

    def at(self, values: Mapping[str, float]) -> DifferentiatedRun:
        """The run with these values; a run that stopped early raises an error."""
        key = tuple(values[name] for name in self.names)
        if key not in self._known:
            self._known = {known: run for known, run in self._known.items() if run.is_differentiated}
            self._known[key] = DifferentiatedRun(self, dict(values), self._recorded(values))
        return self._known[key]

    def remembers(self, values: Mapping[str, float]) -> bool:
        return tuple(values[name] for name in self.names) in self._known

    def content(self, values: Mapping[str, float]) -> str:
        """The content of the System with these values, and of its inputs."""
        inputs = {name: (one.times, one.values, one.between, one.corners) for name, one in self._inputs.items()}
        return content_of(self.part, self._system, self.given(values)[0]) + fingerprint(self.part, "inputs", inputs)

    @property
    def _inputs(self) -> dict[str, InputSeries]:
        return {name: value.series for name, value in self._fixed.items() if isinstance(value, InputValue)}

    def __getstate__(self) -> dict[str, Any]:
        """Records of steps stay where they were made; inputs are tied to the System again."""
        return {**self.__dict__, "_known": {}, "_fixed": {**self._fixed, **self._inputs}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        series = {name: value for name, value in self._fixed.items() if isinstance(value, InputSeries)}
        self._fixed |= {name: InputValue.of_parameter(self._system.parameters[name], one) for name, one in series.items()}

    def _recorded(self, values: Mapping[str, float]) -> RecordedRun:
        self.count += 1
        parameters, start = self.given(values)
        done = recorded_run(
            self._system, self.t_end, **{**self._options, **self._theta, **start, "values": parameters, "of": self._quantities}
        )
        _require(done.run, values)
        return done

    def differentiated(self, run: DifferentiatedRun, recorded: RecordedRun) -> Sensitivities:
        """The derivatives of a run, which from now on is the one that is remembered."""
        done = recorded.derivatives
        self.count += done.n_runs - 1
        self._known = {key: one for key, one in self._known.items() if one is run}
        return done

    @property
    def arguments(self) -> tuple[System, dict[str, float], dict[str, Any]]:
        """Of its runs: the mechanism, the values of parameters that are not free, and the options of `simulate`."""
        return self._system, dict(self._fixed), dict(self._options)

    def bounds(self, name: str) -> tuple[float | None, float | None]:
        """The parameter's own; an initial value has none."""
        parameter = self._system.parameters.get(name)
        return (None, None) if parameter is None else (parameter.low, parameter.high)

    def given(self, values: Mapping[str, float]) -> tuple[dict[str, float], dict[str, Any]]:
        """The values of parameters, and the argument `start` if initial values are free."""
        parameters = {**self._fixed, **{name: values[name] for name in self._theta["parameters"]}}
        begins: dict[Any, float] = {name: values[name] for name in self._theta["starts"]}
        begins |= {("v", name): values[f"rate of {name}"] for name in self._theta["rates"]}
        return parameters, {"start": {**(self._options.get("start") or {}), **begins}} if begins else {}

    def plain(self, values: Mapping[str, float]) -> Result:
        self.count += 1
        parameters, start = self.given(values)
        result = simulate(self._system, self.t_end, **{**self._options, **start, "parameters": parameters})
        _require(result, values)
        return result


def _require(run: Run | Result, values: Mapping[str, float]) -> None:
    if not run.ok:
        at = ", ".join(f"{name} = {value:.6g}" for name, value in values.items())
        raise SolveError(f"the run with {at} stopped: {run.message}")


@dataclass(frozen=True)
class DifferentiatedContact:
    """A contact: every number of its record, with derivatives."""

    record: ContactRecord
    _slopes: Mapping[str, Floats]

    def __getattr__(self, name: str) -> Differentiated:
        if name not in (*NUMBERS, "restitution", "duration"):
            raise AttributeError(f"a contact has no {name!r}")
        if name == "duration":
            return self.end - self.begin
        if name == "restitution":
            return self.exit_speed / self.entry_speed
        if name not in self._slopes:
            raise SolveError(f"{self.record.pair}: {name} of the contact at t = {self.record.begin:.6g} s has no derivative")
        return Differentiated(getattr(self.record, name), self._slopes[name])


class DifferentiatedRun:
    """A run whose numbers carry their derivatives, computed when they are first read: the argument of an objective."""

    def __init__(self, runner: Runner, values: Mapping[str, float], recorded: RecordedRun) -> None:
        self._runner, self._values, self._recorded = runner, values, recorded
        self.values = values  # of the free parameters
        self.is_differentiated = False
        self._differences: dict[str, Around] = {}

    @property
    def result(self) -> Result:
        """The run itself."""
        return self._recorded.run.result

    @property
    def message(self) -> str:
        """How the run ended."""
        return self._recorded.run.message

    @property
    def compiled_s(self) -> float:
        """The computing time of the time loop, s."""
        return self._recorded.run.stepper.statistics.wall_seconds

    @cached_property
    def _done(self) -> Sensitivities:
        self.is_differentiated = True
        return self._runner.differentiated(self, self._recorded)

    @cached_property
    def _rows(self) -> tuple[Floats, Mapping[str, Floats]]:
        """The times of the rows, and the quantities in use."""
        return self._recorded.rows

    @property
    def time(self) -> Floats:
        """Times of the rows, s."""
        return self._rows[0]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Where derivatives do not exist and were replaced by finite differences of runs, and where those jump."""
        lost = tuple(f"{lost}; differences of runs replace derivatives from there" for lost in map(str, self._done.undefined))
        return (*self._done.warnings, *lost, *(jumps(self._differences, self.result) if self._differences else ()))

    @property
    def exact(self) -> bool:
        """Whether no derivative is a difference of runs."""
        return self._done.n_runs == 1 and not self._done.undefined

    def parameter(self, name: str) -> Differentiated:
        """The value of a free parameter."""
        slope = np.array([1.0 if name == own else 0.0 for own in self._runner.names])
        if name not in self._runner.names:
            raise ModelError.of(self._runner.part, "parameter", f"must be free, one of {', '.join(self._runner.names)}", name)
        return Differentiated(self._values[name], slope)

    def __getitem__(self, name: str | tuple[str, ...]) -> Differentiated:
        """A number of the result over time: run["arm.angle"], run["tip_position", "arm", "y"] or run["tip_position arm y"]."""
        return self.series(self._names.find(self._runner.part, "quantity", name))

    def final(self, name: str) -> Differentiated:
        """The value at the end of the run; if an event ended the run, the derivative includes the change of its time."""
        series = self._names.find(self._runner.part, "quantity", name)
        if not self._done.ok:
            self._require_end(f"{name} at the end of the run")
            return self.series(series)[-1]
        value, slope = self._done.at_end(series.quantity)
        return Differentiated(value[series.place], slope[series.place])

    def maximum(self, name: str) -> Differentiated:
        """The largest value over time, by a parabola through the largest saved row and its neighbours."""
        return highest(self.time, self[name])

    def minimum(self, name: str) -> Differentiated:
        """The smallest value over time, by a parabola like `maximum`."""
        return -highest(self.time, -self[name])

    def largest(self, name: str) -> Differentiated:
        """The largest absolute value over time, by a parabola like `maximum`."""
        return highest(self.time, abs(self[name]))

    def integral(self, name: str) -> Differentiated:
        """The integral over time, by the trapezoidal rule over the saved rows."""
        return self.over_time(self[name])

    def over_time(self, series: Differentiated) -> Differentiated:
        """The time integral of any series over the saved rows, in s times its unit."""
        return (0.5 * np.diff(self.time) * (series[1:] + series[:-1])).sum()

    def contacts(self, pair: str | None = None) -> list[DifferentiatedContact]:
        """The contacts in order of their beginning: of all pairs, of one pair, or of all pairs of one contact."""
        if pair is not None and not any(_belongs(name, pair) for name in self.result.labels["pair"]):
            rule = f"must name a contact or one of the pairs {', '.join(self.result.labels['pair'])}"
            raise ModelError.of(self._runner.part, "pair", rule, pair)
        known = {id(contact.record): contact.values for contact in self._done.contacts}
        return [
            DifferentiatedContact(record, known[id(record)] if id(record) in known else self._differences_of(number, record))
            for number, record in enumerate(self.result.contacts)
            if pair is None or _belongs(record.pair, pair)
        ]

    def peak_force(self, pair: str | None = None) -> Differentiated:
        """The largest normal force of all contacts, N; 0 if there was no contact."""
        peaks = [contact.peak_force for contact in self.contacts(pair)]
        if not peaks:
            return Differentiated(0.0, np.zeros(len(self._runner.names)))
        return max(peaks, key=float)

    def energy_lost(self, source: str | None = None) -> Differentiated:
        """The energy that a source removed by the end, J; without a source, the energy at the start minus the energy at the end."""
        if source is not None:
            return -self.final(f"work {source}")
        lost = [self[name][0] - self.final(name) for name in HELD]
        return sum(lost[1:], lost[0])

    def event_time(self, name: str, number: int = 0) -> Differentiated:
        """The time of an event, s; number: 0 for its first occurrence."""
        happened = [event for event in self._done.events if event.name == name]
        if len(happened) < sum(event.name == name for event in self.result.events):
            lost = [f"derivatives end at {first}" for first in self._done.undefined[:1]] or ["it only just happens"]
            raise SolveError(f"event {name!r}: its time has no derivative, because {lost[0]}")
        if not -len(happened) <= number < len(happened):
            raise SolveError(f"event {name!r}: happened {len(happened)} times, but number {number} was requested")
        return Differentiated(happened[number].t, happened[number].time)

    # ---- derivatives, and finite differences in their place

    def value(self, series: Series) -> Floats:
        """A column of a quantity over time."""
        return _column(self._rows[1][series.quantity], series.place)

    def series(self, series: Series) -> Differentiated:
        """A column of a quantity over time, with its derivatives."""
        value = self.value(series)
        slope = np.empty((value.size, len(self._runner.names)))
        known = self._known_rows
        if known:
            slope[:known] = _column(self._done.rows[series.quantity], series.place)
        if known < value.size:
            for k, (before, after, apart) in enumerate(self._neighbours()):
                rise = _column(after.values[series.quantity], series.place) - _column(before.values[series.quantity], series.place)
                slope[known:, k] = rise[known:] / apart
        return Differentiated(value, slope)

    def _require_end(self, what: str) -> None:
        """If derivatives end early, the last row is used as the end of the run, so it must be at that time."""
        if self.result.final_state is None or float(self.time[-1]) != self.result.final_state.t:
            raise SolveError(f"{what} has no derivative: {self._done.undefined[0]}")

    @property
    def _known_rows(self) -> int:
        return min(int(self._done.time.size), int(self.time.size))

    @cached_property
    def _names(self) -> SeriesNames:
        units = {} if self.result.drawing is None else self.result.drawing.units
        return SeriesNames(self.result.labels, units)

    def _neighbours(self) -> Iterator[tuple[Result, Result, float]]:
        """Runs slightly below and above in each parameter, made once."""
        self._differences = self._differences or {name: self._around(name) for name in self._runner.names}
        yield from (one[:3] for one in self._differences.values())

    def _around(self, name: str) -> Around:
        low, high = self._runner.bounds(name)
        beside = around(lambda x: self._runner.plain({**self._values, name: x}), self._values[name], low, high)
        if not beside.before.time.size == beside.after.time.size == self.time.size:
            raise SolveError(f"runs with {name} slightly changed end elsewhere; no derivative exists: {self._done.undefined[0]}")
        return beside

    def _differences_of(self, number: int, record: ContactRecord) -> dict[str, Floats]:
        """Derivatives, by finite differences, of contacts after one that has none, if neighbouring runs have the same contacts."""
        slopes: dict[str, list[float]] = {name: [] for name in NUMBERS}
        for before, after, apart in self._neighbours():
            for other in (before, after):
                if len(other.contacts) != len(self.result.contacts) or other.contacts[number].pair != record.pair:
                    reason = "the number of contacts changes with the parameters"
                    raise SolveError(f"{record.pair}: the contact at t = {record.begin:.6g} s has no derivative: {reason} here")
            for name in NUMBERS:
                slopes[name].append((getattr(after.contacts[number], name) - getattr(before.contacts[number], name)) / apart)
        return {name: np.array(values) for name, values in slopes.items()}


def _belongs(pair: str, contact: str) -> bool:
    """Whether a pair belongs to the named contact: its name is the contact followed by the parts in contact."""
    return pair == contact or pair.startswith(f"{contact} ")


def highest(time: Floats, series: Differentiated) -> Differentiated:
    """The vertex of the parabola through the largest row and its neighbours; the row itself at an end or if they are collinear."""
    k = int(np.argmax(series.value))
    if not 0 < k < time.size - 1:
        return series[k]
    before, after = time[k - 1] - time[k], time[k + 1] - time[k]
    left, right = (series[k - 1] - series[k]) / before, (series[k + 1] - series[k]) / after
    bend = (right - left) / (after - before)
    if not float(bend) < 0.0:
        return series[k]
    slope: Differentiated = left - bend * before
    top: Differentiated = series[k] - slope * slope / (4.0 * bend)
    return top


def _column(values: Floats, place: tuple[int, ...]) -> Floats:
    where: Any = (slice(None), *place)
    return np.asarray(values[where])
