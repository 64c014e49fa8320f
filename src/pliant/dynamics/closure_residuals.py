"""Residuals of each kind of closure over any scalar, zero when it is closed: distances in world or b's axes, sines of angles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pliant.dynamics.algebra import Mat, Scalar, Vec, axial, dot, product, scale, times, transpose
from pliant.dynamics.cut_joint import JointPosition
from pliant.dynamics.tangents import tangents_of
from pliant.model.closure import (
    SPRINGS,
    Closure,
    CylindricalClosure,
    DistanceClosure,
    GearClosure,
    PlanarClosure,
    PointClosure,
    PrescribedClosure,
    PrismaticClosure,
    RevoluteClosure,
    SliderClosure,
    SphericalClosure,
    UniversalClosure,
    WeldClosure,
)
from pliant.scalar import sqrt

MEETING = 1e-8  # fraction of a spring's length: nearer, its direction fades to zero; at full length no digit of a double changes

Residuals = tuple[list[Scalar], list[Scalar]]  # distances, angles


@dataclass(frozen=True)
class HeldFrames:
    """The two frames of a closure, and the present values of the motions that it prescribes."""

    apart: Vec  # from b's origin to a's origin, world axes
    a: Mat
    b: Mat
    motions: Sequence[Scalar]  # None for free motions

    def across(self, axis: Vec) -> list[Vec]:
        """Two directions normal to an axis of b, in world axes."""
        return [times(self.b, t) for t in tangents_of(axis)]

    def along(self, axis: Vec) -> Scalar:
        """Position of a's origin along an axis of b."""
        return dot(times(self.b, axis), self.apart)

    def beside(self, axis: Vec) -> list[Scalar]:
        """Offsets of a's origin from the line through b's origin along an axis of b."""
        return [dot(t, self.apart) for t in self.across(axis)]

    def leaning(self, axis: Vec) -> list[Scalar]:
        """Sines of the angles between an axis of a and the same axis of b."""
        return [dot(times(self.a, axis), t) for t in self.across(axis)]

    def turned(self) -> list[Scalar]:
        """Sines of the small rotation between the two frames."""
        return list(scale(0.5, axial(product(transpose(self.a), self.b))))


def _point(closure: Closure, held: HeldFrames) -> Residuals:
    return list(held.apart), []


def _weld(closure: WeldClosure, held: HeldFrames) -> Residuals:
    return list(held.apart), held.turned()


def _distance(closure: DistanceClosure, held: HeldFrames) -> Residuals:
    """The distance between the origins minus the length of the closure.

    A penalty spring pulls in proportion to d - L. With multipliers the residual is (d^2 - L^2) / 2L instead, which is smooth and
    has the same slope at zero. If the origins coincide, the force of a spring has no direction, and it is zero.
    """
    squared = dot(held.apart, held.apart)
    length: Scalar = held.motions[0] if held.motions else closure.length
    if closure.by == SPRINGS:
        return [sqrt(squared + (MEETING * length) * (MEETING * length)) - length], []
    return [(squared - length * length) * (0.5 / length)], []


def _revolute(closure: RevoluteClosure, held: HeldFrames) -> Residuals:
    return list(held.apart), held.leaning(closure.axis)


def _cylindrical(closure: CylindricalClosure, held: HeldFrames) -> Residuals:
    return held.beside(closure.axis), held.leaning(closure.axis)


def _planar(closure: PlanarClosure, held: HeldFrames) -> Residuals:
    return [held.along(closure.axis)], held.leaning(closure.axis)


def _universal(closure: UniversalClosure, held: HeldFrames) -> Residuals:
    lean = dot(closure.axis, closure.other_axis)
    return list(held.apart), [dot(times(held.b, closure.axis), times(held.a, closure.other_axis)) - lean]


def _slider(closure: SliderClosure, held: HeldFrames) -> Residuals:
    return [*held.beside(closure.axis), *(held.along(closure.axis) - m for m in held.motions)], []


def _prismatic(closure: PrismaticClosure, held: HeldFrames) -> Residuals:
    return [*held.beside(closure.axis), *(held.along(closure.axis) - m for m in held.motions)], held.turned()


def _prescribed_frame(closure: PrescribedClosure, held: HeldFrames) -> Residuals:
    return [x - m for x, m in zip(times(transpose(held.b), held.apart), held.motions, strict=False) if m is not None], []


OF_FRAMES: dict[type[Closure], Callable[[Any, HeldFrames], Residuals]] = {
    PointClosure: _point,
    SphericalClosure: _point,
    WeldClosure: _weld,
    DistanceClosure: _distance,
    RevoluteClosure: _revolute,
    CylindricalClosure: _cylindrical,
    PlanarClosure: _planar,
    UniversalClosure: _universal,
    SliderClosure: _slider,
    PrismaticClosure: _prismatic,
    PrescribedClosure: _prescribed_frame,
}


def _gear(closure: GearClosure, held: Sequence[JointPosition], motions: Sequence[Scalar]) -> Scalar:
    a, b = (position.x - position.start for position in held)
    return a - closure.ratio * b


def _prescribed_coordinate(closure: PrescribedClosure, held: Sequence[JointPosition], motions: Sequence[Scalar]) -> Scalar:
    return held[0].beyond(motions[0])


# the residual is in units of the first coordinate: an angle if that is an angle
OF_COORDINATES: dict[type[Closure], Callable[[Any, Sequence[JointPosition], Sequence[Scalar]], Scalar]] = {
    GearClosure: _gear,
    PrescribedClosure: _prescribed_coordinate,
}
