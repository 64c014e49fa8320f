"""Profile likelihoods: how much worse the best fit becomes as one parameter is moved, all others fitted again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError, SolveError
from pliant.model import check
from pliant.model.check import did_you_mean
from pliant.study.fit.covariance import standard_errors_within
from pliant.study.fit.search import CLOSELY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pliant.study.fit.fitted import Fit

Floats = NDArray[np.float64]
FARTHEST = 100.0  # times the size of a parameter: if its profile is still open there, it is called open
OVER = 1.15  # of the limit: where the profile ends
EXTEND = 3.0  # factor between steps that are too short
FLAT = 0.1  # fraction of the limit that a flat profile does not reach
CLOSER, BRACKET = 10, 0.01  # most runs for that, and the distance of the two about it, over that from the best value
ALONG = 1e-3  # of a flat direction: a smaller part of it does not count
CLOSED = 0.02  # of the limit, within which the end of an interval is found by a run


@dataclass(frozen=True)
class Profile:
    """The misfit over the values of one parameter; it prints as a sentence."""

    name: str
    unit: str
    best: float
    standard_error: float
    level: float
    values: Floats  # ascending
    excess: Floats  # misfit above the least, in variances of the noise as the intervals see it
    limit: float  # of the excess, at the ends of the interval
    interval: tuple[float, float]  # infinite where the profile is open
    at_bound: tuple[bool, bool]  # whether the interval ends at a bound of the parameter, with the excess below the limit
    failed: tuple[str, ...]  # of searches that a point is missing for

    @property
    def shape(self) -> str:
        """ "closed", "open below", "open above", "open" or "flat"."""
        low, high = (not np.isfinite(end) or at for end, at in zip(self.interval, self.at_bound, strict=True))
        if low and high and float(np.max(self.excess)) < FLAT * self.limit:
            return "flat"
        return "open" if low and high else "open below" if low else "open above" if high else "closed"

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        low, high = self.interval
        if self.shape == "closed":
            return f"{self.name}: {low:.6g} to {high:.6g}{unit} ({100.0 * self.level:g} %, by its profile)"
        within = f"from {self.values[0]:.4g} to {self.values[-1]:.4g}{unit}"
        if self.shape == "flat":
            return f"{self.name} is not determined: its profile is flat {within}"
        ends = {"open": "both sides", "open below": f"below {high:.4g}{unit}", "open above": f"above {low:.4g}{unit}"}[self.shape]
        return f"{self.name} is determined on one side at most: its profile is open on {ends}, tried {within}".replace(
            "open on below", "open below").replace("open on above", "open above")  # fmt: skip

    def plot(self, *, ax: Any = None, figsize: tuple[float, float] | None = None) -> Figure:
        """Plot the profile, the parabola of the linear theory, and the level of the interval."""
        from pliant.show.plot.fits import fit_profile

        return fit_profile(self, ax=ax, figsize=figsize)


def profile_of(fit: Fit, name: str, points: int, level: float) -> Profile:
    if name not in fit.names:
        raise ModelError.of("profile", "name", f"must be a fitted parameter{did_you_mean(name, fit.names)}", name)
    check.count("profile", "points", points)
    if not 0.0 < check.number("profile", "level", level) < 1.0:
        raise ModelError.of("profile", "level", "must be between 0 and 1", level)
    walk = _Walk(fit, name, level)
    below, above = (walk.side(sign, points) for sign in (-1.0, 1.0))
    pairs = sorted([*below, (walk.best, 0.0), *above])
    return Profile(
        name=name,
        unit=fit.units[name],
        best=walk.best,
        standard_error=fit.standard_errors[name],
        level=level,
        values=np.array([value for value, _ in pairs]),
        excess=np.array([excess for _, excess in pairs]),
        limit=walk.limit,
        interval=(walk.end(below, -1.0), walk.end(above, 1.0)),
        at_bound=(walk.stopped(below, -1.0), walk.stopped(above, 1.0)),
        failed=tuple(walk.failed),
    )


class _Walk:
    """Searches with one parameter held, outwards from its best value, each from where the one before ended."""

    def __init__(self, fit: Fit, name: str, level: float) -> None:
        self._search, self._place = fit.search, fit.names.index(name)
        self._x = np.array([fit.values[one] for one in fit.names]) / fit.search.free.scales
        self._flat, self._covariance = fit.flat, fit.covariance
        residuals = fit.search.residuals_at(self._x)
        self._least, loss = fit.search.loss.total(residuals), fit.search.loss
        ratio = fit.inflation[name]
        score = loss.score(residuals)
        freedom = max(residuals.size - len(fit.names) + fit.flat.shape[0], 1)
        steep = float(np.mean(loss.steepness(residuals))) or 1.0
        self._variance = float(score @ score) / freedom / steep * (ratio**2 if np.isfinite(ratio) else 1.0)
        self._variance = self._variance or np.finfo(float).tiny
        self.limit = float(standard_errors_within(level, fit.scatter.freedom[self._place]) ** 2)
        self.best = fit.values[name]
        free = fit.search.free
        self._low, self._high, self._scale = (float(ends[self._place]) for ends in (free.low, free.high, free.scales))
        self._error = fit.standard_errors[name]
        self._size = max(abs(self.best), self._scale)
        self.failed: list[str] = []

    def side(self, sign: float, points: int) -> list[tuple[float, float]]:
        """(value, excess) outwards until the excess passes the limit, a bound, or what is called far."""
        width = np.sqrt(self.limit) * self._error if np.isfinite(self._error) and self._error > 0.0 else self._size
        far, near = FARTHEST * self._size, self._x
        found: list[tuple[float, float]] = []
        fractions = np.arange(1, points + 1) / points
        reach = min(width, far)
        tries = [self.best + sign * reach * f for f in fractions]
        while tries:
            value = float(np.clip(tries.pop(0), self._low, self._high))
            if value == self.best or (found and value == found[-1][0]):
                break
            excess, near = self._excess(value, near)
            if excess is None:
                break
            found.append((value, excess))
            if excess > OVER * self.limit:
                break
            if not tries and excess < self.limit * (1.0 - CLOSED) and abs(value - self.best) < far:
                tries = [self.best + sign * min(self._next(found, abs(value - self.best)), far)]
        return self._closer(found, near, sign)

    def _next(self, found: list[tuple[float, float]], reach: float) -> float:
        """Where the root of the excess, which is straight in a linear model, reaches the limit; at most a few times as far."""
        root = np.sqrt(max(found[-1][1], 0.0))
        return float(reach * np.clip(1.02 * np.sqrt(self.limit) / max(root, 1e-9), 1.05, EXTEND))

    def _closer(self, found: list[tuple[float, float]], near: Floats, sign: float) -> list[tuple[float, float]]:
        """More runs at the end of the interval, if the last one went well beyond it: by the straight root, or in the middle."""
        for k in range(CLOSER):
            beyond = next((n for n, (_, excess) in enumerate(found) if excess > self.limit), None)
            if beyond is None:
                break
            inner, outer = found[beyond - 1] if beyond else (self.best, 0.0), found[beyond]
            close = abs(outer[0] - inner[0]) < BRACKET * abs(outer[0] - self.best)
            if close or min(abs(one[1] - self.limit) for one in (inner, outer)) < CLOSED * self.limit:
                break
            value = 0.5 * (inner[0] + outer[0]) if k % 2 else self.end(found, sign)
            excess, near = self._excess(value, near)
            if excess is None:
                break
            found = sorted([*found, (value, excess)], key=lambda one: sign * one[0])
        return found

    def _excess(self, value: float, near: Floats) -> tuple[float | None, Floats]:
        try:
            start = self._start(value, near)
            x = self._search.run(start, CLOSELY, [self._place]) if start.size > 1 else start
            total = self._total(x)
        except SolveError as trouble:
            self.failed.append(str(trouble))
            return None, near
        return max((total - self._least) / self._variance, 0.0), x

    def _start(self, value: float, near: Floats) -> Floats:
        """Where the other values are expected by the covariance or a flat direction, if that fits better than where they were."""
        start = near.copy()
        start[self._place] = value / self._scale
        moved = np.clip(self._expected(value), *self._search.free.bounds)
        return moved if self._total(moved) < self._total(start) else start

    def _expected(self, value: float) -> Floats:
        k, scales = self._place, self._search.free.scales
        flat = self._flat[np.argmax(np.abs(self._flat[:, k]))] if self._flat.size else np.zeros(self._x.size)
        if abs(flat[k]) > ALONG * float(np.max(np.abs(flat))):
            if value * self.best > 0.0:
                return np.asarray(self._x * (value / self.best) ** (flat / flat[k]))
            return np.asarray(self._x + flat / flat[k] * (value - self.best) / scales)
        column = np.nan_to_num(self._covariance[:, k])
        return np.asarray(self._x + (value - self.best) * column / (column[k] or 1.0) / scales)

    def _total(self, x: Floats) -> float:
        return self._search.loss.total(self._search.residuals_at(x))

    def end(self, found: list[tuple[float, float]], sign: float) -> float:
        """Where the excess reaches the limit, its root being straight between points; infinite, or the bound, if it does not."""
        before = (self.best, 0.0)
        goal = np.sqrt(self.limit)
        for value, excess in found:
            if excess >= self.limit * (1.0 - 1e-6):
                a, b = np.sqrt(before[1]), np.sqrt(excess)
                return float(before[0] + (value - before[0]) * (goal - a) / (b - a))
            before = (value, excess)
        if before[1] >= self.limit * (1.0 - 2.0 * CLOSED):  # the last point is as good as at the end
            return float(self.best + (before[0] - self.best) * goal / np.sqrt(before[1]))
        bound = self._low if sign < 0.0 else self._high
        at_bound = before[0] == bound or self.best == bound
        return float(bound) if at_bound else sign * np.inf

    def stopped(self, found: list[tuple[float, float]], sign: float) -> bool:
        bound = self._low if sign < 0.0 else self._high
        last = found[-1] if found else (self.best, 0.0)
        return last[0] == bound and last[1] < self.limit * (1.0 - CLOSED)
