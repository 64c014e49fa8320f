"""Loop closures: what holds two frames or coordinates of a tree together, exactly by multipliers or nearly by virtual springs.

One class a kind, with what that kind takes; its residuals are in `dynamics/closure_residuals.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any, ClassVar

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.check import Vector
from pliant.model.frame import Frame
from pliant.model.joint import BALL, ROTATION, TRANSLATION, Motion, surfaces_of
from pliant.model.joint_friction import Frictions, JointFriction, frictions_of
from pliant.model.play import Backlash
from pliant.model.signal import MotionTable, Prescribed, PrescribedMotion, prescribed

MULTIPLIERS, SPRINGS, BACKLASH = "multipliers", "springs", "backlash"
WAYS = (MULTIPLIERS, SPRINGS, BACKLASH)  # the last of gears that have play
Z = (0.0, 0.0, 1.0)
PARALLEL = 1e-9  # of 1: what the cosine between two axes may be off by before they are one

# Of the mechanism's size, or of 1 rad: what a row that others imply may miss by. Lengths written with six digits miss by as much.
CLOSURE_TOLERANCE = 1e-6
FINEST_TOLERANCE, COARSEST_TOLERANCE = 1e-12, 1e-2  # above round-off; below what is a mechanism of another shape


@dataclass(frozen=True)
class Closure:
    """Frame a held to frame b, or a coordinate held by its name."""

    kind: ClassVar[str]  # its name in `CLOSURES`
    counts_turns: ClassVar[bool] = False  # whether angles that it holds must be counted beyond half a turn

    name: str
    a: Frame | str
    b: Frame | str | None
    _: KW_ONLY
    by: str = MULTIPLIERS
    stiffness: float | None = None  # Ks of virtual springs, N/m; of rows that are angles N m/rad
    damping: float = 0.0  # of virtual springs, N s/m; of rows that are angles N m s/rad
    friction: Frictions = None  # by the closure's own reaction

    def __post_init__(self) -> None:
        self._set("friction", frictions_of(self.part, self.friction, surfaces_of(self.free_motions)))
        check.choice(self.part, "by", self.by, WAYS)
        if self.by == SPRINGS:
            if self.stiffness is None:
                raise ModelError.of(self.part, "stiffness", "must be given for virtual springs", self.stiffness)
            self._set("stiffness", check.positive(self.part, "stiffness", self.stiffness, "N/m"))
        elif self.stiffness is not None:
            rule = "must be left out where multipliers close the loop"
            rule = "must be left out beside a backlash, which has its own" if self.by == BACKLASH else rule
            raise ModelError.of(self.part, "stiffness", rule, self.stiffness)
        if self.by == BACKLASH and getattr(self, "backlash", None) is None:
            raise ModelError.of(self.part, "by", "must be backlash for a gear with a backlash only", self.by)
        self._set("damping", check.not_negative(self.part, "damping", self.damping, "N s/m"))

    @property
    def part(self) -> str:
        """What errors call it."""
        return f"closure {self.name!r}"

    @property
    def frames(self) -> tuple[Frame, Frame] | None:
        """The two frames held, None where it is coordinates that are."""
        return (self.a, self.b) if isinstance(self.a, Frame) and isinstance(self.b, Frame) else None

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The coordinates held by name, where it holds no frames."""
        return ()

    @property
    def motions(self) -> tuple[PrescribedMotion | None, ...]:
        """The motions that it follows, functions of t, one per direction; None leaves it free."""
        return ()

    @property
    def prescribed(self) -> tuple[PrescribedMotion, ...]:
        """The same without those that are free."""
        return tuple(motion for motion in self.motions if motion is not None)

    @property
    def free_motions(self) -> tuple[Motion, ...]:
        """The motions from frame b to frame a that friction may act along."""
        return ()

    @property
    def frictions(self) -> Mapping[str, JointFriction]:
        return self.friction  # type: ignore[return-value]

    @property
    def spring(self) -> float:
        """Ks of virtual springs, N/m or N m/rad; 0 where multipliers hold it."""
        return 0.0 if self.stiffness is None else self.stiffness

    def _set(self, field: str, value: Any) -> None:
        object.__setattr__(self, field, value)


# ---- of frames


@dataclass(frozen=True)
class PointClosure(Closure):
    """Origins together."""

    kind = "point"

    @property
    def free_motions(self) -> tuple[Motion, ...]:
        return (Motion(BALL, "rotation"),)


@dataclass(frozen=True)
class SphericalClosure(Closure):
    """Origins together: a point by its other name."""

    kind = "spherical"

    @property
    def free_motions(self) -> tuple[Motion, ...]:
        return (Motion(BALL, "rotation"),)


@dataclass(frozen=True)
class WeldClosure(Closure):
    """Nothing moves."""

    kind = "weld"


@dataclass(frozen=True)
class DistanceClosure(Closure):
    """Origins a length apart, which may follow a motion."""

    kind = "distance"

    _: KW_ONLY
    length: float | PrescribedMotion  # m

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length is None:
            raise ModelError.of(self.part, "length", "must be given for a distance", self.length)
        if callable(self.length) or isinstance(self.length, (Prescribed, MotionTable)):
            self._set("length", prescribed(self.part, "length", self.length))
        else:
            self._set("length", check.positive(self.part, "length", self.length, "m"))

    @property
    def motions(self) -> tuple[PrescribedMotion | None, ...]:
        return (self.length,) if isinstance(self.length, (Prescribed, MotionTable)) else ()


@dataclass(frozen=True)
class _AxisClosure(Closure):
    """A closure about or along an axis of b."""

    _: KW_ONLY
    axis: Vector = Z

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("axis", check.axis(self.part, "axis", self.axis))


@dataclass(frozen=True)
class RevoluteClosure(_AxisClosure):
    """Origins together, turning about the axis only."""

    kind = "revolute"

    @property
    def free_motions(self) -> tuple[Motion, ...]:
        return (Motion(ROTATION, "angle", self.axis),)


@dataclass(frozen=True)
class CylindricalClosure(_AxisClosure):
    """Sliding along the axis and turning about it."""

    kind = "cylindrical"

    @property
    def free_motions(self) -> tuple[Motion, ...]:
        return (Motion(TRANSLATION, "displacement", self.axis), Motion(ROTATION, "angle", self.axis))


@dataclass(frozen=True)
class PlanarClosure(_AxisClosure):
    """a's origin in the plane through b across the axis, turning about it only."""

    kind = "planar"


@dataclass(frozen=True)
class UniversalClosure(_AxisClosure):
    """Origins together, `other_axis` of a at its angle to the axis of b."""

    kind = "universal"

    _: KW_ONLY
    other_axis: Vector = Z  # in the axes of a

    def __post_init__(self) -> None:
        super().__post_init__()
        other = check.axis(self.part, "other_axis", self.other_axis)
        if abs(sum(x * y for x, y in zip(self.axis, other, strict=True))) > 1.0 - PARALLEL:
            raise ModelError.of(self.part, "other_axis", "must not be parallel to axis", self.other_axis)
        self._set("other_axis", other)


@dataclass(frozen=True)
class _AlongAxisClosure(_AxisClosure):
    """A closure that slides along the axis, where it may follow a motion."""

    _: KW_ONLY
    motion: PrescribedMotion | None = None  # m

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.motion is not None:
            self._set("motion", prescribed(self.part, "motion", self.motion))

    @property
    def motions(self) -> tuple[PrescribedMotion | None, ...]:
        return () if self.motion is None else (self.motion,)


@dataclass(frozen=True)
class SliderClosure(_AlongAxisClosure):
    """a's origin on the line through b along the axis."""

    kind = "slider"

    @property
    def free_motions(self) -> tuple[Motion, ...]:
        return (Motion(TRANSLATION, "displacement", self.axis),)


@dataclass(frozen=True)
class PrismaticClosure(_AlongAxisClosure):
    """Sliding along the axis only."""

    kind = "prismatic"

    @property
    def free_motions(self) -> tuple[Motion, ...]:
        return (Motion(TRANSLATION, "displacement", self.axis),)


# ---- of coordinates


@dataclass(frozen=True)
class GearClosure(Closure):
    """Coordinate a moves `ratio` times as far as coordinate b, both from where they start; with a backlash only so nearly."""

    kind = "gear"
    counts_turns = True

    _: KW_ONLY
    ratio: float
    backlash: Backlash | None = None  # of a - ratio b, in the unit of a

    def __post_init__(self) -> None:
        if self.backlash is not None:
            check.instance(self.part, "backlash", self.backlash, Backlash, "a Backlash")
            if self.by == SPRINGS:
                raise ModelError.of(self.part, "by", "must be left out beside a backlash, which has its own spring", self.by)
            if self.damping != 0.0:
                raise ModelError.of(self.part, "damping", "must be left out beside a backlash, which has its own", self.damping)
            self._set("by", BACKLASH)
        super().__post_init__()
        if self.ratio is None:
            raise ModelError.of(self.part, "ratio", "must be given for a gear", self.ratio)
        clean = check.number(self.part, "ratio", self.ratio)
        if clean == 0.0:
            raise ModelError.of(self.part, "ratio", "must not be 0", self.ratio)
        self._set("ratio", clean)

    @property
    def coordinates(self) -> tuple[str, ...]:
        return (self.a, self.b)  # type: ignore[return-value]  # the System knows which names are coordinates


@dataclass(frozen=True)
class PrescribedClosure(Closure):
    """Coordinate a follows a motion; or a's origin follows two or three in the axes of b, None where it is free."""

    kind = "prescribed"

    _: KW_ONLY
    motion: PrescribedMotion | tuple[PrescribedMotion | None, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.motion is None:
            raise ModelError.of(self.part, "motion", "must be given for a prescribed closure", self.motion)
        self._set("motion", prescribed(self.part, "motion", self.motion) if self.coordinates else self._of_frame(self.motion))
        if self.coordinates and self.b is not None:
            raise ModelError.of(self.part, "b", "must be left out where a coordinate is prescribed", self.b)

    def _of_frame(self, motion: Any) -> tuple[PrescribedMotion | None, ...]:
        if isinstance(motion, str) or not isinstance(motion, Sequence) or len(motion) not in (2, 3):
            rule = "must be 2 or 3 functions of t, None for what is free, where a frame moves"
            raise ModelError.of(self.part, "motion", rule, motion)
        motions = tuple(None if m is None else prescribed(self.part, f"motion[{k}]", m) for k, m in enumerate(motion))
        if all(m is None for m in motions):
            raise ModelError.of(self.part, "motion", "must tell at least one direction", motion)
        return motions

    @property
    def coordinates(self) -> tuple[str, ...]:
        return (self.a,) if isinstance(self.a, str) else ()

    @property
    def motions(self) -> tuple[PrescribedMotion | None, ...]:
        return self.motion if isinstance(self.motion, tuple) else (self.motion,)


CLOSURES: dict[str, type[Closure]] = {
    closure.kind: closure
    for closure in (
        PointClosure, SphericalClosure, RevoluteClosure, WeldClosure, PrismaticClosure, SliderClosure, DistanceClosure,
        CylindricalClosure, UniversalClosure, PlanarClosure, GearClosure, PrescribedClosure,
    )
}  # fmt: skip


def own_fields(kind: type[Closure]) -> tuple[str, ...]:
    """What a kind takes besides what all do."""
    shared = {field.name for field in fields(Closure)}
    return tuple(field.name for field in fields(kind) if field.name not in shared)


def closure(
    kind: Any, name: str, a: Frame | str, b: Frame | str | None, ways: Mapping[str, Any], own: Mapping[str, Any]
) -> Closure:
    """A closure by the name of its kind, checked but for the frames and coordinates, which the System knows.

    ways: how it is held. own: fields of any kind; those that this kind does not take must be None, but for axes.
    """
    part = f"closure {name!r}"
    check.choice(part, "kind", kind, CLOSURES)
    known = own_fields(CLOSURES[kind])
    for field, value in own.items():
        if field in ("axis", "other_axis"):  # they have a default, so are always given
            check.axis(part, field, value)
        elif field not in known and value is not None:
            raise ModelError.of(part, field, f"must be left out for a closure of kind {kind}", value)
    return CLOSURES[kind](name, a, b, **ways, **{field: value for field, value in own.items() if field in known})


def closure_tolerance(part: str, value: Any) -> float:
    """The tolerance that decides which rows of closures are implied by others, checked."""
    clean = check.number(part, "closure_tolerance", value)
    if not FINEST_TOLERANCE <= clean <= COARSEST_TOLERANCE:
        rule = f"must be in [{FINEST_TOLERANCE:g}, {COARSEST_TOLERANCE:g}] of the mechanism's size"
        raise ModelError.of(part, "closure_tolerance", rule, value)
    return clean
