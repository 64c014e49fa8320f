"""design(): which next experiment tells most, from derivatives of its run; no data are needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError, SolveError
from pliant.model import check
from pliant.model.check import did_you_mean
from pliant.run.mechanism import AnySystem, mechanism_of
from pliant.study.fit.differentiated_run import Runner
from pliant.study.fit.fitted import Fit
from pliant.study.fit.free_parameters import FreeParameters

Floats = NDArray[np.float64]
PART = "design"
ROWS = 101  # of a candidate that does not say when it is measured
FIELDS = ("until", "of", "parameters", "start", "rows", "noise", "repeats")
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

    - experiments: {name: {"until": s, "of": columns, "parameters": {...}, "start": {...}, "rows": number or times, "noise": {...},
      "repeats": how often}}; only `until` is needed after a fit, whose columns and noise are the default.
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
    fixed: Mapping[str, float]
    sizes: Floats
    information: Floats
    noise: Mapping[str, float]
    inflation: float
    run: Mapping[str, Any]


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
        for field in candidate:
            if field not in (*FIELDS, "name"):
                raise ModelError.of(
                    PART, f"experiments {name!r}", f"may hold {', '.join(FIELDS)}{did_you_mean(field, FIELDS)}", field
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
    known = known[np.ix_(shared, shared)] - known[np.ix_(shared, ~shared)] @ np.linalg.pinv(known[np.ix_(~shared, ~shared)]) @ (
        known[np.ix_(~shared, shared)])  # fmt: skip
    names = tuple(name for name in fit.names if name in system.parameters)
    options = {name: value for name, value in options.items() if name not in ("save", "start", "t_start")}
    values = {name: fit.values[name] for name in names}
    return _Known(system, names, values, fit.search.free.fixed, sizes[shared], known, fit.noise, inflation, {**options, **run})


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
    own = check.mapping(PART, f"{part} parameters", candidate.get("parameters"))
    for parameter in own:
        if parameter in known.names or parameter not in known.system.parameters:
            rule = f"must be among {', '.join(one for one in known.system.parameters if one not in known.names)}"
            raise ModelError.of(PART, f"{part} parameters", rule, parameter)
    options = {**known.run, "save": times, "start": candidate.get("start", known.run.get("start"))}
    runner = Runner(PART, known.system, float(max(until, times[-1])), known.names, {**known.fixed, **own}, options)
    names = runner.series_names()
    series = {column: names.find(PART, f"{part} of", column) for column in columns}
    runner.watch(list(series.values()))
    repeats = check.count(PART, f"{part} repeats", candidate.get("repeats", 1))
    try:
        run = runner.at(known.values)
        slopes = {column: run.series(one).slope * known.sizes for column, one in series.items()}
    except SolveError as trouble:
        nothing = dict.fromkeys(known.names, np.nan)
        return Choice(name, 0.0, nothing, nothing, 0, str(trouble))
    gained = sum(repeats / noise[c] ** 2 / known.inflation * slope.T @ slope for c, slope in slopes.items())
    information = known.information + gained
    errors = _errors(information, known.sizes)
    with np.errstate(invalid="ignore"):
        ratio = errors / before
    named, ratios = (dict(zip(known.names, one.tolist(), strict=True)) for one in (errors, ratio))
    return Choice(name, _gain(known, information, errors, before, choose), named, ratios, times.size * repeats)


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
