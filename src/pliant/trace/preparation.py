"""prepare(numbers) -> constants: the values that a trace computes from numbers alone, and whether the trace is valid for them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from pliant.arrays import Floats
from pliant.codegen.llvm import MachineCode, compile_function
from pliant.codegen.numbers import Numbers
from pliant.codegen.program import Program, write_program
from pliant.codegen.tracer import Tracer

SAME = 1e-14  # relative tolerance of a value that a trace depends on: machine code may round a quotient differently from Python


@dataclass(frozen=True, eq=False)
class Preparation:
    """The constants of a trace as a function of its numbers, and the outcomes of Python's `if` on which the trace depends."""

    program: Program
    count: int  # number of constants: the remaining outputs are guards
    answers: Floats  # required values of the guards
    own: Floats  # the numbers that were traced: valid for them even where a test of round-off turns out otherwise in machine code
    cache: Path | None

    @classmethod
    def of(cls, numbers: Numbers, tracer: Tracer, cache: Path | None) -> Preparation:
        leaves = [leaf.node.number for leaf in numbers.leaves]
        constants = [tracer.values[node].node.number for node in tracer.numbers]  # type: ignore[union-attr]
        guards = {numbers.graph.node_of(scalar): answer for scalar, answer in numbers.guards}
        program = write_program("prepare", numbers.graph, [[], [], leaves], [*constants, *guards])
        own = np.array([leaf.value for leaf in numbers.leaves])
        return cls(program, len(constants), np.array(list(guards.values())), own, cache)

    @cached_property
    def code(self) -> MachineCode:
        return compile_function(self.program, cache=self.cache, largest=0)

    def constants(self, numbers: Floats) -> Floats | None:
        """The constants for these numbers; None if the trace is not valid for them."""
        out = self.code(0.0, np.empty(0), numbers)
        given = out[self.count :]
        same = np.array_equal(given, self.answers) or np.allclose(given, self.answers, rtol=SAME, atol=0.0)
        if not (same or np.array_equal(numbers, self.own)):
            return None
        return out[: self.count]
