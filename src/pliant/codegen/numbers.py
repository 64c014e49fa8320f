"""Numbers that a trace does not fold in: each has a value while tracing, but the code reads it from a vector at run time.

Expressions of numbers alone form a separate graph, which is evaluated once per run; its results are constants in the graph of the
functions. If a Python `if` tests a number, the outcome is recorded as a guard: the trace is valid for other numbers as long as all
tests have the same outcome.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

import casadi as ca

from pliant.scalar import Compared, Function

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
class Number(Compared):
    """A number with its value and its node in the graph of numbers."""

    __slots__ = ("node", "numbers", "value")
    is_constant = True

    def __init__(self, numbers: Numbers, value: float, node: Any) -> None:
        self.numbers, self.value, self.node = numbers, value, node

    def _with(self, value: float, node: Scalar) -> Scalar:
        """The result of an operation; a plain number if the graph could simplify it to one."""
        return Number(self.numbers, value, node) if type(node) is not float else node

    def _lifted(self, other: Scalar) -> Scalar:
        return other if type(other) in (Number, float, int) else self.numbers.lift(other)

    def _operate(self, operation: Callable[[Any, Any], Any], a: Scalar, b: Scalar) -> Scalar:
        """An operation with a number or an object convertible to one; scalars of the functions' graph handle it themselves."""
        a, b = self._lifted(a), self._lifted(b)
        if a is NotImplemented or b is NotImplemented:
            return NotImplemented
        value = operation(_value(a), _value(b))
        if operation in _COMPARISONS:
            return self.numbers.decide(_COMPARISONS[operation], a, b, value)
        return self._with(value, operation(_operand(a), _operand(b)))

    def _of_one(self, function: Function) -> Scalar:
        return self._with(function.of_numbers(self.value), getattr(self.node, function.method)())

    def _of_two(self, function: Function, a: Scalar, b: Scalar) -> Scalar:
        first, second = self._lifted(a), self._lifted(b)
        if second is NotImplemented:
            return getattr(b, function.swapped)(self)
        if first is NotImplemented:
            return getattr(a, function.method)(self)
        value = function.of_numbers(_value(first), _value(second))
        method, other = (function.method, second) if a is self else (function.swapped, first)
        return self._with(value, getattr(self.node, method)(_node(other)))

    def __neg__(self) -> Scalar:
        return self._with(-self.value, -self.node)

    def __eq__(self, other: Scalar) -> Any:
        return self._operate(operator.eq, self, other)

    def __ne__(self, other: Scalar) -> Any:
        return self._operate(operator.ne, self, other)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return self.numbers.decide(ca.OP_NE, self, 0.0, self.value != 0.0)

    def __float__(self) -> float:
        return self.numbers.freeze(self)

    def __repr__(self) -> str:
        return repr(self.value)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec)

    def exponent(self) -> Scalar:
        """The number as an exponent; an exponent that turns into products is part of the structure of the code."""
        expands = abs(self.value) <= LARGEST_EXPANDED_POWER and (2.0 * self.value).is_integer()
        return self.numbers.freeze(self) if expands else self


_COMPARISONS = {operator.lt: ca.OP_LT, operator.le: ca.OP_LE, operator.eq: ca.OP_EQ, operator.ne: ca.OP_NE}


def _node(x: Scalar) -> Scalar:
    return x.node if type(x) is Number else float(x)


def _operand(x: Scalar) -> Scalar:
    return x.node if type(x) is Number else x


def _value(x: Scalar) -> float:
    return x.value if type(x) is Number else x
