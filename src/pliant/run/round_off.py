"""How far round-off in a state moves what is computed from it: what is nearer to zero than that has no sign."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Kernel = Callable[[float, Floats, Floats], Floats]  # (t, y, p) -> numbers

EPSILON = 2.0**-52
DOUBT = 8.0 * EPSILON  # relative error of a state that a user wrote, or computed in a few operations
MARGIN = 4.0  # what errors of several components add up to, over what each pattern of signs below shows


def round_off(kernel: Kernel, t: float, y: Floats, p: Floats) -> Floats:
    """Of each number that a kernel gives: how much it changes where t and y change in their last digits."""
    here = kernel(t, y, p).copy()
    doubt = np.zeros_like(here)
    alternating = np.where(np.arange(y.size) % 2, 1.0, -1.0)
    for signs in (np.ones(y.size), -np.ones(y.size), alternating, -alternating):
        there = kernel(t * (1.0 + DOUBT * signs[0]), y * (1.0 + DOUBT * signs), p)
        with np.errstate(invalid="ignore"):
            doubt = np.fmax(doubt, np.abs(there - here))
    return MARGIN * doubt


def size_of_round_off(terms: Iterable[float]) -> float:
    """Of a sum of lengths or speeds of these sizes, however they cancel."""
    return 4.0 * EPSILON * sum(abs(x) for x in terms)
