"""What a point of a line comes near to: functions of a position that are least where it is nearest, and steps towards the least."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from pliant.dynamics.algebra import ZERO, Scalar, Vec, add, dot, scale, sub, total
from pliant.dynamics.meeting import COINCIDENT, apart, side_of_zero
from pliant.model.solids import Box, Cylinder
from pliant.scalar import absolute, clip, converged, maximum, minimum, sqrt, where

STEPS = 6  # of Newton's method; of 4,500 random beams three reach round-off in five, and the rest sooner
STEPS_TO_SOLID = 8  # where curvatures jump; of 7,500 straight lines beside a cylinder one in 4,000 needs more than six
NEAR = 1e-8  # of the length of a line: steps as short as this are taken as they are
# Of a line's length: how much thinner its ends are than its middle, for what it can lie on. A straight line that lies flat has no
# nearest place; with a crown, as rollers have one, the place moves from the middle to the ends as the line tilts by 4 CROWN.
CROWN = 1e-6
CELLS = 8  # of a straight line, whose ends are tried first

Enclosed = tuple[Scalar, Scalar, Scalar]  # a place, and two between which the least is

FLAT = 1e-30  # curvature of a straight line: no step of Newton's method is taken
LEVEL = 1e-13  # slope of a straight line that lies as far away all along: its station stays


class Target(Protocol):
    """A function of a position."""

    steps: ClassVar[int] = STEPS  # of Newton's method

    def lever(self, r: Vec) -> Scalar:
        """How much it grows as a line gets thinner by a metre; 0 of what no line can lie along."""
        return 0.0

    def value(self, r: Vec) -> Scalar: ...
    def slopes(self, r: Vec, r1: Vec, r2: Vec) -> tuple[Scalar, Scalar]:
        """The first and the second derivative by the station, of which r, r1, r2 are the position and its derivatives."""


@dataclass(frozen=True)
class Height(Target):
    """Above a plane."""

    normal: Vec

    def lever(self, r: Vec) -> Scalar:
        return 1.0

    def value(self, r: Vec) -> Scalar:
        return dot(self.normal, r)

    def slopes(self, r: Vec, r1: Vec, r2: Vec) -> tuple[Scalar, Scalar]:
        return dot(self.normal, r1), dot(self.normal, r2)


@dataclass(frozen=True)
class Distance(Target):
    """From a point: half its square, whose minimiser Newton's method finds from afar."""

    centre: Vec

    def value(self, r: Vec) -> Scalar:
        e = sub(r, self.centre)
        return 0.5 * dot(e, e)

    def slopes(self, r: Vec, r1: Vec, r2: Vec) -> tuple[Scalar, Scalar]:
        e = sub(r, self.centre)
        return dot(e, r1), dot(r1, r1) + dot(e, r2)


@dataclass(frozen=True)
class DistanceOfLine(Target):
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


@dataclass(frozen=True)
class Beyond:
    """How far a place is beyond one of the surfaces of a solid: the distance, its two derivatives by a station, and the way out."""

    excess: Scalar
    slope: Scalar
    bend: Scalar
    outward: Vec


class SolidTarget(Target, Protocol):
    """A solid, outside of which the function is half the square of a distance, and within it a negative depth."""

    steps: ClassVar[int] = STEPS_TO_SOLID

    def lever(self, r: Vec) -> Scalar:
        return _distance(self.value(r))

    def value(self, r: Vec) -> Scalar:
        return _value([one.excess for one in self.surfaces(r)])

    def slopes(self, r: Vec, r1: Vec, r2: Vec) -> tuple[Scalar, Scalar]:
        return _slopes([(one.excess, one.slope, one.bend) for one in self.surfaces(r, r1, r2)])

    def surfaces(self, r: Vec, r1: Vec = ZERO, r2: Vec = ZERO) -> list[Beyond]:
        """Beyond each of its surfaces, whose directions outward are at right angles to each other."""


@dataclass(frozen=True)
class DistanceOfBox(SolidTarget):
    """From a box: half the square of the way to its nearest point; within it, the depth below the nearest face, negative."""

    middle: Vec
    axes: tuple[Vec, ...]
    halves: tuple[Scalar, ...]

    def surfaces(self, r: Vec, r1: Vec = ZERO, r2: Vec = ZERO) -> list[Beyond]:
        e, found = sub(r, self.middle), []
        for axis, half in zip(self.axes, self.halves, strict=True):
            x = dot(axis, e)
            sign = side_of_zero(x)
            found.append(Beyond(absolute(x) - half, sign * dot(axis, r1), sign * dot(axis, r2), scale(sign, axis)))
        return found


@dataclass(frozen=True)
class DistanceOfCylinder(SolidTarget):
    """The same from a cylinder: beyond its side and its ends."""

    middle: Vec
    axis: Vec
    radius: Scalar
    half: Scalar

    def surfaces(self, r: Vec, r1: Vec = ZERO, r2: Vec = ZERO) -> list[Beyond]:
        e = sub(r, self.middle)
        height, along, bend = (dot(self.axis, x) for x in (e, r1, r2))
        distance, radial = apart(sub(e, scale(height, self.axis)))
        across = sub(r1, scale(along, self.axis))
        out = dot(radial, across)
        turns = (dot(across, across) - out * out) / maximum(distance, COINCIDENT)
        sign = side_of_zero(height)
        return [
            Beyond(distance - self.radius, out, turns + dot(radial, r2), radial),
            Beyond(absolute(height) - self.half, sign * along, sign * bend, scale(sign, self.axis)),
        ]


def _value(excess: Sequence[Scalar]) -> Scalar:
    """Of a place that is beyond the surfaces of a solid by so much."""
    nearest = excess[0]
    for x in excess[1:]:
        nearest = maximum(nearest, x)
    return where(nearest > 0.0, 0.5 * total(maximum(x, 0.0) ** 2 for x in excess), nearest)


def _distance(value: Scalar) -> Scalar:
    """The derivative of half the square of a distance by the distance; within a solid, where the depth itself is least, 1."""
    return where(value > 0.0, sqrt(2.0 * maximum(value, COINCIDENT**2)), 1.0)


def _slopes(parts: Sequence[tuple[Scalar, Scalar, Scalar]]) -> tuple[Scalar, Scalar]:
    """Its two derivatives, from the excess beyond each surface and its two derivatives."""
    (nearest, slope, bend), *others = parts
    for x, x1, x2 in others:
        slope, bend = where(x > nearest, x1, slope), where(x > nearest, x2, bend)
        nearest = maximum(nearest, x)
    first = total(maximum(x, 0.0) * x1 for x, x1, _ in parts)
    second = total(where(x > 0.0, x1 * x1 + x * x2, 0.0) for x, x1, x2 in parts)
    return where(nearest > 0.0, first, slope), where(nearest > 0.0, second, bend)


def solid_target(solid: Box | Cylinder, middle: Vec, out: Callable[[Vec], Vec]) -> SolidTarget:
    """Of a box or a cylinder with this middle; out: from its axes to those in which positions are."""
    if isinstance(solid, Box):
        axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))[: len(solid.size)]
        return DistanceOfBox(middle, tuple(out(axis) for axis in axes), tuple(0.5 * side for side in solid.size))
    return DistanceOfCylinder(middle, out(tuple(solid.axis)), solid.radius, 0.5 * solid.length)  # type: ignore[arg-type]


def nearest_share(target: Target, begin: Vec, way: Vec) -> tuple[Scalar, Scalar]:
    """Where a straight line is nearest to a target, as a share of its length, and how much thinner the line is there."""
    crown = CROWN * sqrt(dot(way, way))
    least, share = None, 0.0
    for k in range(CELLS + 1):
        place = add(begin, scale(k / CELLS, way))
        value = target.value(place) + target.lever(place) * crown * (2.0 * k / CELLS - 1.0) ** 2
        share, least = (where(value < least, k / CELLS, share), minimum(value, least)) if least is not None else (0.0, value)

    def step(share: Scalar, low: Scalar, high: Scalar) -> Enclosed:
        place = add(begin, scale(share, way))
        (slope, bend), lever = target.slopes(place, way, ZERO), target.lever(place) * crown
        return stepped(share, low, high, slope + lever * 4.0 * (2.0 * share - 1.0), bend + lever * 8.0, NEAR)

    enclosed = share, maximum(share - 1.0 / CELLS, 0.0), minimum(share + 1.0 / CELLS, 1.0)
    share = clip(searched(step, enclosed, target.steps)[0], 0.0, 1.0)
    return share, crown * (2.0 * share - 1.0) ** 2


def searched(step: Callable[[Scalar, Scalar, Scalar], Enclosed], start: Enclosed, steps: int) -> Enclosed:
    """After so many steps, which converge quadratically: derivatives take only the last one.

    Only where the end does not depend on the start, or all ends are compared afterwards: a jump to another end is no decision.
    """
    for _ in range(steps - 1):
        start = step(*start)
    return step(*map(converged, start))


def stepped(s: Scalar, low: Scalar, high: Scalar, slope: Scalar, curvature: Scalar, near: Scalar) -> Enclosed:
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
