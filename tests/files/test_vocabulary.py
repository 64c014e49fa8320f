"""Files cover all that Python can say: walked over what the package exports, so that a new class without words fails here."""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from functools import cache
from typing import Any

import pytest

import pliant as pl
from pliant.files import units, vocabulary
from pliant.files.quantities import CHOICES, FREE_TEXTS, OWN_UNITS, UNITS, UNITS_BY_NAME
from pliant.files.run_settings import RunSettings
from pliant.files.schema import schema
from pliant.model.check import Axis
from pliant.model.system import System
from pliant.run.simulate import simulate

# What runs give, what the file itself and its places are, and which cases a sweep runs and an ensemble keeps.
NO_PART_OF_A_MODEL = {"Denoc", "Ledger", "Result", "System", "Frame", "Grid", "Cases", "Sample", "Compiled"}
NO_PART_OF_A_MODEL |= {"ClearancePrismatic", "ClearanceRevolute", "ClearanceSpherical"}  # written as joints and contacts
NO_PART_OF_A_MODEL |= {"ExtremesOf", "ValuesAt", "FiniteElements"}
NO_PART_OF_A_MODEL |= {"SteppedRun", "StepError", "FrameJacobian", "GibbsAppellIntegrals"}
NO_PART_OF_A_MODEL |= {"Campbell", "Equilibrium", "Largest", "Linearisation", "Report"}
NO_PART_OF_A_MODEL |= {"Experiment", "Unknown", "InputSeries", "Fit", "Constraint", "Optimum", "Sensitivities"}
# of simulate: nothing a file could hold
NOT_SETTINGS = {"parameters", "inputs", "system", "progress", "phase", "cache", "start", "to", "resume", "compression", "return"}
SCHEMA = schema()
CLASSES = [
    found for found in (getattr(pl, name) for name in pl.__all__) if isinstance(found, type) and dataclasses.is_dataclass(found)
]
WORDS = [kind for kind in CLASSES if kind.__name__ not in NO_PART_OF_A_MODEL] + [RunSettings]


def test_every_class_of_the_package_can_stand_in_a_file() -> None:
    assert len(WORDS) > 60
    assert [kind.__name__ for kind in WORDS if kind.__name__ not in SCHEMA["$defs"]] == []


def test_every_method_that_adds_to_a_system_is_a_section() -> None:
    """Methods of System that take a name: bodies apart, each must be a section, and each of its arguments a key."""
    adding = {
        name
        for name, method in inspect.getmembers(System, inspect.isfunction)
        if not name.startswith("_") and "name" in inspect.signature(method).parameters and name != "handle"
    }
    assert adding == {"add", *(call.__name__ for call in vocabulary.CALLS.values())}
    for section, call in vocabulary.CALLS.items():
        keys = set(inspect.signature(call).parameters) - {"self", "name"}
        keys -= {name for own, name in vocabulary.NOT_IN_CALLS if own == section}
        assert set(vocabulary.call_hints(section)[0]) == keys


def test_every_setting_of_simulate_is_a_key_of_run() -> None:
    settings = set(inspect.signature(simulate).parameters) - NOT_SETTINGS
    assert settings == {field.name for field in dataclasses.fields(RunSettings)}


def numeric(hint: Any) -> bool:
    """Whether numbers stand in a value of this type."""
    if hint == Axis:
        return False
    inner = [vocabulary.element(s) for s in vocabulary.sequences(hint)] + [vocabulary.held(m) for m in vocabulary.mappings(hint)]
    return bool({float, int} & set(vocabulary.options(hint))) or any(numeric(one) for one in inner)


def fields() -> list[tuple[Any, str, Any]]:
    """(owner, name, hint) of all fields and arguments that files may give."""
    own = [(kind, name, hint) for kind in WORDS for name, hint in vocabulary.field_hints(kind).items()]
    calls = [(call, name, hint) for section, call in vocabulary.CALLS.items()
             for name, hint in vocabulary.call_hints(section)[0].items()]  # fmt: skip
    built = [(build, name, hint) for kind in WORDS for build in vocabulary.builders(kind).values()
             for name, hint in vocabulary.builder_hints(build)[0].items() if name != "return"]  # fmt: skip
    return own + calls + built


def unit_of(owner: Any, name: str) -> str | None:
    if isinstance(owner, type):
        return vocabulary.field_unit(owner, name)
    return None if (owner, name) in OWN_UNITS else UNITS.get((owner, name)) or UNITS_BY_NAME.get(name)


def test_every_number_has_a_unit_and_every_text_its_words() -> None:
    without = [(owner, name) for owner, name, hint in fields() if numeric(hint) and unit_of(owner, name) is None]
    assert [number for number in without if number not in OWN_UNITS] == []
    free = set(FREE_TEXTS) | {(RunSettings, "save")}
    texts = [(owner, name) for owner, name, hint in fields()
             if str in vocabulary.options(hint) and pl.Frame not in vocabulary.options(hint) and hint != Axis]  # fmt: skip
    assert [text for text in texts if text not in CHOICES and text not in free] == []


def test_units_are_those_that_the_models_own_comments_tell() -> None:
    """`length: float  # m`: where a comment tells a unit, it is the table's."""
    counted = 0
    for kind in WORDS:
        for name in vocabulary.field_hints(kind):
            comment = comment_of(kind, name)
            unit = vocabulary.field_unit(kind, name)
            if comment is None or unit in (None, "1") or not re.search(KNOWN, comment):
                continue
            counted += 1
            assert any(re.search(rf"(?<![\w/^]){re.escape(one)}(?![\w/^])", comment) for one in unit.split(units.OR)), (
                kind, name, unit, comment)  # fmt: skip
    assert counted > 80


KNOWN = r"(?<![\w/^])(m|kg|s|N|Pa|rad|1/s|1/m|kg/m)(?![\w])"


@cache
def source_of(kind: type) -> str:
    return inspect.getsource(kind)


def comment_of(kind: type, name: str) -> str | None:
    for owner in kind.__mro__[:-1]:
        match = re.search(rf"^    {name}: [^#\n]*#([^\n]*)$", source_of(owner), re.MULTILINE)
        if match:
            return match[1]
        if name in inspect.get_annotations(owner):
            return None
    return None


def test_every_unit_of_the_table_is_one_that_can_be_converted() -> None:
    for unit in {one for units_ in (*UNITS_BY_NAME.values(), *UNITS.values()) for one in units_.split(units.OR)}:
        if unit != "1" and not unit.endswith(units.ANY_POWER):
            units.dimension(unit)
            units.convert(1.0, unit, unit)
            assert unit == "1/s" or unit.startswith(("1", "s")) or units.convert(2.0, unit, unit) == 2.0  # SI: factor one


@pytest.mark.parametrize("kind", WORDS, ids=lambda kind: kind.__name__)
def test_hints_are_of_types_that_files_can_hold(kind: type) -> None:
    """No bare callable or unknown class is left among the types of fields."""
    for name, hint in vocabulary.field_hints(kind).items():
        if name in vocabulary.FORMULAS.get(kind, {}):
            continue
        origins = {typing.get_origin(option) for option in vocabulary.options(hint)}
        assert not any(getattr(origin, "__name__", "") == "Callable" for origin in origins), (kind, name, hint)
