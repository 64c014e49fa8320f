"""Switches: comparisons of time, in motions and in laws of one's own are events, and derivatives take their jumps."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from differences import by_parameter, relative

FINE = pl.DOP853(rtol=1e-11, atol=1e-14)
TIGHT = pl.DOP853(rtol=1e-13, atol=1e-16)
ANGLE = "arm.angle"
A, B = pl.Parameter("a", 0.37), pl.Parameter("b", 0.21)


def driven(formula, joint=None):
    system = pl.System("arm", gravity=(0.0, -9.81))
    body = pl.RigidBody(mass=1.0, inertia=0.05, com=(0.3, 0.0), tip=(0.6, 0.0))
    system.add("arm", body, joint=joint or pl.Revolute(angle=0.4))
    system.drive("push", ANGLE, formula)
    return system


def errors(system, t_end, names=("a", "b")):
    found = pl.sensitivities(system, t_end, names, method=FINE, save=[t_end])
    assert found.ok, found.undefined
    # times of jumps are located to 1e-12 s: with shorter steps, differences see that
    return max(relative(found.final[:, k], by_parameter(system, t_end, name, step=2e-3)[0]) for k, name in enumerate(names))


JUMPS = {
    "time": lambda t, q, v: pl.where(t > A, 2.0, 0.0) * (1.0 + B),
    "sign": lambda t, q, v: pl.sign(t - A) * B,
    "nested": lambda t, q, v: pl.where(t > A, pl.where(t > 2.0 * A, 1.0, 3.0), 0.0) + B,
    "wave": lambda t, q, v: pl.where(pl.sin(20.0 * t) > B, 2.0, 0.0) * A,
    "pulses": lambda t, q, v: pl.where(t - A * pl.floor(t / A) < B, 3.0, 0.0),
    "stairs": lambda t, q, v: pl.floor(t / B) * A,
    "beside breakpoints": pl.Formula(lambda t, q, v: pl.where(t > A, 2.0, 0.0) + pl.where(pl.sin(20.0 * t) > B, 1.0, 0.0), (A,)),
}


@pytest.mark.parametrize("name", JUMPS)
def test_jumps_in_time_have_derivatives(name):
    assert errors(driven(JUMPS[name]), 0.9) < 1e-7


def test_a_corner_of_a_prescribed_motion_is_a_jump_of_its_acceleration():
    system = pl.System("arm", gravity=(0.0, -9.81))
    body = pl.RigidBody(mass=1.0, inertia=0.05, com=(0.3, 0.0), tip=(0.6, 0.0))
    arm = system.add("arm", body, joint=pl.Revolute(motion={"angle": lambda t: 2.0 * pl.maximum(0.0, t - A) ** 2}))
    system.add("free", body, joint=pl.Revolute(angle=B), on=arm.tip)
    assert errors(system, 0.9) < 1e-7


def ball(normal, friction=None):
    system = pl.System("ball", gravity=(0.0, -9.81))
    body = pl.RigidBody(mass=1.0, inertia=0.01, com=(0.0, 0.02), tip=(0.0, 0.1))
    rolling = system.add("ball", body, joint=pl.Planar(position=(0.0, 0.05), velocity=(0.8, -1.5), angle=0.1))
    system.contact(points=rolling.root, against=pl.Plane(normal=(0, 1)), normal=normal, friction=friction, name="floor")
    return system


def test_comparisons_in_laws_of_ones_own_are_switches():
    depth = ball(lambda d, rate, entry: 1e4 * d * pl.where(20.0 * d > B, 1.5 + A, 1.0))
    rate = ball(lambda d, rate, entry: 1e4 * d * pl.where(rate > B * entry, 1.5 + A, 1.0))
    speed = ball(pl.HuntCrossley(stiffness=1e4, restitution=0.7), lambda s, n: 0.1 * n * pl.where(s > 3.0 * B, 1.0 + A, 1.0))
    assert max(errors(depth, 0.12), errors(rate, 0.12), errors(speed, 0.12)) < 1e-6


def test_a_switch_that_another_turns_turns_at_the_same_time():
    """Pulses whose comparison jumps as the floor does: as exact as a table with the same times."""
    times, values = [0.0, 0.21, 0.37, 0.58, 0.74], [3.0, 0.0, 3.0, 0.0, 3.0]
    table = pl.simulate(driven(pl.PiecewiseConstant(times, values)), 0.9, method=TIGHT, save=[0.9])
    pulses = pl.simulate(driven(JUMPS["pulses"]), 0.9, method=TIGHT, save=[0.0, 0.9])
    assert pulses.data["effort"].values[0, 0] == 3.0
    assert np.allclose(pulses.final_state.y, table.final_state.y, rtol=0.0, atol=1e-10)


def test_an_event_that_a_switch_triggers_is_recorded():
    system = driven(0.0)
    system.motor("servo", ANGLE, pl.Motor(inertia=1e-3), command=lambda t, q, v: pl.where(t > A, 1.0, 0.0))
    system.event("on", lambda t, q, v: q["servo.command"] - 0.5)
    (event,) = pl.simulate(system, 0.9).events
    assert abs(event.t - 0.37) < 1e-9


def test_a_formula_may_have_no_value_beyond_its_comparison():
    system = driven(lambda t, q, v: pl.where(t < A, 1.0 + pl.sqrt(A - t), 0.0) + pl.sqrt(pl.where(t < B, B - t, t - B)))
    run = pl.simulate(system, 0.9, method=pl.DOP853(rtol=1e-12, atol=1e-15))
    assert run.ok
    found = pl.sensitivities(system, 0.9, ["a", "b"])
    assert not found.ok and found.until == pytest.approx(0.21, abs=1e-6) and "steep" in found.undefined[0].reason


@pytest.mark.parametrize("kind", ("floor", "atan2", "sqrt", "not listed"))
def test_what_derivatives_cannot_cross_is_said(kind):
    formulas = {
        "floor": lambda t, q, v: pl.quantise(q[ANGLE], B) * A,
        "atan2": lambda t, q, v: 0.1 * pl.atan2(q[ANGLE] - B, -A),
        "sqrt": lambda t, q, v: pl.sqrt(pl.absolute(q[ANGLE] - B)) * A,
        "not listed": pl.Formula(lambda t, q, v: pl.where(t > 0.3 * A, 2.0, B), (0.6,)),
    }
    found = pl.sensitivities(driven(formulas[kind]), 0.5, ["a", "b"], method=FINE)
    assert not found.ok and found.final is None and 0.05 < found.until < 0.2
    (said,) = found.undefined
    assert "the equations" in said.reason and np.all(np.isfinite(found.table["q"].values))


def test_a_comparison_that_time_has_passed_is_no_event():
    traced = pl.compile_system(driven(lambda t, q, v: pl.where((t >= 0.0) & (t < 0.2), 3.0, 0.0))).traced
    assert len(traced.events) == 1


@pytest.mark.parametrize("inductance", (0.0, 1e-3))
def test_a_tight_tolerance_passes_a_jump_in_time(inductance):
    system = driven(0.0)
    motor = pl.Motor(inertia=1e-3, constant=0.1, resistance=1.0, inductance=inductance, ratio=20.0)
    system.motor("servo", ANGLE, motor, command=lambda t, q, v: pl.where(t > 0.37, 1000.0, 0.0))
    run = pl.simulate(system, 0.5, method=pl.DOP853(rtol=1e-12, atol=1e-16))
    assert run.ok, run.message


@pytest.mark.parametrize("loop", ["single", "lockstep"])
@pytest.mark.parametrize("depth", [1e-6, 1e-7])
def test_a_force_that_acts_for_a_moment_only_is_not_passed_over(depth, loop):
    """x = -cos(t)/2 exceeds b = 1/2 - depth for 4 sqrt(depth) s: a push of K (8/3) depth^(3/2) at t = pi, to leading order."""
    stiffness, late = 100.0, np.sin(5.0 - np.pi)
    system = pl.System("oscillator", gravity=(0.0, 0.0))
    joint = pl.Prismatic(displacement=-0.5, spring=pl.Spring(1.0))
    system.add("mass", pl.RigidBody(mass=1.0, inertia=0.1), joint=joint)
    bound = pl.Parameter("bound", 0.5 - depth)
    system.drive("push", "mass.displacement", lambda t, q, v: stiffness * pl.maximum(0.0, q["mass.displacement"] - bound))
    pushed = stiffness * 8.0 / 3.0 * depth**1.5 * late
    if loop == "lockstep":
        many = pl.ensemble(system, 5.0, parameters={"bound": [0.5 - depth, 1.0] * 8}, method=FINE, loop=loop)
        assert many["q_end"].values[0, 0] - many["q_end"].values[1, 0] == pytest.approx(pushed, rel=1e-2)
        return
    found = pl.sensitivities(system, 5.0, ["bound"], method=FINE)
    assert found.ok and found.final[0, 0] == pytest.approx(-stiffness * 4.0 * depth**0.5 * late, rel=1e-2)
    assert found.result.final_state.y[0] + 0.5 * np.cos(5.0) == pytest.approx(pushed, rel=1e-2)
