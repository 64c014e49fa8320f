"""Dense linear systems, as functions of the time loop.

Matrices are passed by address, stored row by row, and factorised in place with partial pivoting.
"""

from __future__ import annotations

from pliant.codegen.loop_language import floats, fused, ints


@fused
def eliminate(target: int, source: int, factor: float, n: int) -> None:
    """target -= factor source."""
    to, by = floats(target, n), floats(source, n)
    for j in range(n):
        to[j] -= factor * by[j]


def exchange(left: int, right: int, n: int) -> None:
    a, b = floats(left, n), floats(right, n)
    for j in range(n):
        a[j], b[j] = b[j], a[j]


def factorise(matrix: int, pivots: int, n: int) -> bool:
    """P A = L U; False if A is singular or not finite.  The diagonal holds the reciprocals of U's diagonal."""
    a, pivot = floats(matrix, n * n), ints(pivots, n)
    for k in range(n):
        best, size = k, abs(a[k * n + k])
        for i in range(k + 1, n):
            if abs(a[i * n + k]) > size:
                best, size = i, abs(a[i * n + k])
        if not size > 0.0:
            return False
        pivot[k] = best
        if best != k:
            exchange(matrix + 8 * k * n, matrix + 8 * best * n, n)
        inverse = 1.0 / a[k * n + k]
        a[k * n + k] = inverse
        for i in range(k + 1, n):
            if a[i * n + k] != 0.0:
                factor = a[i * n + k] * inverse
                a[i * n + k] = factor
                eliminate(matrix + 8 * (i * n + k + 1), matrix + 8 * (k * n + k + 1), factor, n - k - 1)
    return True


@fused
def solve(matrix: int, pivots: int, right: int, n: int) -> None:
    """Replace right with A^-1 right."""
    a, pivot, x = floats(matrix, n * n), ints(pivots, n), floats(right, n)
    for k in range(n):
        best = pivot[k]
        x[k], x[best] = x[best], x[k]
    for i in range(1, n):
        row, rest = floats(matrix + 8 * i * n, n), x[i]
        for j in range(i):
            rest -= row[j] * x[j]
        x[i] = rest
    for i in range(n - 1, -1, -1):
        row, rest = floats(matrix + 8 * i * n, n), x[i]
        for j in range(i + 1, n):
            rest -= row[j] * x[j]
        x[i] = rest * a[i * n + i]


@fused
def eliminate_complex(target: int, source: int, real: float, imaginary: float, offset: int, n: int) -> None:
    """target -= (real + i imaginary) source; imaginary parts lie `offset` bytes further on."""
    to_r, to_i, by_r, by_i = floats(target, n), floats(target + offset, n), floats(source, n), floats(source + offset, n)
    for j in range(n):
        to_r[j] -= real * by_r[j] - imaginary * by_i[j]
        to_i[j] -= real * by_i[j] + imaginary * by_r[j]


def factorise_complex(matrix: int, pivots: int, n: int) -> bool:
    """As `factorise`; real parts of the matrix first, then the imaginary ones."""
    offset = 8 * n * n
    a, b, pivot = floats(matrix, n * n), floats(matrix + offset, n * n), ints(pivots, n)
    for k in range(n):
        best, size = k, abs(a[k * n + k]) + abs(b[k * n + k])
        for i in range(k + 1, n):
            if abs(a[i * n + k]) + abs(b[i * n + k]) > size:
                best, size = i, abs(a[i * n + k]) + abs(b[i * n + k])
        if not size > 0.0:
            return False
        pivot[k] = best
        if best != k:
            exchange(matrix + 8 * k * n, matrix + 8 * best * n, n)
            exchange(matrix + offset + 8 * k * n, matrix + offset + 8 * best * n, n)
        d = k * n + k
        square = a[d] * a[d] + b[d] * b[d]
        p, q = a[d] / square, -b[d] / square
        a[d], b[d] = p, q
        for i in range(k + 1, n):
            x, y = a[i * n + k], b[i * n + k]
            if x != 0.0 or y != 0.0:
                real, imaginary = x * p - y * q, x * q + y * p
                a[i * n + k], b[i * n + k] = real, imaginary
                at, by = matrix + 8 * (i * n + k + 1), matrix + 8 * (k * n + k + 1)
                eliminate_complex(at, by, real, imaginary, offset, n - k - 1)
    return True


@fused
def solve_complex(matrix: int, pivots: int, right: int, right_imaginary: int, n: int) -> None:
    """Replace right + i right_imaginary with A^-1 times it."""
    offset = 8 * n * n
    pivot, x, y = ints(pivots, n), floats(right, n), floats(right_imaginary, n)
    for k in range(n):
        best = pivot[k]
        x[k], x[best] = x[best], x[k]
        y[k], y[best] = y[best], y[k]
    for i in range(1, n):
        a, b = floats(matrix + 8 * i * n, n), floats(matrix + offset + 8 * i * n, n)
        p, q = x[i], y[i]
        for j in range(i):
            p -= a[j] * x[j] - b[j] * y[j]
            q -= a[j] * y[j] + b[j] * x[j]
        x[i], y[i] = p, q
    for i in range(n - 1, -1, -1):
        a, b = floats(matrix + 8 * i * n, n), floats(matrix + offset + 8 * i * n, n)
        p, q = x[i], y[i]
        for j in range(i + 1, n):
            p -= a[j] * x[j] - b[j] * y[j]
            q -= a[j] * y[j] + b[j] * x[j]
        x[i], y[i] = p * a[i] - q * b[i], p * b[i] + q * a[i]
