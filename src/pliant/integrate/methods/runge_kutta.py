"""The family of explicit Runge-Kutta methods: one step, its error, its dense output; any tableau.  Compiled; see `march`."""

from __future__ import annotations

import math
from typing import Any

from pliant.codegen.loop_language import floats, ints
from pliant.integrate.loop.family import ATTEMPT, ERROR, STIFFNESS, TAKE, family_loop, hermite
from pliant.integrate.loop.kernels import call_kernel, end_slope, finite, stage
from pliant.integrate.memory.run_record import BLOCK
from pliant.integrate.methods.stage_sums import add_terms, weigh_all

ASTRAY = 2  # `extras_done`: an extra stage is meaningless, so the dense output is the cubic through both ends
STEEPER = 10.0  # factor on the steepest stage of a step: no smooth solution is steeper between stages


def combine(run: Any, target: int, base: int, h: float, row: int, n: int) -> None:
    """target = base + h sum a_j k_j for the first n components, eight at a time, with sums in registers.

    Multiply-add is fused where the machine supports it.
    """
    stride, terms = 8 * run.n_padded, ints(run.row_first + 8 * row, 2)
    count, columns, values = terms[1] - terms[0], run.column + 8 * terms[0], run.value + 8 * terms[0]
    for block in range(0, 8 * n, 8 * BLOCK):
        add_terms(target + block, base + block, h, run.k + block, stride, columns, values, count)


def take_step(run: Any, h: float, t_new: float) -> None:
    """Compute k_1 ... k_(s-1) and y_new of a step h from (t, y) with known k_0.  No stage lies beyond t_new."""
    c = floats(run.c, run.stages)
    for i in range(1, run.stages):
        combine(run, run.y_try, run.y, h, i, run.n_read)
        call_kernel(run.rhs, min(run.t + c[i] * h, t_new), run.y_try, run.p, stage(run, i), run.work)
    combine(run, run.y_new, run.y, h, run.stages, run.n_padded)
    run.rhs_evaluations += run.stages - 1
    run.last_taken = h


def error_norm(run: Any, h: float) -> float:
    """Root mean square of the estimate over atol + rtol |y|; a step is accepted up to 1.

    The mean is over the number of fully counted components, so that those added to them (works) cannot dilute it.

    With two estimates, DOP853's e5^2 / sqrt(e5^2 + 0.01 e3^2).
    """
    n, row = run.n_controlled, run.stages + 1 + run.extras
    y, y_new, atol = floats(run.y, n), floats(run.y_new, n), floats(run.atol, n)
    rtol = run.rtol
    combine(run, run.y_try, run.zeros, h, row, run.n_padded)
    if run.worst:
        return _worst_error(run)
    estimate = floats(run.y_try, n)
    fine = coarse = 0.0
    for i in range(n):
        fine += (estimate[i] / (atol[i] + rtol * max(abs(y[i]), abs(y_new[i])))) ** 2
    if run.error_rows == 1 or fine == 0.0:
        return math.sqrt(fine / run.n_mean)
    combine(run, run.y_try, run.zeros, h, row + 1, run.n_padded)
    for i in range(n):
        coarse += (estimate[i] / (atol[i] + rtol * max(abs(y[i]), abs(y_new[i])))) ** 2
    return fine / math.sqrt((fine + 0.01 * coarse) * run.n_mean)


def _worst_error(run: Any) -> float:
    """The largest estimate over max(atol, rtol |y|); only of what determines the step: works are not part of the state of ode45."""
    n = run.first_added
    y, y_new, atol, estimate = floats(run.y, n), floats(run.y_new, n), floats(run.atol, n), floats(run.y_try, n)
    worst = 0.0
    for i in range(n):
        worst = max(worst, abs(estimate[i]) / max(atol[i], run.rtol * max(abs(y[i]), abs(y_new[i]))))
    return worst


def attempt(run: Any, h: float, t_new: float) -> float:
    """Attempt a step h and return its error (inf: not finite); writes y_new and, if the step is acceptable, k_s."""
    take_step(run, h, t_new)
    if not finite(run.y_new, run.n):
        return math.inf
    error = 0.0
    if run.error_needs_end:
        end_slope(run, t_new)
    if run.error_rows > 0:
        error = error_norm(run, h)
        if error != error:
            return math.inf
        if error > 1.0:
            return error
    if not run.error_needs_end:
        end_slope(run, t_new)
    if not finite(stage(run, run.stages), run.n):
        return math.inf
    if run.error_rows > 0 and run.last_stage > 0:
        return max(error, _mismatch(run, h))
    return error


def _mismatch(run: Any, h: float) -> float:
    """The difference between the derivative at the end of the step and that of the last stage at the same time, scaled by the
    state.

    Error estimates use only some of the stages. In a long first step of DOP853 into a stiff contact, all of these may have been
    thrown clear of it: they agree with each other to round-off, and only the end of the step lies in the contact. In a meaningful
    step the two derivatives differ by far less than 1 in this measure; a step above 1 is refused.
    """
    n = run.n_controlled
    y, y_new, atol = floats(run.y, n), floats(run.y_new, n), floats(run.atol, n)
    at_stage, at_end = floats(stage(run, run.last_stage), n), floats(stage(run, run.stages), n)
    rtol, worst = run.rtol, 0.0
    for i in range(n):
        # divide only if it is needed
        scaled, apart = atol[i] + rtol * max(abs(y[i]), abs(y_new[i])), rtol * abs(h * (at_end[i] - at_stage[i]))
        if apart > scaled:
            worst = max(worst, apart / scaled)
    return worst


def extra_stages(run: Any, h: float) -> None:
    """Compute the stages that only the dense output needs, once per step."""
    if run.extras_done:
        return
    run.extras_done = 1
    if run.extras > 0:
        _measure_slopes(run)
    c = floats(run.c, run.stages + 1 + run.extras)
    for i in range(run.stages + 1, run.stages + 1 + run.extras):
        combine(run, run.y_try, run.y, h, i, run.n_read)
        call_kernel(run.rhs, run.t + c[i] * h, run.y_try, run.p, stage(run, i), run.work)
        if _is_astray(run, h, i):
            run.extras_done = ASTRAY
    run.rhs_evaluations += run.extras


def _is_astray(run: Any, h: float, extra: int) -> bool:
    """Whether an extra stage is unrelated to the step: far steeper than the stages of the solution.

    Its state is not on the solution, and may lie deep in a contact that the step only grazes.
    """
    n = run.n_controlled
    k, steepest = floats(stage(run, extra), n), floats(run.steepest, n)
    y, y_new, atol = floats(run.y, n), floats(run.y_new, n), floats(run.atol, n)
    for i in range(n):
        size = atol[i] / run.rtol + max(abs(y[i]), abs(y_new[i]))
        if not abs(h * k[i]) <= STEEPER * abs(h) * steepest[i] + size:
            return True
    return False


def _measure_slopes(run: Any) -> None:
    """For every component, find the steepest slope among the stages of the solution and the end of the step."""
    n, row = run.n_controlled, ints(run.row_first + 8 * run.stages, 2)
    steepest, column = floats(run.steepest, n), ints(run.column, row[1])
    k = floats(stage(run, run.stages), n)
    for i in range(n):
        steepest[i] = abs(k[i])
    for term in range(row[0], row[1]):
        k = floats(stage(run, column[term]), n)
        for i in range(n):
            steepest[i] = max(steepest[i], abs(k[i]))


def interpolate(run: Any, target: int, h: float, x: float) -> None:
    """The dense output at t + x h; needs k_s."""
    extra_stages(run, h)
    if run.extras_done == ASTRAY:
        hermite(run, target, h, x, run.n)
        return
    n_k = run.stages + 1 + run.extras
    weights = floats(run.weights, n_k)
    basis = x
    for m in range(run.terms):
        row = floats(run.dense + 8 * n_k * m, n_k)
        for j in range(n_k):
            weights[j] = row[j] * basis + (weights[j] if m > 0 else 0.0)
        basis *= (1.0 - x) if m % 2 == 0 else x
    _weigh(run, target, h, n_k)


def _weigh(run: Any, target: int, h: float, n_k: int) -> None:
    """target = y + h sum weights_j k_j of as many components as are wanted, eight components at a time, with sums in registers."""
    for block in range(0, 8 * run.n_dense, 8 * BLOCK):
        weigh_all(target + block, run.y + block, h, run.k + block, 8 * run.n_padded, run.weights, n_k)


def stiffness(run: Any, h: float) -> float:
    """Change of f from the last stage to the end of the step, both at t + h, over the change of the state (Hairer, dop853)."""
    last, n = run.stages - 1, int(run.n_mean)
    combine(run, run.y_try, run.y, h, last, run.n_read)
    y, y_new, y_stage = floats(run.y, n), floats(run.y_new, n), floats(run.y_try, n)
    k_stage, k_end, atol = floats(stage(run, last), n), floats(stage(run, run.stages), n), floats(run.atol, n)
    rise = distance = 0.0
    for i in range(n):
        scale = atol[i] + run.rtol * abs(y[i])
        rise += ((k_end[i] - k_stage[i]) / scale) ** 2
        distance += ((y_new[i] - y_stage[i]) / scale) ** 2
    return h * math.sqrt(rise / distance) if distance > 0.0 else 0.0


def _dispatch(run: Any, action: int, target: int, h: float, x: float) -> float:
    """The interface to the march, see `family`."""
    if action == ATTEMPT:
        return attempt(run, h, x)
    if action == TAKE:
        take_step(run, h, x)
    elif action == ERROR:
        return error_norm(run, h)
    elif action == STIFFNESS:
        return stiffness(run, h)
    else:
        interpolate(run, target, h, x)
    return 0.0


LOOP = family_loop(_dispatch)
