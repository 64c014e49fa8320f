"""Simplifies a rotation followed by its inverse: s (c u + s w) + c (c w - s u) = w, with s and c the sine and cosine of one angle.

Forces and velocities of a body whose joint moves it along world axes are rotated into its frame and back. The sum of two products
of s or c with an expression linear in s and c is a quadratic form; if only c^2 + s^2 remains of it, no sine is needed.
"""

from __future__ import annotations

from typing import Protocol

import casadi as ca

NONE = -1
Term = tuple[int, int]  # sign and node
Linear = tuple[Term | None, Term | None]  # coefficients of the cosine and of the sine; None: zero


class Nodes(Protocol):
    """The nodes of a `codegen.graph.Graph`."""

    kind: list[int]
    a: list[int]
    b: list[int]


def turned_back(graph: Nodes, x: int, y: int, sign: int) -> Term | None:
    """x + sign y, both products, as one node with its sign; sign 0: they cancel. None if it does not simplify."""
    for factor, rest in _factors(graph, x):
        angle = graph.a[factor]
        for other, remainder in _factors(graph, y):
            if graph.a[other] == angle and graph.kind[other] != graph.kind[factor]:
                form = _form(graph, angle, (1, factor, rest), (sign, other, remainder))
                if form is not None:
                    return form
    return None


def alike(graph: Nodes, x: int, y: int) -> bool:
    """Whether two products have the same factors in a different order: (n c)(s d) and (n s)(c d)."""
    return _flat(graph, x) == _flat(graph, y)


def _flat(graph: Nodes, product: int) -> list[int]:
    """The factors of a product, with factors that are products themselves expanded."""
    factors = (graph.a[product], graph.b[product])
    return sorted(f for outer in factors
                  for f in ((graph.a[outer], graph.b[outer]) if graph.kind[outer] == ca.OP_MUL else (outer,)))  # fmt: skip


def _factors(graph: Nodes, product: int) -> list[tuple[int, int]]:
    """(a factor that is a sine or cosine, the other factor); both orders if both are."""
    a, b = graph.a[product], graph.b[product]
    return [(f, rest) for f, rest in ((a, b), (b, a)) if graph.kind[f] in (ca.OP_SIN, ca.OP_COS)]


def _form(graph: Nodes, angle: int, *products: tuple[int, int, int]) -> Term | None:
    """The value of c^2 A + s c B + s^2 C if B is zero and A equals C."""
    squares: list[Term | None] = [None, None]  # coefficients of c^2 and of s^2
    mixed: list[Term] = []
    for sign, factor, rest in products:
        linear = _linear(graph, rest, angle)
        if linear is None:
            return None
        own = int(graph.kind[factor] == ca.OP_SIN)
        if linear[own] is not None:
            squares[own] = (sign * linear[own][0], linear[own][1])  # type: ignore[index]
        if linear[1 - own] is not None:
            mixed.append((sign * linear[1 - own][0], linear[1 - own][1]))  # type: ignore[index]
    cancels = not mixed or (len(mixed) == 2 and mixed[0][1] == mixed[1][1] and mixed[0][0] == -mixed[1][0])
    if not cancels or squares[0] != squares[1]:
        return None
    return squares[0] or (0, NONE)


def _linear(graph: Nodes, node: int, angle: int) -> Linear | None:
    """A node in the form c u + s w, one product or a sum of two; None if it is not of this form."""
    kind = graph.kind[node]
    if kind == ca.OP_MUL:
        return _term(graph, node, angle)
    if kind not in (ca.OP_ADD, ca.OP_SUB):
        return None
    first, second = _term(graph, graph.a[node], angle), _term(graph, graph.b[node], angle)
    if first is None or second is None:
        return None
    sign = 1 if kind == ca.OP_ADD else -1
    parts: list[Term | None] = []
    for a, b in zip(first, second, strict=True):
        if a is not None and b is not None:
            return None
        parts.append(a if b is None else (sign * b[0], b[1]))
    return parts[0], parts[1]


def _term(graph: Nodes, node: int, angle: int) -> Linear | None:
    """A term c u or s w."""
    if graph.kind[node] == ca.OP_MUL:
        for factor, rest in _factors(graph, node):
            if graph.a[factor] == angle:
                return ((1, rest), None) if graph.kind[factor] == ca.OP_COS else (None, (1, rest))
    return None
