"""Events of one member of a lock-step ensemble, and what its contacts keep: plain functions, see `judge`."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

from pliant.codegen.plain import at_once
from pliant.integrate.loop.judging import bracket, entry_of, flickers, is_quiet, leaves, renewed_entry, side_of, thrown_speed

# The roles of event functions (`table.does`).
NEVER, GAP, PEAK, CUT, FLAG, STOP, RENEWAL = range(7)
TALLIED = 6
NEAR_CUT = 1e-2  # of the step: how closely corners are located, since the equations stay the same there
OVER = 2e-3  # of the distance to a corner: how far beyond it a step ends that is to locate it
SHORT = 0.9  # of the distance to the end of a contact: a first step goes so far, since the force is not smooth at its end
BEYOND_EVENT = 0.25  # of what is near enough: how far beyond another event a step is to end
UNSURE = 0.5  # of the change of slope times the step: how far a function may be from its cubic, times s^2 (1 - s)^2
CALM, PASSED = 1.0, 2.0  # after a step (`calm`): no event happened; only corners were passed, and are at its end
MOST_TRIES = 30  # attempts to locate one event
# Steps need not resolve functions that only turn switches. As fractions of a function's size: what it may change by beyond what its
# rates at both ends explain, and how far these rates may lead. Otherwise the step is halved, at most so often.
UNEXPLAINED, FAR, HALVED = 0.1, 2.2, 8.0
IN_ALL = 256.0  # by what it is shorter then
DIP = 0.15 + UNSURE / 16.0  # of the change of slope times the step: more than 4/27, and how far a function may be from its cubic


# Supplied by a structure (`LockstepLayout`): tables, and the number of pairs.
table: Any = None
N_P = 0


# ---- how functions go on: also of the numbers of a whole vector of members


def is_calm(side: float, g: float, gd: float, g_new: float, gd_new: float, h: float, sure: float) -> bool:
    """Whether an event function stays well on its side: at the end, and where its cubic turns inside the step.

    A cubic with slopes m < 0 and m_new > 0 at its ends lies at most 4/27 (m_new - m) below the lower end.
    """
    m, m_new = h * gd * side, h * gd_new * side
    is_high = min(g * side, g_new * side) - DIP * (m_new - m) > sure
    return g_new * side > sure and (is_high or not (m < 0.0 and m_new > 0.0))


def is_passed(side: float, g_new: float, gd_new: float, h: float, sure: float) -> bool:
    """Whether a corner was passed, so near to the end of the step that this need not be repeated."""
    beyond, fall = -g_new * side, -gd_new * side
    return sure < beyond <= NEAR_CUT * h * fall


def is_coarse(g: float, gd: float, g_new: float, gd_new: float, h: float, sure: float) -> bool:
    """Whether a function that turns a switch may change sides unseen within this step: its rates do not explain its change."""
    m, m_new, size = h * gd, h * gd_new, max(abs(g), abs(g_new))
    odd = abs(g_new - g - 0.5 * (m + m_new)) > UNEXPLAINED * size + sure
    return odd or max(abs(m), abs(m_new)) > FAR * size + sure


OF_NUMBERS, WIDE = (is_calm, is_passed, is_coarse), "wide_"  # and the prefix of their names for vectors


# ---- where events are


def watched(lane: Any, e: int) -> bool:
    """Whether event e is watched at present."""
    does, pair = table.does[e], table.pair[e]
    closed = pair < 0 or does == GAP or lane.p[table.closed[max(pair, 0)]] != 0.0
    return bool(does != NEVER and closed)


def dead_of(lane: Any, e: int) -> float:
    """Half-width of the zone around zero without a change of side: round-off for a gap; more at a corner, where slip may settle."""
    does = table.does[e]
    return float(lane.dead if does == GAP else (lane.sure if does == CUT else 0.0))


def required(lane: Any, e: int) -> float:
    """The sign of the event function for which the present equations hold; 0: either."""
    does = table.does[e]
    if does == GAP:
        return -1.0 if lane.p[table.closed[table.pair[e]]] != 0.0 else 1.0
    if does == FLAG:
        return float(table.pressed[e]) if lane.p[table.flag[e]] != 0.0 else -float(table.pressed[e])
    if does == RENEWAL:
        return 1.0
    return 0.0


def side_at_start(lane: Any, e: int) -> float:
    """The sign of an event function with which the present equations begin."""
    need = required(lane, e)
    return float(need if need != 0.0 else side_of(lane.g[e], 0, dead_of(lane, e)))


def first_event(lane: Any, shared: Any) -> float:
    """The shorter step, s, to take if an event lies inside this one; 0 if the step stands (events may be at its end).

    First all are found, then all are located: members that run side by side do the latter at the same time.
    """
    hits, found, coarse = 0, 0, False
    for k in range(int(lane.n_watched)):
        e = int(lane.watching[k])
        lane.hit[e] = 0.0
        coarse = coarse or unresolved(lane, e)
        side = lane.side[e]
        if side != 0.0:
            inside = False
            if leaves(lane.g_new[e], int(side), table.direction[e], dead_of(lane, e)):
                if table.does[e] != PEAK or matters(lane, e):
                    lane.hit[e] = -side
                    hits += 1
                    inside = not goes_on(lane, e)
            elif table.direction[e] != int(side) and table.has_rate[e] != 0:
                inside = turning_point(lane, e, side) > 0.0
            if inside:
                lane.sought[found] = float(e)
                found += 1
    lane.hits = float(hits)
    half, cut = (lane.t + 0.5 * lane.step) - lane.t, shorter_step(lane, shared, found)
    if coarse and lane.tries < HALVED and (cut == 0.0 or cut > half):
        lane.h = min(lane.h, lane.step)  # the next one is to be resolved as well
        return float(half)
    if coarse and cut == 0.0:
        lane.h = max(lane.h, IN_ALL * lane.step)  # it jumps, and no step resolves it
    return float(cut)


def matters(lane: Any, e: int) -> bool:
    """Whether a peak of a force may be the largest of its pair, and is more than round-off."""
    pair, rate, rate_new = table.pair[e], abs(lane.g[e]), abs(lane.g_new[e])
    most = lane.force[pair] + (rate + rate_new) * lane.step
    at_rest = flickers(max(rate, rate_new), lane.step, lane.peak[pair])
    return bool(most > max(lane.peak[pair], lane.tally[TALLIED * pair + 2]) and not at_rest)


def unresolved(lane: Any, e: int) -> bool:
    """Whether a function that turns a switch may change sides unseen within this step."""
    turns = table.does[e] == FLAG or table.does[e] == STOP
    return bool(turns and is_coarse(lane.g[e], lane.gd[e], lane.g_new[e], lane.gd_new[e], lane.step, lane.sure))


def shorter_step(lane: Any, shared: Any, found: int) -> float:
    """The step to the first of the events that lie inside this one, or 0."""
    earliest, nearness = inf, 0.0
    for k in range(found):
        e = int(lane.sought[k])
        does, side, until = table.does[e], lane.side[e], 1.0
        if lane.hit[e] == 0.0:
            until = turning_point(lane, e, side)
        x = inf
        if does != PEAK:
            x = crossing(lane, e, side, until)  # the bottom itself, if the cubic does not cross zero before
        elif lane.tries < shared.peak_tries:
            x = peak_inside(lane, e)
        if x < earliest:
            earliest, nearness = x, bracket(lane.t_new)
            if does == PEAK:
                nearness = max(nearness, shared.near_peak * lane.step)
            elif does == CUT:
                nearness = max(nearness, NEAR_CUT * lane.step)
            elif lane.hit[e] != 0.0:  # a function that comes back before the end must not return undetected
                nearness = near_enough(lane, shared)
    if earliest == inf:
        return 0.0
    x = earliest + 0.5 * nearness
    if x >= lane.step - 0.5 * nearness or lane.tries >= MOST_TRIES:
        return 0.0
    return float((lane.t + x) - lane.t)


def near_enough(lane: Any, shared: Any) -> float:
    """How far, s, an event that changes the equations may be from the end of a step, which is then moved to it."""
    return float(max(bracket(lane.t_new), shared.near * max(lane.h, lane.step)))


def peak_inside(lane: Any, e: int) -> float:
    """The step, s, to the peak of a force: of the cubic through its values and rates at both ends of this step."""
    pair, m, m_new = table.pair[e], lane.step * lane.g[e], lane.step * lane.g_new[e]
    rise = lane.force[pair] - lane.held[pair]
    c, d = 3.0 * rise - 2.0 * m - m_new, m + m_new - 2.0 * rise
    s = m / (sqrt(max(c * c - 3.0 * d * m, 0.0)) - c)
    if not (0.0 < s < 1.0):
        s = m / (m - m_new)
    return float(s * lane.step)


def event_ahead(lane: Any, shared: Any, h: float) -> float:
    """The length, s, of a step to the first event within h, by parabolas from the present; inf if there is none.

    What is watched always comes first, then contacts, as on a GPU: for the same bits.
    """
    near, over, margin = h, 0.0, 0.0
    for k in range(int(lane.n_watched)):
        e = int(lane.watching[k])
        side = lane.side[e]
        if table.has_rate[e] != 0 and table.direction[e] != int(side):
            does = table.does[e]
            x = zero_ahead(side, lane.g[e], lane.gd[e], lane.gdd[e], shared.corners[e], near)
            if x < near:
                near, over = x, overshoot(does, side, lane.aimed)
                margin = 0.0 if does == CUT else BEYOND_EVENT * shared.near * lane.h
    return just_beyond(near, over, margin, lane.t) if near < h else inf


def zero_ahead(side: float, g: float, gd: float, gdd: float, speed: float, within: float) -> float:
    """The time, s, in which an event function falls to zero by its parabola, if that is less than `within`; else inf.

    Slip that approaches zero goes on beyond: its speed is that of the corner again once it is as large the other way round.
    """
    g, fall, bend = g * side, -gd * side, gdd * side
    through_rest = speed > 0.0 and side < 0.0 and fall < 0.0
    g, fall, bend = (2.0 * speed - g, -fall, 0.0) if through_rest else (g, fall, bend)
    bottom = fall * fall - 2.0 * g * bend  # above zero: the parabola falls below zero
    below = g < within * (fall - 0.5 * bend * within)
    dips = 0.0 < fall < bend * within and bottom > 0.0
    if g > 0.0 and (below or dips):
        return 2.0 * g / (fall + sqrt(max(bottom, 0.0)))
    return inf


def overshoot(does: int, side: float, aimed: float) -> float:
    """How far beyond an event a step ends that is to locate it, as a fraction of its distance."""
    if does == CUT:
        return OVER
    return SHORT - 1.0 if does == GAP and side < 0.0 and aimed == 0.0 else 0.0


def just_beyond(x: float, over: float, margin: float, t: float) -> float:
    """The length of a step to an event at distance x, s: far enough for it to have happened, so near that it is located."""
    return x + over * x + (margin + 0.5 * bracket(t))


def turning_point(lane: Any, e: int, side: float) -> float:
    """Where an event function dips beyond zero between ends on the same side, or may do so, as a fraction of the step; 0: nowhere.

    Its cubic is off by a fourth derivative times s^2 (1 - s)^2: if it comes nearer to zero than that, the step is to end there.
    """
    g, g_new = lane.g[e] * side, lane.g_new[e] * side
    m, m_new = lane.step * lane.gd[e] * side, lane.step * lane.gd_new[e] * side
    if m >= 0.0 or m_new <= 0.0:
        return 0.0
    rise = g_new - g
    c, d = 3.0 * rise - 2.0 * m - m_new, m + m_new - 2.0 * rise
    root = c * c - 3.0 * d * m
    if root < 0.0:
        return 0.0
    # the root of 3 d s^2 + 2 c s + m at which the cubic is lowest
    below = c + sqrt(root)
    s = -m / below
    if not (0.0 < s < 1.0):
        return 0.0
    lowest = g + s * (m + s * (c + s * d))
    doubt = UNSURE * (s * (1.0 - s)) * (s * (1.0 - s)) * (m_new - m)
    return s if lowest < doubt - dead_of(lane, e) else 0.0


def crossing(lane: Any, e: int, side: float, high: float) -> float:
    """The step, s, to the zero of an event function (of its cubic, or of a straight line) before the fraction `high` of this step.

    If a zone around zero is no change of side, the step goes to the zone's far end: a shorter step would end inside the zone and be
    followed by another, and steps so short that coordinates do not change by one bit would never leave it.
    """
    beyond = 2.0 * dead_of(lane, e)
    g, g_new = lane.g[e] * side + beyond, lane.g_new[e] * side + beyond
    if g <= 0.0:
        return 0.0
    if g_new > 0.0 and high == 1.0:
        return float(lane.step)
    low, s = 0.0, g / (g - g_new)
    if table.has_rate[e] == 0:
        return float(s * lane.step)
    m, m_new, rise = lane.step * lane.gd[e] * side, lane.step * lane.gd_new[e] * side, g_new - g
    c, d = 3.0 * rise - 2.0 * m - m_new, m + m_new - 2.0 * rise
    if not (0.0 < s < high):
        s = 0.5 * high
    for _ in range(60):
        value = g + s * (m + s * (c + s * d))
        slope = m + s * (2.0 * c + 3.0 * s * d)
        if value > 0.0:
            low = s
        else:
            high = s
        further = s - value / slope
        if not (low < further < high):
            further = 0.5 * (low + high)
        moved = abs(further - s)
        s = further
        if moved <= 1e-15:
            break
    return float(s * lane.step)


# ---- what contacts keep


def note_peaks(lane: Any) -> None:
    """Updates the largest force of each contact with those that it had within the step."""
    for k in range(int(lane.n_watched)):
        e = int(lane.watching[k])
        if table.does[e] == PEAK and lane.hit[e] != 0.0:
            # integrates the force's rate, taken as a straight line, from the step's end back to its zero
            pair, back = table.pair[e], crossing(lane, e, lane.side[e], 1.0) - lane.step
            lane.peak[pair] = max(lane.peak[pair], lane.force[pair] + 0.5 * lane.g_new[e] * back)


def note_forces(lane: Any) -> None:
    """Makes the forces at the end of a step those at present, and updates the largest one of each contact."""
    if lane.n_closed == 0.0:
        return
    for pair in at_once(N_P):
        closed, force = lane.p[table.closed[pair]] != 0.0, lane.force[pair]
        lane.held[pair] = force if closed else lane.held[pair]
        lane.peak[pair] = max(lane.peak[pair], force) if closed else lane.peak[pair]


def close_pair(lane: Any, shared: Any, pair: int, speed: float) -> None:
    """Closes a pair that touches with this approach speed, m/s."""
    floor = shared.floors[int(lane.member) * shared.floors_step + pair]
    impulse, lost, rubbed = lane.y[table.impulse[pair]], lane.y[table.lost[pair]], lane.y[table.rubbed[pair]]
    lane.begin_impulse[pair], lane.begin_lost[pair], lane.begin_rubbed[pair] = impulse, lost, rubbed
    lane.p[table.closed[pair]], lane.p[table.entry[pair]] = 1.0, entry_of(speed, max(speed, floor))
    for i in range(table.n_bristles[pair]):
        lane.y[table.bristles[pair] + i] = 0.0
    lane.peak[pair] = 0.0
    fastest = TALLIED * pair + 5
    lane.tally[fastest] = max(lane.tally[fastest], speed)
    lane.n_closed += 1.0


def entry_speed(lane: Any, shared: Any, pair: int) -> float:
    """The entry speed of a pair, m/s; if the pair has just touched, what it is exactly there."""
    closed, unmoved = lane.p[table.closed[pair]] != 0.0, lane.y[table.impulse[pair]] == lane.begin_impulse[pair]
    touched = lane.t > shared.t_start and closed and unmoved and lane.p[table.entry[pair]] > 0.0
    speed = max(-lane.gd[table.gap[pair]], shared.floors[int(lane.member) * shared.floors_step + pair])
    return float(speed if touched else lane.p[table.entry[pair]])


def thrown(lane: Any, shared: Any, pair: int) -> float:
    """The entry speed of a pair that starts pressed, m/s, once the acceleration without damping is known: see `begin`."""
    thrown_out = thrown_speed(-lane.g[max(table.renewal[pair], 0)], -lane.g[table.gap[pair]])
    floor = shared.floors[int(lane.member) * shared.floors_step + pair]
    speed = -lane.gd[table.gap[pair]]
    return float(entry_of(speed, max(speed, thrown_out, floor)))


def goes_on(lane: Any, e: int) -> bool:
    """Whether a compression is over at the end of the step: all forces go on, so that neither time nor place matters."""
    if table.does[e] != RENEWAL:
        return False
    pair = table.pair[e]
    return is_quiet(lane.p[table.entry[pair]], -lane.gd_new[table.gap[pair]])


def renew(lane: Any, e: int) -> bool:
    """Ends a compression, or begins a new one with the largest closing speed, as `phases` does; True if forces change."""
    pair = table.pair[e]
    entry, closing = lane.p[table.entry[pair]], -lane.gd[table.gap[pair]]
    quiet = is_quiet(entry, closing)
    lane.p[table.entry[pair]] = renewed_entry(entry, closing)
    if quiet:  # it is watched on, by another function
        lane.side[e], lane.g[e], lane.gd[e], lane.gdd[e] = 1.0, entry - closing, 0.0, 0.0
    return not quiet


def open_pair(lane: Any, pair: int) -> None:
    """Opens a pair that separates, and counts its touch."""
    count_touch(lane, pair)
    lane.p[table.closed[pair]], lane.p[table.entry[pair]] = 0.0, 1.0
    lane.n_closed -= 1.0


def count_touch(lane: Any, pair: int) -> None:
    """Adds what happened during a touch to what is kept about the pair."""
    first, impulse, lost, rubbed = TALLIED * pair, table.impulse[pair], table.lost[pair], table.rubbed[pair]
    count, pushed, most = lane.tally[first] + 1.0, lane.y[impulse] - lane.begin_impulse[pair], lane.peak[pair]
    heat, rubbing = lane.begin_lost[pair] - lane.y[lost], lane.begin_rubbed[pair] - lane.y[rubbed]
    pushed, most = lane.tally[first + 1] + pushed, max(lane.tally[first + 2], most)
    heat, rubbing = lane.tally[first + 3] + heat, lane.tally[first + 4] + rubbing
    lane.tally[first], lane.tally[first + 1], lane.tally[first + 2] = count, pushed, most
    lane.tally[first + 3], lane.tally[first + 4] = heat, rubbing
