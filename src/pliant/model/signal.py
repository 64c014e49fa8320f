"""What drives may be: a number, steps, a broken line, or a formula of (t, q, v)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.parameter import expression_of


@dataclass(frozen=True)
class Constant:
    """The same value at all times."""

    value: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", check.number("Constant", "value", self.value))


@dataclass(frozen=True)
class PiecewiseConstant:
    """values[k] from times[k] until the next time; values[0] also before times[0]."""

    OUTSIDE_EQUATIONS: ClassVar[tuple[str, ...]] = ("times", "values")

    times: Sequence[float]  # s
    values: Sequence[float]

    def __post_init__(self) -> None:
        _check_table("PiecewiseConstant", self)

    @property
    def breakpoints(self) -> tuple[float, ...]:
        return tuple(self.times[1:])

    def piece(self, t: float) -> tuple[float, float, float]:
        """(value, slope, origin) of the straight piece that begins at or holds t."""
        k = max(_last_at_or_before(self.times, t), 0)
        return (self.values[k], 0.0, 0.0)


@dataclass(frozen=True)
class PiecewiseLinear:
    """Straight lines through (times[k], values[k]); constant before the first and after the last."""

    OUTSIDE_EQUATIONS: ClassVar[tuple[str, ...]] = ("times", "values")

    times: Sequence[float]  # s
    values: Sequence[float]

    def __post_init__(self) -> None:
        _check_table("PiecewiseLinear", self)

    @property
    def breakpoints(self) -> tuple[float, ...]:
        return tuple(self.times)

    def piece(self, t: float) -> tuple[float, float, float]:
        """(value, slope, origin) of the straight piece that begins at or holds t."""
        k = _last_at_or_before(self.times, t)
        if k < 0:
            return (self.values[0], 0.0, 0.0)
        if k == len(self.times) - 1:
            return (self.values[-1], 0.0, 0.0)
        slope = (self.values[k + 1] - self.values[k]) / (self.times[k + 1] - self.times[k])
        return (self.values[k], slope, self.times[k])


@dataclass(frozen=True)
class Formula:
    """function(t, q, v) over traced scalars; q and v are read by coordinate, as in q["arm.angle"].

    `breakpoints` are the times at which the formula or a derivative of it jumps: no step straddles one, and the formula sees
    times strictly between two of them. Use pliant's sin, where, ... (or NumPy's functions of one argument) and no `if`.
    """

    OUTSIDE_EQUATIONS: ClassVar[tuple[str, ...]] = ("text",)
    PRESENCE: ClassVar[tuple[str, ...]] = ("breakpoints",)

    function: Callable[..., Any]
    breakpoints: tuple[float, ...] = ()
    text: str = ""  # how the formula was written, where it came from a file

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ModelError.of("Formula", "function", "must be a function of (t, q, v)", self.function)
        object.__setattr__(self, "breakpoints", _breakpoints("Formula", self))


Signal = Constant | PiecewiseConstant | PiecewiseLinear | Formula


@dataclass(frozen=True)
class Prescribed:
    """A joint coordinate as a function of time alone, over traced scalars; rates follow by differentiation."""

    OUTSIDE_EQUATIONS: ClassVar[tuple[str, ...]] = ("text",)
    PRESENCE: ClassVar[tuple[str, ...]] = ("breakpoints",)

    function: Callable[..., Any]
    breakpoints: tuple[float, ...] = ()
    text: str = ""

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ModelError.of("Prescribed", "function", "must be a function of t", self.function)
        object.__setattr__(self, "breakpoints", _breakpoints("Prescribed", self))


@dataclass(frozen=True)
class MotionTable:
    """A joint coordinate through points (times[k], values[k]): a cubic spline, so that its acceleration is continuous."""

    OUTSIDE_EQUATIONS: ClassVar[tuple[str, ...]] = ("times", "values")

    times: Sequence[float]  # s
    values: Sequence[float]

    def __post_init__(self) -> None:
        _check_table("MotionTable", self)
        if len(self.times) < 4:
            raise ModelError.of("MotionTable", "times", "must hold at least 4 times", len(self.times))

    @property
    def breakpoints(self) -> tuple[float, ...]:
        return tuple(self.times[1:-1])

    def piece(self, t: float) -> tuple[float, ...]:
        """(c0, c1, c2, c3, origin) of the cubic that begins at or holds t; the outer ones go on beyond the ends."""
        coefficients = self._spline
        k = min(max(_last_at_or_before(self.times, t), 0), len(self.times) - 2)
        return (*(float(c) for c in coefficients[::-1, k]), self.times[k])

    @cached_property
    def _spline(self) -> Any:
        from scipy.interpolate import CubicSpline

        return CubicSpline(self.times, self.values).c


def signal(part: str, field: str, value: Any) -> Signal:
    """A number, a signal, or a bare function, as a signal."""
    if isinstance(value, (Constant, PiecewiseConstant, PiecewiseLinear, Formula)):
        return value
    if callable(value):
        return Formula(value, getattr(value, "breakpoints", ()), getattr(value, "text", ""))
    return Constant(check.number(part, field, value))


PrescribedMotion = Prescribed | MotionTable


def prescribed(part: str, field: str, value: Any) -> PrescribedMotion:
    if isinstance(value, (Prescribed, MotionTable)):
        return value
    if callable(value):
        return Prescribed(value, getattr(value, "breakpoints", ()), getattr(value, "text", ""))
    raise ModelError.of(part, field, "must be a function of t, a Prescribed or a MotionTable", value)


def _breakpoints(part: str, formula: Formula | Prescribed) -> tuple[float, ...]:
    """Those given; of a function that knows its own, both, in any order: parameters may turn it round."""
    times = tuple(check.number(part, f"breakpoints[{k}]", b, "s") for k, b in enumerate(formula.breakpoints))
    own = getattr(formula.function, "breakpoints", None)
    if own is None:
        check.increasing(part, "breakpoints", times)
        return times
    different = {time if expression_of(time) is None else str(expression_of(time)): time for time in (*own, *times)}
    return tuple(sorted(different.values()))


def _check_table(part: str, table: Any) -> None:
    times = tuple(check.number(part, f"times[{k}]", t, "s") for k, t in enumerate(table.times))
    values = tuple(check.number(part, f"values[{k}]", v) for k, v in enumerate(table.values))
    if not times:
        raise ModelError.of(part, "times", "must hold at least one time", table.times)
    if len(times) != len(values):
        raise ModelError.of(part, "values", f"must hold {len(times)} values, one per time", len(values))
    check.increasing(part, "times", times)
    object.__setattr__(table, "times", times)
    object.__setattr__(table, "values", values)


def _last_at_or_before(times: Sequence[float], t: float) -> int:
    """Index of the last time <= t, or -1."""
    return sum(1 for time in times if time <= t) - 1
