"""Impulsive contacts: impacts without duration, several at once, with friction, in trees, loops and elastic links; then rest."""

import math

import pytest

import pliant as pl
from pliant import Plane

G = 9.81


def compact(mass, size=0.1):
    return pl.RigidBody(mass=mass, inertia=(0.4 * mass * size**2,) * 3)


def dropped(law, height=1.0, friction=None):
    system = pl.System("ball", gravity=(0, -G))
    ball = system.add("ball", compact(1.3), joint=pl.Prismatic(axis="y", displacement=height))
    system.contact(points=ball.root, against=Plane(normal=(0, 1)), normal=law, friction=friction, name="floor")
    return system


@pytest.mark.parametrize("kind", ["newton", "poisson"])
def test_a_ball_bounces_ever_shorter_until_the_closed_form_says_that_it_rests(kind):
    e, height, floor = 0.8, 1.0, 1e-4
    result = pl.simulate(dropped(pl.Impulsive(restitution=e, kind=kind), height), 6.0)
    assert result.ok and not result.warnings
    fall = math.sqrt(2.0 * height / G)
    begins, entries = fall, G * fall
    for touch in result.contacts[:-1]:
        assert (touch.begin, touch.end) == pytest.approx((begins, begins), abs=1e-9)
        assert touch.entry_speed == pytest.approx(entries, abs=1e-8) and touch.restitution == pytest.approx(e, abs=1e-12)
        assert touch.impulse == pytest.approx(1.3 * (1.0 + e) * entries, abs=1e-8)
        begins, entries = begins + 2.0 * e * entries / G, e * entries
    assert entries <= floor < entries / e  # the first that is slower than its floor ends the bounces
    last = result.contacts[-1]
    assert last.lasting and last.begin == pytest.approx(fall * (1 + e) / (1 - e), abs=2.0 * floor / (G * (1.0 - e)))
    assert abs(result.data["q"].values[-1, 0]) < 1e-10
    assert result.data["normal_force"].values[-1, 0] == pytest.approx(1.3 * G, rel=1e-9)
    assert result.ledger.balance_error_max < 1e-11
    assert sum(touch.normal_loss for touch in result.contacts) == pytest.approx(1.3 * G * height, rel=1e-9)
