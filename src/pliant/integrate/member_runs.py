"""Many runs in the memory of one run, started and finished inside compiled code: see `members`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.host.stages import Stages
from pliant.integrate.compiled_loops import address_of_loop, compiled_loop
from pliant.integrate.memory.batch_record import BATCH, PLAIN, TALLIED
from pliant.integrate.memory.memory import Memory
from pliant.integrate.memory.run_record import PAIR_NUMBERS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BUDGET = 200_000  # evaluations between two checks for cancellation
# Arrays that are written before they are read, or never written: they need not be restored between members.
_NOT_RESTORED = frozenset((
    "y", "p", "atol", "pair_numbers", "zeros", "work", "plan", "knots", "piece_end", "piece_head",
    "piece_due", "piece_tail", "updates", "held_new", "settles", "own_new", "samples", "row_t", "row_y",
    "row_observed", "finished", "log_t", "log_event", "log_direction", "note_t", "note_y", "note_event", "note_direction",
    "kept_t", "kept_y", "kept_p", "row_first", "column", "value", "c", "dense",
))  # fmt: skip


@dataclass(frozen=True)
class StartRules:
    """How a member's start is judged and the error of its works is controlled: indices in the observed row and in y."""

    at_tips: int
    n_tips: int
    at_kinetic: int
    at_strain: int
    at_spring: int
    first_rate: int
    n_rates: int
    judges: bool  # whether the mass matrix is checked
    balls: Ints  # (pair): whether both sides are spheres
    n_controlled: int
    n_added: int
    rtol: float


@dataclass(frozen=True)
class Members:
    """Initial values of members. p and numbers may have a single row for all members."""

    y: Floats  # (member, component)
    p: Floats  # (member, parameter)
    numbers: Floats  # (member, pair, PAIR_NUMBERS)
    weight: Floats  # (member) N

    def __len__(self) -> int:
        return len(self.y)


@dataclass
class Ends:
    """How members ended, and their kept results."""

    done: int  # number of members that ended, counted from the first
    plain: NDArray[np.bool_]  # (member); False if Python has to judge the start
    code: Ints  # (member) code of `status`
    event: Ints  # (member) event that ended it, -1: none
    t: Floats
    y: Floats
    tally: Floats  # (member, pair, TALLIED)
    blind: Ints
    steps: Ints
    end_values: Floats  # (member, end column)
    values: Floats  # (member, row, column)
    extremes: Floats  # (member, 2, column)


@dataclass(frozen=True)
class Kept:
    """Kept columns: of the observed row at the end, and of saved rows, where component i of the state is -1 - i."""

    at_end: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    columns: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    n_rows: int = 0
    values: bool = False
    extremes: bool = False


class MemberRuns:
    """Runs members in one thread, in the memory of a run that was started but not yet advanced."""

    def __init__(self, memory: Memory, stages: Stages, plain_atol: Floats) -> None:
        self._memory, n = memory, int(memory.run["n"])
        self._batch = np.zeros(1, dtype=BATCH)
        self._stages = stages
        self._kept_alive: dict[str, NDArray[Any]] = {}
        pristine = memory.bytes_of_record()
        copies = {name: array.copy() for name, array in memory.arrays.items() if name not in _NOT_RESTORED and array.nbytes}
        table = [(memory.arrays[name].ctypes.data, copy.ctypes.data, copy.nbytes) for name, copy in copies.items()]
        self._copies = copies  # alive as long as their addresses are in use
        self._set(advance=address_of_loop("loop.march", stages), record=memory.address, record_bytes=pristine.nbytes, budget=BUDGET)
        self._set(n_restored=len(table), loosened=memory.loosened)
        self._bind(pristine=pristine, restored=np.array(table, dtype=np.int64), plain_atol=np.resize(plain_atol, n))

    def _set(self, **fields: float) -> None:
        for name, value in fields.items():
            self._batch[0][name] = value

    def _bind(self, **arrays: NDArray[Any]) -> None:
        for name, array in arrays.items():
            self._kept_alive[name] = np.ascontiguousarray(array)
            self._batch[0][name] = self._kept_alive[name].ctypes.data

    def judge_by(self, rules: StartRules) -> None:
        self._set(at_tips=rules.at_tips, n_tips=rules.n_tips, at_kinetic=rules.at_kinetic, at_strain=rules.at_strain)
        self._set(at_spring=rules.at_spring, first_rate=rules.first_rate, n_rates=rules.n_rates, judges=rules.judges)
        self._set(n_controlled=rules.n_controlled, n_added=rules.n_added, rtol=rules.rtol)
        self._bind(balls=rules.balls, mass=np.zeros(rules.n_rates**2))

    def keep(self, kept: Kept) -> None:
        self._set(n_end=kept.at_end.size, n_columns=kept.columns.size, n_rows=kept.n_rows)
        self._bind(end_columns=kept.at_end, columns=kept.columns)
        self._kept = kept

    def record_and_arrays(self) -> tuple[NDArray[Any], dict[str, NDArray[Any]]]:
        """The record of the batch, and the arrays it points to."""
        return self._batch, self._kept_alive

    def cancel(self) -> None:
        """Stop as soon as possible; called from another thread."""
        self._set(cancelled=1)

    def run(self, members: Members) -> Ends:
        """Run all members, one after another; other Python threads keep running meanwhile."""
        count, n_pairs = len(members), int(self._memory.run["n_pairs"])
        self._set(n_members=count, n_p=members.p.shape[1])
        self._set(p_step=8 * members.p.shape[1] if len(members.p) > 1 else 0)
        self._set(numbers_step=8 * PAIR_NUMBERS * n_pairs if len(members.numbers) > 1 else 0)
        self._bind(y=members.y, p=members.p, numbers=members.numbers, weight=members.weight)
        ends = self._room(count, n_pairs)
        start = np.zeros(count, dtype=np.int64)
        self._bind(start=start, code=ends.code, event=ends.event, t_end=ends.t, y_end=ends.y, tally=ends.tally)
        self._bind(blind=ends.blind, steps=ends.steps, end_values=ends.end_values)
        self._bind(values=ends.values, extremes=ends.extremes)
        self._set(**{name: 0 for name in ("values", "extremes") if not getattr(self._kept, name)})
        ends.done = compiled_loop("members", self._stages)(self._memory.address, int(self._batch.ctypes.data))
        ends.plain = start == PLAIN
        return ends

    def _room(self, count: int, n_pairs: int) -> Ends:
        kept, n = self._kept, int(self._memory.run["n"])
        width = kept.columns.size
        return Ends(
            done=0,
            plain=np.zeros(count, dtype=np.bool_),
            code=np.zeros(count, dtype=np.int64),
            event=np.full(count, -1, dtype=np.int64),
            t=np.full(count, np.nan),
            y=np.full((count, n), np.nan),
            tally=np.zeros((count, n_pairs, TALLIED)),
            blind=np.zeros(count, dtype=np.int64),
            steps=np.zeros(count, dtype=np.int64),
            end_values=np.full((count, kept.at_end.size), np.nan),
            values=np.full((count if kept.values else 0, kept.n_rows, width), np.nan),
            extremes=np.full((count if kept.extremes else 0, 2, width), np.nan),
        )
