"""Gears between coordinates, and closures that follow a motion: what they hold, what they ask for, what they put in."""

import numpy as np
import pytest

import pliant as pl
from pliant.run.prepare import compile_system

TIGHT = pl.DOP853(rtol=1e-11, atol=1e-13)


def gears(ratio=-2.0, axis="z", **closing):
    """Two wheels side by side, the first driven."""
    system = pl.System("gears", gravity=(0, 0, 0))
    system.add("one", pl.RigidBody(mass=1.0, inertia=(0.3, 0.3, 0.3)), joint=pl.Revolute(axis=axis))
    on = system.ground.moved((1.0, 0.0, 0.0))
    system.add("two", pl.RigidBody(mass=2.0, inertia=(0.7, 0.7, 0.7)), joint=pl.Revolute(angle=0.2, axis=axis), on=on)
    system.drive("motor", "one.angle", lambda t, q, v: 0.5 * pl.cos(t))
    system.close("mesh", "gear", "one.angle", "two.angle", ratio=ratio, **closing)
    return system


@pytest.mark.parametrize("axis", ["z", (1.0, 2.0, -0.5)])
@pytest.mark.parametrize("ratio", [-2.0, 0.5])
def test_a_gear_couples_two_wheels_as_their_reduced_inertia(ratio, axis):
    run = pl.simulate(gears(ratio, axis), 2.0, method=TIGHT, save="steps")
    one, two, t = run["one.angle"], run["two.angle"], run.time
    assert one == pytest.approx(0.5 / (0.3 + 0.7 / ratio**2) * (1.0 - np.cos(t)), abs=1e-10)
    assert two - 0.2 == pytest.approx(one / ratio, abs=1e-13)
    assert run.ledger.relative_error_max < 1e-10
    assert run.stats["degrees_of_freedom"] == 1


def test_the_multiplier_of_a_gear_is_the_torque_it_passes_on():
    run = pl.simulate(gears(), 1.0, method=TIGHT, save=[0.0, 0.5])
    # on a's coordinate it acts as it is, on b's times minus the ratio
    acceleration = run.values["a"][:, run.labels["rate"].index("two.angle")]
    assert run.values["multiplier"][:, 0] * 2.0 == pytest.approx(0.7 * acceleration, rel=1e-11)


def test_a_gear_of_springs_tends_to_the_exact_one():
    """They vibrate undamped about it, as far as the load stretches them: 1/Ks."""
    exact = pl.simulate(gears(), 1.0, method=TIGHT)["two.angle"]
    errors = []
    for stiffness in (1e3, 1e5):
        soft = pl.simulate(gears(by="springs", stiffness=stiffness), 1.0, method=TIGHT)
        assert soft.ledger.relative_error_max < 1e-8
        errors.append(np.max(np.abs(soft["two.angle"] - exact)))
    assert errors[1] == pytest.approx(0.01 * errors[0], rel=0.1)


def test_a_rack_and_pinion_turns_rotation_into_translation():
    system = pl.System("rack", gravity=(0, -9.81))
    system.add("pinion", pl.RigidBody(mass=1.0, inertia=0.02), joint=pl.Revolute())
    system.add("rack", pl.RigidBody(mass=3.0, inertia=1.0), joint=pl.Prismatic(axis="y"), on=system.ground.moved((0.1, 0.0)))
    system.close("mesh", "gear", "rack.displacement", "pinion.angle", ratio=0.1)
    run = pl.simulate(system, 1.0, method=TIGHT, save=[1.0])
    assert run["rack.displacement"] == pytest.approx(-0.5 * 9.81 * 3.0 / (3.0 + 0.02 / 0.1**2), rel=1e-10)
    assert run["rack.displacement"] == pytest.approx(0.1 * run["pinion.angle"], rel=1e-12)


def test_a_gear_follows_a_coordinate_that_its_joint_prescribes():
    system = pl.System("driven gear", gravity=(0, 0))
    wheel = pl.RigidBody(mass=1.0, inertia=0.3)
    system.add("one", wheel, joint=pl.Revolute(motion=lambda t: t * t))
    system.add("two", wheel, joint=pl.Revolute(), on=system.ground.moved((1.0, 0.0)))
    system.close("mesh", "gear", "two.angle", "one.angle", ratio=-3.0)
    run = pl.simulate(system, 1.0, method=TIGHT, save=[0.5, 1.0])
    assert run["two.angle"] == pytest.approx(-3.0 * run.time**2, abs=1e-10)
    # the motor carries its own wheel and, through the ratio, nine times the other: 2 rad/s^2
    assert run.values["effort"][:, 0] == pytest.approx(2.0 * 0.3 * (1.0 + 9.0), rel=1e-9)


def arm():
    system = pl.System("arm", gravity=(0, -9.81))
    first = system.add("upper", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=0.3))
    last = system.add("fore", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=0.8), on=first.tip)
    return system, last


def test_a_prescribed_coordinate_is_what_a_joint_motion_is():
    """Same motion, same torque, same work, whether the joint prescribes it or a closure does."""
    held, _ = arm()
    held.close("turn", "prescribed", "upper.angle", motion=lambda t: 0.3 + 0.4 * pl.sin(2.0 * t))
    driven = pl.System("told", gravity=(0, -9.81))
    rod = pl.RigidBody.rod(1.0, 1.0)
    first = driven.add("upper", rod, joint=pl.Revolute(motion=lambda t: 0.3 + 0.4 * pl.sin(2.0 * t)))
    driven.add("fore", rod, joint=pl.Revolute(angle=0.8), on=first.tip)
    # the closure's rates are assembled by the least change, so the free joint keeps its own: none
    a, b = (pl.simulate(s, 1.5, method=TIGHT, save=[0.5, 1.5]) for s in (held, driven))
    assert a["fore.angle"] == pytest.approx(b["fore.angle"], abs=1e-9)
    assert a.values["multiplier"][:, 0] == pytest.approx(b.values["effort"][:, 0], abs=1e-7)
    assert a.values["work"][:, 0] == pytest.approx(b.values["work"][:, 0], abs=1e-9)
    assert a.labels["source"] == ("turn motion",)
    assert a.ledger.relative_error_max < 1e-10


def test_a_frame_follows_its_motion_in_one_direction_and_is_free_in_the_other():
    system, fore = arm()
    system.close("hand", "prescribed", fore.tip, system.ground, motion=(lambda t: 1.4 + 0.1 * pl.sin(3.0 * t), None))
    run = pl.simulate(system, 2.0, method=TIGHT, save="steps")
    assert run.of_body("tip_position", "fore")[:, 0] == pytest.approx(1.4 + 0.1 * np.sin(3.0 * run.time), abs=1e-13)
    assert run.of_body("tip_velocity", "fore")[:, 0] == pytest.approx(0.3 * np.cos(3.0 * run.time), abs=1e-12)
    assert run.ledger.relative_error_max < 1e-10
    assert run.stats["degrees_of_freedom"] == 1


def test_a_motion_is_seen_in_the_axes_of_what_it_is_told_in():
    """Along x of a frame turned by a right angle is along y of the world; by a table it is the same spline."""
    times = np.linspace(0.0, 1.0, 9)
    table = pl.MotionTable(times.tolist(), (1.0 + 0.1 * np.sin(times)).tolist())
    system, fore = arm()
    system.close("hand", "prescribed", fore.tip, system.ground.turned(np.pi / 2), motion=(table, None))
    run = pl.simulate(system, 1.0, method=TIGHT, save=[0.5, 1.0])
    assert run.of_body("tip_position", "fore")[:, 1] == pytest.approx(1.0 + 0.1 * np.sin([0.5, 1.0]), abs=1e-6)
    assert run.ledger.relative_error_max < 1e-10


def test_a_rope_that_is_pulled_in_swings_wider_and_faster():
    """A pendulum of changing length: m L^2 phi' against its moment, and the winch's work against the energy."""

    def length(t):
        return 1.0 - 0.3 * t

    system = pl.System("winch", gravity=(0, 0))
    bob = system.add("bob", pl.RigidBody(mass=2.0, inertia=1e-9), joint=pl.Planar(position=(1.0, 0.0), velocity=(-0.3, 0.7)))
    system.close("rope", "distance", bob.root, system.ground, length=length)
    run = pl.simulate(system, 1.5, method=TIGHT, save=[0.0, 1.5])
    x, y = run["bob.x"], run["bob.y"]
    vx, vy = (run.values["v"][:, run.labels["rate"].index(f"bob.{name}")] for name in ("x", "y"))
    assert np.hypot(x, y) == pytest.approx(length(run.time), abs=1e-12)
    assert x * vy - y * vx == pytest.approx(0.7, rel=1e-9)
    kinetic = 0.5 * 2.0 * (0.3**2 + (0.7 / length(run.time)) ** 2)
    assert run.values["work"][-1, 0] == pytest.approx(kinetic[1] - kinetic[0], rel=1e-9)


@pytest.mark.parametrize("kind", ["slider", "prismatic"])
def test_a_slider_may_be_told_where_it_is_along_its_line(kind):
    system = pl.System("table", gravity=(0.3, -9.81, 0.2))
    body = pl.RigidBody(mass=2.0, inertia=(0.1, 0.2, 0.3), com=(0.05, 0.02, 0.0))
    other = system.add("carriage", body, joint=pl.Free(position=(0.1, 0.0, 0.0)))
    system.close("line", kind, other.root, system.ground, axis="x", motion=lambda t: 0.1 + 0.2 * t * t)
    run = pl.simulate(system, 0.6, method=TIGHT, save="steps")
    assert run["carriage.x"] == pytest.approx(0.1 + 0.2 * run.time**2, abs=1e-12)
    assert np.max(np.abs(run["carriage.y"])) < 1e-12
    assert run.ledger.relative_error_max < 1e-9
    assert run.stats["degrees_of_freedom"] == (3 if kind == "slider" else 0)


def test_springs_that_follow_a_motion_keep_the_ledger():
    system, fore = arm()
    system.close("hand", "prescribed", fore.tip, system.ground, motion=(lambda t: 1.4 + 0.2 * pl.sin(3.0 * t), None),
                 by="springs", stiffness=400.0, damping=3.0)  # fmt: skip
    run = pl.simulate(system, 1.0, method=TIGHT)
    assert set(run.labels["source"]) == {"hand damper", "hand motion"}
    assert np.max(np.abs(run.values["work"][-1])) > 0.1
    assert run.ledger.relative_error_max < 1e-9


def test_breakpoints_of_a_motion_are_not_stepped_over():
    """A ramp that stops: its rate jumps at 0.5 s, and the wheel with it."""
    system = pl.System("ramp", gravity=(0, 0))
    system.add("wheel", pl.RigidBody(mass=1.0, inertia=0.3), joint=pl.Revolute())
    ramp = pl.Prescribed(lambda t: pl.where(t < 0.5, t * t, t - 0.25), breakpoints=(0.5,))
    system.close("turn", "prescribed", "wheel.angle", motion=ramp)
    run = pl.simulate(system, 1.0, method=TIGHT, save=[0.25, 0.5, 0.75, 1.0])
    assert run["wheel.angle"] == pytest.approx([0.0625, 0.25, 0.5, 0.75], abs=1e-12)
    assert run.values["multiplier"][[0, 3], 0] == pytest.approx([0.6, 0.0], abs=1e-9)


def test_a_motion_that_others_forbid_is_refused_by_name():
    system, fore = arm()
    system.close("pin", "point", fore.tip, system.ground.moved((1.4, 1.0)))
    system.close("turn", "prescribed", "upper.angle", motion=lambda t: 0.129 + 0.1 * t)
    with pytest.raises(pl.SolveError, match=r"closure '(pin|turn)': residual must come to 0 .* cannot close"):
        compile_system(system)


def test_a_motion_that_fits_where_it_starts_but_not_after_is_refused_by_its_rate():
    system = pl.System("held", gravity=(0, 0))
    system.add("wheel", pl.RigidBody(mass=1.0, inertia=0.3), joint=pl.Revolute())
    system.add("other", pl.RigidBody(mass=1.0, inertia=0.3), joint=pl.Revolute())
    system.close("mesh", "gear", "wheel.angle", "other.angle", ratio=1.0)
    system.close("turn", "prescribed", "wheel.angle", motion=lambda t: 0.0 * t)
    system.close("too", "prescribed", "other.angle", motion=lambda t: 2.0 * t)
    with pytest.raises(pl.SolveError, match=r"rates at the start must keep it closed, .* contradicts other closures or motions"):
        compile_system(system)


COORDINATE = {"kind": "prescribed", "b": None, "motion": abs}
FRAME = {"kind": "prescribed", "a": "tip", "b": "ground", "motion": (abs, None)}
WRONG = {
    "gear without ratio": ({"kind": "gear"}, "ratio must be given for a gear"),
    "gear of ratio zero": ({"kind": "gear", "ratio": 0.0}, "ratio must not be 0"),
    "gear of frames": ({"kind": "gear", "ratio": 1.0, "a": "tip"}, r"a must be one of \['one.angle', 'two.angle'"),
    "gear of one": ({"kind": "gear", "ratio": 1.0, "b": "one.angle"}, "b must be a different coordinate from a"),
    "gear of nothing": ({"kind": "gear", "ratio": 1.0, "b": "two.angel"}, "did you mean 'two.angle'"),
    "gear of two told": (
        {"kind": "gear", "ratio": 1.0, "a": "told.angle", "b": "also.angle"},
        "must not have a prescribed motion, because a has one",
    ),
    "length of a gear": ({"kind": "gear", "ratio": 1.0, "length": 1.0}, "length must be left out for a closure of kind gear"),
    "ratio of a frame": ({**FRAME, "ratio": 1.0}, "ratio must be left out for a closure of kind prescribed"),
    "prescribed without motion": ({**COORDINATE, "motion": None}, "motion must be given for a prescribed closure"),
    "prescribed by a number": ({**COORDINATE, "motion": 1.0}, "motion must be a function of t"),
    "prescribed twice": ({**COORDINATE, "a": "told.angle"}, "a must not have a prescribed motion"),
    "prescribed with b": ({**COORDINATE, "b": "two.angle"}, "b must be left out when a is a coordinate"),
    "frame by one function": ({**FRAME, "motion": abs}, "motion must be 2 or 3 functions of t"),
    "frame by nothing": ({**FRAME, "motion": (None, None)}, "must prescribe at least one direction"),
    "frame without b": ({**FRAME, "b": None}, "b must be a frame"),
    "motion of a weld": ({**FRAME, "kind": "weld"}, "motion must be left out for a closure of kind weld"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_ones_are_refused(case):
    changes, message = WRONG[case]
    system = pl.System("s", gravity=(0, 0))
    wheel = pl.RigidBody(mass=1.0, inertia=1.0)
    one = system.add("one", wheel, joint=pl.Revolute())
    for name, motion in (("two", None), ("told", abs), ("also", abs)):
        system.add(name, wheel, joint=pl.Revolute(motion=motion))
    words = {"a": "one.angle", "b": "two.angle", **changes}
    places = {"tip": one.tip, "ground": system.ground}
    words |= {key: places.get(words[key], words[key]) for key in ("a", "b")}
    with pytest.raises(pl.ModelError, match=f"closure 'mesh': .*{message}"):
        system.close("mesh", **words)


def test_two_gears_on_the_same_coordinates_are_refused():
    system = gears()
    with pytest.raises(pl.ModelError, match="must not connect the coordinates that closure 'mesh' connects already"):
        system.close("again", "gear", "two.angle", "one.angle", ratio=3.0)
