"""Judgement of an attempt after which nothing happens but the next one: a plain function, see `codegen.plain`.

The thread of a GPU that made the attempt decides so itself. Everything else is left to `judge`, and nothing has changed until then.
"""

from __future__ import annotations

from typing import Any

from pliant.integrate.lockstep_judge import (
    INF,
    NO_ERROR,
    SAFETY,
    aim,
    lengthened,
    measure_works,
    next_stop,
    own_exp,
    own_log,
    set_bend,
    set_probe,
    shortened,
    smallest,
)

LEFT, REPEATED, TAKEN = range(3)  # for `judge`; the step is repeated with another length; it is taken, and the next one is chosen

# Supplied by a structure (`lockstep_text`).
table: Any = None
N_LIMIT = 0


def go_on(lane: Any, shared: Any) -> int:
    """Decides what the next attempt is, as `judge` would."""
    refused = not lane.error <= 1.0
    if (refused and not lane.error < INF) or (lane.error <= 1.0 and lane.calm == 0.0):
        return LEFT
    stop = next_stop(lane, shared)
    if not refused and lane.t_new >= stop:
        return LEFT
    if lane.accepted + lane.rejected + 1.0 >= shared.max_steps:
        return LEFT
    log_error, old = own_log(max(lane.error, NO_ERROR)), 0.0
    if not refused:
        old = table.control[0] * lane.log_old
    factor, h, t = SAFETY * own_exp(old - table.control[3] * log_error), lane.h, lane.t
    if refused:
        h = shortened(lane, factor)
    else:
        t = lane.t_new
        if lane.tries == 0.0:
            h = lengthened(lane, shared, factor)
    if h < smallest(t):
        return LEFT
    if refused:
        lane.rejected += 1.0
        lane.rejected_last = 1.0
    else:
        lane.accepted += 1.0
        if lane.tries == 0.0:
            lane.log_old, lane.rejected_last = max(log_error, table.least_old[0]), 0.0
        if N_LIMIT > 0:
            lane.longest = lane.limit[0]
    lane.h, lane.t, lane.tries = h, t, 0.0
    aim(lane, stop)
    return REPEATED if refused else TAKEN


# Functions that attempts on a GPU call: some for a member's record, others for its numbers in shared memory (`lockstep_staging`).
OF_STARTS = (measure_works, set_probe, set_bend)
OF_STEPS = (smallest, shortened, lengthened, next_stop, aim, go_on)
CONSTANTS = {"LEFT": LEFT, "REPEATED": REPEATED, "TAKEN": TAKEN}
