"""Nested dissection of a mesh by coordinates: an order of its nodes in which factors of the stiffness matrix fill in little.

The nodes are halved along their longest extent; those of one half that touch the other come last (George 1973). Of several cuts
near the middle, the one that the fewest nodes touch is taken: between elements of second order it is half as thick as within them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.arrays import Floats, Ints

WHOLE = 60  # nodes that are not halved further
CUTS = (0.5, 0.48, 0.52, 0.46, 0.54, 0.44, 0.56)  # fractions of the nodes below a cut


def dissection(points: Floats, joined: Any) -> Ints:
    """The nodes in order; joined: a sparse matrix of which nodes share an element."""
    found: list[Ints] = []  # from the last to the first
    waiting = [np.arange(len(points))]
    below = np.zeros(len(points))
    while waiting:
        own = waiting.pop()
        if len(own) <= WHOLE:
            found.append(own)
            continue
        along, near = points[own, int(np.argmax(np.ptp(points[own], axis=0)))], joined[own]
        cuts = []
        for cut in np.unique(np.quantile(along, CUTS)):
            low = along < cut
            below[own] = low
            touching = ~low & (near @ below > 0.0)
            cuts.append((np.count_nonzero(touching), low, touching))
        below[own] = 0.0
        _, low, touching = min(cuts, key=lambda one: one[0] if np.any(one[1]) else len(own))
        if not np.any(low) or np.all(low | touching):
            found.append(own)
            continue
        found.append(own[touching])
        waiting += [own[low], own[~low & ~touching]]
    return np.concatenate(found[::-1])
