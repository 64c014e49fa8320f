"""Sweeps in lock-step: the Dataset of the plain sweep within the tolerance, and sentences where there is none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.cli import app
from pliant.errors import ModelError, SolveError
from sweeps import contents

MODEL = """
pliant: 1
system: drop
gravity: [0, -9.81]
define:
  inertia: 1e-3
  e: {value: 0.6, low: 0.1, high: 1.0}
  height: 0.1 m
bodies:
  ball:
    rigid: {mass: 1 kg, inertia: inertia}
    joint: {planar: {position: [0, height], velocity: [0.3, 0]}}
contacts:
  floor:
    points: {sphere: {at: ball.root, radius: 0.05}}
    against: {plane: {normal: [0, 1]}}
    normal: {hunt_crossley: {stiffness: 1e6, restitution: e}}
events:
  far: {function: "q['ball.x'] - 0.075", stop: true}
run: {t_end: 0.24, method: {dop853: {rtol: 1e-8, atol: 1e-11}}, save: 0.02}
"""
OVER = {"e": [0.4, 0.7], "inertia": [1e-3, 2e-3, -1.0]}  # the last of which the model refuses
KEEP = ["ball.y", "kinetic", "normal_force"]


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "drop.yaml").write_text(MODEL)
    (tmp_path / "short.yaml").write_text(MODEL.replace("0.075", "0.066"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "drop.yaml"


def assert_same_within_tolerance(own, plain) -> None:
    assert own.sizes == plain.sizes and list(own.variables) == list(plain.variables)
    for name in plain.variables:
        assert own[name].dims == plain[name].dims and own[name].attrs == plain[name].attrs
    for name in ("ok", "message", "time"):
        np.testing.assert_array_equal(own[name], plain[name], err_msg=name)
    np.testing.assert_allclose(own["ball.y"], plain["ball.y"], rtol=1e-6, atol=1e-9)
    # a force of up to 900 N, which changes by 1 N over 1e-8 m
    np.testing.assert_allclose(own["normal_force"], plain["normal_force"], rtol=1e-4, atol=0.1)
    np.testing.assert_array_less(own["balance_error"].values[own["ok"].values], 1e-6)


def test_a_sweep_in_lock_step_is_the_plain_one_within_the_tolerance(model: Path) -> None:
    plain = pl.sweep(model, over=OVER, keep=KEEP)
    own = pl.sweep(model, over=OVER, keep=KEEP, device="cpu")
    assert own.attrs["loop"] == "lockstep" and int(own["ok"].sum()) == 4
    assert_same_within_tolerance(own, plain)
    assert not np.array_equal(own["ball.y"], plain["ball.y"], equal_nan=True)  # other steps: it did run in lock-step


def test_cases_that_an_event_ends_have_the_rows_of_a_run_by_itself(model: Path) -> None:
    over = {"height": [0.1, 0.12]}
    plain, own = (pl.sweep("short.yaml", over=over, keep=KEEP, device=device) for device in (None, "cpu"))
    assert "'far' ended the run" in str(own["message"][0].item())
    assert_same_within_tolerance(own, plain)


def test_a_store_goes_on_with_the_same_bytes_and_refuses_cases_run_otherwise(model: Path) -> None:
    options = {"over": OVER, "keep": KEEP, "batch": 2, "device": "cpu"}
    done = pl.sweep(model, store="s", **options)
    whole = contents(Path("s"))
    lost = sorted(Path("s").glob("*.nc"))[::2]
    for file in lost:
        file.unlink()
    again = pl.sweep(model, store="s", **options)
    assert len(lost) == 2 and contents(Path("s")) == whole and again.equals(done)
    with pytest.raises(ModelError, match="run settings"):
        pl.sweep(model, over=OVER, keep=KEEP, batch=2, store="s")


def middle(result: pl.Result) -> float:
    return float(result["ball.y"][5])


def one_ball(height: float) -> pl.System:
    system = pl.System("fall", gravity=(0, -9.81))
    system.add("ball", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar(position=(0.0, height)))
    return system


@pytest.mark.parametrize(
    ("subject", "options", "words"),
    [
        ("drop.yaml", {"keep": middle}, "functions of them are kept"),
        ("drop.yaml", {"keep": "result"}, "whole results"),
        ("drop.yaml", {"run": {"save": "steps"}}, "every step"),
        ("drop.yaml", {"run": {"max_seconds": 1e3}}, "max_seconds"),
        ("drop.yaml", {"run": {"method": pl.Radau5(1e-6, 1e-9)}}, "Radau5 is not an explicit method"),
        ("drop.yaml", {"run": lambda system: pl.simulate(system, 0.1)}, "run is a function"),
        (one_ball, {"run": {"t_end": 0.1}}, "a function makes a new System"),
    ],
)
def test_what_lock_step_cannot_give_is_refused_or_told(model: Path, subject, options, words: str) -> None:
    over = {"height": [0.1, 0.2]}
    for device in ("cpu", "gpu"):
        with pytest.raises(ModelError, match=f"device must be left out here.*{words}"):
            pl.sweep(subject, over=over, **options, device=device)
    own, plain = (pl.sweep(subject, over=over, **options, device=device) for device in ("auto", None))
    assert own.attrs["loop"].startswith("one by one: ") and words in own.attrs["loop"]
    assert own["ok"].all() and own.drop_vars("result", errors="ignore").equals(plain.drop_vars("result", errors="ignore"))


def test_devices_and_executors_are_checked(model: Path) -> None:
    with pytest.raises(ModelError, match="device"):
        pl.sweep(model, over=OVER, device="tpu")
    with pytest.raises(ModelError, match="executor must be left out if device is given"):
        pl.sweep(model, over=OVER, device="cpu", executor=object())


def test_the_command_says_where_cases_ran(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pliant.host.cuda.LIBRARIES", {})  # no driver
    with pytest.raises(SolveError, match="no NVIDIA driver"):
        pl.sweep(model, over=OVER, device="gpu")
    command = ["sweep", "drop.yaml", "--over", "inertia=1e-3,2e-3", "--keep", "ball.y"]
    refused = CliRunner().invoke(app, [*command, "--out", "g", "--device", "gpu"])
    assert refused.exit_code == 1 and "no GPU: no NVIDIA driver" in refused.stderr and not Path("g").exists()
    done = CliRunner().invoke(app, [*command, "--out", "s", "--device", "auto"])
    assert done.exit_code == 0 and "loop: lockstep on the CPU: no GPU" in done.stdout and "2 cases in s" in done.stdout
    again = CliRunner().invoke(app, [*command, "--out", "s", "--device", "cpu", "--resume", "--json"])
    assert again.exit_code == 0 and json.loads(again.stdout)["loop"] == "lockstep"
    for options, words in (
        (["--device", "gpu", "--workers", "2"], "--device: must be given without"),
        (["--device", "x"], "device must"),
    ):
        wrong = CliRunner().invoke(app, [*command, "--out", "w", *options])
        assert wrong.exit_code == 2 and words in wrong.stderr.replace("\n", " ") and not Path("w").exists()
