"""Baumgarte's stabilisation beside projection: residuals decay as its equation says, and the motion is the same."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl

METHOD = pl.DOP853(rtol=1e-8, atol=1e-10)


def four_bar(baumgarte: float | None = None) -> pl.System:
    system = pl.System("four-bar", (0, -9.81), baumgarte=baumgarte)
    crank = system.add("crank", pl.RigidBody.rod(0.1, 1.0), joint=pl.Revolute(angle=0.5, rate=8.0))
    coupler = system.add("coupler", pl.RigidBody.rod(0.3, 1.0), joint=pl.Revolute(angle=-0.2), on=crank.tip)
    rocker = system.add("rocker", pl.RigidBody.rod(0.25, 1.0), joint=pl.Revolute(angle=1.4), on=system.ground.moved((0.3, 0)))
    system.close("pin", "point", coupler.tip, rocker.tip)
    return system


def test_the_motion_is_that_of_projection():
    exact = pl.simulate(four_bar(), 1.0, method=pl.DOP853(rtol=1e-12, atol=1e-14))
    held = pl.simulate(four_bar(50.0), 1.0, method=METHOD)
    assert held.ok and np.max(np.abs(held["crank.angle"] - exact["crank.angle"])) < 1e-6
    drift = [np.max(np.abs(pl.simulate(four_bar(a), 1.0, method=METHOD).values["constraint"])) for a in (None, 10.0, 200.0)]
    assert drift[2] < drift[1] < 1e-6
    assert held.values["multiplier"] == pytest.approx(exact.values["multiplier"], abs=1e-2)


def test_a_residual_decays_as_its_equation_says():
    """c = c0 (1 + a t) exp(-a t) for c'(0) = 0: a start off the loop, put there behind assembly's back."""
    a, system = 20.0, four_bar(20.0)
    system.closure_tolerance = 0.1
    begin = pl.simulate(system, 1e-9).final_state
    off = begin.y.copy()
    off[0] += 1e-4  # the crank's angle
    run = pl.simulate(
        system, 0.2, start=pl.results.state.FinalState(0.0, off, {}, begin.labels), method=pl.DOP853(rtol=1e-11, atol=1e-14)
    )
    c = run.values["constraint"]
    rate = np.gradient(c[:, 0], run.time)[0]
    expected = c[0, 0] * (1.0 + a * run.time) * np.exp(-a * run.time) + rate * run.time * np.exp(-a * run.time)
    assert abs(c[0, 0]) > 1e-6
    assert c[:, 0] == pytest.approx(expected, abs=2e-3 * abs(c[0, 0]) + 2e-8)


def test_it_is_a_word_of_files_and_a_checked_number():
    assert pl.loads_model(pl.dump_model(four_bar(30.0))).system == four_bar(30.0)
    with pytest.raises(pl.ModelError, match="baumgarte must be > 0 1/s, got -1"):
        pl.System("wrong", (0, 0), baumgarte=-1.0)
    weak = pl.simulate(four_bar(0.01), 20.0, method=pl.DormandPrince(rtol=1e-4, atol=1e-6))
    assert not weak.ok and "baumgarte = 0.01 1/s is too small" in weak.message
