"""Input series: recorded values, one per time, that replace a parameter during a run. They are data, of any length."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.model import check
from pliant.model.parameter import InputValue
from pliant.model.signal import MIN_POINTS, PiecewiseConstant, PiecewiseLinear

if TYPE_CHECKING:
    from collections.abc import Mapping

HELD, LINEAR, CUBIC = BETWEEN = ("held", "linear", "cubic")
SAME_SPACING = 1e-6  # of the last interval: how far beyond its end, by round-off, the last value of a held series may be used


@dataclass(frozen=True, eq=False, init=False)
class InputSeries:
    """Values at times: an input of a run, in place of a parameter on which only forces depend.

    between: "held", each value until the next time; "linear", straight lines; "cubic", one spline through all points. times and
    values may be arrays, lists or columns of tables, of any length. corners: whether steps end where the series jumps or bends.
    Otherwise the error control passes over these places, with steps that are short enough to see each of them. By default steps
    end at the jumps of a held series only. The series must cover the run; the last value of a held series holds as long as the one
    before it.
    """

    times: Floats  # s
    values: Floats  # in the unit of the parameter
    between: str  # what holds between two times: "held", "linear" or "cubic"
    corners: bool | None = None  # whether steps end where the series jumps or bends; None: at the jumps of a held one

    def __init__(self, times: ArrayLike, values: ArrayLike, between: str, *, corners: bool | None = None) -> None:
        check.choice("InputSeries", "between", between, BETWEEN)
        if corners is not None and not isinstance(corners, bool):
            raise ModelError.of("InputSeries", "corners", "must be True, False or None", corners)
        for name, given in (("times", times), ("values", values), ("between", between), ("corners", corners)):
            object.__setattr__(self, name, _column(name, given) if name in ("times", "values") else given)
        if self.values.size != self.times.size:
            raise ModelError.of("InputSeries", "values", f"must have {self.times.size} entries, one per time", self.values.size)
        least = MIN_POINTS if between == CUBIC else 1
        if self.times.size < least:
            rule = f"must have at least {least} entries{' for a cubic series' if least > 1 else ''}"
            raise ModelError.of("InputSeries", "times", rule, self.times.size)
        ascends = np.diff(self.times) > 0.0
        if not np.all(ascends):
            k = int(np.argmin(ascends)) + 1
            raise ModelError.of(
                "InputSeries", f"times[{k}]", f"must be > times[{k - 1}] = {self.times[k - 1]:.10g} s", float(self.times[k])
            )

    @classmethod
    def of(cls, part: str, name: str, given: Any) -> InputSeries:
        """The series that a user gives for an input."""
        if isinstance(given, cls):
            return given
        if isinstance(given, (PiecewiseConstant, PiecewiseLinear)):
            times, values = ([float(x) for x in numbers] for numbers in (given.times, given.values))
            return cls(times, values, HELD if isinstance(given, PiecewiseConstant) else LINEAR, corners=True)
        rule = 'must be a series, such as pl.InputSeries(times, values, "held")'
        raise ModelError.of(part, f"inputs {name!r}", rule, type(given).__name__)

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self.times, self.values, self.between, self.corners)

    def __repr__(self) -> str:
        return f"InputSeries({self.times.size} values, {self.between}, {self.times[0]:g} ... {self.times[-1]:g} s)"

    @property
    def largest(self) -> float:
        """The value with the largest magnitude."""
        return float(self.values[np.argmax(np.abs(self.values))])

    def check_covers(self, part: str, name: str, begin: float, end: float) -> None:
        """Refuse a series that begins after a run or ends before it."""
        last = float(self.times[-1])
        if self.between == HELD:
            last += (1.0 + SAME_SPACING) * (last - float(self.times[-2])) if self.times.size > 1 else np.inf
        if self.times[0] > begin:
            raise ModelError.of(part, f"inputs {name!r}", f"must begin at t = {begin:.10g} s or before", float(self.times[0]))
        if last < end:
            raise ModelError.of(part, f"inputs {name!r}", f"must last until t = {end:.10g} s", float(self.times[-1]))

    @property
    def ends_steps(self) -> bool:
        """Whether steps end where the series jumps or bends."""
        return self.between == HELD if self.corners is None else self.corners

    @cached_property
    def breakpoints(self) -> tuple[float, ...]:
        """Times at which steps end, s."""
        return tuple(self.turns.tolist()) if self.ends_steps else ()

    @cached_property
    def turns(self) -> Floats:
        """Times at which the series jumps, bends or changes from one cubic to the next, s."""
        if self.between == HELD:
            return np.asarray(self.times[1:][np.diff(self.values) != 0.0])
        if self.between == CUBIC or self.times.size < 2:
            return self.times
        slopes = np.concatenate([[0.0], np.diff(self.values) / np.diff(self.times), [0.0]])
        return np.asarray(self.times[np.diff(slopes) != 0.0])

    @cached_property
    def coefficients(self) -> Floats:
        """(time, power): the polynomials of t - times[k] from each time until the next."""
        if self.between == HELD:
            return self.values[:, None]
        if self.between == LINEAR:
            slopes = np.append(np.diff(self.values) / np.diff(self.times), 0.0)
            return np.stack([self.values, slopes], axis=1)
        from scipy.interpolate import CubicSpline

        after = np.array([[self.values[-1], 0.0, 0.0, 0.0]])  # constant
        return np.concatenate([CubicSpline(self.times, self.values).c[::-1].T, after])

    @cached_property
    def table(self) -> Floats:
        """What compiled code finds the pieces in; its address is valid as long as this series lives."""
        from pliant.codegen.series import table_of

        return table_of(self.times, float(self.values[0]), self.coefficients)


def series_in(values: Mapping[str, float]) -> dict[str, InputSeries]:
    """The series among the values of parameters, by name."""
    return {name: x.series for name, x in values.items() if isinstance(x, InputValue) and x.series is not None}


def _column(name: str, given: Any) -> Floats:
    try:
        column = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as trouble:
        raise ModelError.of("InputSeries", name, "must be numbers", str(trouble)) from None
    if column.ndim != 1:
        raise ModelError.of("InputSeries", name, "must be one column of numbers", f"an array of shape {column.shape}")
    wrong = np.flatnonzero(~np.isfinite(column))
    if wrong.size:
        raise ModelError.of("InputSeries", f"{name}[{wrong[0]}]", "must be finite", float(column[wrong[0]]))
    column.flags.writeable = False
    return column


def _made(times: Floats, values: Floats, between: str, corners: bool | None) -> InputSeries:
    return InputSeries(times, values, between, corners=corners)
