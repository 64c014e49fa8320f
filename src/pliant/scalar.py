"""Mathematical functions of any scalar: a number, a NumPy array, or a traced scalar.

Numbers are passed to `math` and give a float; arrays are passed to NumPy; for any other object its own method with NumPy's name is
called, as in x.arcsin(). A formula must not use `if` on values: `where` works for all three kinds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

Scalar = Any  # a number, an array or a traced scalar

pi = math.pi


def deg(angle: Scalar) -> Scalar:
    """Convert an angle from degrees to radians."""
    return angle * (pi / 180.0)


def sin(x: Scalar) -> Scalar:
    """Sine of an angle in rad."""
    return _of_one(x, math.sin, np.sin, "sin")


def cos(x: Scalar) -> Scalar:
    """Cosine of an angle in rad."""
    return _of_one(x, math.cos, np.cos, "cos")


def tan(x: Scalar) -> Scalar:
    """Tangent of an angle in rad."""
    return _of_one(x, math.tan, np.tan, "tan")


def asin(x: Scalar) -> Scalar:
    """Arc sine, rad."""
    return _of_one(x, math.asin, np.arcsin, "arcsin")


def acos(x: Scalar) -> Scalar:
    """Arc cosine, rad."""
    return _of_one(x, math.acos, np.arccos, "arccos")


def atan(x: Scalar) -> Scalar:
    """Arc tangent, rad."""
    return _of_one(x, math.atan, np.arctan, "arctan")


def sinh(x: Scalar) -> Scalar:
    """Hyperbolic sine."""
    return _of_one(x, math.sinh, np.sinh, "sinh")


def cosh(x: Scalar) -> Scalar:
    """Hyperbolic cosine."""
    return _of_one(x, math.cosh, np.cosh, "cosh")


def tanh(x: Scalar) -> Scalar:
    """Hyperbolic tangent."""
    return _of_one(x, math.tanh, np.tanh, "tanh")


def exp(x: Scalar) -> Scalar:
    """Exponential function."""
    return _of_one(x, math.exp, np.exp, "exp")


def log(x: Scalar) -> Scalar:
    """Natural logarithm."""
    return _of_one(x, math.log, np.log, "log")


def sqrt(x: Scalar) -> Scalar:
    """Square root."""
    return _of_one(x, math.sqrt, np.sqrt, "sqrt")


def absolute(x: Scalar) -> Scalar:
    """Absolute value."""
    return _of_one(x, math.fabs, np.abs, "fabs")


def sign(x: Scalar) -> Scalar:
    """The sign of x: -1, 0 or 1."""
    return _of_one(x, lambda c: 1.0 if c > 0 else -1.0 if c < 0 else 0.0, np.sign, "sign")


def floor(x: Scalar) -> Scalar:
    """The largest whole number <= x."""
    return _of_one(x, math.floor, np.floor, "floor")


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """The angle of the point (x, y) from the x axis, rad, in [-pi, pi]."""
    return _of_two(y, x, math.atan2, np.arctan2, "arctan2", "rarctan2")


def hypot(x: Scalar, y: Scalar) -> Scalar:
    """sqrt(x^2 + y^2)."""
    return _of_two(x, y, math.hypot, np.hypot, "hypot", "hypot")


def minimum(a: Scalar, b: Scalar) -> Scalar:
    """The smaller of a and b."""
    return _of_two(a, b, min, np.minimum, "fmin", "fmin")


def maximum(a: Scalar, b: Scalar) -> Scalar:
    """The larger of a and b."""
    return _of_two(a, b, max, np.maximum, "fmax", "fmax")


def clip(x: Scalar, low: Scalar, high: Scalar) -> Scalar:
    """x limited to the range from low to high."""
    return minimum(maximum(x, low), high)


def saturate(x: Scalar, limit: Scalar) -> Scalar:
    """x limited to the range from -limit to limit, like the output of an actuator."""
    return clip(x, -limit, limit)


def quantise(x: Scalar, step: Scalar) -> Scalar:
    """The multiple of step nearest to x, like the reading of an encoder or a converter."""
    return step * floor(x / step + 0.5)


def where(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    """a where the condition holds, else b. With a traced condition both a and b are computed."""
    if _is_number(condition):
        chosen = a if condition else b
        return float(chosen) if _is_number(chosen) else chosen
    if isinstance(condition, np.ndarray):
        return np.where(condition, a, b)
    return _method(condition, "where")(a, b)


def below(x: Scalar, corner: Scalar) -> Scalar:
    """x < corner; in a formula of a run the corner is an event, so that no step crosses it."""
    decide = getattr(x, "below", None)
    return x < corner if decide is None else decide(corner)


def call_law(function: Callable[..., Scalar], *arguments: Scalar) -> Scalar:
    """function(*arguments) of a law of the user's own; in a run its comparisons are events, as those in formulas are."""
    call = next((x.call_law for x in arguments if hasattr(x, "call_law")), None)
    return function(*arguments) if call is None else call(function, arguments)


FUNCTIONS: dict[str, Callable[..., Scalar]] = {
    f.__name__: f
    for f in (sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, exp, log, sqrt, absolute, sign, floor,
              minimum, maximum, hypot, clip, saturate, quantise, where)
}  # fmt: skip


def is_constant(x: Scalar) -> bool:
    """Whether x is known before a run: a number, or a number that the code reads from a vector."""
    return isinstance(x, (int, float)) or getattr(type(x), "is_constant", False)


def is_traced(x: Scalar) -> bool:
    """Whether x is neither a number nor an array, but an object with its own methods."""
    return not _is_number(x) and not isinstance(x, np.ndarray)


def _is_number(x: Scalar) -> bool:
    """Whether x is a number of Python or NumPy; a number that remembers its expression is not, because it has its own methods."""
    return isinstance(x, (Real, np.bool_)) and not hasattr(type(x), "expression")


def _of_one(x: Scalar, of_number: Callable[[Any], float], of_array: Any, name: str) -> Scalar:
    if _is_number(x):
        return float(of_number(x))
    return of_array(x) if isinstance(x, np.ndarray) else _method(x, name)()


def _of_two(a: Scalar, b: Scalar, of_numbers: Callable[..., Any], of_arrays: Any, name: str, swapped: str) -> Scalar:
    """name(a, b), or swapped(b, a) when only b is traced."""
    if is_traced(a):
        return _method(a, name)(b)
    if is_traced(b):
        return _method(b, swapped)(a)
    if _is_number(a) and _is_number(b):
        return float(of_numbers(a, b))
    return of_arrays(a, b)


def _method(x: Scalar, name: str) -> Callable[..., Scalar]:
    method = getattr(x, name, None)
    if not callable(method):
        raise TypeError(f"{name}: the argument must be a number, an array or a traced scalar, got {x!r}")
    return method  # type: ignore[no-any-return]
