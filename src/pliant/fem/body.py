"""A modal body from the matrices of a finite-element model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sparse

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.fem.elements import FiniteElements
from pliant.fem.integrals import integrals, with_stiffening
from pliant.fem.interfaces import Interface, interface, nodal_turns, rigid_regions
from pliant.fem.reduction import Problem, reduced_shapes
from pliant.model import check
from pliant.model.damping import Damping
from pliant.model.frame import ROOT
from pliant.model.modal import ModalBody
from pliant.model.reduced import ReducedModel
from pliant.model.reduction import CraigBampton, FreeModes, Reduction
from pliant.model.rigid import Payload

PART = "modal_body"
REGIONS, INVARIANTS = ("rigid", "average"), ("consistent", "lumped")
ROUND_OFF = 1e-12  # of a shape's largest displacement: less is a zero of symmetry


def modal_body(
    elements: FiniteElements,
    interfaces: Mapping[str, Sequence[int]],
    reduction: Reduction,
    *,
    frames: Mapping[str, Sequence[int]] | None = None,
    region: str = "rigid",
    invariants: str = "consistent",
    damping: Sequence[Damping] | Damping = (),
    payload: Payload | None = None,
) -> ModalBody:
    """Reduce a finite-element model to a flexible body.

    interfaces: node numbers by name, "root" first, where the body's own joint stands; other bodies, closures and loads at the
    others are represented statically exactly. reduction: `CraigBampton(modes)` keeps a static shape for each motion of an interface
    and natural shapes with all interfaces held; `FreeModes(modes)` the natural shapes of the free body and the static response to
    forces at the interfaces. frames: further frames on nodes, without shapes of their own. region: nodes of an interface move as a
    rigid body, or the frame moves as their average. invariants: how the inertia of the bent body is integrated, with the mass
    matrix, or with the mass of every node alone.
    """
    check.instance(PART, "elements", elements, FiniteElements, "FiniteElements")
    check.instance(PART, "reduction", reduction, (CraigBampton, FreeModes), "a CraigBampton or FreeModes")
    check.choice(PART, "region", region, REGIONS)
    check.choice(PART, "invariants", invariants, INVARIANTS)
    if isinstance(reduction, CraigBampton) and reduction.interface is not None:
        raise ModelError.of(PART, "reduction.interface", "must be left out: `interfaces` names them", reduction.interface)
    ends = _interfaces(elements, interfaces, "interfaces")
    if not ends or ends[0].name != ROOT:
        raise ModelError.of(PART, "interfaces", f"must begin with {ROOT!r}", [one.name for one in ends])
    if not ends[0].turns:
        rule = "must hold three nodes that are not on one line, whose motion determines a rotation"
        raise ModelError.of(PART, "interfaces['root']", rule, ends[0].nodes.tolist())
    own = rigid_regions(elements, ends) if region == "rigid" else sparse.eye_array(elements.size, format="csr")
    problem = Problem(elements, ends, own)
    shapes = np.asarray(problem.spread @ reduced_shapes(problem, reduction))
    more = _interfaces(elements, frames or {}, "frames")
    return ModalBody(reduced_model(elements, ends[0].position, shapes, [*ends[1:], *more], invariants), damping, payload)


def reduced_model(
    elements: FiniteElements, origin: Floats, shapes: Floats, frames: list[Interface], invariants: str
) -> ReducedModel:
    """The arrays of a body with these shapes of all degrees of freedom, each scaled to a largest displacement of one."""
    moves = shapes.reshape(len(elements.nodes), elements.per_node, -1)[:, :3]
    largest = np.abs(moves).max(axis=(0, 1))
    peak = np.argmax(np.abs(moves).reshape(-1, moves.shape[2]) >= 0.999 * largest, axis=0)  # its sign does not depend on round-off
    shapes = shapes / (largest * np.sign(moves.reshape(-1, moves.shape[2])[peak, np.arange(len(largest))]))
    shapes = np.where(np.abs(shapes) > ROUND_OFF * np.abs(shapes).max(axis=0), shapes, 0.0)
    names = [one.name for one in frames]
    found = with_stiffening(integrals(elements, origin, shapes, invariants == "lumped"), elements, shapes, names)
    stiffness = shapes.T @ (elements.stiffness @ shapes)
    size = np.sqrt(np.diag(stiffness))
    stiffness = np.where(
        np.abs(stiffness) > 1e-8 * np.outer(size, size), 0.5 * (stiffness + stiffness.T), 0.0
    )  # they are orthogonal
    read = [_read(one, shapes) for one in frames]
    turns = nodal_turns(elements, shapes)
    more = {} if elements.stress is None else {
        "stress": np.asarray(elements.stress @ shapes).reshape(-1, 6, shapes.shape[1]),
        "stress_points": elements.stress_points - origin,
    }  # fmt: skip
    return ReducedModel.of(PART, {
        "nodes": elements.nodes - origin,
        "shapes": shapes.reshape(len(elements.nodes), elements.per_node, -1)[:, :3],
        "turns": turns,
        "frames": np.array(names, dtype=str),
        "frame_positions": np.array([one.position - origin for one in frames]).reshape(-1, 3),
        "frame_shapes": np.array([moved for moved, _ in read]).reshape(-1, 3, shapes.shape[1]),
        "frame_turns": np.array([turned for _, turned in read]).reshape(-1, 3, shapes.shape[1]),
        "stiffness": stiffness,
        "triangles": elements.triangles,
        **found, **more,
    })  # fmt: skip


def _read(one: Interface, shapes: Floats) -> tuple[Floats, Floats]:
    """(displacement, rotation) of a frame in each shape; a frame on one node of a solid does not turn."""
    motion = np.asarray(one.reads @ shapes)
    motion = np.where(np.abs(motion) > ROUND_OFF * np.abs(motion).max(axis=1, initial=0.0, keepdims=True), motion, 0.0)
    return motion[:3], motion[3:] if one.turns else np.zeros_like(motion)


def _interfaces(elements: FiniteElements, given: Any, field: str) -> list[Interface]:
    named = check.mapping(PART, field, given)
    return [
        interface(PART, f"{field}[{name!r}]", elements, nodes, check.identifier(PART, field, name)) for name, nodes in named.items()
    ]
