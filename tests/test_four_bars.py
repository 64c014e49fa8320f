"""N four-bar linkages (IFToMM A02): cost, the singular position they all pass at once, and starts in it."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl
from pliant.trace.tracing import trace

T_END = 10.0
G = 9.81


def four_bars(windows, angle=np.pi / 2, tilt=0.0):
    """Posts on the ground, each with a coupler pinned to the next post's tip; the whole may be tilted in the world's axes."""
    system = pl.System("four-bars", gravity=(G * np.sin(tilt), -G * np.cos(tilt)))
    rod = pl.RigidBody.rod(1.0, 1.0)
    tips = []
    for k in range(windows + 1):
        on = system.ground.moved((k * np.cos(tilt), k * np.sin(tilt)))
        tips.append(system.add(f"A{k}", rod, joint=pl.Revolute(angle=angle + tilt, rate=-1.0), on=on).tip)
    for k in range(windows):
        coupler = system.add(f"C{k}", rod, joint=pl.Revolute(angle=-angle, rate=1.0), on=tips[k])
        system.close(f"pin{k}", "point", coupler.tip, tips[k + 1])
    return system


def exact_angle(windows, t):
    """One coordinate: phi'' = -(W g / I) cos(phi); posts turn, couplers only travel."""
    inertia, weight = (windows + 1) / 3 + windows, (windows + 1) / 2 + windows

    def rates(_, y):
        return [y[1], -weight * G / inertia * np.cos(y[0])]

    return solve_ivp(rates, (0.0, t), [np.pi / 2, -1.0], method="DOP853", rtol=1e-13, atol=1e-14).y[0, -1]


RUNS = [(1, 1e-10, 0.0, 1e-7), (1, 1e-10, 0.4, 1e-7), (2, 1e-10, 0.0, 1e-7), (2, 1e-12, 0.4, 1e-7), (10, 1e-11, 0.4, 1e-6),
        (40, 1e-10, 0.0, 1e-5)]  # fmt: skip


@pytest.mark.parametrize(("windows", "rtol", "tilt", "within"), RUNS)
def test_all_windows_pass_their_singular_position_on_the_branch_they_are_on(windows, rtol, tilt, within):
    """Flat, half the rows vanish at once, ten times in 10 s; every post stays on the one coordinate."""
    method = pl.DOP853(rtol=rtol, atol=1e-2 * rtol)
    run = pl.simulate(four_bars(windows, tilt=tilt), T_END, method=method, save=[T_END], max_steps=3000)
    assert run.ok, run.message
    angles = np.array([run[f"A{k}.angle"][-1] for k in range(windows + 1)])
    assert angles - tilt == pytest.approx(exact_angle(windows, T_END), abs=within)
    assert np.max(np.abs(run.values["constraint"])) < 1e-13


@pytest.mark.parametrize("windows", [2, 20])
def test_passing_a_singular_position_is_not_taken_for_stiffness(windows):
    """Steps are short there and held back, but for a few of them only: no reason to compile a Jacobian."""
    run = pl.simulate(four_bars(windows), T_END, save=[T_END])
    assert run.ok and run.stats["jacobians"] == 0
    assert run.stats["jacobian_s"] == 0.0 and set(run.stats["steps_of"]) == {"DOP853"}


def test_the_reference_page_and_the_one_coordinate_agree():
    phi = exact_angle(40, T_END)
    assert (np.cos(phi), np.sin(phi)) == pytest.approx((0.1805122267, 0.9835727406), abs=1e-9)


def test_operations_grow_as_the_number_of_windows():
    counts = {n: trace(four_bars(n)).rhs.n_instructions() for n in (6, 12, 24)}
    assert counts[24] - counts[12] == pytest.approx(2 * (counts[12] - counts[6]), rel=0.01)


def test_freedoms_are_counted_and_told():
    run = pl.simulate(four_bars(2), 0.01)
    assert run.stats["degrees_of_freedom"] == 1


def test_a_start_in_a_singular_position_is_refused_with_its_closures():
    message = r"closure 'pin0', 'pin1': directions must be independent at the start, 2 of them are so only beside it"
    with pytest.raises(pl.SolveError, match=message):
        pl.simulate(four_bars(2, angle=0.0), 0.1)


def test_a_start_beside_a_singular_position_runs():
    """A hundred thousandth of a radian above the flat, energy is kept through it."""
    run = pl.simulate(four_bars(2, angle=1e-5), 1.0, method=pl.DOP853(rtol=1e-10, atol=1e-12), max_steps=3000)
    assert run.ok
    assert run.ledger.relative_error_max < 1e-6
    assert run["A2.angle"] == pytest.approx(run["A0.angle"], abs=1e-6)
