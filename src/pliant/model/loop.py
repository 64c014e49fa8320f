"""Loop closures: what holds two frames of a tree together, exactly by multipliers or nearly by virtual springs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.check import Vector
from pliant.model.frame import Frame

KINDS = ("point", "spherical", "revolute", "weld", "prismatic", "slider", "distance", "cylindrical", "universal", "planar")
WAYS = ("multipliers", "springs")


@dataclass(frozen=True)
class Closure:
    """Frame a held to frame b.

    point, spherical: origins together; revolute: and turning about `axis` of b only; weld: nothing moves; prismatic: sliding
    along `axis` of b only; slider: a's origin on the line through b along `axis`; distance: origins `length` apart; cylindrical:
    sliding along `axis` and turning about it; universal: origins together, `other_axis` of a at its angle to `axis` of b; planar:
    a's origin in the plane through b across `axis`, turning about it only.
    """

    name: str
    kind: str
    a: Frame
    b: Frame
    axis: Vector
    length: float  # m, of a distance
    by: str
    stiffness: float  # Ks of virtual springs, N/m
    damping: float  # of virtual springs, N s/m
    other_axis: Vector = (0.0, 0.0, 1.0)  # of a universal, in the axes of a


def closure(
    name: str,
    kind: Any,
    a: Frame,
    b: Frame,
    axis: Any,
    length: Any,
    by: Any,
    stiffness: Any,
    damping: Any,
    other_axis: Any = "z",
) -> Closure:
    """A closure, checked."""
    part = f"closure {name!r}"
    check.choice(part, "kind", kind, KINDS)
    check.choice(part, "by", by, WAYS)
    if kind == "distance" and length is None:
        raise ModelError.of(part, "length", "must be given for a distance", length)
    apart = 0.0 if length is None else check.positive(part, "length", length, "m")
    ks = 0.0
    if by == "springs":
        if stiffness is None:
            raise ModelError.of(part, "stiffness", "must be given for virtual springs", stiffness)
        ks = check.positive(part, "stiffness", stiffness, "N/m")
    elif stiffness is not None:
        raise ModelError.of(part, "stiffness", "must be left out where multipliers close the loop", stiffness)
    drag = check.not_negative(part, "damping", damping, "N s/m")
    along, other = check.axis(part, "axis", axis), check.axis(part, "other_axis", other_axis)
    if kind == "universal" and abs(sum(x * y for x, y in zip(along, other, strict=True))) > 1.0 - 1e-9:
        raise ModelError.of(part, "other_axis", "must not be parallel to axis", other_axis)
    return Closure(name, kind, a, b, along, apart, by, ks, drag, other)


