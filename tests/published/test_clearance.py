"""The guided slider-crank of Flores, Leine, Glocker 2010 against time stepping as they have it, written here for three angles."""

import numpy as np
import pytest

import pliant as pl
from pliant.gallery.clearance.system import (
    GRAVITY,
    GUIDE_PLAY,
    GUIDED_CRANK,
    GUIDED_FRICTION,
    GUIDED_INERTIAS,
    GUIDED_MASSES,
    GUIDED_RATES,
    GUIDED_RESTITUTION,
    GUIDED_ROD,
    SLIDER,
    guided_slider_crank,
)

END = 0.02  # s: past the first cluster of impacts
CORNERS = np.array([(x, y) for x in (0.5, -0.5) for y in (0.5, -0.5)]) * SLIDER
SWEEPS, SOLVED = 1000, 1e-14  # of Gauss-Seidel, and N s


def moreau(h):
    """Moreau's midpoint rule: M (u' - u) = f h + W P at q + h u/2; P by Newton and Coulomb where the gap is closed there."""
    (m1, m2, m3), (j1, j2, j3), g = GUIDED_MASSES, GUIDED_INERTIAS, -GRAVITY[1]
    masses = np.diag(
        [j1 + m1 * GUIDED_CRANK**2 / 4 + (m2 + m3) * GUIDED_CRANK**2, j2 + m2 * GUIDED_ROD**2 / 4 + m3 * GUIDED_ROD**2, j3]
    )
    coupling = GUIDED_CRANK * GUIDED_ROD * (m2 / 2 + m3)
    weights = g * np.array([GUIDED_CRANK * (m1 / 2 + m2 + m3), GUIDED_ROD * (m2 / 2 + m3), 0.0])
    q, u = np.zeros(3), np.array(GUIDED_RATES)
    for _ in range(round(END / h)):
        a, b, c = middle = q + 0.5 * h * u
        mass = masses.copy()
        mass[0, 1] = mass[1, 0] = coupling * np.cos(a - b)
        turned = coupling * np.sin(a - b) * np.array([-(u[1] ** 2), u[0] ** 2, 0.0])
        v = u + h * np.linalg.solve(mass, turned - weights * np.cos(middle))
        rows = []  # normals and tangents of closed corners
        for x, y in CORNERS @ np.array([[np.cos(c), np.sin(c)], [-np.sin(c), np.cos(c)]]):
            for side in (1.0, -1.0):
                if SLIDER[1] / 2 + GUIDE_PLAY - side * (GUIDED_CRANK * np.sin(a) + GUIDED_ROD * np.sin(b) + y) <= 0.0:
                    rows.append((-side * np.array([GUIDED_CRANK * np.cos(a), GUIDED_ROD * np.cos(b), x]),
                                 np.array([-GUIDED_CRANK * np.sin(a), -GUIDED_ROD * np.sin(b), -y])))  # fmt: skip
        if rows:
            v = v + solved(rows, np.linalg.inv(mass), u, v)
        q, u = middle + 0.5 * h * v, v
    return q[0], u[0]


def solved(rows, compliance, before, free):
    """The change of the rates by impulses, by projected Gauss-Seidel."""
    change, impulses, moved = np.zeros(3), np.zeros((len(rows), 2)), 1.0
    for _ in range(SWEEPS):
        moved = 0.0
        for k, directions in enumerate(rows):
            for way, restitution in enumerate((GUIDED_RESTITUTION, 0.0)):
                w = directions[way]
                wanted = impulses[k, way] - (w @ (free + change) + restitution * (w @ before)) / (w @ compliance @ w)
                cone = GUIDED_FRICTION * impulses[k, 0]
                new = max(wanted, 0.0) if way == 0 else min(max(wanted, -cone), cone)
                change = change + compliance @ w * (new - impulses[k, way])
                moved, impulses[k, way] = max(moved, abs(new - impulses[k, way])), new
        if moved < SOLVED:
            break
    return change


def test_time_stepping_converges_to_our_rigid_impacts():
    """Its error is of first order: halving the step halves it, and the line through two steps ends at ours."""
    run = pl.simulate(guided_slider_crank(), END, method=pl.DOP853(rtol=1e-11, atol=1e-13), save=[0.0, END])
    ours = np.array([run["crank.angle"][-1], run["v", "crank.angle"][-1]])
    coarse, fine = np.array(moreau(4e-5)), np.array(moreau(2e-5))
    assert run.ok and len(run.contacts) > 10
    assert np.all(np.abs(fine - ours) < 0.7 * np.abs(coarse - ours))
    np.testing.assert_allclose(2.0 * fine - coarse, ours, rtol=5e-4)
    assert np.abs(coarse[0] - ours[0]) == pytest.approx(2.0 * np.abs(fine[0] - ours[0]), rel=0.3)
