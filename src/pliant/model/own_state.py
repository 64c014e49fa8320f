"""States that the user declares: integrators, filters, motor currents, wear, temperatures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pliant.model import check
from pliant.model.signal import Signal


@dataclass(frozen=True)
class OwnState:
    """A state with a given rate; formulas read the state as q["name"] and its rate as v["name"]."""

    OUTSIDE_EQUATIONS: ClassVar[tuple[str, ...]] = ("start",)

    name: str
    rate: Signal  # per second
    start: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", check.number(f"state {self.name!r}", "start", self.start))
