"""Places on bodies: where joints, forces and contacts attach."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pliant.model import check
from pliant.model.check import Vector

Turn = tuple[Vector, float]  # unit axis, angle in rad

GROUND = "ground"


@dataclass(frozen=True)
class Frame:
    """A frame fixed on a body's place, then moved by `offset` (in the place's axes), then turned by `turns`.

    body: a body's name or `ground`. station: metres along a beam; None is the body's own root frame with `offset` from there.
    """

    body: str
    station: float | None = None
    offset: Vector = (0.0, 0.0, 0.0)
    turns: tuple[Turn, ...] = ()

    @property
    def structure(self) -> tuple[str, bool]:
        """What of it decides the equations' code; its numbers are those of its place on the body."""
        return self.body, self.station is None

    def moved(self, offset: Any) -> Frame:
        """The same frame further along, before any turn; (x, y) or (x, y, z) in m."""
        step = check.vector("Frame", "offset", offset, "m")
        x, y, z = (a + b for a, b in zip(self.offset, step, strict=True))
        return replace(self, offset=(x, y, z))

    def turned(self, angle: float, axis: Any = "z") -> Frame:
        """The same frame turned by `angle` (rad) about one of its own axes."""
        turn = (check.axis("Frame", "axis", axis), check.number("Frame", "angle", angle, "rad"))
        return replace(self, turns=(*self.turns, turn))
