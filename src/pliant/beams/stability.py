"""The buckling load of a straight beam, and its lowest bending frequency.

Both use the Ritz method with the beam's own bending shapes, plane by plane: the largest eigenvalue of K^-1 G, where G holds the
products of slopes (buckling) or the mass (frequency).
"""

from __future__ import annotations

import numpy as np

from pliant.arrays import Floats
from pliant.beams.quadrature import gram, nodes
from pliant.beams.shapes import Shapes

PLANES = ("y", "z")


def buckling_load(shapes: Shapes, stiffness: Floats, length: float, tip_held: bool) -> float:
    """The buckling load in N, the lowest P with int E I W'' W'' = P int W' W'; inf for a beam that does not bend.

    tip_held: the deflection is measured from the line through both ends, as when a closure holds the tip: int (W' - W(l)/l)^2.
    Otherwise the tip is free, like the top of a free-standing column.
    """
    x, weight = nodes(shapes.panels)
    slope = shapes.displacement(x, 1)
    products = gram(weight, slope[:, 1]) + gram(weight, slope[:, 2])
    if tip_held:
        tip = shapes.displacement([length])[0, 1:]
        products = products - tip.T @ tip / length
    return _lowest(shapes, stiffness, products)


def first_frequency(shapes: Shapes, stiffness: Floats, mass: Floats) -> float:
    """The lowest bending frequency with the beam's frame fixed, rad/s; inf for a beam that does not bend."""
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
        except np.linalg.LinAlgError:  # a given shape without strain has no buckling load
            continue
        half = np.linalg.solve(root, against[np.ix_(own, own)])
        largest = float(np.linalg.eigvalsh(np.linalg.solve(root, half.T))[-1])
        found.append(1.0 / largest if largest > 0.0 else np.inf)
    return min(found)
