"""Sparse symmetric systems over any scalar, and sparse least squares over floats; rows are dicts of structural nonzeros.

Multipliers of a mechanism couple only if closures share bodies. With elimination in minimum-degree order, the cost of a row of many
small loops is proportional to their number.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pliant.dynamics.algebra import Scalar, is_zero

FEW = 50  # rows: of fewer, rotations are as fast as reflections
FILLED = 0.1  # of all entries of a matrix: with more of them, elimination leaves nothing sparse

Row = dict[int, Scalar]


def transposed(rows: Sequence[Mapping[int, Scalar]], count: int) -> list[Row]:
    """Columns of a sparse matrix, as rows."""
    found: list[Row] = [{} for _ in range(count)]
    for i, row in enumerate(rows):
        for k, x in row.items():
            found[k][i] = x
    return found


def matvec(rows: Sequence[Mapping[int, Scalar]], x: Sequence[Scalar]) -> list[Scalar]:
    """A x."""
    results = []
    for row in rows:
        result: Scalar = 0.0
        for k, a in row.items():
            result = result + a * x[k]
        results.append(result)
    return results


def symmetric_product(left: Sequence[Mapping[int, Scalar]], right: Sequence[Mapping[int, Scalar]]) -> list[Row]:
    """left times right, known to be symmetric: the lower triangle is computed, and the upper one shares its scalars."""
    found: list[Row] = [{} for _ in left]
    for i, row in enumerate(left):
        for k, a in row.items():
            for j, b in right[k].items():
                if j <= i:
                    found[i][j] = found[i].get(j, 0.0) + a * b
    for i, row in enumerate(found):
        for j, x in list(row.items()):
            found[j][i] = x
    return found


@dataclass(frozen=True)
class Factor:
    """P^T L D L^T P, ready to solve with."""

    order: tuple[int, ...]
    columns: tuple[Row, ...]  # columns of L below the diagonal, in elimination order, by indices of the matrix
    inverse: tuple[Scalar, ...]  # 1/D, in elimination order

    def solve(self, right: Sequence[Scalar]) -> list[Scalar]:
        x = list(right)
        for p, column in zip(self.order, self.columns, strict=True):
            if not is_zero(x[p]):
                for j, entry in column.items():
                    x[j] = x[j] - entry * x[p]
        for p, inverse in zip(self.order, self.inverse, strict=True):
            x[p] = x[p] * inverse
        for p, column in zip(reversed(self.order), reversed(self.columns), strict=True):
            for j, entry in column.items():
                x[p] = x[p] - entry * x[j]
        return x


def factorise(matrix: Sequence[Mapping[int, Scalar]]) -> Factor:
    """L D L^T of a symmetric positive definite matrix given by full rows, eliminated in minimum-degree order.

    There is no pivoting on values: they are not known while tracing, and a definite matrix needs none.
    """
    left: dict[int, Row] = {i: {j: x for j, x in row.items() if j != i} for i, row in enumerate(matrix)}
    pivots: list[Scalar] = [row[i] for i, row in enumerate(matrix)]
    queue = [(len(row), i) for i, row in left.items()]
    heapq.heapify(queue)
    order, columns, inverses = [], [], []
    while queue:
        degree, p = heapq.heappop(queue)
        if p not in left or degree != len(left[p]):
            continue  # an outdated entry, from before neighbours were eliminated
        row = left.pop(p)
        inverse = 1.0 / pivots[p]
        column = {j: x * inverse for j, x in row.items()}
        for j, x in row.items():
            pivots[j] = pivots[j] - x * column[j]
            del left[j][p]
        _spread(left, row, column)
        for j in row:
            heapq.heappush(queue, (len(left[j]), j))
        order.append(p)
        columns.append(column)
        inverses.append(inverse)
    return Factor(tuple(order), tuple(columns), tuple(inverses))


def _spread(left: dict[int, Row], row: Row, column: Row) -> None:
    """Subtract the outer product of an eliminated row from the rows of its neighbours, which become neighbours of each other."""
    names = sorted(row)
    for a, j in enumerate(names):
        for k in names[:a]:
            left[j][k] = left[k][j] = left[j].get(k, 0.0) - row[j] * column[k]


@dataclass(frozen=True)
class LeastChange:
    """R of A^T = Q R without dependent columns; solves A x = b for the x of minimum norm (numbers only)."""

    rows: tuple[dict[int, float], ...]  # A
    triangle: dict[int, dict[int, float]]  # rows of R, by the corresponding row of A, in the order of elimination
    left: dict[int, float]  # for each row left out: norm of the part that the others do not imply

    @property
    def independent(self) -> tuple[int, ...]:
        """Rows of A that are not implied by earlier rows."""
        return tuple(sorted(self.triangle))

    def solve(self, right: Sequence[float], count: int) -> list[float]:
        """x = A^T (R^T R)^-1 b: semi-normal equations with one step of refinement, as accurate as with Q."""
        x = [0.0] * count
        for _ in range(2):
            left = [b - done for b, done in zip(right, matvec(self.rows, x), strict=True)]
            multipliers = self._semi_normal(left)
            for i, multiplier in multipliers.items():
                for k, a in self.rows[i].items():
                    x[k] += a * multiplier
        return x

    def _semi_normal(self, right: Sequence[float]) -> dict[int, float]:
        names = list(self.triangle)
        y = {i: right[i] for i in names}
        for i in names:  # R^T y = b
            y[i] /= self.triangle[i][i]
            for j, r in self.triangle[i].items():
                if j != i and j in y:
                    y[j] -= r * y[i]
        for i in reversed(names):  # R z = y
            known = sum(r * y[j] for j, r in self.triangle[i].items() if j != i and j in y)
            y[i] = (y[i] - known) / self.triangle[i][i]
        return y


def least_change(rows: Sequence[Mapping[int, float]], count: int, negligible: Sequence[float]) -> LeastChange:
    """QR of A^T by rotations, one coordinate after another (George and Heath 1980): no squaring, and sparsity is kept.

    negligible: a row counts as implied by the earlier ones if no more than this is left of it.
    """
    held = tuple(dict(row) for row in rows)
    if len(rows) < FEW:
        return _in_order(held, count, negligible, range(len(rows)), filled=False)
    if sum(map(len, rows)) > FILLED * len(rows) * count:
        return _in_order(held, count, negligible, range(len(rows)), filled=True)
    # the order of least fill tells which rows are implied only if none is; otherwise the first ones are to be kept
    sparse = _in_order(held, count, negligible, _least_fill(held, count), filled=False)
    return _in_order(held, count, negligible, range(len(rows)), filled=True) if sparse.left else sparse


def _in_order(
    rows: tuple[dict[int, float], ...], count: int, negligible: Sequence[float], order: Sequence[int], filled: bool
) -> LeastChange:
    """QR with the rows of A taken in this order."""
    ordered = [rows[i] for i in order]
    triangle = _reflected(ordered, count) if filled else _rotated(ordered, count)
    kept, left = _without_dependent(triangle, [negligible[i] for i in order])
    named = {order[i]: {order[j]: r for j, r in row.items()} for i, row in kept.items()}
    return LeastChange(rows, named, {order[i]: left.get(i, 0.0) for i in range(len(rows)) if i not in kept})


def _least_fill(rows: Sequence[Mapping[int, float]], count: int) -> tuple[int, ...]:
    """An order of rows in which R of A^T, the factor of A A^T, stays sparse: that of least degree."""
    pattern: list[Row] = [{i: 2.0 * len(rows)} for i in range(len(rows))]  # a dominant diagonal: no pivot vanishes
    for column in transposed(rows, count):
        for i in column:
            pattern[i].update((j, 1.0) for j in column if j != i)
    return factorise(pattern).order


def _rotated(rows: Sequence[Mapping[int, float]], count: int) -> dict[int, dict[int, float]]:
    """R of A^T by rotations."""
    triangle: dict[int, dict[int, float]] = {}
    columns = [{i: float(x) for i, x in column.items() if x != 0.0} for column in transposed(rows, count)]
    for column in columns if len(rows) < FEW else sorted(filter(None, columns), key=min):
        _rotate_in(column, triangle)
    return triangle


def _reflected(rows: Sequence[Mapping[int, float]], count: int) -> dict[int, dict[int, float]]:
    """R of A^T by Householder's reflections: of a matrix that is not sparse, rotations one by one take minutes."""
    columns = np.zeros((count, len(rows)))
    for i, row in enumerate(rows):
        columns[list(row), i] = list(row.values())
    return {j: dict(enumerate(row[j:].tolist(), j)) for j, row in enumerate(np.linalg.qr(columns, mode="r"))}


def _rotate_in(row: dict[int, float], triangle: dict[int, dict[int, float]]) -> None:
    """Append a row to R and rotate it into the triangle."""
    while row:
        j = min(row)
        if j not in triangle:
            triangle[j] = row
            return
        above = triangle[j]
        size = math.hypot(above[j], row[j])
        c, s = above[j] / size, row[j] / size
        both = above.keys() | row.keys()
        triangle[j] = {k: c * above.get(k, 0.0) + s * row.get(k, 0.0) for k in both}
        row = {k: c * row.get(k, 0.0) - s * above.get(k, 0.0) for k in both if k != j}
        row = {k: x for k, x in row.items() if x != 0.0}


def _without_dependent(
    triangle: dict[int, dict[int, float]], negligible: Sequence[float]
) -> tuple[dict[int, dict[int, float]], dict[int, float]]:
    """Remove columns with a zero diagonal in R, which earlier columns imply; the rest of such a row is rotated back in."""
    kept: dict[int, dict[int, float]] = {}
    left: dict[int, float] = {}
    while triangle:
        j = min(triangle)
        row = triangle.pop(j)
        if abs(row[j]) > negligible[j]:
            kept[j] = row
        else:
            left[j] = abs(row[j])
            _rotate_in({k: x for k, x in row.items() if k != j}, triangle)
    return kept, left
