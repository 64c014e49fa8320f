"""The drawing of a System: which points of its bodies a picture shows, and how the bodies' fields move them.

A deformation scale magnifies the displacement of a beam's points from a reference line. Points that a closed loop or a contact
holds, on the beam or on a body that it carries, must not move when the scale changes. The reference line passes through all of
them; with at most one such point it is the undeformed beam. A body attached elsewhere on a beam moves with the magnified beam,
and a body welded to it also rotates with it. If that rotation would move a held point, the reference line follows the beam's
true direction there, so that magnification adds no rotation. A magnified mechanism therefore stays connected: loops remain
closed, contacts remain touching, and clamped parts keep their angles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.arrays import Floats, Truths
from pliant.beams.fields import bending_pairs, foreshortening, stiffening_threes, third_order
from pliant.beams.shapes import Shapes, beam_shapes
from pliant.beams.telescopic import unit_beam
from pliant.dynamics.algebra import Vec, add
from pliant.dynamics.tree import Node, Tree
from pliant.model.beam import Beam
from pliant.model.contact import ContactPair, Plane
from pliant.model.frame import GROUND as GROUND_NAME
from pliant.model.frame import TIP, Frame
from pliant.model.joint import BALL, ROTATION, TRANSLATION, Joint
from pliant.model.modal import ModalBody
from pliant.model.rigid import RigidBody
from pliant.model.solids import round_lines
from pliant.model.system import PAYLOAD, System
from pliant.model.telescopic import EXTENSION, TelescopicBeam
from pliant.results.drawing import GROUND, BodyDrawing, ContactDrawing, Drawing, Field, Spot
from pliant.scalar import Numbers
from pliant.show.skin import edges
from pliant.show.tangent import slope_weights

STATIONS = 25  # points drawn along a beam, in addition to those where something is attached
SAME_POINT = 1e-9  # m
NOT_TURNED = 1e-9  # fraction of a mode's largest slope: a smaller slope is zero up to round-off
FLAT = 1e-6  # fraction of a body's size: how far points may lie off a line or a plane


def draw(system: System, tree: Tree) -> Drawing:
    """The drawing of a System."""
    numbers = {GROUND_NAME: GROUND, **{node.name: k for k, node in enumerate(tree.nodes)}}
    parts = [next(draws for kind, draws in DRAWINGS.items() if isinstance(node.link.body, kind))(node, node.link.body)
             for node in tree.nodes]  # fmt: skip
    library = _Library({name: body.shapes for name, body in tree.bodies.items() if body.shapes is not None})
    ground = _Points()
    spots = _Spots(numbers, parts, ground)
    on = [spots.at(node.link.on) for node in tree.nodes]
    pins = [(c.kind, c.frames) for c in system.closures.values()]  # gears hold no points together
    closures = tuple((kind, spots.at(frames[0]), spots.at(frames[1])) for kind, frames in pins if frames is not None)
    struts = tuple(("strut", spots.at(strut.a), spots.at(strut.b)) for strut in system.struts.values())
    touching = [spots.at(frame) for part in (system.contacts, system.groups) for pair in part.values() for frame in pair.frames]
    fixed = [*(spot for _, a, b in closures for spot in (a, b)), *touching]
    stands = [_Stand(spot, _carrier(node.link.joint), any(node.link.on.offset)) for spot, node in zip(on, tree.nodes, strict=True)]
    ground_lines: list[tuple[int, ...]] = []
    for solid in _outlined(system):
        lines = [[_seen_from_body(solid.at, point) for point in line] for line in solid.lines()]
        if solid.at.body == GROUND_NAME:
            ground_lines += [tuple(ground.add(point) for point in line) for line in lines]
        elif isinstance(part := parts[numbers[solid.at.body]], RigidDrawing):
            part.outlines += lines
    bodies = tuple(
        part.drawing(on[k], held, library) for k, (part, held) in enumerate(zip(parts, _held(stands, fixed), strict=True))
    )
    among = [pair for group in system.groups.values() for pair in group.drawn]
    contacts = tuple(_contact(pair) for pair in (*system.contacts.values(), *among))
    x, y, z = tree.gravity
    return Drawing((x, y, z), units_of_coordinates(system), ground.array, bodies, closures + struts, contacts,
                   tuple(ground_lines))  # fmt: skip


@dataclass(frozen=True)
class _Stand:
    """What a body is attached to."""

    spot: Spot
    joint: str
    bracket: bool  # whether its joint is offset from that spot

    def turns(self, points: set[int]) -> bool:
        """Whether turning the carrier there would move these points of the body; a joint that rotates sets its own angle."""
        return bool(points) if self.bracket or self.joint == "prismatic" else self.joint == "weld" and points != {0}


@dataclass
class _Held:
    """Points of a body that magnification must not move, and those of them where its line must also keep its direction."""

    points: set[int] = field(default_factory=set)
    directions: set[int] = field(default_factory=set)


def _held(stands: Sequence[_Stand], fixed: Sequence[Spot]) -> list[_Held]:
    """What magnification must not move on each body: points that are held, and points that carry a body with held points."""
    held = [_Held() for _ in stands]
    for body, point in fixed:
        if body != GROUND:
            held[body].points.add(point)
    for body in reversed(range(len(stands))):  # a body is attached to an earlier one
        stand, of = stands[body], held[body]
        carrier, point = stand.spot
        if of.points and carrier != GROUND:
            held[carrier].points.add(point)
            if stand.turns(of.points) or (stand.joint == "weld" and of.directions):
                held[carrier].directions.add(point)
    return held


def units_of_coordinates(system: System) -> dict[str, str]:
    """The unit of every coordinate."""
    units: dict[str, str] = {}
    for link in system.links.values():
        for motion in link.joint.motions:
            units |= {f"{link.name}.{name}": "1" if motion.kind == BALL else motion.unit for name in motion.positions}
        units |= {f"{link.name}.{name}": "rad" if name.startswith("torsion") else "m" for name in link.own_labels}
    return units


class _Points:
    """Numbered points; coincident positions share one number."""

    def __init__(self, *points: Numbers) -> None:
        self._points: list[Floats] = []
        for point in points:
            self.add(point)

    def add(self, point: Numbers) -> int:
        new = np.array(point, dtype=np.float64)
        for k, known in enumerate(self._points):
            if np.max(np.abs(known - new)) <= SAME_POINT:
                return k
        self._points.append(new)
        return len(self._points) - 1

    @property
    def array(self) -> Floats:
        return np.array(self._points).reshape(-1, 3)


class _Library:
    """Fields of beams at their stations; equal beams that are held in the same way are evaluated once."""

    def __init__(self, shapes: dict[str, Shapes]) -> None:
        self._shapes = shapes
        self._known: dict[tuple[object, ...], list[tuple[tuple[int, ...], Floats, Floats]]] = {}

    def fields(
        self, name: str, beam: Beam, x: Floats, line: tuple[int, ...], held: _Held
    ) -> list[tuple[tuple[int, ...], Floats, Floats]]:
        """(modes, shape, bow) of each field: one mode, two modes (foreshortening) or three modes (third order)."""
        key = (id(beam), x.tobytes(), frozenset(held.points), frozenset(held.directions))
        if key not in self._known:
            shapes = self._shapes[name]
            moves, pairs = shapes.displacement(x), bending_pairs(shapes) if beam.stiffening_taken != "none" else ()
            straight = _leaves_straight(shapes, beam.length)
            found: list[tuple[tuple[int, ...], Floats]] = [((j,), moves[:, :, j]) for j in range(shapes.count)]
            if pairs:
                back = foreshortening(shapes, pairs, x)
                found += [(pair, _along_x(back[:, n])) for n, pair in enumerate(pairs) if np.any(back[:, n])]
                threes = stiffening_threes(beam, shapes)
                across = third_order(shapes, threes, x)
                found += [(modes, across[:, n]) for n, modes in enumerate(threes)]
            clamped = [bool(np.all(straight[list(modes)])) for modes, _ in found]
            bows = [_bow(x, shape, line, held, at_root) for (_, shape), at_root in zip(found, clamped, strict=True)]
            self._known[key] = [(modes, shape, bow) for (modes, shape), bow in zip(found, bows, strict=True)]
        return self._known[key]


class RigidDrawing:
    """A rigid body: root, tip, named frames, and all points where something is attached."""

    def __init__(self, node: Node, body: RigidBody) -> None:
        self._node = node
        self._payload = node.name.endswith(PAYLOAD)
        self._points = _Points((0.0, 0.0, 0.0), body.tip, *body.frames.values())
        self._com = body.com
        self.outlines: list[list[Vec]] = []  # of solids on it

    def number(self, frame: Frame) -> int:
        return self._points.add(frame.offset)

    def drawing(self, on: Spot, held: _Held, library: _Library) -> BodyDrawing:
        if len(self._points.array) == 1:
            self._points.add(self._com)
        strokes = () if self.outlines else _strokes(self._points.array)
        outlines = tuple(tuple(self._points.add(point) for point in line) for line in self.outlines)
        points = self._points.array
        kind = "payload" if self._payload else "rigid"
        return BodyDrawing(self._node.name, kind, points, strokes + outlines, (), _carrier(self._node.link.joint), on)


class BeamDrawing:
    """A beam: its centre line."""

    def __init__(self, node: Node, beam: Beam) -> None:
        self._node, self._beam = node, beam
        self._stations = [0.0, beam.length]

    def number(self, frame: Frame) -> int:
        """The number of a frame's station. Requested stations come first, in order of request; 0 and 1 are root and tip."""
        station = 0.0 if frame.station is None else frame.station
        if station not in self._stations:
            self._stations.append(station)
        return self._stations.index(station)

    def drawing(self, on: Spot, held: _Held, library: _Library) -> BodyDrawing:
        name, beam = self._node.name, self._beam
        even = [x for x in np.linspace(0.0, beam.length, STATIONS) if x not in self._stations]
        x = np.array([*self._stations, *even])
        labels = [f"{name}.{label}" for label in self._node.link.own_labels]
        line = tuple(int(k) for k in np.argsort(x))
        fields = library.fields(name, beam, x, line, held)
        made = tuple(Field(tuple(labels[j] for j in modes), shape, bow) for modes, shape, bow in fields)
        return BodyDrawing(name, "beam", _along_x(x), (line,), made, _carrier(self._node.link.joint), on)


class TelescopicDrawing:
    """A telescopic link: the sleeve, and the free part whose points slide with the free length."""

    def __init__(self, node: Node, link: TelescopicBeam) -> None:
        self._node, self._link = node, link

    def number(self, frame: Frame) -> int:
        return 0 if frame.station is None else 1

    def drawing(self, on: Spot, held: _Held, library: _Library) -> BodyDrawing:
        name, length = self._node.name, self._link.length
        # root, tip, then the free part from the sleeve's mouth outwards; xi is the fraction of the free length
        xi = np.concatenate([[0.0, 1.0], np.linspace(0.0, 1.0, STATIONS)[:-1]])
        slides = np.where(np.arange(len(xi)) == 0, 0.0, xi)
        rest = _along_x(np.where(np.arange(len(xi)) == 0, 0.0, length))
        shapes = beam_shapes(unit_beam(self._link))
        moves, straight = shapes.displacement(xi), _leaves_straight(shapes, 1.0)
        fields = [Field((f"{name}.{EXTENSION}",), _along_x(slides), np.zeros_like(rest))]
        lines = ((0, 2), (*range(2, len(xi)), 1))
        for j, label in enumerate(self._link.mode_labels):
            fields.append(Field((f"{name}.{label}",), moves[:, :, j], _bow(xi, moves[:, :, j], lines[1], held, bool(straight[j]))))
        return BodyDrawing(name, "telescopic", rest, lines, tuple(fields), _carrier(self._node.link.joint), on)


class ModalDrawing:
    """A finite-element body: its skin with the sharp edges, or lines from its root to what is attached."""

    def __init__(self, node: Node, body: ModalBody) -> None:
        self._node, self._body = node, body
        tip = body.places(node.name)[TIP].station
        assert tip is not None
        self._stations = [tip]  # point 0 is the root, then these

    def number(self, frame: Frame) -> int:
        if frame.station is None:
            return 0
        if frame.station not in self._stations:
            self._stations.append(frame.station)
        return 1 + self._stations.index(frame.station)

    def drawing(self, on: Spot, held: _Held, library: _Library) -> BodyDrawing:
        name, model = self._node.name, self._body.model
        own = [self._body.fields_at(station)[0] for station in self._stations]
        skin, numbers = np.unique(model.triangles, return_inverse=True)
        first = 1 + len(own)
        rest = np.concatenate([np.zeros((1, 3)), [moves[0] for moves in own], model.nodes[skin]])
        triangles = first + numbers.reshape(-1, 3)
        lines = edges(rest, triangles) if len(triangles) else [(0, k) for k in range(1, first)]
        fields = []
        for j, label in enumerate(self._body.mode_labels, start=1):
            shape = np.concatenate([np.zeros((1, 3)), [moves[j] for moves in own], model.shapes[skin, :, j - 1]])
            fields.append(Field((f"{name}.{label}",), shape, _solid_bow(rest, shape, held)))
        return BodyDrawing(name, "modal", rest, tuple(lines), tuple(fields), _carrier(self._node.link.joint), on,
                           tuple(map(tuple, triangles.tolist())))  # fmt: skip


def _solid_bow(rest: Floats, shape: Floats, held: _Held) -> Floats:
    """A shape less what moves a held point, growing linearly from the root; with two such points nothing is magnified."""
    points = sorted(held.points - {0})
    if not points:
        return shape
    towards = rest[points[0]]
    if len(points) > 1 or not towards @ towards > 0.0:
        return np.zeros_like(shape)
    return np.asarray(shape - np.outer(rest @ towards / (towards @ towards), shape[points[0]]))


PartDrawing = RigidDrawing | BeamDrawing | TelescopicDrawing | ModalDrawing


DRAWINGS: dict[type, Callable[[Node, Any], PartDrawing]] = {
    Beam: BeamDrawing, TelescopicBeam: TelescopicDrawing, RigidBody: RigidDrawing, ModalBody: ModalDrawing,
}  # fmt: skip


class _Spots:
    """Frames of the System as points of the drawing."""

    def __init__(self, numbers: dict[str, int], parts: Sequence[PartDrawing], ground: _Points) -> None:
        self._numbers, self._pads, self._ground = numbers, parts, ground

    def at(self, frame: Frame) -> Spot:
        body = self._numbers[frame.body]
        return body, self._ground.add(frame.offset) if body == GROUND else self._pads[body].number(frame)


def _bow(x: Floats, shape: Floats, line: tuple[int, ...], held: _Held, clamped: bool = False) -> Floats:
    """A shape measured from the reference line through its values at the held points; the root is always held.

    For a shape with zero slope at the root, the reference line also has zero slope there (it is the smoothest curve through the
    held points), so that a clamped root stays clamped when magnified. Where the direction is held, the line has the shape's slope.
    """
    kept = sorted({0, *held.points}, key=lambda k: x[k])
    at = x[kept]
    if len(kept) == 1:
        bow = shape
    elif clamped:
        bow = shape - _clamped_line(x, at, shape[kept])
    else:
        bow = shape - _straight_lines(x, at, shape[kept])
    return _without_slopes(bow, x, at, line, held.directions)


def _without_slopes(bow: Floats, x: Floats, at: Floats, line: tuple[int, ...], directions: set[int]) -> Floats:
    """The bow with zero slope where the direction is held: smooth curves that vanish at the held points are subtracted."""
    slopes = [(float(x[point]), *found) for point in sorted(directions) if (found := slope_weights(x, line, point)) is not None]
    if not slopes:
        return bow
    curves = np.stack([_curve_of_slope(x, at, place) for place, _, _ in slopes], axis=1)  # (points, curves)
    of_curves, of_bow = (np.stack([weights @ table[list(points)] for _, points, weights in slopes]) for table in (curves, bow))
    return np.asarray(bow - curves @ np.linalg.solve(of_curves, of_bow))


def _curve_of_slope(x: Floats, at: Floats, place: float) -> Floats:
    """A curve, zero at all given positions, with slope one at one of them and zero at the others; straight beyond the last."""
    from scipy.interpolate import CubicHermiteSpline

    slopes = np.where(at == place, 1.0, 0.0)
    beyond = slopes[-1] * np.maximum(x - at[-1], 0.0)
    if len(at) == 1:
        return np.asarray(beyond)
    return np.asarray(CubicHermiteSpline(at, np.zeros_like(at), slopes)(np.minimum(x, at[-1])) + beyond)


def _straight_lines(x: Floats, at: Floats, values: Floats) -> Floats:
    """Straight lines from each value to the next, extended beyond the last."""
    line = np.stack([np.interp(x, at, values[:, axis]) for axis in range(3)], axis=1)
    beyond = x > at[-1]
    line[beyond] += np.outer(x[beyond] - at[-1], (values[-1] - values[-2]) / (at[-1] - at[-2]))
    return line


def _clamped_line(x: Floats, at: Floats, values: Floats) -> Floats:
    """A smooth curve through values at given positions, with zero slope at the first; straight beyond the last."""
    from scipy.interpolate import CubicSpline

    spline = CubicSpline(at, values, bc_type=((1, np.zeros(3)), (2, np.zeros(3))))
    beyond = np.maximum(x - at[-1], 0.0)
    return np.asarray(spline(np.minimum(x, at[-1])) + np.outer(beyond, spline(at[-1], 1)))


def _leaves_straight(shapes: Shapes, length: float) -> Truths:
    """For each mode, whether it bends the beam without rotating it at the root."""
    turned = np.abs(shapes.rotation(np.linspace(0.0, length, STATIONS))[:, 1:, :]).max(axis=1)  # (station, mode)
    return np.asarray((turned[0] <= NOT_TURNED * turned.max(axis=0)) & (turned.max(axis=0) > 0.0))


def _along_x(values: Floats) -> Floats:
    return np.stack([values, np.zeros_like(values), np.zeros_like(values)], axis=1)


def _carrier(joint: Joint) -> str:
    kinds = [motion.kind for motion in joint.motions]
    if kinds.count(TRANSLATION) > 1:
        return "free"
    if TRANSLATION in kinds:
        return "prismatic"
    if BALL in kinds or kinds.count(ROTATION) > 1:
        return "ball"
    return "revolute" if kinds else "weld"


def _outlined(system: System) -> list[Any]:
    """The shapes of all contacts that are drawn by lines, each once."""
    shapes = [shape for pair in system.contacts.values() if isinstance(pair, ContactPair) for shape in pair.shapes]
    balls = [_Ball(ball.at, ball.radius) for group in system.groups.values() for ball in group.balls]
    return [*dict.fromkeys(shape for shape in shapes if hasattr(shape, "lines")), *balls]


@dataclass(frozen=True)
class _Ball:
    """A sphere that no row of a result places: its great circles."""

    at: Frame
    radius: float  # m

    def lines(self) -> list[Any]:
        axes = np.eye(3)
        return [round_lines(axes[k], axes[k - 1], float(self.radius), 0.0, 0.0)[0] for k in range(3)]


def _contact(pair: ContactPair) -> ContactDrawing:
    still = pair.frames[1].body == GROUND_NAME
    if not isinstance(pair.against, Plane):
        return ContactDrawing(pair.name, pair.radius, pair.other_radius, still, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    point, normal = _on_ground(pair.against) if still else ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    return ContactDrawing(pair.name, pair.radius, None, still, point, normal)


def _on_ground(plane: Plane) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Point and normal of a plane on the ground, world axes."""
    return _seen_from_body(plane.on, plane.point), _turned(plane.on, plane.normal)


def _seen_from_body(frame: Frame, point: Any) -> Vec:
    """A point given in the axes of a frame, in those of its body."""
    return add(frame.offset, _turned(frame, point))


def _turned(frame: Frame, vector: Any) -> Vec:
    from pliant.dynamics.rotation import NO_TURN, about

    rotation = NO_TURN
    for axis, angle in frame.turns:
        rotation = rotation.then(about(axis, angle))
    x, y, z = (float(a) for a in vector)
    return rotation.out((x, y, z))


def _strokes(points: Floats) -> tuple[tuple[int, ...], ...]:
    """Lines of a rigid body: along collinear points, around coplanar points, otherwise from the root to each point."""
    if len(points) < 3:
        return (tuple(range(len(points))),)
    centred = points - points.mean(axis=0)
    _, size, axes = np.linalg.svd(centred, full_matrices=False)
    if size[1] <= FLAT * size[0]:
        return (tuple(int(k) for k in np.argsort(centred @ axes[0])),)
    if size[2] <= FLAT * size[0]:
        hull = _hull(centred @ axes[:2].T)
        return ((*hull, hull[0]),)
    return tuple((0, k) for k in range(1, len(points)))


def _hull(points: Floats) -> tuple[int, ...]:
    """The convex hull of points in a plane, anticlockwise (Andrew 1979)."""
    order = sorted(range(len(points)), key=lambda k: (points[k, 0], points[k, 1]))

    def half(ordered: Sequence[int]) -> list[int]:
        chain: list[int] = []
        for k in ordered:
            while len(chain) > 1 and _turns_right(points[chain[-2]], points[chain[-1]], points[k]):
                chain.pop()
            chain.append(k)
        return chain[:-1]

    return (*half(order), *half(order[::-1]))


def _turns_right(a: Floats, b: Floats, c: Floats) -> bool:
    return bool((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) <= 0.0)
