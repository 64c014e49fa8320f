"""Compiled: a run records its own history, for `course` to read."""

from __future__ import annotations

import math
from typing import Any

from pliant.codegen.loop_language import floats, ints
from pliant.integrate.loop.kernels import call_kernel, put, stage
from pliant.integrate.memory.run_record import EXTREMES, HIGHEST, HIGHEST_AT, KEPT, LOWEST, RISE, RISEN_AT

OUTDONE = 1.02  # times the largest so far: a smaller growth is not looked at, because it would be at every step of a slow start


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


def note_peaks(run: Any) -> None:
    """After a step, update the largest magnitudes where they may grow: while a contact is closed, whose forces come and go between
    two rows, and where a rate or an acceleration is larger than ever."""
    if run.n_sizes > 0 and (run.n_closed > 0 or _outdone(run)):
        note_loads(run)


def _outdone(run: Any) -> bool:
    slopes, largest, some = floats(stage(run, 0), run.n), floats(run.largest_slopes, run.first_added), False
    for i in range(run.first_added):
        if abs(slopes[i]) > OUTDONE * largest[i]:
            largest[i], some = abs(slopes[i]), True
    return some


def note_loads(run: Any) -> None:
    """Update the largest magnitudes with the present state, unless rows hold the state alone."""
    if run.n_sizes > 0 and run.bare == 0:
        call_kernel(run.observe_row, run.t, run.y, run.p, run.observed, run.work)
        note_sizes(run, run.t)


def note_sizes(run: Any, t: float) -> None:
    """Update the largest magnitudes with the last observed row, which is that at t."""
    observed, places = floats(run.observed, run.n_observed), ints(run.sizes, 2 * run.n_sizes)
    largest = floats(run.size_peaks, 2 * run.n_sizes)
    for k in range(run.n_sizes):
        square = 0.0
        for i in range(places[2 * k], places[2 * k] + places[2 * k + 1]):
            square += observed[i] * observed[i]
        if square > largest[2 * k] ** 2:  # false for nan
            largest[2 * k], largest[2 * k + 1] = math.sqrt(square), t


def _thin(run: Any) -> None:
    """Keep every second state, beginning with the first."""
    times = floats(run.kept_t, KEPT)
    for k in range(1, KEPT // 2):
        times[k] = times[2 * k]
        put(run.kept_y + 8 * run.n * k, run.kept_y + 16 * run.n * k, run.n)
        put(run.kept_p + 8 * run.n_parameters * k, run.kept_p + 16 * run.n_parameters * k, run.n_parameters)
    run.n_kept = KEPT // 2
    run.stride *= 2
