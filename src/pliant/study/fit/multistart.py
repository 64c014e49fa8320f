"""Searches from many first values: all go down side by side, roughly; where they end, exact derivatives take over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError, SolveError
from pliant.study.fit.free_parameters import FreeParameters
from pliant.study.fit.search import Search
from pliant.study.fit.side_by_side import SideBySide

Floats = NDArray[np.float64]
WIDE = 3.0  # times, and fraction of, the first value: the range of a parameter without bounds
DECADES = 30.0  # ratio of positive bounds from which first values are spread evenly over their logarithm
ROUNDS = 15  # of rough searches side by side
STEP = 1e-5  # of the differences that replace derivatives there, over a parameter's scale
DAMPED, EASE, STIFFEN = 1e-2, 0.3, 4.0  # Levenberg's damping at first, and factors of it after a step that helps, or does not
ENDED = 1e-5  # relative change of the sum of squares that ends a rough search
CLOSE = 0.05  # fraction of the scales within which rough searches have ended at the same place
SAME = 1e-3  # the same for searches that have converged
TRIED = 6  # places, the best of them, from which exact searches start


@dataclass(frozen=True)
class Minimum:
    """Where searches ended: values, the sum of squares (or robust loss), and from how many of the starts."""

    values: Mapping[str, float]
    squares: float
    starts: int
    ratio: float = 1.0  # of its sum of squares to the least

    def __str__(self) -> str:
        at = ", ".join(f"{name} = {value:.6g}" for name, value in self.values.items())
        return f"{at}: {self.ratio:.4g} times the least sum of squares, found from {self.starts} starts"


def minima_of(search: Search, starts: int, seed: int) -> tuple[Floats, list[Minimum]]:
    """The best values, and all places where searches ended, best first. The last search is from the best place."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ModelError.of("fit", "seed", "must be a whole number >= 0", seed)
    low, high = search.free.bounds
    first = np.vstack([search.free.start, spread(search.free, starts - 1, seed)])
    ended, losses = _down(SideBySide(search), np.clip(first, low, high), low, high)
    places = _grouped(ended, losses, CLOSE * np.maximum(np.abs(search.free.start), 1.0))
    refined: list[tuple[Floats, int]] = []
    for place, count in places[:TRIED]:
        try:
            refined.append((search.run_with_weights(place), count))
        except SolveError as trouble:
            search.warnings.append(f"a search from another start failed: {trouble}")
    if not refined:
        return search.run_with_weights(search.free.start), []
    totals = SideBySide(search).losses(np.array([x for x, _ in refined]))  # with the weights of the last search, for all
    order = np.argsort(totals)
    best = search.run_with_weights(refined[int(order[0])][0])
    found: list[tuple[Floats, float, int]] = []
    for k in order.tolist():
        x, count = refined[k]
        same = [j for j, (other, _, _) in enumerate(found) if np.max(np.abs(x - other) / np.maximum(np.abs(other), 1e-3)) < SAME]
        if same:
            other, total, before = found[same[0]]
            found[same[0]] = (other, total, before + count)
        else:
            found.append((x, float(totals[k]), count))
    least = found[0][1]
    return best, [Minimum(search.free.values(x), total, count, total / least if least > 0.0 else 1.0) for x, total, count in found]


def spread(free: FreeParameters, count: int, seed: int) -> Floats:
    """First values spread over the bounds by a Latin hypercube, in scaled coordinates."""
    from scipy.stats import qmc

    if not count:
        return np.empty((0, len(free.names)))
    unit = qmc.LatinHypercube(len(free.names), seed=seed).random(count)
    found = np.empty_like(unit)
    for k, (low, high) in enumerate(zip(*(ends.tolist() for ends in free.bounds), strict=True)):
        begin = float(free.start[k])
        reach = abs(begin) or 1.0
        low = low if np.isfinite(low) else min(begin / WIDE, begin * WIDE) if begin else -reach
        high = high if np.isfinite(high) else max(begin / WIDE, begin * WIDE) if begin else reach
        low, high = min(low, begin), max(high, begin)
        over = unit[:, k]
        found[:, k] = low * (high / low) ** over if low > 0.0 and high > DECADES * low else low + (high - low) * over
    return np.asarray(found)


def _down(together: SideBySide, x: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Levenberg's method for all starts at once, with differences of runs for derivatives; those whose run fails are left out."""
    members, width = x.shape
    left = together.residuals(x)
    damping, going = np.full(members, DAMPED), np.all(np.isfinite(left), axis=1)
    x, left, damping = x[going], left[going], damping[going]
    going = np.ones(x.shape[0], dtype=bool)
    slopes = np.empty((x.shape[0], left.shape[1], width))
    fresh = going.copy()
    for _ in range(ROUNDS):
        need = np.flatnonzero(going & fresh)
        if need.size:
            slopes[need] = _slopes(together, x[need], left[need], high)
        rows = np.flatnonzero(going)
        if not rows.size:
            break
        trial = x.copy()
        for k in rows.tolist():
            normal, gradient = slopes[k].T @ slopes[k], slopes[k].T @ left[k]
            held = ((x[k] <= low) & (gradient > 0.0)) | ((x[k] >= high) & (gradient < 0.0))
            free = np.flatnonzero(~held)
            matrix = normal[np.ix_(free, free)] + damping[k] * np.diag(np.maximum(np.diag(normal)[free], 1e-12))
            trial[k, free] = np.clip(x[k, free] - np.linalg.lstsq(matrix, gradient[free], rcond=None)[0], low[free], high[free])
        after = together.residuals(trial[rows])
        for k, residuals in zip(rows.tolist(), after, strict=True):
            before, now = float(left[k] @ left[k]), float(residuals @ residuals)
            helped = np.isfinite(now) and now < before
            if helped:
                going[k] = before - now > ENDED * before
                x[k], left[k] = trial[k], residuals
            damping[k] *= EASE if helped else STIFFEN
            going[k] &= damping[k] < 1e8
            fresh[k] = helped
    return x, np.sum(left**2, axis=1)


def _slopes(together: SideBySide, x: Floats, left: Floats, high: Floats) -> Floats:
    """Forward differences of the residuals, (start, residual, parameter); a step that would leave the bounds goes back."""
    width = x.shape[1]
    steps = np.where(x + STEP > high, -STEP, STEP)
    moved = (x[:, None, :] + steps[:, :, None] * np.eye(width)).reshape(-1, width)
    apart = together.residuals(moved).reshape(x.shape[0], width, -1)
    return np.nan_to_num(np.moveaxis((apart - left[:, None, :]) / steps[:, :, None], 1, 2))


def _grouped(x: Floats, losses: Floats, near: Floats) -> list[tuple[Floats, int]]:
    """Places where searches ended, best first, with how many ended there."""
    groups: list[tuple[Floats, int]] = []
    for k in np.argsort(losses).tolist():
        same = [j for j, (place, _) in enumerate(groups) if np.all(np.abs(x[k] - place) <= near)]
        if same:
            groups[same[0]] = (groups[same[0]][0], groups[same[0]][1] + 1)
        else:
            groups.append((x[k], 1))
    return groups
