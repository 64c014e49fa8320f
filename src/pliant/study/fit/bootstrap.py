"""The block bootstrap: values from differences that are drawn again, in blocks that keep their correlation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.model import check
from pliant.study.fit.compared import Compared
from pliant.study.fit.covariance import EXPERIMENTS, PER_VALUE

if TYPE_CHECKING:
    from pliant.study.fit.fitted import Fit

Floats = NDArray[np.float64]
STEPS = 12  # most steps of a search from resampled differences
SETTLED = 1e-4  # of the change of the scaled values, over their size, that ends it


@dataclass(frozen=True)
class Bootstrap:
    """Values from resampled data, one sample per row; it prints as a table."""

    names: tuple[str, ...]
    samples: Floats
    what: str  # what was drawn
    best: Floats

    @property
    def standard_errors(self) -> dict[str, float]:
        """The standard deviations of the samples."""
        return dict(zip(self.names, np.std(self.samples, axis=0, ddof=1).tolist(), strict=True))

    def confidence(self, level: float = 0.95) -> dict[str, tuple[float, float]]:
        """Intervals by the percentiles of the samples, reflected at the best values (the basic bootstrap)."""
        if not 0.0 < check.number("bootstrap", "level", level) < 1.0:
            raise ModelError.of("bootstrap", "level", "must be between 0 and 1", level)
        low, high = np.quantile(self.samples, [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)
        ends = zip(self.names, (2.0 * self.best - high).tolist(), (2.0 * self.best - low).tolist(), strict=True)
        return {name: (a, b) for name, a, b in ends}

    def __str__(self) -> str:
        width = max(len(name) for name in (*self.names, "parameter")) + 2
        lines = [f"{'parameter':<{width}}{'standard error':>16}   95 % confidence"]
        for name, (low, high) in self.confidence().items():
            lines.append(f"{name:<{width}}{self.standard_errors[name]:>16.3g}   {low:.8g} to {high:.8g}")
        return "\n".join([*lines, f"{self.samples.shape[0]} samples of {self.what}"])


def bootstrap_of(fit: Fit, samples: int, block: int | None, seed: int, refit: bool) -> Bootstrap:
    check.count("bootstrap", "samples", samples)
    block = None if block is None else check.count("bootstrap", "block", block)
    if fit.flat.size:
        lost = ", ".join(fit.unidentifiable)
        raise ModelError.of("bootstrap", "fit", "must determine every parameter; these have to be fixed first", lost)
    random = np.random.default_rng(seed)
    many = len(fit.experiments) >= max(EXPERIMENTS, PER_VALUE * len(fit.names))
    scales = fit.search.free.scales
    start = np.array([fit.values[name] for name in fit.names]) / scales
    found = []
    if block is None and many:
        what = f"{len(fit.experiments)} experiments"
        for _ in range(samples):
            counts = np.bincount(random.integers(0, len(fit.experiments), len(fit.experiments)), minlength=len(fit.experiments))
            found.append(_again(fit, start, [np.sqrt(n) for n in counts], None, refit))
    else:
        rows = block or _length(fit)
        what = f"blocks of {rows} rows" if rows > 1 else "rows"
        for _ in range(samples):
            drawn = [_drawn(part, rows, random) for part in fit.experiments]
            found.append(_again(fit, start, [1.0] * len(drawn), drawn, refit))
    return Bootstrap(fit.names, np.array(found) * scales, what, start * scales)


def _length(fit: Fit) -> int:
    """Rows of a block: 1 for white noise; for autoregressive noise by Politis and White's rule, from its correlation."""
    found = [1]
    for model in fit.scatter.models.values():
        if model.order:
            rows = max(part.residuals.size for part in fit.experiments)
            c = model.coefficients.sum()
            rough = max(abs(2.0 * c / max(1.0 - c * c, 1e-3)), 1e-3)
            found.append(int(np.clip(np.ceil((1.5 * rough * rough * rows) ** (1.0 / 3.0)), 2, max(rows // 4, 2))))
    return max(found)


def _drawn(part: Compared, rows: int, random: np.random.Generator) -> Floats:
    """Residuals of an experiment in blocks drawn at random, difference by difference from the same rows."""
    done, begins = np.empty_like(part.residuals), dict[int, NDArray[np.int64]]()
    for name in part.pieces:
        place = part.rows(name)
        own = part.residuals[place] - np.mean(part.residuals[place])
        count = own.size
        length = min(rows, count)
        if count not in begins:
            begins[count] = random.integers(0, count - length + 1, -(-count // length))
        done[place] = np.concatenate([own[b : b + length] for b in begins[count].tolist()])[:count]
    return done


def _again(fit: Fit, start: Floats, roots: list[float], drawn: list[Floats] | None, refit: bool) -> Floats:
    """Values from data in which experiments count as often as drawn, or differences are those drawn: Gauss-Newton steps."""
    x, search, scales = start.copy(), fit.search, fit.search.free.scales
    low, high = search.free.bounds
    compared: list[Compared] = list(fit.experiments)
    for _ in range(STEPS if refit else 1):
        left = [part.residuals for part in compared]
        if drawn is not None:  # data were: run at the best values, minus what was drawn
            left = [now - best.residuals + new for now, best, new in zip(left, fit.experiments, drawn, strict=True)]
        residuals = np.concatenate([root * one for root, one in zip(roots, left, strict=True)])
        slopes = np.concatenate([root * part.slopes for root, part in zip(roots, compared, strict=True)]) * scales
        weights = np.sqrt(np.maximum(search.loss.first((residuals / search.loss.knee) ** 2), 1e-12))
        step = np.linalg.lstsq(weights[:, None] * slopes, -weights * residuals, rcond=None)[0]
        x = np.clip(x + step, low, high) if refit else x + step
        if not refit or np.max(np.abs(step)) < SETTLED * max(float(np.max(np.abs(x))), 1.0):
            break
        compared = search.at(x)
    return np.asarray(x)
