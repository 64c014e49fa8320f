"""Derivatives of quantities at event times: events, and the numbers of contact records."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pliant.arrays import Floats
from pliant.results.contacts import ContactRecord
from pliant.results.contents import EventRecord
from pliant.results.result import Result
from pliant.study.derivatives.saltation import Walk
from pliant.study.derivatives.taped_run import EventPoint
from pliant.study.derivatives.walk_records import Touch

if TYPE_CHECKING:
    from pliant.trace.contacts import PairSlots

# Fraction of a contact's duration: if the force vanishes this near to the end, it does so as the pair separates, and round-off
# decides which comes first.
TOGETHER = 1e-6


def event_derivatives(walk: Walk, result: Result) -> Iterator[tuple[EventRecord, Floats]]:
    """Every event of the result with the derivative of its time, as far as derivatives exist."""
    logged = sorted(walk.run.stepper.logged(), key=lambda event: event.t)
    undefined = {(one.t, one.name) for one in walk.undefined}
    for event, located in zip(result.events, logged, strict=True):
        point, holder = point_at(walk, located.t), walk.traced.events[located.index].holder
        slope = None if point is None else walk.turned.get((located.t, holder or ""))
        slope = walk.time_of_record(located.index, point) if slope is None and point is not None else slope
        if slope is not None and (event.t, event.name) not in undefined:
            yield event, slope


def point_at(walk: Walk, t: float) -> EventPoint | None:
    """State and sensitivities at a requested time of the walk, before any change at that time."""
    for phase in walk.phases:
        if phase.times.size and phase.times[0] <= t <= phase.times[-1]:
            return walk.point_in(phase, t)
    return None


def contact_derivatives(walk: Walk, result: Result) -> Iterator[tuple[ContactRecord, dict[str, Floats]]]:
    names = [slots.pair.name for slots in walk.traced.pairs]
    waiting = list(walk.touches)
    for record in result.contacts:
        pair = names.index(record.pair)
        touch = next((t for t in waiting if t.pair == pair and (t.closing is None or t.closing.t == record.begin)), None)
        if touch is None or touch.opening is None:
            continue
        waiting.remove(touch)
        yield record, _numbers(walk, walk.traced.pairs[pair], touch, record)


def _numbers(walk: Walk, slots: PairSlots, touch: Touch, record: ContactRecord) -> dict[str, Floats]:
    opening, closing = touch.opening, touch.closing
    assert opening is not None
    none = np.zeros(walk.directions)
    values: dict[str, Floats] = {}
    begin = closing.begin if closing is not None else none
    values["begin"] = begin
    values["entry_speed"] = closing.entry_speed if closing is not None else none
    end, values["exit_speed"] = opening.end, opening.exit_speed
    if not record.lasting and touch.t_end - record.end > TOGETHER * (touch.t_end - record.begin):
        end, values["exit_speed"] = _let_go(walk, slots, touch, record)
    if end is not None:
        values["end"], values["duration"] = end, end - begin
    # the given data of a contact that continues from an earlier run do not change
    values["impulse"] = opening.impulse - (closing.impulse if closing is not None else none)
    values["normal_loss"] = (closing.lost if closing is not None else none) - opening.lost
    values["friction_loss"] = (closing.rubbed if closing is not None else none) - opening.rubbed
    if record.entry_speed > 0.0:
        values["restitution"] = (values["exit_speed"] - record.restitution * values["entry_speed"]) / record.entry_speed
    values |= _peak(walk, slots, touch, record)
    return values


def _let_go(walk: Walk, slots: PairSlots, touch: Touch, record: ContactRecord) -> tuple[Floats, Floats]:
    """(time, speed) at which the force vanished before the pair separated."""
    point = point_at(walk, record.end)
    assert point is not None and slots.let_go is not None
    dt, _ = walk.time_of(slots.let_go, point)
    _, slopes = walk.contact_slopes(point.t, point.y, point.p, point.moved(dt), dt, point.dp)
    return dt, -slopes[touch.pair]


def _peak(walk: Walk, slots: PairSlots, touch: Touch, record: ContactRecord) -> dict[str, Floats]:
    """Derivative of the largest force: at a stationary point its time does not matter; it may also be at the first instant."""
    closing = touch.closing
    if math.isnan(record.peak_time):
        return {"peak_force": np.zeros(walk.directions)}  # there was no force
    if closing is not None and record.peak_time == closing.t:
        at = closing.point
        _, slopes = walk.contact_slopes(at.t, at.y, at.p, at.s, closing.dt, at.dp)
        return {"peak_force": slopes[len(walk.traced.pairs) + touch.pair], "peak_time": closing.begin}
    point = point_at(walk, record.peak_time)
    if point is None:  # it lies in the run that is continued
        return {"peak_force": np.zeros(walk.directions), "peak_time": np.zeros(walk.directions)}
    dt, rate = walk.time_of(slots.peak, point)
    # include the change of the peak's time, although the force is stationary there: it was located only to the tolerance
    _, slopes = walk.contact_slopes(point.t, point.y, point.p, point.moved(dt), dt, point.dp)
    return {"peak_force": slopes[len(walk.traced.pairs) + touch.pair], **({"peak_time": dt} if rate != 0.0 else {})}
