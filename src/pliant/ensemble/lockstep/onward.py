"""Judgement of an attempt after which nothing happens but the next one: a plain function, see `codegen.plain`.

The thread of a GPU that made the attempt decides so itself. Everything else is left to `judge`, and nothing has changed until then.
"""

from __future__ import annotations

from math import inf
from typing import Any

from pliant.ensemble.lockstep.events import PASSED, just_beyond, overshoot, zero_ahead
from pliant.ensemble.lockstep.judge import measure_works, set_bend, set_probe
from pliant.ensemble.lockstep.lengths import aim, nearer_corner, next_stop, set_length
from pliant.integrate.loop.judging import NEAREST, smallest_step

LEFT, REPEATED, TAKEN = range(3)  # for `judge`; the step is repeated with another length; it is taken, and the next one is chosen

N_LIMIT = 0  # supplied by a structure (`LockstepLayout`)


def decide_locally(lane: Any, shared: Any) -> int:
    """Decides how long the next attempt may be, as `judge` would."""
    refused = not lane.error <= 1.0
    if (refused and not lane.error < inf) or (not refused and (lane.calm == 0.0 or lane.t_new >= next_stop(lane, shared))):
        return LEFT
    is_last = lane.accepted + lane.rejected + 1.0 >= shared.max_steps
    if is_last or NEAREST * lane.step < smallest_step(lane.t_new):  # no step is shortened by more at a time
        return LEFT
    if set_length(lane, shared):
        return REPEATED
    lane.accepted += 1.0
    if N_LIMIT > 0:
        lane.longest = lane.limit[0]
    if lane.calm == PASSED:
        lane.aimed = 0.0
    lane.t, lane.tries = lane.t_new, 0.0
    return TAKEN


def set_course(lane: Any, shared: Any) -> None:
    """Sets where the next attempt ends, once event functions at the end of a step that is taken are the present ones."""
    aim(lane, shared, next_stop(lane, shared))


# Functions that attempts on a GPU call: some for a member's record, others for its numbers in shared memory (`staging`).
OF_STARTS = (measure_works, set_probe, set_bend)
OF_STEPS = (just_beyond, nearer_corner, overshoot, zero_ahead, decide_locally, set_course)
