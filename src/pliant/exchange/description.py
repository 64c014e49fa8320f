"""A robot in plain numbers: what readers of file formats write, and what `robot.py` builds a System from."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from pliant.exchange.geometry import HERE, Inertial, Pose
from pliant.model.joint import Joint
from pliant.scalar import Numbers


def distinct(name: str, taken: Container[str]) -> str:
    """A name for what a file leaves without one, unlike those that it gives."""
    while name in taken:
        name += "_"
    return name


@dataclass(frozen=True, kw_only=True)
class ShapePart:
    """A collision shape, in the axes of its link: sphere (radius), capsule (radius, length), box (three sides) or plane (none).

    A capsule lies along z about its middle; the normal of a plane is z.
    """

    kind: str
    pose: Pose
    sizes: tuple[float, ...] = ()  # m


@dataclass(frozen=True, kw_only=True)
class LinkPart:
    """A link."""

    name: str
    where: str  # in messages
    inertial: Inertial | None = None
    shapes: tuple[ShapePart, ...] = ()


@dataclass(frozen=True, kw_only=True)
class JointPart:
    """A joint that carries a link; all numbers are those of a single coordinate unless it is said otherwise."""

    name: str
    where: str
    kind: type[Joint]
    child: str
    parent: str | None = None  # None: the ground
    place: Pose = HERE  # of the child in the parent, at coordinate 0
    axis: tuple[float, ...] = (0.0, 0.0, 1.0)  # in the child's axes
    anchor: tuple[float, ...] = (0.0, 0.0, 0.0)  # of the axis, in the child's axes, m
    limits: tuple[float, float] | None = None  # m or rad
    damping: float = 0.0  # N s/m or N m s/rad, of every coordinate
    friction: float = 0.0  # N or N m
    stiffness: float = 0.0  # N/m or N m/rad
    rest: float = 0.0  # m or rad
    armature: float = 0.0  # kg or kg m^2
    start: float = 0.0  # m or rad; the middle of the limits if these exclude it
    made: Joint | None = None  # a joint of pliant's own instead


@dataclass(frozen=True, kw_only=True)
class GearPart:
    """A joint that follows another: q = ratio q of the leader + offset."""

    where: str
    follower: str
    leader: str
    ratio: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ClosurePart:
    """Frames of two links that are held together, by a closure of this kind."""

    name: str
    kind: str
    links: tuple[str | None, str | None]
    poses: tuple[Pose, Pose]


@dataclass(kw_only=True)
class Description:
    """What a file says; joints carry links in an order in which every parent comes before its children."""

    name: str
    where: str
    gravity: Numbers  # m/s^2
    links: dict[str, LinkPart] = field(default_factory=dict)
    joints: dict[str, JointPart] = field(default_factory=dict)
    gears: list[GearPart] = field(default_factory=list)
    closures: list[ClosurePart] = field(default_factory=list)
    shapes: tuple[ShapePart, ...] = ()  # of the ground
    unused: list[str] = field(default_factory=list)
