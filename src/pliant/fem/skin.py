"""The skin of a mesh: triangles of the faces that belong to one element only, turned outwards."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pliant.arrays import Floats, Ints

# Faces of an element by the numbers of its corner nodes, which come first in every element of higher order.
FACES: dict[str, tuple[tuple[int, ...], ...]] = {
    "tetrahedron": ((0, 1, 2), (0, 1, 3), (1, 2, 3), (0, 2, 3)),
    "hexahedron": ((0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)),
    "wedge": ((0, 1, 2), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)),
}


def skin_of_cells(points: Floats, cells: Iterable[tuple[str, Ints]]) -> Ints:
    """The skin of cells, each kind with its nodes, (count, nodes); kinds without faces have none."""
    found: dict[int, list[Ints]] = {3: [], 4: []}
    inside: dict[int, list[Floats]] = {3: [], 4: []}
    for kind, nodes in cells:
        for face in FACES.get(kind, ()):
            corners = 8 if kind == "hexahedron" else 6 if kind == "wedge" else 4
            found[len(face)].append(nodes[:, face])
            inside[len(face)].append(points[nodes[:, :corners]].mean(axis=1))
    triangles = [np.zeros((0, 3), dtype=np.int64)]
    for size, faces in found.items():
        if faces:
            every = np.concatenate(faces)
            _, first, count = np.unique(np.sort(every, axis=1), axis=0, return_index=True, return_counts=True)
            outer = first[count == 1]
            triangles.append(outward(points, every[outer], np.concatenate(inside[size])[outer]))
    return np.concatenate(triangles)


def outward(points: Floats, faces: Ints, inside: Floats) -> Ints:
    """Triangles of faces with three or four corners, in any order, turned away from a point inside."""
    if faces.shape[1] == 4:
        apart = np.sum((points[faces] - points[faces[:, :1]]) ** 2, axis=2)
        order = np.argsort(apart, axis=1)  # the corner itself, its neighbours, and the one across
        faces = np.take_along_axis(faces, order[:, [0, 1, 3, 2]], axis=1)
        triangles = np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])
        inside = np.concatenate([inside, inside])
    else:
        triangles = faces
    a, b, c = (points[triangles[:, k]] for k in range(3))
    inwards = np.einsum("ni,ni->n", np.cross(b - a, c - a), a - inside) < 0.0
    return np.where(inwards[:, None], triangles[:, ::-1], triangles)
