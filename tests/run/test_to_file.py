"""Runs into files whose process is killed: what they leave can be read, and the same run goes on to the same rows."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.integrate import stepper
from pliant.run.save_times import save_windows

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill here")

# A ball that bounces while a joint sticks and slips, led by controllers of both kinds, with a state and an event
MADE = """
import os, signal, sys
import pliant as pl
from pliant.integrate import stepper
from pliant.run import row_sinks

def made(controlled):
    system = pl.System("both", gravity=(0.0, -9.81))
    arm = system.add("arm", pl.RigidBody.rod(0.5, 1.0), joint=pl.Revolute(angle=-1.5, friction=pl.JointFriction(
        pl.Karnopp(mu_static=0.4, mu_kinetic=0.3), radius=0.05, preload=50.0)))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.004), joint=pl.Planar(position=(2.0, 0.15), velocity=(1.0, 0.0)))
    system.contact(points=pl.Sphere(ball.root, 0.1), against=pl.Plane(normal=(0, 1)),
                   normal=pl.HuGuo(stiffness=1e5, restitution=0.5), friction=pl.Karnopp(mu_static=0.4, mu_kinetic=0.3))
    system.state("filtered", lambda t, q, v: 20.0 * (q["arm.angle"] - q["filtered"]))
    system.event("level", lambda t, q, v: q["arm.angle"] + 1.4)
    push = pl.Parameter("push", 0.5)
    torque = lambda t, q, v: push - 0.3 * q["filtered"]
    if controlled:
        def count(t, q, v, measured, memory):
            memory["n"] += 1.0
            return {"torque": 3.0 * (memory["n"] % 7) - 0.1 * q["arm.angle"]}
        system.sampled("python", 0.013, count, ("torque",), start={"torque": 0.0, "n": 0.0}, delay=0.002, compiled=False)
        system.sampled("compiled", 0.0007, lambda t, q, v, measured, memory: {"brake": -0.2 * v["arm.angle"]}, ("brake",))
        torque = lambda t, q, v: push - 0.3 * q["filtered"] + q["python.torque"] + q["compiled.brake"]
    system.drive("motor", "arm.angle", torque)
    return system

def go_on(run, to):
    while run.t < to - 1e-9:
        k = round(run.t / 1e-3)
        run.step(1e-3, {"push": 0.5 + 0.1 * (k // 10 % 40)})
    return run
"""
KILLED = """
row_sinks.KEEP_EVERY, row_sinks.KEEP_SHARE, stepper.PIECE = 0.0, 0.0, 0.0
last_state = {"start": 0.35, "simulate": 0.1, "first": 0.0}[sys.argv[1]]
def kill(t, t_end):
    if t >= last_state:
        row_sinks.KEEP_SHARE = 1e9
    if t > last_state + 0.1:
        os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[1] == "start":
    run = pl.start(made(False), to="run.nc")
    for to in (last_state, 0.46):
        kill(go_on(run, to).t, 0.0)
pl.simulate(made(True), 0.6, save=1e-3, to="run.nc", progress=kill)
"""


@pytest.fixture
def here(tmp_path, monkeypatch) -> dict[str, Callable[..., Any]]:
    names: dict[str, Callable[..., Any]] = {}
    exec(MADE, names)
    monkeypatch.chdir(tmp_path)
    return names


def leave_unfinished(kind: str, path: Any) -> None:
    killed = subprocess.run([sys.executable, "-c", MADE + KILLED, kind], cwd=path)
    assert killed.returncode == -signal.SIGKILL
    assert sorted(os.listdir(path)) == ["run.unfinished.nc", "run.unfinished.nc.state"]


def assert_same(result: pl.Result, whole: pl.Result) -> None:
    assert np.array_equal(np.asarray(result.time), whole.time)
    for name in whole.values:
        assert np.array_equal(np.asarray(result.values[name]), whole.values[name]), name
    assert result.events == whole.events and result.contacts == whole.contacts and result.warnings == whole.warnings
    assert result.stats["steps_of"] == whole.stats["steps_of"] and whole.events and whole.contacts


def test_a_stepped_run_that_was_killed_goes_on_to_the_same_rows(here, tmp_path):
    leave_unfinished("start", tmp_path)
    left = pl.Result.from_netcdf("run.unfinished.nc")
    system = here["made"](False)
    whole = here["go_on"](pl.start(system), 0.6).result()
    assert 0 < len(left.time) < len(whole.time) and np.array_equal(left["arm.angle"], whole["arm.angle"][: len(left.time)])
    with pytest.raises(pl.ModelError, match=r"start: saved must come from .* with the same parameters: {'push': 0.7}"):
        pl.start(system, to="run.nc", parameters={"push": 0.7}, resume=True)
    run = pl.start(system, to="run.nc", resume=True)
    assert 0.3 < run.t < 0.4
    with pytest.raises(pl.ModelError, match="restore: saved must not be given to a run with to="):
        run.restore(run.save())
    assert_same(here["go_on"](run, 0.6).result(), whole)
    with pytest.raises(pl.ModelError, match=r"step: dt must come before result\(\)"):
        run.step(1e-3)
    assert_same(pl.Result.from_netcdf("run.nc"), whole)
    assert os.listdir(tmp_path) == ["run.nc"]


@pytest.mark.parametrize("kind", ["simulate", "first"])
def test_a_simulation_that_was_killed_goes_on_to_the_same_rows(here, kind, tmp_path, monkeypatch):
    """Also where only its first state was kept, at the start, before a controller has run."""
    leave_unfinished(kind, tmp_path)
    system = here["made"](True)
    whole = pl.simulate(system, 0.6, save=1e-3)
    with pytest.raises(pl.ModelError, match=r"simulate: saved must come from .* with the same t_end: 0.7 s, got '0.6 s'"):
        pl.simulate(system, 0.7, save=1e-3, to="run.nc", resume=True)
    monkeypatch.setattr(stepper, "PIECE", 0.0)
    times: list[float] = []
    result = pl.simulate(system, 0.6, save=1e-3, to="run.nc", resume=True, progress=lambda t, t_end: times.append(t))
    assert_same(result, whole)
    assert (0.1 < times[0] < 0.2) if kind == "simulate" else (0.0 <= times[0] < 1e-3)
    assert os.listdir(tmp_path) == ["run.nc"]


def test_a_damaged_state_is_refused_and_so_are_other_instants_of_as_many_rows(here, tmp_path):
    leave_unfinished("simulate", tmp_path)
    state = tmp_path / "run.unfinished.nc.state"
    data = state.read_bytes()
    for damaged in (data[: len(data) // 2], data[:900] + bytes([data[900] ^ 1]) + data[901:], b""):
        state.write_bytes(damaged)
        with pytest.raises(pl.ModelError, match=r"run.unfinished.nc.state': resume must go on from a complete state of a run"):
            pl.simulate(here["made"](True), 0.6, save=1e-3, to="run.nc", resume=True)
    assert repr(save_windows([0.0, 0.1, 0.3], 0.0, 1.0)) != repr(save_windows([0.0, 0.1, 0.2], 0.0, 1.0))


def test_rows_that_runs_killed_before_their_first_state_have_left_are_deleted_when_the_run_is_complete(here, tmp_path):
    leave_unfinished("simulate", tmp_path)
    for name in ("run.unfinished-2.nc", "run.unfinished-3.nc"):  # killed at once, or while the rows were copied
        (tmp_path / name).write_bytes(b"rows")
    (tmp_path / "other.unfinished.nc").write_bytes(b"rows")
    pl.simulate(here["made"](True), 0.6, save=1e-3, to="run.nc", resume=True)
    assert sorted(os.listdir(tmp_path)) == ["other.unfinished.nc", "run.nc"]


CONTROLLED = """
import os, signal, sys
import pliant as pl
from pliant.run import row_sinks

def made(compiled):
    system = pl.System("held", gravity=(0.0, -9.81))
    system.add("arm", pl.RigidBody.rod(0.5, 1.0), joint=pl.Revolute(angle=0.4))
    def update(t, q, v, measured, memory):
        return {"u": -0.1 * v["arm.angle"]}
    system.sampled("slow", 0.01, update, outputs="u", compiled=compiled)
    system.drive("motor", "arm.angle", lambda t, q, v: q["slow.u"])
    return system
"""
STOPPED = """
row_sinks.KEEP_EVERY, row_sinks.KEEP_SHARE = 0.0, 0.0
def kill(t, t_end):
    if t > 0.2 * t_end and os.path.exists("run.unfinished.nc.state"):
        os.kill(os.getpid(), signal.SIGKILL)
compiled, t_end = sys.argv[1] == "compiled", float(sys.argv[2])
pl.simulate(made(compiled), t_end, save=0.01, to="run.nc", progress=kill)
"""


@pytest.mark.parametrize(("kind", "t_end"), [("compiled", 2000.0), ("python", 60.0)])
def test_between_instants_the_state_is_kept_and_a_killed_run_goes_on_to_the_same_rows(kind, t_end, tmp_path, monkeypatch):
    """Few pieces of time enter the loop at once, so that it hardly ever ends with its own portion of computing."""
    killed = subprocess.run([sys.executable, "-c", CONTROLLED + STOPPED, kind, str(t_end)], cwd=tmp_path)
    assert killed.returncode == -signal.SIGKILL
    monkeypatch.chdir(tmp_path)
    names: dict[str, Callable[..., Any]] = {}
    exec(CONTROLLED, names)
    system, reached = names["made"](kind == "compiled"), list[float]()
    monkeypatch.setattr(stepper, "PIECE", 0.0)
    resumed = pl.simulate(system, t_end, save=0.01, to="run.nc", resume=True, progress=lambda t, t_end: reached.append(t))
    monkeypatch.undo()
    whole = pl.simulate(system, t_end, save=0.01)
    assert reached[0] > 0.0 and reached == sorted(reached)
    assert np.array_equal(np.asarray(resumed.time), whole.time) and np.array_equal(resumed["arm.angle"], whole["arm.angle"])
    assert np.array_equal(np.asarray(resumed.values["work"]), whole.values["work"])
    assert os.listdir(tmp_path) == ["run.nc"]
