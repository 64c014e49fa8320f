"""A System in the form of the recursions: bodies in order, each attached to a place of an earlier body; coordinates numbered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from pliant.beams.axis import AxisFields
from pliant.dynamics.algebra import Vec, is_zero
from pliant.dynamics.body import Body, Shape
from pliant.dynamics.library import STILL, Integrated, Station, integrated
from pliant.errors import ModelError
from pliant.model.along import Along
from pliant.model.beam import Beam
from pliant.model.cut_joint import CutJoint
from pliant.model.frame import GROUND, Frame, Turn
from pliant.model.joint import BALL
from pliant.model.joint import Motion as JointMotion
from pliant.model.sensor import SIDES, StrainGauge, extent
from pliant.model.signal import PrescribedMotion as Motion
from pliant.model.system import Link, System

ROOT = -1  # the parent of bodies attached to the ground


@dataclass(frozen=True)
class Place:
    """A frame on a body: displaced and rotated by the body's fields, then by an offset and rotations.

    On a rigid body, or at the root of any body, the fields have no effect: `displacement` is empty.
    """

    node: int
    station: Station
    offset: Vec
    turns: tuple[Turn, ...]
    first_order: bool = False  # rotated by 1 + skew(theta), as in some papers, instead of exp(theta)

    @property
    def displacement(self) -> tuple[Vec, ...]:
        return self.station.displacement

    @property
    def rotation(self) -> tuple[Vec, ...]:
        return self.station.rotation


@dataclass(frozen=True)
class Slot:
    """One elementary motion, and the indices of its coordinates in q and in v."""

    motion: JointMotion
    q: int
    v: int
    prescribed: Motion | None

    @property
    def is_ball(self) -> bool:
        return self.motion.kind == BALL


@dataclass(frozen=True)
class PrescribedCoordinate:
    """A prescribed coordinate: its index in q and in v, and its motion."""

    q: int
    v: int
    motion: Motion


@dataclass(frozen=True)
class Node:
    """One body with its joint."""

    name: str
    link: Link
    place: Place  # place to which it is attached
    tip: Place  # its own tip
    slots: tuple[Slot, ...]
    body: Body
    own_q: range  # indices of the body's own coordinates: modes, a free length
    own_v: range

    @property
    def parent(self) -> int:
        return self.place.node

    @property
    def as_published(self) -> bool:
        """Whether its equations leave out terms, as in some papers, so that they conserve no energy."""
        return self.place.first_order or self.link.body.as_published

    def shape(self, q: Sequence[Any], v: Sequence[Any]) -> Shape:
        """The body at a state."""
        return Shape.at(self.body, *self.own(q, v))

    def own(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The body's own coordinates and their rates."""
        return [q[k] for k in self.own_q], [v[k] for k in self.own_v]


@dataclass(frozen=True)
class Tree:
    OUTSIDE_EQUATIONS: ClassVar[tuple[str, ...]] = ("start", "start_rates", "bodies")

    nodes: tuple[Node, ...]
    gravity: Vec
    positions: tuple[str, ...]  # names of q
    rates: tuple[str, ...]  # names of v
    start: tuple[float, ...]
    start_rates: tuple[float, ...]
    counted_from: dict[str, float]  # start values of coordinates that closures constrain; closure equations read them
    bodies: dict[str, Integrated]  # by name
    places: dict[Frame, Place]  # places of all frames that the System uses
    cut_joints: tuple[CutJoint, ...]  # joints outside the tree
    rotors: dict[int, Any]  # by index in v: inertia that motor rotors add along a coordinate, kg m^2 or kg
    axes: dict[str, AxisFields]  # of bodies that are touched along their axes, by name
    gauges: dict[str, tuple[float, ...]]  # by strain gauge: the strain that it measures per mode of its beam, 1/m or 1/rad

    @property
    def slots(self) -> list[Slot]:
        return [slot for node in self.nodes for slot in node.slots]

    @cached_property
    def prescribed(self) -> tuple[PrescribedCoordinate, ...]:
        """All prescribed coordinates of joints and of bodies."""
        coordinates = []
        for node in self.nodes:
            for name, motion in node.link.prescribed.items():
                label = f"{node.name}.{name}"
                coordinates.append(PrescribedCoordinate(self.positions.index(label), self.rates.index(label), motion))
        return tuple(coordinates)

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
        return _place(ROOT if frame.body == GROUND else self.index(frame.body), self.bodies.get(frame.body), frame)


def build_tree(system: System, known: dict[int, Integrated] | None = None, frames: Sequence[Frame] = ()) -> Tree:
    """Number the coordinates and integrate the shapes; equal beams are integrated once.

    known: bodies with their integrals, by the identity of the model's body. frames: frames that formulas read.
    """
    known = {} if known is None else known
    nodes: list[Node] = []
    bodies: dict[str, Integrated] = {}
    index = {GROUND: ROOT}
    positions: list[str] = []
    rates: list[str] = []
    for link in system.links.values():
        place = _place(index[link.on.body], bodies.get(link.on.body), link.on)
        bodies[link.name] = integrated(link.body, known)
        slots = _slots(link, len(positions), len(rates))
        count = len(link.own_labels)
        q = len(positions) + len(link.positions) - count
        v = len(rates) + len(link.rates) - count
        body = bodies[link.name]
        tip = _place(len(nodes), body, system.handle(link.name).tip)
        nodes.append(Node(link.name, link, place, tip, slots, body.body, range(q, q + count), range(v, v + count)))
        index[link.name] = len(nodes) - 1
        positions += [f"{link.name}.{name}" for name in link.positions]
        rates += [f"{link.name}.{name}" for name in link.rates]
    start = [x for link in system.links.values() for x in link.start]
    start_rates = [x for link in system.links.values() for x in link.start_rates]
    held = {name for closure in system.closures.values() for name in closure.coordinates}
    counted = {name: x for name, x in zip(positions, start, strict=True) if name in held}
    rotors: dict[int, Any] = {}
    for drive in system.motors.values():
        number, motor = rates.index(drive.coordinate), drive.motor
        carrier, _, own = drive.coordinate.partition(".")
        if motor.is_elastic and own in system.links[carrier].prescribed:
            rule = "must be left out on a coordinate whose motion is prescribed, which says nothing of a rotor that moves by itself"
            raise ModelError.of(f"motor {drive.name!r}", "gear_stiffness", rule, motor.gear_stiffness)
        if not is_zero(motor.inertia) and not motor.is_elastic:  # a rotor behind an elastic gear moves by itself
            rotors[number] = rotors.get(number, 0.0) + motor.ratio * motor.ratio * motor.inertia
    tree = Tree(tuple(nodes), tuple(system.gravity), tuple(positions), tuple(rates), tuple(start),  # type: ignore[arg-type]
                tuple(start_rates), counted, bodies, {}, tuple(system.cut_joints.values()), rotors,
                {name: bodies[name].axis for name in _touched_along(system)}, _gauges(system, bodies))  # fmt: skip
    tree.places.update({node.link.on: node.place for node in nodes})
    tree.places.update({frame: tree.place(frame) for frame in (*system.frames(), *frames)})
    return tree


class RememberedTree:
    """The tree of a System, rebuilt only if its links, frames or gravity have changed.

    Only for Systems whose links cannot change unnoticed.
    """

    def __init__(self) -> None:
        self._last: tuple[list[Any], tuple[Any, ...], Tree] | None = None

    def of(self, system: System, frames: Sequence[Frame] = ()) -> Tree:
        """frames: frames that formulas read."""
        # parts by identity, which cannot be reused while they are kept here; 0.0 and -0.0 are distinct
        parts = [*system.links.values(), *system.frames(), *system.cut_joints.values(), *system.motors.values(),
                 *system.sensors.values()]  # fmt: skip
        held = [closure.coordinates for closure in system.closures.values()]
        counts = (len(system.links), len(system.cut_joints), len(system.motors))
        rest = (counts, tuple(system.sensors), tuple(_touched_along(system)), repr(system.gravity), held, repr(frames))
        known: dict[int, Integrated] = {}
        last = self._last  # another thread may replace it
        if last is not None:
            before, rest_before, tree = last
            if rest == rest_before and len(parts) == len(before) and all(a is b for a, b in zip(parts, before, strict=True)):
                return tree
            known = {id(node.link.body): tree.bodies[node.name] for node in tree.nodes}
        tree = build_tree(system, known, frames)
        self._last = (parts, rest, tree)
        return tree


def _touched_along(system: System) -> list[str]:
    """Names of the bodies that contacts touch along their axes."""
    shapes = [shape for pair in system.contacts.values() for shape in (pair.ball, pair.against) if isinstance(shape, Along)]
    return list(dict.fromkeys(shape.at.body for shape in shapes))


def _gauges(system: System, bodies: dict[str, Integrated]) -> dict[str, tuple[float, ...]]:
    found = {}
    for name, gauge in system.sensors.items():
        if isinstance(gauge, StrainGauge):
            beam, station = system.links[gauge.at.body].body, gauge.at.station or 0.0
            assert isinstance(beam, Beam)  # checked when added
            outline = beam.along(station).section.outline if beam.tip_section is not None else beam.section.outline
            assert outline is not None
            axis, out = SIDES[gauge.side][0], extent(outline, gauge.side)
            y, z = (out, 0.0) if axis == 1 else (0.0, out)
            found[name] = bodies[gauge.at.body].strain_weights(station, y, z)
    return found


def _place(node: int, body: Integrated | None, frame: Frame) -> Place:
    """A frame on a body, or on the ground."""
    if body is None:
        return Place(ROOT, STILL, frame.offset, frame.turns)
    return Place(node, body.station(frame.station), frame.offset, frame.turns, body.turns_to_first_order(frame.station))


def _slots(link: Link, q: int, v: int) -> tuple[Slot, ...]:
    slots = []
    for motion in link.joint.motions:
        slots.append(Slot(motion, q, v, link.joint.prescribed.get(motion.name)))
        q, v = q + len(motion.positions), v + len(motion.rates)
    return tuple(slots)
