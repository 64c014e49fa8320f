"""Derivatives of runs whose joints stick: against closed forms, and against extrapolated differences of tight runs."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pliant as pl
from differences import by_parameter, relative
from test_joint_friction import four_bar

G = 9.81
FINE = pl.DOP853(rtol=1e-11, atol=1e-14)
ENOUGH = 1e-6  # relative error of derivatives that is asked for
EXACT = 1e-8  # the same against closed forms

Parameter = pl.Parameter


def dry(mu_static, mu_kinetic, viscous=0.0, **where):
    return pl.JointFriction(pl.DryFriction(mu_static=mu_static, mu_kinetic=mu_kinetic, viscous=viscous), **where)


def block(push=None, *, mu_static=0.4, mu_kinetic=0.3, **joint):
    """1 kg on a level guide, pressed by its weight."""
    system = pl.System("block", gravity=(0, -G))
    system.add("block", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Prismatic(friction=dry(mu_static, mu_kinetic), **joint))
    if push is not None:
        system.drive("push", "block.displacement", push)
    return system


def times_of(found, word):
    return [event.time for event in found.events if event.name.endswith(word)]


# ---- closed forms


def test_a_block_that_brakes_stops_when_and_where_its_friction_says():
    """t = v/(mu g), x = v^2/(2 mu g); it stays there, and its rate is zero whatever mu is."""
    system, mu, v = block(mu_static=0.5, mu_kinetic=Parameter("mu", 0.3), rate=Parameter("v", 2.0)), 0.3, 2.0
    found = pl.sensitivities(system, 3.0, ["mu", "v"], method=FINE, save=[1.0, 2.0, 3.0])
    assert found.ok and found.warnings == () and found.n_runs == 1
    assert found.final[0] == pytest.approx([-(v**2) / (2.0 * mu**2 * G), v / (mu * G)], rel=EXACT)
    assert found.final[1] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert found.table["q"].values[:, 0] == pytest.approx(np.tile(found.final[0], (3, 1)), rel=EXACT)
    assert times_of(found, "sticks")[0] == pytest.approx([-v / (mu**2 * G), 1.0 / (mu * G)], rel=EXACT)
    assert found.ledger.work["block.displacement friction"][-1] == pytest.approx([0.0, -v], abs=1e-8)


def test_a_block_swings_out_through_reversals_and_sticks_where_half_cycles_say():
    """x falls by 2 mu g/w^2 every half cycle pi/w: at the first two turns it goes back, at the third it stays."""
    mu, w, x = Parameter("mu", 0.3), 10.0, Parameter("x", 0.17)
    system = block(mu_static=0.4, mu_kinetic=mu, displacement=x, spring=pl.Spring(Parameter("k", w * w)))
    found = pl.sensitivities(system, 2.0, ["mu", "x", "k"], method=FINE, control=True, save=[2.0])
    turns, at = 0, 0.17
    while turns == 0 or w * w * abs(at) > 0.4 * G:
        at, turns = -(at - math.copysign(2.0 * 0.3 * G / w**2, at)), turns + 1
    assert turns == 3 and found.ok and len(found.events) == 1
    # x_n = (-1)^n (x - 2 n mu g/k)
    sign = (-1.0) ** turns
    expected = [sign * -2.0 * turns * G / w**2, sign, sign * 2.0 * turns * 0.3 * G / w**4]
    assert found.final[0] == pytest.approx(expected, rel=EXACT)
    assert times_of(found, "sticks")[0] == pytest.approx([0.0, 0.0, -0.5 * turns * math.pi / w**3], rel=EXACT, abs=1e-9)


def test_a_spring_that_is_pulled_lets_its_block_go_when_it_needs_more_than_static_friction():
    """t = mu_s g/(k V); from then on x'' = k (V t - x) - mu_k g."""
    k, speed, mu = Parameter("k", 40.0), Parameter("V", 0.5), Parameter("mu_static", 0.4)
    system = block(lambda t, q, v: k * (speed * t - q["block.displacement"]), mu_static=mu)
    found = pl.sensitivities(system, 0.3, ["k", "V", "mu_static"], method=FINE, control=True, save=[0.3])
    k, speed, mu = 40.0, 0.5, 0.4
    t, end = mu * G / (k * speed), 0.3
    assert found.ok and times_of(found, "slips")[0] == pytest.approx([-t / k, -t / speed, t / mu], rel=EXACT)

    def place(k, speed, mu):
        w, start = math.sqrt(k), mu * G / (k * speed)
        late, above = end - start, (mu - 0.3) * G / k  # x = above (1 - cos w t) + V (t - sin(w t)/w)
        return above * (1.0 - math.cos(w * late)) + speed * (late - math.sin(w * late) / w)

    for n, values in enumerate(((1e-5 * k, 0, 0), (0, 1e-5 * speed, 0), (0, 0, 1e-5 * mu))):
        above, below = (place(*(a + s * b for a, b in zip((k, speed, mu), values, strict=True))) for s in (1.0, -1.0))
        assert found.final[0, n] == pytest.approx((above - below) / (2.0 * max(values)), rel=1e-7)


def test_a_block_on_a_belt_has_the_derivatives_of_its_cycle_of_stick_and_slip():
    """A cycle lasts 2 pi/w - 2/w atan(A w/V) of slip, then 2 A/V of sticking, A = (mu_s - mu_k) g/k."""
    names = ["mu_static", "V"]
    mu, speed = Parameter(names[0], 0.4), Parameter(names[1], 0.2)
    system = pl.System("belt", gravity=(0, -G))
    belt = system.add("belt", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(motion=lambda t: speed * t))
    system.add("block", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(friction=dry(mu, 0.3)), on=belt.root)
    system.drive("spring", "block.displacement", lambda t, q, v: -100.0 * (q["belt.displacement"] + q["block.displacement"]))
    found = pl.sensitivities(system, 3.0, names, method=FINE, control=True, save=[3.0])
    spread, w, v = 0.1 * G / 100.0, 10.0, 0.2
    by_spread = -2.0 / w * (w / v) / (1.0 + (spread * w / v) ** 2) + 2.0 / v  # of the period
    by_speed = 2.0 / w * (spread * w / v**2) / (1.0 + (spread * w / v) ** 2) - 2.0 * spread / v**2
    slips = np.array(times_of(found, "slips"))
    assert found.ok and len(slips) == 5
    first = [G / (100.0 * v), -0.4 * G / (100.0 * v**2)]
    for k, slope in enumerate(slips):
        assert slope == pytest.approx([first[0] + k * by_spread * G / 100.0, first[1] + k * by_speed], rel=EXACT)


# ---- against differences


def emps():
    """M x'' = tau - Fv x' - Fc sign x' - offset, under a position controller: an electric drive as published."""
    mass, viscous, coulomb, offset = Parameter("M", 95.0), Parameter("Fv", 203.0), Parameter("Fc", 20.0), Parameter("offset", -3.0)
    system = pl.System("drive", gravity=(0, 0))
    rail = dry(0.5, 0.5, preload=2.0 * coulomb)
    system.add("car", pl.RigidBody(mass=mass, inertia=1.0), joint=pl.Prismatic(friction=rail))

    def force(t, q, v):
        ask = 160.0 * (0.1 * pl.sin(2.0 * t) - q["car.displacement"])
        return 35.15 * (3.0 * ask - 73.0 * v["car.displacement"]) - viscous * v["car.displacement"] - offset

    system.drive("tau", "car.displacement", force)
    return system


def arm():
    """Coulomb, viscous and static friction in a pin that carries the arm's weight."""
    joint = dry(Parameter("mu_static", 0.5), Parameter("mu_kinetic", 0.35), Parameter("viscous", 0.02), radius=Parameter("r", 0.05))
    system = pl.System("arm", gravity=(0, -G))
    body = pl.RigidBody(mass=Parameter("m", 2.0), inertia=0.1, com=(0.5, 0), tip=(1.0, 0))
    system.add("arm", body, joint=pl.Revolute(angle=-1.2, friction=joint))
    system.drive("u", "arm.angle", lambda t, q, v: 4.0 * pl.sin(1.3 * t))
    return system


def two_joints():
    """Both start at rest and let go at once; in what follows each sticks in turn while the other moves."""
    system = pl.System("two", gravity=(0, -G))
    first, second = Parameter("mu1", 0.3), Parameter("mu2", 0.4)
    a = system.add("a", pl.RigidBody(mass=1.0, inertia=0.05, com=(0.3, 0), tip=(0.6, 0)),
                   joint=pl.Revolute(angle=-0.6, friction=dry(1.2 * first, first, radius=0.08)))  # fmt: skip
    system.add("b", pl.RigidBody(mass=Parameter("m", 1.0), inertia=0.03, com=(0.2, 0), tip=(0.4, 0)), on=a.tip,
               joint=pl.Revolute(angle=0.5, friction=dry(1.2 * second, second, radius=0.08)))  # fmt: skip
    system.drive("u", "a.angle", lambda t, q, v: 3.0 * pl.sin(2.0 * t))
    return system


def geared():
    """A motor with an elastic gear turns an arm on a dry pin."""
    system = pl.System("geared", gravity=(0, -G))
    mu, stiffness = Parameter("mu", 0.4), Parameter("stiffness", 300.0)
    system.add("arm", pl.RigidBody(mass=2.0, inertia=0.1, com=(0.3, 0)), joint=pl.Revolute(friction=dry(1.3 * mu, mu, radius=0.08)))
    motor = pl.Motor(inertia=2e-4, ratio=50.0, gear_stiffness=stiffness, gear_damping=0.5, damping=1e-4)
    command = Parameter("command", 0.25)
    system.motor("motor", "arm.angle", motor, command=lambda t, q, v: command * pl.sin(3.0 * t))
    return system


def loop():
    """Four dry pins in a closed loop, which stick at one instant and not at the same loads."""
    mu = Parameter("mu", 0.3)
    push = Parameter("push", 0.3)
    law = pl.DryFriction(mu_static=1.3 * mu, mu_kinetic=mu)
    return four_bar(law, effort=lambda t, q, v: push * pl.sin(0.3 * t), radius=Parameter("radius", 0.02))


def cart():
    """A block whose corners stick to the floor of a cart that sticks to its rail, and is pulled off it."""
    mu, floor, pull = Parameter("mu", 0.3), Parameter("floor", 0.4), Parameter("pull", 30.0)
    system = pl.System("cart", gravity=(1.0, -G))
    cart = system.add("cart", pl.RigidBody(mass=2.0, inertia=0.1), joint=pl.Prismatic(friction=dry(1.3 * mu, mu)))
    sunk = (G / 2e6) ** (2 / 3)  # m, by its weight
    body = system.add("block", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Planar(position=(0.0, 0.1 - sunk)))
    system.contact(points=[body.at((x, -0.1)) for x in (-0.1, 0.1)], against=pl.Plane(normal="y", on=cart.root),
                   normal=pl.HuntCrossley(stiffness=1e6, restitution=0.5), name="floor",
                   friction=pl.Karnopp(mu_static=1.25 * floor, mu_kinetic=floor))  # fmt: skip
    system.drive("pull", "cart.displacement", lambda t, q, v: pull * pl.sin(6.0 * t))
    return system


def ball():
    """It slips in three directions at once, and yields along the force that sticking would need."""
    mu, spin, mass = Parameter("mu", 0.3), Parameter("spin", 3.0), Parameter("m", 1.0)
    system = pl.System("ball", gravity=(0, 0, -G))
    body = pl.RigidBody(mass=mass, inertia=(0.05, 0.06, 0.07), com=(0.1, 0.02, -0.15))
    system.add("b", body, joint=pl.Spherical(angular_velocity=(spin, 1.0, 2.0), friction=dry(1.2 * mu, mu, radius=0.05)))
    return system


def banded():
    """Karnopp's law in a joint: it sticks within a band of speeds, yields at rest, and creeps."""
    friction = pl.JointFriction(
        pl.Karnopp(mu_static=Parameter("mu_static", 0.4), mu_kinetic=Parameter("mu_kinetic", 0.3), band=1e-3)
    )
    system = pl.System("banded", gravity=(0, -G))
    joint = pl.Prismatic(friction=friction, displacement=0.1, spring=pl.Spring(Parameter("k", 100.0)))
    system.add("block", pl.RigidBody(mass=1.0, inertia=0.1), joint=joint)
    system.drive("u", "block.displacement", lambda t, q, v: 8.0 * pl.sin(3.0 * t))
    return system


CASES = {
    "a drive with Coulomb friction": (emps, 4.0, 1e-4),
    "an arm on a dry pin": (arm, 10.0, 1e-4),
    "two joints that stick": (two_joints, 2.0, 1e-4),
    "a motor with an elastic gear": (geared, 3.0, 1e-4),
    "a loop of dry pins": (loop, 4.0, 1e-4),
    "a contact and a joint that stick": (cart, 0.8, 1e-4),
    "a ball in a dry socket": (ball, 4.0, 1e-4),
    "a joint with a band": (banded, 2.5, 1e-4),
}


@pytest.mark.parametrize("name", CASES)
def test_through_sticking_and_letting_go_by_every_parameter(name):
    make, t_end, step = CASES[name]
    system = make()
    names = list(system.parameters)
    found = pl.sensitivities(system, t_end, names, method=FINE, control=True, save=[t_end])
    assert found.ok and not found.warnings, str(found)
    happened = {event.name.rsplit(" ", 1)[1] for event in found.events}
    assert happened and len(found.events) == len(found.result.events)

    def outcome(run):
        return np.concatenate([run.final_state.y, [event.t for event in run.events]])

    for k, one in enumerate(names):
        expected, _ = by_parameter(system, t_end, one, outcome, step)
        ours = np.concatenate([found.final[:, k], [event.time[k] for event in found.events]])
        states = len(found.final)
        assert relative(ours[:states], expected[:states]) < ENOUGH, one
        assert ours[states:] == pytest.approx(expected[states:], rel=ENOUGH, abs=ENOUGH * np.max(np.abs(expected))), one


def test_two_that_stop_at_the_same_instant_by_chance_have_their_own_derivatives():
    """The run notes one of the two events, and takes the other for its consequence."""
    system = pl.System("twins", gravity=(0, -G))
    for name in ("a", "b"):
        joint = pl.Prismatic(rate=2.0, friction=dry(0.5, Parameter(f"mu_{name}", 0.3)))
        system.add(name, pl.RigidBody(mass=1.0, inertia=0.1), joint=joint)
    found = pl.sensitivities(system, 2.0, ["mu_a", "mu_b"], method=FINE, save=[2.0])
    assert found.ok
    assert found.final[:2] == pytest.approx(np.eye(2) * -(2.0**2) / (2.0 * 0.3**2 * G), rel=EXACT, abs=1e-12)
    slope = -2.0 / (0.3**2 * G)
    assert sorted(tuple(np.round(one / slope, 7) + 0.0) for one in times_of(found, "sticks")) == [(0.0, 1.0), (1.0, 0.0)]


def test_it_lets_go_at_an_instant_at_which_the_push_jumps():
    """Its strength is not used up there, so that the time is that of the jump, and so are derivatives."""
    push, at = Parameter("push", 6.0), Parameter("at", 0.5)
    system = block(lambda t, q, v: push * pl.where(t > at, 1.0, 0.0))
    found = pl.sensitivities(system, 1.0, ["push", "at"], method=FINE, save=[1.0])
    assert found.ok, str(found)
    excess, late = 6.0 - 0.3 * G, 0.5
    assert found.final[0] == pytest.approx([0.5 * late**2, -excess * late], rel=EXACT)
    assert times_of(found, "slips")[0] == pytest.approx([0.0, 1.0], abs=1e-9)


# ---- where none exists


def pulled(excess, **more):
    """A push that grows to this much more than static friction, and falls again."""
    push = Parameter("push", 0.4 * G * (1.0 + excess))
    return block(lambda t, q, v: push * pl.sin(t), mu_static=Parameter("mu_static", 0.4), **more)


@pytest.mark.parametrize("excess", [-1e-2, -1e-8, 1e-8, 1e-2])
def test_what_clearly_sticks_or_clearly_lets_go_has_derivatives(excess):
    found = pl.sensitivities(pulled(excess), 3.0, ["push", "mu_static"], save=[3.0])
    assert found.ok
    if excess < 0.0:
        assert np.max(np.abs(found.final)) < 1e-9


@pytest.mark.parametrize("excess", [-1e-13, 0.0, 1e-13])
def test_where_it_only_just_lets_go_or_does_not_derivatives_end(excess):
    found = pl.sensitivities(pulled(excess), 3.0, ["push", "mu_static"], save=0.1)
    (said,) = found.undefined
    assert not found.ok and said.name == "block.displacement slips" and said.t == pytest.approx(0.5 * math.pi, abs=1e-3)
    assert found.final is None and found.until == said.t


def test_a_block_that_comes_to_rest_where_friction_only_just_holds_it_has_no_derivative_beyond():
    slope = pl.System("slope", gravity=(-0.4 * G, -G))
    slope.add("block", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Prismatic(rate=1.0, friction=dry(Parameter("mu", 0.4), 0.3)))
    found = pl.sensitivities(slope, 1.0, ["mu"], save=[1.0])
    assert not found.ok and "whether it sticks" in str(found)
    clear = pl.sensitivities(slope, 1.0, ["mu"], values={"mu": 0.41}, save=[1.0])
    assert clear.ok


def test_a_start_at_the_limit_of_friction_is_said_and_one_that_clearly_sticks_is_not():
    system = block(displacement=Parameter("x", 0.4 * G / 100.0), spring=pl.Spring(100.0))
    assert "starts at zero" in str(pl.sensitivities(system, 0.5, ["x"], save=[0.5]))
    stuck = pl.sensitivities(system, 0.5, ["x"], values={"x": 0.02}, save=[0.5])
    assert stuck.ok and stuck.final[:2, 0] == pytest.approx([1.0, 0.0], abs=1e-12)


# ---- by one parameter only


def test_only_the_derivative_that_does_not_exist_exactly_is_a_difference():
    """A start rate of a block that starts at rest and sticks: its place changes by v |v|/(2 mu g), whose slope is zero."""
    system = block(displacement=0.02, spring=pl.Spring(Parameter("k", 100.0)))
    system.add("other", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Prismatic(rate=1.0, friction=dry(0.5, Parameter("mu", 0.2))))
    found = pl.sensitivities(system, 2.0, ["k", "mu"], rates=["block.displacement"], save=[1.0, 2.0])
    assert found.ok and found.n_runs == 3
    (said,) = found.warnings
    assert said.startswith("derivatives by rate of block.displacement are differences of runs: ") and said in str(found)
    exact = pl.sensitivities(system, 2.0, ["k", "mu"], save=[1.0, 2.0])
    assert exact.warnings == ()
    assert np.array_equal(found.final[:, :2], exact.final)
    (stop,) = found.events  # the block beside this one sticks, too, after it was moved
    assert stop.name == "other.displacement sticks" and np.array_equal(stop.time[:2], exact.events[0].time)
    assert found.final[:4, 2] == pytest.approx(0.0, abs=1e-4)
    assert found.table["q"].values.shape == (2, 2, 3) and found.at_end("v")[1].shape == (2, 3)
    assert np.array_equal(found.table["q"].values[..., :2], exact.table["q"].values)


# ---- fits


def test_the_friction_of_a_drive_is_fitted_without_a_run_beside():
    names = ["M", "Fv", "Fc", "offset"]
    system, times = emps(), np.linspace(0.0, 4.0, 201)
    truth = {"M": 96.0, "Fv": 210.0, "Fc": 19.0, "offset": -2.5}
    data = {"time": times, "car.displacement": pl.simulate(system, 4.0, save=times, parameters=truth)["car.displacement"]}
    found = pl.fit(system, data, names)
    assert found.ok and found.values == pytest.approx(truth, rel=1e-5)
    assert not any("differences of runs" in sentence for sentence in found.warnings)
    assert found.runs < 20


def test_a_push_is_optimised_through_sticking():
    """The block is to stop at 0.2 m, after a push of 0.2 s: x = f (f - mu g)/(2 mu g) 0.2^2."""
    push = Parameter("push", 8.0, low=5.0, high=20.0)
    system = block(lambda t, q, v: push * pl.where(t < 0.2, 1.0, 0.0))
    best = pl.optimise(system, lambda run: (run.final("block.displacement") - 0.2) ** 2, ["push"], t_end=3.0, save=0.1)
    friction = 0.3 * G
    expected = 0.5 * (friction + math.sqrt(friction**2 + 8.0 * friction * 0.2 / 0.2**2))
    assert best.ok and best.values["push"] == pytest.approx(expected, rel=1e-4)
    assert not any("differences" in sentence for sentence in best.warnings)
