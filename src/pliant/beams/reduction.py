"""A mesh reduced to few shapes of itself: statics of an interface with natural modes behind it, or free modes.

Every reduced shape is a sum of the mesh's own, so that frequencies come from above (Rayleigh, Ritz).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from pliant.beams.eigen import lowest, natural
from pliant.beams.elements import Mesh, Pieces, axial_mesh, bending_mesh, combined, torsion_mesh
from pliant.model.beam import Beam
from pliant.model.modes import AxialElements, ElementModes, TorsionElements
from pliant.model.modes import Mesh as MeshModes
from pliant.model.reduction import FreeModes

Floats = NDArray[np.float64]

TURNED = 1e-6  # of the largest deflection: a bump that counts when the sign is chosen


def element_shapes(beam: Beam, modes: MeshModes) -> list[Pieces]:
    """The shapes of a mesh: all, or what its reduction leaves."""
    mesh_of = _mesh_of(beam, modes)
    mesh = mesh_of(None)
    if modes.reduction is None:
        return list(mesh.shapes)
    if isinstance(modes.reduction, FreeModes):
        return _natural_shapes(mesh, mesh.shapes, modes.reduction.modes, mesh.rigid)
    inner = [shape for one, shape in zip(mesh.coordinates, mesh.shapes, strict=True) if one not in modes.kept]
    return [*_static_shapes(modes, mesh_of), *_natural_shapes(mesh, inner, modes.reduction.modes)]


def _mesh_of(beam: Beam, modes: MeshModes) -> Callable[[Sequence[int] | None], Mesh]:
    if isinstance(modes, AxialElements):
        return lambda numbers: axial_mesh(beam, modes, numbers)
    if isinstance(modes, TorsionElements):
        return lambda numbers: torsion_mesh(beam, modes, numbers)
    return lambda numbers: bending_mesh(beam, modes, numbers)


def _static_shapes(modes: MeshModes, mesh_of: Callable[[Sequence[int]], Mesh]) -> list[Pieces]:
    """Each kept coordinate moved by one, the others held, the rest at ease: q_i = -K_ii^-1 K_ib q_b.

    Between nodes that are held one element spans the beam exactly, so only those nodes are meshed: no round-off of a fine mesh.
    """
    if not modes.kept:
        return []
    frame = modes.frame_nodes if isinstance(modes, ElementModes) else ()
    mesh = mesh_of(sorted({0, modes.elements, *frame, *(node for node, _ in modes.kept)}))
    held = [mesh.coordinates.index(one) for one in modes.kept]
    rest = [k for k in range(len(mesh.coordinates)) if k not in held]
    stiffness = mesh.stiffness(mesh.shapes)
    weights = np.zeros((len(mesh.coordinates), len(held)))
    weights[held, range(len(held))] = 1.0
    weights[rest] = -np.linalg.solve(stiffness[np.ix_(rest, rest)], stiffness[np.ix_(rest, held)])
    return combined(mesh.shapes, weights)


def _natural_shapes(mesh: Mesh, shapes: Sequence[Pieces], count: int, rigid: Sequence[Pieces] = ()) -> list[Pieces]:
    """The lowest natural shapes of a mesh that may move by these; with the rigid motions that it is free to add, unseen.

    A free mesh adds the rigid motion R a that makes its kinetic energy least: its mass is M - M_xR (M_RR)^-1 M_Rx.
    """
    if count == 0:
        return []
    found = combined(shapes, lowest(_swept(mesh, shapes, rigid), mesh.stiffness(shapes), count))
    # once more among themselves: round-off of the many leaves the few not quite orthogonal
    exact = combined(found, natural(_swept(mesh, found, rigid), mesh.stiffness(found))[1])
    return [_scaled(shape) for shape in exact]


def _swept(mesh: Mesh, shapes: Sequence[Pieces], rigid: Sequence[Pieces]) -> Floats:
    """The mass matrix of these shapes, with the rigid motions swept off."""
    n = len(shapes)
    mass = mesh.mass([*shapes, *rigid])
    own, cross = mass[:n, :n], mass[:n, n:]
    return own - cross @ np.linalg.solve(mass[n:, n:], cross.T) if rigid else own


def _scaled(shape: Pieces) -> Pieces:
    """Largest value 1, the first bump from the root positive."""
    values = shape.extrema[1]
    largest = float(np.max(np.abs(values)))
    bumps = [values[k] for k in range(1, len(values) - 1) if (values[k] - values[k - 1]) * (values[k + 1] - values[k]) <= 0.0]
    first = next((bump for bump in [*bumps, values[-1]] if abs(bump) > TURNED * largest), largest)
    return Pieces(shape.breaks, shape.table * np.copysign(1.0 / largest, first))
