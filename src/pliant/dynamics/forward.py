"""What every formulation of forward dynamics gives."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.dynamics.algebra import Scalar


@dataclass(frozen=True)
class Forward:
    """Accelerations of all coordinates, and the efforts that prescribed ones need."""

    accelerations: list[Scalar]
    efforts: dict[int, Scalar]
