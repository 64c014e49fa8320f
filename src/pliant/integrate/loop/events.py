"""Events: sign changes of g over a step, found on the step's interpolant and located on the step itself.  Compiled.

Y(x) is the state after a step of length x from the present state: the step itself. The interpolant of the whole step only suggests
where to search. Whatever it shows, Y(0) is on the known sides at the start of the step and Y(h) is where the run would continue, so
a crossing between the two is always bracketed: no step ends beyond a zero that was not reported (`lost_event` checks every step).
"""

from __future__ import annotations

import math
from typing import Any

from pliant.codegen.loop_language import flags, floats, ints
from pliant.integrate.loop.family import hermite, interpolate, interpolate_read, take_step
from pliant.integrate.loop.judging import bracket, flickers, leaves, side_of
from pliant.integrate.loop.kernels import call_kernel, put, stage
from pliant.integrate.loop.pairs import pair_place, touch
from pliant.integrate.memory.run_record import INTERIOR, MARKS, NOTES, PEAK, PEAK_FORCE, RECORDS, SAMPLES, TURNS

# Fractions of the step at which g is evaluated. Those next to the ends show the direction in which g leaves and arrives: a g that
# dips below zero and out again across the end of a step has its minimum between no two other points. They are as near to the ends
# as round-off permits: a dip between an end and them would have no sample that shows it.
PLACES = (0.0, 2.0**-12, 0.25, 0.5, 0.75, 1.0 - 2.0**-12, 1.0)
BETWEEN = (0.125, 0.375, 0.625, 0.875)  # further fractions, if g comes near zero
# Fraction of the largest |g| inside a step: nearer to zero than this, the cubic between its ends is not accurate enough. A long
# step of a high-order method resolves motions that a cubic cannot: after a light contact a ball may hover, dip in and fly off.
NEAR = 0.1
NEARLY_THERE = 0.5  # fraction of the bracket: estimated distance, by straight lines, between the root and a point just beyond it
LOOKS = 12  # evaluations of g on the way to the bottom of one dip
UNSURE = 0.1  # fraction of what g changes by around a sample: how far the bottom of its parabola may be from the true one
CLOSE = 0.02  # fraction of the interval around a sample: a bottom nearer to it is the sample itself, and the interval is narrowed
GUESS = 1e-7  # fraction of the step: accuracy of the search on the interpolant before the step itself is evaluated
FINE = 2.0**14  # widths of the bracket: the samples of a shorter step cannot be told from its ends
EVERY = -1  # `searched`: all events that end a step


def side_at(run: Any, e: int, value: float, before: int) -> int:
    return int(side_of(value, before, floats(run.dead, run.n_events)[e]))


def crosses(run: Any, e: int, value: float, before: int) -> bool:
    """Whether event e is active and left its side in the watched direction."""
    n = run.n_events
    return bool(flags(run.active, n)[e] != 0 and leaves(value, before, ints(run.direction, n)[e], floats(run.dead, n)[e]))


def sought(run: Any, e: int) -> bool:
    """Whether event e is being searched for now."""
    if run.searched == EVERY:
        return bool(flags(run.kind, run.n_events)[e] < RECORDS)
    return bool(run.searched == e)


def happened(run: Any, e: int, value: float) -> bool:
    """Whether event e is being searched for and has left its side `before`."""
    return bool(sought(run, e) and crosses(run, e, value, ints(run.before, run.n_events)[e]))


def any_happened(run: Any, g: int) -> bool:
    values, watched = floats(g, run.n_events), ints(run.watched, run.n_watched)
    if run.searched != EVERY:
        return bool(happened(run, run.searched, values[run.searched]))
    for i in range(run.n_watched):  # noqa: SIM110  a generator has no place in compiled code
        if happened(run, watched[i], values[watched[i]]):
            return True
    return False


def measure(run: Any, t: float, y: int, g: int) -> None:
    call_kernel(run.events, t, y, run.p, g, run.work)
    run.event_evaluations += 1


def take_sides(run: Any, sides: int, g: int) -> bool:
    """Update the sides; returns whether one of them changed."""
    values, side, changed = floats(g, run.n_events), ints(sides, run.n_events), False
    watched = ints(run.watched, run.n_watched)
    for i in range(run.n_watched):
        e = watched[i]
        now = side_at(run, e, values[e], side[e])
        changed = changed or now != side[e]
        side[e] = now
    return changed


def sample(run: Any, i: int) -> int:
    """The address of the event functions at sample i of the step."""
    return int(run.samples + 8 * i * run.n_events)


def forget_hits(run: Any) -> None:
    hit = ints(run.hit, run.n_events)
    for e in range(run.n_events):
        hit[e] = 0


def look_afresh(run: Any, starting: bool) -> None:
    """Set the sides from the present state: the side that the current equations require, or none for a g that is zero here."""
    n = run.n_events
    side, required, noise = ints(run.side, n), ints(run.required, n), floats(run.noise, n)
    measure(run, run.t, run.y, run.g)
    g = floats(run.g, n)
    for e in range(n):
        if required[e] != 0:
            side[e] = required[e]
        elif starting and abs(g[e]) <= noise[e]:
            side[e] = 0
        else:
            side[e] = side_at(run, e, g[e], 0)


def list_watched(run: Any, looked: bool) -> None:
    """List the active events; only they cost time. A newly active event takes its side here, unless all have just done so."""
    n = run.n_events
    active, kind, was, watched = flags(run.active, n), flags(run.kind, n), flags(run.was_watched, n), ints(run.watched, n)
    side, required, g = ints(run.side, n), ints(run.required, n), floats(run.g, n)
    run.n_watched = run.n_recording = 0
    for e in range(n):
        if active[e]:
            watched[run.n_watched] = e
            run.n_watched += 1
            run.n_recording += kind[e] >= RECORDS
            if not (was[e] or looked):
                measure(run, run.t, run.y, run.g)
                side[e] = required[e] if required[e] != 0 else side_at(run, e, g[e], 0)
        was[e] = active[e]


def lost_event(run: Any) -> int:
    """1 + an event that crossed in the step to g_new without a report, else 0; counts events that could not be seen."""
    n, watched = run.n_events, ints(run.watched, run.n_watched)
    g, side, hit, blind = floats(run.g_new, n), ints(run.side, n), ints(run.hit, n), ints(run.blind, n)
    lost = 0
    for i in range(run.n_watched):
        e = watched[i]
        if math.isnan(g[e]):
            blind[e] += 1
        if hit[e] == 0 and flags(run.kind, n)[e] < RECORDS and crosses(run, e, g[e], side[e]):
            lost = e + 1
    return lost


def crossing_ahead(run: Any, h: float, t_new: float) -> float:
    """The approximate time, s, into a refused step at which an event with a possible corner of a force first crosses zero; 0: none.

    The end of a refused step may be meaningless, so the straight line from its start is used instead.
    """
    if run.n_events == 0 or run.at_ends:
        return 0.0
    run.searched = EVERY
    y, k, ahead = floats(run.y, run.n), floats(stage(run, 0), run.n), floats(run.y_try, run.n)
    for i in range(run.n):
        ahead[i] = y[i] + h * k[i]
    measure(run, t_new, run.y_try, run.g_new)
    _sides_of_start(run)
    if not any_happened(run, run.g_new):
        return 0.0
    put(run.g_low, run.g, run.n_events)
    put(run.g_high, run.g_new, run.n_events)
    return _root(run, 0.0, h)


def first_event(run: Any, h: float, t_new: float) -> float:
    """The step from t to the first event in (t, t_new] that ends a step; 0 if the whole step stands.

    If it is cut short, y_new, g_new and the stages are those of the shortened step, just beyond the root; `hit` says which events
    happened; none, if the step is cut between two crossings of the same g, which are then located in separate steps.
    """
    run.searched = EVERY
    measure(run, t_new, run.y_new, run.g_new)
    _sides_of_start(run)
    if run.at_ends:
        return h if _note_hits(run) else 0.0
    places = _sample_step(run, h)
    shorter, changed = _first_shown(run, h, t_new, places - 1)
    if shorter == 0.0 and changed:  # unchanged sides were already compared with g_new, the last sample
        _sides_of_start(run)
        if any_happened(run, run.g_new):
            shorter = _enclosed(run, h, t_new)
    return shorter


def earlier_event(run: Any, h: float, t_new: float) -> float:
    """The step to an event before the one at which the step to t_new ends; 0 if there is none.

    The whole step led through that event: if forces jump there, its samples were not those of this step.
    """
    if h <= FINE * bracket(t_new):
        return 0.0
    put(run.y_kept, run.y_new, run.n)
    shorter, _ = _first_shown(run, h, t_new, _sample_step(run, h) - 2)
    if 0.0 < shorter < h:
        return shorter
    put(run.y_new, run.y_kept, run.n)  # an implicit step that is solved again may differ in its last digits
    return 0.0


def _first_shown(run: Any, h: float, t_new: float, last: int) -> tuple[float, bool]:
    """The step to the first event that the samples up to `last` show, 0 if none; and whether some side changed among them."""
    changed = False
    _sides_of_start(run)
    for i in range(last):
        if any_happened(run, sample(run, i + 1)):
            shorter = _cut(run, i, t_new) if _turned_before(run, i) else _locate(run, i, h, t_new)
            if shorter == 0.0 and run.error_rows == 0:
                # no tolerance says how wrong its interpolant is: the step ends where it shows this
                shorter = _cut(run, i + 1, t_new)
            if shorter > 0.0:
                return shorter, True
            # The interpolant showed a crossing that the step does not have: the step stands.
            take_step(run, h, t_new)
            _sides_at(run, i)
        changed = take_sides(run, run.before, sample(run, i + 1)) or changed
    return 0.0, changed


def _sides_of_start(run: Any) -> None:
    side, before, watched = ints(run.side, run.n_events), ints(run.before, run.n_events), ints(run.watched, run.n_watched)
    for i in range(run.n_watched):
        before[watched[i]] = side[watched[i]]


def _sides_at(run: Any, i: int) -> None:
    """Set `before` from the interpolant at sample i."""
    _sides_of_start(run)
    for j in range(1, i + 1):
        take_sides(run, run.before, sample(run, j))


def _turned_before(run: Any, i: int) -> bool:
    """Whether an event that has happened by sample i + 1 had already left its first side at sample i."""
    values, n = floats(sample(run, i + 1), run.n_events), run.n_events
    side, before, watched = ints(run.side, n), ints(run.before, n), ints(run.watched, run.n_watched)
    for k in range(run.n_watched):
        e = watched[k]
        if before[e] != side[e] and happened(run, e, values[e]):
            return True
    return False


def _cut(run: Any, i: int, t_new: float) -> float:
    """End the step at sample i, between two crossings of the same g, or earlier if an event has happened by then."""
    theta = floats(run.theta, SAMPLES)
    x = (run.t + theta[i] * run.step_length) - run.t
    if x <= 0.0:
        return 0.0
    take_step(run, x, t_new)
    measure(run, min(run.t + x, t_new), run.y_new, run.g_try)
    _sides_of_start(run)
    put(run.g_new, run.g_try, run.n_events)
    if any_happened(run, run.g_try):
        return _enclosed(run, x, t_new)
    forget_hits(run)
    return float(x)


def _enclosed(run: Any, high: float, t_new: float) -> float:
    """The crossing on the step itself, which has happened at `high`, where g is g_new, but not at the start."""
    n = run.n_events
    put(run.g_low, run.g, n)
    put(run.g_high, run.g_new, n)
    return _end_there(run, _reached(run, 0.0, high, t_new))


def _reached(run: Any, low: float, high: float, t_new: float) -> float:
    """Locate the crossing between low and high on the step itself, and take the step to just beyond it."""
    _, high = _narrow(run, True, low, high, bracket(t_new), high, t_new)
    if run.last_taken != high:
        take_step(run, high, t_new)
    return high


def _end_there(run: Any, x: float) -> float:
    """End the step at x, where g is g_high, and note which events have happened."""
    put(run.g_new, run.g_high, run.n_events)
    _note_hits(run)
    return x


def _sample_step(run: Any, h: float) -> int:
    """Sample g at both ends, between them, and where some g dips beyond zero; returns the number of samples.

    Dips of MARKS are not looked for: the rate of a force at rest is round-off, which dips in every step.
    """
    theta, places = floats(run.theta, SAMPLES), INTERIOR + 2
    run.step_length = h
    put(sample(run, 0), run.g, run.n_events)
    theta[0], theta[places - 1] = 0.0, 1.0
    put(sample(run, places - 1), run.g_new, run.n_events)
    for i in range(1, places - 1):
        theta[i] = PLACES[i]
        hermite(run, run.y_try, h, theta[i], min(run.n_read, run.n))
        measure(run, run.t + theta[i] * h, run.y_try, sample(run, i))
    if _comes_near(run, places):
        places = _look_closer(run, h, places)
    for k in range(run.n_watched):
        e, i = ints(run.watched, run.n_watched)[k], 1
        while i < places - 1 and places < SAMPLES and flags(run.kind, run.n_events)[e] != MARKS:
            x = _dip(run, e, i, h)
            if x > 0.0:
                _insert(run, places, x)
                places += 1
                i += 1
            i += 1
    run.n_places = places
    return places


def _comes_near(run: Any, places: int) -> bool:
    """Whether some g comes so near to zero in a step that a cubic between its ends, or its samples, cannot tell its side.

    Events of the kind MARKS are found on the dense output anyway.
    """
    n = run.n_events
    for k in range(run.n_watched):
        e = ints(run.watched, run.n_watched)[k]
        if flags(run.kind, n)[e] == MARKS:
            continue
        least, most, side = math.inf, 0.0, side_of(floats(sample(run, 1), n)[e], 1, 0.0)
        for i in range(1, places - 1):
            g = floats(sample(run, i), n)[e]
            if side_of(g, 1, 0.0) != side:
                break  # the crossing is visible
            least, most = min(least, abs(g)), max(most, abs(g))
        else:
            if least < max(NEAR * most, _unresolved(run, e)):
                return True
    return False


def _unresolved(run: Any, e: int) -> float:
    """How far g_e may depart from a polynomial through its samples: steps need not resolve functions that only turn switches.

    By the middle of the step and the cubic through the quarters around it, and by the slopes at both ends.
    """
    n = run.n_events
    a, b, c = floats(sample(run, 0), n)[e], floats(sample(run, 2), n)[e], floats(sample(run, 3), n)[e]
    d, f = floats(sample(run, 4), n)[e], floats(sample(run, 6), n)[e]
    per_quarter = 0.25 / PLACES[1]
    leaves = (floats(sample(run, 1), n)[e] - a) * per_quarter - (-25.0 * a + 48.0 * b - 36.0 * c + 16.0 * d - 3.0 * f) / 12.0
    arrives = (floats(sample(run, 5), n)[e] - f) * per_quarter - (-25.0 * f + 48.0 * d - 36.0 * c + 16.0 * b - 3.0 * a) / 12.0
    return float(max(abs(a - 4.0 * b + 6.0 * c - 4.0 * d + f) / 6.0, 0.25 * abs(leaves), 0.25 * abs(arrives)))


def _look_closer(run: Any, h: float, places: int) -> int:
    """Sample g on the dense output at all places inside the step, and between them; returns the new number of samples."""
    theta = floats(run.theta, SAMPLES)
    for i in range(1, places - 1):
        interpolate_read(run, run.y_try, h, theta[i])
        measure(run, run.t + theta[i] * h, run.y_try, sample(run, i))
    for x in BETWEEN:
        interpolate_read(run, run.y_try, h, x)
        measure(run, run.t + x * h, run.y_try, run.g_try)
        _insert(run, places, x)
        places += 1
    return places


def _dip(run: Any, e: int, i: int, h: float) -> float:
    """A place around sample i where g_e is beyond zero, if it is on one side at the samples themselves; 0 if it stays there.

    Parabolas through the lowest places lead to the bottom of g, until it is certain that this is not beyond zero. g_try is g there.
    """
    theta, n = floats(run.theta, SAMPLES), run.n_events
    left, here, right = floats(sample(run, i - 1), n)[e], floats(sample(run, i), n)[e], floats(sample(run, i + 1), n)[e]
    side = side_of(here, 1, 0.0)
    if side_of(left, 1, 0.0) != side or side_of(right, 1, 0.0) != side or abs(here) > min(abs(left), abs(right)):
        return 0.0
    low, x, high = theta[i - 1], theta[i], theta[i + 1]
    left, here, right = abs(left), abs(here), abs(right)
    for _ in range(LOOKS):
        a, b = x - low, high - x
        bend = ((right - here) / b + (left - here) / a) / (a + b)
        if not bend > 0.0:
            return 0.0
        way = 0.5 * ((left - here) / a - bend * a) / bend  # to the bottom
        doubt = UNSURE * (max(left, right) - here) * (4.0 * a * b / (a + b) + abs(way)) / (a + b)
        if here - bend * way * way > doubt:
            return 0.0
        if abs(way) < CLOSE * (a + b):
            way = 0.1 * b if b > a else -0.1 * a
        at = x + way
        interpolate_read(run, run.y_try, h, at)
        measure(run, run.t + at * h, run.y_try, run.g_try)
        g = floats(run.g_try, n)[e] * side
        if g <= 0.0:
            return float(at)
        if g < here:
            low, left, high, right = (x, here, high, right) if way > 0.0 else (low, left, x, here)
            x, here = at, g
        elif way > 0.0:
            high, right = at, g
        else:
            low, left = at, g
    return 0.0


def _insert(run: Any, places: int, x: float) -> None:
    """Insert (x, g_try) among the samples of the step, in order."""
    theta, i = floats(run.theta, SAMPLES), places
    while theta[i - 1] > x:
        theta[i] = theta[i - 1]
        put(sample(run, i), sample(run, i - 1), run.n_events)
        i -= 1
    theta[i] = x
    put(sample(run, i), run.g_try, run.n_events)


def _locate(run: Any, i: int, h: float, t_new: float) -> float:
    """End the step at the first crossing between samples i and i + 1; 0 if the step itself has no such crossing."""
    low, high = _guessed(run, i, h, t_new)
    _sides_of_start(run)
    low, high = _straddle(run, low, high, 0.0, h, t_new)
    return _end_there(run, _reached(run, low, high, t_new)) if high > 0.0 else 0.0


def _guessed(run: Any, i: int, h: float, t_new: float) -> tuple[float, float]:
    """The crossing between samples i and i + 1 on the dense output."""
    theta, n = floats(run.theta, SAMPLES), run.n_events
    put(run.g_low, sample(run, i), n)
    put(run.g_high, sample(run, i + 1), n)
    return _narrow(run, False, theta[i] * h, theta[i + 1] * h, max(bracket(t_new), GUESS * h), h, t_new)


def _note_hits(run: Any) -> bool:
    """Note which events have happened by the end of the step."""
    n, some = run.n_events, False
    g, hit, before = floats(run.g_new, n), ints(run.hit, n), ints(run.before, n)
    for k in range(run.n_watched):
        e = ints(run.watched, run.n_watched)[k]
        hit[e] = -before[e] if happened(run, e, g[e]) else 0
        some = some or hit[e] != 0
    return some


def join_hits(run: Any, t_new: float) -> None:
    """Events that the projection has taken across zero happen together with those at which the step ends."""
    n = run.n_events
    g, projected, hit, side, before = (
        floats(run.g_new, n), floats(run.g_try, n), ints(run.hit, n), ints(run.side, n), ints(run.before, n)
    )  # fmt: skip
    measure(run, t_new, run.y_new, run.g_try)
    for k in range(run.n_watched):
        e = ints(run.watched, run.n_watched)[k]
        before[e] = side_at(run, e, g[e], side[e])
        if hit[e] != 0 or not crosses(run, e, projected[e], before[e]):
            continue
        if flags(run.kind, n)[e] < RECORDS:
            hit[e], g[e] = -before[e], projected[e]
        elif run.n_notes < run.max_notes:
            _note(run, e, t_new, run.y_new)
            g[e] = projected[e]


def hit_matters(run: Any) -> bool:
    """Whether an event that happened requires action, here or by the caller."""
    hit, kind = ints(run.hit, run.n_events), flags(run.kind, run.n_events)
    for e in range(run.n_events):  # noqa: SIM110
        if hit[e] != 0 and kind[e] <= TURNS:
            return True
    return False


def _try(run: Any, on_step: bool, x: float, h: float, t_new: float) -> bool:
    """Whether some event has happened by t + x; g_try is g there, on a step of that length or on the dense output."""
    if on_step:
        take_step(run, x, t_new)
        measure(run, min(run.t + x, t_new), run.y_new, run.g_try)
    else:
        interpolate_read(run, run.y_try, h, x / h)
        measure(run, run.t + x, run.y_try, run.g_try)
    return any_happened(run, run.g_try)


def _root(run: Any, low: float, high: float) -> float:
    """The earliest zero of the straight lines of those events that have happened at `high`."""
    g_low, g_high = floats(run.g_low, run.n_events), floats(run.g_high, run.n_events)
    root = high
    for k in range(run.n_watched):
        e = ints(run.watched, run.n_watched)[k]
        if happened(run, e, g_high[e]) and g_low[e] != g_high[e]:
            root = min(root, low + (high - low) * g_low[e] / (g_low[e] - g_high[e]))
    return max(root, low)


def _narrow(run: Any, on_step: bool, low: float, high: float, width: float, h: float, t_new: float) -> tuple[float, float]:
    """Narrow the bracket by secants that aim beyond the root, or bisection where they stall, until `high` is within `width` of it.

    Nothing has happened at `low`, something has at `high`; g_low and g_high are g there.
    """
    beyond = True  # whether the next point should fall beyond the root
    stalled = 0
    for _ in range(200):
        gap = high - low
        if gap <= width:
            break
        root = _root(run, low, high)
        # error of the straight-line root for a curve over the whole step, or over the bracket
        push = 0.4 * width + min(0.01 * min(root - low, high - root), (root - low) * (high - root) / h)
        x = root + push if beyond else root - push
        if stalled >= 3:
            x, stalled = 0.5 * (low + high), 0
        x = min(max(x, low + 0.4 * width), high - 0.4 * width)
        x = (run.t + x) - run.t  # a length that is representable in t
        if x <= low or x >= high:
            break
        beyond = not _try(run, on_step, x, h, t_new)
        if beyond:
            low = x
            put(run.g_low, run.g_try, run.n_events)
        else:
            high = x
            put(run.g_high, run.g_try, run.n_events)
            if high - _root(run, low, high) <= NEARLY_THERE * width:
                break
        stalled = stalled + 1 if high - low > 0.5 * gap else 0
    return low, high


def _straddle(run: Any, low: float, high: float, floor: float, h: float, t_new: float) -> tuple[float, float]:
    """Convert the bracket on the dense output to one on the step itself; (0, 0) if the step has no such crossing.

    Nothing has happened at `floor`: the start of the step, or just beyond a crossing of the other direction.
    """
    n, span = run.n_events, high - low
    g_low, g_high, g_try = floats(run.g_low, n), floats(run.g_high, n), floats(run.g_try, n)
    back = _try(run, True, high, h, t_new)
    # Twice the distance to the root by the slopes of the dense output; then farther and farther.
    stride = max(bracket(t_new), span)
    for k in range(run.n_watched):
        e = ints(run.watched, run.n_watched)[k]
        slope = abs(g_high[e] - g_low[e]) / span
        if happened(run, e, g_high[e]) and slope > 0.0:
            stride = max(stride, min(2.0 * abs(g_try[e]) / slope, 0.1 * h))
    x = high
    while True:
        put(run.g_high if back else run.g_low, run.g_try, n)
        low, high = (low, x) if back else (x, high)
        x = max(high - stride, floor) if back else min(low + stride, h)
        if back and x == 0.0:
            put(run.g_low, run.g, n)
            return 0.0, high
        if x == (high if back else low):
            return 0.0, 0.0
        if _try(run, True, x, h, t_new) != back:
            break
        stride *= 8.0
    put(run.g_low if back else run.g_high, run.g_try, n)
    return (x, high) if back else (low, x)


# ---- events that only record


def note_crossings(run: Any, h: float, t_new: float) -> None:
    """Locate crossings of recording events in the step that is about to be taken; the step is not changed."""
    n = run.n_events
    if run.step_length != h and not run.at_ends:
        _sample_step(run, h)
    put(run.y_kept, run.y_new, run.n)
    moved = False
    for k in range(run.n_watched):
        e = ints(run.watched, run.n_watched)[k]
        if flags(run.kind, n)[e] >= RECORDS and not _flickers(run, e, h):
            run.searched = e
            moved = _note_event(run, e, h, t_new, moved)
    run.searched = EVERY
    if moved:
        take_step(run, h, t_new)
        put(run.y_new, run.y_kept, run.n)  # an implicit step that is solved again may differ in its last digits


def _flickers(run: Any, e: int, h: float) -> bool:
    """Whether event e marks peaks of a force that hardly changes in this step, as that of a contact at rest."""
    pair, n = ints(run.event_pair, run.n_events)[e], run.n_events
    if run.at_ends or pair < 0 or pair >= run.n_pairs or e != pair_place(run, pair, PEAK):
        return False
    steepest = 0.0
    for i in range(run.n_places):
        steepest = max(steepest, abs(floats(sample(run, i), n)[e]))
    return bool(flickers(steepest, h, touch(run, pair)[PEAK_FORCE]))


def _note_event(run: Any, e: int, h: float, t_new: float, moved: bool) -> bool:
    """Note all crossings of one event. moved: whether y_new and the stages are not those of the full step; returns it updated."""
    n, noted, floor, side = run.n_events, 0, 0.0, ints(run.side, run.n_events)[e]
    marks, before = flags(run.kind, n)[e] == MARKS, ints(run.before, n)
    before[e] = side
    if run.at_ends:
        if happened(run, e, floats(run.g_new, n)[e]):
            _note(run, e, t_new, run.y_new)
        return False
    for i in range(run.n_places - 1):
        if happened(run, e, floats(sample(run, i + 1), n)[e]):
            if noted == NOTES:
                ints(run.blind, n)[e] += 0 if marks else 1
                break
            if moved:  # the dense output must be that of the full step
                take_step(run, h, t_new)
            moved = not marks
            low, high = _guessed(run, i, h, t_new)
            if marks:
                interpolate(run, run.y_try, h, high / h)
                _note(run, e, min(run.t + high, t_new), run.y_try)
                noted += 1
            else:
                low, high = _straddle(run, low, high, floor, h, t_new)
                if high > 0.0:
                    floor = _reached(run, low, high, t_new)
                    _note(run, e, min(run.t + floor, t_new), run.y_new)
                    noted, side = noted + 1, -before[e]
        before[e] = side_at(run, e, floats(sample(run, i + 1), n)[e], before[e])
    # At an end just beyond zero, round-off can hide a crossing from the steps that search for it, but the run continues there.
    if not marks and noted < NOTES and crosses(run, e, floats(run.g_new, n)[e], side):
        before[e] = side
        _note(run, e, t_new, run.y_kept)
    return moved


def _note(run: Any, e: int, t: float, y: int) -> None:
    """Note time, event, direction and state of a crossing inside this step."""
    k = run.n_notes
    floats(run.note_t, run.max_notes)[k] = t
    ints(run.note_event, run.max_notes)[k] = e
    ints(run.note_direction, run.max_notes)[k] = -ints(run.before, run.n_events)[e]
    put(run.note_y + 8 * run.n * k, y, run.n)
    run.n_notes += 1
