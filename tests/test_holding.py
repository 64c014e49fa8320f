"""Friction that holds, on any number of points: blocks on slopes, thrown blocks, dropped rods, by every kind of method."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pliant as pl

G, MASS, STIFFNESS = 9.81, 1.0, 1e6  # m/s^2, kg, N/m^1.5
WIDTH, DEPTH, HEIGHT = 0.2, 0.3, 0.1  # m
SLOPE = math.radians(20.0)
BANDS = [1e-3, 1e-2, 1e-1]  # m/s
PRESS = pl.HuntCrossley(stiffness=STIFFNESS, restitution=0.5)
STEPS = 5000  # more than any of these runs needs with the default method


def block(law: pl.Karnopp, corners: int, tilt: float = 0.0, speed: float = 0.0, spin: float = 0.0) -> pl.System:
    """A block that lies on its 2 corners in the plane, or its 4 in space, x down the slope, as deep as its weight presses it in."""
    height = HEIGHT / 2 - (MASS * G * math.cos(tilt) / (corners * STIFFNESS)) ** (2 / 3)
    if corners == 2:
        system = pl.System("block", gravity=(G * math.sin(tilt), -G * math.cos(tilt)))
        joint: pl.Planar | pl.Free = pl.Planar(position=(0, height), velocity=(speed, 0), rate=spin)
        body = system.add("block", pl.RigidBody(mass=MASS, inertia=MASS * (WIDTH**2 + HEIGHT**2) / 12), joint=joint)
        points = [body.at((x, -HEIGHT / 2)) for x in (-WIDTH / 2, WIDTH / 2)]
        normal: tuple[float, ...] = (0, 1)
    else:
        system = pl.System("block", gravity=(G * math.sin(tilt), 0, -G * math.cos(tilt)))
        squares = np.array([WIDTH**2, DEPTH**2, HEIGHT**2])
        joint = pl.Free(position=(0, 0, height), velocity=(speed, 0, 0), angular_velocity=(0, 0, spin))
        inertia = tuple(MASS / 12 * (squares.sum() - squares))
        body = system.add("block", pl.RigidBody(mass=MASS, inertia=inertia), joint=joint)
        points = [body.at((x, y, -HEIGHT / 2)) for x in (-WIDTH / 2, WIDTH / 2) for y in (-DEPTH / 2, DEPTH / 2)]
        normal = (0, 0, 1)
    system.contact(points=points, against=pl.Plane(normal=normal), normal=PRESS, friction=law, name="floor")
    return system


def foot(run: pl.Result) -> np.ndarray:
    """Where the upper corner of a block in the plane stands."""
    angle = run["block.angle"]
    return np.asarray(run["block.x"] + HEIGHT / 2 * np.sin(angle) - WIDTH / 2 * np.cos(angle))


@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("corners", [2, 4])
def test_a_block_holds_on_a_slope_below_the_angle_of_friction(corners: int, band: float) -> None:
    """It settles on its corners and stays: friction is the weight along the slope, and the lower corners carry more of it."""
    law = pl.Karnopp(mu_static=0.5, mu_kinetic=0.4, band=band)
    run = pl.simulate(block(law, corners, SLOPE), 1.0, save=0.01, max_steps=STEPS)
    assert run.ok
    settled = run.time > 0.5
    if corners == 2:
        assert np.ptp(foot(run)[settled]) < 2e-9  # feet a rigid distance apart, as the block leans
    assert np.max(np.abs(run["block.x"])) < 1e-4  # as it leans on its lower corners
    friction, normal = run.values["friction_force"][-1, :, 0], run.values["normal_force"][-1]
    assert friction.sum() == pytest.approx(-MASS * G * math.sin(SLOPE), rel=1e-3)
    assert friction / normal == pytest.approx(-math.tan(SLOPE), rel=1e-3)  # shared by strength
    assert run.ledger.balance_error_max < 1e-9


@pytest.mark.parametrize("side", [4, pytest.param(10, marks=pytest.mark.slow)])
def test_a_block_holds_on_many_more_points_than_it_has_motions(side: int) -> None:
    """It settles and stays; all points together carry the weight along the slope, each in proportion to its normal force."""
    law = pl.Karnopp(mu_static=0.5, mu_kinetic=0.4, band=1e-2)
    system = pl.System("block", gravity=(G * math.sin(SLOPE), 0, -G * math.cos(SLOPE)))
    squares = np.array([WIDTH**2, DEPTH**2, HEIGHT**2])
    depth = (MASS * G * math.cos(SLOPE) / (side**2 * STIFFNESS)) ** (2 / 3)
    body = system.add("block", pl.RigidBody(mass=MASS, inertia=tuple(MASS / 12 * (squares.sum() - squares))),
                      joint=pl.Free(position=(0, 0, HEIGHT / 2 - depth)))  # fmt: skip
    points = [body.at((x, y, -HEIGHT / 2)) for x in np.linspace(-WIDTH / 2, WIDTH / 2, side)
              for y in np.linspace(-DEPTH / 2, DEPTH / 2, side)]  # fmt: skip
    system.contact(points=points, against=pl.Plane(normal=(0, 0, 1)), normal=PRESS, friction=law, name="floor")
    run = pl.simulate(system, 0.2, save=0.01)
    assert run.ok and run.ledger.relative_error_max < 1e-8
    friction, normal = run.values["friction_force"][-1, :, 0], run.values["normal_force"][-1]
    assert friction.sum() == pytest.approx(-MASS * G * math.sin(SLOPE), rel=1e-3)
    assert friction / normal == pytest.approx(-math.tan(SLOPE), rel=1e-3)
    assert np.ptp(run["block.x"][-5:]) < 1e-7 and abs(run["block.x"][-1]) < 1e-4
    assert len(run.warnings) <= 6  # not one for each point


@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("corners", [2, 4])
def test_a_block_slides_down_a_slope_above_the_angle_of_friction(corners: int, band: float) -> None:
    """In the band mu_static resists, beyond it mu_kinetic: the acceleration is g (sin - mu_k cos)."""
    law = pl.Karnopp(mu_static=0.3, mu_kinetic=0.25, band=band)
    run = pl.simulate(block(law, corners, SLOPE), 1.0, save=0.01, max_steps=STEPS)
    assert run.ok
    speed, fast = run.rate("block.x"), run.time > 0.5
    pull = G * (math.sin(SLOPE) - 0.25 * math.cos(SLOPE))
    assert np.polyfit(run.time[fast], speed[fast], 1)[0] == pytest.approx(pull, rel=1e-4)
    in_band = band / (G * (math.sin(SLOPE) - 0.3 * math.cos(SLOPE)))  # s
    assert speed[-1] == pytest.approx(band + pull * (1.0 - in_band), abs=0.05 * max(band, 0.02))
    assert run.ledger.balance_error_max < 1e-9


@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("corners", [2, 4])
def test_a_block_thrown_on_level_ground_stops_where_it_should(corners: int, band: float) -> None:
    """v^2/(2 mu_k g), of which the band, with mu_static or its 1 ms, changes little; then nothing moves."""
    law = pl.Karnopp(mu_static=0.4, mu_kinetic=0.3, band=band)
    run = pl.simulate(block(law, corners, speed=1.0), 1.0, save=0.01, max_steps=STEPS)
    assert run.ok
    way = (1.0 - band**2) / (2 * 0.3 * G) + min(band * 1e-3 + band**2 / (2 * 0.4 * G), band**2 / (2 * 0.3 * G))
    assert run["block.x"][-1] == pytest.approx(way, rel=2e-3)  # it lands by 0.3 mm, and its weight varies
    still = run.time > 1.0 / (0.3 * G) + 0.1
    assert np.ptp(run["block.x"][still]) < 1e-5  # the last of the rocking
    if corners == 2:
        assert np.ptp(foot(run)[still]) < 2e-9  # feet a rigid distance apart, as the block leans
    assert run.ledger.relative_error_max < 1e-8
    assert sum(touch.friction_loss for touch in run.contacts) == pytest.approx(0.5 * MASS, rel=1e-3)


@pytest.mark.parametrize("method", [pl.DOP853, pl.RKF45, pl.Radau5], ids=lambda method: method.__name__)
def test_every_kind_of_method_brings_a_thrown_block_to_the_same_rest(method: type) -> None:
    law = pl.Karnopp(mu_static=0.4, mu_kinetic=0.3, band=1e-2)
    ends = [
        pl.simulate(block(law, 2, speed=1.0), 0.5, method=one, max_steps=20 * STEPS)
        for one in (pl.Auto(), method(rtol=1e-8, atol=1e-11))
    ]
    assert all(end.ok for end in ends)
    assert ends[1]["block.x"][-1] == pytest.approx(ends[0]["block.x"][-1], abs=1e-7)


def test_a_spinning_block_comes_to_rest_on_all_four_corners() -> None:
    """Every corner slips its own way and they stop within a moment of each other: 12 changes of grip or so, no chatter."""
    law = pl.Karnopp(mu_static=0.4, mu_kinetic=0.3, band=1e-2)
    run = pl.simulate(block(law, 4, speed=0.4, spin=4.0), 1.0, save=0.01, max_steps=STEPS)
    assert run.ok
    assert run.values["kinetic"][-1, ...].sum() < 1e-12
    assert run.ledger.relative_error_max < 1e-8


@pytest.mark.parametrize("case", range(12))
def test_a_dropped_rod_bounces_slides_and_lies_still(case: int) -> None:
    """Both ends hold or slide through some fifteen touches, at angles of -60 to 61 degrees."""
    angle, band = math.radians(-60.0 + 11.0 * case), BANDS[case % 3]
    system = pl.System("rod", gravity=(0, -G))
    start = pl.Planar(position=(0, 0.05 - min(0.0, 0.4 * math.sin(angle))), angle=angle, velocity=(0.3 * (case % 2), 0))
    rod = system.add("rod", pl.RigidBody.rod(0.4, 0.5), joint=start)
    system.contact(points=[rod.root, rod.tip], against=pl.Plane(normal=(0, 1)), name="floor",
                   normal=pl.HuntCrossley(stiffness=1e6, restitution=0.6),
                   friction=pl.Karnopp(mu_static=0.4, mu_kinetic=0.3, band=band))  # fmt: skip
    run = pl.simulate(system, 1.0, save=0.01, max_steps=STEPS)
    assert run.ok
    assert len(run.contacts) > 10
    assert abs(run.rate("rod.x")[-1]) < 1e-3
    assert run.ledger.relative_error_max < 1e-7


def test_contacts_share_what_they_hold_in_proportion_to_their_strength() -> None:
    """A bar on one smooth and one rough end holds up to the sum of both, each in use to the same part."""
    system = pl.System("bar", gravity=(0, -10.0))
    start = pl.Planar(position=(0, -((5.0 / 1e6) ** (2 / 3))))
    bar = system.add("bar", pl.RigidBody(mass=1.0, inertia=1 / 12, com=(0.5, 0), tip=(1.0, 0)), joint=start)
    for name, point, mu in (("smooth", bar.root, 0.1), ("rough", bar.tip, 0.5)):
        system.contact(points=point, against=pl.Plane(normal=(0, 1)), normal=PRESS, name=name,
                       friction=pl.Karnopp(mu_static=mu, mu_kinetic=0.8 * mu))  # fmt: skip
    system.force("pull", bar.at((0.5, 0)), (lambda t, q, v: 2.8 * pl.minimum(t, 1.0), 0.0))  # of 0.5 + 2.5 N
    run = pl.simulate(system, 1.5, save=0.01)
    assert run.ok and np.max(np.abs(run["bar.x"])) < 1e-9
    assert run.values["friction_force"][-1, :, 0] == pytest.approx([-2.8 * 0.5 / 3.0, -2.8 * 2.5 / 3.0], rel=1e-3)
    system.force("more", bar.at((0.5, 0)), (lambda t, q, v: 0.4 * pl.minimum(t, 1.0), 0.0))
    run = pl.simulate(system, 1.5, save=0.01)
    assert run.ok and run.rate("bar.x")[-1] == pytest.approx(0.5 * (3.2 - 2.4), rel=0.25)  # once broken away, mu_kinetic


def test_a_block_on_a_block_on_a_slope_stays_there() -> None:
    """Held at two levels at once: the lower surfaces carry what holds the upper ones."""
    law = pl.Karnopp(mu_static=0.5, mu_kinetic=0.4, band=1e-2)
    system = block(law, 2, SLOPE)
    lower = system.handle("block")
    upper = system.add("upper", pl.RigidBody(mass=0.5, inertia=0.5 * (WIDTH**2 + HEIGHT**2) / 12),
                       joint=pl.Planar(position=(0.01, 1.5 * HEIGHT)))  # fmt: skip
    top = pl.Plane(normal=(0, 1), on=lower.at((0.0, HEIGHT / 2)))
    system.contact(points=[upper.at((x, -HEIGHT / 2)) for x in (-0.05, 0.05)], against=top, normal=PRESS, friction=law, name="top")
    run = pl.simulate(system, 0.5, save=0.01, max_steps=2 * STEPS)
    assert run.ok
    assert run.values["friction_force"][-1, :2, 0].sum() == pytest.approx(-1.5 * G * math.sin(SLOPE), rel=0.02)
    assert run.values["friction_force"][-1, 2:, 0].sum() == pytest.approx(-0.5 * G * math.sin(SLOPE), rel=0.02)
    assert np.max(np.abs(run["block.x"])) < 1e-3 and np.max(np.abs(run["upper.x"] - 0.01)) < 1e-3


def test_rest_costs_next_to_nothing():
    """A chain dropped on the ground bounces, slides and lies still; after that, minutes pass in a few implicit steps."""
    system = pl.System("chain", gravity=(0, -9.81))
    law, on = pl.Karnopp(mu_static=0.5, mu_kinetic=0.4), system.ground.moved((0, 0.05))
    for k in range(4):
        link = system.add(f"link{k}", pl.RigidBody.rod(length=0.2, mass=0.1), joint=pl.Revolute(angle=0.0 if k else -0.02), on=on)
        on = link.tip
        system.contact(points=on, against=pl.Plane(normal=(0, 1)), normal=pl.HuntCrossley(stiffness=1e6, restitution=0.3),
                       friction=law, name=f"ground{k}")  # fmt: skip
    short, long = (pl.simulate(system, t_end, save=[0.0, 10.0, t_end]) for t_end in (20.0, 2000.0))
    assert short.ok and long.ok and long.stats["steps"] < short.stats["steps"] + 50
    lying = pl.simulate(system, 3000.0, start=short.final_state, t_start=20.0, save=[20.0, 3000.0])
    assert lying.ok and lying.stats["steps"] < 100
    assert np.max(np.abs(lying["q"][-1] - lying["q"][0])) < 1e-7 and np.max(np.abs(lying["v"][-1])) < 1e-9


def test_a_stack_of_boxes_comes_to_rest_and_its_sleeping_contacts_cost_little() -> None:
    """Forces at rest are round-off in time, whose peaks are none: each step looks at events as often as one in flight does."""
    system = pl.System("stack", gravity=(0, -G))
    below: pl.Plane | pl.Box = pl.Plane(normal="y")
    for k in range(3):
        box = system.add(f"b{k}", pl.RigidBody.box((0.2, 0.1), 1.0), joint=pl.Planar(position=(0.0, 0.05 + 0.101 * k)))
        shape = pl.Box(box.root, (0.2, 0.1))
        system.contact(points=shape, against=below, normal=pl.HuGuo(stiffness=1e7, restitution=0.4),
                       friction=pl.Karnopp(mu_static=0.5, mu_kinetic=0.4), name=f"on {k}")  # fmt: skip
        below = shape
    run = pl.simulate(system, 5.0, method=pl.DOP853(rtol=1e-8, atol=1e-11), save=0.1)
    assert run.ok and run.stats["event_evaluations"] < 12 * run.stats["steps"]
    still = run.time > 2.0
    assert np.abs(run["v"][still]).max() < 1e-9 and np.ptp(run["q"][still], axis=0).max() < 1e-9
    assert max(touch.begin for touch in run.contacts) < 0.1 and run.ledger.relative_error_max < 1e-7
    stands = (3.0 * G / 2.0 / 1e7) ** (2.0 / 3.0)  # on two feet, with the weight of all
    assert run["b0.y"][-1] == pytest.approx(0.05 - stands, abs=1e-7)
