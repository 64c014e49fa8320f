"""Joints that rub, in whole runs: stick and slip against closed forms, loops against equations written by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl

G = 9.81
TIGHT = pl.DOP853(rtol=1e-11, atol=1e-13)
DRY = pl.DryFriction(mu_static=0.4, mu_kinetic=0.3)
INSTANT = 1e-9  # s, of sticking and slipping


def instants(run, word):
    return [event.t for event in run.events if event.name.endswith(word)]


# ---- one joint, closed forms


def block(law=DRY, effort=None, **joint):
    """1 kg on a level guide, pressed by its weight."""
    system = pl.System("block", gravity=(0, -G))
    system.add("block", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Prismatic(friction=pl.JointFriction(law), **joint))
    if effort is not None:
        system.drive("push", "block.displacement", effort)
    return system


def test_a_block_on_a_spring_swings_out_and_sticks_where_half_cycles_say():
    """x falls by 2 mu_k g/w^2 every half cycle pi/w and sticks at the first turn where w^2 |x| <= mu_s g."""
    stiffness, x = 100.0, 0.5
    w, turns = math.sqrt(stiffness), 0
    run = pl.simulate(block(displacement=x, spring=pl.Spring(stiffness)), 4.0, save=0.5, method=TIGHT)
    while turns == 0 or w * w * abs(x) > 0.4 * G:
        x, turns = -(x - math.copysign(2.0 * 0.3 * G / w**2, x)), turns + 1
    assert instants(run, "sticks") == pytest.approx([turns * math.pi / w], abs=INSTANT)
    assert run["block.displacement"][-1] == pytest.approx(x, abs=1e-9)
    assert run.values["joint_load"] == pytest.approx(G, rel=1e-14)
    assert run.values["joint_sticks"][-1] == 1.0 and run.values["joint_sticks"][0] == 0.0
    assert run.values["joint_friction"][-1] == pytest.approx(stiffness * x, abs=1e-7)
    assert run.ledger.relative_error_max < 1e-9


def test_a_block_on_a_belt_sticks_and_slips_as_its_closed_form():
    """Until k x = mu_s N it sticks; then it slips for 2 pi/w - 2/w atan(A w/V), A = (mu_s - mu_k) N/k."""
    stiffness, speed, w = 100.0, 0.2, 10.0
    system = pl.System("belt", gravity=(0, -G))
    belt = system.add("belt", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(motion=lambda t: speed * t))
    system.add("block", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(friction=pl.JointFriction(DRY)), on=belt.root)
    system.drive("spring", "block.displacement", lambda t, q, v: -stiffness * (q["belt.displacement"] + q["block.displacement"]))
    run = pl.simulate(system, 3.0, save=0.5, method=TIGHT)
    spread = (0.4 - 0.3) * G / stiffness
    slipping = 2.0 * math.pi / w - 2.0 / w * math.atan(spread * w / speed)
    sticking = 2.0 * spread / speed
    first = 0.4 * G / stiffness / speed
    slips = [first + k * (slipping + sticking) for k in range(5)]
    assert instants(run, "slips") == pytest.approx(slips, abs=INSTANT)
    assert instants(run, "sticks") == pytest.approx([t + slipping for t in slips[:-1]], abs=INSTANT)
    assert run.ledger.relative_error_max < 1e-9


@pytest.mark.parametrize("preload", [0.0, 5.0])
def test_a_rotor_runs_down_in_a_straight_line_and_stops(preload):
    """I w' = -mu r (m g + preload)."""
    inertia, radius, rate = 0.05, 0.02, 10.0
    system = pl.System("rotor", gravity=(0, -G))
    system.add("rotor", pl.RigidBody(mass=1.0, inertia=inertia),
               joint=pl.Revolute(rate=rate, friction=pl.JointFriction(DRY, radius=radius, preload=preload)))  # fmt: skip
    stop = inertia * rate / (0.3 * radius * (G + preload))
    run = pl.simulate(system, 10.0, save=[1.0, 10.0])
    assert instants(run, "sticks") == pytest.approx([stop], abs=INSTANT)
    assert run.rate("rotor.angle") == pytest.approx([rate * (1.0 - 1.0 / stop), 0.0], abs=1e-12)


def test_friction_known_as_one_torque_is_that_torque_whatever_presses_the_pin():
    """I w' = -tau, under a weight that would press with mu r m g besides."""
    inertia, rate, torque = 0.05, 10.0, 0.02
    law = pl.DryFriction(mu_static=1.0, mu_kinetic=1.0)
    system = pl.System("rotor", gravity=(0, -G))
    system.add("rotor", pl.RigidBody(mass=1.0, inertia=inertia),
               joint=pl.Revolute(rate=rate, friction=pl.JointFriction(law, radius=1.0, preload=torque, pressed=False)))  # fmt: skip
    run = pl.simulate(system, 30.0, save=[1.0, 30.0])
    assert instants(run, "sticks") == pytest.approx([inertia * rate / torque], abs=INSTANT)
    assert np.all(run.values["joint_load"] == torque) and not run.warnings
    with pytest.raises(pl.ModelError, match="guide must be left out with pressed=False"):
        pl.JointFriction(law, radius=1.0, preload=torque, pressed=False, guide=0.1)


def test_friction_resists_the_way_a_joint_slides_after_an_impact_elsewhere():
    """The arm falls with its friction along -1 as the forearm strikes its stop."""
    rub = pl.JointFriction(pl.DryFriction(mu_static=0.01, mu_kinetic=0.01), radius=1.0, preload=1.0)
    stops = pl.Limits(low=-0.2, high=0.2, normal=pl.Impulsive(restitution=0.0))
    link = pl.RigidBody(mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.3, 0, 0), tip=(0.5, 0, 0))
    system = pl.System("arm", gravity=(0, 0, -G))
    arm = system.add("arm", link, joint=pl.Revolute(axis="y", friction=rub))
    system.add("fore", link, joint=pl.Revolute(axis="y", friction=rub, limits=stops), on=arm.tip)
    run = pl.simulate(system, 1.0, save=0.01)
    assert len(run.contacts) >= 2 and not run.warnings
    rates = np.column_stack([run.rate("arm.angle"), run.rate("fore.angle")])
    moves = np.abs(rates) > 1e-6  # rad/s; a joint that rests on its stop has a rate of the size of errors of the run
    assert np.count_nonzero(moves) > 100 and np.all((run.values["joint_friction"] * rates)[moves] < 0.0)


def test_a_pendulum_on_a_thick_pin_solves_for_the_load_that_its_friction_changes():
    """A row is held against Newton's laws by hand: the load N of the quadratic that friction and reaction make together."""
    mass, arm, inertia, radius, mu = 2.0, 0.5, 0.1, 0.1, 0.6
    law = pl.CoulombViscous(mu=mu, viscous=0.0, transition=1e-4)
    system = pl.System("pendulum", gravity=(0, -G))
    system.add("arm", pl.RigidBody(mass=mass, inertia=inertia, com=(arm, 0, 0)),
               joint=pl.Revolute(angle=0.3, rate=-1.0, friction=pl.JointFriction(law, radius=radius)))  # fmt: skip
    run = pl.simulate(system, 0.5, save=0.05)
    whole = inertia + mass * arm**2
    for angle, rate, load in zip(run["arm.angle"], run.rate("arm.angle"), run.values["joint_load"][:, 0], strict=True):
        along, across = np.array([math.cos(angle), math.sin(angle)]), np.array([-math.sin(angle), math.cos(angle)])
        weight = np.array([0.0, mass * G])
        # R = m a + weight, a = arm (w' across - w^2 along), whole w' = -weight.arm - mu r N sign(w)
        free = weight + mass * arm * (-arm * (weight @ across) / whole * across - rate**2 * along)
        feeds = -mass * arm / whole * mu * radius * math.tanh(radius * rate / 1e-4) * across
        roots = np.roots([1.0 - feeds @ feeds, -2.0 * (free @ feeds), -(free @ free)])
        assert load == pytest.approx(roots[roots > 0.0][0].real, rel=1e-12)
    assert run.values["joint_load"][:, 0] == pytest.approx(np.linalg.norm(run.values["reaction_force"][:, 0], axis=1), rel=1e-13)


def test_a_block_that_is_asked_for_exactly_what_it_can_hold_holds():
    still = pl.simulate(block(effort=0.4 * G), 0.5, save=0.5)
    assert still["block.displacement"][-1] == 0.0 and not still.events
    gone = pl.simulate(block(effort=0.4 * G * (1.0 + 1e-9)), 0.5, save=0.5)
    assert gone["block.displacement"][-1] == pytest.approx(0.5 * (0.4 - 0.3) * G * 0.25, rel=1e-6)


def test_a_push_that_grows_breaks_a_block_loose_when_it_passes_the_limit():
    for law in (DRY, pl.DryFriction(mu_static=0.4, mu_kinetic=0.4)):
        run = pl.simulate(block(law, lambda t, q, v: 2.0 * t), 3.0, save=3.0)
        assert instants(run, "slips") == pytest.approx([0.2 * G], abs=INSTANT)


def test_no_friction_coefficient_and_no_load_are_no_friction():
    run = pl.simulate(block(pl.DryFriction(mu_static=0.0, mu_kinetic=0.0), 1.0), 1.0, save=1.0)
    assert run["block.displacement"][-1] == pytest.approx(0.5, rel=1e-12)
    system = pl.System("weightless", gravity=(0, 0))
    system.add("rotor", pl.RigidBody(mass=1.0, inertia=0.1),
               joint=pl.Revolute(rate=1.0, friction=pl.JointFriction(DRY, radius=0.01)))  # fmt: skip
    assert pl.simulate(system, 1.0, save=1.0).rate("rotor.angle")[-1] == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize("method", [pl.Auto(), pl.Radau5(rtol=1e-10, atol=1e-12), pl.Rodas5P(rtol=1e-10, atol=1e-12)],
                         ids=lambda method: type(method).__name__)  # fmt: skip
def test_methods_agree_on_when_a_driven_block_sticks(method):
    """Pushed by F sin(w t) it breaks loose where that passes mu_s N, and stops when its momentum is spent."""
    force, w = 5.0, 3.0
    run = pl.simulate(block(effort=lambda t, q, v: force * pl.sin(w * t)), 2.0, save=2.0, method=method)
    begin = math.asin(0.4 * G / force) / w

    def speed(t):
        return force / w * (math.cos(w * begin) - math.cos(w * t)) - 0.3 * G * (t - begin)

    low, high = math.pi / w * 0.6, 2.0
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if speed(middle) > 0.0 else (low, middle)
    assert instants(run, "slips")[0] == pytest.approx(begin, abs=INSTANT)
    assert instants(run, "sticks")[0] == pytest.approx(low, abs=10 * INSTANT)  # after half a second of sliding at rtol 1e-9


# ---- several directions


def test_a_ball_joint_spins_down_against_its_whole_spin():
    """A ball of one inertia: I w' = -mu r m g w/|w|, so the axis stays and |w| falls in a straight line."""
    spin, inertia, radius = np.array([3.0, 1.0, 2.0]), 0.05, 0.02
    system = pl.System("ball", gravity=(0, 0, -G))
    system.add("ball", pl.RigidBody(mass=1.0, inertia=(inertia,) * 3),
               joint=pl.Spherical(angular_velocity=spin, friction=pl.JointFriction(DRY, radius=radius)))  # fmt: skip
    slowing = 0.3 * radius * G / inertia
    run = pl.simulate(system, 4.0, save=[1.0, 4.0])
    size = np.linalg.norm(spin)
    assert run.values["v"][0] == pytest.approx(spin * (1.0 - slowing / size), rel=1e-9)
    assert instants(run, "sticks") == pytest.approx([size / slowing], abs=1e-7)  # at a slip of 1e-9 m/s
    assert run.values["v"][1] == pytest.approx(np.zeros(3), abs=1e-12)


def test_a_shaft_that_turns_slides_with_little_friction():
    """Friction of one surface opposes the whole slip: the share along the axis is v/|slip|, so a fast spin carries it away."""

    def shaft(friction):
        system = pl.System("shaft", gravity=(0, -G, 0))
        body = pl.RigidBody(mass=1.0, inertia=(0.05, 0.06, 0.07))
        system.add("rod", body, joint=pl.Cylindrical(axis="x", rates=(0.1, 100.0), friction=friction))
        return pl.simulate(system, 0.02, save=0.01)

    run = shaft(pl.JointFriction(DRY, radius=0.05))
    v, w = run.rate("rod.displacement"), 0.05 * run.rate("rod.angle")
    assert run.values["joint_friction"][:, 0] == pytest.approx(-0.3 * G * v / np.hypot(v, w), rel=1e-12)
    assert run.values["joint_friction"][:, 1] == pytest.approx(-0.3 * G * 0.05 * w / np.hypot(v, w), rel=1e-12)
    alone = shaft({"displacement": pl.JointFriction(DRY), "angle": pl.JointFriction(DRY, radius=0.05)})
    assert alone.values["joint_friction"][0] == pytest.approx([-0.3 * G, -0.3 * G * 0.05], rel=1e-12)


# ---- guides


def carriage(mu, height=0.1, guide=0.05):
    system = pl.System("carriage", gravity=(0, -G))
    system.add("car", pl.RigidBody(mass=1.0, inertia=0.1, com=(0, height, 0)),
               joint=pl.Prismatic(rate=1.0, friction=pl.JointFriction(pl.Coulomb(mu=mu), guide=guide)))  # fmt: skip
    return system


def test_a_guide_carries_the_couple_of_its_own_friction_and_jams_where_mu_is_too_large():
    """N = |mg/2 + c f| + |mg/2 - c f|, c = height/guide: mg while c f <= mg/2; beyond mu = guide/(2 height) no load fits."""
    run = pl.simulate(carriage(0.2), 0.1, save=0.1)
    assert run.ok and run.values["joint_load"] == pytest.approx(G, rel=1e-12)
    tall = pl.simulate(carriage(0.2, height=0.1, guide=0.02), 0.1, save=0.1)
    assert not tall.ok
    assert "friction of car.displacement locks itself" in tall.message
    assert tall.time[-1] < 1e-3


def test_a_load_off_the_middle_of_a_guide_presses_both_ends():
    """A weight at a distance d: ends carry mg/2 +- mg d/length, so N = 2 mg d/length where d > length/2."""
    system = pl.System("carriage", gravity=(0, -G))
    system.add("car", pl.RigidBody(mass=1.0, inertia=0.1, com=(0.3, 0, 0)),
               joint=pl.Prismatic(rate=1.0, friction=pl.JointFriction(pl.Coulomb(mu=0.1), guide=0.2)))  # fmt: skip
    run = pl.simulate(system, 0.1, save=0.1)
    assert run.values["joint_load"] == pytest.approx(2.0 * G * 0.3 / 0.2, rel=1e-12)


# ---- loops

M1, L1, I1, M2, L2, I2, M3 = 1.0, 0.3, 0.01, 0.8, 0.7, 0.04, 0.5
MU, TRANSITION, RADII = 0.25, 0.01, (0.03, 0.025, 0.02)


def slider_crank():
    """Friction in all three pins, the last one a closure, and in the guide."""
    law = pl.Coulomb(mu=MU, transition=TRANSITION)
    pins = [pl.JointFriction(law, radius=radius) for radius in RADII]
    crank_angle = 0.5
    rod_angle = -math.asin(L1 * math.sin(crank_angle) / L2)
    system = pl.System("slider crank", gravity=(0, -G))
    crank = system.add("crank", pl.RigidBody(mass=M1, inertia=I1, com=(L1 / 2, 0, 0), tip=(L1, 0, 0)),
                       joint=pl.Revolute(angle=crank_angle, rate=2.0, friction=pins[0]))  # fmt: skip
    rate = -L1 * math.cos(crank_angle) * 2.0 / (L2 * math.cos(rod_angle))
    rod = system.add("rod", pl.RigidBody(mass=M2, inertia=I2, com=(L2 / 2, 0, 0), tip=(L2, 0, 0)), on=crank.tip,
                     joint=pl.Revolute(angle=rod_angle - crank_angle, rate=rate - 2.0, friction=pins[1]))  # fmt: skip
    x = L1 * math.cos(crank_angle) + L2 * math.cos(rod_angle)
    speed = -L1 * math.sin(crank_angle) * 2.0 - L2 * math.sin(rod_angle) * rate
    slider = system.add("slider", pl.RigidBody(mass=M3, inertia=0.001),
                        joint=pl.Prismatic(displacement=x, rate=speed, friction=pl.JointFriction(law)))  # fmt: skip
    system.close("pin", "revolute", rod.tip, slider.root, friction=pins[2])
    return system


def by_hand(t, y):
    """Newton and Euler of three free bodies with eight constraints; loads by plain iteration.  Independent of pliant."""
    (_, _, angle1, _, _, angle2, _, _, _), v = y[:9], y[9:]
    w1, w2, a, b = v[2], v[5], L1 / 2, L2 / 2
    c1, s1, c2, s2 = math.cos(angle1), math.sin(angle1), math.cos(angle2), math.sin(angle2)
    jacobian, gamma = np.zeros((8, 9)), np.zeros(8)
    jacobian[0, [0, 2]], jacobian[1, [1, 2]] = (1, a * s1), (1, -a * c1)
    jacobian[2, [0, 2, 3, 5]], jacobian[3, [1, 2, 4, 5]] = (1, -a * s1, -1, -b * s2), (1, a * c1, -1, b * c2)
    jacobian[4, [3, 5, 6]], jacobian[5, [4, 5, 7]] = (1, -b * s2, -1), (1, b * c2, -1)
    jacobian[6, 7] = jacobian[7, 8] = 1
    gamma[:6] = (a * c1 * w1**2, a * s1 * w1**2, -a * c1 * w1**2 - b * c2 * w2**2, -a * s1 * w1**2 - b * s2 * w2**2,
                 -b * c2 * w2**2, -b * s2 * w2**2)  # fmt: skip
    mass = np.diag([M1, M1, I1, M2, M2, I2, M3, M3, 0.001])
    whole = np.block([[mass, jacobian.T], [jacobian, np.zeros((8, 8))]])
    r1, r2, r3 = RADII
    shares = MU * np.tanh(np.array([r1 * w1, r2 * (w2 - w1), r3 * w2, v[6]]) / TRANSITION)
    right = np.zeros((17, 5))  # what acts, then one newton of friction in each joint
    right[[1, 4, 7], 0], right[9:, 0] = (-M1 * G, -M2 * G, -M3 * G), -gamma
    right[2, 1], right[[2, 5], 2], right[[5, 8], 3], right[6, 4] = -r1, (r2, -r2), (-r3, r3), -1.0
    answers = np.linalg.solve(whole, right)
    loads = np.zeros(4)
    for _ in range(100):
        found = answers @ np.concatenate([[1.0], shares * loads])
        lam, before = found[9:], loads
        loads = np.array([math.hypot(*lam[:2]), math.hypot(*lam[2:4]), math.hypot(*lam[4:6]), abs(lam[6])])
        if np.max(np.abs(loads - before)) <= 1e-14 * np.max(loads):
            break
    return np.concatenate([v, found[:9]])


def test_a_slider_crank_that_rubs_in_all_its_joints_moves_as_its_equations_by_hand():
    short = pl.DOP853(rtol=1e-11, atol=1e-13, max_step=2e-3)  # a load that comes near zero has a sharp bend there
    run = pl.simulate(slider_crank(), 0.3, save=0.05, method=short)
    assert run.ok and not run.warnings
    angle, rate = run["crank.angle"][0], run.rate("crank.angle")[0]
    other = -math.asin(L1 * math.sin(angle) / L2)
    other_rate = -L1 * math.cos(angle) * rate / (L2 * math.cos(other))
    a, b = L1 / 2, L2 / 2
    tip = np.array([L1 * math.cos(angle), L1 * math.sin(angle)])
    turned = {th: np.array([math.cos(th), math.sin(th)]) for th in (angle, other)}
    across = {th: np.array([-math.sin(th), math.cos(th)]) for th in (angle, other)}
    speed = L1 * rate * across[angle]
    q = [*(a * turned[angle]), angle, *(tip + b * turned[other]), other, *(tip + L2 * turned[other]), 0.0]
    v = [*(a * rate * across[angle]), rate, *(speed + b * other_rate * across[other]), other_rate,
         *(speed + L2 * other_rate * across[other]), 0.0]  # fmt: skip
    truth = solve_ivp(by_hand, (0.0, 0.3), [*q, *v], method="DOP853", rtol=1e-11, atol=1e-13, max_step=2e-3, t_eval=run.time)
    assert run["crank.angle"] == pytest.approx(truth.y[2], abs=1e-9)
    assert run["slider.displacement"] == pytest.approx(truth.y[6], abs=1e-9)
    assert run.ledger.relative_error_max < 1e-9
    assert {f"{name} friction" for name in run.labels["friction_joint"]} <= set(run.labels["source"])
    assert np.all(run.values["power"] <= 0.0)


def four_bar(law=DRY, effort=None, radius=0.02):
    lengths, base, angle = (0.2, 0.5, 0.4), 0.6, 1.0
    a, d = lengths[0] * np.array([math.cos(angle), math.sin(angle)]), np.array([base, 0.0])
    apart = np.linalg.norm(d - a)
    along = (lengths[1] ** 2 - lengths[2] ** 2 + apart**2) / (2.0 * apart)
    unit = (d - a) / apart
    b = a + along * unit + math.sqrt(lengths[1] ** 2 - along**2) * np.array([-unit[1], unit[0]])
    rod, rocker = math.atan2(*(b - a)[::-1]), math.atan2(*(b - d)[::-1])
    pin = pl.JointFriction(law, radius=radius)
    system = pl.System("four bar", gravity=(0, -G))
    first = system.add("crank", pl.RigidBody.rod(mass=1.0, length=lengths[0]), joint=pl.Revolute(angle=angle, friction=pin))
    second = system.add("rod", pl.RigidBody.rod(mass=1.5, length=lengths[1]), on=first.tip,
                        joint=pl.Revolute(angle=rod - angle, friction=pin))  # fmt: skip
    third = system.add("rocker", pl.RigidBody.rod(mass=1.2, length=lengths[2]), on=system.ground.moved((base, 0, 0)),
                       joint=pl.Revolute(angle=rocker, friction=pin))  # fmt: skip
    system.close("pin", "revolute", second.tip, third.tip, friction=pin)
    if effort is not None:
        system.drive("motor", "crank.angle", effort)
    return system


FORMULATIONS = ["gibbs_appell", "lagrange", "augmented"]


@pytest.fixture(scope="module")
def swinging():
    return pl.simulate(four_bar(), 0.6, save=0.1, method=pl.DOP853(rtol=1e-10, atol=1e-12))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_formulations_agree_on_a_four_bar_with_dry_pins(formulation, swinging):
    """It starts exactly at rest, breaks loose at once, and its rocker turns back in dead centres where no friction can hold it."""
    run = pl.simulate(four_bar(), 0.6, save=0.1, method=pl.DOP853(rtol=1e-10, atol=1e-12), formulation=formulation)
    assert run.ok
    assert run.values["joint_load"] == pytest.approx(swinging.values["joint_load"], rel=1e-6)
    assert run.values["tip_position"] == pytest.approx(swinging.values["tip_position"], abs=1e-8)
    assert run.values["joint_friction"] == pytest.approx(swinging.values["joint_friction"], abs=1e-7)


def test_all_pins_of_a_loop_stick_and_break_loose_together():
    """It has one degree of freedom: what holds one pin holds all, however they share the load. A push against gravity lets go
    where friction at its limit in every pin balances it, by the principle of virtual power."""
    run = pl.simulate(four_bar(effort=lambda t, q, v: 0.05 * t), 14.0, save=0.02)
    assert run.ok
    slipping = run.values["joint_sticks"] == 0.0
    along = run.values["joint_friction"] * run.values["joint_slip"]
    assert np.max(along[slipping]) <= 0.0  # never along the slip, not even where crank and rocker turn back at once
    sticks, slips = (sorted(event.t for event in run.events if event.name.endswith(word)) for word in ("sticks", "slips"))
    assert len(sticks) >= 4 and len(set(sticks[:4])) == 1
    assert len(slips) >= 4 and len(set(slips[:4])) == 1
    still = pl.simulate(four_bar(effort=lambda t, q, v: 0.05 * t), slips[0] * (1.0 - 1e-9), save=[slips[0] * (1.0 - 1e-9)])
    limit = 0.4 * 0.02 * still.values["joint_load"][-1]
    assert np.abs(still.values["joint_friction"][-1]) == pytest.approx(limit, rel=1e-4)


def test_a_loop_with_dry_pins_is_the_limit_of_smoothed_friction():
    """Its crank turns back several times, once next to a dead centre of its rocker. Smoothed over vt it is off by as much."""
    effort = lambda t, q, v: 0.05 * t  # noqa: E731
    times = [1.0, 2.0, 2.4, 3.0]
    exact = pl.simulate(four_bar(effort=effort), 3.0, save=times, method=TIGHT)["crank.angle"]
    off = [np.max(np.abs(pl.simulate(four_bar(pl.Coulomb(mu=0.3, transition=vt), effort), 3.0, save=times)["crank.angle"] - exact))
           for vt in (1e-4, 1e-5)]  # fmt: skip
    assert off[1] < 2e-4
    assert off[0] / off[1] == pytest.approx(10.0, rel=0.2)


def test_a_run_goes_on_as_if_it_had_not_stopped():
    whole = pl.simulate(block(effort=lambda t, q, v: 5.0 * pl.sin(3.0 * t)), 3.0, save=3.0, method=TIGHT)
    first = pl.simulate(block(effort=lambda t, q, v: 5.0 * pl.sin(3.0 * t)), 1.3, save=1.3, method=TIGHT)
    second = pl.simulate(block(effort=lambda t, q, v: 5.0 * pl.sin(3.0 * t)), 3.0, save=3.0, method=TIGHT, start=first)
    again = type(first.final_state).from_json(first.final_state.to_json())
    assert again.grips == first.final_state.grips
    assert second["block.displacement"][-1] == pytest.approx(whole["block.displacement"][-1], abs=1e-10)
    both = [*(event.t for event in first.events), *(event.t for event in second.events)]
    assert both == pytest.approx([event.t for event in whole.events], abs=INSTANT)


def test_members_of_an_ensemble_are_what_single_runs_give():
    def driven(kinetic, rate=0.0):
        law = pl.DryFriction(mu_static=0.5, mu_kinetic=kinetic)
        return block(law, lambda t, q, v: 8.0 * pl.sin(3.0 * t), rate=rate)

    kinetic, rates = [0.1, 0.2, 0.3], [0.0, 0.1, -0.2]
    found = pl.ensemble(driven(pl.Parameter("mu", 0.3)), 2.0, parameters={"mu": kinetic}, rates={"block.displacement": rates})
    ends = [pl.simulate(driven(mu, rate), 2.0, save=2.0)["block.displacement"][-1] for mu, rate in zip(kinetic, rates, strict=True)]
    assert bool(found.ok.all())
    assert found.q_end.values.ravel() == pytest.approx(ends, rel=1e-12)


# ---- with contacts, with beams, over-determined


def test_a_joint_that_is_relieved_when_another_lets_go_at_the_same_instant_sticks():
    """Held at both joints, the chain would need more than both can give; once the first swings, the second needs 0.38 of it."""
    system = pl.System("two", gravity=(0, -G))
    pins = [pl.JointFriction(pl.DryFriction(mu_static=1.2 * mu, mu_kinetic=mu), radius=0.08) for mu in (0.3, 0.4)]
    first = system.add("a", pl.RigidBody(mass=1.0, inertia=0.05, com=(0.3, 0), tip=(0.6, 0)),
                       joint=pl.Revolute(angle=-0.6, friction=pins[0]))  # fmt: skip
    system.add("b", pl.RigidBody(mass=1.0, inertia=0.03, com=(0.2, 0), tip=(0.4, 0)), on=first.tip,
               joint=pl.Revolute(angle=0.5, friction=pins[1]))  # fmt: skip
    run = pl.simulate(system, 1.0, save=0.01, method=TIGHT)
    assert run.ok and not run.warnings
    assert run.values["joint_sticks"][0].tolist() == [0.0, 1.0]
    needed = abs(run.values["joint_friction"][0, 1]) / (0.08 * 0.48 * run.values["joint_load"][0, 1])
    assert needed == pytest.approx(1.0 - 0.624, abs=1e-3)
    assert np.max(run.values["joint_friction"] * run.values["joint_slip"]) < 1e-9


def test_a_joint_and_a_contact_that_stick_settle_together():
    """A block on a slope that rests on the floor of a cart held by its own dry guide: both hold, each what it is asked for."""
    system = pl.System("cart", gravity=(1.0, -G))
    cart = system.add("cart", pl.RigidBody(mass=2.0, inertia=0.1), joint=pl.Prismatic(friction=pl.JointFriction(DRY)))
    sunk = (G / 2e6) ** (2 / 3)  # m, by its weight
    body = system.add("block", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Planar(position=(0.0, 0.1 - sunk)))
    karnopp = pl.Karnopp(mu_static=0.5, mu_kinetic=0.4)
    system.contact(points=[body.at((x, -0.1)) for x in (-0.1, 0.1)], against=pl.Plane(normal="y", on=cart.root),
                   normal=pl.HuntCrossley(stiffness=1e6, restitution=0.5), friction=karnopp, name="floor")  # fmt: skip
    system.drive("pull", "cart.displacement", lambda t, q, v: 20.0 * pl.maximum(t - 1.0, 0.0))
    run = pl.simulate(system, 1.6, save=0.1, max_steps=20000)
    assert run.ok
    held = run.time < 1.0
    assert run.values["joint_sticks"][held] == pytest.approx(1.0)
    assert run.values["joint_friction"][9] == pytest.approx(-3.0, rel=1e-3)  # the weight of both down the slope
    assert run.values["friction_force"][9, :, 0].sum() == pytest.approx(-1.0, rel=1e-3)
    # what is pulled lets go where 3 N + pull = mu_s (3 kg g), and takes the block along
    slip = 1.0 + (0.4 * 3.0 * G - 3.0) / 20.0
    assert instants(run, "slips") == pytest.approx([slip], abs=1e-3)  # the block has settled on its corners to that
    assert run.ledger.relative_error_max < 1e-6


def test_an_elastic_arm_on_a_dry_pin_comes_to_rest_in_its_joint_and_goes_on_ringing():
    beam = pl.Beam(length=0.6, section=pl.Section.rectangle(0.003, 0.02), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 1))  # fmt: skip
    system = pl.System("arm", gravity=(0, 0))
    friction = pl.JointFriction(DRY, radius=0.01, preload=200.0)
    system.add("arm", beam, joint=pl.Revolute(rate=3.0, friction=friction))
    run = pl.simulate(system, 1.0, save=0.02)
    assert run.ok and instants(run, "sticks")
    stuck = run.values["joint_sticks"][:, 0] == 1.0
    assert np.max(np.abs(run.rate("arm.angle")[stuck])) < 1e-8  # rad/s, of 3: what steps at rtol 1e-9 leave
    assert np.max(np.abs(run.values["joint_friction"][stuck, 0]) - 0.4 * 0.01 * run.values["joint_load"][stuck, 0]) < 1e-9
    assert run.ledger.relative_error_max < 1e-7


def test_friction_in_over_determined_loops_says_that_its_loads_are_one_of_many():
    """A table on three parallel cranks; and a door whose second hinge holds what the first one does."""
    pin = pl.JointFriction(pl.Coulomb(mu=0.2), radius=0.01)
    system = pl.System("table", gravity=(0, -G))
    cranks = [system.add(f"crank{k}", pl.RigidBody.rod(mass=0.2, length=0.2), joint=pl.Revolute(angle=1.0, friction=pin),
                         on=system.ground.moved((0.3 * k, 0.0, 0.0))) for k in range(3)]  # fmt: skip
    top = system.add("top", pl.RigidBody.rod(mass=1.0, length=0.6), joint=pl.Revolute(angle=-1.0), on=cranks[0].tip)
    system.close("middle", "point", top.at((0.3, 0.0)), cranks[1].tip)
    system.close("end", "point", top.tip, cranks[2].tip)
    run = pl.simulate(system, 0.02, save=0.02)
    assert any("one of many ways in which rigid bodies could share them" in warning for warning in run.warnings)

    system = pl.System("door", gravity=(0, -G, 0.0))
    leaf = system.add("leaf", pl.RigidBody(mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.3, 0, 0.5)), joint=pl.Revolute())
    system.close("hinge", "revolute", leaf.at((0, 0, 1.0)), system.ground.moved((0, 0, 1.0)), friction=pin)
    run = pl.simulate(system, 0.02, save=0.02)
    assert any("closure 'hinge' has friction but carries no load" in warning for warning in run.warnings)


# ---- other doors


def test_what_does_not_serve_friction_inside_joints_says_so():
    with pytest.raises(pl.ModelError, match=r"body 'block': friction must be left out for"):
        pl.denoc(block())
    assert pl.equations(block()).notes == ("friction inside joints is left out: block",)


def arm(mu=0.3):
    system = pl.System("arm", gravity=(0, -G))
    friction = pl.JointFriction(pl.Coulomb(mu=mu, transition=0.1), radius=0.05)
    system.add("arm", pl.RigidBody(mass=2.0, inertia=0.1, com=(0.4, 0, 0)), joint=pl.Revolute(angle=0.2, friction=friction))
    return system


def test_derivatives_go_through_the_load_that_friction_changes():
    found = pl.sensitivities(arm(pl.Parameter("mu", 0.3)), 0.5, parameters=["mu"], of="q", save=[0.5])
    ends = [pl.simulate(arm(0.3 + shift), 0.5, save=[0.5], method=TIGHT)["arm.angle"][-1] for shift in (1e-4, -1e-4)]
    assert found.final[0, 0] == pytest.approx((ends[0] - ends[1]) / 2e-4, rel=1e-6)


def test_inverse_dynamics_asks_the_drive_for_the_friction_too():
    run = pl.inverse_dynamics(arm(), {"arm.angle": lambda t: 0.5 * t * t}, 1.0, save=0.25)
    angle, rate = 0.5 * run.time**2, run.time
    load = np.hypot(2.0 * 0.4 * (np.sin(angle) + rate**2 * np.cos(angle)),
                    2.0 * (0.4 * np.cos(angle) - 0.4 * rate**2 * np.sin(angle) + G))  # fmt: skip
    friction = 0.05 * 0.3 * load * np.tanh(0.05 * rate / 0.1)
    assert run.values["effort"][:, 0] == pytest.approx(0.42 + 2.0 * G * 0.4 * np.cos(angle) + friction, rel=1e-12)


# ---- sleeves


SLEEVE = 0.7  # kg
ARM = 2.0  # kg, and 1 m long, as its sleeve


def boom(system, friction, extension=0.6, rate=0.0, joint=None):
    """A telescopic link that only twists, so that its arm is rigid in the plane."""
    body = pl.TelescopicBeam(length=1.0, section=pl.Section.tube(outer=0.012, inner=0.010), material=pl.ALUMINIUM, rate=rate,
                             modes=pl.TorsionModes("cf", 1), mass_per_length=ARM, sleeve_mass=SLEEVE, extension=extension,
                             friction=pl.JointFriction(friction))  # fmt: skip
    return system.add("boom", body, joint=joint or pl.Weld())


def test_an_arm_slides_in_its_sleeve_until_the_forces_of_its_two_lips_have_stopped_it():
    """Lips b = L - l apart carry m g L/(2 b) at the mouth and the rest inside: together m g l/(L - l) where l > L/2."""
    start, speed, mu = 0.55, 1.0, 0.3
    system = pl.System("slide", gravity=(0, -G))
    boom(system, DRY, start, speed)
    run = pl.simulate(system, 1.0, save=0.05, method=TIGHT)
    lengths = run["boom.extension"]
    assert run.values["joint_load"][:, 0] == pytest.approx(ARM * G * lengths / (1.0 - lengths), rel=1e-12)
    lost = mu * G * ((-lengths - np.log(1.0 - lengths)) - (-start - math.log(1.0 - start)))
    assert run["v", "boom.extension"] ** 2 == pytest.approx(np.maximum(speed**2 - 2.0 * lost, 0.0), abs=1e-9)
    assert len(instants(run, "sticks")) == 1 and lost[-1] == pytest.approx(0.5 * speed**2, abs=1e-9)
    assert run.ledger.work["boom.extension friction"][-1] == pytest.approx(-0.5 * ARM * speed**2, rel=1e-9)


@pytest.mark.parametrize(("factor", "slides"), [(0.99, True), (1.01, False)])
def test_a_drawer_locks_if_mu_exceeds_half_the_guide_over_the_offset_however_hard_it_is_pulled(factor, slides):
    offset, length = 0.5, 0.6
    mu = factor * (1.0 - length) / (2.0 * offset)
    system = pl.System("drawer", gravity=(0, 0))
    drawer = boom(system, pl.DryFriction(mu_static=mu, mu_kinetic=mu), length)
    system.force("pull", drawer.tip.moved((0.0, offset)), (-1000.0, 0.0))
    run = pl.simulate(system, 0.01, save=0.01)
    assert run.ok and (run["boom.extension"][-1] < length - 1e-4) == slides
    assert run.values["joint_load"] == pytest.approx(1000.0 * 2.0 * offset / (1.0 - run["boom.extension"][:, None]), rel=1e-9)


def strut(system, root, tip):
    system.strut("cylinder", root.moved((0.5, 0.0)), system.ground.moved((0.2, -0.5)), stiffness=300.0, rest=0.3)


def hanging(system, root, tip):
    for name, frame in (("inner", root.moved((0.5, 0.0))), ("outer", tip)):
        system.add(name, pl.RigidBody.rod(0.4, 0.9), joint=pl.Revolute(angle=-1.0, rate=2.0), on=frame)
    system.moment("twist", root, 4.0)


def guided(system, root, tip):
    at, rise = root.moved((0.5, 0.0)), 0.5 * 1.1 * math.cos(0.3)
    system.constrain("line", lambda t, q, v: q.position(at)[1] - 0.5 * math.sin(0.3) - rise * t)


def propped(system, root, tip):
    at = root.moved((0.7, 0.1))
    x, y = 0.7 * math.cos(0.3) - 0.1 * math.sin(0.3), 0.7 * math.sin(0.3) + 0.1 * math.cos(0.3)
    leg = system.add("leg", pl.RigidBody.rod(math.hypot(x, y), 0.9), joint=pl.Revolute(angle=math.atan2(y, x), rate=1.1))
    system.close("pin", "revolute", leg.tip, at)


@pytest.mark.parametrize("held", [strut, hanging, guided, propped])
def test_what_holds_a_sleeve_does_not_press_its_arm(held):
    """The lips' forces are those of the same mechanism out of two rigid bodies, whatever acts on the sleeve or on the arm."""
    telescopic, rigid = pl.System("boom", gravity=(0, -G)), pl.System("two bodies", gravity=(0, -G))
    turning = pl.Revolute(angle=0.3, rate=1.1)
    link = boom(telescopic, pl.Coulomb(mu=1e-13), 0.6, 0.5, turning)
    sleeve = rigid.add("sleeve", pl.RigidBody.rod(1.0, SLEEVE), joint=turning)
    arm = rigid.add("arm", pl.RigidBody.rod(1.0, ARM), joint=pl.Prismatic(displacement=0.6, rate=0.5), on=sleeve.root)
    held(telescopic, link.root, link.tip)
    held(rigid, sleeve.root, arm.tip)
    run, other = (pl.simulate(system, 1e-3, save=1e-3) for system in (telescopic, rigid))
    angles, lengths = other["sleeve.angle"], other["arm.displacement"]
    force, moment = other["reaction_force", "arm"], other["reaction_moment", "arm"][:, 2]  # about the arm's inner end
    across, mouth = force[:, 1] * np.cos(angles) - force[:, 0] * np.sin(angles), moment / (1.0 - lengths)
    assert run.values["joint_load"][:, 0] == pytest.approx(np.abs(mouth) + np.abs(across - mouth), rel=1e-9)


def test_friction_in_a_sleeve_holds_its_arm_beside_the_equilibrium():
    system = pl.System("held", gravity=(0, -G))
    boom(system, DRY, 0.62)
    system.drive("winch", "boom.extension", lambda t, q, v: 500.0 * (0.6 - q["boom.extension"]))
    rest = pl.equilibrium(system)
    assert rest["boom.extension"] == pytest.approx(0.6)
    assert rest.friction["boom.extension"] == pytest.approx(0.4 * ARM * G * 0.6 / 0.4, rel=1e-9)
    assert "friction holds boom.extension against up to 11.8 N, so that it may rest up to 0.0235 m to either side" in rest.message
