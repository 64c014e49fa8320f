"""The axes of --over: payload=0.1:1.0:20 (from, to, count) or E=60,70,200GPa (a list), with units as in model files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pliant.cli.exits import WRONG, stop
from pliant.errors import ModelError

if TYPE_CHECKING:
    from pliant.model.parameter import Parameter

LOG = "log"
RULE = "must be NAME=FROM:TO:COUNT, NAME=FROM:TO:COUNT:log or NAME=VALUE,VALUE,..., as in payload=0.1:1.0:20 or E=60,70,200GPa"
COUNT = re.compile(r"\s*(\d+)\s*(.*)", re.DOTALL)


def parse_axes(
    given: Sequence[str], parameters: Mapping[str, Parameter], written: Mapping[str, str] | None = None
) -> dict[str, list[float] | list[int]]:
    """Axes by name, with values in SI; integers of names that are not parameters stay integers, because they count something.

    written: units in which the model defines numbers.
    """
    axes: dict[str, list[float] | list[int]] = {}
    for text in given:
        name, equals, values = (part.strip() for part in text.partition("="))
        if not (name and equals and values):
            stop(WRONG, f"--over: {RULE}, got {text!r}")
        if name in axes:
            stop(WRONG, f"--over: must name {name!r} only once, got it twice")
        parameter = parameters.get(name)
        try:
            numbers = _values(name, values, None if parameter is None else parameter.unit, (written or {}).get(name))
        except ModelError as trouble:
            stop(WRONG, f"--over: {trouble}")
        whole = parameter is None and all(number.is_integer() for number in numbers)
        axes[name] = [int(number) for number in numbers] if whole else numbers
    return axes


def _values(name: str, text: str, unit: str | None, written: str | None) -> list[float]:
    import numpy as np

    if ":" not in text:
        return _numbers(name, text.split(","), unit, written)
    begin, end, *rest = text.split(":")
    counted = COUNT.fullmatch(rest[0]) if rest else None
    if counted is None or len(rest) > 2 or (len(rest) == 2 and rest[1].strip() != LOG) or int(counted[1]) < 2:
        raise ModelError(f"{RULE}, with a count of at least 2, got {name}={text!r}")
    count, own = int(counted[1]), counted[2].strip()
    low, high = _numbers(name, [begin, f"{end.strip()} {own}" if own else end], unit, written)
    if len(rest) == 1:
        return [float(x) for x in np.linspace(low, high, count)]
    if not low * high > 0.0:
        raise ModelError(f"{name}: ends of a logarithmic axis must have the same sign and not be zero, got {text!r}")
    return [float(x) for x in np.geomspace(low, high, count)]


def _numbers(name: str, texts: Sequence[str], unit: str | None, written: str | None) -> list[float]:
    """The values in SI; values without a unit have the unit of the last one."""
    from pliant.files import units
    from pliant.files.definitions import read_value
    from pliant.files.formula import is_expression

    last = units.split(texts[-1])
    own = None if last is None or is_expression(texts[-1]) else last[1]
    numbers = []
    for text in texts:
        plain = own is not None and re.fullmatch(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*", text)
        numbers.append(read_value(name, f"{text.strip()} {own}" if plain else text.strip(), unit, written)[0])
    return numbers
