"""Times at which steps of members must end so that no change in a formula of time is missed: see `integrate.time_pieces`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pliant.codegen.landmarks import landmarks
from pliant.codegen.llvm import MachineCode, compile_function
from pliant.codegen.program import PARAMETER, STATE, Program
from pliant.integrate.rows import evaluate_rows
from pliant.integrate.time_pieces import time_pieces
from pliant.trace.layout import FOREVER, WINDOW

if TYPE_CHECKING:
    from pliant.run.prepare import Compiled, CompiledStructure

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_PIECES = 4096  # of one member: the rows of more would fill the memory
EVEN = 4  # members share evenly spaced pieces if these are at most this many times as many as their own


@dataclass(frozen=True)
class Timed:
    """The formulas of time of a structure as machine code, and what they depend on besides time."""

    program: Program
    code: MachineCode

    @classmethod
    def of(cls, compiled: Compiled) -> Timed | None:
        """None if there are no such formulas."""
        timed = compiled.structure.traced.timed
        if timed is None:
            return None
        if compiled.structure not in _TIMED:
            program = timed.program()
            _TIMED[compiled.structure] = cls(program, compile_function(program, cache=compiled.structure.cache))
        return _TIMED[compiled.structure]


_TIMED: WeakKeyDictionary[CompiledStructure, Timed] = WeakKeyDictionary()  # made once for a structure


def members_by_knots(
    compiled: Compiled, t_start: float, t_end: float, states: Floats, constants: Floats
) -> Iterator[tuple[Floats | None, Ints]]:
    """Times at which steps must end, and the members they apply to; None if formulas change too fast to be sampled.

    states and constants have one row per member (or one for all). A member's times do not depend on other members.
    """
    timed, count = Timed.of(compiled), len(states)
    if timed is None:
        yield np.empty(0), np.arange(count)
        return
    traced = compiled.traced
    p = np.empty((count, traced.layout.n_changing + constants.shape[1]))
    p[:, : traced.layout.n_changing] = traced.parameters(t_start, t_end)[: traced.layout.n_changing]
    p[:, traced.layout.n_changing :] = constants
    p[:, traced.layout.p[WINDOW]] = -FOREVER, FOREVER
    told_apart_by = np.hstack([states[:, timed.program.entries_read(STATE)], p[:, timed.program.entries_read(PARAMETER)]])
    _, first, number = np.unique(told_apart_by, axis=0, return_index=True, return_inverse=True)
    knots = [_knots(timed, t_start, t_end, states[k], p[k]) for k in first.tolist()]
    alike: dict[bytes | None, list[int]] = {}
    for k, own in enumerate(knots):
        alike.setdefault(None if own is None else own.tobytes(), []).append(k)
    for numbers in alike.values():
        yield knots[numbers[0]], np.flatnonzero(np.isin(number.ravel(), numbers))


def _knots(timed: Timed, t_start: float, t_end: float, y: Floats, p: Floats) -> Floats | None:
    code = timed.code

    def functions(times: Floats) -> Floats:
        out = np.empty((times.size, code.n_out))
        evaluate_rows(code.address, times, np.tile(y, (times.size, 1)), p, out, code.n_work)
        return out.T

    pieces = time_pieces(functions, t_start, t_end, landmarks(timed.program, y, p, t_start, t_end))
    knots = pieces.knots
    if not pieces.resolved or knots.size > MOST_PIECES:
        return None
    if not knots.size:
        return knots
    even = 2 ** math.ceil(math.log2((t_end - t_start) / np.diff(knots).min()) - 1e-6)
    if even <= EVEN * knots.size:
        knots = t_start + (t_end - t_start) * np.arange(even + 1) / even
    return knots[1:-1]
