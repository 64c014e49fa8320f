"""The chart around a state: coordinates displaced along the rates, so that quaternions need no multipliers."""

from __future__ import annotations

from collections.abc import Sequence

from pliant.dynamics.algebra import Scalar, Vec, add, cross, scale, total
from pliant.dynamics.tree import Tree


def retract(tree: Tree, q: Sequence[Scalar], xi: Sequence[Scalar]) -> list[Scalar]:
    """q (+) xi: addition, and for ball joints q (1, xi/2) to second order, which is sufficient for first and second derivatives."""
    moved = list(q)
    for node in tree.nodes:
        for slot in node.slots:
            if slot.is_ball:
                turn: Vec = (xi[slot.v], xi[slot.v + 1], xi[slot.v + 2])
                moved[slot.q : slot.q + 4] = _turned([q[slot.q + k] for k in range(4)], turn)
            else:
                moved[slot.q] = q[slot.q] + xi[slot.v]
        for i, k in zip(node.own_q, node.own_v, strict=True):
            moved[i] = q[i] + xi[k]
    return moved


def _turned(q: Sequence[Scalar], turn: Vec) -> list[Scalar]:
    """q times (1 - |turn|^2/8, turn/2): R is divided by |q|^2, so this is exp(turn) to third order."""
    w, vector = q[0], (q[1], q[2], q[3])
    half = scale(0.5, turn)
    real = 1.0 - 0.5 * total(h * h for h in half)
    scalar = w * real - total(a * b for a, b in zip(vector, half, strict=True))
    x, y, z = add(add(scale(w, half), scale(real, vector)), cross(vector, half))
    return [scalar, x, y, z]
