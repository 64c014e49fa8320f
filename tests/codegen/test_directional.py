"""Directional derivatives of programs: against CasADi's own, on both sides of corners, with idle guards."""

import math

import casadi as ca
import numpy as np
import pytest

from pliant.codegen.directional import directional
from pliant.codegen.directional_kernel import DirectionalCall, DirectionalKernel
from pliant.codegen.graph import Graph
from pliant.codegen.lanes import LANES
from pliant.codegen.llvm import compile_function
from pliant.codegen.nonsmooth import edges_of
from pliant.codegen.program import Program, read_program, write_program
from pliant.scalar import converged, minimum, where

T, Y, P = ca.SX.sym("t"), ca.SX.sym("y", 3), ca.SX.sym("p", 2)
SMOOTH = {
    "rational": ca.vertcat(Y[0] * Y[1] / (1.0 + Y[2] ** 2), P[0] * Y[0] - 2.0 * Y[1], 1.0 / (2.0 + Y[0])),
    "trigonometric": ca.vertcat(ca.sin(Y[0] * T), ca.cos(Y[1] - P[1]), ca.tan(Y[2]), ca.atan2(Y[0], 1.0 + P[0])),
    "inverse": ca.vertcat(ca.asin(0.3 * Y[0]), ca.acos(0.3 * Y[1]), ca.atan(Y[2]), ca.asinh(Y[0]), ca.atanh(0.3 * Y[1])),
    "hyperbolic": ca.vertcat(ca.sinh(Y[0]), ca.cosh(Y[1]), ca.tanh(Y[2]), ca.acosh(3.0 + Y[0])),
    "exponential": ca.vertcat(ca.exp(Y[0]), ca.log(3.0 + Y[1]), ca.log1p(Y[2] ** 2), ca.expm1(Y[0]), ca.erf(Y[1])),
    "roots": ca.vertcat(ca.sqrt(2.0 + Y[0]), (2.0 + Y[1]) ** 1.5, (2.0 + Y[2]) ** P[0], ca.hypot(Y[0], Y[1])),
}
CORNERS = ca.vertcat(ca.fabs(Y[0]), ca.fmax(Y[0], Y[1]), ca.fmin(Y[1], 0.5 * Y[2]), ca.if_else(Y[0] < Y[1], Y[0] ** 2, P[0] * Y[1]))


def kernel_of(out: ca.SX, active=(0, 1)) -> DirectionalKernel:
    return DirectionalKernel.of(program_of(out), active, None)


def program_of(out: ca.SX) -> Program:
    return read_program(ca.Function("f", [T, Y, P], [out], ["t", "y", "p"], ["out"]))


def reference(out: ca.SX, t, y, p, dy, dt, dp):
    everything = ca.vertcat(T, Y, P)
    along = np.vstack([dt, dy, dp])
    jacobian = ca.Function("J", [T, Y, P], [ca.jacobian(out, everything)])
    return np.array(jacobian(t, y, p)) @ along


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("m", [1, LANES, 2 * LANES + 1])
def test_directions_are_those_that_casadi_gives(name, m):
    random = np.random.default_rng(3)
    t, y, p = 0.7, random.uniform(-0.9, 0.9, 3), random.uniform(0.5, 1.5, 2)
    dy, dt, dp = random.normal(size=(3, m)), random.normal(size=m), random.normal(size=(2, m))
    values, slopes = kernel_of(SMOOTH[name])(t, y, p, dy, dt, dp)
    assert values == pytest.approx(np.array(ca.Function("f", [T, Y, P], [SMOOTH[name]])(t, y, p)).ravel(), rel=1e-14)
    assert slopes == pytest.approx(reference(SMOOTH[name], t, y, p, dy, dt, dp), rel=1e-13, abs=1e-13)


def test_entries_of_p_that_are_not_active_cost_nothing_and_give_nothing():
    out = SMOOTH["rational"]
    whole, part = directional(program_of(out), (0, 1)), directional(program_of(out), ())
    assert part.linear.operations < whole.linear.operations
    _, slopes = kernel_of(out, ())(0.0, np.ones(3), np.ones(2), np.zeros((3, 1)), None, np.ones((2, 1)))
    assert np.all(slopes == 0.0)


@pytest.mark.parametrize("y", [(0.3, -0.2, 0.1), (-0.3, 0.2, 0.9), (0.4, 0.5, -0.8)])
def test_at_corners_the_side_of_the_state_counts(y):
    random = np.random.default_rng(5)
    dy, dt, dp = random.normal(size=(3, 2)), np.zeros(2), random.normal(size=(2, 2))
    p = np.array([1.3, 0.7])
    _, slopes = kernel_of(CORNERS)(0.0, np.array(y), p, dy, dt, dp)
    assert slopes == pytest.approx(reference(CORNERS, 0.0, y, p, dy, dt, dp), rel=1e-14)


def test_a_decision_taken_beforehand_holds_beyond_the_corner_and_values_stay():
    kernel = kernel_of(ca.vertcat(ca.fabs(Y[0])))
    decided = kernel.decide(0.0, np.array([0.1, 0.0, 0.0]), np.ones(2))
    assert decided.tolist() == [1.0]
    beyond = np.array([-1e-9, 0.0, 0.0])
    values = kernel.primal(0.0, beyond, np.concatenate([np.ones(2), decided]))
    assert values[0] == 1e-9  # |y| itself has no other side
    assert values[1] == 1.0  # its slope is that of the side which was decided


def test_what_is_not_chosen_may_be_no_number():
    root = ca.if_else(Y[0] > 0.0, ca.sqrt(Y[0]), 0.0)
    values, slopes = kernel_of(ca.vertcat(root))(0.0, np.array([-4.0, 0.0, 0.0]), np.ones(2), np.eye(3), None, np.zeros((2, 3)))
    assert values.tolist() == [0.0] and np.all(slopes == 0.0)


def test_slopes_of_roots_at_zero_are_zero_and_no_infinity():
    kernel = kernel_of(ca.vertcat(ca.sqrt(Y[0] ** 2 + Y[1] ** 2), Y[2] ** P[0], Y[2] ** 1.5))
    _, slopes = kernel(0.0, np.zeros(3), np.array([1.4, 1.0]), np.eye(3), None, np.zeros((2, 3)))
    assert np.all(slopes == 0.0)


def test_what_belongs_to_an_idle_guard_is_left_out_with_the_same_result():
    closed, out = P[0] > 0.5, []
    for k in range(3):
        out.append(Y[k] + ca.if_else(closed, ca.sin(Y[k]) * ca.exp(Y[(k + 1) % 3]) * P[1], 0.0))
    program = program_of(ca.vertcat(*out))
    program.guards = (0,)
    guarded, plain = DirectionalKernel.of(program, (1,), None), kernel_of(ca.vertcat(*out), (1,))
    assert directional(program, (1,)).linear.guards
    random = np.random.default_rng(9)
    for flag in (0.0, 1.0, 0.0):
        y, dy = random.normal(size=3), random.normal(size=(3, 5))
        arguments = (0.0, y, np.array([flag, 1.7]), dy, None, random.normal(size=(2, 5)))
        assert np.array_equal(DirectionalCall(guarded, 5)(*arguments)[1], plain(*arguments)[1])


def test_decisions_know_which_guards_make_them_idle():
    closed = P[0] > 0.5
    program = program_of(ca.vertcat(ca.if_else(closed, ca.fabs(Y[0]), 0.0) + ca.fabs(Y[1])))
    program.guards = (0,)
    kernel = DirectionalKernel.of(program, (), None)
    assert sorted(kernel.matters(np.array([0.0, 0.0])).tolist()) == [0.0, 1.0]
    assert kernel.matters(np.array([1.0, 0.0])).tolist() == [1.0, 1.0]


def test_a_program_can_be_compiled_after_it_was_differentiated():
    program = program_of(SMOOTH["rational"])
    before = compile_function(program, cache=None)(0.0, np.ones(3), np.ones(2))
    directional(program, (0, 1))
    assert np.array_equal(before, compile_function(program, cache=None)(0.0, np.ones(3), np.ones(2)))


def test_derivatives_do_not_pass_through_a_search_and_what_it_compared_decides_nothing():
    """The square root of a, from a start that is chosen, by Newton's method: its last step alone is differentiated."""
    graph = Graph()
    t, (a, b, c) = graph.symbol(), (graph.symbol() for _ in range(3))

    def root(settle):
        x = where(a < 1.0, 0.7, where(a < 4.0, 1.5, 3.0))
        for _ in range(6):
            x = minimum(0.5 * (x + a / x), 1e3)
        x = settle(x)
        return 0.5 * (x + a / x) + b * c

    inputs = [[t.number], [a.number, b.number, c.number], []]
    whole, last = (write_program("root", graph, inputs, [graph.node_of(root(f))]) for f in (lambda x: x, converged))
    assert len(edges_of(whole)[1]) > 6 and not edges_of(last)[1]
    own, other = (DirectionalKernel.of(program, (), None) for program in (last, whole))
    assert own.n_decisions == 0 < other.n_decisions
    for value in (0.3, 1.0, 2.0, 4.0, 7.0):
        at = np.array([value, 0.5, -2.0]), np.empty(0), np.eye(3), None, np.empty((0, 3))
        values, slopes = own(0.0, *at)
        assert values == pytest.approx([math.sqrt(value) - 1.0], rel=1e-15)
        assert slopes[0] == pytest.approx([0.5 / math.sqrt(value), -2.0, 0.5], rel=1e-13)
        assert slopes == pytest.approx(other(0.0, *at)[1], rel=1e-13)
