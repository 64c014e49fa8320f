"""Actions of a run at its events: contacts close and open, flags change, the next piece of time begins.  Compiled.

A phase is an interval of a run in which its equations stay the same. Phases differ in p: for each contact whether it is closed and
its entry speed, a flag for everything that jumps, and at the head of p the values that change from one piece of time to the next.
Events that change none of these are only logged.
"""

from __future__ import annotations

import math
from typing import Any

from pliant.codegen.loop_language import flags, floats, ints
from pliant.integrate.loop.event_log import log
from pliant.integrate.loop.grips import close_grip, grip_happened, open_grip, settle_grips
from pliant.integrate.loop.judging import entry_of, is_quiet, renewed_entry
from pliant.integrate.loop.kernels import call_kernel, put
from pliant.integrate.loop.near_pairs import members_of
from pliant.integrate.loop.noting import note_sizes
from pliant.integrate.loop.pairs import observe_contacts, of_pair, pair_number, pair_place, touch
from pliant.integrate.memory.run_record import (
    BEGIN,
    BEGIN_IMPULSE,
    BEGIN_LOST,
    BEGIN_RUBBED,
    BRISTLES,
    CHATTER,
    CLOSED,
    CUTS,
    ENTRY,
    ENTRY_FLOOR,
    ENTRY_SPEED,
    FINISHED,
    GAP,
    IMPULSE,
    KNOCK,
    LET_GO,
    LET_GO_SPEED,
    LET_GO_TIME,
    LOST,
    N_BRISTLES,
    N_SWITCHES,
    NEAR,
    PEAK,
    PEAK_FORCE,
    PEAK_TIME,
    REACH,
    RENEWAL,
    RUBBED,
    SHORTEST_TURN,
    STOPS,
    SWITCHES,
    TURNS,
)
from pliant.integrate.status import AT_EVENT, CHATTERS, ON

EPSILON = 2.0**-52


# ---- at events


def act(run: Any) -> int:
    """Act on the events that ended the step; returns ON, AT_EVENT if the caller must know, or CHATTERS."""
    measure_before(run)
    answer, changed = _act_on_hits(run)
    return int(follow_jumps(run)) if changed and answer == ON else answer


def _act_on_hits(run: Any) -> tuple[int, bool]:
    """(What `act` returns, whether p changed)."""
    n, answer, changed = run.n_events, ON, False
    hit, kind, pair, flag = ints(run.hit, n), flags(run.kind, n), ints(run.event_pair, n), ints(run.flag, n)
    for e in range(n):
        if hit[e] == 0 or kind[e] > TURNS:
            continue
        if pair[e] >= run.n_pairs:
            changed = grip_happened(run, pair[e], e) or changed
            if _chatters(run, e):
                run.chattering, answer = e, CHATTERS
            continue
        if pair[e] >= 0:
            changed = _act_on_contact(run, e, pair[e]) or changed
            continue
        if ints(run.reported, n)[e]:
            log(run, run.t, e, hit[e])
        if flag[e] >= 0:
            set_flag(run, e, hit[e] == ints(run.pressed, n)[e])
            changed = True
            if _chatters(run, e):
                run.chattering, answer = e, CHATTERS
        if kind[e] == STOPS and answer == ON:
            answer = AT_EVENT
    if changed:
        settle_grips(run)
        choose_kernels(run)
    return answer, changed


def measure_before(run: Any) -> None:
    """Note the event functions before p or the outputs of controllers change, for `follow_jumps`."""
    if run.n_events > 0:
        call_kernel(run.events, run.t, run.y, run.p, run.g_low, run.work)


def follow_jumps(run: Any) -> int:
    """Events whose functions have jumped across zero since `measure_before` happen now, and so do those that they cause."""
    n = run.n_events
    for _ in range(n):
        call_kernel(run.events, run.t, run.y, run.p, run.g_high, run.work)
        if not _note_jumps(run):
            break
        answer, _ = _act_on_hits(run)
        if answer != ON:
            return answer
        put(run.g_low, run.g_high, n)
    hit = ints(run.hit, n)
    for e in range(n):
        hit[e] = 0
    return ON


def _note_jumps(run: Any) -> bool:
    """Log recording events whose functions jumped from g_low to g_high across zero; True if others did."""
    n, some = run.n_events, False
    before, after, hit = floats(run.g_low, n), floats(run.g_high, n), ints(run.hit, n)
    pair, kind, direction, active = ints(run.event_pair, n), flags(run.kind, n), ints(run.direction, n), flags(run.active, n)
    for e in range(n):
        hit[e] = 0
        if pair[e] >= 0 or not active[e] or (before[e] > 0.0) == (after[e] > 0.0):
            continue
        way = 1 if after[e] > 0.0 else -1
        if direction[e] != 0 and direction[e] != way:
            continue
        if kind[e] <= TURNS:
            hit[e], some = way, True
        elif kind[e] != CUTS:
            log(run, run.t, e, way)
    return some


def take_notes(run: Any) -> None:
    """Process events recorded inside the step: user events go to the log; for contacts, a force peak or a release is noted."""
    for k in range(run.n_notes):
        e, t = ints(run.note_event, run.max_notes)[k], floats(run.note_t, run.max_notes)[k]
        direction, pair = ints(run.note_direction, run.max_notes)[k], ints(run.event_pair, run.n_events)[e]
        if pair < 0:
            log(run, t, e, direction)
        elif is_closed(run, pair):
            observe_contacts(run, t, run.note_y + 8 * run.n * k)
            note_sizes(run, t)
            if e == pair_place(run, pair, LET_GO):
                record = touch(run, pair)
                record[LET_GO_TIME] = t if direction < 0 else math.nan
                record[LET_GO_SPEED] = -of_pair(run, run.at_closing, pair)
            note_force(run, pair, t)


def next_piece(run: Any) -> bool:
    """Begin the next piece of time, if there is one; entries of p set by contacts and flags stay."""
    if run.piece + 1 >= run.n_pieces:
        return False
    measure_before(run)
    run.piece += 1
    put(run.p, run.piece_head + 8 * run.n_head * run.piece, run.n_head)
    run.t_stop = floats(run.piece_end, run.n_pieces)[run.piece]
    settle_grips(run)
    return True


def choose_kernels(run: Any) -> None:
    """Choose the event kernel, so that events of closed contacts cost time only while a contact is closed."""
    run.events = run.events_closed if run.n_closed > 0 else run.events_open


# ---- flags


def set_flag(run: Any, e: int, pressed: bool) -> None:
    """Set the flag of event e to this side, and watch the event from there."""
    n = run.n_events
    side = ints(run.pressed, n)[e]
    floats(run.p, run.n_parameters)[ints(run.flag, n)[e]] = 1.0 if pressed else 0.0
    ints(run.required, n)[e] = side if pressed else -side


def _chatters(run: Any, e: int) -> bool:
    """Whether a flag changes endlessly without time advancing."""
    since, turns = floats(run.turned_t, run.n_events), ints(run.turns, run.n_events)
    if turns[e] == 0 or run.t - since[e] > CHATTER * SHORTEST_TURN:
        since[e], turns[e] = run.t, 0
    turns[e] += 1
    return bool(turns[e] > CHATTER)


# ---- contacts


def is_closed(run: Any, pair: int) -> bool:
    return bool(floats(run.p, run.n_parameters)[pair_place(run, pair, CLOSED)] != 0.0)


def is_impulsive(run: Any, pair: int) -> bool:
    return bool(pair_place(run, pair, KNOCK) >= 0)


def _act_on_contact(run: Any, e: int, pair: int) -> bool:
    """Handle an event of a contact; True if p changed."""
    if e == pair_place(run, pair, NEAR):
        ints(run.close_by, run.n_pairs)[pair] = 1 if ints(run.hit, run.n_events)[e] < 0 else 0
        set_precision(run)
        return False
    if e == pair_place(run, pair, RENEWAL):
        return bool(is_closed(run, pair) and _renew(run, pair))
    if e != pair_place(run, pair, GAP) and e != pair_place(run, pair, LET_GO):
        return bool(is_closed(run, pair) and grip_happened(run, pair, e))
    if is_impulsive(run, pair):
        run.striking = 1  # see `impacts`
        if is_closed(run, pair):
            open_pair(run, pair, 0.0)
        return True
    observe_contacts(run, run.t, run.y)
    floats(run.dead, run.n_events)[e] = round_off_of_gap(run, pair)
    speed = of_pair(run, run.at_closing, pair)
    if is_closed(run, pair):
        open_pair(run, pair, -speed)
    else:
        close(run, pair, speed, 0.0)
    return True


def set_precision(run: Any) -> None:
    """Set the precision of a method that is more precise near contact, when a gap crosses its threshold."""
    if run.near_rtol == 0.0:
        return
    run.n_close_by = 0
    for k in range(run.n_pairs):
        run.n_close_by += ints(run.close_by, run.n_pairs)[k]
    run.rtol = run.near_rtol if run.n_close_by + run.n_closed > 0 else run.far_rtol
    run.restart = 1


def round_off_of_gap(run: Any, pair: int) -> float:
    """The round-off of a gap, m, from the last observed row: a smaller gap is neither open nor closed."""
    observed, total = floats(run.observed, run.n_observed), pair_number(run, pair, REACH)
    for i in range(3 * pair, 3 * pair + 3):
        total += abs(observed[run.at_point + i] * observed[run.at_normal + i])
    return float(4.0 * EPSILON * total)


def close(run: Any, pair: int, speed: float, least: float) -> None:
    """Close a pair with this approach speed, m/s; least: of the entry speed, beside the floor of its law."""
    y, p, record = floats(run.y, run.n), floats(run.p, run.n_parameters), touch(run, pair)
    p[pair_place(run, pair, CLOSED)] = 1.0
    p[pair_place(run, pair, ENTRY)] = entry_of(speed, max(speed, least, pair_number(run, pair, ENTRY_FLOOR)))
    for i in range(pair_place(run, pair, N_BRISTLES)):
        y[pair_place(run, pair, BRISTLES) + i] = 0.0
    run.n_closed += 1
    run.new_phase = 1
    watch(run, pair, True)
    close_grip(run, pair)
    record[BEGIN], record[ENTRY_SPEED] = run.t, max(speed, 0.0)
    record[BEGIN_IMPULSE] = y[pair_place(run, pair, IMPULSE)]
    record[BEGIN_LOST], record[BEGIN_RUBBED] = y[pair_place(run, pair, LOST)], y[pair_place(run, pair, RUBBED)]
    record[PEAK_FORCE] = 0.0
    record[PEAK_TIME] = record[LET_GO_TIME] = record[LET_GO_SPEED] = math.nan
    observe_contacts(run, run.t, run.y)
    note_force(run, pair, run.t)


def _renew(run: Any, pair: int) -> bool:
    """A compression of a closed pair is over, or the pair is struck; or a new one begins with the closing speed that is largest.

    True if forces change. They go on at the end of a compression: nothing is computed anew, only another function is watched.
    """
    p, entry = floats(run.p, run.n_parameters), pair_place(run, pair, ENTRY)
    observe_contacts(run, run.t, run.y)
    closing = of_pair(run, run.at_closing, pair)
    if p[entry] >= 0.0:
        note_force(run, pair, run.t)  # it falls here if the pair is struck
    quiet = is_quiet(p[entry], closing)
    p[entry] = renewed_entry(p[entry], closing)
    if not quiet:
        return True
    floats(run.p_seen, run.n_parameters)[entry] = p[entry]
    flags(run.was_watched, run.n_events)[pair_place(run, pair, RENEWAL)] = 0
    return False


def note_force(run: Any, pair: int, t: float) -> None:
    """Update the largest force of this contact with the last observed one."""
    record, force = touch(run, pair), of_pair(run, run.at_force, pair)
    if force > record[PEAK_FORCE]:
        record[PEAK_FORCE], record[PEAK_TIME] = force, t


def open_pair(run: Any, pair: int, speed: float) -> None:
    """Open a pair with this separation speed, m/s, and finish its record. If its force vanished earlier, the contact ended then."""
    y, p, record = floats(run.y, run.n), floats(run.p, run.n_parameters), touch(run, pair)
    p[pair_place(run, pair, CLOSED)], p[pair_place(run, pair, ENTRY)] = 0.0, 1.0
    run.n_closed -= 1
    run.new_phase = 1
    watch(run, pair, False)
    open_grip(run, pair)
    done = floats(run.finished + 8 * FINISHED * run.n_touches, FINISHED)
    held = math.isnan(record[LET_GO_TIME])
    done[0], done[1], done[3] = members_of(run, pair), record[BEGIN], record[ENTRY_SPEED]
    done[2] = run.t if held else record[LET_GO_TIME]
    done[4] = speed if held else record[LET_GO_SPEED]
    done[5], done[6] = record[PEAK_FORCE], record[PEAK_TIME]
    done[7] = y[pair_place(run, pair, IMPULSE)] - record[BEGIN_IMPULSE]
    done[8] = record[BEGIN_LOST] - y[pair_place(run, pair, LOST)]
    done[9] = record[BEGIN_RUBBED] - y[pair_place(run, pair, RUBBED)]
    run.n_touches += 1


def watch(run: Any, pair: int, closed: bool) -> None:
    """Set the watched events of a pair: closing for an open pair; opening, force peak, release, renewal and friction corners for a
    closed one.

    An open pair that is found overlapping closes, whatever its gap was when it opened; likewise, a closed pair that is found apart
    opens.
    """
    n, gap = run.n_events, pair_place(run, pair, GAP)
    active = flags(run.active, n)
    active[gap], ints(run.direction, n)[gap] = 1, 1 if closed else -1
    ints(run.required, n)[gap] = -1 if closed else 1
    active[pair_place(run, pair, PEAK)] = closed
    if is_impulsive(run, pair):  # at rest the gap stays, and the force is watched
        active[gap], active[pair_place(run, pair, PEAK)] = not closed, 0
        ints(run.required, n)[pair_place(run, pair, LET_GO)] = 1
    if pair_place(run, pair, LET_GO) >= 0:
        active[pair_place(run, pair, LET_GO)] = closed
    if pair_place(run, pair, RENEWAL) >= 0:
        active[pair_place(run, pair, RENEWAL)] = closed
    for i in range(pair_place(run, pair, N_SWITCHES)):
        active[pair_place(run, pair, SWITCHES) + i] = closed
