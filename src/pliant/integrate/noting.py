"""Compiled: a run records its own history, for `course` to read."""

from __future__ import annotations

from typing import Any

from pliant.integrate.kernels import compiled, floats, put
from pliant.integrate.run_record import EXTREMES, HIGHEST, HIGHEST_AT, KEPT, LOWEST, RISE, RISEN_AT


@compiled
def note(run: Any) -> None:
    """Record the present state, at the start and after every step."""
    _note_extremes(run)
    run.to_skip -= 1
    if run.to_skip >= 0:
        return
    if run.n_kept == KEPT:
        _thin(run)
    floats(run.kept_t, KEPT)[run.n_kept] = run.t
    put(run.kept_y + 8 * run.n * run.n_kept, run.y, run.n)
    put(run.kept_p + 8 * run.n_parameters * run.n_kept, run.p, run.n_parameters)
    run.n_kept += 1
    run.to_skip = run.stride - 1


@compiled
def _note_extremes(run: Any) -> None:
    y, known = floats(run.y, run.n), floats(run.extremes, EXTREMES * run.n_added)
    for k in range(run.n_added):
        x, own = y[run.first_added + k], EXTREMES * k
        if x < known[own + LOWEST]:
            known[own + LOWEST] = x
        if x > known[own + HIGHEST]:
            known[own + HIGHEST] = x
            known[own + HIGHEST_AT] = run.t
        if x - known[own + LOWEST] > known[own + RISE]:
            known[own + RISE] = x - known[own + LOWEST]
            known[own + RISEN_AT] = run.t


@compiled
def _thin(run: Any) -> None:
    """Keep every second state, beginning with the first."""
    times = floats(run.kept_t, KEPT)
    for k in range(1, KEPT // 2):
        times[k] = times[2 * k]
        put(run.kept_y + 8 * run.n * k, run.kept_y + 16 * run.n * k, run.n)
        put(run.kept_p + 8 * run.n_parameters * k, run.kept_p + 16 * run.n_parameters * k, run.n_parameters)
    run.n_kept = KEPT // 2
    run.stride *= 2
