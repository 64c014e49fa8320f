"""Solves for all stages of a collocation step together, each with its own Jacobian.  Compiled; see `radau`.

One Jacobian for all stages suffices for most stiff equations. If stiff directions rotate during the motion, as those of stiff
springs that close a loop do, iterations with one Jacobian contract only while h^2 times the rate of rotation times the stiff
frequency is below one (Lubich 1993). With a Jacobian for each stage this limit on the step disappears.
"""

from __future__ import annotations

import math
from typing import Any

from pliant.codegen.loop_language import floats, ints
from pliant.integrate.loop.kernels import put
from pliant.integrate.methods.jacobians import jacobian_at
from pliant.integrate.methods.lu import factorise, solve


def factorise_coupled(run: Any, h: float, t_new: float) -> bool:
    """(A^-1 / h) x I - diag(J_i), J_i at the present stages, with chained components eliminated: x_q = h A (b_q + x_v)."""
    s, n, size = run.schemed, run.n_newton, run.n_solved
    rank, width = s * size, run.n_rows_jacobian * n
    nodes, a, inverse = floats(run.nodes, s), floats(run.integrals, s * s), floats(run.inverse_integrals, s * s)
    solved, chained, rate_of = ints(run.solved, size), ints(run.chained, run.n_chained), ints(run.rate_of, run.n_chained)
    out = floats(run.lu_coupled, rank * rank)
    y, y_try = floats(run.y, n), floats(run.y_try, n)
    put(run.y_try, run.y, run.n)
    for i in range(s):
        z, address = floats(run.z + 8 * i * run.n_padded, n), run.stage_matrices + 8 * i * width
        for k in range(n):
            y_try[k] = y[k] + z[k]
        jacobian_at(run, min(run.t + nodes[i] * h, t_new), run.y_try, run.slopes + 8 * i * run.n_padded, address)
        matrix = floats(address, width)
        for r in range(size):
            to, at = (i * size + r) * rank, solved[r] * n
            for j in range(s):
                block = to + j * size
                for c in range(size):
                    out[block + c] = -matrix[at + solved[c]] if i == j else 0.0
                out[block + r] += inverse[i * s + j] / h
                for k in range(run.n_chained):
                    out[block + rate_of[k]] -= h * a[i * s + j] * matrix[at + chained[k]]
    run.factorisations += 1
    return factorise(run.lu_coupled, run.coupled_pivots, rank)


def improve_coupled(run: Any, h: float) -> float:
    """One Newton step on the stages with known slopes; returns its size in units of the tolerance."""
    s, n, size = run.schemed, run.n_newton, run.n_solved
    a, inverse = floats(run.integrals, s * s), floats(run.inverse_integrals, s * s)
    solved, chained = ints(run.solved, size), ints(run.chained, run.n_chained)
    right, width = floats(run.coupled_right, s * size), run.n_rows_jacobian * n
    stride = run.n_padded
    z, f, residual = floats(run.z, s * stride), floats(run.slopes, s * stride), floats(run.modes, s * stride)
    # residual = f - A^-1 z / h
    for i in range(s):
        for k in range(n):
            total = f[i * stride + k]
            for j in range(s):
                total -= inverse[i * s + j] / h * z[j * stride + k]
            residual[i * stride + k] = total
    for i in range(s):
        matrix = floats(run.stage_matrices + 8 * i * width, width)
        for r in range(size):
            right[i * size + r] = residual[i * stride + solved[r]]
        for k in range(run.n_chained):
            total = 0.0
            for j in range(s):
                total += h * a[i * s + j] * residual[j * stride + chained[k]]
            for r in range(size):
                right[i * size + r] += matrix[solved[r] * n + chained[k]] * total
    solve(run.lu_coupled, run.coupled_pivots, run.coupled_right, s * size)
    return _take_coupled(run, h)


def _take_coupled(run: Any, h: float) -> float:
    """Add the change of the solved components, and of the components chained to them."""
    s, n, size, stride = run.schemed, run.n_newton, run.n_solved, run.n_padded
    a = floats(run.integrals, s * s)
    solved, chained, rate_of = ints(run.solved, size), ints(run.chained, run.n_chained), ints(run.rate_of, run.n_chained)
    change, scale = floats(run.coupled_right, s * size), floats(run.scale, n)
    z, residual = floats(run.z, s * stride), floats(run.modes, s * stride)
    sum_of_squares = 0.0
    for i in range(s):
        for r in range(size):
            z[i * stride + solved[r]] += change[i * size + r]
            sum_of_squares += (change[i * size + r] / scale[solved[r]]) ** 2
        for k in range(run.n_chained):
            total = 0.0
            for j in range(s):
                total += h * a[i * s + j] * (residual[j * stride + chained[k]] + change[j * size + rate_of[k]])
            z[i * stride + chained[k]] += total
            sum_of_squares += (total / scale[chained[k]]) ** 2
    run.iterations += 1
    return math.sqrt(sum_of_squares / (n * s))
