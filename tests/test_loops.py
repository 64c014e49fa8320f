"""Closed loops: multipliers with projection, virtual springs, assembly, and what cannot close."""

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.run.prepare import compile_system
from pliant.trace.tracing import AUGMENTED, FORMULATIONS

TIGHT = pl.DOP853(rtol=1e-11, atol=1e-13)

# N four-bar linkages, IFToMM A02, exact: (t = 1 s, t = 10 s)
FOUR_BAR = {1: ((-0.2607126752, -0.9654164392), (0.4783850578, 0.8781501788)),
            2: ((-0.1950203019, -0.9807992057), (0.3284581115, 0.9445185382))}  # fmt: skip


def four_bar(windows=1, **closing):
    """Windows of unit rods, upright, the first tip at +1 m/s; singular when all lies flat."""
    system = pl.System("four-bar", gravity=(0, -9.81))
    rod = pl.RigidBody.rod(1.0, 1.0)
    last = system.add("A0", rod, joint=pl.Revolute(angle=np.pi / 2, rate=-1.0)).tip
    turn = {"angle": -np.pi / 2, "rate": 1.0}
    for k in range(windows):
        coupler = system.add(f"C{k}", rod, joint=pl.Revolute(**turn), on=last)
        upright = pl.Revolute(angle=np.pi / 2, rate=-1.0)
        post = system.add(f"A{k + 1}", rod, joint=upright, on=system.ground.moved((k + 1.0, 0.0)))
        system.close(f"pin{k}", "point", coupler.tip, post.tip, **closing)
        last, turn = coupler.tip, {}
    return system


def rrr(by="multipliers", stiffness=None, damping=0.0):
    """The planar 3RRR robot of Raoofian, Taghvaeipour, Kamali at the start of its rose."""
    angles = [-0.9582199195654555, 2.153576374620775, 0.9154396611868794]
    system = pl.System("3RRR", gravity=(0, 0))
    pins = [(0.4 / np.sqrt(3) * np.cos(a), 0.4 / np.sqrt(3) * np.sin(a)) for a in np.radians([210, 330, 90])]
    platform = system.add("platform", pl.RigidBody(mass=8.0, inertia=0.0817, frames=dict(zip("abc", pins, strict=True))),
                          joint=pl.Planar(position=(0.05, 0.0), velocity=(0.0, 0.05 * np.pi)))  # fmt: skip
    for k, name in enumerate("abc"):
        angle = np.radians([210, 330, 90][k])
        base = system.ground.moved((1.2 / np.sqrt(3) * np.cos(angle), 1.2 / np.sqrt(3) * np.sin(angle)))
        first = angles[0] if k == 0 else angles[2] if k == 1 else 4.0
        upper = system.add(f"upper {name}", pl.RigidBody(mass=3.0, inertia=0.04, com=(0.2, 0), tip=(0.4, 0)),
                           joint=pl.Revolute(angle=first), on=base)  # fmt: skip
        fore = system.add(f"fore {name}", pl.RigidBody(mass=4.0, inertia=0.12, com=(0.3, 0), tip=(0.6, 0)),
                          joint=pl.Revolute(angle=2.15), on=upper.tip)  # fmt: skip
        system.close(f"pin {name}", "point", fore.tip, platform.at(name), by=by, stiffness=stiffness, damping=damping)
    return system


def test_a_four_bar_follows_its_one_coordinate():
    run = pl.simulate(four_bar(1), 10.0, method=TIGHT, save=[1.0, 10.0])
    tips = run.of_body("tip_position", "A0")[:, :2]
    assert tips == pytest.approx(np.array(FOUR_BAR[1]), abs=1e-7)
    assert np.max(np.abs(run.values["constraint"])) < 1e-11


def test_two_windows_pass_their_singular_position():
    """Flat, two rows say the same; multipliers are shared there instead of divided by zero: 1e-7 m after 10 s."""
    run = pl.simulate(four_bar(2), 10.0, method=TIGHT, save=[1.0, 10.0])
    assert run.of_body("tip_position", "A0")[:, :2] == pytest.approx(np.array(FOUR_BAR[2]), abs=1e-7)


def test_energy_of_a_closed_loop_is_kept_and_drift_is_round_off():
    run = pl.simulate(rrr(), 3.0, method=TIGHT, save="steps")
    assert run.ledger.balance_error_max < 1e-10 * run.values["kinetic"][0]
    assert np.max(np.abs(run.values["constraint"])) < 1e-13


def test_a_rough_start_is_assembled_and_freedoms_are_counted():
    traced = compile_system(rrr()).traced
    assert traced.independent == 3
    assert traced.redundant == ()
    assert len(traced.rows) == 6


def test_multipliers_are_what_stiff_springs_tend_to():
    """Reactions of a statically loaded closed frame: exact by multipliers, by springs as 1/Ks."""
    exact = pl.simulate(four_bar(1), 0.2, method=TIGHT, save=[0.2])
    errors = []
    for stiffness in (1e6, 1e8):
        soft = pl.simulate(four_bar(1, by="springs", stiffness=stiffness, damping=2e3), 0.2, save=[0.2])
        errors.append(np.max(np.abs(soft.values["multiplier"] - exact.values["multiplier"])))
        assert soft.ledger.relative_error_max < 1e-7
    assert errors[1] < 0.05 * errors[0]


def bob_on_a_spring(x, **start):
    """2 kg on a spring of 1 m and 100 N/m, stretched to x."""
    system = pl.System("bob", gravity=(0, 0))
    bob = system.add("bob", pl.RigidBody(mass=2.0, inertia=0.1), joint=pl.Planar(position=(x, 0.0), **start))
    system.close("spring", "distance", bob.root, system.ground, length=1.0, by="springs", stiffness=100.0)
    return system


@pytest.mark.parametrize("formulation", (*FORMULATIONS, AUGMENTED))
def test_a_distance_closed_by_springs_is_a_linear_spring(formulation):
    """At twice its length 100 N and 50 J; let go there it swings as a cosine."""
    run = pl.simulate(bob_on_a_spring(2.0), 0.4, method=TIGHT, save=[0.0, 0.4], formulation=formulation)
    assert (run.values["constraint"][0, 0], run.values["multiplier"][0, 0]) == pytest.approx((1.0, -100.0), rel=1e-15)
    assert run.values["spring"][0] == pytest.approx(50.0, rel=1e-15)
    assert run["bob.x"][1] == pytest.approx(1.0 + np.cos(0.4 * np.sqrt(50.0)), abs=1e-9)


def test_a_spring_whose_ends_meet_pushes_in_no_direction():
    """At rest there it stays; shot through, it has on the other side what it had before."""
    still = pl.simulate(bob_on_a_spring(0.0), 0.1, save=[0.1])
    assert still.ok and still["bob.x"] == 0.0
    assert still.values["spring"] == pytest.approx(50.0, rel=1e-7)
    through = pl.simulate(bob_on_a_spring(0.5, velocity=(-10.0, 0.0)), 0.3)
    assert through.ok and through["bob.x"][-1] < -2.0
    assert through.ledger.relative_error_max < 1e-6


def test_elastic_links_close_loops_too():
    beam = pl.Beam(length=1.0, section=pl.Section.rectangle(0.01, 0.02), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("ss", 2))  # fmt: skip
    system = pl.System("elastic four-bar", gravity=(0, -9.81))
    first = system.add("first", beam, joint=pl.Revolute(angle=np.pi / 2))
    coupler = system.add("coupler", beam, joint=pl.Revolute(angle=-np.pi / 2, rate=0.5), on=first.tip)
    last = system.add("last", beam, joint=pl.Revolute(angle=np.pi / 2), on=system.ground.moved((1.0, 0.0)))
    system.close("pin", "point", coupler.tip, last.tip)
    runs = [pl.simulate(system, 0.3, method=TIGHT, formulation=f) for f in ("articulated", "gibbs_appell", "lagrange")]
    assert runs[0].ledger.relative_error_max < 1e-10
    for run in runs[1:]:
        assert np.max(np.abs(run.values["q"] - runs[0].values["q"])) < 1e-8
        assert run.values["multiplier"] == pytest.approx(runs[0].values["multiplier"], abs=1e-6)


def test_a_redundant_closure_is_tolerated_and_named():
    """A third rod between two parallel ones holds nothing that is not held."""
    system = four_bar(1)
    middle = system.handle("C0").at((0.5, 0.0))
    system.close("brace", "distance", middle, system.ground.moved((0.5, 0.0)), length=1.0)
    compiled = compile_system(system)
    assert compiled.traced.redundant == ("brace",)
    assert compiled.traced.independent == 1
    run = pl.simulate(compiled, 1.0, method=TIGHT, save=[1.0])
    assert run.of_body("tip_position", "A0")[0, :2] == pytest.approx(FOUR_BAR[1][0], abs=1e-8)


def test_a_pin_beside_a_weld_is_redundant_named_and_harmless():
    """A weld holds all three directions of the plane; a pin elsewhere on the same two bodies adds none."""
    system = pl.System("welded", gravity=(0, -9.81))
    rod = pl.RigidBody.rod(1.0, 1.0)
    arm = system.add("arm", rod, joint=pl.Revolute(angle=0.3))
    other = system.add("other", rod, joint=pl.Planar(position=(np.cos(0.3), np.sin(0.3)), angle=0.3))
    system.close("weld", "weld", other.root, arm.tip)
    system.close("pin", "point", other.tip, arm.at((2.0, 0.0)))
    compiled = compile_system(system)
    assert compiled.traced.redundant == ("pin",)
    assert compiled.traced.independent == 1
    run = pl.simulate(compiled, 1.0, method=TIGHT, save="steps")
    far = run.of_body("tip_position", "other")[:, :2]
    angle = run["arm.angle"]
    assert far == pytest.approx(2.0 * np.column_stack([np.cos(angle), np.sin(angle)]), abs=1e-12)
    assert run.ledger.relative_error_max < 1e-10


def too_long():
    system = pl.System("open", gravity=(0, 0))
    arm = system.add("arm", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute())
    system.close("impossible", "point", arm.tip, system.ground.moved((3.0, 0.0)))
    return system


def test_a_loop_that_cannot_close_is_named():
    with pytest.raises(pl.SolveError, match=r"closure 'impossible': residual must come to 0 .* cannot close"):
        pl.simulate(too_long(), 1.0)


WRONG = {
    "unknown kind": ({"kind": "hinge"}, "closure 'pin': kind must be one of point, spherical"),
    "springs without stiffness": ({"by": "springs"}, "closure 'pin': stiffness must be given when springs close the loop"),
    "negative stiffness": ({"by": "springs", "stiffness": -1.0}, "closure 'pin': stiffness must be > 0 N/m, got -1.0"),
    "stiffness zero": ({"by": "springs", "stiffness": 0.0}, "closure 'pin': stiffness must be > 0 N/m, got 0.0"),
    "stiffness of multipliers": ({"stiffness": 1.0}, "closure 'pin': stiffness must be left out when multipliers close"),
    "distance of nothing": ({"kind": "distance"}, "closure 'pin': length must be given for a distance closure"),
    "universal about one axis": (
        {"kind": "universal", "axis": "x", "other_axis": "-x"},
        "closure 'pin': other_axis must not be parallel to axis, got '-x'",
    ),
    "unknown way": ({"by": "glue"}, "closure 'pin': by must be one of multipliers, springs, backlash, got 'glue'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_closures_are_refused(case):
    changes, message = WRONG[case]
    system = pl.System("s", gravity=(0, 0))
    arm = system.add("arm", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute())
    with pytest.raises(pl.ModelError, match=message):
        system.close("pin", **{"kind": "point", "a": arm.tip, "b": system.ground, **changes})


def test_two_closures_of_the_same_frames_are_refused():
    system = four_bar(1)
    with pytest.raises(pl.ModelError, match="must not connect the two frames that closure 'pin0' connects already"):
        system.close("again", "point", system.handle("A1").tip, system.handle("C0").tip)


def driven_four_bar(start=0.0):
    """A parallelogram whose first rod is told to turn; the rest is held by the pin."""
    system = four_bar(1)
    driven = pl.System("driven", gravity=(0, -9.81))
    rod = pl.RigidBody.rod(1.0, 1.0)
    first = driven.add("A0", rod, joint=pl.Revolute(motion=lambda t: np.pi / 2 - 0.5 * t + start))
    coupler = driven.add("C0", rod, joint=pl.Revolute(angle=-1.0), on=first.tip)
    post = driven.add("A1", rod, joint=pl.Revolute(angle=1.2), on=driven.ground.moved((1.0, 0.0)))
    driven.close("pin0", "point", coupler.tip, post.tip)
    assert set(system.links) == set(driven.links)
    return driven


def test_loops_are_assembled_where_told_coordinates_are_when_the_run_starts():
    run = pl.simulate(driven_four_bar(), 2.0, t_start=1.0, save=[1.0, 2.0])
    assert np.max(np.abs(run.values["constraint"])) < 1e-11
    assert run["A1.angle"] == pytest.approx(run["A0.angle"], abs=1e-9)


def test_a_compiled_loop_says_when_it_was_assembled():
    compiled = compile_system(driven_four_bar())
    with pytest.raises(pl.ModelError, match=r"must be assembled at t_start = 1.0 s"):
        pl.simulate(compiled, 2.0, t_start=1.0)


def test_inverse_dynamics_keeps_the_loops():
    """The torque that holds a parallelogram upright against nothing, and turned: half the weight of all but the coupler."""
    run = pl.inverse_dynamics(four_bar(1), {"A0.angle": lambda t: np.pi / 2 - 0.2 + 0.0 * t}, 1.0, save=[0.0, 1.0])
    lever = np.cos(np.pi / 2 - 0.2)
    assert run.values["effort"][:, 0] == pytest.approx(9.81 * lever * (0.5 + 1.0 + 0.5), rel=1e-9)


def test_what_assembly_changed_is_told_with_names_and_values():
    """A rough rocker, and a crank whose rate the others cannot follow without sharing it; told once, largest first."""
    system = four_bar(1)
    system.links["A1"] = replace(system.links["A1"], joint=pl.Revolute(angle=1.5, rate=-0.4))
    (warning,) = pl.simulate(system, 0.1).warnings
    assert warning.startswith("assembly changed the start to close the loops: ")
    start = compile_system(system).traced
    angle, rate = start.y0[2], start.y0[5]
    assert abs(angle - 1.5) > 1e-3 and abs(rate + 0.4) > 1e-2
    assert f"A1.angle from 1.5 to {angle:.9g} rad" in warning
    assert f"A1.angle from -0.4 to {rate:.9g} rad/s" in warning
    assert "3 coordinates, " in warning and "3 rates, " in warning


def test_many_changes_are_counted_and_the_largest_five_named():
    system = rrr()
    (warning,) = compile_system(system).traced.warnings
    assert "9 coordinates, " in warning and warning.count(" rad") + warning.count(" m") == 5 + 2
    assert " and 4 more; 1 rate, platform.y from 0.157079633 to " in warning


def test_a_start_that_closes_to_six_digits_is_not_worth_a_word():
    """Neither are rates that were left at zero and follow from what a joint is told."""
    assert pl.simulate(four_bar(1), 0.1).warnings == ()
    system = pl.System("driven", gravity=(0, -9.81))
    rod = pl.RigidBody.rod(1.0, 1.0)
    first = system.add("A0", rod, joint=pl.Revolute(motion=lambda t: 1.2 + 0.5 * t))
    coupler = system.add("C0", rod, joint=pl.Revolute(angle=-1.2000002), on=first.tip)
    post = system.add("A1", rod, joint=pl.Revolute(angle=1.2), on=system.ground.moved((1.0, 0.0)))
    system.close("pin", "point", coupler.tip, post.tip)
    run = pl.simulate(system, 0.1)
    assert run.values["v"][0] == pytest.approx([0.5, -0.5, 0.5], abs=1e-6)
    assert run.warnings == ()


def test_assembly_turns_joints_before_it_bends_links():
    beam = pl.Beam(length=1.0, section=pl.Section.rectangle(0.01, 0.02), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 2))  # fmt: skip
    system = pl.System("rough", gravity=(0, 0))
    first = system.add("first", beam, joint=pl.Revolute(angle=1.3))
    coupler = system.add("coupler", beam, joint=pl.Revolute(angle=-1.4), on=first.tip)
    last = system.add("last", beam, joint=pl.Revolute(angle=1.7), on=system.ground.moved((1.0, 0.0)))
    system.close("pin", "point", coupler.tip, last.tip)
    traced = compile_system(system).traced
    modes = [k for node in traced.tree.nodes for k in node.own_q]
    assert np.max(np.abs(traced.y0[modes])) < 1e-5


def test_a_gear_held_by_springs_is_a_torsion_spring_of_newton_metres_a_radian():
    """Two discs geared 2:1 by 8 N m/rad, wound by more than half a turn: a harmonic motion, so linear at any angle."""
    system = pl.System("discs", gravity=(0, 0))
    for name in ("first", "second"):
        system.add(name, pl.RigidBody(mass=1.0, inertia=0.5), joint=pl.Revolute(rate=30.0 if name == "first" else 0.0))
    system.close("mesh", "gear", "first.angle", "second.angle", ratio=2.0, by="springs", stiffness=8.0)
    run = pl.simulate(system, 2.0, method=TIGHT, save=0.1)
    wound = run["first.angle"] - 2.0 * run["second.angle"]
    frequency = np.sqrt(8.0 * (1.0 / 0.5 + 4.0 / 0.5))
    assert np.max(np.abs(wound)) > np.pi
    assert wound == pytest.approx(30.0 / frequency * np.sin(frequency * run.time), abs=1e-8)
    assert run.values["a"][:, 1] == pytest.approx(2.0 * 8.0 * wound / 0.5, abs=1e-9)
    assert run.values["spring"] == pytest.approx(4.0 * wound**2, abs=1e-9)


def test_a_file_gives_a_gears_spring_in_newton_metres_a_radian():
    system = pl.System("discs", gravity=(0, 0))
    for name in ("first", "second"):
        system.add(name, pl.RigidBody(mass=1.0, inertia=0.5), joint=pl.Revolute())
    system.close("mesh", "gear", "first.angle", "second.angle", ratio=2.0, by="springs", stiffness=8.0)
    text = pl.dump_model(system).replace("stiffness: 8.0", "stiffness: 8000 N mm/rad")
    assert pl.loads_model(text).system.closures == system.closures


def rough_four_bar(angle=np.pi / 2):
    """A crank that the user means to start upright at 2 rad/s, and a rough guess of the others."""
    system = pl.System("rough", gravity=(0, -9.81))
    crank = system.add("crank", pl.RigidBody.rod(0.3, 0.4), joint=pl.Revolute(angle=angle, rate=2.0))
    coupler = system.add("coupler", pl.RigidBody.rod(0.8, 0.4), joint=pl.Revolute(), on=crank.tip)
    rocker = system.add("rocker", pl.RigidBody.rod(0.6, 0.4), joint=pl.Revolute(angle=1.0), on=system.ground.moved((0.9, 0.0)))
    system.close("pin", "point", coupler.tip, rocker.tip)
    return system


def test_a_held_coordinate_keeps_its_start_and_its_rate_while_loops_are_closed():
    moved = pl.simulate(rough_four_bar(), 0.01)
    assert abs(moved["crank.angle"][0] - np.pi / 2) > 1.0 and "hold keeps chosen coordinates" in moved.warnings[0]
    system = rough_four_bar()
    system.hold("crank.angle")
    held = pl.simulate(system, 0.01)
    assert held["crank.angle"][0] == np.pi / 2 and held["v", "crank.angle"][0] == 2.0
    assert np.max(np.abs(held.values["constraint"])) < 1e-11 and "crank.angle" not in held.warnings[0]
    apart = pl.simulate(system, 0.01, formulation=AUGMENTED)
    assert apart.of_body("tip_position", "crank")[0, :2] == pytest.approx([0.0, 0.3], abs=1e-12)


def test_a_held_start_can_be_a_parameter():
    system = rough_four_bar(pl.Parameter("angle", 1.2))
    system.hold("crank.angle")
    assert pl.simulate(system, 0.01, parameters={"angle": 1.4})["crank.angle"][0] == 1.4


def test_what_holding_makes_impossible_is_said_with_names():
    system = rough_four_bar()
    system.hold("crank.angle", "rocker.angle")
    with pytest.raises(pl.SolveError, match=r"'pin': .*cannot close with these lengths while crank.angle, rocker.angle are held"):
        pl.simulate(system, 0.01)
    with pytest.raises(pl.ModelError, match=r"hold must be one of .*did you mean 'crank.angle'"):
        system.hold("crank.angel")


def test_model_files_hold_coordinates_too():
    system = rough_four_bar()
    system.hold("crank.angle")
    text = pl.dump_model(system)
    assert "hold: [crank.angle]" in text and pl.loads_model(text).system.held == ("crank.angle",)
    with pytest.raises(pl.ModelError, match=r"hold must be one of .*got 'crank.turn'"):
        pl.loads_model(text.replace("hold: [crank.angle]", "hold: crank.turn"))


def test_a_closure_between_frames_in_one_place_holds_nothing_and_says_so():
    """Two links that hang on one frame, closed at their roots: zero for any numbers, though not by structure."""
    system = pl.System("twins", gravity=(0, -9.81))
    carrier = system.add("carrier", pl.RigidBody.rod(0.5, 1.0), joint=pl.Revolute(angle=0.3))
    link = pl.RigidBody(mass=1.0, inertia=(0.01, 0.02, 0.02), com=(0.2, 0.0))
    links = [system.add(name, link, joint=pl.Spherical(), on=carrier.tip) for name in ("a", "b")]
    system.close("loop", "spherical", links[0].root, links[1].root)
    run = pl.simulate(system, 0.1)
    assert run.ok and "closure 'loop' holds nothing" in run.warnings[0] and run.stats["degrees_of_freedom"] == 7
