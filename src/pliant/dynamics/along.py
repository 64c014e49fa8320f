"""Where a beam is touched: the station of its axis that comes nearest to another shape, over any scalar.

The gap of a beam is the least over its stations s of a function of the axis, g(x(s, q)). Where the least is unique, its derivative
is that at fixed s (envelope theorem), so force, power and momentum are those of a sphere on the material of that station.

The station is computed from the state alone: the best of many stations, then Newton's method on the derivative of a function with
the same minimiser, kept between the neighbours of the best station by bisection. It is exact to round-off, so that derivatives of
the equations see it as the root it is: the last step of Newton's method has the derivative of the root.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pliant.arrays import Floats
from pliant.beams.axis import COARSE, AxisFields, AxisPiece, Triple
from pliant.dynamics.algebra import ZERO, Scalar, Vec, add, cross, dot, is_zero, scale, sub, total
from pliant.dynamics.body import combine
from pliant.dynamics.kinematics import Pose, TreeState, place_pose, poses
from pliant.dynamics.library import Station
from pliant.dynamics.solid_pairs import line_axis
from pliant.dynamics.targets import CROWN, NEAR, Distance, DistanceOfLine, Height, Target, solid_target, stepped
from pliant.dynamics.tree import Node, Place, Tree
from pliant.model.along import Along, Edge
from pliant.model.contact import Bore, Capsule, ContactPair, Plane
from pliant.model.solids import Box, Cylinder
from pliant.scalar import clip, maximum, minimum, where

STEPS_OF_TWO = 7  # of two beams
FAR = 1e30  # of a function that is the square of a distance, or a distance: more than any
WATCHED = 4  # cells between the stations of which the fastest bounds a step
PARALLEL = 1e-6  # sine squared of the angle of two lines below which they have no crossing, and steps are shortened


@dataclass(frozen=True)
class Axis:
    """The deformed axis of a body in its own axes, for one state: a polynomial on every piece."""

    fields: AxisFields
    weights: dict[int, Scalar]
    series: tuple[tuple[list[Scalar], ...], ...]  # of every piece, along x, y, z

    @classmethod
    def of(cls, fields: AxisFields, node: Node, q: Sequence[Scalar]) -> Axis:
        z, _ = node.own(q, q)
        weights = dict(node.body.field_weights(z, [0.0] * len(z)).position)
        pieces = tuple(tuple(_summed(weights, [triple[c] for triple in piece.displacement]) for c in range(3))
                       for piece in fields.pieces)  # fmt: skip
        return cls(fields, weights, pieces)

    def samples(self, touches: int, piece: int, coarse: bool = False) -> tuple[tuple[float, ...], list[Vec]]:
        """The ends of equal cells of one of so many pieces of the beam, which are tried first: stations and positions."""
        cells = self.fields.cells
        step = cells // COARSE if coarse and touches == 1 else 1
        own = slice(piece * cells // touches, (piece + 1) * cells // touches + 1, step)
        return self.fields.stations[own], [combine(self.weights, moves) for moves in self.fields.displacement[own]]

    def at(self, s: Scalar) -> tuple[Vec, Vec, Vec]:
        """The position of a station and its two derivatives."""
        local, half, chosen = _located(self.fields.pieces, s)
        found: list[list[Scalar]] = [[], [], []]
        rows = _chebyshev(local, max(len(series) for piece in self.series for series in piece))
        for c in range(3):
            series = chosen([piece[c] for piece in self.series])
            for order, row in enumerate(rows):
                found[order].append(total(a * t for a, t in zip(series, row, strict=False) if not is_zero(a)) / half**order)
        return tuple(tuple(row) for row in found)  # type: ignore[return-value]

    def crown(self, target: Target, touches: int, piece: int) -> Callable[[Scalar], tuple[Scalar, Scalar, Scalar]]:
        """How much thinner a beam, or its piece, is at a station than in its middle, with two derivatives."""
        stations = self.samples(touches, piece)[0]
        middle, half = 0.5 * (stations[0] + stations[-1]), 0.5 * (stations[-1] - stations[0])
        most = 0.0 if is_zero(target.lever(ZERO)) else CROWN * self.fields.length
        return lambda s: (most * ((s - middle) / half) ** 2, 2.0 * most * (s - middle) / half**2, 2.0 * most / half**2)

    def nearest(self, target: Target, touches: int, piece: int) -> Scalar:
        """The station of the piece at which the target's function is least.

        Steps begin at the best of all stations except ends that are themselves least nearby. The result is compared with those, so
        that the least does not jump at the instant at which the station jumps to an end, or from it.
        """
        stations, positions = self.samples(touches, piece)
        first, last, crown = stations[0], stations[-1], self.crown(target, touches, piece)

        def value(s: Scalar, r: Vec) -> Scalar:
            return target.value(r) + target.lever(r) * crown(s)[0]

        def slopes(s: Scalar) -> tuple[Scalar, Scalar]:
            place = self.at(s)
            (slope, curvature), lever, (_, tapers, rounds) = target.slopes(*place), target.lever(place[0]), crown(s)
            return slope + lever * tapers, curvature + lever * rounds

        values = [value(x, r) for x, r in zip(stations, positions, strict=True)]
        begins = list(values)
        for k, way in ((0, 1.0), (-1, -1.0)):
            begins[k] = where(way * slopes(stations[k])[0] < 0.0, values[k], FAR)
        s = _least(begins, [(x,) for x in stations])[1]
        cell = self.fields.stations[1]
        low, high = maximum(s - cell, first), minimum(s + cell, last)
        for _ in range(target.steps):  # all of them differentiated: where another place becomes the nearest one, the station jumps
            s, low, high = stepped(s, low, high, *slopes(s), NEAR * self.fields.length)
        s = clip(s, first, last)
        return _least([value(s, self.at(s)[0]), values[0], values[-1]], [(s,), (first,), (last,)])[1]

    def straight_on(self, s: Scalar, target: Vec) -> Scalar:
        """Beyond an end of the beam, whose axis goes straight on there, the station that is nearest; within it s, the nearest."""
        r, r1, _ = self.at(s)
        return s + dot(sub(target, r), r1) / dot(r1, r1)


def nearest_of_two(
    one: Axis, other: Axis, touches: int, piece: int, place: Callable[[Vec], Vec], turn: Callable[[Vec], Vec]
) -> tuple[Scalar, Scalar]:
    """The stations of a piece of an axis and of another axis that are nearest; place, turn: from the other body's axes to its.

    Newton's method for half the squared distance over both stations; a station that would leave its range stays at the end of
    the range, and the other one is the nearest to that.
    """
    (stations, own), (its_stations, its_own) = one.samples(touches, piece, coarse=True), other.samples(1, 0, coarse=True)
    across = [place(r) for r in its_own]
    nearest = [_least([Distance(r).value(x) for x in across], [(u,) for u in its_stations]) for r in own]
    _, s, u = _least([least for least, _ in nearest], [(s, u) for s, (_, u) in zip(stations, nearest, strict=True)])
    for _ in range(STEPS_OF_TWO):
        x, x1, x2 = one.at(s)
        y, y1, y2 = (f(r) for f, r in zip((place, turn, turn), other.at(u), strict=True))
        e = sub(x, y)
        f_s, f_u, mixed = dot(e, x1), -dot(e, y1), -dot(x1, y1)
        own_s, own_u = dot(x1, x1), dot(y1, y1)
        h_s, h_u = maximum(own_s + dot(e, x2), 0.1 * own_s), maximum(own_u - dot(e, y2), 0.1 * own_u)
        shared = maximum(h_s * h_u - mixed * mixed, PARALLEL * h_s * h_u)
        s_new = clip(s - (f_s * h_u - f_u * mixed) / shared, stations[0], stations[-1])
        u_new = clip(u - (f_u + mixed * (s_new - s)) / h_u, 0.0, its_stations[-1])
        s, u = clip(s - (f_s + mixed * (u_new - u)) / h_s, stations[0], stations[-1]), u_new
    return s, u


def _least(values: Sequence[Scalar], rows: Sequence[tuple[Scalar, ...]]) -> tuple[Scalar, ...]:
    """The least value and its row."""
    least: tuple[Scalar, ...] = (values[0], *rows[0])
    for value, row in zip(values[1:], rows[1:], strict=True):
        less = value < least[0]
        least = tuple(where(less, new, old) for new, old in zip((value, *row), least, strict=True))
    return least


def _summed(weights: dict[int, Scalar], series: Sequence[Sequence[float]]) -> list[Scalar]:
    """Coefficients of the weighted sum of fields."""
    length = max((len(series[a]) for a in weights), default=0)
    return [total(w * series[a][k] for a, w in weights.items() if k < len(series[a]) and not is_zero(series[a][k]))
            for k in range(length)]  # fmt: skip


def _located(pieces: Sequence[AxisPiece], s: Scalar) -> tuple[Scalar, Scalar, Callable[[list[list[Scalar]]], list[Scalar]]]:
    """The place of a station in its piece, in [-1, 1]; half the length of the piece, and how the piece's series is chosen."""
    beyond = [s > piece.begin for piece in pieces[1:]]

    def chosen(series: list[list[Scalar]]) -> list[Scalar]:
        length = max(len(one) for one in series)
        found, *others = [[*one, *([0.0] * (length - len(one)))] for one in series]
        for after, other in zip(beyond, others, strict=True):
            found = [where(after, new, old) for new, old in zip(other, found, strict=True)]
        return found

    begin, end = chosen([[piece.begin, piece.end] for piece in pieces])
    half = 0.5 * (end - begin)
    return (s - begin) / half - 1.0, half, chosen


def _chebyshev(x: Scalar, count: int) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """T_k, T_k' and T_k'' for k < count."""
    t: list[Scalar] = [1.0, x]
    t1: list[Scalar] = [0.0, 1.0]
    t2: list[Scalar] = [0.0, 0.0]
    for k in range(1, count - 1):
        t.append(2.0 * x * t[k] - t[k - 1])
        t1.append(2.0 * t[k] + 2.0 * x * t1[k] - t1[k - 1])
        t2.append(4.0 * t1[k] + 2.0 * x * t2[k] - t2[k - 1])
    return t[:count], t1[:count], t2[:count]


# ---- places


def touched_places(tree: Tree, pair: ContactPair, bodies: Sequence[Pose], q: Sequence[Scalar]) -> tuple[Place, Place, Scalar]:
    """The places of both shapes of a pair; of a beam that is touched along its axis, that of the nearest station, and its crown."""
    first, second = pair.frames
    if not isinstance(pair.ball, Along):
        return tree.place(first), tree.place(second), 0.0
    one = _axis(tree, pair.ball, q)
    if isinstance(pair.against, Along):
        s, other, u = _crossing(tree, pair, bodies, q)
        return _place(tree, pair.ball, one, s), _place(tree, pair.against, other, u), 0.0
    target = _target(tree, pair, bodies, q)
    s = one.nearest(target, pair.ball.touches, pair.piece)
    if isinstance(pair.against, Bore):
        assert isinstance(target, Distance)
        return _place(tree, pair.ball, one, s, one.straight_on(s, target.centre)), tree.place(second), 0.0
    thinner = one.crown(target, pair.ball.touches, pair.piece)(s)[0]
    return _place(tree, pair.ball, one, s), tree.place(second), thinner


def depths_along(tree: Tree, pair: ContactPair, q: Floats, gaps: Floats, count: int) -> Floats:
    """How deep so many stations of a pair's piece are in the other shape, m, for rows of coordinates: (row, station)."""
    assert isinstance(pair.ball, Along)
    columns = list(q.T)
    axis, target = _axis(tree, pair.ball, columns), _target(tree, pair, poses(tree, columns), columns)
    own = axis.samples(pair.ball.touches, pair.piece)[0]
    values = np.stack([target.value(axis.at(s)[0]) for s in np.linspace(own[0], own[-1], count).tolist()], axis=1)
    least = target.value(axis.at(axis.nearest(target, pair.ball.touches, pair.piece))[0])[:, None]
    if not isinstance(target, Height):
        values, least = (np.where(x > 0.0, np.sqrt(2.0 * np.maximum(x, 0.0)), x) for x in (values, least))
    return np.asarray(least - values - gaps[:, None])


def beyond_ends(tree: Tree, pair: ContactPair, q: Floats) -> Floats:
    """How far the rim of a bore is beyond the ends of the beam in it, m, for rows of coordinates; negative within them."""
    assert isinstance(pair.ball, Along)
    columns = list(q.T)
    axis, target = _axis(tree, pair.ball, columns), _target(tree, pair, poses(tree, columns), columns)
    assert isinstance(target, Distance)
    s = axis.straight_on(axis.nearest(target, 1, 0), target.centre)
    return np.asarray(np.abs(s - 0.5 * axis.fields.length) - 0.5 * axis.fields.length)


def sine_between(tree: Tree, pair: ContactPair, q: Floats) -> Floats:
    """The sine of the angle at which two beams cross, for rows of coordinates."""
    assert isinstance(pair.ball, Along) and isinstance(pair.against, Along)
    columns = list(q.T)
    bodies = poses(tree, columns)
    s, other, u = _crossing(tree, pair, bodies, columns)
    first, second = (np.stack(np.broadcast_arrays(*bodies[tree.index(shape.at.body)].rotation.out(axis.at(x)[1])), axis=-1)
            for shape, axis, x in ((pair.ball, _axis(tree, pair.ball, columns), s), (pair.against, other, u)))  # fmt: skip
    size = np.linalg.norm(first, axis=-1) * np.linalg.norm(second, axis=-1)
    return np.asarray(np.linalg.norm(np.cross(first, second), axis=-1) / size)


def _crossing(tree: Tree, pair: ContactPair, bodies: Sequence[Pose], q: Sequence[Scalar]) -> tuple[Scalar, Axis, Scalar]:
    """The nearest station of the first of two beams; the axis of the second, and its nearest station."""
    assert isinstance(pair.ball, Along) and isinstance(pair.against, Along)
    pose, its_pose = (bodies[tree.index(shape.at.body)] for shape in (pair.ball, pair.against))
    one, other = _axis(tree, pair.ball, q), _axis(tree, pair.against, q)
    s, u = nearest_of_two(one, other, pair.ball.touches, pair.piece, lambda r: _into(pose, its_pose, r),
                          lambda r: pose.rotation.into(its_pose.rotation.out(r)))  # fmt: skip
    return s, other, u


def _into(pose: Pose, other: Pose, r: Vec) -> Vec:
    return pose.rotation.into(sub(add(other.position, other.rotation.out(r)), pose.position))


def _target(tree: Tree, pair: ContactPair, bodies: Sequence[Pose], q: Sequence[Scalar]) -> Target:
    """The other shape in the axes of the beam's body."""
    pose, other = bodies[tree.index(pair.frames[0].body)], place_pose(tree, tree.place(pair.frames[1]), bodies, q)
    if isinstance(pair.against, Plane):
        return Height(pose.rotation.into(other.rotation.out(tuple(pair.against.normal))))  # type: ignore[arg-type]
    if isinstance(pair.against, Bore):
        return Distance(_into(pose, other, scale(pair.station, tuple(pair.against.axis))))  # type: ignore[arg-type]
    centre = _into(pose, other, ZERO)
    if isinstance(pair.against, Capsule | Edge):
        direction = pose.rotation.into(other.rotation.out(line_axis(pair.against)))
        return DistanceOfLine(centre, direction, pair.against.length)
    if isinstance(pair.against, Box | Cylinder):
        return solid_target(pair.against, centre, lambda axis: pose.rotation.into(other.rotation.out(axis)))
    return Distance(centre)


def _axis(tree: Tree, shape: Along, q: Sequence[Scalar]) -> Axis:
    return Axis.of(tree.axes[shape.at.body], tree.nodes[tree.index(shape.at.body)], q)


def _place(tree: Tree, shape: Along, axis: Axis, s: Scalar, beyond: Scalar | None = None) -> Place:
    """The place on the axis at a station, which moves with the material there.

    beyond: the station on the axis as it goes straight on at s.
    """
    pieces = axis.fields.pieces
    local, half, chosen = _located(pieces, s)
    most = max(len(x) for piece in pieces for triples in (piece.displacement, piece.rotation) for triple in triples for x in triple)
    row, slopes, _ = _chebyshev(local, most)
    moved = row if beyond is None else [t + (beyond - s) / half * t1 for t, t1 in zip(row, slopes, strict=True)]

    def value(triples: Sequence[Triple], row: Sequence[Scalar], c: int) -> Scalar:
        series = chosen([list(triple[c]) for triple in triples])
        return total(a * t for a, t in zip(series, row, strict=False) if not is_zero(a))

    def values(of: str, row: Sequence[Scalar]) -> tuple[Vec, ...]:
        fields = [[getattr(piece, of)[a] for piece in pieces] for a in range(len(pieces[0].displacement))]
        return tuple((value(triples, row, 0), value(triples, row, 1), value(triples, row, 2)) for triples in fields)

    return Place(tree.index(shape.at.body), Station(values("displacement", moved), values("rotation", row)), ZERO, ())


def fastest(state: TreeState, shape: Along, other: Vec) -> Vec:
    """The velocity, in world axes, of that of a few stations which is fastest, seen from a point of this velocity."""
    k, tree = state.tree.index(shape.at.body), state.tree
    fields, node, twist = tree.axes[shape.at.body], tree.nodes[k], state.moving[k]
    weights = node.body.field_weights(*node.own(state.q, state.v))
    origin = sub(twist.velocity, state.bodies[k].rotation.into(other))
    speeds: list[Scalar] = []
    drifts: list[Vec] = []
    for moves in fields.displacement[:: fields.cells // WATCHED]:
        drifts.append(add(add(origin, cross(twist.omega, combine(weights.position, moves))), combine(weights.rate, moves)))
        speeds.append(-dot(drifts[-1], drifts[-1]))
    x, y, z = _least(speeds, drifts)[1:]
    return state.bodies[k].rotation.out((x, y, z))
