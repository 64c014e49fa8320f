"""The pairs of a group that are near each other, listed anew before any other could meet: a Verlet list.  Compiled.

A list has every pair whose gap is below its width. While no member has gone further than half of that (planes stand still), no
other pair can meet; steps are limited so that none does, and a step in which one nevertheless did is taken back. Listed pairs are
events like any others: in a step two balls approach by at most their gap or half the sum of their radii, so none passes unseen.
"""

from __future__ import annotations

import math
from typing import Any

from pliant.codegen.loop_language import flags, floats, ints
from pliant.integrate.loop.events import measure
from pliant.integrate.loop.group_kernels import (
    ENTERED,
    ENTRIES,
    FIRST,
    NORMAL,
    PLACE,
    RADIUS,
    RATES,
    ROW,
    SECOND,
    SHUT,
    VELOCITY,
)
from pliant.integrate.loop.kernels import call_kernel, put, stage
from pliant.integrate.loop.pairs import pair_place
from pliant.integrate.memory.run_record import GAP, PAIR_NUMBERS, REACH

EPSILON = 2.0**-52
WIDER = 2.0  # times the last width: the first that is tried; where few are near, lists grow until bodies meet others soon
NARROWEST = 2.0**-20  # of it: if the pairs nearer than this have no room, they touch
COMFORTABLE = 1  # near pairs per ball, up to which a list is wider than usual
WORN = 0.5  # of what members may move: a list from which one has moved that far is made anew
SLOWEST = 1e-100  # m/s


def look_at_members(run: Any, t: float, y: int) -> None:
    """Put the rows of all members into memory."""
    call_kernel(run.members, t, y, run.p, run.member_rows, run.work)


def refresh_list(run: Any) -> None:
    """Make the list anew if members have moved far."""
    look_at_members(run, run.t, run.y)
    if _farthest(run) > WORN * run.may_move:
        list_near(run)
        measure(run, run.t, run.y, run.g)
        run.listing = 1


def list_near(run: Any) -> None:
    """List the near pairs at the present state, whose members have been looked at."""
    width, usual = WIDER * 2.0 * run.may_move, run.usual_width
    run.crowded = 0
    while _find(run, width) > (min(run.n_near, COMFORTABLE * run.n_balls) if width > usual else run.n_near):
        width *= 0.5
        if width < NARROWEST * usual:
            run.crowded = 1
            return
    run.may_move = 0.5 * width
    _drop(run, width)
    _take_in(run)
    _count_used(run)
    for i in range(run.n_balls):
        put(run.listed + 24 * i, run.member_rows + 8 * (ROW * i + PLACE), 3)


def _farthest(run: Any) -> float:
    """How far a ball has moved since the list was made, m."""
    most = 0.0
    for i in range(run.n_balls):
        most = max(most, _moved(run, i))
    return math.sqrt(most)


def _moved(run: Any, i: int) -> float:
    """The square of how far a ball has moved."""
    row, listed = floats(run.member_rows + 8 * ROW * i, ROW), floats(run.listed + 24 * i, 3)
    x, y, z = row[0] - listed[0], row[1] - listed[1], row[2] - listed[2]
    return float(x * x + y * y + z * z)


def gap_between(run: Any, a: int, b: int) -> float:
    """The gap of two members, m; the first is a ball."""
    one, other = floats(run.member_rows + 8 * ROW * a, ROW), floats(run.member_rows + 8 * ROW * b, ROW)
    x, y, z = one[0] - other[0], one[1] - other[1], one[2] - other[2]
    if b < run.n_balls:
        return float(math.sqrt(x * x + y * y + z * z) - one[RADIUS] - other[RADIUS])
    return float(x * other[NORMAL] + y * other[NORMAL + 1] + z * other[NORMAL + 2] - one[RADIUS])


# ---- which pairs are near


def _find(run: Any, width: float) -> int:
    """Find the pairs with a gap below `width`, by sort and sweep along the axis on which the balls spread most; their number.

    One more than there are places for: too many.
    """
    axis = _widest_axis(run)
    _sort(run, axis)
    order, carrier, n = ints(run.sweep, run.n_balls), ints(run.carriers, run.n_members), run.n_balls
    found = 0
    for i in range(n):
        a = order[i]
        upper = _lower_end(run, a, axis) + 2.0 * floats(run.member_rows + 8 * ROW * a, ROW)[RADIUS] + width
        for j in range(i + 1, n):
            b = order[j]
            if _lower_end(run, b, axis) > upper:
                break
            if carrier[a] != carrier[b] and gap_between(run, min(a, b), max(a, b)) < width:
                found = _note_pair(run, found, min(a, b), max(a, b))
        for b in range(n, run.n_members):
            if carrier[a] != carrier[b] and gap_between(run, a, b) < width:
                found = _note_pair(run, found, a, b)
        if found > run.n_near:
            break
    run.n_found = found
    return int(found)


def _note_pair(run: Any, found: int, a: int, b: int) -> int:
    if found < run.n_near:
        pair = ints(run.found_pairs + 16 * found, 2)
        pair[0], pair[1] = a, b
    return found + 1


def _widest_axis(run: Any) -> int:
    best, widest = 0, -1.0
    for axis in range(3):
        low, high = math.inf, -math.inf
        for i in range(run.n_balls):
            x = floats(run.member_rows + 8 * ROW * i, ROW)[axis]
            low, high = min(low, x), max(high, x)
        if high - low > widest:
            best, widest = axis, high - low
    return best


def _lower_end(run: Any, i: int, axis: int) -> float:
    row = floats(run.member_rows + 8 * ROW * i, ROW)
    return float(row[axis] - row[RADIUS])


def _sort(run: Any, axis: int) -> None:
    """Order the balls by their lower ends; by insertion, since they are nearly in order from the last time."""
    order = ints(run.sweep, run.n_balls)
    for i in range(1, run.n_balls):
        ball, k = order[i], i
        x = _lower_end(run, ball, axis)
        while k > 0 and _lower_end(run, order[k - 1], axis) > x:
            order[k] = order[k - 1]
            k -= 1
        order[k] = ball


# ---- their places among the pairs of the run


def _entries(run: Any, k: int) -> int:
    """The address in p of what belongs to a place."""
    return int(run.p + 8 * (run.first_place + ENTRIES * k))


def _drop(run: Any, width: float) -> None:
    """Free the places of open pairs that are no longer near, and chain the others by their first members."""
    first, chain = ints(run.first_of, run.n_balls), ints(run.chain, run.n_near)
    for i in range(run.n_balls):
        first[i] = -1
    for k in range(_used(run)):
        own = floats(_entries(run, k), ENTRIES)
        if own[FIRST] < 0.0:
            continue
        a, b = int(own[FIRST]), int(own[SECOND])
        if own[SHUT] == 0.0 and gap_between(run, a, b) >= width:
            own[FIRST] = own[SECOND] = -1.0
            rest(run, k)
            _mark_seen(run, k)
        else:
            chain[k], first[a] = first[a], k


def _take_in(run: Any) -> None:
    """Give every pair that was found a place, unless it has one. There are enough: a pair that is kept was found, too."""
    first, chain, k = ints(run.first_of, run.n_balls), ints(run.chain, run.n_near), 0
    for i in range(run.n_found):
        pair = ints(run.found_pairs + 16 * i, 2)
        at = first[pair[0]]
        while at >= 0 and int(floats(_entries(run, at), ENTRIES)[SECOND]) != pair[1]:
            at = chain[at]
        if at >= 0:
            continue
        while k < run.n_near and floats(_entries(run, k), ENTRIES)[FIRST] >= 0.0:
            k += 1
        if k == run.n_near:
            run.crowded = 1
            return
        _begin_place(run, k, pair[0], pair[1])


def _count_used(run: Any) -> None:
    """Note how many places may be taken, for the kernels."""
    count, last = floats(run.p + 8 * (run.first_place - 1), 1), run.n_near
    while last > 0 and floats(_entries(run, last - 1), ENTRIES)[FIRST] < 0.0:
        last -= 1
    count[0] = last
    put(run.p_seen + 8 * (run.first_place - 1), run.p + 8 * (run.first_place - 1), 1)


def _used(run: Any) -> int:
    return int(floats(run.p + 8 * (run.first_place - 1), 1)[0])


def _begin_place(run: Any, k: int, a: int, b: int) -> None:
    """A pair begins to be watched; it is open."""
    own, e = floats(_entries(run, k), ENTRIES), pair_place(run, run.n_pairs - run.n_near + k, GAP)
    own[FIRST], own[SECOND], own[SHUT], own[ENTERED] = a, b, 0.0, 1.0
    _mark_seen(run, k)
    one, other = floats(run.member_rows + 8 * ROW * a, ROW), floats(run.member_rows + 8 * ROW * b, ROW)
    reach = one[RADIUS] + other[RADIUS]
    floats(run.pair_numbers, PAIR_NUMBERS * run.n_pairs)[PAIR_NUMBERS * (run.n_pairs - run.n_near + k) + REACH] = reach
    for i in range(3):
        reach += abs(one[i]) + abs(other[i])
    floats(run.dead, run.n_events)[e] = 4.0 * EPSILON * reach
    flags(run.active, run.n_events)[e] = flags(run.was_watched, run.n_events)[e] = 1
    ints(run.direction, run.n_events)[e], ints(run.required, run.n_events)[e], ints(run.side, run.n_events)[e] = -1, 1, 1


def _mark_seen(run: Any, k: int) -> None:
    """What a place holds is no change of the equations: an open pair has no force."""
    put(run.p_seen + 8 * (run.first_place + ENTRIES * k), _entries(run, k), ENTRIES)


def rest(run: Any, k: int) -> None:
    """Leave a free place unwatched."""
    e = pair_place(run, run.n_pairs - run.n_near + k, GAP)
    flags(run.active, run.n_events)[e] = flags(run.was_watched, run.n_events)[e] = 0


def rest_free_places(run: Any) -> None:
    for k in range(run.n_near):
        if floats(_entries(run, k), ENTRIES)[FIRST] < 0.0:
            rest(run, k)


def members_of(run: Any, pair: int) -> int:
    """What a finished contact is called: a pair by its number, a pair of the group, behind all pairs, by its members."""
    k = pair - (run.n_pairs - run.n_near)
    if k < 0:
        return pair
    own = floats(_entries(run, k), ENTRIES)
    return int(run.n_pairs + run.n_members * int(own[FIRST]) + int(own[SECOND]))


# ---- steps


def longest_near_step(run: Any) -> float:
    """The longest step, s, in which no ball leaves its list, and no listed pair of balls can pass through each other unseen."""
    put(run.moving, run.y, run.n)
    put(run.moving + 8 * run.n, stage(run, 0), run.n)
    call_kernel(run.member_rates, run.t, run.moving, run.p, run.member_slopes, run.work)
    h = run.shorter
    for i in range(run.n_balls):
        v, a = floats(run.member_rows + 8 * (ROW * i + VELOCITY), 3), floats(run.member_slopes + 8 * RATES * i, 3)
        way = run.may_move - math.sqrt(_moved(run, i))
        h = min(h, _step_within(way, v[0] ** 2 + v[1] ** 2 + v[2] ** 2, a[0] ** 2 + a[1] ** 2 + a[2] ** 2))
    for k in range(_used(run)):
        own = floats(_entries(run, k), ENTRIES)
        if own[FIRST] >= 0.0 and own[SECOND] < run.n_balls:
            h = min(h, _step_of_balls(run, int(own[FIRST]), int(own[SECOND])))
    return float(h)


def _step_of_balls(run: Any, a: int, b: int) -> float:
    """As `dynamics.contact.longest_step` of two spheres."""
    one, other = floats(run.member_rows + 8 * ROW * a, ROW), floats(run.member_rows + 8 * ROW * b, ROW)
    faster, slower = floats(run.member_slopes + 8 * RATES * a, 3), floats(run.member_slopes + 8 * RATES * b, 3)
    v2 = a2 = 0.0
    for i in range(3):
        v2 += (one[VELOCITY + i] - other[VELOCITY + i]) ** 2
        a2 += (faster[i] - slower[i]) ** 2
    return _step_within(max(gap_between(run, a, b), 0.5 * (one[RADIUS] + other[RADIUS])), v2, a2)


def _step_within(way: float, v2: float, a2: float) -> float:
    """The time h, s, with v h + a h^2/2 = way."""
    return float(2.0 * way / max(math.sqrt(v2) + math.sqrt(v2 + 2.0 * way * math.sqrt(a2)), SLOWEST))


def strayed(run: Any, t_new: float) -> bool:
    """Whether a ball has left its list by the end of the step that was tried, so that it may have met another unseen."""
    look_at_members(run, t_new, run.y_new)
    return bool(_farthest(run) > run.may_move)
