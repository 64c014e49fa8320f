"""Static-correction shapes: the part of a beam's static response to end loads that its modes do not represent.

Each load that an end of the set can carry (a force and a moment at a free end, a moment at a simply supported end) bends the beam
into a polynomial. If the set's ends allow rigid-body motion, the beam accelerates and the inertia of that motion balances the load.
The modes' share, measured by strain energy, is subtracted from these shapes, and the remainder is added to the set (MacNeal 1971;
Dickens, Nakagawa, Wittbrodt 1997). It is orthogonal to all modes in K and in M, so the modes' frequencies do not change.

Dimensionless as in `waves`, y = (w, Theta, M, V): V' = a, M' = -V + r2 alpha, Theta' = M, w' = Theta + s2 V, with a = A + B xi and
alpha = B, the acceleration of the rigid motion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike, NDArray

from pliant.beams.bending import bending_problem
from pliant.beams.eigen import natural
from pliant.beams.quadrature import nodes
from pliant.errors import ModelError
from pliant.model.beam import Beam
from pliant.model.modes import PLANES, AxialModes, GivenModes, Modes, TorsionModes, direction_of
from pliant.model.telescopic import TelescopicBeam

Floats = NDArray[np.float64]
StaticSet = Modes | AxialModes | TorsionModes | GivenModes  # sets that may have these shapes

SAMPLES = 401  # sample points in the search for the largest deflection
PANELS = 8  # for integrals of products of the polynomials, whose degree is at most 6


class Mode(Protocol):
    """A shape that can be part of a sum: it has derivatives, a section rotation and a shear strain."""

    def w(self, x: ArrayLike, order: int = 0) -> Floats: ...
    def theta(self, x: ArrayLike, order: int = 0) -> Floats: ...
    def strain(self, x: ArrayLike) -> Floats: ...
    @property
    def breaks(self) -> Floats: ...


class _Sized(Protocol):
    @property
    def length(self) -> float: ...
    def w(self, x: ArrayLike, order: int = 0) -> Floats: ...
    def scaled(self, factor: float) -> Self: ...


Scalable = TypeVar("Scalable", bound=_Sized)


@dataclass(frozen=True)
class StaticShape:
    """A polynomial minus a sum of modes: a deflection in m, a stretch in m or a twist in rad."""

    length: float  # m
    deflection: Polynomial  # w over xi = x / length
    turn: Polynomial  # l Theta over xi
    weight: float
    modes: tuple[Mode, ...]
    parts: Floats  # weights of the modes that are subtracted
    frequency: float = float("nan")  # rad/s, of the shape on its own

    @property
    def breaks(self) -> Floats:
        finest = max((mode.breaks for mode in self.modes), key=len, default=np.zeros(0))
        return finest if len(finest) > PANELS else np.linspace(0.0, self.length, 1 + PANELS)

    def w(self, x: ArrayLike, order: int = 0) -> Floats:
        return self._less(self.deflection, x, order, 0, lambda mode: mode.w(x, order))

    def theta(self, x: ArrayLike, order: int = 0) -> Floats:
        return self._less(self.turn, x, order, 1, lambda mode: mode.theta(x, order))

    def strain(self, x: ArrayLike) -> Floats:
        """Shear strain W' - Theta; the polynomial's share is evaluated without cancellation."""
        return self._less(self.deflection.deriv() - self.turn, x, 0, 1, lambda mode: mode.strain(x))

    def scaled(self, factor: float) -> Self:
        return replace(self, weight=self.weight * factor, parts=self.parts * factor)

    def _less(self, of: Polynomial, x: ArrayLike, order: int, per_length: int, mode: Callable[[Mode], Floats]) -> Floats:
        xi = np.asarray(x, dtype=np.float64) / self.length
        polynomial = of.deriv(order) if order else of
        value = self.weight * polynomial(xi) / self.length ** (order + per_length)
        for part, one in zip(self.parts, self.modes, strict=True):
            if part != 0.0:
                value = value - part * mode(one)
        return np.asarray(value)


# ---- response to end loads


def bending_statics(beam: Beam, ends: str, plane: str) -> list[tuple[Polynomial, Polynomial]]:
    """(w, Theta) of the dimensionless beam, one for each load that the ends can carry."""
    problem, _ = bending_problem(beam, Modes(ends, 1, plane))
    basis = _bending_basis(problem.rotary, problem.shear)
    free = [motion for motion, allowed in ((0, ends == "ff"), (1, ends in ("ff", "sf", "fs"))) if allowed]
    return [(w, theta) for w, theta, _, _ in _solved(basis, _bending_conditions(ends), ends, free, problem.rotary)]


State = tuple[Polynomial, Polynomial, Polynomial, Polynomial]


def _bending_basis(rotary: float, shear: float) -> list[State]:
    """States y = (w, Theta, M, V) for a unit of w0, Theta0, M0, V0, A, B."""
    zero, one, xi = Polynomial([0.0]), Polynomial([1.0]), Polynomial([0.0, 1.0])
    basis = []
    for k in range(6):
        w0, theta0, m0, v0, a, b = (float(k == j) for j in range(6))
        force = v0 * one + (a * one + b * xi).integ()
        moment = m0 * one + (rotary * b * one - force).integ()
        theta = theta0 * one + moment.integ()
        basis.append((w0 * one + (theta + shear * force).integ() + zero, theta, moment, force))
    return basis


def _bending_conditions(ends: str) -> list[tuple[int, float, bool]]:
    """The conditions at both ends: (row of y, position, whether a load can act there)."""
    of = {"c": ((0, False), (1, False)), "s": ((0, False), (2, True)), "f": ((3, True), (2, True))}
    return [(row, place, loaded) for place, end in zip((0.0, 1.0), ends, strict=True) for row, loaded in of[end]]


def _solved(
    basis: Sequence[State], conditions: Sequence[tuple[int, float, bool]], ends: str, free: Sequence[int], rotary: float
) -> list[State]:
    """The state for every load: it meets the end conditions and contains no rigid motion that the ends leave free."""
    pivot = 1.0 if ends == "fs" else 0.0  # centre of rotation of a beam that only one end supports
    rigid = [(Polynomial([1.0]), 0.0), (Polynomial([-pivot, 1.0]), 1.0)]
    rows = [[state[row](place) for state in basis] for row, place, _ in conditions]
    for motion in free:
        shape, turns = rigid[motion]
        rows.append([_integral(state[0] * shape) + rotary * turns * _integral(state[1]) for state in basis])
    accelerations = np.zeros((6, 4 + len(free)))
    accelerations[:4, :4] = np.eye(4)
    for column, motion in enumerate(free):
        accelerations[4:, 4 + column] = (1.0, 0.0) if motion == 0 else (-pivot, 1.0)
    matrix = np.array(rows) @ accelerations
    found = []
    for k, (_, _, loaded) in enumerate(conditions):
        if loaded:
            weights = accelerations @ np.linalg.solve(matrix, np.eye(len(rows))[k])
            found.append(_added(basis, weights))
    return found


def _added(basis: Sequence[State], weights: Floats) -> State:
    sums = [sum((float(weight) * state[row] for weight, state in zip(weights, basis, strict=True)), Polynomial([0.0]))
            for row in range(4)]  # fmt: skip
    return sums[0], sums[1], sums[2], sums[3]


def _integral(polynomial: Polynomial) -> float:
    return float(polynomial.integ()(1.0))


def bar_statics(ends: str) -> list[Polynomial]:
    """u of a bar for a load at each of its free ends. A bar free at both ends accelerates: u'' = A, and u has no rigid part."""
    xi = Polynomial([0.0, 1.0])
    if ends == "ff":
        tip = 0.5 * xi * xi
        root = tip - xi
        return [shape - _integral(shape) for shape in (root, tip)]
    return {"cf": [xi], "fc": [xi - 1.0]}[ends]


# ---- the part that the modes do not represent


def residual_shapes(beam: Beam, modes: StaticSet, of: Sequence[Mode]) -> list[StaticShape]:
    """The static-correction shapes of a set, orthogonal to its modes and to each other, with a largest deflection of 1."""
    if beam.tip_section is not None:
        raise ModelError.of("GivenModes", "static", "must be False for shapes of your own on a tapered beam", True)
    ends = modes.ends if not isinstance(modes, GivenModes) else "cf"
    direction = direction_of(modes)
    bends = direction in PLANES
    statics = bending_statics(beam, ends, direction) if bends else [(u, u.deriv()) for u in bar_statics(ends)]
    shapes = [StaticShape(beam.length, w, theta, 1.0, tuple(of), np.zeros(len(of))) for w, theta in statics]
    x, weight = nodes(shapes[0].breaks)
    strains = np.stack([strain_vector(beam, direction, mode, x, weight) for mode in of], axis=1)
    for k, shape in enumerate(shapes):
        parts = np.linalg.lstsq(strains, strain_vector(beam, direction, shape, x, weight), rcond=None)[0]
        shapes[k] = replace(shape, parts=np.array(parts, dtype=np.float64))
    return _natural(beam, direction, shapes, x, weight)


def _natural(beam: Beam, direction: str, shapes: Sequence[StaticShape], x: Floats, weight: Floats) -> list[StaticShape]:
    """The natural shapes within the span of the residuals, so that each has its own frequency, lowest first."""
    strains = np.stack([strain_vector(beam, direction, shape, x, weight) for shape in shapes], axis=1)
    moves = np.stack([move_vector(beam, direction, shape, x, weight) for shape in shapes], axis=1)
    # scale to unit strain energy first: residuals of a force and of a moment differ greatly in size
    size = np.sqrt(np.sum(strains**2, axis=0))
    frequencies, vectors = natural((moves / size).T @ (moves / size), (strains / size).T @ (strains / size))
    found = []
    for frequency, vector in zip(frequencies, (vectors.T / size), strict=True):
        shape = _sum(shapes, vector)
        found.append(replace(scaled(shape), frequency=float(frequency)))
    return found


def _sum(shapes: Sequence[StaticShape], vector: Floats) -> StaticShape:
    deflection = sum((float(v) * shape.deflection for v, shape in zip(vector, shapes, strict=True)), Polynomial([0.0]))
    turn = sum((float(v) * shape.turn for v, shape in zip(vector, shapes, strict=True)), Polynomial([0.0]))
    parts = np.array([shape.parts for shape in shapes]).T @ vector
    return replace(shapes[0], deflection=deflection, turn=turn, parts=parts)


def scaled(shape: Scalable) -> Scalable:
    """The shape scaled to a largest value of 1, measured from the root, and positive where it is largest."""
    x = np.linspace(0.0, shape.length, SAMPLES)
    values = shape.w(x) - shape.w(0.0)
    return shape.scaled(1.0 / float(values[np.argmax(np.abs(values))]))


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
