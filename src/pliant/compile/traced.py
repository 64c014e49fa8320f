"""The scalar that traces: arithmetic on it builds a CasADi SX graph, and what is known vanishes at once.

Constants stay Python floats, so zeros and ones of the geometry drop out before CasADi sees them; equal
expressions are built once. `SX.binary` takes 4 us where `a * b` on bare SX takes 30.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import casadi as ca

Scalar = Any  # a Python float or a Traced


class Tracer:
    """One graph in the making, with the table of what it already holds."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Traced] = {}
        self._constants: dict[float, ca.SX] = {}
        self._alive: list[Traced] = []  # nodes are told apart by identity: none may die and leave its id to another

    def symbols(self, name: str, count: int) -> tuple[ca.SX, list[Traced]]:
        """A column of fresh symbols, as CasADi sees it and as scalars."""
        column = ca.SX.sym(name, count)
        return column, [Traced(self, element) for element in _elements(column)]

    def column(self, scalars: Iterable[Scalar]) -> ca.SX:
        """Scalars as one dense CasADi column."""
        entries = [self.sx(s) for s in scalars]
        return ca.densify(ca.vertcat(*entries)) if entries else ca.SX.zeros(0, 1)

    def scalars(self, column: ca.SX) -> list[Scalar]:
        """The entries of a dense CasADi column; constants come back as floats."""
        return [self._wrap(element) for element in _elements(column)]

    def sx(self, value: Scalar) -> ca.SX:
        if isinstance(value, Traced):
            return value.sx
        number = float(value)
        if number not in self._constants or math.isnan(number):
            self._constants[number] = ca.SX(number)
        return self._constants[number]

    def directional(self, scalars: Sequence[Scalar], at: ca.SX, along: ca.SX) -> list[Scalar]:
        """d scalars / d at . along, exactly."""
        return self.scalars(ca.densify(ca.jtimes(self.column(scalars), at, along)))

    def gradient(self, scalar: Scalar, at: ca.SX) -> list[Scalar]:
        return self.scalars(ca.densify(ca.gradient(self.sx(scalar), at)))

    def jacobian(self, scalars: Sequence[Scalar], at: ca.SX) -> list[list[Scalar]]:
        matrix = ca.densify(ca.jacobian(self.column(scalars), at))
        return [[self._wrap(matrix[i, j]) for j in range(matrix.shape[1])] for i in range(matrix.shape[0])]

    def sparse_jacobian(self, scalars: Sequence[Scalar], at: ca.SX) -> list[dict[int, Scalar]]:
        """Rows of the Jacobian, each {column: entry} of what is not zero by structure."""
        matrix = ca.jacobian(self.column(scalars), at)
        rows: list[dict[int, Scalar]] = [{} for _ in scalars]
        for i, j, element in zip(*matrix.sparsity().get_triplet(), _elements(matrix), strict=True):
            if not element.is_zero():
                rows[i][j] = self._wrap(element)
        return rows

    def substitute(self, scalars: Sequence[Scalar], old: ca.SX, new: ca.SX) -> list[Scalar]:
        return self.scalars(ca.densify(ca.substitute(self.column(scalars), old, new)))

    def unary(self, code: int, a: Traced) -> Traced:
        return self._node((code, id(a)), lambda: ca.SX.unary(code, a.sx))

    def binary(self, code: int, a: Scalar, b: Scalar) -> Traced:
        left, right = _key(a), _key(b)
        key = (code, right, left) if code in _COMMUTATIVE and right < left else (code, left, right)
        return self._node(key, lambda: ca.SX.binary(code, self.sx(a), self.sx(b)))

    def _node(self, key: tuple[object, ...], make: Callable[[], ca.SX]) -> Traced:
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = Traced(self, make())
        return known

    def _wrap(self, element: ca.SX) -> Scalar:
        return float(element) if element.is_constant() else Traced(self, element)


_COMMUTATIVE = {ca.OP_ADD, ca.OP_MUL, ca.OP_FMIN, ca.OP_FMAX, ca.OP_EQ, ca.OP_NE, ca.OP_AND, ca.OP_OR}


def _elements(matrix: ca.SX) -> list[Any]:
    """What a CasADi matrix holds, column by column, without its structural zeros: far quicker than one index at a time."""
    return list(matrix.nonzeros())


def _key(value: Scalar) -> tuple[bool, float]:
    """What tells operands apart: nodes by identity (the tracer keeps them alive), constants by value."""
    return (True, id(value)) if isinstance(value, Traced) else (False, float(value))


class Traced:
    """A node of the graph. Comparisons give nodes too, for `where`; there is no truth value while tracing."""

    __slots__ = ("sx", "tracer")

    def __init__(self, tracer: Tracer, sx: ca.SX) -> None:
        self.tracer = tracer
        self.sx = sx
        tracer._alive.append(self)

    def __add__(self, other: Scalar) -> Scalar:
        if _is_number(other) and other == 0.0:
            return self
        return self.tracer.binary(ca.OP_ADD, self, other)

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Scalar:
        if _is_number(other) and other == 0.0:
            return self
        return 0.0 if other is self else self.tracer.binary(ca.OP_SUB, self, other)

    def __rsub__(self, other: Scalar) -> Scalar:
        return -self if other == 0.0 else self.tracer.binary(ca.OP_SUB, other, self)

    def __mul__(self, other: Scalar) -> Scalar:
        if _is_number(other):
            if other == 0.0:
                return 0.0
            if other == 1.0:
                return self
            if other == -1.0:
                return -self
        return self.tracer.binary(ca.OP_MUL, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        if _is_number(other):
            return self * (1.0 / other)
        return 1.0 if other is self else self.tracer.binary(ca.OP_DIV, self, other)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        if other == 0.0:
            return 0.0
        return self.tracer.unary(ca.OP_INV, self) if other == 1.0 else self.tracer.binary(ca.OP_DIV, other, self)

    def __pow__(self, power: Scalar) -> Scalar:
        if _is_number(power):
            if power == 0.0:
                return 1.0
            if power == 1.0:
                return self
            if power == 2.0:
                return self * self
            return self.tracer.binary(ca.OP_CONSTPOW, self, power)
        return self.tracer.binary(ca.OP_POW, self, power)

    def __rpow__(self, base: Scalar) -> Scalar:
        return self.tracer.binary(ca.OP_POW, base, self)

    def __neg__(self) -> Scalar:
        return self.tracer.unary(ca.OP_NEG, self)

    def __pos__(self) -> Traced:
        return self

    def __abs__(self) -> Traced:
        return self.tracer.unary(ca.OP_FABS, self)

    def __lt__(self, other: Scalar) -> Traced:
        return self.tracer.binary(ca.OP_LT, self, other)

    def __le__(self, other: Scalar) -> Traced:
        return self.tracer.binary(ca.OP_LE, self, other)

    def __gt__(self, other: Scalar) -> Traced:
        return self.tracer.binary(ca.OP_LT, other, self)

    def __ge__(self, other: Scalar) -> Traced:
        return self.tracer.binary(ca.OP_LE, other, self)

    def __eq__(self, other: Scalar) -> Traced:  # type: ignore[override]
        return self.tracer.binary(ca.OP_EQ, self, other)

    def __ne__(self, other: Scalar) -> Traced:  # type: ignore[override]
        return self.tracer.binary(ca.OP_NE, self, other)

    def __and__(self, other: Scalar) -> Traced:
        return self.tracer.binary(ca.OP_AND, self, other)

    def __or__(self, other: Scalar) -> Traced:
        return self.tracer.binary(ca.OP_OR, self, other)

    def __invert__(self) -> Traced:
        return self.tracer.unary(ca.OP_NOT, self)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TypeError("a traced scalar has no truth value: write where(condition, a, b), not `if` or `and`")

    def __float__(self) -> float:
        raise TypeError("a traced scalar is no number yet: use pliant's sin, sqrt, where, ... on it, not math's")

    def where(self, a: Scalar, b: Scalar) -> Scalar:
        """a where this comparison holds, else b; a nan on the side not taken does no harm."""
        tracer = self.tracer
        other = tracer.unary(ca.OP_NOT, self)
        chosen = tracer.binary(ca.OP_IF_ELSE_ZERO, self, a) if not _is_zero(a) else 0.0
        return chosen + (tracer.binary(ca.OP_IF_ELSE_ZERO, other, b) if not _is_zero(b) else 0.0)

    def fmin(self, other: Scalar) -> Traced:
        return self.tracer.binary(ca.OP_FMIN, self, other)

    def fmax(self, other: Scalar) -> Traced:
        return self.tracer.binary(ca.OP_FMAX, self, other)

    def hypot(self, other: Scalar) -> Traced:
        return self.tracer.binary(ca.OP_HYPOT, self, other)

    def arctan2(self, other: Scalar) -> Traced:
        return self.tracer.binary(ca.OP_ATAN2, self, other)

    def rarctan2(self, other: Scalar) -> Traced:
        return self.tracer.binary(ca.OP_ATAN2, other, self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """NumPy's functions of one argument, and NumPy numbers on the left of an operator."""
        if method != "__call__" or options or any(getattr(i, "ndim", 0) for i in inputs):
            return NotImplemented
        name = ufunc.__name__
        if len(inputs) == 1 and name in _UFUNCS:
            return getattr(inputs[0], _UFUNCS[name])()
        if len(inputs) == 2 and name in _OPERATORS:
            left, right = (x if isinstance(x, Traced) else float(x) for x in inputs)
            return _OPERATORS[name](left, right)
        return NotImplemented


def _unary(code: int) -> Callable[[Traced], Traced]:
    def method(self: Traced) -> Traced:
        return self.tracer.unary(code, self)

    return method


_METHODS = {
    "sin": ca.OP_SIN, "cos": ca.OP_COS, "tan": ca.OP_TAN, "arcsin": ca.OP_ASIN, "arccos": ca.OP_ACOS,
    "arctan": ca.OP_ATAN, "sinh": ca.OP_SINH, "cosh": ca.OP_COSH, "tanh": ca.OP_TANH, "exp": ca.OP_EXP,
    "log": ca.OP_LOG, "sqrt": ca.OP_SQRT, "fabs": ca.OP_FABS, "sign": ca.OP_SIGN, "floor": ca.OP_FLOOR,
}  # fmt: skip
for _name, _code in _METHODS.items():
    setattr(Traced, _name, _unary(_code))

_UFUNCS = {**{name: name for name in _METHODS}, "absolute": "fabs", "negative": "__neg__"}
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b, "power": lambda a, b: a**b,
    "less": lambda a, b: a < b, "less_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b, "greater_equal": lambda a, b: a >= b,
}  # fmt: skip


def _is_number(value: Scalar) -> bool:
    return not isinstance(value, Traced)


def _is_zero(value: Scalar) -> bool:
    return _is_number(value) and value == 0.0
