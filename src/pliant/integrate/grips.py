"""Contacts whose friction law holds: what each is doing, decided at the events of a run.  Compiled.

Within a phase nothing of their force jumps (`dynamics.contact.Grip` says what there is to do). A contact that slides sticks when
its slip speed falls below its band; one that sticks yields when more is asked of it than it can hold, creeps once its slip has a
direction, slides when the slip leaves the band, and sticks again when the slip has come to rest. What one of them does changes
what is asked of the others, so they are settled together whenever the equations change.
"""

from __future__ import annotations

import math
from typing import Any

from pliant.integrate.grip_states import CREEPS, REST_SHARE, RETURNS, SLIDES, STICKS, YIELDS
from pliant.integrate.kernels import call_kernel, compiled, flags, floats, ints
from pliant.integrate.pairs import observe_contacts, pair_number, pair_place
from pliant.integrate.run_record import BAND, GRIP, N_SWITCHES, SWITCHES

TOGETHER = 1e-6  # of their strength: contacts that share one motion give way at once, whatever round-off says
SMALLEST_FORCE = 1e-300  # N: what nothing is divided by


@compiled
def close_grip(run: Any, pair: int) -> None:
    """The pair touches: it sticks if its slip is within the band."""
    if pair_place(run, pair, GRIP) < 0:
        return
    _set(run, pair, SLIDES)
    _measure(run)
    if floats(run.g_try, run.n_events)[_edge(run, pair)] < 0.0:
        _set(run, pair, STICKS)


@compiled
def open_grip(run: Any, pair: int) -> None:
    if pair_place(run, pair, GRIP) < 0:
        return
    _set(run, pair, SLIDES)
    for i in range(pair_place(run, pair, N_SWITCHES)):
        flags(run.active, run.n_events)[pair_place(run, pair, SWITCHES) + i] = 0


@compiled
def grip_happened(run: Any, pair: int, e: int) -> bool:
    """An event of a closed pair; True if it was one of its grip: others must then be settled with it."""
    if pair_place(run, pair, GRIP) < 0:
        return False
    doing = _doing(run, pair)
    if e == _edge(run, pair):
        if doing <= SLIDES:
            _set(run, pair, STICKS)
        else:
            _set(run, pair, CREEPS if doing == YIELDS else RETURNS)
    elif doing == STICKS:
        ints(run.breaking, run.n_pairs)[pair] = 1
    else:
        _set(run, pair, STICKS)
    return True


@compiled
def settle_grips(run: Any) -> None:
    """Let all that is at rest hold again, then let yield what cannot hold its share."""
    if run.n_holding == 0:
        return
    breaking, inside = ints(run.breaking, run.n_pairs), 0
    for k in range(run.n_pairs):
        if _doing(run, k) < STICKS:
            breaking[k] = 0
            continue
        inside += 1
        if _doing(run, k) == YIELDS and breaking[k] == 0:
            _set(run, k, STICKS)
    for _ in range(inside):
        if not _give_way(run):
            break
    for k in range(run.n_pairs):
        breaking[k] = 0


@compiled
def _give_way(run: Any) -> bool:
    """Let yield those that stick and break, or are asked for all they have; False where all that stick can hold."""
    breaking, margins = ints(run.breaking, run.n_pairs), floats(run.g_try, run.n_events)
    sticking, least, broken = 0, math.inf, 0
    _measure(run)
    for k in range(run.n_pairs):
        if _doing(run, k) == STICKS:
            sticking += 1
            least = min(least, margins[_edge(run, k) + 1])
        broken += breaking[k]
    if sticking == 0 or (broken == 0 and least > 0.0):
        return False
    observe_contacts(run, run.t, run.y)
    for k in range(run.n_pairs):
        if _doing(run, k) == STICKS and (breaking[k] or margins[_edge(run, k) + 1] <= TOGETHER):
            _let_yield(run, k)
        breaking[k] = 0
    return True


@compiled
def _let_yield(run: Any, pair: int) -> None:
    """All its strength against the slip; at rest, along the force that was asked of it."""
    band = pair_number(run, pair, BAND)
    speed = floats(run.g_try, run.n_events)[_edge(run, pair)] + band  # it stuck: its edge is that of the band
    if speed >= REST_SHARE * band:
        _set(run, pair, CREEPS)
        return
    force = floats(run.observed + 8 * (run.at_friction + 3 * pair), 3)
    size = max(math.sqrt(force[0] ** 2 + force[1] ** 2 + force[2] ** 2), SMALLEST_FORCE)
    _set(run, pair, YIELDS)
    resists = floats(run.p + 8 * (pair_place(run, pair, GRIP) + 1), 3)
    for i in range(3):
        resists[i] = force[i] / size


@compiled
def _measure(run: Any) -> None:
    """All event functions at the present state, into g_try."""
    call_kernel(run.events_closed, run.t, run.y, run.p, run.g_try, run.work)


@compiled
def _edge(run: Any, pair: int) -> int:
    """The event at which the pair enters or leaves its band; the next one is that of its reserve."""
    return int(pair_place(run, pair, SWITCHES))


@compiled
def _doing(run: Any, pair: int) -> float:
    """What a pair is doing; SLIDES, of one whose law does not hold."""
    place = pair_place(run, pair, GRIP)
    return float(floats(run.p, run.n_parameters)[place]) if place >= 0 else SLIDES


@compiled
def _set(run: Any, pair: int, doing: float) -> None:
    p, place = floats(run.p, run.n_parameters), pair_place(run, pair, GRIP)
    p[place] = doing
    p[place + 1] = p[place + 2] = p[place + 3] = 0.0
    watch_grip(run, pair)


@compiled
def watch_grip(run: Any, pair: int) -> None:
    """Sliding: for the band to be entered. Inside: for it to be left, and for what is left of the strength or of the slip."""
    if pair_place(run, pair, GRIP) < 0:
        return
    edge, n, inside = _edge(run, pair), run.n_events, _doing(run, pair) >= STICKS
    active, direction = flags(run.active, n), ints(run.direction, n)
    active[edge], direction[edge] = 1, 1 if inside else -1
    active[edge + 1], direction[edge + 1] = inside, -1
