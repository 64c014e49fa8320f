"""What the time loop has to know to change phases by itself: see `phases`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.integrate.memory import Floats, Memory

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Observed:
    """The kernel whose numbers stand beside every saved row, and where contacts find theirs among them."""

    kernel: int  # address
    size: int
    places: Mapping[str, int]  # at_gap, at_closing, at_force, at_friction, at_point, at_normal, at_speeds, n_speeds

    def bind(self, memory: Memory) -> None:
        memory.bind_observed(self.kernel, self.size)
        memory.set(**self.places)


@dataclass(frozen=True)
class Phases:
    """Events and contacts. Arrays of events have one entry each, -1 where there is none."""

    event_pair: Ints  # whose event it is
    flag: Ints  # where in p stands the side that the equations are on
    pressed: Ints  # the side at which the flag is 1
    reported: Ints  # it is written into the log
    direction: Ints  # which crossings count
    pair_places: Ints  # (pair, PAIR_PLACES): see `run_record`
    pair_numbers: Floats  # (pair, PAIR_NUMBERS)
    events_closed: int  # address of all event functions; where no contact is closed, those of the stepper
    near: float = -math.inf  # m, gap below which a contact is close by
    near_rtol: float = 0.0  # with a contact close by or closed; 0: precision does not depend on that
    far_rtol: float = 0.0

    def bind(self, memory: Memory) -> None:
        for name in ("event_pair", "flag", "pressed", "reported", "direction"):
            memory.arrays[name][:] = getattr(self, name)
        memory.bind_pairs(self.pair_places, self.pair_numbers)
        memory.set(near=self.near, near_rtol=self.near_rtol, far_rtol=self.far_rtol, events_closed=self.events_closed, judging=1)


@dataclass(frozen=True)
class Updates:
    """What sampled controllers do: kernels by address, which give all that is held anew, and where in y that stands."""

    kernels: Ints
    first: int
    held: int
    one_instant: float  # s: what is nearer to an instant than this is there

    def bind(self, memory: Memory) -> None:
        memory.bind_updates(self.kernels, self.first, self.held, self.one_instant)


@dataclass(frozen=True)
class PiecesOfTime:
    """Pieces of a run between breakpoints: where each ends, s, and the first entries of p on it."""

    ends: Floats
    heads: Floats  # (piece, entry)
    due: NDArray[np.bool_] | None = None  # (piece, update): what sampled controllers do where it begins
    tail: NDArray[np.bool_] | None = None  # (piece): they do something where it ends
