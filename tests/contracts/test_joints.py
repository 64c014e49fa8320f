"""What every registered joint must satisfy, alone and under an elastic link."""

from dataclasses import replace

import numpy as np
import pytest

import mechanisms
import pliant as pl
from pliant.model.joint import JOINTS
from pliant.trace.tracing import FORMULATIONS, trace
from registered import BODY, JOINT


def carried_by(joint):
    """A rigid body on the joint, on an elastic link, and another elastic link on top."""
    system = pl.System(joint.__name__, gravity=(0.5, -9.81, 2.0))
    base = system.add("base", mechanisms.planar_link(1), joint=pl.Revolute(angle=0.3, axis="y"))
    body = system.add("body", BODY, joint=JOINT[joint], on=base.tip.turned(0.4, "x"))
    system.add("end", mechanisms.planar_link(1), joint=pl.Revolute(), on=body.tip)
    return system


@pytest.mark.parametrize("joint", JOINTS, ids=lambda j: j.__name__)
def test_start_matches_its_coordinates(joint):
    made = JOINT[joint]
    assert len(made.start) == sum(len(m.positions) for m in made.motions)
    assert len(made.start_rates) == sum(len(m.rates) for m in made.motions)


@pytest.mark.parametrize("joint", JOINTS, ids=lambda j: j.__name__)
def test_all_formulations_agree(joint):
    system = carried_by(joint)
    tracings = [trace(system, formulation) for formulation in FORMULATIONS]
    n_q, n_v = len(tracings[0].free_q), len(tracings[0].free_v)
    rng = np.random.default_rng(2)
    y = np.concatenate([0.3 * rng.normal(size=n_q), rng.normal(size=n_v), np.zeros(len(tracings[0].sources))])
    a, *others = (np.array(t.rhs(0.0, y, t.parameters(0.0, 1.0))).ravel()[n_q : n_q + n_v] for t in tracings)
    for other in others:
        assert other == pytest.approx(a, rel=1e-10, abs=1e-10 * np.max(np.abs(a)))


@pytest.mark.parametrize("joint", JOINTS, ids=lambda j: j.__name__)
def test_energy_is_kept(joint):
    run = pl.simulate(carried_by(joint), 0.1, method=pl.DOP853(rtol=1e-11, atol=1e-13))
    assert run.ledger.relative_error_max < 1e-9


@pytest.mark.parametrize("joint", JOINTS, ids=lambda j: j.__name__)
def test_springs_and_dampers_on_every_coordinate_are_in_the_ledger(joint):
    names = [motion.name for motion in JOINT[joint].motions]
    system = pl.System(joint.__name__, gravity=(0, -9.81, 0))
    made = replace(JOINT[joint], spring={n: pl.Spring(30.0) for n in names}, damper={n: pl.Damper(0.5) for n in names})
    base = system.add("base", mechanisms.planar_link(1), joint=pl.Revolute(axis="z"))
    system.add("body", BODY, joint=made, on=base.tip)
    run = pl.simulate(system, 0.3, method=pl.DOP853(rtol=1e-11, atol=1e-13))
    assert run.ledger.relative_error_max < 1e-9
    for name in names:
        assert run.ledger.work[f"body.{name} damper"][-1] < 0.0
