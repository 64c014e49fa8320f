"""How everything that a run is made of changes with parameters: numbers of the equations, the start, tables and their breakpoints.

By central differences of high order. Numbers follow from parameters through what users wrote, shapes of beams and integrals over them,
roots of characteristic equations among these: smooth functions known to round-off, which Python computes in far too many ways
to differentiate each by hand. Differences of second order are exact for what is linear, as most is; where they are not, points are
added until the estimated error is below TOLERANCE.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError, SolveError
from pliant.trace.lowered_system import LoweredSystem
from pliant.trace.lowering import EveryNumber, every_number

Floats = NDArray[np.float64]

STEP = 2e-3  # of a parameter, or of 1 where that is zero: its third power is where round-off of 1e-15 meets the sixth order
TOLERANCE = 1e-11  # of a slope: its error
ROUND_OFF = 64 * 2.0**-52  # of a number: within which a second difference is none
# Weights of f(+-1 h), f(+-2 h) ..., of orders 2, 4, 6, 8
CENTRAL = ((1 / 2,), (2 / 3, -1 / 12), (3 / 4, -3 / 20, 1 / 60), (4 / 5, -1 / 5, 4 / 105, -1 / 280))
# On one side, where a parameter is at its bound: f(0), f(h) ... f(7 h), order 7
ONE_SIDED = (-363 / 140, 7.0, -21 / 2, 35 / 3, -35 / 4, 21 / 5, -7 / 6, 1 / 7)


@dataclass(frozen=True)
class Ingredients:
    """What a run is made of, as numbers."""

    every: EveryNumber  # of the equations
    start: Floats  # all coordinates, then all rates
    breakpoints: Floats  # s
    pieces: Floats  # of all tables, on the pieces of time between breakpoints

    @classmethod
    def of(cls, lowered: LoweredSystem, between: Sequence[float]) -> Ingredients:
        """between: times inside the pieces of time."""
        pieces = [x for t in between for signal in lowered.signals for x in signal.piece(t)]
        start = np.concatenate([lowered.start.q, lowered.start.v])
        return cls(every_number(lowered.root), start, np.array(lowered.breakpoints), np.array(pieces, dtype=np.float64))

    @property
    def column(self) -> Floats:
        return np.concatenate([self.every.values, self.start, self.breakpoints, self.pieces])

    def parts(self, columns: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """(column entry, ...) in parts: numbers, start, breakpoints, pieces."""
        ends = np.cumsum([self.every.values.size, self.start.size, self.breakpoints.size])
        numbers, start, breakpoints, pieces = np.split(columns, ends)
        return numbers, start, breakpoints, pieces


At = Callable[[Mapping[str, float]], Ingredients]  # of values of parameters


def slopes_of(name: str, value: float, at: At, here: Ingredients) -> Floats:
    """d column / d parameter."""
    h = STEP * (abs(value) or 1.0)
    column = here.column
    points: dict[int, Floats] = {0: column}

    def look(k: int) -> Floats:
        if k not in points:
            points[k] = _column_at(name, value + k * h, at, here)
        return points[k]

    try:
        look(1), look(-1)
    except (ModelError, SolveError):
        return _one_sided(name, value, h, at, here)
    if np.all(np.abs(look(1) - 2.0 * column + look(-1)) <= ROUND_OFF * np.maximum(np.abs(look(1)), np.abs(column))):
        return (look(1) - look(-1)) / (2.0 * h)  # linear: exact
    slope = _central(CENTRAL[1], look, h)
    for weights in CENTRAL[2:]:
        better = _central(weights, look, h)
        close = np.all(np.abs(better - slope) <= TOLERANCE * np.abs(better) + ROUND_OFF * np.abs(column) / h)
        slope = better
        if close:
            break
    return slope


def _central(weights: Sequence[float], look: Callable[[int], Floats], h: float) -> Floats:
    total = sum(w * (look(k) - look(-k)) for k, w in enumerate(weights, start=1))
    return np.asarray(total) / h


def _one_sided(name: str, value: float, h: float, at: At, here: Ingredients) -> Floats:
    """A parameter that may not be larger, or not be smaller, than it is."""
    for side in (1.0, -1.0):
        try:
            points = [here.column, *(_column_at(name, value + side * k * h, at, here) for k in range(1, len(ONE_SIDED)))]
        except (ModelError, SolveError):
            continue
        return np.asarray(sum(w * point for w, point in zip(ONE_SIDED, points, strict=True))) / (side * h)
    rule = f"must be a value that may be changed by {h:.2g} to one side at least"
    raise ModelError.of("sensitivities", f"parameter {name!r}", rule, value)


def _column_at(name: str, value: float, at: At, here: Ingredients) -> Floats:
    there = at({name: value})
    if not here.every.is_like(there.every) or here.column.size != there.column.size:
        rule = "must leave the mechanism's structure alone where it changes a little"
        raise ModelError.of("sensitivities", f"parameter {name!r}", rule, value)
    return there.column
