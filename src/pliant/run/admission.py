"""What may depend on an input: forces alone. Positions, energies, loops, and what is known before a run must not."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from pliant.codegen.program import PARAMETER, Program
from pliant.codegen.series import ENTRIES
from pliant.model.parameter import InputValue
from pliant.results.ledger import HELD
from pliant.run.system_memory import SystemMemory
from pliant.trace.inputs import refuse
from pliant.trace.layout import SERIES
from pliant.trace.lowered_system import LoweredSystem
from pliant.trace.lowering import every_number
from pliant.trace.traced_system import TracedSystem, pair_numbers

# Observed quantities, besides the energies, that no input may affect: positions.
PLACES = {"tip_position": "the position of a body", "gap": "the gap of a contact", "prescribed positions": "a prescribed motion",
          "prescribed rates": "a prescribed motion", "constraint": "the closing of loops"}  # fmt: skip
ENERGIES = {"kinetic": "the kinetic energy", "gravity": "the potential energy of gravity", "strain": "the strain energy",
            "spring": "the energy in springs", "contact": "the energy in closed contacts"}  # fmt: skip
TRIAL = 0.0117  # relative change of a parameter (or change, if it is 0) that shows what depends on it


def check_admitted(traced: TracedSystem, lowered: LoweredSystem) -> None:
    """Refuse inputs on which anything but forces depends; what depends on them is the same for all Systems of a structure."""
    entries = traced.layout.p[SERIES]
    for k, name in enumerate(traced.inputs):
        own = set(range(entries.start + ENTRIES * k, entries.start + ENTRIES * (k + 1)))
        for what in reached_places(traced, own):
            refuse("simulate", [name], f"{what} depends on")
    what = _moved_with_inputs(traced, lowered)
    if what:
        refuse("simulate", traced.inputs, what)


def _moved_with_inputs(traced: TracedSystem, lowered: LoweredSystem) -> str:
    """What is computed before a run from the numbers that stand for inputs, in words; empty if nothing is."""
    values = dict(lowered.parameters)
    for name in traced.inputs:
        value = values[name]
        assert isinstance(value, InputValue)
        values[name] = value.moved(value + TRIAL * (abs(value) or 1.0))
    moved = SystemMemory().lowered(traced, values)
    here, there = every_number(lowered.root), every_number(moved.root)
    if not here.is_like(there) or not np.array_equal(here.values, there.values, equal_nan=True):
        return "bodies, joints or beams depend on"
    return known_before(traced, lowered, moved)


def known_before(traced: TracedSystem, here: LoweredSystem, there: LoweredSystem) -> str:
    """A clause that says what is known before a run and differs there, besides numbers of parts; empty if nothing does."""
    if not (np.array_equal(there.start.q, here.start.q) and np.array_equal(there.start.v, here.start.v)):
        return "the start depends on"
    if there.breakpoints != here.breakpoints or there.signals != here.signals:
        return "a table, whose points are read before the run, depends on"
    other = traced.for_numbers(there, np.zeros(traced.preparation.count))
    if not np.array_equal(pair_numbers(other), pair_numbers(traced), equal_nan=True):
        return "the detection of contacts depends on"
    return ""


def reached_places(traced: TracedSystem, entries: set[int]) -> Iterator[str]:
    """What depends on these entries of p although no input may affect it: energies, positions, the closing of loops."""
    observed = reached_outputs(traced.functions["observe"].program(), entries)
    for name, words in {**ENERGIES, **PLACES}.items():
        place = traced.layout.observed[name]
        if any(place.start <= k < place.stop for k in observed):
            yield words
    for name in ("project", "closures"):
        if name in traced.functions and reached_outputs(traced.functions[name].program(), entries):
            yield "the closing of loops"


def reached_outputs(program: Program, entries: Collection[int]) -> list[int]:
    """The outputs of a program that depend on these entries of p."""
    reached = bytearray(len(program.kind))
    for value, kind in enumerate(program.kind):
        if kind == PARAMETER:
            reached[value] = program.a[value] in entries
        elif kind >= 0:
            reached[value] = any(reached[argument] for argument in program.arguments(value))
    return [k for k, value in enumerate(program.outputs) if reached[value]]


assert set(HELD) == set(ENERGIES)
