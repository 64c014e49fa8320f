"""Loop closures: what holds two frames or coordinates of a tree together, exactly by multipliers or nearly by virtual springs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.check import Vector
from pliant.model.frame import Frame
from pliant.model.signal import MotionTable, Prescribed, PrescribedMotion, prescribed

FRAME_KINDS = (
    "point", "spherical", "revolute", "weld", "prismatic", "slider", "distance", "cylindrical", "universal", "planar",
)  # fmt: skip
GEAR, PRESCRIBED = "gear", "prescribed"
KINDS = (*FRAME_KINDS, GEAR, PRESCRIBED)
ALONG_AXIS = ("slider", "prismatic")  # kinds whose position along the axis may be prescribed
WAYS = ("multipliers", "springs")

# Of the mechanism's size, or of 1 rad: what a row that others imply may miss by. Lengths written with six digits miss by as much.
CLOSURE_TOLERANCE = 1e-6
FINEST_TOLERANCE, COARSEST_TOLERANCE = 1e-12, 1e-2  # above round-off; below what is a mechanism of another shape


@dataclass(frozen=True)
class Closure:
    """Frame a held to frame b, or coordinate a to coordinate b.

    point, spherical: origins together; revolute: and turning about `axis` of b only; weld: nothing moves; prismatic: sliding
    along `axis` of b only; slider: a's origin on the line through b along `axis`; distance: origins `length` apart; cylindrical:
    sliding along `axis` and turning about it; universal: origins together, `other_axis` of a at its angle to `axis` of b; planar:
    a's origin in the plane through b across `axis`, turning about it only; gear: coordinate a turns `ratio` times as far as
    coordinate b, both from where they start; prescribed: coordinate a, or a's origin in the axes of b, follows `motion`. Sliders,
    prismatic closures and distances may follow a motion too.
    """

    name: str
    kind: str
    a: Frame | str  # a coordinate's name for a gear, or for a prescribed coordinate
    b: Frame | str | None
    axis: Vector
    length: float  # m, of a distance that stays
    by: str
    stiffness: float  # Ks of virtual springs, N/m
    damping: float  # of virtual springs, N s/m
    ratio: float = 0.0  # of a gear
    motion: tuple[PrescribedMotion | None, ...] = ()  # functions of t, one per direction; None leaves it free
    other_axis: Vector = (0.0, 0.0, 1.0)  # of a universal, in the axes of a

    @property
    def frames(self) -> tuple[Frame, Frame] | None:
        """The two frames held, None where it is coordinates that are."""
        return (self.a, self.b) if isinstance(self.a, Frame) and isinstance(self.b, Frame) else None

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The coordinates held by name."""
        return tuple(x for x in (self.a, self.b) if isinstance(x, str))

    @property
    def prescribed(self) -> tuple[PrescribedMotion, ...]:
        """Its motions."""
        return tuple(motion for motion in self.motion if motion is not None)


def closure(
    name: str,
    kind: Any,
    a: Frame | str,
    b: Frame | str | None,
    axis: Any,
    length: Any,
    by: Any,
    stiffness: Any,
    damping: Any,
    ratio: Any = None,
    motion: Any = None,
    other_axis: Any = "z",
) -> Closure:
    """A closure, checked but for the frames and coordinates, which the System knows."""
    part = f"closure {name!r}"
    check.choice(part, "kind", kind, KINDS)
    check.choice(part, "by", by, WAYS)
    apart, moved = _length(part, kind, length)
    motions = moved + _motion(part, kind, a, motion)
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
    turns = _ratio(part, kind, ratio)
    return Closure(name, kind, a, b, along, apart, by, ks, drag, turns, motions, other)


def closure_tolerance(part: str, value: Any) -> float:
    """The tolerance that decides which rows of closures are implied by others, checked."""
    clean = check.number(part, "closure_tolerance", value)
    if not FINEST_TOLERANCE <= clean <= COARSEST_TOLERANCE:
        rule = f"must be in [{FINEST_TOLERANCE:g}, {COARSEST_TOLERANCE:g}] of the mechanism's size"
        raise ModelError.of(part, "closure_tolerance", rule, value)
    return clean


def _length(part: str, kind: str, length: Any) -> tuple[float, tuple[PrescribedMotion, ...]]:
    """A distance's length: a number, or a function of time."""
    if kind != "distance":
        if length is not None:
            raise ModelError.of(part, "length", f"must be left out for a closure of kind {kind}", length)
        return 0.0, ()
    if length is None:
        raise ModelError.of(part, "length", "must be given for a distance", length)
    if callable(length) or isinstance(length, (Prescribed, MotionTable)):
        return 0.0, (prescribed(part, "length", length),)
    return check.positive(part, "length", length, "m"), ()


def _ratio(part: str, kind: str, ratio: Any) -> float:
    if kind != GEAR:
        if ratio is not None:
            raise ModelError.of(part, "ratio", f"must be left out for a closure of kind {kind}", ratio)
        return 0.0
    if ratio is None:
        raise ModelError.of(part, "ratio", "must be given for a gear", ratio)
    clean = check.number(part, "ratio", ratio)
    if clean == 0.0:
        raise ModelError.of(part, "ratio", "must not be 0", ratio)
    return clean


def _motion(part: str, kind: str, a: Frame | str, motion: Any) -> tuple[PrescribedMotion | None, ...]:
    """One function of t along an axis or of a coordinate; two or three of a frame, None where it is free."""
    if kind not in (PRESCRIBED, *ALONG_AXIS):
        if motion is not None:
            raise ModelError.of(part, "motion", f"must be left out for a closure of kind {kind}", motion)
        return ()
    if motion is None:
        if kind == PRESCRIBED:
            raise ModelError.of(part, "motion", "must be given for a prescribed closure", motion)
        return ()
    if kind in ALONG_AXIS or isinstance(a, str):
        return (prescribed(part, "motion", motion),)
    if isinstance(motion, str) or not isinstance(motion, Sequence) or len(motion) not in (2, 3):
        raise ModelError.of(part, "motion", "must be 2 or 3 functions of t, None for what is free, where a frame moves", motion)
    motions = tuple(None if m is None else prescribed(part, f"motion[{k}]", m) for k, m in enumerate(motion))
    if all(m is None for m in motions):
        raise ModelError.of(part, "motion", "must tell at least one direction", motion)
    return motions
