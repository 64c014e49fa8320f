"""Integrals along a beam by composite Gauss-Legendre quadrature, exact to round-off on the panels that the shapes request."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from pliant.arrays import Floats

POINTS = 16  # per panel: exact up to degree 31
PANEL_PHASE = np.pi  # largest wavenumber times panel length; products of two waves are then accurate to 1e-18

# Fraction of an integral's natural size, sqrt(int f f int g g), below which it is round-off of an orthogonal pair.
ROUND_OFF = 1e-14


def panels_for(wavenumber: float, length: float) -> int:
    """How many equal panels resolve the products of waves up to this wavenumber (1/m)."""
    return 1 + int(np.ceil(wavenumber * length / PANEL_PHASE))


def nodes(panels: Floats, count: int = POINTS) -> tuple[Floats, Floats]:
    """Gauss-Legendre points and weights on the panels between these breakpoints, with the given number of points on each."""
    unit, weight = rule(count)
    half = 0.5 * np.diff(panels)[:, None]
    middle = 0.5 * (panels[1:] + panels[:-1])[:, None]
    return (middle + half * unit).ravel(), (half * weight).ravel()


def gram(weight: Floats, left: Floats, right: Floats | None = None, round_off: Floats | float = ROUND_OFF) -> Floats:
    """int f_i g_j from columns of values at the nodes; round-off of orthogonal pairs is set to zero."""
    other = left if right is None else right
    product = (left * weight[:, None]).T @ other
    size = np.sqrt(np.outer(weight @ left**2, weight @ other**2))
    product = np.where(np.abs(product) > round_off * size, product, 0.0)
    return 0.5 * (product + product.T) if right is None else product


def absorbed(weight: Floats, density: Any) -> tuple[Floats, float]:
    """(weights, factor) of an integral with a density: a factor if it is constant, and in the weights if it varies along x."""
    return (weight * density, 1.0) if np.ndim(density) else (weight, density)


def without_round_off(matrix: Floats, round_off: Floats | float = ROUND_OFF) -> Floats:
    """A sum of Gram matrices whose terms cancel: entries that are round-off relative to the diagonal are set to zero."""
    size = np.sqrt(np.diag(matrix))
    return np.where(np.abs(matrix) > round_off * np.outer(size, size), matrix, 0.0)


@cache
def rule(count: int = POINTS) -> tuple[Floats, Floats]:
    """Gauss-Legendre points and weights on [-1, 1]."""
    unit, weight = np.polynomial.legendre.leggauss(count)
    return unit, weight
