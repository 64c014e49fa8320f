"""The result of a fit: values with their uncertainties, and parameters that the data do not determine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.model import check
from pliant.results.result import Result
from pliant.study.fit.free_parameters import FreeParameters

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
# A direction of the parameters, each in units of its own effect, is not determined if it changes the run by less than this fraction
# of the best-determined direction: derivatives are accurate to about 1e-8.
FLAT = 1e-7
NO_EFFECT = 1e-9  # fraction of the measured values: a parameter that changes them by less is not seen, runs are no more accurate
RARE = 4.0  # standard deviations: white noise has a larger correlation from row to row in one fit of 30,000
EXACT = 1e-6  # fraction of the largest measured value: smaller differences are errors of the run, not noise
CORRELATED = 0.95  # correlation of two values beyond which they are named: the error of one is mostly made good by the other
ONLY_TOGETHER = 0.3  # smallest share of a parameter in a direction for it to be named
AT_BOUND = 1e-6  # fraction of a parameter's size, or of its initial one: within this distance it counts as at its bound


@dataclass(frozen=True)
class Compared:
    """One experiment compared with its run."""

    name: str
    time: Floats
    measured: Mapping[str, Floats]  # by column, in SI units
    units: Mapping[str, str]
    differences: Mapping[str, Floats]  # run minus measurement, by column, in SI units; nan where there is no measurement
    residuals: Floats  # weighted residuals of all measured values
    size: float  # root of the sum of squares of the weighted measured values
    slopes: Floats  # derivatives of the residuals by the parameters
    result: Result
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Fit:
    """The result of a fit: values by name with standard errors, and the runs with these values; it prints as a table."""

    ok: bool  # whether the search converged, and every parameter has an effect on the measured values
    names: tuple[str, ...]
    values: Mapping[str, float]
    standard_errors: Mapping[str, float]  # inf if the data do not determine a parameter
    covariance: Floats  # covariance of the values, in the order of names; nan for those that the data do not determine
    correlation: Floats
    unidentifiable: Mapping[str, str]  # parameters that the data do not determine, with the reason
    at_bounds: Mapping[str, float]
    experiments: tuple[Compared, ...]
    noise: Mapping[str, float]  # root mean square of the remaining differences, by column, in SI units
    degrees_of_freedom: int  # number of measured values minus number of determined parameters
    runs: int
    message: str
    warnings: tuple[str, ...]
    units: Mapping[str, str]

    @property
    def result(self) -> Result:
        """The run of the first experiment with these values."""
        return self.experiments[0].result

    def confidence(self, level: float = 0.95) -> dict[str, tuple[float, float]]:
        """Confidence intervals of all values at this level, by Student's distribution and linearisation in the parameters."""
        if not 0.0 < check.number("fit", "level", level) < 1.0:
            raise ModelError.of("fit", "level", "must be between 0 and 1", level)
        times = _standard_errors_within(level, self.degrees_of_freedom)
        return {
            name: (value - times * self.standard_errors[name], value + times * self.standard_errors[name])
            for name, value in self.values.items()
        }

    @property
    def correlated(self) -> dict[tuple[str, str], float]:
        """The pairs of values with a correlation beyond 0.95: the data determine a combination of the two better than either."""
        pairs = zip(*np.nonzero(np.triu(np.abs(self.correlation) > CORRELATED, 1)), strict=True)
        return {(self.names[i], self.names[k]): float(self.correlation[i, k]) for i, k in pairs}

    def plot(self, *, ax: Any = None, figsize: tuple[float, float] | None = None) -> Figure:
        """Plot the data, the fitted run and the remaining differences over time."""
        from pliant.show.plot.fits import fit_residuals

        return fit_residuals(self, ax=ax, figsize=figsize)

    def as_json(self) -> dict[str, Any]:
        """The fit as plain numbers and strings, for a JSON file."""
        return {
            "ok": self.ok,
            "values": dict(self.values),
            "units": dict(self.units),
            "standard_errors": dict(self.standard_errors),
            "confidence_95": {name: list(interval) for name, interval in self.confidence().items()},
            "correlation": self.correlation.tolist(),
            "unidentifiable": dict(self.unidentifiable),
            "at_bounds": dict(self.at_bounds),
            "noise": dict(self.noise),
            "runs": self.runs,
            "message": self.message,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        width = max(len(name) for name in (*self.names, "parameter")) + 2
        lines = [f"{'parameter':<{width}}{'value':>16}{'standard error':>16}   95 % confidence"]
        for name, (low, high) in self.confidence().items():
            unit = f" {self.units[name]}" if self.units[name] else ""
            numbers = f"{self.values[name]:>16.8g}{self.standard_errors[name]:>16.3g}   {low:.8g} to {high:.8g}{unit}"
            lines.append(f"{name:<{width}}{numbers}")
        lines += [
            f"residual of {column}: {size:.3g} {self._unit(column)} (root mean square)" for column, size in self.noise.items()
        ]
        lines += [f"correlated: {one} and {other} ({r:+.4f})" for (one, other), r in self.correlated.items()]
        lines += [f"not determined: {name}: {reason}" for name, reason in self.unidentifiable.items()]
        lines += [f"at its bound: {name} = {value:.8g}" for name, value in self.at_bounds.items()]
        return "\n".join([*lines, *(f"warning: {sentence}" for sentence in self.warnings), f"{self.message} ({self.runs} runs)"])

    def _unit(self, column: str) -> str:
        return next(part.units[column] for part in self.experiments if column in part.units)


def fitted(free: FreeParameters, compared: Sequence[Compared], ok: bool, message: str, runs: int, warnings: Sequence[str]) -> Fit:
    residuals = np.concatenate([part.residuals for part in compared])
    slopes = np.concatenate([part.slopes for part in compared])
    values = {name: compared[0].result.parameters[name] for name in free.names}
    sizes = np.maximum(np.abs(list(values.values())), free.scales)
    effects = np.linalg.norm(slopes, axis=0)
    unseen = effects * sizes <= NO_EFFECT * float(np.linalg.norm([part.size for part in compared]))
    units = np.where(unseen, 1.0, effects)  # of the slopes, which are then as independent of the parameters' units as can be
    flat, spread = _directions(np.where(unseen, 0.0, slopes) / units)
    unidentifiable = _reasons(free.names, flat / units / sizes, unseen)
    freedom = residuals.size - (len(free.names) - flat.shape[0])
    variance = float(residuals @ residuals) / max(freedom, 1)
    covariance = variance * spread / np.outer(units, units)
    lost = np.array([name in unidentifiable for name in free.names])
    covariance[lost, :] = covariance[:, lost] = np.nan
    errors = np.sqrt(np.diag(covariance))
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = covariance / np.outer(errors, errors)
    half_widths = _standard_errors_within(0.95, freedom) * errors
    blind = [name for name, gone in zip(free.names, unseen, strict=True) if gone]
    return Fit(
        ok=ok and not blind,
        names=free.names,
        values=values,
        standard_errors={name: np.inf if gone else float(e) for name, e, gone in zip(free.names, errors, lost, strict=True)},
        covariance=covariance,
        correlation=correlation,
        unidentifiable=unidentifiable,
        at_bounds=_at_bounds(free, values, sizes),
        experiments=tuple(compared),
        noise=_noise(compared),
        degrees_of_freedom=freedom,
        runs=runs,
        message="; ".join([message, *(f"{name} was not found: {unidentifiable[name]}" for name in blind)]),
        warnings=(
            *dict.fromkeys(
                [
                    *_of_search_alone(warnings, compared),
                    *_few(residuals.size, len(free.names)),
                    *_hardly_determined(free, values, sizes, half_widths),
                    *_patterns(compared),
                    *_of_runs(compared),
                ]
            ),
        ),
        units=dict(zip(free.names, free.units, strict=True)),
    )


def _directions(slopes: Floats) -> tuple[Floats, Floats]:
    """Directions of the parameters that change nothing, one per row, and the inverse normal matrix over all others."""
    # the triangle instead of all rows: full_matrices would make a square of them
    _, strengths, rows = np.linalg.svd(np.linalg.qr(slopes, mode="r"), full_matrices=True)
    all_strengths = np.zeros(rows.shape[0])
    all_strengths[: strengths.size] = strengths
    weak = all_strengths <= FLAT * max(float(all_strengths[0]), np.finfo(float).tiny)
    kept = rows[~weak]
    return rows[weak], (kept.T / all_strengths[~weak] ** 2) @ kept


def _reasons(names: Sequence[str], flat: Floats, unseen: NDArray[np.bool_]) -> dict[str, str]:
    """Why the data do not determine a parameter; flat: relative changes of the parameters that together change nothing."""
    reasons = {name: "no measured value depends on it" for name, gone in zip(names, unseen, strict=True) if gone}
    for direction in flat:
        enough = ONLY_TOGETHER * np.linalg.norm(direction)
        together = [k for k in range(len(names)) if abs(direction[k]) >= enough and names[k] not in reasons]
        if len(together) > 1:
            changes = [f"{names[k]} by {direction[k] / direction[together[0]]:+.3g} %" for k in together]
            reasons |= {names[k]: f"changing {' and '.join(changes)} changes no measured value" for k in together}
    return reasons


def _at_bounds(free: FreeParameters, values: Mapping[str, float], sizes: Floats) -> dict[str, float]:
    ends = zip(free.names, free.low, free.high, sizes, strict=True)
    return {name: values[name] for name, low, high, size in ends if min(values[name] - low, high - values[name]) <= AT_BOUND * size}


def _noise(compared: Sequence[Compared]) -> dict[str, float]:
    columns = dict.fromkeys(column for part in compared for column in part.differences)
    left = {c: np.concatenate([part.differences[c] for part in compared if c in part.differences]) for c in columns}
    return {column: float(np.sqrt(np.nanmean(values**2))) for column, values in left.items()}


def _few(measured: int, parameters: int) -> list[str]:
    if measured > parameters:
        return []
    return [f"there are only {measured} measured values for {parameters} parameters, so the noise cannot be estimated"]


def _hardly_determined(free: FreeParameters, values: Mapping[str, float], sizes: Floats, half_widths: Floats) -> list[str]:
    """Warn of values whose 95 % interval is wider than the value, or than the span of its bounds; nan: not determined at all.

    A value whose bounds allow both signs may well be zero, so its initial value counts as its size too."""
    found = []
    for k, name in enumerate(free.names):
        value, half, unit, span = values[name], half_widths[k], free.units[k], free.high[k] - free.low[k]
        size = max(abs(value), EXACT * sizes[k]) if free.low[k] >= 0.0 or free.high[k] <= 0.0 else sizes[k]
        if 2.0 * half > min(size, span):
            than = f"the span of its bounds, {span:.3g}" if span < size else "the value itself"
            found.append(f"the data hardly determine {name!r}: {value:.3g} +- {half:.3g}{f' {unit}' if unit else ''}; its 95 % "
                         f"confidence interval is wider than {than}")  # fmt: skip
    return found


def _patterns(compared: Sequence[Compared]) -> list[str]:
    """Warn of differences that resemble those of the row before: their noise is not independent, or the model is wrong."""
    found = []
    for part in compared:
        for column, every in part.differences.items():
            left = every[np.isfinite(every)]
            r, rare = _correlation(left), RARE / np.sqrt(max(left.size, 1))
            if r > rare and np.max(np.abs(left)) > EXACT * np.nanmax(np.abs(part.measured[column])):
                found.append(f"{part.name}: the differences of {column} from the run follow a pattern: their correlation from row "
                             f"to row is {r:.2f}, and noise rarely exceeds {rare:.2f}. The model or a fixed value may be wrong, or "
                             "the noise is not independent: the standard errors are too small then")  # fmt: skip
    return found


def _correlation(values: Floats) -> float:
    """The correlation of a series with itself, one row later; about zero, which is the mean of differences from a run."""
    power = float(values @ values)
    return float(values[1:] @ values[:-1]) / power if power > 0.0 else 0.0


def _standard_errors_within(level: float, degrees_of_freedom: int) -> float:
    """Half the width of a confidence interval over the standard error, by Student's distribution."""
    from scipy.stats import t

    return float(t.ppf(0.5 + 0.5 * level, max(degrees_of_freedom, 1)))


def _of_search_alone(warnings: Sequence[str], compared: Sequence[Compared]) -> list[str]:
    """The warnings of runs during the search that the last runs do not repeat."""
    return [sentence for sentence in warnings if not any(sentence in part.warnings for part in compared)]


def _of_runs(compared: Sequence[Compared]) -> list[str]:
    return [f"{part.name}: {sentence}" for part in compared for sentence in (*part.warnings, *part.result.warnings)]
