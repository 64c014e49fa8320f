"""From items of a file to values of a type: numbers, texts, lists, and the model's dataclasses."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from pliant.errors import ModelError
from pliant.files import vocabulary
from pliant.files.document import Item, ModelFileError, did_you_mean
from pliant.files.formula import STATE_VARIABLES, Known, ParsedFormula, parse_formula
from pliant.model.signal import Constant, Formula, Prescribed


def read(hint: Any, item: Item, known: Known | None = None) -> Any:
    """The value of an item as the type says; `known` are the coordinates that formulas may name."""
    if item.is_nothing:
        if type(None) in vocabulary.options(hint):
            return None
        raise item.wrong("must not be left empty")
    if item.is_list:
        return _read_list(hint, item, known)
    if item.is_mapping:
        return _read_mapping(hint, item, known)
    return _read_scalar(hint, item, known)


def build(make: Callable[..., Any], item: Item, /, *args: Any, **values: Any) -> Any:
    """Call a constructor; what it refuses is said with file, line and path."""
    try:
        return make(*args, **values)
    except ModelFileError:
        raise
    except ModelError as trouble:
        raise _blamed(item, str(trouble)).error(str(trouble)) from None


def read_object(kind: type, item: Item, known: Known | None = None) -> Any:
    """One dataclass from a mapping of its fields, from one of its builders, or from its first field alone."""
    if kind in (Formula, Prescribed):
        return _read_function(kind, item, known)
    hints, required = vocabulary.field_hints(kind), vocabulary.required_fields(kind)
    if not item.is_mapping:
        return build(kind, item, **_first_field(kind, item, hints, required, known))
    found = item.mapping()
    others = vocabulary.builders(kind)
    if len(found) == 1 and next(iter(found)) in others:
        name, inner = next(iter(found.items()))
        return read_built(others[name], inner)
    given = item.fields([*hints, *others], required)
    mixed = next((name for name in given if name in others), None)
    if mixed:
        raise item.error(f"{mixed} must stand alone, got {', '.join(given)}")
    return build(kind, item, **{name: read_field(kind, name, value, known) for name, value in given.items()})


def read_field(kind: type, name: str, item: Item, known: Known | None = None) -> Any:
    """A field as its type says, or what a function that may stand there computes."""
    function = vocabulary.computed(kind, name)
    if function is None or not item.is_mapping:
        return read(vocabulary.field_hints(kind)[name], item, known)
    word = getattr(function, "__name__", "")
    return read_built(function, item.fields([word], [word])[word])


def read_built(make: Callable[..., Any], item: Item) -> Any:
    hints, required = vocabulary.builder_hints(make)
    if not item.is_mapping and len(required) == 1:
        return build(make, item, **{required[0]: read(hints[required[0]], item)})
    given = item.fields(hints, required)
    return build(make, item, **{name: read(hints[name], value) for name, value in given.items()})


def read_named(family: Mapping[str, type], item: Item, known: Known | None = None) -> Any:
    """One of several classes: {name: fields}, or the bare name where no field must be given."""
    names = list(family)
    if item.is_scalar:
        name = item.text()
        if name not in family:
            raise item.wrong(f"must be one of {', '.join(names)}{did_you_mean(name, names)}")
        required = vocabulary.required_fields(family[name])
        if required:
            raise item.error(f"{', '.join(required)} of {name} must be given, as in {{{name}: ...}}")
        return build(family[name], item)
    found = item.mapping(f"one of {', '.join(names)}")
    untagged = next((kind for kind in family.values() if kind in vocabulary.WITHOUT_NAME), None)
    if untagged and not any(name in family for name in found):
        return read_object(untagged, item, known)
    if len(found) != 1:
        raise item.error(f"must hold one of {', '.join(names)}, got {', '.join(found) or 'nothing'}")
    name, inner = next(iter(found.items()))
    if name not in family:
        raise inner.at_key(f"unknown kind {name!r}{did_you_mean(name, names)}; known: {', '.join(names)}", item)
    if inner.is_nothing and not vocabulary.required_fields(family[name]):
        return build(family[name], inner)
    return read_object(family[name], inner, known)


def _read_list(hint: Any, item: Item, known: Known | None) -> Any:
    if hint is Any:
        return tuple(read(Any, inner, known) for inner in item.items())
    found = vocabulary.sequences(hint)
    if not found:
        kinds = vocabulary.classes(hint)
        if len(kinds) == 1:  # the first field alone, where that is a list
            return read_object(kinds[0], item, known)
        raise item.wrong(f"must be {_wanted(hint)}")
    entries = item.items()
    nested = [option for option in found if vocabulary.sequences(vocabulary.element(option))]
    chosen = nested[0] if nested and entries and entries[0].is_list else found[0]
    return tuple(read(vocabulary.element(chosen), inner, known) for inner in entries)


def _read_mapping(hint: Any, item: Item, known: Known | None) -> Any:
    tables = vocabulary.mappings(hint)
    kinds = vocabulary.classes(hint)
    if tables and not (kinds and _speaks_of(kinds[0], item)):
        held = vocabulary.held(tables[0])
        return {name: read(held, inner, known) for name, inner in item.mapping().items()}
    family = vocabulary.family(hint)
    if family:
        return read_named(family, item, known)
    if kinds:
        return read_object(kinds[0], item, known)
    raise item.wrong(f"must be {_wanted(hint)}")


def _read_scalar(hint: Any, item: Item, known: Known | None) -> Any:
    kinds = vocabulary.classes(hint)
    if Formula in kinds:
        return _read_signal(item, known)
    choices = vocabulary.options(hint)
    if hint is Any:
        return _number_or_text(item)
    if bool in choices:
        return item.truth()
    if float in choices:
        return item.number()
    if int in choices:
        return item.whole()
    if str in choices:
        return item.text()
    if vocabulary.family(hint):
        return read_named(vocabulary.family(hint), item, known)
    if len(kinds) == 1:
        return _read_by_name_or_field(kinds[0], item, known)
    raise item.wrong(f"must be {_wanted(hint)}")


def _read_by_name_or_field(kind: type, item: Item, known: Known | None) -> Any:
    """steel, or the first field alone."""
    named = vocabulary.NAMED.get(kind)
    if named is None:
        return read_object(kind, item, known)
    name = item.text()
    if name not in named:
        raise item.wrong(f"must be one of {', '.join(named)}, or a mapping{did_you_mean(name, named)}")
    return named[name]


def read_formula(item: Item, variables: tuple[str, ...] = STATE_VARIABLES, known: Known | None = None) -> ParsedFormula:
    formula: ParsedFormula = build(parse_formula, item, item.text("a formula"), variables, known)
    return formula


def _read_signal(item: Item, known: Known | None) -> Any:
    """A number, or a formula of t, q, v."""
    formula = read_formula(item, STATE_VARIABLES, known)
    if formula.constant is not None:
        return Constant(formula.constant)
    return Formula(formula, formula.breakpoints, formula.text)


def _read_function(kind: type, item: Item, known: Known | None) -> Any:
    """A formula alone, or {function: ..., breakpoints: [...]}; times that t is compared with are breakpoints anyway."""
    variables = STATE_VARIABLES if kind is Formula else ("t",)
    if not item.is_mapping:
        formula = read_formula(item, variables, known)
        return build(kind, item, formula, formula.breakpoints, formula.text)
    found = item.fields(vocabulary.field_hints(kind), ["function"])
    formula = read_formula(found["function"], variables, known)
    given = read(tuple[float, ...], found["breakpoints"]) if "breakpoints" in found else ()
    times = tuple(sorted({*formula.breakpoints, *given}))
    return build(kind, item, formula, times, formula.text)


def _first_field(kind: type, item: Item, hints: Mapping[str, Any], required: list[str], known: Known | None) -> Any:
    if len(required) > 1 or not (required or hints):
        raise item.wrong(f"must be a mapping of {', '.join(hints)}" if hints else "must be left empty")
    name = required[0] if required else next(iter(hints))
    return {name: read(hints[name], item, known)}


def _speaks_of(kind: type, item: Item) -> bool:
    """A mapping with a key that is, or nearly is, a field of the class."""
    fields = list(vocabulary.field_hints(kind))
    return any(key in fields or did_you_mean(key, fields) for key in item.mapping()) or not item.mapping()


def _number_or_text(item: Item) -> float | str:
    try:
        return item.number()
    except ModelFileError:
        return item.text()


def _blamed(item: Item, message: str) -> Item:
    """The item of the field that a message such as 'Beam: length must be > 0 m' speaks of, else the whole."""
    match = re.match(r"[^:]*: (\w+)", message)
    if match and item.is_mapping:
        return item.mapping().get(match[1], item)
    return item


def _wanted(hint: Any) -> str:
    """The alternatives in words."""
    words = []
    if {float, int} & set(vocabulary.options(hint)):
        words.append("a number")
    if str in vocabulary.options(hint):
        words.append("a text")
    if bool in vocabulary.options(hint):
        words.append("true or false")
    words += ["a number or a formula"] if Formula in vocabulary.options(hint) else []
    words += ["a list"] if vocabulary.sequences(hint) else []
    words += ["a mapping"] if vocabulary.classes(hint) or vocabulary.mappings(hint) else []
    return " or ".join(words) or "something else"
