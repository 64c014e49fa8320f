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
from pliant.model.normal_law import NormalLaw
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
        object.__setattr__(self, "length", check.positive("Capsule", "length", self.length, "m"))
        object.__setattr__(self, "radius", check.positive("Capsule", "radius", self.radius, "m"))

    def ends(self) -> tuple[Sphere, Sphere]:
        """The two round ends, which represent the capsule in contact with a plane."""
        return Sphere(self.at, self.radius), Sphere(_along_x(self.at, self.length), self.radius)


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
    """A round hole along `axis` through the origin of a frame, around what is inside: a pin, a sphere, a point or a capsule.

    length: of a bore that holds a longer pin by its two rims; without it, the bore is longer than all that is inside.
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


# What each shape can touch. `dynamics/pairs.py` has a formula for every two; a capsule is two spheres there.
TOUCHES: dict[type, tuple[type, ...]] = {
    Point: (Plane, Sphere, Bore, Socket),
    Sphere: (Plane, Sphere, Point, Bore, Socket),
    Capsule: (Plane, Bore),
    Pin: (Bore,),
    Along: (Plane, Sphere, Point, Capsule, Edge, Along),
}
TOUCHED: tuple[type, ...] = tuple(dict.fromkeys(other for others in TOUCHES.values() for other in others))

HOLLOW = (Bore, Socket)  # shapes around what they touch

Touching = Point | Sphere | Capsule | Pin | Along
Against = Plane | Point | Sphere | Bore | Socket | Capsule | Edge | Along
Shape = Touching | Against


@dataclass(frozen=True)
class ContactPair:
    """A sphere (a point has radius zero), a pin or a beam along its axis, and what it can touch."""

    turns: ClassVar[bool] = False  # its gap is a length

    name: str
    ball: Point | Sphere | Pin | Along
    against: Against
    normal: NormalLaw
    friction: FrictionLaw | BristleLaw | None
    station: float = 0.0  # m, along the axis of the shorter of a pin and its bore: where this pair is
    piece: int = 0  # of a beam that is touched at several places along its axis

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
        return isinstance(self.against, (Point, Sphere, Capsule, Edge, Along))

    @property
    def reach(self) -> float:
        """The size of the numbers whose difference is the gap, besides the coordinates of the contact point, m."""
        return abs(self.radius) + abs(self.other_radius)

    @property
    def units(self) -> tuple[str, str]:
        """The units of depth and force."""
        return "m", "N"

    @property
    def frames(self) -> tuple[Frame, Frame]:
        """The frames of the ball and of what it meets."""
        return self.ball.at, self.against.on if isinstance(self.against, Plane) else self.against.at


def touching_parts(part: str, shape: Any, against: Any) -> list[tuple[str, Point | Sphere | Pin | Along, float]]:
    """The parts of a shape that touch, with the names of their places and their stations; a bare frame is a point."""
    if isinstance(shape, Frame):
        shape = Point(shape)
    if type(shape) not in TOUCHES:
        raise ModelError.of(part, "points", "must be frames, Points, Spheres, Capsules, Pins or Alongs", shape)
    if type(against) not in TOUCHES[type(shape)]:
        rule = f"must be {any_of(TOUCHES[type(shape)])} when a {type(shape).__name__} touches it"
        raise ModelError.of(part, "against", rule, against)
    if isinstance(shape, Capsule):
        first, second = shape.ends()
        return [(f"{shape.at.body}.start", first, 0.0), (f"{shape.at.body}.end", second, 0.0)]
    if isinstance(shape, Pin) and (held := held_length(shape, against)) is not None:
        return [(place_name(shape.at), shape, 0.5 * side * held) for side in (-1.0, 1.0)]
    if isinstance(shape, Along):
        count = shape.touches
        return [(f"{shape.at.body}.{k + 1}" if count > 1 else shape.at.body, shape, 0.0) for k in range(count)]
    return [(place_name(shape.at), shape, 0.0)]


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


def _along_x(frame: Frame, length: float) -> Frame:
    """The frame moved along its own x axis, which its turns may have rotated."""
    step: Vector = (length, 0.0, 0.0)
    for axis, angle in reversed(frame.turns):
        step = _rotate(axis, angle, step)
    return frame.moved(step)


def _rotate(axis: Vector, angle: float, v: Vector) -> Vector:
    """Rodrigues."""
    c, s = cos(angle), sin(angle)
    along = sum(a * b for a, b in zip(axis, v, strict=True)) * (1.0 - c)
    turned = (axis[1] * v[2] - axis[2] * v[1], axis[2] * v[0] - axis[0] * v[2], axis[0] * v[1] - axis[1] * v[0])
    x, y, z = (c * v[k] + s * turned[k] + along * axis[k] for k in range(3))
    return (x, y, z)
