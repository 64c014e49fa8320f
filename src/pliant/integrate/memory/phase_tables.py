"""Tables that let the time loop change phases without Python: see `phases`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.integrate.memory.memory import Floats, Memory

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Observed:
    """The kernel whose outputs are saved with every row, and the indices of contact quantities among them."""

    kernel: int  # address
    size: int
    places: Mapping[str, int]  # at_gap, at_closing, at_force, at_friction, at_point, at_normal, at_energy, at_speeds, n_speeds
    sizes: Ints  # (vector, 2): first number and count of every vector whose largest magnitude is kept
    at_hand: float = 0.0  # J, energy at the start that scales errors of energy
    row: tuple[int, int] | None = None  # the kernel of rows and their size, if the loop observes more than rows hold

    def bind(self, memory: Memory) -> None:
        memory.bind_observed(self.kernel, self.size)
        if self.row is not None:
            memory.set(observe_row=self.row[0], n_row=self.row[1])
        memory.bind_sizes(self.sizes)
        memory.set(**self.places, at_hand=self.at_hand)


@dataclass(frozen=True)
class Phases:
    """Tables of events and contacts. Arrays over events have one entry per event, -1 if it has none."""

    event_pair: Ints  # owner of the event: a pair, or after the pairs a joint whose friction can stick
    flag: Ints  # index in p of the flag that holds the side of the equations
    pressed: Ints  # the side on which the flag is 1
    reported: Ints  # whether it is written to the log
    direction: Ints  # which crossings count
    pair_places: Ints  # (pair, PAIR_PLACES): see `run_record`
    pair_numbers: Floats  # (pair, PAIR_NUMBERS)
    joint_places: Ints  # (joint, JOINT_PLACES)
    required: Ints  # the side of each event that the initial equations belong to, 0: any
    events_closed: int  # address of all event functions; while no contact is closed, those of the stepper are used
    near: float = -math.inf  # m, gap below which a contact counts as near
    near_rtol: float = 0.0  # rtol while a contact is near or closed; 0: rtol does not depend on contacts
    far_rtol: float = 0.0
    impact: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)  # see `Memory.bind_impacts`

    def bind(self, memory: Memory) -> None:
        for name in ("event_pair", "flag", "pressed", "reported", "direction", "required"):
            memory.arrays[name][:] = getattr(self, name)
        memory.bind_pairs(self.pair_places, self.pair_numbers)
        memory.bind_joints(self.joint_places)
        memory.bind_impacts(*self.impact)
        memory.set(near=self.near, near_rtol=self.near_rtol, far_rtol=self.far_rtol, events_closed=self.events_closed, judging=1)


@dataclass(frozen=True)
class Group:
    """Shapes of which any two may touch: their kernels, and what the list of near pairs begins with; bound after the pairs."""

    members: int  # addresses
    member_rates: int
    first_place: int  # index in p
    places: int
    balls: int
    carriers: Ints  # (member): its body
    usual_width: float  # m

    def bind(self, memory: Memory) -> None:
        memory.bind_group(self.places, self.carriers, self.balls)
        memory.set(members=self.members, member_rates=self.member_rates, first_place=self.first_place)
        memory.set(usual_width=self.usual_width, may_move=2.0 * self.usual_width)  # as if the last list had been four times as wide


@dataclass(frozen=True)
class Updates:
    """Updates of sampled controllers: addresses of kernels that compute all held outputs, and the indices of these in y."""

    kernels: Ints
    first: int
    held: int
    one_instant: float  # s: times nearer to an instant than this coincide with it

    def bind(self, memory: Memory) -> None:
        memory.bind_updates(self.kernels, self.first, self.held, self.one_instant)


@dataclass(frozen=True)
class Settling:
    """Filters of sensors that start in equilibrium: the kernel of all of the user's own states, and which of these it writes."""

    kernel: int  # address
    first: int  # index in y
    which: Ints  # (own state): 1 if it is one of those

    def bind(self, memory: Memory) -> None:
        memory.bind_settling(self.kernel, self.first, self.which)


@dataclass(frozen=True)
class PiecesOfTime:
    """Pieces of a run between breakpoints: the end of each, s, and its first entries of p."""

    ends: Floats
    heads: Floats  # (piece, entry)
    due: NDArray[np.bool_] | None = None  # (piece, update): updates that run at its beginning
    tail: NDArray[np.bool_] | None = None  # (piece): whether updates run at its end
