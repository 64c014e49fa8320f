"""Numbers that a trace does not fold in: each has a value while tracing, but the code reads it from a vector at run time.

Expressions of numbers alone form a separate graph, which is evaluated once per run; its results are constants in the graph of the
functions. If a Python `if` tests a number, the outcome is recorded as a guard: the trace is valid for other numbers as long as all
tests have the same outcome.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

import casadi as ca

Scalar = Any  # a float, a Number or a scalar of a graph

# Half-integer powers up to this size become products and one square root; the error grows by half an ulp per factor. Such an
# exponent is part of the structure of the code.
LARGEST_EXPANDED_POWER = 8.0


@dataclass
class Numbers:
    """The numbers of one trace: their graph, and the outcomes of Python's tests on them."""

    graph: Any  # a Graph of the expressions of numbers alone
    leaves: list[Number] = field(default_factory=list)
    guards: list[tuple[Scalar, float]] = field(default_factory=list)  # a scalar of the graph, and the value it must have
    frozen: list[float] = field(default_factory=list)  # numbers on whose exact value the trace depends
    # Converts any other object to a float or a Number; returns NotImplemented if it cannot
    lift: Callable[[Any], Any] = field(default=lambda x: float(x) if isinstance(x, (float, int)) else NotImplemented)

    def leaf(self, value: float) -> Number:
        """The next entry of the vector."""
        made = Number(self, value, self.graph.symbol())
        self.leaves.append(made)
        return made

    def decide(self, code: int, a: Scalar, b: Scalar, answer: bool) -> bool:
        """Record the outcome of a comparison."""
        self.guards.append((self.graph.binary(code, _node(a), _node(b)), float(answer)))
        return answer

    def freeze(self, number: Number) -> float:
        """The value itself; the trace is then valid for this value only."""
        self.guards.append((number.node, number.value))
        self.frozen.append(number.value)
        return number.value


@final
class Number:
    """A number with its value and its node in the graph of numbers."""

    __slots__ = ("node", "numbers", "value")
    is_constant = True

    def __init__(self, numbers: Numbers, value: float, node: Any) -> None:
        self.numbers, self.value, self.node = numbers, value, node

    def _with(self, value: float, node: Scalar) -> Scalar:
        """The result of an operation; a plain number if the graph could simplify it to one."""
        return Number(self.numbers, value, node) if type(node) is not float else node

    def _operate(self, other: Scalar, operation: Callable[[Any, Any], Any], swapped: bool = False) -> Scalar:
        """An operation with a number or an object convertible to one; scalars of the functions' graph handle it themselves."""
        if type(other) not in (Number, float, int):
            other = self.numbers.lift(other)
            if other is NotImplemented:
                return NotImplemented
        a, b = (other, self) if swapped else (self, other)
        return self._with(operation(_value(a), _value(b)), operation(_operand(a), _operand(b)))

    def __add__(self, other: Scalar) -> Scalar:
        return self._operate(other, operator.add)

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Scalar:
        return self._operate(other, operator.sub)

    def __rsub__(self, other: Scalar) -> Scalar:
        return self._operate(other, operator.sub, swapped=True)

    def __mul__(self, other: Scalar) -> Scalar:
        return self._operate(other, operator.mul)

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        return self._operate(other, operator.truediv)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        return self._operate(other, operator.truediv, swapped=True)

    def __pow__(self, power: Scalar) -> Scalar:
        return self._operate(power, operator.pow)

    def __rpow__(self, base: Scalar) -> Scalar:
        return self._operate(base, operator.pow, swapped=True)

    def __neg__(self) -> Scalar:
        return self._with(-self.value, -self.node)

    def __pos__(self) -> Number:
        return self

    def __abs__(self) -> Scalar:
        return self._with(abs(self.value), abs(self.node))

    def __lt__(self, other: Scalar) -> Any:
        return self._compare(ca.OP_LT, other, lambda a, b: a < b)

    def __le__(self, other: Scalar) -> Any:
        return self._compare(ca.OP_LE, other, lambda a, b: a <= b)

    def __gt__(self, other: Scalar) -> Any:
        return self._compare(ca.OP_LT, other, lambda a, b: a < b, swapped=True)

    def __ge__(self, other: Scalar) -> Any:
        return self._compare(ca.OP_LE, other, lambda a, b: a <= b, swapped=True)

    def __eq__(self, other: Scalar) -> Any:
        return self._compare(ca.OP_EQ, other, lambda a, b: a == b)

    def __ne__(self, other: Scalar) -> Any:
        return self._compare(ca.OP_NE, other, lambda a, b: a != b)

    def _compare(self, code: int, other: Scalar, answer: Callable[[float, float], bool], swapped: bool = False) -> Any:
        if type(other) not in (Number, float, int):
            other = self.numbers.lift(other)
            if other is NotImplemented:
                return NotImplemented
        a, b = (other, self) if swapped else (self, other)
        return self.numbers.decide(code, a, b, answer(_value(a), _value(b)))

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return self.numbers.decide(ca.OP_NE, self, 0.0, self.value != 0.0)

    def __float__(self) -> float:
        return self.numbers.freeze(self)

    def __repr__(self) -> str:
        return repr(self.value)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec)

    def _of_two(self, other: Scalar, name: str, of_values: Callable[[float, float], float], swapped: str = "") -> Scalar:
        if type(other) not in (Number, float, int):
            lifted = self.numbers.lift(other)
            if lifted is NotImplemented:
                return getattr(other, swapped or name)(self)
            other = lifted
        return self._with(of_values(self.value, _value(other)), getattr(self.node, name)(_node(other)))

    def fmin(self, other: Scalar) -> Scalar:
        return self._of_two(other, "fmin", min)

    def fmax(self, other: Scalar) -> Scalar:
        return self._of_two(other, "fmax", max)

    def hypot(self, other: Scalar) -> Scalar:
        return self._of_two(other, "hypot", math.hypot)

    def arctan2(self, other: Scalar) -> Scalar:
        return self._of_two(other, "arctan2", math.atan2, swapped="rarctan2")

    def rarctan2(self, other: Scalar) -> Scalar:
        return self._of_two(other, "rarctan2", lambda x, y: math.atan2(y, x), swapped="arctan2")

    def exponent(self) -> Scalar:
        """The number as an exponent; an exponent that turns into products is part of the structure of the code."""
        expands = abs(self.value) <= LARGEST_EXPANDED_POWER and (2.0 * self.value).is_integer()
        return self.numbers.freeze(self) if expands else self


def _sign(x: float) -> float:
    return 1.0 if x > 0 else -1.0 if x < 0 else 0.0


def _unary(name: str, of_value: Callable[[float], float]) -> Callable[[Number], Scalar]:
    def method(self: Number) -> Scalar:
        return self._with(of_value(self.value), getattr(self.node, name)())

    return method


_METHODS: dict[str, Callable[[float], float]] = {
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "arcsin": math.asin, "arccos": math.acos, "arctan": math.atan,
    "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh, "exp": math.exp, "log": math.log, "sqrt": math.sqrt,
    "fabs": math.fabs, "sign": _sign, "floor": math.floor,
}  # fmt: skip
for _name, _function in _METHODS.items():
    setattr(Number, _name, _unary(_name, _function))


def _node(x: Scalar) -> Scalar:
    return x.node if type(x) is Number else float(x)


def _operand(x: Scalar) -> Scalar:
    return x.node if type(x) is Number else x


def _value(x: Scalar) -> float:
    return x.value if type(x) is Number else x
