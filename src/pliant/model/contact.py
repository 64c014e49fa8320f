"""Contact shapes and contact pairs: points, spheres, capsules, planes, pins and bores on any frame, with their laws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.along import Along, Edge
from pliant.model.check import Axis, Vector
from pliant.model.frame import GROUND, Frame
from pliant.model.friction_law import BristleLaw, FrictionLaw
from pliant.model.journal_law import JournalLaw
from pliant.model.normal_law import NormalLaw
from pliant.model.solids import Box, BoxEdge, Corner, Crossing, Cylinder, Foot, Hull, Lines, Lying, Rim, Rolling, round_lines
from pliant.model.wear import Archard
from pliant.scalar import Numbers, cos, sin


@dataclass(frozen=True)
class Point:
    """A contact point at the origin of a frame: a tip, a station or a corner."""

    at: Frame

    def __post_init__(self) -> None:
        check.instance("Point", "at", self.at, Frame, "a frame such as arm.tip")


@dataclass(frozen=True)
class Sphere:
    """A contact sphere around the origin of a frame."""

    at: Frame
    radius: float  # m

    def __post_init__(self) -> None:
        check.instance("Sphere", "at", self.at, Frame, "a frame such as arm.tip")
        object.__setattr__(self, "radius", check.positive("Sphere", "radius", self.radius, "m"))


@dataclass(frozen=True)
class Capsule:
    """A contact shape: a cylinder with round ends, from the origin of a frame along its x axis."""

    at: Frame
    length: float  # m, between the centres of the round ends
    radius: float  # m

    def __post_init__(self) -> None:
        check.instance("Capsule", "at", self.at, Frame, "a frame such as arm.root")
        check.fields(self, check.positive, length="m", radius="m")

    def ends(self) -> tuple[Sphere, Sphere]:
        """The two round ends, which represent the capsule in contact with a plane."""
        return Sphere(self.at, self.radius), Sphere(moved_within(self.at, (self.length, 0.0, 0.0)), self.radius)

    def parts(self) -> list[End]:
        """Its round ends, by which it lies on what is no plane."""
        return [End(self, False), End(self, True)]

    @property
    def bounding(self) -> float:
        """The radius of a ball around the origin of its frame that holds it, m."""
        return self.length + self.radius

    @property
    def inner(self) -> float:
        """Half of its least thickness, m."""
        return self.radius

    def lines(self) -> Lines:
        """The lines that draw it."""
        return round_lines((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), float(self.radius), 0.0, float(self.length))


@dataclass(frozen=True)
class End:
    """A round end of a capsule."""

    of: Capsule
    second: bool

    @property
    def at(self) -> Frame:
        """The frame at its place."""
        return moved_within(self.of.at, (self.of.length, 0.0, 0.0)) if self.second else self.of.at

    @property
    def radius(self) -> float:
        """That of the capsule, m."""
        return self.of.radius

    @property
    def name(self) -> str:
        """What tables call it, behind the place of its shape."""
        return "end" if self.second else "start"


@dataclass(frozen=True)
class Side:
    """The side of a capsule, which touches wherever it is nearest to another one."""

    name: ClassVar[str] = "side"
    of: Capsule

    @property
    def at(self) -> Frame:
        """The frame at its place."""
        return self.of.at

    @property
    def radius(self) -> float:
        """That of the capsule, m."""
        return self.of.radius


@dataclass(frozen=True, kw_only=True)
class Plane:
    """A contact plane: everything on the side opposite to `normal`, seen from `point`, is solid.

    point and normal are in the axes of the frame `on`, by default the ground.
    """

    normal: Axis
    point: Numbers = (0.0, 0.0, 0.0)  # m
    on: Frame = Frame(GROUND)  # noqa: RUF009  (frozen)

    def __post_init__(self) -> None:
        object.__setattr__(self, "normal", check.axis("Plane", "normal", self.normal))
        object.__setattr__(self, "point", check.vector("Plane", "point", self.point, "m"))
        check.instance("Plane", "on", self.on, Frame, "a frame such as arm.tip or system.ground")


@dataclass(frozen=True)
class Bore:
    """A round hole along `axis` through the origin of a frame, around a pin, a sphere, a point, a capsule or a beam.

    length: of a bore that holds a longer pin or a beam by its two rims; without it, the bore is longer than all that is inside.
    """

    at: Frame
    radius: float  # m
    length: float | None = None  # m, centred on the origin
    axis: Axis = "z"

    def __post_init__(self) -> None:
        _check_round("Bore", self)


@dataclass(frozen=True)
class Socket:
    """A hollow sphere around the origin of a frame, around a ball inside."""

    at: Frame
    radius: float  # m

    def __post_init__(self) -> None:
        check.instance("Socket", "at", self.at, Frame, "a frame such as arm.tip")
        object.__setattr__(self, "radius", check.positive("Socket", "radius", self.radius, "m"))


@dataclass(frozen=True)
class Pin:
    """A cylinder along `axis`, centred on the origin of a frame, that can touch a bore around it.

    length: of a pin that a longer bore holds by its two ends; without it, the pin is longer than the bore.
    """

    at: Frame
    radius: float  # m
    length: float | None = None  # m, centred on the origin
    axis: Axis = "z"

    def __post_init__(self) -> None:
        _check_round("Pin", self)


def _check_round(part: str, shape: Bore | Pin) -> None:
    check.instance(part, "at", shape.at, Frame, "a frame such as arm.tip")
    object.__setattr__(shape, "radius", check.positive(part, "radius", shape.radius, "m"))
    if shape.length is not None:
        check.structural(part, "length", shape.length)
        object.__setattr__(shape, "length", check.positive(part, "length", shape.length, "m"))
    object.__setattr__(shape, "axis", check.axis(part, "axis", shape.axis))


# What each shape can touch. `dynamics/pairs.py` has a formula for every two; a capsule is two spheres there, a solid its parts.
TOUCHES: dict[type, tuple[type, ...]] = {
    Point: (Plane, Sphere, Bore, Socket, Capsule, Box, Cylinder),
    Sphere: (Plane, Sphere, Point, Bore, Socket, Capsule, Box, Cylinder),
    Capsule: (Plane, Bore, Capsule, Box, Cylinder),
    Pin: (Bore,),
    Box: (Plane, Capsule, Box, Cylinder),
    Cylinder: (Plane, Box, Cylinder),
    Hull: (Plane,),
    Along: (Plane, Sphere, Point, Bore, Capsule, Box, Cylinder, Edge, Along),
}
TOUCHED: tuple[type, ...] = tuple(dict.fromkeys(other for others in TOUCHES.values() for other in others))

HOLLOW = (Bore, Socket)  # shapes around what they touch
SAME_PLAY = 1e-9  # of the radius: lengths that differ by less were meant to be the same

Part = Corner | BoxEdge | Crossing | Rim | Lying | Rolling | Foot | End | Side  # of a shape that touches at several places
PARTS = (Corner, BoxEdge, Crossing, Rim, Lying, Rolling, Foot, End, Side)

Touching = Point | Sphere | Capsule | Pin | Along | Box | Cylinder | Hull
Against = Plane | Point | Sphere | Bore | Socket | Capsule | Box | Cylinder | Edge | Along
Shape = Touching | Against


@dataclass(frozen=True)
class ContactPair:
    """A sphere (a point has radius zero), a pin, a beam along its axis or a part of a shape, and what it can touch."""

    turns: ClassVar[bool] = False  # its gap is a length

    name: str
    ball: Point | Sphere | Pin | Along | Part
    against: Against
    normal: NormalLaw
    friction: FrictionLaw | BristleLaw | None
    station: float = 0.0  # m, along the axis of the shorter of a pin and its bore, or of a beam's bore: where this pair is
    wear: Archard | None = None
    piece: int = 0  # of a beam that is touched at several places along its axis

    def __post_init__(self) -> None:
        if not isinstance(self.against, HOLLOW):
            return
        part, play = f"contact {self.name!r}", self.against.radius - self.radius
        if not play > 0.0:
            rule = f"must be thinner than the {type(self.against).__name__}, of radius {self.against.radius!r} m"
            raise ModelError.of(part, "points", rule, self.radius)
        known = self.normal.clearance if isinstance(self.normal, JournalLaw) else play
        if not abs(known - play) <= SAME_PLAY * self.against.radius:
            raise ModelError.of(part, "normal.clearance", f"must be the difference of the radii, {play:.6g} m", known)

    @property
    def radius(self) -> float:
        """Radius of the ball, m; 0 for a point."""
        return 0.0 if isinstance(self.ball, Point) else self.ball.radius

    @property
    def other_radius(self) -> float:
        """Radius of what it meets, m: 0 for a plane or a point, negative for a bore or a socket, whose surface is hollow."""
        if isinstance(self.against, HOLLOW):
            return -self.against.radius
        return self.against.radius if isinstance(self.against, (Sphere, Capsule, Along)) else 0.0

    @property
    def between_balls(self) -> bool:
        """Whether both shapes are thin: they have no normal where their centres coincide, and a fast one may pass through."""
        beam = isinstance(self.ball, Along) and not isinstance(self.against, (Plane, Bore, Box, Cylinder))
        return beam or isinstance(self.against, (Point, Sphere))

    @property
    def shapes(self) -> tuple[Any, Any]:
        """The two shapes, as the user gave them."""
        return self.ball.of if isinstance(self.ball, PARTS) else self.ball, self.against

    @property
    def sizes(self) -> tuple[float, float]:
        """How far the surfaces are from the origins of their frames, m; 0 for a ball, whose centre is there."""
        first = 0.0 if isinstance(self.ball, End) else getattr(self.shapes[0], "bounding", 0.0)
        return first, getattr(self.against, "bounding", 0.0)

    @property
    def thickness(self) -> float | None:
        """Half of what a fast body may pass through, m; None of what is solid behind its surface, as a plane is."""
        if self.between_balls:
            return self.radius + self.other_radius
        return self.radius + self.against.inner if isinstance(self.against, (Capsule, Box, Cylinder)) else None

    @property
    def reach(self) -> float:
        """The size of the numbers whose difference is the gap, besides the coordinates of the contact point, m."""
        return abs(self.radius) + abs(self.other_radius) + sum(self.sizes)

    @property
    def units(self) -> tuple[str, str]:
        """The units of depth and force."""
        return "m", "N"

    @property
    def frames(self) -> tuple[Frame, Frame]:
        """The frames of the ball and of what it meets."""
        return self.ball.at, self.against.on if isinstance(self.against, Plane) else self.against.at


def both_ways(shape: Any, against: Any) -> list[tuple[Any, Any]]:
    """What touches what: of two boxes, cylinders or capsules parts of each the other; a solid on a ball is a ball on it."""
    if isinstance(shape, Frame):
        shape = Point(shape)
    solids = isinstance(shape, (Box, Cylinder)) and isinstance(against, (Box, Cylinder))
    if solids or (isinstance(shape, (Box, Capsule)) and isinstance(against, (Box, Capsule))):
        return [(shape, against), (against, shape)]
    swapped = type(shape) in TOUCHES.get(type(against), ()) and type(against) not in TOUCHES.get(type(shape), ())
    return [(against, shape)] if swapped else [(shape, against)]


def touching_parts(part: str, shape: Any, against: Any) -> list[tuple[str, Point | Sphere | Pin | Along | Part, float]]:
    """The parts of a shape that touch, with the names of their places and their stations."""
    if type(shape) not in TOUCHES:
        rule = "must be frames, Points, Spheres, Capsules, Pins, Alongs, Boxes, Cylinders or Hulls"
        raise ModelError.of(part, "points", rule, shape)
    if type(against) not in TOUCHES[type(shape)]:
        rule = f"must be {any_of(TOUCHES[type(shape)])} when {any_of((type(shape),))} touches it"
        raise ModelError.of(part, "against", rule, against)
    if isinstance(shape, Box) and isinstance(against, Box) and shape.flat != against.flat:
        rule = "must have as many sides as the Box that touches it: a rectangle touches rectangles, in the plane"
        raise ModelError.of(part, "against", rule, against)
    for one, other in ((shape, against), (against, shape)):
        if isinstance(one, Box) and one.flat and isinstance(other, Cylinder):
            rule = "must not be a Cylinder when a rectangle touches it: in a plane a Cylinder is a Sphere"
            raise ModelError.of(part, "against", rule, against)
    if isinstance(shape, (Box, Cylinder, Hull)) or (isinstance(shape, Capsule) and isinstance(against, (Capsule, Box, Cylinder))):
        return [(place_name(shape.at), own, 0.0) for own in _parts(shape, against)]
    if isinstance(shape, Capsule):
        first, second = shape.ends()
        return [(f"{shape.at.body}.start", first, 0.0), (f"{shape.at.body}.end", second, 0.0)]
    if isinstance(shape, Pin) and (held := held_length(shape, against)) is not None:
        return [(place_name(shape.at), shape, 0.5 * side * held) for side in (-1.0, 1.0)]
    if isinstance(shape, Along):
        if isinstance(against, Bore):
            return [(shape.at.body, shape, rim) for rim in _rims(part, shape, against)]
        count = shape.touches
        return [(f"{shape.at.body}.{k + 1}" if count > 1 else shape.at.body, shape, 0.0) for k in range(count)]
    return [(place_name(shape.at), shape, 0.0)]


def _rims(part: str, beam: Along, bore: Bore) -> tuple[float, float]:
    """Where the rims of the bore around a beam are, m along the axis of the bore."""
    if bore.length is None:
        raise ModelError.of(part, "against.length", "must be given for a beam, which a Bore holds by its two rims", bore.length)
    if beam.touches != 1:
        raise ModelError.of(part, "points.touches", "must be 1 in a Bore, each rim of which touches a beam once", beam.touches)
    return -0.5 * bore.length, 0.5 * bore.length


def _parts(shape: Box | Cylinder | Hull | Capsule, against: Any) -> list[Any]:
    """Which parts of a shape touch this one; a capsule touches the edges of a box, which in a plane are its corners."""
    if isinstance(shape, Box) and not shape.flat and isinstance(against, (Capsule, Cylinder)):
        return shape.edges()
    if isinstance(shape, Cylinder) and isinstance(against, (Box, Cylinder)):  # what is one of both belongs to the first
        both = isinstance(against, Cylinder) and shape.at.body < against.at.body
        return [*([Lying(shape)] if both else []), *shape.on_solid()]
    if isinstance(shape, Capsule) and isinstance(against, Cylinder):
        return [Side(shape), *shape.parts()]
    if type(shape) is type(against) and shape.at.body < against.at.body:  # what is one of both belongs to the first
        if isinstance(shape, Capsule):
            return [Side(shape), *shape.parts()]
        if isinstance(shape, Box) and not shape.flat:
            return [*shape.parts(), *shape.crossings()]
    return list(shape.parts())


def any_of(kinds: Sequence[type]) -> str:
    """These classes in words: a Plane, a Sphere or a Bore."""
    *others, last = [f"{'an' if kind.__name__[0] in 'AEIOU' else 'a'} {kind.__name__}" for kind in kinds]
    return f"{', '.join(others)} or {last}" if others else last


def held_length(pin: Pin, bore: Bore) -> float | None:
    """The length of the shorter of the two, whose ends touch the other, m; None in a plane, where neither has a length."""
    lengths = [length for length in (pin.length, bore.length) if length is not None]
    return min(lengths, default=None)


def place_name(frame: Frame) -> str:
    """The name of a place in tables: body@station, then its offset. System names tips and roots."""
    station = "" if frame.station is None else f"@{frame.station:g}"
    moved = f"({', '.join(f'{x:g}' for x in frame.offset)})" if any(frame.offset) else ""
    return f"{frame.body}{station}{moved}"


def moved_within(frame: Frame, step: Vector) -> Frame:
    """The frame moved along its own axes, which its turns may have rotated."""
    return frame.moved(on_body(frame, step))


def on_body(frame: Frame, direction: Vector) -> Vector:
    """A direction in the axes of a frame, in the axes that it has before its turns."""
    for axis, angle in reversed(frame.turns):
        direction = _rotate(axis, angle, direction)
    return direction


def _rotate(axis: Vector, angle: float, v: Vector) -> Vector:
    """Rodrigues."""
    c, s = cos(angle), sin(angle)
    along = sum(a * b for a, b in zip(axis, v, strict=True)) * (1.0 - c)
    turned = (axis[1] * v[2] - axis[2] * v[1], axis[2] * v[0] - axis[0] * v[2], axis[0] * v[1] - axis[1] * v[0])
    x, y, z = (c * v[k] + s * turned[k] + along * axis[k] for k in range(3))
    return (x, y, z)
