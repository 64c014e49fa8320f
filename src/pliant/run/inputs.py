"""Inputs of a run that goes step by step: parameters that may change between two steps, and where their numbers stand in p.

A parameter is an input where forces alone depend on it: the efforts of drives, loads, formulas of these, dampers, friction. What a
mechanism holds as energy, where it starts, how its loops close and which code it runs must not: energy would appear from nowhere.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError, SolveError
from pliant.model.parameter import Expression, Parameter, evaluated
from pliant.model.resolve import Search, checked_values
from pliant.model.system import System
from pliant.results.ledger import HELD
from pliant.run.prepare import Compiled
from pliant.run.system_memory import SystemMemory

if TYPE_CHECKING:
    from pliant.codegen.llvm import MachineCode
    from pliant.codegen.program import Program
    from pliant.trace.lowered_system import LoweredSystem
    from pliant.trace.lowering import EveryNumber

Floats = NDArray[np.float64]

# Besides the energies, what is observed that no input may reach: where things are.
PLACES = {"tip_position": "where a body is", "gap": "the gap of a contact", "prescribed positions": "a prescribed motion",
          "prescribed rates": "a prescribed motion", "constraint": "how loops close"}  # fmt: skip
ENERGIES = {"kinetic": "the kinetic energy", "gravity": "the potential energy of gravity", "strain": "the strain energy",
            "spring": "the energy in springs", "contact": "the energy in closed contacts"}  # fmt: skip
TRIAL = 0.0117  # of a parameter, or of 1: by so much it is changed to see what depends on it


@dataclass(frozen=True)
class Input:
    """A parameter that may change between steps."""

    parameter: Parameter
    places: tuple[int, ...]  # in p, where the value itself stands
    # What is computed of it: numbers by their places, each with its expression; entries of p, and the code that gives them
    numbers: tuple[tuple[int, Expression], ...]
    computed: NDArray[np.int64]
    code: MachineCode | None
    timed: bool  # a formula of time depends on it

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest value that it may have."""
        low, high = self.parameter.low, self.parameter.high
        return -sys.float_info.max if low is None else low, sys.float_info.max if high is None else high

    def checked(self, value: float) -> float:
        """A value that it may be set to; what is plainly one is not looked at closely."""
        low, high = self.bounds
        return value if type(value) is float and low <= value <= high else self.parameter.check(value)


def with_inputs_apart(system: System, compiled: Compiled, names: Sequence[str]) -> tuple[Compiled, NDArray[np.int64]]:
    """The same mechanism, compiled so that no input is taken for a special number: 0, 1, -1, or one that is equal to another.

    Then which of all numbers of the System its code reads.
    """
    from pliant.run.theta import lowered_at, structure_aside
    from pliant.trace.lowering import every_number

    traced = compiled.traced
    known, values = SystemMemory.of(system, traced.original), dict(traced.parameter_values)
    here = replace(lowered_at(known, traced, values), original=traced.original)
    every = every_number(here.root)
    structure, places = structure_aside(known, compiled, names, values)
    if structure is compiled.structure:
        return compiled, every.places
    numbers = np.concatenate([list(values.values()), every.values[places]])
    constants = structure.traced.preparation.constants(numbers)
    if constants is None:  # what Python's `if` asks comes out otherwise there
        return compiled, every.places
    return Compiled(structure.traced.for_numbers(here, constants), structure, compiled.seconds), places


def parameters_of_efforts(system: System) -> list[str]:
    """Names of the parameters that drives and loads depend on: likely inputs."""
    search = Search()
    for part in (*system.drives.values(), *system.loads.values()):
        search.visit(part)
    return list(dict.fromkeys(parameter.name for parameter in search.parameters))


class Inputs:
    """The parameters of one run: their values, and which of them may be set between steps."""

    def __init__(self, system: System, compiled: Compiled, places: NDArray[np.int64]) -> None:
        """places: of the numbers that the code reads, among all numbers of the System."""
        self._compiled, self._traced, self._places = compiled, compiled.traced, places
        self._known = SystemMemory.of(system, compiled.traced.original)
        self.parameters = compiled.traced.original.parameters
        self.values = dict(compiled.traced.parameter_values)
        self._first = self._traced.layout.p["constants"].start
        self._admitted: dict[str, Input] = {}

    def admitted(self, name: str) -> Input:
        """What setting a parameter takes; refuses one that is no input."""
        known = self._admitted.get(name)
        if known is None:
            if name not in self.parameters:
                checked_values(self.parameters, {name: 0.0})  # refuses the name, and tells the nearest
            known = self._admitted[name] = self._admit(self.parameters[name])
        return known

    def put(self, name: str, value: float, p: Floats) -> bool:
        """Set an input; whether formulas of time change with it."""
        known = self.admitted(name)
        self.values[name] = value
        for place in known.places:
            p[place] = value
        if known.code is not None:
            self._note(name, known)
            p[known.computed] = known.code(0.0, np.empty(0), self._numbers)
        return known.timed

    def places(self, names: Iterable[str]) -> NDArray[np.int64]:
        """In p, of all that these inputs set."""
        known = [self.admitted(name) for name in names]
        return np.array(sorted({k for each in known for k in (*each.places, *each.computed.tolist())}), dtype=np.int64)

    def take(self, values: Mapping[str, float]) -> None:
        """Inputs have these values, and stand in p already."""
        self.values.update(values)
        for name in self._admitted:
            known = self._admitted[name]
            if known.code is not None:
                self._note(name, known)

    def _note(self, name: str, known: Input) -> None:
        """Write an input's value into the numbers that others are computed from."""
        self._numbers[list(self.values).index(name)] = self.values[name]
        for place, expression in known.numbers:
            self._numbers[place] = evaluated(expression, self.values)

    # ---- what depends on a parameter

    @cached_property
    def _here(self) -> LoweredSystem:
        return self._lowered({})

    def _lowered(self, changed: Mapping[str, float]) -> LoweredSystem:
        from pliant.run.theta import lowered_at

        return lowered_at(self._known, self._traced, {**self._traced.parameter_values, **changed})

    @cached_property
    def _every(self) -> EveryNumber:
        """All numbers of the System as it is."""
        from pliant.trace.lowering import every_number

        return every_number(self._here.root)

    @cached_property
    def _numbers(self) -> Floats:
        """What the code was prepared with: parameters, then numbers of the model."""
        return np.concatenate([list(self._traced.parameter_values.values()), self._every.values[self._places]])

    @cached_property
    def _expressions(self) -> Mapping[int, Expression]:
        """Of numbers that parts hold as expressions of parameters, by their places in what the code was prepared with."""
        from pliant.trace.lowering import every_number, expressions_of

        if not every_number(self._traced.original).is_like(every_number(self._here.system)):
            return {}  # another formulation has other parts
        held, places = expressions_of(self._traced.original), self._places
        return {len(self.values) + k: held[place] for k, place in enumerate(places.tolist()) if place in held}

    def _admit(self, parameter: Parameter) -> Input:
        changed = self._changed_numbers(parameter)
        own = list(self.values).index(parameter.name)
        expressions = self._expressions_of(parameter, changed)
        program, count = self._traced.preparation.program, self._traced.preparation.count
        reached = reached_outputs(program, {own, *changed})
        if any(k >= count for k in reached):
            _refuse(parameter, "Python's `if` in a formula or a law asks for")
        entries = [k for k in reached if k < count]
        timed = self._check_reach(parameter, {self._first + k for k in entries})
        leaves = self._leaves(program, entries, own, expressions, parameter)
        computed = [k for k in entries if k not in leaves]
        code = None
        if computed:
            from pliant.codegen.llvm import compile_function

            part = replace(program, outputs=[program.outputs[k] for k in computed])
            code = compile_function(part, cache=self._compiled.structure.cache, largest=0)
        return Input(
            parameter,
            tuple(self._first + k for k in entries if k in leaves),
            tuple(expressions.items()),
            np.array([self._first + k for k in computed], dtype=np.int64),
            code,
            timed,
        )

    def _leaves(
        self, program: Program, entries: Iterable[int], own: int, expressions: Mapping[int, Expression], parameter: Parameter
    ) -> set[int]:
        """Constants that are the value itself."""
        from pliant.codegen.program import PARAMETER

        itself = {own, *(place for place, expression in expressions.items() if isinstance(expression, Parameter))}
        return {k for k in entries if program.kind[value := program.outputs[k]] == PARAMETER and program.a[value] in itself}

    def _changed_numbers(self, parameter: Parameter) -> list[int]:
        """Places of numbers that change with it; it must change nothing that is no number of the equations."""
        from pliant.run.contact_phases import pair_numbers
        from pliant.trace.lowering import every_number

        lowered = self._moved(parameter)
        every, places = self._every, self._places
        there = every_number(lowered.root)
        if not every.is_like(there):
            _refuse(parameter, "the structure of the mechanism depends on")
        if not (np.array_equal(lowered.start.q, self._here.start.q) and np.array_equal(lowered.start.v, self._here.start.v)):
            _refuse(parameter, "the start depends on")
        if lowered.breakpoints != self._here.breakpoints or [s.__dict__ for s in lowered.signals] != [
            s.__dict__ for s in self._here.signals
        ]:
            _refuse(parameter, "a table, whose points are read before the run, depends on")
        other = self._traced.for_numbers(lowered, np.zeros(self._traced.preparation.count))
        if not np.array_equal(pair_numbers(other), pair_numbers(self._traced), equal_nan=True):
            _refuse(parameter, "how contacts are judged depends on")
        differ = there.values != every.values
        pairs = {(every.values[place], there.values[place]) for place in places.tolist() if differ[place]}
        for place in np.flatnonzero(differ).tolist():
            if (every.values[place], there.values[place]) not in pairs:  # nor is it equal to another of its part
                _refuse(parameter, "equations that leave 0, 1 and -1 out were made for the present value of")
        return [len(self.values) + k for k, place in enumerate(places.tolist()) if differ[place]]

    def _moved(self, parameter: Parameter) -> LoweredSystem:
        """The System where this parameter is a little off."""
        here = self._traced.parameter_values[parameter.name]
        for side in (1.0, -1.0):
            try:
                there = parameter.check(here + side * TRIAL * (abs(here) or 1.0))
                return self._lowered({parameter.name: there})
            except (ModelError, SolveError):
                continue
        _refuse(parameter, "there is no such mechanism for other values of")

    def _expressions_of(self, parameter: Parameter, changed: Collection[int]) -> dict[int, Expression]:
        """How the numbers that change follow from parameters; where nobody can tell, parts are computed from it."""
        found: dict[int, Expression] = {}
        for place in changed:
            if place in self._expressions:
                found[place] = self._expressions[place]
            elif self._numbers[place] == self.values[parameter.name]:
                found[place] = parameter
            else:
                _refuse(parameter, "bodies, joints or beams are computed from")
        return found

    def _check_reach(self, parameter: Parameter, entries: set[int]) -> bool:
        """Refuse a parameter that energies, places or loops depend on; whether formulas of time do."""
        traced = self._traced
        observed = reached_outputs(traced.functions["observe"].program(), entries)
        for name, words in {**ENERGIES, **PLACES}.items():
            place = traced.layout.observed[name]
            if any(place.start <= k < place.stop for k in observed):
                _refuse(parameter, f"{words} depends on")
        for name in ("project", "implied"):
            if name in traced.functions and reached_outputs(traced.functions[name].program(), entries):
                _refuse(parameter, "how loops close depends on")
        return traced.timed is not None and bool(reached_outputs(traced.timed.program(), entries))


def _refuse(parameter: Parameter, what: str) -> NoReturn:
    """what: a part of a sentence that the parameter's name follows."""
    rule = f"must be parameters that forces alone depend on, but {what} {parameter.name!r}: start a new run with another value"
    raise ModelError.of("step", "inputs", rule, parameter.name)


def reached_outputs(program: Program, entries: Collection[int]) -> list[int]:
    """Outputs of a program that depend on these entries of p."""
    from pliant.codegen.program import PARAMETER

    reached = bytearray(len(program.kind))
    for value, kind in enumerate(program.kind):
        if kind == PARAMETER:
            reached[value] = program.a[value] in entries
        elif kind >= 0:
            reached[value] = any(reached[argument] for argument in program.arguments(value))
    return [k for k, value in enumerate(program.outputs) if reached[value]]


assert set(HELD) == set(ENERGIES)
