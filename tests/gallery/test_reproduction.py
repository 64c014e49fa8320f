"""`pliant reproduce`: what it writes, what it prints, how it ends."""

import io
import json
from dataclasses import replace

import pytest
from PIL import Image
from rich.console import Console
from typer.testing import CliRunner

import pliant as pl
from pliant.cli import app
from pliant.errors import SolveError
from pliant.gallery import reproduction
from pliant.gallery.falling_chain.system import MODE_SETS
from pliant.gallery.reproduction import REPRODUCTIONS, Claim, print_claims, summary_of, whole, words, write_summary
from studies import alike, check_page, check_picture, make_systems

runner = CliRunner()
FIGURES = [*(f"fig{number:02d}.png" for number in range(1, 15)), "table1.png", "table2.png", "half.png", "methods.png"]
FINAL = [f"{name}{dot}" for dot in ("", "_dot") for name in ("q1", "delta1", "q2", "delta2", "q3", "delta3", "X1", "X2")]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The whole command, into a new folder."""
    out = tmp_path_factory.mktemp("reproduce") / "chain"
    done = runner.invoke(app, ["reproduce", "falling-chain", "--out", str(out)])
    assert done.exit_code == 0, done.output
    return out, done.stdout, json.loads((out / "summary.json").read_text())


def test_all_files_are_there_and_nothing_else(written):
    out, _, _ = written
    names = {path.name for path in out.iterdir()}
    assert names == {"summary.json", "table3.csv", *FIGURES, *(f"{modes}.nc" for modes in MODE_SETS)}
    for figure in FIGURES:
        assert (out / figure).read_bytes().startswith(b"\x89PNG")
        assert (out / figure).stat().st_size > 20_000


def test_the_summary_has_the_common_shape(written):
    _, _, summary = written
    assert list(summary) == ["system", "cases", "claims", "warnings"]
    assert summary["system"] == "falling-chain"
    assert list(summary["cases"]) == list(MODE_SETS)
    for case in summary["cases"].values():
        assert set(case) == {"events", "peak_normal_force", "energy_error_max", "energy_error_mean",
                             "symmetry_error_max", "wall_s", "rhs_evaluations", "final"}  # fmt: skip
        times = [t for t, _, _, _ in case["events"]]
        assert times == sorted(times)
        assert {type(x) for row in case["events"] for x in row[1:3]} == {int}
        assert {joint for _, joint, _, _ in case["events"]} == {0, 1, 2, 3}
        begins, ends = ([row for row in case["events"] if row[2] == kind] for kind in (1, 0))
        assert 0 <= len(begins) - len(ends) <= 4
        assert all(speed >= 0.0 for *_, speed in begins)
        assert len(case["peak_normal_force"]) == 4 and min(case["peak_normal_force"]) > 1000.0
        assert 0.0 < case["energy_error_mean"] <= case["energy_error_max"] < 1e-8
        assert isinstance(case["rhs_evaluations"], int)
        assert list(case["final"]) == FINAL


def test_every_claim_has_a_verdict_and_every_failure_a_reason(written):
    _, stdout, summary = written
    for claim in summary["claims"]:
        assert {"claim", "paper", "ours", "holds"} <= set(claim) <= {"claim", "paper", "ours", "holds", "reason", "varies"}
        assert claim["holds"] is True or claim["reason"]
    failed = [claim["claim"] for claim in summary["claims"] if not claim["holds"]]
    assert len(failed) == 6
    assert "impacts in 1.5 s, ss-ss-ss" in failed
    assert f"{len(summary['claims']) - 6} of {len(summary['claims'])} claims hold" in stdout
    assert "\x1b" not in stdout


def test_the_papers_22_impacts_are_found_and_where_is_said(written):
    """By the paper's method at a rough tolerance, on the half that is symmetric by construction; round-off does not change them."""
    _, _, summary = written
    (row,) = [claim for claim in summary["claims"] if claim["claim"] == "impacts in 1.5 s, ss-ss-ss"]
    assert (row["paper"], row["ours"], row["holds"]) == (22, 26, False)
    assert "symmetric by construction, has 20 at 0.001, 22 at 0.0003, " in row["reason"]
    assert "the printed 22 are those of rtol 0.0003" in row["reason"]


def test_results_can_be_read_again(written):
    out, _, summary = written
    result = pl.Result.from_netcdf(out / "ss-ss-ss.nc")
    begins = [row[0] for row in summary["cases"]["ss-ss-ss"]["events"] if row[2] == 1]
    assert [record.begin for record in result.contacts] == pytest.approx(begins, abs=0.0)
    assert result["a.x"][-1] == summary["cases"]["ss-ss-ss"]["final"]["X1"]


def test_wrong_names_and_folders_end_with_2_before_anything_runs(tmp_path):
    (tmp_path / "file").touch()
    for name, out, message in (
        ("faling-chain", tmp_path, "unknown system 'faling-chain' (did you mean 'falling-chain'?)"),
        ("xyz", tmp_path, "unknown system 'xyz'; known: falling-chain"),
        ("falling-chain", tmp_path / "none" / "out", "must exist"),
        ("falling-chain", tmp_path / "file", "must be a folder or a new name for one"),
    ):
        done = runner.invoke(app, ["reproduce", name, "--out", str(out)])
        assert done.exit_code == 2
        assert message in done.stderr
        assert done.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("trouble", "code", "message"),
    [(SolveError("falling chain: the step fell"), 1, "the step fell"), (KeyboardInterrupt(), 130, "interrupted"),
     (OSError(28, "No space left on device", "fig04.png"), 1, "fig04.png: cannot be written: No space left")],
    ids=["run", "ctrl-c", "disk"],
)  # fmt: skip
def test_a_failure_is_told_and_leaves_no_summary(trouble, code, message, tmp_path, monkeypatch):
    def fail(out, progress, pictures):
        progress("running", 0.1)
        raise trouble

    monkeypatch.setitem(REPRODUCTIONS, "falling-chain", fail)
    done = runner.invoke(app, ["reproduce", "falling-chain", "--out", str(tmp_path)])
    assert done.exit_code == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_summary_is_written_whole_or_not_at_all(tmp_path):
    good = summary_of("s", {"case": {"x": 1.0}}, [Claim("c", 1, 1.0, True)], inverse={})
    assert json.loads(write_summary(tmp_path, good).read_text()) == {
        "system": "s", "cases": {"case": {"x": 1.0}}, "inverse": {},
        "claims": [{"claim": "c", "paper": 1, "ours": 1.0, "holds": True}], "warnings": {},
    }  # fmt: skip
    with pytest.raises(ValueError, match="JSON"):
        write_summary(tmp_path, summary_of("s", {"case": {"x": float("nan")}}, []))
    assert [path.name for path in tmp_path.iterdir()] == ["summary.json"]
    assert json.loads((tmp_path / "summary.json").read_text())["cases"]["case"]["x"] == 1.0


@pytest.mark.parametrize("width", [100, 160])
def test_the_table_of_claims_keeps_to_the_terminal_and_loses_no_word(width):
    stream = io.StringIO()
    claims = [Claim("long words " * 10, [0.18, 0.13], {"a": 1.23456789}, False, "because [of] this " * 8).entry]
    print_claims(claims, Console(file=stream, width=width, force_terminal=True, color_system=None))
    lines = stream.getvalue().splitlines()
    assert max(len(line) for line in lines) <= width
    text = " ".join(stream.getvalue().split())
    assert text.count("long") == 10 and text.count("[of]") == 8
    assert "does not hold" in text and "0.18, 0.13" in text and "a: 1.235" in text and "0 of 1 claims hold" in text


def test_values_of_claims_read_well():
    assert words(True) == "yes"
    assert words({"x": 0.5, "y": [1, 2.0]}) == "x: 0.5, y: 1, 2"
    assert words(1.5e-11) == "1.5e-11"
    assert words("as plotted") == "as plotted"


def test_studies_are_imported_only_when_asked_for():
    assert all(callable(function) for function in REPRODUCTIONS.values())
    with pytest.raises(ModuleNotFoundError):
        reproduction.study("no_such_study")(None, None)


def test_the_committed_page_is_what_the_command_gives(written):
    out, _, summary = written
    check_page("falling-chain", out, summary, varying=("half", "methods"))


def test_the_check_of_pages_finds_stale_numbers_words_and_colours(written, tmp_path):
    out, _, _ = written
    assert alike("| operations | 808, error 2e-13 m |", "| operations | 812, error 5e-14 m |")
    assert not alike("| operations | denoc: 842 |", "| operations | denoc: 700 |")
    assert not alike("| holds | yes |", "| holds | **no** |")
    assert alike("| c | 1 | 0.5 s | yes | (varies with the computer) |", "| c | 1 | 9 s | yes | slow (varies with the computer) |")
    assert not alike("| c | 1 | 2 | yes | (varies with round-off) |", "| c | 1 | 2 | **no** | (varies with round-off) |")
    fresh = make_systems().picture(out / "fig04.png")
    whole = Image.open(out / "fig04.png").convert("RGB")
    whole.resize(fresh.size, Image.Resampling.LANCZOS).quantize(64).save(tmp_path / "few.png")  # colours by a median cut
    with pytest.raises(AssertionError, match="colours"):
        check_picture(tmp_path / "few.png", fresh, False)
    Image.open(out / "fig05.png").convert("RGB").resize(fresh.size).save(tmp_path / "other.png")
    with pytest.raises(AssertionError, match="is not what"):
        check_picture(tmp_path / "other.png", fresh, False)


@pytest.mark.parametrize("form", ["png", "pdf", "svg"])
def test_figures_come_in_any_format_and_with_their_curves(form, tmp_path, monkeypatch):
    def study(out, progress, pictures):
        figure, axes = reproduction.panels(1, 2)
        axes[0, 0].plot([0.0, 1.0, 2.0], [3.0, 4.0, 5.0], label="a line")
        axes[0, 1].plot([0.0, 1.0], [6.0, 7.0])
        reproduction.label(axes[0, 0], "left", "time, s", "height, m")
        table = reproduction.Table(("name", "value"), (("length", 0.8),))
        reproduction.save_figures(out, {"fig01": lambda: figure, "table1": table}, progress, 0.0, pictures)
        return summary_of("a system", {}, [])

    monkeypatch.setitem(REPRODUCTIONS, "falling-chain", study)
    done = runner.invoke(app, ["reproduce", "falling-chain", "--out", str(tmp_path), "--format", form, "--data"])
    assert done.exit_code == 0, done.output
    assert {path.name for path in tmp_path.iterdir()} == {f"fig01.{form}", "fig01.csv", "table1.csv"}
    heads, *rows = (tmp_path / "fig01.csv").read_text().splitlines()
    assert heads == '"1 left: a line: time, s","1 left: a line: height, m",2: curve 1: x,2: curve 1: y'
    assert rows == ["0.0,3.0,0.0,6.0", "1.0,4.0,1.0,7.0", "2.0,5.0,,"]
    assert (tmp_path / "table1.csv").read_text().splitlines() == ["name,value", "length,0.8"]
    wrong = runner.invoke(app, ["reproduce", "falling-chain", "--out", str(tmp_path), "--format", "gif"])
    assert wrong.exit_code == 2 and "--format: must be one of png, pdf, svg, got 'gif'" in wrong.stderr


def test_a_run_that_was_interrupted_or_failed_ends_its_study():
    system = pl.System("pendulum", gravity=(0.0, -9.81))
    system.add("rod", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute())
    run = pl.simulate(system, 0.01)
    assert whole(run) is run
    with pytest.raises(KeyboardInterrupt):
        whole(replace(run, ok=False, interrupted=True))
    with pytest.raises(SolveError, match="pendulum: it fell apart"):
        whole(replace(run, ok=False, message="it fell apart"))
