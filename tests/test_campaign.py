"""300 random mechanisms that nothing may go wrong with, and the judge that says so: each of its verdicts can fail."""

import dataclasses

import numpy as np
import pytest
import random_mechanisms
import random_parts
import verdicts
from campaign import FAILURES, Task, attempt, campaign, compiled_mechanism, run_member, tasks_of
from random_starts import STARTS, start

import pliant as pl
from pliant.codegen import llvm
from pliant.model.closure import CLOSURES
from pliant.model.friction_law import FRICTION_LAWS
from pliant.model.normal_law import NORMAL_LAWS
from pliant.run.prepare import compile_system

SEEDS = (101, 102, 103)
MEMBERS = 100  # of each seed


@pytest.fixture(autouse=True)
def others_are_compiled_as_before():
    """A campaign only translates what it compiles; tests that follow in this process want it done well."""
    well = llvm.LARGEST_OPTIMISED, llvm.LARGEST_OPTIMISED_IN_RUN
    default = dict(llvm.compile_function.__kwdefaults__)
    yield
    llvm.LARGEST_OPTIMISED, llvm.LARGEST_OPTIMISED_IN_RUN = well
    llvm.compile_function.__kwdefaults__.update(default)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_goes_wrong_with_random_mechanisms(seed):
    record = campaign(MEMBERS, seed, workers=1, quiet=True)
    failed = [one for one in record["failures"] if one["kind"] in FAILURES]
    command = f"python benchmarks/campaign.py --seed {seed} --only"
    again = [f"{command} {one['member']}  # {one['kind']}: {one['what']}" for one in failed]
    assert record["members"] == MEMBERS
    assert not failed, "\n".join(["reproduce one of them alone:", *again])


def test_every_random_body_is_one_that_can_exist():
    """Drawn one by one, principal moments break the triangle inequality in one mechanism of seventeen, which then tests nothing."""
    assert all(random_mechanisms.make(1, number).system.links for number in range(150))
    assert random_parts.principal([0.1, 0.3, 0.1]) == pytest.approx((0.1, 0.196, 0.1))
    assert random_parts.principal([0.1, 0.15, 0.1]) == (0.1, 0.15, 0.1)


def test_no_loop_holds_what_a_prescribed_motion_moves():
    """A loop that kept a foot on a slide, and a motion that moved it across the slide after 0.14 s."""
    assert not random_mechanisms.make(20261118, 1762).system.closures


def test_a_run_that_ends_at_a_dead_point_of_its_loop_is_told_from_one_that_ends_early():
    system = pl.System("stretched", gravity=(0, -9.81))
    crank = system.add("crank", pl.RigidBody.rod(0.5, 1.0), joint=pl.Revolute(motion=lambda t: 0.6 + t))
    coupler = system.add("coupler", pl.RigidBody.rod(0.3, 1.0), joint=pl.Revolute(angle=-0.61), on=crank.tip)
    rocker = system.add("rocker", pl.RigidBody.rod(0.3, 1.0), joint=pl.Revolute(angle=1.19), on=system.ground.moved((0.6, 0.0)))
    system.close("pin", "point", coupler.tip, rocker.tip)
    compiled = compile_system(system)
    dead, early = (pl.simulate(compiled, 1.0, method=pl.DOP853(1e-6, 1e-9), **limit) for limit in ({}, {"max_steps": 3}))
    assert not dead.ok and verdicts.how_it_ended(compiled, dead) == "singular"
    early = dataclasses.replace(early, message="the step fell")
    assert not early.ok and verdicts.how_it_ended(compiled, early) == "ended_early"


@pytest.mark.parametrize("member", [16, 465])
def test_a_run_that_ends_as_its_model_loses_its_inertia_says_so(member):
    number, which = divmod(member, STARTS)
    mechanism, compiled = compiled_mechanism(Task(1, number, which, which + 1, "Auto"))
    run = pl.simulate(compiled, mechanism.t_end, method=pl.Auto(rtol=1e-6, atol=1e-9), start=start(1, number, which, compiled))
    assert not run.ok and "the mass matrix is nearly singular there" in run.message and "resists a motion of" in run.message


# 474, 1320, 1370: a long first step into a stiff contact, whose stages were all thrown clear of it, was accepted at an error of
# round-off. 1224: rows inside a step came from a dense output one of whose extra stages lay deep in a contact. 564 and 750: a ball
# that hovers a micrometre above the ground dipped in and out in one long step, less deep than a cubic between its ends is wrong by.
# 129 of another seed: two stops of a loop were reached at one instant, one of them by the projection after the step alone. 1338 of
# 20261120: after a step of a picosecond to an event, Radau began at the polynomial of its stages, 1e40 m away, and stayed there.
# 1084: a fixed step too long for its contacts, whose rows went 2 mm deep without force where no shorter step did.
ONCE_WRONG = [
    *((1, *divmod(member, STARTS), "Auto") for member in (474, 1224, 1320, 1370)),
    *((1, number, 15, "Auto") for number in (564, 750)),
    (31415926, 129, 6, "Auto"),
    (20261120, 1338, 2, "Auto"),
    (20261121, 1084, 2, "RK4"),
]


@pytest.mark.parametrize(("seed", "number", "which", "method"), ONCE_WRONG)
def test_members_that_went_wrong_once_do_not_again(seed, number, which, method):
    task = Task(seed, number, which, which + 1, method)
    report = run_member(task, which, *compiled_mechanism(task))
    assert report["wrongs"] == []


def test_a_member_is_the_same_whenever_it_is_made():
    task = Task(seed=101, number=3, first=1, last=2, method="Auto")
    assert dict(attempt(task)) == dict(attempt(task))
    models = [pl.dump_model(random_mechanisms.make(101, 3).system) for _ in range(2)]
    assert models[0] == models[1]


@pytest.mark.parametrize("law", [*NORMAL_LAWS, *FRICTION_LAWS], ids=lambda law: law.__name__)
def test_every_registered_law_can_be_drawn(law):
    given = {"exponent": 1.0, "damping": 3.0} if law is pl.Linear else {}
    assert isinstance(random_parts.law_of(np.random.default_rng(1), law, **given), law)


def test_every_kind_of_closure_can_be_drawn():
    assert set(random_mechanisms.TAKEN) == set(CLOSURES)


# ---- the judge


@pytest.fixture(scope="module")
def bounce():
    """A ball that bounces twice and passes a height on its way, compiled and run."""
    system = pl.System("ball", gravity=(0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Prismatic(axis="y", displacement=0.5))
    ground = pl.Plane(normal=(0, 1, 0))
    system.contact(points=pl.Sphere(ball.root, 0.1), against=ground, normal=pl.Exact(stiffness=1e6, restitution=0.7), name="ground")
    system.event("half way", pl.files.parse_formula("q['ball.displacement'] - 0.2"))
    compiled = compile_system(system)
    return compiled, pl.simulate(compiled, 0.9, method=pl.DOP853(rtol=1e-8, atol=1e-11), save=0.005)


def with_values(result, **changed):
    return dataclasses.replace(result, values={**result.values, **changed})


def kinds(compiled, result):
    return {one.kind for one in verdicts.judge(compiled, result, 1e-8)}


def test_a_right_run_is_judged_right(bounce):
    compiled, result = bounce
    assert len(result.contacts) == 2
    assert kinds(compiled, result) == set()
    assert verdicts.different_touches(compiled, result, result, 1e-8) == []


def test_a_touch_that_is_not_on_record_is_missed(bounce):
    compiled, result = bounce
    numb = dataclasses.replace(result, contacts=type(result.contacts)(result.contacts[:1]))
    assert kinds(compiled, numb) == {"missed"}
    for pair in ((result, numb), (numb, result)):
        assert len(verdicts.different_touches(compiled, *pair, 1e-8)) == 1
    gap = result.values["gap"].copy()
    gap[result.time > result.contacts[1].begin] -= 0.1  # a run that misses a touch goes another way from there on
    assert len(verdicts.different_touches(compiled, result, with_values(numb, gap=gap), 1e-8)) == 1


def test_a_pair_that_closes_without_force_is_missed(bounce):
    compiled, result = bounce
    assert kinds(compiled, with_values(result, normal_force=np.zeros_like(result.values["normal_force"]))) == {"missed"}


def test_a_crossing_that_is_not_on_record_is_missed(bounce):
    compiled, result = bounce
    assert len(result.events) == 3
    assert kinds(compiled, dataclasses.replace(result, events=result.events[1:])) == {"missed"}


def test_a_body_below_the_ground_fell_through(bounce):
    compiled, result = bounce
    gap = result.values["gap"].copy()
    gap[-3:] = -0.4
    assert "fell_through" in kinds(compiled, with_values(result, gap=gap))


def test_an_open_ledger_is_seen_and_a_warning_makes_it_known(bounce):
    compiled, result = bounce
    short = with_values(result, kinetic=result.values["kinetic"] * (1.0 + 1e-4))
    assert kinds(compiled, short) == {"open_ledger"}
    assert kinds(compiled, dataclasses.replace(short, warnings=("the energy balance is off",))) == {"warned"}
    assert kinds(compiled, dataclasses.replace(short, warnings=("beam 'rod' bends by 1 m",))) == {"open_ledger"}


def test_what_is_not_finite_is_seen(bounce):
    compiled, result = bounce
    a = result.values["a"].copy()
    a[7] = np.nan
    assert kinds(compiled, with_values(result, a=a)) == {"nan"}


def test_an_early_end_is_told_from_a_limit_and_from_an_inertia_that_runs_out(bounce):
    compiled, result = bounce
    stopped = dataclasses.replace(result, ok=False, message="the step fell to 1e-18 s")
    assert kinds(compiled, stopped) == {"ended_early"}
    assert kinds(compiled, dataclasses.replace(stopped, message="the limit of 20 s of computing time was used up")) == {"hung"}
    system = pl.System("two masses at one place", gravity=(0, 0))
    light = system.add("light", pl.RigidBody(mass=1e-9), joint=pl.Prismatic(axis="x"))
    system.add("heavy", pl.RigidBody(mass=1.0), joint=pl.Prismatic(axis="x"), on=light.root)
    along = compile_system(system)
    run = pl.simulate(along, 0.1, method=pl.DOP853(rtol=1e-8, atol=1e-11))
    for message in ("the step fell to 1e-18 s", "the limit of 20000 steps was used up at t = 0.1 s (step 1e-18 s)"):
        assert kinds(along, dataclasses.replace(run, ok=False, message=message)) == {"singular"}


def test_a_loop_that_is_open_in_the_coordinates_is_seen_whatever_the_rows_say():
    system = pl.System("crank", gravity=(0, -9.81))
    rod = pl.RigidBody.rod(0.5, 1.0)
    crank = system.add("crank", rod, joint=pl.Revolute(angle=1.0))
    coupler = system.add("coupler", rod, joint=pl.Revolute(angle=-2.0), on=crank.tip)
    system.close("slide", "slider", coupler.tip, system.ground, axis="x")
    compiled = compile_system(system)
    result = pl.simulate(compiled, 0.1, method=pl.DOP853(rtol=1e-9, atol=1e-12))
    assert kinds(compiled, result) == set()
    q = result.values["q"].copy()
    q[-1, 1] += 1e-4
    assert kinds(compiled, with_values(result, q=q)) == {"open_loop"}


def test_members_come_in_whole_mechanisms_but_for_the_last():
    tasks = tasks_of(2 * STARTS + 1, 5, ["Auto", "RKF45"])
    assert [(task.number, task.last, task.method) for task in tasks] == [(0, STARTS, "Auto"), (1, STARTS, "RKF45"), (2, 1, "Auto")]
