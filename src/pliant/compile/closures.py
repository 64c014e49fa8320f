"""Loop closures in a trace: assembly at the start, multipliers in the equations, projection after every step."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from pliant.compile.traced import Scalar, Tracer
from pliant.dynamics.lagrange import retract
from pliant.dynamics.loads import Actions
from pliant.dynamics.loops import Rows, rows
from pliant.dynamics.sparse import LeastChange, Row, applied, factorise, least_change, symmetric_product
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


class _Look:
    """Residuals, rates and Jacobian of closures as numbers."""

    def __init__(self, tree: Tree, closures: Sequence[Closure], tracer: Tracer, free: Sequence[int]) -> None:
        q_column, q = tracer.symbols("q", len(tree.positions))
        v_column, v = tracer.symbols("v", len(tree.rates))
        step_column, step = tracer.symbols("step", len(tree.rates))
        self.found = rows(tree, closures, q, v, tracer)
        self.free, own = tuple(free), {k for node in tree.nodes for k in node.own_v}
        self.ease = {k: BENDING if k in own else 1.0 for k in free}
        self.count = len(tree.rates)
        entries = [x for row in self.found.jacobian for x in row.values()]
        outputs = [tracer.column(x) for x in (self.found.residual, self.found.rate, entries)]
        self._values = ca.Function("look", [q_column, v_column], outputs)
        self._move = ca.Function("move", [q_column, step_column], [tracer.column(retract(tree, q, step))])

    def at(self, q: Floats, v: Floats) -> tuple[Floats, Floats, LeastChange]:
        """c, c', and A with columns eased, which solves for the least change."""
        c, rate, entries = (np.array(x).ravel() for x in self._values(q, v))
        values = iter(entries.tolist())
        whole = [{k: next(values) for k in row} for row in self.found.jacobian]
        eased = [{k: a * self.ease[k] for k, a in row.items() if k in self.ease} for row in whole]
        return c, rate, least_change(eased, self.count, DEPENDENT)

    def change(self, matrix: LeastChange, missing: Floats) -> Floats:
        """The least change, in eased measure, that makes up for what is missing."""
        found = np.array(matrix.solve((-missing).tolist(), self.count))
        for k in self.free:
            found[k] *= self.ease[k]
        return found

    def moved(self, q: Floats, step: Floats) -> Floats:
        return np.array(self._move(q, step)).ravel()


def assemble(
    tree: Tree, closures: Sequence[Closure], tracer: Tracer, q0: Floats, v0: Floats, free: Sequence[int]
) -> Assembly:
    """Close the loops from a rough start by Gauss-Newton on all free coordinates, least change first."""
    look = _Look(tree, closures, tracer, free)
    position, rate = q0.copy(), v0.copy()
    for _ in range(ASSEMBLY_STEPS):
        c, _, matrix = look.at(position, rate)
        if np.max(np.abs(c), initial=0.0) <= ASSEMBLED:
            break
        change = look.change(matrix, c)
        longest = np.max(np.abs(change))
        change *= min(1.0, LONGEST_ASSEMBLY_STEP / max(longest, 1e-300))
        position = look.moved(position, change)
    c, speed, matrix = look.at(position, rate)
    _check_closed(closures, look.found.owners, c)
    rate = rate + look.change(matrix, speed)
    kept = set(matrix.independent)
    redundant = {closures[owner].name for k, owner in enumerate(look.found.owners) if k not in kept}
    return Assembly(position, rate, matrix.independent, tuple(sorted(redundant)))


def _check_closed(closures: Sequence[Closure], owners: Sequence[int], c: Floats) -> None:
    if np.max(np.abs(c), initial=0.0) <= 1e3 * ASSEMBLED:
        return
    worst = closures[owners[int(np.argmax(np.abs(c)))]].name
    raise SolveError(
        f"closure {worst!r}: residual must come to 0 in {ASSEMBLY_STEPS} assembly steps, {np.max(np.abs(c)):.3g} is left: the loop "
        "cannot close with these lengths, or starts too far from closing"
    )


def chosen(found: Rows, keep: Sequence[int]) -> Rows:
    """Some of the rows."""
    return Rows(
        owners=tuple(found.owners[k] for k in keep),
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
        numbers = {name: itertools.count() for name in owners}
        return tuple(f"{name} {next(numbers[name])}" for name in owners)

    @property
    def spring_forces(self) -> list[Scalar]:
        laws = [self.soft_closures[k] for k in self.soft.owners]
        return [-law.stiffness * c - law.damping * rate
                for law, c, rate in zip(laws, self.soft.residual, self.soft.rate, strict=True)]  # fmt: skip


def push(found: Rows, multipliers: Sequence[Scalar], acting: Actions) -> None:
    """tau += A^T lam."""
    for row, multiplier in zip(found.jacobian, multipliers, strict=True):
        for k, a in row.items():
            acting.tau[k] = acting.tau[k] + a * multiplier


def springs(found: Rows, closures: Sequence[Closure], acting: Actions) -> Scalar:
    """Virtual springs: lam = -Ks c - d c' (the printed plus sign is unstable); returns what they store."""
    stored: Scalar = 0.0
    power: dict[str, Scalar] = {}
    for k, owner in enumerate(found.owners):
        closure = closures[owner]
        force = -closure.stiffness * found.residual[k] - closure.damping * found.rate[k]
        for number, a in found.jacobian[k].items():
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
    response, free = _response(tracer, column, accelerations)
    delassus = symmetric_product(found.jacobian, response)
    factor = factorise(_softened(found, delassus))
    missing = [-gamma - moved for gamma, moved in zip(found.gamma, applied(found.jacobian, free), strict=True)]
    first = factor.solve(missing)
    # once refined with D itself, the softening counts only where D is as small
    left = [b - done for b, done in zip(missing, applied(delassus, first), strict=True)]
    multipliers = [a + b for a, b in zip(first, factor.solve(left), strict=True)]
    closed = [a + more for a, more in zip(free, applied(response, multipliers), strict=True)]
    shift = applied(response, factor.solve([-c for c in found.residual]))
    slow = applied(response, factor.solve([-c for c in found.rate]))
    speeds = [rate + more for rate, more in zip(v, slow, strict=True)]
    return Solved(closed, multipliers, retract(tree, q, shift), speeds)


def _response(tracer: Tracer, column: ca.SX, accelerations: Sequence[Scalar]) -> tuple[list[Row], list[Scalar]]:
    """M^-1 A^T, row by row, and the accelerations without multipliers."""
    pattern = tracer.sparse_jacobian(accelerations, column)
    entries = [x for row in pattern for x in row.values()]
    none = tracer.column([0.0] * column.numel())
    values = iter(tracer.substitute([*entries, *accelerations], column, none))
    response = [{j: next(values) for j in row} for row in pattern]
    return response, list(values)


def _softened(found: Rows, delassus: Sequence[Row]) -> list[Row]:
    """D with a little more on its diagonal, of the size of the closure's own rows of the same kind, whatever its axes are."""
    sizes: dict[tuple[int, bool], Scalar] = {}
    kinds = list(zip(found.owners, found.angular, strict=True))
    for i, kind in enumerate(kinds):
        sizes[kind] = sizes.get(kind, 0.0) + delassus[i][i]
    return [{**row, i: row[i] + SINGULAR * sizes[kinds[i]]} for i, row in enumerate(delassus)]
