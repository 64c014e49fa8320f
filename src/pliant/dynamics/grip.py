"""Friction that holds: what a contact or a joint whose law holds is doing, and the force that this gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pliant.dynamics.algebra import Scalar, Vec, dot, total
from pliant.integrate.grip_states import REST_SHARE
from pliant.model.friction_law import RETURN_SHARE, STOP_SHARE
from pliant.scalar import maximum, where

SMALLEST_SPEED = 1e-30  # m/s: what slip is divided by at rest, where the force is zero anyway


class Slipping(Protocol):
    """Two surfaces that slip on each other."""

    @property
    def slip(self) -> tuple[Scalar, ...]: ...  # m/s
    @property
    def speed(self) -> Scalar: ...
    @property
    def tangents(self) -> tuple[Vec, ...]: ...


@dataclass(frozen=True)
class Grip:
    """What a contact or a joint whose law holds is doing, as the run decided at its events: within a phase no force of it jumps.

    SLIDES: outside the band, kinetic friction against the slip. STICKS: inside, the force is solved for. YIELDS: at rest, but more
    is asked than it can hold; it gives all it can in a direction that stays. CREEPS: inside and no longer at rest,
    it gives all it can against the slip. RETURNS: slides, having broken away; it holds again a little further inside the band,
    so that it cannot enter and leave without end.
    """

    doing: Scalar
    resists: Vec  # the direction of a force that yields, world axes

    @property
    def sticks(self) -> Scalar:
        return self._one_of(0.0, 1.0, 0.0, 0.0)

    @property
    def rests(self) -> Scalar:
        """Whether it is at rest: it sticks, or yields and others hold it."""
        return self._one_of(0.0, 1.0, 1.0, 0.0)

    def edge(self, band: float) -> Scalar:
        """The slip speed at which it enters or leaves its band, or creeps instead of yielding, m/s."""
        return where(self.doing < -0.5, RETURN_SHARE * band, self._one_of(band, band, REST_SHARE * band, band))

    def reserve(self, margin: Scalar, slipping: Slipping, band: float) -> Scalar:
        """Falls to zero where it must yield, having stuck; or where it has come to rest, having yielded or crept."""
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
        """The direction of a force that yields, along the tangents."""
        return tuple(dot(self.resists, t) for t in slipping.tangents)

    def _one_of(self, slides: Scalar, sticks: Scalar, yields: Scalar, creeps: Scalar) -> Scalar:
        inside = where(self.doing < 1.5, sticks, where(self.doing < 2.5, yields, creeps))
        return where(self.doing < 0.5, slides, inside)
