"""Derivatives, over parameters, of everything that defines a run: numbers of the equations, the start, tables and breakpoints.

They are central differences of orders two to eight. Numbers follow from parameters through the user's expressions, mode shapes of
beams, integrals over them and roots of characteristic equations: smooth functions known to round-off, computed in too many ways to
differentiate each by hand. Most dependences are linear and need two points; points are added until the error extrapolated from the
orders so far is below TOLERANCE. If order eight is not enough, a shorter step is tried, and for each number the step whose last two
orders agree better is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pliant.arrays import Floats
from pliant.dynamics.motors import starts_of_states
from pliant.errors import ModelError, SolveError
from pliant.trace.lowered_system import LoweredSystem
from pliant.trace.lowering import EveryNumber, every_number

# Relative step of a parameter (absolute if the parameter is zero). Round-off is divided by it; the truncation error grows with the
# ninth power of it times a beam's largest wave number times length, some tens.
STEP = 8e-3
SHORTER = 0.2  # ratio of a shorter step to the one before
TRIALS = 3  # steps, each shorter by that ratio, before a parameter is taken to be at its bound
TOLERANCE = 1e-11  # relative error of a slope
ROUND_OFF = 64 * 2.0**-52  # of a number: a second difference below it counts as zero
# Weights of f(+-1 h), f(+-2 h) ..., of orders 2, 4, 6 and 8
CENTRAL = ((1 / 2,), (2 / 3, -1 / 12), (3 / 4, -3 / 20, 1 / 60), (4 / 5, -1 / 5, 4 / 105, -1 / 280))
TINY = 1e-300  # avoids division by zero
# Weights of f(0), f(h) ... f(7 h): the one-sided difference of order 7, for a parameter at its bound
ONE_SIDED = (-363 / 140, 7.0, -21 / 2, 35 / 3, -35 / 4, 21 / 5, -7 / 6, 1 / 7)


@dataclass(frozen=True)
class Ingredients:
    """The numbers that define a run."""

    every: EveryNumber  # of the equations
    start: Floats  # all coordinates, all rates, the user's own states
    breakpoints: Floats  # s
    pieces: Floats  # of all tables, between breakpoints

    @classmethod
    def of(cls, lowered: LoweredSystem, between: Sequence[float]) -> Ingredients:
        """between: one time between each two breakpoints."""
        pieces = [x for t in between for signal in lowered.signals for x in signal.piece(t)]
        own = starts_of_states(lowered.system, lowered.tree, lowered.start.v)
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


At = Callable[[Mapping[str, float]], Ingredients]  # from parameter values to what defines a run


def slopes_of(name: str, value: float, at: At, here: Ingredients) -> Floats:
    """d column / d parameter."""
    h = STEP * (abs(value) or 1.0)
    for k in range(TRIALS):
        try:
            return _central(name, value, h * SHORTER**k, at, here)
        except (ModelError, SolveError):  # no valid mechanism at this distance
            continue
    return _one_sided(name, value, h * SHORTER ** (TRIALS - 1), at, here)


def _central(name: str, value: float, h: float, at: At, here: Ingredients) -> Floats:
    slope, error = _orders(name, value, h, at, here)
    if error is None:
        return slope
    finer, its_error = _orders(name, value, SHORTER * h, at, here)
    return finer if its_error is None else np.where(its_error < error, finer, slope)


def _orders(name: str, value: float, h: float, at: At, here: Ingredients) -> tuple[Floats, Floats | None]:
    """(slope, difference between the two highest orders, or None if that is well below the tolerance)"""
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
            # assume that each order reduces the difference as much as the one before
            shrinks = 1.0 if order == 1 else np.minimum(difference / np.maximum(before, negligible + TINY), 1.0)
            expected = difference * shrinks
            if np.all(expected <= TOLERANCE * np.abs(better) + negligible):
                return better, None
        slope = better
    return slope, difference


def _one_sided(name: str, value: float, h: float, at: At, here: Ingredients) -> Floats:
    """The slope over a parameter that is at its upper or lower bound."""
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
