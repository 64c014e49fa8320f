"""What happens to one member of a lock-step ensemble between two attempts: plain functions, see `codegen.plain`.

Everything is an attempt: a step, a step repeated after a rejection, a step cut to an event, and a restart with new equations. All
cost the same evaluations, so members that run side by side never diverge in the expensive part. These functions judge the result of
an attempt, one member at a time, and decide what the next attempt is. `lane` is the memory of a member (`LockstepText.slots`),
`shared` the record that all members share (`tables.SHARED`).
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

from pliant.codegen.plain import at_once
from pliant.ensemble.lockstep.events import (
    CUT,
    FLAG,
    GAP,
    PASSED,
    PEAK,
    RENEWAL,
    STOP,
    TALLIED,
    close_pair,
    count_touch,
    dead_of,
    entry_speed,
    first_event,
    note_forces,
    note_peaks,
    open_pair,
    renew,
    required,
    side_at_start,
    thrown,
    watched,
)
from pliant.ensemble.lockstep.lengths import aim, next_stop, own_exp, own_log, set_length
from pliant.ensemble.lockstep.rewind import go_back
from pliant.integrate.loop.control import PROBES, SHORTER
from pliant.integrate.loop.judging import first_length, probe_length, side_of, smallest_step
from pliant.integrate.memory.run_record import CHATTER, SHORTEST_TURN, UNDAMPED

# How members end: the codes of `status`, and one code that only this loop has.
REACHED, AT_EVENT, NOT_FINITE, TOO_SMALL, STEP_LIMIT, UNDECIDED, CHATTERS, CANCELLED = range(8)
SURE = 1e-12  # of the size of the state: a function nearer to zero at the start is left to the general loop
DEAD = 2.0**-50  # of the size of the state: a smaller gap is neither open nor closed

# Supplied by a structure (`LockstepLayout`): tables, and the numbers of states, controlled states, works, stored rates of
# controlled and of carried components, events, pairs, changing entries of p, a member's own constants, entries of a head, tips and
# limits.
table: Any = None
N = N_C = N_W = N_ROWS = N_CARRIED = N_E = N_P = N_CHANGING = N_OWN = N_HEAD = N_TIPS = N_LIMIT = LATER = 0


# ---- a member begins


def take(lane: Any, shared: Any) -> None:
    """Takes the next member that no lane has taken, if there is one."""
    lane.active = 0.0
    lane.step, lane.start, lane.fresh, lane.error, lane.moved = 0.0, 0.0, 0.0, 0.0, 0.0
    if shared.cancelled[0] != 0:
        return
    member = claim(shared)
    if member >= shared.members:
        return
    lane.member = float(member)
    lane.active = 1.0
    for i in at_once(N):
        lane.y[i], lane.y_new[i] = shared.y[member * N + i], shared.y[member * N + i]
    for i in at_once(N_CHANGING):
        lane.p[i] = shared.p[i]
    for i in range(N_OWN):
        lane.c[i] = shared.constants[member * N_OWN + i]
    for i in range(TALLIED * N_P):
        lane.tally[i] = 0.0
    for r in range(N_ROWS):
        lane.rate[r] = 0.0  # it is read once, times zero, and a previous member may have left nan there
    for r in range(N_CARRIED):
        lane.flow[r] = 0.0  # as well
    for i in range(N_W):
        lane.lowest[i], lane.highest[i] = lane.y[N_C + i], lane.y[N_C + i]
        lane.lowest_new[i], lane.highest_new[i] = lane.y[N_C + i], lane.y[N_C + i]
    lane.n_watched = 0.0
    lane.t, lane.t_new, lane.t_stop = shared.t_start, shared.t_start, shared.ends[0]
    lane.piece, lane.next_row, lane.n_closed, lane.turns, lane.turned = 0.0, 0.0, 0.0, 0.0, shared.t_start
    lane.accepted, lane.rejected, lane.refusals, lane.tries = 0.0, 0.0, 0.0, 0.0
    lane.h, lane.aimed, lane.touch_h = 0.0, 0.0, inf
    for e in range(N_E):
        lane.gdd[e] = 0.0
    if N_LIMIT > 0:
        lane.longest = inf
    lane.fresh = 1.0
    restart(lane)


def begin(lane: Any, shared: Any) -> None:
    """Takes the first member of a lane."""
    take(lane, shared)
    set_kind(lane)


def judge_left(lane: Any, shared: Any) -> None:
    """Judges an attempt that a thread left to be judged."""
    judge(lane, shared)
    set_kind(lane)


def set_kind(lane: Any) -> None:
    """A number for members whose next attempt goes through the same branches: closed contacts, and whether it is a start.

    -1: the lane has no member.
    """
    kind = 1 if lane.start != 0.0 else 0
    for pair in at_once(N_P):
        kind = kind | (table.kind_bit[pair] if lane.p[table.closed[pair]] != 0.0 else 0)
    lane.kind = float(kind) if lane.active != 0.0 else -1.0


def restart(lane: Any) -> None:
    """Makes the next attempt a restart with the present equations."""
    lane.start, lane.nearer, lane.probes, lane.tries = 1.0, 1.0, 0.0, 0.0
    lane.step, lane.t_new = 0.0, lane.t


def set_probe(lane: Any, shared: Any) -> None:
    """After the first evaluation of a start: chooses the Euler step to the second, by the norms of the state and of its rates."""
    if lane.start == 0.0:
        return
    slope, size = sqrt(lane.slope / N_C), sqrt(lane.size / N_C)
    trial = min(probe_length(slope, size), min(shared.max_step, lane.t_stop - lane.t))
    lane.trial, lane.slope = trial * lane.nearer, slope


def set_bend(lane: Any) -> None:
    """After the second evaluation of a start: estimates how fast the derivative changes (Hairer, Norsett, Wanner I, II.4)."""
    if lane.start == 0.0:
        return
    lane.bend = sqrt(lane.bend / N_C) / lane.trial


def measure_works(lane: Any, shared: Any) -> None:
    """Sets the tolerance of works by the energy at the start, as a single run does."""
    if lane.start == 0.0 or lane.fresh == 0.0:
        return
    member = int(lane.member)
    size = 0.0
    for axis in range(3):
        low, high = 0.0, 0.0
        for k in range(N_TIPS):
            low, high = min(low, lane.survey[3 * k + axis]), max(high, lane.survey[3 * k + axis])
        size = max(size, high - low)
    energies = abs(lane.survey[3 * N_TIPS]) + abs(lane.survey[3 * N_TIPS + 1]) + abs(lane.survey[3 * N_TIPS + 2])
    at_hand = shared.weight[member * shared.weight_step] * size + energies
    lane.atol_works = max(shared.atol[N_C], shared.asked_rtol * at_hand) * shared.loosened
    total = 1.0
    for i in range(N_C):
        total += abs(lane.y[i])
    lane.dead = DEAD * total
    lane.sure = SURE * total


# ---- an attempt is judged


def judge(lane: Any, shared: Any) -> None:
    """Judges the result of an attempt and decides what comes next."""
    if lane.active == 0.0:
        return
    lane.due, lane.over = 0.0, 0.0
    judge_attempt(lane, shared)
    if lane.due != 0.0:
        choose(lane, shared)
    if lane.over != 0.0:
        end_member(lane, shared)


def judge_attempt(lane: Any, shared: Any) -> None:
    """Rejects the step, cuts it to an event, or accepts it; sets `due` if a new step is to be chosen."""
    if lane.start != 0.0:
        take_up(lane, shared)
        return
    if set_length(lane, shared):
        lane.due = 1.0
        return
    cut, lane.hits = 0.0, 0.0
    if lane.calm == 0.0:
        cut = first_event(lane, shared)
    if cut > 0.0:
        lane.tries += 1.0
        lane.step = cut
        lane.t_new = lane.t + cut
        return
    move(lane, shared)


def take_up(lane: Any, shared: Any) -> None:
    """Ends a start: derivative and event functions are known, and the first step follows (Hairer, Norsett, Wanner I, II.4)."""
    unsound = 0.0
    for r in at_once(N_ROWS):
        unsound += 0.0 * lane.rate[r]
    for r in at_once(N_CARRIED):
        unsound += 0.0 * lane.flow[r]
    if unsound != 0.0:  # some rate is inf or nan
        finish(lane, NOT_FINITE)
        return
    bend = lane.bend
    lane.probes += 1.0
    if not bend < inf:
        if lane.probes < PROBES:
            lane.nearer *= SHORTER
            return
        bend = inf
    for e in at_once(N_E):
        lane.g[e], lane.gd[e] = lane.g_new[e], lane.gd_new[e]
    if lane.fresh != 0.0:
        lane.fresh = 0.0
        if set_out(lane, shared):
            return
    elif follow_jumps(lane):
        return
    pressed = False
    for pair in range(N_P):
        if lane.p[table.entry[pair]] == -UNDAMPED:
            lane.p[table.entry[pair]] = thrown(lane, shared, pair)
            pressed = True
    if pressed:
        restart(lane)
        return
    for pair in at_once(N_P):
        lane.p[table.entry[pair]] = entry_speed(lane, shared, pair)
    steepest = max(lane.slope, bend)
    first = first_length(steepest, lane.trial, own_exp(own_log(0.01 / steepest) / table.order[0]))
    if lane.n_closed != 0.0:  # the force of a contact begins too gently for this estimate: what held after the last touch is better
        if lane.touch_h != 0.0:
            first = min(first, lane.touch_h)
        lane.touch_h = 0.0
    lane.h = min(max(first, 2.0 * smallest_step(lane.t)), shared.max_step)
    lane.log_old, lane.refusals, lane.aimed = table.least_old[0], 0.0, 0.0
    lane.start = 0.0
    if N_LIMIT > 0:
        lane.longest = lane.limit[0]
    row = int(lane.next_row)
    if row < shared.n_plan:  # noqa: SIM102  `and` would read beyond the last
        if shared.plan[row] <= lane.t:
            put_row(lane, shared)
    note_forces(lane)
    for e in at_once(N_E):
        lane.hit[e], lane.side[e] = 1.0 if watched(lane, e) else 0.0, side_at_start(lane, e)
        lane.gdd[e] = 0.0 if table.does[e] == CUT or table.does[e] == RENEWAL else lane.gdd[e]
    count = 0
    for e in range(N_E):
        if lane.hit[e] != 0.0:
            lane.watching[count] = float(e)
            count += 1
    lane.n_watched = float(count)
    lane.due = 1.0


def set_out(lane: Any, shared: Any) -> bool:
    """Sets contacts and flags at the start; True if that changed the equations, or if a function is too near zero to decide."""
    changed = False
    for e in range(N_E):
        does, g = table.does[e], lane.g[e]
        weighs = does != PEAK and does != CUT and does != RENEWAL
        if weighs and not abs(g) > lane.sure:
            finish(lane, UNDECIDED)
            return True
        if does == GAP and g < 0.0:
            close_pair(lane, shared, table.pair[e], -lane.gd[e])
            if table.renewal[table.pair[e]] >= 0:
                lane.p[table.entry[table.pair[e]]] = -UNDAMPED
            changed = True
        if does == FLAG and g * table.pressed[e] > 0.0 and lane.p[table.flag[e]] == 0.0:
            lane.p[table.flag[e]] = 1.0
            changed = True
    if changed:
        restart(lane)
    return changed


def follow_jumps(lane: Any) -> bool:
    """Flags whose functions jumped across zero as the equations changed are set anew; True if there are any."""
    changed = False
    for e in range(N_E):
        if table.does[e] == FLAG and lane.g[e] * required(lane, e) < -lane.sure:
            lane.p[table.flag[e]] = 1.0 - lane.p[table.flag[e]]
            changed = True
    if changed:
        restart(lane)
    return changed


def choose(lane: Any, shared: Any) -> None:
    """Chooses the length of the next attempt."""
    if lane.accepted + lane.rejected >= shared.max_steps:
        finish(lane, STEP_LIMIT)
        return
    if lane.h < smallest_step(lane.t):
        finish(lane, TOO_SMALL if lane.error < inf else NOT_FINITE)
        return
    aim(lane, shared, next_stop(lane, shared))


# ---- a step is taken


def move(lane: Any, shared: Any) -> None:
    """Accepts the step: moves the member to its end and acts on the events there."""
    lane.accepted += 1.0
    lane.changed = 0.0
    stops = -1
    if lane.hits != 0.0 or lane.calm == PASSED:
        lane.aimed = 0.0
    if lane.hits != 0.0:
        note_peaks(lane)
        go_back(lane, shared)
    step_on(lane)
    if N_LIMIT > 0:
        lane.longest = lane.limit[0]
    note_forces(lane)
    if lane.hits != 0.0:
        stops = act(lane, shared)
    changed = lane.changed != 0.0
    lane.t, lane.tries = lane.t_new, 0.0
    row = int(lane.next_row)
    if row < shared.n_plan:  # noqa: SIM102  `and` would read beyond the last
        if shared.plan[row] <= lane.t:
            put_row(lane, shared)
    if stops >= 0:
        shared.event[int(lane.member)] = stops
        finish(lane, AT_EVENT)
        return
    if lane.turns > CHATTER:
        finish(lane, CHATTERS)
        return
    if lane.t >= lane.t_stop:
        if int(lane.piece) + 1 >= shared.n_pieces:
            finish(lane, REACHED)
            return
        lane.piece += 1.0
        piece = int(lane.piece)
        lane.t_stop = shared.ends[piece]
        for i in range(N_HEAD):
            lane.p[i] = shared.heads[piece * N_HEAD + i]
        changed = True
    if changed:
        restart(lane)
    else:
        lane.due = 1.0


def step_on(lane: Any) -> None:
    """Makes the end of the step the present."""
    if LATER != 0:  # the next attempt copies what it reads
        lane.moved = 1.0
    else:
        for i in range(N):
            lane.y[i] = lane.y_new[i]
        for r in range(N_ROWS):
            lane.rate[r] = lane.rate_new[r]
        for r in range(N_CARRIED):
            lane.flow[r] = lane.flow_new[r]
        for i in range(N_W):
            lane.lowest[i], lane.highest[i] = lane.lowest_new[i], lane.highest_new[i]
        if lane.calm != 0.0:  # the attempt has done what follows
            return
    inverse = 1.0 / lane.step
    for k in range(int(lane.n_watched)):
        e = int(lane.watching[k])
        g, gd = lane.g_new[e], lane.gd_new[e]
        if lane.hits == 0.0:
            lane.gdd[e] = 0.0 if lane.calm == PASSED and table.does[e] == CUT else (gd - lane.gd[e]) * inverse
        lane.g[e], lane.gd[e] = g, gd
        lane.side[e] = side_of(g, int(lane.side[e]), dead_of(lane, e))


def act(lane: Any, shared: Any) -> int:
    """Acts on the events at the present, the end of a step; returns the number of one that ends the run, or -1."""
    stops = -1
    for k in range(int(lane.n_watched)):
        e = int(lane.watching[k])
        if lane.hit[e] != 0.0:
            does, pair = table.does[e], table.pair[e]
            if does == GAP:
                lane.changed = 1.0
                if lane.p[table.closed[pair]] != 0.0:
                    open_pair(lane, pair)
                else:
                    close_pair(lane, shared, pair, -lane.gd[e])
            if does == FLAG:
                lane.changed = 1.0
                lane.p[table.flag[e]] = 1.0 if lane.hit[e] == float(table.pressed[e]) else 0.0
                if lane.t_new - lane.turned > CHATTER * SHORTEST_TURN:
                    lane.turned, lane.turns = lane.t_new, 0.0
                lane.turns += 1.0
            if does == RENEWAL and lane.p[table.closed[pair]] != 0.0:
                lane.changed = 1.0 if renew(lane, e) else lane.changed
            if does == STOP:
                stops = table.number[e]
    return stops


# ---- stored results


def put_row(lane: Any, shared: Any) -> None:
    """Stores the present state, and the entries of p that events change, as the row that is due."""
    row = int(lane.member) * shared.n_plan + int(lane.next_row)
    for i in at_once(N):
        shared.row_y[row * N + i] = lane.y[i]
    for i in at_once(N_CHANGING):
        shared.row_p[row * N_CHANGING + i] = lane.p[i]
    lane.next_row += 1.0


def finish(lane: Any, code: int) -> None:
    """Marks the member to end with this code once the attempt has been judged."""
    lane.over = float(code + 1)
    lane.due = 0.0


def end_member(lane: Any, shared: Any) -> None:
    """Stores the results of a member that has ended, counting contacts still closed as touches, and takes the next member."""
    member = int(lane.member)
    for pair in range(N_P):
        if lane.p[table.closed[pair]] != 0.0:
            count_touch(lane, pair)
    for i in at_once(N):
        shared.y_end[member * N + i] = lane.y[i]
    for i in at_once(N_CHANGING):
        shared.p_end[member * N_CHANGING + i] = lane.p[i]
    for i in at_once(TALLIED * N_P):
        shared.tally[member * TALLIED * N_P + i] = lane.tally[i]
    for i in at_once(N_W):
        shared.reach[2 * (member * N_W + i)] = lane.lowest[i]
        shared.reach[2 * (member * N_W + i) + 1] = lane.highest[i]
    shared.t_end[member] = lane.t
    shared.code[member] = int(lane.over) - 1
    shared.steps[member] = int(lane.accepted)
    shared.refused[member] = int(lane.rejected)
    take(lane, shared)


def claim(shared: Any) -> int:  # written in text: it is atomic
    member = int(shared.next[0])
    shared.next[0] = member + 1
    return member


JUDGES = (take, judge, set_probe, set_bend, measure_works)
