"""Vectors, matrices and rotations over any scalar, as plain tuples; a float 0.0 is a structural zero."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Scalar = Any  # float, or any object with the arithmetic of one
Vec = tuple[Scalar, Scalar, Scalar]
Mat = tuple[Vec, Vec, Vec]

ZERO: Vec = (0.0, 0.0, 0.0)
IDENTITY: Mat = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
NULL: Mat = (ZERO, ZERO, ZERO)


def is_zero(x: Scalar) -> bool:
    """True for a number that is zero; a traced scalar is never known to be zero."""
    return isinstance(x, (int, float)) and x == 0.0


def vanishes(v: Sequence[Scalar]) -> bool:
    return all(is_zero(x) for x in v)


def total(terms: Iterable[Scalar]) -> Scalar:
    result: Scalar = 0.0
    for term in terms:
        result = result + term
    return result


def add(a: Vec, b: Vec) -> Vec:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def sub(a: Vec, b: Vec) -> Vec:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def scale(c: Scalar, a: Vec) -> Vec:
    return (c * a[0], c * a[1], c * a[2])


def dot(a: Vec, b: Vec) -> Scalar:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def inner(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """a . b of any length, skipping structural zeros."""
    return total(x * y for x, y in zip(a, b, strict=True) if not is_zero(x) and not is_zero(y))


def cross(a: Vec, b: Vec) -> Vec:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def skew(a: Vec) -> Mat:
    """skew(a) b = a x b."""
    return ((0.0, -a[2], a[1]), (a[2], 0.0, -a[0]), (-a[1], a[0], 0.0))


def transpose(m: Mat) -> Mat:
    return ((m[0][0], m[1][0], m[2][0]), (m[0][1], m[1][1], m[2][1]), (m[0][2], m[1][2], m[2][2]))


def times(m: Mat, v: Vec) -> Vec:
    return (dot(m[0], v), dot(m[1], v), dot(m[2], v))


def transposed_times(m: Mat, v: Vec) -> Vec:
    return times(transpose(m), v)


def product(a: Mat, b: Mat) -> Mat:
    columns = transpose(b)
    return tuple(tuple(dot(row, column) for column in columns) for row in a)  # type: ignore[return-value]


def outer(a: Vec, b: Vec) -> Mat:
    return (scale(a[0], b), scale(a[1], b), scale(a[2], b))


def mat_add(a: Mat, b: Mat) -> Mat:
    return (add(a[0], b[0]), add(a[1], b[1]), add(a[2], b[2]))


def mat_sub(a: Mat, b: Mat) -> Mat:
    return (sub(a[0], b[0]), sub(a[1], b[1]), sub(a[2], b[2]))


def mat_scale(c: Scalar, m: Mat) -> Mat:
    return (scale(c, m[0]), scale(c, m[1]), scale(c, m[2]))


def trace(m: Mat) -> Scalar:
    return m[0][0] + m[1][1] + m[2][2]


def axial(m: Mat) -> Vec:
    """int a x b, from m = int a b^T."""
    return (m[1][2] - m[2][1], m[2][0] - m[0][2], m[0][1] - m[1][0])


def mirrored(m: Mat) -> Mat:
    """A matrix with its upper triangle mirrored, so that it is symmetric to the last bit."""
    return ((m[0][0], m[0][1], m[0][2]), (m[0][1], m[1][1], m[1][2]), (m[0][2], m[1][2], m[2][2]))


def solve_symmetric(matrix: Sequence[Sequence[Scalar]], right: Sequence[Scalar]) -> list[Scalar]:
    """x of M x = b for M symmetric positive definite, by L D L^T without pivoting; structural zeros are skipped."""
    return substitute(factorise(matrix), right)


def factorise(matrix: Sequence[Sequence[Scalar]]) -> tuple[list[list[Scalar]], list[Scalar]]:
    """(L without its diagonal, 1/D) of M = L D L^T."""
    n = len(matrix)
    lower: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    inverse: list[Scalar] = [0.0] * n
    for j in range(n):
        # row j holds L_jk D_k until its pivot is known
        held = [matrix[j][k] for k in range(j + 1)]
        for k in range(j):
            held[k] = matrix[j][k] - total(held[i] * lower[k][i] for i in range(k))
        for k in range(j):
            lower[j][k] = held[k] * inverse[k]
        pivot = matrix[j][j] - total(held[k] * lower[j][k] for k in range(j))
        inverse[j] = 1.0 / pivot
    return lower, inverse


def substitute(factors: tuple[list[list[Scalar]], list[Scalar]], right: Sequence[Scalar]) -> list[Scalar]:
    """x of L D L^T x = b."""
    (lower, inverse), n = factors, len(right)
    x = list(right)
    for j in range(n):
        x[j] = x[j] - total(lower[j][k] * x[k] for k in range(j))
    for j in range(n):
        x[j] = x[j] * inverse[j]
    for j in reversed(range(n)):
        x[j] = x[j] - total(lower[k][j] * x[k] for k in range(j + 1, n))
    return x
