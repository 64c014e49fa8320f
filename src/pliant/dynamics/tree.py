"""A System as the recursions see it: bodies in order, each on a place of an earlier one, coordinates numbered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.beams import Shapes, beam_shapes, shape_integrals
from pliant.dynamics.algebra import ZERO, Vec, outer, scale
from pliant.dynamics.body import BodyConstants
from pliant.model.beam import Beam
from pliant.model.frame import GROUND, Frame, Turn
from pliant.model.joint import BALL, Motion
from pliant.model.rigid import RigidBody
from pliant.model.signal import Prescribed
from pliant.model.system import Link, System

ROOT = -1  # the parent of what stands on the ground


@dataclass(frozen=True)
class Place:
    """A frame on a body: r = point + displacement qf, turned by exp(rotation qf), then offset and turns."""

    node: int
    point: Vec
    displacement: tuple[Vec, ...]  # one column per mode, m
    rotation: tuple[Vec, ...]  # one column per mode, rad
    offset: Vec
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Slot:
    """One elementary motion and where its coordinates stand in q and in v."""

    motion: Motion
    q: int
    v: int
    prescribed: Prescribed | None

    @property
    def is_ball(self) -> bool:
        return self.motion.kind == BALL


@dataclass(frozen=True)
class Node:
    """One body with its joint."""

    name: str
    link: Link
    place: Place
    slots: tuple[Slot, ...]
    body: BodyConstants
    modes_q: range
    modes_v: range

    @property
    def parent(self) -> int:
        return self.place.node


@dataclass(frozen=True)
class Tree:
    nodes: tuple[Node, ...]
    gravity: Vec
    positions: tuple[str, ...]  # names of q
    rates: tuple[str, ...]  # names of v
    start: tuple[float, ...]
    start_rates: tuple[float, ...]
    shapes: dict[str, Shapes]  # of the beams, by body

    @property
    def slots(self) -> list[Slot]:
        return [slot for node in self.nodes for slot in node.slots]

    @property
    def prescribed_v(self) -> frozenset[int]:
        return frozenset(slot.v for slot in self.slots if slot.prescribed is not None)

    def index(self, body: str) -> int:
        return next(k for k, node in enumerate(self.nodes) if node.name == body)

    def place(self, frame: Frame) -> Place:
        """Any frame of the System as a place of the tree."""
        if frame.body == GROUND:
            return Place(ROOT, ZERO, (), (), frame.offset, frame.turns)
        node = self.nodes[self.index(frame.body)]
        return _place(self.index(frame.body), node.link.body, self.shapes.get(frame.body), frame)


def build_tree(system: System) -> Tree:
    """Number the coordinates and integrate the shapes; equal beams are integrated once."""
    library = _Library()
    nodes: list[Node] = []
    index = {GROUND: ROOT}
    shapes: dict[str, Shapes] = {}
    positions: list[str] = []
    rates: list[str] = []
    for link in system.links.values():
        parent = system.links[link.on.body].body if link.on.body != GROUND else None
        place = _place(index[link.on.body], parent, shapes.get(link.on.body), link.on)
        if isinstance(link.body, Beam):
            shapes[link.name] = library.shapes(link.body)
        slots = _slots(link, len(positions), len(rates))
        count = len(link.mode_labels)
        q = len(positions) + len(link.positions) - count
        v = len(rates) + len(link.rates) - count
        body = library.constants(link.body)
        nodes.append(Node(link.name, link, place, slots, body, range(q, q + count), range(v, v + count)))
        index[link.name] = len(nodes) - 1
        positions += [f"{link.name}.{name}" for name in link.positions]
        rates += [f"{link.name}.{name}" for name in link.rates]
    start = [x for link in system.links.values() for x in _start(link)]
    start_rates = [x for link in system.links.values() for x in _start_rates(link)]
    return Tree(tuple(nodes), tuple(system.gravity), tuple(positions), tuple(rates), tuple(start),  # type: ignore[arg-type]
                tuple(start_rates), shapes)  # fmt: skip


class _Library:
    """What has been integrated already, by the identity of the Beam."""

    def __init__(self) -> None:
        self._shapes: dict[int, Shapes] = {}
        self._constants: dict[int, BodyConstants] = {}

    def shapes(self, beam: Beam) -> Shapes:
        if id(beam) not in self._shapes:
            self._shapes[id(beam)] = beam_shapes(beam)
        return self._shapes[id(beam)]

    def constants(self, body: Beam | RigidBody) -> BodyConstants:
        if id(body) not in self._constants:
            made = _beam_constants(body, self.shapes(body)) if isinstance(body, Beam) else rigid_constants(body)
            self._constants[id(body)] = made
        return self._constants[id(body)]


def rigid_constants(body: RigidBody) -> BodyConstants:
    """A point mass at the mass centre, with the rest as rotary inertia."""
    com: Vec = tuple(body.com)  # type: ignore[assignment]
    second = ((tuple(scale(body.mass, row) for row in outer(com, com)),),)
    return BodyConstants(body.mass, scale(body.mass, com), (), second, body.inertia, (), (), (), ())  # type: ignore[arg-type]


def _beam_constants(beam: Beam, shapes: Shapes) -> BodyConstants:
    i = shape_integrals(beam, shapes)
    nf = shapes.count
    return BodyConstants(
        mass=float(i.mass),
        first=_tuples(i.first),
        first_modal=tuple(_tuples(i.first_modal[:, j]) for j in range(nf)),
        second=_tuples(i.second),
        rotary=_tuples(i.rotary),
        rotary_modal=tuple(_tuples(i.rotary_modal[:, j]) for j in range(nf)),
        modal_mass=_tuples(i.modal_mass),
        stiffness=_tuples(i.stiffness),
        damping=tuple((kind, _tuples(matrix)) for kind, matrix in i.damping.items()),
    )


def _place(node: int, body: Beam | RigidBody | None, shapes: Shapes | None, frame: Frame) -> Place:
    if shapes is None or frame.station is None or not isinstance(body, Beam):
        return Place(node, ZERO, (), (), frame.offset, frame.turns)
    at = np.array([frame.station])
    w, theta = shapes.displacement(at)[0], shapes.rotation(at)[0]
    columns = range(shapes.count)
    displacement = tuple(_tuples(_clean(w[:, j])) for j in columns)
    rotation = tuple(_tuples(_clean(theta[:, j])) for j in columns)
    return Place(node, (frame.station, 0.0, 0.0), displacement, rotation, frame.offset, frame.turns)


def _clean(column: Any) -> Any:
    """Shape values that are zero by the end conditions come out as round-off: make them structural zeros.

    Shapes are of order one (displacement) or one over a length (rotation), so 1e-13 is far below any real value.
    """
    return np.where(np.abs(column) < 1e-13, 0.0, column)


def _slots(link: Link, q: int, v: int) -> tuple[Slot, ...]:
    slots = []
    for motion in link.joint.motions:
        slots.append(Slot(motion, q, v, link.joint.prescribed.get(motion.name)))
        q, v = q + len(motion.positions), v + len(motion.rates)
    return tuple(slots)


def _start(link: Link) -> Sequence[float]:
    return [*link.joint.start, *(float(link.initial.get(name, 0.0)) for name in link.mode_labels)]


def _start_rates(link: Link) -> Sequence[float]:
    return [*link.joint.start_rates, *(float(link.initial_rates.get(name, 0.0)) for name in link.mode_labels)]


def _tuples(array: Any) -> Any:
    """Nested tuples of Python floats: what the scalar-generic formulas take."""
    if np.ndim(array) == 0:
        return float(array)
    return tuple(_tuples(row) for row in array)


