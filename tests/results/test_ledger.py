"""The ledger: the same of the same run, whatever was saved of it, and loud where energy comes from nowhere."""

import numpy as np
import pytest

import pliant as pl
from pliant.run.prepare import compile_system

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


def test_equations_that_leave_terms_out_as_published_are_named_as_the_cause():
    runs = {}
    for form in ("consistent", "as-published"):
        arm = pl.TelescopicBeam(length=1.0, section=pl.Section(A=3.6e-4, Iz=1.2e-8), material=pl.STEEL, modes=pl.Modes("cf", 1),
                                extension=0.5, rate=0.5, form=form)  # fmt: skip
        system = pl.System(form, gravity=(0, -9.81))
        system.add("arm", arm, joint=pl.Revolute(rate=2.0), initial={"y1": 0.01})
        runs[form] = pl.simulate(system, 0.2)
    assert runs["consistent"].warnings == ()
    (sentence,) = runs["as-published"].warnings
    assert "the equations of arm as published omit terms" in sentence and "smaller rtol" not in sentence


# ------------------------------------------------------------------------------------------------- sources that must not give


def slider(friction, pull=0.0, speed=0.5, spring=None):
    """A block that slides on the ground, pressed by its weight."""
    system = pl.System("slider", gravity=(0, -9.81))
    springs = {"x": spring} if spring else None
    still = {"angle": lambda t: 0.0 * t}
    body = system.add("block", pl.RigidBody(mass=2.0, inertia=0.1),
                      joint=pl.Planar(position=(0.0, -1e-4), velocity=(speed, 0.0), spring=springs, motion=still))  # fmt: skip
    system.contact(points=body.root, against=pl.Plane(normal=(0, 1)), name="ground", friction=friction,
                   normal=pl.Linear(stiffness=2.0 * 9.81 / 1e-4, damping=200.0))  # fmt: skip
    if pull:
        system.force("pull", body.root, (pull, 0.0))
    return system


def test_friction_with_its_sign_turned_round_is_called_a_violation(tmp_path):
    run = pl.simulate(slider(lambda speed, normal: -0.3 * normal * pl.tanh(speed / 0.01)), 0.5, save=0.1)
    (sentence,) = run.ledger.violations
    gave = run.ledger.work["ground block.root friction"][-1]
    assert run.ok and gave > 0.5 and run.ledger.relative_error_max < 1e-6
    assert sentence.startswith(f"ground block.root friction must only take energy but gave {gave:.3g} J by t = 0.5 s")
    assert run.warnings == (sentence,)
    assert f"violation: {sentence}" in str(run.ledger)
    run.to_netcdf(tmp_path / "run.nc")
    assert pl.Result.from_netcdf(tmp_path / "run.nc").ledger.violations == (sentence,)


def test_a_source_that_gives_for_a_while_is_caught_though_it_takes_on_the_whole_and_no_row_shows_it():
    """Friction that pushes between 0.20 and 0.25 m/s, in a run of which only both ends are saved."""

    def law(speed, normal):
        return normal * pl.where(speed < 0.25, pl.where(speed > 0.2, -0.1, 0.3), 0.3) * pl.tanh(speed / 0.01)

    still_pulled = slider(law, pull=-6.0)
    run = pl.simulate(still_pulled, 0.12, save=[0.0, 0.12], method=pl.DOP853(1e-8, 1e-11))
    assert run.ledger.work["ground block.root friction"][-1] < 0.0
    assert len(run.ledger.violations) == 1


def test_damping_that_feeds_a_mode_below_its_two_frequencies_is_called_a_violation():
    """Rayleigh damping through two ratios far apart has a negative mass part: below the lower frequency it gives energy."""
    damping = pl.RayleighRatios(ratios=(0.001, 0.5), frequencies=(800.0, 2000.0))
    beam = pl.Beam(length=0.8, section=pl.Section.rectangle(0.02, 0.01), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 1), damping=damping)  # fmt: skip
    system = pl.System("arm", gravity=(0, 0))
    system.add("arm", beam, joint=pl.Weld(), initial={"y1": 0.01})
    (sentence,) = pl.simulate(system, 0.05).ledger.violations
    assert sentence.startswith("arm.rayleigh must only take energy but gave")


def test_a_damper_with_a_wrong_sign_is_called_a_violation_and_one_with_the_right_sign_is_not():
    damper = pl.Damper(0.2)
    system = pl.System("arm", gravity=(0, -9.81))
    system.add("arm", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=0.3, damper=damper))
    assert pl.simulate(system, 1.0).ledger.violations == ()
    object.__setattr__(damper, "coefficient", -0.2)  # as no user can make it
    (sentence,) = pl.simulate(system, 1.0).ledger.violations
    assert sentence.startswith("arm.angle damper must only take energy but gave")


BRISTLES = (pl.Dahl(sigma0=2e3, mu=0.3), pl.LuGre(sigma0=2e3, sigma1=5.0, mu_static=0.4, mu_kinetic=0.3, v_stribeck=0.01))


@pytest.mark.parametrize("law", BRISTLES, ids=lambda law: type(law).__name__)
def test_bristles_may_return_what_they_stored(law):
    """A block on a spring that creeps to and fro within its friction: the bristles' work rises again and again."""
    system = slider(law, speed=0.01, spring=pl.Spring(2e4))
    run = pl.simulate(system, 0.2, save=1e-4, method=pl.DOP853(1e-9, 1e-12))
    work = run.ledger.work["ground block.root friction"]
    assert np.max(work - np.minimum.accumulate(work)) > 100.0 * 1e-6 * run.ledger.scale
    assert run.ledger.violations == () and run.warnings == ()


def test_drives_may_give_and_a_normal_law_that_tells_of_no_potential_is_not_judged():
    system = pl.System("ball", gravity=(0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Prismatic(axis="y", displacement=0.01))
    system.contact(points=ball.root, against=pl.Plane(normal=(0, 1)), normal=lambda depth, rate, entry: 1e5 * depth, name="ground")
    system.drive("lift", "ball.displacement", 3.0)
    run = pl.simulate(system, 0.5)
    assert len(run.contacts) > 2
    for source in ("lift", "ground ball.root normal"):
        assert np.max(np.diff(run.ledger.work[source])) > 1e-4 * run.ledger.scale
    assert run.warnings == ()
