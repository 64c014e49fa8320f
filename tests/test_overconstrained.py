"""Loops with more rows than they need: rows that others imply, nearly imply, or stop implying; loops that cannot move at all."""

import re

import numpy as np
import pytest

import pliant as pl
from pliant.files import dump_model, loads_model
from pliant.run.prepare import compile_system

TIGHT = pl.DOP853(rtol=1e-11, atol=1e-13)


def rod(length):
    return pl.RigidBody(mass=1.0, inertia=(0.01, 0.1, 0.1), com=(length / 2, 0.0, 0.0), tip=(length, 0.0, 0.0))


def hinged_four_bar(out_of_line=0.0, driven=True, pendulum=True):
    """A plane four-bar of hinges in space, turned so that no row vanishes by structure; one hinge `out_of_line`, degrees.

    Out of line it cannot move. The pendulum beside it can, so that the freedoms of the whole do not tell.
    """
    system = pl.System("four-bar", gravity=(0.3, -9.81, 0.2))
    turned = system.ground.turned(0.3, axis="x").turned(0.4, axis="y")
    base = system.add("base", pl.RigidBody(mass=1.0, inertia=(0.1, 0.1, 0.1)), joint=pl.Weld(), on=turned).root
    turning = {"motion": lambda t: np.pi / 2 + 0.5 * t * t} if driven else {"angle": np.pi / 2}
    crank = system.add("crank", rod(0.3), joint=pl.Revolute(**turning), on=base)
    coupler = system.add("coupler", rod(0.8), joint=pl.Revolute(angle=0.3 - np.pi / 2), on=crank.tip)
    x, y = 0.8 * np.cos(0.3) - 0.7, 0.3 + 0.8 * np.sin(0.3)
    lean = np.radians(out_of_line)
    hinge = pl.Revolute(axis=(0.0, -np.sin(lean), np.cos(lean)))
    rocker = system.add("rocker", rod(np.hypot(x, y)), joint=hinge, on=base.moved((0.7, 0.0, 0.0)).turned(np.arctan2(y, x)))
    system.close("pin", "revolute", coupler.tip, rocker.tip, axis="z")
    if pendulum:
        system.add("pendulum", rod(0.5), joint=pl.Revolute(angle=0.5))
    return system


CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
HINGES = [(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)]


def bricard(wrong=0.0, **more):
    """Bricard's mechanism on the edges of a cube (IFToMM A04): five rods, six hinges, one freedom; one rod too long by a part."""
    system = pl.System("bricard", gravity=(0.0, 0.0, -9.81), **more)
    last = system.ground
    for k, hinge in enumerate(HINGES):
        along = (CORNERS[k + 1] - CORNERS[k]) * (1.0 + wrong * (k == 2))
        inertia = tuple(np.where(along != 0.0, 1e-6, 1.0 / 12.0))
        body = pl.RigidBody(mass=1.0, inertia=inertia, com=tuple(along / 2), tip=tuple(along))
        last = system.add(f"rod{k}", body, joint=pl.Revolute(axis=hinge), on=last).tip
    system.close("loop", "revolute", last, system.ground.moved((0.0, 0.0, 1.0)), axis="x")
    return system


@pytest.mark.parametrize("driven", [True, False])
@pytest.mark.parametrize("degrees", [5.0, 30.0])
def test_a_loop_that_cannot_move_says_so_before_it_runs(degrees, driven):
    """Also where its crank is told to turn, from rest, so that the rates at the start do not tell."""
    message = r"must leave something free to move, they leave 0 degrees of freedom: the rows of 'pin' hold all 3 coordinates$"
    with pytest.raises(pl.SolveError, match=message):
        pl.simulate(hinged_four_bar(degrees, driven, pendulum=False), 2.0)


@pytest.mark.parametrize("method", [pl.Auto(), pl.RK4(step=0.01), pl.TwoLoop(rtol=1e-8, atol=1e-10)], ids=repr)
@pytest.mark.parametrize("degrees", [5.0, 30.0])
def test_a_run_ends_with_a_sentence_as_soon_as_rows_stop_being_implied(degrees, method):
    """Two rows of five fix coupler and rocker where the crank is told; the other three follow from them at the start only."""
    run = pl.simulate(hinged_four_bar(degrees), 2.0, method=method, save="steps")
    assert not run.ok
    message = r"closure 'pin' came open after t = \S+ s: its row 'pin [234]', which other rows implied at the start, is off by \S+ "
    assert run.time[-1] < 0.05
    assert re.match(message, run.message), run.message
    assert run.labels["row"] == tuple(f"pin {k}" for k in range(5))
    assert np.max(np.abs(run.values["constraint"])) < 1e-6, "what is kept is closed"


def test_rows_that_others_imply_are_in_the_result_and_carry_nothing():
    compiled = compile_system(hinged_four_bar())
    assert compiled.traced.redundant == ("pin",) and compiled.traced.independent == 1
    run = pl.simulate(compiled, 2.0, method=TIGHT, save="steps")
    assert run.ok and run.warnings == ()
    assert run.labels["row"] == tuple(f"pin {k}" for k in range(5))
    assert np.max(np.abs(run.values["constraint"])) < 1e-12
    carries = np.max(np.abs(run.values["multiplier"]), axis=0) > 0.0
    assert np.count_nonzero(carries) == 2
    assert run.ledger.relative_error_max < 1e-9


METHODS = [
    pl.DOP853(rtol=1e-3, atol=1e-6), pl.DOP853(rtol=1e-12, atol=1e-14), pl.RKF45(rtol=1e-3, atol=1e-6), pl.RK4(step=0.1),
    pl.DormandPrince(rtol=1e-6, atol=1e-9), pl.Radau5(rtol=1e-3, atol=1e-6), pl.Radau9(rtol=1e-9, atol=1e-12),
    pl.Rodas5P(rtol=1e-3, atol=1e-6), pl.RealTime(step=0.02), pl.TwoLoop(rtol=1e-3, atol=1e-6), pl.Auto(rtol=1e-9, atol=1e-12),
]  # fmt: skip


@pytest.mark.parametrize("made", [bricard, hinged_four_bar])
def test_implied_rows_raise_no_false_alarm_by_any_method_at_any_tolerance(made):
    compiled = compile_system(made())
    for method in METHODS:
        run = pl.simulate(compiled, 5.0, method=method, save=[5.0])
        assert run.ok, (method, run.message)
        assert np.max(np.abs(run.values["constraint"])) < 1e-9


@pytest.mark.parametrize(("wrong", "formulation"), [(1e-8, "articulated"), (1e-7, "articulated"), (1e-7, "augmented")])
def test_a_small_misfit_is_told_and_the_mechanism_moves(wrong, formulation):
    run = pl.simulate(bricard(wrong), 2.0, save=[2.0], formulation=formulation)
    exact = pl.simulate(bricard(), 2.0, save=[2.0])
    assert run.ok and run.stats["degrees_of_freedom"] == 1
    assert run.ledger.relative_error_max < 1e-7
    assert run.values["tip_position"] == pytest.approx(exact.values["tip_position"], abs=10.0 * wrong)
    assert 0.1 * wrong < np.max(np.abs(run.values["constraint"])) < 10.0 * wrong
    (warning,) = run.warnings
    assert warning.startswith("over-constrained by 1 row of closure")
    assert "treated as implied by the others and left out" in warning


@pytest.mark.parametrize("wrong", [2e-6, 1e-5, 1e-4])
def test_a_misfit_beyond_the_tolerance_is_refused_with_its_size(wrong):
    message = rf"over-constrained by 1 row, misfit {wrong:.3g} rad, more than closure_tolerance = 1e-06 of the mechanism's size"
    with pytest.raises(pl.SolveError, match=message):
        pl.simulate(bricard(wrong), 2.0)


def test_the_tolerance_may_be_given_and_then_it_moves():
    run = pl.simulate(bricard(1e-4, closure_tolerance=1e-3), 2.0, save=[2.0])
    assert run.ok and run.ledger.relative_error_max < 1e-7
    assert "misfit 0.0001 rad: within closure_tolerance = 0.001" in run.warnings[-1]


def test_the_tolerance_travels_with_the_model_and_is_checked():
    system = bricard(closure_tolerance=1e-4)
    assert loads_model(dump_model(system)).system.closure_tolerance == 1e-4
    assert "closure_tolerance" not in dump_model(bricard())
    assert pl.absolute_coordinates(system).closure_tolerance == 1e-4
    with pytest.raises(
        pl.ModelError, match=r"closure_tolerance must be in \[1e-12, 0.01\], relative to the mechanism's size, got 1.0"
    ):
        bricard(closure_tolerance=1.0)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e4])
def test_what_is_implied_does_not_depend_on_how_large_a_mechanism_is(size):
    """A brace that holds nothing new, on a parallelogram of microns and of kilometres, one side of it on a slide."""
    system = pl.System("braced", gravity=(0, 0))
    bar = pl.RigidBody(mass=1.0, inertia=size**2, tip=(size, 0.0))
    first = system.add("first", bar, joint=pl.Revolute(angle=1.2))
    coupler = system.add("coupler", bar, joint=pl.Revolute(angle=-1.2), on=first.tip)
    slide = system.add("slide", pl.RigidBody(mass=1.0, inertia=size**2), joint=pl.Prismatic(axis="x"))
    last = system.add("last", bar, joint=pl.Revolute(angle=1.2), on=slide.root.moved((size, 0.0)))
    system.close("pin", "point", coupler.tip, last.tip)
    system.close("brace", "distance", coupler.at((0.5 * size, 0.0)), slide.root.moved((0.5 * size, 0.0)), length=size)
    traced = compile_system(system).traced
    assert (traced.independent, traced.redundant) == (1, ())
    system.close("stay", "distance", coupler.at((0.25 * size, 0.0)), slide.root.moved((0.25 * size, 0.0)), length=size)
    traced = compile_system(system).traced
    assert (traced.independent, traced.redundant) == (1, ("stay",))


def test_a_motion_that_follows_from_others_at_the_start_only_ends_the_run():
    """Two geared wheels, both told to turn: 0.5 t^2 and t^3 agree, with their rates, at t = 0."""
    system = pl.System("geared", gravity=(0, 0))
    for name in ("one", "two"):
        system.add(name, pl.RigidBody(mass=1.0, inertia=0.3), joint=pl.Revolute())
    system.add("free", pl.RigidBody(mass=1.0, inertia=0.3), joint=pl.Revolute(rate=1.0))
    system.close("mesh", "gear", "one.angle", "two.angle", ratio=1.0)
    system.close("first", "prescribed", "one.angle", motion=lambda t: 0.5 * t * t)
    system.close("second", "prescribed", "two.angle", motion=lambda t: t**3)
    run = pl.simulate(system, 1.0, save="steps")
    assert not run.ok and run.message.startswith("closure 'second' came open after t = ")
    assert run.time[-1] < 0.01


@pytest.mark.parametrize("length", [1.0, 1000.0])
def test_a_loop_that_only_bending_can_close_is_no_singular_position_however_long(length):
    """A straight beam on two hinges that stand still: its stretch closes the loop, which no joint moves."""
    section, stretch = pl.Section.rectangle(0.1, 0.2), pl.AxialModes("cf", 1)
    beam = pl.Beam(length=length, section=section, material=pl.STEEL, theory="euler-bernoulli", modes=[stretch])
    system = pl.System("held", gravity=(0, 0))
    held = system.add("beam", beam, joint=pl.Revolute())
    slide = system.add("slide", pl.RigidBody.rod(0.1 * length, 1.0), joint=pl.Revolute(angle=np.pi / 2), on=held.tip)
    system.close("end", "point", slide.root, system.ground.moved((length, 0.0)))
    assert compile_system(system).traced.redundant == ()


def truss(elastic):
    """Two links from two points of the ground, pinned together: a triangle."""
    system = pl.System("truss", gravity=(0, -9.81))
    beam = pl.Beam(length=1.0, section=pl.Section.rectangle(0.01, 0.02), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 1))  # fmt: skip
    first = system.add("first", beam if elastic else pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=1.0))
    last = system.add("last", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=2.0), on=system.ground.moved((1.0, 0.0)))
    system.close("pin", "point", first.tip, last.tip)
    return system


def test_a_truss_of_rigid_rods_is_refused_one_that_bends_runs():
    with pytest.raises(pl.SolveError, match=r"system 'truss': closures must leave something free to move"):
        compile_system(truss(elastic=False))
    assert compile_system(truss(elastic=False), still=True).traced.independent == 0
    assert compile_system(truss(elastic=True)).traced.independent == 1


def stretched_four_bar(motion):
    """A four-bar of 0.5, 0.3, 0.3 on a base of 0.6 m, whose longest bar is told to turn until the two short ones are in line."""
    system = pl.System("stretched", gravity=(0, -9.81))
    crank = system.add("crank", pl.RigidBody.rod(0.5, 1.0), joint=pl.Revolute(motion=motion))
    coupler = system.add("coupler", pl.RigidBody.rod(0.3, 1.0), joint=pl.Revolute(angle=-0.61), on=crank.tip)
    rocker = system.add("rocker", pl.RigidBody.rod(0.3, 1.0), joint=pl.Revolute(angle=1.19), on=system.ground.moved((0.6, 0.0)))
    system.close("pin", "point", coupler.tip, rocker.tip)
    return system


@pytest.mark.parametrize("method", [pl.Auto(rtol=1e-8, atol=1e-11), pl.DOP853(1e-5, 1e-8), pl.Radau5(1e-6, 1e-9)], ids=repr)
def test_a_loop_that_is_driven_beyond_its_dead_point_ends_the_run_there(method):
    """The law of cosines tells at which angle the tip of the first bar is 0.3 + 0.3 m away from the foot of the last."""
    reach = np.arccos((0.5**2 + 0.6**2 - 0.6**2) / (2.0 * 0.5 * 0.6))
    run = pl.simulate(stretched_four_bar(lambda t: 0.6 + t), 2.0, method=method, save="steps")
    assert not run.ok
    assert re.match(r"closure 'pin' came open after t = \S+ s: its row 'pin [01]' is off by \S+ m at t = ", run.message), (
        run.message
    )
    assert "dead point" in run.message
    assert run.time[-1] == pytest.approx(reach - 0.6, abs=1e-6)
    assert np.max(np.abs(run.values["constraint"])) < 1e-6, "what is kept is closed"


def test_a_row_that_is_implied_only_where_the_run_starts_is_refused():
    """A bar square to a slide: its length changes with the square of the way, so at first order nothing holds the slide."""
    system = pl.System("square", gravity=(0, 0, -9.81))
    slide = system.add("slide", pl.RigidBody(mass=1.0, inertia=(0.1, 0.1, 0.1)), joint=pl.Prismatic(axis="z", rate=1.0))
    system.add("other", pl.RigidBody(mass=1.0, inertia=(0.1, 0.1, 0.1)), joint=pl.Prismatic(axis="x"))
    system.close("bar", "distance", slide.root, system.ground.moved((0.4, 0.0, 0.0)), length=0.4)
    with pytest.raises(
        pl.SolveError, match=r"closure 'bar': rows that others imply at the start must stay so, but 1 row would be open"
    ):
        pl.simulate(system, 1.0)


def locked_hinge():
    """A hinge on an arm that is told to turn; the foot of the arm holds it, by one row of two, which vanishes at a quarter turn."""
    system = pl.System("locked hinge", gravity=(0, -9.81))
    arm = system.add("arm", pl.RigidBody.rod(0.3, 1.0), joint=pl.Revolute(motion=lambda t: t))
    lid = system.add("lid", pl.RigidBody.rod(0.2, 2.0), joint=pl.Revolute(), on=arm.tip)
    system.close("hold", "point", lid.root.moved((-0.3, 0.0)), system.ground)
    system.add("free", pl.RigidBody.rod(0.2, 2.0), joint=pl.Revolute())
    system.drive("push", "lid.angle", pl.PiecewiseConstant((0.0, np.pi / 2.0), (5.0, 1.0)))  # a step ends where the row vanishes
    return system


@pytest.mark.parametrize("method", [pl.DOP853(rtol=1e-5, atol=1e-8), pl.RKF45(1e-6, 1e-9), pl.Radau5(1e-6, 1e-9)], ids=repr)
def test_the_row_that_holds_a_loop_may_turn_away_from_it_and_back(method):
    compiled = compile_system(locked_hinge())
    assert compiled.traced.redundant == ("hold",)
    run = pl.simulate(compiled, 4.0, method=method)
    assert run.ok, run.message
    assert np.max(np.abs(run.values["constraint"])) < 1e-7
    assert np.max(np.abs(run["lid.angle"])) < 1e-6
    assert run.ledger.relative_error_max < 1e3 * method.rtol


def test_steps_that_fail_where_the_rows_held_are_dependent_say_so():
    """At a tight tolerance the load finds the other position that the row in force allows, before its neighbour can tell."""
    run = pl.simulate(locked_hinge(), 4.0, method=pl.Auto(rtol=1e-8, atol=1e-11))
    assert run.ok or "nearly dependent" in run.message or "came open" in run.message


def coaxial_arms(angle, gravity=(0.0, -9.81), mass=2.0):
    """Two arms on one axis, damped, their tips pinned: two rows for one freedom too many, and either vanishes in some position."""
    system = pl.System("coaxial arms", gravity=gravity)
    arms = [system.add(name, pl.RigidBody.rod(0.5, m), joint=pl.Revolute(angle=angle, damper=pl.Damper(1.5)))
            for name, m in (("a", mass), ("b", 1.0))]  # fmt: skip
    system.close("pin", "point", arms[0].tip, arms[1].tip)
    return system


@pytest.mark.parametrize("method", [pl.Auto(), pl.RK4(step=0.01), pl.Rodas5P(1e-7, 1e-9)], ids=repr)
@pytest.mark.parametrize(("angle", "gravity"), [(0.0, (0.0, -9.81)), (0.3, (9.81, 0.0)), (0.3, (6.0, 6.0))], ids=repr)
def test_loops_come_to_rest_where_the_rows_that_held_them_at_the_start_hold_nothing(angle, gravity, method):
    run = pl.simulate(coaxial_arms(angle, gravity), 20.0, method=method)
    assert run.ok, run.message
    assert np.allclose(run.values["q"][-1], np.arctan2(gravity[1], gravity[0]), atol=1e-6)
    assert np.max(np.abs(run.values["constraint"])) < 1e-7
    assert run.ledger.relative_error_max < 1e-5
    weights = -np.outer((2.0, 1.0), (*gravity, 0.0))
    assert np.allclose(np.sum(run.values["reaction_force"][-1], axis=0), np.sum(weights, axis=0), atol=1e-4)


def test_a_run_that_is_repeated_with_other_rows_goes_everywhere(tmp_path):
    """Into a file, into ensembles, and into derivatives; and it is the motion of one arm with the mass of both."""
    system = coaxial_arms(0.0, mass=pl.Parameter("mass", 2.0))
    single = pl.System("one", gravity=(0.0, -9.81))
    single.add("a", pl.RigidBody.rod(0.5, 3.0), joint=pl.Revolute(damper=pl.Damper(3.0)))
    alone = pl.simulate(single, 8.0, method=TIGHT)
    filed = pl.simulate(system, 8.0, method=TIGHT, to=tmp_path / "run.nc")
    assert filed.ok and np.allclose(filed["a.angle"], alone["a.angle"], atol=1e-9)
    many = pl.ensemble(system, 8.0, parameters={"mass": [2.0, 3.0]}, method=TIGHT)
    assert np.all(many["ok"]) and many["q_end"].values[0, 0] == filed["a.angle"][-1]
    slopes = pl.sensitivities(system, 8.0, ["mass"], of="q", save=0.5)
    above, below = (pl.simulate(system, 8.0, method=TIGHT, save=0.5, parameters={"mass": m})["a.angle"] for m in (2.0001, 1.9999))
    assert slopes.ok and np.allclose(slopes.table["q"].values[:, 0, 0], (above - below) / 2e-4, atol=1e-7)


def test_the_limits_of_a_run_hold_for_its_repetitions_too_and_these_are_said():
    free = pl.simulate(coaxial_arms(0.0), 8.0, method=TIGHT)
    assert free.ok and free.stats["repeated"] == 1
    needed = free.stats["steps"] + free.stats["rejected"]  # of the repetition alone
    short = pl.simulate(coaxial_arms(0.0), 8.0, method=TIGHT, max_steps=needed + 1)
    assert not short.ok and f"{needed + 1} steps" in short.message and short.stats["repeated"] == 1
    tried = pl.simulate(coaxial_arms(0.0), 8.0, method=TIGHT, max_steps=10)
    assert "repeated" not in tried.stats and "repeated" not in pl.simulate(coaxial_arms(-1.0), 0.1).stats
