"""Pairs with solids: corners and rims on planes, balls and corners on boxes and cylinders."""

from __future__ import annotations

from collections.abc import Callable

from pliant.dynamics.algebra import ZERO, Scalar, Vec, add, dot, product, scale, sub, total, transpose
from pliant.dynamics.kinematics import GROUND_POSE, Pose
from pliant.dynamics.meeting import COINCIDENT, Touching, apart, either
from pliant.dynamics.rotation import Rotation
from pliant.dynamics.targets import SolidTarget, nearest_share, solid_target
from pliant.model.along import Edge
from pliant.model.contact import Capsule, ContactPair, Plane, Side
from pliant.model.solids import Box, BoxEdge, Corner, Cylinder, Rim
from pliant.scalar import maximum, minimum, sqrt, where

# Of a radius: where the axis of a cylinder is this parallel to a plane's normal, the lowest point of its rim is a fixed one. There
# the lowest and the highest press alike, so that only the friction against spinning on the spot notices.
UPRIGHT = 1e-12
PARALLEL = 1e-15  # squared sine of an angle: segments at smaller angles touch in the middle


def corner_on_plane(pair: ContactPair, solid: Pose, plane: Pose) -> Touching:
    corner = pair.ball
    assert isinstance(corner, Corner)
    normal, foot = _surface(pair, plane)
    point = _place(corner, solid)
    return Touching(dot(normal, sub(point, foot)), normal, point)


def rim_on_plane(pair: ContactPair, solid: Pose, plane: Pose) -> Touching:
    """gap = h - R s at the lowest point of a rim, h + R s at the highest: h is the height of its centre, s = |n - (n . a) a|.

    Both are stationary along the rim, so the gap changes as fast as the body's point there moves. Where a cylinder stands, s = 0,
    and the sum of their potentials is smooth: even in s.
    """
    rim = pair.ball
    assert isinstance(rim, Rim)
    normal, foot = _surface(pair, plane)
    axis = solid.rotation.out(tuple(rim.of.axis))  # type: ignore[arg-type]
    across = sub(normal, scale(dot(normal, axis), axis))
    tilt, _ = apart(across)
    _, up = apart(add(across, scale(UPRIGHT, solid.rotation.out(rim.of.across))))
    centre = add(solid.position, scale(0.5 * rim.side * rim.of.length, axis))
    out = rim.of.radius if rim.far else -rim.of.radius
    return Touching(dot(normal, sub(centre, foot)) + out * tilt, normal, add(centre, scale(out, up)))


def seen_from_second(formula: Callable[[ContactPair, Pose, Pose], Touching]) -> Callable[[ContactPair, Pose, Pose], Touching]:
    """The formula in the axes of the second shape, along which surfaces and searches take fewer operations."""

    def in_world(pair: ContactPair, first: Pose, second: Pose) -> Touching:
        turn = second.rotation
        relative = (
            first.rotation if turn.is_identity else Rotation(None, 0.0, product(transpose(turn.matrix), first.rotation.matrix))
        )
        found = formula(pair, Pose(turn.into(sub(first.position, second.position)), relative), GROUND_POSE)
        return Touching(found.gap, turn.out(found.normal), place_of(found.point, second), found.share)

    return in_world


def ball_on_solid(pair: ContactPair, ball: Pose, solid: Pose) -> Touching:
    """The signed distance of a point from a solid, outside to its nearest point, inside to its nearest surface, less the radius."""
    return outside(target_of(pair, solid), _place(pair.ball, ball), pair.radius)


def side_on_cylinder(pair: ContactPair, side: Pose, cylinder: Pose) -> Touching:
    """At the place of a capsule's axis that comes nearest."""
    begin, way = _segment(pair.ball, side)
    target = target_of(pair, cylinder)
    share, thinner = nearest_share(target, begin, way)
    found = outside(target, add(begin, scale(share, way)), pair.radius)
    return Touching(found.gap + thinner, found.normal, found.point)


def ball_on_line(pair: ContactPair, ball: Pose, line: Pose) -> Touching:
    """To the nearest point of an edge, or of the axis of a capsule, between its ends."""
    place, (begin, way) = _place(pair.ball, ball), _segment(pair.against, line)
    share = minimum(maximum(dot(sub(place, begin), way) / dot(way, way), 0.0), 1.0)
    return _round(pair, place, add(begin, scale(share, way)))


def side_on_capsule(pair: ContactPair, first: Pose, second: Pose) -> Touching:
    """Between the nearest points of two segments (Ericson, Real-Time Collision Detection, 2005, section 5.1.9).

    Of parallel ones, the middle of what lies side by side: there the point jumps, but not the gap.
    """
    (a, u), (b, w) = _segment(pair.ball, first), _segment(pair.against, second)
    r, uu, ww, uw = sub(a, b), dot(u, u), dot(w, w), dot(u, w)
    ur, wr = dot(u, r), dot(w, r)
    ends = minimum(maximum(-ur / uu, 0.0), 1.0), minimum(maximum((uw - ur) / uu, 0.0), 1.0)
    weight = PARALLEL * uu * ww
    share = (uw * wr - ur * ww + weight * 0.5 * (ends[0] + ends[1])) / (uu * ww - uw * uw + weight)
    other = minimum(maximum((uw * minimum(maximum(share, 0.0), 1.0) + wr) / ww, 0.0), 1.0)
    share = minimum(maximum((uw * other - ur) / uu, 0.0), 1.0)
    return _round(pair, add(a, scale(share, u)), add(b, scale(other, w)))


def _round(pair: ContactPair, inner: Vec, outer: Vec) -> Touching:
    """A ball around the first point and one around the second."""
    distance, normal = apart(sub(inner, outer))
    return Touching(distance - pair.radius - pair.other_radius, normal, sub(inner, scale(pair.radius, normal)))


def _segment(shape: object, pose: Pose) -> tuple[Vec, Vec]:
    """Where an edge or the axis of a capsule begins, and its way to the other end."""
    if isinstance(shape, BoxEdge):
        begin, end = shape.ends
        return add(pose.position, pose.rotation.out(begin)), pose.rotation.out(sub(end, begin))
    line = shape.of if isinstance(shape, Side) else shape
    assert isinstance(line, (Capsule, Edge))
    return pose.position, scale(line.length, pose.rotation.out(line_axis(line)))


def line_axis(line: Capsule | Edge) -> Vec:
    """The direction of an edge, or of a capsule, in the axes of its frame."""
    return tuple(line.axis) if isinstance(line, Edge) else (1.0, 0.0, 0.0)  # type: ignore[return-value]


def target_of(pair: ContactPair, solid: Pose) -> SolidTarget:
    """The solid that is touched, in the world."""
    assert isinstance(pair.against, (Box, Cylinder))
    return solid_target(pair.against, solid.position, solid.rotation.out)


def outside(solid: SolidTarget, place: Vec, radius: Scalar) -> Touching:
    """A ball around a place, on a solid."""
    found = solid.surfaces(place)
    beyond = [maximum(one.excess, 0.0) for one in found]
    distance = sqrt(maximum(total(x * x for x in beyond), COINCIDENT**2))
    nearest, face = found[0].excess, found[0].outward
    for one in found[1:]:
        face = either(one.excess > nearest, one.outward, face)
        nearest = maximum(one.excess, nearest)
    away = ZERO
    for x, one in zip(beyond, found, strict=True):
        away = add(away, scale(x / distance, one.outward))
    is_outside = nearest > 0.0
    gap = where(is_outside, distance, minimum(nearest, 0.0)) - radius
    normal = either(is_outside, away, face)
    return Touching(gap, normal, sub(place, scale(radius, normal)))


def place_of(offset: Vec, pose: Pose) -> Vec:
    """Where a point in the axes of a frame is."""
    return add(pose.position, pose.rotation.out(offset))


def _place(shape: object, pose: Pose) -> Vec:
    """The place of a corner, or the centre of a ball."""
    return place_of(shape.offset, pose) if isinstance(shape, Corner) else pose.position


def _surface(pair: ContactPair, plane: Pose) -> tuple[Vec, Vec]:
    """The normal of a plane and a point on it."""
    flat = pair.against
    assert isinstance(flat, Plane)
    return plane.rotation.out(tuple(flat.normal)), add(plane.position, plane.rotation.out(tuple(flat.point)))  # type: ignore[arg-type]
