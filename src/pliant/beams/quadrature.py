"""Integrals along a beam by composite Gauss-Legendre, exact to round-off for the panels that shapes ask for."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

POINTS = 16  # a panel: exact for degree 31
PANEL_PHASE = np.pi  # largest wavenumber times panel; a product of two waves is then good to 1e-18

# of the natural size of an integral, sqrt(int f f int g g): what is below is orthogonality's round-off
ROUND_OFF = 1e-14


def panels_for(wavenumber: float, length: float) -> int:
    """How many equal panels resolve the products of waves up to this wavenumber (1/m)."""
    return 1 + int(np.ceil(wavenumber * length / PANEL_PHASE))


def nodes(panels: Floats, count: int = POINTS) -> tuple[Floats, Floats]:
    """Gauss-Legendre points and weights on the panels between these breakpoints, so many on each."""
    unit, weight = rule(count)
    half = 0.5 * np.diff(panels)[:, None]
    middle = 0.5 * (panels[1:] + panels[:-1])[:, None]
    return (middle + half * unit).ravel(), (half * weight).ravel()


def gram(weight: Floats, left: Floats, right: Floats | None = None, round_off: Floats | float = ROUND_OFF) -> Floats:
    """int f_i g_j over columns of values at the nodes, round-off of orthogonality set to zero."""
    other = left if right is None else right
    product = (left * weight[:, None]).T @ other
    size = np.sqrt(np.outer(weight @ left**2, weight @ other**2))
    product = np.where(np.abs(product) > round_off * size, product, 0.0)
    return 0.5 * (product + product.T) if right is None else product


def without_round_off(matrix: Floats, round_off: Floats | float = ROUND_OFF) -> Floats:
    """A sum of Gram matrices whose parts cancel: what is round-off beside its diagonal is set to zero."""
    size = np.sqrt(np.diag(matrix))
    return np.where(np.abs(matrix) > round_off * np.outer(size, size), matrix, 0.0)


@cache
def rule(count: int = POINTS) -> tuple[Floats, Floats]:
    """Gauss-Legendre points and weights on [-1, 1]."""
    unit, weight = np.polynomial.legendre.leggauss(count)
    return unit, weight
