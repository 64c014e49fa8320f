"""Tables and plots show lengths, angles and speeds in the units of the model file; numbers stay SI."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.cli.app import app
from pliant.results.shown_units import shown_unit

runner = CliRunner()
MODEL = """
pliant: 1
system: fan
gravity: [0, -9.81]
define: {L: 250 mm}
bodies:
  arm: {rod: {length: L, mass: 1 kg}, joint: {revolute: {angle: 30 deg, rate: 60 rpm}}}
  slide: {rigid: {mass: 100 g}, joint: {prismatic: {axis: x, displacement: 20 mm, spring: 50}}, on: arm.tip}
motors: {hub: {coordinate: arm.angle, motor: {inertia: 1e-4, ratio: 10}}}
run: {t_end: 0.1, save: 0.01}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    file = tmp_path_factory.mktemp("units") / "fan.nc"
    model = pl.loads_model(MODEL)
    pl.simulate(model.system, model.run.t_end, **model.run.options).to_netcdf(file)
    return file


def test_a_file_shows_in_the_units_that_it_writes_most_and_rates_follow():
    units = pl.loads_model(MODEL).system.shown_units
    assert {si: name for si, (name, _) in units.items()} == {"m": "mm", "rad": "deg", "rad/s": "rpm"}
    assert shown_unit("m", units) == (1e-3, "mm") and shown_unit("m/s^2", units) == (1e-3, "mm/s^2")
    assert shown_unit("rad/s", units)[1] == "rpm" and shown_unit("rad/s^2", units)[1] == "deg/s^2"
    assert shown_unit("N m", units) == (1.0, "N m") and shown_unit("N/m", units) == (1.0, "N/m")
    metres = pl.loads_model(MODEL.replace("250 mm", "0.25 m").replace("20 mm", "0.02 m")).system
    assert shown_unit("m", metres.shown_units) == (1.0, "m")
    assert pl.loads_model(MODEL).system == metres  # units of the file are no part of the model
    assert pl.System("plain", gravity=(0, -9.81)).shown_units == {}


def test_plots_of_a_result_read_back_show_the_units_of_the_file(run):
    result = pl.Result.from_netcdf(run)
    labels = [panel.get_ylabel() for panel in pl.plot.coordinates(result).axes]
    assert labels == ["angle, deg", "displacement, mm"]
    speed = pl.plot.series(result, "v arm.angle").axes[0]
    assert speed.get_ylabel().endswith(", rpm") and speed.lines[0].get_ydata()[0] == pytest.approx(60.0)
    still = pl.plot.mechanism(result, time=0.0, labels=True).axes[0]
    assert still.get_xlabel() == "x, mm" and "arm, 250 mm" in [text.get_text() for text in still.texts]
    small = pl.plot.style.prefixed("m", [np.array([3e-6])], result.shown_units)
    assert small == (1e-6, "µm")  # not 0.003 mm


def test_envelopes_along_beams_show_the_units_of_the_file():
    beam = "beam: {length: L, section: {round: 5 mm}, material: steel, theory: euler-bernoulli, modes: {ends: cf, count: 1}"
    result = pl.simulate(pl.loads_model(MODEL.replace("rod: {length: L, mass: 1 kg", beam)), 0.01, save=[0.0, 0.01])
    result = result.with_sections(pl.stresses(result))
    for plot in (pl.plot.stress_envelope, pl.plot.force_envelope):
        panel = plot(result).axes[0]
        farthest = max(np.max(line.get_xdata()) for line in panel.lines)
        assert panel.get_xlabel() == "distance from the root, mm" and farthest == pytest.approx(250.0)


def test_tables_show_the_units_of_the_file_and_numbers_stay_si(run, tmp_path):
    shown = runner.invoke(app, ["info", str(run)]).stdout
    line = next(line for line in shown.splitlines() if "motor speed" in line)
    assert " rpm at t" in line and "shown_units" not in shown
    told = json.loads(runner.invoke(app, ["info", str(run), "--json"]).stdout)["report"]
    speed = next(one for one in told if one["quantity"] == "motor_speed")
    assert speed["unit"] == "rad/s" and f"{speed['value'] * 30.0 / np.pi:.5g} rpm" in line
    result = pl.Result.from_netcdf(run)
    assert result["arm.angle"][0] == pytest.approx(np.radians(30.0))
    result.to_csv(tmp_path / "fan.csv", ["slide.displacement"])
    with open(tmp_path / "fan.csv", newline="", encoding="utf-8") as file:
        heads, first, *_ = csv.reader(file)
    assert heads[1].endswith("[m]") and float(first[1]) == pytest.approx(0.02)
    (tmp_path / "fan.yaml").write_text(MODEL)
    assert "parameter L = 250 mm" in runner.invoke(app, ["check", str(tmp_path / "fan.yaml")]).stdout


BOUNDED = (
    MODEL.replace("define: {L: 250 mm}", "define: {L: 250 mm, n: {value: 60 rpm, low: 10 rpm, high: 400 rpm}}")
    .replace("rate: 60 rpm", "rate: n")
    .replace("spring: 50", "spring: 50, limits: {low: -242 mm, high: 242 mm, stiffness: 1e5}")
    + "struts: {jack: {a: arm.tip, b: {frame: ground, offset: [0, 100 mm]}, stiffness: 1e3, rest: 80 mm}}\n"
)


def test_check_run_and_equilibrium_speak_in_the_units_of_the_file(tmp_path, monkeypatch):
    """One command said 120 rpm and the next 12.566 of the same parameter, and stops, springs and bounds had units of their own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fan.yaml").write_text(BOUNDED)
    checked = runner.invoke(app, ["check", "fan.yaml"]).stdout
    for line in ("parameter n = 60 rpm, >= 10 rpm, <= 400 rpm", "stops of slide.displacement: -242 to 242 mm, spring",
                 "spring 1000 N/m of 80 mm"):  # fmt: skip
        assert line in checked
    for told in (["run", "fan.yaml", "--set", "n=90rpm"], ["info", "fan.nc"]):
        shown = runner.invoke(app, told).stdout
        assert "n = 90 rpm" in shown and "L = 250 mm" in shown and "parameter_units" not in shown
    rest = runner.invoke(app, ["equilibrium", "fan.yaml", "--hold", "arm.angle=90deg"]).stdout
    assert "m, rad or 1" not in rest and "90 deg" in rest
    value = pl.equilibrium(pl.loads_model(BOUNDED).system, hold={"arm.angle": "90 deg"})["slide.displacement"]
    assert f"{value * 1e3:.6g} mm" in rest
    refused = runner.invoke(app, ["check", "fan.yaml", "--set", "n=1200rpm"])
    assert refused.exit_code == 2 and "value must be <= 400 rpm, got 1200 rpm" in refused.output
