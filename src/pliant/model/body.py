"""What a System asks of any body: its coordinates, where they start, its places, its mass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

from pliant.model.frame import Frame
from pliant.model.play import Limits
from pliant.model.signal import PrescribedMotion

if TYPE_CHECKING:
    from pliant.model.rigid import Payload

ROOT, TIP = "root", "tip"  # the places that every body has


@dataclass(frozen=True)
class Length:
    """A coordinate of a body besides its modes, along which a drive may act: a free length."""

    start: float  # m
    rate: float  # m/s, at the start
    motion: PrescribedMotion | None = None  # prescribed
    stop: Limits | None = None  # a spring at the end of its travel


class Body(Protocol):
    """A body of the model: `RigidBody`, `Beam`, `TelescopicBeam`."""

    @property
    def mass(self) -> float:
        """kg, without the payload."""

    @property
    def payload(self) -> Payload | None:
        """What it carries at its tip."""

    @property
    def mode_labels(self) -> tuple[str, ...]:
        """Names of its modal coordinates."""

    @property
    def lengths(self) -> Mapping[str, Length]:
        """Its coordinates that are not modes, by name; they come before the modes."""

    @property
    def as_published(self) -> bool:
        """Whether its equations leave terms out as papers do, so that no energy belongs to them."""

    def with_lengths(self, lengths: Mapping[str, Length]) -> Self:
        """The same body, its lengths starting elsewhere or moving otherwise; stops stay as they are."""

    def places(self, name: str) -> dict[str, Frame]:
        """The named frames of a body of that name: root and tip first."""

    def at(self, name: str, place: Any) -> Frame:
        """A frame at a place that has no name: a station, a point."""

    def check_station(self, part: str, label: str, station: float | None) -> None:
        """Refuse a frame whose station the body has not."""
