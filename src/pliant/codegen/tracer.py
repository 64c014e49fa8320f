"""The tracer: builds a graph, and uses CasADi for derivatives, substitutions and functions that users request.

CasADi expressions are built from the graph when they are needed; expressions that CasADi derives from them become leaves of the
graph.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import casadi as ca

from pliant.codegen.graph import CONSTANT, FOREIGN, NONE, SYMBOL, Graph, Scalar, TracedScalar
from pliant.codegen.nonsmooth import CORNER, EDGES, JUMP
from pliant.codegen.numbers import Number
from pliant.codegen.operations import CONVERGED

__all__ = ["Scalar", "TracedScalar", "Tracer"]

Element = Any  # one entry of an SX: SX or SXElem, depending on CasADi's type stubs


class Tracer(Graph):
    """Builds one graph."""

    def __init__(self) -> None:
        super().__init__()
        self._sx: dict[int, ca.SX] = {}  # CasADi elements of nodes, built on demand
        self._twins: dict[int, TracedScalar] = {}  # the inverse map, by CasADi's identity of an element
        self._has_foreign = False

    def symbols(self, name: str, count: int) -> tuple[ca.SX, list[TracedScalar]]:
        """A column of new symbols, as a CasADi column and as scalars."""
        column = ca.SX.sym(name, count)
        return column, [self._wrap(element) for element in _elements(column)]

    def column(self, scalars: Iterable[Scalar]) -> ca.SX:
        """Scalars as one dense CasADi column."""
        entries = [self.sx(s) for s in scalars]
        return ca.densify(ca.vertcat(*entries)) if entries else ca.SX.zeros(0, 1)

    def scalars(self, column: ca.SX) -> list[Scalar]:
        """The entries of a dense CasADi column; constants come back as floats."""
        return [self._wrap(element) for element in _elements(column)]

    def sx(self, value: Scalar) -> ca.SX:
        """The CasADi element of a scalar."""
        return self.sx_of(self.node_of(value))

    def sx_of(self, number: int) -> ca.SX:
        """The CasADi element of a node."""
        waiting = [number]
        while waiting:
            node = waiting[-1]
            if node in self._sx:
                waiting.pop()
                continue
            missing = [x for x in self.arguments(node) if x not in self._sx]
            if missing:
                waiting += missing
            else:
                self._make_twin(waiting.pop())
        return self._sx[number]

    def directional(self, scalars: Sequence[Scalar], at: ca.SX, along: ca.SX) -> list[Scalar]:
        """d scalars / d at . along, exactly."""
        return self.scalars(ca.densify(ca.jtimes(self.column(scalars), at, along)))

    def gradient(self, scalar: Scalar, at: ca.SX) -> list[Scalar]:
        return self.scalars(ca.densify(ca.gradient(self.sx(scalar), at)))

    def jacobian(self, scalars: Sequence[Scalar], at: ca.SX) -> list[list[Scalar]]:
        matrix = ca.densify(ca.jacobian(self.column(scalars), at))
        rows, columns = matrix.shape
        entries = self.scalars(matrix)  # CasADi stores matrices column by column
        return [[entries[j * rows + i] for j in range(columns)] for i in range(rows)]

    def sparse_jacobian(self, scalars: Sequence[Scalar], at: ca.SX) -> list[dict[int, Scalar]]:
        """Rows of the Jacobian, each as {column: entry} of its structural nonzeros."""
        matrix = ca.jacobian(self.column(scalars), at)
        rows: list[dict[int, Scalar]] = [{} for _ in scalars]
        for i, j, element in zip(*matrix.sparsity().get_triplet(), _elements(matrix), strict=True):
            if not element.is_zero():
                rows[i][j] = self._wrap(element)
        return rows

    def substitute(self, scalars: Sequence[Scalar], old: ca.SX, new: ca.SX) -> list[Scalar]:
        return self.scalars(ca.densify(ca.substitute(self.column(scalars), old, new)))

    def number_of(self, element: Element) -> int:
        """The number of the node of a CasADi element."""
        return self.node_of(self._wrap(element))

    def edges_in(self, x: Scalar, symbols: Collection[int]) -> list[str]:
        """Names of the operations in x, over these symbols, at which its value jumps or has a corner; not of hypot and atan2, whose
        edges are single points and turns."""
        nodes = [node for node in sorted(self.nodes_below(self.node_of(x))) if self.kind[node] in EDGES]
        sharp = [node for node in nodes if EDGES[self.kind[node]].what in (JUMP, CORNER)]
        sharp = [node for node in sharp if self.kind[node] not in (ca.OP_HYPOT, ca.OP_ATAN2)]
        moving = [node for node in sharp if not self.symbols_in(self._nodes[node]).isdisjoint(symbols)]
        return list(dict.fromkeys(EDGES[self.kind[node]].name for node in moving))

    def symbols_in(self, x: Scalar) -> set[int]:
        """The nodes of all symbols that x is computed from."""
        found = set[int]()
        for node in self.nodes_below(self.node_of(x)):
            if self.kind[node] == SYMBOL:
                found.add(node)
            elif self.kind[node] == FOREIGN:
                found |= {self.number_of(symbol) for symbol in ca.symvar(self._sx[node])} - self.values.keys()
        return found

    def knows_all(self, nodes: Iterable[int]) -> bool:
        """Whether the graph holds these nodes completely, with no part known only to CasADi."""
        if not self._has_foreign:
            return True
        seen = bytearray(len(self.kind))
        waiting = list(nodes)
        while waiting:
            node = waiting.pop()
            if self.kind[node] == FOREIGN:
                return False
            if not seen[node]:
                seen[node] = 1
                waiting += self.arguments(node)
        return True

    def name_of(self, node: int) -> str:
        return str(self.sx(self._nodes[node]))

    def _pair(self, number: int, element: Element, node: TracedScalar) -> None:
        """Remember a node and its CasADi element; the element is kept alive so that its identity is not reused."""
        self._sx[number] = element
        self._twins.setdefault(element.element_hash(), node)

    def _make_twin(self, node: int) -> None:
        kind, a, b = self.kind[node], self.a[node], self.b[node]
        if kind == CONSTANT:
            self._make_constant(node)
        elif kind == CONVERGED:
            self._sx[node] = self._sx[a]  # CasADi derives through the search
        elif b == NONE:
            self._pair(node, ca.SX.unary(kind, self._sx[a]), self._nodes[node])
        else:
            self._pair(node, ca.SX.binary(kind, self._sx[a], self._sx[b]), self._nodes[node])

    def _make_constant(self, node: int) -> None:
        value = self.values[node]
        if type(value) is Number:
            self._pair(node, ca.SX.sym(f"constant{node}"), self._nodes[node])
        else:
            self._sx[node] = ca.SX(value)

    def _wrap(self, element: Element) -> Scalar:
        """The scalar of a CasADi element: a float, a known node, or a new leaf for an expression derived by CasADi."""
        if element.is_constant():
            return float(element)
        known = self._twins.get(element.element_hash())
        if known is not None and known.number in self.values:
            return self.values[known.number]
        if known is None:
            kind = SYMBOL if element.is_symbolic() else FOREIGN
            self._has_foreign |= kind == FOREIGN
            known = self._append(kind, NONE, NONE)
            self._pair(known.number, element, known)
        return known


def _elements(matrix: ca.SX) -> list[Element]:
    """The structural nonzeros of a CasADi matrix, column by column; much faster than indexing them one at a time."""
    return list(matrix.nonzeros())
