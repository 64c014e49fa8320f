"""Contacts and joints whose friction sticks, at the events of a run with derivatives.

A slip s = J v that comes to rest at t* has dt* = -J S/s'-; at t* its derivative is J A = J S + s'- dt* = 0, and since s' = 0 from
then on, it stays zero: S+ = A - f+ dt* has J S+ = 0, while positions keep S. A joint lets go where its holding force h(t, y, p)
reaches its strength; f jumps there if kinetic friction is smaller than static friction. If it may slip in several directions, it
yields along d = h/|h|, whose derivative is (I - d d^T) h_theta/|h|. All this is what every event does to S. What is special is
here: which of the events that happen together decide when, that d, and whether only round-off decides that something sticks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.arrays import Floats
from pliant.integrate.loop.grip_states import SLIDES
from pliant.study.derivatives.gripping import Gripping
from pliant.study.derivatives.taped_run import EventPoint

if TYPE_CHECKING:
    from pliant.study.derivatives.event_slopes import EventReader, EventSlopes

AT_REST = 1e-9  # m/s: as the run takes the slip of joints that come to rest together
AT_LIMIT = 1e-6  # fraction of the strength: as the run takes those that let go together
SAME_TIME = 1e-4  # relative difference of the derivatives of two event times that are one
SAME_WAY = 1e-6  # difference of two computations of the same direction

# ---- which events decide


def causes(walk: EventReader, hits: Sequence[int], point: EventPoint, p_next: Floats) -> list[int]:
    """The events that happen here: those the run acted on, and those that it settled with them because round-off hid them."""
    found = list(hits)
    for holder in walk.holders:
        if not holder.changes(point.p, p_next):
            continue
        if holder.sticks(point.p):
            e, near = holder.reserve, AT_LIMIT
        elif holder.exact and point.p[holder.grip] == SLIDES:
            e, near = holder.edge, AT_REST
        else:
            continue
        if e not in found and abs(walk.look_at(e, point).value) <= near:
            found.append(e)
    return found


def coincide(walk: EventReader, a: int, b: int, point: EventPoint) -> bool:
    """Whether the times of two events are one for every theta; what only follows a contact's speed has its own."""
    renewals = [slots.renewal for slots in walk.traced.pairs]
    if a in renewals or b in renewals:
        return False
    theta = walk.tolerances.theta
    one, other = walk.look_at(a, point).dt * theta, walk.look_at(b, point).dt * theta
    return bool(np.max(np.abs(one - other)) <= SAME_TIME * np.max(np.abs(one)))


# ---- directions


def turn(walk: EventReader, point: EventPoint, p_next: Floats, dt: Floats, dp: Floats, moved: Floats) -> str:
    """Set the derivatives of directions in which friction yields: those of the forces needed while it stuck.

    Returns the name of one whose direction comes from elsewhere.
    """
    for holder in walk.holders:
        own = holder.direction
        if holder.exact or np.array_equal(point.p[own], p_next[own]):
            continue
        dp[own] = 0.0
        if not np.any(p_next[own]):
            continue
        for p in _before_yielding(walk, holder, point.p, p_next):
            force, change = _needed(walk, holder, point, p, moved, dt, dp)
            size = max(float(np.linalg.norm(force)), 1e-300)
            unit = force / size
            if np.max(np.abs(unit - p_next[own][: force.size])) <= SAME_WAY:
                dp[own.start : own.start + force.size] = (change - np.outer(unit, unit @ change)) / size
                break
        else:
            return holder.name
    return ""


def _before_yielding(walk: EventReader, holder: Gripping, p: Floats, p_next: Floats) -> Iterator[Floats]:
    """p as it may have been when a holder yielded: with all others that let go here still sticking, or already settled."""
    together = holder.sticking(p_next)
    for other in walk.holders:
        if other.sticks(p) and other.changes(p, p_next):
            together = other.sticking(together)
    yield together
    yield holder.sticking(p_next)
    yield holder.sticking(p)


def _needed(
    walk: EventReader, holder: Gripping, point: EventPoint, p: Floats, moved: Floats, dt: Floats, dp: Floats
) -> tuple[Floats, Floats]:
    """What sticking needs of a holder, and its derivatives."""
    if holder.pair is not None:
        values, slopes = walk.contact_slopes(point.t, point.y, p, moved, dt, dp)
        own = slice(2 * len(walk.traced.pairs) + 3 * holder.pair, 2 * len(walk.traced.pairs) + 3 * holder.pair + 3)
        return values[own], slopes[own]
    call, row = walk.event_call(holder.edge, walk.directions)
    values, slopes = call(point.t, point.y, p, moved, dt, dp)
    return values[row + 3 : row + 3 + holder.ways], slopes[row + 3 : row + 3 + holder.ways]


# ---- doubts

ROUND_OFF = "whether it sticks is decided by less than the tolerances: no derivative exists beyond"
OTHERWISE = "the direction in which its friction yields has no known derivative, because others let go or move with it"
STARTS = "it starts at rest, and sticks; values that move it at the start have no exact derivative"


def doubtful(walk: EventReader, p: Floats, after: EventPoint) -> Iterator[tuple[str, EventSlopes]]:
    """Joints that stick, or have come to rest and do not, with the strength that is left: they might have done otherwise."""
    for holder in walk.holders:
        if holder.pair is not None or (holder.sticks(p) and not holder.sticks(after.p)):
            continue  # one that has just let go is at its limit
        stuck = holder.sticks(after.p)
        if stuck or (holder.exact and p[holder.grip] == SLIDES and holder.changes(p, after.p)):
            there = after if stuck else replace(after, p=holder.sticking(after.p))
            yield holder.name, walk.look_at(holder.reserve, there)


def moved_at_rest(walk: EventReader, point: EventPoint) -> Iterator[tuple[str, EventSlopes]]:
    """Exact joints that stick, with their slips."""
    for holder in walk.holders:
        if holder.exact and holder.sticks(point.p):
            yield holder.name, walk.look_at(holder.edge, replace(point, p=holder.sliding(point.p)))
