"""Sensitivities S = dy/dtheta along the steps that a run took: S' = f_y S + f_theta, with the run's own method. Compiled.

The run is complete when this begins: refused steps and the event search cost S nothing, and nothing here changes the run. Every
step is taken again from the state on the tape, and its stages are evaluated together with all directions. Within a step the
equations stay on one side of each corner; the side is decided inside the step, and a step in which it changes is cut there. S has
its own error control, which cuts a step until its error is small enough: a state at rest allows any step while S may oscillate, and
where contact forces begin and end, a depth to the power 1.5 in the state becomes a square root in S.
"""

from __future__ import annotations

import math
from typing import Any

from pliant.codegen.loop_language import floats, ints
from pliant.integrate.loop.kernels import Loop, call_kernel, finite, put
from pliant.integrate.memory.run_record import BLOCK
from pliant.integrate.methods.stage_sums import add_terms, weigh_all
from pliant.integrate.replay.variation_record import LANES, VARIATION

PLACES = (1e-3, 0.5, 0.999)  # fractions of the step at which decisions are evaluated
MOST_CORNERS = 64  # most corners in a step: more frequent changes of side are round-off
HALVINGS = 28  # bisections of the interval in which a decision changes: to a few 1e-9 of the step
PROJECTIONS = 2  # as in `march`
SAFETY = 0.9
LEAST_FACTOR, LARGEST_FACTOR = 0.2, 5.0
SHORTEST = 1e-9  # fraction of a step: S is not cut into shorter pieces
NOT_FINITE, TOO_SHORT = 1, 2


def _go_along(run: Any) -> int:
    """Compute S along steps first ... last - 1, which share one set of parameters; returns `failed`."""
    run.step = math.inf
    for k in range(run.first, run.last):
        _step(run, k)
        if run.failed != 0:
            run.failed_t = floats(run.tape_t + 16 * k, 2)[0]
            break
    return int(run.failed)


def _step(run: Any, k: int) -> None:
    """One step of the tape, cut into pieces at its corners."""
    times = floats(run.tape_t + 16 * k, 2)
    t, h, end = times[0], times[1] - times[0], run.tape_end + 8 * run.n * k
    put(run.y, run.tape_y + 8 * run.n * k, run.n)
    done, cuts, run.interpolates = 0.0, 0, 0
    if run.n_deciding > 0:
        if k == run.first:
            call_kernel(run.rhs, t, run.y, run.p, run.slopes, run.work)
        else:
            put(run.slopes, run.slopes + 8 * run.n, run.n)
        call_kernel(run.rhs, times[1], end, run.p, run.slopes + 8 * run.n, run.work)
        begin = run.tape_y + 8 * run.n * k
        _decide(run, t, h, PLACES[0], begin, end, 0)
        for i in range(1, 3):
            while cuts < MOST_CORNERS and _differs(run, t, h, PLACES[i], begin, end):
                if run.may_interpolate and not run.interpolates:
                    _take_whole(run, t, h, begin)
                    continue  # the result of the cubic is checked again
                edge = _edge(run, t, h, max(PLACES[i - 1], done), PLACES[i], begin, end)
                run.corners += 1
                cuts += 1
                if edge > done:
                    _piece(run, t + done * h, (edge - done) * h, times[1], run.y_new)
                    done = edge
                put(run.decided, run.decided + 8 * run.n_decisions, run.n_decisions)
                if run.failed != 0:
                    return
        put(run.p + 8 * run.n_p, run.decided, run.n_decisions)
    _piece(run, t + done * h, (1.0 - done) * h, times[1], end if done == 0.0 else run.y_new)
    if run.project_primal != 0:
        _project(run, times[1])
    put(run.y, end, run.n)
    _answer_at(run, times[1], run.y)


# ---- decisions


def _decide(run: Any, t: float, h: float, x: float, begin: int, end: int, which: int) -> None:
    """Evaluate the decisions of the right-hand side at t + x h, on the cubic through both ends or on the dense output."""
    if run.interpolates:
        _weigh(run, x)
        n_k = run.stages + 1 + run.extras
        for block in range(0, 8 * run.n_padded, 8 * BLOCK):
            weigh_all(run.y_look + block, run.y_begin + block, h, run.k_whole + block, 8 * run.n_padded, run.weights, n_k)
        call_kernel(run.decide, t + x * h, run.y_look, run.p, run.decided + 8 * run.n_decisions * which, run.work)
        return
    n = run.n_read
    y0, y1, out = floats(begin, n), floats(end, n), floats(run.y_look, n)
    k0, k1 = floats(run.slopes, n), floats(run.slopes + 8 * run.n, n)
    rise, first, last = x * x * (3.0 - 2.0 * x), h * x * (1.0 - x) ** 2, h * x * x * (x - 1.0)
    for i in range(n):
        out[i] = y0[i] + rise * (y1[i] - y0[i]) + first * k0[i] + last * k1[i]
    call_kernel(run.decide, t + x * h, run.y_look, run.p, run.decided + 8 * run.n_decisions * which, run.work)


def _take_whole(run: Any, t: float, h: float, begin: int) -> None:
    """Compute all stages of the run's step for its dense output, which locates corners more accurately than the cubic."""
    put(run.y_begin, begin, run.n)
    put(run.k_whole, run.slopes, run.n)
    put(run.k_whole + 8 * run.stages * run.n_padded, run.slopes + 8 * run.n, run.n)
    c = floats(run.c, run.stages + 1 + run.extras)
    for i in range(1, run.stages + 1 + run.extras):
        if i != run.stages:
            _sum(run, run.y_look, run.y_begin, run.k_whole, run.n_padded, h, i, run.n_padded)
            call_kernel(run.rhs, t + c[i] * h, run.y_look, run.p, run.k_whole + 8 * i * run.n_padded, run.work)
    run.interpolates = 1


def _differs(run: Any, t: float, h: float, x: float, begin: int, end: int) -> bool:
    """Whether a decision at x differs from that at the beginning of this piece; the new decisions are stored after the old."""
    _decide(run, t, h, x, begin, end, 1)
    ours, theirs = floats(run.decided, run.n_decisions), floats(run.decided + 8 * run.n_decisions, run.n_decisions)
    matters = floats(run.matters, run.n_decisions)
    for i in range(run.n_decisions):  # noqa: SIM110
        if ours[i] != theirs[i] and matters[i] != 0.0:
            return True
    return False


def _edge(run: Any, t: float, h: float, low: float, high: float, begin: int, end: int) -> float:
    """Where in low ... high the first decision changes; decisions just beyond it follow those of this piece, which go to p."""
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if _differs(run, t, h, middle, begin, end):
            high = middle
        else:
            low = middle
    _differs(run, t, h, high, begin, end)
    put(run.p + 8 * run.n_p, run.decided, run.n_decisions)
    return high


# ---- steps


def _stage(run: Any, i: int) -> int:
    return int(run.k + 8 * i * run.n_padded)


def _tangents(run: Any, i: int) -> int:
    return int(run.l + 8 * i * run.groups * run.n_rows * LANES)


def _piece(run: Any, t: float, h: float, t_end: float, end: int) -> None:
    """One piece from (t, y, s) over h; end: the state there, which is written to y."""
    done, longest, before = 0.0, run.step if run.error_rows > 0 else h, run.shortened
    while done < h:
        step = (h - done) / math.ceil((h - done) / longest * (1.0 - 1e-10)) if longest < h - done else h - done
        _take(run, t + done, step, t_end)
        factor = LARGEST_FACTOR
        if run.error_rows > 0:
            error = _error(run, step) * run.strictness
            factor = min(max(SAFETY * max(error, 1e-30) ** (-run.exponent), LEAST_FACTOR), LARGEST_FACTOR)
            if error > 1.0:
                run.shortened += 1
                longest = step * factor
                if longest < SHORTEST * h:
                    run.failed = TOO_SHORT
                    return
                continue
        final = done + step >= h
        target = end if final else run.y_new
        _answer_inside(run, t + done, step, t_end, final)
        put(run.y, target, run.n)
        put(run.s, run.s_new, run.groups * run.n_rows * LANES)
        done = h if final else done + step
        longest = step * factor
    run.step = longest if run.shortened > before else math.inf
    if not finite(run.s, run.groups * run.n_rows * LANES):
        run.failed = NOT_FINITE


def _take(run: Any, t: float, h: float, t_end: float) -> None:
    """Compute all stages of a step h from (t, y, s), and its end."""
    c = floats(run.c, run.stages)
    for i in range(run.stages):
        _evaluate(run, i, i, min(t + c[i] * h, t_end), h)
    _sum(run, run.y_new, run.y, run.k, run.n_padded, h, run.stages, run.n_padded)
    whole = run.groups * run.n_rows * LANES
    _sum(run, run.s_new, run.s, run.l, whole, h, run.stages, whole)


def _evaluate(run: Any, i: int, row: int, t: float, h: float) -> None:
    """Compute k_i and l_i with the coefficients of a row of the tableau."""
    whole, own = run.groups * run.n_rows * LANES, run.n_rows * LANES
    _sum(run, run.y_try, run.y, run.k, run.n_padded, h, row, run.n_padded)
    for g in range(run.groups):
        at = 8 * g * own
        _sum(run, run.seeds + 8 * g * run.n_seeds * LANES, run.s + at, run.l + at, whole, h, row, run.n_moved)
    _linearise(run, t, run.y_try, _stage(run, i), _tangents(run, i))


def _linearise(run: Any, t: float, y: int, k: int, tangents: int) -> None:
    """f and f_y S + f_theta at a state, for the present seeds."""
    call_kernel(run.primal, t, y, run.p, run.out, run.work)
    put(k, run.out, run.n)
    call_kernel(run.linear, float(run.groups), run.seeds, run.out, tangents, run.work)
    run.evaluations += 1


def _sum(run: Any, target: int, base: int, k: int, stride: int, h: float, row: int, count: int) -> None:
    """target = base + h sum a_j k_j, for `count` numbers."""
    terms = ints(run.row_first + 8 * row, 2)
    number, columns, values = terms[1] - terms[0], run.column + 8 * terms[0], run.value + 8 * terms[0]
    for block in range(0, 8 * count, 8 * BLOCK):
        add_terms(target + block, base + block, h, k + block, 8 * stride, columns, values, number)


def _error(run: Any, h: float) -> float:
    """The error of the worst direction: the estimate over rtol times the size of S, both in units of the state's tolerances.

    Since S begins at zero, an error is also acceptable if theta times the error is within the tolerances of the state.
    """
    whole, row, worst = run.groups * run.n_rows * LANES, run.stages + 1 + run.extras, 0.0
    y, atol = floats(run.y, run.n), floats(run.atol, run.n)
    _sum(run, run.estimate, run.zeros, run.l, whole, h, row, whole)
    if run.error_rows > 1:
        _sum(run, run.estimate + 8 * whole, run.zeros, run.l, whole, h, row + 1, whole)
    fines, coarses = floats(run.estimate, whole), floats(run.estimate + 8 * whole, whole)
    before, after = floats(run.s, whole), floats(run.s_new, whole)
    whole_theta = floats(run.theta, run.directions)
    for d in range(run.directions):
        at = d // LANES * run.n_rows * LANES + d % LANES
        fine = coarse = size = 0.0
        for i in range(run.n_controlled):
            scale, j = 1.0 / (atol[i] + run.rtol * abs(y[i])), at + i * LANES
            fine += (fines[j] * scale) ** 2
            coarse += (coarses[j] * scale) ** 2
            size += (max(abs(before[j]), abs(after[j])) * scale) ** 2
        if fine == 0.0:
            continue
        error = fine / math.sqrt(fine + 0.01 * coarse) if run.error_rows > 1 else math.sqrt(fine)
        if error != error:
            return math.inf
        worst = max(worst, error / max(run.rtol * math.sqrt(size), math.sqrt(run.n_mean) / whole_theta[d]))
    return worst


def _project(run: Any, t: float) -> None:
    """Project S onto the constraints, as the march projects the state."""
    own = run.n_rows * LANES
    for _ in range(PROJECTIONS):
        if run.n_decisions_project > 0:
            call_kernel(run.project_decide, t, run.y_new, run.p_project, run.p_project + 8 * run.n_p_project, run.work)
        call_kernel(run.project_primal, t, run.y_new, run.p_project, run.out_project, run.work)
        for g in range(run.groups):
            put(run.seeds_project + 8 * g * run.n_seeds_project * LANES, run.s + 8 * g * own, own)
        call_kernel(run.project_linear, float(run.groups), run.seeds_project, run.out_project, run.s, run.work)
        put(run.y_new, run.out_project, run.n)


# ---- output at requested times


def _answer_inside(run: Any, t: float, h: float, t_end: float, final: bool) -> None:
    """Write state and S at requested times in t < time < t + h, by dense output; the end is included if the step continues."""
    times, ready = floats(run.query_t, run.n_queries), False
    while run.next_query < run.n_queries:
        asked = times[run.next_query]
        if not (asked < t_end and (asked < t + h or (not final and asked <= t + h))):
            break
        if not ready:
            _extra_stages(run, t, h, t_end)
            ready = True
        _interpolate(run, h, (asked - t) / h)


def _extra_stages(run: Any, t: float, h: float, t_end: float) -> None:
    c = floats(run.c, run.stages + 1 + run.extras)
    own = run.n_rows * LANES
    for g in range(run.groups):
        put(run.seeds + 8 * g * run.n_seeds * LANES, run.s_new + 8 * g * own, run.n_moved)
    put(run.y_try, run.y_new, run.n)
    _linearise(run, min(t + h, t_end), run.y_try, _stage(run, run.stages), _tangents(run, run.stages))
    for i in range(run.stages + 1, run.stages + 1 + run.extras):
        _evaluate(run, i, i, t + c[i] * h, h)


def _interpolate(run: Any, h: float, x: float) -> None:
    """State and S at t + x h."""
    n_k, whole = run.stages + 1 + run.extras, run.groups * run.n_rows * LANES
    _weigh(run, x)
    y, s = run.query_y + 8 * run.n_padded * run.next_query, run.query_s + 8 * whole * run.next_query
    for block in range(0, 8 * run.n_padded, 8 * BLOCK):
        weigh_all(y + block, run.y + block, h, run.k + block, 8 * run.n_padded, run.weights, n_k)
    for block in range(0, 8 * whole, 8 * BLOCK):
        weigh_all(s + block, run.s + block, h, run.l + block, 8 * whole, run.weights, n_k)
    run.next_query += 1


def _weigh(run: Any, x: float) -> None:
    """Weights of the stages in the dense output, in the nested form used by the explicit methods."""
    n_k, basis = run.stages + 1 + run.extras, x
    weights = floats(run.weights, n_k)
    for m in range(run.terms):
        row = floats(run.dense + 8 * n_k * m, n_k)
        for j in range(n_k):
            weights[j] = row[j] * basis + (weights[j] if m > 0 else 0.0)
        basis *= (1.0 - x) if m % 2 == 0 else x


def _answer_at(run: Any, t: float, y: int) -> None:
    """Write the output requested at the end of a step."""
    times, whole = floats(run.query_t, run.n_queries), run.groups * run.n_rows * LANES
    while run.next_query < run.n_queries and times[run.next_query] <= t:
        put(run.query_y + 8 * run.n_padded * run.next_query, y, run.n)
        put(run.query_s + 8 * whole * run.next_query, run.s, whole)
        run.next_query += 1


LOOP = Loop(_go_along, (VARIATION,))
