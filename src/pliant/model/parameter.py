"""Named numbers: parameters, expressions of parameters, and the floats that parts keep of them.

An Expression is not a number: it has a value only for given values of its parameters. A part that is given an Expression checks
its present value and keeps it as a TiedFloat, a float that remembers its expression, so that the part can be rebuilt for other
values.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

from pliant import scalar
from pliant.errors import CONTROL, ModelError

Values = Mapping[str, float]

# A type checker takes an expression for a float, because every part takes one wherever it takes a number, and keeps a float of it
if TYPE_CHECKING:

    def _operator(self: Any, other: Any, modulo: None = None) -> Expression: ...

    class _Number(float):
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _operator
        __truediv__ = __rtruediv__ = __pow__ = __rpow__ = _operator
else:
    _Number = scalar.Arithmetic

_SYMBOLS = {operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/", operator.pow: "**"}


class Expression(_Number):
    """An arithmetic expression of parameters, kept unevaluated."""

    def evaluate(self, values: Values) -> Any:
        """Its value for the given values of parameters (numbers or any scalars); other parameters keep their own value."""
        raise NotImplementedError

    def leaves(self) -> Iterator[Parameter]:
        """The parameters that it contains."""
        raise NotImplementedError

    def own_key(self) -> tuple[Any, ...]:
        """A key that distinguishes it from anything else that a formula may read; it does not contain parameter values."""
        raise NotImplementedError

    def nodes(self) -> Iterator[Expression]:
        """The expression and all expressions that it contains."""
        raise NotImplementedError

    def text_with(self, texts: Sequence[str]) -> str:
        """Its text, given the texts of its arguments."""
        return str(self)

    @property
    def value(self) -> float:
        """Its value for the parameters' own values."""
        return float(self.evaluate({}))

    def __bool__(self) -> bool:
        raise TypeError(f"parameter expression {self} has no truth value (use its .value, or where(...) in a formula)")

    def __float__(self) -> float:
        raise TypeError(f"parameter expression {self} is not a number (use pliant's sin, sqrt, ... on it, or its .value)")

    def __neg__(self) -> Expression:
        return _Call(operator.neg, "-", (self,))

    def _operate(self, operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
        """An operation on numbers and expressions; for any other operand (a traced scalar) it returns NotImplemented."""
        operands = _untied(a), _untied(b)
        if not all(isinstance(x, (Expression, Real)) for x in operands):
            return NotImplemented
        if operation is operator.add and any(isinstance(x, Real) and x == 0.0 for x in operands):
            return self
        return _Call(operation, _SYMBOLS[operation], operands)

    def _of_one(self, function: scalar.Function) -> Expression:
        return _Call(scalar.FUNCTIONS[function.name], function.name, (self,))

    def _of_two(self, function: scalar.Function, a: Any, b: Any) -> Any:
        operands = _untied(a), _untied(b)
        if all(isinstance(x, (Expression, Real)) for x in operands):
            return _Call(scalar.FUNCTIONS[function.name], function.name, operands)
        return getattr(b, function.swapped)(self) if a is self else getattr(a, function.method)(self)


class Parameter(Expression):
    """A named number, with an optional unit and bounds, that may be used wherever a model takes a number."""

    def __init__(
        self, name: str, value: float, unit: str | None = None, low: float | None = None, high: float | None = None
    ) -> None:
        if not isinstance(name, str) or not name.isidentifier():
            raise ModelError.of("Parameter", "name", "must consist of letters, digits and _, and not begin with a digit", name)
        part = f"parameter {name!r}"
        if unit is not None and (not isinstance(unit, str) or CONTROL.search(unit)):
            raise ModelError.of(part, "unit", "must be a string such as 'kg'", unit)
        self.name, self.unit = name, unit
        self.low = None if low is None else _finite(part, "low", low, unit)
        self.high = None if high is None else _finite(part, "high", high, unit)
        if self.low is not None and self.high is not None and not self.low <= self.high:
            raise ModelError.of(part, "low", f"must be <= high = {self.high}", self.low)
        self._value = self.check(value)

    def check(self, value: Any) -> float:
        """The value as a float, checked to be finite and within the bounds."""
        if type(value) is InputValue:
            return value
        part, clean = f"parameter {self.name!r}", _finite(f"parameter {self.name!r}", "value", value, self.unit)
        unit = f" {self.unit}" if self.unit else ""
        if self.low is not None and clean < self.low:
            raise ModelError.of(part, "value", f"must be >= {self.low}{unit}", value)
        if self.high is not None and clean > self.high:
            raise ModelError.of(part, "value", f"must be <= {self.high}{unit}", value)
        return clean

    @property
    def value(self) -> float:
        return self._value

    def evaluate(self, values: Values) -> Any:
        return values.get(self.name, self._value)

    def leaves(self) -> Iterator[Parameter]:
        yield self

    def nodes(self) -> Iterator[Expression]:
        yield self

    def is_like(self, other: Parameter) -> bool:
        """Whether two parameters with the same name are interchangeable."""
        return (self.value, self.unit, self.low, self.high) == (other.value, other.unit, other.low, other.high)

    def own_key(self) -> tuple[Any, ...]:
        return ("parameter", self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return f"Parameter({self.name} = {self.value:g}{unit})"


Number = float | Expression  # what every field that is a number takes


class _Call(Expression):
    """A function of expressions and numbers."""

    def __init__(self, function: Callable[..., Any], name: str, arguments: tuple[Any, ...]) -> None:
        self._function, self._name, self.arguments = function, name, arguments
        self._value: float | None = None  # computed on first use

    @property
    def value(self) -> float:
        if self._value is None:
            self._value = float(self.evaluate({}))
        return self._value

    def evaluate(self, values: Values) -> Any:
        """Not recursive, and every expression is evaluated once: thousands of definitions of a file may build on each other."""
        known: dict[int, Any] = {}
        waiting: list[_Call] = [self]
        while waiting:
            call = waiting[-1]
            missing = [x for x in call.arguments if isinstance(x, _Call) and id(x) not in known]
            for x in missing:
                if not values and x._value is not None:
                    known[id(x)] = x._value
                else:
                    waiting.append(x)
            if waiting[-1] is call:
                waiting.pop()
                arguments = (known[id(x)] if id(x) in known else evaluated(x, values) for x in call.arguments)
                known[id(call)] = call._function(*arguments)
        return known[id(self)]

    def leaves(self) -> Iterator[Parameter]:
        return (node for node in self.nodes() if isinstance(node, Parameter))

    def nodes(self) -> Iterator[Expression]:
        """The expression and all expressions that it contains, each once."""
        seen: dict[int, Expression] = {}
        waiting: list[Expression] = [self]
        while waiting:
            node = waiting.pop()
            if id(node) not in seen:
                seen[id(node)] = node
                yield node
                waiting += [x for x in getattr(node, "arguments", ()) if isinstance(x, Expression)]

    def own_key(self) -> tuple[Any, ...]:
        keys = (x.own_key() if isinstance(x, Expression) else repr(x) for x in self.arguments)
        return (self._name, *keys)

    def __str__(self) -> str:
        return self.text_with([str(x) for x in self.arguments])

    def text_with(self, texts: Sequence[str]) -> str:
        if self._name in _SYMBOLS.values() and len(texts) == 2:
            return f"({texts[0]} {self._name} {texts[1]})"
        return f"{self._name}({', '.join(texts)})"

    def __repr__(self) -> str:
        return f"Expression({self} = {self.value:g})"


class TextExpression(_Call):
    """A formula written as text, with the expressions that its names stand for."""

    def __init__(self, text: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        super().__init__(function, "formula", arguments)
        self.text = text

    def own_key(self) -> tuple[Any, ...]:
        return (self.text, *super().own_key())

    def __str__(self) -> str:
        return self.text if self.text.isidentifier() else f"({self.text})"

    def text_with(self, texts: Sequence[str]) -> str:
        return str(self)


class Definition(_Call):
    """An expression with a name."""

    def __init__(self, name: str, meaning: Expression) -> None:
        super().__init__(lambda value: value, name, (meaning,))

    @property
    def name(self) -> str:
        return self._name

    @property
    def meaning(self) -> Expression:
        found: Expression = self.arguments[0]
        return found

    def __str__(self) -> str:
        return self.name

    def text_with(self, texts: Sequence[str]) -> str:
        return self.name


class TiedFloat(scalar.Arithmetic, float):  # type: ignore[misc]
    """A float that remembers the expression whose value it is; arithmetic with numbers and expressions preserves this."""

    __slots__ = ("expression",)
    expression: Expression

    @classmethod
    def of(cls, expression: Expression) -> TiedFloat:
        made = cls(expression.value)
        made.expression = expression
        return made

    def __neg__(self) -> TiedFloat:
        return TiedFloat.of(-self.expression)

    def _operate(self, operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
        return self._tied(self.expression._operate(operation, a, b), a, b)

    def _of_one(self, function: scalar.Function) -> TiedFloat:
        return TiedFloat.of(self.expression._of_one(function))

    def _of_two(self, function: scalar.Function, a: Any, b: Any) -> Any:
        a, b = (self.expression if x is self else x for x in (a, b))
        return self._tied(self.expression._of_two(function, a, b), a, b)

    def _tied(self, made: Any, a: Any, b: Any) -> Any:
        """A number that is tied again, unless the other operand is an expression or handles the operation itself."""
        other = b if a is self or a is self.expression else a
        return TiedFloat.of(made) if isinstance(made, Expression) and not isinstance(other, Expression) else made

    def __reduce__(self) -> tuple[Any, ...]:
        return (float, (float(self),))


class InputValue(float):
    """The value of a parameter that a series replaces during a run, or of an expression of such parameters: a placeholder.

    Equations read the series. As a number it is what the parameter is without the series; it serves where a number is needed that
    no equation reads.
    """

    __slots__ = ("expression", "series")
    expression: Expression
    series: Any  # an InputSeries, of a parameter itself, or None

    @classmethod
    def of_parameter(cls, parameter: Parameter, series: Any) -> InputValue:
        made = cls(parameter.value)
        made.expression, made.series = parameter, series
        return made

    @classmethod
    def of(cls, value: float, expression: Expression) -> InputValue:
        made = cls(value)
        made.expression, made.series = expression, None
        return made

    def moved(self, value: float) -> InputValue:
        """The same with another number in its place."""
        made = InputValue(value)
        made.expression, made.series = self.expression, self.series
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InputValue) and self.expression is other.expression and self.series is other.series

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((id(self.expression), id(self.series)))

    def __repr__(self) -> str:  # the same for every series: parts that were built with one serve the others
        return f"the input {self.expression}"

    def __reduce__(self) -> tuple[Any, ...]:
        return float, (float(self),)


def evaluated(x: Any, values: Values) -> Any:
    """The value of a number, an expression or a tied float for the given values of parameters."""
    expression = expression_of(x)
    return x if expression is None else expression.evaluate(values)


def expression_of(x: Any) -> Expression | None:
    if isinstance(x, Expression):
        return x
    return x.expression if type(x) is TiedFloat else None


def _untied(x: Any) -> Any:
    expression = expression_of(x)
    return x if expression is None else expression


def _finite(part: str, field: str, value: Any, unit: str | None) -> float:
    try:
        clean = math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    except OverflowError:  # an integer or a fraction beyond the range of floats
        clean = math.inf
    if not math.isfinite(clean):
        raise ModelError.of(part, field, f"must be a finite number{f' in {unit}' if unit else ''}", value)
    return clean
