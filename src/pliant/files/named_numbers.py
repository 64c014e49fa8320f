"""Parameters in written files: the definitions that a model needs, and numbers written as the expressions they come from."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from pliant.errors import ModelError
from pliant.files import units
from pliant.files.formula import ParsedFormula, check_name, number_definition, parse_definition, parse_number
from pliant.model.parameter import Definition, Expression, Parameter, TextExpression, Values, expression_of
from pliant.model.walk import inside

Data = dict[str, Any]
LONGEST = 200  # characters of an expression within another


def expressions_in(value: Any) -> Iterator[Expression]:
    """The expressions from which numbers anywhere inside a value come."""
    expression = expression_of(value)
    if expression is not None:
        yield expression
    elif isinstance(value, ParsedFormula):
        yield from expressions_in((value.numbers, value.breakpoints))
    else:
        for inner in inside(value):
            yield from expressions_in(inner)


def alike(a: Any, b: Any) -> bool:
    """Whether a and b are equal for all values of parameters."""
    return bool(a == b) and [str(e) for e in expressions_in(a)] == [str(e) for e in expressions_in(b)]


def text_of(expression: Expression) -> str:
    """The text of an expression on its own, without brackets around it."""
    return _bare(expression, str(expression))


def _bare(expression: Expression, text: str) -> str:
    """The text without the brackets around it."""
    return expression.text if isinstance(expression, TextExpression) else text[1:-1] if text.startswith("(") else text


class NamedNumbers:
    """The definitions of a model that is being written, with the values of its parameters."""

    def __init__(self, model: Any, values: Values, with_units: bool) -> None:
        self._values, self._known, self._long = values, dict[str, ParsedFormula](), dict[str, str]()
        self.definitions: Data = {}
        nodes = {id(node): node for expression in expressions_in(model) for node in expression.nodes()}
        for node in nodes.values():
            if isinstance(node, Parameter):
                self._add_parameter(node, with_units)
        for node in nodes.values():
            if isinstance(node, Definition):
                self._add_computed(node)

    def _add_parameter(self, parameter: Parameter, with_unit: bool) -> None:
        check_name(parameter.name)
        value, unit = self._values.get(parameter.name, parameter.value), parameter.unit if with_unit else None
        bounds = {name: getattr(parameter, name) for name in ("low", "high")}
        held = {name: _with_unit(bound, unit) for name, bound in bounds.items() if bound is not None}
        written = _with_unit(value, unit)
        if parameter.unit and not isinstance(written, str):
            held["unit"] = parameter.unit
        self.add(parameter.name, {"value": written, **held} if held else written)
        self._known[parameter.name] = number_definition(value)

    def _add_computed(self, definition: Definition) -> None:
        """Add a definition, after those that it needs."""
        waiting = [definition]
        while waiting:
            one = waiting[-1]
            missing = [x for x in _definitions_of(one.meaning) if x.name not in self._known]
            waiting += missing
            if not missing:
                waiting.pop()
                text = text_of(one.meaning)
                self.add(one.name, text)
                self._known.setdefault(one.name, parse_definition(one.name, text, self._known))

    def add(self, name: str, meaning: Any) -> None:
        if self.definitions.setdefault(name, meaning) != meaning:
            two = f"{self.definitions[name]!r} and {meaning!r}"
            raise ModelError(f"definition {name!r}: must have only one meaning to be written to a file, got {two}")

    def written(self, data: Any) -> Any:
        """The same data, with numbers written as the expressions they come from."""
        if isinstance(data, dict):
            return {name: self.written(inner) for name, inner in data.items()}
        if isinstance(data, (list, tuple)):
            return [self.written(inner) for inner in data]
        expression = expression_of(data)
        return data if expression is None else self._expression(expression)

    def _expression(self, expression: Expression) -> str | float:
        """The text of an expression if it reads back as the same number, else its value."""
        value = float(expression.evaluate(self._values))
        try:
            text = _bare(expression, self.text(expression))
            return text if parse_number(text, self._known) == value else value
        except ModelError:  # Python code may compute what a file cannot express
            return value

    def text(self, expression: Expression) -> str:
        """The text of an expression. Long expressions get their own definition, so that expressions that use them stay short."""
        texts: dict[int, str] = {}
        waiting = [expression]
        while waiting:
            node = waiting[-1]
            arguments = () if isinstance(node, (TextExpression, Definition)) else getattr(node, "arguments", ())
            missing = [x for x in arguments if isinstance(x, Expression) and id(x) not in texts]
            waiting += missing
            if not missing:
                waiting.pop()
                inner = [texts[id(x)] if isinstance(x, Expression) else str(x) for x in arguments]
                text = node.text_with(inner)
                texts[id(node)] = self._short(text) if len(text) > LONGEST and node is not expression else text
        return texts[id(expression)]

    def _short(self, text: str) -> str:
        known = next((name for name, meaning in self._long.items() if meaning == text), None)
        if known is not None:
            return known
        name = next(name for k in count(1) if (name := f"computed_{k}") not in self.definitions)
        self._long[name] = text
        self._known[name] = parse_definition(name, text, self._known)
        self.add(name, text)
        return name


def _definitions_of(expression: Expression) -> list[Definition]:
    """The definitions that an expression uses directly."""
    found: list[Definition] = []
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Definition):
            found.append(node)
        else:
            waiting += [x for x in getattr(node, "arguments", ()) if isinstance(x, Expression)]
    return found


def _with_unit(value: float, unit: str | None) -> str | float:
    """The value with its unit, as in 0.5 m, if the unit is an SI unit; other units of parameters made in Python are only labels."""
    text = f"{value!r} {unit}"
    try:
        found = units.split(text) if unit else None
        return text if found is not None and units.convert(*found, None) == value else value
    except ModelError:
        return value
