"""Finite elements as shapes: hat functions for stretch, cubic Hermite functions for bending, one per nodal coordinate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.beams.given import GivenShape
from pliant.model.beam import Beam
from pliant.model.modes import AxialElements, ElementModes

Floats = NDArray[np.float64]

# Cubics on s = 0 ... 1 of an element, highest power first: deflection and slope of its first node, then of its second.
# Slopes are per unit of s; an element of length h takes h times as much.
_HERMITE = {
    ("deflection", 0): np.array([2.0, -3.0, 0.0, 1.0]),
    ("slope", 0): np.array([1.0, -2.0, 1.0, 0.0]),
    ("deflection", 1): np.array([-2.0, 3.0, 0.0, 0.0]),
    ("slope", 1): np.array([1.0, -1.0, 0.0, 0.0]),
}


def bending_elements(beam: Beam, modes: ElementModes) -> list[GivenShape]:
    """One cubic shape per nodal coordinate, alive on the elements that meet at its node."""
    h = beam.length / modes.elements
    shapes = []
    for node, kind in modes.nodal:
        pieces = {}
        for element, end in ((node, 0), (node - 1, 1)):
            if 0 <= element < modes.elements:
                pieces[element] = _HERMITE[kind, end] * (h if kind == "slope" else 1.0)
        shapes.append(_piecewise(beam.length, modes.elements, pieces))
    return shapes


def axial_elements(beam: Beam, modes: AxialElements) -> list[GivenShape]:
    """One hat per node but the root."""
    rising, falling = np.array([1.0, 0.0]), np.array([-1.0, 1.0])
    shapes = []
    for node in range(1, modes.elements + 1):
        pieces = {node - 1: rising, **({node: falling} if node < modes.elements else {})}
        shapes.append(_piecewise(beam.length, modes.elements, pieces))
    return shapes


def _piecewise(length: float, elements: int, pieces: dict[int, Floats]) -> GivenShape:
    """Polynomials on some elements, zero elsewhere, with their derivatives."""
    h = length / elements

    def curve(order: int) -> object:
        derived = {element: np.polyder(piece, order) / h**order for element, piece in pieces.items()}

        def value(x: Floats) -> Floats:
            where = np.clip((x / h).astype(int), 0, elements - 1)
            result = np.zeros_like(x)
            for element, polynomial in derived.items():
                inside = where == element
                result[inside] = np.polyval(polynomial, x[inside] / h - element)
            return result

        return value

    curves = tuple(curve(order) for order in range(3))
    return GivenShape(curves, curves[1:], np.linspace(0.0, length, elements + 1))  # type: ignore[arg-type]
