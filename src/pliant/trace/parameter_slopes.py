"""How everything that a run is made of changes with parameters: numbers of the equations, the start, tables and their breakpoints.

By central differences of orders two to eight. Numbers follow from parameters through what users wrote, shapes of beams and
integrals over them, roots of characteristic equations among these: smooth functions known to round-off, which Python computes in
far too many ways to differentiate each by hand. What is linear, as most is, needs two points; points are added until the error
that the orders so far let expect is below TOLERANCE. Where order eight is not enough, a shorter step is tried, and of both that one
is taken, number by number, whose last two orders agree better.
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

# Of a parameter, or of 1 where that is zero. Round-off is divided by it, and the largest of a beam's wave numbers times its length,
# some tens, goes with it into the ninth power.
STEP = 8e-3
SHORTER = 0.2  # of a step
TRIALS = 3  # steps, each so much shorter, before a parameter is held to be at its bound
TOLERANCE = 1e-11  # of a slope: its error
ROUND_OFF = 64 * 2.0**-52  # of a number: within which a second difference is none
# Weights of f(+-1 h), f(+-2 h) ..., of orders 2, 4, 6 and 8
CENTRAL = ((1 / 2,), (2 / 3, -1 / 12), (3 / 4, -3 / 20, 1 / 60), (4 / 5, -1 / 5, 4 / 105, -1 / 280))
TINY = 1e-300  # what nothing is divided by
# On one side, where a parameter is at its bound: f(0), f(h) ... f(7 h), order 7
ONE_SIDED = (-363 / 140, 7.0, -21 / 2, 35 / 3, -35 / 4, 21 / 5, -7 / 6, 1 / 7)


@dataclass(frozen=True)
class Ingredients:
    """What a run is made of, as numbers."""

    every: EveryNumber  # of the equations
    start: Floats  # all coordinates, all rates, states of the user's own
    breakpoints: Floats  # s
    pieces: Floats  # of all tables, on the pieces of time between breakpoints

    @classmethod
    def of(cls, lowered: LoweredSystem, between: Sequence[float]) -> Ingredients:
        """between: times inside the pieces of time."""
        pieces = [x for t in between for signal in lowered.signals for x in signal.piece(t)]
        own = [state.start for state in lowered.system.states.values()]
        start = np.concatenate([lowered.start.q, lowered.start.v, own])
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
    for k in range(TRIALS):
        try:
            return _central(name, value, h * SHORTER**k, at, here)
        except (ModelError, SolveError):  # there is no such mechanism, so far from this one
            continue
    return _one_sided(name, value, h * SHORTER ** (TRIALS - 1), at, here)


def _central(name: str, value: float, h: float, at: At, here: Ingredients) -> Floats:
    slope, error = _orders(name, value, h, at, here)
    if error is None:
        return slope
    finer, its_error = _orders(name, value, SHORTER * h, at, here)
    return finer if its_error is None else np.where(its_error < error, finer, slope)


def _orders(name: str, value: float, h: float, at: At, here: Ingredients) -> tuple[Floats, Floats | None]:
    """(slope, by how much the two highest orders differ: None where that is well below the tolerance)"""
    column = here.column
    negligible = ROUND_OFF * np.abs(column) / h
    changes: list[Floats] = []
    slope = difference = np.zeros(0)
    for order, weights in enumerate(CENTRAL):
        ahead, behind = (_column_at(name, value + side * (order + 1) * h, at, here) for side in (1.0, -1.0))
        changes.append(ahead - behind)
        if order == 0 and np.all(np.abs(ahead - 2.0 * column + behind) <= ROUND_OFF * np.maximum(np.abs(ahead), np.abs(column))):
            return changes[0] / (2.0 * h), None  # linear: exact
        better = np.asarray(sum(w * change for w, change in zip(weights, changes, strict=True))) / h
        if order > 0:
            before, difference = difference, np.abs(better - slope)
            # each order shrinks the difference as the one before did
            shrinks = 1.0 if order == 1 else np.minimum(difference / np.maximum(before, negligible + TINY), 1.0)
            expected = difference * shrinks
            if np.all(expected <= TOLERANCE * np.abs(better) + negligible):
                return better, None
        slope = better
    return slope, difference


def _one_sided(name: str, value: float, h: float, at: At, here: Ingredients) -> Floats:
    """A parameter that may not be larger, or not be smaller, than it is."""
    for side in (1.0, -1.0):
        try:
            points = [here.column, *(_column_at(name, value + side * k * h, at, here) for k in range(1, len(ONE_SIDED)))]
        except (ModelError, SolveError):
            continue
        return np.asarray(sum(w * point for w, point in zip(ONE_SIDED, points, strict=True))) / (side * h)
    rule = f"must allow a change by {h:.2g} to at least one side"
    raise ModelError.of("sensitivities", f"parameter {name!r}", rule, value)


def _column_at(name: str, value: float, at: At, here: Ingredients) -> Floats:
    there = at({name: value})
    if not here.every.is_like(there.every) or here.column.size != there.column.size:
        rule = "must not change the structure of the mechanism when it changes slightly"
        raise ModelError.of("sensitivities", f"parameter {name!r}", rule, value)
    return there.column
