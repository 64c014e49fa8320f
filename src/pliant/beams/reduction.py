"""Reduction of a mesh to a few shapes: static interface shapes followed by fixed-interface modes, or free modes.

Every reduced shape is a linear combination of the mesh's shapes, so frequencies converge from above (Rayleigh, Ritz).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pliant.arrays import Floats
from pliant.beams.eigen import lowest, natural
from pliant.beams.elements import Mesh, Pieces, axial_mesh, bending_mesh, combined, torsion_mesh
from pliant.model.beam import Beam
from pliant.model.modes import AxialElements, ElementModes, TorsionElements
from pliant.model.modes import Mesh as MeshModes
from pliant.model.reduction import FreeModes

TURNED = 1e-6  # bumps smaller than this fraction of the largest deflection are ignored when the sign is chosen


def element_shapes(beam: Beam, modes: MeshModes) -> list[Pieces]:
    """The shapes of a mesh: all of them, or the reduced set."""
    mesh_of = _mesh_of(beam, modes)
    mesh = mesh_of(None)
    if modes.reduction is None:
        return list(mesh.shapes)
    if isinstance(modes.reduction, FreeModes):
        return _natural_shapes(mesh, mesh.shapes, modes.reduction.count, mesh.rigid)
    inner = [shape for one, shape in zip(mesh.coordinates, mesh.shapes, strict=True) if one not in modes.kept]
    return [*_static_shapes(beam, modes, mesh_of), *_natural_shapes(mesh, inner, modes.reduction.count)]


def _mesh_of(beam: Beam, modes: MeshModes) -> Callable[[Sequence[int] | None], Mesh]:
    if isinstance(modes, AxialElements):
        return lambda numbers: axial_mesh(beam, modes, numbers)
    if isinstance(modes, TorsionElements):
        return lambda numbers: torsion_mesh(beam, modes, numbers)
    return lambda numbers: bending_mesh(beam, modes, numbers)


def _static_shapes(beam: Beam, modes: MeshModes, mesh_of: Callable[[Sequence[int] | None], Mesh]) -> list[Pieces]:
    """Static shapes: one retained coordinate is 1, the other retained ones are 0, the rest are unloaded: q_i = -K_ii^-1 K_ib q_b.

    A single element of a uniform beam is statically exact between retained nodes, so only those are meshed, without a fine mesh's
    round-off.
    """
    if not modes.kept:
        return []
    frame = modes.frame_nodes if isinstance(modes, ElementModes) else ()
    coarse = sorted({0, modes.elements, *frame, *(node for node, _ in modes.kept)})
    mesh = mesh_of(coarse if beam.tip_section is None else None)
    held = [mesh.coordinates.index(one) for one in modes.kept]
    rest = [k for k in range(len(mesh.coordinates)) if k not in held]
    stiffness = mesh.stiffness(mesh.shapes)
    weights = np.zeros((len(mesh.coordinates), len(held)))
    weights[held, range(len(held))] = 1.0
    weights[rest] = -np.linalg.solve(stiffness[np.ix_(rest, rest)], stiffness[np.ix_(rest, held)])
    return combined(mesh.shapes, weights)


def _natural_shapes(mesh: Mesh, shapes: Sequence[Pieces], count: int, rigid: Sequence[Pieces] = ()) -> list[Pieces]:
    """The lowest natural shapes of a mesh restricted to the given shapes; a free mesh may also move rigidly, which is not returned.

    A free mesh adds the rigid motion R a that minimises its kinetic energy; its mass is then M - M_xR (M_RR)^-1 M_Rx.
    """
    if count == 0:
        return []
    found = combined(shapes, lowest(_swept(mesh, shapes, rigid), mesh.stiffness(shapes), count))
    # orthogonalise the few shapes once more: round-off in the full problem leaves them not quite orthogonal
    exact = combined(found, natural(_swept(mesh, found, rigid), mesh.stiffness(found))[1])
    return [_scaled(shape) for shape in exact]


def _swept(mesh: Mesh, shapes: Sequence[Pieces], rigid: Sequence[Pieces]) -> Floats:
    """The mass matrix of these shapes, with the rigid motions eliminated."""
    n = len(shapes)
    mass = mesh.mass([*shapes, *rigid])
    own, cross = mass[:n, :n], mass[:n, n:]
    return own - cross @ np.linalg.solve(mass[n:, n:], cross.T) if rigid else own


def _scaled(shape: Pieces) -> Pieces:
    """The shape scaled to a largest value of 1, with the first bump from the root positive."""
    values = shape.extrema[1]
    largest = float(np.max(np.abs(values)))
    bumps = [values[k] for k in range(1, len(values) - 1) if (values[k] - values[k - 1]) * (values[k + 1] - values[k]) <= 0.0]
    first = next((bump for bump in [*bumps, values[-1]] if abs(bump) > TURNED * largest), largest)
    return Pieces(shape.breaks, shape.table * np.copysign(1.0 / largest, first))
