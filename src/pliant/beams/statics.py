"""Static-correction shapes: the part of a beam's static response to end loads that its modes do not represent.

Each load that an end of the set can carry (a force and a moment at a free end, a moment at a simply supported end) bends the beam
into a polynomial. If the set's ends allow rigid-body motion, the beam accelerates and the inertia of that motion balances the load.
The modes' share, measured by strain energy, is subtracted from these shapes, and the remainder is added to the set (MacNeal 1971;
Dickens, Nakagawa, Wittbrodt 1997). It is orthogonal to all modes in K and in M, so the modes' frequencies do not change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from pliant.arrays import Floats
from pliant.beams.eigen import natural
from pliant.beams.quadrature import nodes
from pliant.beams.ritz import Mode, RitzShape, added, end_responses, move_vector, strain_vector
from pliant.model.beam import Beam
from pliant.model.modes import AxialModes, GivenModes, Modes, TorsionModes, direction_of

StaticSet = Modes | AxialModes | TorsionModes | GivenModes  # sets that may have these shapes

SAMPLES = 401  # sample points in the search for the largest deflection
PANELS = 8  # for integrals of products of the polynomials, whose degree is at most 6


@dataclass(frozen=True)
class StaticShape:
    """A polynomial minus a sum of modes: a deflection in m, a stretch in m or a twist in rad."""

    response: RitzShape
    modes: tuple[Mode, ...]
    parts: Floats  # weights of the modes that are subtracted
    frequency: float = float("nan")  # rad/s, of the shape on its own

    @property
    def length(self) -> float:
        return self.response.length

    @property
    def breaks(self) -> Floats:
        finest = max((mode.breaks for mode in self.modes), key=len, default=np.zeros(0))
        return finest if len(finest) > PANELS else np.linspace(0.0, self.length, 1 + PANELS)

    def w(self, x: ArrayLike, order: int = 0) -> Floats:
        return self._less(lambda mode: mode.w(x, order))

    def theta(self, x: ArrayLike, order: int = 0) -> Floats:
        return self._less(lambda mode: mode.theta(x, order))

    def strain(self, x: ArrayLike) -> Floats:
        """Shear strain W' - Theta."""
        return self._less(lambda mode: mode.strain(x))

    def _less(self, of: Callable[[Mode], Floats]) -> Floats:
        value = of(self.response)
        for part, one in zip(self.parts, self.modes, strict=True):
            if part != 0.0:
                value = value - part * of(one)
        return np.asarray(value)


def residual_shapes(beam: Beam, modes: StaticSet, of: Sequence[Mode]) -> list[StaticShape]:
    """The static-correction shapes of a set, orthogonal to its modes and to each other, with a largest deflection of 1."""
    direction = direction_of(modes)
    responses = end_responses(beam, direction, modes.ends if not isinstance(modes, GivenModes) else "cf")
    x, weight = nodes(StaticShape(responses[0], tuple(of), np.zeros(0)).breaks)
    strains = np.stack([strain_vector(beam, direction, mode, x, weight) for mode in of], axis=1)
    shapes = []
    for response in responses:
        parts = np.linalg.lstsq(strains, strain_vector(beam, direction, response, x, weight), rcond=None)[0]
        shapes.append(StaticShape(response, tuple(of), np.array(parts, dtype=np.float64)))
    return _natural(beam, direction, shapes, x, weight)


def _natural(beam: Beam, direction: str, shapes: Sequence[StaticShape], x: Floats, weight: Floats) -> list[StaticShape]:
    """The natural shapes within the span of the residuals, so that each has its own frequency, lowest first."""
    strains = np.stack([strain_vector(beam, direction, shape, x, weight) for shape in shapes], axis=1)
    moves = np.stack([move_vector(beam, direction, shape, x, weight) for shape in shapes], axis=1)
    # scale to unit strain energy first: residuals of a force and of a moment differ greatly in size
    size = np.sqrt(np.sum(strains**2, axis=0))
    frequencies, vectors = natural((moves / size).T @ (moves / size), (strains / size).T @ (strains / size))
    return [replace(_sum(shapes, vector), frequency=float(f)) for f, vector in zip(frequencies, vectors.T / size, strict=True)]


def _sum(shapes: Sequence[StaticShape], vector: Floats) -> StaticShape:
    """A sum scaled to a largest value of 1, measured from the root, and positive where it is largest."""
    parts = np.array([shape.parts for shape in shapes])
    found = replace(shapes[0], response=added([shape.response for shape in shapes], vector), parts=vector @ parts)
    x = np.linspace(0.0, found.length, SAMPLES)
    values = found.w(x) - found.w(0.0)
    factor = 1.0 / float(values[np.argmax(np.abs(values))])
    return replace(found, response=found.response.scaled(factor), parts=found.parts * factor)
