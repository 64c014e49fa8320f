"""Updates of sampled controllers at the beginning of a piece of time: they write the outputs held until the next.  Compiled.

A jump of the outputs may change the result of comparisons in formulas: their flags are then set anew, and their events have
happened.
"""

from __future__ import annotations

from typing import Any

from pliant.integrate.event_log import log
from pliant.integrate.grips import settle_grips
from pliant.integrate.kernels import call_kernel, compiled, flags, floats, ints, put
from pliant.integrate.phases import act
from pliant.integrate.run_record import TURNS
from pliant.integrate.status import ON


@compiled
def sample(run: Any) -> int:
    """Run the updates due at the present time; returns ON, or the code of an event that the outputs triggered."""
    if run.n_updates == 0 or not _any_due(run):
        return ON
    if run.n_events > 0:
        call_kernel(run.events, run.t, run.y, run.p, run.g_low, run.work)
    due, kernels = ints(run.piece_due + 8 * run.n_updates * run.piece, run.n_updates), ints(run.updates, run.n_updates)
    for k in range(run.n_updates):
        if due[k] != 0:
            if kernels[k] != 0:  # else Python has written it
                call_kernel(kernels[k], run.t, run.y, run.p, run.held_new, run.work)
            put(run.y + 8 * run.first_held, run.held_new, run.n_held)
    run.pace_kept = 1
    answer = _jumped(run) if run.n_events > 0 else ON
    settle_grips(run)  # sticking friction may now need a larger force
    return answer


@compiled
def _any_due(run: Any) -> bool:
    due = ints(run.piece_due + 8 * run.n_updates * run.piece, run.n_updates)
    for k in range(run.n_updates):  # noqa: SIM110  a generator has no place in compiled code
        if due[k] != 0:
            return True
    return False


@compiled
def _jumped(run: Any) -> int:
    """Record events whose functions just crossed zero because of the outputs: they happen now."""
    n, answer = run.n_events, ON
    call_kernel(run.events, run.t, run.y, run.p, run.g_high, run.work)
    before, after, hit = floats(run.g_low, n), floats(run.g_high, n), ints(run.hit, n)
    pair, kind, direction, active = ints(run.event_pair, n), flags(run.kind, n), ints(run.direction, n), flags(run.active, n)
    any_hit = False
    for e in range(n):
        hit[e] = 0
        if before[e] == after[e] or pair[e] >= 0 or not active[e] or not _crossed(before[e], after[e]):
            continue
        way = 1 if after[e] > 0.0 else -1
        if direction[e] != 0 and direction[e] != way:
            continue
        if kind[e] > TURNS:
            log(run, run.t, e, way)
        else:
            hit[e], any_hit = way, True
    if any_hit:
        answer = act(run)
        for e in range(n):
            if answer == ON:
                hit[e] = 0
    return answer


@compiled
def _crossed(before: float, after: float) -> bool:
    return bool((before > 0.0) != (after > 0.0))
