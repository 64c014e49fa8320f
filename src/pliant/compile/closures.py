"""Loop closures in a trace: assembly at the start, multipliers in the equations, projection after every step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from pliant.compile.traced import Scalar, Tracer
from pliant.dynamics.algebra import solve_symmetric, total
from pliant.dynamics.lagrange import retract
from pliant.dynamics.loads import Actions
from pliant.dynamics.loops import Rows, rows
from pliant.dynamics.tree import Tree
from pliant.errors import SolveError
from pliant.model.loop import Closure

Floats = NDArray[np.float64]

ASSEMBLY_STEPS = 100
ASSEMBLED = 1e-12  # m or rad, what is left of a residual that counts as closed
LONGEST_ASSEMBLY_STEP = 0.3  # m or rad: Gauss-Newton is not to leap to another branch
# Of the sum of D's diagonal over rows of the same kind, added to it: where a mechanism passes a singular position two rows say
# the same for a moment, and the multipliers are then shared instead of divided by zero.
SINGULAR = 1e-11
BENDING = 1e-3  # how readily modes and free lengths give way in assembly, beside joints
DEPENDENT = 1e-9  # of the largest singular value: rows below it say nothing new


@dataclass(frozen=True)
class Assembly:
    """A start that closes every loop: coordinates, rates, and which rows are independent there."""

    q: Floats
    v: Floats
    independent: tuple[int, ...]
    redundant: tuple[str, ...]  # names of closures with rows that others imply


def assemble(
    tree: Tree, closures: Sequence[Closure], tracer: Tracer, q0: Floats, v0: Floats, free: Sequence[int]
) -> Assembly:
    """Close the loops from a rough start by Gauss-Newton on all free coordinates, least change first."""
    q_column, q = tracer.symbols("q", len(tree.positions))
    v_column, v = tracer.symbols("v", len(tree.rates))
    found = rows(tree, closures, q, v, tracer)
    matrix = [x for row in found.jacobian for x in row]
    step_column, step = tracer.symbols("step", len(tree.rates))
    look = ca.Function("look", [q_column, v_column], [tracer.column(x) for x in (found.residual, found.rate, matrix)])
    move = ca.Function("move", [q_column, step_column], [tracer.column(retract(tree, q, step))])
    count = len(tree.rates)
    position, rate = q0.copy(), v0.copy()
    own = {k for node in tree.nodes for k in node.own_v}
    ease = np.array([BENDING if k in own else 1.0 for k in free])
    for _ in range(ASSEMBLY_STEPS):
        c, _, a = (np.array(x).ravel() for x in look(position, rate))
        if np.max(np.abs(c), initial=0.0) <= ASSEMBLED:
            break
        change = np.zeros(count)
        eased = a.reshape(-1, count)[:, list(free)] * ease
        change[list(free)] = -ease * (np.linalg.pinv(eased, rcond=DEPENDENT) @ c)
        longest = np.max(np.abs(change))
        change *= min(1.0, LONGEST_ASSEMBLY_STEP / max(longest, 1e-300))
        position = np.array(move(position, change)).ravel()
    _check_closed(closures, found.owners, np.array(look(position, rate)[0]).ravel())
    _, speed, a = (np.array(x).ravel() for x in look(position, rate))
    jacobian = a.reshape(-1, count)[:, list(free)]
    rate[list(free)] -= ease * (np.linalg.pinv(jacobian * ease, rcond=DEPENDENT) @ speed)
    independent = _independent(jacobian)
    redundant = {closures[found.owners[k]].name for k in range(len(found.owners)) if k not in independent}
    return Assembly(position, rate, independent, tuple(sorted(redundant)))


def _check_closed(closures: Sequence[Closure], owners: Sequence[int], c: Floats) -> None:
    if np.max(np.abs(c), initial=0.0) <= 1e3 * ASSEMBLED:
        return
    worst = closures[owners[int(np.argmax(np.abs(c)))]].name
    raise SolveError(
        f"closure {worst!r}: residual must come to 0 in {ASSEMBLY_STEPS} assembly steps, {np.max(np.abs(c)):.3g} is left: the loop "
        "cannot close with these lengths, or starts too far from closing"
    )


def _independent(jacobian: Floats) -> tuple[int, ...]:
    """Rows that say something new, in order: Gram-Schmidt with a threshold."""
    kept: list[int] = []
    basis: list[Floats] = []
    scale = float(np.max(np.linalg.norm(jacobian, axis=1), initial=0.0))
    for k, row in enumerate(jacobian):
        rest = row.copy()
        for _ in range(2):
            for b in basis:
                rest = rest - (b @ rest) * b
        size = float(np.linalg.norm(rest))
        if size > DEPENDENT * scale:
            kept.append(k)
            basis.append(rest / size)
    return tuple(kept)


def chosen(found: Rows, keep: Sequence[int]) -> Rows:
    """Some of the rows."""
    return Rows(
        owners=tuple(found.owners[k] for k in keep),
        directions=tuple(found.directions[k] for k in keep),
        angular=tuple(found.angular[k] for k in keep),
        residual=[found.residual[k] for k in keep],
        rate=[found.rate[k] for k in keep],
        gamma=[found.gamma[k] for k in keep],
        jacobian=[found.jacobian[k] for k in keep],
    )


@dataclass(frozen=True)
class Loops:
    """The closures of a System in one trace: rows held exactly, rows held by springs."""

    exact: Sequence[Closure]
    hard: Rows
    column: ca.SX  # symbols of the multipliers
    soft_closures: Sequence[Closure]
    soft: Rows
    stored: Scalar
    redundant: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        owners = [self.exact[k].name for k in self.hard.owners] + [self.soft_closures[k].name for k in self.soft.owners]
        return tuple(f"{name} {owners[:k].count(name)}" for k, name in enumerate(owners))

    @property
    def spring_forces(self) -> list[Scalar]:
        laws = [self.soft_closures[k] for k in self.soft.owners]
        return [-law.stiffness * c - law.damping * rate
                for law, c, rate in zip(laws, self.soft.residual, self.soft.rate, strict=True)]  # fmt: skip


def push(found: Rows, multipliers: Sequence[Scalar], acting: Actions) -> None:
    """tau += A^T lam."""
    for row, multiplier in zip(found.jacobian, multipliers, strict=True):
        for k, a in enumerate(row):
            acting.tau[k] = acting.tau[k] + a * multiplier


def springs(found: Rows, closures: Sequence[Closure], acting: Actions, pull: bool = True) -> Scalar:
    """Virtual springs: lam = -Ks c - d c' (the printed plus sign is unstable); returns what they store.

    pull: whether -Ks c acts here; where energies are differentiated it comes out of what is stored.
    """
    stored: Scalar = 0.0
    power: dict[str, Scalar] = {}
    for k, owner in enumerate(found.owners):
        closure = closures[owner]
        force = (-closure.stiffness * found.residual[k] if pull else 0.0) - closure.damping * found.rate[k]
        for number, a in enumerate(found.jacobian[k]):
            acting.tau[number] = acting.tau[number] + a * force
        stored = stored + 0.5 * closure.stiffness * found.residual[k] * found.residual[k]
        if closure.damping > 0.0:
            lost = -closure.damping * found.rate[k] * found.rate[k]
            power[f"{closure.name} damper"] = power.get(f"{closure.name} damper", 0.0) + lost
    acting.power.update(power)
    return stored


@dataclass(frozen=True)
class Solved:
    """Accelerations with the loops closed, the multipliers, and the state put back on the constraints."""

    accelerations: list[Scalar]
    multipliers: list[Scalar]
    q: list[Scalar]
    v: list[Scalar]


def solve(
    tracer: Tracer, tree: Tree, found: Rows, column: ca.SX, accelerations: Sequence[Scalar], q: Sequence[Scalar],
    v: Sequence[Scalar],
) -> Solved:  # fmt: skip
    """lam from D lam = -(A a0 + gamma), D = A M^-1 A^T; and one Newton step of projection with the same D."""
    none = tracer.column([0.0] * column.numel())
    response = tracer.jacobian(accelerations, column)  # M^-1 A^T
    response = [tracer.substitute(row, column, none) for row in response]
    free = tracer.substitute(accelerations, column, none)
    count, size = range(len(found.residual)), range(len(free))
    delassus = [[total(found.jacobian[i][k] * response[k][j] for k in size) for j in count] for i in count]
    softened = [list(row) for row in delassus]
    for kind in (False, True):  # distances and angles have sizes of their own
        alike = [i for i in count if found.angular[i] is kind]
        soft = SINGULAR * total(delassus[i][i] for i in alike)
        for i in alike:
            softened[i][i] = softened[i][i] + soft
    missing = [-found.gamma[i] - total(found.jacobian[i][k] * free[k] for k in size) for i in count]
    first = solve_symmetric(softened, missing)
    # once refined with D itself, the softening counts only where D is as small
    left = [missing[i] - total(delassus[i][j] * first[j] for j in count) for i in count]
    multipliers = [a + b for a, b in zip(first, solve_symmetric(softened, left), strict=True)]
    closed = [free[k] + total(response[k][j] * multipliers[j] for j in count) for k in size]
    back = solve_symmetric(softened, [-c for c in found.residual])
    slow = solve_symmetric(softened, [-c for c in found.rate])
    shift = [total(response[k][j] * back[j] for j in count) for k in size]
    speeds = [v[k] + total(response[k][j] * slow[j] for j in count) for k in size]
    return Solved(closed, multipliers, retract(tree, q, shift), speeds)
