"""Modes of a tapered beam by Ritz's method: polynomials over the whole length, weighted by the sections along it.

Deflections of an Euler-Bernoulli beam are Legendre polynomials integrated twice, so that their curvatures are orthogonal; stretch,
twist, and the deflections and rotations of a Timoshenko beam are integrated once. Only the geometric end conditions are imposed;
those of forces and moments follow from the energies. Frequencies converge from above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import ArrayLike

from pliant.arrays import Floats
from pliant.beams.bending import largest, payload_numbers, sign
from pliant.beams.eigen import natural
from pliant.beams.quadrature import nodes
from pliant.model.beam import Beam
from pliant.model.modes import PLANES, AxialModes, Modes, TorsionModes, direction_of
from pliant.model.telescopic import TelescopicBeam

MORE = 32  # polynomials beyond two for each mode: a tip a twentieth as high as the root leaves less than 1e-9 of a frequency
STATIC = 8  # polynomials for static responses of a uniform beam, which have degree 5 at most
PER_PANEL = 4  # polynomials for each panel of 16 points: products of two and of the sections' numbers are exact to round-off
CONDITIONS = {"c": (0, 1), "s": (0,), "f": ()}  # derivatives of the deflection that an end holds; loads act on the others


class Mode(Protocol):
    """A shape: derivatives, section rotation, shear strain, and the panels on which its products are integrated."""

    @property
    def breaks(self) -> Floats: ...
    def w(self, x: ArrayLike, order: int = 0) -> Floats: ...
    def theta(self, x: ArrayLike, order: int = 0) -> Floats: ...
    def strain(self, x: ArrayLike) -> Floats: ...


@dataclass(frozen=True)
class RitzShape:
    """A polynomial as a series of Legendre's, over -1 ... 1 from root to tip."""

    length: float  # m
    deflection: Floats
    turn: Floats | None  # section rotation of a Timoshenko beam; without it, the slope
    frequency: float = float("nan")  # rad/s

    @property
    def breaks(self) -> Floats:
        """Shorter panels towards the ends, where the zeros of the polynomials are closer together."""
        panels = -(-len(self.deflection) // PER_PANEL)
        return np.asarray(0.5 * self.length * (1.0 - np.cos(np.linspace(0.0, np.pi, 1 + panels))))

    @property
    def wavenumber(self) -> float:
        """That of the highest polynomial, 1/m."""
        return float(np.pi * len(self.deflection) / self.length)

    def w(self, x: ArrayLike, order: int = 0) -> Floats:
        return self._value(self.deflection, x, order)

    def theta(self, x: ArrayLike, order: int = 0) -> Floats:
        return self.w(x, order + 1) if self.turn is None else self._value(self.turn, x, order)

    def strain(self, x: ArrayLike) -> Floats:
        """Shear strain W' - Theta."""
        return self.w(x, 1) - self.theta(x)

    def scaled(self, factor: float) -> RitzShape:
        return replace(self, deflection=self.deflection * factor, turn=None if self.turn is None else self.turn * factor)

    def _value(self, series: Floats, x: ArrayLike, order: int) -> Floats:
        place = 2.0 * np.asarray(x, dtype=np.float64) / self.length - 1.0
        return np.asarray(legendre.legval(place, legendre.legder(series, order)) * (2.0 / self.length) ** order)


def ritz_modes(beam: Beam, modes: Modes | AxialModes | TorsionModes) -> list[RitzShape]:
    """The modes of a tapered beam in order of frequency, with the set's normalisation."""
    load = payload_numbers(beam, modes) if isinstance(modes, Modes) and modes.payload else None
    found, shapes = _solved(beam, direction_of(modes), modes.ends, 2 * modes.count + MORE, load), []
    for k in range(found.rigid, found.rigid + modes.count):
        shape = added(found.basis, found.vectors[:, k] / np.sqrt(found.m[k]))
        frequency = float(np.sqrt(1.0 / found.m[k] - found.shift))
        shapes.append(replace(shape.scaled(_factor(shape, modes)), frequency=frequency))
    return shapes


def end_responses(beam: Beam, direction: str, ends: str) -> list[RitzShape]:
    """The static response to each load that the ends can carry, without rigid motion: the sum of x (x . f) / (1 - s m)."""
    found = _solved(beam, direction, ends, STATIC if beam.tip_section is None else MORE)
    free = [tuple({0, 1} - set(CONDITIONS[end])) for end in ends]
    elastic = found.vectors[:, found.rigid :]
    parts = elastic.T @ _end_values(found.basis, direction, free).T / (1.0 - found.shift * found.m[found.rigid :])[:, None]
    return [added(found.basis, vector) for vector in (elastic @ parts).T]


@dataclass(frozen=True)
class _Solution:
    """M x = m (K + s M) x with the largest m = 1 / (w^2 + s) first; the shift s lets K have rigid motions. x^T (K + s M) x = 1."""

    basis: list[RitzShape]
    vectors: Floats
    m: Floats
    shift: float
    rigid: int  # number of rigid motions, which come first


def _solved(beam: Beam, direction: str, ends: str, count: int, load: tuple[float, float, float] | None = None) -> _Solution:
    basis = _basis(beam, direction, count)
    held = _end_values(basis, direction, [CONDITIONS[end] for end in ends])
    basis = [added(basis, vector) for vector in np.linalg.svd(held)[2][len(held) :]] if len(held) else basis
    x, weight = nodes(basis[0].breaks)
    strained = np.stack([strain_vector(beam, direction, shape, x, weight) for shape in basis], axis=1)
    moved = np.stack([np.append(move_vector(beam, direction, shape, x, weight), _of_payload(beam, load, shape))
                      for shape in basis], axis=1)  # fmt: skip
    stiffness, mass = strained.T @ strained, moved.T @ moved
    shift = float(np.trace(stiffness) / np.trace(mass)) / len(basis)
    roots, vectors = natural(stiffness + shift * mass, mass)
    rigid = max((2 if direction in PLANES else 1) - len(held), 0)
    return _Solution(basis, vectors[:, ::-1], roots[::-1] ** 2, shift, rigid)


def _basis(beam: Beam, direction: str, count: int) -> list[RitzShape]:
    """Rigid motions, and polynomials with orthonormal strains; all but the first two of these vanish at both ends."""
    sheared = direction in PLANES and beam.theory == "timoshenko"
    times = 2 if direction in PLANES and not sheared else 1
    table = np.eye(count)
    for k in range(count - times):
        series = legendre.legint(np.sqrt(k + 0.5) * np.eye(k + 1)[k], times, lbnd=-1)
        table[times + k] = np.pad(series, (0, count - len(series)))
    if not sheared:
        return [RitzShape(beam.length, row, None) for row in table]
    nothing = np.zeros(count)
    return [RitzShape(beam.length, w, turn / beam.length) for row in table for w, turn in ((row, nothing), (nothing, row))]


def _end_values(basis: Sequence[RitzShape], direction: str, orders: Sequence[Sequence[int]]) -> Floats:
    """Deflections (order 0) and rotations (order 1) of the shapes at both ends, one row for each."""
    length = basis[0].length
    rows = [[length * float(shape.theta(place)) if order else float(shape.w(place)) for shape in basis]
            for place, each in zip((0.0, length), orders, strict=True) for order in each
            if order == 0 or direction in PLANES]  # fmt: skip
    return np.array(rows).reshape(-1, len(basis))


def _of_payload(beam: Beam, load: tuple[float, float, float] | None, shape: RitzShape) -> Floats:
    """The payload's part of the vector whose dot products are kinetic-energy products."""
    if load is None:
        return np.zeros(0)
    mass, turning, offset = load
    tip, tilt = float(shape.w(beam.length)), float(shape.theta(beam.length)) * beam.length
    return np.asarray(np.sqrt(beam.mass * np.array([mass, turning])) * np.array([tip + offset * tilt, tilt]))


def _factor(shape: RitzShape, modes: Modes | AxialModes | TorsionModes) -> float:
    """From a mass-normalised shape to the normalisation and the sign of the set."""
    normalise = getattr(modes, "normalise", "max")
    if normalise == "length":
        x, weight = nodes(shape.breaks)
        return sign(shape) * float(np.sqrt(shape.length / (weight @ shape.w(x) ** 2)))
    return sign(shape) / (largest(shape) if normalise == "max" else 1.0)


def added(shapes: Sequence[RitzShape], vector: Floats) -> RitzShape:
    deflection = vector @ np.stack([shape.deflection for shape in shapes])
    turns = [shape.turn for shape in shapes if shape.turn is not None]
    return RitzShape(shapes[0].length, deflection, vector @ np.stack(turns) if turns else None)


def strain_vector(beam: Beam, direction: str, shape: Mode, x: Floats, weight: Floats) -> Floats:
    """A vector whose dot products with others are strain-energy products."""
    stiff = rigidities(beam.along(x))
    strained = np.sqrt(weight * stiff[direction]) * (shape.theta(x, 1) if direction in PLANES else shape.w(x, 1))
    if direction not in PLANES or beam.theory != "timoshenko":
        return np.asarray(strained)
    return np.concatenate([strained, np.sqrt(weight * stiff["shear"]) * shape.strain(x)])


def rigidities(beam: Beam | TelescopicBeam) -> dict[str, Any]:
    """E A, G J, E Iz, E Iy and k A G, by what they resist; zero where the section or the material has no number for it."""
    section, material = beam.section, beam.material
    iy, iz, j, k = (0.0 if x is None else x for x in (section.Iy, section.Iz, section.J, section.shear_factor))
    shear = material.shear_modulus or 0.0
    return {"axial": material.E * section.A, "torsion": shear * j, "y": material.E * iz, "z": material.E * iy,
            "shear": k * section.A * shear}  # fmt: skip


def move_vector(beam: Beam, direction: str, shape: Mode, x: Floats, weight: Floats) -> Floats:
    """A vector whose dot products with others are kinetic-energy products."""
    beam = beam.along(x)
    if direction not in PLANES:
        return np.asarray(np.sqrt(weight * (beam.rotary[0] if direction == "torsion" else beam.mu)) * shape.w(x))
    rotary = beam.rotary[2 if direction == "y" else 1]
    return np.concatenate([np.sqrt(weight * beam.mu) * shape.w(x), np.sqrt(weight * rotary) * shape.theta(x)])
