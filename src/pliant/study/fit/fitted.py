"""The result of a fit: values with their uncertainties, what the data do not determine, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.model import check
from pliant.results.result import Result
from pliant.study.fit.compared import Compared, difference_names, groups_of, unit_of
from pliant.study.fit.covariance import Pattern, Scatter, is_noise, scatter_of, standard_errors_within
from pliant.study.fit.free_parameters import FreeParameters
from pliant.study.fit.invariants import in_words
from pliant.study.fit.search import Search

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pliant.study.fit.bands import Bands
    from pliant.study.fit.bootstrap import Bootstrap
    from pliant.study.fit.identifiability import Identifiability
    from pliant.study.fit.multistart import Minimum
    from pliant.study.fit.posterior import Posterior
    from pliant.study.fit.profile import Profile

Floats = NDArray[np.float64]
# A direction of the parameters, each in units of its own effect, is not determined if it changes the run by less than this fraction
# of the best-determined direction: derivatives are accurate to about 1e-8.
FLAT = 1e-7
FLAT_BY_DIFFERENCES = 1e-5  # the same where derivatives are differences of runs
NO_EFFECT = 1e-9  # fraction of the measured values: a parameter that changes them by less is not seen, runs are no more accurate
TINY = 1e-6  # fraction of a parameter's first size: a value below it is zero
CLOSE_BY = 1.5  # times the least sum of squares: another minimum within it is named in a warning
CORRELATED = 0.95  # correlation of two values beyond which they are named: the error of one is mostly made good by the other
ONLY_TOGETHER = 0.01  # smallest share of a parameter in a direction: less is the error of derivatives
ASTRAY = 0.5  # standard errors: where derivatives still ask for a larger change, a search that has converged is at a kink
AT_BOUND = 1e-6  # fraction of a parameter's size, or of its initial one: within this distance it counts as at its bound


@dataclass(frozen=True)
class Fit:
    """The result of a fit: values by name with standard errors, and the runs with these values; it prints as a table."""

    ok: bool  # whether the search converged, and every parameter has an effect on the measured values
    names: tuple[str, ...]
    values: Mapping[str, float]
    standard_errors: Mapping[str, float]  # inf if the data do not determine a parameter
    covariance: Floats  # covariance of the values, in the order of names; nan for those that the data do not determine
    correlation: Floats
    unidentifiable: Mapping[str, str]  # parameters that the data do not determine, at all or in practice, with the reason
    at_bounds: Mapping[str, float]
    experiments: tuple[Compared, ...]
    noise: Mapping[str, float]  # root mean square of the remaining differences, by column, in SI units
    degrees_of_freedom: float  # of the widest intervals: independent values, or experiments, that tell how uncertain they are
    runs: int
    message: str
    warnings: tuple[str, ...]
    units: Mapping[str, str]
    scatter: Scatter = field(repr=False)  # which noise the covariance assumes, and why
    flat: Floats = field(repr=False)  # relative changes of the parameters, one direction per row, that change no measured value
    minima: tuple[Minimum, ...]  # of a fit with several starts: where its searches ended, best first
    search: Search = field(repr=False, compare=False)  # data, weights and runs, for what is asked of the fit afterwards

    @property
    def result(self) -> Result:
        """The run of the first experiment with these values."""
        return self.experiments[0].result

    def confidence(self, level: float = 0.95) -> dict[str, tuple[float, float]]:
        """Confidence intervals of all values at this level, by Student's distribution and linearisation in the parameters."""
        if not 0.0 < check.number("fit", "level", level) < 1.0:
            raise ModelError.of("fit", "level", "must be between 0 and 1", level)
        halves = standard_errors_within(level, self.scatter.freedom) * np.array(list(self.standard_errors.values()))
        return {
            name: (value - half, value + half) for (name, value), half in zip(self.values.items(), halves.tolist(), strict=True)
        }

    @property
    def correlated(self) -> dict[tuple[str, str], float]:
        """The pairs of values with a correlation beyond 0.95: the data determine a combination of the two better than either."""
        pairs = zip(*np.nonzero(np.triu(np.abs(self.correlation) > CORRELATED, 1)), strict=True)
        return {(self.names[i], self.names[k]): float(self.correlation[i, k]) for i, k in pairs}

    @property
    def intervals(self) -> str:
        """Which noise the intervals assume, and why."""
        return self.scatter.words

    @property
    def inflation(self) -> dict[str, float]:
        """Standard errors over what they would be for independent noise, by name."""
        return dict(zip(self.names, self.scatter.ratios.tolist(), strict=True))

    @cached_property
    def identifiability(self) -> Identifiability:
        """Which combinations of the parameters the data determine, and which they do not, in words; some runs confirm it."""
        from pliant.study.fit.identifiability import identifiability_of

        return identifiability_of(self)

    def profile(self, name: str, points: int = 6, level: float = 0.95) -> Profile:
        """The least sum of squares over the values of one parameter, all others fitted again; points: on either side."""
        from pliant.study.fit.profile import profile_of

        return profile_of(self, name, points, level)

    def bands(self, name: str, level: float = 0.95, experiment: int | str = 0) -> Bands:
        """A number of the run over time with its confidence band and, if it was measured, its prediction band."""
        from pliant.study.fit.bands import bands_of

        return bands_of(self, name, level, experiment)

    def bootstrap(self, samples: int = 500, block: int | None = None, seed: int = 0, refit: bool = False) -> Bootstrap:
        """Values from resampled differences: blocks of rows, or whole experiments if there are many.

        block: rows; by default long enough for the correlation found. refit: search again for every sample, instead of one step.
        """
        from pliant.study.fit.bootstrap import bootstrap_of

        return bootstrap_of(self, samples, block, seed, refit)

    def posterior(self, walkers: int = 64, steps: int = 1000, seed: int = 0, prior: Any = None) -> Posterior:
        """Samples of the values by ensemble MCMC (emcee); prior: its logarithm, a function of {name: value}; uniform by default."""
        from pliant.study.fit.posterior import posterior_of

        return posterior_of(self, walkers, steps, seed, prior)

    def report(self, path: str | Path, title: str = "") -> Path:
        """Write one page (HTML): data and model, differences, intervals, what is not determined, and what was assumed."""
        from pliant.study.fit.report import write_report

        return write_report(self, path, title)

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
            "intervals": self.intervals,
            "inflation": self.inflation,
            "minima": [{"values": dict(one.values), "squares": one.squares, "starts": one.starts} for one in self.minima],
            "runs": self.runs,
            "message": self.message,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        width = max(len(name) for name in (*self.names, "parameter")) + 2
        lines = [f"{'parameter':<{width}}{'value':>16}{'standard error':>16}   95 % confidence"]
        for name, (low, high) in self.confidence().items():
            interval = f"{low:.8g} to {high:.8g}{_after(self.units[name])}"
            numbers = f"{self.values[name]:>16.8g}{self.standard_errors[name]:>16.3g}   {interval}"
            lines.append(f"{name:<{width}}{numbers}")
        lines += [
            f"residual of {name}: {size:.3g}{_after(unit_of(self.experiments, name))} (root mean square)"
            for name, size in self.noise.items()
        ]
        if self.scatter.kind != "independent":
            ratios = [r for r in self.scatter.ratios.tolist() if np.isfinite(r)] or [1.0]
            lines += [f"intervals: {self.intervals}; {min(ratios):.2g} to {max(ratios):.2g} times as wide as for independent noise"]
        lines += [f"correlated: {one} and {other} ({r:+.4f})" for (one, other), r in self.correlated.items()]
        lines += [f"not determined: {name}: {reason}" for name, reason in self.unidentifiable.items()]
        lines += [f"another minimum: {one}" for one in self.minima[1:]]
        lines += [f"at its bound: {name} = {value:.8g}" for name, value in self.at_bounds.items()]
        return "\n".join([*lines, *(f"warning: {sentence}" for sentence in self.warnings), f"{self.message} ({self.runs} runs)"])


def fitted(search: Search, x: Floats, minima: Sequence[Minimum] = ()) -> Fit:
    """The result of a search that ended at x."""
    free, compared, message = search.free, search.at(x), search.message
    values = free.values(x)
    residuals = np.concatenate([part.residuals for part in compared])
    slopes = np.concatenate([part.slopes for part in compared])
    sizes = np.maximum(np.abs(list(values.values())), free.scales)
    effects = np.linalg.norm(slopes, axis=0)
    unseen = effects * sizes <= NO_EFFECT * float(np.linalg.norm([part.size for part in compared]))
    units = np.where(unseen, 1.0, effects)  # of the slopes, which are then as independent of the parameters' units as can be
    exact = all(part.exact for part in compared)
    flat, kept = _directions(np.where(unseen, 0.0, slopes) / units, FLAT if exact else FLAT_BY_DIFFERENCES)
    directions = flat / units / sizes
    minima = _apart(minima, residuals.size) if flat.size else minima
    scatter = scatter_of(compared, search.loss, np.where(unseen, 0.0, slopes) / units, kept)
    reasons = _reasons(free.names, directions, unseen, np.array(list(values.values())), sizes)
    lost = np.array([name in reasons for name in free.names])
    covariance, independent = (np.where(np.logical_or.outer(lost, lost), np.nan, one / np.outer(units, units))
                               for one in (scatter.covariance, scatter.independent))  # fmt: skip
    scatter = replace(scatter, covariance=covariance, independent=independent)
    errors = np.sqrt(np.diag(covariance))
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = covariance / np.outer(errors, errors)
    half_widths = standard_errors_within(0.95, scatter.freedom) * errors
    asked = _still_asked(search, np.array(list(values.values())), residuals, slopes, errors)
    blind = [name for name, gone in zip(free.names, unseen, strict=True) if gone]
    hardly = _hardly_determined(free, values, sizes, half_widths)
    unidentifiable = {**_in_practice(free, values, sizes, half_widths), **reasons}
    return Fit(
        ok=search.ok and not blind,
        names=free.names,
        values=values,
        standard_errors={name: np.inf if gone else float(e) for name, e, gone in zip(free.names, errors, lost, strict=True)},
        covariance=covariance,
        correlation=correlation,
        unidentifiable=unidentifiable,
        at_bounds=_at_bounds(free, values, sizes),
        experiments=tuple(compared),
        noise=_noise(compared),
        degrees_of_freedom=float(np.min(scatter.freedom)),
        runs=search.runs,
        message="; ".join([message, *(f"{name} was not found: {unidentifiable[name]}" for name in blind)]),
        warnings=(
            *dict.fromkeys(
                [
                    *_of_search_alone(search.warnings, compared),
                    *_few(residuals.size, len(free.names)),
                    *(_of_kinks(free, asked) if search.ok and is_noise(compared) else ()),
                    *(f"the data hardly determine {name!r}: {reason}" for name, reason in hardly.items()),
                    *_of_patterns(scatter),
                    *_of_deciding(scatter),
                    *_of_minima(minima),
                    *_of_runs(compared),
                ]
            ),
        ),
        units=dict(zip(free.names, free.units, strict=True)),
        scatter=scatter,
        flat=directions,
        minima=tuple(minima),
        search=search,
    )


def _directions(slopes: Floats, threshold: float) -> tuple[Floats, Floats]:
    """Directions of the parameters that change nothing, one per row, and all others."""
    # the triangle instead of all rows: full_matrices would make a square of them
    _, strengths, rows = np.linalg.svd(np.linalg.qr(slopes, mode="r"), full_matrices=True)
    all_strengths = np.zeros(rows.shape[0])
    all_strengths[: strengths.size] = strengths
    weak = all_strengths <= threshold * max(float(all_strengths[0]), np.finfo(float).tiny)
    return rows[weak], rows[~weak]


def _reasons(names: Sequence[str], flat: Floats, unseen: NDArray[np.bool_], values: Floats, sizes: Floats) -> dict[str, str]:
    """Why the data do not determine a parameter; flat: relative changes of the parameters that together change nothing."""
    reasons = {name: "no measured value depends on it" for name, gone in zip(names, unseen, strict=True) if gone}
    words = in_words(names, flat[:, ~unseen] if flat.size else flat, values, sizes, unseen)
    for direction in flat:
        enough = ONLY_TOGETHER * np.linalg.norm(direction)
        together = [k for k in range(len(names)) if abs(direction[k]) >= enough and names[k] not in reasons]
        if len(together) > 1:
            changes = [f"{names[k]} by {direction[k] / direction[together[0]]:+.3g} %" for k in together]
            sentence = f"changing {' and '.join(changes)} changes no measured value{words}"
            reasons |= {names[k]: sentence for k in together}
    return reasons


def _at_bounds(free: FreeParameters, values: Mapping[str, float], sizes: Floats) -> dict[str, float]:
    ends = zip(free.names, free.low, free.high, sizes, strict=True)
    return {name: values[name] for name, low, high, size in ends if min(values[name] - low, high - values[name]) <= AT_BOUND * size}


def _noise(compared: Sequence[Compared]) -> dict[str, float]:
    """Root mean square of what is left; of an orientation, of the whole angle."""
    found = {}
    for group, names in groups_of(difference_names(compared)).items():
        left = [np.concatenate([part.differences[name] for part in compared if name in part.differences]) for name in names]
        found[group] = float(np.sqrt(np.nanmean(np.sum(np.square(left), axis=0))))
    return found


def _still_asked(search: Search, values: Floats, residuals: Floats, slopes: Floats, errors: Floats) -> Floats:
    """The step of Gauss and Newton that is left at the end of a search, within the bounds, in standard errors."""
    from scipy.optimize import lsq_linear

    known, asked = np.flatnonzero(np.isfinite(errors) & (errors > 0.0)), np.zeros(values.size)
    if not known.size:
        return asked
    loss, free, unit = search.loss, search.free, errors[known]
    weights = np.sqrt(np.maximum(loss.first((residuals / loss.knee) ** 2), np.finfo(float).tiny))
    rows = np.column_stack([slopes[:, known] * unit, -residuals]) * weights[:, None]
    triangle = np.asarray(np.linalg.qr(rows, mode="r"))[: known.size]  # its least squares are those of all rows
    room = tuple((ends[known] - values[known]) / unit for ends in (free.low, free.high))
    asked[known] = lsq_linear(triangle[:, :-1], triangle[:, -1], bounds=room, method="bvls").x
    return asked


def _of_kinks(free: FreeParameters, asked: Floats) -> list[str]:
    """Warn of a search that ended where the sum of squares has a kink."""
    if not np.any(np.abs(asked) > ASTRAY):
        return []
    named = ", ".join(f"{name!r} by {step:+.2g}" for name, step in zip(free.names, asked, strict=True) if abs(step) > ASTRAY)
    return [
        f"the search ended although derivatives ask for a further change, of {named} standard errors: no run there was better, "
        "as at kinks of the sum of squares, where an impact comes or goes. The values may be off by that much more than their "
        "intervals say; `starts=20` looks for a better minimum"
    ]


def _few(measured: int, parameters: int) -> list[str]:
    if measured > parameters:
        return []
    return [f"there are only {measured} measured values for {parameters} parameters, so the noise cannot be estimated"]


def _hardly_determined(free: FreeParameters, values: Mapping[str, float], sizes: Floats, half_widths: Floats) -> dict[str, str]:
    """Values whose 95 % interval is wider than the value, or than the span of its bounds; nan: not determined at all.

    A value whose bounds allow both signs may well be zero, so its initial value counts as its size too."""
    found = {}
    for k, name in enumerate(free.names):
        value, half, unit, span = values[name], half_widths[k], free.units[k], free.high[k] - free.low[k]
        size = max(abs(value), TINY * sizes[k]) if free.low[k] >= 0.0 or free.high[k] <= 0.0 else sizes[k]
        if 2.0 * half > min(size, span):
            than = f"the span of its bounds, {span:.3g}" if span < size else "the value itself"
            found[name] = f"{value:.3g} +- {half:.3g}{_after(unit)}; its 95 % confidence interval is wider than {than}"
    return found


def _in_practice(free: FreeParameters, values: Mapping[str, float], sizes: Floats, half_widths: Floats) -> dict[str, str]:
    """Values of which these data do not even tell the size: their 95 % interval reaches from nothing to twice the value."""
    found = {}
    for k, name in enumerate(free.names):
        near_zero = free.low[k] < 0.0 < free.high[k] or abs(values[name]) < AT_BOUND * sizes[k]
        size = sizes[k] if near_zero else abs(values[name])
        if half_widths[k] >= size:
            found[name] = (
                f"in practice: {values[name]:.3g} +- {half_widths[k]:,.3g}{_after(free.units[k])}, and the data do not tell its "
                f"size; profile({name!r}) says how far it can go"
            )
    return found


def _after(unit: str) -> str:
    """A unit behind a number."""
    return "" if unit in ("", "1") else f" {unit}"


def _of_patterns(scatter: Scatter) -> list[str]:
    """Warn of differences that resemble those of the row before, or of another column: the model may be wrong."""
    return [_pattern_words(pattern, scatter) for pattern in scatter.patterns if pattern.found and pattern.correlation > 0.0]


def _of_deciding(scatter: Scatter) -> list[str]:
    """Warn of experiments whose word on a combination of the values no other experiment checks."""
    return [f"{name} decides on a combination of the values almost alone (leverage {size:.4f}): no other experiment tells how "
            "uncertain that is, and intervals may be too narrow" for name, size in scatter.deciding]  # fmt: skip


def _pattern_words(pattern: Pattern, scatter: Scatter) -> str:
    names, r = " and ".join(pattern.names), f"is {pattern.correlation:.2f}, and noise rarely exceeds {pattern.rarely:.2f}"
    one = len(pattern.names) == 1
    what = (
        "follow a pattern: their correlation from row to row" if one else "resemble each other: their correlation at the same row"
    )
    ratios = scatter.ratios[np.isfinite(scatter.ratios)]
    factor = f" (a factor of {np.max(ratios):.2g})" if scatter.kind != "independent" and ratios.size else ""
    return (
        f"the differences of {names} from the run {what} {r}. The noise is not independent, which the intervals allow for{factor}, "
        "or the model or a fixed value is wrong, and then the values are off by more than their intervals say"
    )


def _apart(minima: Sequence[Minimum], rows: int) -> list[Minimum]:
    """Where values can change without any effect, searches end anywhere: places that fit equally well are one."""
    alike = [one for one in minima if one.ratio < 1.0 + 1.0 / rows]  # less than one standard error makes
    first = [replace(alike[0], starts=sum(one.starts for one in alike))] if alike else []
    return [*first, *(one for one in minima if one not in alike)]


def _of_minima(minima: Sequence[Minimum]) -> list[str]:
    found = [one for one in minima[1:] if one.squares < CLOSE_BY * minima[0].squares]
    return [f"another minimum is nearly as good: {one}" for one in found]


def _of_search_alone(warnings: Sequence[str], compared: Sequence[Compared]) -> list[str]:
    """The warnings of runs during the search that the last runs do not repeat."""
    return [sentence for sentence in warnings if not any(sentence in part.warnings for part in compared)]


def _of_runs(compared: Sequence[Compared]) -> list[str]:
    return [f"{part.name}: {sentence}" for part in compared for sentence in (*part.warnings, *part.result.warnings)]
