"""Members in the main memory of a GPU: each has a fixed record.

The threads of a warp take members from anywhere and copy their records together (`copies`). If kinds may mix, they take
neighbours, whose records lie side by side instead, number by number: 32 of them are a tile, and threads copy on their own.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from pliant.codegen.guards import ALWAYS
from pliant.codegen.plain import Setting, Slots, plain_text
from pliant.ensemble.lockstep.copies import SINCE_LOOK, SINCE_STEP, copies_texts
from pliant.ensemble.lockstep.events import TALLIED
from pliant.ensemble.lockstep.gpu import apart_by
from pliant.ensemble.lockstep.judge import begin, judge_left
from pliant.ensemble.lockstep.tables import NUMBERS
from pliant.host.cuda import WARP

if TYPE_CHECKING:
    from pliant.ensemble.lockstep.layout import LockstepLayout

STORED, JUDGED = "stored_", "judged_"  # prefixes of the functions that begin members, and of those that judge them
SCRATCH = ("hit", "sought")  # scratch of judging
UNJUDGED = ("size", "atol_works")  # what only attempts need
RECORD = "record"  # the address of a record, in a slot
OF_EVENTS, OF_PAIRS = ("side", "g", "gd", "g_new", "gd_new", "watching", "hit", "sought"), ("force", "peak")
MOST_JUDGED = 1792  # bytes of shared memory of a thread that judges: with more, fewer than four warps would run at a time
SECTOR, LINE = 4, 16  # doubles that are read and written together, and of a line of the cache
CHANGING = ("step", "t", "t_new", "start", "h", "accepted", "rejected", "log_old", "tries", "refusals", "longest", "error",
            "calm", "limit", "aimed", "touch_h")  # single numbers that attempts change, in whole sectors  # fmt: skip
READ = ("t_stop", "next_row", "atol_works", "sure")  # a sector that they read


class Records:
    """The layout of a member's numbers, and the functions that judge members there."""

    def __init__(self, text: LockstepLayout) -> None:
        self.text = text

    @cached_property
    def slots(self) -> Slots:
        present, half = self._present, self.half
        end = Slots({f"{name}_new": (first + half, n) for name, (first, n) in present.places.items()},
                    {f"{name}_new": gap for name, gap in present.gaps.items()})  # fmt: skip
        m, own = self.text.model, self.text.lanes.own_constants
        pairs, events, free = len(m.pairs), len(m.events), len(self.text.free_events)
        widths = {name: (1, 0) for name in dict.fromkeys((*CHANGING, *READ, *NUMBERS))}
        widths |= {name: (free, events - free) for name in ("side", "gdd", "g", "gd", "g_new", "gd_new")}
        rest = {"p": m.n_changing, "c": m.n_constants if own else 0, "watching": events, "hit": events, "sought": events,
                "force": pairs, "peak": pairs, "held": pairs, "begin_impulse": pairs, "begin_lost": pairs, "begin_rubbed": pairs,
                "tally": TALLIED * pairs, "survey": 3 * m.n_tips + 3}  # fmt: skip
        others = Slots.in_two(widths | {name: (0, n) for name, n in rest.items()}, SECTOR, 2 * half)
        return Slots({**present.places, **end.places, **others.places}, {**present.gaps, **end.gaps, **others.gaps})

    @cached_property
    def _present(self) -> Slots:
        """What attempts change in every step comes first, in whole sectors: main memory is slow to change part of one."""
        m = self.text.model
        guards, steady = self.text.carried_groups[0] if m.n_carried else (ALWAYS, range(0))
        always = len(steady) if guards == ALWAYS else 0
        works = min(always, m.n_works)
        of_works, of_carried = (works, m.n_works - works), (always, m.n_carried - always)
        ends = {"rate": (len(m.rows), 0), "y": (m.n_controlled + always, m.n_carried - always), "lowest": of_works,
                "highest": of_works, "flow": of_carried}  # fmt: skip
        return Slots.in_two(ends, SECTOR)

    @property
    def stride(self) -> int:
        """Doubles from one number of a record to the next."""
        return WARP if self.text.kinds_may_mix else 1

    @property
    def size(self) -> int:
        """Doubles of a record."""
        return -(-self.slots.size // LINE) * LINE

    @property
    def half(self) -> int:
        """Slots of the present, and as many of the end of a step, which are the present if that step was accepted."""
        return -(-self._present.size // LINE) * LINE

    def place(self, name: str, index: int) -> int:
        """Where a number is, in doubles from the beginning of its record."""
        return self.slots.at(name, index) * self.stride

    @property
    def until_end(self) -> int:
        """Doubles from a number of the present to the same at the end of a step."""
        return self.half * self.stride

    @cached_property
    def used(self) -> set[int]:
        """Slots of some number."""
        return {self.slots.at(name, index) for name, (_, width) in self.slots.places.items() for index in range(width)}

    def begins(self) -> str:
        """The functions with which a lane begins."""
        return plain_text([begin], self.text.setting(self.slots, self.half, self.stride, STORED))

    # ---- what is judged, in shared memory

    @cached_property
    def near(self) -> Slots:
        """Slots of a thread for what judging reads again and again; empty if there is no room, or if records are tiles."""
        names = [name for name in (*NUMBERS, "limit", *OF_EVENTS, *OF_PAIRS) if name not in UNJUDGED]
        slots = Slots.of({RECORD: 1, **{name: self.slots.places[name][1] for name in names}})
        return slots if self.stride == 1 and 8 * apart_by(slots.size) <= MOST_JUDGED else Slots({})

    @property
    def brought(self) -> list[tuple[int, int]]:
        """Places in a record, and slots: before members are judged."""
        return self._pairs({*self.near.places} - {RECORD, *SCRATCH})

    @property
    def put(self) -> list[tuple[int, int, int]]:
        """The same afterwards; all of it is the present."""
        return [(*pair, 0) for pair in self._pairs({*self.near.places} - {RECORD, *SCRATCH, "g_new", "gd_new", "force", "limit"})]

    def _pairs(self, names: Set[str]) -> list[tuple[int, int]]:
        places = self.near.places
        return sorted((self.place(name, k), self.near.at(name, k)) for name in names for k in range(places[name][1]))

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory per thread."""
        return 8 * apart_by(self.near.size) if self.near.places else 0

    def functions(self) -> str:
        """The functions that judge members, and those that copy."""
        setting: Setting = self.text.setting(self.slots, self.half, self.stride, JUDGED)
        if self.near.places:
            setting = replace(setting, slots=self.near, far=self.slots)
        judges = plain_text([judge_left], setting)
        if not self.near.places:
            return judges
        (bring, put), none = copies_texts(self.text.together), {SINCE_STEP: 0, SINCE_LOOK: 0}
        return "\n".join([judges, bring("bring_judged", self.brought, self.near.size),
                          put("put_judged", self.put, none, self.near.size)])  # fmt: skip
