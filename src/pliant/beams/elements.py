"""Finite elements as shapes: hat functions for stretch and twist, cubic Hermite functions for bending, one per nodal coordinate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.arrays import Floats
from pliant.beams.given import Curve, GivenShape
from pliant.beams.quadrature import absorbed, gram, nodes
from pliant.beams.ritz import rigidities
from pliant.model.beam import Beam
from pliant.model.modes import AxialElements, Coordinate, ElementModes, TorsionElements
from pliant.model.modes import Mesh as MeshModes

# Polynomials over s = 0 ... 1 of an element, highest power first, keyed by the end that moves.
# Slopes are per unit of s; for an element of length h they are multiplied by h.
_ELEMENT = {
    ("deflection", 0): (2.0, -3.0, 0.0, 1.0),
    ("slope", 0): (1.0, -2.0, 1.0, 0.0),
    ("deflection", 1): (-2.0, 3.0, 0.0, 0.0),
    ("slope", 1): (1.0, -1.0, 0.0, 0.0),
    ("axial", 0): (-1.0, 1.0),
    ("axial", 1): (1.0, 0.0),
    ("twist", 0): (-1.0, 1.0),
    ("twist", 1): (1.0, 0.0),
}


@dataclass(frozen=True)
class Pieces:
    """A polynomial on every element."""

    breaks: Floats  # m, elements + 1
    table: Floats  # (elements, powers), over s = 0 ... 1 of the element, highest power first

    def value(self, x: Floats, order: int = 0) -> Floats:
        """The shape at x, or a derivative of it."""
        lengths = np.diff(self.breaks)
        element = np.clip(np.searchsorted(self.breaks, x, side="right") - 1, 0, len(lengths) - 1)
        s = (x - self.breaks[element]) / lengths[element]
        result = np.zeros_like(x)
        for row in _derived(self.table, order).T:
            result = result * s + row[element]
        return np.asarray(result / lengths[element] ** order)

    @property
    def extrema(self) -> tuple[Floats, Floats]:
        """Candidate extrema of the shape (nodes, and zeros of its slope between them) and the values there."""
        slopes = _derived(self.table, 1)
        places = [float(point) for point in self.breaks]
        for begin, end, slope in zip(self.breaks[:-1], self.breaks[1:], slopes, strict=True):
            roots = np.roots(slope)
            places += [begin + (end - begin) * float(s.real) for s in roots if s.imag == 0.0 and 0.0 < s.real < 1.0]
        x = np.array(sorted(places))
        return x, self.value(x)


@dataclass(frozen=True)
class Mesh:
    """Shapes by coordinate, the rigid motions of the beam they describe, and the weights of inertia and stiffness."""

    coordinates: tuple[Coordinate, ...]
    shapes: tuple[Pieces, ...]
    rigid: tuple[Pieces, ...]
    inertia: Callable[[Floats], tuple[Any, Any]]  # at x, per length: of the shape (kg/m, of a twist kg m), of its slope (kg m)
    rigidity: Callable[[Floats], Any]  # at x, E I (N m^2) of curvatures, E A (N) of stretches, G J (N m^2) of twists
    strained: int  # order of the derivative that is the strain

    def mass(self, shapes: Sequence[Pieces]) -> Floats:
        x, weight = nodes(self.shapes[0].breaks)
        moves, turns = (_columns(shapes, x, order) for order in (0, 1))
        (over_moves, mass), (over_turns, rotary) = (absorbed(weight, inertia) for inertia in self.inertia(x))
        return mass * gram(over_moves, moves) + rotary * gram(over_turns, turns)

    def stiffness(self, shapes: Sequence[Pieces]) -> Floats:
        x, weight = nodes(self.shapes[0].breaks)
        weight, rigidity = absorbed(weight, self.rigidity(x))
        return rigidity * gram(weight, _columns(shapes, x, self.strained))


def bending_mesh(beam: Beam, modes: ElementModes, numbers: Sequence[int] | None = None) -> Mesh:
    """The cubic elements of a beam in their frame; numbers: nodes of a coarser mesh, including the ends and the frame's nodes."""
    axis = 2 if modes.plane == "y" else 1
    first, last = modes.frame_nodes[0], modes.frame_nodes[-1]
    tied = {(first, "deflection"): (last, "deflection")} if 0 < first < last else {}
    shapes, chosen = _nodal(beam.length, modes, numbers, tied)
    line = np.zeros((len(shapes[0].breaks) - 1, 4))
    line[:, 2], line[:, 3] = np.diff(shapes[0].breaks), shapes[0].breaks[:-1]
    rigid = tuple(Pieces(shapes[0].breaks, table) for table in (np.eye(4)[3] + 0.0 * line, line))
    return Mesh(chosen, shapes, rigid, lambda x: (beam.along(x).mu, beam.along(x).rotary[axis]),
                lambda x: rigidities(beam.along(x))[modes.plane], 2)  # fmt: skip


def axial_mesh(beam: Beam, modes: AxialElements, numbers: Sequence[int] | None = None) -> Mesh:
    """The bar elements of a beam with a fixed root."""
    shapes, chosen = _nodal(beam.length, modes, numbers, {})
    rigid = Pieces(shapes[0].breaks, np.tile([0.0, 1.0], (len(shapes[0].breaks) - 1, 1)))
    return Mesh(chosen, shapes, (rigid,), lambda x: (beam.along(x).mu, 0.0), lambda x: rigidities(beam.along(x))["axial"], 1)


def torsion_mesh(beam: Beam, modes: TorsionElements, numbers: Sequence[int] | None = None) -> Mesh:
    """The torsion elements of a beam with a fixed root."""
    shapes, chosen = _nodal(beam.length, modes, numbers, {})
    rigid = Pieces(shapes[0].breaks, np.tile([0.0, 1.0], (len(shapes[0].breaks) - 1, 1)))
    return Mesh(chosen, shapes, (rigid,), lambda x: (beam.along(x).rotary[0], 0.0),
                lambda x: rigidities(beam.along(x))["torsion"], 1)  # fmt: skip


def as_given(pieces: Iterable[Pieces]) -> list[GivenShape]:
    """Shapes as the beam takes them."""
    return [_given(one) for one in pieces]


def combined(shapes: Sequence[Pieces], vectors: Floats) -> list[Pieces]:
    """Linear combinations of the shapes of one mesh, one for each column of weights."""
    tables = np.stack([shape.table for shape in shapes])
    return [Pieces(shapes[0].breaks, np.tensordot(vector, tables, axes=1)) for vector in vectors.T]


def _nodal(
    length: float, modes: MeshModes, numbers: Sequence[int] | None, tied: dict[Coordinate, Coordinate]
) -> tuple[tuple[Pieces, ...], tuple[Coordinate, ...]]:
    """One shape per nodal coordinate, nonzero only on the elements that meet at its node and at the node tied to it."""
    all_nodes = range(modes.elements + 1)
    used = list(all_nodes if numbers is None else numbers)
    breaks = np.array([length * node / modes.elements for node in used])
    chosen = tuple(one for one in modes.nodal if one[0] in used)
    shapes = []
    for one in chosen:
        table = _alive(breaks, used.index(one[0]), one[1])
        if one in tied:
            table = table + _alive(breaks, used.index(tied[one][0]), tied[one][1])
        shapes.append(Pieces(breaks, table))
    return tuple(shapes), chosen


def _alive(breaks: Floats, node: int, kind: str) -> Floats:
    lengths = np.diff(breaks)
    table = np.zeros((len(lengths), len(_ELEMENT[kind, 0])))
    for element, end in ((node, 0), (node - 1, 1)):
        if 0 <= element < len(lengths):
            table[element] = np.array(_ELEMENT[kind, end]) * (lengths[element] if kind == "slope" else 1.0)
    return table


def _columns(shapes: Sequence[Pieces], x: Floats, order: int) -> Floats:
    return np.stack([shape.value(x, order) for shape in shapes], axis=1)


def _derived(table: Floats, order: int) -> Floats:
    """Coefficients of a derivative with respect to s."""
    for _ in range(order):
        powers = np.arange(table.shape[1] - 1, 0, -1)
        table = table[:, :-1] * powers
    return table


def _given(pieces: Pieces) -> GivenShape:
    def curve(order: int) -> Curve:
        return lambda x: pieces.value(x, order)

    curves: tuple[Callable[[Floats], Floats], ...] = tuple(curve(order) for order in range(3))
    return GivenShape((curves[0], curves[1], curves[2]), (curves[1], curves[2]), pieces.breaks)
