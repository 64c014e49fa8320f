"""Contacts among shapes: the pairs that are near are those of named pairs, and none is passed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.model.frame import GROUND
from pliant.run.mechanism import MOST_PAIRS
from pliant.show.player import page
from pliant.show.plot import laws_of

LAW = pl.HuntCrossley(stiffness=1e6, restitution=0.8)
RADIUS, HALF = 0.05, 0.2
METHOD = pl.DOP853(rtol=1e-9, atol=1e-12)
Members = tuple[pl.System, list[pl.Sphere], list[pl.Plane]]


def spheres(count: int, seed: int = 1, radius: float = RADIUS, gravity: float = -9.81) -> Members:
    """Spheres in a box without a lid, one above the other, some a little aside."""
    system, random = pl.System("box", (0, 0, gravity)), np.random.default_rng(seed)
    balls = []
    for k in range(count):
        place = (*random.uniform(-0.5, 0.5, 2) * RADIUS, (0.6 + 2.2 * k) * RADIUS + radius)
        joint = pl.Free(position=place, velocity=tuple(random.uniform(-0.5, 0.5, 3)))
        body = system.add(f"s{k}", pl.RigidBody(mass=0.5, inertia=(5e-4,) * 3), joint=joint)
        balls.append(pl.Sphere(body.root, radius))
    walls = [pl.Plane(normal="z"), pl.Plane(normal="x", point=(-HALF, 0, 0)), pl.Plane(normal=(-1, 0, 0), point=(HALF, 0, 0))]
    walls += [pl.Plane(normal="y", point=(0, -HALF, 0)), pl.Plane(normal=(0, -1, 0), point=(0, HALF, 0))]
    return system, balls, walls


def grouped(members: Members, friction: Any = None, law: Any = LAW) -> pl.System:
    system, balls, walls = members
    system.contact(among=[*balls, *walls], normal=law, friction=friction, name="box")
    return system


@pytest.mark.parametrize(
    ("law", "friction"),
    [
        (LAW, None),
        (LAW, pl.Coulomb(mu=0.3)),
        (LAW, pl.Threlfall(mu=0.3, v_r=0.05)),
        (pl.Hertz(stiffness=1e6), None),
        (pl.Linear(stiffness=1e5, damping=50.0), pl.Coulomb(mu=0.2)),
    ],
    ids=["no friction", "Coulomb", "corners of friction", "no entry speed", "corner of the normal force"],
)
def test_it_moves_as_its_named_pairs_do(law: Any, friction: Any) -> None:
    group = grouped(spheres(3), friction, law)
    named = group.with_named_pairs("this test", MOST_PAIRS)
    assert len(named.contacts) == 3 + 3 * 5 and not named.groups
    ours, theirs = (pl.simulate(system, 0.25, method=METHOD, save=0.01) for system in (group, named))
    assert ours.ok and theirs.ok and len(theirs.contacts) >= 5
    assert np.abs(ours["q"] - theirs["q"]).max() < 1e-7 and np.abs(ours["v"] - theirs["v"]).max() < 1e-5
    assert [one.pair for one in ours.contacts] == [one.pair for one in theirs.contacts]
    for name in ("begin", "end", "entry_speed", "exit_speed", "peak_force", "peak_time", "impulse", "normal_loss", "friction_loss"):
        pairs = [(getattr(one, name), getattr(other, name)) for one, other in zip(ours.contacts, theirs.contacts, strict=True)]
        assert np.allclose(*zip(*pairs, strict=True), rtol=1e-5, atol=1e-8, equal_nan=True), name
    for name in ("kinetic", "gravity", "contact"):
        assert np.allclose(ours[name], theirs[name], rtol=1e-6, atol=1e-8)
    lost = [run["work"].sum(axis=1) for run in (ours, theirs)]
    assert np.allclose(*lost, rtol=1e-6, atol=1e-8) and (lost[0][-1] < -0.1 or isinstance(law, pl.Hertz))


def test_energy_and_momentum_of_many_are_kept() -> None:
    """Twelve spheres hit each other in space, without walls or gravity, elastic and with friction."""
    system, random = pl.System("gas", (0, 0, 0)), np.random.default_rng(5)
    balls = []
    for k in range(12):
        place = np.array([k % 2, k // 2 % 2, k // 4]) * 0.3 + random.uniform(-0.05, 0.05, 3)
        joint = pl.Free(position=tuple(place), velocity=tuple(3.0 * (np.array([0.15, 0.15, 0.3]) - place)))
        balls.append(pl.Sphere(system.add(f"s{k}", pl.RigidBody(mass=0.5, inertia=(5e-4,) * 3), joint=joint).root, 0.07))
    system.contact(among=balls, normal=LAW, friction=pl.Coulomb(mu=0.2), name="gas")
    run = pl.simulate(system, 0.6, method=METHOD, save=0.02)
    assert run.ok and len(run.contacts) > 10 and any(one.friction_loss > 1e-6 for one in run.contacts)
    assert run.ledger.relative_error_max < 1e-7
    assert np.abs(run["momentum"] - run["momentum"][0]).max() < 1e-12
    assert np.abs(run["angular_momentum"] - run["angular_momentum"][0]).max() < 1e-11
    lost = run["work"][-1].sum()
    losses = sum(one.normal_loss + one.friction_loss for one in run.contacts)
    assert math.isclose(-lost, losses, rel_tol=1e-9)


@pytest.mark.parametrize("method", [pl.DOP853(rtol=1e-3, atol=1e-3), pl.RK4(0.02), pl.Radau5(rtol=1e-3, atol=1e-3)])
@pytest.mark.parametrize("speed", [1.0, 300.0])
def test_a_bullet_hits_the_first_sphere_in_its_way(method: Any, speed: float) -> None:
    """A small fast sphere flies at a row of others, in space, where nothing but contacts shortens its steps."""
    system = pl.System("row", (0, 0, 0))
    bullet = system.add("bullet", pl.RigidBody(mass=0.01, inertia=(1e-7,) * 3), joint=pl.Free(velocity=(speed, 0, 0)))
    balls = [pl.Sphere(bullet.root, 0.002)]
    for k in range(10):
        joint = pl.Free(position=(1.0 + 0.5 * k, 0.0, 0.0))
        balls.append(pl.Sphere(system.add(f"s{k}", pl.RigidBody(mass=1.0, inertia=(5e-4,) * 3), joint=joint).root, 0.01))
    system.contact(among=balls, normal=pl.Hertz(stiffness=1e9), name="row")
    run = pl.simulate(system, 1.5 / speed, method=method, save=[0.0, 1.5 / speed], max_steps=200_000)
    assert run.contacts[0].pair == "row bullet.root s0.root"
    assert math.isclose(run.contacts[0].begin, 0.988 / speed, rel_tol=1e-6)
    assert run["q"][-1][0] < 1.0


def test_a_sparse_cloud_is_passed_in_few_steps() -> None:
    """Lists grow while nothing is near: a small ball that passes few others, all far from it, needs no more steps than pairs do."""
    system = pl.System("sparse", (0, 0, 0))
    bullet = system.add("bullet", pl.RigidBody(mass=0.01, inertia=(1e-7,) * 3), joint=pl.Free(velocity=(100.0, 0, 0)))
    balls = [pl.Sphere(bullet.root, 0.002)]
    for k in range(10):
        body = system.add(f"s{k}", pl.RigidBody(mass=1.0, inertia=(5e-4,) * 3), joint=pl.Free(position=(10.0 * k, 3.0, 0.0)))
        balls.append(pl.Sphere(body.root, 0.01))
    system.contact(among=balls, normal=pl.Hertz(stiffness=1e9), name="cloud")
    run = pl.simulate(system, 1.0, method=METHOD, save=[0.0, 1.0])
    assert run.ok and not run.contacts and run.stats["steps"] < 100


def test_a_ball_may_touch_all_planes_at_once() -> None:
    """Two balls fall into the tip of a cone of forty planes, which the lower one touches all at the same time."""
    system, planes = pl.System("cone", (0, 0, -9.81)), []
    for angle in np.arange(40) * math.pi / 20.0:
        planes.append(pl.Plane(normal=(-math.cos(angle), -math.sin(angle), 1.0)))
    balls = [pl.Sphere(system.add(f"s{k}", pl.RigidBody(mass=0.5, inertia=(5e-4,) * 3),
                                  joint=pl.Free(position=(0, 0, 0.075 + 0.11 * k))).root, RADIUS) for k in range(2)]  # fmt: skip
    system.contact(among=[*balls, *planes], normal=LAW, name="cone")
    run = pl.simulate(system, 0.1, save=0.01)
    assert run.ok and {touch.pair for touch in run.contacts} >= {f"cone s0.root plane {k + 1}" for k in range(40)}
    assert run.ledger.relative_error_max < 1e-6


def test_preparing_costs_what_kinds_of_pairs_cost() -> None:
    """The equations of 30 spheres, which have 585 possible pairs, are 10 times those of 3, not 28 times."""
    few, many = (pl.compile_system(grouped(spheres(n))).rhs.operations for n in (3, 30))
    assert many < 12 * few


def test_spheres_that_start_pressed_and_pairs_besides_are_as_named_ones() -> None:
    """A mixed system: a group, a named pair and a stop; one pair overlaps at the start."""

    def made() -> pl.System:
        system, balls, walls = spheres(2)
        rod = pl.RigidBody(mass=0.1, inertia=(1e-4,) * 3, com=(0, 0, 0.1), tip=(0, 0, 0.2))
        arm = system.add("arm", rod, joint=pl.Revolute(axis="y", angle=0.1))
        low = system.add("low", pl.RigidBody(mass=0.5, inertia=(5e-4,) * 3), joint=pl.Free(position=(0.12, 0.1, RADIUS - 1e-4)))
        system.contact(points=arm.tip, against=pl.Plane(normal=(-1, 0, 0), point=(0.022, 0, 0)), normal=LAW, name="arm")
        return grouped((system, [*balls, pl.Sphere(low.root, RADIUS)], walls))

    ours = pl.simulate(made(), 0.2, method=METHOD, save=0.01)
    theirs = pl.simulate(made().with_named_pairs("this test", MOST_PAIRS), 0.2, method=METHOD, save=0.01)
    assert np.abs(ours["q"] - theirs["q"]).max() < 1e-7
    assert [one.pair for one in ours.contacts] == [one.pair for one in theirs.contacts]
    assert ours.contacts[0].begin == 0.0 and ours.contacts[0].pair == "box low.root plane 1"
    assert any(one.pair == "arm arm.tip" for one in ours.contacts)
    assert ours["gap"].shape == (21, 1)


def test_concentric_spheres_are_refused_as_in_named_pairs() -> None:
    system = pl.System("twins", (0, 0, 0))
    balls = [pl.Sphere(system.add(name, pl.RigidBody(mass=1.0, inertia=(1e-3,) * 3), joint=pl.Free()).root, 0.1) for name in "ab"]
    system.contact(among=balls, normal=LAW, name="twins")
    for made in (system, system.with_named_pairs("this test", MOST_PAIRS)):
        with pytest.raises(pl.SolveError, match="centres of its two spheres must be apart at the start"):
            pl.simulate(made, 0.1)


def test_a_deep_start_is_said_as_in_named_pairs() -> None:
    system = pl.System("deep", (0, 0, -9.81))
    body = system.add("a", pl.RigidBody(mass=1.0, inertia=(1e-3,) * 3), joint=pl.Free(position=(0, 0, 0.09)))
    system.contact(among=[pl.Sphere(body.root, 0.1), pl.Plane(normal="z")], normal=LAW, name="deep")
    for made in (system, system.with_named_pairs("this test", MOST_PAIRS)):
        run = pl.simulate(made, 0.1, save=[0.05, 0.1])
        assert any("contact 'deep a.root plane 1' starts 0.01 m deep" in words for words in run.warnings)


def on_four_feet() -> pl.System:
    system = pl.System("table", (0, 0, -9.81))
    table = system.add("table", pl.RigidBody.box((0.2, 0.2, 0.1), mass=1.0), joint=pl.Free(position=(0, 0, 0.07)))
    feet = [pl.Sphere(table.root.moved((x, y, -0.04)), 0.02) for x in (-0.08, 0.08) for y in (-0.08, 0.08)]
    law = pl.HuGuo(stiffness=1e6, restitution=0.2)
    system.contact(among=[*feet, pl.Plane(normal="z")], normal=law, friction=pl.Coulomb(mu=0.3), name="feet")
    return system


def test_forces_that_statics_does_not_divide_are_named_as_those_of_named_pairs(tmp_path: Any) -> None:
    for system in (on_four_feet(), on_four_feet().with_named_pairs("this test", MOST_PAIRS)):
        run = pl.simulate(system, 1.0, save=0.1)
        (names,) = pl.undetermined_forces(run)
        assert len(names) == 4 and all(name.startswith("feet table(") and name.endswith(" plane 1") for name in names)
        assert any("share a load at rest that statics does not divide" in words for words in run.warnings)
        assert pl.undetermined_forces(run, t=0.0) == ()
        run.to_netcdf(tmp_path / "run.nc")
        assert pl.undetermined_forces(pl.Result.from_netcdf(tmp_path / "run.nc"), system=system) == (names,)


def test_section_forces_of_a_run_with_contacts_that_its_rows_do_not_have_are_refused() -> None:
    system = pl.System("arm", (0, 0, -9.81))
    beam = pl.Beam(length=1.0, section=pl.Section.round(0.01), material=pl.Material(E=2e11, nu=0.3, density=7800.0),
                   theory="euler-bernoulli", modes=[pl.Modes("cf", 1, plane="z")])  # fmt: skip
    arm = system.add("arm", beam, joint=pl.Weld())
    system.contact(among=[pl.Sphere(arm.tip, 0.01), pl.Plane(normal="z", point=(0, 0, -0.011))], normal=LAW, name="tip")
    run = pl.simulate(system, 0.02, save=0.01)
    assert run.contacts
    named = {one.quantity: one for one in pl.report(run)}
    assert named["normal_force"].value == max(touch.peak_force for touch in run.contacts)
    assert not named["equivalent_stress"].known and "no contact among shapes" in named["equivalent_stress"].warnings[0]
    for given in ({}, {"system": system}):
        with pytest.raises(pl.ModelError, match="section_forces: result must have no contact among shapes, as 'tip'"):
            pl.section_forces(run, **given)
    assert pl.section_forces(pl.simulate(system.with_named_pairs("this test", MOST_PAIRS), 0.02, save=0.01)) is not None


def test_a_plot_of_laws_has_its_laws() -> None:
    system = grouped(spheres(2), pl.Coulomb(mu=0.3))
    assert laws_of(system) == {"box": LAW, "box friction": pl.Coulomb(mu=0.3)}


def test_other_calls_take_its_pairs_or_say_why_not() -> None:
    system = grouped(spheres(3))
    assert len(pl.ensemble(system, 0.01, starts={"s0.z": [0.2, 0.3]}, keep=("contacts",))["pair"]) == 18
    with pytest.raises(pl.ModelError, match="at most 200 possible pairs for equilibrium"):
        pl.equilibrium(grouped(spheres(20)))
    with pytest.raises(pl.ModelError, match="as a System, not compiled"):
        pl.start(pl.compile_system(system))
    run = pl.simulate(system, 0.01)
    with pytest.raises(pl.ModelError, match="must not be continued"):
        pl.simulate(system, 0.02, start=run)


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"among": 3}, "must be a list"),
        ({"among": ["frame"]}, "must hold Spheres and Planes only"),
        ({"among": ["same", "same"]}, "must hold every shape once"),
        ({"among": ["one"]}, "at least two bodies"),
        ({"among": ["one", "two"]}, "at least two bodies"),
        ({"among": ["same", "plane on body"]}, "planes on the ground only"),
        ({"points": "same"}, "must be left out"),
        ({"wear": pl.Archard(coefficient=1e-5, hardness=2e9)}, "must be left out"),
        ({"normal": pl.Impulsive(restitution=0.5)}, "must be a compliant law"),
        ({"normal": lambda depth, rate, speed: 1e5 * depth}, "must be a compliant law"),
        ({"friction": pl.Karnopp(mu_static=0.3, mu_kinetic=0.2)}, "without states and without sticking"),
        ({"friction": pl.Dahl(mu=0.3, sigma0=1e5)}, "without states and without sticking"),
    ],
)  # fmt: skip
def test_what_cannot_be_among_shapes_is_refused(given: dict[str, Any], rule: str) -> None:
    system, balls, walls = spheres(2)
    first = balls[0].at
    words = {"frame": first, "same": balls[0], "one": pl.Sphere(first.moved((0.1, 0, 0)), 0.02), "two": pl.Sphere(first, 0.01),
             "plane on body": pl.Plane(normal="z", on=balls[1].at)}  # fmt: skip
    options: dict[str, Any] = {"among": [*balls, *walls], "normal": LAW, "name": "box"} | given
    for key in ("among", "points"):
        if isinstance(options.get(key), list):
            options[key] = [words.get(one, one) if isinstance(one, str) else one for one in options[key]]
        elif isinstance(options.get(key), str):
            options[key] = words[options[key]]
    with pytest.raises(pl.ModelError, match=rule):
        system.contact(**options)


def test_only_one_contact_among_shapes_and_unique_places() -> None:
    members = spheres(2)
    system = grouped(members)
    with pytest.raises(pl.ModelError, match="only contact among shapes"):
        system.contact(among=[*members[1]], normal=LAW, name="more")
    with pytest.raises(pl.ModelError, match="one Sphere per frame"):
        spheres(2)[0].contact(among=[members[1][0], pl.Sphere(members[1][0].at, 0.01), members[1][1]], normal=LAW)


def test_a_file_has_it() -> None:
    system = grouped(spheres(3), pl.Coulomb(mu=0.3))
    text = pl.dump_model(system)
    assert "among" in text
    again = pl.loads_model(text).system
    assert again == system and pl.dump_model(again) == text
    assert again.groups["box"].planes[0].on.body == GROUND


def test_a_result_is_drawn_and_kept(tmp_path: Any) -> None:
    run = pl.simulate(grouped(spheres(3)), 0.15, save=0.01)
    run.to_netcdf(tmp_path / "run.nc")
    again = pl.Result.from_netcdf(tmp_path / "run.nc")
    assert again.contacts == run.contacts and len(run.contacts) > 1
    assert all(sum(len(line) > 10 for line in body.lines) == 3 for body in run.drawing.bodies)
    assert len({contact.normal for contact in run.drawing.contacts}) == 5
    assert "s2" in page(run)
