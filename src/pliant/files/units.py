"""Units in files: `250 mm`, `210 GPa`, `30 deg`. Numbers without a unit are SI; a unit must be of the field's own kind.

Pint knows the units. It takes half a second to come in, so it does when the first unit is met and not before.
"""

from __future__ import annotations

import math
import re
from functools import cache, lru_cache
from typing import Any

from pliant.errors import ModelError

NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*((?:1/|[^\W\d_])[^\n]{0,59}|[%°])\s*")
# Letters, products, quotients and small whole or half powers; nothing that needs an evaluator.
UNIT = re.compile(r"(?:[^\W\d_]++(?:(?:\^|\*\*)-?\d(?:\.5)?)?|1|%|°|[*/· ()])+")
OR, ANY_POWER = " or ", "^n"


def split(text: str) -> tuple[float, str] | None:
    """The number and the unit of a text such as 250 mm, which is no expression; else None."""
    match = NUMBER.fullmatch(text)
    return None if match is None else (float(match[1]), match[2].strip())


def convert(value: float, unit: str, wanted: str | None) -> float:
    """A number with a unit in SI; `wanted` are the units of the field, as in "N/m or N m/rad"."""
    one = _one(unit)
    if wanted is not None and not any(_alike(one, kind, unit) for kind in wanted.split(OR)):
        named = "a number without a unit" if wanted == "1" else f"in {wanted}"
        raise ModelError(f"must be {named}, got {unit!r}, which is {_kind(one)}")
    number = value * float(one.magnitude)
    if not math.isfinite(number):
        raise ModelError(f"must be a finite number, got {value!r} {unit}")
    return number


@cache
def dimension(unit: str) -> Any:
    """The dimensionality of one of our own units."""
    return _registry().parse_units(_spelled(unit)).dimensionality


def _alike(made: Any, wanted: str, unit: str) -> bool:
    """Of the same kind. Turns and counts have no dimension, so a frequency in Hz would pass for rad/s: it must not."""
    if wanted.startswith("rad") and re.search(r"\b\w*(Hz|hertz)\b", unit):
        return False
    if wanted in ("1", "rad") and made.dimensionless:
        return ("radian" in str(made.units)) == (wanted == "rad")
    if wanted.endswith(ANY_POWER):
        rest = dict((made / _registry().newton).dimensionality)
        return set(rest) <= {"[length]"}
    return bool(made.dimensionality == dimension(wanted))


def _kind(made: Any) -> str:
    return "a plain number" if made.dimensionless else f"of kind {made.dimensionality}"


@lru_cache(maxsize=1000)
def _one(unit: str) -> Any:
    """One of a unit, in SI; whatever pint stumbles over is said in one way."""
    import pint

    if not UNIT.fullmatch(unit):
        raise ModelError(f"unit {unit!r}: must be of letters, products, quotients and powers, as in mm, N*m or kg/m^3")
    try:
        one = _registry().Quantity(1.0, _registry().parse_units(_spelled(unit)))
        return (0.5 * (2.0 * one)).to_base_units()  # doubling refuses scales with an offset, as degrees Celsius
    except pint.UndefinedUnitError:
        raise ModelError(f"unit {unit!r}: is unknown") from None
    except Exception as trouble:  # pint's parser raises many kinds; none of them may leave the loader
        raise ModelError(f"unit {unit!r}: cannot be read ({type(trouble).__name__})") from None


def _spelled(unit: str) -> str:
    """As pint reads it: a blank between units is a product, ^ a power, ° a degree."""
    plain = unit.replace("°", "degree").replace("%", "percent").replace("·", "*").replace("^", "**")
    return re.sub(r"(?<=[\w)])\s+(?=[^\W\d_])", "*", plain.strip())


@cache
def _registry() -> Any:
    import pint

    registry: Any = pint.UnitRegistry(cache_folder=None)
    registry.define("@alias revolution = rev")  # as engineers write it
    return registry
