"""Derivatives of whole runs: against closed forms and against extrapolated differences at the tightest tolerances."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pliant as pl
from differences import by_parameter, contact_numbers, extrapolated, final_state, relative

FINE = pl.DOP853(rtol=1e-10, atol=1e-13)
ENOUGH = 1e-6  # relative error of derivatives that is asked for


def pendulum() -> pl.System:
    """Length and mass are 1: numbers that simplify the equations of a run, and must not do so here."""
    gravity, length, damping = pl.Parameter("gravity", 9.81), pl.Parameter("length", 1.0), pl.Parameter("damping", 0.3)
    system = pl.System("pendulum", gravity=(0.0, -gravity))
    arm = pl.RigidBody(mass=pl.Parameter("mass", 1.0), inertia=0.1, com=(length, 0.0), tip=(length, 0.0))
    system.add("arm", arm, joint=pl.Revolute(angle=0.5, rate=0.2, damper=pl.Damper(damping)))
    return system


def bouncing_ball(law: pl.NormalLaw | None = None) -> pl.System:
    """A mass on a vertical slide above a spring: everything about its first bounce has a closed form."""
    gravity, height, mass = pl.Parameter("gravity", 9.81), pl.Parameter("height", 0.2), pl.Parameter("mass", 0.7)
    system = pl.System("ball", gravity=(0.0, -gravity))
    ball = system.add("ball", pl.RigidBody(mass=mass, inertia=1.0), joint=pl.Prismatic(displacement=height, axis="y"))
    stiffness = pl.Parameter("stiffness", 4e4)
    system.contact(points=ball.root, against=pl.Plane(normal=(0, 1)), name="floor",
                   normal=law or pl.Hertz(stiffness=stiffness, exponent=1.0))  # fmt: skip
    return system


def first_bounce(gravity, height, mass, stiffness):
    """begin, end, speed of entry, peak force, impulse."""
    speed, omega = np.sqrt(2.0 * gravity * height), np.sqrt(stiffness / mass)
    sag = gravity / omega**2
    depth = sag + np.sqrt(sag**2 + (speed / omega) ** 2)
    duration = 2.0 / omega * (np.pi - np.arctan(speed * omega / gravity))
    begin = speed / gravity
    return np.array([begin, begin + duration, speed, stiffness * depth, 2.0 * mass * speed + mass * gravity * duration])


@pytest.fixture(scope="module")
def pendulum_slopes():
    system = pendulum()
    names = ["gravity", "length", "damping", "mass"]
    return system, pl.sensitivities(system, 1.5, names, ["arm.angle"], ["arm.angle"], method=FINE)


# ---- smooth motion


def test_the_run_is_the_one_that_simulate_gives_to_the_bit(pendulum_slopes):
    system, found = pendulum_slopes
    result = pl.simulate(system, 1.5, method=FINE)
    assert result.final_state.y.tobytes() == found.result.final_state.y.tobytes()
    assert result.data["q"].values.tobytes() == found.result.data["q"].values.tobytes()
    assert result.stats["rhs_evaluations"] == found.result.stats["rhs_evaluations"]


@pytest.mark.parametrize("name", ["gravity", "length", "damping", "mass"])
def test_final_states_change_with_parameters_as_differences_say(pendulum_slopes, name):
    system, found = pendulum_slopes
    expected, _ = by_parameter(system, 1.5, name)
    assert relative(found.final[:, found.names.index(name)], expected) < 1e-8


def test_starts_and_rates_are_part_of_theta(pendulum_slopes):
    system, found = pendulum_slopes
    assert found.names == ("gravity", "length", "damping", "mass", "arm.angle", "rate of arm.angle")

    def ends(angle, rate):
        members = pl.ensemble(system, 1.5, starts={"arm.angle": angle}, rates={"arm.angle": rate}, method=pl.DOP853(1e-13, 1e-16))
        return np.array([members["q_end"].values.ravel()[0], members["v_end"].values.ravel()[0]])

    by_angle, _ = extrapolated(lambda x: ends(x, 0.2), 0.5)
    by_rate, _ = extrapolated(lambda x: ends(0.5, x), 0.2)
    assert found.final[:2, 4] == pytest.approx(by_angle, rel=1e-7)
    assert found.final[:2, 5] == pytest.approx(by_rate, rel=1e-7)


def test_the_table_has_every_quantity_with_theta_last_and_agrees_with_differences(pendulum_slopes):
    system, found = pendulum_slopes
    result = found.result
    for name in result.data.data_vars:
        if name in found.table and result.data[name].dtype == float:
            assert found.table[name].dims == (*result.data[name].dims, "theta")
    names = ("tip_position", "reaction_force", "kinetic", "power", "a")

    def rows(run):
        return np.concatenate([run.data[name].values[500].ravel() for name in names])

    expected, _ = extrapolated(
        lambda x: rows(pl.simulate(system, 1.5, method=pl.DOP853(1e-13, 1e-16), parameters={"length": x})), 1.0
    )
    ours = np.concatenate([found.table[name].values[500, ..., 1].ravel() for name in names])
    assert relative(ours, expected) < 1e-7


def test_the_ledger_balances_in_its_derivatives(pendulum_slopes):
    """E - work does not change in a run, so neither do its derivatives by parameters, nor by starts."""
    _, found = pendulum_slopes
    unaccounted = found.ledger.energy - sum(found.ledger.work.values())
    size = np.max(np.abs(found.ledger.energy))
    assert np.ptp(found.ledger.energy, axis=0).max() > 0.1 * size
    assert np.max(np.abs(unaccounted - unaccounted[0])) < 1e-8 * size


def test_quantities_can_be_chosen_and_values_of_parameters_given():
    found = pl.sensitivities(pendulum(), 0.5, "length", of="tip_position", values={"gravity": 1.62}, rtol=1e-9)
    assert set(found.table.data_vars) == {"tip_position"}
    assert found.result.parameters["gravity"] == 1.62


def test_what_is_asked_wrongly_is_refused_before_anything_is_differentiated():
    system = pendulum()
    for options, words in (
        ({"parameters": ["lenght"]}, "length"),
        ({"parameters": ["length", "length"]}, "different"),
        ({"starts": ["arm.angel"]}, "arm.angle"),
        ({"parameters": ["length"], "of": ["tip_positoin"]}, "tip_position"),
        ({"parameters": ["length"], "method": pl.RealTime(step=1e-3)}, "locate"),
        ({}, "must name a parameter"),
    ):
        with pytest.raises(pl.ModelError, match=words):
            pl.sensitivities(system, 0.1, **options)


def test_a_run_that_goes_on_takes_what_came_before_as_given():
    system = pendulum()
    whole = pl.sensitivities(system, 1.0, ["damping"], method=FINE)
    first = pl.sensitivities(system, 0.4, ["damping"], method=FINE)
    second = pl.sensitivities(system, 1.0, ["damping"], ["arm.angle"], ["arm.angle"], method=FINE, start=first.result)
    # chain rule over the two halves
    through = second.final[:2, 0] + second.final[:2, 1:] @ first.final[:2, 0]
    assert through == pytest.approx(whole.final[:2, 0], rel=1e-7)


# ---- contact


def test_a_bounce_has_the_derivatives_of_its_closed_form():
    names = ["gravity", "height", "mass", "stiffness"]
    values = [9.81, 0.2, 0.7, 4e4]
    found = pl.sensitivities(bouncing_ball(), 0.35, names, method=FINE, control=True)
    contact = found.contacts[0]
    for k, name in enumerate(names):
        step = 1e-30  # a complex one: no difference is taken
        shifted = [complex(value, step) if i == k else value for i, value in enumerate(values)]
        expected = np.imag(first_bounce(*shifted)) / step
        ours = [contact[key][k] for key in ("begin", "end", "entry_speed", "peak_force", "impulse")]
        assert ours == pytest.approx(expected, rel=1e-6), name
    assert contact["restitution"] == pytest.approx(np.zeros(4), abs=1e-7)  # it is 1 whatever theta is
    assert contact["duration"] == pytest.approx(contact["end"] - contact["begin"])


def test_convergence_goes_with_rtol():
    names = ["gravity", "height", "mass", "stiffness"]
    system = bouncing_ball()
    expected = [by_parameter(system, 0.35, name)[0] for name in names]

    def worst(rtol, control):
        found = pl.sensitivities(system, 0.35, names, method=pl.DOP853(rtol, 1e-3 * rtol), control=control)
        return max(relative(found.final[:, k], expected[k]) for k in range(4))

    for control, allowed in ((True, 1e2), (False, 1e4)):
        for rtol in (1e-6, 1e-8, 1e-10):
            assert worst(rtol, control) < allowed * rtol


def test_other_families_of_methods_give_the_same_derivatives():
    names = ["gravity", "stiffness"]
    best = pl.sensitivities(bouncing_ball(), 0.35, names, method=pl.DOP853(1e-12, 1e-15), control=True)
    for method in (pl.DormandPrince(1e-10, 1e-13), pl.Radau5(1e-10, 1e-13), pl.Auto(1e-10, 1e-13), pl.RK4(step=1e-5)):
        other = pl.sensitivities(bouncing_ball(), 0.35, names, method=method)
        assert max(relative(other.final[:, k], best.final[:, k]) for k in range(2)) < ENOUGH, method


def test_saved_steps_have_rows_as_the_result_has():
    found = pl.sensitivities(bouncing_ball(), 0.35, ["gravity"], save="steps", method=FINE)
    assert found.table.sizes["time"] == found.result.data.sizes["time"]
    assert np.all(np.isfinite(found.table["normal_force"].values))


def test_a_contact_that_is_closed_from_the_start_and_lasts_has_no_derivative_of_its_end():
    system = pl.System("resting", gravity=(0.0, -9.81))
    stiffness = pl.Parameter("stiffness", 1e4)
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(displacement=-5e-4, axis="y"))
    law = pl.Hertz(stiffness=stiffness, exponent=1.0)
    system.contact(points=ball.root, against=pl.Plane(normal=(0, 1)), name="floor", normal=law)
    found = pl.sensitivities(system, 0.02, ["stiffness"], method=FINE)
    assert len(found.contacts) == 1 and "end" not in found.contacts[0]
    expected, _ = by_parameter(system, 0.02, "stiffness")
    assert relative(found.final[:, 0], expected) < ENOUGH
    assert math.isnan(found.result.contacts[0].end)


def test_contacts_agree_with_differences_number_by_number():
    system = bouncing_ball(pl.HuntCrossley(stiffness=pl.Parameter("stiffness", 1e5), restitution=pl.Parameter("e", 0.7)))
    names = ["height", "stiffness", "e"]
    found = pl.sensitivities(system, 0.6, names, method=FINE, control=True)
    keys = ("begin", "end", "entry_speed", "exit_speed", "peak_force", "impulse", "normal_loss")
    assert len(found.contacts) == 2
    for k, name in enumerate(names):
        expected, _ = by_parameter(system, 0.6, name, contact_numbers)
        for i, contact in enumerate(found.contacts):
            scale = np.abs(expected[:, :7]).max(axis=0)
            assert np.max(np.abs([contact[key][k] for key in keys] - expected[i, :7]) / scale) < 2e-6, (name, i)


def test_a_run_through_contact_is_the_one_that_simulate_gives_to_the_bit():
    result = pl.simulate(bouncing_ball(), 0.35, method=FINE)
    found = pl.sensitivities(bouncing_ball(), 0.35, ["mass"], method=FINE)
    assert final_state(result).tobytes() == final_state(found.result).tobytes()
    assert [record.peak_force for record in result.contacts] == [record.peak_force for record in found.result.contacts]


def test_derivatives_of_a_run_that_ended_early_are_not_ok():
    found = pl.sensitivities(pendulum(), 2.0, ["length"], max_steps=5)
    assert not found.result.ok and not found.ok and found.final is None and not found.undefined
    assert "the run ended early" in str(found) and found.until < 2.0
    with pytest.raises(pl.SolveError, match="the run ended early"):
        found.at_end("q")


@pytest.mark.parametrize("friction", [pl.Karnopp(mu_static=0.5, mu_kinetic=0.4), pl.Coulomb(mu=0.5)])
def test_derivatives_of_a_body_at_rest_are_as_accurate_as_those_of_one_that_moves(friction):
    """Steps of a resting state may have any length, but its derivative by the stiffness below it oscillates."""
    stiffness, weight = pl.Parameter("stiffness", 1e5), 9.81
    system = pl.System("resting", gravity=(0.0, -9.81))
    slide = system.add("slide", pl.RigidBody(mass=0.3, inertia=1.0), joint=pl.Prismatic(axis="x"))
    body = system.add("body", pl.RigidBody(mass=1.0, inertia=1.0), on=slide.tip,
                      joint=pl.Prismatic(axis="y", displacement=-weight / 1e5))  # fmt: skip
    system.contact(points=body.root, against=pl.Plane(normal=(0, 1)), normal=pl.Hertz(stiffness=stiffness, exponent=1.0),
                   friction=friction, name="floor")  # fmt: skip
    for t_end in (0.05, 0.6):
        found = pl.sensitivities(system, t_end, ["stiffness"], rtol=1e-7, of="q", save=[t_end])
        omega, sag = math.sqrt(1e5), weight / 1e10
        expected = [sag * (1.0 - math.cos(omega * t_end)), sag * omega * math.sin(omega * t_end)]
        assert found.ok and found.result.stats["steps"] < 100
        assert relative(found.final[[1, 3], 0] * [omega, 1.0], np.array(expected) * [omega, 1.0]) < 1e-4
