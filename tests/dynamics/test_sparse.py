"""Sparse elimination against dense linear algebra, and what it costs on long chains."""

import numpy as np
import pytest

from pliant.dynamics.sparse import factorise, least_change, matvec, symmetric_product, transposed


def sparse(matrix):
    return [{int(k): float(row[k]) for k in np.flatnonzero(row)} for row in matrix]


def random_sparse(rng, m, n, filled):
    return rng.normal(size=(m, n)) * (rng.random((m, n)) < filled)


def loops_in_a_row(count):
    """Neighbours coupled two rows at a time, as pins of four-bar linkages are, numbered as badly as may be."""
    rng = np.random.default_rng(2)
    whole = np.zeros((2 * count, 2 * count))
    for k in range(count - 1):
        part = rng.normal(size=(4, 4))
        whole[2 * k : 2 * k + 4, 2 * k : 2 * k + 4] += part @ part.T + np.eye(4)
    mixed = rng.permutation(2 * count)
    return whole[np.ix_(mixed, mixed)]


@pytest.mark.parametrize("filled", [0.05, 0.3, 1.0])
def test_a_factor_solves_as_dense_elimination_does(filled):
    rng = np.random.default_rng(1)
    half = random_sparse(rng, 30, 40, filled)
    matrix = half @ half.T + np.eye(30)
    right = rng.normal(size=30)
    assert factorise(sparse(matrix)).solve(right.tolist()) == pytest.approx(np.linalg.solve(matrix, right), rel=1e-10, abs=1e-10)


def test_products_and_transposes_are_those_of_matrices():
    rng = np.random.default_rng(3)
    a = random_sparse(rng, 8, 12, 0.4)
    rows = sparse(a)
    whole = symmetric_product(rows, transposed(rows, 12))
    dense = np.array([[row.get(j, 0.0) for j in range(8)] for row in whole])
    assert dense == pytest.approx(a @ a.T, abs=1e-13)
    x = rng.normal(size=12)
    assert matvec(rows, x.tolist()) == pytest.approx(a @ x, abs=1e-13)


def test_the_factor_of_many_loops_in_a_row_grows_as_their_number():
    """Whatever their numbering: an order of least degree keeps the fill of a chain to a few entries a row."""
    entries = {n: sum(map(len, factorise(sparse(loops_in_a_row(n))).columns)) for n in (50, 100, 200)}
    assert entries[200] / entries[100] == pytest.approx(2.0, abs=0.05)
    assert entries[200] <= 5 * 400


def test_a_factor_of_graded_rows_keeps_relative_accuracy():
    """Rows that all but vanish, as in a singular position, must not drown in round-off of the others."""
    rng = np.random.default_rng(4)
    half = rng.normal(size=(6, 9))
    scale = np.array([1.0, 1e-8, 1.0, 1e-8, 1e-8, 1.0])
    right = rng.normal(size=6)
    exact = np.linalg.solve(half @ half.T, right)
    graded = (half * scale[:, None]) @ (half * scale[:, None]).T
    found = np.array(factorise(sparse(graded)).solve((right * scale).tolist())) * scale
    assert found == pytest.approx(exact, rel=1e-12)


def test_the_least_change_is_that_of_the_pseudoinverse():
    rng = np.random.default_rng(5)
    a = random_sparse(rng, 20, 35, 0.2)
    right = rng.normal(size=20)
    found = least_change(sparse(a), 35, [1e-9] * 20)
    assert found.independent == tuple(range(20))
    assert found.solve(right.tolist(), 35) == pytest.approx(np.linalg.pinv(a) @ right, abs=1e-11)


def test_rows_that_earlier_ones_imply_are_told_and_do_no_harm():
    rng = np.random.default_rng(6)
    a = rng.normal(size=(6, 10))
    a[2] = a[0] - 3.0 * a[1]
    a[4] = 0.0
    x = rng.normal(size=10)
    found = least_change(sparse(a), 10, [1e-9] * 6)
    assert found.independent == (0, 1, 3, 5)
    assert found.left == {2: pytest.approx(0.0, abs=1e-14), 4: 0.0}
    assert found.solve((a @ x).tolist(), 10) == pytest.approx(np.linalg.pinv(a) @ (a @ x), abs=1e-11)
