"""One kernel over many rows.  Compiled."""

from __future__ import annotations

from numba import types

from pliant.integrate.kernels import bitcode_of, call_kernel, floats, put
from pliant.integrate.shipped_loops import Bitcode


def _evaluate_rows(
    kernel: int, n: int, t: int, y: int, y_step: int, p: int, p_step: int, changing: int, changing_step: int, n_changing: int,
    out: int, out_step: int, work: int,
) -> int:  # fmt: skip
    """out[k] = kernel(t[k], y[k], p[k]); strides in bytes. The first n_changing entries of p come from `changing`, row by row."""
    times = floats(t, n)
    for k in range(n):
        put(p, changing + changing_step * k, n_changing)
        call_kernel(kernel, times[k], y + y_step * k, p + p_step * k, out + out_step * k, work)
    return n


def compile_code() -> Bitcode:
    """int64 evaluate_rows(int64 ...)."""
    return bitcode_of(_evaluate_rows, types.int64, *(types.int64,) * 13)
