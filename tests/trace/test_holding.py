"""Loads of joints that rub: what their own friction adds to what presses them, against closed forms and plain iteration."""

import math

import casadi as ca
import numpy as np
import pytest

from pliant.codegen.tracer import Tracer
from pliant.trace import holding
from pliant.trace.holding import FrictionJoint, solve_friction

ROUND_OFF = 1e-13  # of a load, of some ten operations in every Newton step


def solved(base, reach, preload, parts, sizes=None):
    """Loads and margin of joints whose pressing forces are base + reach f, f = -N (or -size(N)) along one unknown each."""
    tracer, n = Tracer(), len(preload)
    column, unknowns = tracer.symbols("f", n)
    forces = [b + sum(r * f for r, f in zip(row, unknowns, strict=True)) for b, row in zip(base, reach, strict=True)]
    frictional, first = [], 0
    for i in range(n):
        own = []
        for width in parts[i]:
            own.append(forces[first : first + width])
            first += width
        size = (lambda normal: normal) if sizes is None else sizes[i]
        frictional.append(FrictionJoint([i], [-1.0], size, sizes is None, preload[i], own))
    settled = solve_friction(tracer, column, [], frictional, column, [0.0] * n)
    function = ca.Function("loads", [], [tracer.column([*settled.loads, settled.uniqueness_margin])])
    *loads, uniqueness_margin = np.array(function()["o0"]).ravel()
    return np.array(loads), uniqueness_margin


@pytest.mark.parametrize("feedback", [0.0, 0.1, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("angle", [0.0, 1.0, 2.0, math.pi])
def test_one_joint_in_a_plane_solves_its_quadratic(feedback, angle):
    """N = p + |R - a N|: (1 - a^2) N^2 + 2 (R.a - p) N + p^2 - R^2 = 0 has one root >= p where |a| < 1."""
    r, a, p = np.array([3.0, 4.0]), feedback * np.array([math.cos(angle), math.sin(angle)]), 0.7
    (load,), uniqueness_margin = solved(r, a[:, None], [p], [[2]])
    roots = np.roots([1.0 - a @ a, 2.0 * (r @ a - p), p * p - r @ r])
    (closed,) = [x.real for x in roots if x.real >= p]
    assert load == pytest.approx(closed, rel=ROUND_OFF / (1.0 - feedback))
    assert uniqueness_margin == pytest.approx(1.0 - feedback, abs=1e-12)


@pytest.mark.parametrize("feedback", [1.0, 1.5])
def test_a_joint_that_locks_itself_is_not_sure_of_its_load(feedback):
    _, uniqueness_margin = solved([3.0, 4.0], [[feedback], [0.0]], [0.0], [[2]])
    assert uniqueness_margin <= 0.0


def test_several_joints_press_each_other_as_plain_iteration_finds():
    random = np.random.default_rng(3)
    for _ in range(20):
        base, preload = random.normal(size=8), random.uniform(0.0, 1.0, 3)
        reach = random.normal(size=(8, 3))
        parts = [[2], [3, 1], [2]]  # the second has a guide: two forces
        reach *= 0.4 / np.linalg.norm(reach, 2)
        loads, uniqueness_margin = solved(base, reach, preload, parts)
        plain = np.zeros(3)
        for _ in range(400):
            pressed = np.split(base - reach @ plain, [2, 5, 6])
            sizes = [np.linalg.norm(x) for x in pressed]
            plain = preload + np.array([sizes[0], sizes[1] + sizes[2], sizes[3]])
        assert uniqueness_margin > 0.0
        assert loads == pytest.approx(plain, rel=1e-12)


def test_a_law_that_is_not_proportional_to_the_load_is_solved_for_as_well():
    law = lambda normal: 0.3 * normal**0.8  # noqa: E731
    (load,), _ = solved([3.0, 4.0], [[0.9], [0.2]], [0.0], [[2]], [law])
    assert load == pytest.approx(math.hypot(3.0 - 0.9 * law(load), 4.0 - 0.2 * law(load)), rel=ROUND_OFF)


def test_nothing_presses_where_there_is_no_load():
    (load,), uniqueness_margin = solved([0.0, 0.0], [[0.3], [0.1]], [0.0], [[2]])
    assert abs(load) < 1e-29 and uniqueness_margin > 0.0


def test_a_load_that_passes_zero_is_sure_whatever_round_off_of_the_others_is_in_it():
    """The rail of a carriage whose arm almost lifts it: its load is nothing, those of the pins are hundreds of newtons."""
    reach, parts = [[-0.02, -0.1], [-0.3, 0.004], [-0.1, -0.3]], ([1], [2])
    for pressed in np.linspace(250.0, 300.0, 12):
        pin, _ = solved([0.6 * pressed, 0.8 * pressed], [reach[1][1:], reach[2][1:]], [0.0], ([2],))
        loads, uniqueness_margin = solved([2e-9 - 0.1 * pin[0], 0.6 * pressed, 0.8 * pressed], reach, [0.0, 0.0], parts)
        assert 0.0 < loads[0] < 1e-8 and loads[1] == pytest.approx(pin[0], rel=1e-9) and uniqueness_margin > 0.5


@pytest.mark.parametrize("rank", [6, 4])
def test_sharing_by_rates_is_sharing_by_forces(rank: int) -> None:
    """Twelve contacts that move six rates, of which the forces may give only four: the same least sum of squares."""
    rng = np.random.default_rng(rank)
    gives = rng.normal(size=(12, rank)) @ rng.normal(size=(rank, 6))
    moves, asked = rng.normal(size=(12, 6)), rng.normal(size=12)
    rows = [dict(enumerate(row)) for row in moves]
    forces = [dict(enumerate(own)) for own in gives]
    by_rates, by_forces = (np.array(solve(rows, forces)(asked)) for solve in (holding._of_rates, holding._of_forces))
    left, sizes, right = np.linalg.svd(moves @ gives.T)
    missed = holding.HOLD_CREEP**2 / (sizes**2 + holding.HOLD_CREEP**2)
    least = right.T @ (np.where(sizes > 1e-9, (1 - missed**2) / np.maximum(sizes, 1e-9), 0.0) * (left.T @ asked))  # refined once
    assert by_rates == pytest.approx(least, abs=1e-6) and by_forces == pytest.approx(least, abs=1e-6)
