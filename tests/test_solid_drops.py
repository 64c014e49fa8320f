"""Random drops of solids on planes and on each other: nothing is missed, nothing passes, energies balance."""

import numpy as np
import pytest

import pliant as pl

DROPS = 3  # of every two shapes
LAW = pl.HuGuo(stiffness=1e7, restitution=0.5)
FRICTION = pl.Ambrosio(mu=0.4, v0=1e-4, v1=1e-3)
DEEPEST = 5e-3  # m: a kilogram at 4 m/s presses this law 3.5 mm deep
T_END = 0.8

DIAMOND = 0.1 * np.vstack([np.eye(3), -np.eye(3)])
SOLIDS = {
    "box": (lambda at: pl.Box(at, (0.2, 0.15, 0.1)), pl.RigidBody.box((0.2, 0.15, 0.1), 1.0)),
    "cylinder": (lambda at: pl.Cylinder(at, 0.06, 0.1), pl.RigidBody.cylinder(0.06, 0.1, 1.0)),
    "hull": (lambda at: pl.Hull(at, DIAMOND), pl.RigidBody.hull(DIAMOND, 1.0)),
    "capsule": (lambda at: pl.Capsule(at, 0.15, 0.03), pl.RigidBody(mass=1.0, inertia=(6e-4, 3e-3, 3e-3), com=(0.075, 0, 0))),
    "ball": (lambda at: pl.Sphere(at, 0.05), pl.RigidBody(mass=1.0, inertia=(1e-3,) * 3)),
}
TWO = (("box", "cylinder"), ("hull", "box"), ("capsule", "box"), ("capsule", "capsule"), ("ball", "box"), ("ball", "cylinder"),
       ("ball", "capsule"))  # fmt: skip
MEET = TWO[2:]


def dropped(upper, lower, seed):
    """One thrown upon the other, above a floor; those without an entry fall beside each other."""
    random = np.random.default_rng(seed)
    system, shapes = pl.System("drop", gravity=(0, 0, -9.81)), []
    for k, name in enumerate((upper, lower)):
        shape, body = SOLIDS[name]
        turn = random.normal(size=4)
        place = (0.0, 0.0, 0.5) if k == 0 else (*random.uniform(-0.03, 0.03, 2), 0.22)
        velocity, spin = (tuple(random.normal(0.0, size, 3)) for size in (0.3 * (k == 0), 3.0))
        joint = pl.Free(position=place, velocity=velocity, orientation=tuple(turn / np.linalg.norm(turn)), angular_velocity=spin)
        shapes.append(shape(system.add(f"{'ab'[k]}", body, joint=joint).root))
    system.contact(points=shapes, against=pl.Plane(normal="z"), name="floor", normal=LAW, friction=FRICTION)
    if (upper, lower) in MEET:
        system.contact(points=shapes[0], against=shapes[1], name="each", normal=LAW, friction=FRICTION)
    return system


@pytest.mark.parametrize("two", TWO, ids=" on ".join)
def test_nothing_passes_through_and_energies_balance(two):
    for seed in range(DROPS):
        run = pl.simulate(dropped(*two, seed), T_END, save=1e-3)
        assert run.ok and run.ledger.relative_error_max < 1e-6, seed
        assert run.values["gap"].min() > -DEEPEST and len(run.contacts) > 1, seed


@pytest.mark.parametrize("two", TWO, ids=" on ".join)
def test_no_contact_is_missed_that_steps_of_a_tenth_find(two):
    """The first contact of each body, before chaos: the same pairs at the same times."""
    for seed in range(DROPS):
        system = dropped(*two, seed)
        plain = pl.simulate(system, T_END, save=1e-2)
        longest = max(5e-5, 0.1 * plain.stats["largest_step_s"])
        fine = pl.simulate(system, T_END, save=1e-2, method=pl.Auto(rtol=1e-9, atol=1e-12, max_step=min(longest, 2e-3)))
        begins = [{record.pair: record.begin for record in run.contacts[::-1]} for run in (plain, fine)]
        assert [record.pair for record in plain.contacts[:3]] == [record.pair for record in fine.contacts[:3]], seed
        for record in plain.contacts[:3]:
            assert begins[1][record.pair] == pytest.approx(begins[0][record.pair], abs=1e-7), seed


def test_a_bullet_does_not_pass_a_thin_plate():
    """A ball at 300 m/s meets a plate of 1 mm; a plate that turns 100 times a second does not pass a ball either."""
    for speed, spin in ((300.0, 0.0), (1.0, 600.0)):
        system, size = pl.System("plate", gravity=(0, 0, 0)), (0.4, 0.4, 1e-3)
        plate = system.add("plate", pl.RigidBody.box(size, 1.0), joint=pl.Free(angular_velocity=(spin, 0, 0)))
        begin = pl.Free(position=(0.0, 0.15, 0.05 if spin else 2.0), velocity=(0, 0, -speed))
        ball = system.add("ball", pl.RigidBody(mass=1e-3, inertia=(1e-8,) * 3), joint=begin)
        system.contact(points=pl.Sphere(ball.root, 2e-3), against=pl.Box(plate.root, size),
                       normal=pl.Exact(stiffness=1e9, restitution=0.5, exponent=1.0))  # fmt: skip
        run = pl.simulate(system, 0.02, save=1e-4)
        assert run.ok and len(run.contacts) >= 1 and run.values["gap"].min() > -1e-3
        assert run.contacts[0].begin == pytest.approx((2.0 - 2.5e-3) / speed, rel=1e-9) or spin
