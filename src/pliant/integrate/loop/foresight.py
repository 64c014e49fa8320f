"""Events ahead of a step, foreseen by parabolas from the step before: a step that would pass one ends just beyond it.  Compiled.

Of a step that passes an event, nothing but that event is used. Foresight only decides where steps end; events are found as ever.
"""

from __future__ import annotations

from typing import Any

from pliant.codegen.loop_language import flags, floats, ints
from pliant.integrate.loop.control import chooses_freely
from pliant.integrate.loop.events import sample
from pliant.integrate.loop.pairs import pair_place
from pliant.integrate.loop.zeros import NEARER, OVER, SHORT, parabola_falls, parabola_zero
from pliant.integrate.memory.run_record import CUTS, GAP, SAMPLES, TURNS

MARGIN = 2.5e-4  # of the step that the error allows: how much further beyond an event it ends
PATIENT = 2  # steps in a row that may end short of an event that they aim at
# Steps that look for no event ahead after one that has not happened where it was foreseen; after every further one twice as many:
# functions that only tremble near zero, as in a contact at rest, would cut every other step.
MOST_CAUTION = 255


def note_rates(run: Any, h: float) -> None:
    """After a step of length h, if it was sampled, note the rates of event functions at its end, and their rates of change."""
    run.rates_known = 0
    if run.waiting_hit > 0.0:
        run.aimed = run.caution = run.blindly = 0
    if run.step_length != h or run.waiting_hit > 0.0 or not chooses_freely(run):
        return
    n, theta, last = run.n_events, floats(run.theta, SAMPLES), run.n_places - 1
    rate, bend = floats(run.rate, n), floats(run.bend, n)
    first, second = floats(sample(run, 0), n), floats(sample(run, 1), n)
    before, end = floats(sample(run, last - 1), n), floats(sample(run, last), n)
    leaving, arriving = 1.0 / ((theta[1] - theta[0]) * h), 1.0 / ((theta[last] - theta[last - 1]) * h)
    for k in range(run.n_watched):
        e = ints(run.watched, run.n_watched)[k]
        rate[e] = (end[e] - before[e]) * arriving
        bend[e] = (rate[e] - (second[e] - first[e]) * leaving) / h
    run.rates_known = 1


def aim(run: Any, t_new: float) -> float:
    """The end of the next step: t_new, or just beyond an event that lies before it."""
    h, again = t_new - run.t, run.aimed
    run.aimed = 0
    if run.rates_known and run.blindly == 0 and again < PATIENT:
        ahead = _event_ahead(run, h, again)
        if ahead < h and (again == 0 or ahead < NEARER * run.h_old):
            run.aimed = again + 1
            return float(run.t + ahead)
    if again > 0:  # nothing has happened there
        run.caution = min(2 * run.caution + 1, MOST_CAUTION)
        run.blindly = run.caution
    elif run.blindly > 0:
        run.blindly -= 1
    return t_new


def _event_ahead(run: Any, h: float, again: int) -> float:
    """The length, s, of a step to just beyond the first event within h; h if there is none.

    Slip that approaches zero goes on beyond: its speed is that of the corner again once it is as large the other way round.
    """
    n, near, over = run.n_events, h, 0.0
    kind, side, pair = flags(run.kind, n), ints(run.side, n), ints(run.event_pair, n)
    values, rate, bends, corners = floats(run.g, n), floats(run.rate, n), floats(run.bend, n), floats(run.corners, n)
    for k in range(run.n_watched):
        e = ints(run.watched, run.n_watched)[k]
        if kind[e] > CUTS or side[e] == 0 or ints(run.direction, n)[e] == side[e]:
            continue
        g, fall, bend = values[e] * side[e], -rate[e] * side[e], bends[e] * side[e]
        if corners[e] > 0.0 and side[e] < 0 and fall < 0.0:
            g, fall, bend = 2.0 * corners[e] - g, -fall, 0.0
        if parabola_falls(g, fall, bend, near):
            near, over = parabola_zero(g, fall, bend), OVER
            opens = kind[e] == TURNS and 0 <= pair[e] < run.n_pairs and side[e] < 0
            if opens and e == pair_place(run, pair[e], GAP) and again == 0:
                over = SHORT - 1.0
    return near + over * near + MARGIN * run.h if near < h else h
