"""Closed loops: residuals of closures, and the multipliers that keep them at zero.

M a + h = tau + A^T lam with A = dc/dq and c'' = A a + gamma = 0: accelerations are linear in lam, so D lam = -(A a0 + gamma) with
D = A M^-1 A^T, and M^-1 A^T is what unit multipliers do to the accelerations. Residuals are differentiated, not derived.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pliant.dynamics.algebra import Mat, Scalar, Vec, axial, dot, product, scale, sub, times, transpose
from pliant.dynamics.contact import tangents_of
from pliant.dynamics.kinematics import place_pose, poses
from pliant.dynamics.lagrange import Calculus, retract
from pliant.dynamics.sparse import Row
from pliant.dynamics.tree import Tree
from pliant.model.loop import Closure


@dataclass(frozen=True)
class Rows:
    """Residuals of closures with their derivatives along the motion, one per independent direction."""

    owners: tuple[int, ...]  # number of the closure each belongs to
    angular: tuple[bool, ...]  # whether it is an angle, not a distance
    residual: list[Scalar]  # c, m or rad
    rate: list[Scalar]  # c'
    gamma: list[Scalar]  # c'' with a = 0
    jacobian: list[Row]  # A, sparse


def residuals(tree: Tree, closures: Sequence[Closure], q: Sequence[Scalar]) -> list[tuple[int, bool, Scalar]]:
    """(closure, is it an angle, residual) of every direction that can change; what vanishes by structure is left out."""
    bodies = poses(tree, q)
    found = []
    for number, closure in enumerate(closures):
        a, b = (place_pose(tree, tree.place(frame), bodies, q) for frame in (closure.a, closure.b))
        apart = sub(a.position, b.position)
        distances, angles = _rows_of(closure, apart, a.rotation.matrix, b.rotation.matrix)
        every = [(False, c) for c in distances] + [(True, c) for c in angles]
        found += [(number, angular, c) for angular, c in every if not isinstance(c, (int, float))]
    return found


def rows(
    tree: Tree, closures: Sequence[Closure], q: Sequence[Scalar], v: Sequence[Scalar], calculus: Calculus
) -> Rows:
    """Residuals and all their derivatives, charted around the present state as the witness does."""
    count = len(tree.rates)
    xi, shift = calculus.symbols("xi", count)
    rate, _ = calculus.symbols("xi_rate", count)
    found = residuals(tree, closures, retract(tree, q, shift))
    entries = [c for _, _, c in found]
    first = calculus.directional(entries, xi, rate)
    second = calculus.directional(first, xi, rate)
    jacobian = calculus.sparse_jacobian(entries, xi)
    flat = [*entries, *first, *second, *(x for row in jacobian for x in row.values())]
    for old, new in ((rate, v), (xi, [0.0] * count)):
        flat = calculus.substitute(flat, old, calculus.column(new))
    m = len(entries)
    moving = iter(flat[3 * m :])
    matrix = [{k: next(moving) for k in row} for row in jacobian]
    owners, angular = tuple(owner for owner, _, _ in found), tuple(turned for _, turned, _ in found)
    return Rows(owners, angular, flat[:m], flat[m : 2 * m], flat[2 * m : 3 * m], matrix)


def _rows_of(closure: Closure, apart: Vec, a: Mat, b: Mat) -> tuple[list[Scalar], list[Scalar]]:
    """c of one closure: distances in the world's or in b's axes, and sines of angles."""
    if closure.kind in ("point", "spherical"):
        return list(apart), []
    if closure.kind == "distance":
        return [(dot(apart, apart) - closure.length**2) * (0.5 / closure.length)], []
    across = [times(b, t) for t in tangents_of(closure.axis)]
    if closure.kind == "slider":
        return [dot(t, apart) for t in across], []
    if closure.kind == "universal":
        lean = dot(closure.axis, closure.other_axis)
        return list(apart), [dot(times(b, closure.axis), times(a, closure.other_axis)) - lean]
    if closure.kind in ("revolute", "cylindrical", "planar"):
        aligned = [dot(times(a, closure.axis), t) for t in across]
        if closure.kind == "planar":
            return [dot(times(b, closure.axis), apart)], aligned
        return (list(apart) if closure.kind == "revolute" else [dot(t, apart) for t in across]), aligned
    turned = axial(product(transpose(a), b))  # 2 sin of the small rotation between them
    if closure.kind == "weld":
        return list(apart), list(scale(0.5, turned))
    return [dot(t, apart) for t in across], list(scale(0.5, turned))  # prismatic
