"""Recognises fixed steps that are too long: the state grows, and no work accounts for its energy.  Compiled."""

from __future__ import annotations

from typing import Any

from pliant.codegen.loop_language import floats
from pliant.integrate.loop.kernels import call_kernel
from pliant.integrate.memory.run_record import ENERGIES

GROWTH = 4.0  # of the squared length of the state: the ledger is examined each time the state has grown by this factor
UNACCOUNTED = 0.5  # of all energy at hand or exchanged since the start; a stable method at a useful step stays far below it


def open_ledger(run: Any) -> None:
    """Note stored energies and works at the start of a run."""
    _read_ledger(run, run.t, run.y, run.ledger_start)


def diverges(run: Any, t_new: float) -> bool:
    """Whether the state at the end of a step has grown by energy that came from nowhere."""
    y, size = floats(run.y_new, run.n), 0.0
    for i in range(run.first_added):  # works may be large where the motion is not
        size += y[i] * y[i]
    if run.at_energy < 0 or size <= GROWTH * run.grown_to:
        return False
    run.grown_to = size
    _read_ledger(run, t_new, run.y_new, run.ledger)
    count = ENERGIES + run.n_added
    start, now = floats(run.ledger_start, count), floats(run.ledger, count)
    unaccounted, exchanged = 0.0, run.at_hand
    for k in range(count):
        change = now[k] - start[k]
        unaccounted += change if k < ENERGIES else -change
        exchanged += abs(change)
    return bool(abs(unaccounted) > UNACCOUNTED * exchanged)


def _read_ledger(run: Any, t: float, y: int, into: int) -> None:
    """The stored energies, then the works, at a state."""
    call_kernel(run.observe_row, t, y, run.p, run.observed_try, run.work)
    found, observed, state = floats(into, ENERGIES + run.n_added), floats(run.observed_try, run.n_observed), floats(y, run.n)
    for k in range(ENERGIES):
        found[k] = observed[run.at_energy + k]
    for k in range(run.n_added):
        found[ENERGIES + k] = state[run.first_added + k]
