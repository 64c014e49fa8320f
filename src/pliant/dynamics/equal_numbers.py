"""Numbers that differ only by round-off, merged into one."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import numpy as np

SAME_INTEGRAL = 1e-12  # relative difference that quadrature round-off may leave between two computations of the same number


class EqualNumbers:
    """Merges numbers that differ only by round-off: equal by symmetry, the same integral, or scaled to one.

    Otherwise it would be a matter of luck which of them are equal to the last bit, and so which structure the equations have.
    """

    def __init__(self) -> None:
        self._known = [-1.0, 1.0]  # in ascending order; shapes are scaled to one at some point

    def merged(self, array: Any) -> Any:
        """Arrays as nested tuples of Python floats, as the scalar-generic formulas expect."""
        if np.ndim(array) == 0:
            return self._one(float(array))
        return tuple(self.merged(row) for row in array)

    def _one(self, x: float) -> float:
        place = bisect_left(self._known, x)
        for known in self._known[max(place - 1, 0) : place + 1]:
            if abs(known - x) <= SAME_INTEGRAL * abs(x):
                return known
        self._known.insert(place, x)
        return x
