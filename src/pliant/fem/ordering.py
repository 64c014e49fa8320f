"""Nested dissection of a mesh by coordinates: an order of its nodes in which factors of the stiffness matrix fill in little.

The nodes are halved along their longest extent; those of one half that touch the other come last (George 1973).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

WHOLE = 60  # nodes that are not halved further


def dissection(points: NDArray[np.float64], joined: Any) -> NDArray[np.int64]:
    """The nodes in order; joined: a sparse matrix of which nodes share an element."""
    found: list[NDArray[np.int64]] = []  # from the last to the first
    waiting = [np.arange(len(points))]
    below = np.zeros(len(points))
    while waiting:
        own = waiting.pop()
        if len(own) <= WHOLE:
            found.append(own)
            continue
        along = points[own, int(np.argmax(np.ptp(points[own], axis=0)))]
        low = along < np.median(along)
        below[own[low]] = 1.0
        touching = np.zeros(len(own), dtype=bool)
        touching[~low] = joined[own[~low]] @ below > 0.0
        below[own[low]] = 0.0
        if not np.any(low) or np.all(low | touching):
            found.append(own)
            continue
        found.append(own[touching])
        waiting += [own[low], own[~low & ~touching]]
    return np.concatenate(found[::-1])
