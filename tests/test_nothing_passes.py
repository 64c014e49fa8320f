"""Nothing passes through anything: stacks, cradles, spheres on spheres, rods on the ground; starts on their zeros.

The whole matrix (all sizes, tolerances and methods) is `benchmarks/passing.py`; here is enough of it to fail on any fault so far.
"""

from __future__ import annotations

import math

import numpy as np
import passing
import pytest

import pliant as pl
from pliant.integrate.methods.method import DOP853, ODE45, Auto, DormandPrince, Radau5


@pytest.mark.parametrize("n", [2, 5, 10])
def test_a_stack_that_just_touches_stands(n):
    assert passing.stacks((n,))["passed"] == []


def test_a_sphere_laid_on_a_sphere_at_zero_gap_does_not_sink_into_it():
    assert passing.balls_on_balls(starts=60)["passed"] == []


@pytest.mark.parametrize("kind", [Auto, DormandPrince, DOP853, Radau5, ODE45], ids=lambda kind: kind.__name__)
def test_the_balls_of_a_cradle_keep_their_order(kind):
    assert passing.cradles((3, 6), (kind,), (1e-3, 1e-6))["passed"] == []


def resting_rod(angle):
    """A rod with its lower end on the ground, computed as a user would: on it, or a unit of round-off above or below."""
    system = pl.System("rod", gravity=(0, -9.81))
    body = pl.RigidBody(mass=1.0, com=(0.5, 0.0, 0.0), inertia=1.0 / 12.0, tip=(1.0, 0.0, 0.0))
    rod = system.add("rod", body, joint=pl.Planar(position=(-math.cos(angle), math.sin(angle)), angle=-angle))
    system.contact(points=[rod.root, rod.tip], against=pl.Plane(normal=(0, 1)), normal=pl.HuGuo(stiffness=1e7, restitution=0.5),
                   friction=pl.Ambrosio(mu=0.3, v0=1e-4, v1=1e-3))  # fmt: skip
    return system


@pytest.mark.parametrize("angle", 0.1 + 0.13 * np.arange(10))
def test_a_rod_that_rests_on_its_end_falls_over_and_not_through_the_floor(angle):
    run = pl.simulate(resting_rod(angle), 1.0, method=Auto(rtol=1e-7, atol=1e-10))
    assert run.ok and run.values["gap"].min() > -1e-2
    assert run.contacts[0].pair == "contact rod.tip" and run.contacts[0].begin == 0.0


@pytest.mark.parametrize("spin", [0.0, -3.0])
@pytest.mark.parametrize("gap", [0.0, 1e-17, -1e-17])
@pytest.mark.parametrize("drift", [0.0, 1e-17, -1e-17])
def test_a_ball_at_zero_gap_whose_speed_is_round_off_rests_under_weight_and_leaves_when_pulled(spin, gap, drift):
    for pull, closed in ((-9.81, True), (9.81, False)):
        system = pl.System("ball", gravity=(0, pull))
        ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.004),
                          joint=pl.Planar(position=(0.0, 0.1 + gap), velocity=(1.0, drift), rate=spin))  # fmt: skip
        system.contact(points=pl.Sphere(ball.root, 0.1), against=pl.Plane(normal=(0, 1)), normal=pl.Hertz(stiffness=1e9))
        run = pl.simulate(system, 0.2, method=Auto(rtol=1e-7, atol=1e-10))
        assert run.ok and bool(run.contacts) is closed
        assert run["ball.y"][-1] == pytest.approx(0.1 if closed else 0.1 + 0.5 * pull * 0.2**2, abs=1e-4)


def test_a_slide_along_a_tilted_plane_without_weight_is_one_touch_or_none():
    """The gap is round-off all along: it must not open and close a thousand times."""
    system = pl.System("slide", gravity=(0, 0))
    normal = (math.sin(0.3), math.cos(0.3))
    start, along = np.array([0.1 * normal[0], 0.1 * normal[1]]), np.array([math.cos(0.3), -math.sin(0.3)])
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.004),
                      joint=pl.Planar(position=tuple(start + 0.7 * along), velocity=tuple(2.0 * along)))  # fmt: skip
    system.contact(points=pl.Sphere(ball.root, 0.1), against=pl.Plane(normal=normal), normal=pl.Hertz(stiffness=1e7))
    run = pl.simulate(system, 2.0)
    assert run.ok and len(run.contacts) <= 1 and run.stats["steps"] < 100


def test_a_user_event_that_starts_on_its_zero_to_round_off_is_no_event_until_it_comes_back():
    for offset in (0.0, 1e-17, -1e-17):
        system = pl.System("pendulum", gravity=(0, -9.81))
        body = pl.RigidBody(mass=1.0, com=(0.5, 0.0, 0.0), inertia=1.0 / 12.0)
        system.add("rod", body, joint=pl.Revolute(angle=-0.5 * math.pi + 0.3, rate=0.0))
        system.event("level", lambda t, q, v, offset=offset: q["rod.angle"] - (0.3 - 0.5 * math.pi) + offset)
        run = pl.simulate(system, 1.5)
        assert len(run.events) == 0 or run.events[0].t > 1.0
        assert run.ok


def test_a_users_event_is_seen_that_comes_and_goes_in_a_hundredth_of_a_step():
    """x = cos t passes 1 - 1e-5 twice in 9 ms at every turn; a cubic between the ends of a step is wrong by more than that."""
    system = pl.System("oscillator", gravity=(0, 0))
    system.add("mass", pl.RigidBody(mass=1.0), joint=pl.Prismatic(displacement=1.0, spring=pl.Spring(1.0)))
    system.event("top", lambda t, q, v: q["mass.displacement"] - (1.0 - 1e-5))
    run = pl.simulate(system, 20.0, method=pl.DOP853(rtol=1e-9, atol=1e-11))
    half = math.acos(1.0 - 1e-5)
    expected = [half, *(2.0 * math.pi * k + side * half for k in (1, 2, 3) for side in (-1, 1))]
    assert [event.t for event in run.events] == pytest.approx(expected, abs=1e-5)
