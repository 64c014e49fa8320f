"""Inverse to forward: efforts of inverse dynamics drive the same mechanism along its motion."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.gallery.parallel_robot.system import efforts_on_the_rose, parallel_robot, rose
from pliant.model.signal import PiecewiseSmooth

ARM = """
pliant: 1
system: arm
gravity: [0, -9.81]
define: {mass: 2 kg}
bodies:
  upper: {rod: {length: 0.6, mass: mass}, joint: {revolute: {angle: 0.3}}}
  fore: {rod: {length: 0.5, mass: 1.5}, joint: {revolute: {angle: 0.9}}, on: upper.tip}
drive_by:
  t_end: 1
  path: {frame: fore.tip, position: [0.6 + 0.2*cos(2*t), 0.3 + 0.2*sin(2*t)]}
  motors: [upper.angle, fore.angle]
  save: 0.01
run: {t_end: 1, save: 0.1}
"""


def two_link_arm() -> tuple[pl.System, pl.Frame]:
    system = pl.System("arm", gravity=(0, -9.81))
    upper = system.add("upper", pl.RigidBody.rod(0.6, 2.0), joint=pl.Revolute(angle=0.3))
    fore = system.add("fore", pl.RigidBody.rod(0.5, 1.5), joint=pl.Revolute(angle=0.9), on=upper.tip)
    return system, fore.tip


def reach(t):
    """From rest to rest, with jumps of acceleration at 0.2, 0.4 and 0.6 s."""
    up = pl.maximum(t - 0.2, 0.0) ** 2 - 2.0 * pl.maximum(t - 0.4, 0.0) ** 2 + pl.maximum(t - 0.6, 0.0) ** 2
    return 0.8 - 2.0 * up, 0.3 + 3.0 * up


def away_from(path, result: pl.Result, body: str) -> float:
    wanted = np.array([path(t) for t in result.time], dtype=float)
    return float(np.max(np.abs(result["tip_position", body][:, :2] - wanted)))


def driven(t_end: float, path, save: float) -> tuple[pl.System, pl.Result, dict[str, float]]:
    system, tip = two_link_arm()
    asked = pl.inverse_dynamics(system, t_end=t_end, path={tip: path}, motors=["upper.angle", "fore.angle"], save=save)
    return system, asked, system.drive_by(asked)


def test_a_parallel_robot_follows_its_rose_with_the_fourth_power_of_the_interval():
    errors = []
    for save in (0.02, 0.01):
        robot = parallel_robot()
        path = {robot.handle("platform").root: {"position": lambda t: rose(t)[0], "angle": lambda t: 0.0 * t}}
        asked = pl.inverse_dynamics(robot, t_end=0.5, path=path, save=save)
        off = robot.drive_by(asked)
        assert list(robot.drives) == ["motor I", "motor II", "motor III"]
        middle = np.arange(0.1, 0.4, save) + 0.5 * save
        expected = np.array([efforts_on_the_rose(t).motors for t in middle], dtype=float)
        got = np.array([[drive.effort.at(t) for drive in robot.drives.values()] for t in middle])
        assert np.all(np.max(np.abs(got - expected), axis=0) <= 3.0 * np.array(list(off.values())))  # the estimate is honest
        errors.append(away_from(lambda t: rose(t)[0], pl.simulate(robot, 0.5, save=0.05), "platform"))
    assert errors[1] < 1e-7
    assert 8.0 < errors[0] / errors[1] < 40.0


def test_corners_of_a_motion_are_kept_so_that_efforts_jump_there():
    system, asked, _ = driven(0.8, reach, 0.01)
    assert asked.stats["corners"] == pytest.approx([0.2, 0.4, 0.6], abs=1e-12)
    smooth = away_from(reach, pl.simulate(system, 0.8, save=0.05), "fore")
    assert smooth < 1e-6
    through, _, _ = driven(0.8, reach, 0.01)
    for name, drive in system.drives.items():  # one spline through the jumps
        through.drives[name] = pl.model.force.Drive(
            name, drive.coordinate, PiecewiseSmooth(drive.effort.times, drive.effort.values)
        )
    assert away_from(reach, pl.simulate(through, 0.8, save=0.05), "fore") > 100.0 * smooth


def test_efforts_of_given_joint_motions_drive_an_elastic_arm_too():
    beam = pl.Beam(length=0.8, section=pl.Section.rectangle(0.008, 0.04), material=pl.ALUMINIUM, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 2), damping=pl.RayleighRatios(ratios=(0.01, 0.01)))  # fmt: skip
    arm = pl.System("arm", gravity=(0, -9.81))
    arm.add("link", beam, joint=pl.Revolute())
    asked = pl.inverse_dynamics(arm, {"link.angle": lambda t: 0.5 * pl.sin(3.0 * t) ** 2}, 1.0)
    arm.drive_by(asked)
    run = pl.simulate(arm, 1.0, save=0.1)
    assert list(arm.drives) == ["motor of link angle"]
    assert run["link.angle"] == pytest.approx(0.5 * np.sin(3.0 * run.time) ** 2, abs=1e-5)  # modes vibrate between rows


def test_a_forward_run_begins_where_the_motion_does():
    system, asked, _ = driven(1.0, lambda t: (0.6 + 0.2 * pl.cos(2.0 * t), 0.3 + 0.2 * pl.sin(2.0 * t)), 0.02)
    start = pl.simulate(system, 0.02)
    assert start.values["q"][0] == pytest.approx(asked.values["q"][0], abs=1e-15)
    assert start.values["v"][0] == pytest.approx(asked.values["v"][0], abs=1e-15)
    assert np.max(np.abs(asked.values["v"][0])) > 0.1


def test_a_file_names_the_motion_itself_and_runs_follow_it():
    model = pl.loads_model(ARM)
    run = pl.simulate(model.system, model.run.t_end, **model.run.options)
    circle = lambda t: (0.6 + 0.2 * np.cos(2.0 * t), 0.3 + 0.2 * np.sin(2.0 * t))  # noqa: E731
    assert away_from(circle, run, "fore") < 1e-7
    assert "position" in run.provenance["model"] and "piecewise_smooth" not in run.provenance["model"]
    assert pl.loads_model(run.provenance["model"]).system == model.system
    heavier = pl.simulate(model.system, 1.0, save=0.1, parameters={"mass": 2.2})  # with the efforts for this mass
    assert away_from(circle, heavier, "fore") < 1e-7
    assert np.max(np.abs(heavier["effort"] - run["effort"])) > 0.1
    with pytest.raises(pl.ModelError, match="ensemble: parameters must be left out: the efforts of drive_by must be computed anew"):
        pl.ensemble(model.system, 0.1, parameters={"mass": [2.0, 2.2]})
    swept = pl.sweep(model.system, pl.Grid({"mass": [2.0, 2.2]}), run={"t_end": 0.1, "save": 0.1}, keep=["upper.angle"])
    assert float(np.ptp(swept["upper.angle"].values[:, -1])) < 1e-7  # both on the circle
    with pytest.raises(pl.ModelError, match=r"<text>:\d+:\d+: drive_by: unknown key 'paths' \(did you mean 'path'\?\)"):
        pl.loads_model(ARM.replace("path: {", "paths: {"))


def test_what_cannot_drive_a_system_is_refused():
    system, asked, _ = driven(1.0, lambda t: (0.8 + 0.0 * t, 0.3 + 0.0 * t), 0.1)
    with pytest.raises(pl.ModelError, match="inverse must be a result of inverse_dynamics, with the efforts of a motion"):
        system.drive_by(pl.simulate(two_link_arm()[0], 0.1))
    other = pl.System("other", gravity=(0, 0))
    other.add("fore", pl.RigidBody.rod(0.5, 1.5), joint=pl.Revolute())
    with pytest.raises(pl.ModelError, match=r"must be for coordinates of this System .* got 'upper.angle'"):
        other.drive_by(asked)
    with pytest.raises(pl.ModelError, match=r"rows of the inverse dynamics must be saved more often; .* between 0 and 0.2 s"):
        driven(0.8, reach, 0.08)


def test_motions_that_the_system_prescribes_itself_stay():
    system = pl.System("cart", gravity=(0, -9.81))
    system.add("cart", pl.RigidBody(mass=2, inertia=0.1), joint=pl.Planar(motion={"angle": lambda t: 0.3 * t}))
    system.drive_by(pl.inverse_dynamics(system, {"cart.x": lambda t: 1.0 + t**2, "cart.y": lambda t: 2.0 + pl.sin(t)}, 1.0))
    run = pl.simulate(system, 1.0)
    assert list(system.drives) == ["motor of cart x", "motor of cart y"]
    assert [run[f"cart.{name}"][-1] for name in ("x", "y", "angle")] == pytest.approx([2.0, 2.0 + np.sin(1.0), 0.3], abs=1e-9)
