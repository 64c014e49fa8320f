"""Near misses: if the tolerances of a run cannot tell whether a contact closes, no derivative exists beyond that time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.integrate.rows import evaluate_rows

if TYPE_CHECKING:
    from pliant.study.saltation import Walk

Floats = NDArray[np.float64]

LOOKS = 17  # points in a step at which a gap is evaluated
NEAR = 1e-2  # fraction of the largest gap of a pair: a smaller gap may be a near miss
WITHIN = 0.5  # fraction of the change of a gap over the adjacent steps: how much lower the gap may be inside them


@dataclass(frozen=True)
class Approach:
    """A local minimum of the gap of an open pair."""

    t: float  # s
    pair: int
    bend: float  # m/s^2, second derivative of the gap


def approaches(walk: Walk) -> list[Approach]:
    """All approaches of a run, in order of time."""
    code, tape, pairs = walk.run.compiled.open_contact_events, walk.tape, walk.traced.pairs
    if not pairs or code is None:
        return []
    # ends of all steps; there are no steps before or after the run
    times, states = np.append(tape.times[:, 0], tape.times[-1, 1]), np.vstack([tape.begins, tape.ends[-1:]])
    out = np.empty((times.size, code.n_out))
    changing = np.vstack([tape.parameters, tape.parameters[-1:]])
    evaluate_rows(code.address, times, states, changing, out, code.n_work, _constants(walk))
    found: list[Approach] = []
    for pair, slots in enumerate(pairs):
        gaps, is_open = out[:, slots.gap], tape.parameters[:, slots.closed] == 0.0
        falls, rises = np.append(True, np.diff(gaps) <= 0.0), np.append(np.diff(gaps) >= 0.0, True)
        change = np.abs(np.diff(gaps))
        near = gaps < NEAR * np.max(np.abs(gaps)) + WITHIN * (np.append(change, 0.0) + np.append(0.0, change))
        for k in np.flatnonzero(falls & rises & near).tolist():
            steps = [i for i in (k - 1, k) if 0 <= i < is_open.size]
            # a pair that has just opened, or is about to close, is not a near miss
            if all(is_open[i] for i in steps):
                found += _lowest(walk, pair, slots.gap, steps)
    return sorted(found, key=lambda approach: approach.t)


def _constants(walk: Walk) -> Floats:
    return walk.run.stepper.p[walk.n_changing :]


def _lowest(walk: Walk, pair: int, event: int, steps: Sequence[int]) -> list[Approach]:
    """The lowest gap inside one or two steps, evaluated on cubics, if the pair is open there."""
    tape, code, rhs = walk.tape, walk.run.compiled.open_contact_events, walk.run.compiled.rhs
    assert code is not None
    times, states = [], []
    for k in steps:
        p = np.concatenate([tape.parameters[k], _constants(walk)])
        t, h = float(tape.times[k, 0]), float(tape.times[k, 1] - tape.times[k, 0])
        y0, y1 = tape.begins[k], tape.ends[k]
        x = np.linspace(0.0, 1.0, LOOKS)[:, None]
        slopes = h * x * (1.0 - x) ** 2 * rhs(t, y0, p) + h * x * x * (x - 1.0) * rhs(t + h, y1, p)
        states.append(y0 + x * x * (3.0 - 2.0 * x) * (y1 - y0) + slopes)
        times.append(t + h * x[:, 0])
    every, where = np.concatenate([times[0], *(t[1:] for t in times[1:])]), np.vstack([states[0], *(y[1:] for y in states[1:])])
    out = np.empty((every.size, code.n_out))
    evaluate_rows(code.address, every, where, p, out, code.n_work)
    gaps, low = out[:, event], int(np.argmin(out[:, event]))
    return [_vertex(pair, every[low - 1 : low + 2], gaps[low - 1 : low + 2])] if 0 < low < gaps.size - 1 else []


def _vertex(pair: int, times: Floats, gaps: Floats) -> Approach:
    """The vertex of the parabola through three points."""
    a, b = times[0] - times[1], times[2] - times[1]
    left, right = (gaps[0] - gaps[1]) / a, (gaps[2] - gaps[1]) / b
    bend = (right - left) / (b - a)
    shift = 0.0 if bend <= 0.0 else float(np.clip(-0.5 * (left - bend * a) / bend, a, b))
    return Approach(float(times[1] + shift), pair, max(2.0 * float(bend), 0.0))
