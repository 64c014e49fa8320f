"""Where a straight line or a circle is deepest in a solid with sharp edges: how far it is beyond it, over any scalar.

Of a place, the largest distance beyond a surface counts. Where that is least along a curve, it may be stationary on one surface, or
two surfaces may be as far away: there the curve crosses the edge between them. Moving the bodies changes it then as fast as they
move along a mean of the two directions outward, weighted so that moving along the curve changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Protocol

from pliant.dynamics.algebra import ZERO, Scalar, Vec, add, dot, scale, sub, total
from pliant.dynamics.meeting import Touching, apart, either
from pliant.dynamics.targets import CROWN, FLAT, LEVEL, NEAR, Beyond, Enclosed, SolidTarget, searched
from pliant.scalar import absolute, clip, cos, maximum, minimum, sin, sqrt, where

STEPS_ON_EDGE = 2  # of Newton's method, to where two surfaces are as far away
NEARLY = 1e-6  # of the length of a curve: two surfaces that may be as far away
ALIKE = 1e-11  # of the length of a curve: distances beyond two surfaces that differ by less are the same
FAR = 1e300
CROSSED = 1e-30  # slope of their difference: with less of it no step is taken
ARCS = 48  # of a circle, between which its troughs are found: two in one arc count as one


class Curve(Protocol):
    """A curve by a number x."""

    @property
    def ends(self) -> tuple[float, float]: ...
    @property
    def steps(self) -> int:
        """Of Newton's method or halving."""

    @property
    def stride(self) -> float:
        """How far a step goes downhill where it bends down."""

    @property
    def length(self) -> Scalar: ...
    @property
    def crown(self) -> Scalar:
        """How much thinner it is at its ends, m, so that of a curve that lies flat the middle counts."""

    def at(self, x: Scalar) -> tuple[Vec, Vec, Vec]:
        """(Place, its first and second derivative)."""


@dataclass(frozen=True)
class Straight:
    """A straight line between two ends."""

    begin: Vec
    way: Vec
    ends = (0.0, 1.0)
    stride = 1.0
    steps = 5  # of 20,000 random edges of blocks none needs more

    @property
    def length(self) -> Scalar:
        return sqrt(dot(self.way, self.way))

    @property
    def crown(self) -> Scalar:
        return CROWN * self.length

    def at(self, x: Scalar) -> tuple[Vec, Vec, Vec]:
        return add(self.begin, scale(x, self.way)), self.way, ZERO


@dataclass(frozen=True)
class Circle:
    """A circle, to both sides of its first radius."""

    middle: Vec
    radii: tuple[Vec, Vec]  # two radii at right angles
    steps: int = 7  # of 10,000 random rims that touch none needs more
    ends = (-0.5, 0.5)
    stride = 1.0 / ARCS
    crown = 0.0

    @property
    def length(self) -> Scalar:
        return 2.0 * math.pi * sqrt(dot(self.radii[0], self.radii[0]))

    def at(self, x: Scalar) -> tuple[Vec, Vec, Vec]:
        turn = 2.0 * math.pi
        c, s = cos(turn * x), sin(turn * x)
        first, second = self.radii
        out = add(scale(c, first), scale(s, second))
        along = sub(scale(turn * c, second), scale(turn * s, first))
        return add(self.middle, out), along, scale(-turn * turn, out)


def deepest_of_line(line: Straight, solid: SolidTarget, start: Scalar) -> Touching:
    """Where a straight line is deepest in a solid, or nearest to it, downhill from a place on it: it has one trough."""
    search = _Search(line, solid)
    return search.touching(search.descend(start))


def deepest_of_circle(circle: Circle, solid: SolidTarget) -> Touching:
    """Where a circle is deepest in a solid, or nearest to it: in the deeper one of two troughs, so that the gap never jumps."""
    search = _Search(circle, solid)
    first, second = (search.narrowed(trough) for trough in search.troughs())
    deeper = _most(search.beyond(second[0])) < _most(search.beyond(first[0]))
    return search.touching(either(deeper, second, first))


@dataclass(frozen=True)
class _Search:
    """For the place on a curve that is least far beyond the surfaces of a solid."""

    curve: Curve
    solid: SolidTarget

    def beyond(self, x: Scalar) -> list[Beyond]:
        (low, high), crown = self.curve.ends, self.curve.crown
        found = self.solid.surfaces(*self.curve.at(x))
        if isinstance(crown, float) and crown == 0.0:
            return found
        slope = 2.0 / (high - low)
        side = slope * (x - 0.5 * (low + high))
        return [
            Beyond(
                one.excess + crown * side**2, one.slope + 2.0 * slope * crown * side, one.bend + 2.0 * slope**2 * crown, one.outward
            )
            for one in found
        ]

    def touching(self, trough: Enclosed) -> Touching:
        least, crosses, weights = self.on_edge(*trough)
        found = self.beyond(least)
        weights = [where(crosses, own, one) for own, one in zip(weights, _farthest(found), strict=True)]
        mean = ZERO
        for weight, one in zip(weights, found, strict=True):
            mean = add(mean, scale(weight, one.outward))
        share, normal = apart(mean)
        return Touching(_mean(weights, [one.excess for one in found]), normal, self.curve.at(least)[0], share)

    def troughs(self) -> list[Enclosed]:
        """The two deepest of a closed curve: in arcs at whose ends it falls and rises, by the tangents there."""
        begin, arc = self.curve.ends[0], 1.0 / ARCS
        marks = [self._mark(begin + k * arc) for k in range(ARCS)]
        least, next_least, first, second = FAR, FAR, (begin, begin), (begin, begin)  # a place in an arc, where the arc begins
        for k, ((excess, falls), (other, rises)) in enumerate(zip(marks, [*marks[1:], marks[0]], strict=True)):
            meet = maximum((other - excess - rises * arc) / minimum(falls - rises, -CROSSED), 0.0)
            depth = where(falls < 0.0, where(rises >= 0.0, excess + falls * meet, FAR), FAR)
            found = begin + k * arc + meet, begin + k * arc
            second = either(depth < least, first, either(depth < next_least, found, second))
            next_least = minimum(next_least, maximum(depth, least))
            first, least = either(depth < least, found, first), minimum(depth, least)
        return [(x, low, low + arc) for x, low in (first, second)]

    def descend(self, start: Scalar) -> Enclosed:
        """Of a curve with two ends and one trough."""
        begin, end = self.curve.ends
        trough = self.narrowed((start, begin, end))
        rises, falls = self._mark(begin)[1] >= 0.0, self._mark(end)[1] <= 0.0
        x, low, high = (where(rises, begin, where(falls, end, one)) for one in trough)
        return x, low, high

    def narrowed(self, trough: Enclosed) -> Enclosed:
        return searched(self._step, trough, self.curve.steps)

    def _mark(self, x: Scalar) -> tuple[Scalar, Scalar]:
        """(How far a place is beyond the farthest surface, the slope of this)."""
        found = self.beyond(x)
        return _most(found), _mean(_farthest(found), [one.slope for one in found])

    def _step(self, x: Scalar, low: Scalar, high: Scalar) -> Enclosed:
        """Newton's method on the farthest surface, but not beyond where another one becomes the farthest."""
        found = self.beyond(x)
        weights = _farthest(found)
        excess, slope, bend = (_mean(weights, [getattr(one, name) for one in found]) for name in ("excess", "slope", "bend"))
        falls, bends = slope < 0.0, bend > FLAT
        low, high = where(falls, x, low), where(falls, high, x)
        middle = 0.5 * (low + high)
        stride = where(falls, self.curve.stride, -self.curve.stride)
        newton = x - where(bends, slope, 0.0) / where(bends, bend, 1.0)
        level = where(absolute(slope) <= LEVEL, absolute(bend), 1.0) <= FLAT
        aim = where(bends, newton, where(level, x, x + stride))
        for one in found:
            # downhill, over what is farthest here: of both, parabolas; the smaller root, without cancellation
            off, growth, curvature = excess - one.excess, where(falls, one.slope - slope, slope - one.slope), one.bend - bend
            square = growth * growth + 2.0 * curvature * off
            root = growth + sqrt(maximum(square, 0.0))
            meets = where(square >= 0.0, root, 0.0) > CROSSED
            way = 2.0 * off / where(meets, root, 1.0)
            rises = where(falls, one.slope, -one.slope) + one.bend * way > 0.0
            sooner = where(rises, where(meets, way, FAR), FAR) < where(falls, aim - x, x - aim)
            aim = where(sooner, where(falls, x + way, x - way), aim)
        inside = absolute(aim - middle) <= 0.5 * (high - low) + NEAR
        return where(inside, aim, middle), low, high

    def on_edge(self, least: Scalar, low: Scalar, high: Scalar) -> tuple[Scalar, Scalar, list[Scalar]]:
        """(The least, whether two surfaces are as far away there, one falling and one rising, how much each counts)."""
        x, found = least, self.beyond(least)
        falling, rising = _crossing(found, NEARLY * self.curve.length)
        change = [b - a for a, b in zip(falling, rising, strict=True)]
        for _ in range(STEPS_ON_EDGE):
            off, slope = (_mean(change, [getattr(one, name) for one in found]) for name in ("excess", "slope"))
            meets = absolute(slope) > CROSSED
            x = clip(x - where(meets, off, 0.0) / where(meets, slope, 1.0), low, high)
            found = self.beyond(x)
        excess, slopes = [one.excess for one in found], [one.slope for one in found]
        down, up = _mean(falling, slopes), _mean(rising, slopes)
        level = _most(found) - minimum(_mean(falling, excess), _mean(rising, excess)) <= ALIKE * self.curve.length
        crosses = where(down < 0.0, where(up > 0.0, where(level, 1.0, 0.0), 0.0), 0.0) > 0.5
        share = up / maximum(up - down, CROSSED)
        return where(crosses, x, least), crosses, [share * a + (1.0 - share) * b for a, b in zip(falling, rising, strict=True)]


def _most(found: Sequence[Beyond]) -> Scalar:
    most = found[0].excess
    for one in found[1:]:
        most = maximum(most, one.excess)
    return most


def _farthest(found: Sequence[Beyond]) -> list[Scalar]:
    """1 for the surface beyond which a place is farthest, 0 for others."""
    most, weights = found[0].excess, [1.0]
    for one in found[1:]:
        farther = one.excess > most
        weights = [*(where(farther, 0.0, weight) for weight in weights), where(farther, 1.0, 0.0)]
        most = maximum(most, one.excess)
    return weights


def _crossing(found: Sequence[Beyond], near: Scalar) -> tuple[list[Scalar], list[Scalar]]:
    """1 for the surface whose distance falls, and the one whose distance rises, where both are as far away: those farthest there.

    By tangents, of surfaces that are nearly the farthest ones; all 0 if none cross.
    """
    least, highest = _most(found) - near, -FAR
    falling, rising = [0.0 for _ in found], [0.0 for _ in found]
    for i, j in permutations(range(len(found)), 2):
        one, other = found[i], found[j]
        meet = (one.excess * other.slope - other.excess * one.slope) / maximum(other.slope - one.slope, CROSSED)
        opposed = minimum(-one.slope, other.slope) > 0.0
        distance = where(opposed, where(minimum(one.excess, other.excess) >= least, meet, -FAR), -FAR)
        higher = distance > highest
        falling = [where(higher, float(k == i), weight) for k, weight in enumerate(falling)]
        rising = [where(higher, float(k == j), weight) for k, weight in enumerate(rising)]
        highest = maximum(distance, highest)
    return falling, rising


def _mean(weights: Sequence[Scalar], values: Sequence[Scalar]) -> Scalar:
    return total(weight * value for weight, value in zip(weights, values, strict=True))
