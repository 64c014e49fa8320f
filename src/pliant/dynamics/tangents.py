"""Directions normal to a vector: tangents for contact friction, and for closures that leave an axis free."""

from __future__ import annotations

from pliant.dynamics.algebra import Scalar, Vec, dot, is_zero
from pliant.scalar import maximum

# An orthonormal frame along no line that drawings use. Tangents cannot be smooth for all vectors: these jump at minus the last one.
_FIRST, _SECOND, _POLE = ((6 / 7, 2 / 7, -3 / 7), (3 / 7, -6 / 7, 2 / 7), (-2 / 7, -3 / 7, -6 / 7))
_AT_POLE = 1e-14  # replaces 1 + cos of the angle to the last vector where this is round-off


def tangents_of(normal: Vec) -> tuple[Vec, Vec]:
    """Two directions normal to the given unit vector, the first in the x-y plane if possible; smooth wherever the vector is.

    In space they are those of a frame, mirrored so that its last vector falls on the line of the given one. No choice is smooth
    for all vectors, and bristles deflect along these directions: a jump of theirs would be a jump of friction.
    """
    x, y, z = normal
    if is_zero(z):
        return (y, -x, 0.0), (0.0, 0.0, 1.0)
    if is_zero(x) and is_zero(y):
        return (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    width = maximum(1.0 + dot(normal, _POLE), _AT_POLE)
    return _mirrored(_FIRST, normal, width), _mirrored(_SECOND, normal, width)


def _mirrored(direction: Vec, normal: Vec, width: Scalar) -> Vec:
    """direction - (normal + pole) (normal . direction)/(1 + normal . pole)."""
    share = dot(normal, direction) / width
    return tuple(d - (n + p) * share for d, n, p in zip(direction, normal, _POLE, strict=True))
