"""A System as the recursions see it: bodies in order, each on a place of an earlier one, coordinates numbered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from pliant.beams import Shapes, beam_shapes, field_integrals, field_values, shape_integrals
from pliant.beams.telescopic import unit_shapes
from pliant.dynamics.algebra import ZERO, Mat, Scalar, Vec, outer, scale, trace
from pliant.dynamics.body import BeamBody, Body, Fields, Shape
from pliant.dynamics.telescopic import TelescopicBody
from pliant.model.beam import Beam
from pliant.model.body import Body as ModelBody
from pliant.model.cut_joint import CutJoint
from pliant.model.frame import GROUND, Frame, Turn
from pliant.model.joint import BALL
from pliant.model.joint import Motion as JointMotion
from pliant.model.rigid import RigidBody
from pliant.model.signal import PrescribedMotion as Motion
from pliant.model.system import Link, System
from pliant.model.telescopic import TelescopicBeam

ROOT = -1  # the parent of what stands on the ground


@dataclass(frozen=True)
class Station:
    """What the fields of a body are at a station."""

    displacement: tuple[Vec, ...]  # W_A, one per field of the body, m
    rotation: tuple[Vec, ...]  # Theta_A, rad


STILL = Station((), ())  # on a rigid body, or at the root of any: nothing is carried
Stations = dict[tuple[int, float], Station]  # by the identity of a beam's shapes, or of a telescopic body


@dataclass(frozen=True)
class Place:
    """A frame on a body: where the body's fields have carried it, turned as they turn it, then offset and turns.

    On a rigid body, or at the root of any, nothing is carried: `displacement` is empty.
    """

    node: int
    station: Station
    offset: Vec
    turns: tuple[Turn, ...]
    first_order: bool = False  # turned by 1 + skew(theta), as some papers do, instead of exp(theta)

    @property
    def displacement(self) -> tuple[Vec, ...]:
        return self.station.displacement

    @property
    def rotation(self) -> tuple[Vec, ...]:
        return self.station.rotation


@dataclass(frozen=True)
class Slot:
    """One elementary motion and where its coordinates stand in q and in v."""

    motion: JointMotion
    q: int
    v: int
    prescribed: Motion | None

    @property
    def is_ball(self) -> bool:
        return self.motion.kind == BALL


@dataclass(frozen=True)
class PrescribedCoordinate:
    """A prescribed coordinate: where it stands in q and in v, and its motion."""

    q: int
    v: int
    motion: Motion


@dataclass(frozen=True)
class Node:
    """One body with its joint."""

    name: str
    link: Link
    place: Place
    slots: tuple[Slot, ...]
    body: Body
    own_q: range  # the body's own coordinates: modes, a free length
    own_v: range

    @property
    def parent(self) -> int:
        return self.place.node

    @property
    def as_published(self) -> bool:
        """Whether its equations leave terms out as papers do, so that no energy belongs to them."""
        return self.place.first_order or self.link.body.as_published

    def shape(self, q: Sequence[Any], v: Sequence[Any]) -> Shape:
        """The body at a state."""
        return Shape.at(self.body, *self.own(q, v))

    def own(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The body's own coordinates and their rates."""
        return [q[k] for k in self.own_q], [v[k] for k in self.own_v]


@dataclass(frozen=True)
class Tree:
    OUTSIDE_EQUATIONS: ClassVar[tuple[str, ...]] = ("start", "start_rates", "shapes", "stations")

    nodes: tuple[Node, ...]
    gravity: Vec
    positions: tuple[str, ...]  # names of q
    rates: tuple[str, ...]  # names of v
    start: tuple[float, ...]
    start_rates: tuple[float, ...]
    shapes: dict[str, Shapes]  # of the beams, by body
    places: dict[Frame, Place]  # of all frames that the System uses
    cut_joints: tuple[CutJoint, ...]  # joints apart from the tree
    stations: Stations  # of the beams' fields, known so far

    @property
    def slots(self) -> list[Slot]:
        return [slot for node in self.nodes for slot in node.slots]

    @property
    def prescribed(self) -> list[PrescribedCoordinate]:
        """All prescribed coordinates, of joints and of bodies."""
        coordinates = []
        for node in self.nodes:
            for name, motion in node.link.prescribed.items():
                label = f"{node.name}.{name}"
                coordinates.append(PrescribedCoordinate(self.positions.index(label), self.rates.index(label), motion))
        return coordinates

    def index(self, body: str) -> int:
        return self._index[body]

    @cached_property
    def _index(self) -> dict[str, int]:
        return {node.name: k for k, node in enumerate(self.nodes)}

    def place(self, frame: Frame) -> Place:
        """Any frame of the System as a place of the tree."""
        known = self.places.get(frame)
        if known is not None:
            return known
        if frame.body == GROUND:
            return Place(ROOT, STILL, frame.offset, frame.turns)
        node = self.nodes[self.index(frame.body)]
        shapes = self.shapes.get(frame.body)
        return _place(self.index(frame.body), node.body, node.link.body, shapes, frame, self.stations)


def build_tree(system: System) -> Tree:
    """Number the coordinates and integrate the shapes; equal beams are integrated once."""
    library = _Library()
    stations: Stations = {}
    nodes: list[Node] = []
    index = {GROUND: ROOT}
    shapes: dict[str, Shapes] = {}
    positions: list[str] = []
    rates: list[str] = []
    for link in system.links.values():
        place = _place_on(system, nodes, index[link.on.body], shapes.get(link.on.body), link.on, stations)
        if isinstance(link.body, Beam):
            shapes[link.name] = library.shapes(link.body)
        slots = _slots(link, len(positions), len(rates))
        count = len(link.own_labels)
        q = len(positions) + len(link.positions) - count
        v = len(rates) + len(link.rates) - count
        body = library.body(link.body)
        nodes.append(Node(link.name, link, place, slots, body, range(q, q + count), range(v, v + count)))
        index[link.name] = len(nodes) - 1
        positions += [f"{link.name}.{name}" for name in link.positions]
        rates += [f"{link.name}.{name}" for name in link.rates]
    start = [x for link in system.links.values() for x in link.start]
    start_rates = [x for link in system.links.values() for x in link.start_rates]
    tree = Tree(tuple(nodes), tuple(system.gravity), tuple(positions), tuple(rates), tuple(start),  # type: ignore[arg-type]
                tuple(start_rates), shapes, {}, tuple(system.cut_joints.values()), stations)  # fmt: skip
    tree.places.update({node.link.on: node.place for node in nodes})
    tree.places.update({frame: tree.place(frame) for frame in system.frames()})
    return tree


def _place_on(
    system: System, nodes: Sequence[Node], node: int, shapes: Shapes | None, frame: Frame, stations: Stations
) -> Place:
    if node == ROOT:
        return _place(ROOT, None, None, None, frame, stations)
    return _place(node, nodes[node].body, system.links[frame.body].body, shapes, frame, stations)


class _Library:
    """What has been integrated already, by the identity of the Beam."""

    def __init__(self) -> None:
        self._shapes: dict[int, Shapes] = {}
        self._bodies: dict[int, Body] = {}

    def shapes(self, beam: Beam) -> Shapes:
        if id(beam) not in self._shapes:
            self._shapes[id(beam)] = beam_shapes(beam)
        return self._shapes[id(beam)]

    def body(self, body: ModelBody) -> Body:
        if id(body) not in self._bodies:
            self._bodies[id(body)] = self._make(body)
        return self._bodies[id(body)]

    def _make(self, body: ModelBody) -> Body:
        if isinstance(body, RigidBody):
            return rigid_body(body.mass, tuple(body.com), body.inertia)  # type: ignore[arg-type]
        if isinstance(body, TelescopicBeam):
            return TelescopicBody(body, unit_shapes(body))
        assert isinstance(body, Beam)  # checked when added
        return _beam_body(body, self.shapes(body))


def rigid_body(mass: Scalar, com: Vec, inertia: Mat) -> BeamBody:
    """A point mass at the mass centre, with the rest as rotary inertia."""
    second: Mat = tuple(scale(mass, row) for row in outer(com, com))  # type: ignore[assignment]
    fields = Fields(
        mass=mass,
        first=(scale(mass, com),),
        second=((second,),),
        rotary=inertia,
        rotary_first=(ZERO,),
        pair=((trace(second),),),
    )
    return BeamBody(fields, modes=0)


def _beam_body(beam: Beam, shapes: Shapes) -> BeamBody:
    of_modes = shape_integrals(beam, shapes)
    of_fields = field_integrals(beam, shapes, of_modes)
    fields = Fields(
        mass=float(of_modes.mass),
        first=_tuples(of_fields.first),
        second=_tuples(of_fields.second),
        rotary=_tuples(of_modes.rotary),
        rotary_first=_tuples(of_fields.rotary_first),
        pair=_tuples(of_fields.pair),
    )
    dampings = tuple((kind, _tuples(matrix)) for kind, matrix in of_modes.damping.items())
    return BeamBody(fields, shapes.count, _tuples(of_modes.stiffness), dampings, of_fields.quadratic,
                    coriolis=beam.stiffening != "as-published")  # fmt: skip


def _place(
    node: int, body: Body | None, model: ModelBody | None, shapes: Shapes | None, frame: Frame, stations: Stations
) -> Place:
    if isinstance(body, TelescopicBody) and frame.station is not None:
        tip = stations.setdefault((id(body), 0.0), Station(*body.tip()))
        return Place(node, tip, frame.offset, frame.turns, body.link.tip_rotation == "first-order")
    if shapes is None or frame.station is None or not isinstance(model, Beam):
        return Place(node, STILL, frame.offset, frame.turns)
    key = (id(shapes), frame.station)
    if key not in stations:
        displacement, rotation = field_values(model, shapes, frame.station)
        stations[key] = Station(_tuples(_clean(displacement)), _tuples(_clean(rotation)))
    return Place(node, stations[key], frame.offset, frame.turns)


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


def _tuples(array: Any) -> Any:
    """Nested tuples of Python floats: what the scalar-generic formulas take."""
    if np.ndim(array) == 0:
        return float(array)
    return tuple(_tuples(row) for row in array)


