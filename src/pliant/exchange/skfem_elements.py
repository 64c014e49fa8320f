"""Elastic solids of scikit-fem as finite-element models."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse

from pliant.errors import ModelError
from pliant.fem.elements import FiniteElements
from pliant.fem.skin import outward
from pliant.model import check
from pliant.model.material import Material

PART = "skfem_elements"


def skfem_elements(
    basis: Any, material: Material, *, stiffness: Any = None, mass: Any = None, stress: bool = False
) -> FiniteElements:
    """The matrices of an elastic solid on a Basis of scikit-fem with ElementVector, in three dimensions.

    stiffness, mass: matrices assembled before, as by other forms; by default those of the isotropic material. stress: whether
    stresses at the centres of all elements are kept. Nodes are numbered as scikit-fem's vertices, then those on edges, faces and
    inside; `sets` has the nodes of the mesh's named boundaries.
    """
    try:
        from skfem import BilinearForm
        from skfem.models.elasticity import lame_parameters, linear_elasticity
    except ImportError:
        raise ModelError(f"{PART}: needs scikit-fem, which `pip install pliant[fem]` installs") from None
    mesh = getattr(basis, "mesh", None)
    if mesh is None or mesh.p.shape[0] != 3 or len(basis.nodal_dofs) % 3:
        raise ModelError.of(PART, "basis", "must be a Basis of a solid mesh with ElementVector, three unknowns a node", basis)
    check.instance(PART, "material", material, Material, "a Material")
    if material.shear_modulus is None or material.density is None:
        raise ModelError.of(PART, "material", "must have a density, and nu or G", material)
    density, shear = float(material.density), float(material.shear_modulus)
    lame = lame_parameters(material.E, material.E / (2.0 * shear) - 1.0)
    found = np.concatenate([dofs.reshape(-1, 3, dofs.shape[1]).transpose(0, 2, 1).reshape(-1, 3) for dofs in (
        basis.nodal_dofs, basis.edge_dofs, basis.facet_dofs, basis.interior_dofs) if dofs.size])  # fmt: skip
    order = found.ravel()

    def inertia(u: Any, v: Any, _: Any) -> Any:
        return density * (u[0] * v[0] + u[1] * v[1] + u[2] * v[2])

    matrices = {
        "stiffness": linear_elasticity(*lame).assemble(basis) if stiffness is None else stiffness,
        "mass": BilinearForm(inertia).assemble(basis) if mass is None else mass,
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


def _stress(basis: Any, lame: tuple[float, float]) -> Any:
    """The six stresses at the centre of every element, from all unknowns."""
    from skfem import Basis

    corners = basis.mesh.elem.refdom.p
    centred = Basis(basis.mesh, basis.elem, quadrature=(corners.mean(axis=1, keepdims=True), np.ones(1)))
    count, (first, shear) = basis.mesh.nelements, lame
    rows, columns, values = [], [], []
    for k, dofs in enumerate(centred.element_dofs):
        slope = centred.basis[k][0].grad[..., 0]  # (3, 3, elements)
        strain = 0.5 * (slope + slope.transpose(1, 0, 2))
        spread = first * np.trace(strain)
        for row, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))):
            values.append(2.0 * shear * strain[i, j] + (spread if i == j else 0.0))
            rows.append(6 * np.arange(count) + row)
            columns.append(dofs)
    places = (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_array((np.concatenate(values), places), shape=(6 * count, basis.N))
