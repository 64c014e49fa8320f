"""One kernel over many saved rows."""

from __future__ import annotations

import numpy as np

from pliant.integrate.memory import Floats


def evaluate_rows(
    address: int, times: Floats, states: Floats, p: Floats, out: Floats, n_work: int, constants: Floats | None = None
) -> None:
    """out[k] = kernel(times[k], states[k], p) for all rows, through C calls from Python.

    p may have a row for each of them; constants, the same for all, stand behind it then.
    """
    import ctypes

    call = ctypes.CFUNCTYPE(None, ctypes.c_double, *(ctypes.c_void_p,) * 4)(address)
    work = np.empty(max(n_work, 1))
    states = np.ascontiguousarray(states)
    y, row = states.ctypes.data, states.strides[0] if states.ndim else 0
    target, step = out.ctypes.data, out.strides[0]
    scratch, changing = work.ctypes.data, p.shape[-1]
    whole = p if constants is None else np.concatenate([np.zeros(changing), constants])
    parameters, own = whole.ctypes.data, whole.strides[0] if whole.ndim == 2 else 0
    for k, t in enumerate(times.tolist()):
        if constants is not None:
            whole[:changing] = p[k]
        call(t, y + k * row, parameters + k * own, target + k * step, scratch)
