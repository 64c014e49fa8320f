"""The two-loop procedure with coordinate partitioning: only independent coordinates are integrated.

First loop: the linear equations for accelerations and multipliers at every stage, which are the right-hand side. Second loop,
carried out before it: Newton-Raphson for the dependent coordinates on the constraints C = 0, then C_q v = -C_t for their rates
(Wehage and Haug 1982; Ebrahimi, Nouri, Salahshoor). A non-holonomic row has no C (it is zero): it determines a rate, while all
coordinates that it reads are integrated. The independent coordinates are chosen by Gaussian elimination of C_q with full
pivoting, and chosen again when a pivot has become small. Compiled; a family as defined in `family`, for the stages of any tableau.
"""

from __future__ import annotations

import math
from typing import Any

from pliant.codegen.loop_language import floats, ints
from pliant.integrate.loop.family import ATTEMPT, ERROR, TAKE, family_loop
from pliant.integrate.loop.kernels import call_kernel, end_slope, finite, put, stage
from pliant.integrate.methods.lu import factorise, solve
from pliant.integrate.methods.runge_kutta import combine, error_norm
from pliant.integrate.methods.runge_kutta import interpolate as on_dense_output

NEWTON_LIMIT = 10  # Newton-Raphson steps after which a stage counts as impossible to close
NEWTON = 1e-8  # m or rad: after a step shorter than this, the next would be 1e-16
LESS = 0.25  # fraction of a step whose stages could not be closed
CORRECTION = 10.0  # multiple of the tolerance: a larger correction leads to another branch of the constraints
BETTER = 1.5  # factor on the smallest pivot that a new partition must gain
DETERIORATED = 0.5  # fraction of the smallest pivot at the time the partition was chosen
NO_PIVOT = 1e-12  # fraction of the largest entry of C_q: a row with a smaller pivot is dependent


def _look(run: Any, t: float, y: int) -> None:
    """Evaluate C, its rate and C_q at a state."""
    call_kernel(run.constraints, t, y, run.p, run.held, run.work)
    run.constraint_evaluations += 1


def _reduce(run: Any) -> bool:
    """Factorise C_q of the dependent coordinates, and remember its smallest pivot."""
    m, width = run.n_constraints, run.n_rates
    whole, part = floats(run.held + 16 * m, m * width), floats(run.reduced, m * m)
    dependent = ints(run.dependent, m)
    for i in range(m):
        for j in range(m):
            part[i * m + j] = whole[i * width + dependent[j]]
    if not factorise(run.reduced, run.reduced_pivots, m):
        return False
    largest = 0.0
    for i in range(m):
        largest = max(largest, abs(part[i * m + i]))  # the diagonal holds reciprocals of pivots
    run.least_pivot = 1.0 / largest
    return True


def _choose(run: Any) -> bool:
    """Choose the dependent coordinates: pivot columns of C_q with full pivoting; False if its rows are not independent."""
    m, width = run.n_constraints, run.n_rates
    _look(run, run.t, run.y)
    put(run.eliminated, run.held + 16 * m, m * width)
    a, ease, dependent = floats(run.eliminated, m * width), floats(run.ease, width), ints(run.dependent, m)
    for i in range(m):
        for j in range(width):
            a[i * width + j] *= ease[j]
    first = 0.0
    for k in range(m):
        row, column, size = k, 0, -1.0
        for i in range(k, m):
            for j in range(width):
                if abs(a[i * width + j]) > size:
                    row, column, size = i, j, abs(a[i * width + j])
        first = max(first, size)
        if not size > NO_PIVOT * first:
            return False
        for j in range(width):
            a[k * width + j], a[row * width + j] = a[row * width + j], a[k * width + j]
        for i in range(k + 1, m):
            factor = a[i * width + column] / a[k * width + column]
            for j in range(width):
                a[i * width + j] -= factor * a[k * width + j]
            a[i * width + column] = 0.0
        dependent[k] = column
    return True


def _partition(run: Any) -> bool:
    """Choose independent coordinates, and keep the new choice if it is better."""
    m, before = run.n_constraints, run.least_pivot
    if run.partitions > 0:
        for i in range(m):
            ints(run.former, m)[i] = ints(run.dependent, m)[i]
    if not _choose(run) or not _reduce(run):
        return False
    run.partitions += 1
    if run.partitions > 1 and not run.least_pivot > BETTER * before:
        for i in range(m):
            ints(run.dependent, m)[i] = ints(run.former, m)[i]
        run.partitions -= 1
        return _reduce(run)
    run.chosen_pivot = run.least_pivot
    return True


def _solved(run: Any, first: int) -> float:
    """Write -(C_q of the dependent coordinates)^-1 times the m numbers at `first` to `change`; returns the largest entry."""
    m = run.n_constraints
    given, change = floats(first, m), floats(run.change, m)
    for i in range(m):
        change[i] = -given[i]
    solve(run.reduced, run.reduced_pivots, run.change, m)
    largest = 0.0
    for i in range(m):
        largest = max(largest, abs(change[i]))
        if change[i] != change[i]:
            return math.inf
    return largest


def _shift(run: Any, t: float, y: int) -> None:
    """Move the dependent coordinates by `change`."""
    m, n, width = run.n_constraints, run.n, run.n_rates
    dependent, change = ints(run.dependent, m), floats(run.change, m)
    put(run.moved, y, n)
    along = floats(run.moved + 8 * n, width)
    for j in range(width):
        along[j] = 0.0
    for i in range(m):
        along[dependent[i]] = change[i]
    call_kernel(run.shift, t, run.moved, run.p, run.placed, run.work)
    put(y, run.placed, run.n_positions)


def settle(run: Any, t: float, y: int) -> bool:
    """Solve for the dependent coordinates and rates of a state; False if Newton's method does not converge."""
    m = run.n_constraints
    closed = bool(m == 0)
    for _ in range(NEWTON_LIMIT):
        if closed:
            break
        _look(run, t, y)
        if not _reduce(run):
            return False
        step = _solved(run, run.held)
        if not step < math.inf:
            return False
        _shift(run, t, y)
        closed = bool(step <= NEWTON)
    if m == 0 or not closed:
        return closed
    _look(run, t, y)
    if not _reduce(run) or not _solved(run, run.held + 8 * m) < math.inf:
        return False
    rates, dependent = floats(y + 8 * run.n_positions, run.n_rates), ints(run.dependent, m)
    change = floats(run.change, m)
    for i in range(m):
        rates[dependent[i]] += change[i]
    return True


def take_step(run: Any, h: float, t_new: float) -> bool:
    """Compute k_1 ... k_(s-1) and y_new of a step h, with the state of every stage settled first."""
    c = floats(run.c, run.stages)
    run.last_taken = h
    for i in range(1, run.stages):
        t = min(run.t + c[i] * h, t_new)
        combine(run, run.y_try, run.y, h, i, run.n_padded)
        if not settle(run, t, run.y_try):
            return False
        call_kernel(run.rhs, t, run.y_try, run.p, stage(run, i), run.work)
        run.rhs_evaluations += 1
    combine(run, run.y_new, run.y, h, run.stages, run.n_padded)
    put(run.y_try, run.y_new, run.n)
    return settle(run, min(run.t + h, t_new), run.y_new)  # t_new may be the end of a longer step, in which an event is located


def _corrected(run: Any) -> float:
    """The distance by which Newton-Raphson moved the end of a step from the result of the stages, in the error norm."""
    n = run.n_controlled
    y, y_new, before, atol = floats(run.y, n), floats(run.y_new, n), floats(run.y_try, n), floats(run.atol, n)
    total = 0.0
    for i in range(n):
        total += ((y_new[i] - before[i]) / (atol[i] + run.rtol * max(abs(y[i]), abs(y_new[i])))) ** 2
    return math.sqrt(total / run.n_mean)


def attempt(run: Any, h: float, t_new: float) -> float:
    """Attempt a step h and return its error (inf: not finite, < 0: loops do not close); writes y_new and k_s."""
    run.wanted = LESS * h
    if run.n_constraints > 0 and (run.fresh or run.partitions == 0 or run.least_pivot < DETERIORATED * run.chosen_pivot):
        if not _partition(run):
            return -1.0
        run.fresh = 0
    if not take_step(run, h, t_new):
        return -1.0
    if not finite(run.y_new, run.n):
        return math.inf
    corrected = _corrected(run) / CORRECTION
    error = max(error_norm(run, h), corrected)
    if error != error:
        return math.inf
    if error > 1.0:
        return error
    end_slope(run, t_new)
    return error if finite(stage(run, run.stages), run.n) else math.inf


def _extra_stages(run: Any, h: float) -> None:
    if run.extras_done:
        return
    run.extras_done = 1
    c = floats(run.c, run.stages + 1 + run.extras)
    for i in range(run.stages + 1, run.stages + 1 + run.extras):
        combine(run, run.y_try, run.y, h, i, run.n_padded)
        settle(run, run.t + c[i] * h, run.y_try)
        call_kernel(run.rhs, run.t + c[i] * h, run.y_try, run.p, stage(run, i), run.work)
    run.rhs_evaluations += run.extras


def _dispatch(run: Any, action: int, target: int, h: float, x: float) -> float:
    """The interface to the march, see `family`."""
    if action == ATTEMPT:
        return attempt(run, h, x)
    if action == TAKE:
        take_step(run, h, x)
    elif action == ERROR:
        return error_norm(run, h)
    else:
        _extra_stages(run, h)
        on_dense_output(run, target, h, x)
        settle(run, run.t + x * h, target)
    return 0.0


LOOP = family_loop(_dispatch)
