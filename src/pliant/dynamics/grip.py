"""Friction laws with true sticking: the state of such a contact or joint, and its force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pliant.dynamics.algebra import Scalar, Vec, dot, total
from pliant.integrate.loop.grip_states import REST_SHARE
from pliant.scalar import maximum, where

RETURN_SHARE = 0.9  # fraction of the band: slip speed below which a contact that broke away sticks again
STOP_SHARE = 0.5 * REST_SHARE  # fraction of the band: slip speed below which decaying slip counts as rest
SMALLEST_SPEED = 1e-30  # m/s: divisor of the slip at rest, where the force is zero anyway


class Slipping(Protocol):
    """Two surfaces in sliding contact."""

    @property
    def slip(self) -> tuple[Scalar, ...]: ...  # m/s
    @property
    def speed(self) -> Scalar: ...
    @property
    def tangents(self) -> tuple[Vec, ...]: ...


@dataclass(frozen=True)
class Grip:
    """The state of a contact or joint that can stick, as the run decided at its events; its force does not jump within a phase.

    SLIDES: outside the speed band; kinetic friction opposes the slip. STICKS: inside the band; the force is solved for. YIELDS: at
    rest, but more force is needed than friction can supply; it applies its largest force in a fixed direction. CREEPS: inside the
    band but moving; it applies its largest force against the slip. RETURNS: sliding after it broke away; it sticks again only a
    little further inside the band, so that it cannot enter and leave endlessly.
    """

    doing: Scalar
    resists: Vec  # direction of the force while yielding, world axes

    @property
    def sticks(self) -> Scalar:
        return self._one_of(0.0, 1.0, 0.0, 0.0)

    @property
    def rests(self) -> Scalar:
        """Whether it is at rest: it sticks, or it yields and is held by other contacts."""
        return self._one_of(0.0, 1.0, 1.0, 0.0)

    def edge(self, band: float) -> Scalar:
        """The slip speed at which it enters or leaves the band, or begins to creep after yielding, m/s."""
        return where(self.doing < -0.5, RETURN_SHARE * band, self._one_of(band, band, REST_SHARE * band, band))

    def reserve(self, margin: Scalar, slipping: Slipping, band: float) -> Scalar:
        """Falls to zero when sticking friction must yield, or when yielding or creeping friction has come to rest."""
        backwards = total(-d * s for d, s in zip(self.along(slipping), slipping.slip, strict=True))
        return self._one_of(1.0, margin, backwards, slipping.speed - STOP_SHARE * band)

    def friction(
        self, slipping: Slipping, strength: Scalar, sliding: Sequence[Scalar], held: Sequence[Scalar]
    ) -> tuple[Scalar, ...]:
        """The force on A along the tangents, N."""
        safe = maximum(slipping.speed, SMALLEST_SPEED)
        each = zip(sliding, held, self.along(slipping), slipping.slip, strict=True)
        return tuple(self._one_of(slid, h, strength * d, -strength * (s / safe)) for slid, h, d, s in each)

    def along(self, slipping: Slipping) -> tuple[Scalar, ...]:
        """The direction of the force while yielding, along the tangents."""
        return tuple(dot(self.resists, t) for t in slipping.tangents)

    def _one_of(self, slides: Scalar, sticks: Scalar, yields: Scalar, creeps: Scalar) -> Scalar:
        inside = where(self.doing < 1.5, sticks, where(self.doing < 2.5, yields, creeps))
        return where(self.doing < 0.5, slides, inside)
