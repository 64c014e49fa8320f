"""Derivatives of runs with joints that stick and with sampled controllers, by differences of runs, against closed forms."""

import numpy as np
import pytest

import pliant as pl

G, INERTIA, RATE, RADIUS = 9.81, 0.05, 10.0, 0.02


def rotor(mu=0.3, rate=RATE):
    """It stops at I w/(mu r m g), after I w^2/(2 mu r m g), and stays there."""
    system = pl.System("rotor", gravity=(0, -G))
    dry = pl.DryFriction(mu_static=0.6, mu_kinetic=mu)
    system.add(
        "rotor",
        pl.RigidBody(mass=1.0, inertia=INERTIA),
        joint=pl.Revolute(rate=rate, friction=pl.JointFriction(dry, radius=RADIUS)),
    )
    return system


def controlled(gain=2.0):
    system = pl.System("arm", gravity=(0, 0))
    system.add("arm", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Revolute(angle=0.4))
    system.sampled("law", 0.1, lambda t, q, v, measured, memory: -gain * q["arm.angle"] - v["arm.angle"], outputs="u")
    system.drive("motor", "arm.angle", lambda t, q, v: q["law.u"])
    return system


def test_a_rotor_that_sticks_has_the_derivatives_of_its_closed_form():
    found = pl.sensitivities(rotor(pl.Parameter("mu", 0.3)), 10.0, ["mu"], rates=["rotor.angle"], save=[9.0, 10.0])
    turned, stop = INERTIA * RATE**2 / (2.0 * 0.3 * RADIUS * G), INERTIA * RATE / (0.3 * RADIUS * G)
    assert found.ok and found.names == ("mu", "rate of rotor.angle")
    expected = [-turned / 0.3, 2.0 * turned / RATE]
    assert found.table["q"].values[-1, 0] == pytest.approx(expected, rel=1e-5) and found.final[0] == pytest.approx(
        expected, rel=1e-5
    )
    assert found.at_end("q")[1][0] == pytest.approx(expected, rel=1e-5)
    assert found.events[0].name == "rotor.angle sticks" and found.events[0].time == pytest.approx(
        [-stop / 0.3, stop / RATE], rel=1e-5
    )
    assert found.ledger.work["rotor.angle friction"][-1] == pytest.approx([0.0, -INERTIA * RATE], rel=1e-5, abs=1e-6)
    assert found.warnings == ("derivatives are differences of runs, because friction of body 'rotor' sticks (DryFriction)",)
    assert found.warnings[0] in str(found)


def test_a_sampled_loop_has_the_derivatives_of_its_map():
    """x' = A x + B u between instants, u = -K x at them: the state after ten is a power of one matrix times the start."""
    found = pl.sensitivities(controlled(), 1.0, starts=["arm.angle"], rates=["arm.angle"], save=[1.0])
    h, gains = 0.1, np.array([2.0, 1.0])
    step = np.array([[1.0, h], [0.0, 1.0]]) - np.outer([0.5 * h**2, h], gains)
    assert found.final[:2] == pytest.approx(np.linalg.matrix_power(step, 10), rel=1e-5)
    assert "controller 'law' is sampled" in found.warnings[0]


def test_a_parameter_on_its_bound_is_changed_to_one_side():
    bounded = rotor(pl.Parameter("mu", 0.3, high=0.3))
    found = pl.sensitivities(bounded, 10.0, ["mu"], save=[10.0])
    turned = INERTIA * RATE**2 / (2.0 * 0.3 * RADIUS * G)
    assert found.final[0, 0] == pytest.approx(-turned / 0.3, rel=1e-3)


def test_sticking_friction_is_fitted_and_the_fit_says_how():
    times = np.linspace(0.0, 10.0, 41)
    run = pl.simulate(rotor(0.3), 10.0, save=times)
    data = {"time": times, "rotor.angle": run["rotor.angle"]}
    found = pl.fit(rotor(pl.Parameter("mu", 0.2, low=0.05, high=0.5)), data, ["mu"])
    assert found.ok and found.values["mu"] == pytest.approx(0.3, rel=1e-6)
    assert any("differences of runs, because friction of body 'rotor' sticks" in sentence for sentence in found.warnings)


def test_a_gain_of_a_sampled_controller_is_fitted():
    times = np.linspace(0.0, 2.0, 41)
    run = pl.simulate(controlled(2.0), 2.0, save=times)
    found = pl.fit(controlled(pl.Parameter("gain", 1.5)), {"time": times, "arm.angle": run["arm.angle"]}, ["gain"])
    assert found.values["gain"] == pytest.approx(2.0, rel=1e-6)


def braked(threshold):
    """A slider at 1 m/s that a controller pushes from the first sample at which it is beyond the threshold."""
    system = pl.System("braked", gravity=(0, 0))
    system.add("s", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(rate=1.0))
    system.sampled(
        "law", 0.1, lambda t, q, v, measured, memory: -pl.maximum(pl.sign(q["s.displacement"] - threshold), 0.0), outputs="u"
    )
    system.drive("brake", "s.displacement", lambda t, q, v: q["law.u"])
    return system


def test_fits_and_optimisations_say_where_the_runs_beside_jump():
    """It passes 0.5 m at a sample: a threshold slightly smaller brakes from there, a slightly larger one a sample later."""
    system, said = braked(pl.Parameter("threshold", 0.5, "m", low=0.1, high=0.9)), "the run jumps where threshold changes: "
    times = np.linspace(0.0, 1.0, 11)
    jumping = pl.sensitivities(system, 1.0, ["threshold"], save=times)
    assert not jumping.ok and str(jumping).count(said) == 1
    data = {"time": times, "s.displacement": pl.simulate(system, 1.0, save=times, parameters={"threshold": 0.55})["s.displacement"]}
    found = pl.fit(system, data, ["threshold"], max_runs=3)
    assert sum(said in sentence for sentence in found.warnings) == 1
    best = pl.optimise(system, lambda run: run.integral("s.displacement"), ["threshold"], t_end=1.0, save=times, max_runs=2)
    assert sum(said in sentence for sentence in best.warnings) == 1
    smooth = pl.sensitivities(system, 1.0, ["threshold"], values={"threshold": 0.55}, save=times)
    assert smooth.ok and said not in str(smooth)
