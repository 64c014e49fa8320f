"""Step size control: after a start, an accepted step or a rejected step.  Compiled; shared by all methods."""

from __future__ import annotations

import math
from typing import Any

from pliant.codegen.loop_language import floats
from pliant.integrate.loop.judging import NO_ERROR, NO_SLOPE, end_of_step, first_length, is_cut_short, probe_length, smallest_step
from pliant.integrate.loop.kernels import call_kernel, finite, put, stage
from pliant.integrate.loop.near_pairs import longest_near_step

PROBES, SHORTER = 8, 0.01  # Euler steps that estimate the first step; by what each is shorter than one that left the domain
FIXED_STRETCH = 1e-6  # fraction of a fixed step: the most it is stretched to avoid leaving a remainder


def restart_control(run: Any, starting: bool) -> None:
    """Reset the error history, and choose a first step for an adaptive method."""
    run.log_old_error = run.least_old_error
    run.h_old = 0.0
    run.rejected_last = 0
    run.not_finite = 0
    run.restart = 0
    if run.error_rows > 0:
        if starting and run.first_step > 0.0:
            run.h = run.first_step
        elif run.t_stop > run.t:
            longest = min(run.max_step, run.t_stop - run.t)
            run.h = min(max(first_step(run, longest), 2.0 * smallest_step(run.t)), run.max_step)
        else:
            run.restart = 1  # there is no interval to integrate this time


def _norm(run: Any, address: int) -> float:
    n = run.n_controlled
    values, y, atol = floats(address, n), floats(run.y, n), floats(run.atol, n)
    total = 0.0
    for i in range(n):
        total += (values[i] / (atol[i] + run.rtol * abs(y[i]))) ** 2
    return math.sqrt(total / run.n_mean)


def first_step(run: Any, longest: float) -> float:
    """Hairer, Norsett, Wanner I, II.4: an Euler step, no longer than `longest`, estimates the second derivative."""
    if run.worst:
        return _first_step_of_slopes(run, longest)
    slope, size = _norm(run, stage(run, 0)), _norm(run, run.y)
    trial = min(probe_length(slope, size), longest)
    y, k0 = floats(run.y, run.n), floats(stage(run, 0), run.n)
    y_try, change = floats(run.y_try, run.n), floats(run.spare, run.n)
    bend = math.inf
    for _ in range(PROBES):
        for i in range(run.n):
            y_try[i] = y[i] + trial * k0[i]
        call_kernel(run.rhs, run.t + trial, run.y_try, run.p, run.spare, run.work)
        run.rhs_evaluations += 1
        if finite(run.spare, run.n):
            for i in range(run.n):
                change[i] -= k0[i]
            bend = _norm(run, run.spare) / trial
            break
        trial *= SHORTER
    steepest = max(slope, bend)
    return first_length(steepest, trial, (0.01 / max(steepest, NO_SLOPE)) ** (1.0 / run.order))


def _first_step_of_slopes(run: Any, longest: float) -> float:
    """ode45 and ode23: the step in which no component changes by more than a fraction of itself that the tolerance sets."""
    n = run.first_added
    y, k0, atol = floats(run.y, n), floats(stage(run, 0), n), floats(run.atol, n)
    rate = 0.0
    for i in range(n):
        rate = max(rate, abs(k0[i]) / max(abs(y[i]), atol[i] / run.rtol))
    return min(longest, float(run.safety * run.rtol**run.exponent / rate)) if rate > 0.0 else longest


def next_time(run: Any) -> float:
    """The end of the next step: exactly t_stop, or far enough from it that no tiny step remains."""
    if run.error_rows == 0:
        t_new = float(run.anchor + (run.anchor_steps + 1) * run.h)
        t_new = float(run.t_stop) if t_new >= run.t_stop - FIXED_STRETCH * run.h else t_new
    else:
        t_new = end_of_step(run.t, run.h, run.t_stop, run.stretch, run.halves != 0)
    if run.n_knots > 0:
        t_new = min(t_new, _within_pieces(run))
    if run.n_near > 0:
        t_new = min(t_new, run.t + max(longest_near_step(run), 2.0 * smallest_step(run.t)))
    return min(t_new, run.t + _longest_step(run)) if run.step_limit != 0 else t_new


def _within_pieces(run: Any) -> float:
    """The end of a step that resolves functions of time: the end of its piece, or inside the next if both are as short."""
    knots, n = floats(run.knots, run.n_knots), run.n_knots
    while run.knot + 1 < n and knots[run.knot + 1] <= run.t:
        run.knot += 1
    k = run.knot
    if k + 1 >= n:
        return math.inf
    if k + 2 >= n:
        return float(knots[k + 1])
    shorter = min(knots[k + 1] - knots[k], knots[k + 2] - knots[k + 1])
    return float(max(knots[k + 1], min(knots[k + 2], run.t + 2.0 * shorter)))


def _longest_step(run: Any) -> float:
    """The longest step that the caller's step limit allows here, s, but at least the smallest possible step."""
    put(run.moving, run.y, run.n)
    put(run.moving + 8 * run.n, stage(run, 0), run.n)
    call_kernel(run.step_limit, run.t, run.moving, run.p, run.longest, run.work)
    return max(float(floats(run.longest, 1)[0]), 2.0 * smallest_step(run.t))


def shrink(run: Any, h: float, error: float) -> None:
    """The step after a rejected one; a negative error means that the family chooses it."""
    repeated = run.rejected_last
    run.rejected_last = 1
    run.not_finite = 0
    if error == math.inf:
        run.not_finite = 1
        run.h = 0.25 * h
    elif error < 0.0:
        run.h = run.wanted
    elif repeated and run.again > 0.0:
        run.h = run.again * h
    else:
        run.h = h * max(run.min_factor, run.safety * error ** (-run.exponent))


def propose(run: Any, h: float, error: float) -> None:
    """The step after an accepted one, by Gustafsson's controllers; a step that was cut short does not shorten the next."""
    run.accepted += 1
    run.largest = max(run.largest, h)
    run.not_finite = 0
    if run.error_rows == 0:
        # a step cut short by the caller's limit is not on the grid of fixed steps, which continues unchanged
        if run.t + h >= run.anchor + (run.anchor_steps + 1.0 - FIXED_STRETCH) * run.h:
            run.anchor_steps += 1
        run.smallest = min(run.smallest, run.h)
        return
    log_error = math.log(max(error, NO_ERROR))
    factor = _factor(run, h, log_error)
    factor = min(max(factor, run.min_factor), 1.0 if run.rejected_last else run.max_factor)
    if 1.0 <= factor <= run.hold or (run.rejected_last and run.again > 0.0):
        factor = 1.0  # the factorisation of this step serves the next; or the rule keeps a step that was refused before
    cut_short = is_cut_short(h, run.h)
    if not cut_short:
        run.smallest = min(run.smallest, h)
    run.h = min(max(h * factor, run.h if cut_short else 0.0), run.max_step)
    run.log_old_error = max(log_error, run.least_old_error)
    run.h_old = h
    run.rejected_last = 0


def _factor(run: Any, h: float, log_error: float) -> float:
    """safety error^-exponent old_error^beta (PI controller); or the predictive controller, from the changes of step and error."""
    safety = run.safety * run.effort
    factor = float(safety * math.exp(run.beta * run.log_old_error - run.exponent * log_error))
    if run.predictive and run.h_old > 0.0:
        # Hairer, Wanner II, IV.8: (h / h_old) (old_error / error^2)^exponent
        predicted = float(run.safety * (h / run.h_old) * math.exp(run.exponent * (run.log_old_error - 2.0 * log_error)))
        factor = min(factor, predicted)
    return factor
