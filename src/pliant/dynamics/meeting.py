"""How two shapes lie to each other, and what formulas of pairs share."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.dynamics.algebra import Scalar, Vec, dot, is_zero, scale
from pliant.scalar import maximum, sqrt, where

COINCIDENT = 1e-100  # m between centres: below this distance two spheres have no normal and exert no force


@dataclass(frozen=True)
class Touching:
    """How two shapes lie to each other, in world axes."""

    gap: Scalar  # m, negative in contact
    normal: Vec  # from B to A
    point: Vec  # at which the force acts


def apart(between: Vec) -> tuple[Scalar, Vec]:
    """The length of a vector and its direction; 0 and no direction where it vanishes."""
    distance = sqrt(maximum(dot(between, between), COINCIDENT**2))
    return distance, scale(1.0 / distance, between)


def either(first: Scalar, a: Vec, b: Vec) -> Vec:
    """a where the condition holds, b elsewhere."""
    x, y, z = (s if is_zero(s) and is_zero(t) else where(first, s, t) for s, t in zip(a, b, strict=True))
    return (x, y, z)
