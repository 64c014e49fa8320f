"""The models that `pliant new` writes: they check and run without a warning, and move as their mechanisms do."""

import functools
import math

import numpy as np
import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.analysis.plausibility import implausible
from pliant.cli.app import app
from pliant.cli.new import TEMPLATES

runner = CliRunner()


@functools.cache
def run_of(name: str) -> pl.Result:
    model = pl.load_model(f"{name}.yaml")
    assert not implausible(model.system)
    return pl.simulate(model.system, model.run.t_end, **model.run.options)


@pytest.fixture(scope="module", autouse=True)
def written(tmp_path_factory):
    """The templates, in the current folder."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(tmp_path_factory.mktemp("templates"))
        for name in TEMPLATES:
            assert runner.invoke(app, ["new", name]).exit_code == 0
        yield
    run_of.cache_clear()


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_checks_and_runs_without_a_warning_and_its_ledger_closes(name):
    run, told = run_of(name), pl.report(run_of(name))
    assert run.ok and not run.warnings and not told.warnings
    assert run.ledger.relative_error_max < 1e-6


def test_the_piston_of_the_slider_crank_moves_as_its_geometry_says():
    run = run_of("slider-crank")
    angle = math.radians(60.0) + 1500.0 * 2.0 * math.pi / 60.0 * run.time
    rigid = 0.05 * np.cos(angle) + np.sqrt(0.2**2 - (0.05 * np.sin(angle)) ** 2)
    assert np.max(np.abs(run["piston.displacement"] - rigid)) < 1e-5  # the rod bends, which shortens it by less


def test_the_crank_of_the_four_bar_turns_fully_and_its_rocker_swings_between_its_dead_points():
    run = run_of("four-bar")
    assert run["crank.angle"][-1] > 6.0 * math.pi
    dead = [math.pi - math.acos((0.3**2 + 0.2**2 - reach**2) / (2.0 * 0.3 * 0.2)) for reach in (0.26 - 0.08, 0.26 + 0.08)]
    assert np.allclose([run["rocker.angle"].max(), run["rocker.angle"].min()], dead, atol=1e-3)


def test_the_gripper_holds_the_ball_by_friction_and_lifts_it():
    run = run_of("gripper")
    assert abs(run["ball.y"][-1] - run["ball.y"][0] - 0.06) < 1e-3 and abs(run["ball.x"][-1]) < 1e-4
    pads = run["normal_force", "left pad ball.root"][-1], run["normal_force", "right pad ball.root"][-1]
    assert np.allclose(pads, 7.5, atol=0.05)  # half of the drive's force each


def test_the_platform_of_the_delta_robot_stays_level_and_its_height_is_that_of_the_rods():
    run = run_of("delta-robot")
    platform = list(run.labels["body"]).index("platform")
    assert np.allclose(np.abs(run.values["orientation"][:, platform, 0]), 1.0, atol=1e-9)
    below = 0.2 * math.sin(math.radians(30.0)) + math.sqrt(0.42**2 - (0.12 + 0.2 * math.cos(math.radians(30.0)) - 0.045) ** 2)
    assert np.allclose(run.values["root_position"][0, platform], [0.0, 0.0, -below], atol=1e-9)
    assert np.ptp(run.values["root_position"][:, platform, 0]) > 0.1


def test_templates_are_listed_named_and_nearest_names_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    listed = runner.invoke(app, ["new", "--list"])
    assert listed.exit_code == 0 and [line.split()[0] for line in listed.stdout.splitlines()] == list(TEMPLATES)
    wrong = runner.invoke(app, ["new", "fourbar"])
    assert wrong.exit_code == 2 and "did you mean 'four-bar'?" in wrong.stderr
    assert "a template or a file must be given" in runner.invoke(app, ["new"]).stderr
    assert runner.invoke(app, ["new", "four-bar", "linkage_2.yaml"]).exit_code == 0
    text = (tmp_path / "linkage_2.yaml").read_text()
    assert "\nsystem: linkage 2\n" in text and "pliant run linkage_2.yaml " in text and "four-bar." not in text
    assert pl.load_model("linkage_2.yaml").system.name == "linkage 2"
