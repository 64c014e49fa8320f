"""How all time loops judge events, contacts and lengths of steps: rules over plain numbers.  Compiled.

The general loop and the loop in lock-step (`ensemble/lockstep`: vectors of members, and threads of a GPU) keep their numbers in
different memories. Both read them there, and ask here.
"""

from __future__ import annotations

from math import inf, sqrt

from pliant.integrate.memory.run_record import SPENT, THROWN

BRACKET = 1e-12  # s, width to which an event is bracketed
ULPS = 4.0 * 2.0**-52  # relative to t: but no finer than four units of round-off of t
FLICKER = 1e-9  # of the largest force of a contact so far: peaks of a force that changes less in a step are those of round-off
NEAREST = 1e-3  # fraction of a refused step: a nearer corner is left to error control
BEYOND = 1.05  # factor on the distance to a corner: end of a step that is to locate it
PROJECTIONS = 2  # Newton steps of the projection after each step: it is so near that they leave only round-off
SMALLEST_STEP = 1e-18  # s, shorter than the time scale of any mechanism; matters only near t = 0
SMALLEST_STEP_ULPS = 16.0 * 2.0**-52  # fraction of t: stages of a shorter step would fall on the same t
CUT_SHORT = 1e-10  # fraction of an adaptive step: a step that is shorter by more than this was cut short
NO_ERROR = 1e-30  # replaces an error of zero, whose logarithm is needed
NO_SLOPE = 1e-15  # in units of the tolerance: the first step of a slower motion is not estimated


# ---- events


def bracket(t: float) -> float:
    """How closely an event at this time is located, s."""
    return max(BRACKET, ULPS * abs(t))


def side_of(value: float, before: int, dead: float) -> int:
    """+1 above zero, -1 at or below zero, so that a g that stays at zero counts as one event; nan changes nothing.

    Within `dead` of zero, g keeps its side. A g that began at zero has side 0 until it leaves zero.
    """
    if value > dead:
        return 1
    if value < -dead or (value == 0.0 and dead == 0.0 and before != 0):
        return -1
    return before


def leaves(value: float, before: int, direction: int, dead: float) -> bool:
    """Whether an event function has left its side in the watched direction."""
    return before != 0 and direction != before and side_of(value, before, dead) != before


def flickers(steepest: float, h: float, largest: float) -> bool:
    """Whether a force hardly changes in a step, as that of a contact at rest: by its largest rate there, and its largest value."""
    return steepest * h <= FLICKER * largest


# ---- contacts


def entry_of(closing: float, speed: float) -> float:
    """What p holds for the entry speed of a contact that begins with this closing speed, m/s: negative if it does not compress."""
    return speed if closing > SPENT * speed else -speed


def thrown_speed(apart: float, depth: float) -> float:
    """The speed, m/s, at which a pair that starts pressed would be thrown out without losses, as if it had come in so fast.

    apart: with which it accelerates without damping, m/s^2; none if it rests.
    """
    return sqrt(max(THROWN * apart * max(depth, 0.0), 0.0))


def renewed_entry(entry: float, closing: float) -> float:
    """What p holds once a compression is over, or once a new one begins with the closing speed that is largest."""
    return max(closing, -entry) if entry < 0.0 else -entry


def is_quiet(entry: float, closing: float) -> bool:
    """Whether a renewal is the end of a compression, at which forces go on: no new one begins, and the pair is not struck."""
    return entry >= 0.0 and closing <= entry


# ---- lengths of steps


def smallest_step(t: float) -> float:
    return max(SMALLEST_STEP, SMALLEST_STEP_ULPS * abs(t))


def is_cut_short(h: float, proposed: float) -> bool:
    """Whether a step ends at a stop, a row or an event, and not where its error allowed."""
    return h < (1.0 - CUT_SHORT) * proposed


def probe_length(slope: float, size: float) -> float:
    """The Euler step that estimates the first step, by the norms of state and rates (Hairer, Norsett, Wanner I, II.4)."""
    return 1e-6 if size < 1e-5 or slope < 1e-5 else 0.01 * size / slope


def first_length(steepest: float, probe: float, allowed: float) -> float:
    """The first step. steepest: of the norms of the rates and of their change; allowed: (0.01 / steepest)^(1 / order)."""
    if steepest <= NO_SLOPE:
        return max(1e-6, 1e-3 * probe)
    return probe if steepest == inf else min(100.0 * probe, allowed)


def end_of_step(t: float, h: float, stop: float, stretch: float, halves: bool) -> float:
    """Exactly at the stop, or far enough from it that no tiny step remains; stretch: fraction of a step."""
    rest = stop - t
    if h * (1.0 + stretch) >= rest:
        return stop
    return t + (0.5 * rest if halves and 2.0 * h > rest else h)
