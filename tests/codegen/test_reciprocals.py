"""Repeated divisors are inverted once; what was a quotient stays one to an ulp or two."""

import casadi as ca
import numpy as np
import pytest

from pliant.codegen.llvm import compile_function
from pliant.codegen.program import read_program
from pliant.codegen.reciprocals import share_reciprocals


def function(*outputs, y):
    t, p = ca.SX.sym("t"), ca.SX.sym("p", 0)
    return ca.Function("f", [t, y, p], [ca.vertcat(*outputs)])


def test_one_reciprocal_serves_many_quotients():
    y = ca.SX.sym("y", 4)
    program = share_reciprocals(read_program(function(y[0] / y[3], y[1] / y[3], y[2] / y[3], y=y)))
    assert program.kind.count(ca.OP_INV) == 1
    assert program.kind.count(ca.OP_DIV) == 0


def test_a_lone_quotient_is_left_alone():
    y = ca.SX.sym("y", 2)
    program = read_program(function(y[0] / y[1], y=y))
    assert share_reciprocals(program) is program


def test_values_stay_within_two_ulp():
    y = ca.SX.sym("y", 5)
    d = ca.sin(y[3]) + y[4]
    f = function(*(y[k] * y[k] / d + y[k] / y[4] for k in range(3)), y=y)
    code = compile_function(f, cache=None)
    for x in np.random.default_rng(5).normal(size=(50, 5)):
        assert code(0.0, x, []) == pytest.approx(np.array(f(0.0, x, [])).ravel(), rel=1e-14)
