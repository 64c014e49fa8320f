"""The end of a step that went a little beyond an event is moved back to it: plain functions, see `judge`."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

from pliant.codegen.guards import MOST_SEPARATE
from pliant.codegen.plain import at_once
from pliant.ensemble.lockstep.events import CUT, PEAK, dead_of, goes_on, near_enough
from pliant.integrate.loop.judging import bracket

# Supplied by a structure (`LockstepLayout`): tables, and the numbers of controlled states, of those whose rates are states, of
# stored rates of the others and of carried components, and of guards.
table: Any = None
N_C = N_CHAINED = N_ROWS = N_CARRIED = N_GUARDS = 0


def go_back(lane: Any, shared: Any) -> None:
    """Moves the end of the step back to the last of the events there that change the equations or end the run, by parabolas.

    To end at an event to round-off would take one or two attempts more.
    """
    back = since_events(lane) - 0.5 * bracket(lane.t_new)  # a little beyond, so that it has happened
    # twice as far as events are located: by a cubic there, by a parabola here
    if not (0.0 < back < lane.step and back <= 2.0 * near_enough(lane, shared)):
        return
    share, guards = back / lane.step, awake_guards(lane)
    for k in range(int(lane.n_watched)):
        e = int(lane.watching[k])
        lane.g_new[e] -= back * midway(lane.gd_new[e], lane.gd[e], share)
        lane.gd_new[e] -= share * (lane.gd_new[e] - lane.gd[e])
    for k in at_once(N_CHAINED):
        lane.y_new[table.coordinate[k]] -= back * midway(lane.y_new[table.speed[k]], lane.y[table.speed[k]], share)
    for r in at_once(N_ROWS):
        lane.y_new[table.row[r]] -= back * midway(lane.rate_new[r], lane.rate[r], share)
    for r in at_once(N_CARRIED):
        lane.y_new[N_C + r] -= back * midway(lane.flow_new[r], lane.flow[r], share) if is_awake(guards, r) else 0.0
    lane.t_new -= back


def midway(rate_new: float, rate: float, share: float) -> float:
    """The rate in the middle of the last share of the step."""
    return rate_new - 0.5 * share * (rate_new - rate)


def since_events(lane: Any) -> float:
    """How long before the end of the step, s, the last of the events happened that change the equations or end the run."""
    least = inf
    for k in range(int(lane.n_watched)):
        e = int(lane.watching[k])
        if lane.hit[e] != 0.0 and table.does[e] != CUT and table.does[e] != PEAK and not goes_on(lane, e):
            least = min(least, since_event(lane, e))
    return float(least)


def since_event(lane: Any, e: int) -> float:
    """How long before the end of the step, s, an event happened; 0 if its function does not tell."""
    side = lane.side[e]
    beyond, fall = -lane.g_new[e] * side - 2.0 * dead_of(lane, e), -lane.gd_new[e] * side
    change = (fall + lane.gd[e] * side) / lane.step
    slower = sqrt(max(fall * fall - 2.0 * beyond * change, 0.0))
    return 2.0 * beyond / (fall + slower) if beyond > 0.0 and fall > 0.0 else 0.0


def awake_guards(lane: Any) -> int:
    """The guards that are awake, a bit each (`guards.guard_bit`)."""
    bits = 0
    for k in at_once(N_GUARDS):
        bits = bits | (1 << k % MOST_SEPARATE if lane.p[table.guard[k]] != 0.0 else 0)
    return bits


def is_awake(guards: int, r: int) -> bool:
    """Whether a carried component changes: some do only while a contact is closed, and their rates are not kept otherwise."""
    return bool(guards & table.needs[r] == table.needs[r] and (guards != 0 or table.needs_some[r] == 0))
