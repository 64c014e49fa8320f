"""The order in which a program's values are computed: angles first, all their sines together, then the rest, in chunks.

A chunk becomes one straight-line function. LLVM's time grows faster than the length of such a function, so a program
is cut into pieces of bounded length; values that cross a cut travel through the work array.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from pliant.codegen.blocks import Batch, Order, left_out_but_read, orders
from pliant.codegen.guards import guarded
from pliant.codegen.program import NONE, Program
from pliant.codegen.repeats import Columns, find_runs
from pliant.codegen.rolled import (
    SHORTEST,
    Grid,
    RolledLoop,
    copy_loops,
    find_leaving,
    give_frames,
    make_grids,
    make_loop,
    stretches,
)


@dataclass
class Chunk:
    """Values that one function computes, in order, and where it writes them."""

    values: list[int]
    to_work: dict[int, int] = field(default_factory=dict)  # value -> its index in work
    to_out: dict[int, list[int]] = field(default_factory=dict)  # value -> its indices in out


Piece = Chunk | RolledLoop


@dataclass
class Block:
    """Pieces that run one after another, unless one of their guards is idle; zeros then replace the values they compute."""

    pieces: list[Piece]
    guards: int  # see guards.py
    zeros_in_work: list[int]  # indices of values that are read even while left out
    zeros_in_out: list[int]


@dataclass
class Schedule:
    """The blocks `before` store angles in work, the batch computes their sines and cosines, the blocks `after` compute the rest.

    `place` is the index in work of a value that the batch or an earlier piece has computed.
    """

    before: list[Block]
    after: list[Block]
    batch: Batch
    place: list[int]  # by value; negative if it has none
    n_work: int

    @property
    def pieces(self) -> list[Piece]:
        return [piece for block in self.before + self.after for piece in block.pieces]

    @property
    def chunks(self) -> list[Chunk]:
        return [piece for piece in self.pieces if isinstance(piece, Chunk)]

    @property
    def loops(self) -> list[RolledLoop]:
        return [piece for piece in self.pieces if isinstance(piece, RolledLoop)]

    @property
    def written(self) -> int:
        """Number of operations in the text; those of a loop's body count once."""
        return sum(len(chunk.values) for chunk in self.chunks) + sum(loop.body.operations for loop in self.loops)


def make_schedule(program: Program, chunk_size: int, *, roll: bool = True, guards: list[int] | None = None) -> Schedule:
    """roll: make loops of repeated operations. guards: for every value, if more is known than the program itself tells."""
    columns = Columns.of(program)
    guards = guarded(program) if guards is None else guards
    batch = Batch.of(program, guards)
    sines = batch.sines(columns)
    before, after = orders(program, columns, batch, sines, guards)
    builder = ScheduleBuilder(program, columns, batch, sines, roll)
    return builder.schedule(before if batch.angles else [], after, chunk_size)


def _cut(values: list[int], size: int) -> list[Chunk]:
    """Chunks of equal length, at most `size`; always at least one, since inputs may have to be copied."""
    count = max(1, -(-len(values) // size))
    ends = [len(values) * k // count for k in range(count + 1)]
    return [Chunk(values[start:end]) for start, end in pairwise(ends)]


class ScheduleBuilder:
    """A schedule under construction: loops are stored as stretches until every value has its index."""

    def __init__(self, program: Program, columns: Columns, batch: Batch, sines: dict[int, int], roll: bool) -> None:
        self.program, self.columns, self.batch, self.roll = program, columns, batch, roll
        self.angles, self.n_work = batch.angles, 3 * batch.padded
        self.place = np.full(len(program.kind), -1, dtype=np.int64)
        for fixed in (sines, {v: k for v, k in self.angles.items() if program.kind[v] >= 0}):
            self.place[list(fixed)] = list(fixed.values())

    def schedule(self, before: list[Order], after: list[Order], size: int) -> Schedule:
        pieces = self.pieces(before, after, size)
        self.write_angles(before, pieces[: len(before)], size)
        everything = [piece for own in pieces for piece in own]
        n_work = self.share_work(everything)
        self.write_outputs(everything, pieces[-1], size)
        missed = left_out_but_read(self.program, self.columns, [*before, *after])
        each = zip([*before, *after], pieces, strict=True)
        blocks = [Block(self.finished(own), order.guards, *self._zeros(order, missed)) for order, own in each]
        return Schedule(blocks[: len(before)], blocks[len(before) :], self.batch, self.place.tolist(), n_work)

    def pieces(self, before: list[Order], after: list[Order], size: int) -> list[list[_Unfinished]]:
        """For each order, grids worth a loop and chunks between them; at least one chunk, since inputs may have to be copied."""
        every = [*before, *after]
        worth = self.roll and max(sum(len(order.values) for order in some) for some in (before, after)) >= SHORTEST
        arrays = [np.array(order.values, dtype=np.int64) for order in every]
        runs = [find_runs(self.columns, order) if worth else [] for order in arrays]
        grids = make_grids(self.columns, list(zip(arrays, runs, strict=True)), self.angles, self.program.outputs)
        self.n_work = give_frames([grid for found in grids for grid in found], self.place, self.n_work)
        parts = [[part for grid in found for part in stretches(self.columns, grid, self.place)] for found in grids]
        return [_fill(order.values, found, size) for order, found in zip(every, parts, strict=True)]

    def write_angles(self, before: list[Order], pieces: list[list[_Unfinished]], size: int) -> None:
        """Write each angle where it is computed; copy angles that are coordinates."""
        home = _home([piece for own in pieces for piece in own])
        for angle, place in self.angles.items():
            if angle in home:
                home[angle].to_work[angle] = place
        for order, own in zip(before, pieces, strict=True):
            copies = [(angle, place) for angle, place in self.angles.items()
                      if self.program.kind[angle] < 0 and self.batch.guards_of(angle) == order.guards]  # fmt: skip
            self._copy(copies, "work", own, size)

    def write_outputs(self, pieces: list[_Unfinished], last: list[_Unfinished], size: int) -> None:
        """Write each output where it is computed; inputs, constants, batched sines and values in frames are copied at the end."""
        home = _home(pieces)
        for k, value in enumerate(self.program.outputs):
            if value in home:
                home[value].to_out.setdefault(value, []).append(k)
        self._copy(self._copied(pieces), "out", last, size)

    def _copied(self, pieces: list[_Unfinished]) -> list[tuple[int, int]]:
        """Outputs that are not written by the piece that computes them."""
        grids = [piece for piece in pieces if isinstance(piece, Grid)]
        home = _home(pieces)
        written = {place for grid in grids for _, places in grid.outputs for place in places.tolist()}
        return [(value, k) for k, value in enumerate(self.program.outputs) if value not in home and k not in written]

    def _zeros(self, order: Order, missed: set[int]) -> tuple[list[int], list[int]]:
        """Indices in work and in out where zeros replace values that were left out."""
        own = missed.intersection((*order.values, *order.sines))
        in_work = sorted(int(self.place[value]) for value in own if self.place[value] >= 0)
        return in_work, [k for k, value in enumerate(self.program.outputs) if value in own]

    def _copy(self, copies: list[tuple[int, int]], array: str, pieces: list[_Unfinished], size: int) -> None:
        loops: list[RolledLoop] = []
        left = copies
        if self.roll:
            loops, left = copy_loops(self.program, self.columns, copies, array, self.place)
        done = 0
        while done < len(left):
            chunk, room = _with_room(pieces, size)
            for value, place in left[done : done + room]:
                if array == "out":
                    chunk.to_out.setdefault(value, []).append(place)
                else:
                    chunk.to_work[value] = place
            done += room
        pieces += loops

    def share_work(self, pieces: list[_Unfinished]) -> int:
        """Assign an index in work to every value that crosses a cut; it is free again after the last piece that reads it.

        Values of runs already have an index.
        """
        self._note_leaving(pieces)
        last_reader: dict[int, int] = {}
        for k, piece in enumerate(pieces):
            last_reader.update(dict.fromkeys(self._read_by(piece), k))
        expiring: list[list[int]] = [[] for _ in pieces]
        free: list[int] = []
        for k, piece in enumerate(pieces):
            chunk = piece if isinstance(piece, Chunk) else Chunk([])
            for value in chunk.values:
                if value in chunk.to_work or last_reader.get(value, k) <= k:
                    continue
                if self.place[value] < 0:
                    if not free:
                        free.append(self.n_work)
                        self.n_work += 1
                    self.place[value] = free.pop()
                    expiring[last_reader[value]].append(int(self.place[value]))
                chunk.to_work[value] = int(self.place[value])
            free.extend(expiring[k])
        return self.n_work

    def _note_leaving(self, pieces: list[_Unfinished]) -> None:
        """Mark the values that leave the blocks of the loops, once the loops are known."""
        grids = [piece for piece in pieces if isinstance(piece, Grid)]
        leaving = find_leaving(self.columns, grids)
        leaving[list(self.angles)] = True
        for grid in grids:
            grid.exported = np.asarray(leaving[grid.values].any(axis=0))

    def _read_by(self, piece: _Unfinished) -> Iterable[int]:
        if isinstance(piece, Chunk):
            return [argument for value in piece.values for argument in self.program.arguments(value)]
        if isinstance(piece, Grid):
            read = self.columns.arguments[:, piece.values][np.broadcast_to(~piece.inside[:, None, :], (3, *piece.values.shape))]
            return np.unique(read[read != NONE]).tolist()  # type: ignore[no-any-return]
        return ()

    def finished(self, pieces: list[_Unfinished]) -> list[Piece]:
        return [make_loop(self.program, self.columns, piece, self.place) if isinstance(piece, Grid) else piece
                for piece in pieces]  # fmt: skip


def _fill(order: list[int], grids: list[Grid], size: int) -> list[_Unfinished]:
    """Grids in position, and chunks of the values between and after them."""
    pieces: list[_Unfinished] = []
    done = 0
    for grid in grids:
        if grid.start > done:
            pieces += _cut(order[done : grid.start], size)
        pieces.append(grid)
        done = grid.start + grid.values.size
    return [*pieces, *_cut(order[done:], size)]


_Unfinished = Chunk | RolledLoop | Grid


def _with_room(pieces: list[_Unfinished], size: int) -> tuple[Chunk, int]:
    """The last chunk, or a new one if it is full, and the room left in it; copies count too, since there may be thousands."""
    last = pieces[-1] if pieces else None
    if isinstance(last, Chunk):
        room = size - len(last.values) - len(last.to_work) - sum(map(len, last.to_out.values()))
        if room > 0:
            return last, room
    made = Chunk([])
    pieces.append(made)
    return made, size


def _home(pieces: list[_Unfinished]) -> dict[int, Chunk]:
    """The chunk that computes each value."""
    return {value: piece for piece in pieces if isinstance(piece, Chunk) for value in piece.values}
