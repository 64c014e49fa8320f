"""Checks of the fields of a model; each returns the cleaned value or raises a ModelError."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from numbers import Real
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from pliant.errors import CONTROL, ModelError
from pliant.errors import did_you_mean as did_you_mean
from pliant.model.parameter import InputValue, TiedFloat, expression_of
from pliant.scalar import Numbers, is_constant, sqrt

LARGEST = 1e60  # in any unit: low powers of it do not overflow, and no mechanism has such numbers

Vector = tuple[float, float, float]
Axis = str | Numbers  # what `axis` takes


def number(part: str, field: str, value: Any, unit: str = "") -> float:
    """A finite real number."""
    if is_constant(value) and not isinstance(value, Real):
        return value  # type: ignore[no-any-return]  # a part made while tracing: its number was checked when the user gave it
    if type(value) is InputValue:  # its parameter was checked
        return value
    expression = expression_of(value)
    if expression is not None:
        number(part, field, expression.value, unit)
        return TiedFloat.of(expression)
    rule = f"must be a finite number{_in(unit)}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ModelError.of(part, field, rule + _of_degrees(value, unit), value)
    try:
        clean = float(value)
    except OverflowError:  # an integer or a fraction beyond the range of floats
        clean = math.inf
    if not math.isfinite(clean):
        raise ModelError.of(part, field, rule, clean)
    if abs(clean) > LARGEST:
        raise ModelError.of(part, field, f"must have a magnitude <= {LARGEST:g}{_in(unit, '')}", clean)
    return clean


def _of_degrees(value: Any, unit: str) -> str:
    """What to write instead of an angle such as "30 deg", which only files and `hold` read."""
    found = re.fullmatch(r"\s*([-+.\d]+)\s*(deg|degrees?|°)\s*", value) if unit == "rad" and isinstance(value, str) else None
    return f": pl.deg({found[1]})" if found else ""


def positive(part: str, field: str, value: Any, unit: str = "") -> float:
    clean = number(part, field, value, unit)
    if clean <= 0.0:
        raise ModelError.of(part, field, f"must be > 0{_in(unit, '')}", value)
    return clean


def not_negative(part: str, field: str, value: Any, unit: str = "") -> float:
    clean = number(part, field, value, unit)
    if clean < 0.0:
        raise ModelError.of(part, field, f"must be >= 0{_in(unit, '')}", value)
    return clean


def share(part: str, field: str, value: Any, unit: str = "") -> float:
    clean = number(part, field, value, unit)
    if not 0.0 < clean <= 1.0:
        raise ModelError.of(part, field, "must be in (0, 1]", value)
    return clean


def fields(x: Any, rule: Callable[[str, str, Any, str], Any], part: str = "", /, **units: str) -> None:
    """Puts checked values into fields of a frozen part, given with their units; one that is None by default may stay so."""
    for name, unit in units.items():
        value = getattr(x, name)
        if value is not None or getattr(type(x), name, 0.0) is not None:
            object.__setattr__(x, name, rule(part or type(x).__name__, name, value, unit))


def structural(part: str, field: str, value: Any) -> None:
    """Refuse a parameter in a field that determines the structure of the equations."""
    if expression_of(value) is not None:
        rule = "must be a fixed value, not a parameter, because it determines the structure of the equations"
        raise ModelError.of(part, field, rule, value)


def count(part: str, field: str, value: Any, most: int | None = None) -> int:
    structural(part, field, value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ModelError.of(part, field, "must be a whole number >= 1", value)
    if most is not None and value > most:
        raise ModelError.of(part, field, f"must be <= {most}", value)
    return value


def choice(part: str, field: str, value: Any, allowed: Iterable[str]) -> str:
    structural(part, field, value)
    names = list(allowed)
    if not isinstance(value, str) or value not in names:
        rule = f"must be one of {', '.join(names)}{did_you_mean(value, names)}"
        raise ModelError.of(part, field, rule, value)
    return str(value)


def identifier(part: str, field: str, value: Any) -> str:
    """A name that is valid before the dot of `body.coordinate` and before the @ of `body@station`."""
    structural(part, field, value)
    if not isinstance(value, str) or not value or "." in value or "@" in value or value != value.strip():
        raise ModelError.of(part, field, "must be a non-empty string without dots, @, or leading or trailing blanks", value)
    return visible(part, field, value)


def visible(part: str, field: str, value: str) -> str:
    """A name without characters that a terminal would interpret or that would break its line."""
    if CONTROL.search(value) or "\n" in value or "\t" in value:
        raise ModelError.of(part, field, "must not contain control characters", value)
    return value


def numbers(part: str, field: str, value: Any, length: int, unit: str = "") -> tuple[float, ...]:
    items = listed(part, field, value, f"must be {length} numbers{_in(unit)}")
    if len(items) != length:
        raise ModelError.of(part, field, f"must be {length} numbers{_in(unit)}", value)
    return tuple(number(part, f"{field}[{k}]", item, unit) for k, item in enumerate(items))


def listed(part: str, field: str, value: Any, rule: str = "must be a list of numbers") -> list[Any]:
    """The items of a list, a tuple or an array, not of a text or of one number in an array."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:
        raise ModelError.of(part, field, rule, value)
    return list(value)


def several(value: Any) -> TypeGuard[Sequence[Any]]:
    """Whether it is a list, a tuple or an array, not one value."""
    return isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str) and getattr(value, "ndim", 1) > 0


def vector(part: str, field: str, value: Any, unit: str = "") -> Vector:
    """Three numbers; a pair gets z = 0."""
    rule = f"must be 2 or 3 numbers{_in(unit)}"
    items = listed(part, field, value, rule)
    if len(items) not in (2, 3):
        raise ModelError.of(part, field, rule, value)
    clean = numbers(part, field, items, len(items), unit)
    return (clean[0], clean[1], clean[2] if len(clean) == 3 else 0.0)


AXES: dict[str, Vector] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def axis(part: str, field: str, value: Any) -> Vector:
    """A unit vector, from a letter or any non-zero vector."""
    if isinstance(value, str):
        sign, letter = (-1.0, value[1:]) if value.startswith("-") else (1.0, value)
        if letter not in AXES:
            raise ModelError.of(part, field, "must be x, y, z (or -x, -y, -z) or a vector", value)
        x, y, z = AXES[letter]
        return (sign * x + 0.0, sign * y + 0.0, sign * z + 0.0)
    direction = vector(part, field, value)
    x, y, z = unit(part, field, direction, "vector")
    return (x, y, z)


UNIT_ROUND_OFF = 4e-16  # a vector this close to unit length is left unchanged, so that normalising twice changes nothing


def unit(part: str, field: str, components: Sequence[float], kind: str) -> tuple[float, ...]:
    """The vector scaled to length one."""
    size = sqrt(sum(c * c for c in components))
    if size < 1e-12:
        raise ModelError.of(part, field, f"must not be the zero {kind}", components)
    return tuple(components) if abs(size - 1.0) <= UNIT_ROUND_OFF else tuple(c / size for c in components)


def increasing(part: str, field: str, values: Numbers) -> None:
    for before, after in pairwise(values):
        if not after > before:
            raise ModelError.of(part, field, "must be strictly increasing", list(values))


def instance(part: str, field: str, value: Any, kinds: type | tuple[type, ...], wanted: str) -> None:
    if not isinstance(value, kinds):
        raise ModelError.of(part, field, f"must be {wanted}", value)


def mapping(part: str, field: str, value: Any) -> Mapping[str, Any]:
    """A mapping by name; None counts as empty."""
    if value is not None and not isinstance(value, Mapping):
        raise ModelError.of(part, field, "must be a mapping of names and values", value)
    return value or {}


def names(part: str, field: str, value: Any) -> tuple[str, ...]:
    """One name or several."""
    given = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else (value,)
    if isinstance(value, Mapping) or not all(isinstance(name, str) for name in given):
        raise ModelError.of(part, field, "must be a name or a list of names", value)
    return given


def path(part: str, field: str, value: Any) -> Path:
    """A file or folder."""
    instance(part, field, value, (str, os.PathLike), "the path of a file or folder")
    return Path(value)


def function(part: str, field: str, value: Any) -> None:
    """A function, or None."""
    if value is not None and not callable(value):
        raise ModelError.of(part, field, "must be a function", value)


def progress(part: str, value: Any) -> None:
    """A function, or whether to show a bar."""
    if not isinstance(value, bool):
        function(part, "progress", value)


def _in(unit: str, joint: str = " in") -> str:
    return f"{joint} {unit}" if unit else ""
