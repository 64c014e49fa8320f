"""Autoregressive noise: its covariance matrix by hand, whitening against Cholesky, coefficients from a long series."""

import numpy as np
import pytest
from scipy.linalg import toeplitz

import pliant as pl
from pliant.study.fit.noise import Autoregression, GivenCovariance, autocovariances, autoregression, pieces_of


def second_order(rows):
    """x_t = 1.2 x_(t-1) - 0.5 x_(t-2) + e, var e = 2: autocovariances by the equations of Yule and Walker."""
    a, b, s2 = 1.2, -0.5, 2.0
    r1 = a / (1.0 - b)
    g0 = s2 / (1.0 - a * r1 - b * (a * r1 + b))
    g = [g0, r1 * g0]
    while len(g) < rows:
        g.append(a * g[-1] + b * g[-2])
    return Autoregression(np.array([a, b]), s2, np.array(g[:3])), np.array(g)


def test_colour_and_whiten_are_the_factor_of_the_covariance_matrix():
    model, covariances = second_order(40)
    matrix = toeplitz(covariances)
    factor = model.colour(np.eye(40))
    assert factor @ factor.T == pytest.approx(matrix, rel=1e-9, abs=1e-9)
    assert model.whiten(factor) == pytest.approx(np.eye(40), abs=1e-10)
    values = np.random.default_rng(0).normal(size=(40, 3))
    assert model.colour_transposed(values) == pytest.approx(factor.T @ values, abs=1e-10)
    assert model.whiten(np.ones(1)) == pytest.approx([covariances[0] ** -0.5])


def test_coefficients_come_back_from_a_long_series_and_white_noise_has_none():
    model, _ = second_order(3)
    series = model.colour(np.random.default_rng(1).normal(size=20_000))
    found = autoregression(autocovariances([series], 9), series.size)
    assert found.order == 2 and found.coefficients == pytest.approx(model.coefficients, abs=0.02)
    white = np.random.default_rng(2).normal(size=5_000)
    assert autoregression(autocovariances([white], 9), white.size).order == 0
    assert found.inflation == pytest.approx(2.0 / 0.3**2 / model.covariances[0], rel=0.1)


@pytest.mark.parametrize("period", [500.0, 1000.0, 4000.0])
def test_a_drift_is_no_white_noise(period):
    """Hardly anything changes from row to row, so that no model is stationary but by round-off: few values are independent."""
    drift = np.sin(2.0 * np.pi * np.arange(1000) / period)
    model = autoregression(autocovariances([drift], 9), drift.size)
    assert model.order >= 1 and model.inflation > 20.0
    assert np.max(np.abs(np.roots([1.0, *-model.coefficients]))) <= 1.0 - 1.0 / drift.size + 1e-12


def test_no_noise_and_few_rows_have_no_model():
    assert autoregression(autocovariances([np.zeros(100)], 9), 100).order == 0
    assert autoregression(autocovariances([np.arange(5.0)], 9), 5).order == 0


def test_pieces_end_where_rows_are_missing():
    time = np.arange(10.0)
    there = np.ones(10, dtype=bool)
    assert pieces_of(time, there) == [slice(0, 10)]
    there[4] = False
    assert pieces_of(time, there) == [slice(0, 4), slice(4, 9)]
    assert pieces_of(np.array([0.0, 1.0, 2.0, 9.0, 10.0]), np.ones(5, dtype=bool)) == [slice(0, 3), slice(3, 5)]
    assert pieces_of(time, np.zeros(10, dtype=bool)) == []


def test_a_given_covariance_whitens_and_must_be_one():
    matrix = toeplitz(0.5 ** np.arange(6))
    there = np.array([True, True, False, True, True, True])
    white = GivenCovariance("x", matrix).whiten(np.arange(6.0), there, np.linalg.cholesky(matrix[np.ix_(there, there)]))
    assert white == pytest.approx(np.eye(5), abs=1e-12)
    for wrong, said in ((np.eye(3), "symmetric matrix of 6 rows"), (-np.eye(6), "positive definite")):
        with pytest.raises(pl.ModelError, match=said):
            GivenCovariance("x", wrong).whiten(np.arange(6.0), there, np.ones(5))
