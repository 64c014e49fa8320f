"""The units in which tables and plots show numbers: those in which the model file writes lengths, angles and speeds."""

from __future__ import annotations

from collections.abc import Mapping

ShownUnits = Mapping[str, tuple[str, float]]  # by SI unit: the file's unit for it, and its size in SI


def shown_unit(unit: str, shown: ShownUnits) -> tuple[float, str]:
    """(size, name) of the unit in which an SI unit is shown; rates that the file does not write follow: mm/s, deg/s^2."""
    base, over, time = unit.partition("/")
    name, size = shown.get(unit) or shown.get(base if time in ("s", "s^2") else unit, (unit, 1.0))
    return size, f"{name}{over}{time}" if over and unit not in shown and size != 1.0 else name if size != 1.0 else unit


def shown_number(value: float, unit: str | None, shown: ShownUnits, digits: int = 10) -> str:
    """A number in SI as text in the unit of the file, such as 120 rpm."""
    size, name = shown_unit(unit or "", shown)
    return f"{value / size:.{digits}g} {'' if name == '1' else name}".rstrip()
