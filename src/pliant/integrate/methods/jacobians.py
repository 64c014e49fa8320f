"""The Jacobian of the right-hand side at the present state: from its kernel, column by column, or by differences.  Compiled.

`matrix` holds n_rows_jacobian rows of n_newton numbers, then df/dt of as many rows if the rows cover the whole state.
"""

from __future__ import annotations

import math
from typing import Any

from pliant.codegen.loop_language import floats
from pliant.integrate.loop.kernels import call_kernel, finite, put, stage

ROUND_OFF = 2.0**-52
SMALLEST_CHANGE = 1e-5  # smallest size of a component in the increment of differences (Hairer, radau5)


def evaluate_jacobian(run: Any) -> None:
    """df/dy (and df/dt) at (t, y), k_0 known."""
    jacobian_at(run, run.t, run.y, stage(run, 0), run.matrix)
    run.jacobian_known = run.jacobian_here = 1
    run.factorised_h = 0.0


def jacobian_at(run: Any, t: float, y: int, slope: int, matrix: int) -> None:
    """The Jacobian at any state; `slope` is the derivative there."""
    rows, n = run.n_rows_jacobian, run.n_newton
    exact = run.jacobian != 0
    if exact and run.jacobian_by_columns:
        _by_columns(run, t, y, matrix)
    elif exact:
        call_kernel(run.jacobian, t, y, run.p, matrix, run.work)
    if not (exact and finite(matrix, rows * (n + 1) if rows == run.n else rows * n)):
        # at a corner of a law, the inactive side may have an infinite derivative
        _by_differences(run, t, y, slope, matrix)
    run.jacobians += 1


def _put_column(run: Any, address: int, j: int) -> None:
    rows, n = run.n_rows_jacobian, run.n_newton
    column = floats(run.column_out, rows)
    if j == n:
        put(address + 8 * rows * n, run.column_out, rows)
        return
    matrix = floats(address, rows * n)
    for i in range(rows):
        matrix[i * n + j] = column[i]


def _by_columns(run: Any, t: float, y: int, matrix: int) -> None:
    """J e_j for every j; the kernel's argument is the state, the direction in the state and the direction in t as one vector."""
    n = run.n_newton
    put(run.seed, y, run.n)
    direction = floats(run.seed + 8 * run.n, n + 1)
    for j in range(n + 1):
        direction[j] = 0.0
    for j in range(n + 1 if run.n_rows_jacobian == run.n else n):
        direction[j] = 1.0
        call_kernel(run.jacobian, t, run.seed, run.p, run.column_out, run.work)
        direction[j] = 0.0
        _put_column(run, matrix, j)


def _by_differences(run: Any, t: float, y: int, slope: int, matrix: int) -> None:
    rows, n = run.n_rows_jacobian, run.n_newton
    put(run.seed, y, run.n)
    state, k0, column = floats(run.seed, run.n), floats(slope, rows), floats(run.column_out, run.n)
    for j in range(n + 1 if rows == run.n else n):
        at = state[j] if j < n else t
        moved = at + math.sqrt(ROUND_OFF * max(SMALLEST_CHANGE, abs(at)))
        if j < n:
            state[j] = moved
        call_kernel(run.rhs, t if j < n else moved, run.seed, run.p, run.column_out, run.work)
        run.rhs_evaluations += 1
        if j < n:
            state[j] = at
        for i in range(rows):
            column[i] = (column[i] - k0[i]) / (moved - at)
        _put_column(run, matrix, j)


def spectral_radius(run: Any) -> float:
    """The spectral radius of the present Jacobian, 1/s, by two more steps of the power method, continued from the last call.

    Two steps at a time give the magnitude of a pair of complex eigenvalues: |J^2 x| = rho^2 |x|.
    """
    if not run.jacobian_known:
        return 0.0
    n = run.n_newton
    x, z, matrix = floats(run.spin, n), floats(run.column_out, n), floats(run.matrix, n * n)
    size = 0.0
    for i in range(n):
        size += x[i] * x[i]
    if not 0.0 < size < math.inf:
        for i in range(n):
            x[i] = 1.0 + 0.1 * (i % 7)  # not orthogonal to any likely eigenvector
            size += x[i] * x[i]
    grown = 0.0
    for _ in range(2):
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += matrix[i * n + j] * x[j]
            z[i] = total
        grown = 0.0
        for i in range(n):
            x[i] = z[i]
            grown += x[i] * x[i]
    if not 0.0 < grown < math.inf:
        return 0.0
    for i in range(n):
        x[i] /= math.sqrt(grown)
    return math.sqrt(math.sqrt(grown / size))
