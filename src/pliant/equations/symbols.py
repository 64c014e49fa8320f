"""The user's parameters as symbols: a System in which every number given by parameters becomes an expression of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import casadi as ca

from pliant.codegen.numbers import Number, Numbers
from pliant.codegen.tracer import Scalar, Tracer
from pliant.model.beam import Beam
from pliant.model.modal import ModalBody
from pliant.model.parameter import Expression, expression_of
from pliant.model.walk import Copying
from pliant.trace.lowering import equation_fields


class Symbols:
    """The named numbers of the equations, each a symbol with a value, and the expressions of them in the parts."""

    def __init__(self, parameters: Mapping[str, float]) -> None:
        self.values: dict[str, float] = {}
        self.computed: dict[str, tuple[str, ...]] = {}  # names of beam numbers, and the parameters on which each depends
        self._graph = Tracer()
        self._numbers = _GenericNumbers(self._graph)
        self._columns: dict[str, ca.SX] = {}
        self._evaluated: dict[Hashable, Scalar] = {}
        self._expressions: dict[int, Expression] = {}  # by the identity of a scalar that `_evaluated` keeps
        self.parameters: dict[str, Scalar] = {name: self.symbol(name, value) for name, value in parameters.items()}

    def symbol(self, name: str, value: float, computed_from: tuple[str, ...] = ()) -> Number:
        """A new named number: a parameter, or one computed from parameters."""
        if computed_from:
            self.computed[name] = computed_from
        column, (node,) = self._graph.symbols(name, 1)
        self._columns[name], self.values[name] = column, float(value)
        return Number(self._numbers, float(value), node)

    def of(self, x: Any) -> Scalar:
        """A number as an expression of the symbols; a number without parameters stays as it is."""
        expression = expression_of(x)
        if expression is None:
            return x
        key = expression.own_key()
        if key not in self._evaluated:
            self._evaluated[key] = expression.evaluate(self.parameters)
            self._expressions[id(self._evaluated[key])] = expression
        return self._evaluated[key]

    def expression(self, x: Scalar) -> Expression | None:
        """The expression from which `of` made a scalar."""
        return self._expressions.get(id(x))

    def written(self, root: Any) -> Any:
        """A copy in which every number given by parameters is an expression of the symbols; see `_Copying`."""
        return _Copying(self).visit(root)

    def columns(self, names: Sequence[str]) -> ca.SX:
        return ca.vertcat(*(self._columns[name] for name in names)) if names else ca.SX.zeros(0, 1)

    def opened(self, tracer: Tracer, matrices: Mapping[str, ca.SX]) -> dict[str, ca.SX]:
        """Matrices of a trace over these numbers, with symbols in place of the constants of the trace."""
        nodes = tracer.numbers
        if not nodes:
            return dict(matrices)
        constants = ca.vertcat(*(tracer.sx_of(node) for node in nodes))
        meant = self._graph.column(tracer.values[node].node for node in nodes)  # type: ignore[union-attr]
        return {name: ca.substitute(matrix, constants, meant) for name, matrix in matrices.items()}

    def used_in(self, matrices: Iterable[ca.SX]) -> set[str]:
        """The names that occur in matrices."""
        found = {element.name() for element in ca.symvar(ca.veccat(*matrices))}
        return {name for name, column in self._columns.items() if column.name() in found}

    def pinned(self) -> list[str]:
        """Numbers for which the trace is valid only at the present value, such as exponents that became products."""
        found = []
        for node, value in self._numbers.guards:
            sides = self._graph.arguments(node.number) if self._graph.kind[node.number] in _COMPARISONS else []
            left, right = map(self._graph.sx_of, sides) if sides else (self._graph.sx(node), ca.SX(value))
            if self._value(left - right) == 0.0:
                found.append(f"{left} = {right}")
        return list(dict.fromkeys(found))

    def _value(self, expression: ca.SX) -> float:
        at = ca.SX([self.values[name] for name in self._columns])
        return float(ca.evalf(ca.substitute(expression, self.columns(list(self._columns)), at)))


class _GenericNumbers(Numbers):
    """Answers tests as for a generic value: a number that happens to be zero or one is neither; one that may be positive is."""

    def decide(self, code: int, a: Scalar, b: Scalar, answer: bool) -> bool:
        if code in (ca.OP_EQ, ca.OP_NE):
            return code == ca.OP_NE
        if code == ca.OP_LT and isinstance(a, float) and a == 0.0 and b.value == 0.0:
            return True
        return super().decide(code, a, b, answer)


_COMPARISONS = (ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE)


class _Copying(Copying):
    """Copies parts that contain parameters, without checks: symbols would fail them, and the numbers were checked before.

    Fields that no equation reads are kept, and so are beams, since the equations use only their integrals.
    """

    def __init__(self, symbols: Symbols) -> None:
        super().__init__()
        self._symbols = symbols

    def _other(self, x: Any) -> Any:
        return self._symbols.of(x)

    def _names(self, kind: type) -> tuple[str, ...]:
        return () if issubclass(kind, (Beam, ModalBody)) else equation_fields(kind)
