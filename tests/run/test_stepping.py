"""Runs led step by step: the same as one run while inputs stay, right where they change, and the same again from a copy."""

from __future__ import annotations

import copy
import hashlib
import math
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import pliant as pl

DT = 1e-3
LINK = pl.Beam(length=0.8, section=pl.Section.rectangle(0.02, 0.01), material=pl.STEEL, theory="euler-bernoulli",
               modes=pl.Modes("cf", 1), damping=(pl.KelvinVoigt(2e5),))  # fmt: skip


def arm(shoulder: float = 2.5, elbow: float = 0.5) -> pl.System:
    """Two elastic links: a torque that is a parameter, and one by a formula with a parameter."""
    system = pl.System("arm", gravity=(0.0, -9.81))
    upper = system.add("upper", LINK, joint=pl.Revolute(angle=-1.2, damper=pl.Damper(0.5)))
    system.add("lower", LINK, joint=pl.Revolute(angle=0.4, damper=pl.Damper(0.3)), on=upper.tip)
    system.drive("shoulder", "upper.angle", pl.Parameter("shoulder", shoulder, low=-20.0, high=20.0))
    torque = pl.Parameter("elbow", elbow)
    system.drive("elbow", "lower.angle", lambda t, q, v: 2.0 * torque - 0.1 * v["lower.angle"])
    return system


@pytest.fixture(scope="module")
def two_links() -> pl.Compiled:
    return pl.compile_system(arm())


def stepped(run: pl.SteppedRun, count: int, inputs: dict[str, float] | None = None, dt: float = DT) -> np.ndarray:
    """All coordinates and rates, from here on."""
    rows = [np.concatenate([run.q, run.v])]
    for _ in range(count):
        assert run.step(dt, inputs)
        rows.append(np.concatenate([run.q, run.v]))
    return np.array(rows)


def rows_of(result: pl.Result, count: int) -> np.ndarray:
    return np.hstack([result.values["q"], result.values["v"]])[: count + 1]


def ball(**more: object) -> pl.System:
    """A ball pushed over the ground, that bounces, sticks and slides."""
    system = pl.System("ball", gravity=(0.0, -9.81))
    start = pl.Planar(position=(0.0, 0.2), velocity=(1.0, 0.0), rate=5.0)
    body = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.004), joint=start)
    system.contact(points=pl.Sphere(body.root, 0.1), against=pl.Plane(normal=(0, 1)),
                   normal=pl.HuGuo(stiffness=1e5, restitution=0.5), friction=pl.Karnopp(mu_static=0.4, mu_kinetic=0.3),
                   **more)  # fmt: skip
    system.force("push", body.root, (pl.Parameter("push", 0.5), 0.0))
    return system


# ---- inputs that stay


@pytest.mark.parametrize("method", [
    "auto", pl.RKF45(rtol=1e-7, atol=1e-9), pl.RK4(step=3e-4), pl.Radau5(rtol=1e-5, atol=1e-8), pl.Rodas5P(rtol=1e-5, atol=1e-8),
], ids=lambda method: method if isinstance(method, str) else type(method).__name__)  # fmt: skip
def test_steps_with_inputs_that_stay_are_one_run_bit_by_bit(two_links, method):
    inputs, count = {"shoulder": 3.1, "elbow": -0.4}, 60
    whole = pl.simulate(two_links, 0.06, method=method, save=pl.every(DT), parameters=inputs)
    run = pl.start(two_links, method=method, t_end=0.06)
    rows = stepped(run, count, inputs)
    assert np.array_equal(rows[1:], rows_of(whole, count)[1:])
    result = run.result()
    assert result.ok and result.parameters == {"shoulder": 3.1, "elbow": -0.4}
    for name in whole.values:
        assert np.array_equal(result.values[name], whole.values[name]), name


def test_without_an_end_the_bits_are_those_of_a_longer_run(two_links):
    whole = pl.simulate(two_links, 1.0, save=pl.every(DT))
    assert np.array_equal(stepped(pl.start(two_links), 300), rows_of(whole, 300))


def test_steps_longer_and_shorter_than_those_of_the_integrator_read_the_same_motion(two_links):
    """By a method that does not choose its family: `Auto` counts evaluations, which rows inside steps cost some of."""
    method = pl.DOP853(rtol=1e-9, atol=1e-12)
    whole = pl.simulate(two_links, 1.0, method=method, save=np.arange(0.0, 0.2, 2.0**-12))
    for dt, every in ((2.0**-12, 1), (2.0**-5, 128)):
        count = 200 if every == 1 else 5
        rows = stepped(pl.start(two_links, method=method), count, dt=dt)
        assert np.array_equal(rows, rows_of(whole, 818)[: every * count + 1 : every])


def test_a_ball_that_bounces_sticks_and_slides_is_that_of_one_run():
    system = ball()
    system.event("leftwards", lambda t, q, v: v["ball.x"] - 0.9)
    whole = pl.simulate(system, 0.6, save=pl.every(DT))
    run = pl.start(system, t_end=0.6)
    rows = stepped(run, 600)
    assert len(whole.contacts) > 1 and whole.events
    assert np.array_equal(rows, rows_of(whole, 600))
    result = run.result()
    assert result.events == whole.events == run.events
    assert result.contacts == whole.contacts
    assert np.array_equal(result.values["friction_force"], whole.values["friction_force"])


def four_bar() -> pl.System:
    """Loops closed by multipliers, a table with breakpoints between the steps, and on some of them."""
    system = pl.System("four-bar", (0, -9.81))
    crank = system.add("crank", pl.RigidBody.rod(0.3, 1.0), joint=pl.Revolute(angle=1.0))
    coupler = system.add("coupler", pl.RigidBody.rod(0.9, 1.0), joint=pl.Revolute(angle=-0.6), on=crank.tip)
    rocker = system.add("rocker", pl.RigidBody.rod(0.6, 1.0), joint=pl.Revolute(angle=2.0), on=system.ground.moved((1.0, 0.0)))
    system.close("pin", "point", coupler.tip, rocker.tip)
    system.drive("motor", "crank.angle", pl.PiecewiseConstant((0.0, 0.0205, 0.05), (2.0, -3.0, 0.0)))
    return system


@pytest.mark.parametrize("method", ["auto", pl.TwoLoop(rtol=1e-8, atol=1e-10)], ids=["projected", "partitioned"])
def test_closed_loops_and_tables_step_as_one_run(method):
    whole = pl.simulate(four_bar(), 0.1, method=method, save=pl.every(DT))
    assert np.array_equal(stepped(pl.start(four_bar(), method=method, t_end=0.1), 100), rows_of(whole, 100))


def pulsed() -> pl.System:
    """A pulse of 2 ms that a step of a slow pendulum would pass over."""
    system = pl.System("pulsed", (0.0, 0.0))
    system.add("rod", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(rate=0.1))
    system.drive("pulse", "rod.angle", lambda t, q, v: 100.0 * pl.exp(-(((t - 1.7) / 1e-3) ** 2)))
    return system


def test_a_pulse_is_seen_though_no_end_is_known():
    """Its impulse, 100 sqrt(pi) 1e-3 N m s, over the rod's inertia of 1/3 kg m^2."""
    run = pl.start(pulsed())
    for _ in range(40):
        run.step(0.05)
    assert run.v[0] == pytest.approx(0.1 + 100.0 * math.sqrt(math.pi) * 1e-3 * 3.0, rel=1e-7)


def test_with_an_end_a_formula_of_time_steps_as_one_run():
    whole = pl.simulate(pulsed(), 2.0, save=pl.every(0.05))
    assert np.array_equal(stepped(pl.start(pulsed(), t_end=2.0), 40, dt=0.05), rows_of(whole, 40))


def test_a_run_goes_on_from_a_result(two_links):
    first = pl.simulate(two_links, 0.05)
    run = pl.start(two_links, start=first)
    assert run.t == 0.05
    whole = pl.simulate(two_links, 1.0, start=first, save=[0.05, 0.06])
    run.step(0.01)
    assert np.max(np.abs(run.q - whole.values["q"][-1])) <= 1e-12


# ---- inputs that change


def tabled(torques: np.ndarray) -> pl.System:
    """The arm with tables instead of inputs."""
    system = arm()
    times = DT * np.arange(len(torques))
    system.drives.clear()
    system.drive("shoulder", "upper.angle", pl.PiecewiseConstant(times, torques[:, 0]))
    system.drive("elbow", "lower.angle", lambda t, q, v: -0.1 * v["lower.angle"])
    system.drive("table", "lower.angle", pl.PiecewiseConstant(times, 2.0 * torques[:, 1]))
    return system


@pytest.mark.parametrize("often", [1, 7], ids=["at every step", "now and then"])
def test_inputs_that_change_are_tables_of_the_same_numbers(two_links, often):
    """Within the tolerance: the table's arm has another drive, hence other sums. Works and the ledger too."""
    torques = np.repeat(np.random.default_rng(3).uniform(-5.0, 5.0, (70 // often, 2)), often, axis=0)
    method = pl.DOP853(rtol=1e-11, atol=1e-13)
    whole = pl.simulate(tabled(torques), len(torques) * DT, method=method, save=pl.every(DT))
    run = pl.start(two_links, method=method)
    for shoulder, elbow in torques.tolist():
        assert run.step(DT, {"shoulder": shoulder, "elbow": elbow})
    result = run.result()
    assert np.max(np.abs(rows_of(result, 70) - rows_of(whole, 70))) <= 1e-9
    assert result.ledger.relative_error_max <= 1e-10
    ours, theirs = result.ledger.work, whole.ledger.work
    assert np.max(np.abs(ours["shoulder"] - theirs["shoulder"])) <= 1e-9
    assert np.max(np.abs(ours["elbow"] - theirs["elbow"] - theirs["table"])) <= 1e-9
    shown = result.values["effort"][:, list(result.labels["drive"]).index("shoulder")]
    assert np.array_equal(shown[1:], torques[:, 0])  # a row shows the input that led to it


def test_an_input_that_changes_once_is_a_breakpoint():
    """The same arm, its torque a table that breaks where the input changes: but for steps before it, which are not cut."""

    def pushed(effort: object) -> pl.System:
        system = pl.System("pushed", gravity=(0.0, -9.81))
        system.add("link", LINK, joint=pl.Revolute(angle=-1.2))
        system.drive("motor", "link.angle", effort)
        return system

    whole = pl.simulate(pushed(pl.PiecewiseConstant((0.0, 0.02), (3.0, -2.0))), 0.05, save=pl.every(DT))
    run = pl.start(pushed(pl.Parameter("torque", 3.0)), t_end=0.05)
    rows = np.vstack([stepped(run, 20), stepped(run, 30, {"torque": -2.0})[1:]])
    assert np.max(np.abs(rows - rows_of(whole, 50))) <= 1e-9  # rtol, of rates of about 1


def test_rows_show_the_inputs_that_led_to_them(two_links):
    """Also those before an input was set for the first time."""
    run = pl.start(two_links)
    for inputs in (None, None, {"shoulder": 4.0}, None, {"elbow": -1.0}):
        run.step(DT, inputs)
    seen = run.observe()["effort"]
    efforts = run.result().values["effort"]
    assert efforts[:, 0].tolist() == [2.5, 2.5, 2.5, 4.0, 4.0, 4.0]
    rates = run.result().rate("lower.angle")
    assert efforts[:, 1] == pytest.approx(2.0 * np.array([0.5] * 5 + [-1.0]) - 0.1 * rates, abs=1e-12)
    assert np.array_equal(seen, efforts[-1])


def test_contacts_and_friction_go_on_across_a_change():
    """Pushed harder than friction holds, the ball at rest slides: Newton's law for a push of 9 N against 0.3 m g."""
    system = pl.System("box", gravity=(0.0, -9.81))
    box = system.add("box", pl.RigidBody(mass=1.0, inertia=0.01), joint=pl.Prismatic(axis="x"))
    slide = system.add("foot", pl.RigidBody(mass=1e-3, inertia=1e-6), joint=pl.Prismatic(axis="y"), on=box.tip)
    system.contact(points=slide.root, against=pl.Plane(normal=(0, 1), point=(0, 1e-6)),
                   normal=pl.Linear(stiffness=1e4, damping=10.0), friction=pl.Karnopp(mu_static=0.4, mu_kinetic=0.3))  # fmt: skip
    system.force("press", slide.root, (0.0, -10.0))
    system.force("push", box.root, (pl.Parameter("push", 0.0), 0.0))
    run = pl.start(system)
    for _ in range(50):
        run.step(DT, {"push": 2.0})
    assert abs(run.observe()["v", "box.displacement"]) <= 1e-9  # it holds
    before = run.observe()["normal_force"][0]
    for _ in range(50):
        run.step(DT, {"push": 9.0})
    assert run.observe()["normal_force"][0] == pytest.approx(before, rel=0.02)
    assert run.result().ledger.relative_error_max <= 1e-7
    assert run.observe()["v", "box.displacement"] == pytest.approx((9.0 - 0.3 * before) / 1.001 * 0.05, rel=0.02)


@pytest.mark.parametrize("value", [0.0, 1.0, -1.0])
def test_an_input_may_be_a_number_that_vanishes_from_equations(value):
    """Zero times anything is left out of the code, unless it is an input."""
    system = pl.System("pushed", gravity=(0.0, 0.0))
    system.add("rod", pl.RigidBody.rod(1.0, 3.0), joint=pl.Revolute())
    system.drive("motor", "rod.angle", pl.Parameter("torque", value))
    run = pl.start(system)
    run.step(0.1)
    run.step(0.1, {"torque": 0.5})
    run.step(0.1, {"torque": value})
    assert run.v[0] == pytest.approx(0.1 * (0.5 + 2.0 * value), abs=1e-14)  # the rod's inertia is 1 kg m^2
    whole = pl.simulate(system, 0.1)
    other = pl.start(system, t_end=0.1)
    other.step(0.1)
    assert other.q[0] == pytest.approx(whole["rod.angle"][-1], rel=1e-14, abs=1e-16)


def test_two_inputs_that_are_equal_are_two_and_expressions_of_one_follow_it():
    system = pl.System("pushed", gravity=(0.0, 0.0))
    body = system.add("block", pl.RigidBody(mass=2.0, inertia=1.0), joint=pl.Planar())
    right, up = pl.Parameter("right", 3.0), pl.Parameter("up", 3.0)
    system.force("push", body.root, (right, up))
    system.drive("turn", "block.angle", 2.0 * right + up)
    run = pl.start(system)
    run.step(0.5, {"up": -1.0})
    run.step(0.5, {"right": 5.0})
    assert run.v == pytest.approx([0.5 * (3.0 + 5.0) / 2.0, -0.5, 0.5 * (5.0 + 9.0)], rel=1e-12)


def test_a_damper_and_friction_may_be_inputs():
    """A semi-active damper: its coefficient does not hold energy."""
    system = pl.System("damped", gravity=(0.0, 0.0))
    system.add("rod", pl.RigidBody.rod(1.0, 3.0), joint=pl.Revolute(rate=1.0, damper=pl.Damper(pl.Parameter("damping", 2.0))))
    run = pl.start(system)
    run.step(0.1)
    run.step(0.1, {"damping": 5.0})
    assert run.v[0] == pytest.approx(math.exp(-0.7), rel=1e-9)
    assert run.result().ledger.relative_error_max <= 1e-9


def test_a_formula_of_time_that_an_input_scales_is_seen_from_then_on():
    """A pulse of 2 ms, switched on half a second before: its impulse over 1 kg m^2."""
    size = pl.Parameter("size", 0.0)
    system = pl.System("pulsed", gravity=(0.0, 0.0))
    system.add("rod", pl.RigidBody.rod(1.0, 3.0), joint=pl.Revolute())
    system.drive("pulse", "rod.angle", lambda t, q, v: size * pl.exp(-(((t - 1.0) / 1e-3) ** 2)))
    for t_end in (None, 2.0):
        run = pl.start(system, t_end=t_end)
        for k in range(20):
            run.step(0.1, {"size": 0.0 if k < 5 else 100.0})
        assert run.v[0] == pytest.approx(0.1 * math.sqrt(math.pi), rel=1e-8)


def test_an_input_may_switch_a_force_that_jumps():
    """A force of 1 N towards a place that jumps to the other side of the mass."""
    place = pl.Parameter("place", 1.0)
    system = pl.System("switched", gravity=(0.0, 0.0))
    system.add("mass", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic())
    system.drive("pull", "mass.displacement", lambda t, q, v: pl.where(q["mass.displacement"] < place, 1.0, -1.0))
    run, rates = pl.start(system), []
    for target in (1.0, -5.0, 5.0):
        run.step(0.25, {"place": target})
        rates.append(run.v[0])
    assert rates == pytest.approx([0.25, 0.0, 0.25], abs=1e-9)


def test_inputs_change_at_breakpoints_of_tables_and_between():
    system = pl.System("tabled", gravity=(0.0, 0.0))
    system.add("mass", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic())
    system.drive("table", "mass.displacement", pl.PiecewiseConstant((0.0, 0.3, 0.6), (1.0, 2.0, 0.0)))
    system.drive("push", "mass.displacement", pl.Parameter("push", 0.25))
    run, pushes = pl.start(system), (0.25, 0.25, 0.25, 1.0, 2.0, 3.0, 4.0, 4.0)
    for push in pushes:
        run.step(0.1, {"push": push})
    assert run.v[0] == pytest.approx(0.3 * 1.0 + 0.3 * 2.0 + 0.1 * sum(pushes), rel=1e-12)


# ---- copies


def test_a_restored_run_goes_on_bit_by_bit(two_links):
    run = pl.start(two_links)
    random = np.random.default_rng(5)
    stepped(run, 20, {"shoulder": 1.0})
    for torque in (2.0, 3.0, 4.0):
        run.step(DT, {"shoulder": torque})
    copy, plan = run.save(), random.uniform(-5.0, 5.0, 30)
    once = [(run.step(DT, {"shoulder": u}), run.q, run.v) for u in plan]
    first = run.result()
    run.restore(copy)
    assert run.t == copy.t and run.inputs["shoulder"] == 4.0
    stepped(run, 13, {"shoulder": -9.0}, 2e-3)  # elsewhere meanwhile
    other = pl.start(two_links)
    for one in (run, other):
        one.restore(copy)
        again = [(one.step(DT, {"shoulder": u}), one.q, one.v) for u in plan]
        assert all(np.array_equal(a[1], b[1]) and np.array_equal(a[2], b[2]) for a, b in zip(once, again, strict=True))
        second = one.result()
        assert np.array_equal(first.time, second.time) and np.array_equal(first.values["work"], second.values["work"])


def test_a_copy_holds_contacts_under_way_and_implicit_steps():
    run = pl.start(ball(), method=pl.Radau5(rtol=1e-6, atol=1e-9))
    while run.observe()["normal_force"][0] == 0.0:
        run.step(DT)
    copy = run.save()
    once = stepped(run, 200)
    contacts = run.result().contacts
    run.restore(copy)
    assert np.array_equal(stepped(run, 200), once)
    assert run.result().contacts == contacts


def stiff() -> pl.System:
    """A rod in a damper that makes it creep: `Auto` turns to implicit steps."""
    system = pl.System("stiff", gravity=(0.0, -9.81))
    system.add("rod", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=0.3, damper=pl.Damper(3e4)))
    system.drive("motor", "rod.angle", pl.Parameter("torque", 0.5))
    return system


def test_copies_go_across_a_turn_to_implicit_steps():
    run, other = (pl.start(stiff(), t_end=4.0) for _ in range(2))
    early = run.save()
    first = stepped(run, 100, dt=0.02)
    late = run.save()
    assert "Radau9" in run.result().stats["steps_of"]
    second = stepped(run, 50, dt=0.02)
    for one in (run, other):
        one.restore(late)
        assert np.array_equal(stepped(one, 50, dt=0.02), second)
        one.restore(early)
        assert np.array_equal(stepped(one, 100, dt=0.02), first)


def test_a_stiff_run_turns_though_its_inputs_change_at_every_step():
    run, random = pl.start(stiff()), np.random.default_rng(0)
    for torque in random.normal(size=200):
        run.step(0.02, {"torque": float(torque)})
    result = run.result()
    assert result.stats["steps_of"]["Radau9"] > result.stats["steps_of"]["DOP853"]
    assert result.ledger.relative_error_max <= 1e-9


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_run_is_not_copied_but_its_state_is(two_links, copied):
    """Two runs on one integrator would advance each other."""
    run = pl.start(two_links)
    run.step(DT)
    with pytest.raises(pl.ModelError, match=r"must not be copied or pickled, .*: save\(\) gives its state .* restore\(\)"):
        copied(run)
    run.step(DT)


def test_what_a_run_gives_is_compared_and_copied_or_says_why_not(two_links):
    run = pl.start(two_links)
    run.step(DT)
    seen, saved = run.observe(), run.save()
    assert seen == run.observe() == copy.copy(seen) == copy.deepcopy(seen) and seen != {} and len({seen, saved}) == 2
    assert saved == run.save() == pickle.loads(pickle.dumps(saved)) and saved != 1
    with pytest.raises(pl.ModelError, match=r"observation: values must not be pickled: dict\(observation\)"):
        pickle.dumps(seen)
    assert pickle.loads(pickle.dumps(dict(seen)))["q"] == pytest.approx(run.q)
    assert copy.copy(two_links) is copy.deepcopy(two_links) is two_links
    with pytest.raises(pl.ModelError, match=r"Compiled: system must not be pickled: pickle the System, .*, got 'arm'"):
        pickle.dumps(two_links)
    run.step(DT)
    assert seen != run.observe() and saved != run.save()


def test_a_state_without_rows_is_no_state_of_a_run_that_keeps_them(two_links):
    bare, kept = pl.start(two_links, record=False), pl.start(two_links)
    bare.step(DT)
    with pytest.raises(pl.ModelError, match="restore: saved must come from a run with its rows in memory"):
        kept.restore(bare.save())
    kept.step(DT)
    bare.restore(kept.save())
    assert len(kept.result().time) == 2


def test_a_copy_of_another_mechanism_is_refused(two_links):
    other = pl.start(arm(shoulder=2.75))  # the same code with another number
    for saved in (pl.start(ball()).save(), other.save(), pl.start(two_links, method="RKF45").save()):
        with pytest.raises(pl.ModelError, match="same mechanism"):
            pl.start(two_links).restore(saved)


ARMED = """
import pliant as pl

def made(mass=1.0):
    system = pl.System("pusher", gravity=(0.0, -9.81))
    arm = system.add("arm", pl.RigidBody.rod(0.5, mass), joint=pl.Revolute(angle=-1.5, friction=pl.JointFriction(
        pl.Karnopp(mu_static=0.4, mu_kinetic=0.3), radius=0.05, preload=50.0)))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.004), joint=pl.Planar(position=(2.0, 0.11), velocity=(1.0, 0.0)))
    system.contact(points=pl.Sphere(ball.root, 0.1), against=pl.Plane(normal=(0, 1)),
                   normal=pl.HuGuo(stiffness=1e5, restitution=0.5), friction=pl.Karnopp(mu_static=0.4, mu_kinetic=0.3))
    system.state("filtered", lambda t, q, v: 20.0 * (q["arm.angle"] - q["filtered"]))
    push = pl.Parameter("push", 0.5)
    system.drive("motor", "arm.angle", lambda t, q, v: push - 0.3 * q["filtered"])
    system.event("level", lambda t, q, v: q["arm.angle"] + 1.4)
    return system

def go_on(run):
    for k in range(150):
        run.step(2e-3, {"push": 0.5 + 0.1 * (k % 40)})
    result = run.result()
    values = "".join(result.values[name].tobytes().hex() for name in result.values)
    return repr((values, result.events, result.contacts, result.stats["steps_of"], result.warnings, result.parameters))
"""
ELSEWHERE = """
import hashlib, pickle, sys
with open(sys.argv[1], "rb") as file:
    copies = pickle.load(file)
for method, saved in copies:
    run = pl.start(made(), method=method, t_end=0.6)
    run.restore(saved)
    print(hashlib.sha256(go_on(run).encode()).hexdigest())
try:
    pl.start(made(1.1), method=method, t_end=0.6).restore(saved)
except pl.ModelError as refusal:
    print(refusal)
"""


def test_a_copy_goes_on_bit_by_bit_in_another_process(tmp_path):
    here: dict[str, Callable[..., Any]] = {}
    exec(ARMED, here)
    copies, rows = [], []
    for method in ("auto", pl.Radau5(rtol=1e-6, atol=1e-9)):
        run = pl.start(here["made"](), method=method, t_end=0.6)
        for k in range(60):
            run.step(2e-3, {"push": 0.5 + 0.2 * (k % 3)})
        copies.append((method, run.save()))
        rows.append(hashlib.sha256(here["go_on"](run).encode()).hexdigest())
        result = run.result()
        assert result.contacts[0].begin < copies[-1][1].t < result.events[0].t  # copied during a contact, while the joint sticks
        assert [event.name for event in result.events] == ["arm.angle slips", "level"]
    (tmp_path / "saved").write_bytes(pickle.dumps(copies))
    told = subprocess.run([sys.executable, "-c", ARMED + ELSEWHERE, tmp_path / "saved"], check=True, capture_output=True, text=True)
    *there, refusal = told.stdout.splitlines()
    assert there == rows
    assert "restore: saved must come from a run of the same mechanism, with the same numbers of its parts" in refusal


def test_a_copy_that_does_not_fit_says_what_differs(two_links):
    saved = pickle.loads(pickle.dumps(pl.start(two_links, t_end=1.0).save()))
    for other, what in ((pl.start(two_links, t_end=2.0), "t_end: 2.0 s, got '1.0 s'"),
                        (pl.start(two_links, t_end=1.0, method="RKF45"), "method: RKF45"),
                        (pl.start(arm(3.0), t_end=1.0), "parameters: {'shoulder': 3.0"),
                        (pl.start(ball(), t_end=1.0), r"coordinates: \['ball.x'")):  # fmt: skip
        with pytest.raises(pl.ModelError, match=f"restore: saved must come from .* with the same {what}"):
            other.restore(saved)


def test_later_numbers_of_a_table_are_part_of_what_a_copy_fits():
    def pushed(later):
        system = pl.System("pushed", gravity=(0, 0))
        system.add("block", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Prismatic())
        system.drive("push", "block.displacement", pl.PiecewiseConstant([0.0, 0.1, 0.2], [1.0, -1.0, later]))
        return pl.start(system, t_end=1.0)

    saved = pushed(2.0).save()
    pushed(2.0).restore(saved)
    with pytest.raises(pl.ModelError, match=r"restore: saved must come from .* with the same numbers of its parts"):
        pushed(3.0).restore(saved)


# ---- what is seen


def test_what_is_observed_is_a_row_of_the_result(two_links):
    run = pl.start(two_links)
    stepped(run, 5)
    seen, result = run.observe(), run.result()
    assert seen.t == run.t == result.time[-1]
    for name in result.values:
        assert np.array_equal(seen[name], result.values[name][-1]), name
    assert np.array_equal(seen["tip_position", "lower"], result.of_body("tip_position", "lower")[-1])
    assert seen["q", "upper.angle"] == run.q[0] == result["upper.angle"][-1]
    with pytest.raises(pl.ModelError, match="tip_position"):
        seen["tip_positon"]


def test_prescribed_coordinates_are_seen_too():
    system = pl.System("led", gravity=(0.0, -9.81))
    crank = system.add("crank", pl.RigidBody.rod(0.5, 1.0), joint=pl.Revolute(motion=lambda t: 2.0 * t))
    system.add("rod", pl.RigidBody.rod(0.5, 1.0), joint=pl.Revolute(angle=0.3), on=crank.tip)
    run = pl.start(system)
    run.step(0.25)
    assert run.q[0] == pytest.approx(0.5) and run.v[0] == pytest.approx(2.0) and run.q.size == 2


# ---- ends and trouble


def falling(**condition: object) -> pl.System:
    system = pl.System("falling", gravity=(0.0, -10.0))
    system.add("mass", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(axis="y"))
    system.event("low", lambda t, q, v: q["mass.displacement"] + 0.05, **condition)
    return system


def test_a_step_ends_at_an_event_that_ends_runs_and_may_go_on():
    run = pl.start(falling(stop=True))
    assert run.step(0.06)
    assert not run.step(0.06)
    assert run.t == pytest.approx(0.1, abs=1e-12)
    assert [event.name for event in run.events] == ["low"]
    assert run.step(0.1)
    assert run.t == pytest.approx(0.2, abs=1e-12) and run.q[0] == pytest.approx(-0.2, abs=1e-12)


def test_an_event_inside_a_step_of_the_integrator_is_met_when_its_time_is_passed():
    run = pl.start(falling())
    run.step(0.09)
    assert not run.events
    run.step(0.02)
    assert [event.name for event in run.events] == ["low"]


def test_a_step_that_cannot_be_finished_says_when_and_why():
    """x'' = 1 / (1 - t) with a pole at 1 s."""
    system = pl.System("pole", gravity=(0.0, 0.0))
    system.add("mass", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic())
    system.drive("pull", "mass.displacement", lambda t, q, v: 1.0 / (1.0 - t) ** 2)
    run = pl.start(system)
    run.step(0.9)
    before = run.save()
    with pytest.raises(pl.StepError, match=r"at t = (0\.9|1)") as trouble:
        run.step(0.2)
    assert 0.9 < trouble.value.t <= run.t <= 1.0
    result = run.result()
    assert not result.ok and result.message == str(trouble.value) and result.time[-1] == run.t
    run.restore(before)  # what went wrong is forgotten
    assert run.t == 0.9 and run.result().ok and run.step(0.05)


def test_an_interrupted_run_stands_where_it_got_to_and_goes_on(two_links, monkeypatch):
    whole = pl.simulate(two_links, 1.0, save=[0.2])
    run = pl.start(two_links)
    run.step(0.05)
    loop, calls = run._stepper._piece, []

    def pressed(march):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return loop(march)

    run._stepper._budget = 50
    run._stepper._memory.set(budget=50)
    monkeypatch.setattr(run._stepper, "_piece", pressed)
    with pytest.raises(KeyboardInterrupt):
        run.step(0.15)
    assert 0.05 < run.t < 0.2
    run.step(0.2 - run.t)
    assert np.max(np.abs(run.q - whole.values["q"][-1])) <= 1e-8


def test_no_step_leads_beyond_the_end(two_links):
    run = pl.start(two_links, t_end=0.003)
    stepped(run, 3)
    assert run.t == 0.003
    with pytest.raises(pl.ModelError, match=r"t_end = 0\.003 s"):
        run.step(DT)


# ---- what is refused


def refused() -> pl.System:
    system = arm()
    mass, stiffness, angle = pl.Parameter("mass", 2.0), pl.Parameter("stiffness", 3.0), pl.Parameter("angle", 0.2)
    body = system.add("extra", pl.RigidBody(mass=mass, inertia=1.0, com=(pl.Parameter("reach", 0.3), 0.0)),
                      joint=pl.Revolute(angle=angle, spring=pl.Spring(stiffness)))  # fmt: skip
    offset, level = pl.Parameter("offset", 0.4), pl.Parameter("level", 2.5)
    system.add("led", pl.RigidBody.rod(0.1, 0.1), joint=pl.Revolute(motion=lambda t: offset * t), on=body.tip)
    system.drive("stepwise", "extra.angle", pl.PiecewiseConstant((0.0, 0.1), (level, 0.0)))
    return system


@pytest.fixture(scope="module")
def run_of_refused() -> pl.SteppedRun:
    return pl.start(refused())


@pytest.mark.parametrize("name, why", [
    ("mass", "computed from"), ("reach", "computed from"), ("stiffness", "energy in springs"), ("angle", "the start"),
    ("offset", "kinetic energy"), ("level", "a table"), ("elbw", "did you mean"),
])  # fmt: skip
def test_a_parameter_that_more_than_forces_depends_on_is_no_input(run_of_refused, name, why):
    with pytest.raises(pl.ModelError, match=why):
        run_of_refused.step(DT, {name: 0.25})
    assert run_of_refused.t == 0.0


@pytest.mark.parametrize("value, why", [(math.nan, "finite"), (math.inf, "finite"), (21.0, "<= 20"), ("much", "number")])
def test_a_value_that_may_not_be_changes_nothing(two_links, value, why):
    run = pl.start(two_links)
    with pytest.raises(pl.ModelError, match=why):
        run.step(DT, {"elbow": 2.0, "shoulder": value})
    assert run.inputs == {"shoulder": 2.5, "elbow": 0.5} and run.t == 0.0


@pytest.mark.parametrize("dt", [0.0, -1e-3, math.nan, math.inf, "1 ms"])
def test_a_step_that_leads_nowhere_is_refused(two_links, dt):
    with pytest.raises(pl.ModelError, match="step: dt"):
        pl.start(two_links).step(dt)


def test_a_second_thread_is_refused_while_one_steps():
    system = pl.System("wheel", gravity=(0, 0))
    system.add("wheel", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Revolute(rate=2.0))
    run = pl.start(system)
    inside, go_on, reach = threading.Event(), threading.Event(), run._stepper.reach

    def slow(*given):
        inside.set()
        assert go_on.wait(10)
        return reach(*given)

    run._stepper.reach = slow
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(run.step, 0.25)
        assert inside.wait(10)
        for call in (lambda: run.step(0.25), run.observe, run.save, run.result, lambda: run.q):
            with pytest.raises(pl.ModelError, match=r"SteppedRun: .* must be used by one thread at a time"):
                call()
        go_on.set()
        assert first.result()
    assert run.step(0.25) and run.t == 0.5 and run.q[0] == pytest.approx(1.0)
