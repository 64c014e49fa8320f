"""Units in model files: `250 mm`, `210 GPa`, `30 deg`. Numbers without a unit are SI; a unit must fit the field.

Pint knows the units. Importing it takes half a second, so it is imported when the first unit is read.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import Any

from pliant.errors import ModelError
from pliant.files.dimension import Dimension, Kind, quotient

# Possessive: digits are taken once, so that a long row of them is refused at once, and 501/s is not 50 times 1/s.
NUMBER = re.compile(r"\s*+([-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?+)\s*+((?:1/|[^\W\d_])[^\n]{0,59}|[%°])\s*")
# Letters, products, quotients and small integer or half powers; nothing that would have to be evaluated.
UNIT = re.compile(r"(?:[^\W\d_]++(?:(?:\^|\*\*)-?\d(?:\.5)?)?|1|%|°|[*/· ()])+")
SHOWN = ("m", "rad", "m/s", "rad/s")  # quantities that tables and plots show in the units of the file
OR, ANY_POWER = " or ", "^n"
HERTZ = re.compile(r"\b\w*(Hz|hertz)\b")
PER_TIME = {"[time]": -1.0}
TORQUE = re.compile(r"\b([kmM]?N)([cm]?m(?:(?:\^|\*\*)-?\d)?)(?![^\W_])")  # Nm, as engineers write it; pint's Nm is of textiles
FOREIGN = {"[substance]", "[luminosity]"}  # no quantity of a mechanism has these; pint's U, as in U/min, is of enzymes


def split(text: str) -> tuple[float, str] | None:
    """The number and the unit of a text such as 250 mm; None for an expression."""
    match = NUMBER.fullmatch(text)
    return None if match is None else (float(match[1]), match[2].strip())


def convert(value: float, unit: str, wanted: str | None) -> float:
    """Convert a number with a unit to SI; `wanted` contains the units of the field, as in "N/m or N m/rad"."""
    require(kind_of(unit), wanted, unit)
    number = value * float(_one(unit).magnitude)
    if not math.isfinite(number):
        raise ModelError(f"must be a finite number, got {value!r} {unit}")
    return number


def require(kind: Kind, wanted: str | None, text: str) -> None:
    """Refuse a quantity whose kind does not fit the wanted unit; text: the quantity as written, for the message."""
    if wanted is not None and not _fits(kind, wanted):
        named = "a number without a unit" if wanted == "1" else f"in {wanted}"
        angle = kind is not None and kind.angle and not kind.powers and wanted == "1"
        instead = "; turns per minute are rpm, and a frequency becomes rad/s by 2*pi" if _is_frequency(kind, wanted) else ""
        raise ModelError(f"must be {named}, got {text!r}, which is {'an angle' if angle else kind}{instead}")


def _is_frequency(kind: Kind, wanted: str) -> bool:
    return kind is not None and kind.hertz and dict(kind.powers) == PER_TIME and "rad/s" in wanted.split(OR)


def _fits(kind: Kind, wanted: str) -> bool:
    return kind is None or kind.pure or any(_alike(kind, unit) for unit in wanted.split(OR))


def _alike(kind: Dimension, wanted: str) -> bool:
    """Whether a kind fits a unit. Turns and counts have no dimension, so frequencies in Hz are told apart from rad/s explicitly."""
    if (wanted.startswith("rad") and kind.hertz) or (wanted in ("Hz", "1/s") and kind.angle):
        return False
    if wanted in ("1", "rad") and not kind.powers:
        return kind.ratio or kind.angle == (wanted == "rad")
    if wanted.endswith(ANY_POWER):
        over = quotient(kind, Dimension(dimension("N")))
        return over is not None and set(over.powers) <= {"[length]"}
    return dict(kind.powers) == dict(dimension(wanted))


def kind_of(unit: str) -> Dimension:
    """The dimension of a unit. 1/min may count turns as Hz does, and is one with it."""
    one = _one(unit)
    powers, angle = _powers(one), "radian" in str(one.units)
    return Dimension(powers, angle, HERTZ.search(unit) is not None or (powers == PER_TIME and not angle))


@cache
def dimension(unit: str) -> Mapping[str, float]:
    """The powers of a unit of pliant's tables."""
    return _powers(_registry().parse_units(_spelled(unit)))


def most_written(texts: Iterable[str]) -> dict[str, tuple[str, float]]:
    """By SI unit: the unit in which most lengths, angles and speeds of a file are written, and its size in SI."""
    counts = Counter(quantity[1] for quantity in map(split, texts) if quantity is not None)
    found: dict[str, tuple[str, float]] = {}
    for unit, _ in counts.most_common():
        with contextlib.suppress(ModelError):  # a name that begins like a number
            kind, size = kind_of(unit), float(_one(unit).magnitude)
            for si in SHOWN:
                if kind.angle == ("rad" in si) and dict(kind.powers) == dict(dimension(si)) and not kind.hertz:
                    found.setdefault(si, (unit, size))
    return found


def is_si(unit: str) -> bool:
    """Whether one of this unit is one in SI."""
    return float(_one(unit).magnitude) == 1.0


def si_unit(unit: str) -> str | None:
    """The SI unit of the same quantity, such as m for mm; None for a plain number."""
    one = _one(unit)
    if is_si(unit):
        return unit
    if one.dimensionless and "radian" not in str(one.units):
        return None
    plain: dict[str, float] = {}
    for name, power in _registry().parse_units(_spelled(unit))._units.items():
        for base, of_base in _without_prefix(name).items():
            plain[base] = plain.get(base, 0) + power * of_base
    return _written(plain)


def _without_prefix(name: str) -> dict[str, float]:
    """millimetre -> metre, gram -> kilogram, degree -> radian, rpm -> radian / second."""
    root = str(_registry().parse_unit_name(name)[0][1])
    base = _registry().Quantity(1.0, root).to_base_units()
    return {root: 1} if float(base.magnitude) == 1.0 else dict(base.units._units.items())


def _written(units: Mapping[str, float]) -> str:
    above, below = ([_with_power(name, abs(p)) for name, p in units.items() if sense * p > 0] for sense in (1, -1))
    over = f"({' '.join(below)})" if len(below) > 1 else "".join(below)
    return " ".join(above or ["1"]) + (f"/{over}" if over else "")


def _with_power(name: str, power: float) -> str:
    symbol = _registry().get_symbol(name)
    return str(symbol) if power == 1 else f"{symbol}^{power:g}"


def _powers(made: Any) -> Mapping[str, float]:
    return {str(name): float(power) for name, power in made.dimensionality.items()}


@lru_cache(maxsize=1000)
def _one(unit: str) -> Any:
    """One unit as a quantity in SI; all errors of pint become a ModelError."""
    import pint

    if not UNIT.fullmatch(unit):
        raise ModelError(f"unit {unit!r}: must consist of letters, products, quotients and powers, as in mm, N*m or kg/m^3")
    try:
        one = _registry().Quantity(1.0, _registry().parse_units(_spelled(unit)))
        found = (0.5 * (2.0 * one)).to_base_units()  # doubling refuses scales with an offset, such as degrees Celsius
    except pint.UndefinedUnitError:
        raise ModelError(f"unit {unit!r} is unknown{_nearest(unit)}") from None
    except Exception as trouble:  # pint's parser raises many kinds of errors; none may leave the loader
        raise ModelError(f"unit {unit!r} cannot be read ({type(trouble).__name__})") from None
    powers = _powers(found)
    if FOREIGN & set(powers):
        raise ModelError(f"unit {unit!r} is {Dimension(powers)}, which nothing in a mechanism has (turns per minute are rpm)")
    return found


# Common units, for suggestions. Pint knows thousands more, most of which nobody means.
COMMON = (
    *("m", "mm", "cm", "km", "um", "in", "ft", "kg", "g", "t", "N", "kN", "mN", "Pa", "kPa", "MPa", "GPa", "bar", "psi"),
    *("J", "kJ", "mJ", "W", "kW", "s", "ms", "us", "min", "h", "Hz", "kHz", "rad", "mrad", "deg", "rpm", "rad/s", "deg/s", "m/s"),
    *("mm/s", "km/h", "m/s^2", "N/m", "N/mm", "kN/m", "N*m", "N*mm", "N*m/rad", "N*s/m", "N*m*s/rad", "kg/m"),
    *("kg/m^3", "g/cm^3", "kg*m^2", "m^2", "mm^2", "m^4", "mm^4"),
)


def _nearest(unit: str) -> str:
    """A suggestion for a misspelt unit; the case of letters counts less than the letters."""
    by_letters = {known.lower(): known for known in reversed(COMMON)}
    close = get_close_matches(unit.lower(), by_letters, n=1, cutoff=0.5)
    return f" (did you mean {by_letters[close[0]]!r}?)" if close else ""


def _spelled(unit: str) -> str:
    """The unit in pint's spelling: a blank between units is a product, ^ a power, ° a degree, Nm a torque."""
    plain = TORQUE.sub(r"(\1*\2)", unit).replace("°", "degree").replace("%", "percent").replace("·", "*").replace("^", "**")
    return re.sub(r"(?<=[\w)])\s+(?=[^\W\d_])", "*", plain.strip())


@cache
def _registry() -> Any:
    import pint

    registry: Any = pint.UnitRegistry(cache_folder=None)
    registry.define("@alias revolution = rev")  # as engineers write it
    return registry
