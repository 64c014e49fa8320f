"""Finds the parameters of a System, and rebuilds the System for other values of them; rebuilt parts are checked again."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.captured import captured, globals_read
from pliant.model.check import did_you_mean
from pliant.model.mapping_content import MappingContent
from pliant.model.parameter import Expression, InputValue, Parameter, Values, expression_of
from pliant.model.walk import Copying, field_names, inside


def parameters_of(root: Any) -> dict[str, Parameter]:
    """All parameters that parts and formulas use, by name."""
    search = Search()
    search.visit(root)
    return by_name(search.parameters)


def by_name(parameters: Iterable[Parameter]) -> dict[str, Parameter]:
    """Parameters by name, in the order found; a name must not stand for two different parameters."""
    found: dict[str, Parameter] = {}
    for parameter in parameters:
        known = found.setdefault(parameter.name, parameter)
        if known is not parameter and not known.is_like(parameter):
            rule = "must be unique, but two parameters with this name differ in value, unit or bounds"
            raise ModelError.of(f"parameter {parameter.name!r}", "name", rule, [repr(known), repr(parameter)])
    return found


def checked_values(known: Mapping[str, Parameter], given: Mapping[str, Any] | None) -> dict[str, float]:
    """Values of all parameters: the given values, checked; the other parameters keep their own."""
    values = {name: parameter.value for name, parameter in known.items()}
    for name, value in check.mapping("parameters", "values", given).items():
        if name not in known:
            rule = (
                f"must name one of {list(known)}{did_you_mean(name, known)}"
                if known
                else "must not be given, because the system has no parameters"
            )
            raise ModelError.of("parameters", "name", rule, name)
        values[name] = known[name].check(value)
    return values


def resolved(root: Any, values: Values) -> Any:
    """A copy with every expression replaced by its value; parts without expressions are reused, not copied."""
    return Resolving(values).visit(root)


class Made(NamedTuple):
    """A rebuilt part, with the parameter values it was built from."""

    part: Any  # a reference that keeps it alive, because parts are identified by id
    made: Any
    at: Mapping[str, str]  # values of its parameters as text, so that -0.0 differs from 0.0

    def is_good_for(self, values: Values) -> bool:
        return all(name in values and repr(values[name]) == text for name, text in self.at.items())


class Resolving(Copying):
    """Rebuilds parts for given parameter values; immutable parts rebuilt before are reused if their values are unchanged."""

    kept = Copying.kept | {types.FunctionType}

    def __init__(self, values: Values, before: Mapping[int, Made] | None = None) -> None:
        super().__init__()
        self._values = values
        self._before = before or {}
        self.made: dict[int, Made] = {}  # by identity
        self._read: dict[str, str] = {}  # values read by the part that is being rebuilt

    def _other(self, x: Any) -> Any:
        expression = expression_of(x)
        if expression is None:
            return x
        read = {leaf.name: leaf.evaluate(self._values) for leaf in expression.leaves()}
        self._read.update((name, repr(value)) for name, value in read.items())
        value = float(expression.evaluate(self._values))
        return InputValue.of(value, expression) if any(type(x) is InputValue for x in read.values()) else value

    def _part(self, x: Any) -> Any:
        known = self.made.get(id(x))
        if known is None:
            known = self._before.get(id(x))
            if known is None or not known.is_good_for(self._values):
                around, self._read = self._read, {}
                known = Made(x, self._copied(x), self._read)
                self._read = around
            self.made[id(x)] = known
        self._read.update(known.at)
        return known.made

    def _rebuilt(self, x: Any, new: Mapping[str, Any]) -> Any:
        """Made anew, so that its checks run again."""
        given, later = _given(type(x))
        made = type(x)(**{name: new[name] if name in new else getattr(x, name) for name in given})
        for name in later:
            object.__setattr__(made, name, new[name] if name in new else getattr(x, name))
        return made


_GIVEN: dict[type, tuple[tuple[str, ...], tuple[str, ...]]] = {}


def _given(kind: type) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields that a dataclass is constructed with, and the fields that are set later."""
    if kind not in _GIVEN:
        given, later = ([field.name for field in fields(kind) if field.init is init] for init in (True, False))
        _GIVEN[kind] = (tuple(given), tuple(later))
    return _GIVEN[kind]


class Search:
    """Searches parts for parameters, including the variables and globals that formulas read."""

    def __init__(self) -> None:
        self.parameters: list[Parameter] = []  # in the order found
        self.mappings: list[MappingContent] = []  # in parts
        self.seen: dict[int, tuple[Any, bool]] = {}  # by id: the object visited, and the answer

    def visit(self, x: Any) -> bool:
        """Whether it cannot change, apart from mappings inside it. Lists can change, and so can variables that a formula reads."""
        kind = type(x)
        if kind in Copying.kept:
            return True
        known = self.seen.get(id(x))
        if known is not None:
            return known[1]
        self.seen[id(x)] = (x, False)  # only a function can lead back to itself
        if kind is types.FunctionType:  # most of what formulas read
            for inner in _read_by(x):
                self.visit(inner)
            return False
        expression = expression_of(x)
        if expression is not None:
            self.parameters.extend(expression.leaves())
            stays = True
        else:
            stays = _stays(x)
            for inner in self._inner(x):
                stays = self.visit(inner) and stays
            if isinstance(x, Mapping):
                self.mappings.append(MappingContent.of(x))
        self.seen[id(x)] = (x, stays)
        return stays

    def _inner(self, x: Any) -> Iterable[Any]:
        return _inside(x)


class SearchBeyondStarts(Search):
    """The same, but for the starts of joints, which no equation reads."""

    def _inner(self, x: Any) -> Iterable[Any]:
        starts = {*getattr(x, "STARTS", ()), *getattr(x, "START_RATES", ())} if field_names(type(x)) is not None else set()
        return [getattr(x, name) for name in field_names(type(x)) or () if name not in starts] if starts else _inside(x)


def _stays(x: Any) -> bool:
    """Whether an object itself is immutable, apart from the objects inside it."""
    if field_names(type(x)) is not None:
        return bool(x.__dataclass_params__.frozen)
    if isinstance(x, np.ndarray):
        return not x.flags.writeable
    return isinstance(x, (tuple, frozenset, Mapping, float, int, str, bytes))


def _inside(x: Any) -> Iterator[Any]:
    yield from inside(x)
    if isinstance(x, partial):
        yield from (x.func, x.args, x.keywords)
    elif isinstance(x, types.MethodType):
        yield from (x.__func__, x.__self__)
    elif isinstance(x, types.FunctionType):
        yield from _read_by(x)
    elif field_names(type(x)) is None and hasattr(x, "__dict__") and callable(x):
        yield from vars(x).values()


def _read_by(function: types.FunctionType) -> Iterator[Any]:
    with suppress(ValueError):  # a captured variable without a value yet
        yield from captured(function)
    for read in globals_read(function).values():
        if isinstance(read, (Expression, types.FunctionType, tuple, list, dict)):
            yield read
