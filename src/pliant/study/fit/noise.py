"""Noise that is correlated from row to row: autoregressive models of it, and the whitening of residuals by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError

Floats = NDArray[np.float64]
HIGHEST = 8  # order of a model
ROWS_PER_ORDER = 10  # fewer rows do not tell its coefficients
LARGEST_ROOT = 0.995  # of a model, or one less one over the rows if that is larger: closer to 1, they cannot tell it from a drift
GAP = 1.5  # times the usual distance of rows: further apart they are not neighbours


@dataclass(frozen=True)
class Autoregression:
    """x_t = sum_k c_k x_(t-k) + e_t; no coefficients: white noise."""

    coefficients: Floats
    innovation: float  # variance of e
    covariances: Floats  # of rows 0, 1, ... apart, as many as coefficients and one more

    @property
    def order(self) -> int:
        """The number of coefficients."""
        return int(self.coefficients.size)

    @property
    def inflation(self) -> float:
        """How many times larger the variance of a mean is than that of as many independent values."""
        return float(self.innovation / (1.0 - np.sum(self.coefficients)) ** 2 / self.covariances[0])

    def whiten(self, values: Floats) -> Floats:
        """Independent values of variance 1 from consecutive rows (along the first axis) of this noise."""
        return _times(self._bands(values.shape[0]), values)

    def colour(self, values: Floats) -> Floats:
        """The inverse of `whiten`."""
        from scipy.linalg import solve_banded

        bands = self._bands(values.shape[0])
        return np.asarray(solve_banded((bands.shape[0] - 1, 0), bands, values))

    def colour_transposed(self, values: Floats) -> Floats:
        """C^T values, with C the matrix of `colour`: C C^T is the covariance matrix."""
        from scipy.linalg import solve_banded

        bands = self._bands(values.shape[0])
        upper = np.zeros_like(bands)
        last, rows = bands.shape[0] - 1, bands.shape[1]
        for k in range(last + 1):
            upper[last - k, k:] = bands[k, : rows - k]
        return np.asarray(solve_banded((0, last), upper, values))

    def _bands(self, rows: int) -> Floats:
        """The lower triangular matrix that whitens: its diagonals, each entry in its column, as scipy stores them.

        The first rows, which have too few predecessors, are whitened by the Cholesky factor of their covariance matrix.
        """
        from scipy.linalg import solve_triangular, toeplitz

        order = min(self.order, max(rows - 1, 0))
        bands, sigma = np.zeros((order + 1, rows)), self.innovation**0.5
        bands[0] = 1.0 / sigma
        for k in range(1, order + 1):
            bands[k, : rows - k] = -self.coefficients[k - 1] / sigma
        head = min(self.order, rows)
        if head:
            first = np.linalg.cholesky(toeplitz(self.covariances[:head]))
            inverse = solve_triangular(first, np.eye(head), lower=True)
            for row in range(head):
                for back in range(row + 1):
                    bands[back, row - back] = inverse[row, row - back]
        return bands


def _times(bands: Floats, values: Floats) -> Floats:
    shape = (-1, *(1,) * (values.ndim - 1))
    done = bands[0].reshape(shape) * values
    for k in range(1, bands.shape[0]):
        done[k:] += bands[k, : bands.shape[1] - k].reshape(shape) * values[:-k]
    return np.asarray(done)


def autocovariances(pieces: Sequence[Floats], count: int) -> Floats:
    """The mean of products of rows 0, 1, ... apart within pieces, over the number of all rows: positive definite."""
    rows = max(sum(piece.size for piece in pieces), 1)
    return np.array([sum(float(p[k:] @ p[: p.size - k]) for p in pieces if p.size > k) / rows for k in range(count)])


def autoregression(covariances: Floats, rows: int, order: int | None = None) -> Autoregression:
    """By the equations of Yule and Walker from given autocovariances; the order with the least BIC, if none is given.

    What is so alike from row to row that no model is stationary is taken for noise of first order with the largest root there is.
    """
    from scipy.linalg import solve_toeplitz

    if not covariances[0] > 0.0:
        return Autoregression(np.zeros(0), 1.0, np.ones(1))
    most = min(covariances.size - 1, HIGHEST, rows // ROWS_PER_ORDER)
    best, least, largest = Autoregression(np.zeros(0), float(covariances[0]), covariances[:1]), np.inf, _largest_root(rows)
    drifts = False
    for p in range(most + 1) if order is None else [min(order, most)]:
        c = solve_toeplitz(covariances[:p], covariances[1 : p + 1]) if p else np.zeros(0)
        left = float(covariances[0] - c @ covariances[1 : p + 1])
        if left <= 0.0 or _root(c) > largest:
            drifts = True
            continue
        judged = rows * np.log(left) + p * np.log(max(rows, 2))
        if judged < least:
            least, best = judged, Autoregression(c, left, covariances[: p + 1])
    if drifts and best.order == 0 and covariances[1] > LARGEST_ROOT * covariances[0]:
        return _drift(float(covariances[0]), largest)
    return best


def _largest_root(rows: int) -> float:
    return max(LARGEST_ROOT, 1.0 - 1.0 / max(rows, 1))


def _root(coefficients: Floats) -> float:
    """The largest of a model: below 1 if it is stationary."""
    return float(np.max(np.abs(np.roots(np.concatenate([[1.0], -coefficients]))), initial=0.0))


def _drift(variance: float, root: float) -> Autoregression:
    return Autoregression(np.array([root]), variance * (1.0 - root * root), variance * np.array([1.0, root]))


def pieces_of(time: Floats, there: NDArray[np.bool_]) -> list[slice]:
    """Consecutive rows, as slices of the measured rows: they end where a measurement is missing."""
    rows, times = np.flatnonzero(there), time[there]
    if rows.size < 2:
        return [slice(0, rows.size)] if rows.size else []
    apart = np.diff(times)
    cuts = np.flatnonzero((np.diff(rows) > 1) | (apart > GAP * np.median(apart))) + 1
    ends = [0, *cuts.tolist(), rows.size]
    return [slice(a, b) for a, b in pairwise(ends)]


@dataclass(frozen=True)
class GivenCovariance:
    """A covariance matrix of the noise of all rows, or a function of their times that returns it."""

    name: str
    given: Any

    def whiten(self, time: Floats, there: NDArray[np.bool_], values: Floats) -> Floats:
        """Independent values of variance 1 from those at the measured rows."""
        from scipy.linalg import solve_triangular

        matrix = np.asarray(self.given(time) if callable(self.given) else self.given, dtype=np.float64)
        if matrix.shape != (time.size, time.size) or not np.allclose(matrix, matrix.T, rtol=1e-9, atol=0.0):
            raise ModelError.of("fit", f"noise {self.name!r}", f"must be a symmetric matrix of {time.size} rows", matrix.shape)
        try:
            factor = np.linalg.cholesky(matrix[np.ix_(there, there)])
        except np.linalg.LinAlgError:
            raise ModelError.of("fit", f"noise {self.name!r}", "must be positive definite", "a matrix that is not") from None
        return np.asarray(solve_triangular(factor, values.reshape(values.shape[0], -1), lower=True).reshape(values.shape))
