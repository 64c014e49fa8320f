"""The tracer: a graph in the making, with CasADi beside it for derivatives, substitutions and functions that users ask for.

CasADi's expressions are built from the graph where they are needed, and what CasADi makes of them becomes nodes again.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import casadi as ca

from pliant.compile.graph import CONSTANT, NONE, SYMBOL, Graph, Scalar, Traced

__all__ = ["Scalar", "Traced", "Tracer"]

Element = Any  # one entry of an SX: SX or SXElem, as CasADi's own types have it


class Tracer(Graph):
    """One graph in the making."""

    def __init__(self) -> None:
        super().__init__()
        self._sx: dict[int, ca.SX] = {}  # CasADi's twins of nodes, where it was asked for them
        self._twins: dict[int, Scalar] = {}  # the way back, by CasADi's own identity of an element
        self._kept: list[ca.SX] = []  # elements alive, so that their identities go to no others

    def symbols(self, name: str, count: int) -> tuple[ca.SX, list[Traced]]:
        """A column of fresh symbols, as CasADi sees it and as scalars."""
        column = ca.SX.sym(name, count)
        return column, [self._symbol(element) for element in column.nonzeros()]

    def column(self, scalars: Iterable[Scalar]) -> ca.SX:
        """Scalars as one dense CasADi column."""
        entries = [self.sx(s) for s in scalars]
        return ca.densify(ca.vertcat(*entries)) if entries else ca.SX.zeros(0, 1)

    def scalars(self, column: ca.SX) -> list[Scalar]:
        """The entries of a dense CasADi column; constants come back as floats."""
        return [self._wrap(element) for element in column.nonzeros()]

    def sx(self, value: Scalar) -> ca.SX:
        """CasADi's twin of a scalar."""
        number = self.node_of(value)
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
        entries = self.scalars(matrix)  # CasADi counts down the columns
        return [[entries[j * rows + i] for j in range(columns)] for i in range(rows)]

    def sparse_jacobian(self, scalars: Sequence[Scalar], at: ca.SX) -> list[dict[int, Scalar]]:
        """Rows of the Jacobian, each {column: entry} of what is not zero by structure."""
        matrix = ca.jacobian(self.column(scalars), at)
        rows: list[dict[int, Scalar]] = [{} for _ in scalars]
        for i, j, element in zip(*matrix.sparsity().get_triplet(), matrix.nonzeros(), strict=True):
            if not element.is_zero():
                rows[i][j] = self._wrap(element)
        return rows

    def substitute(self, scalars: Sequence[Scalar], old: ca.SX, new: ca.SX) -> list[Scalar]:
        return self.scalars(ca.densify(ca.substitute(self.column(scalars), old, new)))

    def number_of(self, element: Element) -> int:
        """The number of the node of a CasADi element."""
        return self.node_of(self._wrap(element))

    def name_of(self, node: int) -> str:
        return str(self.sx(self._nodes[node]))

    def _symbol(self, element: Element) -> Traced:
        made = self._append(SYMBOL, NONE, NONE)
        self._pair(made.number, element, made)
        return made

    def _pair(self, number: int, element: Element, scalar: Scalar) -> None:
        """Remember a node and its twin; kept alive here, the twin's identity goes to no other element."""
        self._sx[number] = element
        self._twins.setdefault(element.element_hash(), scalar)

    def _make_twin(self, node: int) -> None:
        kind, a, b = self.kind[node], self.a[node], self.b[node]
        if kind == CONSTANT:
            self._sx[node] = ca.SX(self.values[node])
        elif b == NONE:
            self._pair(node, ca.SX.unary(kind, self._sx[a]), self._nodes[node])
        else:
            self._pair(node, ca.SX.binary(kind, self._sx[a], self._sx[b]), self._nodes[node])

    def _wrap(self, element: Element) -> Scalar:
        """The scalar of a CasADi element; what CasADi made by itself becomes nodes."""
        waiting = [element]
        while True:
            top = waiting[-1]
            known = self._twin(top)
            if known is None:
                parts = [top.dep(k) for k in range(top.n_dep())]
                arguments = [self._twin(part) for part in parts]
                missing = [part for part, twin in zip(parts, arguments, strict=True) if twin is None]
                if missing:
                    waiting += missing
                    continue
                known = self._operation(top.op(), arguments)
                self._twins[top.element_hash()] = known
                self._kept.append(top)
            waiting.pop()
            if not waiting:
                return known

    def _twin(self, element: Element) -> Scalar | None:
        known = self._twins.get(element.element_hash())
        if known is None:
            if element.is_constant():
                return float(element)
            if element.is_symbolic():
                return self._symbol(element)
        return known

    def _operation(self, code: int, arguments: Sequence[Scalar]) -> Scalar:
        """What CasADi made by itself, made here."""
        if not any(isinstance(x, Traced) for x in arguments):
            numbers = [ca.SX(x) for x in arguments]
            return float(ca.SX.unary(code, *numbers) if len(numbers) == 1 else ca.SX.binary(code, *numbers))
        if code in _ARITHMETIC:
            return _ARITHMETIC[code](*arguments)
        return self.unary(code, *arguments) if len(arguments) == 1 else self.binary(code, *arguments)


_ARITHMETIC: dict[int, Callable[..., Scalar]] = {
    ca.OP_ADD: operator.add, ca.OP_SUB: operator.sub, ca.OP_MUL: operator.mul, ca.OP_DIV: operator.truediv, ca.OP_NEG: operator.neg,
    ca.OP_INV: lambda x: 1.0 / x, ca.OP_POW: operator.pow, ca.OP_CONSTPOW: operator.pow,
}  # fmt: skip
