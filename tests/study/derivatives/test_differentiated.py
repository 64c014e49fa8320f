"""Numbers with derivatives: every rule against differences."""

import numpy as np
import pytest

import pliant as pl
from pliant.study.derivatives.differentiated import Differentiated
from pliant.study.fit.differentiated_run import highest

AT, STEP = np.array([0.7, 1.3]), 1e-6

RULES = {
    "sum": lambda x, y: x + 2.0 * y + 1.0,
    "difference": lambda x, y: 3.0 - x - y,
    "product": lambda x, y: x * y * 4.0,
    "quotient": lambda x, y: x / y + 2.0 / x,
    "power": lambda x, y: x**3 + x**y + 2.0**y,
    "functions": lambda x, y: pl.sin(x) * pl.cos(y) + pl.tan(x) + pl.exp(-x) + pl.log(y) + pl.sqrt(x),
    "inverse": lambda x, y: pl.asin(0.5 * x) + pl.acos(0.3 * y) + pl.atan(x * y),
    "angle": lambda x, y: pl.atan2(x, y) + pl.atan2(2.0, y) + pl.atan2(x, 3.0),
    "hyperbolic": lambda x, y: pl.sinh(x) + pl.cosh(y) + pl.tanh(x * y),
    "choices": lambda x, y: pl.maximum(x, y) ** 2 + pl.minimum(x, 0.9) ** 3 + pl.absolute(x - y) + pl.hypot(x, y),
    "max of an array": lambda x, y: (np.array([1.0, 2.0, 0.5]) * x - y).max(),
    "sum of an array": lambda x, y: (np.array([1.0, 2.0, 0.5]) * x * y).sum() / 7.0,
    "mean and least": lambda x, y: (x * np.array([1.0, -2.0]) + y).mean() + (x * np.array([1.0, -2.0])).min(),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_agrees_with_differences(name):
    rule = RULES[name]
    x, y = (Differentiated(value, np.eye(2)[k]) for k, value in enumerate(AT))
    slope = rule(x, y).slope
    for k in range(2):
        step = STEP * np.eye(2)[k]
        rise = float(_plain(rule, AT + step)) - float(_plain(rule, AT - step))
        assert slope[k] == pytest.approx(rise / (2.0 * STEP), rel=1e-8, abs=1e-9)


def _plain(rule, at):
    """The same rule where nothing has a slope."""
    return rule(*(Differentiated(value, np.zeros(1)) for value in at))


def test_values_compare_and_convert():
    x = Differentiated(2.0, [1.0])
    assert x > 1.0 and x >= 2.0 and x < 3.0 and x <= 2.0 and float(x) == 2.0
    assert "slope" in repr(x)
    assert [float(one) for one in Differentiated([1.0, 2.0], np.zeros((2, 1)))] == [1.0, 2.0]


def test_the_top_of_a_course_lies_between_rows():
    """sin(a t) has its top of 1 between the rows, whatever a: its value is found to the fourth order, its slope likewise."""
    for rows, error in ((50, 1e-6), (100, 1e-7)):
        time = np.linspace(0.0, 3.0, rows)
        top = highest(time, Differentiated(np.sin(1.1 * time), (time * np.cos(1.1 * time))[:, None]))
        assert abs(float(top) - 1.0) < error and abs(top.slope[0]) < 3e3 * error
    assert float(highest(time, Differentiated(time, np.zeros((time.size, 1))))) == 3.0
