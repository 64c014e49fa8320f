"""`pliant reproduce clearance`: what it writes and what it finds."""

import numpy as np
import pytest

import pliant as pl
from pliant.gallery.clearance.runs import share_of_circle
from studies import check_files, check_page, reproduce

FIGURES = ["mechanism", "orbits", "accelerations", "moments", "friction", "elastic", "maps", "convergence", "guide"]
BEARINGS = [*(f"{kind}/{size}mm" for kind in ("smooth", "rubbed", "braked", "elastic") for size in ("0.1", "0.25", "0.5")), "line"]
NOT_SO = [
    "a larger clearance gives fewer impacts",
    "a law of spheres may stand for one of cylinders",
    "the guided slider's crank at",
]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return reproduce("clearance", tmp_path_factory.mktemp("reproduce") / "study")


def test_all_files_are_there_and_nothing_else(written):
    check_files(written[0], [*BEARINGS, "guided/impulsive", "guided/elastic"], FIGURES, ["table1"])


def test_energy_balances_in_every_run_and_nothing_else_is_warned_of(written):
    """Thousands of impacts at rtol = 1e-11 may be beyond a hundred times that, on one processor or another."""
    _, _, summary = written
    assert list(summary["cases"]) == BEARINGS
    assert all(case["energy_error_max"] < 1e-7 for case in summary["cases"].values())
    told = [sentence for sentences in summary["warnings"].values() for sentence in sentences]
    assert all(sentence.startswith("the energy balance is off by") for sentence in told)


def test_verdicts_do_not_depend_on_chaos_and_every_failure_has_a_reason(written):
    _, stdout, summary = written
    claims = {claim["claim"]: claim for claim in summary["claims"]}
    failed = [name for name, claim in claims.items() if not claim["holds"]]
    assert len(failed) == len(NOT_SO) and all(name.startswith(words) for name, words in zip(failed, NOT_SO, strict=True))
    assert all(claims[name]["reason"] for name in failed)
    assert f"{len(claims) - len(failed)} of {len(claims)} claims hold" in stdout
    free = next(claim for name, claim in claims.items() if name.startswith("until the first touch"))
    assert max(free["ours"].values()) < 1e-10


def test_results_can_be_read_again(written):
    out, _, summary = written
    braked = pl.Result.from_netcdf(out / "braked-0.5mm.nc")
    # periodic: many turns at a looser tolerance have the moment of these
    assert max(np.abs(braked.values["effort"][braked.time > 0.05, 0])) == pytest.approx(
        summary["cases"]["braked/0.5mm"]["moment"], rel=1e-2
    )


def test_an_orbit_along_the_wall_visits_the_outer_cells_only():
    angle = np.linspace(0.0, 2.0 * np.pi, 1000)
    assert share_of_circle(np.stack([np.cos(angle), np.sin(angle)], axis=1)) == pytest.approx(1.0 / 12.0)
    inside = np.sqrt(np.random.default_rng(1).uniform(size=20000)) * np.exp(
        2j * np.pi * np.random.default_rng(2).uniform(size=20000)
    )
    assert share_of_circle(np.stack([inside.real, inside.imag], axis=1)) == 1.0


def test_the_committed_page_is_what_the_command_gives(written):
    out, _, summary = written
    chaotic = ("orbits", "accelerations", "moments", "friction", "elastic", "maps", "convergence")
    check_page("clearance", out, summary, varying=chaotic)
