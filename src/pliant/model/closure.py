"""Loop closures. They connect two frames or coordinates: exactly, by multipliers, or approximately, by penalty springs.

Each kind is a class with its own fields; its residuals are in `dynamics/closure_residuals.py`.
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
from pliant.model.rolling import Wheel
from pliant.model.signal import Formula, MotionTable, Prescribed, PrescribedMotion, prescribed

MULTIPLIERS, SPRINGS, BACKLASH = "multipliers", "springs", "backlash"
WAYS = (MULTIPLIERS, SPRINGS, BACKLASH)  # the last is for gears with backlash
Z = (0.0, 0.0, 1.0)
PARALLEL = 1e-9  # two axes are parallel if the cosine between them differs from 1 by less than this

# Relative to the mechanism's size, or to 1 rad: the largest misfit of a constraint row that other rows imply. Lengths written with
# six digits cause misfits of this size.
CLOSURE_TOLERANCE = 1e-6
FINEST_TOLERANCE, COARSEST_TOLERANCE = 1e-12, 1e-2  # above round-off; below a change of the mechanism's shape


@dataclass(frozen=True)
class Closure:
    """A closure: it connects frame a to frame b, or constrains coordinates given by name."""

    kind: ClassVar[str]  # its name in `CLOSURES`
    counts_turns: ClassVar[bool] = False  # whether its angles must be counted beyond half a turn

    name: str
    a: Frame | str
    b: Frame | str | None
    _: KW_ONLY
    by: str = MULTIPLIERS
    stiffness: float | None = None  # Ks of penalty springs, N/m, or N m/rad for angles
    damping: float = 0.0  # of penalty springs, N s/m, or N m s/rad for angles
    friction: Frictions = None  # friction pressed by the closure's own reaction

    def __post_init__(self) -> None:
        self._set("friction", frictions_of(self.part, self.friction, surfaces_of(self.free_motions)))
        check.choice(self.part, "by", self.by, WAYS)
        if self.by == SPRINGS:
            if self.stiffness is None:
                raise ModelError.of(self.part, "stiffness", "must be given when springs close the loop", self.stiffness)
            self._set("stiffness", check.positive(self.part, "stiffness", self.stiffness, "N/m"))
        elif self.stiffness is not None:
            rule = "must be left out when multipliers close the loop"
            rule = "must be left out when a backlash is given, which has its own" if self.by == BACKLASH else rule
            raise ModelError.of(self.part, "stiffness", rule, self.stiffness)
        if self.by == BACKLASH and getattr(self, "backlash", None) is None:
            raise ModelError.of(self.part, "by", "must not be 'backlash' unless the closure is a gear with a backlash", self.by)
        self._set("damping", check.not_negative(self.part, "damping", self.damping, "N s/m"))

    @property
    def part(self) -> str:
        """Its name in error messages."""
        return f"closure {self.name!r}"

    @property
    def frames(self) -> tuple[Frame, Frame] | None:
        """The two frames that it connects; None if it constrains coordinates."""
        return (self.a, self.b) if isinstance(self.a, Frame) and isinstance(self.b, Frame) else None

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The coordinates that it constrains, by name; empty if it connects frames."""
        return ()

    @property
    def motions(self) -> tuple[PrescribedMotion | None, ...]:
        """The prescribed motions, functions of t, one per direction; None for a free direction."""
        return ()

    @property
    def prescribed(self) -> tuple[PrescribedMotion, ...]:
        """The prescribed motions without the free directions."""
        return tuple(motion for motion in self.motions if motion is not None)

    @property
    def free_motions(self) -> tuple[Motion, ...]:
        """The motions from frame b to frame a along which friction may act."""
        return ()

    @property
    def frictions(self) -> Mapping[str, JointFriction]:
        """Friction by the name of the motion on which it acts."""
        return self.friction  # type: ignore[return-value]

    @property
    def spring(self) -> float:
        """Ks of the penalty springs, N/m or N m/rad; 0 if multipliers close the loop."""
        return 0.0 if self.stiffness is None else self.stiffness

    def _set(self, field: str, value: Any) -> None:
        object.__setattr__(self, field, value)


# ---- closures that connect frames


@dataclass(frozen=True)
class PointClosure(Closure):
    """The origins of both frames coincide."""

    kind = "point"

    @property
    def free_motions(self) -> tuple[Motion, ...]:
        return (Motion(BALL, "rotation"),)


@dataclass(frozen=True)
class SphericalClosure(Closure):
    """The origins of both frames coincide; another name for a point closure."""

    kind = "spherical"

    @property
    def free_motions(self) -> tuple[Motion, ...]:
        return (Motion(BALL, "rotation"),)


@dataclass(frozen=True)
class WeldClosure(Closure):
    """The frames do not move relative to each other."""

    kind = "weld"


@dataclass(frozen=True)
class DistanceClosure(Closure):
    """The origins are a given length apart, which may be a function of t."""

    kind = "distance"

    _: KW_ONLY
    length: float | PrescribedMotion  # m

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length is None:
            raise ModelError.of(self.part, "length", "must be given for a distance closure", self.length)
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
    """The origins coincide, and the frames turn about the axis only."""

    kind = "revolute"

    @property
    def free_motions(self) -> tuple[Motion, ...]:
        return (Motion(ROTATION, "angle", self.axis),)


@dataclass(frozen=True)
class CylindricalClosure(_AxisClosure):
    """The frames slide along the axis and turn about it."""

    kind = "cylindrical"

    @property
    def free_motions(self) -> tuple[Motion, ...]:
        return (Motion(TRANSLATION, "displacement", self.axis), Motion(ROTATION, "angle", self.axis))


@dataclass(frozen=True)
class PlanarClosure(_AxisClosure):
    """The origin of a stays in the plane through b normal to the axis, and the frames turn about the axis only."""

    kind = "planar"


@dataclass(frozen=True)
class UniversalClosure(_AxisClosure):
    """The origins coincide, and `other_axis` of a keeps its initial angle to the axis of b."""

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
    """A closure that slides along the axis, freely or with a prescribed motion."""

    _: KW_ONLY
    motion: PrescribedMotion | None = None  # m

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.motion is not None:
            self._set("motion", prescribed(self.part, "motion", self.motion))

    @property
    def motions(self) -> tuple[PrescribedMotion | None, ...]:
        return () if self.motion is None else (self.motion,)

    @property
    def free_motions(self) -> tuple[Motion, ...]:
        return (Motion(TRANSLATION, "displacement", self.axis),)


@dataclass(frozen=True)
class SliderClosure(_AlongAxisClosure):
    """The origin of a stays on the line through b along the axis."""

    kind = "slider"


@dataclass(frozen=True)
class PrismaticClosure(_AlongAxisClosure):
    """The frames slide along the axis only."""

    kind = "prismatic"


# ---- closures that constrain coordinates


@dataclass(frozen=True)
class GearClosure(Closure):
    """Coordinate a moves `ratio` times as far as coordinate b, both measured from their start, up to a backlash if one is given."""

    kind = "gear"
    counts_turns = True

    _: KW_ONLY
    ratio: float
    backlash: Backlash | None = None  # of a - ratio b, in the unit of a

    def __post_init__(self) -> None:
        if self.backlash is not None:
            check.instance(self.part, "backlash", self.backlash, Backlash, "a Backlash")
            if self.by == SPRINGS:
                raise ModelError.of(self.part, "by", "must be left out when a backlash is given, which has its own spring", self.by)
            if self.damping != 0.0:
                rule = "must be left out when a backlash is given, which has its own"
                raise ModelError.of(self.part, "damping", rule, self.damping)
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
        return (self.a, self.b)  # type: ignore[return-value]  # the System checks which names are coordinates


@dataclass(frozen=True)
class PrescribedClosure(Closure):
    """Coordinate a follows a motion; or the origin of frame a follows 2 or 3 motions in the axes of b, None where it is free."""

    kind = "prescribed"

    _: KW_ONLY
    motion: PrescribedMotion | tuple[PrescribedMotion | None, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.motion is None:
            raise ModelError.of(self.part, "motion", "must be given for a prescribed closure", self.motion)
        self._set("motion", prescribed(self.part, "motion", self.motion) if self.coordinates else self._of_frame(self.motion))
        if self.coordinates and self.b is not None:
            raise ModelError.of(self.part, "b", "must be left out when a is a coordinate", self.b)

    def _of_frame(self, motion: Any) -> tuple[PrescribedMotion | None, ...]:
        if isinstance(motion, str) or not isinstance(motion, Sequence) or len(motion) not in (2, 3):
            rule = "must be 2 or 3 functions of t for a frame, with None for each free direction"
            raise ModelError.of(self.part, "motion", rule, motion)
        motions = tuple(None if m is None else prescribed(self.part, f"motion[{k}]", m) for k, m in enumerate(motion))
        if all(m is None for m in motions):
            raise ModelError.of(self.part, "motion", "must prescribe at least one direction", motion)
        return motions

    @property
    def coordinates(self) -> tuple[str, ...]:
        return (self.a,) if isinstance(self.a, str) else ()

    @property
    def motions(self) -> tuple[PrescribedMotion | None, ...]:
        return self.motion if isinstance(self.motion, tuple) else (self.motion,)


# ---- conditions of one's own


@dataclass(frozen=True)
class FormulaClosure(Closure):
    """A formula of (t, q, v) stays zero: one of positions, or one of speeds, in which it is linear (non-holonomic)."""

    kind = "formula"

    _: KW_ONLY
    formula: Formula
    nonholonomic: bool = False
    angular: bool = False  # whether it is an angle or an angular speed rather than a distance or a speed
    wheel: Wheel | None = None  # of which it is a row

    OUTSIDE_EQUATIONS: ClassVar[tuple[str, ...]] = ("wheel",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nonholonomic and self.by == SPRINGS:
            rule = "must be 'multipliers' for a non-holonomic constraint: no spring can act on a speed"
            raise ModelError.of(self.part, "by", rule, self.by)

    @property
    def part(self) -> str:
        return f"constraint {self.name!r}"


CLOSURES: dict[str, type[Closure]] = {
    closure.kind: closure
    for closure in (
        PointClosure, SphericalClosure, RevoluteClosure, WeldClosure, PrismaticClosure, SliderClosure, DistanceClosure,
        CylindricalClosure, UniversalClosure, PlanarClosure, GearClosure, PrescribedClosure,
    )
}  # fmt: skip


def own_fields(kind: type[Closure]) -> tuple[str, ...]:
    """The fields of a kind of closure that not all kinds have."""
    shared = {field.name for field in fields(Closure)}
    return tuple(field.name for field in fields(kind) if field.name not in shared)


def closure(
    kind: Any, name: str, a: Frame | str, b: Frame | str | None, ways: Mapping[str, Any], own: Mapping[str, Any]
) -> Closure:
    """A closure made from the name of its kind, and checked except for its frames and coordinates, which the System checks.

    ways: fields that say how the loop is closed. own: fields of all kinds; those that this kind lacks must be None, except axes.
    """
    part = f"closure {name!r}"
    check.choice(part, "kind", kind, CLOSURES)
    known = own_fields(CLOSURES[kind])
    for field, value in own.items():
        if field in ("axis", "other_axis"):  # these have a default, so they are always given
            check.axis(part, field, value)
        elif field not in known and value is not None:
            raise ModelError.of(part, field, f"must be left out for a closure of kind {kind}", value)
    return CLOSURES[kind](name, a, b, **ways, **{field: value for field, value in own.items() if field in known})


def closure_tolerance(part: str, value: Any) -> float:
    """The tolerance within which constraint rows count as implied by other rows, checked."""
    clean = check.number(part, "closure_tolerance", value)
    if not FINEST_TOLERANCE <= clean <= COARSEST_TOLERANCE:
        rule = f"must be in [{FINEST_TOLERANCE:g}, {COARSEST_TOLERANCE:g}], relative to the mechanism's size"
        raise ModelError.of(part, "closure_tolerance", rule, value)
    return clean
