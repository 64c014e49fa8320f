"""Why a run used up its limit: stability, told from accuracy."""

import numpy as np
import pytest

import pliant as pl
from pliant.run.pace import fastest_rate


def oscillator(stiffness, damping=0.0):
    system = pl.System("oscillator", gravity=(0, 0))
    spring, damper = pl.Spring(stiffness=stiffness), pl.Damper(coefficient=damping)
    joint = pl.Prismatic(axis="x", displacement=0.1, spring=spring, damper=damper)
    system.add("mass", pl.RigidBody(mass=1.0), joint=joint)
    return system


@pytest.mark.parametrize("method", [pl.RKF45, pl.Tsit5, pl.DOP853])
def test_a_run_that_stability_holds_back_says_so(method):
    run = pl.simulate(oscillator(1.0, 1e6), 1.0, method=method(1e-6, 1e-9), max_steps=3000)
    assert not run.ok and f"stability holds the steps of {method.__name__} back (h |lambda| = " in run.message
    reach = float(run.message.split("|lambda| = ")[1].split(")")[0])
    assert 2.0 < reach < 8.0  # the real boundaries of these methods are 3.3 to 6.2


def test_a_run_that_accuracy_holds_back_does_not():
    run = pl.simulate(oscillator(1e4), 10.0, method=pl.RKF45(1e-9, 1e-12), max_steps=50)
    assert not run.ok and "stability" not in run.message
    run = pl.simulate(oscillator(1.0, 1e6), 1.0, method=pl.Radau5(1e-6, 1e-9, first_step=1e-6), max_steps=2)
    assert not run.ok and "stability" not in run.message


def test_the_fastest_rate_is_that_of_the_stiffest_spring():
    def chain(t, y, p):
        return np.array([y[2], y[3], -4.0 * y[0], -1e8 * y[1]])

    assert fastest_rate(chain, 0.0, np.array([0.1, 0.2, 0.0, 0.0]), np.zeros(0)) == pytest.approx(1e4, rel=1e-3)
