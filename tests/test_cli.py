"""The command line: what it prints, what it writes, and its exit codes. The run itself is a stand-in."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import shlex
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer
import yaml
from typer.testing import CliRunner

import pliant as pl
from older_files import without_checksums
from pliant.cli import app
from pliant.cli.app import COMMANDS
from pliant.cli.options import seconds as read_seconds
from pliant.errors import ModelError, SolveError
from pliant.files.schema import schema
from pliant.gallery.reproduction import ABOUT, REPRODUCTIONS
from pliant.host.atomic_files import atomic_write
from pliant.results.result import Result

CHAIN = str(Path(__file__).parents[1] / "examples" / "falling_chain.yaml")
runner = CliRunner()


@dataclass
class Event:
    t: float
    name: str
    direction: int = 1


@dataclass
class Ledger:
    balance_error_max: float = 1.5e-11


@dataclass
class Outcome:
    """What `simulate` gives back, as far as the command line looks."""

    ok: bool = True
    message: str = "reached t = 1.5 s"
    interrupted: bool = False
    parameters: dict[str, float] = field(default_factory=dict)
    shown_units: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    stats: dict[str, Any] = field(default_factory=lambda: {"steps": 12, "rhs_evaluations": 84, "wall_s": 0.01234567})
    events: list[Event] = field(default_factory=list)
    contacts: tuple[Any, ...] = ()
    time: tuple[float, ...] = ()
    ledger: Ledger = field(default_factory=Ledger)
    warnings: tuple[str, ...] = ()

    def to_netcdf(self, path: Path) -> None:
        Path(path).write_text("result")


@pytest.fixture
def simulate(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], dict[str, Any]]:
    """Put a stand-in in simulate's place; returns what it was called with."""

    def install(outcome: Any) -> dict[str, Any]:
        seen: dict[str, Any] = {}

        def stand_in(system: Any, **settings: Any) -> Any:
            seen.update(settings, system=system)
            settings["progress"](0.1, settings["t_end"])
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome

        module = types.ModuleType("pliant.run.simulate")
        module.simulate = stand_in  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "pliant.run.simulate", module)
        return seen

    return install


def test_check_prints_the_tree_and_the_run_settings() -> None:
    done = runner.invoke(app, ["check", CHAIN])
    assert done.exit_code == 0
    assert "falling chain: 3 bodies, 8 degrees of freedom, 3 kg" in done.stdout
    assert "└─ c: Revolute Beam 1 kg (angle, y1)" in done.stdout
    assert "ground c.tip: HuGuo, Ambrosio" in done.stdout
    assert "with the loops closed" not in done.stdout
    assert "run to t = 1.5 s with RKF45(rtol=1e-09" in done.stdout
    assert done.stderr == ""


LOOP = """
pliant: 1
system: four-bar
gravity: [0, -9.81]
bodies:
  first: {rod: {length: 1, mass: 1}, joint: {revolute: {angle: 1.5}}}
  coupler: {rod: {length: 1, mass: 1}, joint: {revolute: {angle: -1.5}}, on: first.tip}
  last: {rod: {length: 1, mass: 1}, joint: {revolute: {angle: 1.5}}, on: {frame: ground, offset: [1, 0]}}
closures:
  pin: {kind: point, a: coupler.tip, b: last.tip}
  brace: {kind: distance, a: {frame: coupler.root, offset: [0.5, 0]}, b: {frame: ground, offset: [0.5, 0]}, length: 1}
"""


def test_check_tells_what_is_left_to_move_where_loops_are_closed(tmp_path: Path) -> None:
    file = tmp_path / "loop.yaml"
    file.write_text(LOOP)
    done = runner.invoke(app, ["check", str(file)])
    assert done.exit_code == 0
    assert "1 degrees of freedom with the loops closed; redundant closures: brace" in done.stdout
    file.write_text(LOOP.replace("offset: [1, 0]}}", "offset: [9, 0]}}"))
    done = runner.invoke(app, ["check", str(file)])
    assert done.exit_code == 2
    assert "cannot close with these lengths" in done.stderr


@pytest.mark.parametrize("command", [["check"], ["run", "--out", "never.nc"]], ids=["check", "run"])
def test_wrong_and_missing_files_end_with_2_and_a_message_on_stderr(command: list[str], tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("pliant: 1\nsystm: x\n")
    for file, message in ((wrong, "wrong.yaml:2:1: unknown key 'systm' (did you mean 'system'?)"),
                          (tmp_path / "none.yaml", "none.yaml: cannot be read: No such file")):  # fmt: skip
        done = runner.invoke(app, [*command, str(file)])
        assert done.exit_code == 2
        assert message in done.stderr
        assert done.stdout == ""
        assert "Traceback" not in done.stderr


def test_run_writes_the_result_and_says_how_it_went(simulate: Any, tmp_path: Path) -> None:
    events = [Event(0.01 * k, f"touch[{k}]") for k in range(12)]
    seen = simulate(Outcome(events=events))
    out = tmp_path / "result.nc"
    done = runner.invoke(app, ["run", CHAIN, "--out", str(out)])
    assert done.exit_code == 0, done.stderr
    assert out.read_text() == "result"
    assert seen["t_end"] == 1.5
    assert seen["save"] == 1e-3
    assert type(seen["method"]).__name__ == "RKF45"
    assert list(seen["system"].links) == ["a", "b", "c"]
    assert list(seen["system"].contacts) == ["ground a.root", "ground a.tip", "ground b.tip", "ground c.tip"]
    for words in ("reached t = 1.5 s", "steps", "12", "evaluations", "84", "0.01235", "1.5e-11",
                  "touch[3] rising at t = 0.03 s", "and 2 more"):  # fmt: skip
        assert words in done.stdout
    assert list(tmp_path.iterdir()) == [out]


def test_warnings_are_told_in_every_way_of_asking(simulate: Any, tmp_path: Path) -> None:
    simulate(Outcome(warnings=("the balance is 3 J off",)))
    call = ["run", CHAIN, "--out", str(tmp_path / "r.nc")]
    assert "the balance is 3 J off" in runner.invoke(app, call).stdout
    quiet = runner.invoke(app, [*call, "--quiet"])
    assert (quiet.stdout, quiet.stderr) == ("", "warning: the balance is 3 J off\n")


def test_quiet_says_nothing_and_t_end_overrides(simulate: Any, tmp_path: Path) -> None:
    seen = simulate(Outcome())
    done = runner.invoke(app, ["run", CHAIN, "--out", str(tmp_path / "r.nc"), "--t-end", "0.25", "--quiet"])
    assert done.exit_code == 0
    assert (done.stdout, done.stderr) == ("", "")
    assert seen["t_end"] == 0.25


def test_a_failed_run_keeps_what_it_computed_and_ends_with_1(simulate: Any, tmp_path: Path) -> None:
    simulate(Outcome(ok=False, message="the step fell below 1e-15 s at t = 0.2 s."))
    out = tmp_path / "result.nc"
    done = runner.invoke(app, ["run", CHAIN, "--out", str(out), "--quiet"])
    assert done.exit_code == 1
    assert f"the step fell below 1e-15 s at t = 0.2 s; the part computed so far is in {out}" in done.stderr
    assert out.read_text() == "result"


def test_an_interrupted_run_keeps_what_it_computed_and_ends_with_130(simulate: Any, tmp_path: Path) -> None:
    simulate(Outcome(ok=False, interrupted=True, message="interrupted at t = 0.2 s"))
    out = tmp_path / "result.nc"
    done = runner.invoke(app, ["run", CHAIN, "--out", str(out)])
    assert done.exit_code == 130
    assert "interrupted at t = 0.2 s; the part computed so far is in" in done.stderr
    assert out.exists()


@pytest.mark.parametrize(
    ("trouble", "code"),
    [(ModelError("beam 'a': too thin"), 2), (SolveError("no start"), 1), (KeyboardInterrupt(), 130)],
    ids=["model", "solve", "ctrl-c"],
)
def test_a_run_that_never_began_writes_nothing(trouble: BaseException, code: int, simulate: Any, tmp_path: Path) -> None:
    simulate(trouble)
    done = runner.invoke(app, ["run", CHAIN, "--out", str(tmp_path / "result.nc")])
    assert done.exit_code == code
    assert (str(trouble) or "interrupted; nothing was written") in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("moment", ["_draw", "_report"])
def test_ctrl_c_after_the_result_was_written_says_that_it_was(
    moment: str, simulate: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first file is there whole when the interrupt comes: a message that nothing was written would have it thrown away."""

    class Written(Outcome):
        def to_netcdf(self, path: Path) -> None:
            with atomic_write(path) as draft:
                draft.write_text("result")

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    simulate(Written())
    monkeypatch.setattr(f"pliant.cli.run.{moment}", interrupted)
    out = tmp_path / "result.nc"
    done = runner.invoke(app, ["run", CHAIN, "--out", str(out), "--plot", str(tmp_path / "picture.png")]
                         if moment == "_draw" else ["run", CHAIN, "--out", str(out)])  # fmt: skip
    assert done.exit_code == 130
    assert done.stderr == f"interrupted; {out} was written\n"
    assert list(tmp_path.iterdir()) == [out]


def test_ctrl_c_at_the_moment_of_renaming_tells_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Just before and just after: the file itself tells, not where the program stood."""
    rename = os.replace

    def before(draft: Path, place: Path) -> None:
        raise KeyboardInterrupt

    def after(draft: Path, place: Path) -> None:
        rename(draft, place)
        raise KeyboardInterrupt

    for strike, words, there in ((before, "nothing", []), (after, "arm.yaml", ["arm.yaml"])):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(os, "replace", strike)
        done = runner.invoke(app, ["new", "arm.yaml"])
        assert (done.exit_code, done.stderr) == (130, f"interrupted; {words} was written\n")
        assert [path.name for path in tmp_path.iterdir()] == there


def test_a_failed_writing_is_told_and_exits_with_1(simulate: Any, tmp_path: Path) -> None:
    class FullDisk(Outcome):
        def to_netcdf(self, path: Path) -> None:
            raise OSError(28, "No space left on device")

    simulate(FullDisk())
    done = runner.invoke(app, ["run", CHAIN, "--out", str(tmp_path / "result.nc")])
    assert done.exit_code == 1
    assert "cannot be written: No space left on device" in done.stderr


def test_a_real_run_writes_the_result_and_the_picture(tmp_path: Path) -> None:
    out, picture = tmp_path / "chain.nc", tmp_path / "chain.png"
    done = runner.invoke(app, ["run", CHAIN, "--out", str(out), "--plot", str(picture)])
    assert done.exit_code == 0, done.output
    assert "touches" in done.stdout and " N on ground " in done.stdout
    assert "half a metre up falling at t = 0.285568625 s" in done.stdout  # sqrt(0.8 / 9.81): it falls freely
    touches = Result.from_netcdf(out).contacts
    assert touches[0].begin == pytest.approx(math.sqrt(1.8 / 9.81), abs=1e-9)  # and its ends hit the ground from 0.9 m
    assert len(touches) > 20
    hardest = max(touches, key=lambda touch: touch.peak_force)
    assert f"{hardest.peak_force:.5g} N on {hardest.pair} at t = {hardest.peak_time:.6g} s" in " ".join(done.stdout.split())
    assert picture.stat().st_size > 10_000
    assert sorted(tmp_path.iterdir()) == [out, picture]


def test_what_cannot_end_well_is_refused_before_the_run(simulate: Any, tmp_path: Path) -> None:
    seen = simulate(Outcome())
    no_run = tmp_path / "no_run.yaml"
    no_run.write_text("pliant: 1\nsystem: s\ngravity: [0, 0]\n"
                      "bodies: {a: {rod: {length: 1, mass: 1}, joint: revolute}}\n")  # fmt: skip
    good = str(tmp_path / "r.nc")
    for arguments, message in (
        ([CHAIN, "--out", str(tmp_path / "none" / "r.nc")], "must exist"),
        ([CHAIN, "--out", str(tmp_path)], "must be a file that can be written"),
        ([CHAIN, "--out", good, "--t-end", "-1"], "--t-end: run: t_end must be > 0 s, got -1.0"),
        ([str(no_run), "--out", good], "no_run.yaml: run must be given (t_end and method), got no run section"),
    ):
        done = runner.invoke(app, ["run", *arguments])
        assert done.exit_code == 2
        assert message in done.stderr
    assert seen == {}
    assert "no run section" in runner.invoke(app, ["check", str(no_run)]).stdout


def test_version_is_printed() -> None:
    done = runner.invoke(app, ["--version"])
    assert done.exit_code == 0
    assert done.stdout.startswith("pliant ")


def test_check_tells_machines_what_is_left_to_move() -> None:
    crank = str(Path(CHAIN).with_name("published") / "slider_crank.yaml")
    assert "4 degrees of freedom with the loops closed" in runner.invoke(app, ["check", crank]).stdout
    printed = json.loads(runner.invoke(app, ["check", crank, "--json"]).stdout)
    assert printed["with_loops_closed"] == printed["degrees_of_freedom"] - 2  # the guide holds a height and an angle
    assert printed["implied_closures"] == []


# ---- the other commands, in this process


def test_every_command_has_help_with_an_example_that_parses() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert list(commands) == ["new", "check", "run", "sweep", "equilibrium", "modes", "fit", "info", "export", "plot", "animate",
                              "page", "serve", "fmu", "reproduce", "equations", "schema"]  # fmt: skip
    for name, command in commands.items():
        shown = runner.invoke(app, [name, "--help"], env={"COLUMNS": "200"})
        assert shown.exit_code == 0
        example = re.search(r"Example: pliant (.*)", shown.stdout)
        assert example is not None, name
        words = shlex.split(example[1].strip())
        assert words[0] == name
        command.make_context(name, words[1:])  # refuses what it does not know


ARM = """\
pliant: 1
system: arm
gravity: [0, -9.81]
define:
  payload: {value: 300 g, low: 0.1 kg, high: 1 kg}
  L: 500 mm
  torque: 0.2
  count: 2
  half: L/2
  wave: torque*sin(t)
  end: 0.1 s
bodies:
  arm:
    beam: {length: L, theory: euler-bernoulli, section: {round: 5 mm}, material: steel, modes: {ends: cf, count: count}}
    joint: revolute
  bob: {rod: {length: half, mass: payload}, joint: revolute, on: arm.tip}
drives: {m: {coordinate: arm.angle, effort: wave}}
run: {t_end: end}
"""


@pytest.fixture
def arm(tmp_path: Path) -> str:
    (tmp_path / "arm.yaml").write_text(ARM)
    return str(tmp_path / "arm.yaml")


def test_a_definition_that_nothing_uses_is_told_of(tmp_path: Path) -> None:
    text = (
        "pliant: 1\nsystem: s\ngravity: [0, -9.81]\ndefine: {L: 1 m, half: L/2, n: 120 rpm, k: 2}\n"
        "bodies: {arm: {rod: {length: half, mass: 1}, joint: revolute}}\nrun: {t_end: 0.01}\n"
    )
    (tmp_path / "s.yaml").write_text(text)
    file, out = str(tmp_path / "s.yaml"), ["--out", str(tmp_path / "s.nc")]
    assert "note: n, k under define are used nowhere in the file\n" in runner.invoke(app, ["check", file]).stdout
    assert json.loads(runner.invoke(app, ["check", file, "--json"]).stdout)["unused_definitions"] == ["n", "k"]
    assert runner.invoke(app, ["run", file, *out]).output.count("note: n, k under define") == 1
    assert "note" not in runner.invoke(app, ["run", file, *out, "--quiet"]).output
    (tmp_path / "s.yaml").write_text(text.replace("mass: 1", "mass: k").replace("revolute", "{revolute: {rate: n}}"))
    assert "note" not in runner.invoke(app, ["check", file]).stdout


def test_a_loop_that_a_missing_unit_keeps_open_says_so(tmp_path: Path) -> None:
    text = (
        "pliant: 1\nsystem: s\ngravity: [0, 0]\ndefine: {r: 50 mm, l: %s, d: 200 mm}\nbodies:\n"
        "  crank: {rod: {length: r, mass: 1}, joint: revolute}\n"
        "  rod: {rod: {length: l, mass: 1}, joint: {revolute: {angle: 0.1}}, on: crank.tip}\n"
        "closures: {pin: {kind: distance, a: rod.tip, b: {frame: ground, offset: [d, 0]}, length: 40 mm}}\nrun: {t_end: 0.01}\n"
    )
    file = tmp_path / "s.yaml"
    for command, more in (("check", []), ("run", ["--out", str(tmp_path / "s.nc")])):
        file.write_text(text % "200")
        told = runner.invoke(app, [command, str(file), *more])
        assert told.exit_code != 0
        assert "this file writes lengths in mm: is a unit missing in l = 200?" in told.output
        file.write_text(text % "200 mm")
        assert runner.invoke(app, [command, str(file), *more]).exit_code == 0


def test_check_lists_parameters_with_values_units_and_bounds(arm: str) -> None:
    done = runner.invoke(
        app, ["check", arm, "--set", "payload=310 g", "--set", "L=0.6 m", "--set", "count=3", "--set", "end=200ms"]
    )
    assert done.exit_code == 0, done.output
    assert "parameter payload = 0.31 kg, >= 0.1 kg, <= 1 kg\n" in done.stdout
    assert "parameter L = 600 mm\n" in done.stdout  # the file is in mm
    assert "parameter torque = 0.2\n" in done.stdout
    assert "y3" in done.stdout and "to t = 0.2 s" in done.stdout
    told = json.loads(runner.invoke(app, ["check", arm, "--json", "--set", "torque=1"]).stdout)["parameters"]
    assert told["payload"] == {"value": 0.3, "unit": "kg", "low": 0.1, "high": 1.0}
    assert told["torque"]["value"] == 1.0


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("payloda=1", "parameters: name must name one of ['payload', 'L', 'torque', 'count', 'end'] (did you mean 'payload'?)"),
        ("payload=2 m", "parameter 'payload': value must be in kg, got 'm', which is of dimension [length]"),
        ("payload=2kg", "parameter 'payload': value must be <= 1000 g, got 2000 g"),
        ("payload=0.5", "'payload': value must have a unit, such as 0.5g or 0.5kg, because the model defines it in g, got '0.5'"),
        ("half=2", "parameter 'half': value must not be set, it is computed as L/2, got '2'"),
        ("L=-1m", "length must be > 0 m, got -1.0"),
        ("L", "--set: must be NAME=VALUE, as in payload=0.31kg, got 'L'"),
        ("L=", "--set: must be NAME=VALUE, as in payload=0.31kg, got 'L='"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["check", "run", "equations", "animate"])
def test_what_cannot_be_set_is_refused_with_2(command: str, setting: str, message: str, arm: str, tmp_path: Path) -> None:
    more = ["--html", str(tmp_path / "arm.html")] if command == "animate" else []
    done = runner.invoke(app, [command, arm, "--set", setting, *more])
    assert done.exit_code == 2
    assert message in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arm.yaml"]


def test_a_run_with_values_set_records_them_and_info_shows_them(arm: str, tmp_path: Path) -> None:
    out = str(tmp_path / "arm.nc")
    done = runner.invoke(app, ["run", arm, "--out", out, "--set", "payload=0.5kg", "--set", "torque=3"])
    assert done.exit_code == 0, done.output
    assert Result.from_netcdf(out).parameters == {"payload": 0.5, "L": 0.5, "torque": 3.0}
    assert "payload = 0.5" in done.stdout
    assert "payload = 0.5" in runner.invoke(app, ["info", out]).stdout
    (tmp_path / "again.yaml").write_text(runner.invoke(app, ["info", out, "--model"]).stdout)
    told = json.loads(runner.invoke(app, ["check", str(tmp_path / "again.yaml"), "--json"]).stdout)["parameters"]
    assert {name: one["value"] for name, one in told.items()} == {"payload": 0.5, "L": 0.5, "torque": 3.0}


def test_a_model_is_animated_with_values_set_but_a_result_is_done(arm: str, tmp_path: Path) -> None:
    page, out = str(tmp_path / "arm.html"), str(tmp_path / "arm.nc")
    done = runner.invoke(app, ["animate", arm, "--html", page, "--set", "payload=0.5 kg"])
    assert done.exit_code == 0, done.output
    assert Path(page).stat().st_size > 1000
    assert runner.invoke(app, ["run", arm, "--out", out, "--quiet"]).exit_code == 0
    refused = runner.invoke(app, ["animate", out, "--html", page, "--set", "payload=0.5"])
    assert refused.exit_code == 2 and "--set: must be given with a model file" in refused.stderr


def test_the_help_tells_the_exit_codes() -> None:
    shown = " ".join(runner.invoke(app, ["--help"]).stdout.split())
    for words in ("0 done", "1 the run or its writing failed", "2 the model, the file or the command is wrong", "130 interrupted"):
        assert words in shown


def test_new_writes_a_model_that_checks_runs_and_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert runner.invoke(app, ["new", "my_arm.yaml"]).exit_code == 0
    first = Path("my_arm.yaml").read_text()
    jsonschema.validate(yaml.safe_load(first.replace("\n    on:", "\n    'on':")), schema())
    assert "my arm: 3 bodies, 8 degrees of freedom" in runner.invoke(app, ["check", "my_arm.yaml"]).stdout
    done = runner.invoke(app, ["run", "my_arm.yaml", "--t-end", "0.4", "--json"])
    assert done.exit_code == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["ok"] and printed["written"] == "my_arm.nc" and printed["touches"] > 0 and printed["t"] == [0.0, 0.4]
    assert printed["energy_balance"]["of_exchange"] < 1e-8
    again = runner.invoke(app, ["new", "my_arm.yaml"])
    assert again.exit_code == 2 and "already exists; --force replaces it" in again.stderr
    Path("my_arm.yaml").write_text("mine")
    assert runner.invoke(app, ["new", "my_arm.yaml", "--force"]).exit_code == 0
    assert Path("my_arm.yaml").read_text() == first
    wrong = runner.invoke(app, ["new", "arm.txt"])
    assert wrong.exit_code == 2 and "must end in .yaml" in wrong.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["my_arm.nc", "my_arm.yaml"]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the chain until it touches the ground."""
    out = tmp_path_factory.mktemp("ran") / "chain.nc"
    done = runner.invoke(app, ["run", CHAIN, "--out", str(out), "--t-end", "0.4285", "--csv", str(out.with_suffix(".csv"))])
    assert done.exit_code == 0, done.output
    return out


def test_a_run_is_gone_on_with_from_its_file(ran: Path, tmp_path: Path) -> None:
    rest, whole = tmp_path / "rest.nc", tmp_path / "whole.nc"
    done = runner.invoke(app, ["run", CHAIN, "--continue", str(ran), "--t-end", "0.5", "--out", str(rest)])
    assert done.exit_code == 0 and done.stderr == ""
    assert runner.invoke(app, ["run", CHAIN, "--t-end", "0.5", "--out", str(whole), "--quiet"]).exit_code == 0
    first, second, direct = (Result.from_netcdf(path) for path in (ran, rest, whole))
    assert second.time[0] == first.final_state.t == 0.4285
    assert first.contacts[-1].lasting  # it was cut in the middle of a touch
    assert second.values["q"][-1] == pytest.approx(direct.values["q"][-1], abs=1e-6)
    assert [touch.pair for touch in second.contacts] == [touch.pair for touch in direct.contacts]


def test_what_cannot_be_gone_on_with_is_refused(ran: Path, tmp_path: Path) -> None:
    other = Path(CHAIN).with_name("driven_arm.yaml")
    for arguments, code, words in (
        ([CHAIN, "--continue", str(ran), "--t-end", "0.4"], 2, "ended at t = 0.4285 s; --t-end must be larger"),
        ([CHAIN, "--continue", str(ran), "--out", str(ran)], 2, "--out: must be a different file from the one to continue"),
        ([CHAIN, "--out", str(ran.with_suffix(".csv"))], 2, "--out: must be a file of netCDF, such as arm.nc; `pliant export`"),
        ([CHAIN, "--continue", CHAIN], 2, f"got another kind of file; `pliant run {CHAIN}` runs a model and writes its result"),
        ([CHAIN, "--continue", str(tmp_path / "none.nc")], 2, "cannot be read: No such file"),
        ([str(other), "--continue", str(ran)], 2, "start must come from a run of the same mechanism, whose coordinates are"),
    ):
        out = [] if "--out" in arguments else ["--out", str(tmp_path / "r.nc")]
        done = runner.invoke(app, ["run", *arguments, *out])
        assert done.exit_code == code
        assert words in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_going_on_saves_those_of_the_listed_times_that_are_left(ran: Path, tmp_path: Path) -> None:
    listed = tmp_path / "listed.yaml"
    text = Path(CHAIN).read_text().replace("t_end: 1.5", "t_end: 0.43")
    listed.write_text(text.replace("save: 1e-3", "save: [0, 0.1, 0.429, 0.43]"))
    done = runner.invoke(app, ["run", str(listed), "--continue", str(ran), "--out", str(tmp_path / "r.nc")])
    assert done.exit_code == 0, done.stderr
    assert list(Result.from_netcdf(tmp_path / "r.nc").time) == [0.429, 0.43]


def test_a_run_of_a_changed_model_is_gone_on_with_and_told(ran: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.yaml"
    changed.write_text(Path(CHAIN).read_text().replace("restitution: 0.8", "restitution: 0.5"))
    done = runner.invoke(app, ["run", str(changed), "--continue", str(ran), "--t-end", "0.43", "--out", str(tmp_path / "r.nc")])
    assert done.exit_code == 0
    assert "comes from a different model" in done.stderr


def test_info_tells_of_models_and_results(ran: Path, tmp_path: Path) -> None:
    model = runner.invoke(app, ["info", CHAIN])
    assert model.exit_code == 0
    assert "a: 40.845 Hz with its frame fixed" in model.stdout or " Hz with its frame fixed" in model.stdout
    printed = json.loads(runner.invoke(app, ["info", CHAIN, "--json"]).stdout)
    assert printed["degrees_of_freedom"] == 8
    # a pinned beam: w = pi^2 sqrt(EI / mu) / L^2, a little less as Timoshenko has it
    euler = math.pi**2 * math.sqrt(2e11 * 4.883e-9) / (2 * math.pi)
    assert 0.99 * euler < printed["frequencies_Hz"]["a"][0] < euler
    result = runner.invoke(app, ["info", str(ran)], env={"COLUMNS": "200"})
    for words in ("falling chain", "430 rows from t = 0 to 0.4285 s", "can continue", "touching: ", "pliant 0.2.0", "RKF45(rtol",
                  "balance error", "ground a.root normal"):  # fmt: skip
        assert words in result.stdout, words
    printed = json.loads(runner.invoke(app, ["info", str(ran), "--json"]).stdout)
    assert printed["ended_at_s"] == 0.4285
    assert printed["provenance"]["settings"]["t_end"] == 0.4285
    text = runner.invoke(app, ["info", str(ran), "--model"]).stdout
    (tmp_path / "again.yaml").write_text(text)
    assert runner.invoke(app, ["check", str(tmp_path / "again.yaml")]).exit_code == 0
    assert runner.invoke(app, ["info", CHAIN, "--model"]).exit_code == 2
    assert ran.with_suffix(".csv").read_text().startswith("time [s],q a.x [m]")


def test_plot_draws_every_kind_and_refuses_what_it_does_not_know(ran: Path, tmp_path: Path) -> None:
    listed = json.loads(runner.invoke(app, ["plot", "--list", "--json"]).stdout)
    assert {"overview", "ledger", "contact_forces", "mechanism"} <= set(listed)
    for kind, options in (("ledger", []), ("coordinates", ["--name", "a.y"]), ("mechanism", ["--at", "0.1", "--scale", "5"]),
                          ("contact_forces", ["--zoom", "0"])):  # fmt: skip
        target = tmp_path / f"{kind}.png"
        done = runner.invoke(app, ["plot", str(ran), "--kind", kind, "--out", str(target), *options])
        assert done.exit_code == 0, done.stderr
        assert target.stat().st_size > 5000
    for arguments, words in (
        (["--kind", "legder"], "must be one of overview"),
        (["--kind", "ledger", "--scale", "2"], "--scale: must be left out for pictures of kind ledger"),
        (["--kind", "coordinates", "--name", "nothing"], "nothing"),
        ([str(ran), "--kind", "ledger"], "several runs are drawn by --kind series"),
        (["--kind", "ledger", "--figsize", "7"], "--figsize: must be width x height"),
        (["--kind", "ledger", "--reference", str(ran)], "--reference: must be left out"),
        (["--out", str(tmp_path / "none" / "x.png")], "must exist"),
    ):
        done = runner.invoke(app, ["plot", str(ran), *arguments])
        assert done.exit_code == 2 and words in done.stderr, done.output
    assert runner.invoke(app, ["plot"]).exit_code == 2


def test_plot_draws_several_runs_laws_and_shapes(ran: Path, tmp_path: Path) -> None:
    target = tmp_path / "picture.svg"
    both = [str(ran), str(ran), "--kind", "series", "--name", "a.y", "--name", "tip_position a y"]
    for words in (
        [*both, "--zoom", "0.1:200ms", "--figsize", "6x3"],
        [*both, "--reference", str(ran)],
        [CHAIN, "--kind", "shapes"],
        [CHAIN, "--kind", "law", "--name", "ground a.root"],
    ):
        done = runner.invoke(app, ["plot", *words, "--out", str(target)])
        assert done.exit_code == 0, done.output
        assert "<svg" in target.read_text()[:1000]
        target.unlink()
    wrong = runner.invoke(app, ["plot", CHAIN, "--kind", "law", "--name", "ground a.roof", "--out", str(target)])
    assert wrong.exit_code == 2 and "did you mean 'ground a.root'" in wrong.stderr


def test_animate_writes_films_and_pages(ran: Path, tmp_path: Path) -> None:
    film, page = tmp_path / "chain.gif", tmp_path / "chain.html"
    done = runner.invoke(app, ["animate", str(ran), "--out", str(film), "--html", str(page), "--fps", "5", "--speed", "0.4"])
    assert done.exit_code == 0, done.stderr
    assert film.read_bytes().startswith(b"GIF8")
    assert "<html" in page.read_text()[:2000].lower()
    assert runner.invoke(app, ["animate", str(ran)]).exit_code == 2
    wrong = runner.invoke(app, ["animate", str(ran), "--out", str(tmp_path / "x.txt")])
    assert wrong.exit_code == 2 and ".gif" in wrong.stderr


def test_stresses_are_drawn_of_a_file_that_holds_none(arm: str, ran: Path, tmp_path: Path) -> None:
    out, picture, page = (str(tmp_path / f"arm.{ending}") for ending in ("nc", "png", "html"))
    assert runner.invoke(app, ["run", arm, "--out", out, "--quiet"]).exit_code == 0
    for kind in ("stress_envelope", "force_envelope"):
        done = runner.invoke(app, ["plot", out, "--kind", kind, "--name", "arm", "--out", picture])
        assert done.exit_code == 0, done.stderr
        assert Path(picture).stat().st_size > 5000
    done = runner.invoke(app, ["animate", out, "--html", page, "--stress"])
    assert done.exit_code == 0, done.stderr
    assert "equivalent stress" in Path(page).read_text() and '"stress":{"largest"' in Path(page).read_text()
    refused = runner.invoke(app, ["animate", out, "--out", str(tmp_path / "arm.gif"), "--stress"])
    assert refused.exit_code == 2 and "--stress: must be given with --html" in refused.stderr
    unknown = runner.invoke(app, ["plot", str(ran), "--kind", "stress_envelope", "--out", picture])
    assert unknown.exit_code == 2 and "must" in unknown.stderr


def test_reproduce_lists_the_published_systems_with_a_line_each() -> None:
    done = runner.invoke(app, ["reproduce"])
    assert done.exit_code == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(REPRODUCTIONS) == list(ABOUT)
    assert json.loads(runner.invoke(app, ["reproduce", "--json"]).stdout) == ABOUT
    unknown = runner.invoke(app, ["reproduce", "faling-chain", "--out", "x"])
    assert unknown.exit_code == 2 and "did you mean 'falling-chain'?" in unknown.stderr
    missing = runner.invoke(app, ["reproduce", "falling-chain"])
    assert missing.exit_code == 2 and "--out must be given" in missing.stderr


def test_reproduce_all_runs_each_into_its_folder_and_prints_one_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stand_in(out: Path, progress: Any, pictures: Any) -> dict[str, Any]:
        progress("drawing", 0.5)
        (out / "summary.json").write_text("{}")
        claim = {"claim": f"of {out.name}", "paper": 1.0, "ours": 1.0, "holds": out.name != "slider-crank"}
        return {"claims": [claim], "warnings": {"a run": [f"{out.name} is bent"]}}

    for name in REPRODUCTIONS:
        monkeypatch.setitem(REPRODUCTIONS, name, stand_in)
    done = runner.invoke(app, ["reproduce", "all", "--out", str(tmp_path / "all")])
    assert done.exit_code == 0, done.output
    assert sorted(path.parent.name for path in (tmp_path / "all").rglob("summary.json")) == sorted(REPRODUCTIONS)
    assert all(f"of {name}" in " ".join(done.stdout.split()) for name in REPRODUCTIONS)
    count = len(REPRODUCTIONS)
    assert f"{count - 1} of {count} claims hold" in done.stdout
    assert "warning: falling-chain, a run: falling-chain is bent" in done.stdout
    printed = json.loads(runner.invoke(app, ["reproduce", "all", "--out", str(tmp_path / "all"), "--json"]).stdout)
    assert (len(printed["claims"]), printed["hold"]) == (count, count - 1)
    assert printed["warnings"]["slider-crank"] == {"a run": ["slider-crank is bent"]}
    assert {claim["system"] for claim in printed["claims"]} == set(REPRODUCTIONS)


def test_schema_is_printed_or_written(tmp_path: Path) -> None:
    printed = runner.invoke(app, ["schema"])
    assert json.loads(printed.stdout) == schema()
    target = tmp_path / "pliant.schema.json"
    for option in ("--out", "--output"):  # the second is its former name
        assert runner.invoke(app, ["schema", option, str(target)]).stdout == ""
        assert target.read_text() == printed.stdout
        target.unlink()


def test_errors_are_told_to_machines_too(tmp_path: Path) -> None:
    done = runner.invoke(app, ["check", str(tmp_path / "none.yaml"), "--json"])
    assert done.exit_code == 2
    assert json.loads(done.stdout) == {"error": f"{tmp_path / 'none.yaml'}: cannot be read: No such file", "exit_code": 2}


def test_names_in_a_crafted_result_do_not_steer_the_terminal(ran: Path, tmp_path: Path) -> None:
    import xarray

    with xarray.open_dataset(ran, engine="netcdf4") as opened:
        crafted = without_checksums(opened.load()).assign_attrs(title="chain\x1b[2J\x1b]0;owned\x07", message="fine\x9b31m")
    file = tmp_path / "crafted.nc"
    crafted.to_netcdf(file, engine="netcdf4")
    done = runner.invoke(app, ["info", str(file)], env={"COLUMNS": "300"})
    assert done.exit_code == 0, done.stderr
    assert r"chain\x1b[2J" in done.stdout
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", done.stdout)
    crafted.assign_attrs(pliant="\x1b[2J").to_netcdf(file, engine="netcdf4")
    refused = runner.invoke(app, ["info", str(file)])
    assert refused.exit_code == 2 and "crafted.nc" in refused.stderr and "\x1b" not in refused.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__)
def test_what_a_command_writes_is_named_out(command: Callable[..., None]) -> None:
    """Where it writes one thing at all; other spellings are hidden."""
    shown = [word for option in typer.main.get_command(app).commands[command.__name__].params  # type: ignore[attr-defined]
             if not option.hidden for word in option.opts if word.startswith("--out")]  # fmt: skip
    assert set(shown) <= {"--out"}


@pytest.mark.parametrize(("given", "seconds"), [("100ms", 0.1), ("0.25", 0.25), ("1/4", 0.25), ("0.2 s", 0.2), ("0.01 min", 0.6)])
def test_a_time_may_have_a_unit(given: str, seconds: float) -> None:
    assert read_seconds(given) == pytest.approx(seconds, rel=1e-15)


@pytest.mark.parametrize("words", [["run", CHAIN, "--t-end"], ["sweep", CHAIN, "--t-end"], ["plot", "a.nc", "--at"],
                                   ["plot", "a.nc", "--time"], ["equilibrium", CHAIN, "--t"]])  # fmt: skip
def test_a_time_that_is_none_is_refused_with_how_to_write_one(words: list[str]) -> None:
    for given, reason in (("5cm", "must be in s, got 'cm'"), ("100 mss", "did you mean 'ms'"), ("soon", "as in 100ms")):
        done = runner.invoke(app, [*words, given], env={"COLUMNS": "300"})
        assert done.exit_code == 2 and reason in done.output


@pytest.fixture(scope="module")
def beaten(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The result of an elastic arm that falls onto a stop."""
    folder = tmp_path_factory.mktemp("beaten")
    (folder / "beaten.yaml").write_text("""
pliant: 1
system: beaten arm
gravity: [0, -9.81]
bodies:
  arm:
    beam: {length: 0.8, theory: euler-bernoulli, section: {rectangle: {height: 8 mm, width: 40 mm}}, material: aluminium,
           modes: {ends: sf, count: 3}}
    joint: {revolute: {angle: 20*deg}}
contacts:
  stop: {points: {sphere: {at: arm.tip, radius: 0.02}}, against: {plane: {normal: [0, 1]}}, normal: {hertz: {stiffness: 1e7}}}
run: {t_end: 0.3, save: 5e-3}
""")
    done = runner.invoke(app, ["run", str(folder / "beaten.yaml"), "--out", str(folder / "beaten.nc")])
    assert done.exit_code == 0, done.output
    words = " ".join(done.output.split())
    assert "largest values of the run:" in words and "contact force stop" in words and "joint force arm" in words
    assert "MPa at t =" in words and "from its root (from rows)" in words and "warning: rows are 0.005 s apart" in words
    return folder / "beaten.nc"


def test_info_and_json_end_with_the_largest_values_and_what_to_know_of_them(beaten: Path) -> None:
    shown = " ".join(runner.invoke(app, ["info", str(beaten)]).output.split())
    assert shown.rindex("largest values of the run:") > shown.rindex("quantities in the rows")
    facts = json.loads(runner.invoke(app, ["info", str(beaten), "--json"]).stdout)
    result = pl.Result.from_netcdf(beaten)
    stress, force, contact = facts["report"][0], facts["report"][1], facts["report"][-1]
    assert (stress["quantity"], stress["part"], stress["unit"], stress["between_rows"]) == ("equivalent_stress", "arm", "Pa", False)
    assert 0.0 <= stress["place"] <= 0.8 and any("rows are 0.005 s apart" in sentence for sentence in stress["warnings"])
    assert [force["value"], force["time"]] == list(result.extremes.largest["reaction_force"]["arm"]) and force["between_rows"]
    hardest = max(result.contacts, key=lambda touch: touch.peak_force)
    assert (contact["quantity"], contact["value"], contact["time"]) == ("normal_force", hardest.peak_force, hardest.peak_time)


def test_contacts_stresses_and_the_report_are_exported_as_tables(beaten: Path, tmp_path: Path) -> None:
    def table(name: str) -> list[dict[str, str]]:
        out = tmp_path / f"{name}.csv"
        done = runner.invoke(app, ["export", str(beaten), str(out), "--table", name])
        assert done.exit_code == 0, done.output
        with open(out, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    result = pl.Result.from_netcdf(beaten)
    assert [float(row["peak_force [N]"]) for row in table("contacts")] == [touch.peak_force for touch in result.contacts]
    stress, rows = pl.stresses(result)["equivalent_stress"], table("stresses")
    assert [float(row["equivalent_stress [Pa]"]) for row in rows] == stress.values.ravel().tolist()
    assert (rows[-1]["beam"], float(rows[-1]["time [s]"]), float(rows[-1]["x [m]"])) == ("arm", result.time[-1], 0.8)
    assert [float(row["value"]) for row in table("report")] == [one.value for one in pl.report(result)]
    for arguments, words in (
        (["t.csv", "--table", "contcts"], "did you mean 'contacts'"),
        (["t.parquet", "--table", "contacts"], "--out: must end in .csv"),
        (["t.csv", "--table", "contacts", "--columns", "q"], "--columns: must be left out with --table contacts"),
        (["t.csv", "--reduce", "final"], "--reduce: must be left out for a result"),
    ):
        done = runner.invoke(app, ["export", str(beaten), str(tmp_path / arguments[0]), *arguments[1:]])
        assert done.exit_code == 2 and words in done.output and not (tmp_path / arguments[0]).exists()


def test_a_model_becomes_an_fmu_and_c(tmp_path: Path) -> None:
    out, folder = tmp_path / "chain.fmu", tmp_path / "c"
    done = runner.invoke(app, ["fmu", CHAIN, "--out", str(out), "--platforms", "", "--columns", "a.x,gap", "--fmi", "2.0"])
    assert done.exit_code == 0 and "co-simulation, FMI 2.0" in done.stdout and out.stat().st_size > 10_000
    done = runner.invoke(app, ["export", CHAIN, "--target", "c", "--out", str(folder), "--columns", "a.x", "--step", "0.1ms"])
    assert done.exit_code == 0 and (folder / "main.c").is_file() and "mechanism.c" in done.stdout
    for words, reason in (
        (["fmu", CHAIN, "--kind", "both", "--out", str(out)], "kind must be"),
        (["fmu", CHAIN, "--columns", "a.z", "--out", str(out)], "a.z"),
        (["export", CHAIN, "--target", "z80", "--out", str(folder)], "target must be"),
        (["export", CHAIN, "--step", "1ms", "--out", "x.csv"], "without --target"),
        (["export", CHAIN, "--target", "c", "--reduce", "final"], "--reduce: must be left out with --target"),
    ):
        refused = runner.invoke(app, words)
        assert refused.exit_code == 2 and reason in refused.stderr
