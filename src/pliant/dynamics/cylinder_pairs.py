"""Cylinders on boxes and on each other: how they lie, how their rims press, how they stand.

Side, rims and feet count by turns. How far the middles of both ends are from the other solid decides: these distances change as
fast as the middles move, so the force has a potential also where one part takes over from another.
"""

from __future__ import annotations

import math
from dataclasses import replace

from pliant.dynamics.algebra import Scalar, Vec, add, cross, dot, scale, sub
from pliant.dynamics.curves import Circle, Straight, deepest_of_circle, deepest_of_line
from pliant.dynamics.kinematics import Pose
from pliant.dynamics.meeting import Touching, apart, chosen, larger
from pliant.dynamics.solid_pairs import UPRIGHT, outside, place_of, seen_from_second, target_of
from pliant.dynamics.targets import DistanceOfCylinder, SolidTarget, solid_target
from pliant.model.contact import ContactPair
from pliant.model.solids import FEET, Box, BoxEdge, Cylinder, Foot, Lying, Rolling
from pliant.scalar import clip, maximum, minimum

# Of a radius, how near to the other solid the middle of an end is: up to STANDS a cylinder stands on feet, points of its rim; from
# ROLLS on it rolls on the lowest point, which jumps where it stands.
ROLLS, STANDS = 0.03, 0.06
BESIDE = 0.5  # of a radius: with the middle of an end nearer than this to the other solid, the side does not count
PARALLEL = 1e-15  # squared sine of an angle: an edge at a smaller one begins in its own begin
INSIDE = 0.02  # of half the least thickness of the other solid: how far inside its rim a cylinder stands, on an equal one as well
# Of the half thickness of the thinner one: how far behind its rim a cylinder that lies flush with an edge or a rim touches. Of this
# way: how much later; of a cylinder that lies on a face, and tilts by less, the rim itself counts.
BEHIND, LATER = 0.05, 1e-3


@seen_from_second
def edge_on_cylinder(pair: ContactPair, box: Pose, cylinder: Pose) -> Touching:
    edge = pair.ball
    assert isinstance(edge, BoxEdge)
    begin, end = (place_of(corner, box) for corner in edge.ends)
    target = target_of(pair, cylinder)
    assert isinstance(target, DistanceOfCylinder)
    return _deepest_of_line(begin, end, target)


@seen_from_second
def sides_that_cross(pair: ContactPair, first: Pose, second: Pose) -> Touching:
    """Where the axis of each lies in the other one, thickened by its radius: both axes then pass each other between all four ends.

    Near an end this depth goes as the way to the end does, while the rim there becomes as deep. Of cylinders that stand on each
    other an end's middle is so near that feet and rims alone count.
    """
    lying, against = pair.ball, pair.against
    assert isinstance(lying, Lying) and isinstance(against, Cylinder)
    pieces = (lying.of, first), (against, second)
    (begin, end), (its_begin, its_end) = ([_middle_of_end(one, pose, side) for side in (-1, 1)] for one, pose in pieces)
    of_first, of_second = (solid_target(one, pose.position, pose.rotation.out) for one, pose in pieces)
    assert isinstance(of_first, DistanceOfCylinder) and isinstance(of_second, DistanceOfCylinder)
    own, its = lying.of.radius, against.radius
    found = _deepest_of_line(begin, end, replace(of_second, radius=own + its))
    other = _deepest_of_line(its_begin, its_end, replace(of_first, radius=own + its)).reversed
    found = replace(found, point=sub(found.point, scale(own, found.normal)))
    other = replace(other, point=add(other.point, scale(its + other.gap, other.normal)))
    deepest = larger(found, other)
    for place in (begin, end):
        deepest = larger(_farther_than(BESIDE * own, of_second, place), deepest)
    for place in (its_begin, its_end):
        deepest = larger(_farther_than(BESIDE * its, of_first, place).reversed, deepest)
    return deepest


def _deepest_of_line(begin: Vec, end: Vec, target: DistanceOfCylinder) -> Touching:
    """From the place that is nearest to the cylinder's axis on."""
    way, axis = sub(end, begin), target.axis
    across, off = (sub(x, scale(dot(x, axis), axis)) for x in (way, sub(begin, target.middle)))
    start = clip(-dot(off, across) / maximum(dot(across, across), PARALLEL * dot(way, way)), 0.0, 1.0)
    return deepest_of_line(Straight(begin, way), target, start)


@seen_from_second
def rim_on_solid(pair: ContactPair, cylinder: Pose, solid: Pose) -> Touching:
    """Where it is deepest, unless the cylinder stands; where it lies flush with an edge or a rim, a circle behind its rim."""
    rim, target, against = pair.ball, target_of(pair, solid), pair.against
    assert isinstance(rim, Rolling) and isinstance(against, (Box, Cylinder))
    middle, axis = _middle_of_end(rim.of, cylinder, rim.side), cylinder.rotation.out(tuple(rim.of.axis))  # type: ignore[arg-type]
    up = outside(target, middle, 0.0).normal
    across = sub(up, scale(dot(up, axis), axis))
    _, outward = apart(add(across, scale(UPRIGHT, cylinder.rotation.out(rim.of.across))))
    lowest = scale(-rim.of.radius, outward)
    radii = lowest, cross(axis, lowest)
    behind = BEHIND * minimum(rim.of.inner, against.inner)
    inner = deepest_of_circle(Circle(sub(middle, scale(rim.side * behind, axis)), radii), target)
    outer = deepest_of_circle(Circle(middle, radii), target)
    inner = Touching(inner.gap + LATER * behind, inner.normal, inner.point, inner.share)
    deeper = chosen(inner.gap < outer.gap, inner, outer)
    return larger(_farther_than(ROLLS * rim.of.radius, target, middle), deeper)


@seen_from_second
def foot_on_solid(pair: ContactPair, cylinder: Pose, solid: Pose) -> Touching:
    """A point of a rim, while the cylinder stands."""
    foot, target, against = pair.ball, target_of(pair, solid), pair.against
    assert isinstance(foot, Foot) and isinstance(against, (Box, Cylinder))
    radius, angle = foot.of.radius, 2.0 * math.pi * foot.number / FEET
    inside = radius - INSIDE * minimum(radius, against.inner)
    middle = _middle_of_end(foot.of, cylinder, foot.side)
    first, second = foot.of.across, cross(tuple(foot.of.axis), foot.of.across)  # type: ignore[arg-type]
    out = add(scale(math.cos(angle), first), scale(math.sin(angle), second))
    place = add(middle, scale(inside, cylinder.rotation.out(out)))
    near = outside(target, middle, 0.0)
    return larger(Touching(near.gap - STANDS * radius, near.normal, middle), outside(target, place, 0.0))


def _farther_than(radius: Scalar, target: SolidTarget, place: Vec) -> Touching:
    """Positive where a place is nearer."""
    near = outside(target, place, 0.0)
    return Touching(radius - near.gap, scale(-1.0, near.normal), place)


def _middle_of_end(cylinder: Cylinder, pose: Pose, side: int) -> Vec:
    return place_of(scale(0.5 * side * cylinder.length, tuple(cylinder.axis)), pose)  # type: ignore[arg-type]
