"""How two shapes lie to each other, and what formulas of pairs share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from pliant.dynamics.algebra import Scalar, Vec, dot, is_zero, scale
from pliant.scalar import maximum, sqrt, where

Scalars = TypeVar("Scalars", bound=tuple[Scalar, ...])

COINCIDENT = 1e-100  # m between centres: below this distance two spheres have no normal and exert no force


@dataclass(frozen=True)
class Touching:
    """How two shapes lie to each other, in world axes."""

    gap: Scalar  # m, negative in contact
    normal: Vec  # from B to A
    point: Vec  # at which the force acts
    share: Scalar = 1.0  # of the law's force: what acts; the gap changes by as much as the bodies move along the normal there

    @property
    def reversed(self) -> Touching:
        """The same for the shapes exchanged."""
        return Touching(self.gap, scale(-1.0, self.normal), self.point, self.share)


def apart(between: Vec) -> tuple[Scalar, Vec]:
    """The length of a vector and its direction; 0 and no direction where it vanishes."""
    distance = sqrt(maximum(dot(between, between), COINCIDENT**2))
    return distance, scale(1.0 / distance, between)


def side_of_zero(x: Scalar) -> Scalar:
    """-1 below zero, else 1."""
    return 1.0 - 2.0 * (x < 0.0)


def either(first: Scalar, a: Scalars, b: Scalars) -> Scalars:
    """a where the condition holds, b elsewhere."""
    return cast(Scalars, tuple(s if is_zero(s) and is_zero(t) else where(first, s, t) for s, t in zip(a, b, strict=True)))


def largest(found: Sequence[Touching]) -> Touching:
    """The one with the largest gap."""
    most = found[0]
    for one in found[1:]:
        most = larger(one, most)
    return most


def larger(one: Touching, other: Touching) -> Touching:
    return chosen(one.gap > other.gap, one, other)


def chosen(first: Scalar, one: Touching, other: Touching) -> Touching:
    """One where the condition holds, the other elsewhere."""
    normal, point = either(first, one.normal, other.normal), either(first, one.point, other.point)
    share = one.share if one.share is other.share else where(first, one.share, other.share)
    return Touching(where(first, one.gap, other.gap), normal, point, share)
