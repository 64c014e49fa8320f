"""A run whose time another integrator advances: what happens at its start, at its events and after its steps.  Compiled.

The other integrator owns t and y and looks for zeros of the event functions; contacts, flags, sticking and sampled controllers are
those of the time loop. An integrator ends a step near a zero, on either side of it, so it is given functions that are zero a little
late (`LATE`): there, the function itself has certainly changed sides.
"""

from __future__ import annotations

from typing import Any

from pliant.codegen.loop_language import flags, floats, ints
from pliant.integrate.loop.begin import begin
from pliant.integrate.loop.events import crosses, list_watched, look_afresh, measure, side_at, take_sides
from pliant.integrate.loop.grips import settle_grips
from pliant.integrate.loop.impacts import strike_at_event
from pliant.integrate.loop.kernels import Loop, call_kernel, put
from pliant.integrate.loop.phases import act, next_piece
from pliant.integrate.loop.sampling import sample
from pliant.integrate.memory.run_record import RECORDS, RUN
from pliant.integrate.status import ON

LATE = 1e-11  # of an event function, in its own unit: beyond zero by this, and twice its round-off
PROJECTIONS = 3  # Newton steps of a projection, from a state that has drifted
DRIFT = 1e-3  # of the tolerance of a constraint: beyond this the state is projected


def _begin(run: Any) -> int:
    """Contacts, flags and sampled controllers at the start; returns ON or the code of an event."""
    if run.judging:
        begin(run)
    settle_grips(run)
    code = sample(run)
    run.entering = run.starting = 0
    if run.n_events > 0:
        look_afresh(run, True)
        list_watched(run, True)
    return int(code)


def _indicate(run: Any, values: int) -> None:
    """The event functions for another integrator: they change signs where something must be done; 1 for all others."""
    n = run.n_events
    if n > 0:
        measure(run, run.t, run.y, run.g_new)
    g, side, dead, out = floats(run.g_new, n), ints(run.side, n), floats(run.dead, n), floats(values, n)
    kind, active = flags(run.kind, n), flags(run.active, n)
    for e in range(n):
        out[e] = g[e] + side[e] * (LATE + 2.0 * dead[e]) if active[e] and kind[e] < RECORDS else 1.0


def _happen(run: Any) -> int:
    """Everything that happens at this time and state; returns ON, or a code of `status` with which the run ends."""
    run.n_touches = run.n_logged = 0  # the caller has read them
    if run.project != 0:
        for _ in range(PROJECTIONS):
            call_kernel(run.project, run.t, run.y, run.p, run.y_try, run.work)
            put(run.y, run.y_try, run.n)
    code = ON
    if run.n_events > 0 and _note_hits(run):
        code = act(run)
        if code == ON and run.striking != 0:
            code = strike_at_event(run)
    while code == ON and run.t >= run.t_stop - run.one_instant and next_piece(run):
        code = sample(run)
    if run.n_events > 0:
        _take_sides_anew(run)
    return int(code)


def _note_hits(run: Any) -> bool:
    """Note which events have happened, and on which side all are."""
    n, some = run.n_events, False
    measure(run, run.t, run.y, run.g_new)
    g, hit, side, watched = floats(run.g_new, n), ints(run.hit, n), ints(run.side, n), ints(run.watched, run.n_watched)
    for i in range(run.n_watched):
        e = watched[i]
        hit[e] = 0
        if flags(run.kind, n)[e] < RECORDS and crosses(run, e, g[e], side[e]):
            hit[e], some = -side[e], True
    take_sides(run, run.side, run.g_new)
    return some


def _take_sides_anew(run: Any) -> None:
    """The sides that the equations require from here on, and those of event functions that have jumped."""
    n = run.n_events
    hit, side, required = ints(run.hit, n), ints(run.side, n), ints(run.required, n)
    measure(run, run.t, run.y, run.g)
    take_sides(run, run.side, run.g)
    for e in range(n):
        hit[e] = 0
        if required[e] != 0:
            side[e] = required[e]
    list_watched(run, False)


def _has_work(run: Any) -> bool:
    """After a step of the other integrator: whether something happens here that it has not seen, or loops have drifted open."""
    n, some = run.n_events, False
    if n > 0:
        measure(run, run.t, run.y, run.g_new)
    g, side, watched = floats(run.g_new, n), ints(run.side, n), ints(run.watched, run.n_watched)
    for i in range(run.n_watched):
        e = watched[i]
        if crosses(run, e, g[e], side[e]):
            some = some or flags(run.kind, n)[e] < RECORDS
        else:
            side[e] = side_at(run, e, g[e], side[e])
    if run.closures != 0 and run.project != 0:
        call_kernel(run.closures, run.t, run.y, run.p, run.closure_values, run.work)
        values = floats(run.closure_values, 2 * run.n_closures)
        for i in range(run.n_closures):
            some = some or abs(values[i]) > DRIFT * values[run.n_closures + i]
    return some


BEGIN, HAPPEN, HAS_WORK = Loop(_begin, (RUN,)), Loop(_happen, (RUN,)), Loop(_has_work, (RUN,), bool)
INDICATE = Loop(_indicate, (RUN, int), None)
