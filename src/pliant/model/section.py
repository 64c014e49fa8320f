"""Cross-sections of beams. The beam runs along x; y and z span the section."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.outline import OUTLINES, FibreOutline, RectangleOutline, RingOutline
from pliant.model.walk import field_names, unchecked_copy
from pliant.scalar import maximum, minimum, tanh


@dataclass(frozen=True, kw_only=True)
class Section:
    """A beam's cross-section. Iz resists bending in the x-y plane, Iy resists bending in the x-z plane, J resists torsion.

    outline: the shape of the section; only stresses need it.
    """

    OUTSIDE_EQUATIONS: ClassVar[tuple[str, ...]] = ("outline",)

    A: float  # area, m^2
    Iz: float | None = None  # second moment about z, m^4
    Iy: float | None = None  # second moment about y, m^4
    J: float | None = None  # torsion constant, m^4
    shear_factor: float | None = None  # Timoshenko's k, 1
    outline: RectangleOutline | RingOutline | FibreOutline | None = None

    def __post_init__(self) -> None:
        part = "Section"
        check.fields(self, check.positive, A="m^2", Iz="m^4", Iy="m^4", J="m^4")
        if self.shear_factor is not None:
            factor = check.positive(part, "shear_factor", self.shear_factor)
            if factor > 1.0:
                raise ModelError.of(part, "shear_factor", "must be in (0, 1]", factor)
            object.__setattr__(self, "shear_factor", factor)
        if self.outline is not None:
            check.instance(part, "outline", self.outline, OUTLINES, "an outline")

    @classmethod
    def rectangle(cls, height: float, width: float, shear_factor: float = 5.0 / 6.0) -> Section:
        """A solid rectangle: height along y (the direction of planar bending) and width along z, m."""
        h = check.positive("Section.rectangle", "height", height, "m")
        b = check.positive("Section.rectangle", "width", width, "m")
        outline = RectangleOutline(height=h, width=b)
        return cls(**_numbers_of(outline), shear_factor=shear_factor, outline=outline)

    @classmethod
    def round(cls, radius: float, shear_factor: float = 0.9) -> Section:
        """A solid circle of the given radius, m."""
        r = check.positive("Section.round", "radius", radius, "m")
        outline = RingOutline(outer=r)
        return cls(**_numbers_of(outline), shear_factor=shear_factor, outline=outline)

    @classmethod
    def tube(cls, outer: float, inner: float, shear_factor: float = 0.5) -> Section:
        """A circular tube with outer and inner radius in m; the default shear factor is that of a thin wall."""
        ro = check.positive("Section.tube", "outer", outer, "m")
        ri = check.positive("Section.tube", "inner", inner, "m")
        if ri >= ro:
            raise ModelError.of("Section.tube", "inner", f"must be < outer = {ro!r} m", ri)
        outline = RingOutline(outer=ro, inner=ri)
        return cls(**_numbers_of(outline), shear_factor=shear_factor, outline=outline)

    @property
    def follows_outline(self) -> bool:
        """Whether all numbers are those of a rectangle or a ring, as the builders make them, so that the section can taper."""
        if not isinstance(self.outline, RectangleOutline | RingOutline):
            return False
        return all(getattr(self, name) is not None and math.isclose(float(getattr(self, name)), float(x))
                   for name, x in _numbers_of(self.outline).items())  # fmt: skip

    def towards(self, other: Section, fraction: Any) -> Section:
        """The section a fraction of the way to another of the same form: dimensions change linearly. fraction: may be an array."""
        mixed = {name: getattr(self.outline, name) * (1.0 - fraction) + getattr(other.outline, name) * fraction
                 for name in field_names(type(self.outline)) or ()}  # fmt: skip
        outline = unchecked_copy(self.outline, mixed)
        factors = (self.shear_factor, other.shear_factor)
        factor = None if None in factors else factors[0] * (1.0 - fraction) + factors[1] * fraction
        found: Section = unchecked_copy(self, {**_numbers_of(outline), "shear_factor": factor, "outline": outline})
        return found


def _numbers_of(outline: RectangleOutline | RingOutline) -> dict[str, float]:
    """Area, second moments and torsion constant of a rectangle or a ring."""
    if isinstance(outline, RectangleOutline):
        h, b = outline.height, outline.width
        return {"A": b * h, "Iz": b * h**3 / 12.0, "Iy": h * b**3 / 12.0, "J": _rectangle_torsion(maximum(h, b), minimum(h, b))}
    ro, ri = outline.outer, outline.inner
    bending = math.pi * (ro**4 - ri**4) / 4.0
    return {"A": math.pi * (ro**2 - ri**2), "Iz": bending, "Iy": bending, "J": 2.0 * bending}


def _rectangle_torsion(long: float, short: float, terms: int = 40) -> float:
    """Saint-Venant: J = a b^3 [1/3 - 64 b/(pi^5 a) sum_odd tanh(n pi a / 2 b) / n^5]."""
    series = sum(tanh(n * math.pi * long / (2.0 * short)) / n**5 for n in range(1, 2 * terms, 2))
    return long * short**3 * (1.0 / 3.0 - 64.0 * short / (math.pi**5 * long) * series)  # type: ignore[no-any-return]
