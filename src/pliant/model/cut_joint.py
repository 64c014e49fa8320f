"""Cut joints: joints between bodies that float, which closures hold and whose coordinates are read from the two frames."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.model.frame import Frame
from pliant.model.joint import Joint


@dataclass(frozen=True)
class CutJoint:
    """A joint from frame b to frame a, apart from the tree: its springs, dampers, stops and drives act between the two frames.

    What the joint does not let move is held by a closure of the same name. Angles in space are read within half a turn of `start`.
    """

    name: str
    joint: Joint
    a: Frame  # of the body that the joint carried
    b: Frame  # what it stood on
    start: tuple[float, ...]  # positions of the joint where its branch of angles is counted from

    @property
    def positions(self) -> tuple[str, ...]:
        return tuple(f"{self.name}.{name}" for motion in self.joint.motions for name in motion.positions)

    @property
    def rates(self) -> tuple[str, ...]:
        return tuple(f"{self.name}.{name}" for motion in self.joint.motions for name in motion.rates)
