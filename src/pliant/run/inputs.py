"""Inputs of a stepped run: parameters that may change between two steps, and the places of their numbers in p.

A parameter can be an input only if nothing but forces depends on it: efforts of drives, loads, their formulas, dampers, friction.
Stored energies, the start, the closing of loops and the code must not depend on it, or energy would appear from nowhere.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from pliant.arrays import Floats, Ints
from pliant.errors import ModelError, SolveError
from pliant.model.parameter import Expression, Parameter, evaluated
from pliant.model.resolve import Search, checked_values
from pliant.model.system import System
from pliant.run.admission import TRIAL, known_before, reached_outputs, reached_places
from pliant.run.prepare import Compiled
from pliant.run.system_memory import SystemMemory

if TYPE_CHECKING:
    from pliant.codegen.llvm import MachineCode
    from pliant.codegen.program import Program
    from pliant.trace.lowered_system import LoweredSystem
    from pliant.trace.lowering import EveryNumber


@dataclass(frozen=True)
class Input:
    """A parameter that may change between steps."""

    parameter: Parameter
    places: tuple[int, ...]  # in p, of the value itself
    # What is computed from it: numbers by their places, each with its expression; entries of p, and the code that computes them
    numbers: tuple[tuple[int, Expression], ...]
    computed: Ints
    code: MachineCode | None
    timed: bool  # whether a formula of time depends on it

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest value that it may have."""
        low, high = self.parameter.low, self.parameter.high
        return -sys.float_info.max if low is None else low, sys.float_info.max if high is None else high

    def checked(self, value: float) -> float:
        """The value, checked to be finite and within the bounds; an ordinary float within them takes a short cut."""
        low, high = self.bounds
        return value if type(value) is float and low <= value <= high else self.parameter.check(value)


def with_inputs_apart(system: System, compiled: Compiled, names: Sequence[str]) -> tuple[Compiled, Ints]:
    """The same mechanism, compiled so that no input is treated as a special number: 0, 1, -1, or equal to another number.

    Also returns which of all numbers of the System the code reads.
    """
    from pliant.run.theta import structure_aside
    from pliant.trace.lowering import every_number

    traced = compiled.traced
    known, values = SystemMemory.of(system, traced.original), dict(traced.parameter_values)
    here = replace(known.lowered(traced, values), original=traced.original)
    every = every_number(here.root)
    structure, places = structure_aside(known, compiled, names, values)
    if structure is compiled.structure:
        return compiled, every.places
    numbers = np.concatenate([list(values.values()), every.values[places]])
    constants = structure.traced.preparation.constants(numbers)
    if constants is None:  # a Python `if` takes the other branch there
        return compiled, every.places
    return Compiled(structure.traced.for_numbers(here, constants), structure, compiled.seconds), places


def parameters_of_efforts(system: System) -> list[str]:
    """Names of the parameters on which drives and loads depend: the likely inputs."""
    search = Search()
    for part in (*system.drives.values(), *system.loads.values()):
        search.visit(part)
    return list(dict.fromkeys(parameter.name for parameter in search.parameters))


class Inputs:
    """The parameters of one run: their values, and which of them may be set between steps."""

    def __init__(
        self,
        system: System,
        compiled: Compiled,
        places: Ints,
        caller: str = "step",
        instead: str = "start a new run with another value",
    ) -> None:
        """places: the places of the numbers that the code reads, among all numbers of the System. instead: what to do with a
        parameter that is refused."""
        self._caller, self._instead = caller, instead
        self._compiled, self._traced, self._places = compiled, compiled.traced, places
        self._known = SystemMemory.of(system, compiled.traced.original)
        self.parameters = compiled.traced.original.parameters
        self.values = dict(compiled.traced.parameter_values)
        self._first = self._traced.layout.p["constants"].start
        self._admitted: dict[str, Input] = {}

    def admitted(self, name: str) -> Input:
        """The input of this name; a parameter that cannot be an input is refused."""
        known = self._admitted.get(name)
        if known is None:
            if name not in self.parameters:
                checked_values(self.parameters, {name: 0.0})  # refuses the name and suggests the nearest
            known = self._admitted[name] = self._admit(self.parameters[name])
        return known

    def put(self, name: str, value: float, p: Floats) -> bool:
        """Set an input in p. Returns whether formulas of time change with it."""
        known = self.admitted(name)
        self.values[name] = value
        for place in known.places:
            p[place] = value
        if known.code is not None:
            self._note(name, known)
            p[known.computed] = known.code(0.0, np.empty(0), self.numbers)
        return known.timed

    def places(self, names: Iterable[str]) -> Ints:
        """The places in p that these inputs set."""
        known = [self.admitted(name) for name in names]
        return np.array(sorted({k for each in known for k in (*each.places, *each.computed.tolist())}), dtype=np.int64)

    def take(self, values: Mapping[str, float]) -> None:
        """Note the values of inputs that are already in p."""
        self.values.update(values)
        for name in self._admitted:
            known = self._admitted[name]
            if known.code is not None:
                self._note(name, known)

    def _note(self, name: str, known: Input) -> None:
        """Write an input's value into the numbers from which others are computed."""
        self.numbers[list(self.values).index(name)] = self.values[name]
        for place, expression in known.numbers:
            self.numbers[place] = evaluated(expression, self.values)

    # ---- what depends on a parameter

    @cached_property
    def _here(self) -> LoweredSystem:
        return self._lowered({})

    def _lowered(self, changed: Mapping[str, float]) -> LoweredSystem:
        return self._known.lowered(self._traced, {**self._traced.parameter_values, **changed})

    @cached_property
    def _every(self) -> EveryNumber:
        """All numbers of the System at the present values."""
        from pliant.trace.lowering import every_number

        return every_number(self._here.root)

    @cached_property
    def numbers(self) -> Floats:
        """The numbers with which the code was prepared: parameters, then numbers of the model."""
        return np.concatenate([list(self._traced.parameter_values.values()), self._every.values[self._places]])

    @cached_property
    def _expressions(self) -> Mapping[int, Expression]:
        """The expressions of numbers that depend on parameters, by their places among the numbers of the code."""
        from pliant.trace.lowering import every_number, expressions_of

        if not every_number(self._traced.original).is_like(every_number(self._here.system)):
            return {}  # this formulation has other parts
        held, places = expressions_of(self._traced.original), self._places
        return {len(self.values) + k: held[place] for k, place in enumerate(places.tolist()) if place in held}

    def _admit(self, parameter: Parameter) -> Input:
        changed = self._changed_numbers(parameter)
        own = list(self.values).index(parameter.name)
        expressions = self._expressions_of(parameter, changed)
        program, count = self._traced.preparation.program, self._traced.preparation.count
        reached = reached_outputs(program, {own, *changed})
        if any(k >= count for k in reached):
            self._refuse(parameter, "a Python `if` in a formula or a law depends on")
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
        """The constants that are the value itself."""
        from pliant.codegen.program import PARAMETER

        itself = {own, *(place for place, expression in expressions.items() if isinstance(expression, Parameter))}
        return {k for k in entries if program.kind[value := program.outputs[k]] == PARAMETER and program.a[value] in itself}

    def _changed_numbers(self, parameter: Parameter) -> list[int]:
        """The places of the numbers that change with it; anything else that changes with it is refused."""
        from pliant.trace.lowering import every_number

        lowered = self._moved(parameter)
        every, places = self._every, self._places
        there = every_number(lowered.root)
        if not every.is_like(there):
            self._refuse(parameter, "the structure of the mechanism depends on")
        what = known_before(self._traced, self._here, lowered)
        if what:
            self._refuse(parameter, what)
        differ = there.values != every.values
        pairs = {(every.values[place], there.values[place]) for place in places.tolist() if differ[place]}
        for place in np.flatnonzero(differ).tolist():
            if (every.values[place], there.values[place]) not in pairs:  # nor equal to another number of its part
                self._refuse(
                    parameter, "the equations, which are simplified for 0, 1 and -1, were derived for the present value of"
                )
        return [len(self.values) + k for k, place in enumerate(places.tolist()) if differ[place]]

    def _moved(self, parameter: Parameter) -> LoweredSystem:
        """The System with a small change of this parameter."""
        here = self._traced.parameter_values[parameter.name]
        for side in (1.0, -1.0):
            try:
                there = parameter.check(here + side * TRIAL * (abs(here) or 1.0))
                return self._lowered({parameter.name: there})
            except (ModelError, SolveError):
                continue
        self._refuse(parameter, "the mechanism does not exist for other values of")

    def _expressions_of(self, parameter: Parameter, changed: Collection[int]) -> dict[int, Expression]:
        """The expressions of the numbers that change; a number without an expression means that parts are computed from it."""
        found: dict[int, Expression] = {}
        for place in changed:
            if place in self._expressions:
                found[place] = self._expressions[place]
            elif self.numbers[place] == self.values[parameter.name]:
                found[place] = parameter
            else:
                self._refuse(parameter, "bodies, joints or beams are computed from")
        return found

    def _check_reach(self, parameter: Parameter, entries: set[int]) -> bool:
        """Refuse a parameter on which energies, positions or loops depend. Returns whether formulas of time depend on it."""
        traced = self._traced
        for what in reached_places(traced, entries):
            self._refuse(parameter, f"{what} depends on")
        return traced.timed is not None and bool(reached_outputs(traced.timed.program, entries))

    def _refuse(self, parameter: Parameter, what: str) -> NoReturn:
        """Refuse a parameter as an input. what: a clause that the parameter's name completes."""
        rule = f"must be parameters on which only forces depend, but {what} {parameter.name!r} ({self._instead})"
        raise ModelError.of(self._caller, "inputs", rule, parameter.name)
