"""Inputs of a run: series, one per parameter, that replace these parameters from its start to its end.

A series is data: a System is compiled once for each set of inputs, and then runs with any series.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.input_series import InputSeries
from pliant.model.parameter import InputValue
from pliant.model.resolve import checked_values
from pliant.model.system import System
from pliant.run.prepare import Compiled


def with_inputs(
    part: str, system: System | Compiled, parameters: Mapping[str, float] | None, inputs: Mapping[str, Any] | None,
    begin: float, end: float,
) -> Mapping[str, float] | None:  # fmt: skip
    """Values of parameters, among them those that inputs replace from begin to end, s."""
    given = check.mapping(part, "inputs", inputs)
    if not given:
        return parameters
    known = (system.traced.original if isinstance(system, Compiled) else system).parameters
    values = dict(check.mapping(part, "parameters", parameters))
    for name, one in given.items():
        if name not in known:
            checked_values(known, {name: 0.0})  # refuses the name and suggests the nearest
        if name in values:
            raise ModelError.of(part, f"inputs {name!r}", "must not be among the parameters that are given a value", values[name])
        series = InputSeries.of(part, name, one)
        series.check_covers(part, name, begin, end)
        for value in (series.values.min(), series.values.max()):
            known[name].check(float(value))
        values[name] = InputValue.of_parameter(known[name], series)
    return values
