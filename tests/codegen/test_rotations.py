"""What is turned by an angle and turned back is what it was: no sine is left of it, and nothing else is taken for it."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import pliant as pl
from pliant.codegen.tracer import Tracer
from pliant.trace.tracing import trace


def symbols(count: int) -> tuple[Tracer, ca.SX, list]:
    tracer = Tracer()
    column, scalars = tracer.symbols("x", count)
    return tracer, column, scalars


def test_a_vector_that_is_turned_and_turned_back_is_itself():
    _, _, (angle, u, w) = symbols(3)
    s, c = pl.sin(angle), pl.cos(angle)
    inside = c * u + s * w, c * w - s * u
    assert c * inside[0] - s * inside[1] is u
    assert s * inside[0] + c * inside[1] is w
    outside = c * u - s * w, s * u + c * w
    assert c * outside[0] + s * outside[1] is u
    assert c * outside[1] - s * outside[0] is w


def test_a_force_along_one_axis_too():
    _, _, (angle, n) = symbols(2)
    s, c = pl.sin(angle), pl.cos(angle)
    assert s * (s * n) + c * (c * n) is n
    assert isinstance(s * (c * n) - c * (s * n), float)
    assert not isinstance(c * (s * n) + s * (c * n), float)


def test_products_of_the_same_factors_cancel():
    _, _, (a, b, c, d) = symbols(4)
    assert isinstance((a * b) * (c * d) - (a * c) * (b * d), float)
    assert isinstance(a * (b * c) - (a * c) * b, float)
    assert not isinstance((a * b) * (c * d) - (a * c) * (b * b), float)


@pytest.mark.parametrize("seed", range(60))
def test_sums_of_products_with_sines_keep_their_value(seed):
    """Random sums of the same look, of one angle and of two: as CasADi computes them."""
    rng = np.random.default_rng(seed)
    tracer, column, (first, second, u, w) = symbols(4)
    angles = (first, second if seed % 3 == 0 else first)
    turns = [f(angle) for angle in angles for f in (pl.sin, pl.cos)]
    plain = [float(rng.uniform(0.5, 1.5)), u, w, u * w]

    def linear():
        terms = [turns[rng.integers(4)] * plain[rng.integers(1, 4)] for _ in range(int(rng.integers(1, 3)))]
        return terms[0] if len(terms) == 1 else terms[0] + terms[1] if rng.integers(2) else terms[0] - terms[1]

    x, y = turns[rng.integers(4)] * linear(), turns[rng.integers(4)] * linear()
    total = x + y if rng.integers(2) else x - y
    at = rng.uniform(-2.0, 2.0, 4)
    of = ca.Function("f", [column], [tracer.column([x, y, total])])
    left, right, got = np.array(of(at)).ravel()
    assert min(abs(got - (left + right)), abs(got - (left - right))) < 1e-14 * (1.0 + abs(left) + abs(right))


def test_a_ball_needs_no_sine():
    """A sphere about the mass centre of a body that moves along world axes."""
    system = pl.System("ball", gravity=(0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar(position=(0.0, 1.0)))
    system.contact(points=pl.Sphere(ball.root, 0.05), against=pl.Plane(normal=(0, 1)), normal=pl.Hertz(stiffness=1e6))
    kinds = trace(system).functions["rhs"].program().kind
    assert ca.OP_SIN not in kinds and ca.OP_COS not in kinds
