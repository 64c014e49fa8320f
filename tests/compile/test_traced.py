"""The scalar that traces: constants vanish, equal things are built once, and it refuses to be a truth value."""

import math

import casadi as ca
import numpy as np
import pytest

from pliant import scalar
from pliant.compile.traced import Tracer


@pytest.fixture
def tracer():
    return Tracer()


@pytest.fixture
def x(tracer):
    return tracer.symbols("x", 1)[1][0]


def test_zeros_and_ones_vanish(x):
    assert x + 0.0 is x
    assert 0.0 + x is x
    assert x * 1.0 is x
    assert x * 0.0 == 0.0 and isinstance(x * 0.0, float)
    assert isinstance(0.0 / x, float)
    assert x - x == 0.0
    assert x**1.0 is x
    assert x**0.0 == 1.0


def test_equal_expressions_are_one_node(tracer):
    _, (a, b) = tracer.symbols("x", 2)
    assert a * b is b * a
    assert scalar.sin(a) is scalar.sin(a)
    assert a - b is not b - a


def value(tracer, expression, **at):
    symbols = ca.symvar(tracer.sx(expression))
    return float(ca.Function("f", symbols, [tracer.sx(expression)])(*[at[s.name()] for s in symbols]))


@pytest.mark.parametrize("name", ["sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "sqrt", "log", "absolute", "sign",
                                  "floor", "asin", "acos", "atan"])  # fmt: skip
def test_functions_agree_with_numbers(tracer, name):
    _, (traced,) = tracer.symbols("x", 1)
    function = getattr(scalar, name)
    assert value(tracer, function(traced), x=0.7) == pytest.approx(function(0.7), rel=1e-15)


def test_where_takes_one_side_even_if_the_other_is_nan(tracer):
    _, (x,) = tracer.symbols("x", 1)
    chosen = scalar.where(x > 0.0, scalar.log(x), -1.0)
    assert value(tracer, chosen, x=-2.0) == -1.0
    assert value(tracer, chosen, x=2.0) == math.log(2.0)


def test_numpy_functions_and_numbers_work_on_it(tracer):
    _, (x,) = tracer.symbols("x", 1)
    assert value(tracer, np.float64(2.0) * np.sin(x) + np.float64(1.0), x=0.3) == 2.0 * math.sin(0.3) + 1.0


def test_a_truth_value_is_refused_with_advice(x):
    with pytest.raises(TypeError, match=r"write where\(condition, a, b\)"):
        bool(x > 0.0)
    with pytest.raises(TypeError, match=r"use pliant's sin"):
        math.sin(x)


def test_derivatives_are_exact(tracer):
    column, (a, b) = tracer.symbols("x", 2)
    gradient = tracer.gradient(a * scalar.sin(b), column)
    assert value(tracer, gradient[1], x_0=2.0, x_1=0.5) == pytest.approx(2.0 * math.cos(0.5), rel=1e-15)


def test_nodes_that_nobody_holds_are_never_mistaken_for_others(tracer):
    """Identity tells nodes apart, so ids must not be reused while the tracer lives."""
    column, _ = tracer.symbols("x", 2)
    for k in range(2000):
        made = tracer.scalars(column * float(k + 2))[0] + 1.0  # the wrapped operand is dropped at once
        assert value(tracer, made, x_0=1.0) == k + 3.0
