"""Sensors: what each kind measures, and how its reading differs from that: filter, delay, gain, offset, noise.

A reading is gain x + offset, where x is what the sensor measures, after its low-pass filter and its delay. Both are linear filters
whose states are states of the run; they start in equilibrium with what the sensor measures at the start.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.frame import Frame
from pliant.model.outline import FibreOutline, RectangleOutline, RingOutline
from pliant.model.signal import Formula
from pliant.scalar import Scalar, quantise

ORDERS = (1, 2)  # of the low-pass filter
BUTTERWORTH = math.sqrt(0.5)  # the damping ratio of a filter of second order whose gain is flattest; 1: critically damped
MOST_PADE = 8  # beyond it, the coefficients of the approximation span more than eight decades
LOW_PASS, DELAY = "low_pass", "delay"  # in the names of states
UNFILTERED = " unfiltered"  # after the name of a channel: what it measures before filter, delay, gain and offset
AXES = "xyz"
# The side of a section on which a strain gauge sits: the axis of the section towards it, and the sign.
SIDES: Mapping[str, tuple[int, float]] = {"top": (1, 1.0), "bottom": (1, -1.0), "right": (2, 1.0), "left": (2, -1.0)}
EXPRESSED = ("world", "body")
FORCE, MOMENT, NORMAL, FRICTION = "force", "moment", "normal", "friction"  # what a force sensor measures


@dataclass(frozen=True)
class Filter:
    """A linear filter (1 + p1 s + ...)/(1 + q1 s + ...) with s in units of `rate`; its states are w, w'/rate, w''/rate^2 ..."""

    states: tuple[str, ...]
    rate: Any  # 1/s
    numerator: tuple[Any, ...]  # 1, p1 ...
    denominator: tuple[Any, ...]  # 1, q1 ...; as many as states, and one more

    def output(self, q: Mapping[str, Any]) -> Any:
        """Its output; q: states by name."""
        return sum((p * q[name] for p, name in zip(self.numerator[1:], self.states[1:], strict=False)), q[self.states[0]])

    def rates(self, q: Mapping[str, Any], given: Any) -> dict[str, Any]:
        """The rates of its states by name; given: its input."""
        w = [q[name] for name in self.states]
        last = given - sum((x * y for x, y in zip(self.denominator[1:-1], w[1:], strict=True)), w[0])
        return dict(zip(self.states, [*(self.rate * x for x in w[1:]), self.rate / self.denominator[-1] * last], strict=True))


def pade(order: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Numerator and denominator of the Pade approximant [order - 1, order] of exp(-s): ascending powers of s, exact to s^(2n-1)."""
    m, n, f = order - 1, order, math.factorial
    above = [(-1.0) ** k * f(m + n - k) * f(m) / (f(m + n) * f(k) * f(m - k)) for k in range(m + 1)]
    below = [f(m + n - k) * f(n) / (f(m + n) * f(k) * f(n - k)) for k in range(n + 1)]
    return tuple(above), tuple(below)


@dataclass(frozen=True, kw_only=True)
class Sensor:
    """What all sensors have; gain, offset, low_pass, damping, delay and noise may be parameters."""

    UNIT: ClassVar[str] = "1"  # of what it measures

    gain: float = 1.0  # reading per unit of what is measured
    offset: float = 0.0  # in the unit of the reading
    low_pass: float | None = None  # Hz, cut-off of the filter; None: no filter
    order: int = 1  # of the filter, 1 or 2
    damping: float = BUTTERWORTH  # damping ratio of a filter of second order; 1: critically damped
    delay: float = 0.0  # s, approximated to the order `pade`
    pade: int | None = None  # order of the approximation of the delay: the number of its states
    noise: float = 0.0  # standard deviation, in the unit of the reading; of what controllers measure, and of pl.noisy
    seed: int = 0  # of the noise that controllers measure

    def __post_init__(self) -> None:
        part = type(self).__name__
        check.fields(self, check.number, gain="", offset="")
        check.fields(self, check.positive, low_pass="Hz")
        check.structural(part, "order", self.order)
        if isinstance(self.order, bool) or self.order not in ORDERS:
            raise ModelError.of(part, "order", "must be 1 or 2", self.order)
        object.__setattr__(self, "damping", check.positive(part, "damping", self.damping))
        self._check_delay(part)
        object.__setattr__(self, "noise", check.not_negative(part, "noise", self.noise))
        check.structural(part, "seed", self.seed)
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise ModelError.of(part, "seed", "must be a whole number >= 0", self.seed)

    def _check_delay(self, part: str) -> None:
        """A delay and the order of its approximation are given together."""
        if self.pade is not None:
            object.__setattr__(self, "pade", check.count(part, "pade", self.pade, MOST_PADE))
            object.__setattr__(self, "delay", check.positive(part, "delay", self.delay, "s"))
            return
        object.__setattr__(self, "delay", check.number(part, "delay", self.delay, "s"))
        if self.delay != 0.0:
            rule = (
                "must be given together with pade, the order of its approximation (3 is exact to 0.1 % as long as the signal turns "
                "by less than 1.4 rad within the delay), because an exact one makes the equations delay differential equations; "
                "the delay of a sampled controller is exact"
            )
            raise ModelError.of(part, "delay", rule, self.delay)

    @property
    def components(self) -> tuple[str, ...]:
        """The names of its readings; one empty name if there is only one."""
        return ("",)

    @property
    def frame(self) -> Frame | None:
        """The frame where it sits, if it reads the motion of one."""
        return None

    def measured_in(self, component: str) -> str:
        """The unit of what it measures, by component."""
        return self.UNIT

    def units(self, name: str) -> dict[str, str]:
        """The units of its readings, by channel: those of what it measures, unless a gain makes others of them."""
        as_measured = isinstance(self.gain, (int, float)) and self.gain == 1.0
        pairs = zip(self.channels(name), self.components, strict=True)
        return {channel: self.measured_in(own) if as_measured else "1" for channel, own in pairs}

    def channels(self, name: str) -> tuple[str, ...]:
        """The names of its readings in results and formulas: its own name, or name.component for each."""
        components = self.components
        return (name,) if len(components) == 1 else tuple(f"{name}.{own}" for own in components)

    def filters(self, channel: str) -> tuple[Filter, ...]:
        """The filters of a channel, in the order in which the signal passes them."""
        found = []
        if self.low_pass is not None:
            names = (f"{channel}.{LOW_PASS}", f"{channel}.{LOW_PASS} rate")[: self.order]
            slowed = (1.0,) if self.order == 1 else (2.0 * self.damping, 1.0)
            found.append(Filter(names, 2.0 * math.pi * self.low_pass, (1.0,), (1.0, *slowed)))
        if self.pade is not None:
            names = tuple(f"{channel}.{DELAY} {k + 1}" for k in range(self.pade))
            found.append(Filter(names, 1.0 / self.delay, *pade(self.pade)))
        return tuple(found)

    def rates(self, channel: str) -> dict[str, Formula]:
        """The rates of the states of a channel, by name."""
        return {name: Formula(FilterRate(self, channel, name)) for one in self.filters(channel) for name in one.states}

    def settled(self, channel: str) -> tuple[str, ...]:
        """The states that equal what is measured while that stays as it is; all others are then zero."""
        return tuple(one.states[0] for one in self.filters(channel))

    def reading(self, channel: str, q: Mapping[str, Any]) -> Any:
        """The reading; q: states and what is measured, by name."""
        filters = self.filters(channel)
        passed = filters[-1].output(q) if filters else q[channel + UNFILTERED]
        return self.gain * self.counted(passed) + self.offset

    def counted(self, x: Scalar) -> Scalar:
        """What is left of a filtered value by an encoder that counts."""
        return x


@dataclass(frozen=True)
class FilterRate:
    """The rate of a state of a filter as a formula of (t, q, v)."""

    sensor: Sensor
    channel: str
    state: str

    @property
    def text(self) -> str:
        """Its name in messages."""
        return f"the filter of sensor {self.channel!r}"

    def __call__(self, t: Any, q: Mapping[str, Any], v: Mapping[str, Any]) -> Any:
        before = None
        for one in self.sensor.filters(self.channel):
            if self.state in one.states:
                return one.rates(q, q[self.channel + UNFILTERED] if before is None else before.output(q))[self.state]
            before = one
        raise KeyError(self.state)


@dataclass(frozen=True)
class StrainGauge(Sensor):
    """The strain of the surface of a beam along its axis, 1: of the axis by axial modes, less curvature times distance.

    side: "top" (+y of the section), "bottom" (-y), "right" (+z) or "left" (-z). The strain is that of the beam's modes, as section
    forces by curvature are.
    """

    at: Frame  # a place on the axis of a beam
    side: str = "top"

    def __post_init__(self) -> None:
        super().__post_init__()
        check.instance("StrainGauge", "at", self.at, Frame, "a frame on a beam such as arm.at(0.1)")
        object.__setattr__(self, "side", check.choice("StrainGauge", "side", self.side, SIDES))


@dataclass(frozen=True)
class Encoder(Sensor):
    """The position of a joint coordinate, or of the rotor of a motor. counts: per revolution, or per metre; None: not counted."""

    of: str  # a coordinate such as "arm.angle", or the name of a motor
    counts: float | None = None  # per revolution of what turns, per m of what slides
    slides: bool = False  # whether it is measured in m; the System sets it

    def __post_init__(self) -> None:
        super().__post_init__()
        check.instance("Encoder", "of", self.of, str, "the name of a joint coordinate, or of a motor")
        check.structural("Encoder", "counts", self.counts)
        if self.counts is not None:
            object.__setattr__(self, "counts", check.positive("Encoder", "counts", self.counts))

    def measured_in(self, component: str) -> str:
        return "m" if self.slides else "rad"

    def counted(self, x: Scalar) -> Scalar:
        if self.counts is None:
            return x
        return quantise(x, (1.0 if self.slides else 2.0 * math.pi) / self.counts)


@dataclass(frozen=True)
class _InFrame(Sensor):
    """A sensor that reads components along the axes of the frame on which it sits."""

    at: Frame
    axes: str | None = None  # along which it reads, such as "xy"; None: those of the plane, or all in space

    def __post_init__(self) -> None:
        super().__post_init__()
        part = type(self).__name__
        check.instance(part, "at", self.at, Frame, "a frame such as arm.tip")
        if self.axes is not None:
            _check_axes(part, self.axes)

    @property
    def components(self) -> tuple[str, ...]:
        return tuple(self.axes or AXES)

    @property
    def frame(self) -> Frame | None:
        return self.at


@dataclass(frozen=True)
class Accelerometer(_InFrame):
    """The acceleration of a frame less that of gravity, m/s^2, along the frame's own axes: at rest, g upwards."""

    UNIT: ClassVar[str] = "m/s^2"
    IN_PLANE: ClassVar[str] = "xy"


@dataclass(frozen=True)
class Gyro(_InFrame):
    """The angular velocity of a frame against the ground, rad/s, along the frame's own axes."""

    UNIT: ClassVar[str] = "rad/s"
    IN_PLANE: ClassVar[str] = "z"


@dataclass(frozen=True)
class ForceSensor(Sensor):
    """Force (N) and moment (N m) of the joint that carries a body, on that body; or normal force and friction of a contact.

    of: the name of a body, or of a contact pair. They are the reactions, or the forces of contacts, of a result: moments about the
    body's root. expressed: "world" or "body", the axes of a joint's components. components read: all, or those along `axes`.
    """

    of: str
    axes: str | None = None  # along which it reads forces (and about which moments); None: those of the plane, or all in space
    expressed: str = "world"
    touching: bool = False  # whether it is the force of a contact; the System sets it

    def __post_init__(self) -> None:
        super().__post_init__()
        check.instance("ForceSensor", "of", self.of, str, "the name of a body, or of a contact pair")
        object.__setattr__(self, "expressed", check.choice("ForceSensor", "expressed", self.expressed, EXPRESSED))
        if self.axes is not None:
            _check_axes("ForceSensor", self.axes)

    @property
    def components(self) -> tuple[str, ...]:
        axes = self.axes or AXES
        if self.touching:
            return (NORMAL, *(f"{FRICTION} {axis}" for axis in axes))
        about = "z" if axes == "xy" else axes  # in the plane
        return (*(f"{FORCE} {axis}" for axis in axes), *(f"{MOMENT} {axis}" for axis in about))

    def measured_in(self, component: str) -> str:
        return "N m" if component.startswith(MOMENT) else "N"


SENSORS: tuple[type[Sensor], ...] = (StrainGauge, Encoder, Accelerometer, Gyro, ForceSensor)


def is_noisy(sensor: Sensor) -> bool:
    """Whether its noise is anything but the number 0."""
    return not isinstance(sensor.noise, float) or sensor.noise != 0.0


def _check_axes(part: str, axes: object) -> None:
    if not isinstance(axes, str) or not axes or any(axis not in AXES for axis in axes) or len(set(axes)) < len(axes):
        raise ModelError.of(part, "axes", "must be letters out of x, y, z, each once, such as 'xy'", axes)


def extent(outline: RectangleOutline | RingOutline | FibreOutline, side: str) -> float:
    """The distance of a section's surface on a side from its centroid, along the axis towards it, with its sign, m."""
    axis, sign = SIDES[side]
    if isinstance(outline, RectangleOutline):
        return sign * 0.5 * (outline.height if axis == 1 else outline.width)
    if isinstance(outline, RingOutline):
        return sign * outline.outer
    return sign * max(sign * float(point[axis - 1]) for point in outline.points)
