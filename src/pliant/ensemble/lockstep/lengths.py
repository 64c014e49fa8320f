"""How long the next attempt of a member of a lock-step ensemble is: plain functions, see `judge`."""

from __future__ import annotations

from math import exp, inf, log
from typing import Any

from pliant.ensemble.lockstep.events import event_ahead
from pliant.integrate.loop.judging import BEYOND, CUT_SHORT, NEAREST, NO_ERROR, end_of_step, is_cut_short, smallest_step

SAFETY = 0.9
# A step that is rejected again meets something that is not smooth: its error falls with a lower power of its length than the order
# says. Then the exponent of the error counts twice, at last three times, and the step may become this fraction of itself.
MOST_TIMES, LEAST_AGAIN = 3.0, 0.1
NEARER = 0.5  # of a step to an event that ended before it: another such step follows only if the event is nearer than that
AFTER_TOUCH = 3.0  # least growth after the first step of a touch: only its error is that of a force that is not smooth

# Supplied by a structure (`LockstepLayout`): tables, and the number of limits.
table: Any = None
N_LIMIT = 0


# ---- by the error


def set_length(lane: Any, shared: Any) -> bool:
    """Sets the length of the next step by the error of this one; returns whether this one is rejected."""
    rejected = not lane.error <= 1.0
    if rejected or lane.tries == 0.0:
        log_error = own_log(max(lane.error, NO_ERROR))
        factor = step_factor(lane, log_error)
        if rejected:
            refuse(lane, factor)
        else:
            propose(lane, shared, log_error, factor)
    return rejected


def step_factor(lane: Any, log_error: float) -> float:
    """By how much the error changes the step: by Gustafsson's controllers, unless the step is rejected."""
    again = -(table.control[3] * min(lane.refusals + 1.0, MOST_TIMES)) * log_error
    change = table.control[0] * lane.log_old - table.control[3] * log_error if lane.error <= 1.0 else again
    return SAFETY * own_exp(change)


def refuse(lane: Any, factor: float) -> None:
    """Rejects a step that was too long or left the domain of the equations, and shortens it.

    Towards a corner, the next one ends just beyond, so that the corner can be located.
    """
    lane.rejected += 1.0
    lane.refusals += 1.0
    lane.tries = 0.0
    least = table.control[1] if lane.refusals < 2.0 else LEAST_AGAIN
    lane.h = corner_ahead(lane, lane.step * max(least, factor)) if lane.error < inf else 0.25 * lane.step


def corner_ahead(lane: Any, h: float) -> float:
    """The distance to a point just beyond the nearest corner, s, or h if that is less."""
    ahead = h
    for k in range(int(lane.n_watched)):
        e = int(lane.watching[k])
        if table.has_rate[e] != 0:
            ahead = nearer_corner(lane.side[e], lane.g[e], lane.gd[e], lane.step, ahead)
    return float(ahead)


def nearer_corner(side: float, g: float, gd: float, step: float, ahead: float) -> float:
    """The distance to a zero that an event function heads for, if it is nearer than what is known to be ahead."""
    x = -BEYOND * g / gd
    return x if side != 0.0 and NEAREST * step < x < ahead else ahead


def propose(lane: Any, shared: Any, log_error: float, factor: float) -> None:
    """Proposes the step that follows an accepted one."""
    h = lengthened(lane, shared, factor)
    lane.touch_h = touch_step(lane, factor)
    lane.h = h
    lane.log_old, lane.refusals = max(log_error, table.least_old[0]), 0.0


def lengthened(lane: Any, shared: Any, factor: float) -> float:
    """The length that follows an accepted step; a step that was cut short does not shorten the next."""
    kept = lane.h if is_cut_short(lane.step, lane.h) else 0.0
    if follows_touch(lane):
        kept = AFTER_TOUCH * lane.step
    return float(min(max(changed_by(lane, factor), kept), shared.max_step))


def changed_by(lane: Any, factor: float) -> float:
    """The length of this step times the factor of the controller, within its bounds."""
    most = 1.0 if lane.refusals != 0.0 else table.control[2]
    return float(lane.step * min(max(factor, table.control[1]), most))


def follows_touch(lane: Any) -> bool:
    """Whether this is the first whole step after a touch."""
    return bool(lane.touch_h == 0.0 and not is_cut_short(lane.step, lane.h))


def touch_step(lane: Any, factor: float) -> float:
    """The length, s, that the first step after a touch should have had; 0 if that step is still to come."""
    return changed_by(lane, factor) if follows_touch(lane) else float(lane.touch_h)


# ---- to stops and events


def next_stop(lane: Any, shared: Any) -> float:
    """The time, s, that no step passes: of a stop or a row."""
    stop = lane.t_stop
    row = int(lane.next_row)
    if row < shared.n_plan:
        stop = min(stop, shared.plan[row])
    return float(stop)


def aim(lane: Any, shared: Any, stop: float) -> None:
    """Sets the end of the next attempt: by its length and the stop, or at an event ahead.

    A step to where an event should be saves one beyond it, of which nothing but that event is used.
    """
    lane.t_new = end_of_step(lane.t, lane.h, stop, CUT_SHORT, True)
    if N_LIMIT > 0:
        lane.t_new = min(lane.t_new, lane.t + max(lane.longest, 2.0 * smallest_step(lane.t)))
    ahead, again = event_ahead(lane, shared, lane.t_new - lane.t), lane.aimed
    lane.aimed = 0.0
    if ahead < lane.t_new - lane.t and (again == 0.0 or ahead < NEARER * lane.step):
        lane.t_new, lane.aimed = lane.t + ahead, 1.0
    lane.step = lane.t_new - lane.t


# ---- written in text, for the same bits everywhere


def own_exp(x: float) -> float:
    return exp(x)


def own_log(x: float) -> float:
    return log(x)
