"""Near misses: if the tolerances of a run cannot tell whether an event happens, no derivative may exist beyond that time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pliant.arrays import Floats
from pliant.codegen.llvm import RepeatedCall
from pliant.integrate.loop.grip_states import SLIDES, STICKS
from pliant.integrate.memory.run_record import STOPS
from pliant.integrate.rows import evaluate_rows
from pliant.study.derivatives.event_slopes import EventReader, cubic

PLACES = np.linspace(0.0, 1.0, 17)  # fractions of a step at which an event function is evaluated
NEAR = 1e-2  # fraction of the largest value of an event function: a smaller distance from zero may be a near miss
WITHIN = 0.5  # fraction of the change of a distance over the adjacent steps: how much lower the distance may be inside them


@dataclass(frozen=True)
class Approach:
    """A local minimum of the distance of an event function from zero."""

    t: float  # s
    event: int
    side: float  # sign of the function
    bend: float  # second derivative of the distance, over s^2


def approaches(walk: EventReader) -> list[Approach]:
    """All approaches of a run to events that would change its equations or end it, in order of time."""
    code, tape = walk.run.compiled.events, walk.tape
    watched = dict(_watched(walk))
    if not watched or code is None:
        return []
    # ends of all steps; there are no steps before or after the run
    times, states = np.append(tape.times[:, 0], tape.times[-1, 1]), np.vstack([tape.begins, tape.ends[-1:]])
    out = np.empty((times.size, code.n_out))
    changing = np.vstack([tape.parameters, tape.parameters[-1:]])
    evaluate_rows(code.address, times, states, changing, out, code.n_work, _constants(walk))
    found: list[Approach] = []
    for event, entries in watched.items():
        sides = _sides(walk, event, out[:-1, event])
        distances = np.append(sides, sides[-1]) * out[:, event]
        falls, rises = np.append(True, ~(np.diff(distances) > 0.0)), np.append(~(np.diff(distances) < 0.0), True)
        change = np.nan_to_num(np.abs(np.diff(distances)))
        near = distances < NEAR * np.max(np.abs(out[:, event])) + WITHIN * (np.append(change, 0.0) + np.append(0.0, change))
        for k in np.flatnonzero(falls & rises & near).tolist():
            steps = [i for i in (k - 1, k) if 0 <= i < sides.size]
            # what has just happened, or is about to happen, is not a near miss
            own = np.column_stack([sides[steps], tape.parameters[steps][:, entries]])
            if np.all(own == own[0]) and not (k > 0 and tape.hits[k - 1, event]):
                found += _lowest(walk, event, float(sides[steps[0]]), steps)
    return sorted(found, key=lambda approach: approach.t)


def _watched(walk: EventReader) -> Iterator[tuple[int, list[int]]]:
    """Events that change the equations or end the run, and the entries of p that they change."""
    for e, event in enumerate(walk.traced.events):
        slots = walk.traced.pairs[event.pair] if event.pair is not None else None
        if slots is None and (event.flag is not None or event.kind == STOPS):
            yield e, [event.flag] if event.flag is not None else []
        elif slots is not None and e == slots.gap:
            yield e, [slots.closed]
    for holder in walk.holders:  # it begins to stick or to slide, or lets go
        closed = [] if holder.pair is None else [walk.traced.pairs[holder.pair].closed]
        yield from ((e, [*closed, holder.grip, holder.grip + 1]) for e in (holder.edge, holder.reserve))


def _sides(walk: EventReader, e: int, values: Floats) -> Floats:
    """The side of zero on which an event function is during each step; nan while it is not watched."""
    event, parameters = walk.traced.events[e], walk.tape.parameters
    holder = next((one for one in walk.holders if e in (one.edge, one.reserve)), None)
    if event.flag is not None:
        return np.where(parameters[:, event.flag] == 1.0, event.pressed, -event.pressed).astype(np.float64)
    if holder is not None and (e == holder.reserve or holder.pair is None):
        doing = parameters[:, holder.grip]
        return np.where(doing == STICKS if e == holder.reserve else doing <= SLIDES, 1.0, np.nan)
    if event.pair is None:
        return np.sign(values)
    slots = walk.traced.pairs[event.pair]
    closed = parameters[:, slots.closed] != 0.0
    return np.where(closed, np.nan, 1.0) if e == slots.gap else np.where(closed, np.sign(values), np.nan)


def _constants(walk: EventReader) -> Floats:
    return walk.run.stepper.p[walk.n_changing :]


def _lowest(walk: EventReader, event: int, side: float, steps: Sequence[int]) -> list[Approach]:
    """The smallest distance inside one or two steps, evaluated on cubics."""
    tape, code, rates = walk.tape, walk.run.compiled.events, RepeatedCall(walk.run.compiled.rhs)
    assert code is not None
    times, states = [], []
    for k in steps:
        p = np.concatenate([tape.parameters[k], _constants(walk)])
        t, h = float(tape.times[k, 0]), float(tape.times[k, 1] - tape.times[k, 0])
        y0, y1 = tape.begins[k], tape.ends[k]
        states.append(cubic(PLACES[:, None], h, (y0, y1), (rates(t, y0, p), rates(t + h, y1, p))))
        times.append(t + h * PLACES)
    every, where = np.concatenate([times[0], *(t[1:] for t in times[1:])]), np.vstack([states[0], *(y[1:] for y in states[1:])])
    out = np.empty((every.size, code.n_out))
    evaluate_rows(code.address, every, where, p, out, code.n_work)
    distances = side * out[:, event]
    low = int(np.argmin(distances))
    if not 0 < low < distances.size - 1:
        return []
    t, bend = _vertex(every[low - 1 : low + 2], distances[low - 1 : low + 2])
    return [Approach(t, event, side, bend)]


def _vertex(times: Floats, distances: Floats) -> tuple[float, float]:
    """The vertex of the parabola through three points, and its second derivative."""
    a, b = times[0] - times[1], times[2] - times[1]
    left, right = (distances[0] - distances[1]) / a, (distances[2] - distances[1]) / b
    bend = (right - left) / (b - a)
    shift = 0.0 if bend <= 0.0 else float(np.clip(-0.5 * (left - bend * a) / bend, a, b))
    return float(times[1] + shift), max(2.0 * float(bend), 0.0)
