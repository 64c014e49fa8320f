"""Linear systems (c I - J) x = b of implicit methods, c real or complex.  Compiled.

Chained components, whose rate is another component (q' = v), are eliminated first: c x_q - x_v = b_q gives x_q, and a system of
half the size remains.
"""

from __future__ import annotations

from typing import Any

from pliant.codegen.loop_language import floats, ints
from pliant.integrate.methods.lu import factorise, factorise_complex, solve, solve_complex


def factorise_real(run: Any, c: float) -> bool:
    """Prepare for a real c."""
    size = run.n_solved
    out = floats(run.lu, size * size)
    _rest_of_jacobian(run, run.matrix, run.lu, 1.0 / c)
    for i in range(size):
        out[i * (size + 1)] += c
    return factorise(run.lu, run.pivots, size)


def _rest_of_jacobian(run: Any, address: int, target: int, chain: float) -> None:
    """target = -(J_rr + chain J_rq), with the columns of q at the positions of their rates."""
    size, n = run.n_solved, run.n_newton
    solved, chained, rate_of = ints(run.solved, size), ints(run.chained, run.n_chained), ints(run.rate_of, run.n_chained)
    out, matrix = floats(target, size * size), floats(address, run.n_rows_jacobian * n)
    for i in range(size):
        row, to = solved[i] * n, i * size
        for j in range(size):
            out[to + j] = -matrix[row + solved[j]]
        for k in range(run.n_chained):
            out[to + rate_of[k]] -= chain * matrix[row + chained[k]]


def _chains(run: Any, address: int, target: int, chain: float) -> None:
    """target = -chain J_rq, with the columns of q at the positions of their rates."""
    size, n = run.n_solved, run.n_newton
    solved, chained, rate_of = ints(run.solved, size), ints(run.chained, run.n_chained), ints(run.rate_of, run.n_chained)
    out, matrix = floats(target, size * size), floats(address, run.n_rows_jacobian * n)
    for k in range(size * size):
        out[k] = 0.0
    for i in range(size):
        for k in range(run.n_chained):
            out[i * size + rate_of[k]] -= chain * matrix[solved[i] * n + chained[k]]


def factorise_pair(run: Any, pair: int, real: float, imaginary: float) -> bool:
    """Prepare for a complex c; the imaginary parts of the matrix follow the real ones."""
    size = run.n_solved
    address = run.lu_pairs + 16 * pair * size * size
    square = real * real + imaginary * imaginary
    _rest_of_jacobian(run, run.matrix, address, real / square)
    _chains(run, run.matrix, address + 8 * size * size, -imaginary / square)
    a, b = floats(address, size * size), floats(address + 8 * size * size, size * size)
    for i in range(size):
        a[i * (size + 1)] += real
        b[i * (size + 1)] += imaginary
    return factorise_complex(address, run.pivots + 8 * size * (pair + 1), size)


def _compress(run: Any, right: int, out: int) -> None:
    """The right-hand side of the solved components, without the contribution of chained components."""
    solved, compact, b = ints(run.solved, run.n_solved), floats(out, run.n_solved), floats(right, run.n_newton)
    for i in range(run.n_solved):
        compact[i] = b[solved[i]]


def _add_chained(run: Any, right: int, out: int, factor: float) -> None:
    """out += factor J_rq b_q."""
    n = run.n_newton
    solved, chained = ints(run.solved, run.n_solved), ints(run.chained, run.n_chained)
    compact, b, matrix = floats(out, run.n_solved), floats(right, n), floats(run.matrix, run.n_rows_jacobian * n)
    for i in range(run.n_solved):
        total = 0.0
        for k in range(run.n_chained):
            total += matrix[solved[i] * n + chained[k]] * b[chained[k]]
        compact[i] += factor * total


def resolve_real(run: Any, right: int, c: float) -> None:
    """Replace right with (c I - J)^-1 right."""
    solved, chained, rate_of = ints(run.solved, run.n_solved), ints(run.chained, run.n_chained), ints(run.rate_of, run.n_chained)
    compact, b = floats(run.compact, run.n_solved), floats(right, run.n_newton)
    _compress(run, right, run.compact)
    _add_chained(run, right, run.compact, 1.0 / c)
    solve(run.lu, run.pivots, run.compact, run.n_solved)
    for i in range(run.n_solved):
        b[solved[i]] = compact[i]
    for k in range(run.n_chained):
        b[chained[k]] = (b[chained[k]] + compact[rate_of[k]]) / c


def resolve_pair(run: Any, pair: int, right: int, right_imaginary: int, real: float, imaginary: float) -> None:
    """Replace right + i right_imaginary with ((real + i imaginary) I - J)^-1 times it."""
    size = run.n_solved
    solved, chained, rate_of = ints(run.solved, size), ints(run.chained, run.n_chained), ints(run.rate_of, run.n_chained)
    second = run.compact + 8 * size
    x, y = floats(run.compact, size), floats(second, size)
    a, b = floats(right, run.n_newton), floats(right_imaginary, run.n_newton)
    square = real * real + imaginary * imaginary
    p, q = real / square, -imaginary / square  # 1 / c
    _compress(run, right, run.compact)
    _add_chained(run, right, run.compact, p)
    _add_chained(run, right_imaginary, run.compact, -q)
    _compress(run, right_imaginary, second)
    _add_chained(run, right_imaginary, second, p)
    _add_chained(run, right, second, q)
    at = run.lu_pairs + 16 * pair * size * size
    solve_complex(at, run.pivots + 8 * size * (pair + 1), run.compact, second, size)
    for i in range(size):
        a[solved[i]], b[solved[i]] = x[i], y[i]
    for k in range(run.n_chained):
        u, v = a[chained[k]] + x[rate_of[k]], b[chained[k]] + y[rate_of[k]]
        a[chained[k]], b[chained[k]] = u * p - v * q, u * q + v * p
