"""The protocol of bodies: what a System needs to know of any body (coordinates, initial values, frames, mass)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self

from pliant.model.frame import Frame
from pliant.model.length import Length
from pliant.model.rigid import Payload


class Body(Protocol):
    """A body of the model: `RigidBody`, `Beam`, `TelescopicBeam`."""

    @property
    def mass(self) -> float:
        """kg, without the payload."""

    @property
    def payload(self) -> Payload | None:
        """The payload at its tip, if it has one."""

    @property
    def mode_labels(self) -> tuple[str, ...]:
        """Names of its modal coordinates."""

    @property
    def lengths(self) -> Mapping[str, Length]:
        """Its coordinates that are not modes, by name; they come before the modes."""

    @property
    def as_published(self) -> bool:
        """Whether its equations omit terms, as in a published paper, so that they do not conserve energy."""

    def with_lengths(self, lengths: Mapping[str, Length]) -> Self:
        """The same body with other initial values or prescribed motions of its lengths; stops are kept."""

    def places(self, name: str) -> dict[str, Frame]:
        """The named frames of the body, root and tip first; `name` is the body's name."""

    def at(self, name: str, place: Any) -> Frame:
        """A frame at a place without a name: a station or a point."""

    def check_station(self, part: str, label: str, station: float | None) -> None:
        """Refuse a frame at a station that the body does not have."""
