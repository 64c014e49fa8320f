"""The numbers that a page lets its reader change: parameters and starts, each with a range."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.check import did_you_mean
from pliant.model.parameter import Parameter

if TYPE_CHECKING:
    from pliant.run.prepare import Compiled
    from pliant.trace.traced_system import TracedSystem

PART = 0.5  # of its value: how far a number without bounds may be changed
TURN = math.pi  # rad: how far an angle may be changed
RATE = "v "  # before the name of a coordinate: its rate at the start


@dataclass(frozen=True)
class Slider:
    """A number that the reader may change: SI values."""

    name: str
    value: float
    low: float
    high: float
    unit: str
    place: int | None = None  # of a start: its index in y; None: a parameter
    asked: bool = True  # its range was given, by the user or by the bounds of the parameter

    def nearer(self) -> Slider:
        """Half the range, around the same value."""
        return replace(self, low=0.5 * (self.low + self.value), high=0.5 * (self.high + self.value))


Ranges = Mapping[str, tuple[float, float] | None]  # None: as by default


def sliders_of(compiled: Compiled, asked: Sequence[str] | Ranges | None) -> list[Slider]:
    """asked: names, or ranges by name; None: every parameter, and every coordinate that may start elsewhere."""
    traced = compiled.traced
    parameters = traced.original.parameters
    names = (
        [*parameters, *_starts(traced)]
        if asked is None
        else list(check.names("page", "sliders", list(asked) if isinstance(asked, Mapping) else asked))
    )
    ranges: Ranges = check.mapping("page", "sliders", asked) if isinstance(asked, Mapping) else {}
    if len(set(names)) < len(names):
        raise ModelError.of("page", "sliders", "must be different names", names)
    return [_slider(compiled, parameters, name, ranges.get(name)) for name in names]


def _starts(traced: TracedSystem) -> list[str]:
    """The coordinates of joints; deflections start as the System says."""
    if traced.rows:
        return []
    own = {traced.tree.positions[k] for node in traced.tree.nodes for k in getattr(node, "own_q", ())}
    return [name for name in traced.start_places["starts"] if name in traced.tree.positions and name not in own]


def _slider(compiled: Compiled, parameters: Mapping[str, Parameter], name: str, given: Any) -> Slider:
    traced = compiled.traced
    if name in parameters:
        return _of_parameter(parameters[name], traced.parameter_values[name], given)
    kind, own = ("rates", name.removeprefix(RATE)) if name.startswith(RATE) else ("starts", name)
    places = traced.start_places[kind]
    if own not in places:
        known = [*parameters, *traced.start_places["starts"], *(RATE + rate for rate in traced.start_places["rates"])]
        raise ModelError.of("page", "sliders", f"must name parameters or starts of coordinates{did_you_mean(name, known)}", name)
    if traced.rows:
        rule = "must not name a start of a mechanism with closed loops: use a parameter in a joint, whose start is then assembled"
        raise ModelError.of("page", "sliders", rule, name)
    place = traced.start_place("page", kind, own)
    value = float(traced.y0[place])
    turns = compiled.drawing.units.get(own) == "rad"
    reach = TURN if turns else max(abs(value), PART)
    low, high = _range(name, given) if given is not None else (value - reach, value + reach)
    unit = "rad" if turns else "m"
    return Slider(name, value, min(low, value), max(high, value), f"{unit}/s" if kind == "rates" else unit, place)


def _of_parameter(parameter: Parameter, value: float, given: Any) -> Slider:
    low, high = (parameter.low, parameter.high) if given is None else _range(parameter.name, given)
    bounded = low is not None and high is not None
    reach = PART * abs(value) or 1.0
    low = value - reach if low is None else low
    high = value + reach if high is None else high
    for bound in (low, high):
        parameter.check(bound)
    return Slider(parameter.name, value, min(low, value), max(high, value), parameter.unit or "", asked=bounded)


def _range(name: str, given: Any) -> tuple[float, float]:
    try:
        low, high = (check.number("page", f"sliders[{name!r}]", x) for x in given)
    except (TypeError, ValueError):
        raise ModelError.of("page", f"sliders[{name!r}]", "must be two numbers, the ends of its range", given) from None
    if not low < high:
        raise ModelError.of("page", f"sliders[{name!r}]", "must be in order, low < high", given)
    return low, high
