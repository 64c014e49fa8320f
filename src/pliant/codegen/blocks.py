"""Groups values that are computed together: angles first, all their sines in a batch, then the rest; guarded values apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from pliant.codegen.guards import ALL_IDLE, ALWAYS, EVERY
from pliant.codegen.program import NONE, Program
from pliant.codegen.repeats import Columns
from pliant.codegen.sincos import WIDTH

_SINES = frozenset((ca.OP_SIN, ca.OP_COS))


@dataclass(frozen=True)
class Order:
    """Values in the order in which they are computed, and their guards: if one of these is idle, all the values are left out."""

    values: list[int]
    guards: int = ALWAYS
    sines: tuple[int, ...] = ()  # sines and cosines of these values that the batch computes


@dataclass(frozen=True)
class Batch:
    """Angles whose sines are computed together: they lie in work[0:padded], their sines and cosines in the next two parts of that
    length.

    Angles that are always needed come first, in whole passes; the others are left out while all guards are idle.
    """

    angles: dict[int, int]  # angle -> its index
    always: int
    padded: int

    @staticmethod
    def of(program: Program, guards: Sequence[int]) -> Batch:
        """guards: one entry for every value."""
        common = batched_angles(program, guards)
        always = [angle for angle, mask in common.items() if mask == ALWAYS]
        others = [angle for angle, mask in common.items() if mask != ALWAYS]
        first = _whole_passes(len(always))
        angles = {angle: k for k, angle in enumerate(always)} | {angle: first + k for k, angle in enumerate(others)}
        return Batch(angles, first, first + _whole_passes(len(others)))

    @property
    def pads(self) -> list[int]:
        """Indices of the padding, which holds no angle."""
        return sorted(set(range(self.padded)) - set(self.angles.values()))

    def guards_of(self, angle: int) -> int:
        return ALWAYS if self.angles[angle] < self.always else ALL_IDLE

    def sines(self, columns: Columns) -> dict[int, int]:
        """Every sine and cosine that the batch computes, with its index in work."""
        part = {ca.OP_SIN: self.padded, ca.OP_COS: 2 * self.padded}
        sines = np.flatnonzero(np.isin(columns.kind, list(part)))
        of = zip(sines.tolist(), columns.kind[sines].tolist(), columns.index[sines].tolist(), strict=True)
        return {value: part[kind] + self.angles[angle] for value, kind, angle in of if angle in self.angles}


def _whole_passes(angles: int) -> int:
    return -(-angles // WIDTH) * WIDTH


def batched_angles(program: Program, guards: Sequence[int]) -> dict[int, int]:
    """Every argument of a sine or cosine that does not itself depend on one, with the guards common to all its sines.

    In a mechanism these are nearly all arguments: joint angles are coordinates, and the angles of bent tips are polynomials in
    them.
    """
    angles: dict[int, int] = {}
    a, b, c = program.a, program.b, program.c
    after_sine = bytearray(len(program.kind) + 1)  # the last entry stands for a missing argument: NONE
    for value, kind in enumerate(program.kind):
        if kind < 0:
            continue
        if kind in _SINES:
            after_sine[value] = 1
            if not after_sine[a[value]]:
                angles[a[value]] = angles.get(a[value], EVERY) & guards[value]
        elif after_sine[a[value]] or after_sine[b[value]] or after_sine[c[value]]:
            after_sine[value] = 1
    return angles


def orders(
    program: Program, columns: Columns, batch: Batch, sines: Iterable[int], guards: Sequence[int]
) -> tuple[list[Order], list[Order]]:
    """(Angles and the values they depend on, all other operations except the batch's sines); the last order is always computed."""
    angles = _needed_for(program, batch.angles)
    always = [v for v in angles if guards[v] == ALWAYS] + [v for v in batch.angles if batch.guards_of(v) == ALWAYS]
    early = _needed_for(program, always)
    before = [Order(sorted(early))]
    if len(early) < len(angles) or batch.always < batch.padded:
        others = [sine for sine in sines if batch.guards_of(program.a[sine]) != ALWAYS]
        before.append(Order(sorted(angles - early), ALL_IDLE, tuple(others)))
    late = columns.kind >= 0
    late[list(angles)] = late[list(sines)] = False
    return before, _late_orders(program, np.flatnonzero(late).tolist(), guards)


def _needed_for(program: Program, values: Iterable[int]) -> set[int]:
    """The operations among the values, and all operations they depend on."""
    needed: set[int] = set()
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if program.kind[value] >= 0 and value not in needed:
            needed.add(value)
            waiting += program.arguments(value)
    return needed


def _late_orders(program: Program, late: list[int], guards: Sequence[int]) -> list[Order]:
    masks = sorted({guards[value] for value in late} | {ALWAYS}, key=lambda mask: (mask != ALWAYS, mask != ALL_IDLE, mask))
    if len(masks) == 1:
        return [Order(late)]
    level = _levels(program, late, guards, {mask: rank for rank, mask in enumerate(masks)})
    found: dict[tuple[int, int], list[int]] = {}
    for value in late:
        found.setdefault((level[value], masks.index(guards[value])), []).append(value)
    every = [Order(values, masks[rank]) for (_, rank), values in sorted(found.items())]
    return every if every[-1].guards == ALWAYS else [*every, Order([])]


def _levels(program: Program, late: list[int], guards: Sequence[int], rank: dict[int, int]) -> dict[int, int]:
    """How often the pass over all sets of guards, in order, must restart before a value can be computed.

    Values that are always computed come as late as possible, so that nothing waits for guarded values without need.
    """
    level: dict[int, int] = {}
    for value in late:
        own, least = rank[guards[value]], 0
        for argument in program.arguments(value):
            if argument in level:
                least = max(least, level[argument] + (rank[guards[argument]] > own))
        level[value] = least
    latest = dict.fromkeys(late, max(level.values(), default=0))
    for value in reversed(late):
        if guards[value] == ALWAYS:
            level[value] = latest[value]
        for argument in program.arguments(value):
            if argument in latest:
                latest[argument] = min(latest[argument], level[value])
    return level


def left_out_but_read(program: Program, columns: Columns, every: Sequence[Order]) -> set[int]:
    """Values that are read, or are outputs, even while they are left out."""
    if all(order.guards == ALWAYS for order in every):
        return set()
    guards = np.zeros(columns.kind.size, dtype=np.int64)
    for order in every:
        guards[[*order.values, *order.sines]] = order.guards
    missed = np.zeros(columns.kind.size, dtype=bool)
    for argument in columns.arguments:
        readers = np.flatnonzero(argument != NONE)
        read = argument[readers]
        missed[read[(guards[read] & ~guards[readers]) != 0]] = True
    missed[program.outputs] |= guards[program.outputs] != ALWAYS
    return set(np.flatnonzero(missed).tolist())
