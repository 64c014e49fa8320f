"""Directional derivatives of a traced function as machine code."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pliant.codegen.directional import directional
from pliant.codegen.lanes import LANES, compile_linear, padded
from pliant.codegen.llvm import LARGEST_OPTIMISED_IN_RUN, MachineCode, compile_function
from pliant.codegen.program import Program

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DirectionalKernel:
    """A function of (t, y, p), and its derivatives along any number of directions in all of these."""

    primal: MachineCode  # (t, y, [p, decisions]) -> values, coefficients
    linear: MachineCode
    decide: MachineCode | None  # (t, y, p) -> decisions
    active: tuple[int, ...]  # entries of p that directions may have a part along
    n_p: int
    n_out: int
    guards: tuple[frozenset[int], ...] = ()  # of decisions: entries of p; while one of them is zero a decision does not matter

    @classmethod
    def of(cls, program: Program, active: Collection[int], cache: Path | None, largest: int = LARGEST_OPTIMISED_IN_RUN) -> DirectionalKernel:
        parts = directional(program, active)
        decide = None if parts.decisions is None else compile_function(parts.decisions, cache=cache, largest=largest)
        primal = compile_function(parts.primal, cache=cache, largest=largest)
        return cls(primal, compile_linear(parts.linear, cache=cache), decide, parts.active, program.n_p, len(program.outputs),
                   parts.guards)  # fmt: skip

    @property
    def n_y(self) -> int:
        return self.primal.n_y

    @property
    def n_decisions(self) -> int:
        return 0 if self.decide is None else self.decide.n_out

    @property
    def n_seeds(self) -> int:
        """Rows of a group of seeds."""
        return padded(self.linear.n_y)

    @cached_property
    def _active(self) -> NDArray[np.int64]:
        return np.array(self.active, dtype=np.int64)

    def matters(self, p: Floats) -> Floats:
        """Of every decision, 1 where it matters with these parameters."""
        return np.array([float(all(p[place] != 0.0 for place in own)) for own in self.guards])

    def n_work(self, groups: int) -> int:
        codes = [code for code in (self.primal, self.decide) if code is not None]
        return max(groups * self.linear.n_work, *(code.n_work for code in codes), 1)

    def seeds(self, dy: Floats, dt: Floats | None, dp: Floats) -> Floats:
        """(group, row, lane) of directions: dy (state, direction), dt (direction), dp (entry of p, direction)."""
        n, m = self.n_y, dy.shape[1]
        groups = -(-m // LANES)
        rows = np.zeros((self.n_seeds, groups * LANES))
        rows[:n, :m] = dy
        if dt is not None:
            rows[n, :m] = dt
        rows[n + 1 : n + 1 + self._active.size, :m] = dp[self._active]
        return np.ascontiguousarray(rows.reshape(self.n_seeds, groups, LANES).transpose(1, 0, 2))

    def __call__(self, t: float, y: Floats, p: Floats, dy: Floats, dt: Floats | None, dp: Floats) -> tuple[Floats, Floats]:
        """(values, their derivatives along the directions), on the side of all corners that the state is on."""
        seeds = self.seeds(dy, dt, dp)
        groups, y = len(seeds), np.ascontiguousarray(y)
        entries, work = np.empty(self.n_p + self.n_decisions), np.empty(self.n_work(groups))
        entries[: self.n_p] = p
        if self.decide is not None:
            decided = np.empty(self.n_decisions)
            self.decide.call(t, y, entries, decided, work)
            entries[self.n_p :] = decided
        values, out = np.empty(self.primal.n_out), np.empty((groups, padded(self.n_out), LANES))
        self.primal.call(t, y, entries, values, work)
        self.linear.call(float(groups), seeds, values, out, work)
        return values[: self.n_out], from_lanes(out)[: self.n_out, : dy.shape[1]]


def to_lanes(rows: Floats) -> Floats:
    """(row, direction) as (group, row, lane), filled up with zeros."""
    n, m = rows.shape
    groups = -(-m // LANES)
    filled = np.zeros((padded(n), groups * LANES))
    filled[:n, :m] = rows
    return np.ascontiguousarray(filled.reshape(padded(n), groups, LANES).transpose(1, 0, 2))


def from_lanes(lanes: Floats) -> Floats:
    """(..., group, row, lane) as (..., row, direction)."""
    moved = lanes.swapaxes(-3, -2)
    return moved.reshape(*moved.shape[:-2], moved.shape[-2] * moved.shape[-1])
