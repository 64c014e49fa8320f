"""The ledger: the same of the same run, whatever was saved of it, and loud where energy comes from nowhere."""


import numpy as np
import pytest

import pliant as pl
from pliant.compiled import compile_system

FALL = 3.0  # s


@pytest.fixture(scope="module")
def bouncing():
    """A pendulum with a damper that also falls on a ground and bounces: exchanges of every kind, none of them at the ends alone."""
    system = pl.System("bouncing", gravity=(0, -9.81))
    arm = system.add("arm", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=0.3, damper=pl.Damper(0.02)))
    system.add("leg", pl.RigidBody.rod(0.5, 0.5), joint=pl.Revolute(angle=-0.2), on=arm.tip)
    system.contact(points=arm.tip, against=pl.Plane(normal=(0, 1), point=(0, -0.8)), name="ground",
                   normal=pl.HuGuo(stiffness=1e6, restitution=0.8), friction=pl.Coulomb(mu=0.1, transition=1e-2))  # fmt: skip
    return compile_system(system)


def run(compiled, save, rtol=1e-8):
    return pl.simulate(compiled, FALL, save=save, method=pl.DOP853(rtol=rtol, atol=1e-3 * rtol))


@pytest.mark.parametrize("rows", [2, 3, 11, 1001, "steps"])
def test_the_same_run_has_the_same_scale_and_error_however_many_rows_are_saved(bouncing, rows):
    whole = run(bouncing, "steps")
    one = run(bouncing, rows if rows == "steps" else np.linspace(0.0, FALL, rows))
    assert one.stats["steps"] == whole.stats["steps"] > 200
    assert one.ledger.scale == whole.ledger.scale
    assert one.ledger.scale == pytest.approx(np.ptp(whole.values["gravity"]), rel=0.05)
    assert 0.5 < one.ledger.balance_error_max / whole.ledger.balance_error_max < 2.0
    assert one.ledger.relative_error_max < 1e-6


def test_the_scale_holds_where_no_saved_row_sees_what_moved(bouncing):
    """Three rows at the top of a swing: all energies are as they were, all but round-off was exchanged in between."""
    system = pl.System("pendulum", gravity=(0, -9.81))
    system.add("arm", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=0.5))
    fine = pl.simulate(system, 6.0, method=pl.DOP853(rtol=1e-9, atol=1e-12), save=1e-3)
    tops = [t for t, a, b in zip(fine.time, fine.rate("arm.angle"), fine.rate("arm.angle")[1:], strict=False) if a > 0 >= b]
    few = pl.simulate(system, 6.0, method=pl.DOP853(rtol=1e-9, atol=1e-12), save=tops[:3])
    assert np.ptp(few.values["kinetic"]) < 1e-3
    assert few.ledger.scale == pytest.approx(np.ptp(fine.values["kinetic"]), rel=0.05)
    assert few.ledger.relative_error_max == pytest.approx(fine.ledger.relative_error_max, rel=1.0)


def test_a_file_tells_the_same_of_the_whole_run(bouncing, tmp_path):
    one = run(bouncing, [0.0, FALL])
    one.to_netcdf(tmp_path / "run.nc")
    back = pl.Result.from_netcdf(tmp_path / "run.nc")
    assert back.extremes == one.extremes
    assert (back.ledger.scale, back.ledger.balance_error_max) == (one.ledger.scale, one.ledger.balance_error_max)
    assert str(back.ledger) == str(one.ledger)


def test_a_run_that_goes_on_has_a_ledger_of_its_own(bouncing):
    method = pl.DOP853(rtol=1e-8, atol=1e-11)
    first = pl.simulate(bouncing, 1.0, method=method, save=[0.0, 1.0])
    second = pl.simulate(bouncing, FALL, start=first, method=method, save=[FALL])
    assert 0.0 < second.ledger.relative_error_max < 1e-6 and second.warnings == ()


def stretched_rod():
    """A rod that swings and rings along its axis, at 1.6 kHz."""
    system = pl.System("rod", gravity=(0, -9.81))
    beam = pl.Beam(length=0.8, section=pl.Section.rectangle(0.02, 0.01), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.AxialModes("cf", 1))  # fmt: skip
    system.add("rod", beam, joint=pl.Revolute(angle=-1.0), initial={"axial1": 1e-4})
    return system


@pytest.mark.parametrize("method", [pl.DormandPrince(1e-6, 1e-9), pl.RKF45(1e-6, 1e-9), pl.RKF45(1e-3, 1e-6), pl.RK4(1e-4)])
def test_a_balance_that_fast_modes_drive_off_is_told_with_numbers(method, tmp_path):
    one = pl.simulate(stretched_rod(), 0.5, method=method, save=0.1)
    (sentence,) = one.warnings
    assert one.ok and one.ledger.relative_error_max > 1e-3
    assert sentence.startswith(f"the energy balance is off by up to {one.ledger.balance_error_max:.2g} J (")
    assert f"{one.ledger.relative_error_max:.2g} of the largest exchange" in sentence
    if method.tolerance is not None:
        assert f"{one.ledger.relative_error_max / method.rtol:,.0f} times rtol = {method.rtol:g}" in sentence
    assert "smaller rtol" in sentence if method.tolerance is not None else "shorter step" in sentence


@pytest.mark.parametrize("method", [pl.Auto(), pl.DOP853(1e-9, 1e-12), pl.Radau5(1e-6, 1e-9), pl.RK4(2e-6), pl.RealTime(1e-6)])
def test_a_balance_within_its_tolerance_is_not_talked_about(method):
    assert pl.simulate(stretched_rod(), 0.1, method=method, save=0.1).warnings == ()


def test_a_body_at_rest_exchanges_nothing_and_nothing_is_said():
    system = pl.System("rest", gravity=(0, -9.81))
    system.add("block", pl.RigidBody(mass=3.0, inertia=1.0), joint=pl.Prismatic(axis="y", spring=pl.Spring(3e3, 0.00981)))
    for method in (pl.Auto(), pl.RKF45(1e-4, 1e-7), pl.RK4(1e-3), pl.RealTime(1e-3)):
        assert pl.simulate(system, 1.0, method=method).warnings == ()
