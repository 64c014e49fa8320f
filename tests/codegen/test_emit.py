"""Every operation, cut anywhere, gives what casadi's own evaluation gives."""

import itertools

import casadi as ca
import numpy as np
import pytest

from pliant.codegen.llvm import compile_function
from pliant.codegen.operations import ARGUMENTS, ARITHMETIC, COMPARISONS, CONVERGED, INTRINSICS, LIBRARY, LOGIC, SUPPORTED
from pliant.codegen.program import read_program
from pliant.errors import ModelError

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-300, -1e300, 2.0**53 + 1, np.inf, -np.inf, np.nan]
RANDOM = list(np.random.default_rng(1).normal(scale=3.0, size=12))
VALUES = SPECIAL + RANDOM

TWO_ARGUMENTS = {ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV, ca.OP_IF_ELSE_ZERO, *COMPARISONS, *LOGIC} | {
    op for op, name in (INTRINSICS | LIBRARY).items() if ARGUMENTS.get(name) == 2
}
EXACT = {*ARITHMETIC, *INTRINSICS, *COMPARISONS, *LOGIC, ca.OP_NOT, ca.OP_SIGN, ca.OP_IF_ELSE_ZERO}


def name(op):
    return next(key for key, value in vars(ca).items() if key.startswith("OP_") and value == op)


def function(build, n_y, n_p=0):
    """f(t, y, p) -> out from a formula of y and p."""
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", n_y), ca.SX.sym("p", n_p)
    return ca.Function("f", [t, y, p], [ca.vertcat(*build(t, y, p))])


def evaluate(f, t, y, p):
    return np.array(f(t, y, p)).ravel()


def assert_same(actual, expected, ulps=0):
    np.testing.assert_array_equal(np.isnan(actual), np.isnan(expected))
    np.testing.assert_array_equal(np.isinf(actual), np.isinf(expected))
    np.testing.assert_allclose(actual, expected, rtol=ulps * 2.3e-16, atol=0.0)


@pytest.mark.parametrize("op", sorted(SUPPORTED - {CONVERGED}), ids=name)
def test_an_operation_gives_what_casadi_gives(op):
    if op in TWO_ARGUMENTS:
        y = np.array(list(itertools.product(VALUES, VALUES)))
        f = function(lambda t, y, p: [ca.SX.binary(op, y[0], y[1])], 2)
    else:
        y = np.array(VALUES)[:, None]
        f = function(lambda t, y, p: [ca.SX.unary(op, y[0])], 1)
    code = compile_function(f, cache=None)
    actual = np.array([code(0.0, row, [])[0] for row in y])
    expected = np.array([evaluate(f, 0.0, row, [])[0] for row in y])
    assert_same(actual, expected, ulps=0 if op in EXACT else 2)
    if op in EXACT - {ca.OP_FMIN, ca.OP_FMAX}:
        kept = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(actual[kept]), np.signbit(expected[kept]))


@pytest.mark.parametrize("exponent", [0, 0.5, 1.5, 2.5, 2, 3, 7, 7.5, -1, -0.5, -1.5, -2, 1 / 3, 9.5, 1e3, -np.inf])
def test_a_constant_power_is_pow(exponent):
    code = compile_function(function(lambda t, y, p: [ca.SX.binary(ca.OP_POW, y[0], exponent)], 1), cache=None)
    x = np.array([0.0, -0.0, 0.3, 1.0, 2.0, 1e-30, 1e30, -2.0, np.inf, np.nan])
    with np.errstate(all="ignore"):
        expected = x**exponent
    assert_same(np.array([code(0.0, [v], [])[0] for v in x]), expected, ulps=4)


def test_small_half_integer_powers_call_no_pow():
    f = function(lambda t, y, p: [y[0] ** 1.5, y[0] ** -2.5, y[0] ** 0.5], 1)
    assert ca.OP_POW not in read_program(f).kind


def test_a_selection_hides_the_nan_of_the_side_not_taken():
    f = function(lambda t, y, p: [ca.if_else(y[0] > 0, y[0] ** 1.5, 7.0), ca.if_else(y[0] > 0, ca.log(y[0]), y[0])], 1)
    code = compile_function(f, cache=None)
    np.testing.assert_array_equal(code(0.0, [-2.0], []), [7.0, -2.0])


def test_equal_operations_are_computed_once():
    f = function(lambda t, y, p: [y[0] * y[1] + ca.sin(y[0]), y[1] * y[0] - ca.sin(y[0])], 2)
    assert read_program(f).operations == 4  # product, sine, sum, difference


def chain(t, y, p):
    """Long dependent recursions both ways, with sines whose angles are inputs, sums of them, and sines again."""
    n = y.numel() // 2
    angle, x, xs = t, p[0], []
    for k in range(n):
        angle = angle + y[k]
        c, s = ca.cos(y[k]), ca.sin(angle)
        x = (c * x - s * y[n + k]) / (2.0 + ca.cos(x + y[k])) + p[1] * y[k]
        xs.append(x)
    z = x
    outputs = []
    for k in reversed(range(n)):
        z = z * ca.cos(y[k]) + xs[k] * ca.sin(y[k]) - ca.fmin(z, xs[k]) * ca.if_else(xs[k] < z, z, 0.25)
        outputs.append(z)
    return [*outputs, y[0], p[1], t, ca.SX(3.5), ca.sin(y[1]), outputs[0]]


@pytest.mark.parametrize("optimise", [True, False])
def test_the_cut_into_chunks_changes_no_bit(optimise):
    f = function(chain, 40, 2)
    rng = np.random.default_rng(2)
    y, p = rng.normal(size=40), rng.normal(size=2)
    whole = compile_function(f, cache=None, chunk_size=10**6, optimise=True)
    expected = evaluate(f, 0.3, y, p)
    np.testing.assert_allclose(whole(0.3, y, p), expected, rtol=1e-12, atol=1e-14)
    for size in (1, 2, 7, 50, 2000):
        code = compile_function(f, cache=None, chunk_size=size, optimise=optimise)
        np.testing.assert_array_equal(code(0.3, y, p), whole(0.3, y, p))


def test_work_does_not_grow_with_the_length_of_a_chain():
    def recursion(length):
        def build(t, y, p):
            x = y[0]
            for _ in range(length):
                x = x / (1.0 + x * y[1])
            return [x]

        return compile_function(function(build, 2), cache=None, chunk_size=50, optimise=False, roll=False)

    assert recursion(2000).n_work == recursion(200).n_work <= 4


@pytest.mark.parametrize(("n_y", "n_p"), [(0, 0), (0, 2), (3, 0)])
def test_there_may_be_no_state_and_no_parameters(n_y, n_p):
    f = function(lambda t, y, p: [ca.sum1(ca.vertcat(t, y, ca.cos(p))), ca.cos(t), t], n_y, n_p)
    y, p = np.arange(1.0, n_y + 1), np.arange(2.0, n_p + 2)
    np.testing.assert_allclose(compile_function(f, cache=None)(0.7, y, p), evaluate(f, 0.7, y, p), rtol=1e-15)


def refused():
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", 2), ca.SX.sym("p", 0)
    free = ca.SX.sym("free")
    m = ca.MX.sym("m", 2)
    return {
        "OP_ERFINV": ca.Function("f", [t, y, p], [ca.erfinv(y)]),
        "free symbols must all be inputs": ca.Function("f", [t, y, p], [free * y], {"allow_free": True}),
        "inputs t, y, p and one output": ca.Function("f", [t, y], [y]),
        "t must be a scalar": ca.Function("f", [ca.SX.sym("t", 2), y, p], [y]),
        "out must be a dense column": ca.Function("f", [t, y, p], [y.T]),
        "p must be a dense column": ca.Function("f", [t, y, ca.SX.sym("p", 2, 2)], [y]),
        "must be an SXFunction": ca.Function("f", [ca.MX.sym("t"), m, ca.MX.sym("p", 0)], [m]),
    }


@pytest.mark.parametrize(("message", "f"), refused().items())
def test_what_cannot_be_compiled_is_refused_by_name(message, f):
    with pytest.raises(ModelError, match=message):
        compile_function(f, cache=None)
