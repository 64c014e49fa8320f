"""Outlines of cross-sections: the shape of a section, from which stresses are computed.

y and z are the axes of the beam's section, with the origin at its centroid.
"""

from __future__ import annotations

from dataclasses import dataclass

from pliant.errors import ModelError
from pliant.model import check
from pliant.scalar import ArrayOf, Numbers


@dataclass(frozen=True, kw_only=True)
class RectangleOutline:
    """A solid rectangle: height along y, width along z."""

    height: float  # m
    width: float  # m

    def __post_init__(self) -> None:
        check.fields(self, check.positive, height="m", width="m")


@dataclass(frozen=True, kw_only=True)
class RingOutline:
    """A solid circle (inner = 0), or a ring of any thickness."""

    outer: float  # radius, m
    inner: float = 0.0  # radius, m

    def __post_init__(self) -> None:
        part = "RingOutline"
        object.__setattr__(self, "outer", check.positive(part, "outer", self.outer, "m"))
        object.__setattr__(self, "inner", check.not_negative(part, "inner", self.inner, "m"))
        if self.inner >= self.outer:
            raise ModelError.of(part, "inner", f"must be < outer = {self.outer!r} m", self.inner)


@dataclass(frozen=True, kw_only=True)
class FibreOutline:
    """Any section, described by its outermost fibres and its moduli. Its largest stresses are assumed to act in the same fibre.

    That assumption is conservative. The torsion stress is T / torsion_modulus and the shear stress V / shear_area; a modulus or
    area that is left out contributes no stress.
    """

    points: ArrayOf[Numbers]  # (y, z) of the outermost fibres, m
    torsion_modulus: float | None = None  # m^3
    shear_area: float | None = None  # m^2

    def __post_init__(self) -> None:
        part = "FibreOutline"
        points = tuple(check.numbers(part, f"points[{k}]", point, 2, "m") for k, point in enumerate(self.points))
        if not points:
            raise ModelError.of(part, "points", "must contain at least one fibre", self.points)
        object.__setattr__(self, "points", points)
        check.fields(self, check.positive, torsion_modulus="m^3", shear_area="m^2")


OUTLINES = (RectangleOutline, RingOutline, FibreOutline)
