"""Stiffness through the whole engine: hard contacts, stiff springs, explicit against implicit, words for what cannot be."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.gallery.parallel_robot.runs import GRID, Run
from pliant.gallery.parallel_robot.system import T_END, parallel_robot
from pliant.gallery.representative import REPRESENTATIVES
from pliant.run.prepare import compile_system

IMPLICIT = (pl.Radau5, pl.Radau9, pl.Rodas5P)
every_implicit = pytest.mark.parametrize("kind", IMPLICIT, ids=lambda kind: kind.__name__)
every_system = pytest.mark.parametrize("one", REPRESENTATIVES, ids=[one.name for one in REPRESENTATIVES])


def ball(normal):
    system = pl.System("ball", gravity=(0, -9.81))
    body = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Planar(position=(0, 0.1)))
    system.contact(points=body.root, against=pl.Plane(normal=(0, 1)), normal=normal)
    return system


# ---- contacts


def steps_in_contact(result):
    touch = result.contacts[0]
    return int(np.sum((result.time > touch.begin) & (result.time <= touch.end)))


@pytest.mark.parametrize("method", [pl.Auto(), pl.Radau9(rtol=1e-9, atol=1e-12), pl.Rodas5P(rtol=1e-7, atol=1e-10)], ids=repr)
def test_an_impact_costs_the_same_steps_however_hard_the_ground(method):
    """From a contact of 12 ms to one of 48 us: steps follow the contact's own time, from the first one after it closes."""
    runs = [pl.simulate(ball(pl.Hertz(stiffness=k)), 0.3, method=method, save="steps") for k in (1e6, 1e12)]
    soft, hard = (steps_in_contact(run) for run in runs)
    assert abs(hard - soft) <= 4
    for run in runs:
        touch = run.contacts[0]
        assert touch.restitution == pytest.approx(1.0, abs=1e-5)
        first = np.diff(run.time[run.time >= touch.begin])[0]
        assert first > 1e-3 * (touch.end - touch.begin)
        assert run.ledger.relative_error_max < 1e-5


def test_a_run_that_is_stiff_from_its_start_turns_soon_however_tight_it_is():
    """At rtol 1e-11 its explicit steps are at the edge in the first moment only; later round-off hides it."""
    result = pl.simulate(parallel_robot(1e8, damping=1e4), 0.5, method=pl.Auto(rtol=1e-11, atol=1e-14))
    assert result.ok and result.stats["steps_of"]["DOP853"] < 100 and "Radau9" in result.stats["steps_of"]
    assert result.stats["rhs_evaluations"] < 20_000


def test_a_ball_comes_to_rest_on_ground_of_1e12():
    """After a few bounces it lies still in a contact of some 20 us; automatic steps pass over that."""
    system = ball(pl.HuGuo(stiffness=1e12, restitution=0.3))
    result = pl.simulate(system, 1.0, method=pl.Auto(rtol=1e-6, atol=1e-9))
    assert result.ok
    assert result.stats["rhs_evaluations"] < 20_000
    assert result.rate("ball.y")[-1] == pytest.approx(0.0, abs=1e-6)
    depth = (9.81 / 1e12) ** (2.0 / 3.0)
    assert result["ball.y"][-1] == pytest.approx(-depth, abs=1e-9)
    assert result.ledger.relative_error_max < 1e-5
    tight = pl.simulate(system, 1.0, method=pl.Radau9(rtol=1e-9, atol=1e-12))
    assert [c.begin for c in result.contacts][:3] == pytest.approx([c.begin for c in tight.contacts][:3], abs=1e-6)


# ---- explicit and implicit


@pytest.fixture(scope="module")
def tight():
    """Every gallery system at a tolerance that others are held against."""
    runs = {}

    def of(one):
        if one.name not in runs:
            compiled = compile_system(one.build())
            times = np.linspace(0.0, one.t_end, 41)[1:].tolist()
            runs[one.name] = compiled, times, pl.simulate(compiled, one.t_end, method=pl.DOP853(rtol=1e-10, atol=1e-12), save=times)
        return runs[one.name]

    return of


@every_system
@every_implicit
def test_implicit_methods_agree_with_explicit_ones_on_every_gallery_system(one, kind, tight):
    """Tips within a micrometre at rtol 1e-7; impacts and a robot near a singular position multiply what a step leaves."""
    compiled, times, reference = tight(one)
    result = pl.simulate(compiled, one.t_end, method=kind(rtol=1e-7, atol=1e-10), save=times)
    assert result.ok
    assert np.max(np.abs(result.values["tip_position"] - reference.values["tip_position"])) < 1e-6
    assert len(result.contacts) == len(reference.contacts)
    assert result.ledger.relative_error_max < 3e-6
    assert reference.ledger.relative_error_max < 1e-8


@every_system
def test_the_automatic_choice_agrees_too_and_never_does_much_more_than_the_better_one(one, tight):
    """Work in evaluations; a Jacobian counts as many as its columns."""
    compiled, times, reference = tight(one)

    def work(method):
        result = pl.simulate(compiled, one.t_end, method=method, save=times, max_seconds=10.0)
        error = np.max(np.abs(result.values["tip_position"] - reference.values["tip_position"])) if result.ok else np.inf
        spent = result.stats["rhs_evaluations"] + compiled.traced.n_controlled * result.stats["jacobians"]
        return spent if result.ok else np.inf, error, result

    auto, error, result = work(pl.Auto(rtol=1e-7, atol=1e-10))
    assert error < 1e-6
    assert result.stats["steps"] == sum(result.stats["steps_of"].values())
    others = [work(kind(rtol=1e-7, atol=1e-10))[0] for kind in (pl.DOP853, pl.Radau9)]
    assert auto <= 1.5 * min(others) + 1000


def test_auto_is_the_default_and_can_be_named():
    system = ball(pl.Hertz(stiffness=1e6))
    plain, named, made = (pl.simulate(system, 0.2, **options) for options in ({}, {"method": "auto"}, {"method": pl.Auto()}))
    assert plain.stats["method"] == named.stats["method"] == repr(pl.Auto(rtol=1e-9, atol=1e-12))
    assert plain["ball.y"].tolist() == named["ball.y"].tolist() == made["ball.y"].tolist()
    with pytest.raises(pl.ModelError, match=r"simulate: method must be one of .*auto.*, got 'quick'"):
        pl.simulate(system, 0.2, method="quick")


def test_virtual_springs_a_hundred_thousand_times_as_stiff_cost_no_more_than_twice():
    """The parallel robot over three roses; rates to a rough tolerance, so that ringing which moves nothing may be damped.

    A Jacobian counts as two right-hand sides: its operations are no more than twice as many. Springs of 1e8 N/m hold
    the platform to 1.6 um of its path; numbers must not add to that.
    """
    work = {}
    for stiffness in (1e3, 1e8):
        compiled = compile_system(parallel_robot(stiffness))
        assert compiled.jacobian(False).operations <= 2 * compiled.rhs.operations
        method = pl.Radau5(rtol=1e-7, atol=[1e-8] * 9 + [1e-2] * 9)
        result = pl.simulate(compiled, T_END, method=method, save=GRID.tolist())
        assert result.ok
        work[stiffness] = result.stats["rhs_evaluations"] + 2 * result.stats["jacobians"]
        hard = Run(result).position_error.max()
    assert work[1e8] < 2 * work[1e3]
    assert hard < 3e-6


# ---- real time


def test_real_time_steps_keep_their_budget_through_contacts_and_loops():
    """Evaluations: three a step, one more at the start and whenever a contact closes or opens."""
    bouncing = pl.simulate(ball(pl.HuGuo(stiffness=1e9, restitution=0.5)), 0.5, method=pl.RealTime(step=1e-4))
    assert bouncing.ok
    stats = bouncing.stats
    assert (stats["steps"], stats["rejected"], stats["jacobians"]) == (5000, 0, 5000)
    assert stats["rhs_evaluations"] <= 3 * 5000 + 1 + 2 * len(bouncing.contacts)
    assert stats["error_largest"] >= stats["error_mean"] > 0.0
    robot = pl.simulate(parallel_robot(), 1.0, method=pl.RealTime(step=1e-3))
    exact = pl.simulate(parallel_robot(), 1.0)
    assert np.max(np.abs(robot["platform.x"] - exact["platform.x"])) < 1e-5
    assert robot.stats["steps"] == 1000


# ---- words


def test_a_tolerance_below_what_doubles_hold_is_refused():
    for kind in (*IMPLICIT, pl.Auto):
        with pytest.raises(pl.ModelError, match=rf"{kind.__name__}: rtol must be >= 2.22e-14: doubles hold no more digits"):
            kind(rtol=1e-15, atol=1e-12)


def test_a_singular_mass_matrix_is_named_before_the_run():
    system = pl.System("nothing", gravity=(0, -9.81))
    system.add("ghost", pl.RigidBody(mass=1.0, inertia=0.0), joint=pl.Revolute())
    with pytest.raises(pl.SolveError, match=r"coordinate 'ghost.angle': inertia along it must be > 0, got 0"):
        pl.simulate(system, 1.0, method=pl.Radau5(rtol=1e-6, atol=1e-9))


@pytest.mark.parametrize("method", [pl.Radau5(rtol=1e-6, atol=1e-9), pl.Rodas5P(rtol=1e-6, atol=1e-9), pl.Auto()], ids=repr)
def test_a_step_that_underflows_says_where_when_and_what_to_try(method):
    """x'' = x^3 from 1 at a speed that makes it 1 / (c - t): infinite in finite time, in every method."""
    system = pl.System("runaway", gravity=(0, 0))
    system.add("body", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(displacement=1.0, rate=2.0**-0.5))
    system.drive("push", "body.displacement", lambda t, q, v: q["body.displacement"] ** 3)
    result = pl.simulate(system, 3.0, method=method)
    assert not result.ok
    assert result.time[-1] == pytest.approx(2.0**0.5, abs=2e-3)
    assert "t = 1.41" in result.message
    assert "body.displacement" in result.message
    assert "try" in result.message


@pytest.mark.parametrize(
    "method", [pl.Rodas5P(1e-6, 1e-9), pl.Radau5(1e-6, 1e-9), pl.RealTime(1e-2)], ids=lambda m: type(m).__name__
)
def test_a_body_that_nothing_accelerates_moves_on_by_implicit_methods(method):
    """Its equations have no operation at all, in which the cost of a factorisation could be counted."""
    system = pl.System("coasting", gravity=(0, 0))
    system.add("puck", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Prismatic(axis="x", rate=2.0))
    assert pl.simulate(system, 1.0, method=method)["puck.displacement"][-1] == pytest.approx(2.0, rel=1e-12)
