"""Section forces of a beam from the balance of its outboard part: inertia of the material, and all forces that act on it.

At station x, with r(s) the displaced position of the material at s, and a(s) its acceleration minus gravity,
    F(x) = sum of forces outboard - int_x^l mu a ds
    M(x) = sum of moments outboard about r(x) - int_x^l [(r(s) - r(x)) x mu a + J (alpha + theta'') + omega x J (omega + theta')] ds
are the force and moment of the outboard part on the inboard part, on the deformed beam, in the body's axes. J is the rotary
inertia per length as in the equations of motion, in the body's axes. A force exactly at the station counts as outboard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.analysis.material_line import MaterialLine, points
from pliant.analysis.outboard_forces import PlacedWrench
from pliant.arrays import Floats
from pliant.beams.quadrature import nodes

SAME_STATION = 1e-9  # fraction of the length: largest distance that round-off may leave between a station and a frame placed there
FINE, FEW_POINTS = 0.25, 8  # fraction of the shapes' panels, points per panel: products of four waves are exact to 1e-15
MOST_NUMBERS = 2_000_000  # largest table of vectors along the material: rows are processed in portions of this size


@dataclass(frozen=True)
class SectionWrench:
    """Force and moment of the part outboard of each station on the part inboard of it: (rows, stations, 3)."""

    force: Floats  # N
    moment: Floats  # N m, about the deformed axis at the station


def balance(line: MaterialLine, stations: Floats, acting: Sequence[PlacedWrench]) -> SectionWrench:
    """Section forces in the body's axes; stations are fractions of the length in ascending order."""
    force, moment = (-demand for demand in _demand(line, stations))
    for frame_fraction, f, m in (*_pushes(line, acting), *_drag_supports(line)):
        outboard = stations <= frame_fraction + SAME_STATION
        force[:, outboard] += f[:, None]
        moment[:, outboard] += m[:, None]
    return SectionWrench(force, moment - np.cross(points(line, stations), force))


def joint_wrench(line: MaterialLine, acting: Sequence[PlacedWrench]) -> tuple[Floats, Floats]:
    """(force, moment about the body's origin) of the body on its inboard joint, the whole body being outboard: (rows, 3) each."""
    root = np.zeros(1)
    force, moment = (-(demand[:, 0] + inner) for demand, inner in zip(_demand(line, root), line.inboard(), strict=True))
    for _, f, m in (*_pushes(line, acting), *_drag_supports(line)):
        force, moment = force + f, moment + m
    return force, moment


def _pushes(line: MaterialLine, acting: Sequence[PlacedWrench]) -> list[tuple[float, Floats, Floats]]:
    """(position, force, moment about the body's origin) of every wrench on a body, in its axes."""
    turn, origin = line.motion.turn(line.number), line.motion.origin(line.number)
    pushes = []
    for wrench in acting:
        if wrench.frame.body == line.motion.tree.nodes[line.number].name:
            f, m, arm = (np.einsum("rij,ri->rj", turn, x) for x in (wrench.force, wrench.moment, wrench.point - origin))
            pushes.append((line.fraction(wrench.frame), f, m + np.cross(arm, f)))
    return pushes


def _drag_supports(line: MaterialLine) -> list[tuple[float, Floats, Floats]]:
    """Support forces of a spanning beam against the drag on its modes.

    In the model, air drag and mass-proportional damping act on the modes alone, not on the motion of the frame, so their resultant
    is carried by a support that does no work on the modes. For modes clamped at the root, that support is the root. For modes that
    rotate at the root and do not move at the tip, root and tip share the load, so that the pin carries no moment.
    """
    if not any(line.spans) or not (line.drag or line.mass_damping):
        return []
    place, weight = nodes(line.panels)
    material, rows = _Material(line, place), line.motion.rows
    drag = material.drag(slice(0, rows))
    moment = np.einsum("p,rpj->rj", weight, np.cross(points(line, place), drag)) * line.length[:, None]
    tip = points(line, np.ones(1))[:, 0]
    push = np.zeros((rows, 3))
    push[:, 1], push[:, 2] = line.spans[0] * moment[:, 2] / tip[:, 0], -line.spans[1] * moment[:, 1] / tip[:, 0]
    return [(1.0, push, np.cross(tip, push))]


def _demand(line: MaterialLine, stations: Floats) -> tuple[Floats, Floats]:
    """(force, moment about the body's origin) required by the motion outboard of the stations: (rows, stations, 3) each."""
    edges = np.unique(np.concatenate([line.panels, stations]))
    fine = np.max(np.diff(edges)) <= FINE * np.min(np.diff(line.panels))
    place, weight = nodes(edges, FEW_POINTS) if fine else nodes(edges)
    beyond = (place[None, :] > stations[:, None]) * weight  # (stations, points): no panel straddles a station
    rows = line.motion.rows
    forces, moments = (np.zeros((rows, len(stations), 3)) for _ in range(2))
    portion = max(MOST_NUMBERS // (3 * len(place)), 1)
    material = _Material(line, place)
    for first in range(0, rows, portion):
        some = slice(first, first + portion)
        for total, each in zip((forces, moments), material.per_length(some), strict=True):
            total[some] = np.einsum("sp,rpj->rsj", beyond, each) * line.length[some, None, None]
    return forces, moments


class _Material:
    """Forces and moments per length required by the motion of the material, at positions along a line."""

    def __init__(self, line: MaterialLine, places: Floats) -> None:
        self._line = line
        self._moves, self._turns = line.along(places)
        self._mu, self._rotary = line.inertia(places)
        own, array = line.motion.motions[line.number], line.motion.array
        velocity = line.motion.twists[line.number].velocity
        self._omega, self._alpha, self._a, self._v = (array(vector) for vector in (own.omega, own.alpha, own.a, velocity))

    def per_length(self, rows: slice) -> tuple[Floats, Floats]:
        """(force, moment about the body's origin) for some rows: (rows, points, 3)."""
        weights = self._line.weights
        r, velocity, second = (self._sum(table[rows], self._moves) for table in (weights.position, weights.rate, weights.second))
        omega, alpha = self._omega[rows, None], self._alpha[rows, None]
        acceleration = self._a[rows, None] + np.cross(alpha, r) + second
        acceleration += np.cross(omega, np.cross(omega, r) + 2.0 * velocity)
        force = self._mu * acceleration + self.drag(rows)
        if self._line.motion_drag:
            force += self._line.motion_drag * (self._v[rows, None] + np.cross(omega, r) + velocity)
        return force, np.cross(r, force) + self._section_moment(rows, omega, alpha)

    def drag(self, rows: slice) -> Floats:
        """Air drag and mass-proportional damping of the modes: external forces on the material."""
        if not self._line.drag and not self._line.mass_damping:
            return np.zeros(3)
        velocity = self._sum(self._line.weights.modal_rate[rows], self._moves)
        across = velocity * np.array([0.0, 1.0, 1.0])
        return np.asarray(self._line.drag * across + self._line.mass_damping * self._mu * velocity)

    def _section_moment(self, rows: slice, omega: Floats, alpha: Floats) -> Floats:
        """J (alpha + theta'') + omega x J (omega + theta'), plus mass-proportional damping of the modal rotation."""
        rotary, weights = self._rotary, self._line.weights
        spin, second, modal = (self._sum(w[rows], self._turns) for w in (weights.rate, weights.second, weights.modal_rate))
        damped = second + self._line.mass_damping * modal
        return np.asarray(rotary * (alpha + damped) + np.cross(omega, rotary * (omega + spin)))

    @staticmethod
    def _sum(weights: Floats, fields: Floats) -> Floats:
        return np.asarray(np.einsum("ra,paj->rpj", weights, fields, optimize=True))
