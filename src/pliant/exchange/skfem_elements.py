"""Elastic solids of scikit-fem as finite-element models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sparse

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.fem.elements import FiniteElements
from pliant.fem.skin import outward
from pliant.model import check
from pliant.model.material import Material

PART = "skfem_elements"
PAIRS = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))  # of the stresses
BATCH = 2000  # elements assembled at once: their numbers stay in the cache


def skfem_elements(
    basis: Any, material: Material, *, stiffness: Any = None, mass: Any = None, stress: bool = False
) -> FiniteElements:
    """The matrices of an elastic solid on a Basis of scikit-fem with ElementVector, in three dimensions.

    stiffness, mass: matrices assembled before, as by other forms; by default those of the isotropic material. stress: whether
    stresses at the centres of all elements are kept. Nodes are numbered as scikit-fem's vertices, then those on edges, faces and
    inside; `sets` has the nodes of the mesh's named boundaries.
    """
    mesh = getattr(basis, "mesh", None)
    if mesh is None or mesh.p.shape[0] != 3 or len(basis.nodal_dofs) % 3:
        raise ModelError.of(PART, "basis", "must be a Basis of a solid mesh with ElementVector, three unknowns a node", basis)
    check.instance(PART, "material", material, Material, "a Material")
    if material.shear_modulus is None or material.density is None or not 3.0 * material.shear_modulus > material.E:
        raise ModelError.of(PART, "material", "must have a density, and nu < 0.5 or G", material)
    density, shear = float(material.density), float(material.shear_modulus)
    lame = shear * (float(material.E) - 2.0 * shear) / (3.0 * shear - float(material.E)), shear
    found = np.concatenate([dofs.reshape(-1, 3, dofs.shape[1]).transpose(0, 2, 1).reshape(-1, 3) for dofs in (
        basis.nodal_dofs, basis.edge_dofs, basis.facet_dofs, basis.interior_dofs) if dofs.size])  # fmt: skip
    order = found.ravel()

    matrices = {
        "stiffness": _assembled(basis, _strains, _elasticity(lame)) if stiffness is None else stiffness,
        "mass": _assembled(basis, _values, density * np.eye(3)) if mass is None else mass,
    }
    nodes = basis.doflocs[:, found[:, 0]].T
    vertex = np.empty(basis.N, dtype=np.int64)
    vertex[found] = np.arange(len(found))[:, None]
    corner = vertex[basis.nodal_dofs[0]]  # the node of every vertex
    faces = mesh.boundary_facets()
    inside = mesh.p[:, mesh.t[:, mesh.f2t[0, faces]]].mean(axis=1).T
    sets = {name: np.unique(vertex[basis.get_dofs(name).all()]) for name in mesh.boundaries or {}}
    more: dict[str, Any] = {}
    if stress:
        more = {"stress": _stress(basis, lame)[:, order], "stress_points": mesh.p[:, mesh.t].mean(axis=1).T}
    return FiniteElements(
        nodes=nodes, triangles=corner[outward(mesh.p.T, mesh.facets[:, faces].T, inside)], sets=sets,
        **{name: sparse.csr_array(matrix)[order][:, order] for name, matrix in matrices.items()}, **more,
    )  # fmt: skip


def _assembled(basis: Any, of: Callable[[Any], Floats], law: Floats) -> Any:
    """The matrix of int of(v) . law of(u), batch by batch of elements: a tenth of the time of a form."""
    width, count = len(basis.element_dofs), basis.mesh.nelements
    found = np.empty((count, width, width))
    every = [of(own[0]) for own in basis.basis]  # (components, elements, points) of each
    for first in range(0, count, BATCH):
        own = slice(first, first + BATCH)
        each = np.stack([values[:, own] for values in every], axis=1)  # (components, width, elements, points)
        loaded = np.tensordot(law, each, axes=1) * basis.dx[own]
        left, right = (x.transpose(2, 1, 0, 3).reshape(x.shape[2], width, -1) for x in (each, loaded))
        found[own] = left @ right.transpose(0, 2, 1)
    dofs = basis.element_dofs.T
    rows, columns = np.repeat(dofs, width, axis=1).ravel(), np.tile(dofs, (1, width)).ravel()
    return sparse.csr_array((found.ravel(), (rows, columns)), shape=(basis.N, basis.N))


def _values(field: Any) -> Floats:
    return np.asarray(field)


def _strains(field: Any) -> Floats:
    """xx, yy, zz, and twice yz, xz, xy: (6, elements, points)."""
    slope = np.asarray(field.grad)
    return np.stack([slope[i, j] if i == j else slope[i, j] + slope[j, i] for i, j in PAIRS])


def _elasticity(lame: tuple[float, float]) -> Floats:
    """The stresses xx, yy, zz, yz, xz, xy of these strains."""
    found = lame[1] * np.diag([2.0, 2.0, 2.0, 1.0, 1.0, 1.0])
    found[:3, :3] += lame[0]
    return found


def _stress(basis: Any, lame: tuple[float, float]) -> Any:
    """The six stresses at the centre of every element, from all unknowns."""
    from skfem import Basis

    corners, count = basis.mesh.elem.refdom.p, basis.mesh.nelements
    centred = Basis(basis.mesh, basis.elem, quadrature=(corners.mean(axis=1, keepdims=True), np.ones(1)))
    values = np.stack([_elasticity(lame) @ _strains(own[0])[..., 0] for own in centred.basis])  # (width, 6, elements)
    rows = np.broadcast_to((6 * np.arange(count) + np.arange(6)[:, None])[None], values.shape)
    columns = np.broadcast_to(centred.element_dofs[:, None], values.shape)
    return sparse.csr_array((values.ravel(), (rows.ravel(), columns.ravel())), shape=(6 * count, basis.N))
