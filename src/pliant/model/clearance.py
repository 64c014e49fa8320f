"""Joints with clearance: bodies that their contacts hold, not equations. Each is one line in a model, in a tree or in a loop.

In a tree the body moves freely, in the plane or in space, and in both cases shapes of the two bodies touch.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, fields
from typing import Any, ClassVar

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.check import Axis, Vector
from pliant.model.contact import Against, Bore, Pin, Plane, Point, Socket, Sphere, Touching, moved_within
from pliant.model.frame import Frame
from pliant.model.joint import Free, Joint, Planar
from pliant.model.wear import Archard
from pliant.scalar import Numbers

ContactOf = tuple[list[Touching], Against]


@dataclass(frozen=True, kw_only=True)
class ClearanceJoint:
    """Two bodies whose surfaces are `clearance` apart; normal, friction, wear: laws, as of any contact."""

    STARTS: ClassVar[tuple[str, ...]] = ()  # fields that say how a body starts that is added on this joint

    clearance: float  # m: difference of the radii, or distance on each side of a slide
    normal: Any
    friction: Any = None
    wear: Archard | None = None

    def __post_init__(self) -> None:
        part = type(self).__name__
        object.__setattr__(self, "clearance", check.positive(part, "clearance", self.clearance, "m"))

    @property
    def carrier(self) -> Joint:
        """The joint of a tree in whose place this one stands, starting where the ideal joint would."""
        raise NotImplementedError

    def check_closure(self, part: str, given: dict[str, Any]) -> None:
        """Refuse what would have no effect in a closure: its bodies start where their own joints say.

        given: arguments of `System.close` that differ from their defaults.
        """
        for name, value in given.items():
            raise ModelError.of(part, name, f"must be left out for a {type(self).__name__}, which is a contact", value)
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in self.STARTS and value != field.default:
                rule = f"of a {type(self).__name__} must be left out in a closure: both bodies start where their joints put them"
                raise ModelError.of(part, field.name, rule, value)

    def contacts(self, inner: Frame, outer: Frame) -> list[ContactOf]:
        """Shapes of the inner body, and what of the outer body they touch."""
        raise NotImplementedError


@dataclass(frozen=True)
class ClearanceRevolute(ClearanceJoint):
    """A journal in a bearing, about the z axis of its frames; the pin is that of the body added, or of frame a of a closure.

    length: of the bearing, in space, where both rims hold a pin that may tilt; without it, the pin stays parallel to its bore.
    """

    STARTS = ("angle", "rate", "position", "velocity")

    _: KW_ONLY
    radius: float  # of the journal, m
    length: float | None = None  # m
    angle: float = 0.0  # rad
    rate: float = 0.0  # rad/s
    position: Numbers = (0.0, 0.0)  # of the journal's centre in the bearing, m
    velocity: Numbers = (0.0, 0.0)  # m/s

    def __post_init__(self) -> None:
        super().__post_init__()
        part = "ClearanceRevolute"
        object.__setattr__(self, "radius", check.positive(part, "radius", self.radius, "m"))
        check.fields(self, check.number, angle="rad", rate="rad/s")
        for name, unit in (("position", "m"), ("velocity", "m/s")):
            object.__setattr__(self, name, check.numbers(part, name, getattr(self, name), 2, unit))
        if self.length is None:
            return
        check.structural(part, "length", self.length)
        object.__setattr__(self, "length", check.positive(part, "length", self.length, "m"))
        if self.angle != 0.0:
            raise ModelError.of(part, "angle", "must be 0 if the joint has a length (turn the frame it stands on)", self.angle)

    @property
    def carrier(self) -> Joint:
        if self.length is None:
            return Planar(position=self.position, velocity=self.velocity, angle=self.angle, rate=self.rate)
        spin = (0.0, 0.0, self.rate)
        return Free(position=(*self.position, 0.0), velocity=(*self.velocity, 0.0), angular_velocity=spin)

    def contacts(self, inner: Frame, outer: Frame) -> list[ContactOf]:
        return [([Pin(at=inner, radius=self.radius)], Bore(at=outer, radius=self.radius + self.clearance, length=self.length))]


@dataclass(frozen=True)
class ClearanceSpherical(ClearanceJoint):
    """A ball in a socket; the ball is that of the body added, or of frame a of a closure."""

    STARTS = ("orientation", "angular_velocity")

    _: KW_ONLY
    radius: float  # of the ball, m
    orientation: Numbers = (1.0, 0.0, 0.0, 0.0)  # (w, x, y, z)
    angular_velocity: Numbers = (0.0, 0.0, 0.0)  # rad/s, body axes

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "radius", check.positive("ClearanceSpherical", "radius", self.radius, "m"))

    @property
    def carrier(self) -> Joint:
        return Free(orientation=self.orientation, angular_velocity=self.angular_velocity)

    def contacts(self, inner: Frame, outer: Frame) -> list[ContactOf]:
        return [([Sphere(inner, self.radius)], Socket(outer, self.radius + self.clearance))]


@dataclass(frozen=True)
class ClearancePrismatic(ClearanceJoint):
    """A block between two walls along the x axis of a guide, in a plane: its four corners touch them.

    length, height: of the block, whose middle is the body's own frame (or frame a of a closure).
    """

    STARTS = ("displacement", "speed")

    _: KW_ONLY
    length: float  # m
    height: float  # m
    displacement: float = 0.0  # m
    speed: float = 0.0  # m/s, at the start

    def __post_init__(self) -> None:
        super().__post_init__()
        check.fields(self, check.positive, length="m", height="m")

    @property
    def carrier(self) -> Joint:
        return Planar(position=(self.displacement, 0.0), velocity=(self.speed, 0.0))

    def contacts(self, inner: Frame, outer: Frame) -> list[ContactOf]:
        found: list[ContactOf] = []
        for side in (1.0, -1.0):
            places: list[Vector] = [(0.5 * end * self.length, 0.5 * side * self.height, 0.0) for end in (1.0, -1.0)]
            corners = [Point(moved_within(inner, place)) for place in places]
            wall: Vector = (0.0, side * (0.5 * self.height + self.clearance), 0.0)
            normal: Axis = (0.0, -side, 0.0)
            found.append(([*corners], Plane(normal=normal, point=wall, on=outer)))
        return found
