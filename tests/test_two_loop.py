"""The two-loop procedure on mechanisms: it agrees with multipliers and projection, at its order, on the constraints."""

import math
from itertools import pairwise

import numpy as np
import pytest

import pliant as pl
from pliant.gallery.ivp_test_set import andrews_squeezer
from pliant.gallery.slider_crank import slider_crank
from pliant.run.prepare import compile_system

FINE = pl.TwoLoop(rtol=1e-10, atol=1e-12)
TIGHT = pl.DOP853(rtol=1e-12, atol=1e-14)


def crank_rocker():
    """A four-bar whose crank can turn: 0.3, 0.8, 0.6 on a base of 0.8 m."""
    system = pl.System("crank-rocker", gravity=(0, -9.81))
    crank = system.add("crank", pl.RigidBody.rod(0.3, 1.0), joint=pl.Revolute(angle=0.5))
    coupler = system.add("coupler", pl.RigidBody.rod(0.8, 1.0), joint=pl.Revolute(angle=0.4), on=crank.tip)
    rocker = system.add("rocker", pl.RigidBody.rod(0.6, 1.0), joint=pl.Revolute(angle=1.6), on=system.ground.moved((0.8, 0.0)))
    system.close("pin", "point", coupler.tip, rocker.tip)
    system.drive("motor", "crank.angle", 6.0)
    return system


def constraints_of(compiled, run):
    """(C, C') of all rows by the functions the method itself is given."""
    traced = compiled.traced
    values = traced.partition[0].casadi
    rows = len(traced.rows)
    found = []
    for k, t in enumerate(run.time):
        carried = np.zeros(len(traced.y0) - len(traced.free_q) - len(traced.free_v))
        y = np.concatenate([run.values["q"][k], run.values["v"][k], carried])
        found.append(np.array(values(t, y, traced.parameters(0.0, 1.0))).ravel()[: 2 * rows])
    return np.array(found)[:, :rows], np.array(found)[:, rows:]


@pytest.mark.parametrize("formulation", ["articulated", "augmented"])
def test_a_crank_turns_as_it_does_by_projection(formulation):
    compiled = compile_system(crank_rocker(), formulation)
    run = pl.simulate(compiled, 0.8, method=FINE, save="steps")
    expected = pl.simulate(crank_rocker(), 0.8, method=TIGHT, save=[0.8])
    assert expected["crank.angle"][-1] > 4.0 * math.pi
    assert run.values["tip_position"][-1] == pytest.approx(expected.values["tip_position"][-1], abs=1e-8)
    speeds = expected.values["tip_velocity"][-1]
    assert run.values["tip_velocity"][-1] == pytest.approx(speeds, abs=3e-8 * np.max(speeds))
    assert run.ledger.relative_error_max < 1e-8
    assert len(run.stats["independent"].split(", ")) == compiled.traced.independent == 1
    c, rate = constraints_of(compiled, run)
    assert np.max(np.abs(c[1:])) < 1e-14
    assert np.max(np.abs(rate[1:])) < 1e-13


def rigid_slider_crank():
    system = pl.System("slider-crank", gravity=(0, 0))
    crank = system.add("crank", pl.RigidBody.rod(0.15, 1.0), joint=pl.Revolute(rate=20.0))
    rod = system.add("rod", pl.RigidBody.rod(0.3, 1.0), joint=pl.Revolute(rate=-30.0), on=crank.tip)
    slider = system.add("slider", pl.RigidBody(mass=1.0, inertia=0.01), joint=pl.Prismatic(displacement=0.45))
    system.close("pin", "point", rod.tip, slider.root)
    return system


def test_a_partition_that_has_become_poor_is_chosen_anew():
    """Stretched, the angle of the crank gives way best; folded it does not, and the rod takes over for good."""
    run = pl.simulate(rigid_slider_crank(), 1.0, method=FINE, save="steps")
    expected = pl.simulate(rigid_slider_crank(), 1.0, method=TIGHT, save=[1.0])
    assert expected["crank.angle"][-1] > 4.0 * math.pi
    assert run.stats["partitions"] == 2
    assert run.values["tip_position"][-1] == pytest.approx(expected.values["tip_position"][-1], abs=1e-8)
    assert np.max(np.abs(run.values["constraint"][1:])) < 1e-14
    assert run.ledger.relative_error_max < 1e-8


@pytest.mark.parametrize("formulation", ["articulated", "augmented"])
def test_andrews_squeezer_by_two_loops(formulation):
    run = pl.simulate(andrews_squeezer(), 0.03, method=FINE, save=[0.03], formulation=formulation)
    expected = pl.simulate(andrews_squeezer(), 0.03, method=TIGHT, save=[0.03])
    assert run.values["tip_position"] == pytest.approx(expected.values["tip_position"], abs=1e-10)
    found = dict(zip(run.labels["row"], run.values["multiplier"][-1], strict=True))
    for row, force in zip(expected.labels["row"], expected.values["multiplier"][-1], strict=True):
        assert found[row] == pytest.approx(force, abs=1e-5 * np.max(np.abs(expected.values["multiplier"])))
    assert np.max(np.abs(run.values["constraint"])) < 1e-15


def test_the_papers_slider_crank_hits_as_the_reference_does():
    """The mechanism the procedure is taken from: first touch, its speeds and its force, to six digits."""
    run = pl.simulate(slider_crank(), 0.0369, method=pl.TwoLoop(rtol=1e-9, atol=1e-12), save=[0.0369])
    first = run.contacts[0]
    assert first.begin == pytest.approx(0.03681515308, rel=1e-6)
    assert first.entry_speed == pytest.approx(16.484135, rel=1e-6)
    assert first.peak_force == pytest.approx(52970.7283, rel=1e-6)
    # the modes of the rod are stiff: they are integrated, and what follows from them is joints
    assert all(name in run.stats["independent"] for name in ("rod.axial1", "rod.y1", "rod.y2"))


def test_the_order_of_a_run_is_five():
    compiled = compile_system(crank_rocker())
    exact = pl.simulate(compiled, 0.2, method=TIGHT, save=[0.2]).values["tip_position"][-1]
    errors = []
    for h in (0.01, 0.005, 0.0025):
        run = pl.simulate(compiled, 0.2, method=pl.TwoLoop(rtol=1e-3, atol=1e6, first_step=h, max_step=h), save=[0.2])
        errors.append(np.max(np.abs(run.values["tip_position"][-1] - exact)))
    orders = [math.log2(a / b) for a, b in pairwise(errors)]
    assert orders[-1] == pytest.approx(5.0, abs=0.5)


def test_an_open_chain_needs_no_second_loop():
    system = pl.System("pendulum", gravity=(0, -9.81))
    system.add("rod", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute())
    runs = [pl.simulate(system, 1.0, method=method(rtol=1e-8, atol=1e-10), save=[1.0]) for method in (pl.TwoLoop, pl.RKF45)]
    assert np.array_equal(runs[0].values["q"], runs[1].values["q"])
    assert "partitions" not in runs[0].stats


def test_an_event_inside_a_step_leaves_a_driven_loop_closed():
    """The step is taken again up to the event, with the loop closed at the event's time, not at the end of the step."""
    system = crank_rocker_that_is_told()
    system.event("there", lambda t, q, v: q["rocker.angle"] - 1.7, stop=True)
    compiled = compile_system(system)
    run = pl.simulate(compiled, 1.0, method=FINE, save="steps")
    assert run.message.startswith("event 'there' ended the run")
    c, rate = constraints_of_state(compiled, run.final_state)
    assert np.max(np.abs(c)) < 1e-13 and np.max(np.abs(rate)) < 1e-12
    expected = pl.simulate(system, 1.0, method=TIGHT)
    assert run.final_state.t == pytest.approx(expected.final_state.t, abs=1e-8)


def crank_rocker_that_is_told():
    system = pl.System("told", gravity=(0, -9.81))
    crank = system.add("crank", pl.RigidBody.rod(0.3, 1.0), joint=pl.Revolute(motion=lambda t: 0.5 + 5.0 * t))
    coupler = system.add("coupler", pl.RigidBody.rod(0.8, 1.0), joint=pl.Revolute(angle=0.4), on=crank.tip)
    rocker = system.add("rocker", pl.RigidBody.rod(0.6, 1.0), joint=pl.Revolute(angle=1.6), on=system.ground.moved((0.8, 0.0)))
    system.close("pin", "point", coupler.tip, rocker.tip)
    return system


def constraints_of_state(compiled, state):
    """(C, C') at one state."""
    traced = compiled.traced
    values = np.array(traced.partition[0].casadi(state.t, state.y, traced.parameters(0.0, 1.0))).ravel()
    return values[: traced.held], values[traced.held : 2 * traced.held]
