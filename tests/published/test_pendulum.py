"""IFToMM A01, the simple pendulum: exact to every printed digit."""

import numpy as np
import pytest

import pliant as pl

PERIOD = 2.367841947576  # s
POSITIONS = {5.0: (-0.9423054350, -0.3347543384), 10.0: (-0.2750874626, -0.9614192051)}  # m


@pytest.fixture(scope="module")
def run():
    """m = 1 kg on a massless bar of 1 m, from the horizontal at x = -1, at rest."""
    system = pl.System("simple pendulum", gravity=(0, -9.81))
    bob = pl.RigidBody.point_mass(1.0, at=(1.0, 0.0))
    system.add("bar", bob, joint=pl.Revolute(angle=np.pi))
    system.event("at rest", lambda t, q, v: v["bar.angle"])
    return pl.simulate(system, 10.0, method=pl.DOP853(rtol=1e-12, atol=1e-13), save=[0.0, 5.0, 10.0])


def test_period_to_all_digits(run):
    turns = [event.t for event in run.events]
    assert turns[1] == pytest.approx(PERIOD, abs=1e-11)
    assert turns[-1] == pytest.approx(len(turns) * PERIOD / 2.0, abs=1e-10)


@pytest.mark.parametrize("t", POSITIONS)
def test_positions_to_all_digits(run, t):
    row = int(np.argmin(np.abs(run.time - t)))
    assert run.of_body("tip_position", "bar")[row, :2] == pytest.approx(POSITIONS[t], abs=1.5e-10)
