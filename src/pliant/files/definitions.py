"""The section `define`: names for numbers (parameters), for numbers computed from them, and for formulas of t, q and v."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import takewhile

from pliant.errors import ModelError
from pliant.files import units
from pliant.files.dimension import Kind
from pliant.files.document import Item, Scope, build
from pliant.files.formula import (
    ParsedFormula,
    check_name,
    is_expression,
    number_definition,
    parse_definition,
    parse_number,
)
from pliant.model.check import did_you_mean
from pliant.model.parameter import Definition, Parameter, TiedFloat, expression_of

MOST_DEFINITIONS = 2000  # each knows all definitions that it needs, so the cost is quadratic
VALUE, BOUNDS, UNIT = "value", ("low", "high"), "unit"
Entry = tuple[str, Item]


def read_definitions(sections: Mapping[str, Item]) -> list[Entry]:
    """Read the definitions; each may use the ones before it."""
    entries = list(sections["define"].mapping().items()) if "define" in sections else []
    if len(entries) > MOST_DEFINITIONS:
        raise sections["define"].error(f"must contain at most {MOST_DEFINITIONS} definitions, got {len(entries)}")
    for name, item in entries:
        if name in item.scope.definitions:
            raise item.error(f"{name!r} must be defined only once, got two definitions")
        item.scope.definitions[name] = _definition(name, item)
    return entries


def read_formulas_again(entries: Iterable[Entry]) -> None:
    """Parse the formulas again, now that the coordinates that they may name are known."""
    for name, item in entries:
        if item.scope.definitions[name].constant is None:
            item.scope.definitions[name] = _definition(name, item)


def check_given(scope: Scope) -> None:
    """Refuse values that were given for anything but definitions that are numbers."""
    able = [name for name, meaning in scope.definitions.items() if _is_settable(meaning)]
    for name in scope.given:
        if name in able:
            continue
        meaning = scope.definitions.get(name)
        if meaning is None:
            rule = f"must name one of {able}{did_you_mean(name, able)}" if able else "must not be given: the file defines no number"
            raise ModelError.of("parameters", "name", rule, name)
        raise ModelError.of(f"parameter {name!r}", VALUE, f"must not be set, it is computed as {meaning.text}", scope.given[name])


def _is_settable(meaning: ParsedFormula) -> bool:
    return meaning.constant is not None and not isinstance(expression_of(meaning.constant), Definition)


def _definition(name: str, item: Item) -> ParsedFormula:
    if item.is_mapping:
        return _bounded(name, item)
    text = item.text("a number or a formula")
    if units.split(text) is not None and not is_expression(text):
        return _number(name, item, item.quantity(), _unit(text))
    scope = item.scope
    earlier = dict(takewhile(lambda entry: entry[0] != name, scope.definitions.items()))
    meaning: ParsedFormula = build(parse_definition, item, name, text, earlier, scope.coordinates)
    if meaning.constant is None or isinstance(expression_of(meaning.constant), Definition):
        return meaning
    return replace(_number(name, item, float(meaning.constant), None), turning=meaning.turning)


def _bounded(name: str, item: Item) -> ParsedFormula:
    """Read {value: 0.3 kg, low: 0.1 kg, high: 1 kg}; or numbers in SI with `unit`, a label that formulas do not check."""
    found = item.fields((VALUE, *BOUNDS, UNIT), (VALUE,))
    text = found[VALUE].text("a number")
    unit = _unit(text) if units.split(text) is not None and not is_expression(text) else None
    word = found.pop(UNIT).text() if UNIT in found else None
    if unit and word:
        raise item.error(f"unit must be left out when the value has its own unit, got {word!r}")
    numbers = {key: _alone(inner.of_unit(unit or ("1" if word else None))) for key, inner in found.items()}
    return _number(name, item, numbers[VALUE], unit, numbers.get("low"), numbers.get("high"), word)


def _alone(item: Item) -> float:
    """A number that depends on no other definition."""
    number = item.number()
    if expression_of(number) is not None:
        raise item.wrong("must be a plain number when it has bounds")
    return number


def _unit(text: str) -> str:
    found = units.split(text)
    assert found is not None  # checked by the caller
    return found[1]


def _number(
    name: str,
    item: Item,
    value: float,
    unit: str | None,
    low: float | None = None,
    high: float | None = None,
    word: str | None = None,
) -> ParsedFormula:
    """A definition that is a number: a parameter, unless it determines the structure of the equations."""
    build(check_name, item, name)
    kind = None if unit is None else units.kind_of(unit)
    si_unit = word if unit is None else units.si_unit(unit)
    parameter = build(Parameter, item, name, value, si_unit, low, high)
    if unit is not None:
        item.scope.units[name] = unit
    if name in item.scope.given:
        parameter, kind = _given(parameter, kind, item.scope.given[name], unit)
    return number_definition(parameter.value if name in item.scope.fixed else TiedFloat.of(parameter), kind)


def _given(parameter: Parameter, kind: Kind, value: float | str, written: str | None) -> tuple[Parameter, Kind]:
    """The parameter with another value, given as a number in SI or as text such as 310 g. written: the unit in the file."""
    unit = parameter.unit
    if isinstance(value, str):
        value, own = read_value(parameter.name, value, unit, written)
        if own is not None:
            kind, unit = kind or units.kind_of(own), unit or units.si_unit(own)
        if written is not None and not units.is_si(written):
            _within(parameter, value, written)
    return Parameter(parameter.name, parameter.check(value), unit, parameter.low, parameter.high), kind


def _within(parameter: Parameter, value: float, written: str) -> None:
    """Refuse a value beyond a bound in the unit in which the file writes the bounds."""
    size = units.convert(1.0, written, None)
    for sign, bound, sense in ((">=", parameter.low, 1.0), ("<=", parameter.high, -1.0)):
        if bound is not None and sense * value < sense * bound:
            rule = f"must be {sign} {bound / size:.10g} {written}, got {value / size:.10g} {written}"
            raise ModelError(f"parameter {parameter.name!r}: value {rule}")


def read_value(name: str, text: str, unit: str | None, written: str | None = None) -> tuple[float, str | None]:
    """The value in SI of a text such as 310 g, and the unit in the text, if any. unit: the parameter's own unit.

    written: the unit in which the model defines it. If that is mm, 8 may be meant in mm or in m, and is refused.
    """
    try:
        number, own = read_quantity(text, unit)
        if own is None and number != 0.0 and written is not None and not units.is_si(written):
            how = f"such as {text}{written}" + (f" or {text}{unit}" if unit else "")
            raise ModelError(f"must have a unit, {how}, because the model defines it in {written}, got {text!r}")
        return number, own
    except ModelError as trouble:
        raise ModelError(f"parameter {name!r}: value {trouble}") from None


def read_quantity(text: str, unit: str | None) -> tuple[float, str | None]:
    """The value in SI of a text such as 0.31 or 310 g, and the unit in the text, if any, which must fit."""
    found = units.split(text) if not is_expression(text) else None
    if found is None:
        return parse_number(text), None
    if unit is not None:
        units.kind_of(unit)  # raises if it is not a unit
    return units.convert(*found, unit), found[1]
