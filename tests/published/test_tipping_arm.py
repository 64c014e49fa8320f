"""Wang, Yan, Fang, Jin 2012: the tipping arm against an independent reference (material points, DOP853 rtol 1e-12).

The reference has sixteen runs: full and as published, two laws, with and without structural damping, EI x0.5 and x1. It was
integrated on the same two shapes, but by other code; bounds are what both are good to.
"""

import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.errors import ModelError
from pliant.gallery.tipping_arm.runs import LATE, TIGHT, run
from pliant.gallery.tipping_arm.system import (
    AREA,
    DENSITY,
    GRAVITY,
    INERTIA,
    LENGTH,
    ROOTS,
    STIFFNESS,
    YOUNG,
    Case,
    shape,
    tipping_arm,
)
from pliant.trace.tracing import trace

REFERENCE = json.loads((Path(__file__).parent / "data" / "tipping_arm.json").read_text())
RUNS = {reference["name"]: reference for reference in REFERENCE["runs"]}
MATRICES = {name: np.array(value) for name, value in REFERENCE["matrices"].items()}
MODELS = {"full": "full", "eq22": "as-published"}
MU = DENSITY * AREA

# The page's table: down45, full, Hertz, alpha 0
TABLE = {
    0.5: (0.380907542, 2950.16258, 4.593535, 10.14663, 0.61380585, 18.801836),
    1.0: (0.380893049, 2929.92714, 3.268708, 7.14328, 0.63682919, 12.187875),
    2.0: (0.380895381, 2939.76636, 2.319465, 5.06582, 0.63568171, 8.560931),
}


@cache
def tipped(case):
    return run(case)


def case_of(name):
    reference = RUNS[name]
    return Case(reference["geometry"], MODELS[reference["model"]], reference["law"].replace("_", "-"), reference["alpha"],
                reference["EI_factor"])  # fmt: skip


def test_there_are_sixteen_runs_and_they_are_the_cases_of_the_summary():
    assert len(RUNS) == 16
    assert case_of("down45_full_hertz_a0_EI0.5").name == "down45/full/hertz/alpha0/EI0.5"
    assert case_of("down45_eq22_hunt_crossley_a5_EI1").name == "down45/as-published/hunt-crossley/alpha5/EI1"
    assert len({case_of(name).name for name in RUNS}) == 16


@pytest.mark.parametrize("name", RUNS)
def test_every_knock_agrees_with_the_reference(name):
    """Asked are 1e-6 of contact quantities; both are good to 1e-9."""
    knocks, wanted = tipped(case_of(name)).knocks, RUNS[name]["contacts"]
    assert len(knocks) == len(wanted) == RUNS[name]["summary"]["contacts_total"]
    for ours, theirs in zip(knocks, wanted, strict=True):
        assert ours.begin == pytest.approx(theirs["t_on"], abs=2e-12)
        assert ours.end == pytest.approx(theirs["t_off"], abs=2e-12)
        assert ours.peak_time == pytest.approx(theirs["t_F_max"], abs=2e-10)  # a flat top: half the digits of its height
        assert ours.entry_speed == pytest.approx(theirs["v_in"], rel=1e-8)
        assert ours.exit_speed == pytest.approx(theirs["v_out"], rel=1e-8)
        assert ours.peak_force == pytest.approx(theirs["F_max"], rel=1e-8)
        assert ours.impulse == pytest.approx(theirs["impulse"], rel=1e-8)


@pytest.mark.parametrize("name", RUNS)
def test_what_the_summary_says_agrees_with_the_reference(name):
    done, wanted = tipped(case_of(name)), RUNS[name]["summary"]
    entry = done.entry
    for ours, theirs in (("first_touch", "t_first_contact"), ("peak_force", "F_peak"), ("peak_delay", "delay_F_peak"),
                         ("span", "cluster_span"), ("rebound_angle", "rebound_angle"),
                         ("tip_amplitude", "tip_after_amplitude")):  # fmt: skip
        assert entry[ours] == pytest.approx(wanted[theirs], rel=1e-8 if ours != "peak_delay" else 5e-6)
    assert done.tip_amplitude(LATE) == pytest.approx(wanted["tip_late_amplitude"], rel=1e-8)
    assert done.speed_amplitude() == pytest.approx(wanted["thetadot_after_amplitude"], rel=1e-4)  # cubics between rows
    assert float(np.max(np.abs(done.deflection))) == pytest.approx(wanted["tip_impact_max"], rel=1e-8)
    assert sum(record.impulse for record in done.knocks) == pytest.approx(wanted["impulse"], rel=1e-8)
    lost = -done.result.ledger.work["wall arm.tip normal"][-1]
    assert lost == pytest.approx(wanted["dissipated_contact_J"], rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("name", RUNS)
def test_energy_is_kept_by_all_terms_and_not_by_the_published_ones(name):
    """The reference's residual of eq. 22 is the largest on its own rows: ours has others, hence the room."""
    worst = float(np.max(tipped(case_of(name)).energy_error))
    if RUNS[name]["model"] == "full":
        assert worst < 1e-10
    else:
        assert worst == pytest.approx(RUNS[name]["summary"]["energy_residual_over_fall_energy"], rel=2e-3)


@pytest.mark.parametrize("bending", TABLE)
def test_the_table_of_the_page_is_met_to_its_last_digit(bending):
    touch, force, delay, span, rebound, tip = TABLE[bending]
    entry = tipped(Case(bending=bending)).entry
    assert len(entry["contacts"]) == 3
    assert entry["first_touch"] == pytest.approx(touch, abs=1e-9)
    assert entry["peak_force"] == pytest.approx(force, abs=1e-5)
    assert 1e3 * entry["peak_delay"] == pytest.approx(delay, abs=1e-6)
    assert 1e3 * entry["span"] == pytest.approx(span, abs=1e-5)
    assert entry["rebound_angle"] == pytest.approx(rebound, abs=1e-8)
    assert 1e3 * entry["tip_amplitude"] == pytest.approx(tip, abs=1e-6)


def test_a_softer_contact_is_where_the_peak_force_grows_with_stiffness():
    soft = [tipped(Case(bending=bending, stiffness=1e-5 * STIFFNESS)) for bending in TABLE]
    assert [run.hardest.peak_force for run in soft] == pytest.approx([29.7, 31.7, 39.2], abs=0.05)
    assert [len(run.knocks) for run in soft] == [1, 1, 1]


def test_more_modes_knock_less_hard():
    """One to three here; the reproduction goes to six."""
    peaks = [run(Case(modes=modes), t_end=0.41).hardest.peak_force for modes in (1, 2, 3)]
    assert peaks == pytest.approx([3142, 2930, 2294], abs=0.5)


def test_with_contact_damping_and_no_other_the_rebound_falls_with_stiffness():
    angles = [tipped(Case(law="hunt-crossley", bending=bending)).rebound_angle for bending in TABLE]
    assert angles == pytest.approx([0.5570, 0.5515, 0.5499], abs=5e-5)


def state(rng):
    """theta, q1, q2 and their rates: deflections of centimetres."""
    return np.concatenate([rng.normal(size=1), 0.01 * rng.normal(size=2), 3.0 * rng.normal(size=1), rng.normal(size=2)])


def accelerations(case, y):
    traced = trace(tipping_arm(case))
    full = np.concatenate([y, np.zeros(traced.y0.size - y.size)])
    return np.array(traced.rhs(0.0, full, traced.parameters(0.0, 1.0))).ravel()[3:6]


@pytest.mark.parametrize("alpha", [0.0, 5.0])
def test_as_published_is_equation_22_with_its_misprints_repaired(alpha):
    """M_qq and C_qq without the factor x, K with + theta'^2 int x H, G = rho S g l^2 cos(theta)/2."""
    rng = np.random.default_rng(22)
    for _ in range(5):
        y = state(rng)
        theta, q, omega, rate = y[0], y[1:3], y[3], y[4:6]
        pair, centrifugal = MATRICES["int_Phi_Phi"], MATRICES["int_x_H"] - MATRICES["int_Phi_Phi"]
        coupling = MATRICES["int_x_Phi"]
        mass = MU * np.block([[LENGTH**3 / 3 - q @ centrifugal @ q, coupling], [coupling[:, None], pair]])
        bending = YOUNG * INERTIA * MATRICES["int_Phi2_Phi2"] + omega**2 * MU * centrifugal
        asked = np.array([0.5 * MU * GRAVITY * LENGTH**2 * np.cos(theta), *(-bending @ q - alpha * MU * pair @ rate)])
        wanted = np.linalg.solve(mass, asked)
        assert accelerations(Case(model="as-published", alpha=alpha), y) == pytest.approx(wanted, rel=1e-9)


def pinned_mass():
    """Of theta, q1, q2 with the arm straight."""
    coupling = MATRICES["int_x_Phi"]
    return MU * np.block([[LENGTH**3 / 3, coupling], [coupling[:, None], MATRICES["int_Phi_Phi"]]])


def test_a_small_deflection_of_the_upright_arm_is_answered_as_the_references_matrices_say():
    """Bending, gravity on the modes and, through w_c, gravity along the arm: -mu g int H on the modes."""
    wanted = np.zeros((3, 2))
    wanted[0] = -MU * GRAVITY * MATRICES["int_Phi"]
    wanted[1:] = -YOUNG * INERTIA * MATRICES["int_Phi2_Phi2"] - MU * GRAVITY * int_h()
    step = 1e-6
    found = np.zeros((3, 2))
    for k in range(2):
        there, back = (np.array([math.pi / 2, *(side * np.eye(2)[k]), 0, 0, 0]) for side in (step, -step))
        found[:, k] = (accelerations(Case(), there) - accelerations(Case(), back)) / (2 * step)
    assert pinned_mass() @ found == pytest.approx(wanted, rel=1e-6, abs=1e-4)


def int_h():
    """int over the arm of H(x) = int_0^x W' W'; by parts."""
    x, w = np.polynomial.legendre.leggauss(60)
    stations, weights = 0.5 * LENGTH * (x + 1.0), 0.5 * LENGTH * w
    slopes = np.array([np.asarray(shape(root).dw(stations)) for root in ROOTS])
    return np.einsum("n,jn,kn->jk", weights * (LENGTH - stations), slopes, slopes)


def test_the_pinned_arm_is_the_references():
    """Eigenvalues of its mass matrix, its frequencies, and what the tip weighs by itself, which the first knock shows."""
    mass, stiffness = pinned_mass(), np.zeros((3, 3))
    stiffness[1:, 1:] = YOUNG * INERTIA * MATRICES["int_Phi2_Phi2"]
    assert np.linalg.eigvalsh(mass) == pytest.approx(MATRICES["mass_matrix_eigenvalues"], rel=1e-9)
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(mass, stiffness)).real)[1:]
    assert np.sqrt(squares) == pytest.approx(MATRICES["pinned_free_frequencies_rad_s"], rel=1e-9)
    reach = np.array([LENGTH, *MATRICES["Phi_l"]])
    weight = 1.0 / (reach @ np.linalg.solve(mass, reach))
    assert weight == pytest.approx(MATRICES["tip_effective_mass_kg"], rel=1e-9)
    first = tipped(Case()).knocks[0]
    hertz = STIFFNESS * (1.25 * weight * first.entry_speed**2 / STIFFNESS) ** 0.6
    assert first.peak_force == pytest.approx(hertz, rel=1e-3)


def test_the_other_geometry_falls_through_135_degrees():
    done = tipped(Case(geometry="swing135"))
    assert done.case.rigid_speed == pytest.approx(REFERENCE["parameters"]["v_rigid"]["swing135"], rel=1e-12)
    assert done.knocks[0].entry_speed == pytest.approx(done.case.rigid_speed, rel=2e-3)
    assert done.angle[np.searchsorted(done.time, done.first_touch)] == pytest.approx(-math.pi / 2, abs=1e-3)
    assert np.max(done.energy_error) < 1e-10
    law = Case(geometry="swing135", law="hunt-crossley").normal
    assert law.chi == pytest.approx(REFERENCE["parameters"]["chi"]["swing135"], rel=1e-12)
    assert Case(law="hunt-crossley").normal.chi == pytest.approx(REFERENCE["parameters"]["chi"]["down45"], rel=1e-12)


def test_extremes_do_not_move_with_the_tolerance():
    """To 1e-8, as asked: three digits less of tolerance."""
    tight, coarse = tipped(Case()).entry, run(Case(), pl.DOP853(rtol=1e-11, atol=1e-13)).entry
    for name in ("first_touch", "peak_force", "span", "rebound_angle", "tip_amplitude"):
        assert tight[name] == pytest.approx(coarse[name], rel=1e-8)


def test_the_run_behind_the_summary_is_the_tight_one():
    assert (TIGHT.rtol, TIGHT.atol) == (1e-12, 1e-14)


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [({"geometry": "up45"}, "geometry must be one of down45, swing135"), ({"model": "linear"}, "model must be one of"),
     ({"law": "hertzian"}, "did you mean 'hertz'"), ({"alpha": -1.0}, "alpha must be >= 0"),
     ({"bending": 0.0}, "bending must be > 0"), ({"modes": 0}, "modes must be a whole number >= 1"),
     ({"stiffness": math.nan}, "stiffness must be a finite number")],
)  # fmt: skip
def test_wrong_cases_are_refused(wrong, rule):
    with pytest.raises(ModelError, match="tipping arm") as trouble:
        Case(**wrong)
    assert rule in str(trouble.value)
