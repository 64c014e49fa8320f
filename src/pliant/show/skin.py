"""The sharp edges of a skin of triangles."""

from __future__ import annotations

import numpy as np

from pliant.arrays import Floats, Ints

SHARP = 0.77  # cosine of the angle between two faces, 40 degrees: flatter edges are the mesh's


def edges(points: Floats, triangles: Ints) -> list[tuple[int, ...]]:
    """Edges of one triangle only, or between triangles at an angle, as lines through their points."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    sides = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    owner = np.tile(np.arange(len(triangles)), 3)
    order = np.lexsort((sides[:, 1], sides[:, 0]))
    sides, owner = sides[order], owner[order]
    same = np.concatenate([np.all(sides[1:] == sides[:-1], axis=1), [False]])
    flat = np.zeros(len(sides), dtype=bool)
    flat[:-1] = same[:-1] & (np.einsum("ni,ni->n", normals[owner[:-1]], normals[owner[1:]]) > SHARP)
    inner = flat | np.concatenate([[False], flat[:-1]])
    twice = np.concatenate([[False], same[:-1]])
    return _joined(sides[~inner & ~twice])


def _joined(pairs: Ints) -> list[tuple[int, ...]]:
    """Lines through the pairs, each pair once."""
    leads: dict[int, list[int]] = {}
    for a, b in pairs.tolist():
        leads.setdefault(a, []).append(b)
        leads.setdefault(b, []).append(a)
    lines = []
    for begin in sorted(leads, key=lambda k: len(leads[k]) == 2):  # corners first
        while leads[begin]:
            line = [begin]
            while leads[line[-1]] and (len(line) == 1 or line[-1] != begin):
                onward = leads[line[-1]].pop()
                leads[onward].remove(line[-1])
                line.append(onward)
                if len(leads[onward]) != 1:
                    break
            lines.append(tuple(line))
    return lines
