"""Finite-element models of Nastran: a mesh from bulk data, and matrices of the g-set in an OUTPUT4 file, read by pyNastran."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sparse

from pliant.errors import ModelError
from pliant.fem.elements import FiniteElements
from pliant.fem.skin import skin_of_cells
from pliant.model import check

PART = "read_nastran"
KINDS = {"CTETRA": "tetrahedron", "CHEXA": "hexahedron", "CPENTA": "wedge"}


def read_nastran(bulk: str | Path, matrices: str | Path, *, stiffness: str = "KGG", mass: str = "MGG") -> FiniteElements:
    """The finite-element model of a Nastran run: its bulk data, and an OUTPUT4 file with the matrices of all grid points.

    stiffness, mass: the names of the matrices, six rows a grid point in the order of their numbers. Rotations without stiffness,
    as those of solids, are left out if no grid point has any. `numbers` has the numbers of the grid points.
    """
    try:
        from pyNastran.bdf.bdf import read_bdf
        from pyNastran.op4.op4 import read_op4
    except (ImportError, AttributeError) as trouble:  # its present version reads what NumPy 2 no longer has
        raise ModelError(f"{PART}: needs pyNastran, which `pip install pliant[nastran]` installs: {trouble}") from None
    paths = [check.path(PART, name, path) for name, path in (("bulk", bulk), ("matrices", matrices))]
    for path in paths:
        if not path.is_file():
            raise ModelError.of(PART, "path", "must be a file", str(path))
    mesh = read_bdf(paths[0], xref=False, punch=None, debug=None)
    mesh.cross_reference(xref_constraints=False, xref_loads=False, xref_nodes=True)
    numbers = np.array(sorted(mesh.nodes), dtype=np.int64)
    points = np.array([mesh.nodes[n].get_position() for n in numbers])
    held = read_op4(str(paths[1]), debug=None)
    found = {name: _matrix(held, own, 6 * len(numbers)) for name, own in (("stiffness", stiffness), ("mass", mass))}
    turns = np.arange(6 * len(numbers)) % 6 >= 3
    if not np.any(found["stiffness"].diagonal()[turns]):
        found = {name: matrix[~turns][:, ~turns] for name, matrix in found.items()}
    cells: dict[str, list[Any]] = {}
    for element in mesh.elements.values():
        if element.type in KINDS:
            corners = element.node_ids[: {"CTETRA": 4, "CHEXA": 8, "CPENTA": 6}[element.type]]
            cells.setdefault(KINDS[element.type], []).append(np.searchsorted(numbers, corners))
    triangles = skin_of_cells(points, [(kind, np.array(own)) for kind, own in cells.items()])
    return FiniteElements(nodes=points, triangles=triangles, numbers=numbers, **found)


def _matrix(held: Any, name: str, size: int) -> Any:
    if name not in held:
        raise ModelError.of(PART, "matrices", f"must hold {name!r}", sorted(held))
    data = held[name].data if hasattr(held[name], "data") else held[name][1]
    matrix = sparse.csr_array(data)
    if matrix.shape != (size, size):
        rule = f"must have the shape {(size, size)}, six rows a grid point of the bulk data"
        raise ModelError.of(PART, name, rule, matrix.shape)
    upper = sparse.triu(matrix, 1).nnz
    if not upper or not sparse.tril(matrix, -1).nnz:  # one triangle stands for both
        matrix = matrix + matrix.T - sparse.diags_array(matrix.diagonal())
    return matrix
