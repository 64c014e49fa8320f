"""Rolling without slip: what a wheel's frame and its plane must satisfy, as formulas of frames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pliant.model import check
from pliant.model.check import Vector
from pliant.model.contact import Plane
from pliant.model.frame import Frame
from pliant.scalar import ArrayOf, Numbers, sqrt

OfState = Callable[[Any, Any, Any], Any]
HOLONOMIC, NONHOLONOMIC = KINDS_OF_CONSTRAINT = ("holonomic", "nonholonomic")
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Wheel:
    """A wheel that rolls on a plane without slip and without leaving it."""

    name: str
    wheel: Frame  # at its centre
    radius: float  # m
    against: Plane
    axis: Vector  # of the rim, in the axes of the wheel's body

    def __post_init__(self) -> None:
        part = f"wheel {self.name!r}"
        check.instance(part, "wheel", self.wheel, Frame, "a frame such as disk.root")
        check.instance(part, "against", self.against, Plane, "a Plane")
        object.__setattr__(self, "radius", check.positive(part, "radius", self.radius, "m"))

    @property
    def rows(self) -> dict[str, tuple[OfState, str]]:
        """By name: the formulas that stay zero, and of which kind they are."""
        height, along, across = _rolling(self.wheel, self.radius, self.axis, self.against)
        return {f"{self.name} height": (height, HOLONOMIC), f"{self.name} along": (along, NONHOLONOMIC),
                f"{self.name} across": (across, NONHOLONOMIC)}  # fmt: skip


def _rolling(wheel: Frame, radius: Any, axis: Vector, plane: Plane) -> tuple[OfState, OfState, OfState]:
    """The height of the rim's lowest point above the plane, m, and the speeds of that point in two directions along it, m/s.

    The lowest point is the centre minus the radius along u, the part of the plane's normal that is across the axis.
    """
    normal: Any = plane.normal
    marks = [wheel.moved(offset) for offset in AXES]

    def body_axes(q: Any) -> list[Any]:
        centre = q.position(wheel, plane.on)
        return [_minus(q.position(mark, plane.on), centre) for mark in marks]

    def upward(axes: ArrayOf[Any]) -> tuple[Any, Any]:
        """(u, its length)"""
        rim = _sum(axis, axes)
        leaning = _dot(rim, normal)
        u = [n - leaning * x for n, x in zip(normal, rim, strict=True)]
        return u, sqrt(_dot(u, u))

    def height(t: Any, q: Any, v: Any) -> Any:
        return _dot(_minus(q.position(wheel, plane.on), plane.point), normal) - radius * upward(body_axes(q))[1]

    def slip(direction: Numbers) -> OfState:
        def speed(t: Any, q: Any, v: Any) -> Any:
            axes, centre = body_axes(q), q.velocity(wheel, plane.on)
            u, size = upward(axes)
            turning = [_minus(q.velocity(mark, plane.on), centre) for mark in marks]
            arm = [-radius * _dot(u, each) / size for each in axes]  # from the centre to the lowest point, in the body's axes
            return _dot([c + x for c, x in zip(centre, _sum(arm, turning), strict=True)], direction)

        return speed

    along = _across(normal)
    return height, slip(along), slip(_cross(normal, along))


def _across(normal: Numbers) -> tuple[float, ...]:
    """A direction in the plane: the world's x axis seen along the normal, or its z axis."""
    start = (1.0, 0.0, 0.0) if abs(normal[0]) < 0.9 else (0.0, 0.0, 1.0)
    along = float(_dot(start, normal))
    part = [s - along * n for s, n in zip(start, normal, strict=True)]
    size = float(_dot(part, part)) ** 0.5
    return tuple(x / size for x in part)


def _cross(a: Numbers, b: Numbers) -> tuple[float, ...]:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _minus(a: ArrayOf[Any], b: ArrayOf[Any]) -> list[Any]:
    return [x - y for x, y in zip(a, b, strict=True)]


def _dot(a: ArrayOf[Any], b: ArrayOf[Any]) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _sum(weights: ArrayOf[Any], vectors: ArrayOf[ArrayOf[Any]]) -> list[Any]:
    return [_dot(weights, [vector[k] for vector in vectors]) for k in range(3)]
