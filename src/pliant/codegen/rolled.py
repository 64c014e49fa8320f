"""Rolls runs of a program into loops: the operations of one block are written once for all blocks.

Values that are read outside their block are stored in work, in one frame per block. The values that a block reads then mostly lie a
constant stride from those that the previous block reads: in the frames of the same or another run, among the sines, or in y. Blocks
that break the stride, such as the first of a chain, remain straight-line code and write to the frames as well. Results are the same
as without loops, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from pliant.arrays import Ints, Truths
from pliant.codegen.program import CONSTANT, INPUT, NONE, PARAMETER, STATE, TIME, Program
from pliant.codegen.repeats import FEWEST_BLOCKS, Columns, Run

SMALLEST_BLOCK = 600  # operations, loads and stores: smaller blocks are joined to reduce memory traffic
COPIES_A_BLOCK = 8  # enough to hide the loop overhead
LONGEST_PATTERN = 9  # copies after which strides may repeat: one rotation matrix per body
FEWEST_SAVED = 150  # operations that a loop must save to outweigh its loads and stores
MOST_WRITES = 64  # writes of a joined block: LLVM's time grows with their square
SHORTEST = 4000  # operations: shorter programs are left as they are

TABLE = "table"
_ARRAYS = ("", "y", "p", "work", "out")  # indexed by the numbers below
_Y, _P, _WORK, _OUT, _UNPLACED = 1, 2, 3, 4, 5
_APART = 1 << 40  # offset between arrays in the single address that encodes array and index


@dataclass(frozen=True)
class Stream:
    """Where block k reads or writes a value: array[first + stride * k]."""

    array: str
    first: int
    stride: int


@dataclass(frozen=True)
class RolledLoop:
    """One block as a separate program, whose INPUT leaves are streams, and the number of times it runs."""

    body: Program
    count: int
    inputs: tuple[Stream, ...]
    writes: tuple[tuple[int, Stream], ...]  # value of the body, and its destination
    table: tuple[float, ...] = ()  # constants that differ from block to block


@dataclass
class Grid:
    """The values of a run, one row per block, and which of them are read outside their block."""

    start: int  # position in the order
    values: Ints
    inside: Truths  # [argument, column]: computed in the same block, by the same column, in every block
    exported: Truths  # by column
    outputs: list[tuple[int, Ints]] = field(default_factory=list)  # column, and its index in out for each block

    @property
    def blocks(self) -> int:
        return int(self.values.shape[0])

    @property
    def width(self) -> int:
        return int(self.values.shape[1])

    def part(self, first: int, count: int, joined: int) -> Grid:
        """Some of the blocks, with every `joined` of them combined; the values that leave the new blocks must be found again."""
        width, columns = joined * self.width, range(joined)
        rows = slice(first, first + count * joined)
        outputs = [(k * self.width + j, places[rows][k::joined]) for j, places in self.outputs for k in columns
                   if places[first] != NONE]  # fmt: skip
        values = self.values[rows].reshape(count, width)
        return Grid(self.start + first * self.width, values, np.zeros((3, width), bool), np.zeros(width, bool), outputs)


def make_grids(
    columns: Columns, orders: Sequence[tuple[Ints, Sequence[Run]]], angles: Iterable[int], outputs: Sequence[int]
) -> list[list[Grid]]:
    """Grids of the runs of each order."""
    grids = []
    for order, runs in orders:
        rows = [order[run.start : run.start + run.count * run.period].reshape(run.count, run.period) for run in runs]
        grids.append([Grid(run.start, values, np.zeros((3, run.period), bool), np.zeros(run.period, bool))
                      for run, values in zip(runs, rows, strict=True)])  # fmt: skip
    every = [grid for found in grids for grid in found]
    leaving = find_leaving(columns, every)
    leaving[list(angles)] = True
    places: dict[int, list[int]] = {}
    for place, value in enumerate(outputs):
        places.setdefault(value, []).append(place)
    for grid in every:
        _note_outputs(grid, places)
        grid.exported = np.asarray(leaving[grid.values].any(axis=0))
    return grids


def find_leaving(columns: Columns, grids: Sequence[Grid]) -> Truths:
    """Mark values that are read outside their block, and arguments that stay inside."""
    block = np.full(columns.kind.size, -1, dtype=np.int64)
    column = np.full(columns.kind.size, -1, dtype=np.int64)
    taken = 0
    for grid in grids:
        block[grid.values] = taken + np.arange(grid.blocks)[:, None]
        column[grid.values] = np.arange(grid.width)
        taken += grid.blocks
    outside = columns.arguments != NONE
    for grid in grids:
        argument = columns.arguments[:, grid.values]
        same = (argument != NONE) & (block[argument] == block[grid.values])
        grid.inside = (same & (column[argument] == column[argument[:, :1]])).all(axis=1)
        outside[:, grid.values] &= ~grid.inside[:, None, :]
    leaving = np.zeros(columns.kind.size, bool)
    leaving[columns.arguments[outside]] = True
    return leaving


def _note_outputs(grid: Grid, places: dict[int, list[int]]) -> None:
    """The index in out at which each block writes its columns; NONE for a block that does not write where others do."""
    for j in range(grid.width):
        found = [places.get(value, []) for value in grid.values[:, j].tolist()]
        for k in range(max(map(len, found))):
            grid.outputs.append((j, np.array([one[k] if len(one) > k else NONE for one in found], dtype=np.int64)))


def give_frames(grids: Iterable[Grid], place: Ints, first: int) -> int:
    """Assign indices in work to all values that leave their block and have none yet; returns the next free index."""
    for grid in grids:
        wanted = np.flatnonzero(grid.exported & (place[grid.values] < 0).any(axis=0))
        frames = first + np.arange(grid.blocks)[:, None] * wanted.size + np.arange(wanted.size)
        values = grid.values[:, wanted]
        place[values] = np.where(place[values] < 0, frames, place[values])
        first += grid.blocks * wanted.size
    return first


def stretches(columns: Columns, grid: Grid, place: Ints) -> list[Grid]:
    """The parts of a grid worth a loop: everything a block reads and writes advances by constant strides from block to block."""
    addresses = _addresses(columns, grid, place)
    step = np.diff(addresses, axis=0)
    unplaced = addresses // _APART == _UNPLACED
    fits = ~((unplaced[1:] | unplaced[:-1]) & (step != 0)).any(axis=1)  # a straight-line value must be the same one
    fits &= (addresses[1:] // _APART == addresses[:-1] // _APART).all(axis=1)
    alike = (step[1:] == step[:-1]).all(axis=1) & fits[1:] & fits[:-1]
    edges = [0, *(np.flatnonzero(~alike) + 1).tolist(), step.shape[0]]
    writes = int(grid.exported.sum()) + len(grid.outputs)
    size = grid.width + int((addresses[0] != 0).sum())
    wanted = min(-(-SMALLEST_BLOCK // size), max(1, MOST_WRITES // max(writes, 1)))
    found: list[Grid] = []
    free = 0
    for begin, end in pairwise(edges):
        first = max(begin, free)
        rows = end + 1 - first  # k equal steps make k + 1 blocks
        joined = max(1, min(wanted, rows // (2 * FEWEST_BLOCKS)))
        count = rows // joined
        if fits[begin] and count >= FEWEST_BLOCKS and (count - 1) * joined * grid.width >= FEWEST_SAVED:
            found.append(grid.part(first, count, joined))
            free = first + count * joined
    return found


def _addresses(columns: Columns, grid: Grid, place: Ints) -> Ints:
    """The addresses of everything a block reads or writes outside itself, for each block; one number encodes array and index."""
    parts = []
    for row, inside in zip(columns.arguments, grid.inside, strict=True):
        argument = row[grid.values[:, ~inside]]
        parts.append(_address(columns, argument, place))
    parts.append(_WORK * _APART + place[grid.values[:, grid.exported]])
    parts += [np.where(places == NONE, 0, _OUT * _APART + places)[:, None] for _, places in grid.outputs]
    return np.concatenate(parts, axis=1)


def _address(columns: Columns, argument: Ints, place: Ints) -> Ints:
    """Array and index of values as one number; 0 if none is needed: constants, time, missing arguments."""
    kind, index, placed = columns.kind[argument], columns.index[argument], place[argument]
    address = np.where(placed >= 0, _WORK * _APART + placed, _UNPLACED * _APART + argument)
    address = np.where(kind == STATE, _Y * _APART + index, address)
    address = np.where(kind == PARAMETER, _P * _APART + index, address)
    return np.where((argument == NONE) | (kind == CONSTANT) | (kind == TIME), 0, address)


def make_loop(program: Program, columns: Columns, grid: Grid, place: Ints) -> RolledLoop:
    """The loop of a grid, after all indices are assigned."""
    made = _Body(program, columns, grid.values, place)
    for j, value in enumerate(grid.values[0].tolist()):
        made.compute(j, value, grid.inside[:, j])
    exported = np.flatnonzero(grid.exported).tolist()
    writes = [(made.number[j], _stream(_WORK, place[grid.values[:2, j]])) for j in exported]
    writes += [(made.number[j], _stream(_OUT, places)) for j, places in grid.outputs]
    return RolledLoop(made.body, grid.blocks, made.inputs(), tuple(writes), made.table())


class _Body:
    """One block as a program under construction."""

    def __init__(self, program: Program, columns: Columns, rows: Ints, place: Ints) -> None:
        self.program, self.columns, self.rows, self.place = program, columns, rows, place
        self.body = Program(n_y=0, n_p=0)
        self.number: list[int] = []  # number of each column in the body
        self.streams: dict[Stream, int] = {}
        self.differing: list[Ints] = []
        self.column_of = {value: j for j, value in enumerate(rows[0].tolist())}

    def compute(self, j: int, value: int, inside: Truths) -> None:
        arguments = [NONE, NONE, NONE]
        for k, row in enumerate(self.columns.arguments):
            argument = int(row[value])
            if argument != NONE:
                arguments[k] = self.number[self.column_of[argument]] if inside[k] else self._leaf(row[self.rows[:, j]])
        self.number.append(self.body.append(int(self.columns.kind[value]), *arguments))

    def _leaf(self, arguments: Ints) -> int:
        """A leaf for a value from outside the block, given for each block."""
        kind = int(self.columns.kind[arguments[0]])
        if kind == TIME:
            return self.body.value(TIME, 0)
        if kind == CONSTANT:
            constants = self.columns.index[arguments]
            if (constants == constants[0]).all():
                return self.body.constant(self.program.constants[int(constants[0])])
            self.differing.append(constants)
            return self._input(Stream(TABLE, len(self.differing) - 1, 0))
        addresses = _address(self.columns, arguments[:2], self.place)
        return self._input(_stream(int(addresses[0]) // _APART, addresses % _APART))

    def _input(self, stream: Stream) -> int:
        return self.body.value(INPUT, self.streams.setdefault(stream, len(self.streams)))

    def inputs(self) -> tuple[Stream, ...]:
        width = len(self.differing)
        return tuple(replace(stream, stride=width) if stream.array == TABLE else stream for stream in self.streams)

    def table(self) -> tuple[float, ...]:
        if not self.differing:
            return ()
        return tuple(self.program.constants[k] for k in np.array(self.differing).T.ravel().tolist())


def _stream(array: int, indices: Ints) -> Stream:
    return Stream(_ARRAYS[array], int(indices[0]), int(indices[1] - indices[0]))


def copy_loops(
    program: Program, columns: Columns, copies: Sequence[tuple[int, int]], array: str, place: Ints
) -> tuple[list[RolledLoop], list[tuple[int, int]]]:
    """Copies (value, index in an array): loops for those whose strides repeat, and the remaining copies."""
    loops: list[RolledLoop] = []
    left = np.array(copies, dtype=np.int64).reshape(-1, 2)
    for period in range(1, LONGEST_PATTERN + 1):
        if len(left) >= FEWEST_BLOCKS * COPIES_A_BLOCK:
            found, left = _periodic_copies(program, columns, left, array, place, period)
            loops += found
    return loops, [(value, target) for value, target in left.tolist()]


def _periodic_copies(
    program: Program, columns: Columns, copies: Ints, array: str, place: Ints, period: int
) -> tuple[list[RolledLoop], Ints]:
    """Loops for copies whose steps within an array repeat after `period` of them, and the remaining copies."""
    value, target = copies.T
    constant = columns.kind[value] == CONSTANT
    source = np.where(constant, 0, _address(columns, value, place))
    number = np.where(constant, 1 + value, 0)  # which constant; a constant needs no address
    by_source = np.lexsort((target, number, source // _APART))
    value, target, source, number = value[by_source], target[by_source], source[by_source], number[by_source]
    kind = np.stack([number, source // _APART], axis=1)
    step = np.concatenate([np.diff(np.stack([source, target], axis=1), axis=0), np.diff(kind, axis=0)], axis=1)
    alike = (step[:, 2:] == 0).all(axis=1)  # from the same array or the same constant
    again = (step[period:] == step[:-period]).all(axis=1) & alike[period:] & alike[:-period]
    edges = [0, *(np.flatnonzero(np.diff(again)) + 1).tolist(), again.size]
    width = period * -(-COPIES_A_BLOCK // period)
    loops: list[RolledLoop] = []
    left = np.ones(value.size, bool)
    free = 0
    for begin, end in pairwise(edges):
        first = max(begin, free)
        count = (end + period + 1 - first) // width  # steps begin, ..., end + period - 1 connect one copy more
        in_an_array = number[first] > 0 or source[first] >= _APART  # time is in no array
        if again[begin] and in_an_array and count >= FEWEST_BLOCKS:
            rows = slice(first, first + count * width)
            loops.append(_copy_loop(program, columns, value[rows], source[rows], target[rows], width, array))
            free = rows.stop
            left[rows] = False
    return loops, np.stack([value[left], target[left]], axis=1)


def _copy_loop(
    program: Program,
    columns: Columns,
    value: Ints,
    source: Ints,
    target: Ints,
    width: int,
    array: str,
) -> RolledLoop:
    body = Program(n_y=0, n_p=0)
    streams: list[Stream] = []
    writes: list[tuple[int, Stream]] = []
    for k in range(width):
        if columns.kind[value[k]] == CONSTANT:
            number = body.constant(program.constants[int(columns.index[value[k]])])
        else:
            streams.append(_stream(int(source[k]) // _APART, source[k::width][:2] % _APART))
            number = body.value(INPUT, k)
        writes.append((number, Stream(array, int(target[k]), int(target[k + width] - target[k]))))
    return RolledLoop(body, value.size // width, tuple(streams), tuple(writes))
