"""Shapes of a finite-element body in the frame of its root: static shapes of its interfaces and natural shapes.

Statics of a free body held by its interfaces, B x = d, are solved with K + w B0^T B0, which is regular: B0 reads the root's motion.
Craig and Bampton 1968; free shapes with attachment shapes of self-equilibrated loads at the interfaces: Craig and Chang 1977.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, splu

from pliant.arrays import Floats, Ints
from pliant.errors import ModelError
from pliant.fem.elements import FiniteElements
from pliant.fem.interfaces import Interface
from pliant.fem.ordering import dissection
from pliant.model.reduction import CraigBampton, FreeModes, Reduction

PART = "modal_body"
DEPENDENT = 1e-10  # modal mass left by the other shapes, as a fraction of its own: less is round-off of a shape they contain
NO_PIVOT = 1e-11  # of the stiffness of its degree of freedom: less is round-off of a mechanism without stiffness
FIRST_TRY = 12  # natural shapes first sought below a frequency; doubled until one is above it
SYMMETRIC = {"SymmetricMode": True}  # SuperLU then keeps the diagonal
SPARE = 16  # vectors of Lanczos's method beyond twice the shapes sought


@dataclass(frozen=True, eq=False)
class Problem:
    """The matrices over the unknowns x, u = T x, and the motions of the interfaces that they determine."""

    elements: FiniteElements
    interfaces: list[Interface]  # the root first
    spread: Any  # T

    @cached_property
    def mass(self) -> Any:
        return sparse.csc_array(self.spread.T @ self.elements.mass @ self.spread)

    @cached_property
    def stiffness(self) -> Any:
        return sparse.csc_array(self.spread.T @ self.elements.stiffness @ self.spread)

    @cached_property
    def rigid(self) -> Floats:
        """The rigid motions about the root, of the unknowns: (unknowns, 6)."""
        full = self.elements.rigid(self.interfaces[0].position)
        found = np.asarray(self.spread.T @ full)
        if self.spread.shape[0] != self.spread.shape[1]:  # the last unknowns are the motions of rigid interfaces
            ends = np.concatenate([one.reads @ full for one in self.interfaces])
            found[-len(ends) :] = ends
        return found

    @cached_property
    def order(self) -> Ints:
        """The unknowns in an order in which factors fill in little; motions of rigid interfaces come last."""
        spread = sparse.csc_array(self.spread)
        free = spread.shape[1] - (0 if spread.shape[0] == spread.shape[1] else sum(len(one) for one in self.reads))
        owner = spread.indices[spread.indptr[:free]] // self.elements.per_node
        place = np.empty(len(self.elements.nodes), dtype=np.int64)
        place[dissection(self.elements.nodes, self.elements.neighbours)] = np.arange(len(place))
        return np.concatenate([np.argsort(place[owner], kind="stable"), np.arange(free, spread.shape[1])])

    @cached_property
    def reads(self) -> list[Floats]:
        """B of every interface: (6 or 3, unknowns) each."""
        return [np.asarray((one.reads @ self.spread).todense()) for one in self.interfaces]

    def statics(self) -> Held:
        weight = float(np.mean(np.abs(self.stiffness.diagonal())))
        own = sparse.csc_array(self.reads[0])
        regular = self.stiffness + weight * (own.T @ own)
        return Held(self, _factored(self, regular))


@dataclass(frozen=True, eq=False)
class Factors:
    """LU factors of a symmetric matrix, in an order of its rows."""

    order: Ints
    factors: Any

    def solve(self, loads: Floats) -> Floats:
        found = np.empty_like(loads)
        found[self.order] = self.factors.solve(np.ascontiguousarray(loads[self.order]))
        return found


def _factored(problem: Problem, matrix: Any) -> Factors:
    """The factors of a matrix; a mechanism without stiffness is refused, with the degree of freedom where it shows."""
    order = problem.order
    ordered = sparse.csc_matrix(matrix[order][:, order])
    try:
        factors = splu(ordered, permc_spec="NATURAL", diag_pivot_thresh=0.0, options=SYMMETRIC)
    except RuntimeError:
        raise _without_stiffness(problem, int(np.argmin(np.abs(matrix.diagonal()))), 0.0) from None
    rows = np.argsort(factors.perm_c)
    share = np.abs(factors.U.diagonal()) / np.abs(ordered.diagonal())[rows]
    worst = int(np.argmin(share))
    if share[worst] < NO_PIVOT:
        raise _without_stiffness(problem, int(order[rows[worst]]), float(share[worst]))
    return Factors(order, factors)


def _without_stiffness(problem: Problem, unknown: int, share: float) -> ModelError:
    column = problem.spread[:, [unknown]].tocoo()
    k = int(column.row[np.argmax(np.abs(column.data))])
    rule = f"must resist every motion but the six rigid ones; at {problem.elements.name_of(k)} other motions meet no stiffness"
    return ModelError.of(PART, f"stiffness[{k}, {k}]", rule, f"{share:.2g} of its stiffness left by its neighbours")


@dataclass(frozen=True, eq=False)
class Held:
    """Statics of the body with some interfaces held."""

    problem: Problem
    factors: Factors

    def solve(self, loads: Floats, held: Floats, motions: Floats | None = None) -> Floats:
        """x of K x = loads + held^T forces, with held x = motions (zero by default)."""
        flexible = self.factors.solve(held.T)
        free = self.factors.solve(loads)
        wanted = 0.0 if motions is None else motions
        forces = np.linalg.solve(held @ flexible, wanted - held @ free)
        return np.asarray(free + flexible @ forces)


def reduced_shapes(problem: Problem, reduction: Reduction) -> Floats:
    """Shapes that vanish at the root's frame, orthogonal by mass and stiffness, lowest frequency first, largest displacement 1."""
    held = problem.statics()
    found = _free(problem, held, reduction) if isinstance(reduction, FreeModes) else _fixed(problem, held, reduction)
    found -= problem.rigid @ (problem.reads[0] @ found)
    return _orthogonal(problem, found)


def _fixed(problem: Problem, held: Held, reduction: CraigBampton) -> Floats:
    """Craig-Bampton: a static shape for each motion of every interface but the root, and natural shapes with all of them held."""
    every = np.concatenate(problem.reads)
    moving = len(every) - 6
    motions = np.concatenate([np.zeros((6, moving)), np.eye(moving)])
    static = held.solve(np.zeros((every.shape[1], moving)), every, motions) if moving else np.zeros((every.shape[1], 0))
    flexible = held.factors.solve(every.T)
    solid = np.linalg.inv(every @ flexible)

    def inverse(load: Floats) -> Floats:
        free = held.factors.solve(load)
        return np.asarray(free - flexible @ (solid @ (every @ free)))

    natural = _natural(problem, reduction, inverse, 0.0, len(every))
    return np.concatenate([static, natural], axis=1)


def _free(problem: Problem, held: Held, reduction: FreeModes) -> Floats:
    """Free-free natural shapes, and the flexible response to each force and moment at an interface, balanced by inertia."""
    rigid, mass = problem.rigid, problem.mass
    inertia = rigid.T @ (mass @ rigid)
    ends = np.concatenate(problem.reads).T
    balanced = ends - (mass @ rigid) @ np.linalg.solve(inertia, rigid.T @ ends)
    attached = held.solve(balanced, problem.reads[0])

    def inverse(load: Floats) -> Floats:
        """The flexible response, orthogonal to the rigid motions: the inverse without them."""
        load = load - (mass @ rigid) @ np.linalg.solve(inertia, rigid.T @ load)
        free = held.factors.solve(load)
        return np.asarray(free - rigid @ np.linalg.solve(inertia, rigid.T @ (mass @ free)))

    natural = _natural(problem, reduction, inverse, 0.0, 6)
    return np.concatenate([attached, natural], axis=1)


def _natural(problem: Problem, reduction: Reduction, inverse: Any, shift: float, held: int) -> Floats:
    """The natural shapes asked for, by number or up to a frequency."""
    count, most = problem.mass.shape[0], problem.mass.shape[0] - held - 1
    operator = LinearOperator((count, count), matvec=inverse, dtype=np.float64)
    start = inverse(problem.mass @ np.random.default_rng(1).standard_normal(count))

    def lowest(number: int) -> tuple[Floats, Floats]:
        vectors = min(2 * number + SPARE, count - 1)
        try:
            squares, shapes = eigsh(problem.stiffness, number, problem.mass, shift, OPinv=operator, v0=start, ncv=vectors, tol=0.0)
        except ArpackError as trouble:
            raise ModelError(
                f"{PART}: natural shapes cannot be found ({trouble}); the mass matrix must be positive semidefinite"
            ) from None
        order = np.argsort(squares)
        return squares[order], shapes[:, order]

    if reduction.highest is None:
        number = reduction.count
        if number > most:
            raise ModelError.of(PART, "reduction.modes", f"must be <= {most}, the shapes of this mesh", number)
        return lowest(number)[1] if number else np.zeros((count, 0))
    number, limit = min(FIRST_TRY, most), (2.0 * np.pi * reduction.highest) ** 2
    while True:
        squares, shapes = lowest(number)
        if squares[-1] > limit or number == most:
            return shapes[:, squares <= limit]
        number = min(2 * number, most)


def _orthogonal(problem: Problem, found: Floats) -> Floats:
    """The natural shapes within a space of shapes; those that the others contain are left out."""
    if not found.shape[1]:
        raise ModelError.of(PART, "reduction", "must keep at least one shape (a body without shapes is a pl.RigidBody)", 0)
    found = found / np.sqrt(np.einsum("xj,xj->j", found, problem.mass @ found))
    sizes, mixed = np.linalg.eigh(found.T @ (problem.mass @ found))
    if sizes[0] < -DEPENDENT:
        raise ModelError(f"{PART}: mass must be positive semidefinite, but a shape has the modal mass {sizes[0]:.3g} of its size")
    kept = sizes > DEPENDENT
    found = found @ (mixed[:, kept] / np.sqrt(sizes[kept]))
    squares, mixed = eigh(found.T @ (problem.stiffness @ found), found.T @ (problem.mass @ found))
    if squares[0] <= 0.0:
        rule = f"stiffness must be positive semidefinite, but a shape has the eigenvalue {squares[0]:.3g} 1/s^2"
        raise ModelError(f"{PART}: {rule}")
    return np.asarray(found @ mixed)
