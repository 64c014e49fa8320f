"""Cut joints: joints between floating bodies, enforced by closures; their coordinates are computed from two frames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pliant.model.closure import (
    Closure,
    CylindricalClosure,
    PlanarClosure,
    PrismaticClosure,
    RevoluteClosure,
    SphericalClosure,
    UniversalClosure,
    WeldClosure,
)
from pliant.model.frame import Frame
from pliant.model.joint import Cylindrical, Free, Joint, Planar, Prismatic, Revolute, Spherical, Universal, Weld


@dataclass(frozen=True)
class CutJoint:
    """A joint from frame b to frame a outside the tree; its springs, dampers, stops and drives act between the two frames.

    A closure of the same name enforces its constraints. Angles in space are computed within half a turn of `start`.
    """

    name: str
    joint: Joint
    a: Frame  # on the body that the joint carries
    b: Frame  # the frame that carries the joint
    start: tuple[float, ...]  # joint positions from which angles are counted

    @property
    def positions(self) -> tuple[str, ...]:
        """Names of the joint's positions."""
        return tuple(f"{self.name}.{name}" for motion in self.joint.motions for name in motion.positions)

    @property
    def rates(self) -> tuple[str, ...]:
        """Names of the joint's rates."""
        return tuple(f"{self.name}.{name}" for motion in self.joint.motions for name in motion.rates)


# The closure that constrains the two frames of a joint as the joint does; None for a joint that constrains nothing.
HELD_BY: dict[type[Joint], Callable[[Any, str, Frame, Frame], Closure | None]] = {
    Weld: lambda joint, *held: WeldClosure(*held),
    Revolute: lambda joint, *held: RevoluteClosure(*held, axis=joint.axis),
    Prismatic: lambda joint, *held: PrismaticClosure(*held, axis=joint.axis),
    Cylindrical: lambda joint, *held: CylindricalClosure(*held, axis=joint.axis),
    Universal: lambda joint, *held: UniversalClosure(*held, axis=joint.axes[0], other_axis=joint.axes[1]),
    Spherical: lambda joint, *held: SphericalClosure(*held),
    Planar: lambda joint, *held: PlanarClosure(*held),
    Free: lambda joint, *held: None,
}
