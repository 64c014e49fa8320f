"""Finds where a program repeats itself: the same operations, link after link.

In the order of a depth-first trace, a chain of equal links appears as a few runs, one per sweep: outward velocities, inward
inertias, outward accelerations. A run is found by its shape alone; what its blocks read and write is compared when loops are made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.arrays import Ints
from pliant.codegen.program import NONE, Program

NEAR = 16  # positions: a nearer argument is identified by its distance, any other by its kind
WINDOW = 16  # number of operations that must agree for two positions to count as a repeat
FEWEST_BLOCKS = 4  # fewer blocks are not worth a loop

_PRIME = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Run:
    """Operations start, ..., start + period * count - 1 of an order: `count` blocks of the same shape."""

    start: int
    period: int
    count: int


@dataclass(frozen=True)
class Columns:
    """A program's lists as arrays."""

    kind: Ints
    arguments: Ints  # rows a, b, c; NONE for missing arguments and for leaves
    index: Ints  # for leaves: the index in y, p or the constants

    @staticmethod
    def of(program: Program) -> Columns:
        kind = np.array(program.kind, dtype=np.int64)
        rows = np.array([program.a, program.b, program.c], dtype=np.int64)
        return Columns(kind, np.where(kind >= 0, rows, NONE), rows[0])


def find_runs(columns: Columns, order: Ints) -> list[Run]:
    """The runs of an order, in ascending order and without overlap."""
    if order.size < 2 * WINDOW:
        return []
    mixed = _windows(_shapes(columns, order))
    distance = _next_alike(mixed)
    edges = np.flatnonzero(np.diff(distance)) + 1
    starts, ends = np.concatenate([[0], edges]), np.concatenate([edges, [distance.size]])
    runs: list[Run] = []
    free = 0
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        period = int(distance[start])
        start = max(start, free)
        # every window of the stretch is repeated one period later, so the shapes agree up to one window width beyond it
        count = (end - start + WINDOW - 1) // period + 1 if period > 0 and end > start else 0
        if count >= FEWEST_BLOCKS:
            runs.append(Run(start, period, count))
            free = start + period * count
    return runs


def _shapes(columns: Columns, order: Ints) -> NDArray[np.uint64]:
    """One number per operation: its kind, and the distance or kind of its arguments."""
    position = np.full(columns.kind.size, -1, dtype=np.int64)
    position[order] = np.arange(order.size)
    shape = columns.kind[order].astype(np.uint64)
    for row in columns.arguments:
        argument = row[order]
        away = np.arange(order.size) - position[argument]
        near = (position[argument] >= 0) & (away <= NEAR)
        described = np.where(near, away, 1000 + columns.kind[argument])
        shape = _mix(shape, np.where(argument == NONE, 0, described).astype(np.uint64))
    return shape


def _windows(shape: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """One number for the WINDOW operations that begin at each position."""
    count = shape.size - WINDOW + 1
    mixed = np.zeros(count, dtype=np.uint64)
    for k in range(WINDOW):
        mixed = _mix(mixed, shape[k : k + count])
    return mixed


def _next_alike(mixed: NDArray[np.uint64]) -> Ints:
    """The distance to the next occurrence of the same number; 0 if there is none."""
    by_number = np.argsort(mixed, kind="stable")
    gap = np.diff(by_number)
    distance = np.zeros(mixed.size, dtype=np.int64)
    distance[by_number[:-1]] = np.where(np.diff(mixed[by_number]) == 0, gap, 0)
    return distance


def _mix(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.uint64]:
    mixed = (a ^ (b + _PRIME)) * _PRIME
    return mixed ^ (mixed >> np.uint64(29))
