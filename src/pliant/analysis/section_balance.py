"""Section forces of a beam by the balance of what is outboard: inertia along the material, and all that pushes there.

At station x, with r(s) where the beam's fields have carried the material at s, and a(s) its acceleration less gravity,
    F(x) = sum of forces outboard - int_x^l mu a ds
    M(x) = sum of moments outboard about r(x) - int_x^l [(r(s) - r(x)) x mu a + J (alpha + theta'') + omega x J (omega + theta')] ds
is what the outboard part does to the inboard one, on the deformed beam, in the beam's axes. J is the rotary inertia per length as
the equations of motion have it, in the axes of the beam. A force at the very station counts as outboard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.analysis.outboard_forces import PlacedWrench
from pliant.analysis.recorded_motion import RecordedMotion
from pliant.beams.damping import rayleigh_from_ratios
from pliant.beams.fields import fields_along
from pliant.beams.integrals import shape_integrals
from pliant.beams.quadrature import nodes
from pliant.beams.shapes import Shapes
from pliant.dynamics.body import FieldWeights
from pliant.dynamics.rotation import SmallTurn
from pliant.dynamics.tree import Node
from pliant.model.beam import Beam
from pliant.model.damping import AirDrag, Rayleigh, RayleighRatios

Floats = NDArray[np.float64]

MOST_NUMBERS = 2_000_000  # of one table of vectors along the material: rows are taken in portions of this size


@dataclass(frozen=True)
class SectionWrench:
    """What the part outboard of each station does to the part inboard of it: (rows, stations, 3), in the beam's axes."""

    force: Floats  # N
    moment: Floats  # N m, about the deformed axis at the station


class BeamRows:
    """One beam in all rows of a result: weights of its fields, their rates and accelerations."""

    def __init__(self, motion: RecordedMotion, number: int) -> None:
        self.motion, self.number = motion, number
        self.node: Node = motion.tree.nodes[number]
        body = self.node.link.body
        shapes = motion.tree.bodies[self.node.name].shapes
        assert isinstance(body, Beam) and shapes is not None  # chosen so
        self.beam: Beam = body
        self.shapes: Shapes = shapes
        weights: FieldWeights = self.node.body.field_weights(*self.node.own(motion.q, motion.v))
        self.count = 1 + max(weights.position)
        second = dict(weights.bias)
        for column, k in zip(weights.columns, self.node.own_v, strict=True):
            for field, weight in column.items():
                second[field] = second.get(field, 0.0) + weight * motion.a[k]
        self.position, self.rate, self.second = (self._table(w) for w in (weights.position, weights.rate, second))

    def _table(self, weights: Mapping[int, object]) -> Floats:
        """(rows, fields)."""
        table = np.zeros((self.motion.rows, self.count))
        for field, weight in weights.items():
            table[:, field] = weight  # type: ignore[call-overload]
        return table

    @property
    def modes(self) -> slice:
        """The fields that are modes."""
        return slice(1, 1 + self.shapes.count)

    def points(self, x: Floats) -> Floats:
        """Where the beam's axis is, in the beam's axes: (rows, len(x), 3)."""
        moves, _ = fields_along(self.beam, self.shapes, x)
        return np.asarray(np.einsum("ra,paj->rpj", self.position, moves))

    def turns(self, x: Floats) -> Floats:
        """From the axes of the sections to those of the beam: (rows, len(x), 3, 3)."""
        _, turns = fields_along(self.beam, self.shapes, x)
        psi = np.einsum("ra,paj->rpj", self.position, turns)
        rotation = SmallTurn((psi[..., 0], psi[..., 1], psi[..., 2])).rotation.matrix
        return np.stack([np.stack([np.broadcast_to(x, psi.shape[:2]) for x in row], axis=2) for row in rotation], axis=2)


def balance(beam: BeamRows, stations: Floats, acting: Sequence[PlacedWrench]) -> SectionWrench:
    """Section forces at stations, m, ascending."""
    force, moment = _inertia(beam, stations)
    force, moment = -force, -moment  # about the beam's origin
    turn, origin = beam.motion.turn(beam.number), beam.motion.origin(beam.number)
    for wrench in acting:
        if wrench.frame.body != beam.node.name:
            continue
        outboard = stations <= (wrench.frame.station or 0.0)
        f, m, arm = (np.einsum("rij,ri->rj", turn, x) for x in (wrench.force, wrench.moment, wrench.point - origin))
        force[:, outboard] += f[:, None]
        moment[:, outboard] += (m + np.cross(arm, f))[:, None]
    return SectionWrench(force, moment - np.cross(beam.points(stations), force))


def _inertia(beam: BeamRows, stations: Floats) -> tuple[Floats, Floats]:
    """(int mu a + drag, int r x (mu a + drag) + the sections' own) outboard of the stations, about the beam's origin."""
    edges = np.unique(np.concatenate([beam.shapes.panels, stations]))
    x, weight = nodes(edges)
    forces, moments = (np.zeros((beam.motion.rows, len(stations), 3)) for _ in range(2))
    beyond = (x[None, :] > stations[:, None]) * weight  # (stations, points): no panel straddles a station
    portion = max(MOST_NUMBERS // (3 * len(x)), 1)
    material = _Material(beam, x)
    for first in range(0, beam.motion.rows, portion):
        rows = slice(first, first + portion)
        force, moment = material.per_length(rows)
        forces[rows], moments[rows] = (np.einsum("sp,rpj->rsj", beyond, each) for each in (force, moment))
    return forces, moments


class _Material:
    """Forces and moments per length that the motion of the material asks for, at points along a beam."""

    def __init__(self, beam: BeamRows, x: Floats) -> None:
        self._beam = beam
        self._moves, self._turns = fields_along(beam.beam, beam.shapes, x)
        motion, own = beam.motion, beam.motion.motions[beam.number]
        self._omega, self._alpha, self._a = (motion.array(vector) for vector in (own.omega, own.alpha, own.a))
        self._drag, self._mass_damping = external_damping(beam.beam, beam.shapes)

    def per_length(self, rows: slice) -> tuple[Floats, Floats]:
        """(force, moment about the beam's origin) for some rows: (rows, points, 3)."""
        beam = self._beam
        weights = (beam.position, beam.rate, beam.second)
        r, velocity, second = (np.einsum("ra,paj->rpj", table[rows], self._moves) for table in weights)
        omega, alpha = self._omega[rows, None], self._alpha[rows, None]
        acceleration = self._a[rows, None] + np.cross(alpha, r) + second
        acceleration += np.cross(omega, np.cross(omega, r) + 2.0 * velocity)
        force = beam.beam.mu * acceleration + self._drag_force(rows)
        return force, np.cross(r, force) + self._section_moment(rows, omega, alpha)

    def _drag_force(self, rows: slice) -> Floats:
        """What air and mass-proportional damping take of the modes' motion, outside forces on the material."""
        modes = self._beam.modes
        velocity = np.einsum("ra,paj->rpj", self._beam.rate[rows, modes], self._moves[:, modes])
        across = velocity * np.array([0.0, 1.0, 1.0])
        return np.asarray(self._drag * across + self._mass_damping * self._beam.beam.mu * velocity)

    def _section_moment(self, rows: slice, omega: Floats, alpha: Floats) -> Floats:
        """J (alpha + theta'') + omega x J (omega + theta'), and mass-proportional damping of it."""
        rotary, beam = np.array(self._beam.beam.rotary), self._beam
        spin, second = (np.einsum("ra,paj->rpj", table[rows], self._turns) for table in (beam.rate, beam.second))
        damped = second + self._mass_damping * spin
        return np.asarray(rotary * (alpha + damped) + np.cross(omega, rotary * (omega + spin)))


def external_damping(beam: Beam, shapes: Shapes) -> tuple[float, float]:
    """(drag of the air, kg/(m s); Rayleigh's alpha, 1/s): damping that pushes on the material from without.

    All other kinds act inside the beam, and are part of the section forces.
    """
    drag, alpha = 0.0, 0.0
    for damping in beam.dampings:
        if isinstance(damping, AirDrag):
            drag += damping.coefficient
        elif isinstance(damping, Rayleigh):
            alpha += damping.alpha
        elif isinstance(damping, RayleighRatios):
            alpha += rayleigh_from_ratios(damping, shape_integrals(beam, shapes).free_frequencies)[0]
    return drag, alpha
