"""Zeros of event functions, by parabolas ahead of a step and by cubics within one: plain functions of numbers, for every loop."""

from __future__ import annotations

from math import sqrt

OVER = 2e-3  # of the distance to an event: how far beyond it a step ends that is to locate it
SHORT = 0.9  # of the distance to the end of a contact: a first step goes so far, since the force is not smooth at its end
NEARER = 0.5  # of a step to an event that ended before it: another such step follows only if the event is nearer than that


def parabola_falls(g: float, fall: float, bend: float, near: float) -> bool:
    """Whether the parabola of a value above zero, which falls at this rate and bends upwards, passes through zero by `near`."""
    bottom = fall * fall - 2.0 * g * bend  # above zero: the parabola falls below zero
    below = g < near * (fall - 0.5 * bend * near)
    return bool(g > 0.0 and (below or (0.0 < fall < bend * near and bottom > 0.0)))


def parabola_zero(g: float, fall: float, bend: float) -> float:
    """The first zero of this parabola."""
    return 2.0 * g / (fall + sqrt(max(fall * fall - 2.0 * g * bend, 0.0)))


def cubic_zero(g: float, g_new: float, m: float, m_new: float, high: float) -> float:
    """A zero before the fraction `high` of a step, of the cubic through values and slopes at its ends; g > 0 at its start.

    Slopes are per step. Newton's method, with bisection where it leaves the bracket.
    """
    rise, low, s = g_new - g, 0.0, g / (g - g_new)
    c, d = 3.0 * rise - 2.0 * m - m_new, m + m_new - 2.0 * rise
    if not (0.0 < s < high):
        s = 0.5 * high
    for _ in range(60):
        value = g + s * (m + s * (c + s * d))
        slope = m + s * (2.0 * c + 3.0 * s * d)
        if value > 0.0:
            low = s
        else:
            high = s
        further = s - value / slope
        if not (low < further < high):
            further = 0.5 * (low + high)
        moved = abs(further - s)
        s = further
        if moved <= 1e-15:
            break
    return float(s)


FUNCTIONS = (parabola_falls, parabola_zero, cubic_zero)
