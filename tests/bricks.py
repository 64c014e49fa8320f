"""Finite-element models written out here: a box of linear bricks, and a line of beam elements."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sparse

import pliant as pl

CORNERS = np.array([(i, j, k) for k in (0, 1) for j in (0, 1) for i in (0, 1)])
GAUSS = (-1.0 / np.sqrt(3.0), 1.0 / np.sqrt(3.0))


def brick(size, modulus, poisson, density, reduced=True):
    """(mass, stiffness) of one brick with trilinear shapes; incompatible modes removed its shear locking (Wilson, Taylor 1976)."""
    lam, mu = modulus * poisson / ((1 + poisson) * (1 - 2 * poisson)), modulus / (2 * (1 + poisson))
    elastic = np.diag([2 * mu] * 3 + [mu] * 3)
    elastic[:3, :3] += lam
    signs = 2.0 * CORNERS - 1.0
    mass, stiffness = np.zeros((24, 24)), np.zeros((33, 33))
    half = 0.5 * np.asarray(size)
    volume = float(np.prod(half))
    for point in np.array(np.meshgrid(GAUSS, GAUSS, GAUSS)).reshape(3, -1).T:
        n = np.prod(1.0 + signs * point, axis=1) / 8.0
        slopes = np.stack([signs[:, a] * np.prod(np.delete(1.0 + signs * point, a, 1), axis=1) / 8.0 for a in range(3)], 1) / half
        bubble = np.diag(-2.0 * point / half)
        strain = np.concatenate([_strain(row) for row in np.concatenate([slopes, bubble])], axis=1)
        stiffness += volume * strain.T @ elastic @ strain
        mass += volume * density * np.kron(np.outer(n, n), np.eye(3))
    inner = stiffness[24:, 24:]
    return mass, stiffness[:24, :24] - stiffness[:24, 24:] @ np.linalg.solve(inner, stiffness[24:, :24])


def _strain(slope):
    x, y, z = slope
    return np.array([[x, 0, 0], [0, y, 0], [0, 0, z], [0, z, y], [z, 0, x], [y, x, 0]], dtype=float)


def box(size, counts, modulus=70e9, poisson=0.3, density=2700.0, **more):
    """FiniteElements of a box from the origin along x, centred in y and z; counts: of bricks along each axis."""
    lines = [np.linspace(0.0, length, n + 1) for length, n in zip(size, counts, strict=True)]
    grid = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, 3) - [0.0, size[1] / 2, size[2] / 2]
    number = np.arange(len(grid)).reshape([n + 1 for n in counts])
    cells = np.array(np.meshgrid(*[np.arange(n) for n in counts], indexing="ij")).reshape(3, -1).T
    corners = cells[:, None, :] + CORNERS
    nodes = number[corners[..., 0], corners[..., 1], corners[..., 2]]
    dofs = (3 * nodes[:, :, None] + np.arange(3)).reshape(len(nodes), 24)
    mass, stiffness = brick([length / n for length, n in zip(size, counts, strict=True)], modulus, poisson, density)
    row, column = np.repeat(dofs, 24, axis=1).ravel(), np.tile(dofs, (1, 24)).ravel()
    matrices = {name: sparse.csr_array((np.tile(one.ravel(), len(nodes)), (row, column)), shape=(3 * len(grid),) * 2)
                for name, one in (("mass", mass), ("stiffness", stiffness))}  # fmt: skip
    return pl.FiniteElements(nodes=grid, triangles=_skin(number), **matrices, **more)


def _skin(number):
    """Two triangles for each face of a brick on the surface, turned outwards."""
    faces = []
    for axis in range(3):
        for end, turned in ((0, True), (-1, False)):
            face = np.take(number, end, axis=axis)
            if (axis == 1) != turned:
                face = face.T
            a, b, c, d = face[:-1, :-1].ravel(), face[1:, :-1].ravel(), face[1:, 1:].ravel(), face[:-1, 1:].ravel()
            faces += [np.stack([a, b, c], 1), np.stack([a, c, d], 1)]
    return np.concatenate(faces)


def end(elements, x):
    """The nodes at x, m."""
    return np.flatnonzero(np.abs(elements.nodes[:, 0] - x) < 1e-9)
