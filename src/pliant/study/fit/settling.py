"""When a search may end: the values still change, but by far less than their standard errors.

A run with contacts has a kink in its sum of squares wherever an impact comes or goes, so that near the best values small steps go
on for long without meaning anything. One standard error raises the sum of squares by the variance of a residual, times the number
of rows that count as one if residuals resemble those of the row before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
SHARE = 0.01  # of the rise of the sum of squares by one standard error: a step of a tenth of a standard error makes it
STEPS = 2  # so many steps must lower the sum of squares by less than this share, one after the other
MOST = 0.99  # correlation from row to row: a higher one is taken for this


class Settling:
    """The sums of squares at the steps of one search."""

    def __init__(self) -> None:
        self._sums: list[float] = []

    def is_over(self, residuals: Sequence[Floats]) -> bool:
        """Whether the last steps changed nothing that the data could tell; residuals: at the present values, by experiment."""
        total, count = sum(float(own @ own) for own in residuals), sum(own.size for own in residuals)
        before = sum(float(own[1:] @ own[:-1]) for own in residuals)
        self._sums.append(total)
        falls = -np.diff(self._sums[-STEPS - 1 :])
        if falls.size < STEPS or total == 0.0:
            return False
        alike = min(max(before / total, 0.0), MOST)
        by_one_error = total / count * (1.0 + alike) / (1.0 - alike)
        return bool(np.all((falls >= 0.0) & (falls < SHARE * by_one_error)))


class Settled(Exception):
    """Ends the search at these values."""

    def __init__(self, x: Floats) -> None:
        super().__init__()
        self.x = x


MESSAGE = "the last steps were shorter than a tenth of the standard errors"
