"""Numbers in a trace: the code reads them from a vector, and is what it would be with each folded in."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pliant import scalar
from pliant.codegen.function import TracedFunction
from pliant.codegen.graph import Graph
from pliant.codegen.llvm import compile_function
from pliant.codegen.numbers import Numbers
from pliant.codegen.program import write_program
from pliant.codegen.tracer import Tracer

MASS, LENGTH, RATIO = 0.7, 1.3, -2.5


def formula(m, a, r, x, y):
    """Numbers alone, numbers with state, and state alone."""
    inertia = m * a**2 / 12.0 + m * scalar.sqrt(1.0 + a) * (r - 1.0 / m)
    mixed = inertia * x + (2.0 * m) * (r * y)
    return [mixed, scalar.sin(x * a) / (m * y), scalar.maximum(r, x) - 3.0 * (m * (a * x)), inertia, 1.0]


def traced(values):
    """The function, its constants as scalars of the numbers' graph, and the numbers."""
    tracer, numbers = Tracer(), Numbers(Graph())
    column, (x, y) = tracer.symbols("y", 2)
    outputs = formula(*(numbers.leaf(v) for v in values), x, y)
    t_column, _ = tracer.symbols("t", 1)
    p_column, _ = tracer.symbols("p", 0)
    nodes = tracer.numbers
    return TracedFunction("f", tracer, [t_column, column, p_column], outputs, nodes), tracer, numbers


def constants(tracer, numbers, values):
    """What `prepare` would make of a vector of numbers."""
    leaves = [leaf.node.number for leaf in numbers.leaves]
    nodes = [tracer.values[node].node.number for node in tracer.numbers]
    program = write_program("prepare", numbers.graph, [[], [], leaves], nodes)
    return compile_function(program, cache=None)(0.0, [], values)


def test_the_code_gives_what_the_formula_gives_for_any_numbers():
    function, tracer, numbers = traced((MASS, LENGTH, RATIO))
    code = compile_function(function, cache=None)
    for values in ((MASS, LENGTH, RATIO), (3.0, 0.2, 5.0), (1e-3, 1e3, -1e-3)):
        got = code(0.0, [0.4, -1.1], constants(tracer, numbers, values))
        assert got == pytest.approx(formula(*values, 0.4, -1.1), rel=1e-14, abs=1e-300)


def test_what_numbers_alone_decide_is_not_computed_again():
    function, tracer, _ = traced((MASS, LENGTH, RATIO))
    folded = TracedFunction("f", tracer, function.inputs, function.outputs)  # without constants: each is folded in
    assert function.program().operations == folded.program().operations
    got, want = (compile_function(f, cache=None) for f in (function, folded))
    assert folded.program().n_p == 0
    assert got.operations == want.operations


def test_the_same_numbers_in_casadi():
    function, tracer, numbers = traced((MASS, LENGTH, RATIO))
    p = constants(tracer, numbers, (3.0, 0.2, 5.0))
    got = np.array(function.casadi(0.0, [0.4, -1.1], p)).ravel()
    assert got == pytest.approx(formula(3.0, 0.2, 5.0, 0.4, -1.1), rel=1e-14)


def test_what_python_asks_is_guarded():
    numbers = Numbers(Graph())
    a, b = numbers.leaf(2.0), numbers.leaf(3.0)
    assert a < b and not b < a and a > 0.0 and b >= 3.0 and a != b and bool(a)
    assert [value for _, value in numbers.guards] == [1.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    assert not numbers.frozen


def test_a_number_made_a_float_is_frozen():
    numbers = Numbers(Graph())
    a = numbers.leaf(2.0)
    assert math.sin(a) == math.sin(2.0)
    assert numbers.frozen == [2.0]


def test_an_exponent_that_becomes_products_is_frozen_and_no_other():
    tracer, numbers = Tracer(), Numbers(Graph())
    _, (x,) = tracer.symbols("x", 1)
    x ** numbers.leaf(1.5)
    assert numbers.frozen == [1.5]
    x ** numbers.leaf(1.37)
    assert numbers.frozen == [1.5]
