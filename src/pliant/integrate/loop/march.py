"""The time loop of all methods: choose a step, let the method's family attempt it, find events, act on them, save, move on.

Compiled; it returns to `stepper.Stepper` only for tasks of Python: progress, interrupts, limits, full buffers. Families are called
by address: see `family`.
"""

from __future__ import annotations

import math
from typing import Any

from pliant.codegen.loop_language import floats, ints
from pliant.integrate.loop.begin import begin
from pliant.integrate.loop.control import next_time, propose, restart_control, shrink
from pliant.integrate.loop.divergence import diverges, open_ledger
from pliant.integrate.loop.events import (
    crossing_ahead,
    earlier_event,
    first_event,
    forget_hits,
    hit_matters,
    join_hits,
    list_watched,
    look_afresh,
    lost_event,
    note_crossings,
    take_sides,
)
from pliant.integrate.loop.family import attempt, error_norm, interpolate
from pliant.integrate.loop.grips import settle_grips
from pliant.integrate.loop.impacts import strike_at_event
from pliant.integrate.loop.judging import BEYOND, NEAREST, PROJECTIONS, ULPS, smallest_step
from pliant.integrate.loop.kernels import Loop, call_kernel, end_slope, finite, put, stage
from pliant.integrate.loop.near_pairs import list_near, look_at_members, refresh_list, strayed
from pliant.integrate.loop.noting import note, note_loads, note_peaks
from pliant.integrate.loop.phases import act, next_piece, take_notes
from pliant.integrate.loop.sampling import sample
from pliant.integrate.loop.stiffness import wants_turn
from pliant.integrate.memory.run_record import NOTES, RUN, SAVE_STEPS, SAVE_TIMES
from pliant.integrate.status import (
    AT_EVENT,
    AT_STOP,
    CAME_OPEN,
    CROWDED,
    DIVERGED,
    FULL,
    GO_ON,
    LOST_EVENT,
    NEW_PHASE,
    NOT_A_NUMBER,
    ON,
    PAUSED,
    REFUSED,
    SMALL_STEP,
    STEP_LIMIT,
    TURN,
)

SEARCHES = 8  # times that a step is cut to an event, and searched for an earlier one
UNPROJECTED = 100.0  # times the tolerance of a constraint: how far it may be open after a fixed step


def _advance(run: Any) -> int:
    """Integrate until run.t_stop, through the pieces of time, to an event that the caller must know of, trouble, or run.budget
    evaluations and rows; returns a code of `status`."""
    code = ON
    if run.flushed:
        _take_buffers_back(run)
    run.enough = _spent(run) + run.budget
    if run.entering:
        if run.starting and run.judging:
            begin(run)
        settle_grips(run)
        code = sample(run)
        code = _enter(run) if code == ON else _stay(run, code)
        run.entering = 0
    while code == ON:
        if run.telling and run.new_phase:
            run.new_phase = 0
            return NEW_PHASE
        code = _march(run)
        put(run.y_seen, run.y, run.n)
        if code == AT_EVENT:
            code = act(run)
            if code == ON and run.striking != 0:
                code = strike_at_event(run)
            _save_here(run)
        elif code == AT_STOP and next_piece(run):
            code = sample(run)
            if code != ON:
                return _stay(run, code)
        if code == ON:
            code = _enter(run)
    return code


def _spent(run: Any) -> int:
    """Evaluations and rows so far: a row costs about as much, and one step can have thousands."""
    return int(run.rhs_evaluations + run.first_row + run.n_rows)


def _take_buffers_back(run: Any) -> None:
    """Empty the buffers after the caller has copied them."""
    run.first_row += run.n_rows
    run.first_touch += run.n_touches
    run.first_logged += run.n_logged
    run.first_tape += run.n_tape
    run.n_rows = run.n_touches = run.n_logged = run.n_tape = 0
    run.flushed = 0


def _full(run: Any) -> bool:
    """Whether the next step could overflow the buffers."""
    recorded = NOTES * run.n_recording
    if run.save == SAVE_STEPS and run.n_rows + recorded + 2 > run.capacity:
        return True
    if run.max_tape > 0 and run.n_tape >= run.max_tape:
        return True
    if run.n_touches + run.openings * run.n_pairs > run.max_touches:
        return True
    # events that end the step, and joints that let go as the next piece of time begins
    return bool(run.n_logged + recorded + 2 * run.n_events > run.max_logged)


def _differ(left: int, right: int, n: int) -> bool:
    a, b = floats(left, n), floats(right, n)
    for i in range(n):  # noqa: SIM110  a generator has no place in compiled code
        if a[i] != b[i]:
            return True
    return False


def _enter(run: Any) -> int:
    """Detect what the caller changed; compute the derivative, the sides of the events and the step from there."""
    starting = run.starting != 0
    if starting:
        note(run)
        if run.error_rows == 0 and run.at_energy >= 0:
            open_ledger(run)
    moved = starting or _differ(run.y, run.y_seen, run.n)
    otherwise = starting or run.restart != 0 or _differ(run.p, run.p_seen, run.n_parameters)
    afresh = moved or otherwise
    if run.n_near > 0 and moved and not starting:
        look_at_members(run, run.t, run.y)
        list_near(run)
    if afresh:
        put(run.p_seen, run.p, run.n_parameters)
        call_kernel(run.rhs, run.t, run.y, run.p, stage(run, 0), run.work)
        run.rhs_evaluations += 1
        if not (finite(run.y, run.n) and finite(stage(run, 0), run.n)):
            run.h = 0.0
            return NOT_A_NUMBER
        if run.n_events > 0:
            look_afresh(run, starting)
        run.fresh = 1
        note_loads(run)  # forces jump where the equations change, and may fall again before the next row
        if otherwise or not run.pace_kept:
            restart_control(run, starting)
        if moved and run.save == SAVE_STEPS:
            _put_row(run, run.t, run.y)
    _settle(run, moved)
    list_watched(run, afresh)
    run.starting = run.pace_kept = 0
    run.anchor = run.t
    run.anchor_steps = 0
    _save_here(run)
    return ON


def _stay(run: Any, code: int) -> int:
    """A controller's output has triggered an event that ends the run: its last row is at the present time."""
    put(run.y_seen, run.y, run.n)
    _save_here(run)
    return code


def _save_here(run: Any) -> None:
    """Save the rows requested at the present time."""
    plan, last = floats(run.plan, run.n_plan), _last_saved(run, run.t)
    while run.save == SAVE_TIMES and run.next_save < run.n_plan and plan[run.next_save] <= last:
        _put_row(run, plan[run.next_save], run.y)
        run.next_save += 1


def _settle(run: Any, moved: bool) -> None:
    """Mark an event that was located and handled here as at zero, on whichever side round-off put it."""
    n = run.n_events
    hit, side, required = ints(run.hit, n), ints(run.side, n), ints(run.required, n)
    for e in range(n):
        if hit[e] != 0:
            if required[e] != 0:
                side[e] = required[e]
            elif moved:
                side[e] = 0
            hit[e] = 0


def _march(run: Any) -> int:
    """Take step after step: choose h, attempt it, find events, save, move on."""
    while True:
        if run.t >= run.t_stop:
            return AT_STOP
        if _all_saved(run):
            return PAUSED
        if run.waiting == 0:
            if run.n_near > 0 and _crowded(run):
                return CROWDED
            code = _try_step(run)
            if code == REFUSED:
                continue
            if code != ON:
                return code
        if not _save(run, run.waiting_h, run.waiting_t):
            return GO_ON
        if _all_saved(run):
            return PAUSED
        run.waiting = 0
        if run.n_notes > 0:
            take_notes(run)
        _move(run, run.waiting_t)
        if run.waiting_hit > 0.0:
            if hit_matters(run):
                return AT_EVENT
            forget_hits(run)
        if run.waiting_turn:
            return TURN


def _crowded(run: Any) -> bool:
    """Keep the list of near pairs; whether it has no room for all."""
    refresh_list(run)
    if run.listing:
        run.listing = 0
        list_watched(run, False)
    return bool(run.crowded)


def _all_saved(run: Any) -> bool:
    """Whether all requested times have been passed and the caller wants to supply more."""
    return bool(run.pausing and run.next_save >= run.n_plan)


def _try_step(run: Any) -> int:
    """Choose h, attempt it, find events: ON if a step is ready to be taken, REFUSED if the next must be shorter."""
    if run.accepted + run.rejected >= run.max_steps:
        return STEP_LIMIT
    if _spent(run) >= run.enough:
        return GO_ON
    if _full(run):
        return FULL
    if run.h < smallest_step(run.t):
        return CAME_OPEN if run.cannot_close else NOT_A_NUMBER if run.not_finite else SMALL_STEP

    t_new = next_time(run)
    h = t_new - run.t
    run.extras_done = 0
    error = attempt(run, h, t_new)
    if error > 1.0 or error < 0.0:
        run.rejected += 1
        if run.error_rows == 0:
            return NOT_A_NUMBER
        shrink(run, h, error)
        if 1.0 < error < math.inf:
            _end_at_corner(run, h, t_new)
        return REFUSED
    if run.n_near > 0 and strayed(run, t_new):
        run.rejected += 1
        run.shorter = 0.5 * h
        return REFUSED
    propose(run, h, error)
    turn = run.watching != 0 and wants_turn(run, h)

    hit = first_event(run, h, t_new) if run.n_events > 0 else 0.0
    earlier, searches = 0.0 if run.at_ends else hit, 0
    while earlier > 0.0:
        hit, searches = earlier, searches + 1
        t_new, h = min(run.t + hit, t_new), hit
        run.extras_done = 0
        end_slope(run, t_new)
        if run.error_rows > 0 and _too_rough(run, hit):
            return REFUSED
        earlier = earlier_event(run, h, t_new) if searches < SEARCHES else 0.0
    run.n_notes = 0
    if run.n_recording > 0:
        note_crossings(run, h, t_new)
    if run.n_events > 0:
        run.lost = lost_event(run)
        if run.lost > 0:
            return LOST_EVENT
    if run.project != 0:
        _project(run, t_new)
        if hit > 0.0:
            join_hits(run, t_new)
    if run.closures != 0 and _came_open(run, t_new):
        if run.error_rows == 0 or run.open_row < run.n_implied:
            return CAME_OPEN
        _take_back(run)
        run.h, run.cannot_close = 0.25 * h, 1  # a shorter step may close it
        return REFUSED
    if run.error_rows == 0 and diverges(run, t_new):
        return DIVERGED
    if run.save == SAVE_STEPS and run.n_notes > 0:
        _save_notes(run, t_new)
    run.waiting, run.waiting_t, run.waiting_h, run.waiting_hit, run.waiting_turn = 1, t_new, h, hit, turn
    return ON


def _end_at_corner(run: Any, h: float, t_new: float) -> None:
    """After a refused step: if a force has a corner ahead, the next step ends just beyond it, where it can be located."""
    crossing = BEYOND * crossing_ahead(run, h, t_new)
    if NEAREST * h < crossing < run.h:
        run.h = crossing


def _too_rough(run: Any, hit: float) -> bool:
    """Whether the step to an event fails the tolerance that the whole step met, as at a corner of a force."""
    error = error_norm(run, hit)
    if error <= 1.0:
        return False
    _take_back(run)
    shrink(run, hit, error)
    return True


def _take_back(run: Any) -> None:
    """An accepted step is refused after all."""
    forget_hits(run)
    run.accepted -= 1
    run.rejected += 1


def _project(run: Any, t_new: float) -> None:
    """Project the new state onto its constraints."""
    for _ in range(PROJECTIONS):
        call_kernel(run.project, t_new, run.y_new, run.p, run.y_try, run.work)
        put(run.y_new, run.y_try, run.n)
    run.extras_done = 0
    end_slope(run, t_new)


def _came_open(run: Any, t_new: float) -> bool:
    """Whether a constraint does not hold at the end of this step: one that others implied at the start, or one that is held.

    Of steps without error control, whose length the caller chose, less is asked: projection leaves more of a longer step's error.
    """
    call_kernel(run.closures, t_new, run.y_new, run.p, run.closure_values, run.work)
    values, worst = floats(run.closure_values, 2 * run.n_closures), 1.0
    for i in range(run.n_closures):
        allowed = values[run.n_closures + i] * (UNPROJECTED if run.error_rows == 0 and i >= run.n_implied else 1.0)
        if not abs(values[i]) <= worst * allowed:
            worst = abs(values[i]) / allowed
            run.open_row, run.open_amount, run.open_t = i, values[i], t_new
    return bool(worst > 1.0)


def _put_row(run: Any, t: float, y: int) -> None:
    floats(run.row_t, run.capacity)[run.n_rows] = t
    put(run.row_y + 8 * run.n * run.n_rows, y, run.n)
    if run.observe != 0 and run.bare == 0:
        call_kernel(run.observe_row, t, y, run.p, run.row_observed + 8 * run.n_row * run.n_rows, run.work)
    run.n_rows += 1


def _save_notes(run: Any, t_new: float) -> None:
    """If every step is saved, also save rows at events recorded inside the step, in order of time."""
    times, last = floats(run.note_t, run.max_notes), run.t
    for _ in range(run.n_notes):
        earliest = -1
        for k in range(run.n_notes):
            if last < times[k] < t_new and (earliest < 0 or times[k] < times[earliest]):
                earliest = k
        if earliest < 0:
            break
        last = times[earliest]
        _put_row(run, last, run.note_y + 8 * run.n * earliest)


def _save(run: Any, h: float, t_new: float) -> bool:
    """Save the end of the step, or the requested times in (t, t_new]: inside by dense output, at the end the exact end state.

    False if the budget is used up before: the next call continues. A budget of zero only ends the step that is waiting.
    """
    if run.save == SAVE_STEPS:
        _put_row(run, t_new, run.y_new)
    elif run.save == SAVE_TIMES:
        plan, last = floats(run.plan, run.n_plan), _last_saved(run, t_new)
        acts = run.at_ends != 0 and run.waiting_hit > 0.0 and hit_matters(run)
        while run.next_save < run.n_plan and plan[run.next_save] <= last:
            t = plan[run.next_save]
            if run.budget > 0 and _spent(run) >= run.enough:
                return False
            if acts and t >= t_new - ULPS * abs(t_new):
                break  # the state is beyond the event: the row waits for the equations that hold from here on
            if t == t_new:
                _put_row(run, t, run.y_new)
            else:
                interpolate(run, run.spare, h, (t - run.t) / h)
                _put_row(run, t, run.spare)
            run.next_save += 1
    return True


def _last_saved(run: Any, t_new: float) -> float:
    """The time up to which rows are saved with this step; rows at an instant of controllers wait until these have run."""
    if run.n_updates > 0 and t_new == run.t_stop and ints(run.piece_tail, run.n_pieces)[run.piece] != 0:
        return float(t_new - run.one_instant)
    return t_new


def _move(run: Any, t_new: float) -> None:
    if run.max_tape > 0:
        _note_step(run, t_new)
    run.t, run.shorter = t_new, math.inf
    run.cannot_close = 0
    put(run.y, run.y_new, run.n)
    put(stage(run, 0), stage(run, run.stages), run.n)
    if run.n_events > 0:
        put(run.g, run.g_new, run.n_events)
        take_sides(run, run.side, run.g)
    note(run)
    note_peaks(run)


def _note_step(run: Any, t_new: float) -> None:
    """Record the step that is about to be taken on the tape."""
    k, n, parameters, events = run.n_tape, run.n, run.n_parameters, run.n_events
    times = floats(run.tape_t + 16 * k, 2)
    times[0], times[1] = run.t, t_new
    put(run.tape_y + 8 * n * k, run.y, n)
    put(run.tape_end + 8 * n * k, run.y_new, n)
    put(run.tape_p + 8 * parameters * k, run.p, parameters)
    hit, noted = ints(run.hit, events), ints(run.tape_hit + 8 * events * k, events)
    for e in range(events):
        noted[e] = hit[e]
    run.n_tape += 1


LOOP = Loop(_advance, (RUN,), large=True)
