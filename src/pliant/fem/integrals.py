"""The integrals of the floating frame from the mass matrix: all inertia invariants of a body with shapes.

What is linear in the motion (mass, first moments, inertia at rest, coupling of rotation and shapes, modal mass) is exact for any
mass matrix, with rotational inertia of nodes. What bending changes (the inertia of the bent body, centrifugal and Coriolis terms)
reads the displacements of nodes: consistently with the shape functions if the matrix has the same entries in all three directions,
as that of a solid has, else with the mean of the directions; rotations of nodes do not enter there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.fem.elements import FiniteElements

ROUND_OFF = 1e-11  # of the largest possible value of an integral (Cauchy, Schwarz): less is a zero of symmetry
DIRECTIONS = ("x", "y", "z")


def integrals(elements: FiniteElements, origin: Floats, shapes: Floats, lumped: bool) -> dict[str, Any]:
    """Integrals by the names of `ReducedModel`; shapes: of all degrees of freedom, (size, modes)."""
    count, modes = len(elements.nodes), shapes.shape[1]
    rigid = elements.rigid(origin)
    carried = elements.mass @ np.concatenate([rigid, shapes], axis=1)
    whole, coupling = rigid.T @ carried, shapes.T @ carried[:, 6:]  # (6, 6 + modes), (modes, modes)
    moves = shapes.reshape(count, elements.per_node, modes)[:, :3]
    fields = np.concatenate([(elements.nodes - origin)[:, :, None], moves], axis=2).transpose(0, 2, 1).reshape(count, -1)
    nodal = sparse.diags_array(elements.nodal_mass.sum(axis=1)) if lumped else elements.nodal_mass
    second = (fields.T @ (nodal @ fields)).reshape(1 + modes, 3, 1 + modes, 3).transpose(0, 2, 1, 3)
    moment = np.array([whole[2, 4] - whole[1, 5], whole[0, 5] - whole[2, 3], whole[1, 3] - whole[0, 4]]) / -2.0
    first = np.concatenate([moment[None], whole[:3, 6:].T])
    at_rest = np.trace(second[0, 0]) * np.eye(3) - second[0, 0]
    turned = whole[3:, 6:].T - _axial(second[0, 1:])
    pair = np.trace(second, axis1=2, axis2=3)
    pair[1:, 1:] = coupling
    size = np.sqrt(np.einsum("aaii->a", second))
    scale, mass = np.outer(size, size), whole[0, 0]
    second = _clean(second, scale[:, :, None, None])
    return {
        "mass": mass,
        "first": _clean(first, np.sqrt(mass) * size[:, None]),
        "second": 0.5 * (second + second.transpose(1, 0, 3, 2)),
        "rotary": _clean(0.5 * (whole[3:, 3:6] + whole[3:, 3:6].T) - at_rest, scale[0, 0]),
        "rotary_first": np.concatenate([np.zeros((1, 3)), _clean(turned, scale[0, 1:, None])]),
        "pair": _clean(0.5 * (pair + pair.T), scale),
    }


def with_stiffening(found: dict[str, Any], elements: FiniteElements, shapes: Floats, frames: list[str]) -> dict[str, Any]:
    """The same with one field of weight 1/2 z^T S z for each load whose geometric stiffness is given.

    With K_g of a unit load, the work of that load through its field is -1/2 z^T K_g z: S = -K_g. A field of a body force moves the
    first moment, or the product of mass and position, by one; a field of a force moves its frame by one.
    """
    loads, modes = list(elements.geometric), shapes.shape[1]
    if not loads:
        return found
    old, count = 1 + modes, 1 + modes + len(loads)
    first, rotary_first = np.zeros((count, 3)), np.zeros((count, 3))
    second, pair = np.zeros((count, count, 3, 3)), np.zeros((count, count))
    first[:old], rotary_first[:old], pair[:old, :old] = found["first"], found["rotary_first"], found["pair"]
    second[:old, :old] = found["second"]
    moved = np.zeros((len(frames), len(loads), 3))
    for k, load in enumerate(loads):
        own = old + k
        match _load(load, frames):
            case (direction,):
                first[own, direction] = 1.0
            case (direction, coordinate):
                second[0, own, coordinate, direction] = second[own, 0, direction, coordinate] = 1.0
                pair[0, own] = pair[own, 0] = float(direction == coordinate)
            case (_, frame, direction):
                moved[frame, k, direction] = 1.0
    forms = np.stack([-(shapes.T @ (elements.geometric[load] @ shapes)) for load in loads])
    size = np.abs(forms).max(axis=(1, 2), keepdims=True)
    return {**found, "first": first, "second": second, "rotary_first": rotary_first, "pair": pair,
            "forms": _clean(0.5 * (forms + forms.transpose(0, 2, 1)), size), "frame_stiffening": moved}  # fmt: skip


def _load(load: Any, frames: list[str]) -> tuple[int, ...]:
    """A load's name in numbers: (direction,) of a body force, (direction, coordinate), or (-1, frame, direction) of a force."""
    letters = tuple(DIRECTIONS.index(x) for x in load if x in DIRECTIONS) if isinstance(load, str) else ()
    if isinstance(load, str) and 1 <= len(load) <= 2 and len(letters) == len(load):
        return letters
    if isinstance(load, tuple) and len(load) == 2 and load[0] in frames and load[1] in DIRECTIONS:
        return (-1, frames.index(load[0]), DIRECTIONS.index(load[1]))
    rule = f"must have keys such as 'x', 'xy', or (frame, 'x') with a frame out of {frames}"
    raise ModelError.of("FiniteElements", "geometric", rule, load)


def _axial(second: Floats) -> Floats:
    """int mu r x W of int mu r W^T, for many fields: (fields, 3)."""
    return np.stack([second[:, 1, 2] - second[:, 2, 1], second[:, 2, 0] - second[:, 0, 2], second[:, 0, 1] - second[:, 1, 0]], 1)


def _clean(values: Floats, size: Any) -> Floats:
    return np.where(np.abs(values) <= ROUND_OFF * size, 0.0, values)
