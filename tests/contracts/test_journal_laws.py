"""What every law of a journal must satisfy: it is what its source says, one formula over any scalar, and delivers e."""

import math

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.special import lambertw

import pliant as pl
from pliant.codegen.tracer import Tracer
from pliant.model.journal_law import JOURNAL_LAWS, LogarithmicLaw, lower_lambert

STEEL = pl.Material(E=207e9, nu=0.3)
BEARING = {"modulus": pl.contact_modulus(STEEL), "length": 0.02, "radius": 0.01, "clearance": 5e-4}
LAWS = pytest.mark.parametrize("law", JOURNAL_LAWS, ids=lambda law: law.__name__)
DEPTHS = (1e-12, 1e-9, 1e-6, 1.4e-6, 1e-5, 1e-4)


def test_the_modulus_of_equal_bodies_is_half_that_of_one_against_a_rigid_one():
    assert BEARING["modulus"] == pytest.approx(207e9 / 0.91 / 2.0, rel=1e-15)
    with pytest.raises(pl.ModelError, match=r"contact_modulus: material_a.nu must be known"):
        pl.contact_modulus(pl.Material(E=1e9))


def test_the_lower_branch_of_lambert_is_found_to_round_off():
    z = -np.concatenate([np.geomspace(1e-290, 0.36, 500), (1.0 - np.geomspace(1e-5, 0.1, 50)) / math.e])
    found = np.array([lower_lambert(x) for x in z.tolist()])
    np.testing.assert_allclose(found, lambertw(z, -1).real, rtol=1e-13)
    assert lower_lambert(-1.0 / math.e) == pytest.approx(-1.0, abs=1e-7) and np.isfinite(lower_lambert(0.0))


@pytest.mark.parametrize("law", [law for law in JOURNAL_LAWS if issubclass(law, LogarithmicLaw)], ids=lambda law: law.__name__)
def test_a_force_presses_as_deep_as_its_source_says(law):
    """d = P/(pi E*) (A + ln(B E* D/P)) for the force at d."""
    one = law(**BEARING, restitution=0.9)
    a, b = one.numbers
    for depth in DEPTHS:
        line = one.elastic(depth) / one.length
        said = line / (math.pi * one.modulus) * (a + math.log(b * one.modulus * one.clearance / line))
        assert said == pytest.approx(depth, rel=1e-13)


def test_johnsons_formula_as_printed():
    """d = P/(pi E*) (ln(4 pi E* (R_1 - R_2)/P) - 1), at P = 1e6 N/m."""
    modulus, line = BEARING["modulus"], 1e6
    depth = line / (math.pi * modulus) * (math.log(4.0 * math.pi * modulus * 5e-4 / line) - 1.0)
    assert pl.JohnsonJournal(**BEARING, restitution=1.0).elastic(depth) == pytest.approx(line * 0.02, rel=1e-13)


def test_a_force_in_the_formula_of_the_whole_arc_and_of_radzimovsky_is_near_that_of_johnson():
    """The laws are of one family: for shallow contacts they differ by a constant under a large logarithm."""
    forces = [law(**BEARING, restitution=1.0).elastic(5e-6) for law in JOURNAL_LAWS if law is not pl.LiuJournal]
    assert max(forces) / min(forces) < 1.5


@LAWS
def test_the_force_is_the_slope_of_what_is_stored_also_beyond_its_range(law):
    one = law(**BEARING, restitution=0.9)
    for depth in (*DEPTHS, 0.99 * one.deepest, 1.5 * one.deepest):
        corner = [one.deepest] if depth > one.deepest else None
        assert one.stored(depth) == pytest.approx(quad(one.elastic, 0.0, depth, epsabs=0.0, points=corner)[0], rel=1e-9)
        assert one.force(depth, 0.0, 1.0) == one.elastic(depth) > 0.0
    assert 0.0 <= one.elastic(0.0) < 1e-290 and 0.0 <= one.stored(0.0) < 1e-290


@LAWS
def test_forces_grow_with_the_depth_without_a_jump_at_the_end_of_the_range(law):
    one = law(**BEARING, restitution=0.9)
    depths = np.concatenate([np.geomspace(1e-15, 2.0 * one.deepest, 400), one.deepest * (1.0 + np.array([-1e-9, 1e-9]))])
    forces = np.array([one.elastic(depth) for depth in np.sort(depths).tolist()])
    assert np.all(np.diff(forces) > 0.0)
    edge = [one.elastic(one.deepest * (1.0 + side * 1e-9)) for side in (-1.0, 1.0)]
    assert edge[1] / edge[0] == pytest.approx(1.0, abs=1e-7)


@LAWS
@pytest.mark.parametrize("restitution", [0.1, 0.5, 0.9, 1.0])
def test_the_restitution_asked_for_is_delivered(law, restitution):
    one = law(**BEARING, restitution=restitution)
    speed, mass = 0.5, 0.3

    def opens(t, y):
        return y[0]

    opens.terminal, opens.direction = True, -1
    run = solve_ivp(lambda t, y: (y[1], -one.force(max(y[0], 0.0), y[1], speed) / mass), (0.0, 1.0), (0.0, speed), "DOP853",
                    rtol=1e-12, atol=1e-17, events=opens, max_step=1e-5)  # fmt: skip
    assert -run.y_events[0][0][1] / speed == pytest.approx(restitution, abs=1e-6)
    assert one.asked == restitution and one.delivered == pytest.approx(restitution, abs=1e-12)


@LAWS
def test_numbers_and_traced_scalars_agree(law):
    one = law(**BEARING, restitution=0.7)
    tracer = Tracer()
    column, (depth, rate, entry) = tracer.symbols("x", 3)
    traced = ca.Function("f", [column], [tracer.column([one.force(depth, rate, entry), one.elastic(depth), one.stored(depth)])])
    for d, v, e in ((0.0, 2.0, 2.0), (1e-6, 1.5, 2.0), (2e-5, -0.7, 2.0), (2.0 * one.deepest, 0.1, 1e-3)):
        plain = [one.force(d, v, e), one.elastic(d), one.stored(d)]
        np.testing.assert_allclose(np.array(traced([d, v, e])).ravel(), plain, rtol=1e-13, atol=1e-300)


def test_a_clearance_that_a_fit_does_not_cover_is_refused():
    with pytest.raises(pl.ModelError, match=r"PereiraJournal: clearance must be from 5e-06 to 0.01 m.*got 0.02"):
        pl.PereiraJournal(**{**BEARING, "clearance": 0.02}, restitution=0.9)
    with pytest.raises(pl.ModelError, match=r"JohnsonJournal: modulus must be > 0 Pa"):
        pl.JohnsonJournal(**{**BEARING, "modulus": 0.0}, restitution=0.9)
