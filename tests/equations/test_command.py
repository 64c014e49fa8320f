"""pliant equations, as a user types it."""

import json

import casadi as ca
import pytest
from typer.testing import CliRunner

from pliant.cli import app

MODEL = """\
pliant: 1
system: pendulum
gravity: [0, -9.81]
bodies:
  rod: {rigid: {mass: 1.5, inertia: 0.2, com: [0.4, 0]}, joint: {revolute: {angle: 0.3}}}
"""
runner = CliRunner()


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rod.yaml").write_text(MODEL)
    return tmp_path


def test_latex_and_sympy_are_printed(model):
    assert r"\theta_{\mathrm{rod}}" in runner.invoke(app, ["equations", "rod.yaml"]).stdout
    assert "mass_matrix = Matrix([[" in runner.invoke(app, ["equations", "rod.yaml", "--form", "sympy"]).stdout
    assert sorted(path.name for path in model.iterdir()) == ["rod.yaml"]


def test_files_are_written_where_asked_and_named(model):
    done = runner.invoke(app, ["equations", "rod.yaml", "--form", "c", "--out", "arm.c", "--json"])
    assert json.loads(done.stdout)["written"] == ["arm.c", "arm.h"]
    assert runner.invoke(app, ["equations", "rod.yaml", "--form", "casadi"]).exit_code == 0
    assert runner.invoke(app, ["equations", "rod.yaml", "--out", "rod.tex", "--raw"]).exit_code == 0
    assert ca.Function.load("rod.casadi").name_in() == ["t", "q", "v", "u", "p"]
    assert {path.name for path in model.iterdir()} == {"arm.c", "arm.h", "rod.casadi", "rod.json", "rod.tex", "rod.yaml"}


def test_what_cannot_be_is_said_and_nothing_is_written(model):
    wrong = runner.invoke(app, ["equations", "rod.yaml", "--form", "fortran"])
    assert wrong.exit_code == 2 and "--form: must be one of latex, sympy, c, casadi, got 'fortran'" in wrong.stderr
    nowhere = runner.invoke(app, ["equations", "rod.yaml", "--out", "no/where.tex"])
    assert nowhere.exit_code == 2 and "folder 'no' must exist" in nowhere.stderr
    assert sorted(path.name for path in model.iterdir()) == ["rod.yaml"]
