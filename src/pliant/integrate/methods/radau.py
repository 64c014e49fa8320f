"""The family of Radau IIA methods, any odd number of stages.  Compiled; see `march` for the loop, `collocation` for the numbers.

Hairer, Wanner, Solving Ordinary Differential Equations II, IV.8: simplified Newton iterations on transformed stages, so that
one real system and one complex system for each pair of eigenvalues are solved; the Jacobian is kept while iterations
contract well, factorisations while the step stays.  Quadratures (works, impulses) do not feed back: their stages follow.
"""

from __future__ import annotations

import math
from typing import Any

from pliant.codegen.loop_language import floats, fused
from pliant.integrate.loop.family import ATTEMPT, ERROR, STIFFNESS, TAKE, family_loop
from pliant.integrate.loop.kernels import call_kernel, end_slope, finite, put, stage
from pliant.integrate.methods.coupled import factorise_coupled, improve_coupled
from pliant.integrate.methods.jacobians import evaluate_jacobian, spectral_radius
from pliant.integrate.methods.resolvent import factorise_pair, factorise_real, resolve_pair, resolve_real

GOOD_CONTRACTION = 1e-3  # the Jacobian is evaluated anew if iterations contract less than this
SLOW_CONTRACTION = 0.1  # the Jacobians of all stages are evaluated anew in the same step if iterations contract less than this
BAD_CONTRACTION = 0.99
RELAX = 0.5  # fraction of the step at which one Jacobian was not enough: below it a single Jacobian is tried again
FARTHEST = 10.0  # times the length of the stages solved last: beyond, their polynomial of degree 5 says nothing
SOON = 1e-3  # fraction of a step over which the change of the equations with time alone is measured
ROUND_OFF = 2.0**-52


def row(run: Any, array: int, i: int) -> int:
    """The address of stage i in an array (stage, component)."""
    return int(array + 8 * i * run.n_padded)


@fused
def accumulate(target: int, source: int, factor: float, n: int) -> None:
    """target += factor source."""
    to, by = floats(target, n), floats(source, n)
    for i in range(n):
        to[i] += factor * by[i]


def blend(run: Any, target: int, weights: int, rows: int, n: int) -> None:
    """target = sum weights_j rows_j, over the stages."""
    weight = floats(weights, run.schemed)
    put(target, run.zeros, n)
    for j in range(run.schemed):
        accumulate(target, row(run, rows, j), weight[j], n)


def _begin(run: Any) -> None:
    """Begin a step: the stages solved last are those of another length from the same state, of the step that led here, or none."""
    if run.step_t == run.t and not run.fresh and run.step_h > 0.0:
        if not run.unsolved:
            put(run.z_old, run.z, run.schemed * run.n_padded)
            run.old_h, run.old_end = run.step_h, 0.0
        return
    run.old_h = 0.0
    if run.fresh:
        run.jacobian_known, run.contraction_factor, run.coupled = 0, 1.0, 0
    elif run.step_h > 0.0 and abs(run.step_t + run.step_h - run.t) <= 4.0 * ROUND_OFF * abs(run.t):
        put(run.z_old, run.z, run.schemed * run.n_padded)
        run.old_h, run.old_end = run.step_h, 1.0
    run.fresh = run.jacobian_here = 0
    run.step_t = run.t


def _factorise(run: Any, h: float) -> bool:
    """Factorise the real system, which the error estimate needs too, and the complex ones if stages are solved for separately."""
    pole = floats(run.poles, 2 * run.pairs)
    run.factorised_h = 0.0
    if not factorise_real(run, run.pole / h):
        return False
    if not run.coupled:
        for k in range(run.pairs):
            if not factorise_pair(run, k, pole[2 * k] / h, pole[2 * k + 1] / h):
                return False
    run.factorisations += 1
    run.factorised_h = h
    return True


def _extrapolate(run: Any, h: float) -> None:
    """Initial stages of the iterations: those of the polynomial through the stages solved last."""
    s, n = run.schemed, run.n_newton
    nodes = floats(run.nodes, s)
    for i in range(s):
        _polynomial_weights(run, run.old_end + nodes[i] * h / run.old_h)
        floats(run.weights, s)[s - 1] -= run.old_end
        blend(run, row(run, run.z, i), run.weights, run.z_old, n)
    for i in range(s):
        blend(run, row(run, run.modes, i), run.to_modes + 8 * i * s, run.z, n)


def _linearise(run: Any, h: float) -> None:
    """Initial stages of the iterations: those of the equations linearised at the present state and time.

    Forces that saturate over a small fraction of the motion, as friction does, are followed where an extrapolation leaves them.
    """
    s, n = run.schemed, run.n_newton
    nodes, f = floats(run.nodes, s), floats(stage(run, 0), n)
    call_kernel(run.rhs, run.t + SOON * h, run.y, run.p, run.column_out, run.work)
    run.rhs_evaluations += 1
    soon, known = floats(run.column_out, n), finite(run.column_out, n)
    for i in range(s):
        put(row(run, run.z, i), run.zeros, n)
        put(row(run, run.modes, i), run.zeros, n)
        slope = floats(row(run, run.slopes, i), n)
        for k in range(n):
            slope[k] = f[k] + (nodes[i] / SOON * (soon[k] - f[k]) if known else 0.0)
    _improve(run, h)


def _polynomial_weights(run: Any, x: float) -> None:
    """Weights of the stages in the collocation polynomial at t + x h, relative to y."""
    s = run.schemed
    weights, powers = floats(run.weights, s), floats(run.polynomials, s * s)
    for j in range(s):
        value = 0.0
        for m in range(s - 1, -1, -1):
            value = (value + powers[j * s + m]) * x
        weights[j] = value


def _slopes(run: Any, h: float, t_new: float) -> bool:
    """Evaluate f at all stages; False if one is not finite."""
    s, n = run.schemed, run.n_newton
    nodes = floats(run.nodes, s)
    put(run.y_try, run.y, run.n)
    y, y_try = floats(run.y, n), floats(run.y_try, n)
    for i in range(s):
        z = floats(row(run, run.z, i), n)
        for k in range(n):
            y_try[k] = y[k] + z[k]
        call_kernel(run.rhs, min(run.t + nodes[i] * h, t_new), run.y_try, run.p, row(run, run.slopes, i), run.work)
        run.rhs_evaluations += 1
        if not finite(row(run, run.slopes, i), run.n):
            return False
    return True


def _improve(run: Any, h: float) -> float:
    """One Newton step on the transformed stages; returns its size in units of the tolerance."""
    s, n = run.schemed, run.n_newton
    right, right2 = run.right, run.right + 8 * run.n_padded
    pole = floats(run.poles, 2 * run.pairs)
    # real mode: (pole/h I - J) dw = (T^-1 f) - pole/h w
    blend(run, right, run.to_modes, run.slopes, n)
    accumulate(right, run.modes, -run.pole / h, n)
    resolve_real(run, right, run.pole / h)
    total = _take(run, 0, right)
    for k in range(run.pairs):
        i = 2 * k + 1
        a, b = pole[2 * k] / h, pole[2 * k + 1] / h
        first, second = row(run, run.modes, i), row(run, run.modes, i + 1)
        blend(run, right, run.to_modes + 8 * i * s, run.slopes, n)
        accumulate(right, first, -a, n)
        accumulate(right, second, b, n)
        blend(run, right2, run.to_modes + 8 * (i + 1) * s, run.slopes, n)
        accumulate(right2, first, -b, n)
        accumulate(right2, second, -a, n)
        resolve_pair(run, k, right, right2, a, b)
        total += _take(run, i, right) + _take(run, i + 1, right2)
    for i in range(s):
        blend(run, row(run, run.z, i), run.to_stages + 8 * i * s, run.modes, n)
    run.iterations += 1
    return math.sqrt(total / (n * s))


def _take(run: Any, i: int, change: int) -> float:
    """Add a change to mode i; returns the sum of its squares over the squared scale."""
    n = run.n_newton
    by, scale = floats(change, n), floats(run.scale, n)
    accumulate(row(run, run.modes, i), change, 1.0, n)
    total = 0.0
    for k in range(n):
        total += (by[k] / scale[k]) ** 2
    return total


def _iterate(run: Any, h: float, t_new: float) -> bool:
    """Newton iterations to an accuracy far below the tolerance; False, with run.wanted set, if they do not converge."""
    limit, tolerance = run.newton_limit, run.newton_tolerance
    factor = max(run.contraction_factor, ROUND_OFF) ** 0.8
    run.contraction, run.wanted, run.unsolved = GOOD_CONTRACTION, 0.5 * h, 1
    size_old = rate_old = 0.0
    stale = True  # whether the Jacobians at the stages are out of date
    for count in range(1, limit + 1):
        if not _slopes(run, h, t_new):
            run.unsolved = 2
            return False
        if run.coupled and stale and not factorise_coupled(run, h, t_new):
            return False
        size = improve_coupled(run, h) if run.coupled else _improve(run, h)
        stale = False
        if not size < math.inf:
            return False
        if count > 1 and size_old > 0.0:
            rate = size / size_old
            run.contraction = rate if count == 2 else math.sqrt(rate * rate_old)
            rate_old = rate
            stale = run.coupled != 0 and rate > SLOW_CONTRACTION
            if run.contraction >= BAD_CONTRACTION:
                return False
            factor = run.contraction / (1.0 - run.contraction)
            left = factor * size * run.contraction ** (limit - 1 - count) / tolerance
            if left >= 1.0 and count < limit and not stale:
                # too slow to converge within the allowed iterations
                run.wanted = 0.8 * h * max(1e-4, min(20.0, left)) ** (-1.0 / (4.0 + limit - 1 - count))
                return False
        size_old = max(size, ROUND_OFF)
        if factor * size <= tolerance:
            run.contraction_factor = factor
            run.effort = (1.0 + 2.0 * limit) / (count + 2.0 * limit)
            # the slopes are those before the last change: too old for works unless that change was within the remaining error
            run.slopes_final = run.n > run.n_newton and size > tolerance
            if run.slopes_final and not _slopes(run, h, t_new):
                run.unsolved = 2
                return False
            run.unsolved = 0
            return True
    return False


def _uncouple(run: Any) -> None:
    """Solve for the stages with one Jacobian again."""
    if run.coupled:
        run.coupled, run.factorised_h = 0, 0.0


def take_step(run: Any, h: float, t_new: float) -> bool:
    """Solve for the stages of a step h from (t, y), and write y_new.

    If this fails, it is repeated with the Jacobian of the present state, from the stages of the equations linearised there; then
    with a Jacobian for every stage.
    """
    _begin(run)
    n, y, atol, scale = run.n_newton, floats(run.y, run.n), floats(run.atol, run.n), floats(run.scale, run.n)
    for i in range(n):
        scale[i] = atol[i] + run.rtol * abs(y[i])
    run.last_taken, run.step_h = h, h
    extrapolates = 0.0 < h <= FARTHEST * run.old_h
    if h < RELAX * run.coupled_h or not extrapolates:
        _uncouple(run)
    if not run.jacobian_here and (run.coupled or not run.jacobian_known or run.contraction > GOOD_CONTRACTION):
        evaluate_jacobian(run)
    while True:
        run.unsolved = 1
        if run.factorised_h != h and not _factorise(run, h):
            run.wanted = 0.5 * h
            break
        if extrapolates:
            _extrapolate(run, h)
        else:
            _linearise(run, h)
        if _iterate(run, h, t_new) or run.unsolved == 2:
            break
        run.contraction_factor = 1.0
        if extrapolates:
            extrapolates = False
            _uncouple(run)
            if not run.jacobian_here:
                evaluate_jacobian(run)
        elif run.may_couple and not run.coupled:
            run.coupled, run.coupled_h = 1, h
        else:
            break
    _quadratures(run, h)
    y_new, z = floats(run.y_new, run.n), floats(row(run, run.z, run.schemed - 1), run.n)
    for i in range(run.n):
        y_new[i] = y[i] + z[i]
    return bool(run.unsolved == 0)


def _quadratures(run: Any, h: float) -> None:
    """z = h A g for components that do not feed back."""
    s, first, count = run.schemed, run.n_newton, run.n - run.n_newton
    a = floats(run.integrals, s * s)
    if count > 0:
        for i in range(s):
            target = row(run, run.z, i) + 8 * first
            put(target, run.zeros, count)
            for j in range(s):
                accumulate(target, row(run, run.slopes, j) + 8 * first, h * a[i * s + j], count)


def _estimate(run: Any, h: float, slope: int) -> None:
    """spare = (pole/h I - J)^-1 (slope + pole/h sum e_i z_i); for quadratures h/pole slope + sum e_i z_i."""
    n, m = run.n, run.n_newton
    blend(run, run.spare, run.estimate, run.z, n)
    estimate, f = floats(run.spare, n), floats(slope, n)
    for i in range(m):
        estimate[i] = f[i] + run.pole / h * estimate[i]
    for i in range(m, n):
        estimate[i] += h / run.pole * f[i]
    resolve_real(run, run.spare, run.pole / h)


def _weigh(run: Any) -> float:
    """Root mean square of `spare` over the tolerances."""
    n = run.n_controlled
    estimate, y, y_new, atol = floats(run.spare, n), floats(run.y, n), floats(run.y_new, n), floats(run.atol, n)
    total = 0.0
    for i in range(n):
        total += (estimate[i] / (atol[i] + run.rtol * max(abs(y[i]), abs(y_new[i])))) ** 2
    return math.sqrt(total / run.n_mean)


def error_norm(run: Any, h: float) -> float:
    """The error norm of the last step.

    It is estimated a second time from f(t, y + error) after a rejection and at a start, where the first estimate is too large for
    stiff components (Hairer, Wanner (8.20)), and for quadratures, whose slopes depend on the error of the state.
    """
    if run.unsolved:
        return math.inf
    _estimate(run, h, stage(run, 0))
    quadratures = run.n_controlled > run.n_newton
    error = 0.0 if quadratures else _weigh(run)
    if quadratures or (error >= 1.0 and (run.rejected_last or run.h_old == 0.0)):
        n, m = run.n, run.n_newton
        y, y_try, estimate = floats(run.y, n), floats(run.y_try, n), floats(run.spare, n)
        for i in range(m):
            y_try[i] = y[i] + estimate[i]
        for i in range(m, n):
            y_try[i] = y[i]
        call_kernel(run.rhs, run.t, run.y_try, run.p, run.column_out, run.work)
        run.rhs_evaluations += 1
        if finite(run.column_out, n):
            _estimate(run, h, run.column_out)
        error = _weigh(run)
    return error


def attempt(run: Any, h: float, t_new: float) -> float:
    """Attempt a step h and return its error; writes y_new and, if the step is acceptable, k_1."""
    if not take_step(run, h, t_new):
        return math.inf if run.unsolved == 2 else -1.0
    if not finite(run.y_new, run.n):
        return math.inf
    error = error_norm(run, h)
    if error != error:
        return math.inf
    if error > 1.0:
        return error
    if run.slopes_final:  # the last stage is the end of the step
        put(stage(run, run.stages), row(run, run.slopes, run.schemed - 1), run.n)
    else:
        end_slope(run, t_new)
    if not finite(stage(run, run.stages), run.n):
        return math.inf
    return error


def interpolate(run: Any, target: int, h: float, x: float) -> None:
    """The collocation polynomial at t + x h."""
    _polynomial_weights(run, x)
    blend(run, target, run.weights, run.z, run.n)
    accumulate(target, run.y, 1.0, run.n)


def _dispatch(run: Any, action: int, target: int, h: float, x: float) -> float:
    """The interface to the march, see `family`."""
    if action == ATTEMPT:
        return attempt(run, h, x)
    if action == TAKE:
        take_step(run, h, x)
    elif action == ERROR:
        return error_norm(run, h)
    elif action == STIFFNESS:
        return h * spectral_radius(run)
    else:
        interpolate(run, target, h, x)
    return 0.0


LOOP = family_loop(_dispatch, large=True)
