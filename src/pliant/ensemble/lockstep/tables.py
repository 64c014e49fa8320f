"""The data of the lock-step loop about a model and its members: programs, tables of events and pairs, and the shared record."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pliant.codegen.program import Program
from pliant.ensemble.lockstep.events import GAP

# The record that members share: numbers, and addresses of arrays. See `runs`.
SHARED = {
    "members": "i8", "n_plan": "i8", "n_pieces": "i8", "max_steps": "i8", "weight_step": "i8", "floors_step": "i8",
    "t_start": "f8", "rtol": "f8", "asked_rtol": "f8", "loosened": "f8", "max_step": "f8", "near": "f8",
    "near_peak": "f8", "peak_tries": "f8",
    "next": "i8*", "cancelled": "i8*",
    "y": "f8*", "p": "f8*", "constants": "f8*", "weight": "f8*", "floors": "f8*", "atol": "f8*", "ends": "f8*", "heads": "f8*",
    "corners": "f8*", "plan": "f8*", "row_y": "f8*", "row_p": "f8*",
    "y_end": "f8*", "p_end": "f8*", "t_end": "f8*", "tally": "f8*", "reach": "f8*",
    "code": "i8*", "steps": "i8*", "refused": "i8*", "event": "i8*",
}  # fmt: skip

# Single numbers in the memory of a member.
NUMBERS = (
    "step", "t", "t_new", "start", "h", "accepted", "rejected", "log_old", "tries", "refusals", "longest", "error", "calm",
    "aimed", "touch_h", "t_stop", "next_row", "atol_works", "sure", "fresh", "active", "member", "trial", "slope", "size",
    "nearer", "probes", "piece", "n_closed", "turns", "turned", "dead", "changed", "due", "over", "bend", "n_watched", "hits",
    "moved", "kind",
)  # fmt: skip


@dataclass(frozen=True)
class PairTable:
    """Indices of a pair's entries in p and in y."""

    closed: int
    entry: int
    bristles: int
    n_bristles: int
    impulse: int
    lost: int
    rubbed: int


@dataclass(frozen=True)
class EventTable:
    """The role of an event function (`events`), and the pair or flag it acts on."""

    does: int
    number: int = 0  # among the System's events
    pair: int = -1
    flag: int = 0
    pressed: int = 0
    direction: int = 0
    has_rate: bool = False

    @property
    def of_contact(self) -> bool:
        """Whether it is watched only while its contact is closed."""
        return self.pair >= 0 and self.does != GAP


@dataclass(frozen=True)
class LockstepModel:
    """The equations of a structure in the form that attempts need.

    rhs: rates of the components in `rows`, then of carried ones; look: the same, then event functions, their rates, the forces of
    pairs and, if there is a limit, the longest step; survey: positions of tips, then kinetic, strain and spring energy.
    """

    rhs: Program
    look: Program
    survey: Program
    n: int
    n_controlled: int
    n_works: int
    n_changing: int
    n_constants: int
    n_head: int
    n_tips: int
    chained: tuple[int, ...]  # by controlled component: the state that is its rate, or -1
    events: tuple[EventTable, ...]
    pairs: tuple[PairTable, ...]
    limited: bool
    project: Program | None = None  # projects the controlled components onto the loop constraints by one Newton step

    @cached_property
    def rows(self) -> list[int]:
        """Controlled components whose rates are stored."""
        return [i for i in range(self.n_controlled) if self.chained[i] < 0]

    @property
    def n_carried(self) -> int:
        return self.n - self.n_controlled

    @property
    def n_out(self) -> int:
        return len(self.rows) + self.n_carried
