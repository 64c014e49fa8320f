"""Joints. Each is a short list of elementary motions, from the frame that carries the joint to the body that it carries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.check import Axis, Vector
from pliant.model.joint_friction import BALLS, BOTH, SLIDES, TURNS, Frictions, JointFriction, frictions_of
from pliant.model.play import Backlash, Limits
from pliant.model.signal import MotionTable, Prescribed, PrescribedMotion, prescribed
from pliant.scalar import Numbers

ROTATION, TRANSLATION, BALL = "rotation", "translation", "ball"
SURFACES = {ROTATION: TURNS, TRANSLATION: SLIDES, BALL: BALLS}  # kind of surface that friction acts on
BALL_POSITIONS = ("qw", "qx", "qy", "qz")
BALL_RATES = ("wx", "wy", "wz")


@dataclass(frozen=True)
class Motion:
    """An elementary motion: a rotation about, or translation along, an axis fixed in both frames; or a ball (unit quaternion)."""

    kind: str
    name: str
    axis: Vector = (0.0, 0.0, 1.0)

    @property
    def positions(self) -> tuple[str, ...]:
        """Names of its positions; a ball has those of a quaternion."""
        return BALL_POSITIONS if self.kind == BALL else (self.name,)

    @property
    def rates(self) -> tuple[str, ...]:
        """Names of its rates."""
        return BALL_RATES if self.kind == BALL else (self.name,)

    @property
    def unit(self) -> str:
        """The unit of its positions."""
        return "m" if self.kind == TRANSLATION else "rad"


def surfaces_of(motions: Sequence[Motion]) -> dict[str, str]:
    """The kind of surface of each motion that may have friction; sliding and turning along the same axis share one surface."""
    surfaces = {motion.name: SURFACES[motion.kind] for motion in motions}
    return {**surfaces, BOTH: TURNS} if sorted(surfaces.values()) == [SLIDES, TURNS] else surfaces


@dataclass(frozen=True)
class Spring:
    """A linear spring along a joint coordinate: force = -stiffness (q - rest), with the stiffness in N/m or N m/rad."""

    stiffness: float
    rest: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "stiffness", check.not_negative("Spring", "stiffness", self.stiffness))
        object.__setattr__(self, "rest", check.number("Spring", "rest", self.rest))


@dataclass(frozen=True)
class Damper:
    """A linear damper along a joint coordinate: force = -coefficient rate, with the coefficient in N s/m or N m s/rad."""

    coefficient: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficient", check.not_negative("Damper", "coefficient", self.coefficient))


Element = TypeVar("Element")
OneMotion = Prescribed | MotionTable | Callable[..., Any]
Motions = OneMotion | Mapping[str, OneMotion] | None


@dataclass(frozen=True, kw_only=True)
class Joint:
    """The fields that all joints share. A joint with several coordinates takes mappings, as in spring={"x": Spring(10.0)}."""

    STARTS: ClassVar[Mapping[str, str]] = {}  # fields that hold initial positions, in order, and their units
    START_RATES: ClassVar[Mapping[str, str]] = {}

    spring: Spring | Mapping[str, Spring] | None = None
    damper: Damper | Mapping[str, Damper] | None = None
    limits: Limits | Mapping[str, Limits] | None = None
    friction: Frictions = None  # friction pressed by the joint's own reaction
    backlash: Backlash | Mapping[str, Backlash] | None = None
    motion: Motions = None  # prescribed functions of t

    def __post_init__(self) -> None:
        if hasattr(self, "axis"):
            object.__setattr__(self, "axis", check.axis(self.part, "axis", self.axis))
        if hasattr(self, "orientation"):
            turn = check.numbers(self.part, "orientation", self.orientation, 4)
            object.__setattr__(self, "orientation", check.unit(self.part, "orientation", turn, "quaternion"))
        for field, unit in {**self.STARTS, **self.START_RATES}.items():
            value, usual = getattr(self, field), getattr(type(self), field)
            if isinstance(usual, tuple):
                value = check.numbers(self.part, field, value, len(usual), unit)
            else:
                value = check.number(self.part, field, value, unit)
            object.__setattr__(self, field, value)
        object.__setattr__(self, "spring", self._by_coordinate("spring", self.spring, Spring, balls=True))
        for motion in self.motions:
            turned = self.springs.get(motion.name)
            if motion.kind == BALL and turned is not None and turned.rest != 0.0:
                raise ModelError.of(self.part, f"spring[{motion.name!r}].rest", "must be 0 for a ball", turned.rest)
        object.__setattr__(self, "damper", self._by_coordinate("damper", self.damper, Damper, balls=True))
        object.__setattr__(self, "limits", self._by_coordinate("limits", self.limits, Limits, balls=False))
        object.__setattr__(self, "friction", frictions_of(self.part, self.friction, self.surfaces))
        object.__setattr__(self, "backlash", self._by_coordinate("backlash", self.backlash, Backlash, balls=False))
        motions = self._by_coordinate("motion", self.motion, object, balls=False)
        clean = {name: prescribed(self.part, f"motion[{name!r}]", f) for name, f in motions.items()}
        object.__setattr__(self, "motion", clean)

    @property
    def part(self) -> str:
        """The name of its class, for messages."""
        return type(self).__name__

    @property
    def motions(self) -> tuple[Motion, ...]:
        """The elementary motions, from the frame that carries the joint to the body."""
        return ()

    @property
    def start(self) -> tuple[float, ...]:
        """Initial positions, in the order of the motions' positions."""
        return self._flat(self.STARTS)

    @property
    def start_rates(self) -> tuple[float, ...]:
        """Rates at the start, in the order of the motions' rates."""
        return self._flat(self.START_RATES)

    def _flat(self, fields: Iterable[str]) -> tuple[float, ...]:
        values = (getattr(self, field) for field in fields)
        return tuple(x for value in values for x in (value if isinstance(value, tuple) else (value,)))

    @property
    def springs(self) -> Mapping[str, Spring]:
        """Springs by coordinate."""
        return self.spring  # type: ignore[return-value]

    @property
    def dampers(self) -> Mapping[str, Damper]:
        """Dampers by coordinate."""
        return self.damper  # type: ignore[return-value]

    @property
    def stops(self) -> Mapping[str, Limits]:
        """End stops made of a spring and a damper. Stops with a contact law are contacts: see `coordinate_pair.py`."""
        return {name: stop for name, stop in self.limited.items() if stop.law is None}

    @property
    def limited(self) -> Mapping[str, Limits]:
        """Limits by coordinate."""
        return self.limits  # type: ignore[return-value]

    @property
    def frictions(self) -> Mapping[str, JointFriction]:
        """Friction by coordinate."""
        return self.friction  # type: ignore[return-value]

    @property
    def surfaces(self) -> dict[str, str]:
        """The kind of surface of each motion that may have friction, which are those whose reaction acts across the motion."""
        return surfaces_of(self.motions)

    @property
    def plays(self) -> Mapping[str, Backlash]:
        """Backlash by coordinate."""
        return self.backlash  # type: ignore[return-value]

    @property
    def prescribed(self) -> Mapping[str, PrescribedMotion]:
        """Prescribed motions by coordinate."""
        return self.motion  # type: ignore[return-value]

    def _by_coordinate(self, field: str, value: Any, kind: type[Element], balls: bool) -> dict[str, Element]:
        allowed = [m.name for m in self.motions if balls or m.kind != BALL]
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            if len(allowed) != 1:
                rule = f"must be a mapping with keys out of {allowed}" if allowed else "must be left out for this joint"
                raise ModelError.of(self.part, field, rule, value)
            value = {allowed[0]: value}
        for name, item in value.items():
            if name not in allowed:
                rule = f"must name one of the coordinates {allowed}{check.did_you_mean(name, allowed)}"
                raise ModelError.of(self.part, field, rule, name)
            check.instance(self.part, f"{field}[{name!r}]", item, kind, f"a {kind.__name__}")
        return dict(value)


@dataclass(frozen=True, kw_only=True)
class Weld(Joint):
    """A joint without motion."""


@dataclass(frozen=True, kw_only=True)
class Revolute(Joint):
    """A joint that turns about `axis`."""

    STARTS: ClassVar[Mapping[str, str]] = {"angle": "rad"}
    START_RATES: ClassVar[Mapping[str, str]] = {"rate": "rad/s"}

    angle: float = 0.0  # rad
    rate: float = 0.0  # rad/s
    axis: Axis = "z"

    @property
    def motions(self) -> tuple[Motion, ...]:
        return (Motion(ROTATION, "angle", self.axis),)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class Prismatic(Joint):
    """A joint that slides along `axis`."""

    STARTS: ClassVar[Mapping[str, str]] = {"displacement": "m"}
    START_RATES: ClassVar[Mapping[str, str]] = {"rate": "m/s"}

    displacement: float = 0.0  # m
    rate: float = 0.0  # m/s
    axis: Axis = "x"

    @property
    def motions(self) -> tuple[Motion, ...]:
        return (Motion(TRANSLATION, "displacement", self.axis),)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class Cylindrical(Joint):
    """A joint that slides along `axis` and turns about it."""

    STARTS: ClassVar[Mapping[str, str]] = {"displacement": "m", "angle": "rad"}
    START_RATES: ClassVar[Mapping[str, str]] = {"rates": ""}

    displacement: float = 0.0  # m
    angle: float = 0.0  # rad
    rates: Numbers = (0.0, 0.0)  # m/s, rad/s
    axis: Axis = "x"

    @property
    def motions(self) -> tuple[Motion, ...]:
        return (Motion(TRANSLATION, "displacement", self.axis), Motion(ROTATION, "angle", self.axis))  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class Universal(Joint):
    """A universal joint: it turns about axes[0] of the frame that carries it, then about axes[1] of the turned frame."""

    STARTS: ClassVar[Mapping[str, str]] = {"angles": "rad"}
    START_RATES: ClassVar[Mapping[str, str]] = {"rates": "rad/s"}

    angles: Numbers = (0.0, 0.0)  # rad
    rates: Numbers = (0.0, 0.0)  # rad/s
    axes: Sequence[Axis] = ("y", "z")

    def __post_init__(self) -> None:
        if isinstance(self.axes, str) or len(self.axes) != 2:
            raise ModelError.of(self.part, "axes", "must be two axes", self.axes)
        first, second = (check.axis(self.part, f"axes[{k}]", a) for k, a in enumerate(self.axes))
        if abs(sum(a * b for a, b in zip(first, second, strict=True))) > 1.0 - 1e-9:
            raise ModelError.of(self.part, "axes", "must not be parallel", self.axes)
        object.__setattr__(self, "axes", (first, second))
        super().__post_init__()

    @property
    def motions(self) -> tuple[Motion, ...]:
        first, second = self.axes
        return (Motion(ROTATION, "angle1", first), Motion(ROTATION, "angle2", second))  # type: ignore[arg-type]

    @property
    def surfaces(self) -> dict[str, str]:
        return {motion.name: BALLS for motion in self.motions}  # no guide: the cross itself carries the couples


@dataclass(frozen=True, kw_only=True)
class Spherical(Joint):
    """A ball joint. Its orientation is a unit quaternion (w, x, y, z); its rates are the angular velocity in body axes.

    A spring acts on the rotation vector and a damper on the angular velocity, both under the name `rotation`.
    """

    STARTS: ClassVar[Mapping[str, str]] = {"orientation": ""}
    START_RATES: ClassVar[Mapping[str, str]] = {"angular_velocity": "rad/s"}

    orientation: Numbers = (1.0, 0.0, 0.0, 0.0)  # (w, x, y, z)
    angular_velocity: Numbers = (0.0, 0.0, 0.0)  # rad/s, body axes

    @property
    def motions(self) -> tuple[Motion, ...]:
        return (Motion(BALL, "rotation"),)


@dataclass(frozen=True, kw_only=True)
class Planar(Joint):
    """A joint that moves in the x-y plane and turns about z; position and velocity in the axes of the frame that carries it."""

    STARTS: ClassVar[Mapping[str, str]] = {"position": "m", "angle": "rad"}
    START_RATES: ClassVar[Mapping[str, str]] = {"velocity": "m/s", "rate": "rad/s"}

    position: Numbers = (0.0, 0.0)  # m
    angle: float = 0.0  # rad
    velocity: Numbers = (0.0, 0.0)  # m/s
    rate: float = 0.0  # rad/s

    @property
    def motions(self) -> tuple[Motion, ...]:
        return (
            Motion(TRANSLATION, "x", check.AXES["x"]),
            Motion(TRANSLATION, "y", check.AXES["y"]),
            Motion(ROTATION, "angle", check.AXES["z"]),
        )

    @property
    def surfaces(self) -> dict[str, str]:
        return {}


@dataclass(frozen=True, kw_only=True)
class Free(Joint):
    """A joint with all six degrees of freedom, for a body that floats.

    Position and velocity are in the axes of the frame that carries it. The orientation is a unit quaternion (w, x, y, z); the
    angular velocity is in body axes.
    """

    STARTS: ClassVar[Mapping[str, str]] = {"position": "m", "orientation": ""}
    START_RATES: ClassVar[Mapping[str, str]] = {"velocity": "m/s", "angular_velocity": "rad/s"}

    position: Numbers = (0.0, 0.0, 0.0)  # m
    orientation: Numbers = (1.0, 0.0, 0.0, 0.0)  # (w, x, y, z)
    velocity: Numbers = (0.0, 0.0, 0.0)  # m/s
    angular_velocity: Numbers = (0.0, 0.0, 0.0)  # rad/s, body axes

    @property
    def motions(self) -> tuple[Motion, ...]:
        slides = tuple(Motion(TRANSLATION, name, check.AXES[name]) for name in ("x", "y", "z"))
        return (*slides, Motion(BALL, "rotation"))

    @property
    def surfaces(self) -> dict[str, str]:
        return {}


JOINTS: tuple[type[Joint], ...] = (Weld, Revolute, Prismatic, Cylindrical, Universal, Spherical, Planar, Free)
