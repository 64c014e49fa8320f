"""Simeon's flexible slider-crank against the IVP test set, its reference recomputed in minimal coordinates."""

import numpy as np
import pytest

import pliant as pl
from pliant.beams import beam_shapes, shape_integrals
from pliant.gallery.ivp_test_set import flexible_slider_crank
from pliant.run.prepare import compile_system

TIGHT = pl.DOP853(rtol=1e-12, atol=1e-16)

# at t = 0.1 s, recomputed: phi2, x3 / q1, q2 / q3, q4 / lambda1 ... lambda3
ANGLE_AND_PLACE = (-0.3311734988256447, 0.1697373326399585)
BENT = (1.8931928430201522e-4, 2.3757513204879448e-5)
STRETCHED = (-5.323896778161876e-6, -8.36331329172736e-6)
LAMBDA = (-62.32935928, -163.79209935, 25.29857949)


@pytest.fixture(scope="module")
def run():
    return pl.simulate(flexible_slider_crank(), 0.1, method=TIGHT, save=[0.0, 0.1])


def test_the_rod_has_the_matrices_of_the_test_set():
    rod = flexible_slider_crank().links["rod"].body
    found = shape_integrals(rod, beam_shapes(rod))
    mass, stretch, pi = 7870 * 0.008**2 * 0.3, 0.2e12 * 0.008**2 / 0.3, 3.1415927
    assert found.modal_mass == pytest.approx(mass * np.array([[0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 8, 1], [0, 0, 1, 2]]))
    bend = stretch * pi**4 / 24 * (0.008 / 0.3) ** 2
    assert np.diag(found.stiffness)[:2] == pytest.approx([bend, 16 * bend], rel=1e-12)
    assert found.stiffness[2:, 2:] == pytest.approx(stretch / 3 * np.array([[16, -8], [-8, 7]]), rel=1e-12)
    assert found.first_modal[0] == pytest.approx(mass * np.array([0, 0, 2 / 3, 1 / 6]), rel=1e-12)
    assert found.first_modal[1] == pytest.approx(mass * np.array([2 / np.pi, 0, 0, 0]), abs=1e-14)
    # c12, c21 and B: int mu x U_k, int mu x W_j, int mu U_k W_j
    assert found.second[0, 3:, 0, 0] == pytest.approx(0.3 * mass * np.array([1 / 3, 1 / 6]), rel=1e-12)
    assert found.second[0, 1:3, 0, 1] == pytest.approx(0.3 * mass / np.pi * np.array([1, -0.5]), rel=1e-12)
    mixed = [[16 / np.pi**3, 1 / np.pi - 8 / np.pi**3], [0, -0.5 / np.pi]]
    assert found.second[1:3, 3:, 1, 0] == pytest.approx(mass * np.array(mixed), abs=1e-14)


def test_the_start_is_kept_as_it_is_given():
    """What is computed closes the loop, so that assembly moves no mode."""
    traced = compile_system(flexible_slider_crank()).traced
    names = [traced.tree.positions[k] for k in traced.free_q]
    start = dict(zip(names, traced.y0, strict=False))
    assert start["rod.axial2"] == 0.169327969e-4
    assert start["slider.displacement"] == pytest.approx(0.450016933, abs=5e-10)
    rates = dict(zip((traced.tree.rates[k] for k in traced.free_v), traced.y0[len(names) :], strict=False))
    assert rates["rod.y1"] == pytest.approx(0.444896105, rel=1e-12)
    assert rates["hinge.angle"] + 150.0 == pytest.approx(-74.9957670, abs=5e-7)
    assert traced.independent == 4


def test_the_recomputed_end_is_reached(run):
    """Bending to 3e-8, which is what the nine digits of the start leave open; the rest to 1e-9."""
    assert [run["crank.angle"][-1] + run["hinge.angle"][-1], run["slider.displacement"][-1]] == pytest.approx(
        ANGLE_AND_PLACE, rel=1e-12
    )
    assert [run[f"rod.y{k}"][-1] for k in (1, 2)] == pytest.approx(BENT, rel=3e-8)
    assert [run[f"rod.axial{k}"][-1] for k in (1, 2)] == pytest.approx(STRETCHED, rel=1e-9)
    along, across = run.values["multiplier"][-1]
    assert [-across, along, -run.values["effort"][-1, 0]] == pytest.approx(LAMBDA, rel=1e-8)


def test_the_ledger_closes(run):
    assert run.ledger.relative_error_max < 1e-9
