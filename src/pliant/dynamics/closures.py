"""Closed loops: residuals of closures, and the multipliers that keep them at zero.

M a + h = tau + A^T lam with A = dc/dq and c'' = A a + gamma = 0: accelerations are linear in lam, so D lam = -(A a0 + gamma) with D
= A M^-1 A^T, where M^-1 A^T are the accelerations due to unit multipliers. Residuals are differentiated automatically, not by hand.
If a closure has a prescribed motion, c(q, t) depends on time too: time is then one more coordinate of the chart, with rate one.
A non-holonomic constraint is a row without c: c' = A(q, t) v + b(q, t) is given, and its derivatives follow in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pliant.dynamics.algebra import Scalar, is_zero, sub, total
from pliant.dynamics.calculus import Calculus
from pliant.dynamics.closure_residuals import OF_COORDINATES, OF_FRAMES, HeldFrames
from pliant.dynamics.cut_joint import JointPosition, joint_position
from pliant.dynamics.kinematics import Pose, place_pose, poses
from pliant.dynamics.retraction import retract
from pliant.dynamics.sparse import Row
from pliant.dynamics.tree import Tree
from pliant.errors import ModelError
from pliant.model.closure import Closure, FormulaClosure
from pliant.model.joint import ROTATION
from pliant.scalar import is_constant


@dataclass(frozen=True)
class ConstraintRows:
    """Residuals of closures with their derivatives along the motion, one row per independent direction."""

    owners: tuple[int, ...]  # for each row: the index of its closure
    directions: tuple[int, ...]  # for each row: its index among the residuals of its closure
    angular: tuple[bool, ...]  # for each row: whether it is an angle rather than a distance
    residual: list[Scalar]  # c, m or rad
    rate: list[Scalar]  # c'
    drift: list[Scalar]  # dc/dt at constant q: contribution of a prescribed motion to c'
    gamma: list[Scalar]  # c'' with a = 0
    jacobian: list[Row]  # A, sparse


# Position, rate and acceleration of every motion that a closure prescribes.
PrescribedValues = tuple[Scalar, Scalar, Scalar]

# The value of a closure's formula at coordinates and rates, some time after the present.
FormulaAt = Callable[[FormulaClosure, Sequence[Scalar], Sequence[Scalar], Scalar], Scalar]


def residuals(
    tree: Tree,
    closures: Sequence[Closure],
    q: Sequence[Scalar],
    prescribed: Sequence[Sequence[Scalar]],
    of_formula: Callable[[FormulaClosure], Scalar],
) -> list[tuple[int, int, bool, Scalar]]:
    """(closure, direction, whether it is an angle, residual) of all residuals that are not structurally zero.

    prescribed: present values of the motions of every closure, None for free ones. of_formula: c of a closure given by a formula.
    """
    bodies = poses(tree, q) if closures else []
    changing = []
    for number, (closure, moved) in enumerate(zip(closures, prescribed, strict=True)):
        if isinstance(closure, FormulaClosure):
            if not closure.nonholonomic:
                changing.append((number, 0, closure.angular, _changing(closure, of_formula(closure))))
            continue
        every = enumerate(closure_rows(tree, closure, bodies, q, moved))
        changing += [(number, k, angular, c) for k, (angular, c) in every if not is_constant(c)]
    return changing


def closure_rows(
    tree: Tree, closure: Closure, bodies: Sequence[Pose], q: Sequence[Scalar], prescribed: Sequence[Scalar]
) -> list[tuple[bool, Scalar]]:
    """(whether it is an angle, residual) of all directions of one closure, for given poses of the bodies."""
    if closure.frames is None:
        held = [_coordinate(tree, name, q, bodies) for name in closure.coordinates]
        return [(held[0].turns, OF_COORDINATES[type(closure)](closure, held, prescribed))]
    a, b = (place_pose(tree, tree.place(frame), bodies, q) for frame in closure.frames)
    frames = HeldFrames(sub(a.position, b.position), a.rotation.matrix, b.rotation.matrix, prescribed)
    distances, angles = OF_FRAMES[type(closure)](closure, frames)
    return [(False, c) for c in distances] + [(True, c) for c in angles]


def stored_energy(
    tree: Tree,
    closures: Sequence[Closure],
    q: Sequence[Scalar],
    prescribed: Sequence[Sequence[Scalar]],
    of_formula: Callable[[FormulaClosure], Scalar],
) -> Scalar:
    """Energy stored in penalty springs: sum of Ks c^2 / 2."""
    changing = residuals(tree, closures, q, prescribed, of_formula)
    return total(0.5 * closures[owner].spring * c * c for owner, _, _, c in changing)


def rows(
    tree: Tree,
    closures: Sequence[Closure],
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    calculus: Calculus,
    prescribed: Sequence[Sequence[PrescribedValues | None]],
    formula: FormulaAt,
) -> ConstraintRows:
    """Residuals and all their derivatives, on a chart around the present state and time."""
    count = len(tree.rates)
    xi, shift = calculus.symbols("xi", count + 1)
    rate, speeds = calculus.symbols("xi_rate", count + 1)
    dt = shift[count]  # c'' needs a motion to second order in it only
    moved = [[None if m is None else m[0] + dt * (m[1] + 0.5 * m[2] * dt) for m in motions] for motions in prescribed]
    there = retract(tree, q, shift)

    def given(closure: FormulaClosure) -> Scalar:
        return formula(closure, there, speeds[:count], dt)

    changing = residuals(tree, closures, there, moved, given)
    entries = [c for _, _, _, c in changing]
    for (number, *_), of_rates in zip(changing, calculus.sparse_jacobian(entries, rate), strict=True):
        if of_rates:
            rule = "must not read rates unless the constraint is non-holonomic"
            raise ModelError.of(closures[number].part, "formula", rule, "a function of v")
    first = calculus.directional(entries, xi, rate)
    second = calculus.directional(first, xi, rate)
    jacobian = calculus.sparse_jacobian(entries, xi)
    every = [(k, c, given(c)) for k, c in enumerate(closures) if isinstance(c, FormulaClosure) and c.nonholonomic]
    every = [one for one in every if not is_zero(one[2])]  # in a plane, nothing slips across it
    held, given_rates = [one[:2] for one in every], [one[2] for one in every]  # A v + b
    linear = calculus.sparse_jacobian(given_rates, rate)
    _check_linear([closure for _, closure in held], linear, calculus, rate)
    drifting = calculus.substitute(given_rates, rate, calculus.column([0.0] * (count + 1)))  # b
    parts = [entries, first, second, [x for row in jacobian for x in row.values()], given_rates, drifting,
             calculus.directional(given_rates, xi, rate), [x for row in linear for x in row.values()]]  # fmt: skip
    flat = [x for part in parts for x in part]
    for old, new in ((rate, [*v, 1.0]), (xi, [0.0] * (count + 1))):
        flat = calculus.substitute(flat, old, calculus.column(new))
    values = iter(flat)
    residual, rates, gamma, of_chart, more_rates, more_drift, more_gamma, of_speeds = ([next(values) for _ in x] for x in parts)
    matrix = _like(jacobian, of_chart)
    drift = [row.pop(count, 0.0) for row in matrix]
    return ConstraintRows(
        owners=(*(owner for owner, _, _, _ in changing), *(k for k, _ in held)),
        directions=(*(k for _, k, _, _ in changing), *(0 for _ in held)),
        angular=(*(turned for _, _, turned, _ in changing), *(closure.angular for _, closure in held)),
        residual=[*residual, *(0.0 for _ in held)],
        rate=[*rates, *more_rates],
        drift=[*drift, *more_drift],
        gamma=[*gamma, *more_gamma],
        jacobian=[*matrix, *_like(linear, of_speeds)],
    )


def _like(pattern: Sequence[Row], entries: Sequence[Scalar]) -> list[Row]:
    """Rows of a pattern with other entries."""
    values = iter(entries)
    return [{k: next(values) for k in row} for row in pattern]


def _changing(closure: Closure, c: Scalar) -> Scalar:
    if is_constant(c):
        raise ModelError.of(closure.part, "formula", "must depend on coordinates or on frames that move", c)
    return c


def _check_linear(closures: Sequence[Closure], linear: Sequence[Row], calculus: Calculus, rate: Any) -> None:
    """Refuses non-holonomic constraints that do not read rates, or not linearly."""
    for closure, row in zip(closures, linear, strict=True):
        if not row:
            raise ModelError.of(closure.part, "formula", "must read rates, as in v['cart.x'], if it is non-holonomic", "none")
        if any(calculus.sparse_jacobian(list(row.values()), rate)):
            raise ModelError.of(closure.part, "formula", "must be linear in the rates: a(q, t) v - b(q, t)", "a non-linear one")


def _coordinate(tree: Tree, name: str, q: Sequence[Scalar], bodies: Sequence[Pose]) -> JointPosition:
    """A coordinate by name; it may belong to a joint outside the tree."""
    if name not in tree.positions:
        return joint_position(tree, name, q, bodies)
    k = tree.positions.index(name)
    turns = any(slot.q == k and slot.motion.kind == ROTATION for slot in tree.slots)
    return JointPosition(q[k], turns, tree.counted_from[name])
