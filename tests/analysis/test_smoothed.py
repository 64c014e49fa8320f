"""Friction and losses smoothed at rest: a linearisation says how much of its damping is theirs, and up to which rate."""

import re

import pytest

import pliant as pl
from pliant.model.friction_law import FRICTION_LAWS, FrictionLaw
from registered import FRICTION

G, RADIUS, RATIO = 9.81, 0.02, 100.0
SMOOTHED = [kind for kind in FRICTION_LAWS if issubclass(kind, FrictionLaw) and not kind.holds and kind.__name__ != "Ambrosio"]


def geared(**motor):
    """An arm that a motor holds against gravity through a gear."""
    system = pl.System("geared", gravity=(0, -G))
    system.add("arm", pl.RigidBody.rod(0.6, 1.0), joint=pl.Revolute(angle=0.2))
    system.motor("m", "arm.angle", pl.Motor(inertia=3e-5, ratio=RATIO, **{"efficiency": 0.9, **motor}), command=0.0)
    return system


def trimmed(system, angle="0 deg"):
    return pl.linearise(system, at=pl.equilibrium(system, hold={"arm.angle": angle}))


def pendulum(law, **start):
    system = pl.System("pendulum", gravity=(0, -G))
    pin = pl.JointFriction(law, radius=RADIUS)
    system.add("rod", pl.RigidBody.rod(1.0, 2.0), joint=pl.Revolute(**{"angle": -1.4, **start}, friction=pin))
    return system


def numbers(sentence):
    """The damping, and the rate up to which it holds."""
    return tuple(float(x) for x in re.search(r"by (\S+) N .*below (\S+) ", sentence).groups())


def test_the_loss_of_a_gear_at_rest_is_told_with_its_damping_and_the_rates_for_which_it_holds():
    linear = trimmed(geared())
    (said,) = linear.warnings
    assert said.startswith("the gear loss of motor 'm' is smoothed at rest: its slope there damps arm.angle by 327 N m s/rad, ")
    assert "at rates below 0.001 rad/s only" in said
    assert "efficiency=1" in said and float(linear.damping[0, 0]) == pytest.approx(327.0, rel=1e-9)
    assert linear.modes().warnings == linear.frequency_response().warnings == linear.warnings


def test_an_elastic_gear_damps_its_rotor():
    (said,) = trimmed(geared(gear_stiffness=500.0)).warnings
    assert numbers(said) == pytest.approx((0.0327, 0.1), rel=1e-2) and "damps its rotor" in said


@pytest.mark.parametrize("kind", SMOOTHED, ids=lambda kind: kind.__name__)
def test_every_smoothed_law_in_a_joint_is_told_and_holds_up_to_the_rate_that_is_told(kind):
    law, load = FRICTION[kind], 2.0 * G
    linear = pl.linearise(pendulum(law))
    (said,) = linear.warnings
    damping, rate = numbers(said)
    assert said.startswith("friction of 'rod.angle' is smoothed") and damping == pytest.approx(linear.damping[0, 0], rel=1e-2)
    kept = law.force(RADIUS * rate, load) * RADIUS / rate / damping
    assert 0.7 < kept < 0.85  # tanh(1) is 0.76


def test_a_contact_with_smoothed_friction_is_told_while_it_is_closed():
    def block(height):
        system = pl.System("block", gravity=(0, -G))
        joint = pl.Planar(position=(0, height), spring={"x": pl.Spring(200.0), "y": pl.Spring(1.0), "angle": pl.Spring(50.0)})
        body = system.add("block", pl.RigidBody(mass=2.0, inertia=0.1), joint=joint)
        floor = pl.Plane(normal=(0, 1))
        system.contact(points=body.root, against=floor, normal=pl.Linear(stiffness=1e5, damping=100.0),
                       friction=pl.Coulomb(mu=0.3), name="floor")  # fmt: skip
        return system

    (said,) = pl.linearise(block(0.0)).warnings
    assert said.startswith("friction of contact 'floor") and numbers(said) == pytest.approx((0.3 * 2.0 * G / 1e-3, 1e-3), rel=1e-2)
    assert pl.linearise(block(0.5), at="start").warnings == ()


def test_nothing_is_told_where_there_is_no_such_damping():
    assert trimmed(geared(efficiency=1.0)).warnings == ()
    assert trimmed(geared(), "-90 deg").warnings == ()  # without load
    assert pl.linearise(pendulum(pl.CustomFriction(lambda speed, normal: 0.1 * normal * speed))).warnings == ()  # linear
    assert pl.linearise(pendulum(pl.Coulomb(mu=0.3), rate=2.0), at="start").warnings == ()  # in motion
    turning = pl.System("turning", gravity=(0, 0))
    pin = pl.JointFriction(pl.Coulomb(mu=0.3), radius=RADIUS, preload=5.0)
    turning.add("disc", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Revolute(friction=pin, motion=lambda t: 0.0 * t))
    assert pl.linearise(turning).warnings == ()  # its motion is given
