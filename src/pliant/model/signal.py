"""Signals: values of drives, loads and prescribed motions (a number, steps, straight lines, or a formula of (t, q, v))."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.parameter import expression_of
from pliant.scalar import ArrayOf, Numbers, Scalar, below, where

MOST_CORNERS = 500  # of a table that a formula reads; each corner is an event of the run
MIN_POINTS = 4  # of a cubic spline whose end conditions follow from its points
ROUND_OFF = 1e-12  # relative to the longest time: nearer than this, two times are one


@dataclass(frozen=True)
class Constant:
    """A signal with the same value at all times."""

    value: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", check.number("Constant", "value", self.value))


@dataclass(frozen=True)
class _Table:
    """A signal through points; a formula may call it with any scalar, as in table(q["arm.angle"])."""

    OUTSIDE_EQUATIONS: ClassVar[tuple[str, ...]] = ("times", "values")

    times: Numbers  # s
    values: Numbers

    def __post_init__(self) -> None:
        _check_table(type(self).__name__, self)


@dataclass(frozen=True)
class PiecewiseConstant(_Table):
    """A step signal: values[k] from times[k] until the next time, and values[0] before times[0].

    A formula may call it with any scalar, as in table(q["arm.angle"]).
    """

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Times at which the signal jumps, s."""
        return tuple(self.times[1:])

    def piece(self, t: float) -> tuple[float, float, float]:
        """(value, slope, origin) of the straight piece that contains t or begins there."""
        k = max(_last_at_or_before(self.times, t), 0)
        return (self.values[k], 0.0, 0.0)

    def __call__(self, x: Scalar) -> Scalar:
        """The value at x, which may be traced."""
        return _chosen(self, x, self.times[1:], self.values)


@dataclass(frozen=True)
class PiecewiseLinear(_Table):
    """A signal of straight lines through (times[k], values[k]), constant before the first point and after the last.

    A formula may call it with any scalar, as in table(q["arm.angle"]).
    """

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Times at which its slope jumps, s."""
        return tuple(self.times)

    def piece(self, t: float) -> tuple[float, float, float]:
        """(value, slope, origin) of the straight piece that contains t or begins there."""
        k = _last_at_or_before(self.times, t)
        if k < 0:
            return (self.values[0], 0.0, 0.0)
        if k == len(self.times) - 1:
            return (self.values[-1], 0.0, 0.0)
        slope = (self.values[k + 1] - self.values[k]) / (self.times[k + 1] - self.times[k])
        return (self.values[k], slope, self.times[k])

    def __call__(self, x: Scalar) -> Scalar:
        """The value at x, which may be traced."""
        lines = [v0 + (v1 - v0) / (t1 - t0) * (x - t0)
                 for t0, t1, v0, v1 in zip(self.times, self.times[1:], self.values, self.values[1:], strict=False)]  # fmt: skip
        return _chosen(self, x, self.times, [self.values[0], *lines, self.values[-1]])


@dataclass(frozen=True)
class PiecewiseSmooth(_Table):
    """A signal of cubic splines through (times[k], values[k]), one between every two corners; constant before and after all points.

    corners: times at which the signal or its slope jumps. Splines on both sides extend to a corner; a point at the corner itself
    belongs to neither and is not used.
    """

    OUTSIDE_EQUATIONS: ClassVar[tuple[str, ...]] = ("times", "values", "corners")

    corners: Numbers = ()  # times at which the signal or its slope jumps

    def __post_init__(self) -> None:
        super().__post_init__()
        corners = tuple(check.number("PiecewiseSmooth", f"corners[{k}]", t, "s") for k, t in enumerate(self.corners))
        check.increasing("PiecewiseSmooth", "corners", corners)
        object.__setattr__(self, "corners", corners)
        for low, high, count in zip(self._ends, self._ends[1:], map(len, self._points), strict=False):
            if count < MIN_POINTS:
                rule = f"must have at least {MIN_POINTS} entries between {low:.6g} and {high:.6g} s, where the signal is smooth"
                raise ModelError.of("PiecewiseSmooth", "times", rule, count)

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Times at which a derivative jumps, s."""
        return tuple(sorted({*self.times, *self._ends}))

    def piece(self, t: float) -> tuple[float, ...]:
        """(c0, c1, c2, c3, origin) of the cubic that contains t or begins there."""
        if not self.times[0] <= t < self.times[-1]:
            return (self.values[0] if t < self.times[0] else self.values[-1], 0.0, 0.0, 0.0, 0.0)
        return _cubic(self._splines[_last_at_or_before(self._ends, t)], t)

    def at(self, t: float) -> float:
        """The value at a time."""
        c0, c1, c2, c3, origin = self.piece(t)
        s = t - origin
        return ((c3 * s + c2) * s + c1) * s + c0

    @cached_property
    def _ends(self) -> tuple[float, ...]:
        """The first time, the corners between, and the last time."""
        first, last = self.times[0], self.times[-1]
        slack = ROUND_OFF * max(abs(first), abs(last))
        return (first, *(t for t in self.corners if first + slack < t < last - slack), last)

    @cached_property
    def _points(self) -> list[list[tuple[float, float]]]:
        """The points between every two ends; those at corners in between belong to neither side."""
        slack = ROUND_OFF * max(abs(self.times[0]), abs(self.times[-1]))
        inner, points = self._ends[1:-1], list(zip(self.times, self.values, strict=True))
        kept = [(t, x) for t, x in points if all(abs(t - corner) > slack for corner in inner)]
        return [[(t, x) for t, x in kept if low <= t <= high] for low, high in zip(self._ends, self._ends[1:], strict=False)]

    @cached_property
    def _splines(self) -> list[Any]:
        return [_spline_through(*zip(*points, strict=True)) for points in self._points]


@dataclass(frozen=True)
class Formula:
    """A signal given by function(t, q, v), where q and v are read by coordinate, as in q["arm.angle"].

    The function is traced, so write it with pliant's sin, where, ... (or NumPy's functions of one argument) and without `if`.
    breakpoints: times at which the formula or one of its derivatives jumps. No step straddles a breakpoint, and the formula is
    evaluated only at times strictly between two of them.
    """

    OUTSIDE_EQUATIONS: ClassVar[tuple[str, ...]] = ("text",)
    PRESENCE: ClassVar[tuple[str, ...]] = ("breakpoints",)

    function: Callable[..., Any]
    breakpoints: Numbers = ()
    text: str = ""  # the formula as written, if it came from a file

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ModelError.of("Formula", "function", "must be a function of (t, q, v)", self.function)
        object.__setattr__(self, "breakpoints", _breakpoints("Formula", self))


Signal = Constant | PiecewiseConstant | PiecewiseLinear | PiecewiseSmooth | Formula


@dataclass(frozen=True)
class Prescribed:
    """A prescribed motion: a joint coordinate as a traced function of time alone; rates follow by differentiation."""

    OUTSIDE_EQUATIONS: ClassVar[tuple[str, ...]] = ("text",)
    PRESENCE: ClassVar[tuple[str, ...]] = ("breakpoints",)

    function: Callable[..., Any]
    breakpoints: Numbers = ()
    text: str = ""

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ModelError.of("Prescribed", "function", "must be a function of t", self.function)
        object.__setattr__(self, "breakpoints", _breakpoints("Prescribed", self))


@dataclass(frozen=True)
class MotionTable(_Table):
    """A prescribed motion through the points (times[k], values[k]): a cubic spline, so that the acceleration is continuous.

    A formula may call it with any scalar, as in table(q["arm.angle"]).
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.times) < MIN_POINTS:
            raise ModelError.of("MotionTable", "times", f"must have at least {MIN_POINTS} entries", len(self.times))

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Times at which a derivative jumps, s."""
        return tuple(self.times[1:-1])

    def piece(self, t: float) -> tuple[float, ...]:
        """(c0, c1, c2, c3, origin) of the cubic that contains t or begins there; the outer cubics extend beyond the ends."""
        return _cubic(self._spline, t)

    def __call__(self, x: Scalar) -> Scalar:
        """The value at x, which may be traced; the outer cubics extend beyond the ends."""
        if any(expression_of(number) is not None for number in (*self.times, *self.values)):
            raise ModelError.of("MotionTable", "values", "must be plain numbers in a table that a formula calls", list(self.values))
        pieces = [self.piece(time) for time in self.times[:-1]]
        cubics = [((c3 * (x - origin) + c2) * (x - origin) + c1) * (x - origin) + c0 for c0, c1, c2, c3, origin in pieces]
        return _chosen(self, x, self.times[1:-1], cubics)

    @cached_property
    def _spline(self) -> Any:
        return _spline_through(self.times, self.values)


def signal(part: str, field: str, value: Any) -> Signal:
    """A signal from a number, a signal or a function of (t, q, v)."""
    if isinstance(value, (Constant, PiecewiseConstant, PiecewiseLinear, PiecewiseSmooth, Formula)):
        return value
    if callable(value):
        return Formula(value, getattr(value, "breakpoints", ()), getattr(value, "text", ""))
    return Constant(check.number(part, field, value))


PrescribedMotion = Prescribed | MotionTable


def prescribed(part: str, field: str, value: Any) -> PrescribedMotion:
    if isinstance(value, (Prescribed, MotionTable)):
        return value
    if callable(value) and not isinstance(value, (PiecewiseConstant, PiecewiseLinear)):
        return Prescribed(value, getattr(value, "breakpoints", ()), getattr(value, "text", ""))
    raise ModelError.of(part, field, "must be a function of t, a Prescribed or a MotionTable", value)


def _breakpoints(part: str, formula: Formula | Prescribed) -> tuple[float, ...]:
    """The given breakpoints and those of a function that has its own, unsorted: parameters may change their order."""
    times = tuple(
        check.number(part, f"breakpoints[{k}]", b, "s")
        for k, b in enumerate(check.listed(part, "breakpoints", formula.breakpoints))
    )
    own = getattr(formula.function, "breakpoints", None)
    if own is None:
        check.increasing(part, "breakpoints", times)
        return times
    different = {time if expression_of(time) is None else str(expression_of(time)): time for time in (*own, *times)}
    return tuple(sorted(different.values()))


def _check_table(part: str, table: Any) -> None:
    times = tuple(check.number(part, f"times[{k}]", t, "s") for k, t in enumerate(check.listed(part, "times", table.times)))
    values = tuple(check.number(part, f"values[{k}]", v) for k, v in enumerate(check.listed(part, "values", table.values)))
    if not times:
        raise ModelError.of(part, "times", "must contain at least one time", table.times)
    if len(times) != len(values):
        raise ModelError.of(part, "values", f"must have {len(times)} entries, one per time", len(values))
    check.increasing(part, "times", times)
    object.__setattr__(table, "times", times)
    object.__setattr__(table, "values", values)


def _chosen(table: Any, x: Scalar, corners: Numbers, pieces: ArrayOf[Scalar]) -> Scalar:
    """The piece that contains x: pieces[k] below corners[k], the last piece beyond all corners."""
    if len(corners) > MOST_CORNERS:
        rule = f"must be at most {MOST_CORNERS} in a table that a formula reads"
        raise ModelError.of(type(table).__name__, "times", rule, len(corners))
    value = pieces[-1]
    for corner, piece in zip(reversed(corners), reversed(pieces[:-1]), strict=True):
        value = where(below(x, corner), piece, value)
    return value


def _spline_through(times: Numbers, values: Numbers) -> Any:
    from scipy.interpolate import CubicSpline

    return CubicSpline(times, values)


def _cubic(spline: Any, t: float) -> tuple[float, ...]:
    """(c0, c1, c2, c3, origin) of the cubic of a spline that contains t or begins there; the outer ones extend beyond the ends."""
    k = min(max(_last_at_or_before(spline.x, t), 0), len(spline.x) - 2)
    return (*(float(c) for c in spline.c[::-1, k]), float(spline.x[k]))


def _last_at_or_before(times: Numbers, t: float) -> int:
    """Index of the last time <= t, or -1."""
    return bisect_right(times, t) - 1
