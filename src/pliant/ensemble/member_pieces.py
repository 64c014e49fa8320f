"""Times at which steps of members must end so that no change in a formula of time is missed: see `integrate.time_pieces`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pliant.arrays import Floats, Ints
from pliant.integrate.time_pieces import TimePieces
from pliant.trace.layout import FOREVER, WINDOW

if TYPE_CHECKING:
    from pliant.run.prepare import Compiled

MOST_PIECES = 4096  # of one member: the rows of more would fill the memory
EVEN = 4  # members share evenly spaced pieces if these are at most this many times as many as their own


def members_by_knots(
    compiled: Compiled, t_start: float, t_end: float, states: Floats, constants: Floats
) -> Iterator[tuple[Floats | None, Ints]]:
    """Times at which steps must end, and the members they apply to; None if formulas change too fast to be sampled.

    states and constants have one row per member (or one for all). A member's times do not depend on other members.
    """
    traced, timed, count = compiled.traced, compiled.traced.timed, len(states)
    if timed is None:
        yield np.empty(0), np.arange(count)
        return
    p = np.empty((count, traced.layout.n_changing + constants.shape[1]))
    p[:, : traced.layout.n_changing] = traced.parameters(t_start, t_end)[: traced.layout.n_changing]
    p[:, traced.layout.n_changing :] = constants
    p[:, traced.layout.p[WINDOW]] = -FOREVER, FOREVER
    _, first, number = np.unique(timed.read(states, p), axis=0, return_index=True, return_inverse=True)
    knots = [_knots(timed.pieces(states[k], p[k], t_start, t_end), t_start, t_end) for k in first.tolist()]
    alike: dict[bytes | None, list[int]] = {}
    for k, own in enumerate(knots):
        alike.setdefault(None if own is None else own.tobytes(), []).append(k)
    for numbers in alike.values():
        yield knots[numbers[0]], np.flatnonzero(np.isin(number.ravel(), numbers))


def _knots(pieces: TimePieces, t_start: float, t_end: float) -> Floats | None:
    knots = pieces.knots
    if not pieces.resolved or knots.size > MOST_PIECES:
        return None
    if not knots.size:
        return knots
    even = 2 ** math.ceil(math.log2((t_end - t_start) / np.diff(knots).min()) - 1e-6)
    if even <= EVEN * knots.size:
        knots = t_start + (t_end - t_start) * np.arange(even + 1) / even
    return knots[1:-1]
