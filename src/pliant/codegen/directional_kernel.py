"""Directional derivatives of a traced function as machine code."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from pliant.arrays import Floats, Ints
from pliant.codegen.directional import directional
from pliant.codegen.lanes import LANES, compile_linear, padded
from pliant.codegen.llvm import LARGEST_OPTIMISED_IN_RUN, MachineCode, address_of, compile_function
from pliant.codegen.program import Program


@dataclass(frozen=True, eq=False)
class DirectionalKernel:
    """A function of (t, y, p), and its derivatives along any number of directions in (t, y, p)."""

    primal: MachineCode  # (t, y, [p, decisions]) -> values, coefficients
    linear: MachineCode
    decide: MachineCode | None  # (t, y, p) -> decisions
    active: tuple[int, ...]  # entries of p that directions may include
    n_p: int
    n_out: int
    guards: tuple[frozenset[int], ...] = ()  # for each decision: entries of p; while one is zero the decision has no effect
    edges: tuple[str, ...] = ()  # for each decision: the operation that it is about

    @classmethod
    def of(
        cls, program: Program, active: Collection[int], cache: Path | None, largest: int = LARGEST_OPTIMISED_IN_RUN
    ) -> DirectionalKernel:
        """largest: number of operations above which LLVM translates without optimising."""
        parts = directional(program, active)
        decide = (
            None
            if parts.decisions is None
            else compile_function(parts.decisions, cache=cache, largest=largest, series=program.series)
        )
        primal = compile_function(parts.primal, cache=cache, largest=largest, series=program.series)
        linear = compile_linear(parts.linear, parts.zero_coefficients, cache=cache, largest=largest)
        return cls(primal, linear, decide, parts.active, program.n_p, len(program.outputs), parts.guards,
                   parts.edges)  # fmt: skip

    @cached_property
    def n_y(self) -> int:
        return self.primal.n_y

    @cached_property
    def n_decisions(self) -> int:
        return 0 if self.decide is None else self.decide.n_out

    @cached_property
    def n_seeds(self) -> int:
        """Number of rows in a group of seeds."""
        return padded(self.linear.n_y)

    @cached_property
    def places(self) -> Ints:
        """The active entries of p."""
        return np.array(self.active, dtype=np.int64)

    def matters(self, p: Floats) -> Floats:
        """For every decision, 1 if it has an effect with these parameters, else 0."""
        places, owned = self._guards
        return np.asarray(owned @ (p[places] == 0.0) == 0.0, dtype=np.float64)

    @cached_property
    def _guards(self) -> tuple[Ints, Floats]:
        """(entries of p that guard decisions; a matrix with 1 for each guard that a decision has)."""
        places = sorted({place for own in self.guards for place in own})
        owned = [[float(place in own) for place in places] for own in self.guards]
        return np.array(places, dtype=np.int64), np.array(owned).reshape(len(self.guards), len(places))

    def n_work(self, groups: int) -> int:
        codes = [code for code in (self.primal, self.decide) if code is not None]
        return max(groups * self.linear.n_work, *(code.n_work for code in codes), 1)

    def seeds(self, dy: Floats, dt: Floats | None, dp: Floats) -> Floats:
        """Directions as an array (group, row, lane): dy (state, direction), dt (direction), dp (entry of p, direction)."""
        n, m = self.n_y, dy.shape[1]
        groups = -(-m // LANES)
        rows = np.zeros((self.n_seeds, groups * LANES))
        rows[:n, :m] = dy
        if dt is not None:
            rows[n, :m] = dt
        rows[n + 1 : n + 1 + self.places.size, :m] = dp[self.places]
        return np.ascontiguousarray(rows.reshape(self.n_seeds, groups, LANES).transpose(1, 0, 2))

    def __call__(self, t: float, y: Floats, p: Floats, dy: Floats, dt: Floats | None, dp: Floats) -> tuple[Floats, Floats]:
        """(values, their derivatives along the directions), on the side of each corner on which the state lies."""
        return DirectionalCall(self, dy.shape[1])(t, y, p, dy, dt, dp)


class DirectionalCall:
    """A kernel with its own memory, for repeated calls from one thread with a fixed number of directions."""

    def __init__(self, kernel: DirectionalKernel, directions: int) -> None:
        self.kernel, self.directions = kernel, directions
        self._groups = groups = -(-directions // LANES)
        self._rows = np.zeros((kernel.n_seeds, groups * LANES))
        self._seeds = np.zeros((groups, kernel.n_seeds, LANES))
        self._y, self._entries = np.empty(kernel.n_y), np.empty(kernel.n_p + kernel.n_decisions)
        self._decided, self._values = np.empty(kernel.n_decisions), np.empty(kernel.primal.n_out)
        self._out, self._work = np.empty((groups, padded(kernel.n_out), LANES)), np.empty(kernel.n_work(groups))
        y, entries, work = (address_of(array) for array in (self._y, self._entries, self._work))
        self._to_decide = (y, entries, address_of(self._decided), work)
        self._to_value = (y, entries, address_of(self._values), work)
        self._to_slope = (address_of(self._seeds), address_of(self._values), address_of(self._out), work)

    def __call__(self, t: float, y: Floats, p: Floats, dy: Floats, dt: Floats | None, dp: Floats) -> tuple[Floats, Floats]:
        """(values, their derivatives): dy (state, direction), dt (direction), dp (entry of p, direction)."""
        kernel, n, m, rows = self.kernel, self.kernel.n_y, self.directions, self._rows
        self._y[:], self._entries[: kernel.n_p] = y, p
        rows[:n, :m] = dy
        rows[n, :m] = 0.0 if dt is None else dt
        rows[n + 1 : n + 1 + len(kernel.active), :m] = dp[kernel.places]
        self._seeds[...] = rows.reshape(kernel.n_seeds, self._groups, LANES).transpose(1, 0, 2)
        if kernel.decide is not None:
            kernel.decide.call_at(t, *self._to_decide)
            self._entries[kernel.n_p :] = self._decided
        kernel.primal.call_at(t, *self._to_value)
        kernel.linear.call_at(float(self._groups), *self._to_slope)
        # copies: the next call writes to this memory
        return self._values[: kernel.n_out].copy(), from_lanes(self._out)[: kernel.n_out, :m].copy()


def to_lanes(rows: Floats) -> Floats:
    """An array (row, direction) rearranged as (group, row, lane), padded with zeros."""
    n, m = rows.shape
    groups = -(-m // LANES)
    filled = np.zeros((padded(n), groups * LANES))
    filled[:n, :m] = rows
    return np.ascontiguousarray(filled.reshape(padded(n), groups, LANES).transpose(1, 0, 2))


def from_lanes(lanes: Floats) -> Floats:
    """An array (..., group, row, lane) rearranged as (..., row, direction)."""
    moved = lanes.swapaxes(-3, -2)
    return moved.reshape(*moved.shape[:-2], moved.shape[-2] * moved.shape[-1])
