"""The matrices of a finite-element model of a free body, checked when given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import connected_components

from pliant.arrays import Floats, Ints
from pliant.errors import ModelError

Matrix = Any  # sparse, in rows

PART = "FiniteElements"
SYMMETRIC = 1e-9  # of the largest entry: assembly leaves round-off of about 1e-16 times the entries of a node
UNSUPPORTED = 1e-7  # force of a rigid motion, as a fraction of the forces of a single node moved alone: round-off leaves 1e-12
SAME_MASS = 1e-6  # relative difference of the masses along x, y and z
AXES = ("x", "y", "z", "about x", "about y", "about z")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FiniteElements:
    """Mass and stiffness matrix of a free body, without supports, and its nodes, as a finite-element program assembles them.

    The degrees of freedom are node by node: x, y, z of node 0, then of node 1; with 6 per node, its small rotations about x, y, z
    after them. triangles: the skin, by node numbers. stress: a matrix that gives xx, yy, zz, yz, xz, xy at each of the
    stress_points, one after the other, from all degrees of freedom. geometric: geometric stiffness matrices by what loads the body
    (see `pl.modal_body`). numbers: of the nodes in their file; sets: nodes by the names of a file's sets.
    """

    mass: Any  # kg
    stiffness: Any  # N/m
    nodes: Any  # m
    triangles: Any = ()
    stress: Any = None  # Pa/m
    stress_points: Any = ()  # m
    geometric: Mapping[Any, Any] = field(default_factory=dict)
    numbers: Any = ()
    sets: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        nodes = _rows("nodes", self.nodes, "fiu", "finite positions (x, y, z) in m, one row per node")
        if not len(nodes):
            raise ModelError.of(PART, "nodes", "must hold at least one node", _brief(self.nodes))
        object.__setattr__(self, "nodes", nodes)
        for name in ("mass", "stiffness"):
            object.__setattr__(self, name, self._symmetric(name, getattr(self, name)))
        object.__setattr__(self, "geometric", {
            load: self._symmetric(f"geometric[{load!r}]", matrix) for load, matrix in self.geometric.items()})  # fmt: skip
        self._check_diagonals()
        self._check_mass()
        self._check_free()
        triangles = _rows("triangles", self.triangles, "iu", "three whole node numbers, one row per triangle")
        object.__setattr__(self, "triangles", triangles.astype(np.int64))
        points = _rows("stress_points", self.stress_points, "fiu", "finite positions (x, y, z) in m, one row per point")
        object.__setattr__(self, "stress_points", points)
        if self.triangles.size and not 0 <= self.triangles.min() <= self.triangles.max() < len(nodes):
            raise ModelError.of(PART, "triangles", f"must name nodes 0 to {len(nodes) - 1}", int(self.triangles.max()))
        wanted = (6 * len(self.stress_points), self.size)
        if self.stress is not None and getattr(self.stress, "shape", None) != wanted:
            rule = f"must be a matrix of the shape {wanted}, six rows per stress point"
            raise ModelError.of(PART, "stress", rule, _brief(self.stress))

    def __repr__(self) -> str:
        return f"FiniteElements({len(self.nodes)} nodes)"

    def numbered(self, numbers: Any) -> Ints:
        """The nodes with these numbers in their file."""
        known = {int(number): k for k, number in enumerate(self.numbers)}
        missing = [int(number) for number in np.ravel(numbers) if int(number) not in known]
        if missing:
            raise ModelError.of(PART, "numbers", "must be numbers of nodes of the file", missing[0])
        return np.array([known[int(number)] for number in np.ravel(numbers)])

    @property
    def size(self) -> int:
        """The number of degrees of freedom."""
        return int(self.mass.shape[0])

    @property
    def per_node(self) -> int:
        """Degrees of freedom of a node: 3 or 6."""
        return self.size // len(self.nodes)

    def name_of(self, dof: int) -> str:
        """A degree of freedom in words."""
        return f"node {dof // self.per_node}, {AXES[dof % self.per_node]}"

    def rigid(self, about: Floats | None = None) -> Floats:
        """The six rigid motions, three displacements and three rotations about a point: (size, 6)."""
        r = self.nodes if about is None else self.nodes - about
        motions = np.zeros((len(self.nodes), self.per_node, 6))
        motions[:, :3, :3] = np.eye(3)
        motions[:, :3, 3:] = -_skew(r)
        if self.per_node == 6:
            motions[:, 3:, 3:] = np.eye(3)
        return motions.reshape(self.size, 6)

    @cached_property
    def nodal_mass(self) -> Matrix:
        """The mass matrix of one direction, the mean over the three: (nodes, nodes). It does not depend on the axes."""
        step = self.per_node
        return sparse.csr_array(sum(self.mass[k::step, k::step] for k in range(3)) / 3.0)

    @cached_property
    def neighbours(self) -> Matrix:
        """Which nodes share an element: a matrix of ones, (nodes, nodes)."""
        found = self.stiffness.tocoo()
        row, column = found.row // self.per_node, found.col // self.per_node
        joined = sparse.csr_array((np.ones(row.size), (row, column)), shape=(len(self.nodes),) * 2)
        joined.data[:] = 1.0
        return joined

    def _symmetric(self, name: str, given: Any) -> Matrix:
        """A square matrix over all degrees of freedom, in rows; the round-off of its symmetry is removed."""
        try:
            matrix = sparse.csr_array(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise ModelError.of(PART, name, "must be a sparse or dense matrix of numbers", _brief(given)) from None
        count = len(self.nodes)
        if matrix.shape not in [(k * count, k * count) for k in (3, 6)]:
            rule = f"must have the shape {(3 * count,) * 2}, or {(6 * count,) * 2} with rotations, for {count} nodes"
            raise ModelError.of(PART, name, rule, matrix.shape)
        matrix.sum_duplicates()
        if not np.all(np.isfinite(matrix.data)):
            found = matrix.tocoo()
            k = int(np.argmin(np.isfinite(found.data)))
            raise ModelError.of(PART, f"{name}[{found.row[k]}, {found.col[k]}]", "must be a finite number", found.data[k])
        difference = (matrix - matrix.T).tocoo()
        if difference.nnz and np.max(np.abs(difference.data)) > SYMMETRIC * np.max(np.abs(matrix.data)):
            k = int(np.argmax(np.abs(difference.data)))
            i, j = int(difference.row[k]), int(difference.col[k])
            raise ModelError.of(
                PART, f"{name}[{i}, {j}]", f"must equal {name}[{j}, {i}] = {matrix[j, i]:.10g}", float(matrix[i, j])
            )
        return sparse.csr_array(0.5 * (matrix + matrix.T))

    def _check_diagonals(self) -> None:
        """Every node has mass along x, y and z, and every degree of freedom stiffness."""
        for name, least in (("stiffness", 6), ("mass", 3)):
            diagonal = getattr(self, name).diagonal()
            bad = (diagonal < 0.0) | ((diagonal == 0.0) & (np.arange(self.size) % self.per_node < least))
            if np.any(bad):
                k = int(np.argmax(bad))
                rule = f"must be > 0 ({self.name_of(k)}); leave out nodes that no element holds"
                raise ModelError.of(PART, f"{name}[{k}, {k}]", rule, float(diagonal[k]))

    def _check_mass(self) -> None:
        shift = self.rigid()[:, :3]
        total = shift.T @ (self.mass @ shift)
        if np.max(np.abs(total - total[0, 0] * np.eye(3))) > SAME_MASS * abs(total[0, 0]):
            rule = "must give the body the same mass, in kg, along x, y and z"
            raise ModelError.of(PART, "mass", rule, [float(f"{x:.6g}") for x in np.diag(total)])

    def _check_free(self) -> None:
        """The body is in one piece, and nothing holds it: rigid motions meet no force."""
        pieces, labels = connected_components(self.neighbours, directed=False)
        if pieces > 1:
            node = int(np.argmax(labels != labels[0]))
            rule = f"must hold the body together, but no element joins node {node} to node 0"
            raise ModelError.of(PART, "stiffness", rule, f"{pieces} pieces")
        motions = self.rigid(self.nodes.mean(axis=0))
        motions[:, 3:] /= max(float(np.ptp(self.nodes, axis=0).max()), 1e-300)
        forces = np.abs(self.stiffness @ motions)
        size = abs(self.stiffness) @ np.abs(motions)
        held = forces > UNSUPPORTED * np.max(size)
        if np.any(held):
            k, motion = np.unravel_index(int(np.argmax(forces)), forces.shape)
            rule = (
                f"must be that of the free body, without supports, but a rigid motion ({AXES[int(motion)]}) meets a force at "
                f"{self.name_of(int(k))}"
            )
            raise ModelError.of(PART, f"stiffness[{k}]", rule, f"{forces[k, motion]:.3g} N per m")


def _rows(name: str, given: Any, kinds: str, wanted: str) -> Any:
    """Rows of three real numbers; nothing is no rows."""
    try:
        rows = np.array(given)
    except (TypeError, ValueError):
        rows = np.array("")
    if rows.size == 0 and rows.dtype.kind != "U":
        return np.zeros((0, 3))
    if rows.ndim != 2 or rows.shape[1] != 3 or rows.dtype.kind not in kinds or not np.all(np.isfinite(rows)):
        raise ModelError.of(PART, name, f"must be {wanted}", _brief(given))
    return rows if kinds == "iu" else rows.astype(np.float64)


def _skew(r: Floats) -> Floats:
    """r x of many vectors: (count, 3, 3)."""
    x, y, z = r.T
    zero = np.zeros_like(x)
    return np.stack([np.stack([zero, -z, y], 1), np.stack([z, zero, -x], 1), np.stack([-y, x, zero], 1)], 1)


def _brief(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return repr(value)[:80] if shape is None else f"an array of shape {shape}"
