"""Interfaces: sets of nodes that carry a frame. Its position and rotation are linear functions of the displacements.

The frame moves as the mean of its nodes, weighted equally (the displacement, and the rotation that fits theirs with least
squares); nodes of a rigid interface move as one rigid body, whose frame it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse

from pliant.arrays import Floats, Ints
from pliant.errors import ModelError
from pliant.fem.elements import FiniteElements, _skew

ON_A_LINE = 1e-6  # of the larger moments: nodes this close to a line do not determine a rotation about it


@dataclass(frozen=True, eq=False)
class Interface:
    """A frame on several nodes: u = `reads` times the displacements of the mesh."""

    name: str
    nodes: Ints
    position: Floats  # m, in the axes of the mesh
    reads: Any  # (6, size), or (3, size) if the nodes do not determine a rotation; sparse

    @property
    def turns(self) -> bool:
        return bool(self.reads.shape[0] == 6)


def interface(part: str, field: str, elements: FiniteElements, given: Any, name: str) -> Interface:
    """The interface on given nodes, by their numbers."""
    count = len(elements.nodes)
    try:
        numbers = np.unique(np.atleast_1d(np.asarray(given if not isinstance(given, Iterable) else list(given))))
    except (TypeError, ValueError):
        numbers = np.array([])
    if not numbers.size or numbers.dtype.kind not in "iu" or numbers[0] < 0 or numbers[-1] >= count:
        raise ModelError.of(part, field, f"must be numbers of nodes, 0 to {count - 1}", str(given)[:80])
    position = elements.nodes[numbers].mean(axis=0)
    reads = mean_motion(elements, numbers)
    if reads.shape[0] == 3 and len(numbers) > 1:
        rule = "must not be on one line, which determines no rotation about it: take nodes of a face, or a single node"
        raise ModelError.of(part, field, rule, numbers[:6].tolist())
    return Interface(name, numbers, position, reads)


def mean_motion(elements: FiniteElements, nodes: Ints) -> Any:
    """The mean displacement of nodes and, where they determine it, their mean rotation: (3 or 6, size), sparse."""
    step, size, share = elements.per_node, elements.size, 1.0 / len(nodes)
    dofs = step * nodes[:, None] + np.arange(3)
    moves = sparse.csr_array((np.full(dofs.size, share), (np.tile(np.arange(3), len(nodes)), dofs.ravel())), shape=(3, size))
    if step == 6 and len(nodes) == 1:
        turns = sparse.csr_array((np.ones(3), (np.arange(3), dofs[0] + 3)), shape=(3, size))
        return sparse.vstack([moves, turns], format="csr")
    arms = _skew(elements.nodes[nodes] - elements.nodes[nodes].mean(axis=0))
    moments = -np.einsum("nij,njk->ik", arms, arms)  # sum of r^2 1 - r r^T
    sizes = np.linalg.eigvalsh(moments)
    if not sizes[0] > ON_A_LINE * sizes[2]:
        return moves
    fitted = np.linalg.solve(moments, arms.transpose(1, 0, 2).reshape(3, -1))
    turns = sparse.csr_array((fitted.ravel(), (np.repeat(np.arange(3), dofs.size), np.tile(dofs.ravel(), 3))), shape=(3, size))
    return sparse.vstack([moves, turns], format="csr")


def rigid_regions(elements: FiniteElements, interfaces: list[Interface]) -> Any:
    """u = T x, where the nodes of each interface move as a rigid body, by six unknowns in place of theirs: (size, unknowns)."""
    step, size = elements.per_node, elements.size
    owner = np.full(len(elements.nodes), -1)
    for k, one in enumerate(interfaces):
        if np.any(owner[one.nodes] >= 0):
            other = interfaces[int(owner[one.nodes].max())].name
            shared = int(one.nodes[np.argmax(owner[one.nodes] >= 0)])
            raise ModelError.of("modal_body", f"interfaces[{one.name!r}]", f"must share no node with {other!r}", shared)
        owner[one.nodes] = k
    free = np.flatnonzero(np.repeat(owner < 0, step))
    blocks = [sparse.csr_array((np.ones(free.size), (free, np.arange(free.size))), shape=(size, free.size))]
    for one in interfaces:
        dofs = (step * one.nodes[:, None] + np.arange(step)).ravel()
        motions = elements.rigid(one.position)[dofs][:, : one.reads.shape[0]]
        row, column = np.repeat(dofs, motions.shape[1]), np.tile(np.arange(motions.shape[1]), dofs.size)
        blocks.append(sparse.csr_array((motions.ravel(), (row, column)), shape=(size, motions.shape[1])))
    return sparse.hstack(blocks, format="csr")


def nodal_turns(elements: FiniteElements, shapes: Floats) -> Floats:
    """The rotation of every node: its own with 6 degrees of freedom, else that which fits its neighbours with least squares."""
    step = elements.per_node
    moves = shapes.reshape(len(elements.nodes), step, -1)
    if step == 6:
        return np.ascontiguousarray(moves[:, 3:])
    joined, r = elements.neighbours, elements.nodes
    count = joined @ np.ones(len(r))
    centre = (joined @ r) / count[:, None]
    products = (joined @ np.einsum("ni,nj->nij", r, r).reshape(-1, 9)).reshape(-1, 3, 3)
    spread = products - count[:, None, None] * np.einsum("ni,nj->nij", centre, centre)
    moments = np.trace(spread, axis1=1, axis2=2)[:, None, None] * np.eye(3) - spread
    found = np.empty((len(r), 3, moves.shape[2]))
    usable = np.linalg.eigvalsh(moments)
    good = usable[:, 0] > ON_A_LINE * usable[:, 2]
    inverse = np.zeros_like(moments)
    inverse[good] = np.linalg.inv(moments[good])
    for j in range(moves.shape[2]):
        u = moves[:, :, j]
        mixed = (joined @ np.einsum("ni,nj->nij", r, u).reshape(-1, 9)).reshape(-1, 3, 3)
        mixed -= np.einsum("ni,nj->nij", centre, joined @ u)  # sum of (r - centre) u^T
        turning = np.stack([mixed[:, 1, 2] - mixed[:, 2, 1], mixed[:, 2, 0] - mixed[:, 0, 2], mixed[:, 0, 1] - mixed[:, 1, 0]], 1)
        found[:, :, j] = np.einsum("nij,nj->ni", inverse, turning)
    return found
