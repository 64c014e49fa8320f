"""Why the steps of a run are short: whether stability holds an explicit method back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.arrays import Floats
from pliant.integrate.methods.method import Method

RightHandSide = Callable[[float, Floats, Floats], Floats]

HELD = 1.0  # h |lambda|: regions of stability of explicit methods end at 2 to 6; steps limited by accuracy are far below
PAIRS = 12  # of steps of the power method
SMALL = 1e-7  # of the state: differences


def held_by_stability(method: Method, rhs: RightHandSide, at: tuple[float, Floats, Floats], h: float) -> str:
    """The end of a sentence on a run by an explicit method whose steps h, s, are as long as the equations permit; else empty."""
    if method.needs_jacobian or len(method.alternatives) > 1:
        return ""
    reach = h * fastest_rate(rhs, *at)
    if not HELD < reach < np.inf:
        return ""
    return (
        f"; stability holds the steps of {type(method).__name__} back (h |lambda| = {reach:.2g}), as the equations are stiff "
        "there: pl.Auto turns to an implicit method by itself"
    )


def fastest_rate(rhs: RightHandSide, t: float, y: Floats, p: Floats) -> float:
    """|lambda|, 1/s, of the fastest motion around a state, by the power method.

    Two steps at a time: along an oscillation, displacements and rates differ by |lambda| in size, and take turns.
    """
    f, way = rhs(t, y, p), np.ones_like(y)
    growth = 1.0
    for _ in range(PAIRS):
        growth = 1.0
        for _ in range(2):
            size = SMALL * max(1.0, float(np.linalg.norm(y)))
            change = (rhs(t, y + size * way / np.linalg.norm(way), p) - f) / size
            growth *= float(np.linalg.norm(change))
            if not 0.0 < growth < np.inf:
                return 0.0
            way = change
    return float(np.sqrt(growth))
