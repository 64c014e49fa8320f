"""The contacts of a run: the data with which the time loop closes and opens them, and the records that it leaves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pliant.arrays import Floats, Ints
from pliant.integrate.loop.group_kernels import FIRST, SECOND, SHUT
from pliant.integrate.memory.phase_tables import Observed, Phases
from pliant.integrate.memory.run_record import (
    BEGIN,
    BEGIN_IMPULSE,
    BEGIN_LOST,
    BEGIN_RUBBED,
    ENTRY_SPEED,
    JOINT_PLACES,
    LET_GO_SPEED,
    LET_GO_TIME,
    PAIR_PLACES,
    PEAK_FORCE,
    PEAK_TIME,
    TOUCH,
)
from pliant.integrate.methods.method import Method
from pliant.model.coordinate_pair import Pair
from pliant.results.contacts import NUMBERS, ContactRecord, ContactTable, table
from pliant.results.state import FinalState, OngoingContact
from pliant.results.table import HELD
from pliant.run.accounts import loads_of
from pliant.run.with_groups import seen_places
from pliant.trace.layout import RATES
from pliant.trace.traced_system import TracedSystem, pair_numbers

if TYPE_CHECKING:
    from pliant.integrate.stepper import Stepper
    from pliant.run.prepare import Compiled
    from pliant.trace.contacts import PairSlots
    from pliant.trace.events import Event
    from pliant.trace.joint_friction import JointSlots

GRIP_ENTRIES = 4  # of p, for friction that holds: its state, and a direction


def observed_of(compiled: Compiled, at_hand: float) -> Observed:
    """The layout of observed rows, with the places of energies and of gap, speed and force of contacts."""
    columns = compiled.traced.layout.observed
    names = {"at_gap": "gap", "at_closing": "closing_speed", "at_force": "normal_force", "at_friction": "friction_force",
             "at_point": "contact_point", "at_normal": "contact_normal", "at_energy": HELD[0],
             "at_speeds": "tip_velocity"}  # fmt: skip
    places = {field: columns[name].start for field, name in names.items()}
    speeds = columns["tip_velocity"]
    places["n_speeds"] = speeds.stop - speeds.start
    sizes = _whole([(columns[loads.quantity].start + first, width) for loads in loads_of(compiled.traced)
                    for first, width in loads.places]).reshape(-1, 2)  # fmt: skip
    row = (compiled.observe.address, compiled.observe.n_out)
    if compiled.traced.near_pairs:
        return Observed(
            compiled.look.address, compiled.look.n_out, places | seen_places(compiled.traced, row[1]), sizes, at_hand, row
        )
    return Observed(*row, places, sizes, at_hand)


def phases_of(compiled: Compiled, method: Method) -> Phases:
    """The effect of every event, and the places of every contact."""
    traced = compiled.traced
    events = traced.events
    precise = method.near is not None
    return Phases(
        event_pair=_whole([_owner(event, traced) for event in events]),
        flag=_whole([-1 if event.flag is None else event.flag for event in events]),
        pressed=_whole([event.pressed for event in events]),
        reported=_whole([event.pair is None and event.reported for event in events]),
        direction=_whole([event.direction for event in events]),
        pair_places=_whole([_places(slots) for slots in traced.all_pairs]).reshape(-1, PAIR_PLACES),
        pair_numbers=pair_numbers(traced),
        joint_places=_whole([_joint_places(slots) for slots in _gripping(traced)]).reshape(-1, JOINT_PLACES),
        required=_whole([event.side for event in events]),
        events_closed=compiled.events.address if compiled.events else 0,
        near=-math.inf if traced.near is None else traced.near,
        near_rtol=method.rtol if precise else 0.0,
        far_rtol=(method.tolerance or method.rtol) if precise else 0.0,
        impact=_impact(compiled),
    )


def _impact(compiled: Compiled) -> tuple[int, int, int, int, int]:
    """The kernel of impulsive contacts, its rows, the place of the rates in y, their number, and the number of its outputs."""
    rates, code = compiled.traced.layout.y[RATES], compiled.impact
    knocks = sum(len(slots.knocks) for slots in compiled.traced.pairs)
    return (0, 0, 0, 0, 0) if code is None else (code.address, knocks, rates.start, rates.stop - rates.start, code.n_out)


def _owner(event: Event, traced: TracedSystem) -> int:
    """The number of the contact that owns an event; joints whose friction holds are numbered after the contacts; -1: none."""
    if event.holder is not None:
        return len(traced.all_pairs) + [slots.label for slots in _gripping(traced)].index(event.holder)
    return -1 if event.pair is None else event.pair


def _gripping(traced: TracedSystem) -> list[JointSlots]:
    """Joints whose friction can hold."""
    return [slots for slots in traced.joints if slots.grip is not None]


def _joint_places(slots: JointSlots) -> list[int]:
    """The places of a joint in the order of `run_record`: JOINT_GRIP, JOINT_EDGE, JOINT_EXACT, JOINT_WAYS."""
    assert slots.grip is not None and slots.edge is not None  # it holds
    return [slots.grip, slots.edge, int(slots.exact), len(slots.rates)]


def _whole(numbers: object) -> Ints:
    return np.array(numbers, dtype=np.int64)


def _places(slots: PairSlots) -> list[int]:
    """The places of a contact in the order of `run_record`: CLOSED, ENTRY, GRIP, BRISTLES ..."""
    missing = -1
    events = [missing if event is None else event for event in (slots.gap, slots.peak, slots.let_go, slots.near, slots.renewal)]
    return [slots.closed, slots.entry, missing if slots.grip is None else slots.grip,
            slots.bristles.start, len(slots.bristles), slots.impulse, slots.lost, slots.rubbed,
            *events, slots.switches.start, len(slots.switches),
            slots.knocks.start if slots.knocks else missing, len(slots.knocks)]  # fmt: skip


class Contacts:
    """The contacts of one run, read from its stepper."""

    def __init__(self, traced: TracedSystem, stepper: Stepper) -> None:
        self._traced, self._stepper = traced, stepper

    def resume(self, state: FinalState) -> None:
        """Continue contacts that an earlier run left closed, with their entry speed, bristles and record; called before the run."""
        p = self._stepper.p
        for k, slots in enumerate(self._traced.pairs):
            if slots.pair.name in state.closed:
                p[slots.entry], record = state.closed[slots.pair.name]
                if slots.grip is not None and record.grip is not None:
                    p[slots.grip : slots.grip + 4] = record.grip
                self._stepper.resume(k, _row_of(record))
        for k, joint in enumerate(_gripping(self._traced)):
            if joint.label in state.grips:
                assert joint.grip is not None
                p[joint.grip : joint.grip + GRIP_ENTRIES] = state.grips[joint.label]
                self._stepper.resume_joint(k)

    @property
    def grips(self) -> dict[str, tuple[float, ...]]:
        """The state and direction of the friction of joints that can hold."""
        p = self._stepper.p
        return {joint.label: tuple(p[joint.grip : joint.grip + GRIP_ENTRIES].tolist())
                for joint in _gripping(self._traced) if joint.grip is not None}  # fmt: skip

    @property
    def _under_way(self) -> dict[int, PairSlots]:
        """Closed pairs, by number."""
        p = self._stepper.p
        return {k: self._named(slots) for k, slots in enumerate(self._traced.all_pairs) if p[slots.closed] != 0.0}

    def _named(self, slots: PairSlots) -> PairSlots:
        """A place of a group, with the pair that is there."""
        if slots.pair.name in self._traced.columns["pair"]:
            return slots
        (group,), p = self._traced.system.groups.values(), self._stepper.p
        return slots.of(group.pair(*(int(p[slots.closed + at - SHUT]) for at in (FIRST, SECOND))))

    @property
    def words(self) -> str:
        """The phase in words."""
        if not self._traced.all_pairs:
            return ""
        names = [slots.pair.name for slots in self._under_way.values()]
        return f"touching {names[0]}" if len(names) == 1 else f"{len(names)} contacts closed" if names else "in flight"

    @property
    def closed(self) -> dict[str, tuple[float, OngoingContact]]:
        """The closed contacts by pair, each with the entry speed that its law uses."""
        p, touch = self._stepper.p, self._stepper.touch
        return {slots.pair.name: (float(p[slots.entry]), _record_of(touch[k], _grip(slots, p)))
                for k, slots in self._under_way.items()}  # fmt: skip

    def table(self, closing_speeds: Floats) -> ContactTable:
        """All contacts; those still closed get an end in the table only. closing_speeds: of all pairs at the present state."""
        touches = ((pair.name, pair.turns, numbers) for number, *numbers in self._stepper.touches().tolist()
                   for pair in (self._pair(int(number)),))  # fmt: skip
        ended = [ContactRecord(name, **dict(zip(NUMBERS, numbers, strict=True)), turns=turns) for name, turns, numbers in touches]
        return table([*ended, *(self._lasting(k, slots, -float(closing_speeds[k])) for k, slots in self._under_way.items())])

    def _pair(self, number: int) -> Pair:
        """A pair by its number, or a pair of a group, numbered after the others by its members."""
        traced = self._traced
        if number < len(traced.all_pairs):
            return traced.pairs[number].pair
        (group,) = traced.system.groups.values()
        return group.pair(*divmod(number - len(traced.all_pairs), len(group.names)))

    def _lasting(self, k: int, slots: PairSlots, exit_speed: float) -> ContactRecord:
        touch, y = self._stepper.touch[k], self._stepper.y
        numbers = {
            "begin": touch[BEGIN],
            "end": math.nan,
            "entry_speed": touch[ENTRY_SPEED],
            "exit_speed": exit_speed,
            "peak_force": touch[PEAK_FORCE],
            "peak_time": touch[PEAK_TIME],
            "impulse": y[slots.impulse] - touch[BEGIN_IMPULSE],
            "normal_loss": touch[BEGIN_LOST] - y[slots.lost],
            "friction_loss": touch[BEGIN_RUBBED] - y[slots.rubbed],
        }
        return ContactRecord(slots.pair.name, **{name: float(numbers[name]) for name in NUMBERS}, turns=slots.pair.turns)


def _grip(slots: PairSlots, p: Floats) -> tuple[float, ...] | None:
    """The state of friction that can hold, and the direction in which it slips."""
    return None if slots.grip is None else tuple(p[slots.grip : slots.grip + 4].tolist())


def _row_of(record: OngoingContact) -> Floats:
    row = np.full(TOUCH, np.nan)
    row[[BEGIN, ENTRY_SPEED, BEGIN_IMPULSE]] = record.begin, record.entry_speed, record.impulse
    row[[BEGIN_LOST, BEGIN_RUBBED]] = record.lost, record.rubbed
    row[[PEAK_FORCE, PEAK_TIME]] = record.peak_force, record.peak_time
    if record.let_go is not None:
        row[[LET_GO_TIME, LET_GO_SPEED]] = record.let_go
    return row


def _record_of(touch: Floats, grip: tuple[float, ...] | None) -> OngoingContact:
    row = touch.tolist()
    let_go = None if math.isnan(row[LET_GO_TIME]) else (row[LET_GO_TIME], row[LET_GO_SPEED])
    return OngoingContact(row[BEGIN], row[ENTRY_SPEED], row[BEGIN_IMPULSE], row[BEGIN_LOST], row[BEGIN_RUBBED],
                          row[PEAK_FORCE], row[PEAK_TIME], let_go, grip)  # fmt: skip
