"""Robust losses: scipy's own, with psi their derivative, and the efficiency on normal noise that their constants stand for."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import least_squares
from scipy.stats import norm

from pliant.study.fit.losses import LOSSES, scatter


@pytest.mark.parametrize("loss", LOSSES.values(), ids=list(LOSSES))
def test_total_is_twice_the_cost_of_scipy(loss):
    residuals = np.random.default_rng(0).standard_t(2.0, 50)
    cost = least_squares(lambda _: residuals, [0.0], loss=loss.name, f_scale=loss.knee, max_nfev=1).cost
    assert loss.total(residuals) == pytest.approx(2.0 * cost, rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=list(LOSSES))
def test_score_and_steepness_are_derivatives(loss):
    r, h = np.array([-5.0, -1.0, -0.2, 0.0, 0.3, 1.2, 4.0]), 1e-6
    rise = [(loss.total(np.array([x + h])) - loss.total(np.array([x - h]))) / (4.0 * h) for x in r]
    assert loss.score(r) == pytest.approx(rise, abs=1e-8)
    assert loss.steepness(r) == pytest.approx((loss.score(r + h) - loss.score(r - h)) / (2.0 * h), abs=1e-8)


@pytest.mark.parametrize("name", ["huber", "soft_l1"])
def test_values_are_95_percent_as_accurate_on_normal_noise(name):
    loss = LOSSES[name]
    mean = quad(lambda r: float(loss.steepness(np.array(r))) * norm.pdf(r), -12.0, 12.0, limit=200, points=[-loss.knee, loss.knee])[
        0
    ]
    power = quad(lambda r: float(loss.score(np.array(r))) ** 2 * norm.pdf(r), -12.0, 12.0, limit=200)[0]
    assert mean**2 / power == pytest.approx(0.95, abs=2e-4)


def test_robust_scatter_does_not_see_wild_values():
    values = np.random.default_rng(1).normal(size=20_001)
    values[::20] = 1e3
    assert scatter(values, LOSSES["huber"]) == pytest.approx(1.0, abs=0.1)
    assert scatter(values, LOSSES["linear"]) > 100.0
    assert scatter(np.array([np.nan]), LOSSES["huber"]) == 0.0
