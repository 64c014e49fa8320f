"""Wear of contacts against its closed form, and everything that its state must go along with."""

import re

import numpy as np
import pytest

import pliant as pl

G, MASS, SPEED, MU, HARDNESS = 9.81, 2.0, 3.0, 0.3, 2e9
STIFFNESS = 1e6  # N/m


def block(coefficient, normal=None, friction=True):
    """A block that slides along a plane until it stops."""
    system = pl.System("block", gravity=(0, -G))
    place = pl.Planar(position=(0.0, -MASS * G / STIFFNESS), velocity=(SPEED, 0.0))
    body = system.add("block", pl.RigidBody(mass=MASS, inertia=0.1), joint=place)
    system.contact(points=body.root, against=pl.Plane(normal="y"), normal=normal or pl.Linear(stiffness=STIFFNESS, damping=100.0),
                   friction=pl.Coulomb(mu=MU, transition=1e-6) if friction else None, name="floor",
                   wear=pl.Archard(coefficient=coefficient, hardness=HARDNESS))  # fmt: skip
    return system


def test_a_block_that_stops_wears_as_its_way_is_long():
    """N s with s = v^2/(2 mu g): k m v^2/(2 mu H); without friction it slides on."""
    run = pl.simulate(block(1e-4), 1.5)
    assert run["floor block.root wear"][-1] == pytest.approx(1e-4 / HARDNESS * MASS * SPEED**2 / (2.0 * MU), rel=1e-8)
    smooth = pl.simulate(block(1e-4, friction=False), 1.5)
    assert smooth["floor block.root wear"] == pytest.approx(1e-4 / HARDNESS * MASS * G * SPEED * smooth.time, rel=1e-8, abs=1e-24)


def test_files_derivatives_and_ensembles_have_it(tmp_path):
    k = pl.Parameter("k", 1e-4)
    system, name = block(k), "floor block.root wear"
    run = pl.simulate(system, 0.3)
    again = pl.loads_model(pl.dump_model(system)).system
    assert pl.simulate(again, 0.3)[name][-1] == run[name][-1] and "states" not in pl.dump_model(system)
    run.to_netcdf(tmp_path / "run.nc")
    assert pl.Result.from_netcdf(tmp_path / "run.nc")[name][-1] == run[name][-1]
    exact = pl.sensitivities(system, 0.3, ["k"])
    assert run[name][-1] / 1e-4 == pytest.approx(exact.final[np.argmax(np.abs(exact.final[:, 0])), 0], rel=1e-12)
    many = pl.ensemble(system, 0.3, parameters={"k": np.linspace(1e-5, 1e-4, 300)}, keep=[pl.ValuesAt([0.3], "states")],
                       method=pl.DOP853(rtol=1e-9, atol=1e-12), loop="lockstep")  # fmt: skip
    assert many.ok.all()
    found = many["states"].values.ravel()
    np.testing.assert_allclose(found, np.linspace(0.1, 1.0, 300) * run[name][-1], rtol=1e-6)


def test_a_joint_with_clearance_wears_by_the_slip_of_its_journal():
    system = pl.System("bearing", gravity=(0, -G))
    law, wear = pl.Linear(stiffness=STIFFNESS, damping=0.0), pl.Archard(coefficient=1e-3, hardness=HARDNESS)
    depth = MASS * G / STIFFNESS
    joint = pl.ClearanceRevolute(radius=0.01, clearance=1e-3, position=(0.0, -1e-3 - depth), rate=50.0, normal=law, wear=wear)
    system.add("journal", pl.RigidBody(mass=MASS, inertia=1e-3), joint=joint)
    run = pl.simulate(system, 0.1)
    assert run["journal joint journal.root wear"][-1] == pytest.approx(1e-3 / HARDNESS * MASS * G * 0.01 * 50.0 * 0.1, rel=1e-9)


WRONG = {
    "no hardness": (lambda: pl.Archard(coefficient=1e-4, hardness=0.0), "Archard: hardness must be > 0 Pa, got 0.0"),
    "growth": (lambda: pl.Archard(coefficient=-1.0, hardness=1e9), "Archard: coefficient must be >= 0, got -1.0"),
    "impulses": (lambda: block(1e-4, normal=pl.Impulsive(restitution=0.5)),
                 "contact 'floor': wear must be left out of impulsive contacts, whose impulses act in no time"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_wear_is_refused_in_words(wrong):
    make, words = WRONG[wrong]
    with pytest.raises(pl.ModelError, match=re.escape(words)):
        make()
