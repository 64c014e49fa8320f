"""Robot files on the command line, and wherever a System is taken."""

import json
import pickle

import numpy as np
import pytest
from typer.testing import CliRunner

import pliant as pl
from exchange.robots import ROBOTS, joint, link, robot
from pliant.cli.app import app

MJCF = """
<mujoco model="pendulum">
  <worldbody><body name="bob"><joint name="pin" axis="0 1 0"/><geom size="0.1" pos="0 0 -1" rgba="1 0 0 1"/></body></worldbody>
</mujoco>
"""


@pytest.fixture
def files(tmp_path):
    for name, text in (("arm.urdf", ROBOTS["arm"]), ("arm.xml", ROBOTS["arm"]), ("pendulum.xml", MJCF), ("odd.xml", "<odd/>")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def told(*arguments, code=0):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.output
    return done.output


@pytest.mark.parametrize(("name", "unused"), [("arm.urdf", "transmission: line 10"), ("arm.xml", "transmission: line 10"),
                                              ("pendulum.xml", "worldbody body geom rgba: line 3")])  # fmt: skip
def test_check_prints_the_tree_and_what_is_not_used(files, name, unused):
    assert f"not used: {unused}" in told("check", files / name)
    listed = json.loads(told("check", files / name, "--json"))
    assert unused in listed["not_used"] and listed["ok"]


def test_run_and_modes_take_robot_files(files):
    out = files / "bob.nc"
    told("run", files / "pendulum.xml", "--t-end", "0.2 s", "--out", out, "--quiet")
    assert pl.Result.from_netcdf(out).time[-1] == 0.2
    inertia = 0.4 * 0.1**2 + 1.0  # of the ball about the pin, over its mass
    found = json.loads(told("modes", files / "pendulum.xml", "--json"))["modes"]
    assert [row["rad_per_s"] for row in found] == pytest.approx([np.sqrt(9.81 / inertia)], rel=1e-9)
    hanging = json.loads(told("modes", files / "arm.urdf", "--json"))["modes"]
    assert len(hanging) == 2


def test_a_robot_becomes_a_unit_and_c_without_an_end(files):
    told("fmu", files / "arm.urdf", "--out", files / "arm.fmu", "--platforms", "", "--quiet")
    told("export", files / "pendulum.xml", "--target", "c", "--out", files / "c", "--quiet")
    assert (files / "arm.fmu").stat().st_size > 10_000 and (files / "c" / "main.c").exists()


def test_what_a_robot_file_cannot_have_is_refused(files):
    assert "--set: must be left out for a robot file" in told("check", files / "arm.urdf", "--set", "a=1", code=2)
    assert "run must be given (t_end and method), got no run section" in told("run", files / "arm.urdf", code=2)
    assert "root element must be robot (URDF) or mujoco (MJCF), got 'odd'" in told("check", files / "odd.xml", code=2)
    assert "No such file" in told("check", files / "none.urdf", code=2)


def test_a_robot_is_a_system_wherever_one_is_taken(files):
    """Copied, pickled, swept, linearised; its notes stay with it."""
    arm = pl.read_urdf(files / "arm.urdf", stops=pl.HuntCrossley(stiffness=1e5, restitution=0.5))
    for copied in (arm.snapshot(), pickle.loads(pickle.dumps(arm))):
        assert copied.unused == arm.unused and copied.coordinates == arm.coordinates
        assert np.array_equal(pl.simulate(copied, 0.1)["fore.angle"], pl.simulate(arm, 0.1)["fore.angle"])
    assert pl.linearise(arm, at="start", inputs=(), outputs=()).modes().frequencies.shape[0] >= 2


def test_an_arm_that_carries_weight_rests_on_an_elastic_link(files):
    """The whole way: read, bend, balance, and find the first frequency of the forearm with its tool."""
    bar = robot("bar", link("base"), link("boom", 2.0, "0.5 0 0", "0.001 0.17 0.17"), link("load", 1.0, inertia="1e-3 1e-3 1e-3"),
                joint("clamp", "fixed", "base", "boom"), joint("tool", "fixed", "boom", "load", "1 0 0"))  # fmt: skip
    (files / "bar.urdf").write_text(bar, encoding="utf-8")
    system = pl.read_urdf(files / "bar.urdf", elastic={"boom": pl.elastic_link(tip_deflection="2 mm at 10 N")})
    sag = -pl.equilibrium(system)["tip_position", "load", "z"]
    own = 2.0 * 9.81 * 3.0 / 8.0  # of an even load, as a force on the tip
    assert sag == pytest.approx(2e-3 * (1.0 * 9.81 + own) / 10.0, rel=2e-3)
