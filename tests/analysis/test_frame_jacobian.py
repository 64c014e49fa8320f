"""Jacobians of frames: against differences of positions, twists of a run, virtual work and accelerations."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl


def arm() -> pl.System:
    """A ball, a bending beam and a telescope, one after the other; a load at the end."""
    system = pl.System("arm", gravity=(0, 0, -9.81))
    first = system.add("first", pl.RigidBody.rod(0.4, 1.0), joint=pl.Spherical(angular_velocity=(0.4, -0.3, 0.7)))
    beam = pl.Beam(length=0.5, section=pl.Section.rectangle(0.01, 0.02), material=pl.STEEL, theory="euler-bernoulli",
                   modes=(pl.Modes("cf", 2), pl.Modes("cf", 1, plane="z")))  # fmt: skip
    second = system.add("second", beam, joint=pl.Revolute(axis="y", angle=0.4, rate=1.1), on=first.tip,
                        initial={"y1": 2e-3, "z1": -1e-3}, initial_rates={"y1": 0.3, "y2": -0.1, "z1": 0.2})  # fmt: skip
    system.add("third", pl.RigidBody.rod(0.3, 0.5), joint=pl.Prismatic(axis=(1, 0, 1), displacement=0.1, rate=0.6), on=second.tip)
    return system


def test_columns_times_rates_are_the_velocity_of_a_run():
    system = arm()
    run = pl.simulate(system, 0.05, save=[0.0, 0.05])
    for row in (0, 1):
        found = pl.jacobian(system, "third.tip", q=run.values["q"][row], v=run.values["v"][row])
        assert found.coordinates == tuple(run.labels["rate"])
        assert found.position == pytest.approx(run["tip_position", "third"][row], abs=1e-12)
        assert found.linear @ run.values["v"][row] == pytest.approx(run["tip_velocity", "third"][row], abs=1e-12)
        assert found.velocity == pytest.approx(run["tip_velocity", "third"][row], abs=1e-12)
        assert found.rotation @ found.rotation.T == pytest.approx(np.eye(3), abs=1e-12)


def test_columns_and_bias_give_the_acceleration_of_the_frame():
    """Against differences of the velocity along a run."""
    system, h = arm(), 1e-6
    run = pl.simulate(system, 2 * h, save=[0.0, h, 2 * h], method=pl.DOP853(rtol=1e-12, atol=1e-14))
    at = [pl.jacobian(system, "third.tip", q=run.values["q"][k], v=run.values["v"][k]) for k in range(3)]
    a = run.values["a"][1]
    assert at[1].linear @ a + at[1].linear_bias == pytest.approx((at[2].velocity - at[0].velocity) / (2 * h), rel=1e-4, abs=1e-3)
    assert at[1].angular @ a + at[1].angular_bias == pytest.approx((at[2].omega - at[0].omega) / (2 * h), rel=1e-4, abs=1e-3)


def test_a_force_acts_by_the_transposed_jacobian():
    """With and without a force: M (a - a0) = J^T f."""
    force = np.array([3.0, -2.0, 1.0])
    free, pulled = arm(), arm()
    pulled.force("pull", pulled.handle("third").tip, list(force))
    accelerations = [pl.simulate(system, 1e-6, save=[0.0, 1e-6]).values["a"][0] for system in (free, pulled)]
    found, natural = free.handle("third").tip.jacobian(free), pl.denoc(free)
    assert natural.I @ (accelerations[1] - accelerations[0]) == pytest.approx(found.linear.T @ force, rel=1e-8, abs=1e-9)


def test_prescribed_motions_and_loops_have_their_columns():
    system = pl.System("led", gravity=(0, 0))
    crank = system.add("crank", pl.RigidBody.rod(0.1, 1.0), joint=pl.Revolute(motion=lambda t: 2.0 * t + 0.3))
    system.add("rod", pl.RigidBody.rod(0.3, 1.0), joint=pl.Revolute(angle=-0.4, rate=0.5), on=crank.tip)
    found = pl.jacobian(system, "rod.tip", t=0.5)
    ends = [0.1 * np.exp(1.3j), 0.3 * np.exp(1j * (1.3 - 0.4))]
    assert found.position[:2] == pytest.approx([sum(ends).real, sum(ends).imag], abs=1e-14)
    assert found.linear[:2, 0] == pytest.approx([(1j * sum(ends)).real, (1j * sum(ends)).imag], abs=1e-14)
    assert found.omega == pytest.approx([0.0, 0.0, 2.5], abs=1e-14)
    assert found.whole.shape == (6, 2)
    with pytest.raises(pl.ModelError, match="jacobian: q must be one of"):
        pl.jacobian(system, "rod.tip", q={"rod.angel": 0.1})
