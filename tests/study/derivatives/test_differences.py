"""Derivatives of runs with impulses and with sampled controllers, by differences of runs, against closed forms."""

import math

import numpy as np
import pytest

import pliant as pl

G = 9.81


def dropped(restitution, height):
    """A ball that bounces without a contact time: it lands after sqrt(2 h/g), and rises at e sqrt(2 g h)."""
    system = pl.System("dropped", gravity=(0, -G))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(displacement=height, axis="y"))
    system.contact(points=ball.root, against=pl.Plane(normal=(0, 1)), normal=pl.Impulsive(restitution=restitution), name="floor")
    system.event("rises", lambda t, q, v: v["ball.displacement"], direction="falling")
    return system


def controlled(gain=2.0):
    system = pl.System("arm", gravity=(0, 0))
    system.add("arm", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Revolute(angle=0.4))
    system.sampled("law", 0.1, lambda t, q, v, measured, memory: -gain * q["arm.angle"] - v["arm.angle"], outputs="u")
    system.drive("motor", "arm.angle", lambda t, q, v: q["law.u"])
    return system


def test_an_impulsive_bounce_has_the_derivatives_of_its_closed_form():
    e, h, end = 0.8, 0.5, 0.6
    found = pl.sensitivities(dropped(pl.Parameter("e", e), pl.Parameter("h", h)), end, ["e", "h"], save=[0.5, end])
    lands, speed = math.sqrt(2.0 * h / G), math.sqrt(2.0 * G * h)
    by_h, late = 0.5 * lands / h, end - lands
    place = [speed * late, 0.5 * e * speed / h * late - e * speed * by_h + G * late * by_h]
    rate = [speed, 0.5 * e * speed / h + G * by_h]
    assert found.ok and found.names == ("e", "h") and found.n_runs == 5
    assert found.final[:2] == pytest.approx(np.array([place, rate]), rel=1e-5)
    assert found.table["q"].values[-1, 0] == pytest.approx(place, rel=1e-5) and found.at_end("v")[1][0] == pytest.approx(
        rate, rel=1e-5
    )
    top = next(event for event in found.events if event.name == "rises" and event.t > lands)
    assert top.time == pytest.approx([speed / G, by_h + 0.5 * e * speed / (h * G)], rel=1e-5)
    assert found.contacts[0]["begin"] == pytest.approx([0.0, by_h], rel=1e-5, abs=1e-7)
    assert found.contacts[0]["exit_speed"] == pytest.approx([speed, 0.5 * e * speed / h], rel=1e-5)
    assert found.ledger.energy[-1] == pytest.approx([2.0 * e * G * h, e**2 * G], rel=1e-5)
    assert found.warnings == ("derivatives are differences of runs, because contact 'floor ball.root' is impulsive",)
    assert found.warnings[0] in str(found)


def test_a_sampled_loop_has_the_derivatives_of_its_map():
    """x' = A x + B u between instants, u = -K x at them: the state after ten is a power of one matrix times the start."""
    found = pl.sensitivities(controlled(), 1.0, starts=["arm.angle"], rates=["arm.angle"], save=[1.0])
    h, gains = 0.1, np.array([2.0, 1.0])
    step = np.array([[1.0, h], [0.0, 1.0]]) - np.outer([0.5 * h**2, h], gains)
    assert found.final[:2] == pytest.approx(np.linalg.matrix_power(step, 10), rel=1e-5)
    assert "controller 'law' is sampled" in found.warnings[0]


def test_a_parameter_on_its_bound_is_changed_to_one_side():
    bounded, free = pl.Parameter("gain", 2.0, high=2.0), pl.Parameter("gain", 2.0)
    one, other = (pl.sensitivities(controlled(gain), 1.0, ["gain"], save=[1.0]) for gain in (bounded, free))
    assert one.final[:, 0] == pytest.approx(other.final[:, 0], rel=1e-3, abs=1e-4) and not np.array_equal(one.final, other.final)


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
