"""What a point of a line comes near to: functions of a position that are least where it is nearest, and steps towards the least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pliant.dynamics.algebra import Scalar, Vec, add, dot, scale, sub
from pliant.scalar import absolute, clip, where

FLAT = 1e-30  # curvature of a straight line: no step of Newton's method is taken
LEVEL = 1e-13  # slope of a straight line that lies as far away all along: its station stays


class Target(Protocol):
    """A function of a position."""

    def value(self, r: Vec) -> Scalar: ...
    def slopes(self, r: Vec, r1: Vec, r2: Vec) -> tuple[Scalar, Scalar]:
        """The first and the second derivative by the station, of which r, r1, r2 are the position and its derivatives."""


@dataclass(frozen=True)
class Height:
    """Above a plane."""

    normal: Vec

    def value(self, r: Vec) -> Scalar:
        return dot(self.normal, r)

    def slopes(self, r: Vec, r1: Vec, r2: Vec) -> tuple[Scalar, Scalar]:
        return dot(self.normal, r1), dot(self.normal, r2)


@dataclass(frozen=True)
class Distance:
    """From a point: half its square, whose minimiser Newton's method finds from afar."""

    centre: Vec

    def value(self, r: Vec) -> Scalar:
        e = sub(r, self.centre)
        return 0.5 * dot(e, e)

    def slopes(self, r: Vec, r1: Vec, r2: Vec) -> tuple[Scalar, Scalar]:
        e = sub(r, self.centre)
        return dot(e, r1), dot(r1, r1) + dot(e, r2)


@dataclass(frozen=True)
class DistanceOfLine:
    """From a straight line between two ends: half its square."""

    start: Vec
    direction: Vec
    length: Scalar

    def value(self, r: Vec) -> Scalar:
        e = self._off(r)[0]
        return 0.5 * dot(e, e)

    def slopes(self, r: Vec, r1: Vec, r2: Vec) -> tuple[Scalar, Scalar]:
        e, inside = self._off(r)
        along = dot(self.direction, r1)
        return dot(e, r1), dot(r1, r1) + dot(e, r2) - where(inside, along * along, 0.0)

    def _off(self, r: Vec) -> tuple[Vec, Scalar]:
        """(The way from the nearest point of the line, whether that point is between the ends.)"""
        u = dot(self.direction, sub(r, self.start))
        nearest = add(self.start, scale(clip(u, 0.0, self.length), self.direction))
        return sub(r, nearest), absolute(u - 0.5 * self.length) < 0.5 * self.length


def stepped(s: Scalar, low: Scalar, high: Scalar, slope: Scalar, curvature: Scalar, near: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """A step of Newton's method towards the least, between stations that enclose it; by bisection if it would leave them.

    near: how far it may leave them, because round-off decides the signs of small slopes.
    """
    falls = slope < 0.0
    low, high = where(falls, s, low), where(falls, high, s)
    bends = curvature > FLAT
    newton = s - where(bends, slope, 0.0) / where(bends, curvature, 1.0)
    middle = 0.5 * (low + high)
    inside = absolute(newton - middle) <= 0.5 * (high - low) + near
    straight = where(absolute(slope) <= LEVEL, s, middle)
    return where(bends, where(inside, newton, middle), straight), low, high
