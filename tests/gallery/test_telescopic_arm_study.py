"""`pliant reproduce telescopic-arm`: what it writes and what it finds."""

from itertools import product

import numpy as np
import pytest

import pliant as pl
from pliant.gallery.telescopic_arm.system import MOTION
from studies import check_files, check_page, reproduce

FIGURES = [*(f"fig{number:02d}" for number in range(1, 9)), "energy", "modes", "inverse", "slow_extension", "methods"]
MODELS, FORCES, MODES = ("consistent", "as-published"), ("F10", "F5"), (1, 2, 3)
CASES = [f"{model}/{force}/{modes}" for model, force, modes in product(MODELS, FORCES, MODES)]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return reproduce("telescopic-arm", tmp_path_factory.mktemp("reproduce") / "study")


def test_all_files_are_there_and_nothing_else(written):
    check_files(written[0], CASES, FIGURES, ["table1"])


def test_the_summary_has_the_common_shape(written):
    _, _, summary = written
    assert list(summary) == ["system", "cases", "inverse", "claims", "warnings"]
    assert summary["system"] == "telescopic-arm"
    assert list(summary["cases"]) == CASES
    for name, case in summary["cases"].items():
        modes = [f"delta{k + 1}" for k in range(int(name[-1]))]
        assert set(case) == {"columns", "samples", "sleeve_end_time", "energy_error_max", "wall_s", "derive_s"}
        assert case["columns"] == ["t", "q", "l", *modes, "q_dot", "l_dot", *(f"{mode}_dot" for mode in modes), "tip"]
        samples = np.array(case["samples"])
        assert samples.shape == (11, len(case["columns"]))
        assert samples[:, 0].tolist() == [k / 10 for k in range(11)]
        assert samples[0].tolist() == [0.0, 0.0, 0.5, *[0.0] * (len(case["columns"]) - 3)]
        assert (case["sleeve_end_time"] is None) == ("F5" in name)
        assert case["wall_s"] > 0.0 and case["derive_s"] > 0.0
        consistent = name.startswith("consistent")
        assert case["energy_error_max"] < 1e-12 if consistent else 3e-4 < case["energy_error_max"] < 1e-3


def test_the_tip_is_the_sum_of_the_modes(written):
    """phi(1) = 2, -2, 2."""
    _, _, summary = written
    for case in summary["cases"].values():
        rows = [dict(zip(case["columns"], row, strict=True)) for row in case["samples"]]
        for row in rows:
            modes = [name for name in row if name.startswith("delta") and not name.endswith("_dot")]
            assert row["tip"] == pytest.approx(sum(2.0 * (-1.0) ** k * row[m] for k, m in enumerate(modes)), abs=1e-17)


def test_the_inverse_has_torque_and_force_every_tenth_of_a_second(written):
    _, _, summary = written
    assert list(summary["inverse"]) == [f"{model}/{modes}" for model, modes in product(MODELS, MODES)]
    for case in summary["inverse"].values():
        assert list(case) == ["columns", "rows"]
        assert case["columns"] == ["t", "tau", "F"]
        assert [row[0] for row in case["rows"]] == [k / 10 for k in range(11)]
    t, tau, force = summary["inverse"]["consistent/1"]["rows"][5]
    assert (t, tau, force) == (0.5, pytest.approx(-30.5903687, rel=1e-9), pytest.approx(-3.95560023, rel=1e-9))
    assert [MOTION[name](0.5) for name in ("arm.angle", "arm.extension")] == pytest.approx([0.5, 0.6])


def test_every_claim_has_a_verdict_and_every_failure_a_reason(written):
    _, stdout, summary = written
    claims = {claim["claim"]: claim for claim in summary["claims"]}
    for claim in claims.values():
        assert {"claim", "paper", "ours", "holds"} <= set(claim) <= {"claim", "paper", "ours", "holds", "reason", "varies"}
        assert claim["holds"] is True or claim["reason"]
    failed = [name for name, claim in claims.items() if not claim["holds"]]
    assert [name.split(":")[0].split(",")[0] for name in failed] == [
        "ode45 and ode23 give the same result (their default tolerances; largest difference from the exact",
        "the arm stays in its sleeve",
        "gravity g = 10 m/s^2 (Table 1)",
        "energy held is the work put in",
        "slow extension 0.5 to 1 m",
        "one mode is enough for the tip's deflection",
    ]
    assert all("as-published" in name for name in failed[3:5])
    assert "0.5398 s" in claims[failed[1]]["reason"]
    assert f"{len(claims) - 6} of {len(claims)} claims hold" in stdout
    assert "\x1b" not in stdout


def test_results_can_be_read_again(written):
    out, _, summary = written
    result = pl.Result.from_netcdf(out / "consistent-F10-1.nc")
    case = summary["cases"]["consistent/F10/1"]
    assert result["arm.angle"][::200].tolist() == [row[1] for row in case["samples"]]
    assert result.events[0].t == case["sleeve_end_time"]


def test_the_committed_page_is_what_the_command_gives(written):
    out, _, summary = written
    check_page("telescopic-arm", out, summary, varying=("energy", "methods"))
