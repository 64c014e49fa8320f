"""Contact shapes and contact pairs: points, spheres, planes and capsules on any frame, with a normal law and a friction law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pliant.errors import ModelError
from pliant.model import check
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


Shape = Point | Sphere | Capsule | Plane


@dataclass(frozen=True)
class ContactPair:
    """A sphere (a point has radius zero) and the plane or sphere that it can touch."""

    turns: ClassVar[bool] = False  # its gap is a length

    name: str
    ball: Point | Sphere
    against: Plane | Point | Sphere
    normal: NormalLaw
    friction: FrictionLaw | BristleLaw | None

    @property
    def radius(self) -> float:
        """Radius of the ball, m; 0 for a point."""
        return self.ball.radius if isinstance(self.ball, Sphere) else 0.0

    @property
    def other_radius(self) -> float:
        """Radius of what it meets, m; 0 for a plane or a point."""
        return self.against.radius if isinstance(self.against, Sphere) else 0.0

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


def balls(part: str, shape: Any) -> list[tuple[str, Point | Sphere]]:
    """The spheres that represent a shape, with the names of their places; a bare frame is a point."""
    if isinstance(shape, Frame):
        shape = Point(shape)
    if isinstance(shape, Capsule):
        first, second = shape.ends()
        return [(f"{shape.at.body}.start", first), (f"{shape.at.body}.end", second)]
    if not isinstance(shape, (Point, Sphere)):
        raise ModelError.of(part, "points", "must be frames, Points, Spheres or Capsules", shape)
    return [(place_name(shape.at), shape)]


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
