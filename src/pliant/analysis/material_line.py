"""An elastic body in all rows of a result, as a line of material from its root outward: its fields and their weights.

Positions along the line are fractions from 0 to 1: of a beam's length, or of the free length of a telescopic link, which begins at
the mouth of its sleeve.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pliant.analysis.recorded_motion import RecordedMotion
from pliant.arrays import Floats
from pliant.beams.damping import rayleigh_from_ratios
from pliant.beams.fields import fields_along
from pliant.beams.integrals import shape_integrals
from pliant.beams.shapes import Shapes, beam_shapes
from pliant.beams.telescopic import KINDS, unit_beam
from pliant.dynamics.body import FieldWeights
from pliant.dynamics.rotation import SmallTurn
from pliant.dynamics.telescopic import AXIS, TURN
from pliant.dynamics.tree import Node
from pliant.model.beam import Beam
from pliant.model.damping import AirDrag, Damping, MotionDrag, Rayleigh, RayleighRatios
from pliant.model.frame import Frame
from pliant.model.telescopic import TelescopicBeam

HELD = 1e-9  # fraction of a shape's size: round-off at an end that is held
INBOARD = -1.0  # fraction given to a frame that lies inboard of every station


@dataclass(frozen=True)
class FieldTables:
    """Weights of the fields in every row, (rows, fields): their weighted sums give positions, velocities and accelerations."""

    position: Floats
    rate: Floats
    second: Floats
    modal_rate: Floats  # rates of the modes alone, on which damping acts


class MaterialLine(Protocol):
    """The data of an elastic body that section forces need."""

    motion: RecordedMotion
    number: int  # index of its node in the tree
    weights: FieldTables
    length: Floats  # (rows,), length from fraction 0 to fraction 1, m
    drag: float  # air drag coefficient per length, kg/(m s)
    motion_drag: float  # coefficient per length of the drag on the whole motion, kg/(m s)
    mass_damping: float  # Rayleigh's alpha, 1/s
    panels: Floats  # fractions that bound the panels in which shapes are smooth
    spans: tuple[bool, bool]  # whether its modes along y and z are those of a beam pinned at the root and supported at the tip

    def inertia(self, places: Floats) -> tuple[Floats, Floats]:
        """(mass per length, kg/m, (len, 1); rotary inertia per length about x, y, z, kg m, (len, 3)) at fractions."""

    def along(self, places: Floats) -> tuple[Floats, Floats]:
        """(displacement, rotation) of the fields at fractions: (len, fields, 3) each."""

    def strains(self, places: Floats) -> tuple[Floats, Floats]:
        """(axial and shear strain, twist and curvature) of the modes: (rows, len, 3) each."""

    def fraction(self, frame: Frame) -> float:
        """The fraction at which a frame is attached."""

    def inboard(self) -> tuple[Floats, Floats]:
        """(force, moment about the body's origin) required by the motion of the part inboard of fraction 0: (rows, 3) each."""


def line_of(motion: RecordedMotion, name: str) -> BeamLine | TelescopicLine:
    number = motion.tree.index(name)
    is_beam = isinstance(motion.tree.nodes[number].link.body, Beam)
    return BeamLine(motion, number) if is_beam else TelescopicLine(motion, number)


def points(line: MaterialLine, places: Floats) -> Floats:
    """Points of the deformed axis, in the body's axes: (rows, len, 3)."""
    return np.asarray(np.einsum("ra,paj->rpj", line.weights.position, line.along(places)[0]))


def turns(line: MaterialLine, places: Floats) -> Floats:
    """Rotations from the axes of the sections to those of the body: (rows, len, 3, 3)."""
    psi = np.einsum("ra,paj->rpj", line.weights.position, line.along(places)[1])
    rotation = SmallTurn((psi[..., 0], psi[..., 1], psi[..., 2])).rotation.matrix
    return np.stack([np.stack([np.broadcast_to(x, psi.shape[:2]) for x in row], axis=2) for row in rotation], axis=2)


class BeamLine:
    """A beam of constant length."""

    def __init__(self, motion: RecordedMotion, number: int) -> None:
        self.motion, self.number = motion, number
        node = motion.tree.nodes[number]
        beam, shapes = node.link.body, motion.tree.bodies[node.name].shapes
        assert isinstance(beam, Beam) and shapes is not None  # chosen so
        self._beam, self._shapes = beam, shapes
        weights = node.body.field_weights(*node.own(motion.q, motion.v))
        self.weights = _tables(motion, node, weights, 1 + max(weights.position), {1 + j: j for j in range(shapes.count)})
        self.length = np.full(motion.rows, beam.length)
        self.drag, self.motion_drag, self.mass_damping = _external_damping(beam.dampings, beam, shapes)
        self.panels = shapes.panels / beam.length
        self.spans = (_spans(shapes, "y", beam.length), _spans(shapes, "z", beam.length))

    def inertia(self, places: Floats) -> tuple[Floats, Floats]:
        local = self._beam.along(places * self._beam.length)
        mu, *rotary, _ = np.broadcast_arrays(local.mu, *local.rotary, places)
        return mu[:, None], np.stack(rotary, axis=1)

    def along(self, places: Floats) -> tuple[Floats, Floats]:
        return fields_along(self._beam, self._shapes, places * self._beam.length)

    def strains(self, places: Floats) -> tuple[Floats, Floats]:
        x, z = places * self._beam.length, self.weights.position[:, 1 : 1 + self._shapes.count]
        stretch, slip, bend = self._shapes.displacement(x, 1), self._shapes.shear_strain(x), self._shapes.rotation(x, 1)
        strain = np.stack([stretch[:, 0], slip[:, 1], slip[:, 2]], axis=1)
        return np.einsum("rj,pij->rpi", z, strain), np.einsum("rj,pij->rpi", z, bend)

    def fraction(self, frame: Frame) -> float:
        return (frame.station or 0.0) / self._beam.length

    def inboard(self) -> tuple[Floats, Floats]:
        return np.zeros((self.motion.rows, 3)), np.zeros((self.motion.rows, 3))


class TelescopicLine:
    """The free part of a telescopic link, beginning at the mouth of its sleeve.

    The point xi lies at L + l xi along x. The material slides out at the rate l', so velocities and accelerations have an extra
    field along x. Field 0 is 1 along x, field 1 is xi along x; then follow KINDS fields for each mode, f, f'(1 - xi), f''(1 -
    xi)^2, and the rotations f'.
    """

    ALONG, SPREAD, FIRST = 0, 1, 2

    def __init__(self, motion: RecordedMotion, number: int) -> None:
        self.motion, self.number = motion, number
        node = motion.tree.nodes[number]
        link = node.link.body
        assert isinstance(link, TelescopicBeam)  # chosen so
        self._link, self._shapes = link, beam_shapes(unit_beam(link))
        z, rates = node.own(motion.q, motion.v)
        self.length, self._speed = z[0], rates[0]
        self._second = motion.a[node.own_v[0]]
        self.weights = self._tables(node, node.body.field_weights(z, rates))
        self._mouth = {field: weight for field, weight in node.body.field_weights(z, rates).bias.items()
                       if field >= self._body_mouth}  # fmt: skip
        self.mu, self.rotary = link.mu, np.array([link.twisting, 0.0, 0.0])
        self.drag, self.motion_drag, self.mass_damping = _external_damping(link.dampings, None, None)
        self.panels = np.unique(np.concatenate([self._shapes.panels, np.linspace(0.0, 1.0, 5)]))
        self.spans = (False, False)  # clamped in its sleeve

    @property
    def _modes(self) -> int:
        return self._shapes.count

    @property
    def _body_mouth(self) -> int:
        """Index of the first of the body's two fields for the jump at the mouth: along x, then about x."""
        return 3 + KINDS * self._modes + self._modes

    def _tables(self, node: Node, weights: FieldWeights) -> FieldTables:
        """The body's own weights; the body numbers arm, sliding and sleeve first, where this line has two fields."""
        count = self.FIRST + (KINDS + 1) * self._modes
        whole = _tables(self.motion, node, weights, self._body_mouth + 2, {3 + KINDS * j: 1 + j for j in range(self._modes)})
        position, rate, second, modal = (np.zeros((self.motion.rows, count)) for _ in range(4))
        for mine, body in ((position, whole.position), (rate, whole.rate), (second, whole.second), (modal, whole.modal_rate)):
            mine[:, self.FIRST :] = body[:, 3 : self._body_mouth]
        position[:, self.ALONG], position[:, self.SPREAD] = self._link.length, self.length
        rate[:, self.ALONG], second[:, self.ALONG] = self._speed, self._second
        return FieldTables(position, rate, second, modal)

    def inertia(self, places: Floats) -> tuple[Floats, Floats]:
        return np.full((len(places), 1), self.mu), np.tile(self.rotary, (len(places), 1))

    def along(self, places: Floats) -> tuple[Floats, Floats]:
        moves = np.zeros((len(places), self.weights.position.shape[1], 3))
        turned = np.zeros_like(moves)
        moves[:, self.ALONG, 0], moves[:, self.SPREAD, 0] = 1.0, places
        for j, (direction, values) in enumerate(zip(self._shapes.directions, self._values(places), strict=True)):
            fields = slice(self.FIRST + KINDS * j, self.FIRST + KINDS * (j + 1))
            kinds = np.stack([value * (1.0 - places) ** k for k, value in enumerate(values)], axis=1)
            if direction == "torsion":
                turned[:, fields, 0] = kinds
                continue
            moves[:, fields, AXIS[direction]] = kinds
            if direction in TURN:
                axis, sense = TURN[direction]
                turned[:, self.FIRST + KINDS * self._modes + j, axis] = sense * values[1]
        return moves, turned

    def strains(self, places: Floats) -> tuple[Floats, Floats]:
        strain, bend = (np.zeros((self.motion.rows, len(places), 3)) for _ in range(2))
        for j, (direction, values) in enumerate(zip(self._shapes.directions, self._values(places), strict=True)):
            delta = self.weights.position[:, self.FIRST + KINDS * j]
            if direction in TURN:
                axis, sense = TURN[direction]
                bend[:, :, axis] += sense * np.outer(delta / self.length**2, values[2])
            else:
                (bend if direction == "torsion" else strain)[:, :, 0] += np.outer(delta / self.length, values[1])
        return strain, bend

    def _values(self, places: Floats) -> list[tuple[Floats, Floats, Floats]]:
        """f, f', f'' of every mode."""
        values = []
        for column in self._shapes.columns:
            of = column.shape.w
            values.append((of(places, 0), of(places, 1), of(places, 2)))
        return values

    def fraction(self, frame: Frame) -> float:
        return INBOARD if frame.station is None else 1.0

    def inboard(self) -> tuple[Floats, Floats]:
        """Force and moment of the sleeve and the drag on it, of the arm inside, and of the jump of the material at the mouth."""
        motion, own = self.motion, self.motion.motions[self.number]
        velocity = motion.twists[self.number].velocity
        omega, alpha, a, v = (motion.array(vector) for vector in (own.omega, own.alpha, own.a, velocity))
        ahead, full = np.array([1.0, 0.0, 0.0]), self._link.length
        force, moment = np.zeros_like(a), np.zeros_like(a)
        inside = full - self.length
        slide = self._second[:, None] * ahead + 2.0 * np.cross(omega, self._speed[:, None] * ahead)
        swing = np.cross(omega, ahead)  # velocity per metre
        spin = np.cross(alpha, ahead) + np.cross(omega, swing)  # acceleration per metre
        sleeve, dragged = (np.full(motion.rows, x) for x in (self._link.sleeve_mass, self.motion_drag * full))
        for mass, low, at_root, per_metre in ((sleeve, 0.0 * inside, a, spin), (dragged, 0.0 * inside, v, swing),
                                              (self.mu * inside, self.length, a + slide, spin)):  # fmt: skip
            middle, square = 0.5 * (low + full), (low * low + low * full + full * full) / 3.0
            force += mass[:, None] * (at_root + middle[:, None] * per_metre)
            moment += mass[:, None] * np.cross(ahead, middle[:, None] * at_root + square[:, None] * per_metre)
        moment += inside[:, None] * (self.rotary * alpha + np.cross(omega, self.rotary * omega))
        force[:, 0] += self.mu * self._mouth.get(self._body_mouth, 0.0)
        moment[:, 0] += self.rotary[0] * self._mouth.get(self._body_mouth + 1, 0.0)
        return force, moment


def _spans(shapes: Shapes, plane: str, length: float) -> bool:
    """Whether the bending modes of a plane rotate at the root and do not move at the tip."""
    own = [j for j, direction in enumerate(shapes.directions) if direction == plane]
    if not own:
        return False
    moves, turned = shapes.displacement(np.array([0.5 * length, length])), shapes.rotation(np.zeros(1))
    held = np.max(np.abs(moves[1][:, own])) <= HELD * np.max(np.abs(moves[:, :, own]))
    return bool(held and np.max(np.abs(turned[0][:, own])) * length > HELD)


def _tables(motion: RecordedMotion, node: Node, weights: FieldWeights, count: int, modes: Mapping[int, int]) -> FieldTables:
    """modes: for each field that is a mode, the index of the body coordinate that weights it."""
    second = dict(weights.bias)
    for column, k in zip(weights.columns, node.own_v, strict=True):
        for field, weight in column.items():
            second[field] = second.get(field, 0.0) + weight * motion.a[k]
    own = {field: motion.v[node.own_v[number]] for field, number in modes.items()}
    position, rate, acceleration, modal = (_table(motion.rows, count, w) for w in (weights.position, weights.rate, second, own))
    return FieldTables(position, rate, acceleration, modal)


def _table(rows: int, count: int, weights: Mapping[int, object]) -> Floats:
    table = np.zeros((rows, count))
    for field, weight in weights.items():
        table[:, field] = weight  # type: ignore[call-overload]
    return table


def _external_damping(dampings: tuple[Damping, ...], beam: Beam | None, shapes: Shapes | None) -> tuple[float, float, float]:
    """(drag on bending and on the whole motion, kg/(m s); Rayleigh's alpha, 1/s): damping that acts on the material from outside.

    All other kinds of damping act inside the beam and are part of the section forces.
    """
    drag, whole, alpha = 0.0, 0.0, 0.0
    for damping in dampings:
        if isinstance(damping, AirDrag):
            drag += damping.coefficient
        elif isinstance(damping, MotionDrag):
            whole += damping.coefficient
        elif isinstance(damping, Rayleigh):
            alpha += damping.alpha
        elif isinstance(damping, RayleighRatios):
            assert beam is not None and shapes is not None  # telescopic links have no such damping
            alpha += rayleigh_from_ratios(damping, shape_integrals(beam, shapes).free_frequencies)[0]
    return drag, whole, alpha
