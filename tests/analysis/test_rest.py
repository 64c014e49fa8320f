"""Ways to a rest: the arc of a loading path past the point where the load must fall, against the formula of a shallow truss."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import pliant as pl
from pliant.analysis.balance import Balance
from pliant.analysis.implicit_equations import ImplicitEquations
from pliant.analysis.rest import LoadingPath, find_rest, is_balanced

HEIGHT, STIFFNESS = 0.3, 1000.0
LONG = math.hypot(1.0, HEIGHT)


def truss(load):
    """Half of von Mises' truss: a strut that springs along itself, its head in a guide, pushed down."""
    system = pl.System("truss", gravity=(0, 0))
    strut = system.add("strut", pl.RigidBody(mass=1.0, inertia=1e-2), joint=pl.Revolute(angle=math.atan2(HEIGHT, 1.0)))
    joint = pl.Prismatic(axis="x", displacement=LONG, spring=pl.Spring(STIFFNESS, LONG))
    head = system.add("head", pl.RigidBody(mass=0.5, inertia=1e-3), joint=joint, on=strut.root)
    system.close("guide", "slider", head.root, system.ground.moved((1.0, 0.0)), axis="y")
    system.force("load", head.root, (0.0, -load))
    return system


def push(y):
    """The load that holds the head at a height."""
    return STIFFNESS * (LONG - math.hypot(1.0, y)) * y / math.hypot(1.0, y)


def path_of(load):
    equations = ImplicitEquations(truss(load), still=True)
    balance = Balance(equations, 0.0, {})
    return LoadingPath(balance, equations.start_q)


def height(path):
    strut, head = path.q
    return head * math.sin(strut)


def test_every_point_of_the_arc_carries_its_load_also_where_the_load_falls_again():
    path = path_of(30.0)
    heights, shares = [], []
    while path.share < 1.0 and path.count < 200:
        assert path.advance()
        heights.append(height(path))
        shares.append(path.share)
    assert [30.0 * share for share in shares] == pytest.approx([push(y) for y in heights], abs=1e-9)
    assert min(np.diff(shares)) < 0.0 and min(shares) < 0.0  # over the top, down past zero, and up on the other side
    assert heights[-1] < -HEIGHT


def test_where_newton_may_not_go_downhill_the_arc_leads_to_the_same_rest(monkeypatch):
    from pliant.analysis import rest

    below = brentq(lambda y: push(y) - 30.0, -1.0, -HEIGHT, xtol=1e-15)
    assert pl.equilibrium(truss(30.0)).of_body("root_position", "head")[1] == pytest.approx(below, rel=1e-9)
    monkeypatch.setattr(rest, "STEPS", 3)  # not enough to snap through
    found = pl.equilibrium(truss(30.0))
    assert found.message.startswith("arc length, ") and found.stable is True
    assert found.of_body("root_position", "head")[1] == pytest.approx(below, rel=1e-9)


def test_load_steps_reach_what_is_too_far_for_one_search(monkeypatch):
    from pliant.analysis import rest

    above = brentq(lambda y: push(y) - 4.0, 0.2, HEIGHT, xtol=1e-15)
    monkeypatch.setattr(rest, "STEPS", 3)
    found = pl.equilibrium(truss(4.0))
    assert found.message.split(";")[0].endswith("load steps")
    assert found.of_body("root_position", "head")[1] == pytest.approx(above, rel=1e-9)


def test_the_stiffness_is_the_slope_of_the_balance():
    """Differences of the residual, ball joints and loops among the coordinates, with multipliers held."""
    system = pl.System("mixed", gravity=(0.3, -2.0, -9.81))
    ball = pl.Spherical(spring=pl.Spring(3.0), orientation=(0.9, 0.1, -0.3, 0.2))
    post = system.add("post", pl.RigidBody.rod(0.4, 1.0), joint=ball)
    link = pl.Beam(length=0.5, section=pl.Section.rectangle(0.01, 0.02), material=pl.STEEL, theory="euler-bernoulli",
                   modes=[pl.Modes("cf", 2), pl.Modes("cf", 1, plane="z")], stiffening="full")  # fmt: skip
    system.add("link", link, joint=pl.Revolute(angle=0.4), on=post.tip, initial={"y1": 0.01, "z1": -0.02})
    system.close("rod", "distance", system.handle("link").tip, system.ground.moved((0.2, 0.5, 0.1)), length=0.6)
    equations = ImplicitEquations(system, still=True)
    balance = Balance(equations, 0.0, {})
    here = balance.at(equations.start_q)
    step, stiffness = 1e-6, balance.stiffness(here)

    def force(change):
        moved = balance.at(balance.moved(here.point.q, change))
        return moved.force + moved.matrix.T @ (moved.point.multipliers - here.point.multipliers)

    for k in range(len(balance.free)):
        unit = np.eye(len(balance.free))[k]
        slope = (force(step * unit) - force(-step * unit)) / (2.0 * step)
        assert stiffness[:, k] == pytest.approx(slope, abs=1e-5 * np.max(np.abs(stiffness)))
    assert not is_balanced(balance, here)
    found = find_rest(balance, equations.start_q)
    assert found.found and is_balanced(balance, balance.at(found.q))
