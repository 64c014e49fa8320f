"""The command line: what it prints, what it writes, and its exit codes. The run itself is a stand-in."""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pliant.cli import app
from pliant.errors import ModelError, SolveError
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
    stats: dict[str, Any] = field(default_factory=lambda: {"steps": 12, "rhs_evaluations": 84, "wall_s": 0.01234567})
    events: list[Event] = field(default_factory=list)
    contacts: tuple[Any, ...] = ()
    ledger: Ledger = field(default_factory=Ledger)

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

        module = types.ModuleType("pliant.simulate")
        module.simulate = stand_in  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "pliant.simulate", module)
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
    assert "1 degrees of freedom with the loops closed; implied by others: brace" in done.stdout
    file.write_text(LOOP.replace("offset: [1, 0]}}", "offset: [9, 0]}}"))
    done = runner.invoke(app, ["check", str(file)])
    assert done.exit_code == 2
    assert "cannot close with these lengths" in done.stderr


@pytest.mark.parametrize("command", [["check"], ["run", "--out", "never.nc"]], ids=["check", "run"])
def test_wrong_and_missing_files_end_with_2_and_a_message_on_stderr(command: list[str], tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("pliant: 1\nsystm: x\n")
    for file, message in ((wrong, "wrong.yaml:2: unknown key 'systm' (did you mean 'system'?)"),
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
    assert f"the step fell below 1e-15 s at t = 0.2 s; what was computed is in {out}" in done.stderr
    assert out.read_text() == "result"


def test_an_interrupted_run_keeps_what_it_computed_and_ends_with_130(simulate: Any, tmp_path: Path) -> None:
    simulate(Outcome(ok=False, interrupted=True, message="interrupted at t = 0.2 s"))
    out = tmp_path / "result.nc"
    done = runner.invoke(app, ["run", CHAIN, "--out", str(out)])
    assert done.exit_code == 130
    assert "interrupted at t = 0.2 s; what was computed is in" in done.stderr
    assert out.exists()


@pytest.mark.parametrize(
    ("trouble", "code"),
    [(ModelError("beam 'a': too thin"), 2), (SolveError("no start"), 1), (KeyboardInterrupt(), 130)],
    ids=["model", "solve", "ctrl-c"],
)
def test_a_run_that_never_began_writes_nothing(
    trouble: BaseException, code: int, simulate: Any, tmp_path: Path
) -> None:
    simulate(trouble)
    done = runner.invoke(app, ["run", CHAIN, "--out", str(tmp_path / "result.nc")])
    assert done.exit_code == code
    assert (str(trouble) or "interrupted; nothing was written") in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


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
