"""The start of a run: sides of events, flags, and closed contacts.  Compiled.

A value within round-off of zero has no sign: it is judged by its next derivative, or it takes a side when it leaves zero.
"""

from __future__ import annotations

from typing import Any

from pliant.codegen.loop_language import floats, ints
from pliant.integrate.loop.grips import begin_grip, watch_grip
from pliant.integrate.loop.impacts import strike
from pliant.integrate.loop.judging import thrown_speed
from pliant.integrate.loop.kernels import call_kernel, stage
from pliant.integrate.loop.near_pairs import list_near, look_at_members, rest_free_places
from pliant.integrate.loop.pairs import observe_contacts, of_pair, pair_place
from pliant.integrate.loop.phases import choose_kernels, close, is_impulsive, round_off_of_gap, set_flag, set_precision, watch
from pliant.integrate.memory.run_record import CLOSED, ENTRY, GAP, GOES_ON, RENEWAL, SETTLING, UNDAMPED

EPSILON = 2.0**-52
DOUBT = 8.0 * EPSILON  # relative error of a state that a user typed, or computed in a few operations
MARGIN = 4.0  # combined error of several components, relative to the error of each sign pattern below
MOMENT = 1e-7  # s: interval over which the acceleration of a gap is measured


def begin(run: Any) -> None:
    """Initialise events, flags and contacts at the present state; p has all contacts open and all flags cleared."""
    _settle(run)
    if run.n_near > 0:
        look_at_members(run, run.t, run.y)
        list_near(run)
    if run.n_events > 0:
        _begin_events(run)
        _settle(run)  # sensors may measure the forces of contacts that are closed by now


def _settle(run: Any) -> None:
    """Put filters of sensors into equilibrium with what the sensors measure; it may follow from other filters, through drives."""
    if run.settle == 0:
        return
    which, found = ints(run.settles, run.n_own), floats(run.own_new, run.n_own)
    own = floats(run.y + 8 * run.first_own, run.n_own)
    for k in range(1 + SETTLING):
        if k > 0:
            call_kernel(run.settle, run.t, run.y, run.p, run.own_new, run.work)
        for i in range(run.n_own):
            if which[i] != 0:
                own[i] = found[i] if k > 0 else 0.0


def _begin_events(run: Any) -> None:
    if run.events_open != 0:
        round_off(run, run.events_open, run.n_events, run.noise, run.g_low, run.g_high)
    _set_flags(run)
    if run.n_pairs > 0:
        _begin_contacts(run)
    if run.n_near > 0:
        rest_free_places(run)
    if run.n_joints > 0:
        _begin_joints(run)
    choose_kernels(run)


def round_off(run: Any, kernel: int, n: int, doubt: int, here: int, there: int) -> None:
    """How much each output of a kernel changes if t and y change in their last digits. here: the outputs themselves."""
    call_kernel(kernel, run.t, run.y, run.p, here, run.work)
    doubts, values, others = floats(doubt, n), floats(here, n), floats(there, n)
    y, moved = floats(run.y, run.n), floats(run.y_try, run.n)
    for k in range(n):
        doubts[k] = 0.0
    for pattern in range(4):  # all up, all down, and alternating both ways
        first = 1.0 if pattern == 0 or pattern == 3 else -1.0
        for i in range(run.n):
            sign = -first if pattern >= 2 and i % 2 else first
            moved[i] = y[i] * (1.0 + DOUBT * sign)
        call_kernel(kernel, run.t * (1.0 + DOUBT * first), run.y_try, run.p, there, run.work)
        for k in range(n):
            change = abs(others[k] - values[k])
            if change > doubts[k]:  # false for nan
                doubts[k] = change
    for k in range(n):
        doubts[k] *= MARGIN


def _set_flags(run: Any) -> None:
    """Set the flags by the signs of the event functions; a flag is not set at zero itself."""
    n = run.n_events
    flag, pressed, noise, dead = ints(run.flag, n), ints(run.pressed, n), floats(run.noise, n), floats(run.dead, n)
    p, g = floats(run.p, run.n_parameters), floats(run.g_try, n)
    for _ in range(n):  # a comparison in a formula may depend on an earlier one
        changed = False
        call_kernel(run.events_open, run.t, run.y, run.p, run.g_try, run.work)
        for e in range(n):
            if flag[e] >= 0:
                dead[e] = noise[e]
                before = p[flag[e]]
                set_flag(run, e, g[e] * pressed[e] > dead[e])
                changed = changed or p[flag[e]] != before
        if not changed:
            break


def _begin_contacts(run: Any) -> None:
    """Close pairs that overlap, or touch without separating, and pairs that were closed in the run being continued."""
    _measure_doubts(run)
    starts, close_by, p = ints(run.pair_start, run.n_pairs), ints(run.close_by, run.n_pairs), floats(run.p, run.n_parameters)
    for k in range(run.n_pairs):
        if starts[k] == GOES_ON:
            p[pair_place(run, k, CLOSED)] = 1.0
            run.n_closed += 1
            watch(run, k, True)
            watch_grip(run, k)
    observe_contacts(run, run.t, run.y)
    for k in range(run.n_pairs):
        floats(run.dead, run.n_events)[pair_place(run, k, GAP)] = round_off_of_gap(run, k)
        close_by[k] = 1 if of_pair(run, run.at_gap, k) < run.near else 0
        if starts[k] != GOES_ON:
            watch(run, k, False)
            if _touches(run, k) and not is_impulsive(run, k):
                p[pair_place(run, k, CLOSED)], p[pair_place(run, k, ENTRY)] = 1.0, -UNDAMPED
    call_kernel(run.events_closed, run.t, run.y, run.p, run.g_try, run.work)
    for k in range(run.n_pairs):
        if starts[k] != GOES_ON and p[pair_place(run, k, CLOSED)] != 0.0:
            close(run, k, of_pair(run, run.at_closing, k), _thrown(run, k))
    set_precision(run)
    if run.impact != 0:
        strike(run)


def _thrown(run: Any, pair: int) -> float:
    """See `thrown_speed`."""
    e = pair_place(run, pair, RENEWAL)
    if e < 0:
        return 0.0
    apart = -floats(run.g_try, run.n_events)[e]  # m/s^2, of all forces without damping: none if it rests
    return thrown_speed(apart, -of_pair(run, run.at_gap, pair))


def _begin_joints(run: Any) -> None:
    """Joint friction with sticking: joints at rest, up to round-off, may stick, others slide; a continued run keeps its states."""
    observe_contacts(run, run.t, run.y)
    still = 4.0 * EPSILON * _fastest(run)
    call_kernel(run.events_closed, run.t, run.y, run.p, run.g_try, run.work)
    for j in range(run.n_joints):
        if ints(run.joint_start, run.n_joints)[j] == GOES_ON:
            watch_grip(run, run.n_pairs + j)
        else:
            begin_grip(run, run.n_pairs + j, still)


def _fastest(run: Any) -> float:
    """The largest tip speed of all bodies in the last observed row, m/s."""
    observed, fastest = floats(run.observed, run.n_observed), 0.0
    for i in range(run.at_speeds, run.at_speeds + run.n_speeds):
        fastest = max(fastest, abs(observed[i]))
    return fastest


def _measure_doubts(run: Any) -> None:
    """Write the round-off of gaps and closing speeds to `doubt`, and the rates of closing to `observed_try`."""
    n, slope = run.n_observed, stage(run, 0)
    round_off(run, run.observe, n, run.doubt, run.observed, run.observed_try)
    observed, doubts, later = floats(run.observed, n), floats(run.doubt, n), floats(run.observed_try, n)
    fastest = _fastest(run)
    call_kernel(run.rhs, run.t, run.y, run.p, slope, run.work)
    y, k0, moved = floats(run.y, run.n), floats(slope, run.n), floats(run.y_try, run.n)
    for i in range(run.n):
        moved[i] = y[i] + MOMENT * k0[i]
    call_kernel(run.observe, run.t + MOMENT, run.y_try, run.p, run.observed_try, run.work)
    for k in range(run.n_pairs):
        gap, closing = run.at_gap + k, run.at_closing + k
        doubts[gap] = max(doubts[gap], round_off_of_gap(run, k))
        doubts[closing] = max(doubts[closing], 4.0 * EPSILON * fastest)
        later[closing] = (later[closing] - observed[closing]) / MOMENT


def _touches(run: Any, pair: int) -> bool:
    """Whether a pair is closed at the start: it overlaps, or it touches and is closing, or it rests and is not pulled apart."""
    observed, doubts = floats(run.observed, run.n_observed), floats(run.doubt, run.n_observed)
    gap, closing = run.at_gap + pair, run.at_closing + pair
    if abs(observed[gap]) > doubts[gap]:
        return bool(observed[gap] < 0.0)
    if abs(observed[closing]) > doubts[closing]:
        return bool(observed[closing] > 0.0)
    return bool(floats(run.observed_try, run.n_observed)[closing] >= 0.0)
