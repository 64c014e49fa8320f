"""The result of forward dynamics, common to all formulations."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.dynamics.algebra import Scalar


@dataclass(frozen=True)
class Forward:
    """Accelerations of all coordinates, and the efforts that prescribed motions require."""

    accelerations: list[Scalar]
    efforts: dict[int, Scalar]
