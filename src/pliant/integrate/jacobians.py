"""The Jacobian of the right-hand side at the present state: from its kernel, column by column, or by differences.  Compiled.

`matrix` holds n_rows_jacobian rows of n_newton numbers, then df/dt of as many rows where rows stand for the whole state.
"""

from __future__ import annotations

import math
from typing import Any

from pliant.integrate.kernels import call_kernel, compiled, finite, floats, put, stage

ROUND_OFF = 2.0**-52
SMALLEST_CHANGE = 1e-5  # of a component near zero, over which differences are taken (Hairer, radau5)


@compiled
def evaluate_jacobian(run: Any) -> None:
    """df/dy (and df/dt) at (t, y), k_0 known."""
    rows, n = run.n_rows_jacobian, run.n_newton
    whole = rows * (n + 1) if rows == run.n else rows * n
    exact = run.jacobian != 0
    if exact and run.jacobian_by_columns:
        _by_columns(run)
    elif exact:
        call_kernel(run.jacobian, run.t, run.y, run.p, run.matrix, run.work)
    if not (exact and finite(run.matrix, whole)):
        # where a law has a corner, the side of it that does not count may have an infinite derivative
        _by_differences(run)
    run.jacobians += 1
    run.jacobian_known = run.jacobian_here = 1
    run.factorised_h = 0.0


@compiled
def _put_column(run: Any, j: int) -> None:
    rows, n = run.n_rows_jacobian, run.n_newton
    column = floats(run.column_out, rows)
    if j == n:
        put(run.matrix + 8 * rows * n, run.column_out, rows)
        return
    matrix = floats(run.matrix, rows * n)
    for i in range(rows):
        matrix[i * n + j] = column[i]


@compiled
def _by_columns(run: Any) -> None:
    """J e_j for every j; the kernel sees the state, the direction in it and that in t as one vector."""
    n = run.n_newton
    put(run.seed, run.y, run.n)
    direction = floats(run.seed + 8 * run.n, n + 1)
    for j in range(n + 1):
        direction[j] = 0.0
    for j in range(n + 1 if run.n_rows_jacobian == run.n else n):
        direction[j] = 1.0
        call_kernel(run.jacobian, run.t, run.seed, run.p, run.column_out, run.work)
        direction[j] = 0.0
        _put_column(run, j)


@compiled
def _by_differences(run: Any) -> None:
    rows, n = run.n_rows_jacobian, run.n_newton
    put(run.seed, run.y, run.n)
    y, k0, column = floats(run.seed, run.n), floats(stage(run, 0), rows), floats(run.column_out, run.n)
    for j in range(n + 1 if rows == run.n else n):
        t, at = run.t, y[j] if j < run.n else 0.0
        change = math.sqrt(ROUND_OFF * max(SMALLEST_CHANGE, abs(at if j < n else t)))
        if j < n:
            y[j] = at + change
            change = y[j] - at
        else:
            t = run.t + change
            change = t - run.t
        call_kernel(run.rhs, t, run.seed, run.p, run.column_out, run.work)
        run.rhs_evaluations += 1
        if j < n:
            y[j] = at
        for i in range(rows):
            column[i] = (column[i] - k0[i]) / change
        _put_column(run, j)


@compiled
def shifted(run: Any, target: int, shift: float) -> None:
    """shift I - J, of the components that feed back."""
    n = run.n_newton
    out, matrix = floats(target, n * n), floats(run.matrix, n * n)
    for k in range(n * n):
        out[k] = -matrix[k]
    for i in range(n):
        out[i * (n + 1)] += shift
