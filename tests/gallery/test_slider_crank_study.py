"""`pliant reproduce slider-crank`: what it writes and what it finds."""

from itertools import product

import numpy as np
import pytest

import pliant as pl
from studies import check_files, check_page, reproduce

FIGURES = [*(f"fig{number:02d}" for number in range(1, 9)), "elements", "methods"]
IMPACTS = [*(f"{damping}/{n}" for damping, n in product(("undamped", "damped"), (1, 2, 4, 8))), "rigid"]
DRIVEN = ["driven/steel", "driven/copper", "driven/aluminium"]
COLUMNS = ["t", "crank_angle", "crank_speed", "slider_x", "slider_v", "u_tip", "v_mid", "kinetic", "strain", "rayleigh_loss",
           "contact_loss"]  # fmt: skip


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return reproduce("slider-crank", tmp_path_factory.mktemp("reproduce") / "study")


def test_all_files_are_there_and_nothing_else(written):
    check_files(written[0], [*IMPACTS, *DRIVEN], FIGURES, ["table1"])


def test_the_summary_has_the_common_shape(written):
    _, _, summary = written
    assert list(summary) == ["system", "cases", "claims", "warnings"]
    assert summary["system"] == "slider-crank"
    assert list(summary["cases"]) == [*IMPACTS, *DRIVEN]
    for name in IMPACTS:
        case = summary["cases"][name]
        assert set(case) == {"contacts", "columns", "samples", "energy_error_max", "wall_s"}
        assert case["columns"] == COLUMNS
        samples = np.array(case["samples"])
        assert samples[:, 0] == pytest.approx(np.arange(501) * 2e-4, abs=1e-12)
        assert samples.shape == (501, len(COLUMNS))
        assert case["energy_error_max"] < 1e-9
        assert 0.0 < case["wall_s"] < 60.0
        for touch in case["contacts"]:
            assert list(touch) == ["begin", "end", "approach", "separation", "peak", "loss"]
            assert touch["separation"] < 0.0 < touch["approach"]
            assert touch["begin"] < touch["end"]


def test_driven_cases_have_the_extremes_of_the_first_turn(written):
    _, _, summary = written
    for name in DRIVEN:
        case = summary["cases"][name]
        assert set(case) == {"v_mid_max", "v_mid_min", "columns", "samples", "wall_s"}
        samples = dict(zip(case["columns"], np.array(case["samples"]).T, strict=True))
        assert samples["crank_angle"] == pytest.approx(np.pi / 6.0 + 150.0 * samples["t"], rel=1e-12)
        first = samples["v_mid"][samples["t"] <= 2.0 * np.pi / 150.0]
        assert case["v_mid_min"] <= np.min(first) < 0.0 < np.max(first) <= case["v_mid_max"]
    assert summary["cases"]["driven/steel"]["v_mid_max"] == pytest.approx(5.4654344e-3, rel=1e-8)


def test_losses_and_energies_of_a_sample_add_up(written):
    """Wherever nothing is pressed together."""
    _, _, summary = written
    for name in IMPACTS:
        case = summary["cases"][name]
        rows = dict(zip(case["columns"], np.array(case["samples"]).T, strict=True))
        apart = np.all([(rows["t"] < c["begin"]) | (rows["t"] > c["end"]) for c in case["contacts"]], axis=0)
        total = rows["kinetic"] + rows["strain"] + rows["rayleigh_loss"] + rows["contact_loss"]
        assert total[apart] == pytest.approx(18.928758341, rel=1e-8)
        assert rows["contact_loss"][-1] == pytest.approx(sum(c["loss"] for c in case["contacts"]), rel=1e-9)
        assert np.any(rows["rayleigh_loss"]) == name.startswith("damped")


def test_every_claim_has_a_verdict_and_every_failure_a_reason(written):
    _, stdout, summary = written
    claims = {claim["claim"]: claim for claim in summary["claims"]}
    for claim in claims.values():
        assert {"claim", "paper", "ours", "holds"} <= set(claim) <= {"claim", "paper", "ours", "holds", "reason", "varies"}
        assert claim["holds"] is True or claim["reason"]
    failed = [name for name, claim in claims.items() if not claim["holds"]]
    assert [name.split(":")[0].split("(")[0].strip() for name in failed] == [
        "vibration decays at about the same speed in all materials",
        "one element is enough for the rod",
        "one element is enough for the rod",
        "one element is enough for the rod",
        "Lankarani-Nikravesh's law gives the restitution asked for",
        "linear strain is enough",
    ]
    assert "27 %" in claims[failed[0]]["reason"]
    assert claims[failed[1]]["ours"] == {"1": 2, "2": 1, "4": 1, "8": 1}
    assert f"{len(claims) - len(failed)} of {len(claims)} claims hold" in stdout
    assert "\x1b" not in stdout


def test_results_can_be_read_again(written):
    out, _, summary = written
    result = pl.Result.from_netcdf(out / "damped-2.nc")
    case = summary["cases"]["damped/2"]
    assert [contact.begin for contact in result.contacts] == [touch["begin"] for touch in case["contacts"]]
    assert result["crank.angle"][-1] == case["samples"][-1][1]


def test_warnings_of_the_runs_are_recorded_and_printed(written):
    out, stdout, summary = written
    stored = pl.Result.from_netcdf(out / "undamped-1.nc").warnings
    assert summary["warnings"]["undamped/1"] == list(stored) and "times its buckling load" in stored[0]
    lines = [line for line in stdout.splitlines() if line.startswith("warning: slider-crank, ")]
    assert any(line.startswith("warning: slider-crank, undamped/1") and line.endswith(f": {stored[0]}") for line in lines)
    assert len(lines) == len({sentence for told in summary["warnings"].values() for sentence in told}) >= 5


def test_the_committed_page_is_what_the_command_gives(written):
    out, _, summary = written
    check_page("slider-crank", out, summary, varying=("methods",))
