"""`pliant reproduce parallel-robot`: what it writes and what it finds."""

from itertools import pairwise

import pytest

import pliant as pl
from studies import check_files, check_page, reproduce

FIGURES = [*(f"fig{number:02d}" for number in range(1, 7)), "cost", "methods", "reactions", "inverse"]
KS = [f"1e{n}" for n in range(1, 9)]
CASES = ["multipliers", *(f"springs/{ks}" for ks in KS), *(f"springs-rk45/{ks}" for ks in KS)]
FAILED = [
    "constraint error log(sum |c|) below -5 from Ks = 1e5 N/m on (ode45, rtol 1e-3)",
    "position error log(| |r| - |rbar| |) below -5 from Ks = 1e6 N/m on (ode45, rtol 1e-3)",
    "too large a Ks loses accuracy: log10 of the largest sum |c| (ode45, rtol 1e-3)",
    "spring forces give the reactions: error at Ks = 1e6, N rms",
    "constraints must be elongations of the springs: largest distance from the rose in 2 s at Ks = 1e5 and 1e6, m",
]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return reproduce("parallel-robot", tmp_path_factory.mktemp("reproduce") / "study")


def test_all_files_are_there_and_nothing_else(written):
    check_files(written[0], CASES, FIGURES, ["table1", "table2"])


def test_the_summary_has_the_common_shape(written):
    _, _, summary = written
    assert list(summary) == ["system", "cases", "inverse", "claims", "warnings"]
    assert summary["system"] == "parallel-robot"
    assert list(summary["cases"]) == CASES
    for case in summary["cases"].values():
        assert set(case) == {
            "at_times",
            "constraint_error_max_log10",
            "position_error_max_log10",
            "rhs_evaluations",
            "wall_s",
        }
        assert list(case["at_times"]) == ["0.1", "0.5", "1", "2", "6"]
        assert all(set(row) == {"x", "y", "phi", "sum_abs_c"} for row in case["at_times"].values())
        assert isinstance(case["rhs_evaluations"], int)
        assert case["wall_s"] > 0.0


def test_the_inverse_has_three_torques_and_six_forces_at_each_time(written):
    _, _, summary = written
    assert list(summary["inverse"]) == ["0", "0.1", "0.25", "0.5", "0.7", "1", "1.3", "1.75"]
    assert all([len(row["tau"]), len(row["leg_tip_forces"])] == [3, 6] for row in summary["inverse"].values())
    assert summary["inverse"]["0"]["tau"] == pytest.approx([-2.96244537, 9.55759517, -6.74403613], abs=1e-8)


def test_tight_springs_close_ten_times_better_with_each_decade_of_stiffness(written):
    _, _, summary = written
    errors = [summary["cases"][f"springs/1e{n}"]["constraint_error_max_log10"] for n in range(4, 9)]
    assert [b - a for a, b in pairwise(errors)] == pytest.approx([-1.0] * 4, abs=0.03)
    assert summary["cases"]["multipliers"]["constraint_error_max_log10"] < -12.0
    assert summary["cases"]["multipliers"]["position_error_max_log10"] < -11.0


def test_every_claim_has_a_verdict_and_every_failure_a_reason(written):
    _, stdout, summary = written
    for claim in summary["claims"]:
        assert {"claim", "paper", "ours", "holds"} <= set(claim) <= {"claim", "paper", "ours", "holds", "reason", "varies"}
        assert claim["holds"] is True or claim["reason"]
    assert [claim["claim"] for claim in summary["claims"] if not claim["holds"]] == FAILED
    assert f"{len(summary['claims']) - len(FAILED)} of {len(summary['claims'])} claims hold" in stdout
    assert "\x1b" not in stdout


def test_the_logarithm_is_the_papers_own_and_the_other_is_stated(written):
    """-5 is called a hundredth of a millimetre: base 10. The printed thresholds hold for natural logarithms only."""
    _, _, summary = written
    rows = [claim for claim in summary["claims"] if " log(" in claim["claim"]]
    assert [row["ours"][ks] for row, ks in zip(rows, ("1e5", "1e6"), strict=True)] == pytest.approx([-3.07, -3.70], abs=0.02)
    assert not any(row["holds"] for row in rows)
    for row, since, value in zip(rows, ("1e7", "1e8"), ("-7.07 at 1e5", "-8.5"), strict=True):
        assert "a hundredth of a millimetre, so its logarithm is to base 10" in row["reason"]
        assert f"from Ks = {since} on. Natural logarithms are below it from 1e5 on ({value}" in row["reason"]


def test_accuracy_is_lost_by_the_step_control_and_not_by_the_stiffness(written):
    _, _, summary = written
    (row,) = [claim for claim in summary["claims"] if claim["claim"].startswith("too large a Ks")]
    assert [row["ours"][f"1e{n}"] for n in range(4, 9)] == pytest.approx([-2.08, -3.07, -4.06, -5.06, -6.05], abs=0.1)
    assert "what loses accuracy is the step control" in row["reason"]


def test_results_can_be_read_again(written):
    out, _, summary = written
    result = pl.Result.from_netcdf(out / "springs-1e6.nc")
    assert result["platform.angle"][-1] == summary["cases"]["springs/1e6"]["at_times"]["6"]["phi"]


def test_the_committed_page_is_what_the_command_gives(written):
    out, _, summary = written
    check_page("parallel-robot", out, summary, varying=("cost", "methods"))
