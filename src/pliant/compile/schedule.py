"""The order in which a program's values are computed: angles first, all their sines together, then the rest, in chunks.

A chunk becomes one straight-line function. LLVM's time grows faster than the length of such a function, so a program
is cut into pieces of bounded length; values that cross a cut travel through the work array.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import casadi as ca

from pliant.compile.program import Program
from pliant.compile.sincos import WIDTH


@dataclass
class Chunk:
    """Values that one function computes, in order, and where it writes them."""

    values: list[int]
    to_work: dict[int, int] = field(default_factory=dict)  # value -> its place in work
    to_out: dict[int, list[int]] = field(default_factory=dict)  # value -> its places in out


@dataclass
class Schedule:
    """The chunks `before` put the angles into work[0:batch], the batch puts their sines and cosines into the next two
    parts of that length, the chunks `after` compute the rest. `place` is where in work a value is found that the
    batch or an earlier chunk has computed."""

    before: list[Chunk]
    after: list[Chunk]
    batch: int
    place: dict[int, int]
    n_work: int


def make_schedule(program: Program, chunk_size: int) -> Schedule:
    angles = batched_angles(program)
    batch = -(-len(angles) // WIDTH) * WIDTH
    sines = _places_of_sines(program, angles, batch)
    early = _needed_for(program, angles)
    computed = [v for v, kind in enumerate(program.kind) if kind >= 0 and v not in sines]
    before = _cut([v for v in computed if v in early], chunk_size) if angles else []
    after = _cut([v for v in computed if v not in early], chunk_size)
    _write_angles(before, angles, chunk_size)
    place, n_work = _share_work(program, before + after, sines | angles, 3 * batch)
    _write_outputs(program.outputs, before, after, chunk_size)
    return Schedule(before, after, batch, place, n_work)


def batched_angles(program: Program) -> dict[int, int]:
    """Every argument of a sine or cosine that itself needs none, with its place in the batch.

    In a mechanism these are nearly all: joint angles are coordinates, and those of bent tips polynomials of them.
    """
    angles: dict[int, int] = {}
    after_sine: set[int] = set()
    for value, kind in enumerate(program.kind):
        if kind in (ca.OP_SIN, ca.OP_COS):
            after_sine.add(value)
            if program.a[value] not in after_sine:
                angles.setdefault(program.a[value], len(angles))
        elif any(argument in after_sine for argument in program.arguments(value)):
            after_sine.add(value)
    return angles


def _places_of_sines(program: Program, angles: dict[int, int], batch: int) -> dict[int, int]:
    part = {ca.OP_SIN: batch, ca.OP_COS: 2 * batch}
    return {
        value: part[kind] + angles[program.a[value]]
        for value, kind in enumerate(program.kind)
        if kind in part and program.a[value] in angles
    }


def _needed_for(program: Program, values: dict[int, int]) -> set[int]:
    """The values and all that they are computed from."""
    needed = set(values)
    for value in range(len(program.kind) - 1, -1, -1):
        if value in needed:
            needed.update(program.arguments(value))
    return needed


def _cut(values: list[int], size: int) -> list[Chunk]:
    """Chunks of equal length, at most `size`; at least one, for inputs may have to be copied even so."""
    count = max(1, -(-len(values) // size))
    ends = [len(values) * k // count for k in range(count + 1)]
    return [Chunk(values[start:end]) for start, end in pairwise(ends)]


def _with_room(chunks: list[Chunk], size: int) -> Chunk:
    """The last chunk, or a new one after it if it is full: copies count too, there may be thousands."""
    last = chunks[-1]
    if len(last.values) + len(last.to_work) + len(last.to_out) >= size:
        chunks.append(Chunk([]))
    return chunks[-1]


def _write_angles(before: list[Chunk], angles: dict[int, int], size: int) -> None:
    home = _home(before)
    for angle, place in angles.items():
        chunk = before[home[angle]] if angle in home else _with_room(before, size)
        chunk.to_work[angle] = place


def _home(chunks: list[Chunk]) -> dict[int, int]:
    """The chunk that computes each value."""
    return {value: k for k, chunk in enumerate(chunks) for value in chunk.values}


def _share_work(program: Program, chunks: list[Chunk], fixed: dict[int, int], first: int) -> tuple[dict[int, int], int]:
    """A place in work for every value that crosses a cut, free again after the last chunk that reads it."""
    last_reader = {
        argument: k
        for k, chunk in enumerate(chunks)
        for value in chunk.values
        for argument in program.arguments(value)
        if program.kind[argument] >= 0
    }
    expiring: list[list[int]] = [[] for _ in chunks]
    place, n_work = dict(fixed), first
    free: list[int] = []
    for k, chunk in enumerate(chunks):
        for value in chunk.values:
            if value not in place and last_reader.get(value, k) > k:
                if not free:
                    free.append(n_work)
                    n_work += 1
                place[value] = chunk.to_work[value] = free.pop()
                expiring[last_reader[value]].append(place[value])
        free.extend(expiring[k])
    return {value: where for value, where in place.items() if program.kind[value] >= 0}, n_work


def _write_outputs(outputs: list[int], before: list[Chunk], after: list[Chunk], size: int) -> None:
    """Each output is written where it is computed; inputs, constants and batched sines at the end."""
    computing = before + after
    home = _home(computing)
    for k, value in enumerate(outputs):
        chunk = computing[home[value]] if value in home else _with_room(after, size)
        chunk.to_out.setdefault(value, []).append(k)
