"""One kernel over many rows.  Compiled."""

from __future__ import annotations

from pliant.codegen.loop_language import floats
from pliant.integrate.loop.kernels import Loop, call_kernel, put


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


LOOP = Loop(_evaluate_rows, (int,) * 13)
