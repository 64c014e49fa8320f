"""Programs as functions of time: every operation gives what casadi gives, and constants are told apart."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from pliant.codegen.operations import ARGUMENTS, CONVERGED, INTRINSICS, LIBRARY, SUPPORTED
from pliant.codegen.over_time import BLOCK, OPERATIONS, OverTime
from pliant.codegen.program import op_name, read_program

TIMES = np.linspace(-2.3, 2.4, 201)
OF_ONE = {ca.OP_NEG, ca.OP_SQ, ca.OP_TWICE, ca.OP_INV, ca.OP_NOT, ca.OP_SIGN}
OF_ONE |= {kind for kind, name in {**INTRINSICS, **LIBRARY}.items() if name not in ARGUMENTS}


def over_time(formula: ca.SX, t: ca.SX, y: ca.SX, p: ca.SX) -> OverTime:
    return OverTime(read_program(ca.Function("f", [t, y, p], [formula])), np.array([0.7]), np.array([-1.3]))


@pytest.mark.parametrize("kind", sorted(SUPPORTED - {CONVERGED}), ids=op_name)
def test_every_operation_is_what_casadi_makes_of_it(kind: int) -> None:
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", 1), ca.SX.sym("p", 1)
    formula = ca.SX.unary(kind, t) if kind in OF_ONE else ca.SX.binary(kind, t, y)
    functions, expected = over_time(formula, t, y, p), ca.Function("f", [t, y, p], [formula])
    own = functions(functions.program.outputs, TIMES)[0]
    np.testing.assert_allclose(own, [float(expected(time, 0.7, -1.3)) for time in TIMES], rtol=1e-14, atol=1e-14)


def test_there_is_no_operation_without_its_numpy_function() -> None:
    assert OPERATIONS.keys() >= SUPPORTED


def test_values_have_the_shape_of_times_however_many_they_are() -> None:
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", 1), ca.SX.sym("p", 1)
    functions = over_time(ca.vertcat(ca.sin(t) * y, ca.exp(p), 3.0 * t), t, y, p)
    times = np.linspace(0.0, 1.0, 2 * BLOCK + 6).reshape(2, -1)
    values = functions(functions.program.outputs, times)
    np.testing.assert_array_equal(values, [np.sin(times) * 0.7, np.full(times.shape, np.exp(-1.3)), 3.0 * times])
    assert functions.program.outputs[1] in functions.constant and functions.program.outputs[0] not in functions.constant
