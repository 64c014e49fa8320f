"""Random drops of solids on planes and on each other: nothing is missed, nothing passes, energies balance."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

import pliant as pl

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
import drops


@pytest.mark.parametrize("scene", drops.SCENES)
def test_a_sample_of_the_drops_misses_nothing_and_keeps_the_energy(scene):
    for seed in range(1 if "beam" in scene else 2):  # a beam's equations take long to compile
        assert not drops.try_out(scene, seed).fails, seed


def test_what_a_drop_is_judged_by():
    good = drops.Drop("box on box", 0, trouble="", contacts=3, met=1, missed=0, deepest=1e-3, ledger=1e-9, seconds=1.0)
    assert not good.fails
    for name, change in (("missed", {"missed": 1}), ("through", {"deepest": 0.01}), ("ledger", {"ledger": float("nan")}),
                         ("did not end", {"trouble": "stopped"})):  # fmt: skip
        assert replace(good, **change).fails == [name]


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
