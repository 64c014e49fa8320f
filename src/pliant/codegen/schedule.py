"""The order in which a program's values are computed: angles first, all their sines together, then the rest, in chunks.

A chunk becomes one straight-line function. LLVM's time grows faster than the length of such a function, so a program
is cut into pieces of bounded length; values that cross a cut travel through the work array.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

import casadi as ca
import numpy as np

from pliant.codegen.program import NONE, Program
from pliant.codegen.repeats import Columns, Integers, find_runs
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
from pliant.codegen.sincos import WIDTH

_SINES = frozenset((ca.OP_SIN, ca.OP_COS))


@dataclass
class Chunk:
    """Values that one function computes, in order, and where it writes them."""

    values: list[int]
    to_work: dict[int, int] = field(default_factory=dict)  # value -> its place in work
    to_out: dict[int, list[int]] = field(default_factory=dict)  # value -> its places in out


Piece = Chunk | RolledLoop


@dataclass
class Schedule:
    """The pieces `before` put the angles into work[0:angles], the batch puts sines and cosines of work[0:batch] into the next
    two parts of that length, the pieces `after` compute the rest. `place` is where in work a value is found that the
    batch or an earlier piece has computed."""

    before: list[Piece]
    after: list[Piece]
    angles: int
    batch: int  # angles rounded up to whole passes
    place: list[int]  # by value; negative where it has none
    n_work: int

    @property
    def chunks(self) -> list[Chunk]:
        return [piece for piece in self.before + self.after if isinstance(piece, Chunk)]

    @property
    def loops(self) -> list[RolledLoop]:
        return [piece for piece in self.before + self.after if isinstance(piece, RolledLoop)]

    @property
    def written(self) -> int:
        """Operations that stand in the text, those of a loop's body once."""
        return sum(len(chunk.values) for chunk in self.chunks) + sum(loop.body.operations for loop in self.loops)


def make_schedule(program: Program, chunk_size: int, *, roll: bool = True) -> Schedule:
    """`roll`: make loops of what repeats."""
    columns = Columns.of(program)
    angles = batched_angles(program)
    batch = -(-len(angles) // WIDTH) * WIDTH
    sines = _places_of_sines(columns, angles, batch)
    early = _needed_for(program, angles)
    late = columns.kind >= 0
    late[early] = late[list(sines)] = False
    orders = [early.tolist(), np.flatnonzero(late).tolist()]
    builder = ScheduleBuilder(program, columns, angles, sines, 3 * batch, roll)
    before, after = builder.pieces(orders, chunk_size)
    builder.write_angles(before, chunk_size)
    n_work = builder.share_work(before + after)
    builder.write_outputs(before, after, chunk_size)
    return Schedule(builder.finished(before), builder.finished(after), len(angles), batch, builder.place.tolist(), n_work)


def batched_angles(program: Program) -> dict[int, int]:
    """Every argument of a sine or cosine that itself needs none, with its place in the batch.

    In a mechanism these are nearly all: joint angles are coordinates, and those of bent tips polynomials of them.
    """
    angles: dict[int, int] = {}
    a, b, c = program.a, program.b, program.c
    after_sine = bytearray(len(program.kind) + 1)  # the last stands for an argument that is not there: NONE
    for value, kind in enumerate(program.kind):
        if kind < 0:
            continue
        if kind in _SINES:
            after_sine[value] = 1
            if not after_sine[a[value]]:
                angles.setdefault(a[value], len(angles))
        elif after_sine[a[value]] or after_sine[b[value]] or after_sine[c[value]]:
            after_sine[value] = 1
    return angles


def _places_of_sines(columns: Columns, angles: dict[int, int], batch: int) -> dict[int, int]:
    part = {ca.OP_SIN: batch, ca.OP_COS: 2 * batch}
    sines = np.flatnonzero(np.isin(columns.kind, list(part)))
    of = zip(sines.tolist(), columns.kind[sines].tolist(), columns.index[sines].tolist(), strict=True)
    return {value: part[kind] + angles[angle] for value, kind, angle in of if angle in angles}


def _needed_for(program: Program, values: Iterable[int]) -> Integers:
    """The operations among the values, and all that they are computed from, in order."""
    needed: set[int] = set()
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if program.kind[value] >= 0 and value not in needed:
            needed.add(value)
            waiting += program.arguments(value)
    return np.array(sorted(needed), dtype=np.int64)


def _cut(values: list[int], size: int) -> list[Chunk]:
    """Chunks of equal length, at most `size`; at least one, for inputs may have to be copied even so."""
    count = max(1, -(-len(values) // size))
    ends = [len(values) * k // count for k in range(count + 1)]
    return [Chunk(values[start:end]) for start, end in pairwise(ends)]


class ScheduleBuilder:
    """A schedule in the making: loops are known by their stretches until every value has its place."""

    def __init__(
        self,
        program: Program,
        columns: Columns,
        angles: dict[int, int],
        sines: dict[int, int],
        n_work: int,
        roll: bool,
    ) -> None:
        self.program, self.columns, self.angles, self.n_work, self.roll = program, columns, angles, n_work, roll
        self.place = np.full(len(program.kind), -1, dtype=np.int64)
        for fixed in (sines, {v: k for v, k in angles.items() if program.kind[v] >= 0}):
            self.place[list(fixed)] = list(fixed.values())

    def pieces(self, orders: list[list[int]], size: int) -> list[list[_Unfinished]]:
        """Grids worth a loop, and between them chunks; at least one chunk, for inputs may have to be copied even so."""
        worth = self.roll and max(map(len, orders)) >= SHORTEST
        arrays = [np.array(order, dtype=np.int64) for order in orders]
        runs = [find_runs(self.columns, order) if worth else [] for order in arrays]
        grids = make_grids(self.columns, list(zip(arrays, runs, strict=True)), self.angles, self.program.outputs)
        self.n_work = give_frames([grid for found in grids for grid in found], self.place, self.n_work)
        parts = [[part for grid in found for part in stretches(self.columns, grid, self.place)] for found in grids]
        made = [_fill(order, found, size) for order, found in zip(orders, parts, strict=True)]
        return made if self.angles else [[], made[1]]

    def write_angles(self, before: list[_Unfinished], size: int) -> None:
        """Each angle is written where it is computed; those that are coordinates are copied."""
        home = _home(before)
        copies = []
        for angle, place in self.angles.items():
            if angle in home:
                home[angle].to_work[angle] = place
            elif self.program.kind[angle] < 0:
                copies.append((angle, place))
        self._copy(copies, "work", before, size)

    def write_outputs(self, before: list[_Unfinished], after: list[_Unfinished], size: int) -> None:
        """Each output is written where it is computed; inputs, constants, batched sines and what stands in frames at the end."""
        home = _home(before + after)
        for k, value in enumerate(self.program.outputs):
            if value in home:
                home[value].to_out.setdefault(value, []).append(k)
        self._copy(self._copied(before + after), "out", after, size)

    def _copied(self, pieces: list[_Unfinished]) -> list[tuple[int, int]]:
        """Outputs that no piece writes where it computes them."""
        grids = [piece for piece in pieces if isinstance(piece, Grid)]
        home = _home(pieces)
        written = {place for grid in grids for _, places in grid.outputs for place in places.tolist()}
        return [(value, k) for k, value in enumerate(self.program.outputs) if value not in home and k not in written]

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
        """A place in work for every value that crosses a cut, free again after the last piece that reads it.

        Values of runs have theirs already.
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
        """What leaves the blocks of the loops, now that they are known."""
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
    """Grids in their places, chunks of what stands between them and after."""
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
    """The last chunk, or a new one at the end if it is full, and its room: copies count too, there may be thousands."""
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
