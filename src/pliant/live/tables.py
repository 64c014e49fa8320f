"""Functions of a few numbers as tables: what a page looks up where Python would compute.

A vector f of some numbers is written as f(here) plus what each number changes alone, plus what pairs change beyond that, plus
what triples change beyond both (a cut decomposition). Every change is a polynomial of Chebyshev through its points, of as many
points as its terms need to fall to round-off; linear changes take two. How far the whole is off is measured at points in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from pliant.arrays import Floats, Ints

Vector = Callable[[Floats], Floats]

POINTS = (2, 3, 5, 9, 17, 33, 65)  # of one number; each includes the points before
MOST_TOGETHER = 600  # points of all pairs, and of all triples
FALLEN = 2e-13  # of the values: last terms below it are round-off
SETTLED = 1e-9  # of the values: last terms below it that hardly fall any more are the noise of what is tabulated
SAME = 1e-14  # of a value: a smaller change is none
NOISE = 30.0  # times the last terms of single changes: what pairs change must be larger to count
CHECKS = 12  # points at which the whole is compared


@dataclass(frozen=True)
class Change:
    """What some of the numbers change together, beyond what fewer of them do."""

    numbers: tuple[int, ...]
    entries: Ints  # of the vector
    coefficients: Floats  # (degree of the first number, ..., entry)
    rest: float = 0.0  # the last terms, over the values


@dataclass(frozen=True)
class Table:
    """The whole function; error: the largest at points that it was not made from, relative to each entry's size."""

    low: Floats
    high: Floats
    here: Floats
    base: Floats
    changes: tuple[Change, ...]
    error: float

    def __call__(self, x: Floats) -> Floats:
        return _value(self.base, self.changes, _scaled(x, self.low, self.high))


def tabulated(f: Vector, low: Floats, here: Floats, high: Floats, size: Floats | None = None, seed: int = 1) -> Table:
    """The table of f between low and high; what cannot be computed at some point raises what f raises.

    size: of entries whose accuracy is not relative to their own values, but to these.
    """
    base = f(here)
    size = np.zeros(base.size) if size is None else size
    changes: list[Change] = []
    active: list[int] = []
    degrees: dict[int, int] = {}
    for k in range(here.size):
        if low[k] < high[k]:
            found = _alone(f, k, low, here, high, base, size)
            if found:
                changes += found
                active.append(k)
                degrees[k] = max(change.coefficients.shape[0] for change in found)
    for together in (2, 3):
        groups = list(combinations(active, together))
        most = _points_each(len(groups), together)
        for group in groups if most else ():
            more = _together(f, group, low, here, high, base, size, changes, [min(most, degrees[k]) for k in group])
            if more is not None:
                changes.append(more)
    table = Table(low, high, here, base, tuple(changes), 0.0)
    return Table(low, high, here, base, tuple(changes), _error(f, table, size, seed))


def _points_each(groups: int, together: int) -> int:
    """Points along each number of a group, so that all groups stay within the limit; 0: too many groups."""
    return max((n for n in POINTS[1:] if groups * n**together <= MOST_TOGETHER), default=0)


def _points(count: int) -> Floats:
    """Chebyshev's points of the second kind on -1 ... 1."""
    return np.cos(np.pi * np.arange(count) / (count - 1))


def _coefficients(values: Floats, axis: int = 0) -> Floats:
    """Coefficients of Chebyshev's polynomials through values at `_points`."""
    n = values.shape[axis]
    values = np.moveaxis(values, axis, 0)
    k = np.arange(n)
    matrix = np.cos(np.pi * np.outer(k, k) / (n - 1)) * 2.0 / (n - 1)
    matrix[:, [0, -1]] *= 0.5
    matrix[[0, -1]] *= 0.5
    return np.moveaxis(np.tensordot(matrix, values, axes=1), 0, axis)


def _at(x: Floats, k: int, s: float, low: Floats, high: Floats) -> Floats:
    moved = x.copy()
    moved[k] = 0.5 * (low[k] + high[k]) + 0.5 * (high[k] - low[k]) * s
    return moved


def _scaled(x: Floats, low: Floats, high: Floats) -> Floats:
    width = np.where(high > low, high - low, 1.0)
    return np.asarray((2.0 * x - low - high) / width)


def _alone(f: Vector, k: int, low: Floats, here: Floats, high: Floats, base: Floats, size: Floats) -> list[Change]:
    """What one number changes: entries whose series are as long, together."""
    known: dict[float, Floats] = {}
    before = np.inf
    for count in POINTS:
        points = _points(count).round(15).tolist()
        known.update({s: f(_at(here, k, s, low, high)) for s in points if s not in known})
        values = np.array([known[s] for s in points])
        with np.errstate(invalid="ignore"):  # some entries are infinite, or nan for "none"
            entries = np.flatnonzero(np.any(np.abs(values - base) > SAME * np.maximum(np.abs(base), size), axis=0))
        if count == POINTS[0]:
            continue
        scale = np.maximum(np.max(np.abs(values[:, entries]), axis=0, initial=0.0), size[entries])
        coefficients = _coefficients(values[:, entries] - base[entries])
        rests = np.max(np.abs(coefficients[-1 if count == POINTS[1] else -2 :]) / scale, axis=0, initial=0.0)
        rest = float(np.max(rests, initial=0.0))
        if rest <= FALLEN or (rest <= SETTLED and rest > 0.1 * before):
            break
        before = rest
    lengths = _lengths(coefficients, np.where(rests <= SETTLED, np.maximum(rests, FALLEN), FALLEN) * scale)
    changes = []
    for n in np.unique(lengths).tolist():
        own = lengths == n
        changes.append(Change((k,), entries[own], coefficients[:n, own], float(np.max(rests[own]))))
    return changes


def _lengths(coefficients: Floats, round_off: Floats) -> Ints:
    """How many coefficients of each entry are more than round-off, as one of POINTS."""
    matters = np.abs(coefficients) > round_off
    last = np.max(np.where(matters, np.arange(1, len(coefficients) + 1)[:, None], POINTS[0]), axis=0)
    return np.asarray(np.minimum(np.array(POINTS)[np.searchsorted(POINTS, last)], len(coefficients)), dtype=np.int64)


def _together(
    f: Vector, group: tuple[int, ...], low: Floats, here: Floats, high: Floats, base: Floats, size: Floats,
    changes: Sequence[Change], wanted: Sequence[int],
) -> Change | None:  # fmt: skip
    """What a group of numbers changes beyond what its parts do; None if that is nothing."""
    inner = [change for change in changes if set(change.numbers) <= set(group)]
    least = max(1e2 * SAME, NOISE * max(change.rest for change in inner))

    def beyond(s: Sequence[float]) -> Floats:
        x = here.copy()
        for k, own in zip(group, s, strict=True):
            x = _at(x, k, own, low, high)
        value = f(x)
        with np.errstate(invalid="ignore"):
            rest = value - _value(base, inner, _scaled(x, low, high))
            return np.where(np.abs(rest) > least * np.maximum(np.maximum(np.abs(value), np.abs(base)), size), rest, 0.0)

    if not any(np.any(beyond(corner)) for corner in ((0.83,) * len(group), (-0.91,) * len(group))):
        return None
    counts = [next(n for n in POINTS if n >= max(count, 3)) for count in wanted]
    grid = np.array([beyond(s) for s in product(*(_points(n).tolist() for n in counts))]).reshape(*counts, -1)
    entries = np.flatnonzero(np.any(grid != 0.0, axis=tuple(range(len(group)))))
    coefficients = grid[..., entries]
    for axis in range(len(group)):
        coefficients = _coefficients(coefficients, axis)
    return Change(group, entries, coefficients)


def _value(base: Floats, changes: Sequence[Change], s: Floats) -> Floats:
    value = base.copy()
    for change in changes:
        part = change.coefficients
        for k in change.numbers:
            terms = np.cos(np.arange(part.shape[0]) * np.arccos(np.clip(s[k], -1.0, 1.0)))
            part = np.tensordot(terms, part, axes=1)
        value[change.entries] += part
    return value


def _error(f: Vector, table: Table, size: Floats, seed: int) -> float:
    generator, worst = np.random.default_rng(seed), 0.0
    for _ in range(CHECKS if table.changes else 0):
        x = table.low + (table.high - table.low) * generator.random(table.low.size)
        exact, found = f(x), table(x)
        differs = ~((found == exact) | (np.isnan(found) & np.isnan(exact)))
        scale = np.maximum(np.maximum(np.abs(exact), np.abs(table.base)), size)[differs]
        worst = max(worst, float(np.max(np.abs(found[differs] - exact[differs]) / np.where(scale > 0.0, scale, 1.0), initial=0.0)))
    return worst
