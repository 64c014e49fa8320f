"""How much a residual counts: its square, or less where it is large, so that single wrong measurements do not decide a fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Residuals of normal noise, in units of its standard deviation, beyond which they count less: with these numbers the values found
# are 95 % as accurate as by least squares if the noise is normal (Holland and Welsch 1977; for soft_l1 by the same integrals).
HUBER, SOFT = 1.345, 1.287
NORMAL = 1.4826  # standard deviation of normal noise over its median absolute deviation


@dataclass(frozen=True)
class Loss:
    """rho(z), z = (residual / knee)^2, as scipy's least_squares takes it by name, with psi = d/dr (knee^2 rho/2) and its slope."""

    name: str
    knee: float  # residuals beyond it, in units of their scatter, count less
    rho: Callable[[Floats], Floats]
    first: Callable[[Floats], Floats]  # d rho / dz
    second: Callable[[Floats], Floats]  # d^2 rho / dz^2

    def total(self, residuals: Floats) -> float:
        """Twice what a search minimises; the sum of squares for the linear loss."""
        return float(self.knee**2 * np.sum(self.rho((residuals / self.knee) ** 2)))

    def counted(self, residuals: Floats) -> Floats:
        """Residuals whose squares sum up to `total`."""
        return np.asarray(np.sign(residuals) * self.knee * np.sqrt(self.rho((residuals / self.knee) ** 2)))

    def score(self, residuals: Floats) -> Floats:
        """The residuals as they act on the values: psi."""
        return np.asarray(residuals * self.first((residuals / self.knee) ** 2))

    def steepness(self, residuals: Floats) -> Floats:
        """The derivative of psi by the residual."""
        z = (residuals / self.knee) ** 2
        return np.asarray(self.first(z) + 2.0 * z * self.second(z))


def _ones(z: Floats) -> Floats:
    return np.ones_like(z)


def _beyond(z: Floats) -> Floats:
    """z where it is above 1, else 1: for roots that are used there only."""
    return np.maximum(z, 1.0)


LOSSES = {
    loss.name: loss
    for loss in (
        Loss("linear", 1.0, lambda z: z, _ones, np.zeros_like),
        Loss(
            "huber", HUBER,
            lambda z: np.where(z <= 1.0, z, 2.0 * np.sqrt(_beyond(z)) - 1.0),
            lambda z: np.where(z <= 1.0, 1.0, _beyond(z) ** -0.5),
            lambda z: np.where(z <= 1.0, 0.0, -0.5 * _beyond(z) ** -1.5),
        ),
        Loss("soft_l1", SOFT, lambda z: 2.0 * (np.sqrt(1.0 + z) - 1.0), lambda z: (1.0 + z) ** -0.5,
             lambda z: -0.5 * (1.0 + z) ** -1.5),
    )
}  # fmt: skip


def scatter(values: Floats, loss: Loss) -> float:
    """The standard deviation of residuals about zero; robust, from their median size, if the loss is."""
    there = values[np.isfinite(values)]
    if loss.name == "linear" or not there.size:
        return float(np.sqrt(np.mean(there**2))) if there.size else 0.0
    return NORMAL * float(np.median(np.abs(there))) or float(np.sqrt(np.mean(there**2)))
