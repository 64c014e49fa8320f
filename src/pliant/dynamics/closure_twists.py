"""Closures in terms of body twists: c' = K t, so that the multipliers act on the bodies as wrenches K^T lam.

Each of the two bodies is moved by its own small twist, regardless of joints, and the residuals are differentiated. With t = N q'
the Jacobian over the coordinates is A = K N. Closures between coordinates have no K.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul

from pliant.dynamics.algebra import IDENTITY, ZERO, Scalar, Vec, add, is_zero, mat_add, product, scale, skew, total
from pliant.dynamics.calculus import Calculus
from pliant.dynamics.closures import ConstraintRows, closure_rows
from pliant.dynamics.denoc import TWIST
from pliant.dynamics.gibbs_appell import Wrench
from pliant.dynamics.kinematics import Pose, Twist
from pliant.dynamics.rotation import Rotation
from pliant.dynamics.tree import ROOT, Tree
from pliant.model.closure import Closure, FormulaClosure

# The value of a closure's formula for given poses of the bodies and coordinates; and, of a non-holonomic one, for given twists.
FormulaOfBodies = Callable[[FormulaClosure, Sequence[Pose], Sequence[Scalar], Sequence[Twist] | None], Scalar]


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
    formula: FormulaOfBodies,
) -> list[TwistRow]:
    """Rows of K, in the order of the rows over the coordinates; prescribed: present values of closure motions, None if free."""
    pairs = zip(closures, prescribed, strict=True)
    every = [_of_formula(tree, closure, bodies, q, calculus, formula) if isinstance(closure, FormulaClosure)
             else _directions(tree, closure, moved, bodies, q, calculus) for closure, moved in pairs]  # fmt: skip
    return [every[owner][k] for owner, k in zip(rows.owners, rows.directions, strict=True)]


def weighted(rows: Sequence[TwistRow], parts: Sequence[tuple[int, Scalar]]) -> TwistRow:
    """The sum of some rows, each with its weight."""
    if len(parts) == 1:
        return rows[parts[0][0]]
    weights, own = [weight for _, weight in parts], [rows[k].of for k, _ in parts]
    bodies = sorted({body for row in own for body in row})  # the same in all rows of a closure
    return TwistRow({body: [total(map(mul, weights, entries)) for entries in zip(*(row[body] for row in own), strict=True)]
                     for body in bodies})  # fmt: skip


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
    small = _SmallTwists(tree, sorted({tree.place(frame).node for frame in closure.frames} - {ROOT}), calculus)
    moved, bent = small.displaced(bodies, q)
    return small.rows([c for _, c in closure_rows(tree, closure, moved, bent, prescribed)])


def _of_formula(
    tree: Tree, closure: FormulaClosure, bodies: Sequence[Pose], q: Sequence[Scalar], calculus: Calculus, formula: FormulaOfBodies
) -> list[TwistRow]:
    """Frames that a formula reads are held from outside; coordinates that it reads are held inside their joints."""
    small = _SmallTwists(tree, range(len(tree.nodes)), calculus)
    if closure.nonholonomic:
        moving = [Twist(pose.rotation.into(turn), pose.rotation.into(shift))
                  for pose, (turn, shift) in zip(bodies, small.twists, strict=True)]  # fmt: skip
        return small.rows([formula(closure, bodies, q, moving)])
    return small.rows([formula(closure, *small.displaced(bodies, q), None)])


class _SmallTwists:
    """Twists of some bodies, in world axes, with the rates of their own coordinates: K is what they change."""

    def __init__(self, tree: Tree, held: Sequence[int], calculus: Calculus) -> None:
        self._tree, self._held, self._calculus = tree, held, calculus
        self._widths = [TWIST + tree.nodes[k].body.coordinates for k in held]
        self._starts = [sum(self._widths[:k]) for k in range(len(held))]
        self._column, self._twist = calculus.symbols("twist", sum(self._widths))

    @property
    def twists(self) -> list[tuple[Vec, Vec]]:
        return [(_vec(self._twist, start), _vec(self._twist, start + 3)) for start in self._starts]

    def displaced(self, bodies: Sequence[Pose], q: Sequence[Scalar]) -> tuple[list[Pose], list[Scalar]]:
        """Poses and coordinates after these twists."""
        moved, bent = list(bodies), list(q)
        for k, start, (turn, shift) in zip(self._held, self._starts, self.twists, strict=True):
            moved[k] = Pose(add(bodies[k].position, shift), _turned(bodies[k].rotation, turn))
            for number, i in enumerate(self._tree.nodes[k].own_q):
                bent[i] = q[i] + self._twist[start + TWIST + number]
        return moved, bent

    def rows(self, scalars: Sequence[Scalar]) -> list[TwistRow]:
        none = self._calculus.column([0.0] * len(self._twist))
        rows = [self._calculus.substitute(row, self._column, none) for row in self._calculus.jacobian(scalars, self._column)]
        places = list(zip(self._held, self._starts, self._widths, strict=True))
        return [TwistRow({k: row[start : start + width] for k, start, width in places}) for row in rows]


def wrenches(rows: Sequence[TwistRow], multipliers: Sequence[Scalar]) -> dict[int, Wrench]:
    """K^T lam for each body: moment about its origin, and force, in world axes."""
    wrenches_by_body: dict[int, Wrench] = {}
    for row, multiplier in zip(rows, multipliers, strict=True):
        for k, entries in row.of.items():
            n, f = wrenches_by_body.get(k, (ZERO, ZERO))
            wrenches_by_body[k] = (add(n, scale(multiplier, _vec(entries, 0))), add(f, scale(multiplier, _vec(entries, 3))))
    return wrenches_by_body


def on_sleeve(tree: Tree, closure: Closure, row: TwistRow, k: int) -> bool:
    """Whether a closure holds the sleeve of a telescopic link: all that its own coordinates displace is the arm."""
    if closure.frames is not None:
        return any(place.node == k and not place.displacement for place in map(tree.place, closure.frames))
    return k in row.of and all(is_zero(x) for x in row.of[k][TWIST:])


def _vec(entries: Sequence[Scalar], start: int) -> Vec:
    return (entries[start], entries[start + 1], entries[start + 2])


def _turned(rotation: Rotation, turn: Vec) -> Rotation:
    """exp(turn) R to first order, which is sufficient for first derivatives."""
    return Rotation(None, 0.0, product(mat_add(IDENTITY, skew(turn)), rotation.matrix))
