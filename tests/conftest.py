"""What all tests share."""

import functools
import gc
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ROOMS = TESTS.parent / "src" / "pliant"

# What `pytest -m "not slow"` leaves out, so that the rest takes less than 90 s on two cores: files and folders that take seconds,
# most of them because they compile many mechanisms, start processes, draw pictures or run whole studies.
SLOW = (
    "analysis/test_denoc.py", "analysis/test_equilibrium.py", "analysis/test_frame_jacobian.py", "analysis/test_linearise.py",
    "analysis/test_modes.py", "analysis/test_report.py", "analysis/test_section_forces.py", "beams/test_characteristic.py",
    "beams/test_elements.py", "beams/test_reduction.py", "beams/test_ritz.py", "beams/test_statics.py", "cli",
    "codegen/test_emit.py", "codegen/test_guards.py", "codegen/test_jacobian.py", "codegen/test_llvm.py", "codegen/test_rolled.py",
    "codegen/test_work.py", "contracts", "dynamics/test_boxes.py", "dynamics/test_formulations.py",
    "dynamics/test_formulations_on_loops.py", "dynamics/test_reactions.py", "dynamics/test_stiffening.py",
    "dynamics/test_telescopic.py", "ensemble/test_ensemble.py", "ensemble/test_lockstep_ensemble.py", "ensemble/test_members.py",
    "equations/test_derive.py", "exchange/test_elastic_link.py", "exchange/test_fmu.py", "exchange/test_target.py",
    "exchange/test_urdf.py", "fem", "files/test_fuzz.py", "files/test_published.py", "files/test_units_and_includes.py", "gallery",
    "host/test_netcdf.py", "integrate/test_loops.py", "integrate/test_time_pieces.py", "live/test_in_browser.py",
    "live/test_live_page.py", "live/test_machine.py", "live/test_page_text.py", "model/test_clearance.py",
    "model/test_curved_segments.py", "model/test_segmented.py", "published", "results/test_crafted.py",
    "results/test_rows_to_file.py", "run/test_contact_phases.py", "run/test_parameters.py", "run/test_simulate.py",
    "run/test_stepping.py", "run/test_system_memory.py", "run/test_task_path.py", "run/test_threads.py", "run/test_to_file.py",
    "run/test_validity.py", "show", "study", "trace/test_lowering.py", "trace/test_parameter_slopes.py", "trace/test_switches.py",
    "test_along.py", "test_augmented.py", "test_campaign.py", "test_cli.py", "test_command_line.py", "test_constraints.py",
    "test_contact_groups.py", "test_docs.py", "test_driven_closures.py", "test_dropped_chains.py", "test_environment.py",
    "test_examples.py", "test_four_bars.py", "test_friction.py", "test_holding.py", "test_impact.py", "test_impulsive.py",
    "test_joint_friction.py", "test_loops.py", "test_measured_arm.py", "test_motors.py", "test_nothing_passes.py",
    "test_overconstrained.py", "test_own_states.py", "test_rod_scenarios.py", "test_sampled.py", "test_solid_drops.py",
    "test_solids.py", "test_stiff.py", "test_stops_and_play.py", "test_struts.py", "test_templates.py", "test_thesis.py",
    "test_two_loop.py",
)  # fmt: skip

# Files and single tests of these that are quick all the same: with them the check runs something of every room.
QUICK = (
    "cli/test_modes_and_equilibrium.py::test_what_nothing_holds_fails_and_wrong_words_are_refused",
    "contracts/test_friction_laws.py", "contracts/test_registries.py",
    "fem/test_modal_bodies.py::test_frequencies_are_those_of_the_mesh",
    "fem/test_modal_bodies.py::test_a_free_body_has_the_free_frequencies_of_its_mesh",
    "fem/test_modal_bodies.py::test_kinetic_energy_and_momenta_are_those_of_the_moving_mesh",
    "fem/test_modal_bodies.py::test_damping_ratios_are_those_asked_for",
    "fem/test_modal_bodies.py::test_interfaces_that_are_none_are_refused",
    "gallery/test_reproduction.py::test_wrong_names_and_folders_end_with_2_before_anything_runs",
    "gallery/test_reproduction.py::test_a_failure_is_told_and_leaves_no_summary",
    "gallery/test_reproduction.py::test_values_of_claims_read_well",
    "show/test_analysis_plots.py", "show/test_magnified.py", "show/test_player.py",
    "study/derivatives/test_differences.py", "study/derivatives/test_differentiated.py", "study/fit/test_losses.py",
    "study/fit/test_noise.py",
)  # fmt: skip


# Tracing a mechanism makes a million small objects, hardly any of them in a circle. Python looks for circles at every 700 new ones,
# and at every hundredth time among all that the tests have loaded: a tenth of the processor time.
GARBAGE_THRESHOLDS = (50_000, 20, 20)

# Every core has a worker: threads of linear algebra would only wait for each other. Workers and the processes of tests inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Workers rewrite the assertions of 300 files, and hundreds of processes import pliant: bytecode is kept, whatever this shell says
# about it, or each of them would compile all sources again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_configure() -> None:
    gc.set_threshold(*GARBAGE_THRESHOLDS)


def pytest_collection_finish() -> None:
    """Tests and their modules stay until the end, and need not be looked through again and again."""
    gc.collect()
    gc.freeze()


def pytest_sessionstart() -> None:
    """A shell that starts tests in the background has them and their children ignore Ctrl-C; tests of it need it as ever."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow; a name that no longer stands for anything, or a room without a quick test, is an error."""
    missing = [name for name in (*SLOW, *QUICK) if not _stands(*name.split("::"))]
    if missing:
        raise pytest.UsageError(f"SLOW or QUICK in {__file__} names what is not there: {', '.join(missing)}")
    left_out = [room.parent.name for room in ROOMS.glob("*/__init__.py") if not _is_covered(room.parent.name)]
    if left_out:
        raise pytest.UsageError(f"QUICK in {__file__} must name a test of each room, but has none of {', '.join(left_out)}")
    for item in items:
        file = item.path.relative_to(TESTS).as_posix()
        if _is_slow(file) and f"{file}::{getattr(item, 'originalname', item.name)}" not in QUICK:
            item.add_marker(pytest.mark.slow)


@functools.cache
def _is_slow(file: str) -> bool:
    return file not in QUICK and any(Path(file).is_relative_to(name) for name in SLOW)


def _is_covered(room: str) -> bool:
    """Whether the quick check runs a test of a folder of the source."""
    files = (file.relative_to(TESTS).as_posix() for file in (TESTS / room).rglob("test_*.py"))
    return any(name.startswith(f"{room}/") for name in QUICK) or any(not _is_slow(file) for file in files)


def _stands(file: str, test: str = "") -> bool:
    path = TESTS / file
    return path.exists() and (not test or f"def {test}(" in path.read_text())


@pytest.fixture(scope="module")
def browser():
    """The Chromium of the system (Debian: apt-get install chromium), driven by playwright."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"))), None)
    if path is None:
        pytest.skip("no Chromium on this machine")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()
