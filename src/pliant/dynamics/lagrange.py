"""Lagrange's equations with T and V differentiated automatically: an independent derivation to verify the recursions.

Velocities are derivatives of positions, independent of the recursions' formulas. Positions are expressed on a chart around the
present state, q = q0 (+) xi, so that quaternions need no multipliers: at xi = 0 the second derivatives of xi are the accelerations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pliant.dynamics.algebra import Mat, Scalar, Vec, total, vanishes
from pliant.dynamics.calculus import Calculus
from pliant.dynamics.energy import gravity_energy, rotor_energy
from pliant.dynamics.forward import Driven, Forward
from pliant.dynamics.gibbs_appell import solve_with_known
from pliant.dynamics.kinematics import Pose, poses
from pliant.dynamics.loads import BodyLoad
from pliant.dynamics.retraction import retract
from pliant.dynamics.rotation import spin
from pliant.dynamics.tree import Tree


def forward_dynamics(driven: Driven, calculus: Calculus, stored: Callable[[Sequence[Scalar]], Scalar]) -> Forward:
    """Accelerations from d/dt dT/dxi' - dT/dxi + dV/dxi = tau + loads; `stored` returns further energy of q that is part of V."""
    return solve(equations(driven.tree, driven.q, driven.v, calculus, stored), driven, calculus)


def solve(equations: tuple[list[list[Scalar]], list[Scalar]], driven: Driven, calculus: Calculus) -> Forward:
    """Accelerations from M and bias, with loads as generalised forces."""
    mass, bias = equations
    forces = generalised(driven.tree, driven.q, driven.loads, calculus)
    return solve_with_known(mass, bias, [t + p for t, p in zip(driven.tau, forces, strict=True)], driven.known)


def equations(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    calculus: Calculus,
    stored: Callable[[Sequence[Scalar]], Scalar] | None = None,
) -> tuple[list[list[Scalar]], list[Scalar]]:
    """M and bias at (q, v); V is the energy of gravity plus `stored`; strain and joint springs enter as efforts."""
    count = len(tree.rates)
    xi, shift = calculus.symbols("xi", count)
    rate, rates = calculus.symbols("xi_rate", count)
    charted = retract(tree, q, shift)
    bodies = poses(tree, charted)
    kinetic = kinetic_by_differentiation(tree, charted, rates, bodies, xi, rate, calculus)
    potential = gravity_energy(tree, charted, bodies) + (0.0 if stored is None else stored(charted))
    momenta = calculus.gradient(kinetic, rate)
    mass = calculus.jacobian(momenta, rate)
    drift = calculus.directional(momenta, xi, rate)
    pull = calculus.gradient(kinetic - potential, xi)
    flat = [m for row in mass for m in row] + [d - p for d, p in zip(drift, pull, strict=True)]
    here = calculus.substitute(flat, rate, calculus.column(v))
    here = calculus.substitute(here, xi, calculus.column([0.0] * count))
    return [here[i * count : (i + 1) * count] for i in range(count)], here[count * count :]


def kinetic_by_differentiation(
    tree: Tree,
    q: Sequence[Scalar],
    rates: Sequence[Scalar],
    bodies: Sequence[Pose],
    xi: Any,
    rate: Any,
    calculus: Calculus,
) -> Scalar:
    """T with omega from R^T R' and v from the derivative of the origin."""
    energies = []
    for node, pose in zip(tree.nodes, bodies, strict=True):
        matrix = pose.rotation.matrix
        moving = calculus.directional([*pose.position, *(x for row in matrix for x in row)], xi, rate)
        turning: Mat = (tuple(moving[3:6]), tuple(moving[6:9]), tuple(moving[9:12]))
        velocity: Vec = pose.rotation.into(tuple(moving[:3]))
        energies.append(node.shape(q, rates).kinetic_energy(spin(matrix, turning), velocity))
    return total(energies) + rotor_energy(tree, rates)


def generalised(tree: Tree, q: Sequence[Scalar], loads: Sequence[BodyLoad], calculus: Calculus) -> list[Scalar]:
    """Generalised forces of body loads by virtual work: forces times derivatives of positions."""
    count = len(tree.rates)
    if all(vanishes(load.force) and vanishes(load.moment) and vanishes(load.own) for load in loads):
        return [0.0] * count
    xi, shift = calculus.symbols("xi", count)
    bodies = poses(tree, retract(tree, q, shift))
    here = [(pose.rotation.matrix, pose) for pose in bodies]
    forces: list[Scalar] = [0.0] * count
    for node, load, (matrix, pose) in zip(tree.nodes, loads, here, strict=True):
        jacobian = calculus.jacobian([*pose.position, *(x for row in matrix for x in row)], xi)
        force = pose.rotation.out(load.force)
        for k in range(count):
            turning: Mat = tuple(tuple(jacobian[3 + 3 * i + j][k] for j in range(3)) for i in range(3))  # type: ignore[assignment]
            linear = total(f * jacobian[i][k] for i, f in enumerate(force))
            forces[k] = forces[k] + linear + total(
                m * w for m, w in zip(load.moment, spin(matrix, turning), strict=True)
            )  # fmt: skip
        for number, value in zip(node.own_v, load.own, strict=True):
            forces[number] = forces[number] + value
    return calculus.substitute(forces, xi, calculus.column([0.0] * count))
