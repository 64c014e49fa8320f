"""The scalar that traces: constants vanish, equal things are built once, and it refuses to be a truth value."""

import math

import casadi as ca
import numpy as np
import pytest

from pliant import scalar
from pliant.codegen.function import TracedFunction
from pliant.codegen.llvm import compile_function
from pliant.codegen.tracer import Tracer
from pliant.errors import ModelError


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


def test_signs_reciprocals_and_squares_are_simplified(tracer):
    _, (a, b) = tracer.symbols("x", 2)
    assert a + -b is a - b
    assert -a - b is -(a + b)
    assert -a * -b is a * b
    assert (a - b) + b is a
    assert a * (1.0 / b) is a / b
    assert (2.0 / b) * b == 2.0
    assert 0.0 - (-a) is a
    assert a * a is (-a) ** 2
    assert a + a is 2.0 * a
    assert 3.0 * (2.0 * a) is 6.0 * a
    assert scalar.sin(a) ** 2 + scalar.cos(-a) ** 2 == 1.0


OPERATIONS = [
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: b - a, lambda a, b: a * b, lambda a, b: a / b, lambda a, b: -a,
    lambda a, b: a * a, lambda a, b: 1.0 / a, lambda a, b: 2.0 / b, lambda a, b: 3.0 * a, lambda a, b: a / 4.0,
    lambda a, b: 1.5 - a, lambda a, b: a + 0.5, lambda a, b: scalar.sqrt(a * a), lambda a, b: scalar.sin(a),
    lambda a, b: scalar.cos(-a), lambda a, b: scalar.absolute(-a), lambda a, b: scalar.minimum(a, b), lambda a, b: a**3.0,
    lambda a, b: (a * a) ** 1.5, lambda a, b: scalar.where(a > b, a, 0.25),
]  # fmt: skip


@pytest.mark.parametrize("seed", range(10))
def test_any_expression_means_the_same_to_numbers_to_the_graph_and_to_casadi(tracer, seed):
    """What is simplified, sent to CasADi, read back from it and compiled is still the formula."""
    rng = np.random.default_rng(seed)
    at = [1.3, -0.7, 0.4]
    column, symbols = tracer.symbols("x", 3)
    traced, numbers = list(symbols), list(at)
    for _ in range(60):
        operation, i, j = rng.choice(OPERATIONS), *rng.integers(len(numbers), size=2)
        number = operation(numbers[i], numbers[j]) if numbers[i] and numbers[j] else 1.0
        if 1e-3 < abs(number) < 1e3:
            made = operation(traced[i], traced[j])
            if not isinstance(made, float):
                traced.append(made)
                numbers.append(number)
    t, p = ca.SX.sym("t"), ca.SX.sym("p", 0)
    back = Tracer()
    back_again = back.scalars(ca.densify(tracer.column(traced)))  # symbols and all, from CasADi's side
    for one, scalars in ((tracer, traced), (back, back_again)):
        function = TracedFunction("f", one, [t, column, p], scalars)
        assert np.array(function.casadi(0.0, at, [])).ravel() == pytest.approx(numbers, rel=1e-9, abs=1e-9)
        assert compile_function(function, cache=None)(0.0, at, []) == pytest.approx(numbers, rel=1e-9, abs=1e-9)


def test_a_symbol_that_is_no_input_is_named(tracer):
    column, (a,) = tracer.symbols("x", 1)
    _, (b,) = tracer.symbols("forgotten", 1)
    function = TracedFunction("f", tracer, [ca.SX.sym("t"), column, ca.SX.sym("p", 0)], [a * b])
    with pytest.raises(ModelError, match="forgotten"):
        function.program()
