"""Two boxes, inside and outside of each other, over any scalar: corners in faces, and edges that cross.

The gap is the largest of several distances. Each changes as fast as the bodies move along its normal at its point, so the force has
a potential, also where another distance becomes the largest. Of a corner they are the distances from the planes of the faces. Of
edges the first is the signed distance between their lines. The others let the force fade before the edges cease to cross: of those
one is positive where corners touch instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from pliant.dynamics.algebra import Scalar, Vec, add, cross, dot, scale, sub
from pliant.dynamics.kinematics import Pose
from pliant.dynamics.meeting import Touching, chosen, larger, largest, side_of_zero
from pliant.model.contact import ContactPair
from pliant.model.solids import Box, Corner, Crossing
from pliant.scalar import absolute, maximum, minimum, sqrt, where

PARALLEL = 1e-12  # squared sine of an angle: edges at smaller angles do not cross
TIE = 1e-6  # rad: symmetric poses do not let round-off decide which of two edges is the nearer one
# A face behind which the corner's own body lies, as the sides of a box on which an equal one stands, is not where the corner is:
# it stands off by a margin, so that corners hold a body that stands flush.
# Only of boxes that hardly tilt against each other: else corners beside a face would touch where the edges of both still pass.
MARGIN = 0.02  # of half of the least thickness of a box
LEANING = math.cos(0.03), math.cos(0.01)  # of an edge from the corner with the direction behind a face: no margin below, then all
SPARED = 1e-6  # of the size of a box: edges cross if their ends are farther than this from the crossing
# Of the size of a box: an edge that lies flat on a face is as far from the box as from the edge that it crosses. Round-off must not
# decide between the two, whose points lie far apart: the crossing counts unless another distance is larger by this much.
FLAT = 1e-12


@dataclass(frozen=True)
class Solid:
    """A box in the world."""

    middle: Vec
    axes: tuple[Vec, Vec, Vec]
    halves: tuple[Scalar, ...]  # m

    @classmethod
    def of(cls, box: Box, pose: Pose) -> Solid:
        out = pose.rotation.out
        axes = (out((1.0, 0.0, 0.0)), out((0.0, 1.0, 0.0)), out((0.0, 0.0, 1.0)))
        return cls(pose.position, axes, tuple(0.5 * side for side in box.size))

    def edge(self, along: int, odd: bool, side: Scalar) -> Edge:
        """Of two opposite edges of this direction, that on one side, 1 or -1."""
        j, k = self.axes[(along + 1) % 3], self.axes[(along + 2) % 3]
        faces = scale(side, j), scale(-side if odd else side, k)
        reach = [scale(self.halves[(along + n) % 3], face) for n, face in zip((1, 2), faces, strict=True)]
        return Edge(add(self.middle, add(*reach)), self.axes[along], self.halves[along], faces)


@dataclass(frozen=True)
class Edge:
    """An edge of a box in the world, with the directions outward from its two faces."""

    middle: Vec
    way: Vec
    half: Scalar  # m
    faces: tuple[Vec, Vec]

    @property
    def ends(self) -> tuple[Vec, Vec]:
        reach = scale(self.half, self.way)
        return sub(self.middle, reach), add(self.middle, reach)


def corner_on_box(pair: ContactPair, first: Pose, second: Pose) -> Touching:
    """A corner of a box in another one, or outside; the margins of its faces turn with the edges that begin at the corner."""
    corner, against = pair.ball, pair.against
    assert isinstance(corner, Corner) and isinstance(corner.of, Box) and isinstance(against, Box)
    own, other = Solid.of(corner.of, first), Solid.of(against, second)
    place = add(first.position, first.rotation.out(corner.offset))
    ways = [scale(-sign, axis) for sign, axis in zip(corner.of.signs[corner.number], own.axes, strict=False)]
    least, most = LEANING
    steep, found = MARGIN * against.inner / (most - least), []
    for axis, half in zip(other.axes, other.halves, strict=False):
        height = dot(axis, sub(place, other.middle))
        outward = scale(side_of_zero(height), axis)
        behind = largest([Touching(-dot(outward, way), way, place) for way in ways])
        leaning = minimum(maximum(behind.gap, least), most)
        gap = absolute(height) - half - steep * (leaning - least)
        turns = where(behind.gap > least, where(behind.gap < most, steep, 0.0), 0.0)
        across = add(behind.normal, scale(behind.gap, outward))  # of the edge: a point moved along the normal closes as fast
        found.append(Touching(gap, outward, add(place, scale(turns, across))))
    return largest(found)


def edge_across_edge(pair: ContactPair, first: Pose, second: Pose) -> Touching:
    """The signed distance of two lines where edges cross: of two opposite edges of the first box, that of the deeper one.

    Edges that pass each other deeper than both boxes together are half as thick lie at their far sides, and do not touch.
    """
    part, against = pair.ball, pair.against
    assert isinstance(part, Crossing) and isinstance(against, Box)
    one, other = Solid.of(part.of, first), Solid.of(against, second)
    turned = cross(one.axes[part.along], other.axes[part.across])
    sine2 = maximum(dot(turned, turned), PARALLEL)
    turned = scale(1.0 / sqrt(sine2), turned)
    # the normal points inwards between the faces of the one edge, and outwards between those of the other one
    inwards = side_of_zero(TIE - dot(turned, add(*one.edge(part.along, part.odd, 1.0).faces)))
    outwards = side_of_zero(dot(turned, add(*other.edge(part.across, part.other_odd, 1.0).faces)) + TIE)
    alike, found = inwards * outwards, []
    beside = [largest(_beside(other.edge(part.across, part.other_odd, side), one)).reversed for side in (1.0, -1.0)]
    for side in (1.0, -1.0):
        normal = scale(side * inwards, turned)
        own, its = one.edge(part.along, part.odd, side), other.edge(part.across, part.other_odd, side * alike)
        lines = _between_lines(own, its, normal, sine2)
        fading = largest([
            replace(lines.reversed, gap=-lines.gap - part.of.inner - against.inner),
            largest(_beside(own, other)), chosen(side * alike > 0.0, *beside),
            _short_of(own, its), _short_of(its, own).reversed,
        ])  # fmt: skip
        found.append(chosen(fading.gap > lines.gap + FLAT * (own.half + its.half), fading, lines))
    return chosen(found[0].gap < found[1].gap, *found)


def _between_lines(one: Edge, other: Edge, normal: Vec, sine2: Scalar) -> Touching:
    """At the nearest point of the first line."""
    between = sub(other.middle, one.middle)
    share = (dot(between, one.way) - dot(one.way, other.way) * dot(between, other.way)) / sine2
    return Touching(-dot(normal, between), normal, add(one.middle, scale(share, one.way)))


def _beside(edge: Edge, box: Solid) -> list[Touching]:
    """Its distances from a box, beyond the faces of each axis: that of the nearer end."""
    found = []
    between = sub(edge.middle, box.middle)
    for axis, half in zip(box.axes, box.halves, strict=True):
        height, slope = dot(axis, between), dot(axis, edge.way)
        outward = scale(side_of_zero(height), axis)
        nearer = add(edge.middle, scale(-side_of_zero(height) * side_of_zero(slope) * edge.half, edge.way))
        found.append(Touching(absolute(height) - edge.half * absolute(slope) - half, outward, nearer))
    return found


def _short_of(edge: Edge, other: Edge) -> Touching:
    """How far an edge is from crossing the plane through another one and midway between its faces: that of the nearer end."""
    across = scale(math.sqrt(0.5), sub(other.faces[1], other.faces[0]))
    first, second = (dot(across, sub(end, other.middle)) for end in edge.ends)
    begin, end = edge.ends
    # either the first end lies behind the plane and the second one before it, or the other way round
    forward = larger(Touching(first, across, begin), Touching(-second, scale(-1.0, across), end))
    backward = larger(Touching(-first, scale(-1.0, across), begin), Touching(second, across, end))
    nearest = chosen(forward.gap < backward.gap, forward, backward)
    return Touching(nearest.gap + SPARED * (edge.half + other.half), nearest.normal, nearest.point)
