"""A traced function: its program for machine code, and on demand the same as a CasADi function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
    constants: Sequence[int] = ()  # nodes of the Numbers that are appended to p; all others are folded in
    guards: Sequence[int] = ()  # entries of p; while one is zero, values that vanish with it need not be computed
    series: Sequence[int] = ()  # entries of p where the pieces of series go; see series.py

    def program(self) -> Program:
        return replace(self._unguarded_program(), guards=tuple(self.guards), series=tuple(self.series))

    def _unguarded_program(self) -> Program:
        nodes = [self.tracer.node_of(x) for x in self.outputs]
        if not self.tracer.knows_all(nodes):
            return read_program(self.casadi)
        t, y, p = ([self.tracer.number_of(symbol) for symbol in column.nonzeros()] for column in self.inputs)
        return write_program(self.name, self.tracer, [t, y, [*p, *self.constants]], nodes)

    @cached_property
    def casadi(self) -> ca.Function:
        """The function as one CasADi graph, for derivatives, export and other tools; built on demand."""
        (t, y, p), column = self.inputs, self.tracer.column(self.outputs)
        p = ca.vertcat(p, *(self.tracer.sx_of(node) for node in self.constants))
        if self.tracer.numbers and not self.constants:
            column = self._folded(column)
        return ca.Function(self.name, [t, y, p], [column], ["t", "y", "p"], ["out"])

    @property
    def folded(self) -> TracedFunction:
        """The same function with the current values of its Numbers folded in as constants."""
        return replace(self, constants=())

    def _folded(self, column: ca.SX) -> ca.SX:
        nodes = self.tracer.numbers
        values = [self.tracer.values[node].value for node in nodes]  # type: ignore[union-attr]
        return ca.substitute(column, ca.vertcat(*(self.tracer.sx_of(node) for node in nodes)), ca.DM(values))
