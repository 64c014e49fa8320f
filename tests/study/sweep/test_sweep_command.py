"""pliant sweep and pliant plot FOLDER: what they take, write, say, and how they end."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.cli import app
from pliant.cli.axes import parse_axes
from pliant.cli.exits import Stopped
from pliant.model.parameter import Parameter
from sweeps import MODEL, contents

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(pl.__file__).parents[1])}
BATCHES = "s/[!.]*.nc"  # whole ones: a draft, which has a dot before its name, is no case that is stored
PARAMETERS = {
    "E": Parameter("E", 7e10, "Pa"),
    "payload": Parameter("payload", 0.3, "kg"),
    "gain": Parameter("gain", 2.0),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "m.yaml").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pliant(*arguments):
    return CliRunner().invoke(app, arguments)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("payload=0.1:1.0:4", [0.1, 0.4, 0.7, 1.0]),
        ("payload=100:400:4g", [0.1, 0.2, 0.3, 0.4]),
        ("payload=100 g : 0.4 kg : 4", [0.1, 0.2, 0.3, 0.4]),
        ("E=60,70,200GPa", [6e10, 7e10, 2e11]),
        ("E=60 MPa, 7e10, 200GPa", [6e7, 7e19, 2e11]),
        ("gain=0.1:10:3:log", [0.1, 1.0, 10.0]),
        ("gain=pi/2, 2*pi", [np.pi / 2, 2 * np.pi]),
        ("modes=1,2,4", [1, 2, 4]),
    ],
)
def test_axes_are_ranges_and_lists_with_units(text, values):
    (given,) = parse_axes([text], PARAMETERS).values()
    assert given == pytest.approx(values, rel=1e-15) and {type(x) for x in given} == {type(values[0])}


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["payload"], "--over: must be NAME=FROM:TO:COUNT"),
        (["payload=1:2"], "must be NAME=FROM:TO:COUNT"),
        (["payload=1:2:1"], "with a count of at least 2"),
        (["payload=1:2:3:lin"], "must be NAME=FROM:TO:COUNT"),
        (["payload=-1:2:3:log"], "ends of a logarithmic axis must have the same sign"),
        (["payload=1,2 mm"], "parameter 'payload': value must be in kg, got 'mm'"),
        (["payload=1", "payload=2"], "must name 'payload' only once"),
    ],
)
def test_what_is_no_axis_is_refused(texts, words):
    with pytest.raises(Stopped, match=words):
        parse_axes(texts, PARAMETERS)


@pytest.mark.parametrize("axis", ["payload=4:10:4", "payload=4,10", "payload=1kg,2"])
def test_numbers_without_a_unit_are_refused_where_the_model_has_another_than_that_of_si(axis):
    with pytest.raises(Stopped, match=r"'payload': value must have a unit, such as .*, because the model defines it in g, got"):
        parse_axes([axis], PARAMETERS, {"payload": "g"})
    assert parse_axes(["payload=4:10:4"], PARAMETERS, {"payload": "kg"}) == parse_axes(["payload=4:10:4kg"], PARAMETERS)
    assert parse_axes(["payload=0,0.5kg"], PARAMETERS, {"payload": "g"}) == {"payload": [0.0, 0.5]}


def test_a_sweep_of_a_model_in_grams_wants_units(folder):
    (folder / "m.yaml").write_text(MODEL.replace("{value: 1 kg, low", "{value: 1000 g, low"))
    done = pliant("sweep", "m.yaml", "--over", "mass=1,2", "--out", "s")
    assert done.exit_code == 2 and "--over: parameter 'mass': value must have a unit, such as 1g or 1kg" in done.stderr
    assert pliant("sweep", "m.yaml", "--over", "mass=1,2kg", "--out", "s", "--quiet").exit_code == 0


def test_a_sweep_is_run_reported_gone_on_with_and_drawn(folder):
    command = [
        "sweep",
        "m.yaml",
        "--over",
        "mass=500:2000:3g",
        "--over",
        "torque=0,0.5",
        "--keep",
        "bob.angle",
        "--out",
        "s",
    ]
    done = pliant(*command)
    assert done.exit_code == 0 and done.stdout == "6 cases in s: mass (3), torque (2)\n"
    assert pl.open_sweep("s")["mass"].values.tolist() == [0.5, 1.25, 2.0]
    refused = pliant(*command)
    assert refused.exit_code == 2 and "'s' already contains a sweep; --resume continues it" in refused.stderr
    before = contents(folder / "s")
    again = pliant(*command, "--resume", "--json")
    assert again.exit_code == 0 and contents(folder / "s") == before
    expected = {"cases": 6, "failed": 0, "failures": [], "written": "s", "exit_code": 0}
    assert json.loads(again.stdout) == expected
    for options, kind in (([], "heat_map"), (["--where", "torque=0.4"], "family"), (["--reduce", "final"], "heat_map")):
        drawn = pliant("plot", "s", "--json", *options)
        assert drawn.exit_code == 0, drawn.stderr
        assert json.loads(drawn.stdout) == {"written": "s.png", "kind": kind}
        assert (folder / "s.png").read_bytes().startswith(b"\x89PNG")


def test_failed_cases_are_said_and_the_others_kept(folder):
    (folder / "m.yaml").write_text(MODEL.replace("damper: 0.05", "damper: drag").replace("define:", "define:\n  drag: 0.05"))
    done = pliant("sweep", "m.yaml", "--over", "drag=-1,1", "--out", "s")
    assert done.exit_code == 1 and "1 of 2 cases failed:\n" in done.stderr and "coefficient must be >= 0" in done.stderr
    done = pliant("sweep", "m.yaml", "--over", "drag=-1,-2", "--out", "t", "--quiet")
    assert done.exit_code == 1 and done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["m.yaml", "--out", "s"], "--over must be given"),
        (["m.yaml", "--over", "mass=1,2"], "--out must be given"),
        (["m.yaml", "--over", "mas=1,2", "--out", "s"], r"must name one of .*did you mean 'mass'"),
        (["m.yaml", "--over", "mass=1,20", "--out", "s"], r"parameter 'mass': value must be <= 10\.0 kg, got 20\.0"),
        (
            ["m.yaml", "--over", "mass=1,2", "--set", "mass=1", "--out", "s"],
            "must not name a number that is set to a fixed value, got 'mass'",
        ),
        (["m.yaml", "--over", "mass=1,2", "--out", "s", "--keep", "kinetik"], "did you mean 'kinetic'"),
        (
            ["m.yaml", "--over", "mass=1,2", "--out", "s", "--workers", "2", "--dask", "tcp://x:1"],
            "at most one of them",
        ),
        (["m.yaml", "--over", "mass=1,2", "--out", "s", "--workers", "0"], "--workers: must be >= 1"),
        (["none.yaml", "--over", "mass=1,2", "--out", "s"], r"none\.yaml: cannot be read"),
    ],
)
def test_what_is_wrong_with_the_command_is_said_and_nothing_made(folder, arguments, words):
    done = pliant("sweep", *arguments)
    assert done.exit_code == 2, done.stderr
    assert re.search(words, done.stderr.replace("\n", " ")), done.stderr
    assert not (folder / "s").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--kind", "ledger"], "--kind: must be left out for a sweep"),
        (["--name", "bob.angel"], "did you mean 'bob.angle'"),
        (["--reduce", "larges"], "must be one of largest, final, range"),
        (["--where", "mas=1"], "must name one of mass (did you mean 'mass'?)"),
    ],
)
def test_what_cannot_be_drawn_is_said(folder, options, words):
    assert pliant("sweep", "m.yaml", "--over", "mass=1,2", "--out", "s", "--keep", "bob.angle").exit_code == 0
    done = pliant("plot", "s", *options)
    assert done.exit_code == 2 and words in done.stderr and not (folder / "s.png").exists()


@pytest.mark.parametrize("workers", [[], ["--workers", "2"]], ids=["threads", "processes"])
def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(folder, workers):
    options = ["--over", "mass=0.5:5:400", "--out", "s", "--batch", "2", *workers]
    command = [sys.executable, "-m", "pliant", "sweep", "m.yaml", *options]
    process = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60.0
    while len(list(folder.glob(BATCHES))) < 5:
        assert process.poll() is None and time.monotonic() < end, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and out == "", err
    assert not list(folder.glob("s/.*pliant-draft*"))
    assert "of 400 cases are in s: the same sweep goes on from there, with --resume" in err and "Traceback" not in err
    stored = 2 * len(list(folder.glob(BATCHES)))
    data = pl.open_sweep(folder / "s")
    assert f"interrupted; {stored} of 400" in err and int(data["ok"].sum()) == stored


def test_a_sweep_is_a_table_with_its_parameters_first_and_failed_cases_in_words(folder):
    (folder / "m.yaml").write_text(MODEL.replace("damper: 0.05", "damper: drag").replace("define:", "define:\n  drag: 0.05"))
    kept = ["--keep", "bob.angle", "--keep", "largest_reaction_force", "--keep", "largest_effort"]
    assert pliant("sweep", "m.yaml", "--over", "mass=1,2kg", "--over", "drag=-1,1", *kept, "--out", "s", "--quiet").exit_code == 1
    shown = " ".join(pliant("info", "s").stdout.split())
    assert "pendulum: 4 cases, 2 failed; kept: bob.angle, largest_reaction_force, largest_effort" in shown
    assert pliant("export", "s", "t.csv").stdout == "written to t.csv: 4 rows\n"
    with open("t.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:3] == ["mass [kg]", "drag", "ok"] and list(rows[0])[-3:] == ["balance_error", "message", "warnings"]
    assert [(row["mass [kg]"], row["drag"], row["ok"]) for row in rows] == [
        ("1.0", "-1.0", "False"), ("1.0", "1.0", "True"), ("2.0", "-1.0", "False"), ("2.0", "1.0", "True")]  # fmt: skip
    assert "coefficient must be >= 0" in rows[0]["message"] and rows[0]["largest |bob.angle| [rad]"] == ""
    data = pl.open_sweep("s").sel(drag=1.0)
    largest = np.abs(data["bob.angle"]).max("time").values.tolist()
    assert [float(row["largest |bob.angle| [rad]"]) for row in rows[1::2]] == largest
    forces = data["largest_reaction_force"].sel(body="bob")
    assert [float(row["largest reaction force bob [N]"]) for row in rows[1::2]] == forces.values.tolist()
    assert data["largest_effort"].attrs["units"] == "N m" and 0.0 < data["largest_effort"].max() <= 0.2
    pliant("export", "s", "u.csv", "--columns", "bob.angle", "--reduce", "final")
    assert Path("u.csv").read_text().splitlines()[0] == "mass [kg],drag,ok,final bob.angle [rad],balance_error,message,warnings"
    told = json.loads(pliant("info", "s", "--json").stdout)
    assert (told["cases"], told["failed"], told["columns"]) == (4, 2, list(rows[0])) and told["rows"][1][:3] == [1.0, 1.0, True]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["export", "s", "t.mat"], "--out: must end in .csv"),
        (["export", "s", "t.csv", "--table", "report"], "--table: must be left out for a sweep"),
        (["export", "s", "t.csv", "--columns", "bob.angl"], "did you mean 'bob.angle'"),
        (["export", "s", "t.csv", "--reduce", "least"], "reduce must be one of largest, final, range"),
        (["export", ".", "t.csv"], "must be the folder of a sweep"),
        (["info", "."], "must be the folder of a sweep"),
    ],
)
def test_what_is_no_table_of_a_sweep_is_said(folder, arguments, words):
    assert pliant("sweep", "m.yaml", "--over", "mass=1,2kg", "--keep", "bob.angle", "--out", "s", "--quiet").exit_code == 0
    done = pliant(*arguments)
    assert done.exit_code == 2 and words in done.stderr and not Path(arguments[-1]).is_file()
