"""The numbers of a member that the attempt of a GPU's thread reads and writes, in the memory that threads share.

    void bring_first(ptr lanes, i32 offset):      before the stages: the state, its rates, and what all stages need
    void bring_second(ptr lanes, i32 offset):     after the stages, in the place of their rates: what the end needs
    void bring_constants(ptr lanes, i32 offset):  before everything, if members have constants of their own
    void put(ptr lanes, i32 offset, i32 left):    the results

See `copies`. If members make many attempts one after the other, everything has a place of its own and stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from pliant.codegen.plain import Slots
from pliant.codegen.program import PARAMETER
from pliant.ensemble.lockstep.copies import SINCE_LOOK, SINCE_STEP, copies_texts
from pliant.ensemble.lockstep.events import CUT
from pliant.ensemble.lockstep.gpu import apart_by
from pliant.ensemble.lockstep.records import READ, RECORD, SECTOR, Records

if TYPE_CHECKING:
    from pliant.ensemble.lockstep.layout import LockstepLayout

Number = tuple[str, int]  # name and index

MOST_SHARED = 904  # bytes of shared memory per thread: with more, fewer than 256 threads fit on a multiprocessor of an H200
HEAD = ("step", "t", "t_new", "start")  # what stages need
CONTROL = ("h", "accepted", "rejected", "log_old", "tries", "refusals", "longest", "aimed", "touch_h")  # what a decision changes
MADE = ("error", "calm", "limit")  # what an attempt finds out
OF_EVENTS = ("side", "g", "gd", "gdd")
AWAKE = "awake"  # the guards that are awake
ENDED = "ended"
KEPT = "kept"  # see `Staging.kept`
MEMORY = "memory"  # the address of the thread's own memory
OWN = (RECORD, AWAKE, MEMORY)  # what is not in a record


class Staging:
    """Where these numbers are, by slots of a thread; and the functions that copy them."""

    def __init__(self, text: LockstepLayout, records: Records) -> None:
        self.text, self.records = text, records

    # ---- places

    @property
    def stage_doubles(self) -> int:
        """Number of doubles for the stage rates of one member."""
        return (max(self.text.scheme.places[:-1]) + 1) * len(self.text.model.rows)

    @cached_property
    def stays(self) -> bool:
        """Whether members stay for many attempts: if kinds may mix, and there is room for all their numbers at a time."""
        return self.text.kinds_may_mix and 8 * apart_by(self._size(True, True)) <= MOST_SHARED

    @cached_property
    def has_room(self) -> bool:
        """Whether the rates of all stages have room beside the rest."""
        return 8 * apart_by(self._size(True, self.stays)) <= MOST_SHARED

    @property
    def stages(self) -> dict[str, int]:
        """First slots of the rates of stages and of the state at the start; empty if there is no room for them."""
        return {"k": 0, "y_old": self.stage_doubles} if self.has_room else {}

    @property
    def doubles(self) -> int:
        return self._size(self.has_room, self.stays)

    @cached_property
    def first(self) -> dict[Number, int]:
        """Slots of what is there from the beginning."""
        return self._first(self.has_room, self.stays)

    @cached_property
    def second(self) -> dict[Number, int]:
        """Slots of what is there after the stages."""
        return self._second(self.has_room, self.stays)

    @cached_property
    def at_beginning(self) -> dict[Number, int]:
        """Slots of all that is there before the stages; what functions of a start write is in the record."""
        second = {number: slot for number, slot in self.second.items() if number[0] not in ("atol_works", "sure")}
        return {**self.first, **second} if self.stays else self.first

    @cached_property
    def at_end(self) -> dict[Number, int]:
        """Slots of all that is there after the stages."""
        return {number: slot for number, slot in self.first.items() if number[0] in ("y", "rate")} | self.second

    @property
    def constants(self) -> dict[Number, int]:
        """Slots of a member's own constants before everything else is brought; they are the thread's own from then on."""
        count = self.text.model.n_constants if self.text.lanes.own_constants else 0
        begin = max(*self.first.values(), *self.second.values()) + 1 if self.stays else 0
        return {("c", k): begin + k for k in range(count)}

    def _size(self, room: bool, stays: bool) -> int:
        constants = self.text.model.n_constants if self.text.lanes.own_constants else 0
        last = max(*self._first(room, stays).values(), *self._second(room, stays).values(), self.stage_doubles * room - 1)
        return last + 1 + constants if stays else max(last + 1, constants)

    def _first(self, room: bool, stays: bool) -> dict[Number, int]:
        """The state, its rates and, where rates of later stages will be unless they stay, what stages need."""
        m = self.text.model
        y, rate = (self.stage_doubles, 0) if room else (0, m.n_controlled)
        places = {("rate", r): rate + r for r in range(len(m.rows))} | {("y", i): y + i for i in range(m.n_controlled)}
        rest = [*((name, 0) for name in HEAD), *(("p", i) for i in self.entries)]
        overlaid = room and not stays and len(m.rows) + len(rest) <= self.stage_doubles
        begin = len(m.rows) if overlaid else max(places.values()) + 1
        return places | {number: begin + k for k, number in enumerate(rest)}

    def _second(self, room: bool, stays: bool) -> dict[Number, int]:
        """In the place of rates of stages that are not read any more, then beyond."""
        scheme, rows, first = self.text.scheme, len(self.text.model.rows), self._first(room, stays)
        if stays:
            head = {number: first[number] for number in self.later if number in first}
            own = [number for number in self.later if number not in head]
            return head | {number: max(first.values()) + 1 + k for k, number in enumerate(own)}
        beyond = max(*(slot for (name, _), slot in first.items() if name in ("y", "rate")), self.stage_doubles * room - 1) + 1
        kept = scheme.places[scheme.last_stage]  # see `_mismatch`
        free = [k for k in range(rows, self.stage_doubles) if k // rows != kept] if room else []
        free += range(beyond, beyond + len(self.later))
        return dict(zip(self.later, free, strict=False))

    @cached_property
    def ended(self) -> dict[Number, int]:
        """Slots of the state at the end of the step: those of the state, which is not read any more once the error is known.

        Empty if it still is, if it must stay there for the next attempt, or if a start projects it, which does not move the member.
        """
        if self.stays or not self.has_room or self.text.scheme.errors_read_the_end or self.text.project is not None:
            return {}
        return {(ENDED, i): self.first["y", i] for i in range(self.text.model.n_controlled)}

    @cached_property
    def kept(self) -> dict[Number, int]:
        """Places, in the thread's own memory, of what an attempt finds out about closed contacts, and of what it reads again.

        Records are far apart: threads that read them one by one fetch a sector each.
        """
        text, events = self.text, self.text.model.events
        groups = [group for guards, group in text.carried_groups if guards]
        ends = [(f"{name}_new", k) for group in groups for name, k in text.carried_numbers(group) if name != "flow"]
        functions = [(name, e) for e, event in enumerate(events) if event.of_contact for name in OF_EVENTS]
        return {number: k for k, number in enumerate([*ends, *functions])}

    @property
    def numbers(self) -> Slots:
        """Slots of single numbers, for plain functions."""
        return Slots({name: (slot, 1) for (name, index), slot in self.at_end.items() if index == 0})

    # ---- numbers

    @cached_property
    def entries(self) -> list[int]:
        """Entries of p that programs read."""
        text = self.text
        programs = [x.program for x in (text.rhs, text.look, text.survey, text.project) if x is not None]
        read = (k for program in programs for k in program.entries_read(PARAMETER) if k < text.model.n_changing)
        return sorted({*text.rhs.program.guards, *read})

    @cached_property
    def later(self) -> list[Number]:
        single = (*CONTROL, *READ, *MADE, *HEAD, *OWN)
        return [*self._works, *self._events("g", "gd", "side", "gdd"), *((name, 0) for name in single)]

    @property
    def _works(self) -> list[Number]:
        """Numbers of carried components that change in every step."""
        always = [k for guards, group in self.text.carried_groups if not guards for k in group]
        return self.text.carried_numbers(always)

    def _events(self, *names: str) -> list[Number]:
        return [(name, e) for name in names for e in self.text.free_events]

    @property
    def _brought_later(self) -> list[Number]:
        return [number for number in self.later if number[0] not in (*MADE, *HEAD, *OWN)]

    @property
    def _put(self) -> list[Number]:
        constant = ("side",) if all(self.text.model.events[e].does != CUT for e in self.text.free_events) else ()
        return [x for x in self.at_end if x[0] not in (*constant, *READ, *OWN)]

    # ---- text

    @property
    def brought(self) -> dict[str, list[tuple[int, int]]]:
        """By function: places in a record, and the slots to which they are copied."""
        pairs = {"bring_first": self._pairs(self.first, self.first)}
        pairs["bring_second"] = self._pairs(self._brought_later, self.at_end)
        if self.text.lanes.own_constants:
            pairs["bring_constants"] = self._pairs(self.constants, self.constants)
        return pairs

    @property
    def put(self) -> list[tuple[int, int, int]]:
        """Places in a record, slots, and with which bit of `left` the place is `apart` further."""
        end, events = self.records.until_end, self.records.place("g", 0)

        def since(place: int) -> int:
            return SINCE_STEP if place < end else SINCE_LOOK if events <= place < events + self.apart[SINCE_LOOK] else 0

        return [(place, slot, since(place)) for place, slot in self._in_sectors(self._pairs(self._put, self.at_end))]

    def _in_sectors(self, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """These, and what else is in their sectors, if that is known here or is nothing: part of a sector is slow to write."""
        records = self.records
        if records.stride != 1:
            return pairs
        known = dict(self._pairs((x for x in self.at_end if x[0] not in OWN), self.at_end))
        used, chosen = records.used, dict(pairs)
        for place, slot in pairs:
            first = place // SECTOR * SECTOR
            sector = range(first, first + SECTOR)
            if all(k in known or k not in used for k in sector):
                chosen |= {k: known.get(k, slot) for k in sector}
        return sorted(chosen.items())

    @property
    def apart(self) -> dict[int, int]:
        """Distances between the present and what is not yet the present."""
        records = self.records
        return {0: 0, SINCE_STEP: records.until_end, SINCE_LOOK: records.place("g_new", 0) - records.place("g", 0)}

    def functions(self) -> str:
        bring, put = copies_texts(self.text.together)
        brought = [bring(name, pairs, self.doubles) for name, pairs in self.brought.items()]
        return "\n".join([*brought, put("put", self.put, self.apart, self.doubles)])

    def _pairs(self, numbers: Iterable[Number], slots: Mapping[Number, int]) -> list[tuple[int, int]]:
        """(Place in a record, slot)."""
        return [(self.records.place(*number), slots[number]) for number in numbers]
