"""Tables of functions: to round-off where they are smooth, with an error that is said where they are not."""

import numpy as np
import pytest

from pliant.live.tables import tabulated

LOW, HERE, HIGH = np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.2, 2.0]), np.array([2.0, 1.0, 2.0])


def compared(f, table, seed=7):
    generator = np.random.default_rng(seed)
    points = LOW + (HIGH - LOW) * generator.random((50, 3))
    return max(float(np.max(np.abs(table(x) - f(x)))) for x in points)


def test_sums_products_and_smooth_functions_are_exact_to_round_off():
    def f(x):
        return np.array([x[0], 3.0, 2.0 * x[1] - x[0], x[0] * x[1], np.exp(x[0]) * np.cos(x[1]), 1.0 / x[0]])

    table = tabulated(f, LOW, HERE, HIGH)
    assert compared(f, table) < 1e-11 and table.error < 1e-11
    np.testing.assert_allclose(table(HERE), f(HERE), rtol=1e-12)
    assert not any(2 in change.numbers for change in table.changes)  # a number without a range changes nothing


def test_linear_changes_take_two_coefficients():
    table = tabulated(lambda x: np.array([2.0 * x[0] + 1.0, x[1]]), LOW, HERE, HIGH)
    assert [change.coefficients.shape for change in table.changes] == [(2, 1), (2, 1)]


def test_entries_that_are_infinite_or_nan_stay_so():
    table = tabulated(lambda x: np.array([np.inf, np.nan, -np.inf, x[0]]), LOW, HERE, HIGH)
    value = table(np.array([1.7, 0.0, 2.0]))
    assert value[0] == np.inf and np.isnan(value[1]) and value[2] == -np.inf and value[3] == pytest.approx(1.7, rel=1e-15)
    assert table.error < 1e-14


def test_the_error_of_a_corner_is_said():
    table = tabulated(lambda x: np.array([abs(x[0] - 1.3)]), LOW, HERE, HIGH)
    assert 1e-4 < table.error < 1.0


def test_three_numbers_may_act_together():
    def f(x):
        return np.array([x[0] * x[1] * x[2]])

    low, high = LOW.copy(), HIGH.copy()
    high[2] = 3.0
    table = tabulated(f, low, HERE, high)
    x = np.array([1.9, -0.7, 2.8])
    assert float(table(x)[0]) == pytest.approx(float(f(x)[0]), rel=1e-11)


def test_what_fails_at_some_point_is_raised():
    def f(x):
        if x[0] > 1.9:
            raise ValueError("not there")
        return x

    with pytest.raises(ValueError, match="not there"):
        tabulated(f, LOW, HERE, HIGH)
