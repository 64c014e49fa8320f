"""Directions across a normal or an axis: of friction in contacts, of closures that leave an axis free."""

from __future__ import annotations

from pliant.dynamics.algebra import Vec, is_zero
from pliant.scalar import where


def tangents_of(normal: Vec) -> tuple[Vec, Vec]:
    """Two directions across the normal: one in the x-y plane where that is possible, smooth wherever the normal is."""
    x, y, z = normal
    if is_zero(z):
        return (y, -x, 0.0), (0.0, 0.0, 1.0)
    if is_zero(x) and is_zero(y):
        return (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    # Duff et al. 2017: an orthonormal basis without a singular direction but for the jump of the sign at z = 0
    sign = where(z < 0.0, -1.0, 1.0)
    a = -1.0 / (sign + z)
    b = x * y * a
    return (1.0 + sign * x * x * a, sign * b, -sign * x), (b, sign + y * y * a, -y)
