"""The coefficients satisfy what the theory asks of them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from pliant.integrate.tableaus import DOP853, DORMAND_PRINCE, RK4, RKF45, hermite_rows

TABLEAUS = [RK4, RKF45, DORMAND_PRINCE, DOP853]
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
    for tableau in (RK4, RKF45, DORMAND_PRINCE):
        assert all(isinstance(value, Fraction) for row in (*tableau.a, tableau.b) for value in row.values())
