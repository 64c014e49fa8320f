"""The time loop of all explicit methods.  Compiled; entered again and again by `stepper.Stepper`."""

from __future__ import annotations

import math
from typing import Any

from numba import from_dtype, njit, types

from pliant.integrate.events import first_event, forget_hits, measure, take_sides
from pliant.integrate.kernels import OPTIONS, call_kernel, compiled, finite, floats, ints, put, stage
from pliant.integrate.memory import RUN, SAVE_STEPS, SAVE_TIMES
from pliant.integrate.runge_kutta import attempt, end_slope, error_norm, extra_stages, first_step, interpolate
from pliant.integrate.status import AT_EVENT, AT_STOP, GO_ON, NOT_A_NUMBER, ROWS_FULL, SMALL_STEP, STEP_LIMIT

PROJECTIONS = 2  # Newton steps after each step
SAFETY = 0.9  # of the step that the error estimate asks for
SMALLEST_STEP = 1e-18  # s, no mechanism has a shorter time scale; counts near t = 0 only
SMALLEST_STEP_ULPS = 16.0 * 2.0**-52  # of t: a shorter step would have stages at the same t
STRETCH = 1e-10  # of an adaptive step: by so much it is stretched rather than leaving a remainder
FIXED_STRETCH = 1e-6  # of a fixed step, for the same end
LEAST_OLD_ERROR = math.log(1e-4)  # the controller's memory is bounded (Hairer, dopri5)
NO_ERROR = 1e-30  # stands for an error of zero, whose logarithm is wanted


def _advance(run: Any) -> int:
    """Integrate until run.t_stop, an event, trouble, or run.budget evaluations; returns a code of `status`."""
    code = GO_ON
    if run.flushed:
        run.first_row += run.n_rows
        run.n_rows = 0
        run.flushed = 0
    if run.entering:
        code = _enter(run)
        run.entering = 0
    if code == GO_ON:
        code = _march(run)
    put(run.y_seen, run.y, run.n)
    return code


@compiled
def _differ(left: int, right: int, n: int) -> bool:
    a, b = floats(left, n), floats(right, n)
    for i in range(n):  # noqa: SIM110  a generator has no place in compiled code
        if a[i] != b[i]:
            return True
    return False


@compiled
def _smallest_step(run: Any) -> float:
    return max(SMALLEST_STEP, float(SMALLEST_STEP_ULPS * abs(run.t)))


@compiled
def _enter(run: Any) -> int:
    """See what the caller changed; take up the derivative, the sides of the events and the step from there."""
    starting = run.starting != 0
    moved = starting or _differ(run.y, run.y_seen, run.n)
    if moved or run.restart or _differ(run.p, run.p_seen, run.n_parameters):
        put(run.p_seen, run.p, run.n_parameters)
        call_kernel(run.rhs, run.t, run.y, run.p, stage(run, 0), run.work)
        run.rhs_evaluations += 1
        if not (finite(run.y, run.n) and finite(stage(run, 0), run.n)):
            run.h = 0.0
            return NOT_A_NUMBER
        if run.n_events > 0:
            _look_afresh(run)
        _restart_control(run, starting)
        if moved and run.save == SAVE_STEPS:
            _put_row(run, run.t, run.y)
    _settle(run, moved)
    run.starting = 0
    run.anchor = run.t
    run.anchor_steps = 0
    plan = floats(run.plan, run.n_plan)
    if run.save == SAVE_TIMES and run.next_save < run.n_plan and plan[run.next_save] <= run.t:
        _put_row(run, run.t, run.y)
        run.next_save += 1
    return GO_ON


@compiled
def _look_afresh(run: Any) -> None:
    """A g that is zero here has no side, whichever it had."""
    side = ints(run.side, run.n_events)
    for e in range(run.n_events):
        side[e] = 0
    measure(run, run.t, run.y, run.g)
    take_sides(run, run.side, run.g)


@compiled
def _settle(run: Any, moved: bool) -> None:
    """An event located here and then acted upon sits on its zero, on whichever side round-off put it."""
    hit, side = ints(run.hit, run.n_events), ints(run.side, run.n_events)
    for e in range(run.n_events):
        if hit[e] != 0:
            side[e] = 0 if moved else side[e]
            hit[e] = 0


@compiled
def _restart_control(run: Any, starting: bool) -> None:
    run.log_old_error = LEAST_OLD_ERROR
    run.rejected_last = 0
    run.not_finite = 0
    run.restart = 0
    if run.error_rows > 0:
        if starting and run.first_step > 0.0:
            run.h = run.first_step
        elif run.t_stop > run.t:
            longest = min(run.max_step, run.t_stop - run.t)
            run.h = min(max(first_step(run, longest), 2.0 * _smallest_step(run)), run.max_step)
        else:
            run.restart = 1  # nowhere to go this time


@compiled
def _march(run: Any) -> int:
    """Step after step: choose h, try it, look for events, save, move on."""
    enough = run.rhs_evaluations + run.budget
    while True:
        if run.t >= run.t_stop:
            return AT_STOP
        if run.accepted + run.rejected >= run.max_steps:
            return STEP_LIMIT
        if run.rhs_evaluations >= enough:
            return GO_ON
        if run.save == SAVE_STEPS and run.n_rows >= run.capacity:
            return ROWS_FULL
        if run.h < _smallest_step(run):
            return NOT_A_NUMBER if run.not_finite else SMALL_STEP

        t_new = _next_time(run)
        if run.step_limit != 0:
            t_new = min(t_new, run.t + _longest_step(run))
        h = t_new - run.t
        run.extras_done = 0
        error = attempt(run, h, t_new)
        if error > 1.0:
            run.rejected += 1
            if run.error_rows == 0:
                return NOT_A_NUMBER
            _shrink(run, h, error)
            continue
        _propose(run, h, error)

        hit = first_event(run, h, t_new) if run.n_events > 0 else 0.0
        if hit > 0.0:
            t_new, h = min(run.t + hit, t_new), hit
            run.extras_done = 0
            end_slope(run, t_new)
            if run.error_rows > 0 and _too_rough(run, hit):
                continue
        if run.project != 0:
            _project(run, t_new)
        _save(run, h, t_new)
        _move(run, t_new)
        if hit > 0.0:
            return AT_EVENT


@compiled
def _too_rough(run: Any, hit: float) -> bool:
    """Whether the step to an event fails the tolerance that the whole step met, as where a force ends in a corner."""
    error = error_norm(run, hit)
    if error <= 1.0:
        return False
    forget_hits(run)
    run.accepted -= 1
    run.rejected += 1
    _shrink(run, hit, error)
    return True


@compiled
def _project(run: Any, t_new: float) -> None:
    """Put the new state back on its constraints: Newton steps from so near that two leave nothing but round-off."""
    for _ in range(PROJECTIONS):
        call_kernel(run.project, t_new, run.y_new, run.p, run.y_try, run.work)
        put(run.y_new, run.y_try, run.n)
    run.extras_done = 0
    end_slope(run, t_new)


@compiled
def _longest_step(run: Any) -> float:
    """What the caller's own limit allows from here, s: no shorter than can be stepped."""
    call_kernel(run.step_limit, run.t, run.y, run.p, run.longest, run.work)
    return max(float(floats(run.longest, 1)[0]), 2.0 * _smallest_step(run))


@compiled
def _next_time(run: Any) -> float:
    """Where the next step ends: on t_stop exactly, or far enough from it that no sliver of a step is left."""
    if run.error_rows == 0:
        t_new = float(run.anchor + (run.anchor_steps + 1) * run.h)
        return float(run.t_stop) if t_new >= run.t_stop - FIXED_STRETCH * run.h else t_new
    rest = run.t_stop - run.t
    if run.h * (1.0 + STRETCH) >= rest:
        return float(run.t_stop)
    return float(run.t + (0.5 * rest if 2.0 * run.h > rest else run.h))


@compiled
def _shrink(run: Any, h: float, error: float) -> None:
    run.rejected_last = 1
    if error == math.inf:
        run.not_finite = 1
        run.h = 0.25 * h
    else:
        run.not_finite = 0
        run.h = h * max(run.min_factor, SAFETY * error ** (-run.exponent))


@compiled
def _propose(run: Any, h: float, error: float) -> None:
    """The step after an accepted one: Gustafsson's PI controller; a step cut short does not shorten the next."""
    run.accepted += 1
    run.largest = max(run.largest, h)
    run.not_finite = 0
    if run.error_rows == 0:
        # a step cut short by the caller's limit is none of the grid of fixed steps, which goes on where it was
        if run.t + h >= run.anchor + (run.anchor_steps + 1.0 - FIXED_STRETCH) * run.h:
            run.anchor_steps += 1
        run.smallest = min(run.smallest, run.h)
        return
    # SAFETY error^-exponent old_error^beta
    log_error = math.log(max(error, NO_ERROR))
    factor = SAFETY * math.exp(run.beta * run.log_old_error - run.exponent * log_error)
    factor = min(max(factor, run.min_factor), 1.0 if run.rejected_last else run.max_factor)
    cut_short = h < (1.0 - STRETCH) * run.h
    if not cut_short:
        run.smallest = min(run.smallest, h)
    run.h = min(max(h * factor, run.h if cut_short else 0.0), run.max_step)
    run.log_old_error = max(log_error, LEAST_OLD_ERROR)
    run.rejected_last = 0


@compiled
def _put_row(run: Any, t: float, y: int) -> None:
    floats(run.row_t, run.capacity)[run.n_rows] = t
    put(run.row_y + 8 * run.n * run.n_rows, y, run.n)
    run.n_rows += 1


@compiled
def _save(run: Any, h: float, t_new: float) -> None:
    """The step's end, or the times asked for in (t, t_new]: inside by dense output, at the end the end itself."""
    if run.save == SAVE_STEPS:
        _put_row(run, t_new, run.y_new)
    elif run.save == SAVE_TIMES:
        plan = floats(run.plan, run.n_plan)
        while run.next_save < run.n_plan and plan[run.next_save] <= t_new:
            t = plan[run.next_save]
            if t == t_new:
                _put_row(run, t, run.y_new)
            else:
                extra_stages(run, h)
                interpolate(run, run.spare, h, (t - run.t) / h)
                _put_row(run, t, run.spare)
            run.next_save += 1


@compiled
def _move(run: Any, t_new: float) -> None:
    run.t = t_new
    put(run.y, run.y_new, run.n)
    put(stage(run, 0), stage(run, run.stages), run.n)
    if run.n_events > 0:
        put(run.g, run.g_new, run.n_events)
        take_sides(run, run.side, run.g)


def compile_loop() -> tuple[str, bytes]:
    """(symbol, object code) of the loop, without the wrappers for Python: int32 symbol(int64* answer, void** trouble, RUN* run).

    That is how Numba calls compiled code, and what its own disk cache stores.
    """
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, **OPTIONS}
    dispatcher = njit(types.int64(from_dtype(RUN)), **options)(_advance)
    made = dispatcher.overloads[dispatcher.signatures[0]]
    _, _, (object_code, _) = made.library.serialize_using_object_code()
    return made.fndesc.llvm_func_name, object_code
