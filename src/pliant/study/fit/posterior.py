"""The posterior of fitted values by ensemble MCMC: every step runs its walkers side by side, as one ensemble."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.model import check
from pliant.study.fit.side_by_side import SideBySide

if TYPE_CHECKING:
    from pliant.study.fit.fitted import Fit

Floats = NDArray[np.float64]
WARM_UP = 0.25  # fraction of the steps that is left out
LONG = 50.0  # autocorrelation times that a chain needs for intervals to be believed (Goodman and Weare; emcee's own rule)
FEWEST = 20  # steps that tell an autocorrelation at all
NARROW = 0.1  # of the standard errors: how far walkers begin from the best values, where there is no covariance
MOST_SPREAD = 0.3  # of a value's size


@dataclass(frozen=True)
class Posterior:
    """Samples of the values; it prints as a table."""

    names: tuple[str, ...]
    samples: Floats  # one per row, warm-up left out
    chain: Floats  # (step, walker, parameter), all of it
    log_probability: Floats  # (step, walker)
    acceptance: float
    autocorrelation: Mapping[str, float]  # steps; nan if the chain is too short to tell
    assumed: str
    warnings: tuple[str, ...]
    runs: int

    @property
    def medians(self) -> dict[str, float]:
        """The medians of the samples."""
        return dict(zip(self.names, np.median(self.samples, axis=0).tolist(), strict=True))

    @property
    def standard_deviations(self) -> dict[str, float]:
        """Of the samples."""
        return dict(zip(self.names, np.std(self.samples, axis=0, ddof=1).tolist(), strict=True))

    def credible(self, level: float = 0.95) -> dict[str, tuple[float, float]]:
        """Intervals that hold this share of the samples, with as many on either side."""
        if not 0.0 < check.number("posterior", "level", level) < 1.0:
            raise ModelError.of("posterior", "level", "must be between 0 and 1", level)
        low, high = np.quantile(self.samples, [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)
        return {name: (a, b) for name, a, b in zip(self.names, low.tolist(), high.tolist(), strict=True)}

    def __str__(self) -> str:
        width = max(len(name) for name in (*self.names, "parameter")) + 2
        lines = [f"{'parameter':<{width}}{'median':>16}{'deviation':>14}   95 % credible"]
        for name, (low, high) in self.credible().items():
            lines.append(
                f"{name:<{width}}{self.medians[name]:>16.8g}{self.standard_deviations[name]:>14.3g}   {low:.8g} to {high:.8g}"
            )
        lines.append(f"{self.samples.shape[0]} samples, {self.runs} runs, {100.0 * self.acceptance:.0f} % accepted; {self.assumed}")
        return "\n".join([*lines, *(f"warning: {sentence}" for sentence in self.warnings)])


def posterior_of(fit: Fit, walkers: int, steps: int, seed: int, prior: Callable[[dict[str, float]], float] | None) -> Posterior:
    try:
        import emcee
    except ImportError:
        raise ModelError.of("posterior", "fit", "needs emcee: pip install 'pliant[posterior]'", "no emcee") from None
    width = len(fit.names)
    check.count("posterior", "walkers", walkers)
    check.count("posterior", "steps", steps)
    if walkers < 2 * width + 2 or walkers % 2:
        raise ModelError.of("posterior", "walkers", f"must be even and >= {2 * width + 2}", walkers)
    target = _Target(fit, prior)
    random = np.random.RandomState(seed)
    start = _start(fit, walkers, random)
    sampler = emcee.EnsembleSampler(walkers, width, target, vectorize=True)
    sampler.random_state = random.get_state()
    sampler.run_mcmc(start, steps, skip_initial_state_check=True)
    chain = sampler.get_chain() * fit.search.free.scales
    times = sampler.get_autocorr_time(quiet=True, tol=0) if steps >= FEWEST else np.full(width, np.nan)
    kept = chain[int(WARM_UP * steps) :].reshape(-1, width)
    return Posterior(
        names=fit.names,
        samples=kept,
        chain=chain,
        log_probability=sampler.get_log_prob(),
        acceptance=float(np.mean(sampler.acceptance_fraction)),
        autocorrelation=dict(zip(fit.names, np.asarray(times).tolist(), strict=True)),
        assumed=target.assumed,
        warnings=tuple(_warnings(fit, chain, times, sampler.acceptance_fraction, target)),
        runs=target.together.runs,
    )


class _Target:
    """The logarithm of the posterior density at many values: a normal likelihood, its variance integrated out."""

    def __init__(self, fit: Fit, prior: Callable[[dict[str, float]], float] | None) -> None:
        self._free, self._prior, self.together = fit.search.free, prior, SideBySide(fit.search)
        ratios = fit.scatter.ratios[np.isfinite(fit.scatter.ratios)]
        inflation = max(float(np.median(ratios**2)), 1.0) if ratios.size else 1.0
        self._count = sum(part.residuals.size for part in fit.experiments) / inflation
        bounds = "uniform within the bounds" if prior is None else "as given"
        counted = f", {self._count:.3g} independent values (the differences are correlated)" if inflation > 1.0 else ""
        self.assumed = f"prior {bounds}; noise of unknown variance{counted}"

    def __call__(self, x: Floats) -> Floats:
        low, high = self._free.bounds
        inside = np.all((x >= low) & (x <= high), axis=1)
        found = np.full(x.shape[0], -np.inf)
        if np.any(inside):
            losses = self.together.losses(x[inside])
            with np.errstate(divide="ignore"):
                found[inside] = -0.5 * self._count * np.log(losses)
            if self._prior is not None:
                found[inside] += [float(self._prior(self._free.values(row))) for row in x[inside]]
        return np.where(np.isnan(found), -np.inf, found)


def _start(fit: Fit, walkers: int, random: Any) -> Floats:
    """Walkers about the best values, by the covariance where there is one, within the bounds."""
    best = np.array([fit.values[name] for name in fit.names])
    sizes = np.maximum(np.abs(best), fit.search.free.scales)
    errors = np.array([fit.standard_errors[name] for name in fit.names])
    errors = np.where(np.isfinite(errors) & (errors > 0.0), np.minimum(errors, MOST_SPREAD * sizes), NARROW * sizes)
    draws = random.normal(size=(walkers, best.size))
    if np.all(np.isfinite(fit.correlation)):
        strengths, columns = np.linalg.eigh(fit.correlation)
        draws = draws @ (columns * np.sqrt(np.maximum(strengths, 0.0))).T
    x = best + draws * errors
    low, high = fit.search.free.low, fit.search.free.high
    x = np.where(x < low, np.minimum(2.0 * low - x, high), x)  # mirrored, so that no two walkers coincide
    x = np.where(x > high, np.maximum(2.0 * high - x, low), x)
    return np.asarray(x / fit.search.free.scales)


def _warnings(fit: Fit, chain: Floats, times: Floats, accepted: Floats, target: _Target) -> list[str]:
    found, steps = [], chain.shape[0]
    longest = float(np.max(times)) if np.all(np.isfinite(times)) else np.inf
    if steps < LONG * longest:
        need = f"{int(np.ceil(LONG * longest))} steps" if np.isfinite(longest) else "more steps"
        found.append(f"the chain of {steps} steps is too short: intervals are rough, take {need}")
    if np.min(accepted) < 0.02:
        found.append("some walkers hardly moved: the posterior may have several peaks; see pl.fit(..., starts=20)")
    found += [f"walkers ran one by one: {why}" for why in target.together.reasons]
    return found
