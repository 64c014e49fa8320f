"""Converts items of a file to values of a given type: numbers, strings, lists, and the model's dataclasses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

from pliant.files import units, vocabulary
from pliant.files.dimension import not_a_rate
from pliant.files.document import Item, ModelFileError, build, did_you_mean
from pliant.files.formula import ParsedFormula, is_expression, parse_formula
from pliant.files.include import target_of
from pliant.files.places import is_place, read_frame
from pliant.files.quantities import along, coordinate_units
from pliant.files.vocabulary import FORMULA, FORMULAS, STATE
from pliant.model.check import Axis
from pliant.model.frame import Frame
from pliant.model.joint import Joint
from pliant.model.material import Material
from pliant.model.normal_law import PowerDamping
from pliant.model.signal import Constant, Formula, Prescribed

EXPONENT, DAMPING_EXPONENT = "exponent", "damping_exponent"  # of a law K d^n + chi d^m d'
ALSO_CALLED = {"hinge": "revolute", "pin": "revolute", "pivot": "revolute", "slider": "prismatic", "slide": "prismatic",
               "translational": "prismatic", "ball": "spherical", "fixed": "weld", "rigid": "weld", "cardan": "universal",
               "floating": "free"}  # fmt: skip
ON_COORDINATES = ("spring", "damper", "limits", "backlash", "motion")  # fields of a joint that are of its coordinates


def read(hint: Any, item: Item) -> Any:
    """The value of an item, read as the given type."""
    if item.is_nothing:
        if type(None) in vocabulary.options(hint):
            return None
        raise item.wrong("must not be empty")
    if hint is Path:
        return _read_path(item)
    if Frame in vocabulary.options(hint):
        return _read_held(item) if str in vocabulary.options(hint) else read_frame(item)
    if item.is_list:
        return _read_list(hint, item)
    if item.is_mapping:
        return _read_mapping(hint, item)
    return _read_scalar(hint, item)


def _read_path(item: Item) -> Path:
    """Read the name of a file, relative to the folder of the model and, unless others are allowed, inside it."""
    scope = item.scope
    if scope.folder is None:
        return Path(item.text("the name of a file"))
    target_of(item, scope.folder, None if scope.outside else scope.folder.resolve())
    return scope.folder / item.text()


def _read_held(item: Item) -> Any:
    """Read a place or the name of a coordinate; a name that means both is a place."""
    known = (item.scope.coordinates or {}).get("q", ())
    try:
        return read_frame(item)
    except ModelFileError as trouble:
        if not item.is_scalar:
            raise
        if item.text() in known:
            return item.text()
        raise ModelFileError(f"{trouble}{did_you_mean(item.text(), known)}") from None


def read_object(kind: type, item: Item) -> Any:
    """Read a dataclass from a mapping of its fields, from one of its builders, or from its first field alone."""
    if kind in (Formula, Prescribed):
        return _read_function(kind, item)
    hints, required = vocabulary.field_hints(kind), vocabulary.required_fields(kind)
    placed = len(required) == 1 and hints[required[0]] is Frame and is_place(item)
    if placed or not item.is_mapping:
        return build(kind, item, **_first_field(kind, item, hints, required))
    found = item.mapping()
    others = vocabulary.builders(kind)
    if len(found) == 1 and next(iter(found)) in others:
        name, inner = next(iter(found.items()))
        return read_built(others[name], inner)
    given = item.fields([*hints, *others], required)
    mixed = next((name for name in given if name in others), None)
    if mixed:
        raise item.error(f"{mixed} must be the only key, got {', '.join(given)}")
    return build(kind, item, **{name: read_field(kind, name, value, _unit(kind, name, given)) for name, value in given.items()})


def _unit(kind: type, name: str, given: Mapping[str, Item]) -> str | None:
    """The unit of a field. The stiffness of a law K d^n is in N/m^n, where n is its exponent in this file or by default.

    So is the damping of a law with an exponent of its own.
    """
    unit = along(vocabulary.field_unit(kind, name), given[name].coordinate)
    if unit is None or not unit.endswith(units.ANY_POWER):
        return unit
    exponent = DAMPING_EXPONENT if (kind, name) == (PowerDamping, "chi") else EXPONENT
    power = read_field(kind, exponent, given[exponent]) if exponent in given else vocabulary.default(kind, exponent)
    return f"{unit.removesuffix(units.ANY_POWER)}^{float(power):g}"


def read_field(kind: type, name: str, item: Item, unit: str | None = None) -> Any:
    """Read a field as its type, as a formula, or as the result of a function that files may call there."""
    item = item.of_unit(unit or along(vocabulary.field_unit(kind, name), item.coordinate))
    if name in ON_COORDINATES and issubclass(kind, Joint):
        item = item.of_coordinates(coordinate_units(kind()))
    if name in FORMULAS.get(kind, {}):
        return _read_law_formula(kind, name, item)
    function = vocabulary.computed(kind, name)
    if function is None or not item.is_mapping:
        return read(vocabulary.field_hints(kind)[name], item)
    word = getattr(function, "__name__", "")
    return read_built(function, item.fields([word], [word])[word])


def read_built(make: Callable[..., Any], item: Item) -> Any:
    hints, required = vocabulary.builder_hints(make)
    given = {required[0]: item} if not item.is_mapping and len(required) == 1 else item.fields(hints, required)
    named = {name: value.of_unit(vocabulary.argument_unit(name)) for name, value in given.items()}
    return build(make, item, **{name: read(hints[name], value) for name, value in named.items()})


def read_named(family: Mapping[str, type], item: Item) -> Any:
    """Read one of several classes: {name: fields}, or the bare name if no field is required."""
    names = list(family)
    if item.is_scalar:
        name = item.text()
        if name not in family:
            raise item.wrong(f"must be one of {', '.join(names)}{_meant(name, names)}")
        required = vocabulary.required_fields(family[name])
        if required:
            raise item.error(f"{name} must be given with {', '.join(required)}, as in {{{name}: ...}}")
        return build(family[name], item)
    found = item.mapping(f"one of {', '.join(names)}")
    untagged = vocabulary.untagged(family, list(found))
    if untagged is not None:
        return read_object(untagged, item)
    if len(found) != 1:
        raise item.error(f"must contain exactly one of {', '.join(names)}, got {', '.join(found) or 'nothing'}")
    name, inner = next(iter(found.items()))
    if name not in family:
        raise inner.at_key(f"unknown kind {name!r}{_meant(name, names)}; known: {', '.join(names)}", item)
    if inner.is_nothing and not vocabulary.required_fields(family[name]):
        return build(family[name], inner)
    return read_object(family[name], inner)


def _meant(name: str, names: list[str]) -> str:
    """A hint at a name that other programs call so, or that is spelled alike."""
    same = ALSO_CALLED.get(name.lower())
    return f" (did you mean {same!r}?)" if same in names else did_you_mean(name, names)


def _read_list(hint: Any, item: Item) -> Any:
    if hint == Axis:
        return item.anything()
    found = vocabulary.sequences(hint)
    if not found:
        kinds = vocabulary.classes(hint)
        if len(kinds) == 1:  # the first field alone, if that is a list
            return read_object(kinds[0], item)
        raise item.wrong(f"must be {_wanted(hint)}")
    entries = item.items()
    nested = [option for option in found if vocabulary.sequences(vocabulary.element(option))]
    chosen = nested[0] if nested and entries and entries[0].is_list else found[0]
    return tuple(read(vocabulary.element(chosen), inner) for inner in entries)


def _read_mapping(hint: Any, item: Item) -> Any:
    tables = vocabulary.mappings(hint)
    kinds = vocabulary.classes(hint)
    family = vocabulary.family(hint)
    if tables and not any(_speaks_of(kind, item) for kind in kinds) and not (set(item.mapping()) & set(family)):
        held = vocabulary.held(tables[0])
        return {name: read(held, _of_one(inner, name)) for name, inner in item.mapping().items()}
    if family:
        return read_named(family, item)
    if kinds:
        return read_object(kinds[0], item)
    raise item.wrong(f"must be {_wanted(hint)}")


def _of_one(item: Item, name: str) -> Item:
    """An entry for one of several coordinates, if it is that."""
    return item.of_coordinates({name: item.coordinates[name]}) if name in item.coordinates else item


def _read_scalar(hint: Any, item: Item) -> Any:
    kinds = vocabulary.classes(hint)
    if Formula in kinds:
        return _read_signal(item)
    choices = vocabulary.options(hint)
    if hint == Axis:
        return item.number_or_text()
    if bool in choices:
        return item.truth()
    if float in choices and kinds:
        formula = read_formula(item, vocabulary.TIME) if is_expression(item.text()) else None
        return item.number() if formula is None or formula.constant is not None else read(_without(hint, float), item)
    if float in choices:
        word = str in choices and item.text().isidentifier() and item.text() not in item.scope.definitions
        return item.text() if word else item.number()
    if int in choices:
        return item.whole()
    if str in choices:
        return item.text()
    custom = vocabulary.formula_class(hint)
    if custom is not None and (len(kinds) == 1 or custom is Prescribed or not item.text().isidentifier()):
        return read_object(custom, item)
    if vocabulary.family(hint):
        return read_named(vocabulary.family(hint), item)
    if len(kinds) == 1:
        return _read_material(item) if kinds[0] is Material else read_object(kinds[0], item)
    raise item.wrong(f"must be {_wanted(hint)}")


def _without(hint: Any, kind: type) -> Any:
    return reduce(or_, (option for option in vocabulary.options(hint) if option is not kind))


def _read_material(item: Item) -> Any:
    """Read a material: a name such as steel, a material of the file, or a mapping."""
    named = {**vocabulary.MATERIALS, **item.scope.materials}
    name = item.text()
    if name not in named:
        raise item.wrong(f"must be one of {', '.join(named)}, or a mapping{did_you_mean(name, named)}")
    return named[name]


def read_formula(item: Item, variables: tuple[str, ...] = STATE) -> ParsedFormula:
    scope, text = item.scope, item.text("a formula")
    formula: ParsedFormula = build(parse_formula, item, text, variables, scope.coordinates, scope.definitions)
    build(units.require, item, formula.kind, item.unit, text)
    if item.unit in ("rad", "rad/s") and formula.turning.doubtful:
        raise item.error(f"must be in {item.unit}, got {text!r}; {not_a_rate(formula.turning.doubtful)}")
    return formula


def _read_law_formula(kind: type, name: str, item: Item) -> ParsedFormula:
    """Read a formula that is a field of a law or a shape. A number in the place of a law is a mistake, and is refused."""
    variables = FORMULAS[kind][name]
    formula = read_formula(item, variables)
    if formula.constant is not None and vocabulary.word(kind) == FORMULA:
        raise item.wrong(f"must be the name of a law or a formula of {', '.join(variables)}")
    return formula


def _read_signal(item: Item) -> Any:
    """Read a number, a number with a unit, or a formula of t, q, v."""
    if units.split(item.text()) is not None and not is_expression(item.text()):
        return Constant(item.quantity())
    formula = read_formula(item)
    if formula.constant is not None:
        return Constant(formula.constant)
    return Formula(formula, formula.breakpoints, formula.text)


def _read_function(kind: type, item: Item) -> Any:
    """Read a formula alone, or {function: ..., breakpoints: [...]}; times with which t is compared are always breakpoints."""
    variables = FORMULAS[kind]["function"]
    if kind is Prescribed and item.unit is None:
        item = item.of_unit(item.coordinate)
    if not item.is_mapping:
        formula = read_formula(item, variables)
        return build(kind, item, formula, formula.breakpoints, formula.text)
    found = item.fields(vocabulary.field_hints(kind), ["function"])
    formula = read_formula(found["function"], variables)
    given = read_field(kind, "breakpoints", found["breakpoints"]) if "breakpoints" in found else ()
    return build(kind, item, formula, given, formula.text)


def _first_field(kind: type, item: Item, hints: Mapping[str, Any], required: list[str]) -> Any:
    if len(required) > 1 or not (required or hints):
        raise item.wrong(f"must be a mapping of {', '.join(hints)}" if hints else "must be empty")
    name = required[0] if required else next(iter(hints))
    return {name: read_field(kind, name, item)}


def _speaks_of(kind: type, item: Item) -> bool:
    """Whether an item is a mapping with a key that is, or resembles, a field of the class."""
    fields = list(vocabulary.field_hints(kind))
    return any(key in fields or did_you_mean(key, fields) for key in item.mapping()) or not item.mapping()


def _wanted(hint: Any) -> str:
    """The alternatives of a type in words, for messages."""
    words = []
    if {float, int} & set(vocabulary.options(hint)):
        words.append("a number")
    if str in vocabulary.options(hint):
        words.append("a string")
    if bool in vocabulary.options(hint):
        words.append("true or false")
    words += ["a number or a formula"] if Formula in vocabulary.options(hint) else []
    words += ["a list"] if vocabulary.sequences(hint) else []
    words += ["a mapping"] if vocabulary.classes(hint) or vocabulary.mappings(hint) else []
    return " or ".join(words) or "something else"
