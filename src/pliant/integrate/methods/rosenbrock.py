"""The family of Rosenbrock methods: one Jacobian, one factorisation and a fixed number of evaluations per step.  Compiled.

See `march` for the loop, `rosenbrock_tableaus` for the numbers. Quadratures (works, impulses) do not feed back: their columns of J
are zero, so their stages need only J's rows and no linear system.
"""

from __future__ import annotations

import math
from typing import Any

from pliant.codegen.loop_language import floats, ints
from pliant.integrate.loop.family import ATTEMPT, ERROR, STIFFNESS, TAKE, family_loop, hermite
from pliant.integrate.loop.kernels import call_kernel, end_slope, finite, put, stage
from pliant.integrate.methods.jacobians import evaluate_jacobian, spectral_radius
from pliant.integrate.methods.radau import accumulate, blend, row
from pliant.integrate.methods.resolvent import factorise_real, resolve_real


def _prepare(run: Any, h: float) -> bool:
    """Evaluate J at the start of the step, and factorise I / (gamma h) - J."""
    if run.step_t != run.t or run.fresh or not run.jacobian_known:
        evaluate_jacobian(run)
        run.step_t, run.fresh = run.t, 0
    if run.factorised_h != h:
        run.factorised_h = 0.0
        if not factorise_real(run, run.pole / h):
            return False
        run.factorisations += 1
        run.factorised_h = h
    return True


def _stage(run: Any, i: int, h: float, t_new: float) -> None:
    """Compute stage u_i."""
    s, n, m = run.schemed, run.n, run.n_newton
    a, c = floats(run.integrals + 8 * i * s, s), floats(run.coupling + 8 * i * s, s)
    u, f = row(run, run.z, i), row(run, run.slopes, i)
    if i == 0:
        put(f, stage(run, 0), n)
    elif ints(run.repeats, s)[i]:
        put(f, row(run, run.slopes, i - 1), n)
    else:
        put(run.y_try, run.y, n)
        for j in range(i):
            accumulate(run.y_try, row(run, run.z, j), a[j], n)
        t = min(run.t + floats(run.nodes, s)[i] * h, t_new)
        call_kernel(run.rhs, t, run.y_try, run.p, f, run.work)
        run.rhs_evaluations += 1
    put(u, f, n)
    for j in range(i):
        accumulate(u, row(run, run.z, j), c[j] / h, n)
    accumulate(u, run.matrix + 8 * n * m, h * floats(run.drift, s)[i], n)
    resolve_real(run, u, run.pole / h)
    _quadratures(run, u, h)


def _quadratures(run: Any, address: int, h: float) -> None:
    """u / (gamma h) = right-hand side + J u, without feedback."""
    n, m = run.n, run.n_newton
    u, matrix = floats(address, n), floats(run.matrix, n * m)
    for i in range(m, n):
        total = u[i]
        for j in range(m):
            total += matrix[i * m + j] * u[j]
        u[i] = total * h / run.pole


def take_step(run: Any, h: float, t_new: float) -> bool:
    """Compute all stages of a step h from (t, y) with known k_0, and write y_new."""
    run.last_taken, run.unsolved = h, 1
    if not _prepare(run, h):
        run.wanted = 0.5 * h
        put(run.y_new, run.y, run.n)
        return False
    for i in range(run.schemed):
        _stage(run, i, h, t_new)
    blend(run, run.y_new, run.solution, run.z, run.n)
    accumulate(run.y_new, run.y, 1.0, run.n)
    run.unsolved = 0
    return True


def error_norm(run: Any, h: float) -> float:
    """Root mean square of the embedded estimate over the tolerances."""
    if run.unsolved:
        return math.inf
    n = run.n_controlled
    blend(run, run.spare, run.estimate, run.z, n)
    estimate, y, y_new, atol = floats(run.spare, n), floats(run.y, n), floats(run.y_new, n), floats(run.atol, n)
    total = 0.0
    for i in range(n):
        total += (estimate[i] / (atol[i] + run.rtol * max(abs(y[i]), abs(y_new[i])))) ** 2
    return math.sqrt(total / run.n_mean)


def attempt(run: Any, h: float, t_new: float) -> float:
    """Attempt a step h and return its error (0 for a fixed step); writes y_new and, if the step is acceptable, k_1."""
    if not take_step(run, h, t_new):
        return -1.0 if run.error_rows > 0 else math.inf
    error = error_norm(run, h)
    if error != error or not finite(run.y_new, run.n):
        return math.inf
    if run.error_rows == 0:
        run.error_sum += error
        run.error_largest = max(run.error_largest, error)
        run.error_count += 1
        error = 0.0
    if error > 1.0:
        return error
    end_slope(run, t_new)
    if not finite(stage(run, run.stages), run.n):
        return math.inf
    return error


def interpolate(run: Any, target: int, h: float, x: float) -> None:
    """The method's own dense output, or the cubic through both ends if it has none."""
    s, n, terms = run.schemed, run.n, run.terms
    if terms == 0:
        hermite(run, target, h, x, run.n)
        return
    dense, weights, solution = floats(run.polynomials, terms * s), floats(run.weights, s), floats(run.solution, s)
    for j in range(s):
        value = 0.0
        for k in range(terms - 1, -1, -1):
            value = dense[k * s + j] + x * value
        weights[j] = x * (solution[j] + (1.0 - x) * value)
    blend(run, target, run.weights, run.z, n)
    accumulate(target, run.y, 1.0, n)


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


LOOP = family_loop(_dispatch)
