"""The register of operations that are not smooth: it is complete, and every edge is where the operation has it."""

from __future__ import annotations

import math

import casadi as ca
import numpy as np
import pytest

from pliant.codegen.llvm import compile_function
from pliant.codegen.nonsmooth import CORNER, EDGES, JUMP, SMOOTH, STEEP, edges_of
from pliant.codegen.operations import SUPPORTED
from pliant.codegen.program import STATE, Program

# arguments at an edge, and the one that crosses it
ACROSS = {
    ca.OP_LT: ((2.0, 2.0), 1), ca.OP_LE: ((2.0, 2.0), 1), ca.OP_EQ: ((2.0, 2.0), 1), ca.OP_NE: ((2.0, 2.0), 1),
    ca.OP_SIGN: ((0.0, 0.0), 0), ca.OP_COPYSIGN: ((3.0, 0.0), 1), ca.OP_FLOOR: ((3.0, 0.0), 0), ca.OP_CEIL: ((-2.0, 0.0), 0),
    ca.OP_FMOD: ((6.0, 2.0), 0), ca.OP_REMAINDER: ((3.0, 2.0), 0), ca.OP_ATAN2: ((0.0, -1.0), 0), ca.OP_FABS: ((0.0, 0.0), 0),
    ca.OP_FMIN: ((2.0, 2.0), 0), ca.OP_FMAX: ((2.0, 2.0), 1), ca.OP_HYPOT: ((0.0, 0.0), 0), ca.OP_SQRT: ((0.0, 0.0), 0),
    ca.OP_POW: ((0.0, 0.3), 0), ca.OP_ASIN: ((1.0, 0.0), 0), ca.OP_ACOS: ((-1.0, 0.0), 0), ca.OP_ACOSH: ((1.0, 0.0), 0),
}  # fmt: skip
TWO = (ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_COPYSIGN, ca.OP_FMOD, ca.OP_REMAINDER, ca.OP_ATAN2, ca.OP_FMIN, ca.OP_FMAX,
       ca.OP_HYPOT, ca.OP_POW)  # fmt: skip


def test_every_operation_is_smooth_or_in_the_register():
    assert SMOOTH | EDGES.keys() == SUPPORTED and not SMOOTH & EDGES.keys()


@pytest.mark.parametrize("operation", EDGES, ids=lambda op: EDGES[op].name + str(op))
def test_an_edge_is_where_the_register_says_and_is_what_it_says(operation):
    program = Program(2, 0)
    x, y = program.value(STATE, 0), program.value(STATE, 1)
    program.outputs = [program.value(operation, x, y) if operation in TWO else program.value(operation, x)]
    functions, (edge,) = edges_of(program)
    value, g = compile_function(program, cache=None), compile_function(functions, cache=None)
    place, moved = ACROSS[operation]
    none, at = np.empty(0), np.array(place)

    def beside(step):
        there = at.copy()
        there[moved] += step
        return float(value(0.0, there, none)[0])

    assert abs(float(g(0.0, at, none)[0])) < 1e-12
    away = at.copy()
    away[moved] += 0.3
    assert abs(float(g(0.0, away, none)[0])) > 1e-3
    ways = [way for way in (-1.0, 1.0) if math.isfinite(beside(1e-6 * way))]
    if edge.what == JUMP:
        assert max(abs(beside(1e-9) - beside(-1e-9)), abs(beside(1e-9) - beside(0.0))) > 0.5
    else:
        slopes = [(beside(way * 2e-8) - beside(way * 1e-8)) / (way * 1e-8) for way in ways]
        assert edge.what in (CORNER, STEEP)
        assert abs(slopes[0] - slopes[1]) > 0.5 if edge.what == CORNER else max(map(abs, slopes)) > 1e3
