"""pliant modes and pliant equilibrium: tables for people, JSON for machines, files that others read."""

import json

import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.cli.app import app

MODEL = """
pliant: 1
system: lifting arm
gravity: [0, -9.81]
define:
  payload: {value: 0.3 kg, low: 0 kg, high: 2 kg}
bodies:
  arm:
    beam:
      length: 0.8
      theory: euler-bernoulli
      section: {rectangle: {height: 8 mm, width: 40 mm}}
      material: {E: 70 GPa, density: 2700}
      modes: {ends: cf, count: 2}
      damping: {rayleigh_ratios: {ratios: [0.01, 0.01]}}
      payload: {mass: payload, inertia: 1e-4}
    joint: {revolute: {damper: 0.5, spring: {stiffness: 100}}}
"""
SHAFT = """
pliant: 1
system: shaft
gravity: [0, -9.81]
bodies:
  rotor: {rigid: {mass: 1, inertia: [0.1, 0.1, 0.1]}, joint: {revolute: {axis: x}}}
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.yaml").write_text(MODEL, encoding="utf-8")
    (tmp_path / "shaft.yaml").write_text(SHAFT, encoding="utf-8")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_modes_prints_a_table_and_tells_machines_the_same(files):
    printed = run("modes", "arm.yaml")
    assert printed.exit_code == 0, printed.output
    told = json.loads(run("modes", "arm.yaml", "--json").stdout)
    modes = pl.linearise(pl.load_model(files / "arm.yaml").system).modes()
    assert [row["rad_per_s"] for row in told["modes"]] == pytest.approx(modes.frequencies)
    assert [row["damping_ratio"] for row in told["modes"]] == pytest.approx(modes.damping_ratios)
    for row in told["modes"]:
        assert f"{row['rad_per_s']:.6g}" in printed.output
    assert "at the equilibrium" in printed.output and "arm.angle" in printed.output
    heavier = json.loads(run("modes", "arm.yaml", "--json", "--set", "payload=1.5kg").stdout)
    assert heavier["modes"][0]["rad_per_s"] < told["modes"][0]["rad_per_s"]


def test_modes_writes_a_table_a_picture_and_a_page(files):
    done = run("modes", "arm.yaml", "--out", "modes.csv", "--plot", "shapes.png", "--page", "mode.html", "--mode", "1")
    assert done.exit_code == 0, done.output
    head, *rows = (files / "modes.csv").read_text(encoding="utf-8").splitlines()
    assert head == "mode,rad_per_s,Hz,damping_ratio,growth_per_s,moves" and len(rows) == 3
    assert (files / "shapes.png").read_bytes().startswith(b"\x89PNG")
    assert "lifting arm" in (files / "mode.html").read_text(encoding="utf-8")
    assert run("modes", "arm.yaml", "--page", "mode.html", "--mode", "9").exit_code == 2


def test_equilibrium_prints_tables_and_writes_a_result_to_go_on_from(files):
    printed = run("equilibrium", "arm.yaml", "--out", "rest.nc")
    assert printed.exit_code == 0, printed.output
    told = json.loads(run("equilibrium", "arm.yaml", "--json").stdout)
    assert told["stable"] is True and told["written"] is None
    assert (
        f"{told['coordinates']['arm.angle']:.6g}" in printed.output and "forces and moments of joints on bodies" in printed.output
    )
    weight = told["reactions"]["arm"]["force_N"][1]
    assert weight == pytest.approx(9.81 * (0.3 + 0.8 * 8e-3 * 40e-3 * 2700), rel=1e-9)
    rest = pl.Result.from_netcdf(files / "rest.nc")
    assert rest["arm.angle"][0] == told["coordinates"]["arm.angle"]
    going = pl.simulate(pl.load_model(files / "arm.yaml").system, 0.1, start=rest)
    assert going["arm.angle"][-1] == pytest.approx(rest["arm.angle"][0], abs=1e-9)


def test_what_nothing_holds_fails_and_wrong_words_are_refused(files):
    loose = run("equilibrium", "shaft.yaml")
    assert loose.exit_code == 1 and "nothing holds rotor.angle" in loose.output
    turning = json.loads(run("equilibrium", "shaft.yaml", "--steady", "rotor.angle=100", "--json").stdout)
    assert turning["steady"] == {"rotor.angle": 100.0}
    assert run("modes", "shaft.yaml", "--start").exit_code == 0
    for wrong in (["--steady", "rotor.angle"], ["--steady", "rotor.angle=fast"], ["--steady", "rotor.turn=1"]):
        assert run("equilibrium", "shaft.yaml", *wrong).exit_code == 2
    assert run("modes", "shaft.yaml", "--start", "--steady", "rotor.angle=1").exit_code == 2
    assert run("equilibrium", "shaft.yaml", "--out", "no/folder.nc").exit_code == 2


def test_held_joints_are_printed_with_what_holds_them(files):
    told = run("equilibrium", "arm.yaml", "--hold", "arm.angle=-60deg")
    assert told.exit_code == 0 and "held by" in told.output and " N m" in told.output
    data = json.loads(run("equilibrium", "arm.yaml", "--hold", "arm.angle=-60 deg", "--json").stdout)
    rest = pl.equilibrium(pl.loads_model(MODEL).system, hold={"arm.angle": "-60 deg"})
    assert data["efforts"] == {"arm.angle": pytest.approx(rest.efforts["arm.angle"])} and data["hold"] == dict(rest.hold)
    modes = json.loads(run("modes", "arm.yaml", "--hold", "arm.angle=-60deg", "--json").stdout)
    assert "held: arm.angle" in modes["message"] and len(modes["modes"]) == 2
    both = run("modes", "arm.yaml", "--hold", "arm.angle=0", "--start")
    assert both.exit_code == 2 and "--start and --hold: at most one" in both.output
    loose = run("modes", "arm.yaml", "--free")
    assert loose.exit_code == 2 and "--free: must be given with --hold" in loose.output
    wrong = run("equilibrium", "arm.yaml", "--hold", "arm.angle=3kg")
    assert wrong.exit_code == 2 and "hold['arm.angle']" in wrong.output


def test_a_held_joint_is_blocked_in_the_modes_unless_told_otherwise(files):
    """The table listed modes of a joint that the line above it called held."""
    welded = MODEL.replace("{revolute: {damper: 0.5, spring: {stiffness: 100}}}", "weld")
    (files / "welded.yaml").write_text(welded, encoding="utf-8")
    told = json.loads(run("modes", "arm.yaml", "--hold", "arm.angle=0", "--json").stdout)
    alone = json.loads(run("modes", "welded.yaml", "--json").stdout)
    assert [row["Hz"] for row in told["modes"]] == pytest.approx([row["Hz"] for row in alone["modes"]], rel=1e-6)
    assert "arm.angle: blocked in all modes; --free frees them" in told["message"]
    assert not any("arm.angle" in row["moves"] for row in told["modes"])
    free = json.loads(run("modes", "arm.yaml", "--hold", "arm.angle=0", "--free", "--json").stdout)
    system = pl.loads_model(MODEL).system
    about = pl.linearise(system, at=pl.equilibrium(system, hold={"arm.angle": 0.0})).modes()
    assert [row["rad_per_s"] for row in free["modes"]] == pytest.approx(about.frequencies)
    assert "arm.angle: free in the modes, under the efforts" in free["message"]
