"""A function of a trace: its program for machine code, and the same as a CasADi function for whoever asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from pliant.codegen.program import Program, read_program, write_program
from pliant.codegen.tracer import Scalar, Tracer


@dataclass(frozen=True)
class TracedFunction:
    """out(t, y, p) over a tracer's graph."""

    name: str
    tracer: Tracer
    inputs: Sequence[ca.SX]  # t, y, p: columns of symbols
    outputs: Sequence[Scalar]

    def program(self) -> Program:
        nodes = [self.tracer.node_of(x) for x in self.outputs]
        if not self.tracer.knows_all(nodes):
            return read_program(self.casadi)
        places = [[self.tracer.number_of(symbol) for symbol in column.nonzeros()] for column in self.inputs]
        return write_program(self.name, self.tracer, places, nodes)

    @cached_property
    def casadi(self) -> ca.Function:
        """All operations in one graph: for derivatives, export, other tools. Made when asked for."""
        column = self.tracer.column(self.outputs)
        return ca.Function(self.name, list(self.inputs), [column], ["t", "y", "p"], ["out"])
