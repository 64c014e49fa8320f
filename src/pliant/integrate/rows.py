"""One kernel over many saved rows."""

from __future__ import annotations

import functools

import numpy as np

from pliant.codegen.llvm import address_of
from pliant.host.stages import Stages
from pliant.integrate.compiled_loops import CompiledLoop, compiled_loop
from pliant.integrate.memory.memory import Floats


def evaluate_rows(
    address: int, times: Floats, states: Floats, p: Floats, out: Floats, n_work: int, constants: Floats | None = None
) -> None:
    """out[k] = kernel(times[k], states[k], p) for all rows.

    p may have one row for each of them; the constants, common to all rows, are then appended to it.
    """
    work, times, states = np.empty(max(n_work, 1)), np.ascontiguousarray(times), np.ascontiguousarray(states)
    changing, whole = np.empty((0, 0)), np.ascontiguousarray(p)
    if constants is not None:
        changing, whole = whole, np.concatenate([np.zeros(p.shape[-1]), constants])
    _row_loop()(
        address, len(times), address_of(times), address_of(states), states.strides[0],
        address_of(whole), whole.strides[0] if whole.ndim == 2 else 0,
        address_of(changing), changing.strides[0] if changing.size else 0, changing.shape[1],
        address_of(out), out.strides[0], address_of(work),
    )  # fmt: skip


@functools.cache
def _row_loop() -> CompiledLoop:
    return compiled_loop("loop.row_loop", Stages())
