"""Inputs of a run: series, one per parameter, that replace these parameters from its start to its end.

A series is data: a System is compiled once for each set of inputs, and then runs with any series.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.codegen.series import ENTRIES
from pliant.errors import ModelError
from pliant.model import check
from pliant.model.input_series import InputSeries
from pliant.model.parameter import InputValue
from pliant.model.resolve import checked_values
from pliant.model.system import System
from pliant.run.inputs import TRIAL, reached_places
from pliant.run.prepare import Compiled
from pliant.trace.layout import SERIES

if TYPE_CHECKING:
    from pliant.trace.lowered_system import LoweredSystem
    from pliant.trace.traced_system import TracedSystem


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


def check_admitted(traced: TracedSystem, lowered: LoweredSystem) -> None:
    """Refuse inputs on which anything but forces depends; what depends on them is the same for all Systems of a structure."""
    from pliant.trace.inputs import refuse

    entries = traced.layout.p[SERIES]
    for k, name in enumerate(traced.inputs):
        own = set(range(entries.start + ENTRIES * k, entries.start + ENTRIES * (k + 1)))
        for what in reached_places(traced, own):
            refuse("simulate", [name], f"{what} depends on")
    what = _moved_with_inputs(traced, lowered)
    if what:
        refuse("simulate", traced.inputs, f"{what} on")


def _moved_with_inputs(traced: TracedSystem, lowered: LoweredSystem) -> str:
    """What is computed before a run from the numbers that stand for inputs, in words; empty if nothing is."""
    from pliant.run.contact_phases import pair_numbers
    from pliant.run.system_memory import SystemMemory
    from pliant.run.theta import lowered_at
    from pliant.trace.lowering import every_number

    values = dict(lowered.parameters)
    for name in traced.inputs:
        value = values[name]
        assert isinstance(value, InputValue)
        values[name] = value.moved(value + TRIAL * (abs(value) or 1.0))
    moved = lowered_at(SystemMemory(), traced, values)
    here, there = every_number(lowered.root), every_number(moved.root)
    if not here.is_like(there) or not np.array_equal(here.values, there.values, equal_nan=True):
        return "bodies, joints or beams depend"
    if not (np.array_equal(moved.start.q, lowered.start.q) and np.array_equal(moved.start.v, lowered.start.v)):
        return "the start depends"
    if moved.breakpoints != lowered.breakpoints or moved.signals != lowered.signals:
        return "a table, whose points are read before the run, depends"
    other = traced.for_numbers(moved, np.zeros(traced.preparation.count))
    if not np.array_equal(pair_numbers(other), pair_numbers(traced), equal_nan=True):
        return "the detection of contacts depends"
    return ""
