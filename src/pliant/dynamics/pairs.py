"""Pairs of shapes that can touch: gap, normal and contact point over any scalar. A new pair is one function and one entry of PAIRS.

The normal points from the second shape to the first; where the bodies touch, the force acts on both at `point`.
"""

from __future__ import annotations

from collections.abc import Callable

from pliant.dynamics.algebra import Vec, add, dot, scale, sub
from pliant.dynamics.boxes import corner_on_box, edge_across_edge
from pliant.dynamics.cylinder_pairs import edge_on_cylinder, foot_on_solid, rim_on_solid, sides_that_cross
from pliant.dynamics.kinematics import Pose
from pliant.dynamics.meeting import Touching, apart
from pliant.dynamics.solid_pairs import (
    ball_on_line,
    ball_on_solid,
    corner_on_plane,
    rim_on_plane,
    side_on_capsule,
    side_on_cylinder,
)
from pliant.model.along import Along, Edge
from pliant.model.contact import Bore, Capsule, ContactPair, End, Pin, Plane, Point, Side, Socket, Sphere
from pliant.model.solids import Box, BoxEdge, Corner, Crossing, Cylinder, Foot, Lying, Rim, Rolling

PairFunction = Callable[[ContactPair, Pose, Pose], Touching]


def ball_on_plane(pair: ContactPair, ball: Pose, plane: Pose) -> Touching:
    normal = plane.rotation.out(tuple(pair.against.normal))  # type: ignore[union-attr]
    foot = add(plane.position, plane.rotation.out(tuple(pair.against.point)))  # type: ignore[union-attr]
    gap = dot(normal, sub(ball.position, foot)) - pair.radius
    return Touching(gap, normal, sub(ball.position, scale(pair.radius, normal)))


def ball_on_ball(pair: ContactPair, ball: Pose, other: Pose) -> Touching:
    distance, normal = apart(sub(ball.position, other.position))
    gap = distance - (pair.radius + pair.other_radius)
    return Touching(gap, normal, sub(ball.position, scale(pair.radius, normal)))


def ball_in_socket(pair: ContactPair, ball: Pose, socket: Pose) -> Touching:
    """gap = R - r - |e|: e is the way of the ball's centre from that of the socket."""
    return _inside(pair, ball.position, sub(ball.position, socket.position))


def ball_in_bore(pair: ContactPair, ball: Pose, bore: Pose) -> Touching:
    """gap = R - r - |e|: e is the way of the ball's centre from the axis of the bore."""
    return _within(pair, ball.position, bore.position, _axis(pair.against, bore))


def pin_in_bore(pair: ContactPair, pin: Pose, bore: Pose) -> Touching:
    """At one end of the shorter: the end of a pin in a long bore, or the rim of a bore on a long pin.

    In both cases e is at right angles to the axis of the longer one, on whose surface the force can only stand upright.
    """
    inner, outer = pair.ball, pair.against
    assert isinstance(inner, Pin) and isinstance(outer, Bore)
    if outer.length is not None and (inner.length is None or outer.length < inner.length):
        along, rim = _axis(inner, pin), add(bore.position, scale(pair.station, _axis(outer, bore)))
        return _within(pair, pin.position, rim, along, at=rim)
    end = add(pin.position, scale(pair.station, _axis(inner, pin)))
    return _within(pair, end, bore.position, _axis(outer, bore))


def beam_in_rim(pair: ContactPair, beam: Pose, bore: Pose) -> Touching:
    """gap = R - r - |e|: e is the way to the nearest station of the axis, at right angles to it, from the middle of the rim."""
    rim = add(bore.position, scale(pair.station, _axis(pair.against, bore)))
    return _inside(pair, beam.position, sub(beam.position, rim))


def _within(pair: ContactPair, inner: Vec, outer: Vec, along: Vec, at: Vec | None = None) -> Touching:
    """What is around `inner` in what is around `outer`, across the direction `along`; `at`: a point in the plane of the contact."""
    between = sub(inner, outer)
    off = sub(between, scale(dot(along, between), along))
    return _inside(pair, inner if at is None else add(at, off), off)


def _inside(pair: ContactPair, centre: Vec, off: Vec) -> Touching:
    """What is inside, round about its centre, which is off the middle of what is around it."""
    distance, outward = apart(off)
    return Touching(-pair.other_radius - pair.radius - distance, scale(-1.0, outward), add(centre, scale(pair.radius, outward)))


def _axis(shape: object, pose: Pose) -> Vec:
    return pose.rotation.out(tuple(shape.axis))  # type: ignore[attr-defined]


PAIRS: dict[tuple[type, type], PairFunction] = {
    (Point, Plane): ball_on_plane,
    (Sphere, Plane): ball_on_plane,
    (Point, Sphere): ball_on_ball,
    (Sphere, Point): ball_on_ball,
    (Sphere, Sphere): ball_on_ball,
    (Point, Bore): ball_in_bore,
    (Sphere, Bore): ball_in_bore,
    (Pin, Bore): pin_in_bore,
    (Point, Socket): ball_in_socket,
    (Sphere, Socket): ball_in_socket,
    (Corner, Plane): corner_on_plane,
    (Rim, Plane): rim_on_plane,
    (Point, Box): ball_on_solid,
    (Sphere, Box): ball_on_solid,
    (Corner, Box): corner_on_box,
    (Crossing, Box): edge_across_edge,
    (End, Box): ball_on_solid,
    (Point, Capsule): ball_on_line,
    (Sphere, Capsule): ball_on_line,
    (End, Capsule): ball_on_line,
    (Corner, Capsule): ball_on_line,
    (BoxEdge, Capsule): side_on_capsule,
    (Side, Capsule): side_on_capsule,
    (BoxEdge, Cylinder): edge_on_cylinder,
    (Point, Cylinder): ball_on_solid,
    (Sphere, Cylinder): ball_on_solid,
    (End, Cylinder): ball_on_solid,
    (Side, Cylinder): side_on_cylinder,
    (Lying, Cylinder): sides_that_cross,
    **{(Rolling, solid): rim_on_solid for solid in (Box, Cylinder)},
    **{(Foot, solid): foot_on_solid for solid in (Box, Cylinder)},
    # the station that is nearest is found in `along.py`; there a beam is a ball
    (Along, Plane): ball_on_plane,
    (Along, Sphere): ball_on_ball,
    (Along, Point): ball_on_ball,
    (Along, Bore): beam_in_rim,
    (Along, Capsule): ball_on_line,
    (Along, Box): ball_on_solid,
    (Along, Cylinder): ball_on_solid,
    (Along, Edge): ball_on_line,
    (Along, Along): ball_on_ball,
}


def touching(pair: ContactPair, first: Pose, second: Pose) -> Touching:
    """How the shapes of a pair lie to each other; first, second: the poses of their frames."""
    return PAIRS[type(pair.ball), type(pair.against)](pair, first, second)
