"""Where a straight beam loses its stability: the axial load at which its shapes buckle, and their lowest frequency.

Both by Ritz in the beam's own bending shapes, plane by plane: the largest eigenvalue of K^-1 G, G the slopes' products or the mass.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.beams.quadrature import gram, nodes
from pliant.beams.shapes import Shapes

Floats = NDArray[np.float64]

PLANES = ("y", "z")


def buckling_load(shapes: Shapes, stiffness: Floats, length: float, tip_held: bool) -> float:
    """The lowest P with int E I W'' W'' = P int W' W', N; inf for a beam that does not bend.

    tip_held: the deflection is seen from the line through both ends, as where a closure holds the tip: int (W' - W(l)/l)^2. Else
    the tip goes where it likes, as that of a column on its foot.
    """
    x, weight = nodes(shapes.panels)
    slope = shapes.displacement(x, 1)
    products = gram(weight, slope[:, 1]) + gram(weight, slope[:, 2])
    if tip_held:
        tip = shapes.displacement([length])[0, 1:]
        products = products - tip.T @ tip / length
    return _lowest(shapes, stiffness, products)


def first_frequency(shapes: Shapes, stiffness: Floats, mass: Floats) -> float:
    """Of bending, its frame held still, rad/s; inf for a beam that does not bend."""
    return float(np.sqrt(_lowest(shapes, stiffness, mass)))


def _lowest(shapes: Shapes, stiffness: Floats, against: Floats) -> float:
    """The lowest lambda of K x = lambda G x in any one plane: one over the largest eigenvalue of K^-1/2 G K^-1/2."""
    found = [np.inf]
    for plane in PLANES:
        own = [j for j, direction in enumerate(shapes.directions) if direction == plane]
        if not own:
            continue
        try:
            root = np.linalg.cholesky(stiffness[np.ix_(own, own)])
        except np.linalg.LinAlgError:  # a given shape that strains nothing: no load of its own
            continue
        half = np.linalg.solve(root, against[np.ix_(own, own)])
        largest = float(np.linalg.eigvalsh(np.linalg.solve(root, half.T))[-1])
        found.append(1.0 / largest if largest > 0.0 else np.inf)
    return min(found)
