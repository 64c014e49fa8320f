"""Cut joints: joints between floating bodies, enforced by closures; their coordinates are computed from two frames."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.model.frame import Frame
from pliant.model.joint import Joint


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
