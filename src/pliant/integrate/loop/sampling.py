"""Updates of sampled controllers at the beginning of a piece of time: they write the outputs held until the next.  Compiled.

A jump of the outputs may change the result of comparisons in formulas: their flags are then set anew, and their events have
happened.
"""

from __future__ import annotations

from typing import Any

from pliant.codegen.loop_language import ints
from pliant.integrate.loop.grips import settle_grips
from pliant.integrate.loop.kernels import call_kernel, put
from pliant.integrate.loop.phases import follow_jumps, measure_before
from pliant.integrate.status import ON


def sample(run: Any) -> int:
    """Run the updates due at the present time; returns ON, or the code of an event that they, or the new piece, triggered."""
    if run.n_updates > 0 and _any_due(run):
        if run.entering:  # else `next_piece` has done so
            measure_before(run)
        _update(run)
        answer = follow_jumps(run) if run.n_events > 0 else ON
        settle_grips(run)  # sticking friction may now need a larger force
        return int(answer)
    return int(follow_jumps(run)) if run.n_events > 0 and not run.entering else ON


def _update(run: Any) -> None:
    due, kernels = ints(run.piece_due + 8 * run.n_updates * run.piece, run.n_updates), ints(run.updates, run.n_updates)
    for k in range(run.n_updates):
        if due[k] != 0:
            if kernels[k] != 0:  # else Python has written it
                call_kernel(kernels[k], run.t, run.y, run.p, run.held_new, run.work)
            put(run.y + 8 * run.first_held, run.held_new, run.n_held)
    run.pace_kept = 1


def _any_due(run: Any) -> bool:
    due = ints(run.piece_due + 8 * run.n_updates * run.piece, run.n_updates)
    for k in range(run.n_updates):  # noqa: SIM110  a generator has no place in compiled code
        if due[k] != 0:
            return True
    return False
