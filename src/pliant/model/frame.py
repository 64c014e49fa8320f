"""Frames on bodies: the places at which joints, forces and contacts attach."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pliant.answers import answer
from pliant.model import check
from pliant.model.check import Axis, Vector
from pliant.scalar import Numbers

if TYPE_CHECKING:  # what layers above answer
    from pliant.analysis.frame_jacobian import FrameJacobian
    from pliant.run.mechanism import AnySystem

Turn = tuple[Vector, float]  # unit axis, angle in rad

GROUND = "ground"
ROOT, TIP = "root", "tip"  # the places that every body has


@dataclass(frozen=True)
class Frame:
    """A frame on a body: at a station, moved from there by `offset` (in the axes of the station), then rotated by `turns`.

    body: name of the body, or `ground`. station: distance along a beam, m; None means the body's root frame.
    """

    body: str
    station: float | None = None
    offset: Vector = (0.0, 0.0, 0.0)
    turns: tuple[Turn, ...] = ()

    @property
    def structure(self) -> tuple[str, bool]:
        """The properties that determine the code of the equations; the numbers in that code come from its place on the body."""
        return self.body, self.station is None

    def moved(self, offset: Numbers) -> Frame:
        """The same frame moved by (x, y) or (x, y, z) in m, along the axes it has before any of its turns."""
        step = check.vector("Frame", "offset", offset, "m")
        x, y, z = (a + b for a, b in zip(self.offset, step, strict=True))
        return replace(self, offset=(x, y, z))

    def turned(self, angle: float, axis: Axis = "z") -> Frame:
        """The same frame rotated by `angle` (rad) about one of its own axes."""
        turn = (check.axis("Frame", "axis", axis), check.number("Frame", "angle", angle, "rad"))
        return replace(self, turns=(*self.turns, turn))

    def jacobian(self, system: AnySystem, **state: Any) -> FrameJacobian:
        """The Jacobian of this frame in a System at a state: arm.tip.jacobian(system, q={"arm.angle": 0.3}). See `pl.jacobian`."""
        return answer("jacobian", system, self, **state)  # type: ignore[no-any-return]
