"""Which contacts are closed: what a run does when a gap closes, a force peaks or lets go, a gap opens."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.results.contacts import ContactRecord, ContactTable, table
from pliant.results.state import FinalState, OngoingContact
from pliant.run.grips import Grips
from pliant.run.round_off import size_of_round_off

if TYPE_CHECKING:
    from pliant.integrate.stepper import Located, Note, Stepper
    from pliant.model.contact import ContactPair
    from pliant.trace.contacts import PairSlots
    from pliant.trace.traced_system import TracedSystem

Floats = NDArray[np.float64]
Precision = Callable[[bool], None]  # called with whether some contact is near or closed
Probe = Callable[[], "Observation"]  # of every pair at the present state


class Observation:
    """What contacts need to know of a state, out of what the observer wrote there; each by the number of a pair."""

    def __init__(self, observed: Floats, columns: Mapping[str, slice]) -> None:
        self._row, self._columns = observed.tolist(), columns

    def _number(self, name: str, k: int) -> float:
        return float(self._row[self._columns[name].start + k])

    def _vector(self, name: str, k: int) -> list[float]:
        first = self._columns[name].start + 3 * k
        return list(self._row[first : first + 3])

    def gap(self, k: int) -> float:
        return self._number("gap", k)  # m

    def closing_speed(self, k: int) -> float:
        return self._number("closing_speed", k)  # m/s

    def normal_force(self, k: int) -> float:
        return self._number("normal_force", k)  # N

    def round_off_of_gap(self, k: int, pair: ContactPair) -> float:
        """A gap of a few units of round-off is neither open nor closed, m."""
        point, normal = self._vector("contact_point", k), self._vector("contact_normal", k)
        return size_of_round_off([pair.radius, pair.other_radius, *(x * n for x, n in zip(point, normal, strict=True))])


class Doubts(NamedTuple):
    """Of every pair at a start: what round-off may have done to gap and closing speed; and how closing goes on from there."""

    gap: Floats  # m
    closing_speed: Floats  # m/s
    closing_acceleration: Floats  # m/s^2


class Phases:
    """The contacts of one run: flags and entry speeds in p, what is watched, and the table of touches."""

    def __init__(
        self, traced: TracedSystem, stepper: Stepper, probe: Probe, grips: Grips, precision: Precision | None = None
    ) -> None:
        self._traced, self._stepper, self._probe, self._precision = traced, stepper, probe, precision
        self.grips = grips
        self._close_by: set[int] = set()  # pairs nearer than the distance a method wants to be told of
        self._ongoing: dict[int, OngoingContact] = {}
        self._records: list[ContactRecord] = []

    @property
    def any_closed(self) -> bool:
        return bool(self._ongoing)

    @property
    def words(self) -> str:
        """The phase, for people."""
        if not self._traced.pairs:
            return ""
        names = [self._traced.pairs[k].pair.name for k in self._ongoing]
        return f"touching {names[0]}" if len(names) == 1 else f"{len(names)} contacts closed" if names else "in flight"

    def begin(self, doubts: Doubts, state: FinalState | None = None) -> None:
        """Set out: what is pressed, or touches and does not move apart, is closed from the start; so is what was, going on."""
        for k, slots in enumerate(self._traced.pairs):
            if state is not None and slots.pair.name in state.closed:
                self._resume(k, slots, state)
        observed = self._probe()
        for k, slots in enumerate(self._traced.pairs):
            self._stepper.dead[slots.gap] = observed.round_off_of_gap(k, slots.pair)
            if self._traced.near is not None and observed.gap(k) < self._traced.near:
                self._close_by.add(k)
            if k in self._ongoing:
                continue
            self._watch(slots, closed=False)
            if _touches(k, observed, doubts):
                self._close(k, slots, observed.closing_speed(k))
        self._tell_precision()


    def _tell_precision(self) -> None:
        if self._precision is not None:
            self._precision(bool(self._close_by or self._ongoing))

    def happened(self, located: Located) -> bool:
        """Take an event of a contact; True if p changed."""
        event = self._traced.events[located.index]
        assert event.pair is not None
        k, slots = event.pair, self._traced.pairs[event.pair]
        if located.index == slots.near:
            (self._close_by.add if located.direction < 0 else self._close_by.discard)(k)
            self._tell_precision()
            return False
        observed = self._probe()
        if located.index == slots.gap:
            self._stepper.dead[slots.gap] = observed.round_off_of_gap(k, slots.pair)
            if k in self._ongoing:
                self._open(k, slots, -observed.closing_speed(k))
            else:
                self._close(k, slots, observed.closing_speed(k))
            return True
        if k in self._ongoing:
            if self.grips.happened(k, located.index):
                return True
            self._note_force(self._ongoing[k], located.t, observed.normal_force(k))
        return False

    def noted(self, note: Note, observed: Observation) -> None:
        """Take what was recorded on the way: a peak of the force, or that it let go. observed: at the state of the note."""
        k = self._traced.events[note.index].pair
        assert k is not None
        if k in self._ongoing:
            record = self._ongoing[k]
            if note.index == self._traced.pairs[k].let_go:
                record.let_go = (note.t, -observed.closing_speed(k)) if note.direction < 0 else None
            self._note_force(record, note.t, observed.normal_force(k))

    def table(self, t: float) -> ContactTable:
        """All touches; those that last are closed in the table only."""
        if not self._ongoing:
            return table(self._records)
        observed = self._probe()
        lasting = [self._finished(k, r, math.nan, -observed.closing_speed(k)) for k, r in self._ongoing.items()]
        return table([*self._records, *lasting])

    def _close(self, k: int, slots: PairSlots, speed: float) -> None:
        stepper, y = self._stepper, self._stepper.y
        stepper.p[slots.closed] = 1.0
        stepper.p[slots.entry] = max(speed, slots.pair.normal.entry_floor)
        y[slots.bristles.start : slots.bristles.stop] = 0.0
        self._watch(slots, closed=True)
        self.grips.close(k)
        record = OngoingContact(stepper.t, max(speed, 0.0), y[slots.impulse], y[slots.lost], y[slots.rubbed])
        self._ongoing[k] = record
        self._note_force(record, stepper.t, self._probe().normal_force(k))

    def _resume(self, k: int, slots: PairSlots, state: FinalState) -> None:
        """A contact that an earlier run left closed: its law, its bristles and its record go on."""
        entry, record = state.record(slots.pair.name)
        self._stepper.p[slots.closed], self._stepper.p[slots.entry] = 1.0, entry
        self._watch(slots, closed=True)
        self.grips.close(k, record.grip)
        self._ongoing[k] = record

    @property
    def closed(self) -> dict[str, tuple[float, OngoingContact]]:
        """Contacts under way, by pair, each with the entry speed its law works with."""
        slots, p, doing = self._traced.pairs, self._stepper.p, self.grips.doing
        return {
            slots[k].pair.name: (float(p[slots[k].entry]), replace(one, grip=doing(k)))
            for k, one in self._ongoing.items()
        }

    def _open(self, k: int, slots: PairSlots, speed: float) -> None:
        self._stepper.p[slots.closed], self._stepper.p[slots.entry] = 0.0, 1.0
        self._watch(slots, closed=False)
        self.grips.open(k)
        record = self._ongoing.pop(k)
        end, exit_speed = record.let_go or (self._stepper.t, speed)
        self._records.append(self._finished(k, record, end, exit_speed))

    def _watch(self, slots: PairSlots, closed: bool) -> None:
        """An open pair is watched for closing; a closed one for opening, the peak, letting go and friction's corners.

        An open pair that is found pressed closes, whatever its gap was when it opened; and so the other way.
        """
        active, direction = self._stepper.active, self._stepper.direction
        active[slots.gap], direction[slots.gap] = True, 1 if closed else -1
        self._stepper.required[slots.gap] = -1 if closed else 1
        for index in (slots.peak, slots.let_go, *slots.switches):
            if index is not None:
                active[index] = closed

    def _note_force(self, record: OngoingContact, t: float, force: float) -> None:
        if force > record.peak_force:
            record.peak_force, record.peak_time = float(force), t

    def _finished(self, k: int, record: OngoingContact, end: float, exit_speed: float) -> ContactRecord:
        slots, y = self._traced.pairs[k], self._stepper.y
        return ContactRecord(
            pair=slots.pair.name,
            begin=record.begin,
            end=float(end),
            entry_speed=float(record.entry_speed),
            exit_speed=float(exit_speed),
            peak_force=record.peak_force,
            peak_time=record.peak_time,
            impulse=float(y[slots.impulse] - record.impulse),
            normal_loss=float(record.lost - y[slots.lost]),
            friction_loss=float(record.rubbed - y[slots.rubbed]),
        )


def _touches(k: int, observed: Observation, doubts: Doubts) -> bool:
    """Whether a pair is closed from the start: it is pressed; or it touches and closes, or rests and is not pulled apart."""
    if abs(observed.gap(k)) > doubts.gap[k]:
        return bool(observed.gap(k) < 0.0)
    if abs(observed.closing_speed(k)) > doubts.closing_speed[k]:
        return bool(observed.closing_speed(k) > 0.0)
    return bool(doubts.closing_acceleration[k] >= 0.0)
