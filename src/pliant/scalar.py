"""Mathematical functions of any scalar: a number, a NumPy array, or a traced scalar.

Numbers are passed to `math` and give a float; arrays are passed to NumPy; for any other object its own method with NumPy's name is
called, as in x.arcsin(); classes of such objects have it, and Python's operators, from `Arithmetic`. A formula must not use `if` on
values: `where` works for all three kinds.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any, NamedTuple, Protocol, TypeVar, overload

import numpy as np

from pliant.errors import ModelError, PliantError

Scalar = Any  # a number, an array or a traced scalar
Own = TypeVar("Own", bound="Arithmetic")
Item = TypeVar("Item", covariant=True)


class ArrayOf(Protocol[Item]):
    """A sequence or a NumPy array, which is no Sequence to a type checker."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Item]: ...
    @overload
    def __getitem__(self, place: int, /) -> Item: ...
    @overload
    def __getitem__(self, places: slice, /) -> ArrayOf[Item]: ...


Numbers = ArrayOf[float]

pi = math.pi


class Function(NamedTuple):
    """A function of one or two scalars."""

    name: str  # in formulas
    method: str  # of objects with methods of their own, by NumPy's name
    of_numbers: Callable[..., float]
    of_arrays: Any
    # its derivatives by each argument, from the value and the arguments
    slopes: tuple[Callable[..., Any], ...]

    @property
    def swapped(self) -> str:
        """The method that takes the arguments in the opposite order."""
        return "rarctan2" if self.name == "atan2" else self.method


def _sign(x: float) -> float:
    return 1.0 if x > 0 else -1.0 if x < 0 else 0.0


OF_ONE = {
    name: Function(name, method, of_number, of_array, (slope,))
    for name, method, of_number, of_array, slope in (
        ("sin", "sin", math.sin, np.sin, lambda f, x: np.cos(x)),
        ("cos", "cos", math.cos, np.cos, lambda f, x: -np.sin(x)),
        ("tan", "tan", math.tan, np.tan, lambda f, x: np.cos(x) ** -2.0),
        ("asin", "arcsin", math.asin, np.arcsin, lambda f, x: (1.0 - x**2) ** -0.5),
        ("acos", "arccos", math.acos, np.arccos, lambda f, x: -((1.0 - x**2) ** -0.5)),
        ("atan", "arctan", math.atan, np.arctan, lambda f, x: 1.0 / (1.0 + x**2)),
        ("sinh", "sinh", math.sinh, np.sinh, lambda f, x: np.cosh(x)),
        ("cosh", "cosh", math.cosh, np.cosh, lambda f, x: np.sinh(x)),
        ("tanh", "tanh", math.tanh, np.tanh, lambda f, x: 1.0 - f**2),
        ("exp", "exp", math.exp, np.exp, lambda f, x: f),
        ("log", "log", math.log, np.log, lambda f, x: 1.0 / x),
        ("sqrt", "sqrt", math.sqrt, np.sqrt, lambda f, x: 0.5 * x**-0.5),
        ("absolute", "fabs", math.fabs, np.abs, lambda f, x: np.sign(x)),
        ("sign", "sign", _sign, np.sign, lambda f, x: 0.0),
        ("floor", "floor", math.floor, np.floor, lambda f, x: 0.0),
    )
}
OF_TWO = {
    name: Function(name, method, of_numbers, of_arrays, tuple(slopes))
    for name, method, of_numbers, of_arrays, *slopes in (
        ("atan2", "arctan2", math.atan2, np.arctan2, lambda f, y, x: x / (x**2 + y**2), lambda f, y, x: -y / (x**2 + y**2)),
        ("hypot", "hypot", math.hypot, np.hypot, lambda f, x, y: x / f, lambda f, x, y: y / f),
        ("minimum", "fmin", min, np.minimum, lambda f, a, b: a <= b, lambda f, a, b: b < a),
        ("maximum", "fmax", max, np.maximum, lambda f, a, b: a >= b, lambda f, a, b: b > a),
    )
}
# derivatives of Python's operators by both operands, from the value and the operands
OPERATOR_SLOPES: dict[Callable[[Any, Any], Any], tuple[Callable[..., Any], ...]] = {
    operator.add: (lambda f, a, b: 1.0, lambda f, a, b: 1.0),
    operator.sub: (lambda f, a, b: 1.0, lambda f, a, b: -1.0),
    operator.mul: (lambda f, a, b: b, lambda f, a, b: a),
    operator.truediv: (lambda f, a, b: 1.0 / b, lambda f, a, b: -f / b),
    operator.pow: (lambda f, a, b: b * a ** (b - 1.0), lambda f, a, b: f * np.log(a)),
}


def _left(operation: Callable[[Any, Any], Any]) -> Callable[[Own, Any], Own]:
    """The method of an operator for an object on its left; `_right`: on its right."""
    return lambda self, other: self._operate(operation, self, other)


def _right(operation: Callable[[Any, Any], Any]) -> Callable[[Own, Any], Own]:
    return lambda self, other: self._operate(operation, other, self)


class Arithmetic:
    """Operators and functions of an object that is used like a number: all are calls of the three methods that a class defines."""

    __slots__ = ()
    __add__, __radd__ = _left(operator.add), _right(operator.add)
    __sub__, __rsub__ = _left(operator.sub), _right(operator.sub)
    __mul__, __rmul__ = _left(operator.mul), _right(operator.mul)
    __truediv__, __rtruediv__ = _left(operator.truediv), _right(operator.truediv)
    __pow__, __rpow__ = _left(operator.pow), _right(operator.pow)

    def _operate(self, operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
        """One of Python's operators; a or b is the object itself."""
        raise NotImplementedError

    def _of_one(self, function: Function) -> Any:
        raise NotImplementedError

    def _of_two(self, function: Function, a: Any, b: Any) -> Any:
        """A function of two arguments; a or b is the object itself."""
        raise NotImplementedError

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self._of_one(OF_ONE["absolute"])


class Compared(Arithmetic):
    """The same with comparisons, also by `_operate`: a > b is b < a."""

    __slots__ = ()
    __lt__, __gt__ = _left(operator.lt), _right(operator.lt)
    __le__, __ge__ = _left(operator.le), _right(operator.le)


def _make_methods() -> None:
    for one in OF_ONE.values():
        setattr(Arithmetic, one.method, lambda self, f=one: self._of_one(f))
    for two in OF_TWO.values():
        setattr(Arithmetic, two.swapped, lambda self, other, f=two: self._of_two(f, other, self))
        setattr(Arithmetic, two.method, lambda self, other, f=two: self._of_two(f, self, other))


_make_methods()


def deg(angle: Scalar) -> Scalar:
    """Convert an angle from degrees to radians."""
    return angle * (pi / 180.0)


def sin(x: Scalar) -> Scalar:
    """Sine of an angle in rad."""
    return _of_one(x, OF_ONE["sin"])


def cos(x: Scalar) -> Scalar:
    """Cosine of an angle in rad."""
    return _of_one(x, OF_ONE["cos"])


def tan(x: Scalar) -> Scalar:
    """Tangent of an angle in rad."""
    return _of_one(x, OF_ONE["tan"])


def asin(x: Scalar) -> Scalar:
    """Arc sine, rad."""
    return _of_one(x, OF_ONE["asin"])


def acos(x: Scalar) -> Scalar:
    """Arc cosine, rad."""
    return _of_one(x, OF_ONE["acos"])


def atan(x: Scalar) -> Scalar:
    """Arc tangent, rad."""
    return _of_one(x, OF_ONE["atan"])


def sinh(x: Scalar) -> Scalar:
    """Hyperbolic sine."""
    return _of_one(x, OF_ONE["sinh"])


def cosh(x: Scalar) -> Scalar:
    """Hyperbolic cosine."""
    return _of_one(x, OF_ONE["cosh"])


def tanh(x: Scalar) -> Scalar:
    """Hyperbolic tangent."""
    return _of_one(x, OF_ONE["tanh"])


def exp(x: Scalar) -> Scalar:
    """Exponential function."""
    return _of_one(x, OF_ONE["exp"])


def log(x: Scalar) -> Scalar:
    """Natural logarithm."""
    return _of_one(x, OF_ONE["log"])


def sqrt(x: Scalar) -> Scalar:
    """Square root."""
    return _of_one(x, OF_ONE["sqrt"])


def absolute(x: Scalar) -> Scalar:
    """Absolute value."""
    return _of_one(x, OF_ONE["absolute"])


def sign(x: Scalar) -> Scalar:
    """The sign of x: -1, 0 or 1."""
    return _of_one(x, OF_ONE["sign"])


def floor(x: Scalar) -> Scalar:
    """The largest whole number <= x."""
    return _of_one(x, OF_ONE["floor"])


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """The angle of the point (x, y) from the x axis, rad, in [-pi, pi]."""
    return _of_two(y, x, OF_TWO["atan2"])


def hypot(x: Scalar, y: Scalar) -> Scalar:
    """sqrt(x^2 + y^2)."""
    return _of_two(x, y, OF_TWO["hypot"])


def minimum(a: Scalar, b: Scalar) -> Scalar:
    """The smaller of a and b."""
    return _of_two(a, b, OF_TWO["minimum"])


def maximum(a: Scalar, b: Scalar) -> Scalar:
    """The larger of a and b."""
    return _of_two(a, b, OF_TWO["maximum"])


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


def converged(x: Scalar) -> Scalar:
    """x, to which a search has converged: derivatives do not pass through the search, and what it compared decides nothing.

    A step of Newton's method from here on gives the derivatives of what was searched for.
    """
    own = getattr(x, "converged", None)
    return x if own is None else own()


def call_law(function: Callable[..., Scalar], *arguments: Scalar) -> Scalar:
    """function(*arguments) of a law of the user's own; in a run its comparisons are events, as those in formulas are."""
    call = next((x.call_law for x in arguments if hasattr(x, "call_law")), None)
    return called(function, *arguments, kind="law") if call is None else call(function, arguments)


# Names in a formula that indicate that it reads a table.
TABLES = {"interp", "interp1d", "CubicSpline", "PchipInterpolator", "Akima1DInterpolator", "searchsorted"}
PYTHON = "Python update"  # the kind of function that is called with plain numbers during a run
TABLE = "a table is pl.PiecewiseLinear(times=..., values=...), smooth: pl.MotionTable, given instead of a formula or called in one"


def called(function: Any, *arguments: Any, kind: str = "formula", of: str = "", number: bool = True) -> Any:
    """A user's function of these values. What goes wrong inside, or with what it returns, is an error that names the function.

    of: whose function it is, in words. number: whether it returns one number; else the caller checks what it returns.
    """
    part = f"{kind} {name_of(function)!r}{of}"
    try:
        value = function(*arguments)
    except PliantError:
        raise
    except TypeError as trouble:
        rule = "must be arithmetic on scalars" if kind != PYTHON else "must return numbers"
        advice = TABLE if _names_in(function) & TABLES else str(trouble)
        raise ModelError(f"{part}: {rule}: {advice}") from trouble
    except (ValueError, ArithmeticError) as trouble:  # such as a root of a negative number, or a division by zero
        raise ModelError(f"{part}: must have a value ({trouble})") from trouble
    except Exception as trouble:
        raise ModelError(f"{part}: must have a value ({type(trouble).__name__}: {trouble})") from trouble
    if number:
        check_returned(part, value)
    return value


def check_returned(part: str, value: Any) -> None:
    """Refuse what a user's function returned instead of a number."""
    if not hasattr(value, "__rmul__") or isinstance(value, (str, bytes, list, tuple, complex)):
        raise ModelError.of(part, "value", "must be a number", value)


def _names_in(function: Any) -> set[str]:
    code = getattr(function, "__code__", None)
    return set() if code is None else {*code.co_names, *code.co_freevars}


def name_of(function: Any) -> str:
    """A formula in words: its text, or the name of its function."""
    return getattr(function, "text", "") or getattr(function, "__qualname__", repr(function))


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


def _of_one(x: Scalar, function: Function) -> Scalar:
    if _is_number(x):
        return float(function.of_numbers(x))
    return function.of_arrays(x) if isinstance(x, np.ndarray) else _method(x, function.method)()


def _of_two(a: Scalar, b: Scalar, function: Function) -> Scalar:
    if is_traced(a):
        return _method(a, function.method)(b)
    if is_traced(b):
        return _method(b, function.swapped)(a)
    if _is_number(a) and _is_number(b):
        return float(function.of_numbers(a, b))
    return function.of_arrays(a, b)


def _method(x: Scalar, name: str) -> Callable[..., Scalar]:
    method = getattr(x, name, None)
    if not callable(method):
        raise TypeError(f"{name}: the argument must be a number, an array or a traced scalar, got {x!r}")
    return method  # type: ignore[no-any-return]
