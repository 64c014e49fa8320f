"""Converts values of a type to plain data: the inverse of `values`."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from pliant.errors import ModelError
from pliant.files import vocabulary
from pliant.files.formula import ParsedFormula, parse_formula
from pliant.files.named_numbers import NamedNumbers, expressions_in
from pliant.model.parameter import Values, expression_of
from pliant.model.signal import Formula, Prescribed
from pliant.model.walk import inside

Data = dict[str, Any]
PYTHON_FUNCTION = "a Python function cannot be written to a file (write it as a formula)"


def write_named(value: Any) -> Data:
    return {vocabulary.word(type(value)): write_fields(value)}


def write_fields(value: Any, part: str = "", leaving: Collection[str] = ()) -> Data:
    """The fields that differ from their defaults; leaving: names of fields that are written by others."""
    hints = vocabulary.field_hints(type(value))
    plain = _with_defaults(type(value))
    data: Data = {}
    for field in dataclasses.fields(value):
        if field.name not in hints or field.name in leaving:
            continue
        given = getattr(value, field.name)
        usual = getattr(plain, field.name) if plain is not None else field.default
        differs = any(True for _ in expressions_in(given)) or given != usual
        if differs and not (given in ((), {}) and field.name not in vocabulary.required_fields(type(value))):
            data[field.name] = write(hints[field.name], given, f"{part or type(value).__name__}: {field.name}")
    return data


def _with_defaults(kind: type) -> Any:
    """An object of a class whose fields may all be left out; None for others, and where one out of several must be given."""
    try:
        return None if vocabulary.required_fields(kind) else kind()
    except ModelError:
        return None


def write(hint: Any, value: Any, part: str) -> Any:
    if isinstance(value, bool):
        return write_truth(value)
    if hint is Path:
        return os.fspath(value)
    if isinstance(value, (Formula, Prescribed)):
        return write_function(part, value)
    if isinstance(value, ParsedFormula):
        return value.text
    if dataclasses.is_dataclass(value):
        return _write_object(hint, value, part)
    if isinstance(value, Mapping):
        held = next((vocabulary.held(m) for m in vocabulary.mappings(hint)), Any)
        return {name: write(held, inner, f"{part}[{name!r}]") for name, inner in value.items()}
    if isinstance(value, (tuple, list)):
        inner = next((vocabulary.element(s) for s in vocabulary.sequences(hint)), Any)
        return [write(inner, item, f"{part}[{k}]") for k, item in enumerate(value)]
    if callable(value):
        raise ModelError(f"{part}: {PYTHON_FUNCTION}, got {value!r}")
    return value


def _write_object(hint: Any, value: Any, part: str) -> Any:
    """Write an object, under its word if several classes are possible; a law that is only a formula is written as the formula."""
    data = write_fields(value, part)
    if type(value) is vocabulary.formula_class(hint) and list(data) == vocabulary.required_fields(type(value)):
        return next(iter(data.values()))
    tagged = type(value) in vocabulary.family(hint).values() and type(value) not in vocabulary.WITHOUT_NAME
    return {vocabulary.word(type(value)): data} if tagged else data


def write_truth(value: bool) -> str:
    return "true" if value else "false"


def write_function(part: str, formula: Formula | Prescribed) -> Any:
    """Write a function; its text alone if its breakpoints follow from the text."""
    text = write_text(part, formula.function, formula.text)
    parsed = formula.function
    if not isinstance(parsed, ParsedFormula):
        parsed = parse_formula(text, vocabulary.FORMULAS[type(formula)]["function"])
    if parsed.breakpoints == formula.breakpoints:
        return text
    inner = {"function": text, "breakpoints": list(formula.breakpoints)}
    return {"formula": inner} if isinstance(formula, Formula) else inner


def write_text(part: str, function: Any, text: str) -> str:
    if isinstance(function, ParsedFormula):
        return function.text
    if not text:
        raise ModelError(f"{part}: {PYTHON_FUNCTION}, got {function!r}")
    return text


def definitions_in(value: Any, values: Values, with_units: bool) -> NamedNumbers:
    """The definitions that a value uses, in a readable order: parameters, numbers computed from them, formulas."""
    named, formulas = NamedNumbers(value, values, with_units), list(_formulas(value))
    for name, number in (entry for formula in formulas for entry in formula.numbers):
        if expression_of(number) is None:
            named.add(name, number)
    for name, meaning in (entry for formula in formulas for entry in formula.definitions):
        named.add(name, meaning.text)
    return named


def _formulas(value: Any) -> Iterator[ParsedFormula]:
    if isinstance(value, ParsedFormula):
        yield value
    else:
        for inner in inside(value):
            yield from _formulas(inner)
