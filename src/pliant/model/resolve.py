"""Which parameters a System has, and the same System with other values of them: parts are made again, and checked again."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

from pliant.errors import ModelError
from pliant.model.captured import captured, globals_read
from pliant.model.check import did_you_mean
from pliant.model.parameter import Expression, Parameter, TiedFloat, Values, evaluated


def parameters_of(root: Any) -> dict[str, Parameter]:
    """All parameters that parts and formulas are written with, by name."""
    found: dict[str, Parameter] = {}
    for parameter in _Search().parameters(root):
        known = found.setdefault(parameter.name, parameter)
        if known is not parameter and not known.is_like(parameter):
            rule = "must be one parameter: two of this name differ in value, unit or bounds"
            raise ModelError.of(f"parameter {parameter.name!r}", "name", rule, [repr(known), repr(parameter)])
    return found


def checked_values(known: Mapping[str, Parameter], given: Mapping[str, Any] | None) -> dict[str, float]:
    """Values of all parameters: those given, each checked, the rest their own."""
    values = {name: parameter.value for name, parameter in known.items()}
    for name, value in (given or {}).items():
        if name not in known:
            rule = f"must name one of {list(known)}{did_you_mean(name, known)}" if known else "must be empty: the system has none"
            raise ModelError.of("parameters", "name", rule, name)
        values[name] = known[name].check(value)
    return values


def resolved(root: Any, values: Values) -> Any:
    """The same with every expression at its value; parts without one, and their sharing, stay as they are."""
    return _Resolving(values).visit(root)


class _Resolving:
    def __init__(self, values: Values) -> None:
        self._values = values
        self._made: dict[int, tuple[Any, Any]] = {}  # by identity: the old one, kept alive, and the new one

    def visit(self, x: Any) -> Any:
        if isinstance(x, Expression) or type(x) is TiedFloat:
            return float(evaluated(x, self._values))
        if isinstance(x, (tuple, list)):
            return self._same_or(x, [self.visit(item) for item in x], type(x))
        if isinstance(x, Mapping):
            values = {key: self.visit(value) for key, value in x.items()}
            return x if all(values[key] is x[key] for key in x) else values
        if is_dataclass(x) and not isinstance(x, type):
            if id(x) not in self._made:
                self._made[id(x)] = (x, self._part(x))
            return self._made[id(x)][1]
        return x

    def _same_or(self, x: Any, items: list[Any], kind: Callable[[list[Any]], Any]) -> Any:
        return x if all(a is b for a, b in zip(x, items, strict=True)) else kind(items)

    def _part(self, x: Any) -> Any:
        """A part made again, so that its rules are asked again; the same one where nothing in it changes."""
        own = {field.name: getattr(x, field.name) for field in fields(x)}
        new = {name: self.visit(value) for name, value in own.items()}
        if all(new[name] is own[name] for name in own):
            return x
        made = type(x)(**{field.name: new[field.name] for field in fields(x) if field.init})
        for field in fields(x):
            if not field.init:
                object.__setattr__(made, field.name, new[field.name])
        return made


class _Search:
    """Looks for parameters in parts, and in what formulas capture or read by name."""

    def __init__(self) -> None:
        self._seen: dict[int, Any] = {}

    def parameters(self, x: Any) -> Iterator[Parameter]:
        if isinstance(x, (float, int, str, type(None))) and type(x) is not TiedFloat:
            return
        if id(x) in self._seen:
            return
        self._seen[id(x)] = x
        if type(x) is TiedFloat:
            yield from x.expression.leaves()
        elif isinstance(x, Expression):
            yield from x.leaves()
        else:
            for inside in _inside(x):
                yield from self.parameters(inside)


def _inside(x: Any) -> Iterator[Any]:
    if isinstance(x, Mapping):
        yield from x.values()
    elif isinstance(x, (tuple, list, set, frozenset)):
        yield from x
    elif is_dataclass(x) and not isinstance(x, type):
        yield from (getattr(x, field.name) for field in fields(x))
    elif isinstance(x, partial):
        yield from (x.func, x.args, x.keywords)
    elif isinstance(x, types.MethodType):
        yield from (x.__func__, x.__self__)
    elif isinstance(x, types.FunctionType):
        yield from _read_by(x)
    elif hasattr(x, "__dict__") and callable(x):
        yield from vars(x).values()


def _read_by(function: types.FunctionType) -> Iterator[Any]:
    with suppress(ValueError):  # a variable that is not filled yet
        yield from captured(function)
    for read in globals_read(function).values():
        if isinstance(read, (Expression, types.FunctionType, tuple, list, dict)):
            yield read
