"""Wear of contacts: the volume that sliding takes away, a state that is integrated like a work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pliant.model import check
from pliant.scalar import Scalar, maximum

WEAR, WEARS = " wear", " wears"  # after the name of a pair: its state, and what the state's rate reads


@dataclass(frozen=True, kw_only=True)
class Archard:
    """V' = k N |v_t|/H: volume worn off both bodies together, m^3.  Archard 1953; in joints Flores 2009."""

    coefficient: float  # k, 1e-8 (mild) to 1e-2 (severe)
    hardness: float  # H of the softer body, Pa

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficient", check.not_negative("Archard", "coefficient", self.coefficient))
        object.__setattr__(self, "hardness", check.positive("Archard", "hardness", self.hardness, "Pa"))

    def rate(self, force: Scalar, slip: Scalar) -> Scalar:
        """m^3/s; an adhesive force does not wear."""
        return self.coefficient / self.hardness * maximum(force, 0.0) * slip


@dataclass(frozen=True)
class WearRate:
    """The rate of a pair's wear as a formula of (t, q, v)."""

    pair: str

    @property
    def text(self) -> str:
        """Its name in messages."""
        return f"the wear of contact {self.pair!r}"

    def __call__(self, t: Any, q: Mapping[str, Any], v: Mapping[str, Any]) -> Any:
        return q[self.pair + WEARS]
