"""The Gibbs function S = 1/2 int mu r''^2, differentiated by the accelerations: a second independent derivation.

Accelerations of points in space come from derivatives of positions, and no matrix is assumed to be a rotation. This form alone can
therefore reproduce papers that rotate a tip by 1 + skew(theta) (Korayem, Shafei, Dehkordi); the others rely on R^T R = 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pliant.dynamics.algebra import (
    ZERO,
    Mat,
    Scalar,
    Vec,
    add,
    cross,
    dot,
    mat_add,
    mat_scale,
    product,
    scale,
    sub,
    times,
    total,
    trace,
    transpose,
    vanishes,
)
from pliant.dynamics.body import combine
from pliant.dynamics.calculus import Calculus
from pliant.dynamics.energy import rotor_energy
from pliant.dynamics.forward import Driven, Forward
from pliant.dynamics.kinematics import poses
from pliant.dynamics.lagrange import solve
from pliant.dynamics.retraction import retract
from pliant.dynamics.rotation import spin
from pliant.dynamics.tree import Node, Tree


def forward_dynamics(driven: Driven, calculus: Calculus) -> Forward:
    """Accelerations from dS/dq'' = tau + loads."""
    return solve(equations(driven.tree, driven.q, driven.v, calculus), driven, calculus)


def equations(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], calculus: Calculus) -> tuple[list[list[Scalar]], list[Scalar]]:
    """M and bias at (q, v), including gravity; strain and spring forces enter as efforts."""
    count = len(tree.rates)
    xi, shift = calculus.symbols("xi", count)
    rate, rates = calculus.symbols("xi_rate", count)
    second, seconds = calculus.symbols("xi_second", count)
    charted = retract(tree, q, shift)

    def derivatives(entries: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        first = calculus.directional(entries, xi, rate)
        explicit = calculus.directional(first, xi, rate)
        return first, [a + b for a, b in zip(explicit, calculus.directional(entries, xi, second), strict=True)]

    gibbs = total(
        _gibbs(tree, node, pose.position, pose.rotation.matrix, charted, rates, seconds, derivatives)
        for node, pose in zip(tree.nodes, poses(tree, charted), strict=True)
    )
    gibbs = gibbs + rotor_energy(tree, seconds)  # the same form in the accelerations: 1/2 J a^2
    asked = calculus.gradient(gibbs, second)
    mass = calculus.jacobian(asked, second)
    flat = [m for row in mass for m in row] + asked
    for old, new in ((second, [0.0] * count), (rate, v), (xi, [0.0] * count)):
        flat = calculus.substitute(flat, old, calculus.column(new))
    return [flat[i * count : (i + 1) * count] for i in range(count)], flat[count * count :]


def _gibbs(
    tree: Tree,
    node: Node,
    origin: Vec,
    matrix: Mat,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    derivatives: Any,
) -> Scalar:
    """S of one body: r'' = O'' + sum_A Y_A W_A with Y_A = rho_A'' R + 2 rho_A' R' + rho_A R''."""
    z, rates = node.own(q, v)
    fields, weights = node.body.fields(z), node.body.field_weights(z, rates)
    firsts, seconds = derivatives([*origin, *(x for row in matrix for x in row)])
    acceleration = sub(tuple(seconds[:3]), tree.gravity)
    turning, bending = _matrix(firsts[3:]), _matrix(seconds[3:])
    own = [a[k] for k in node.own_v]
    rho: dict[int, Scalar] = dict(weights.bias)
    for column, acceleration_of in zip(weights.columns, own, strict=True):
        for number, weight in column.items():
            rho[number] = rho.get(number, 0.0) + weight * acceleration_of
    used = sorted({*weights.position, *weights.rate, *rho})
    y = {
        number: mat_add(
            mat_add(mat_scale(rho.get(number, 0.0), matrix), mat_scale(2.0 * weights.rate.get(number, 0.0), turning)),
            mat_scale(weights.position.get(number, 0.0), bending),
        )
        for number in used
    }
    carried = ZERO
    for number in used:
        carried = add(carried, times(y[number], fields.first[number]))
    field_weights = total(
        trace(product(product(y[i], fields.second[i][j]), transpose(y[j]))) for i in used for j in used
        if not _is_null(fields.second[i][j])
    )  # fmt: skip
    points = 0.5 * fields.mass * dot(acceleration, acceleration) + dot(acceleration, carried) + 0.5 * field_weights
    return points + _sections(node, matrix, turning, z, rates, rho, derivatives)


def _sections(
    node: Node,
    matrix: Mat,
    turning: Mat,
    z: Sequence[Scalar],
    rates: Sequence[Scalar],
    rho: dict[int, Scalar],
    derivatives: Any,
) -> Scalar:
    """Rotary inertia: omega' . (J omega'/2 + J theta'' + omega x (J omega + J theta')) + theta''^T J theta''/2."""
    fields, weights = node.body.fields(z), node.body.field_weights(z, rates)
    own = total(0.5 * a * b * (fields.pair[i][j] - trace(fields.second[i][j])) for i, a in rho.items() for j, b in rho.items())
    if _is_null(fields.rotary) and all(vanishes(column) for column in fields.rotary_first):
        return own
    omega = spin(matrix, turning)
    _, seconds = derivatives([x for row in matrix for x in row])
    bending = _matrix(seconds)
    # (R^T R')' = R'^T R' + R^T R''; the first term is symmetric, so the spin of R'' is omega'
    alpha = spin(matrix, bending)
    momentum = add(times(fields.rotary, omega), combine(weights.rate, fields.rotary_first))
    pushed = add(scale(0.5, times(fields.rotary, alpha)), combine(rho, fields.rotary_first))
    return own + dot(alpha, add(pushed, cross(omega, momentum)))


def _is_null(m: Mat) -> bool:
    return all(vanishes(row) for row in m)


def _matrix(entries: Sequence[Scalar]) -> Mat:
    rows = [tuple(entries[3 * i : 3 * i + 3]) for i in range(3)]
    return tuple(rows)  # type: ignore[return-value]
