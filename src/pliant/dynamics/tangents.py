"""Directions normal to a vector: tangents for contact friction, and for closures that leave an axis free."""

from __future__ import annotations

from pliant.dynamics.algebra import Vec, is_zero
from pliant.scalar import where


def tangents_of(normal: Vec) -> tuple[Vec, Vec]:
    """Two directions normal to the given vector, the first in the x-y plane if possible; smooth wherever the vector is."""
    x, y, z = normal
    if is_zero(z):
        return (y, -x, 0.0), (0.0, 0.0, 1.0)
    if is_zero(x) and is_zero(y):
        return (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    # Duff et al. 2017: an orthonormal basis without singular directions, except for the jump of the sign at z = 0
    sign = where(z < 0.0, -1.0, 1.0)
    a = -1.0 / (sign + z)
    b = x * y * a
    return (1.0 + sign * x * x * a, sign * b, -sign * x), (b, sign + y * y * a, -y)
