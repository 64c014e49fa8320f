"""Nothing passes unseen: short pulses of what is told to move, of forces and of conditions, in runs a thousand times as long."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import pliant as pl
from pliant.model.system import BodyHandle

AT, REACH, END = 1.0037, 0.05, 2.0  # s, m, s
LAW = pl.HuntCrossley(stiffness=1e6, restitution=0.7)
Motion = Callable[[object], object]


def bump(width: float) -> Motion:
    """Out by REACH and back within `width` seconds, beginning at AT."""
    return lambda t: REACH * pl.sin(pl.pi * pl.minimum(pl.maximum((t - AT) / width, 0.0), 1.0)) ** 4


def met(width: float, way: float) -> float:
    """When a bump has gone a way."""
    return AT + width * math.asin((way / REACH) ** 0.25) / math.pi


def pushed(motion: Motion) -> tuple[pl.System, BodyHandle, BodyHandle]:
    system = pl.System("pusher", gravity=(0, 0))
    pusher = system.add("pusher", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(motion=motion))
    ball = system.add("ball", pl.RigidBody(mass=0.1, inertia=1e-4), joint=pl.Planar(position=(0.06, 0)))
    return system, pusher, ball


def plane(width: float) -> tuple[pl.System, float]:
    """A plane on a prescribed slider, 40 mm from a ball at rest."""
    system, pusher, ball = pushed(bump(width))
    system.contact(points=pl.Sphere(ball.root, 0.02), against=pl.Plane(normal=(1, 0), on=pusher.root), normal=LAW, name="hit")
    return system, met(width, 0.04)


def sphere(width: float) -> tuple[pl.System, float]:
    """A ball on a prescribed slider, 20 mm from the ball at rest."""
    system, pusher, ball = pushed(bump(width))
    system.contact(points=pl.Sphere(ball.root, 0.02), against=pl.Sphere(pusher.root, 0.02), normal=LAW, name="hit")
    return system, met(width, 0.02)


def paddle(width: float) -> tuple[pl.System, float]:
    """A paddle on a prescribed hinge swings into a ball: its face is 0.2 m from the hinge when they meet."""
    system = pl.System("paddle", gravity=(0, 0))
    turn = bump(width)
    arm = system.add("paddle", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Revolute(motion=lambda t: 5.0 * turn(t)))
    ball = system.add("ball", pl.RigidBody(mass=0.1, inertia=1e-4), joint=pl.Planar(position=(0.2, 0.04)))
    system.contact(points=pl.Sphere(ball.root, 0.02), against=pl.Plane(normal=(0, 1), on=arm.root), normal=LAW, name="hit")
    reached = math.atan2(0.04, 0.2) - math.asin(0.02 / math.hypot(0.04, 0.2))  # cos(a) y - sin(a) x = r
    return system, met(width, reached / 5.0)


def closure(width: float) -> tuple[pl.System, float]:
    """As the plane, but the slider is free and a closure tells it where to be."""
    system = pl.System("closure", gravity=(0, 0))
    pusher = system.add("pusher", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic())
    ball = system.add("ball", pl.RigidBody(mass=0.1, inertia=1e-4), joint=pl.Planar(position=(0.06, 0)))
    system.close("told", "prescribed", "pusher.displacement", motion=bump(width))
    system.contact(points=pl.Sphere(ball.root, 0.02), against=pl.Plane(normal=(1, 0), on=pusher.root), normal=LAW, name="hit")
    return system, met(width, 0.04)


@pytest.mark.parametrize("width", [1e-3, 2e-3, 5e-3, 1e-2, 5e-2])
@pytest.mark.parametrize("make", [plane, sphere, paddle, closure], ids=lambda make: make.__name__)
def test_what_is_told_to_move_is_seen_to_strike(make: Callable[[float], tuple[pl.System, float]], width: float) -> None:
    """The touch begins when geometry says; the ball at rest gives the error control nothing to look at before."""
    system, when = make(width)
    run = pl.simulate(system, END)
    assert run.ok and len(run.contacts) == 1
    assert run.contacts[0].begin == pytest.approx(when, abs=1e-9)
    assert run.stats["steps"] < 400


@pytest.mark.parametrize("depth", [1e-5, 1e-7])
def test_a_wave_taps_a_ball_in_a_run_of_any_length(depth: float) -> None:
    """A 5 Hz wave whose third crest is its highest and reaches the ball; nothing but the event search looks at a ball at rest."""
    at = 2.25 / 5.0
    system, pusher, ball = pushed(lambda t: 0.04 * pl.sin(10 * pl.pi * t) * (1 - 2 * (t - at) ** 2 / (1 + 10 * (t - at) ** 2)))
    reached = pl.Sphere(ball.root, 0.02 + depth)
    system.contact(points=reached, against=pl.Plane(normal=(1, 0), on=pusher.root), normal=LAW, name="tap")
    for end in (0.6, 1.1, 1.15, 1.4, 2.0, 2.3, 2.95):
        run = pl.simulate(system, end, method=pl.DOP853(rtol=1e-4, atol=1e-7), save=0.1)
        assert len(run.contacts) >= 1 and run.contacts[0].begin == pytest.approx(at, abs=2e-3), end


@pytest.mark.parametrize("method", [pl.RKF45, pl.Radau5, pl.Rodas5P], ids=lambda method: method.__name__)
def test_other_methods_see_it_too(method: type) -> None:
    system, when = plane(1e-3)
    run = pl.simulate(system, END, method=method(rtol=1e-6, atol=1e-9))
    assert len(run.contacts) == 1 and run.contacts[0].begin == pytest.approx(when, abs=1e-7)


@pytest.mark.parametrize("width", [3e-4, 1e-3, 1e-2])
def test_a_pulse_of_force_gives_its_impulse(width: float) -> None:
    """From rest under no other force, where any step would do: J = 3/8 F width, as a load and as a drive."""
    for kind in ("load", "drive"):
        system = pl.System("kick", gravity=(0, 0))
        body = system.add("body", pl.RigidBody(mass=2.0, inertia=1.0), joint=pl.Prismatic())
        shape = bump(width)
        if kind == "load":
            system.force("kick", body.root, (lambda t, q, v, shape=shape: 1e5 * shape(t), 0.0))
        else:
            system.drive("kick", "body.displacement", lambda t, q, v, shape=shape: 1e5 * shape(t))
        run = pl.simulate(system, END)
        assert run.rate("body.displacement")[-1] == pytest.approx(0.375e5 * REACH * width / 2.0, rel=1e-7)


LONG, SHORT = 1e4, 2e-3  # s
PULSES = {  # of t - AT, with their integrals over time
    "jumps": (lambda t, at: pl.where(t > at, pl.where(t < at + SHORT, 1.0, 0.0), 0.0), SHORT),
    "rises and falls": (lambda t, at: pl.maximum(0.0, 1.0 - pl.absolute(t - at) / SHORT), SHORT),
    "is a half sine": (lambda t, at: pl.sin(pl.pi * pl.minimum(pl.maximum((t - at) / SHORT, 0.0), 1.0)) ** 4, 0.375 * SHORT),
    "is bell-shaped": (lambda t, at: pl.exp(-(((t - at) / SHORT) ** 2)), SHORT * math.sqrt(math.pi)),
    "is a parabola": (lambda t, at: pl.maximum(0.0, 1.0 - ((t - at) / SHORT) ** 2), 4.0 / 3.0 * SHORT),
    "comes back": (lambda t, at: pl.where(t / 2500.0 - pl.floor(t / 2500.0) < SHORT / 2500.0, 1.0, 0.0), 4.0 * SHORT),
}


@pytest.mark.parametrize("kind", PULSES)
@pytest.mark.parametrize("at", [1234.567, 7777.7])
def test_a_pulse_much_shorter_than_a_sample_of_the_run_gives_its_impulse(kind: str, at: float) -> None:
    """1/5,000,000 of the run: the formula tells where it is."""
    pulse, integral = PULSES[kind]
    system = pl.System("kick", gravity=(0, 0))
    system.add("body", pl.RigidBody(mass=2.0, inertia=1.0), joint=pl.Prismatic())
    system.drive("kick", "body.displacement", lambda t, q, v: pulse(t, at))
    run = pl.simulate(system, LONG, save=LONG / 10)
    assert run.rate("body.displacement")[-1] == pytest.approx(0.5 * integral, rel=1e-6)
    assert run.stats["steps"] < 400


def test_a_comparison_of_the_state_with_a_wave_is_decided_at_every_crest() -> None:
    """A force acts while a wave is above a body at rest, for a seventieth of each period; the flag itself depends on no time."""
    system = pl.System("wave", gravity=(0, 0))
    system.add("body", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic())
    system.drive("push", "body.displacement", lambda t, q, v: pl.where(q["body.displacement"] + 0.999 < pl.sin(10 * t), 1e-9, 0))
    run = pl.simulate(system, 20.0, method=pl.DOP853(rtol=1e-6, atol=1e-15), save=1.0)
    crests = math.floor((200.0 - 0.5 * math.pi) / (2.0 * math.pi)) + 1
    assert run.rate("body.displacement")[-1] == pytest.approx(1e-9 * crests * 0.2 * math.acos(0.999), rel=1e-4)


def test_a_condition_of_time_alone_is_seen() -> None:
    system = pl.System("watch", gravity=(0, 0))
    system.add("body", pl.RigidBody(mass=2.0, inertia=1.0), joint=pl.Prismatic())
    shape = bump(1e-3)
    system.event("signal", lambda t, q, v: shape(t) - 0.5 * REACH)
    run = pl.simulate(system, END)
    up = met(1e-3, 0.5 * REACH)
    assert [event.t for event in run.events] == pytest.approx([up, 2 * AT + 1e-3 - up], abs=1e-9)


def test_smooth_motions_cost_no_steps() -> None:
    """A slow sine and a ramp are resolved by the error control already: the pieces of time are longer than its steps."""
    import pliant.run.prepare as ready
    from pliant.integrate.time_pieces import TimePieces

    for motion in (lambda t: 2.0 * t, lambda t: pl.sin(6.0 * t)):
        system = pl.System("arm", gravity=(0, -9.81))
        upper = system.add("upper", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(motion=motion))
        system.add("lower", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=0.5), on=upper.tip)
        compiled = ready.compile_system(system)
        with_pieces = pl.simulate(compiled, 5.0)
        kept = compiled.traced.timed._kept
        kept.update(dict.fromkeys(kept, TimePieces(np.empty(0), True)))
        assert with_pieces.stats["steps"] <= 1.03 * pl.simulate(compiled, 5.0).stats["steps"]


def test_a_motion_too_fast_to_be_looked_at_is_told_of() -> None:
    system, pusher, ball = pushed(lambda t: 1e-3 * pl.sin(1e6 * t))
    system.contact(points=pl.Sphere(ball.root, 0.02), against=pl.Plane(normal=(1, 0), on=pusher.root), normal=LAW, name="hit")
    run = pl.simulate(system, END, max_steps=100)
    assert any("changes within less than 7.6e-06 s" in warning for warning in run.warnings)
