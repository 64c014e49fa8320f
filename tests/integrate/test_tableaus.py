"""The coefficients satisfy what the theory asks of them."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement
from math import prod

import pytest

from pliant.integrate.methods.tableaus import DOP853, DORMAND_PRINCE, RK4, RKF45, TSIT5, hermite_rows

TABLEAUS = [RK4, RKF45, DORMAND_PRINCE, TSIT5, DOP853]
PAIRS_OF_ORDER_5 = [RKF45, DORMAND_PRINCE, TSIT5]
named = pytest.mark.parametrize("tableau", TABLEAUS, ids=lambda tableau: tableau.name)


@named
def test_every_stage_sits_where_its_row_sums_to(tableau):
    for row, node in zip((*tableau.a, *tableau.extra_a), (*tableau.c, *tableau.extra_c), strict=True):
        assert float(sum(row.values())) == pytest.approx(float(node), abs=1e-14)


@named
def test_quadrature_is_exact_up_to_the_order(tableau):
    for power in range(tableau.order):
        moment = sum(weight * Fraction(tableau.c[j]) ** power for j, weight in tableau.b.items())
        assert float(moment) == pytest.approx(1 / (power + 1), abs=1e-14)


@named
def test_the_error_estimate_is_blind_to_constants(tableau):
    for row in tableau.error:
        assert float(sum(row.values())) == pytest.approx(0.0, abs=1e-15)


@named
def test_dense_output_integrates_powers_exactly_over_part_of_the_step(tableau):
    """On y' = t^m stages are powers of the nodes, so y(x) = x^(m+1)/(m+1) up to the dense order."""
    nodes = [*tableau.c, 1, *tableau.extra_c]
    rows = [*hermite_rows(tableau.b, tableau.stages), *tableau.dense]
    for power in range(tableau.dense_order):
        for x in (0.1, 0.37, 0.5, 0.9):
            total, basis = 0.0, x
            for m, row in enumerate(rows):
                total += basis * sum(float(value) * float(nodes[j]) ** power for j, value in row.items())
                basis *= 1 - x if m % 2 == 0 else x
            assert total == pytest.approx(x ** (power + 1) / (power + 1), abs=1e-12)


def test_rational_methods_are_kept_as_fractions():
    for tableau in (RK4, RKF45, DORMAND_PRINCE, TSIT5):
        assert all(isinstance(value, Fraction) for row in (*tableau.a, tableau.b) for value in row.values())


# ---- order conditions (Butcher): a condition for every rooted tree, which is written as the tuple of its branches

Tree = tuple["Tree", ...]


def forests(size: int, largest: int) -> list[Tree]:
    """Sets of trees with so many nodes together, none with more than `largest`."""
    if size == 0:
        return [()]
    joined = []
    for own in range(min(size, largest), 0, -1):
        for count in range(1, size // own + 1):
            for alike in combinations_with_replacement(trees(own), count):
                joined += [alike + others for others in forests(size - own * count, own - 1)]
    return joined


def trees(order: int) -> list[Tree]:
    return forests(order - 1, order - 1)


def nodes_of(tree: Tree) -> int:
    return 1 + sum(map(nodes_of, tree))


def density(tree: Tree) -> int:
    return nodes_of(tree) * prod(map(density, tree))


def stages_of(tableau) -> list[dict[int, Fraction]]:
    """Rows of all stages, the slope at the end of the step and those of the dense output among them, as exact numbers."""
    rows = (*tableau.a, tableau.b, *tableau.extra_a)
    return [{j: Fraction(value) for j, value in row.items()} for row in rows]


def weights(tree: Tree, rows: list[dict[int, Fraction]]) -> list[Fraction]:
    """Of every stage: its elementary weight, the product over branches of sum a_ij weight_j."""
    product = [Fraction(1)] * len(rows)
    for branch in tree:
        below = weights(branch, rows)
        product = [x * sum(value * below[j] for j, value in row.items()) for x, row in zip(product, rows, strict=True)]
    return product


def moment(row, tree: Tree, rows) -> Fraction:
    elementary = weights(tree, rows)
    return sum((Fraction(value) * elementary[j] for j, value in row.items()), Fraction(0))


def test_there_are_seventeen_conditions_up_to_order_five():
    assert [len(trees(order)) for order in range(1, 7)] == [1, 1, 2, 4, 9, 20]


@pytest.mark.parametrize("tableau", PAIRS_OF_ORDER_5, ids=lambda tableau: tableau.name)
def test_a_pair_of_order_five_meets_every_condition_and_its_estimate_those_of_order_four(tableau):
    """In exact arithmetic: 1e-18 leaves room for the digits that decimal coefficients are written with, none for an error."""
    rows = stages_of(tableau)
    for order in range(1, 6):
        for tree in trees(order):
            assert abs(moment(tableau.b, tree, rows) - Fraction(1, density(tree))) < 1e-18
            if order < 5:
                assert abs(moment(tableau.error[0], tree, rows)) < 1e-18
    assert max(abs(moment(tableau.error[0], tree, rows)) for tree in trees(5)) > 1e-4  # it does measure
    assert max(abs(moment(tableau.b, tree, rows) - Fraction(1, density(tree))) for tree in trees(6)) > 1e-5


@pytest.mark.parametrize("tableau", PAIRS_OF_ORDER_5, ids=lambda tableau: tableau.name)
def test_its_dense_output_meets_the_conditions_of_order_four_at_every_place(tableau):
    rows = stages_of(tableau)
    dense = [*hermite_rows(tableau.b, tableau.stages), *tableau.dense]
    for order in range(1, 5):
        for tree in trees(order):
            parts = [moment(row, tree, rows) for row in dense]
            for x in (Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10)):
                basis = (x, x * (1 - x), x * x * (1 - x), x * x * (1 - x) ** 2)
                total = sum(part * value for part, value in zip(parts, basis, strict=True))
                assert abs(total - x**order / density(tree)) < 1e-17


def test_tsitouras_pair_is_his_to_the_digits_that_he_gives():
    """His c, b, b - b^ and the interpolant's highest coefficients as published; 4e-14 is what his last digits are off."""
    assert [float(c) for c in TSIT5.c] == [0.0, 0.161, 0.327, 0.9, 0.9800255409045097, 1.0]
    b = [0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081, 2.324710524099774]
    a = [5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401, -0.028269050394068383]
    dense = [-1.0530884977290216, 0.1017, 2.490627285651253, -16.548102889244902, 47.37952196281928, -34.87065786149661, 2.5]
    for row, published in ((TSIT5.b, b), (TSIT5.a[5], a), (TSIT5.dense[0], dense)):
        assert [float(value) for value in row.values()] == pytest.approx(published, abs=4e-14, rel=0.0)
