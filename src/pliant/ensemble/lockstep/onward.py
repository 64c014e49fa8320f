"""Judgement of an attempt after which nothing happens but the next one: a plain function, see `codegen.plain`.

The thread of a GPU that made the attempt decides so itself. Everything else is left to `judge`, and nothing has changed until then.
"""

from __future__ import annotations

from typing import Any

from pliant.ensemble.lockstep.events import PASSED, just_beyond, overshoot, zero_ahead
from pliant.ensemble.lockstep.judge import measure_works, set_bend, set_probe
from pliant.ensemble.lockstep.lengths import (
    INF,
    SAFETY,
    aim,
    error_power,
    lengthened,
    next_stop,
    own_exp,
    own_log,
    shortened,
    touch_step,
)
from pliant.integrate.loop.judging import NO_ERROR, smallest_step

LEFT, REPEATED, TAKEN = range(3)  # for `judge`; the step is repeated with another length; it is taken, and the next one is chosen

# Supplied by a structure (`LockstepLayout`).
table: Any = None
N_LIMIT = 0


def decide_locally(lane: Any, shared: Any) -> int:
    """Decides how long the next attempt may be, as `judge` would."""
    refused = not lane.error <= 1.0
    if (refused and not lane.error < INF) or (lane.error <= 1.0 and lane.calm == 0.0):
        return LEFT
    stop = next_stop(lane, shared)
    if not refused and lane.t_new >= stop:
        return LEFT
    if lane.accepted + lane.rejected + 1.0 >= shared.max_steps:
        return LEFT
    log_error = own_log(max(lane.error, NO_ERROR))
    change = -error_power(lane.refusals + 1.0) * log_error
    if not refused:
        change = table.control[0] * lane.log_old - table.control[3] * log_error
    factor, h, t = SAFETY * own_exp(change), lane.h, lane.t
    if refused:
        h = shortened(lane, lane.refusals + 1.0, factor)
    else:
        t = lane.t_new
        if lane.tries == 0.0:
            h = lengthened(lane, shared, factor)
    if h < smallest_step(t):
        return LEFT
    if refused:
        lane.rejected += 1.0
        lane.refusals += 1.0
    else:
        lane.accepted += 1.0
        if lane.tries == 0.0:
            lane.touch_h = touch_step(lane, factor)
            lane.log_old, lane.refusals = max(log_error, table.least_old[0]), 0.0
        if N_LIMIT > 0:
            lane.longest = lane.limit[0]
        if lane.calm == PASSED:
            lane.aimed = 0.0
    lane.h, lane.t, lane.tries = h, t, 0.0
    return REPEATED if refused else TAKEN


def set_course(lane: Any, shared: Any) -> None:
    """Sets where the next attempt ends, once event functions at the end of a step that is taken are the present ones."""
    aim(lane, shared, next_stop(lane, shared))


# Functions that attempts on a GPU call: some for a member's record, others for its numbers in shared memory (`staging`).
OF_STARTS = (measure_works, set_probe, set_bend)
OF_STEPS = (just_beyond, overshoot, zero_ahead, decide_locally, set_course)
