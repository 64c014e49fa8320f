"""Closures in terms of body twists: c' = K t, so that the multipliers act on the bodies as wrenches K^T lam.

Each of the two bodies is moved by its own small twist, regardless of joints, and the residuals are differentiated. With t = N q'
the Jacobian over the coordinates is A = K N. Closures between coordinates have no K.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pliant.dynamics.algebra import IDENTITY, ZERO, Scalar, Vec, add, mat_add, product, scale, skew
from pliant.dynamics.calculus import Calculus
from pliant.dynamics.closures import ConstraintRows, closure_rows
from pliant.dynamics.denoc import TWIST
from pliant.dynamics.gibbs_appell import Wrench
from pliant.dynamics.kinematics import Pose
from pliant.dynamics.rotation import Rotation
from pliant.dynamics.tree import ROOT, Tree
from pliant.model.closure import Closure


@dataclass(frozen=True)
class TwistRow:
    """One row of K: for each body, the entries over its [omega, v, z'] in world axes."""

    of: Mapping[int, Sequence[Scalar]]


def twist_rows(
    tree: Tree,
    closures: Sequence[Closure],
    rows: ConstraintRows,
    prescribed: Sequence[Sequence[Scalar]],
    bodies: Sequence[Pose],
    q: Sequence[Scalar],
    calculus: Calculus,
) -> list[TwistRow]:
    """Rows of K, in the order of the rows over the coordinates; prescribed: present values of closure motions, None if free."""
    pairs = zip(closures, prescribed, strict=True)
    every = [_directions(tree, closure, moved, bodies, q, calculus) for closure, moved in pairs]
    return [every[owner][k] for owner, k in zip(rows.owners, rows.directions, strict=True)]


def _directions(
    tree: Tree,
    closure: Closure,
    prescribed: Sequence[Scalar],
    bodies: Sequence[Pose],
    q: Sequence[Scalar],
    calculus: Calculus,
) -> list[TwistRow]:
    if closure.frames is None:  # gears and prescribed coordinates act inside joints, not as external wrenches on bodies
        return [TwistRow({}) for _ in closure_rows(tree, closure, bodies, q, prescribed)]
    held = sorted({tree.place(frame).node for frame in closure.frames} - {ROOT})
    widths = [TWIST + tree.nodes[k].body.coordinates for k in held]
    column, twist = calculus.symbols("twist", sum(widths))
    moved, bent = list(bodies), list(q)
    starts = [sum(widths[:k]) for k in range(len(widths))]
    for k, start in zip(held, starts, strict=True):
        turn, shift = _vec(twist, start), _vec(twist, start + 3)
        moved[k] = Pose(add(bodies[k].position, shift), _turned(bodies[k].rotation, turn))
        for number, i in enumerate(tree.nodes[k].own_q):
            bent[i] = q[i] + twist[start + TWIST + number]
    rows = calculus.jacobian([c for _, c in closure_rows(tree, closure, moved, bent, prescribed)], column)
    none = calculus.column([0.0] * len(twist))
    at_rest = [calculus.substitute(row, column, none) for row in rows]
    return [
        TwistRow({k: row[start : start + width] for k, start, width in zip(held, starts, widths, strict=True)}) for row in at_rest
    ]


def wrenches(rows: Sequence[TwistRow], multipliers: Sequence[Scalar]) -> dict[int, Wrench]:
    """K^T lam for each body: moment about its origin, and force, in world axes."""
    wrenches_by_body: dict[int, Wrench] = {}
    for row, multiplier in zip(rows, multipliers, strict=True):
        for k, entries in row.of.items():
            n, f = wrenches_by_body.get(k, (ZERO, ZERO))
            wrenches_by_body[k] = (add(n, scale(multiplier, _vec(entries, 0))), add(f, scale(multiplier, _vec(entries, 3))))
    return wrenches_by_body


def _vec(entries: Sequence[Scalar], start: int) -> Vec:
    return (entries[start], entries[start + 1], entries[start + 2])


def _turned(rotation: Rotation, turn: Vec) -> Rotation:
    """exp(turn) R to first order, which is sufficient for first derivatives."""
    return Rotation(None, 0.0, product(mat_add(IDENTITY, skew(turn)), rotation.matrix))
