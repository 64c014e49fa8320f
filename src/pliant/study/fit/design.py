"""design(): which next experiment tells most, from derivatives of its run; no data are needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError, SolveError
from pliant.model import check
from pliant.model.check import did_you_mean
from pliant.model.parameter import InputValue
from pliant.run.given_inputs import with_inputs
from pliant.run.mechanism import AnySystem, mechanism_of
from pliant.study.fit.differentiated_run import Runner
from pliant.study.fit.experiment import Experiment
from pliant.study.fit.fitted import Fit
from pliant.study.fit.free_parameters import FreeParameters
from pliant.study.fit.unknown import PARAMETERS, RATES, STARTS, Unknown

Floats = NDArray[np.float64]
PART = "design"
ROWS = 101  # of a candidate that does not say when it is measured
FIELDS = ("until", "of", "parameters", "inputs", "start", "rows", "noise", "repeats")
WORDS = ("D", "A")
LOST = 1e-12  # of the largest: a direction of the information that is weaker is not determined


@dataclass(frozen=True)
class Choice:
    """A candidate, and the standard errors to expect after it."""

    name: str
    gain: float  # factor by which the criterion falls: of the mean standard error (D, A), or of the named parameter's
    standard_errors: Mapping[str, float]  # inf where a value stays undetermined
    ratio: Mapping[str, float]  # of these to those before; nan where both are infinite
    rows: int
    problem: str = ""  # why it could not be judged


@dataclass(frozen=True)
class Design:
    """Candidates, best first; it prints as a table."""

    choose: str
    choices: tuple[Choice, ...]
    before: Mapping[str, float]  # standard errors without any of them
    inflation: float  # of the variances, for the correlation that the fit has found

    @property
    def best(self) -> Choice:
        """The first candidate."""
        return self.choices[0]

    def __str__(self) -> str:
        wide = max(len(one.name) for one in (*self.choices, Choice("candidate", 0.0, {}, {}, 0))) + 2
        names = list(self.before)
        columns = [max(len(name), 10) + 2 for name in names]
        lines = [f"{'candidate':<{wide}}{'gain':>9}" + "".join(f"{n:>{w}}" for n, w in zip(names, columns, strict=True))]
        lines.append(
            f"{'(none)':<{wide}}{1.0:>9.3g}" + "".join(f"{self.before[n]:>{w}.3g}" for n, w in zip(names, columns, strict=True))
        )
        for one in self.choices:
            numbers = one.problem and f"  {one.problem}"
            numbers = numbers or "".join(f"{one.standard_errors[n]:>{w}.3g}" for n, w in zip(names, columns, strict=True))
            lines.append(f"{one.name:<{wide}}{one.gain:>9.3g}{numbers}")
        what = {"D": "volume of the joint interval (D)", "A": "mean relative variance (A)"}
        lines.append(f"standard errors to expect; ranked by {what.get(self.choose, f'the standard error of {self.choose}')}")
        if self.inflation > 1.0:
            lines.append(f"noise is taken as correlated as in the fit: rows count {1.0 / self.inflation:.2g} each")
        return "\n".join(lines)


def design(
    experiments: Mapping[str, Mapping[str, Any]] | Sequence[Mapping[str, Any]],
    choose: str = "D",
    *,
    fit: Fit | None = None,
    system: AnySystem | None = None,
    parameters: Sequence[str] | Mapping[str, float] | None = None,
    noise: Mapping[str, float] | None = None,
    **run: Any,
) -> Design:
    """Rank candidate experiments by what they would tell of the parameters, by Fisher's information through all impacts.

    - experiments: {name: {"until": s, "of": columns, "parameters": {...}, "inputs": {...}, "start": {...}, "rows": number or times,
      "noise": {...}, "repeats": how often}}; only `until` is needed after a fit, whose columns and noise are the default, and what
      its experiments had of their own. An `Unknown` in parameters or start is found from this experiment, too.
    - choose: "D" (the volume of the joint interval), "A" (the mean relative variance), or the name of a parameter.
    - fit: what is known already; or system, parameters (names, or values) and noise {column: standard deviation} before any data.
    - run: arguments of `simulate`.

    Returns a table, best first, with the standard errors to expect after the experiments so far and this one.
    """
    candidates = _candidates(experiments)
    known = _after(fit, run) if fit is not None else _before(system, parameters, run)
    if noise is not None:
        known = replace(known, noise=dict(noise))
    if choose not in (*WORDS, *known.names):
        rule = f"must be 'D', 'A' or one of {', '.join(known.names)}{did_you_mean(choose, known.names)}"
        raise ModelError.of(PART, "choose", rule, choose)
    before = _errors(known.information, known.sizes)
    choices = [_judged(known, name, candidate, choose, before) for name, candidate in candidates.items()]
    named = dict(zip(known.names, before.tolist(), strict=True))
    ranked = sorted(choices, key=lambda one: (bool(one.problem), -one.gain))
    return Design(choose, tuple(ranked), named, known.inflation)


@dataclass(frozen=True)
class _Known:
    """What is known before the next experiment; information is about values over their sizes."""

    system: Any
    names: tuple[str, ...]
    values: Mapping[str, float]
    fixed: Mapping[str, Any]
    sizes: Floats
    information: Floats
    noise: Mapping[str, float]
    inflation: float
    run: Mapping[str, Any]
    # what experiments had for themselves, by field of a candidate
    asked: Mapping[str, frozenset[str]] = field(default_factory=dict)


def _candidates(given: Any) -> dict[str, Mapping[str, Any]]:
    if not isinstance(given, Mapping):
        rule = "must be a mapping of names and candidates, or a list of candidates, each a mapping"
        if not isinstance(given, (list, tuple)) or not all(isinstance(one, Mapping) for one in given):
            raise ModelError.of(PART, "experiments", rule, given)
        given = {str(one.get("name", f"experiment {k}")): one for k, one in enumerate(given, start=1)}
    if not given:
        raise ModelError.of(PART, "experiments", "must hold at least one candidate", given)
    for name, candidate in given.items():
        if not isinstance(candidate, Mapping):
            raise ModelError.of(PART, f"experiments {name!r}", f"must be a mapping of {', '.join(FIELDS)}", candidate)
        for given_field in candidate:
            if given_field not in (*FIELDS, "name"):
                raise ModelError.of(
                    PART, f"experiments {name!r}", f"may hold {', '.join(FIELDS)}{did_you_mean(given_field, FIELDS)}", given_field
                )
    return dict(given)


def _after(fit: Fit, run: Mapping[str, Any]) -> _Known:
    system, _, options = fit.search.comparisons[0].runner.arguments
    sizes = np.maximum(np.abs([fit.values[name] for name in fit.names]), fit.search.free.scales)
    slopes = np.concatenate([part.slopes for part in fit.experiments]) * sizes
    residuals = np.concatenate([part.residuals for part in fit.experiments])
    variance = float(residuals @ residuals) / max(residuals.size - len(fit.names), 1) or 1.0
    ratios = fit.scatter.ratios[np.isfinite(fit.scatter.ratios)]
    inflation = max(float(np.median(ratios**2)), 1.0) if ratios.size else 1.0
    lost = fit.flat.shape[0] > 0 or not np.all(np.isfinite(fit.covariance))
    relative = np.nan_to_num(fit.covariance) / np.outer(sizes, sizes)
    known = slopes.T @ slopes / (variance * inflation) if lost else np.linalg.inv(relative)
    shared = np.array([name in system.parameters for name in fit.names])  # not the unknowns of single experiments so far
    known = _without(known, shared)
    names = tuple(name for name in fit.names if name in system.parameters)
    values = {name: fit.values[name] for name in names}
    fixed, begin, asked = _common(fit)
    options = {name: value for name, value in options.items() if name not in ("save", "start")} | begin
    return _Known(system, names, values, fixed, sizes[shared], known, fit.noise, inflation, {**options, **run}, asked)


def _without(information: Floats, kept: NDArray[np.bool_]) -> Floats:
    """The information about some values if the others are not known either."""
    rest, between = information[np.ix_(~kept, ~kept)], information[np.ix_(kept, ~kept)]
    return np.asarray(information[np.ix_(kept, kept)] - between @ np.linalg.pinv(rest) @ between.T)


def _common(fit: Fit) -> tuple[dict[str, Any], dict[str, Any], dict[str, frozenset[str]]]:
    """Values and the start that all experiments of a fit had in common, and what each had for itself, by field of a candidate."""
    runners = [one.runner for one in fit.search.comparisons]
    every = [runner.arguments[1] for runner in runners]
    own = {name for runner in runners for name in runner.names if name not in fit.names}
    inputs = {name for values in every for name, value in values.items() if isinstance(value, InputValue)}
    known = fit.search.comparisons[0].runner.arguments[0].parameters
    differ = {name for values in every for name in values if any(values[name] != other.get(name) for other in every)}
    starts = [runner.arguments[2].get("start") or {} for runner in runners]
    alike = all(isinstance(one, Mapping) and one == starts[0] for one in starts)
    begins = {str(key) for one in starts for key in (one if isinstance(one, Mapping) else ("state",))} if not alike else set()
    fixed = {name: value for name, value in every[0].items() if name not in differ | inputs}
    asked = {"inputs": inputs, "parameters": (own & set(known)) | (differ - inputs), "start": (own - set(known)) | begins}
    return fixed, {"start": starts[0]} if alike and starts[0] else {}, {name: frozenset(one) for name, one in asked.items()}


def _before(system: AnySystem | None, parameters: Any, run: Mapping[str, Any]) -> _Known:
    if system is None or parameters is None:
        raise ModelError.of(PART, "fit", "must be given, or system=, parameters= and noise=", None)
    mechanism = mechanism_of(system, PART)
    free = FreeParameters.of(PART, mechanism, parameters, None, None)
    nothing = np.zeros((len(free.names), len(free.names)))
    return _Known(mechanism, free.names, free.values(free.start), free.fixed, free.scales, nothing, {}, 1.0, dict(run))


def _judged(known: _Known, name: str, candidate: Mapping[str, Any], choose: str, before: Floats) -> Choice:
    part = f"experiments {name!r}"
    until = check.positive(PART, f"{part} until", candidate.get("until"), "s")
    given = candidate.get("rows", ROWS)
    start = float(known.run.get("t_start", 0.0))
    times = np.linspace(start, until, given + 1)[1:] if isinstance(given, int) else np.asarray(given, dtype=np.float64)
    noise = {**known.noise, **check.mapping(PART, f"{part} noise", candidate.get("noise"))}
    columns = candidate.get("of", list(known.noise))
    columns = [columns] if isinstance(columns, str) else list(columns)
    if not columns:
        raise ModelError.of(PART, f"{part} of", "must name at least one column", columns)
    for column in columns:
        if not noise.get(column, 0.0) > 0.0:
            raise ModelError.of(PART, f"{part} noise", f"must hold the standard deviation of {column!r}, > 0", noise.get(column))
    runner, guesses = _runner(known, part, candidate, times, start, until)
    names = runner.series_names()
    series = {column: names.find(PART, f"{part} of", column) for column in columns}
    runner.watch(list(series.values()))
    repeats = check.count(PART, f"{part} repeats", candidate.get("repeats", 1))
    try:
        run = runner.at({**known.values, **guesses})
        slopes = {column: run.series(one).slope for column, one in series.items()}
    except SolveError as trouble:
        nothing = dict.fromkeys(known.names, np.nan)
        return Choice(name, 0.0, nothing, nothing, 0, str(trouble))
    sizes = np.concatenate([known.sizes, [abs(guess) or 1.0 for guess in guesses.values()]])
    told = sum((slope * sizes).T @ (slope * sizes) / noise[c] ** 2 for c, slope in slopes.items())
    gained = repeats / known.inflation * _without(np.asarray(told), np.arange(sizes.size) < known.sizes.size)
    information = known.information + gained
    errors = _errors(information, known.sizes)
    with np.errstate(invalid="ignore"):
        ratio = errors / before
    named, ratios = (dict(zip(known.names, one.tolist(), strict=True)) for one in (errors, ratio))
    return Choice(name, _gain(known, information, errors, before, choose), named, ratios, times.size * repeats)


def _runner(
    known: _Known, part: str, candidate: Mapping[str, Any], times: Floats, begin: float, until: float
) -> tuple[Runner, dict[str, float]]:
    """How a candidate is run, and guesses of what would not be known about it."""
    _check_own(known, part, candidate)
    start = candidate.get("start", known.run.get("start"))
    named = dict(start) if isinstance(start, Mapping) else {}
    own = Experiment({}, candidate.get("parameters") or {}, inputs=candidate.get("inputs") or {}, starts=named)
    unknowns = {kind: {name: one.guess for of, name, one in own.unknowns if of == kind} for kind in (PARAMETERS, STARTS, RATES)}
    given = {name: value for name, value in own.parameters.items() if not isinstance(value, Unknown)}
    common = {name: value for name, value in known.fixed.items() if name not in own.parameters and name not in own.inputs}
    end = float(max(until, times[-1]))
    values = with_inputs(PART, known.system, {**common, **given}, own.inputs, begin, end) or {}
    begins = {key: value for key, value in named.items() if not isinstance(value, Unknown)}
    options = {**known.run, "save": times, "start": (begins or None) if isinstance(start, Mapping) else start}
    free = [*known.names, *unknowns[PARAMETERS]]
    runner = Runner(PART, known.system, end, free, values, options, tuple(unknowns[STARTS]), tuple(unknowns[RATES]))
    guesses = [guess for kind in unknowns.values() for guess in kind.values()]
    return runner, dict(zip(runner.names[len(known.names) :], guesses, strict=True))


def _check_own(known: _Known, part: str, candidate: Mapping[str, Any]) -> None:
    """What a candidate gives must be known and not sought, and what each experiment so far had for itself must be given."""
    given = {each: check.mapping(PART, f"{part} {each}", candidate.get(each)) for each in ("parameters", "inputs")}
    others = [one for one in known.system.parameters if one not in known.names]
    for each, values in given.items():
        for name in values:
            if name not in others:
                raise ModelError.of(PART, f"{part} {each}", f"must be among {', '.join(others)}", name)
    for each, asked in known.asked.items():
        there = asked if each == "start" and "start" in candidate else {*given["parameters"], *given["inputs"]}
        if asked - there:
            rule = "must be given, because experiments of the fit had their own: values, series or Unknowns"
            raise ModelError.of(PART, f"{part} {each}", rule, ", ".join(sorted(asked - there)))


def _errors(information: Floats, sizes: Floats) -> Floats:
    """Standard errors of the values; inf where a value takes part in a direction that nothing determines."""
    units = np.sqrt(np.maximum(np.diag(information), 0.0))
    scaled = information / np.outer(np.where(units > 0.0, units, 1.0), np.where(units > 0.0, units, 1.0))
    strengths, columns = np.linalg.eigh(scaled)
    weak = strengths <= LOST * max(float(strengths[-1]), np.finfo(float).tiny)
    lost = (units == 0.0) | np.any(np.abs(columns[:, weak]) > 1e-3, axis=1)
    kept = columns[:, ~weak] / np.sqrt(strengths[~weak])
    errors = np.sqrt(np.sum(kept**2, axis=1)) / np.where(units > 0.0, units, 1.0) * sizes
    return np.where(lost, np.inf, errors)


def _gain(known: _Known, information: Floats, errors: Floats, before: Floats, choose: str) -> float:
    """By how much the criterion falls; against nothing known, by how much information there is."""
    if choose == "D":
        first = max(float(np.linalg.det(known.information)), 0.0)
        after = max(float(np.linalg.det(information)), 0.0)
        nothing = not np.any(known.information) or not np.all(np.isfinite(before))
        return float((after / (1.0 if nothing else first)) ** (0.5 / len(known.names)))
    if choose == "A":
        now, then = (float(np.sqrt(np.mean((one / known.sizes) ** 2))) for one in (errors, before))
    else:
        place = known.names.index(choose)
        now, then = float(errors[place] / known.sizes[place]), float(before[place] / known.sizes[place])
    return (then if np.isfinite(then) else 1.0) / now if now > 0.0 else np.inf
