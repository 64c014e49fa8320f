"""Impacts of impulsive contacts, and which of these contacts rest afterwards.  Compiled.

The rows of a contact are its normal and its tangents. Impulses L change the speeds of the rows from u to u + D L, with D of the
whole mechanism, its closures included. All contacts that touch are solved together, contact by contact until nothing changes (Jean
1999): 0 <= L_n, the speed apart at least that of the restitution, one of the two an equality; |L_t| <= mu L_n, against the slip
that is left.

Newton: the restitution is a ratio of speeds, in one phase. Poisson: after a compression, with speeds of zero, an expansion with at
least the impulse e L_n (Glocker and Pfeiffer 1995).
"""

from __future__ import annotations

import math
from typing import Any

from pliant.codegen.loop_language import floats, ints
from pliant.integrate.loop.grips import BLOCKED, begin_grip, close_grip, let_slide, settle_grips
from pliant.integrate.loop.kernels import call_kernel
from pliant.integrate.loop.pairs import observe_contacts, of_pair, pair_number, pair_place, touch
from pliant.integrate.loop.phases import (
    choose_kernels,
    close,
    follow_jumps,
    is_closed,
    is_impulsive,
    measure_before,
    note_force,
    open_pair,
    round_off_of_gap,
)
from pliant.integrate.memory.run_record import (
    ENTRY,
    ENTRY_FLOOR,
    GAP,
    IMPULSE,
    KNOCK,
    LET_GO,
    LOST,
    MU,
    N_KNOCKS,
    PEAK,
    PEAK_FORCE,
    PEAK_TIME,
    POISSON,
    RESTITUTION,
    RUBBED,
)
from pliant.integrate.status import CHATTERS

TOUCHING = 1e-9  # m: contacts that are nearer than this touch, as far as an impact elsewhere is concerned
STILL = 1e-11  # of the speeds of an impact: a contact that separates more slowly stays closed, if it is pressed
SLOWEST = 1e-13  # m/s: likewise, whatever the speeds
SWEEPS = 2_000  # over all contacts of an impact, in each of two ways to solve for one of them
SETTLED = 1e-14  # of the largest speed of approach: changes of speeds in a sweep that end the sweeps
# Likewise: if a sweep still changes more after all of them, there may be no such impulses. Contacts on one line that stick hold one
# another's speeds: their impulses are hardly determined, and converge slowly, but the speeds hardly depend on them.
UNSETTLED = 1e-4
CREATED = 1e-12  # of the energies exchanged in an impact: a gain that is round-off
HALVINGS = 40  # of the interval of restitutions that create no energy
TRIALS = 100  # of the drag of a slip
WIDER = 16.0  # in each trial, until the drag is between two of them
SMALLEST = 1e-300
FLAT = 1e-13  # of the squared trace of a tangential mobility: a smaller determinant is round-off
STOPS = 2  # of a struck contact: nothing is faster than its floor, so that it comes to rest, whether it approaches or not, and
# without friction, whose impulse would be as small
HELD = 3  # of a struck contact: it has taken hold


def strike_at_event(run: Any) -> int:
    """Find impulses and resting contacts at an event; returns ON, or what events that the jumps cause ask for."""
    measure_before(run)
    jammed = strike(run)
    settle_grips(run)
    choose_kernels(run)
    if jammed >= 0:
        run.chattering = pair_place(run, jammed, GAP)
        return CHATTERS
    return int(follow_jumps(run))


def strike(run: Any) -> int:
    """Let all impulsive contacts that touch exchange impulses, and let those rest that are pressed and do not separate.

    Returns a contact that can neither rest nor separate, -1 if there is none.
    """
    run.striking = 0
    call_kernel(run.impact, run.t, run.y, run.p, run.impact_out, run.work)
    observe_contacts(run, run.t, run.y)
    fastest = _gather(run)
    if fastest > 0.0:
        _find_impulses(run)
        _exchange(run)
        _judge_slips(run, STILL * fastest)
    return int(_rest(run, SLOWEST + STILL * fastest))


def _gather(run: Any) -> float:
    """Note which contacts take part; the largest speed at which one of them approaches, m/s."""
    struck, u, fastest = ints(run.struck, run.n_pairs), floats(run.impact_out, run.n_knocks), 0.0
    dead = floats(run.dead, run.n_events)
    for k in range(run.n_pairs):
        struck[k] = 0
        if is_impulsive(run, k):
            gap, e = of_pair(run, run.at_gap, k), pair_place(run, k, GAP)
            struck[k] = 1 if is_closed(run, k) or gap <= max(TOUCHING, dead[e]) else 0
            # an overlap that locating the event has left, or a fixed step, is no new contact until it grows
            dead[e] = round_off_of_gap(run, k) + max(-gap, 0.0)
            if struck[k]:
                fastest = max(fastest, -u[pair_place(run, k, KNOCK)])
    for k in range(run.n_pairs):
        slow = pair_number(run, k, ENTRY_FLOOR)
        if struck[k] and fastest <= slow and u[pair_place(run, k, KNOCK)] <= slow:
            struck[k] = STOPS  # or two contacts could pass ever smaller bounces to each other, as a block that rocks to rest does
    return fastest


# ---- impulses


def _find_impulses(run: Any) -> None:
    """The impulses of an impact that creates no energy: if it would, with the restitution lowered until it does not."""
    if _gain(run, 1.0) <= 0.0:
        return
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if _gain(run, middle) <= 0.0:
            low = middle
        else:
            high = middle
    _gain(run, low)
    if run.n_lowered == 0:
        run.lowered_t, run.lowered_to = run.t, low
    run.n_lowered += 1


def _gain(run: Any, share: float) -> float:
    """Find the impulses with this share of all restitutions; returns the energy gained, J, zero if it is round-off."""
    m, two_phases = run.n_knocks, False
    own, first = floats(run.impulses, m), floats(run.compression, m)
    for r in range(m):
        own[r] = first[r] = 0.0
    for k in range(run.n_pairs):
        two_phases = two_phases or (ints(run.struck, run.n_pairs)[k] != 0 and pair_number(run, k, POISSON) != 0.0)
    if two_phases:
        _sweep(run, 0.0, False)
        for r in range(m):
            first[r], own[r] = own[r], 0.0
    _sweep(run, share, two_phases)
    gained = size = 0.0
    for r in range(m):
        total, before = first[r] + own[r], floats(run.impact_out, m)[r]
        after = _speed(run, r)
        gained += 0.5 * total * (before + after)
        size += 0.5 * abs(total) * (abs(before) + abs(after))
    return gained if gained > CREATED * size else 0.0


def _speed(run: Any, r: int) -> float:
    """The speed of a row after the impulses so far."""
    m = run.n_knocks
    row, own, first = floats(run.impact_out + 8 * (m + r * m), m), floats(run.impulses, m), floats(run.compression, m)
    speed = floats(run.impact_out, m)[r]
    for j in range(m):
        speed += row[j] * (first[j] + own[j])
    return float(speed)


def _sweep(run: Any, share: float, expands: bool) -> None:
    """Solve contact after contact until no impulse changes; if contacts that stick and slip in turn forbid it, by small steps."""
    struck, own, change, fastest = ints(run.struck, run.n_pairs), floats(run.impulses, run.n_knocks), 0.0, 0.0
    for k in range(run.n_pairs):
        if struck[k]:
            fastest = max(fastest, -floats(run.impact_out, run.n_knocks)[pair_place(run, k, KNOCK)])
    for way in range(2):
        for r in range(run.n_knocks):
            own[r] = 0.0
        for _ in range(SWEEPS):
            change = 0.0
            for k in range(run.n_pairs):
                if struck[k]:
                    change = max(change, _solve_contact(run, k, share, expands, way > 0))
            if not change > SETTLED * fastest:
                return
        if not change > UNSETTLED * fastest:
            return
    run.n_unsolved += 1


def _solve_contact(run: Any, k: int, share: float, expands: bool, by_steps: bool) -> float:
    """Find the impulse of one contact for the present impulses of the others; returns its change, as a change of speed, m/s.

    by_steps: improve its present impulse instead, first along the normal and then along the tangents.
    """
    m, n, count = run.n_knocks, pair_place(run, k, KNOCK), pair_place(run, k, N_KNOCKS)
    d, own = floats(run.impact_out + 8 * m, m * m), floats(run.impulses, m)
    stops = ints(run.struck, run.n_pairs)[k] == STOPS
    mu = 0.0 if stops else pair_number(run, k, MU)
    x, y = n + 1, n + 2
    planar, spatial = count > 1 and mu > 0.0, count > 2 and mu > 0.0
    nn = d[n * m + n]
    if not nn > SMALLEST:
        return 0.0  # nothing that can move
    nx, xx = (d[n * m + x], d[x * m + x]) if planar else (0.0, nn)
    ny, xy, yy = (d[n * m + y], d[x * m + y], d[y * m + y]) if spatial else (0.0, 0.0, xx)
    old_n = own[n]
    old_x = own[x] if planar else 0.0
    old_y = own[y] if spatial else 0.0
    free_n = _speed(run, n) - nn * old_n - nx * old_x - ny * old_y
    free_x = _speed(run, x) - nx * old_n - xx * old_x - xy * old_y if planar else 0.0
    free_y = _speed(run, y) - ny * old_n - xy * old_x - yy * old_y if spatial else 0.0
    least, wanted = _restitution(run, k, share, expands, nn)
    if stops:
        new_n, new_x, new_y = -free_n / nn, 0.0, 0.0
    elif by_steps:
        new_n = max((wanted - free_n - nx * old_x - ny * old_y) / nn, least)
        step = 1.0 / max(xx + abs(xy), yy + abs(xy), SMALLEST)
        new_x = old_x - step * (free_x + nx * new_n + xx * old_x + xy * old_y)
        new_y = old_y - step * (free_y + ny * new_n + xy * old_x + yy * old_y)
        new_x, new_y = _within(new_x, new_y, mu * new_n)
    else:
        new_n, new_x, new_y = _solved(mu, nn, nx, ny, xx, xy, yy, free_n, free_x, free_y, least, wanted)
    own[n], change = new_n, nn * abs(new_n - old_n)
    if planar:
        own[x], change = new_x, max(change, xx * abs(new_x - old_x))
    if spatial:
        own[y], change = new_y, max(change, yy * abs(new_y - old_y))
    return float(change)


def _within(x: float, y: float, radius: float) -> tuple[float, float]:
    """The nearest point of a disk."""
    size = math.sqrt(x * x + y * y)
    return (x * radius / size, y * radius / size) if size > radius else (x, y)


def _solved(
    mu: float, nn: float, nx: float, ny: float, xx: float, xy: float, yy: float, free_n: float, free_x: float, free_y: float,
    least: float, wanted: float,
) -> tuple[float, float, float]:  # fmt: skip
    """The impulse of a contact that would have the free speeds without it: the least one, or one that separates it as wanted."""
    new_n, new_x, new_y = _rubbed(mu, nn, nx, ny, xx, xy, yy, free_n, free_x, free_y, least, wanted, True)
    if free_n + nn * new_n + nx * new_x + ny * new_y >= wanted:
        return new_n, new_x, new_y
    return _rubbed(mu, nn, nx, ny, xx, xy, yy, free_n, free_x, free_y, least, wanted, False)


def _rubbed(
    mu: float, nn: float, nx: float, ny: float, xx: float, xy: float, yy: float, free_n: float, free_x: float, free_y: float,
    least: float, wanted: float, given: bool,
) -> tuple[float, float, float]:  # fmt: skip
    """The impulse that sticks, or one that slips: friction is mu L_n against the slip, L_t = -s / drag.

    drag is found by false position, and halving where that is slow: |L_t| - mu L_n falls as it grows. given: L_n is the least one.
    """
    if given and not mu * least > 0.0:
        return least, 0.0, 0.0
    low, high, bracketed = 0.0, max(xx + yy, SMALLEST), False
    n, x, y = _dragged(low, nn, nx, ny, xx, xy, yy, free_n, free_x, free_y, least, wanted, given)
    above = math.sqrt(x * x + y * y) - mu * n
    if not above > 0.0:
        return n, x, y
    close, below, most, drag = SETTLED * high, above, 0.0, high
    for _ in range(TRIALS):
        n, x, y = _dragged(drag, nn, nx, ny, xx, xy, yy, free_n, free_x, free_y, least, wanted, given)
        most, width = max(mu * n, 0.0), high - low
        excess = math.sqrt(x * x + y * y) - most
        if excess > 0.0:
            low, above = drag, excess
        else:
            high, below, bracketed = drag, excess, True
        if not bracketed:
            high = drag = WIDER * high
        elif high - low <= close + SETTLED * high or abs(excess) <= SETTLED * most:
            break
        else:
            drag = high + (high - low) * below / (above - below)
            if high - low > 0.5 * width or not low < drag < high:
                drag = 0.5 * (low + high)
    size = max(math.sqrt(x * x + y * y), SMALLEST)
    return n, x * most / size, y * most / size


def _dragged(
    drag: float, nn: float, nx: float, ny: float, xx: float, xy: float, yy: float, free_n: float, free_x: float, free_y: float,
    least: float, wanted: float, given: bool,
) -> tuple[float, float, float]:  # fmt: skip
    """The impulse whose tangential part is the slip over -drag, 1/kg; with none, nothing slips."""
    ixx, ixy, iyy = _inverse(xx + drag, xy, yy + drag)
    bx, by = ixx * nx + ixy * ny, ixy * nx + iyy * ny
    gx, gy = ixx * free_x + ixy * free_y, ixy * free_x + iyy * free_y
    new_n = least
    if not given:
        new_n = max((wanted - free_n + nx * gx + ny * gy) / max(nn - nx * bx - ny * by, FLAT * nn), least)
    return new_n, -gx - bx * new_n, -gy - by * new_n


def _inverse(xx: float, xy: float, yy: float) -> tuple[float, float, float]:
    """The inverse of a symmetric matrix; of one of rank one, of what it can move, as within the plane of a mechanism."""
    det, trace = xx * yy - xy * xy, max(xx + yy, SMALLEST)
    if det > FLAT * trace * trace:
        return yy / det, -xy / det, xx / det
    return xx / trace / trace, xy / trace / trace, yy / trace / trace


def _restitution(run: Any, k: int, share: float, expands: bool, own: float) -> tuple[float, float]:
    """The least normal impulse of a contact, and the least speed of its separation, in this phase."""
    n, restitution = pair_place(run, k, KNOCK), share * pair_number(run, k, RESTITUTION)
    if pair_number(run, k, POISSON) != 0.0:
        stored = floats(run.compression, run.n_knocks)[n] if expands else 0.0
        return (restitution * stored if own * stored > pair_number(run, k, ENTRY_FLOOR) else 0.0), 0.0
    approach = -floats(run.impact_out, run.n_knocks)[n]
    return 0.0, (restitution * approach if approach > pair_number(run, k, ENTRY_FLOOR) else 0.0)


def _exchange(run: Any) -> None:
    """Let the impulses act: speeds jump, works and impulses are added, and contacts that were open begin their record."""
    m, y, first = run.n_knocks, floats(run.y, run.n), floats(run.compression, run.n_knocks)
    u, total = floats(run.impact_out, m), floats(run.impulses, m)
    for r in range(m):
        total[r] += first[r]
        first[r] = 0.0
    _add(run.y + 8 * run.first_rate, run.impact_out + 8 * (m + m * m), run.impulses, run.n_moving, m)
    for k in range(run.n_pairs):
        n = pair_place(run, k, KNOCK)
        if ints(run.struck, run.n_pairs)[k] and not is_closed(run, k) and (total[n] > 0.0 or u[n] < 0.0):
            close(run, k, -u[n], 0.0)
            touch(run, k)[PEAK_FORCE], touch(run, k)[PEAK_TIME] = 0.0, math.nan  # no finite force
    _add(run.y + 8 * run.first_added, run.impact_out + 8 * m * (1 + m + run.n_moving), run.impulses, run.n_added, m)
    gained = lost = 0.0
    for k in range(run.n_pairs):
        pressed, rubbed = _works(run, k)
        gained, lost = gained + max(pressed, 0.0) + max(rubbed, 0.0), lost + min(pressed, 0.0) + min(rubbed, 0.0)
    # what some give, as contacts of one impact may, is taken from the losses of the others, so that none of them adds energy
    share = max(1.0 + gained / lost, 0.0) if lost < 0.0 else 0.0
    for k in range(run.n_pairs):
        if ints(run.struck, run.n_pairs)[k]:
            pressed, rubbed = _works(run, k)
            y[pair_place(run, k, IMPULSE)] += total[pair_place(run, k, KNOCK)]
            y[pair_place(run, k, LOST)] += share * min(pressed, 0.0)
            y[pair_place(run, k, RUBBED)] += share * min(rubbed, 0.0)


def _works(run: Any, k: int) -> tuple[float, float]:
    """The works of a contact's normal and tangential impulses, J, by the means of the speeds before and after."""
    pressed = rubbed = 0.0
    if ints(run.struck, run.n_pairs)[k]:
        n, m = pair_place(run, k, KNOCK), run.n_knocks
        u, total = floats(run.impact_out, m), floats(run.impulses, m)
        pressed = 0.5 * total[n] * (u[n] + _speed(run, n))
        for r in range(n + 1, n + pair_place(run, k, N_KNOCKS)):
            rubbed += 0.5 * total[r] * (u[r] + _speed(run, r))
    return pressed, rubbed


def _add(target: int, matrix: int, impulses: int, rows: int, m: int) -> None:
    """target += matrix impulses."""
    to, by = floats(target, rows), floats(impulses, m)
    for i in range(rows):
        row = floats(matrix + 8 * i * m, m)
        for r in range(m):
            to[i] += row[r] * by[r]


def _judge_slips(run: Any, still: float) -> None:
    """Slips have jumped: judge anew which contacts and joints stick. Friction inside joints has no part in the impulses."""
    for k in range(run.n_pairs):
        if is_closed(run, k):
            close_grip(run, k)
    for j in range(run.n_joints):
        let_slide(run, run.n_pairs + j)
    call_kernel(run.events_closed, run.t, run.y, run.p, run.g_try, run.work)
    for j in range(run.n_joints):
        begin_grip(run, run.n_pairs + j, still)


# ---- rest


def _rest(run: Any, still: float) -> int:
    """Open the contacts that separate; of the others, those rest that are pressed: which they are depends on one another.

    Each may let go and take hold again once. Returns one that friction neither lets rest nor separate (Painleve 1895), or -1.
    """
    p, resting, jammed = floats(run.p, run.n_parameters), 0, -1
    for k in range(run.n_pairs):
        if ints(run.struck, run.n_pairs)[k]:
            apart = _speed(run, pair_place(run, k, KNOCK))
            if apart > still:
                ints(run.struck, run.n_pairs)[k] = 0
                if is_closed(run, k):
                    open_pair(run, k, apart)
            else:
                resting += 1
                if is_closed(run, k):
                    p[pair_place(run, k, ENTRY)] = of_pair(run, run.at_gap, k)
    for _ in range(4 * resting):
        settle_grips(run)
        call_kernel(run.events_closed, run.t, run.y, run.p, run.g_try, run.work)
        jammed = -1
        if not _let_go(run):
            k = _pressed(run)
            if k < 0:
                break
            if ints(run.struck, run.n_pairs)[k] == HELD:
                jammed = k
                break
            _take_hold(run, k)
    observe_contacts(run, run.t, run.y)
    for k in range(run.n_pairs):
        if is_impulsive(run, k) and is_closed(run, k):
            note_force(run, k, run.t)
    return jammed


def _let_go(run: Any) -> bool:
    """Open the resting contact that pulls most, if one does."""
    m, g, worst, most = run.n_knocks, floats(run.g_try, run.n_events), -1, BLOCKED
    for k in range(run.n_pairs):
        if ints(run.struck, run.n_pairs)[k] and is_closed(run, k):
            n, e = pair_place(run, k, KNOCK), pair_place(run, k, LET_GO)
            own = max(floats(run.impact_out + 8 * m, m * m)[n * m + n], SMALLEST)
            floats(run.dead, run.n_events)[e] = BLOCKED / own
            if -g[e] * own > most:
                worst, most = k, -g[e] * own
    if worst >= 0:
        open_pair(run, worst, 0.0)
    return worst >= 0


def _pressed(run: Any) -> int:
    """The open contact, touching and not separating, whose bodies would accelerate into each other most; -1 if none would."""
    g, worst, most = floats(run.g_try, run.n_events), -1, BLOCKED
    for k in range(run.n_pairs):
        if ints(run.struck, run.n_pairs)[k] and not is_closed(run, k) and -g[pair_place(run, k, PEAK)] > most:
            worst, most = k, -g[pair_place(run, k, PEAK)]
    return worst


def _take_hold(run: Any, k: int) -> None:
    """Close a contact that begins to rest."""
    gap = of_pair(run, run.at_gap, k)
    close(run, k, 0.0, 0.0)
    floats(run.p, run.n_parameters)[pair_place(run, k, ENTRY)] = gap
    touch(run, k)[PEAK_FORCE], touch(run, k)[PEAK_TIME] = 0.0, math.nan
    ints(run.struck, run.n_pairs)[k] = HELD
