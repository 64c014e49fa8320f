"""Formulas that see where frames are: their rates, integrated, are what results show of the frames."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import pliant as pl

PRECISE = pl.DOP853(rtol=1e-11, atol=1e-13)


def two_links():
    """A planar pair that swings; its states are rates of what frames do."""
    system = pl.System("pair", gravity=(0.0, -9.81))
    arm = system.add("arm", pl.RigidBody.rod(length=1.0, mass=1.0), joint=pl.Revolute(angle=0.3))
    fore = system.add("fore", pl.RigidBody.rod(length=0.5, mass=0.5), joint=pl.Revolute(angle=0.5), on=arm.tip)
    system.state("distance", rate=lambda t, q, v: q.distance_rate(fore.tip, system.ground))
    system.state("height", rate=lambda t, q, v: q.velocity("fore.tip")[1])
    system.state("aside", rate=lambda t, q, v: q.velocity(fore.tip, seen_from=arm.tip)[1])
    system.state("turned", rate=lambda t, q, v: q.angle_rate("fore.tip", "arm.tip"))
    system.event("level", lambda t, q, v: q.position(fore.tip)[1])
    system.drive("motor", "arm.angle", lambda t, q, v: -5.0 * q.angle(arm.tip) - 3.0 * q.distance("fore.tip", "ground"))
    return system


@pytest.mark.parametrize("formulation", ["articulated", "augmented"])
def test_rates_of_frames_integrate_to_where_frames_are(formulation):
    run = pl.simulate(two_links(), 0.6, method=PRECISE, formulation=formulation)
    tip = run.of_body("tip_position", "fore")
    elbow = run.of_body("tip_position", "arm")
    forearm, arm = (np.arctan2(*(d[:, 1], d[:, 0])) for d in (tip - elbow, elbow))
    expected = {
        "distance": np.hypot(tip[:, 0], tip[:, 1]),
        "height": tip[:, 1],
        "aside": 0.5 * np.sin(forearm - arm),
        "turned": np.unwrap(forearm - arm),
    }
    for name, value in expected.items():
        assert np.max(np.abs(run[name] - (value - value[0]))) < 1e-9, name
    (level,) = [event for event in run.events if event.name == "level"][:1]
    before = tip[np.searchsorted(run.time, level.t) - 1 :][:2, 1]
    assert before[0] * before[1] < 0.0


def test_in_space_an_angle_is_about_the_axis_that_is_asked_for():
    """A top: its angle about its own axis, seen from the ground, within half a turn."""
    system = pl.System("top", gravity=(0.0, 0.0))
    joint = pl.Spherical(angular_velocity=(0.2, 0.1, 1.0))
    body = system.add("top", pl.RigidBody(mass=1.0, inertia=(0.1, 0.1, 0.2)), joint=joint)
    system.state("angle", rate=lambda t, q, v: q.angle_rate(body.root, axis="z"))
    aside = body.root.moved((1.0, 0.0, 0.0))
    system.sampled("seen", 0.05, lambda t, q, v, measured, memory: (q.angle(body.root), *q.position(aside)[:2]),
                   outputs=["angle", "x", "y"])  # fmt: skip
    run = pl.simulate(system, 1.0, method=PRECISE, save=0.05)
    assert np.max(np.abs(run["angle"] - run["seen.angle"])[:-1]) < 1e-9
    assert np.max(np.abs(np.arctan2(run["seen.y"], run["seen.x"]) - run["seen.angle"])[:-1]) < 1e-12
    assert run["seen.angle"][-2] > 0.8


class Speedometer:
    """A formula that does not show which frame it asks for."""

    def __init__(self, place):
        self.place = place

    def rate(self, t, q, v):
        return q.velocity(self.place)[1]


def test_a_frame_on_a_beam_follows_the_parameters_of_the_beam():
    """Machine code is shared by Systems of one structure: places must not stay where the first one had them."""
    length = pl.Parameter("length", 1.0)

    def swinging(length):
        system = pl.System("beam", gravity=(0.0, -9.81))
        section = pl.Section.rectangle(0.02, 0.01)
        beam = pl.Beam(length=length, section=section, material=pl.STEEL, theory="euler-bernoulli", modes=pl.Modes("cf", 1))
        rod = system.add("rod", beam, joint=pl.Revolute(angle=0.1))
        system.state("height", rate=lambda t, q, v: q.velocity(rod.tip)[1])
        system.state("station", rate=Speedometer("rod@0.4").rate)
        return system

    for value in (1.0, 1.3):
        run = pl.simulate(swinging(length), 0.05, parameters={"length": value})
        tip = run.of_body("tip_position", "rod")[:, 1]
        assert np.max(np.abs(run["height"] - (tip - tip[0]))) < 1e-9
        assert run["station"][-1] == pl.simulate(swinging(value), 0.05)["station"][-1]


def test_tables_are_called_in_formulas_and_their_corners_are_met():
    lines, steps = pl.PiecewiseLinear([0.0, 0.5, 1.0], [0.0, 1.0, -1.0]), pl.PiecewiseConstant([0.0, 0.3], [1.0, 2.0])
    times, values = (0.0, 0.3, 0.7, 1.0), (0.0, 0.2, -0.1, 0.4)
    smooth = pl.MotionTable(times, values)
    system = pl.System("turning", gravity=(0.0, 0.0))
    system.add("arm", pl.RigidBody.rod(length=1.0, mass=3.0), joint=pl.Revolute(rate=1.0))  # the angle is the time
    system.state("lines", rate=lambda t, q, v: lines(q["arm.angle"]))
    system.state("steps", rate=lambda t, q, v: steps(q["arm.angle"]))
    system.state("smooth", rate=lambda t, q, v: smooth(q["arm.angle"]))
    system.state("of_time", rate=lambda t, q, v: lines(2.0 * t))
    run = pl.simulate(system, 1.2, save=[1.2])
    found = [run[name][-1] for name in ("lines", "steps", "smooth", "of_time")]
    expected = [0.25 - 0.2, 0.3 + 1.8, float(CubicSpline(times, values).integrate(0.0, 1.2)), 0.5 * (0.25 - 1.4)]
    assert found == pytest.approx(expected, abs=1e-11)
    assert lines(0.25) == 0.5 and steps(0.4) == 2.0 and smooth(0.7) == pytest.approx(-0.1)
    assert lines(np.array([-1.0, 0.75])) == pytest.approx([0.0, 0.0])


MODEL = """
pliant: 1
system: pair
gravity: [0, 0]
define: {reach: "distance('arm.tip', 'ground')"}
bodies:
  arm: {rod: {length: 1 m, mass: 1 kg}, joint: {revolute: {angle: 0.3 rad, rate: 1}}}
states:
  height: {rate: "velocity('arm.tip', 'y') + 0*reach"}
  turned: {rate: "angle_rate('arm.tip', 'ground', 'z') + 0*position('arm.root', 'x') + 0*distance_rate('arm.tip', 'ground')"}
  level: {rate: "table(angle('arm.tip'), 0, 0, 1, 2) + spline(t, 0, 0, 1, 1, 2, 2, 3, 3)"}
"""


def test_model_files_see_frames_and_tables():
    run = pl.simulate(pl.loads_model(MODEL).system, 0.5, method=PRECISE, save=[0.5])
    assert run["height"][-1] == pytest.approx(np.sin(0.8) - np.sin(0.3), abs=1e-10)
    assert run["turned"][-1] == pytest.approx(0.5, abs=1e-12)
    assert run["level"][-1] == pytest.approx(0.8**2 - 0.3**2 + 0.125, abs=1e-10)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("'arm.root', 'x'", "'arm.root'", r"must have 2 to 3 arguments in quotes, as in position\('arm.tip', 'x'\)"),
        ("'arm.root', 'x'", "'arm.root', 'u'", "must have an axis x, y or z"),
        ("'arm.root', 'x'", "'leg.tip', 'x'", r"is an unknown body in 'leg.tip'"),
        ("0, 0, 1, 2)", "0, 0, 1)", "must have a value and pairs of numbers"),
        ("0, 0, 1, 2)", "1, 0, 0, 2)", "must be a valid table .*must be strictly increasing"),
    ],
)
def test_files_say_what_is_wrong(old, new, words):
    with pytest.raises(pl.ModelError, match=words):
        pl.loads_model(MODEL.replace(old, new))


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        (lambda t, q, v: q.position("leg.tip")[0], "body must be one of"),
        (lambda t, q, v: q.position("arm")[0], "formula of 'x': frame must be ground, body.tip"),
        (lambda t, q, v: q.position("arm@far")[0], "must have a station in m after the @"),
        (lambda t, q, v: q.position(3)[0], "formula of 'x': frame must be a frame such as arm.tip, or its name, got 3"),
        (lambda t, q, v: q.angle("arm.tip", axis="w"), "formula of 'x': axis must be x, y, z"),
        (lambda t, q, v: q.distance(pl.Frame("leg"), "ground"), "formula of 'x': frame must be attached to one of the bodies"),
    ],
)
def test_python_says_what_is_wrong(formula, words):
    system = pl.System("arm", gravity=(0.0, 0.0))
    system.add("arm", pl.RigidBody.rod(length=1.0, mass=1.0), joint=pl.Revolute())
    system.state("x", rate=formula)
    with pytest.raises(pl.ModelError, match=words):
        pl.simulate(system, 0.1)
