"""The graph of a trace, and the scalar whose arithmetic builds it; known constants are folded immediately.

Constants stay Python floats, so zeros and ones of the geometry drop out before a node is made; equal expressions are one node. A
Number is also a constant, but its value is supplied when the code runs. A graph is stored as lists of numbers: making a node takes
a fraction of the time of a CasADi node, and machine code is written from the lists directly. Signs, reciprocals and squares are
simplified as in CasADi.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import Any, Protocol

import casadi as ca

from pliant.codegen.numbers import Number
from pliant.codegen.operations import CONVERGED
from pliant.codegen.rotations import alike, turned_back
from pliant.scalar import OF_ONE

Scalar = Any  # a Python float, a Number or a TracedScalar

# Kinds of leaves. They are negative, so they can never meet one of casadi's operation codes.
SYMBOL, CONSTANT, FOREIGN = -1, -2, -3  # FOREIGN: an expression whose operations only CasADi knows
NONE = -1  # stands for a missing argument

_ADD, _SUB, _MUL, _DIV, _NEG, _INV = ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV, ca.OP_NEG, ca.OP_INV
_SQ, _SQRT, _SIN, _COS, _TWICE, _FABS = ca.OP_SQ, ca.OP_SQRT, ca.OP_SIN, ca.OP_COS, ca.OP_TWICE, ca.OP_FABS
_COMMUTATIVE = frozenset((_ADD, _MUL, ca.OP_FMIN, ca.OP_FMAX, ca.OP_EQ, ca.OP_NE, ca.OP_AND, ca.OP_OR))

_LIMITED = frozenset(
    (ca.OP_SQRT, ca.OP_LOG, ca.OP_POW, ca.OP_CONSTPOW, ca.OP_ASIN, ca.OP_ACOS, ca.OP_ACOSH)
)  # nan for some numbers


class Decisions(Protocol):
    """Decides operations with edges; None: they are computed as they are."""

    def compared(self, below: Scalar, above: Scalar) -> Scalar | None:
        """The scalar to use for below < above."""

    def at_corner(self, below: Scalar, above: Scalar) -> Scalar | None:
        """The same for a corner of minimum, maximum or absolute."""

    def in_table(self, below: Scalar, above: Scalar) -> Scalar | None:
        """The same for a corner of a table."""

    def floor(self, x: TracedScalar) -> Scalar | None:
        """The scalar to use for floor(x)."""


class Graph:
    """The nodes of a trace, with a table of existing nodes so that equal expressions share one.

    Node `i` is `kind[i]` (a leaf above or casadi's operation code) of the nodes `a[i]` and `b[i]`, both created before it.
    """

    def __init__(self) -> None:
        self.kind: list[int] = []
        self.a: list[int] = []
        self.b: list[int] = []
        self.values: dict[int, float | Number] = {}  # values of constants, by node
        self._nodes: list[TracedScalar] = []
        self._known: dict[tuple[int, int, int], TracedScalar] = {}
        self._constants: dict[float, TracedScalar] = {}
        self._numbers: dict[int, TracedScalar] = {}  # constants that are Numbers, by node in the graph of numbers
        self.lift: Callable[[Any], Scalar] = float  # converts any other object to a number or a scalar of this graph
        self.decisions: Decisions | None = None  # how comparisons in a user's formula are decided
        # calls a law of the user's own: (function, its arguments) -> its value
        self.call_of_law: Callable[[Callable[..., Any], tuple[Scalar, ...]], Scalar] | None = None

    def arguments(self, node: int) -> list[int]:
        if self.kind[node] < 0:
            return []
        return [self.a[node]] if self.b[node] == NONE else [self.a[node], self.b[node]]

    def unary(self, code: int, a: TracedScalar) -> Scalar:
        """An operation of one argument, simplified as in CasADi."""
        inner = self.kind[a.number]
        if code == _COS and inner == _NEG:
            a = self._first(a)
        elif code == _FABS and inner in (_FABS, _SQ):
            return a
        elif code == _FABS and inner == _NEG:
            a = self._first(a)
        elif code == _SQRT and inner == _SQ:
            return self.unary(_FABS, self._first(a))
        elif code in (_INV, _NEG) and inner == code:
            return self._first(a)
        elif code == _SQ:
            return self.square(a)
        elif code == _TWICE:
            return self.scaled(2.0, a)
        return self._node(code, a.number)

    def binary(self, code: int, a: Scalar, b: Scalar) -> Scalar:
        """An operation of two arguments, at least one of them traced, that has no method of its own."""
        if a is b and code in (ca.OP_FMIN, ca.OP_FMAX):
            return a
        left = a if isinstance(a, TracedScalar) else self.constant(a)
        right = b if isinstance(b, TracedScalar) else self.constant(b)
        return self._node(code, left.number, right.number)

    def compare(self, code: int, below: Scalar, above: Scalar) -> Scalar:
        """below < above or below <= above, unless it is decided otherwise."""
        decided = None if self.decisions is None else self.decisions.compared(below, above)
        return self.binary(code, below, above) if decided is None else decided

    def nodes_below(self, node: int) -> set[int]:
        """The node itself and all that it is computed from."""
        seen, waiting = set[int](), [node]
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                waiting += self.arguments(node)
        return seen

    def limited(self, x: Scalar, beyond: Collection[int] = ()) -> bool:
        """Whether x has no value for some arguments; beyond: only arguments that depend on these symbols count."""
        if not isinstance(x, TracedScalar):
            return False
        seen = self.nodes_below(x.number)
        found = {node for node in seen if self.kind[node] in _LIMITED}
        if not beyond:
            return bool(found)
        reached = set(beyond)
        for node in sorted(seen):
            if not reached.isdisjoint(self.arguments(node)):
                if node in found:
                    return True
                reached.add(node)
        return False

    def sum(self, x: TracedScalar, y: TracedScalar) -> Scalar:
        kind, other = self.kind[x.number], self.kind[y.number]
        if other == _NEG:
            if kind == _NEG:
                return -(self._first(x) + self._first(y))
            return x - self._first(y)
        if kind == _NEG:
            return y - self._first(x)
        if kind == _SUB and self.b[x.number] == y.number:
            return self._scalar(self.a[x.number])
        if other == _SUB and self.b[y.number] == x.number:
            return self._scalar(self.a[y.number])
        if kind == _SQ and other == _SQ and self._one(self._first(x), self._first(y)):
            return 1.0
        if kind == _MUL and other == _MUL:
            turned = turned_back(self, x.number, y.number, 1)
            if turned is not None:
                return self._signed(turned)
        return self.scaled(2.0, x) if x is y else self._node(_ADD, x.number, y.number)

    def difference(self, x: TracedScalar, y: TracedScalar) -> Scalar:
        kind, other = self.kind[x.number], self.kind[y.number]
        if x is y:
            return 0.0
        if other == _NEG:
            return self._first(y) + x if kind != _NEG else self._first(y) - self._first(x)
        if kind == _NEG:
            return -(self._first(x) + y)
        if kind == _ADD and y.number in (self.a[x.number], self.b[x.number]):
            return self._other(x, y)
        if other == _ADD and x.number in (self.a[y.number], self.b[y.number]):
            return -self._other(y, x)
        if kind == _MUL and other == _MUL:
            if alike(self, x.number, y.number):
                return 0.0
            turned = turned_back(self, x.number, y.number, -1)
            if turned is not None:
                return self._signed(turned)
        return self._node(_SUB, x.number, y.number)

    def product(self, x: TracedScalar, y: TracedScalar) -> Scalar:
        kind, other = self.kind[x.number], self.kind[y.number]
        if x is y:
            return self.square(x)
        if kind == _NEG:
            return self._first(x) * self._first(y) if other == _NEG else -(self._first(x) * y)
        if other == _NEG:
            return -(x * self._first(y))
        if other == _INV:
            return x / self._first(y)
        if kind == _INV:
            return y / self._first(x)
        if kind == _DIV and self.b[x.number] == y.number:
            return self._scalar(self.a[x.number])
        if other == _DIV and self.b[y.number] == x.number:
            return self._scalar(self.a[y.number])
        return self._node(_MUL, x.number, y.number)

    def scaled(self, factor: float | Number, y: TracedScalar) -> Scalar:
        """factor y, for a factor other than 0, 1 and -1."""
        kind = self.kind[y.number]
        if kind == _NEG:
            return -(factor * self._first(y))
        if kind == _INV:
            return factor / self._first(y)
        if kind == _MUL and self.a[y.number] in self.values:
            return (factor * self.values[self.a[y.number]]) * self._nodes[self.b[y.number]]
        if kind == _TWICE:
            return (2.0 * factor) * self._first(y)
        if type(factor) is not Number and factor == 2.0:
            return self._node(_TWICE, y.number)
        return self._node(_MUL, self.constant(factor).number, y.number)

    def quotient(self, x: TracedScalar, y: TracedScalar) -> Scalar:
        kind, other = self.kind[x.number], self.kind[y.number]
        if x is y:
            return 1.0
        if kind == _NEG:
            return self._first(x) / self._first(y) if other == _NEG else -(self._first(x) / y)
        if other == _NEG:
            return -(x / self._first(y))
        if other == _INV:
            return x * self._first(y)
        if kind == _MUL and y.number in (self.a[x.number], self.b[x.number]):
            return self._other(x, y)
        return self._node(_DIV, x.number, y.number)

    def over(self, factor: float | Number, y: TracedScalar) -> Scalar:
        """factor / y, for a factor other than 0."""
        if type(factor) is not Number and factor == 1.0:
            return self.unary(_INV, y)
        if self.kind[y.number] == _NEG:
            return -(factor / self._first(y))
        if self.kind[y.number] == _INV:
            return factor * self._first(y)
        return self._node(_DIV, self.constant(factor).number, y.number)

    def square(self, x: TracedScalar) -> Scalar:
        kind = self.kind[x.number]
        if kind == _NEG:
            return self.square(self._first(x))
        return self._first(x) if kind == _SQRT else self._node(_SQ, x.number)

    def symbol(self) -> TracedScalar:
        """A fresh leaf."""
        return self._append(SYMBOL, NONE, NONE)

    def constant(self, value: Any) -> TracedScalar:
        """The node of a number, or of an object that is lifted to one."""
        if type(value) is not float:
            value = value if type(value) is Number else self.lift(value)
            if type(value) is Number:
                return self._constant_number(value)
            if type(value) is TracedScalar:  # an input in the place of a parameter
                return value
        number = float(value)
        known = self._constants.get(number)
        if known is None:
            known = self._constants[number] = self._append(CONSTANT, NONE, NONE)
            self.values[known.number] = number
        return known

    def _constant_number(self, value: Number) -> TracedScalar:
        known = self._numbers.get(value.node.number)
        if known is None:
            known = self._numbers[value.node.number] = self._append(CONSTANT, NONE, NONE)
            self.values[known.number] = value
        return known

    @property
    def numbers(self) -> list[int]:
        """Nodes of the constants that are Numbers, in the order of their first use."""
        return [node.number for node in self._numbers.values()]

    def node_of(self, value: Scalar) -> int:
        """The number of a scalar's node."""
        return (value if isinstance(value, TracedScalar) else self.constant(value)).number

    def _node(self, code: int, a: int, b: int = NONE) -> TracedScalar:
        """The node of an operation; in commutative operations constants come first, then the older node."""
        if code in _COMMUTATIVE and (b in self.values or (a > b and a not in self.values)):
            a, b = b, a
        key = (code, a, b)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._append(code, a, b)
        return known

    def _append(self, kind: int, a: int, b: int) -> TracedScalar:
        made = TracedScalar(self, len(self.kind))
        self.kind.append(kind)
        self.a.append(a)
        self.b.append(b)
        self._nodes.append(made)
        return made

    def _first(self, x: TracedScalar) -> TracedScalar:
        return self._nodes[self.a[x.number]]

    def _other(self, x: TracedScalar, y: TracedScalar) -> Scalar:
        """The argument of x that is not y."""
        return self._scalar(self.b[x.number] if self.a[x.number] == y.number else self.a[x.number])

    def _signed(self, term: tuple[int, int]) -> Scalar:
        sign, number = term
        return 0.0 if sign == 0 else self._scalar(number) if sign > 0 else -self._scalar(number)

    def _scalar(self, number: int) -> Scalar:
        return self.values[number] if number in self.values else self._nodes[number]

    def _one(self, x: TracedScalar, y: TracedScalar) -> bool:
        """Whether x and y are the sine and cosine of the same angle."""
        return {self.kind[x.number], self.kind[y.number]} == {_SIN, _COS} and self.a[x.number] == self.a[y.number]


class NotYetKnown(TypeError):
    """A number was asked for while only a traced scalar is there."""


def _unary(code: int) -> Callable[[TracedScalar], Scalar]:
    """The method of an operation; `_binary`: with the scalar as the first operand."""
    return lambda self: self.graph.unary(code, self)


def _binary(code: int) -> Callable[[TracedScalar, Scalar], Scalar]:
    return lambda self, other: self.graph.binary(code, self, other)


class TracedScalar:
    """A node of the graph. Comparisons return nodes too, for use in `where`; a traced scalar has no truth value."""

    __slots__ = ("graph", "number")

    def __init__(self, graph: Graph, number: int) -> None:
        self.graph = graph
        self.number = number  # number of the node

    def __add__(self, other: Scalar) -> Scalar:
        if type(other) is not TracedScalar:
            if _is_zero(other):
                return self
            other = self.graph.constant(other)
        return self.graph.sum(self, other)

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Scalar:
        if type(other) is not TracedScalar:
            if _is_zero(other):
                return self
            other = self.graph.constant(other)
        return self.graph.difference(self, other)

    def __rsub__(self, other: Scalar) -> Scalar:
        return -self if _is_zero(other) else self.graph.difference(self.graph.constant(other), self)

    def __mul__(self, other: Scalar) -> Scalar:
        if type(other) is TracedScalar:
            return self.graph.product(self, other)
        if type(other) is not float:
            other = other if type(other) is Number else self.graph.lift(other)
            if type(other) is Number:
                return self.graph.scaled(other, self)
            if type(other) is TracedScalar:
                return self.graph.product(self, other)
        if other == 0.0:
            return 0.0
        if other == 1.0:
            return self
        if other == -1.0:
            return -self
        return self.graph.scaled(float(other), self)

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        if type(other) is TracedScalar:
            return self.graph.quotient(self, other)
        return self * (1.0 / (other if type(other) in (float, Number) else self.graph.lift(other)))

    def __rtruediv__(self, other: Scalar) -> Scalar:
        if type(other) is not float:
            other = other if type(other) is Number else self.graph.lift(other)
            if type(other) is Number:
                return self.graph.over(other, self)
            if type(other) is TracedScalar:
                return self.graph.quotient(other, self)
        return 0.0 if other == 0.0 else self.graph.over(float(other), self)

    def __pow__(self, power: Scalar) -> Scalar:
        if type(power) not in (float, TracedScalar, Number):
            power = self.graph.lift(power)
        if type(power) is Number:
            power = power.exponent()
        if _is_number(power):
            if power == 0.0:
                return 1.0
            if power == 1.0:
                return self
            if power == 2.0:
                return self * self
            if power == 0.5:
                return self.graph.unary(ca.OP_SQRT, self)
            if power == -1.0:
                return 1.0 / self
            return self.graph.binary(ca.OP_CONSTPOW, self, power)
        return self.graph.binary(ca.OP_POW, self, power)

    def __rpow__(self, base: Scalar) -> Scalar:
        return self.graph.binary(ca.OP_POW, base, self)

    __neg__ = _unary(ca.OP_NEG)

    def __pos__(self) -> TracedScalar:
        return self

    def __abs__(self) -> Scalar:
        decided = None if self.graph.decisions is None else self.graph.decisions.at_corner(0.0, self)
        return self.graph.unary(ca.OP_FABS, self) if decided is None else decided.where(self, -self)

    fabs = __abs__

    def __lt__(self, other: Scalar) -> Scalar:
        return self.graph.compare(ca.OP_LT, self, other)

    def __le__(self, other: Scalar) -> Scalar:
        return self.graph.compare(ca.OP_LE, self, other)

    def __gt__(self, other: Scalar) -> Scalar:
        return self.graph.compare(ca.OP_LT, other, self)

    def __ge__(self, other: Scalar) -> Scalar:
        return self.graph.compare(ca.OP_LE, other, self)

    __eq__, __ne__, __and__, __or__ = map(_binary, (ca.OP_EQ, ca.OP_NE, ca.OP_AND, ca.OP_OR))
    __invert__ = _unary(ca.OP_NOT)
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise NotYetKnown("a traced scalar has no truth value: write where(condition, a, b) instead of `if` or `and`")

    def __float__(self) -> float:
        raise NotYetKnown("a traced scalar has no numeric value yet: use pliant's sin, sqrt, where, ... instead of those of math")

    def where(self, a: Scalar, b: Scalar) -> Scalar:
        """a if this comparison holds, else b; a nan on the side not taken does no harm.

        Where a flag decides, a trial step may go beyond the edge: if the chosen side has no value there, the other side is taken.
        """
        graph = self.graph
        if graph.decisions is not None:
            if graph.limited(a):
                self = self & graph.binary(ca.OP_LE, a, math.inf)
            if graph.limited(b):
                self = self | ~graph.binary(ca.OP_LE, b, math.inf)
        other = graph.unary(ca.OP_NOT, self)
        chosen = graph.binary(ca.OP_IF_ELSE_ZERO, self, a) if not _is_zero(a) else 0.0
        return chosen + (graph.binary(ca.OP_IF_ELSE_ZERO, other, b) if not _is_zero(b) else 0.0)

    def fmin(self, other: Scalar) -> Scalar:
        decided = None if self.graph.decisions is None else self.graph.decisions.at_corner(self, other)
        return self.graph.binary(ca.OP_FMIN, self, other) if decided is None else decided.where(self, other)

    def fmax(self, other: Scalar) -> Scalar:
        decided = None if self.graph.decisions is None else self.graph.decisions.at_corner(other, self)
        return self.graph.binary(ca.OP_FMAX, self, other) if decided is None else decided.where(self, other)

    def sign(self) -> Scalar:
        decided = None if self.graph.decisions is None else self.graph.decisions.compared(0.0, self)
        return self.graph.unary(ca.OP_SIGN, self) if decided is None else decided.where(1.0, -1.0)

    def floor(self) -> Scalar:
        decided = None if self.graph.decisions is None else self.graph.decisions.floor(self)
        return self.graph.unary(ca.OP_FLOOR, self) if decided is None else decided

    def below(self, corner: Scalar) -> Scalar:
        """self < corner, for a corner of a table."""
        decided = None if self.graph.decisions is None else self.graph.decisions.in_table(self, corner)
        return self < corner if decided is None else decided

    converged = _unary(CONVERGED)

    def call_law(self, function: Callable[..., Any], arguments: tuple[Scalar, ...]) -> Scalar:
        """The value of a law of the user's own, which has this scalar among its arguments."""
        call = self.graph.call_of_law
        return function(*arguments) if call is None else call(function, arguments)

    def hypot(self, other: Scalar) -> Scalar:
        return abs(self) if _is_zero(other) else self.graph.binary(ca.OP_HYPOT, self, other)

    arctan2 = _binary(ca.OP_ATAN2)

    def rarctan2(self, other: Scalar) -> Scalar:
        return self.graph.binary(ca.OP_ATAN2, other, self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Handles NumPy functions of one argument, and NumPy numbers on the left of an operator."""
        if method != "__call__" or options or any(getattr(i, "ndim", 0) for i in inputs):
            return NotImplemented
        name = ufunc.__name__
        if len(inputs) == 1 and name in _UFUNCS:
            return getattr(inputs[0], _UFUNCS[name])()
        if len(inputs) == 2 and name in _OPERATORS:
            left, right = (x if isinstance(x, (TracedScalar, Number)) else float(x) for x in inputs)
            return _OPERATORS[name](left, right)
        return NotImplemented


for _name, _function in OF_ONE.items():
    if not hasattr(TracedScalar, _function.method):
        setattr(TracedScalar, _function.method, _unary(getattr(ca, f"OP_{_name.upper()}")))

_UFUNCS = {of.of_arrays.__name__: of.method for of in OF_ONE.values()} | {"fabs": "fabs", "negative": "__neg__"}
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b, "power": lambda a, b: a**b,
    "less": lambda a, b: a < b, "less_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b, "greater_equal": lambda a, b: a >= b,
}  # fmt: skip


def _is_number(value: Scalar) -> bool:
    """Whether x is a plain number, known while tracing."""
    return type(value) is not TracedScalar and type(value) is not Number


def _is_zero(value: Scalar) -> bool:
    return _is_number(value) and bool(value == 0.0)
