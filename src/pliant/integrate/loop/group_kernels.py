"""The equations of a mechanism with a group of shapes that may all touch each other: kernels around kernels.  Compiled.

Where the members are, and what two of them do to each other, are kernels that are traced once, for every kind of pair. Each kernel
here goes through the pairs in `p` that are near, adds up what they do to every member, and calls the kernel of the mechanism with
these wrenches behind its state. `codegen.composed` sets the numbers below for one mechanism.
"""

from __future__ import annotations

from typing import Any

from pliant.codegen.loop_language import Address, Linked, floats
from pliant.integrate.loop.kernels import put

_KERNEL = (float, Address, Address, Address, Address)

# The numbers of one member in its row.
PLACE, VELOCITY, TURNING, RADIUS, NORMAL = 0, 3, 6, 9, 10
ROW = 13
RATES = 6  # accelerations of a ball: of its centre, and angular
WRENCH = 6  # on a ball: force, and moment about its centre, world axes
# The entries of a near pair in p: its members, -1 if the place is free; whether it is closed, and its entry speed.
FIRST, SECOND, SHUT, ENTERED = range(4)
ENTRIES = 4
FREE = (-1.0, -1.0, 0.0, 1.0)
# The outputs of what two members do to each other: force on the first and moments about both centres, in world axes; then numbers.
PUSH, FORCE, LOST, RUBBED, STORED, GAP, CLOSING, FRICTION, POINT, DIRECTION = 0, 9, 10, 11, 12, 13, 14, 15, 18, 21
MET = 24
CARRIED = 3  # states of every place: impulse, and the works of the normal force and of friction
SUMS = 3  # behind the wrenches: powers of normal forces and friction, W, and the energy stored, J
SEEN = 12  # numbers that the loop observes of a pair: gap, closing speed, force, friction, point, normal

# Of one mechanism.
N_Y = 0  # components of y
N_READ = 0  # those that kernels read, the first
N_OUT = 0  # outputs of the mechanism's kernel
N_RATES = 0  # outputs of its right-hand side
N_PLACES = 0  # for near pairs
N_BALLS = 0
N_MEMBERS = 0
N_NAMED = 0  # pairs of the mechanism besides the group
FIRST_PLACE = 0  # index in p; before it, how many places may be taken: the first
N_EVENTS = 0  # of every place
# indices of contact quantities in the observed row
AT_GAP = AT_CLOSING = AT_FORCE = AT_FRICTION = AT_POINT = AT_NORMAL = 0
# parts of work
ROWS = INPUTS = OUTPUTS = SLOPES = ACCELERATIONS = INNER = 0

mechanism = Linked("mechanism", _KERNEL)  # the kernel that this one stands around
equations = Linked("equations", _KERNEL)  # the right-hand side
members = Linked("members", _KERNEL)
member_rates = Linked("member_rates", _KERNEL)
meet_ball = Linked("meet_ball", _KERNEL)
meet_plane = Linked("meet_plane", _KERNEL)
gap_to_ball = Linked("gap_to_ball", _KERNEL)
gap_to_plane = Linked("gap_to_plane", _KERNEL)
watch_ball = Linked("watch_ball", _KERNEL)
watch_plane = Linked("watch_plane", _KERNEL)


def rhs(t: float, y: int, p: int, out: int, work: int) -> None:
    """The derivative of y; behind that of the mechanism, those of the states of every place."""
    push(t, y, p, work, out + 8 * N_OUT)
    mechanism(t, work, p, out, work + 8 * INNER)


def observe(t: float, y: int, p: int, out: int, work: int) -> None:
    """The observed row of the mechanism."""
    push(t, y, p, work, 0)
    mechanism(t, work, p, out, work + 8 * INNER)


def look(t: float, y: int, p: int, out: int, work: int) -> None:
    """The observed row, and behind it the contact quantities of all pairs, those of the places after the others."""
    observe(t, y, p, out, work)
    n, row = N_NAMED + N_PLACES, floats(out, N_OUT)
    seen = floats(out + 8 * N_OUT, SEEN * n)
    for k in range(N_NAMED):
        seen[k], seen[n + k], seen[2 * n + k] = row[AT_GAP + k], row[AT_CLOSING + k], row[AT_FORCE + k]
        for i in range(3 * k, 3 * k + 3):
            seen[3 * n + i], seen[6 * n + i], seen[9 * n + i] = row[AT_FRICTION + i], row[AT_POINT + i], row[AT_NORMAL + i]
    met = floats(work + 8 * OUTPUTS, MET)
    for k in range(N_PLACES):
        pair = N_NAMED + k
        if is_taken(p, k):
            meet(t, p, work, k)
        else:
            for i in range(MET):
                met[i] = 0.0
            met[GAP] = 1.0
        seen[pair], seen[n + pair], seen[2 * n + pair] = met[GAP], met[CLOSING], met[FORCE]
        for i in range(3):
            seen[3 * n + 3 * pair + i], seen[6 * n + 3 * pair + i] = met[FRICTION + i], met[POINT + i]
            seen[9 * n + 3 * pair + i] = met[DIRECTION + i]


def events_open(t: float, y: int, p: int, out: int, work: int) -> None:
    """The events of the mechanism, then those of every place, while no pair is closed: only gaps matter."""
    put(work, y, N_READ)
    clear(work)
    members(t, y, p, work + 8 * ROWS, work + 8 * INNER)
    mechanism(t, work, p, out, work + 8 * INNER)
    idle(out, used(p))
    for k in range(used(p)):
        watch_gap(t, p, out + 8 * (N_OUT + N_EVENTS * k), work, k)


def events_closed(t: float, y: int, p: int, out: int, work: int) -> None:
    """The same while a pair is closed. Rates of forces and closing speeds need the accelerations of the members."""
    push(t, y, p, work, 0)
    equations(t, work, p, work + 8 * SLOPES, work + 8 * INNER)
    mechanism(t, work, p, out, work + 8 * INNER)
    put(work + 8 * N_Y, work + 8 * SLOPES, N_READ)
    member_rates(t, work, p, work + 8 * ACCELERATIONS, work + 8 * INNER)
    idle(out, used(p))
    for k in range(used(p)):
        at = out + 8 * (N_OUT + N_EVENTS * k)
        if floats(p + 8 * (FIRST_PLACE + ENTRIES * k), ENTRIES)[SHUT] != 0.0:
            watch(t, p, at, work, k)
        else:
            watch_gap(t, p, at, work, k)


def push(t: float, y: int, p: int, work: int, carried: int) -> None:
    """Put y, the wrenches of all closed pairs and their sums into work, and the rates of the places' states at `carried`."""
    put(work, y, N_READ)
    clear(work)
    members(t, y, p, work + 8 * ROWS, work + 8 * INNER)
    wrenches = floats(work + 8 * N_Y, WRENCH * N_BALLS + SUMS)
    if carried != 0:
        all_rates = floats(carried, CARRIED * N_PLACES)
        for i in range(CARRIED * N_PLACES):
            all_rates[i] = 0.0
    for k in range(used(p)):
        place = floats(p + 8 * (FIRST_PLACE + ENTRIES * k), ENTRIES)
        if place[SHUT] == 0.0:
            continue
        meet(t, p, work, k)
        met, a, b = floats(work + 8 * OUTPUTS, MET), WRENCH * int(place[FIRST]), WRENCH * int(place[SECOND])
        for i in range(3):
            wrenches[a + i] += met[PUSH + i]
            wrenches[a + 3 + i] += met[PUSH + 3 + i]
            if b < WRENCH * N_BALLS:
                wrenches[b + i] -= met[PUSH + i]
                wrenches[b + 3 + i] += met[PUSH + 6 + i]
            wrenches[WRENCH * N_BALLS + i] += met[LOST + i]
        if carried != 0:
            rates = floats(carried + 8 * CARRIED * k, CARRIED)
            rates[0], rates[1], rates[2] = met[FORCE], met[LOST], met[RUBBED]


def clear(work: int) -> None:
    """No wrenches."""
    wrenches = floats(work + 8 * N_Y, WRENCH * N_BALLS + SUMS)
    for i in range(WRENCH * N_BALLS + SUMS):
        wrenches[i] = 0.0


def used(p: int) -> int:
    """The number of places that may be taken."""
    return int(floats(p + 8 * (FIRST_PLACE - 1), 1)[0])


def idle(out: int, first: int) -> None:
    """The events of places from the first one on, which are free."""
    events = floats(out + 8 * (N_OUT + N_EVENTS * first), N_EVENTS * (N_PLACES - first))
    for i in range(N_EVENTS * (N_PLACES - first)):
        events[i] = 1.0


def is_taken(p: int, k: int) -> bool:
    return bool(floats(p + 8 * (FIRST_PLACE + ENTRIES * k), ENTRIES)[FIRST] >= 0.0)


def gather(p: int, work: int, k: int) -> int:
    """Put the rows of both members, and what the pair has in p, where kernels of pairs read them; the second member."""
    place = floats(p + 8 * (FIRST_PLACE + ENTRIES * k), ENTRIES)
    a, b = int(place[FIRST]), int(place[SECOND])
    put(work + 8 * INPUTS, work + 8 * (ROWS + ROW * a), ROW)
    put(work + 8 * (INPUTS + ROW), work + 8 * (ROWS + ROW * b), ROW)
    own = floats(work + 8 * (INPUTS + 2 * ROW), 2)
    own[0], own[1] = place[SHUT], place[ENTERED]
    return b


def meet(t: float, p: int, work: int, k: int) -> None:
    """What the pair in a place does, into the outputs in work."""
    if gather(p, work, k) < N_BALLS:
        meet_ball(t, work + 8 * INPUTS, p, work + 8 * OUTPUTS, work + 8 * INNER)
    else:
        meet_plane(t, work + 8 * INPUTS, p, work + 8 * OUTPUTS, work + 8 * INNER)


def watch_gap(t: float, p: int, out: int, work: int, k: int) -> None:
    """The events of an open pair, or of a free place."""
    events = floats(out, N_EVENTS)
    for i in range(N_EVENTS):
        events[i] = 1.0
    if not is_taken(p, k):
        return
    if gather(p, work, k) < N_BALLS:
        gap_to_ball(t, work + 8 * INPUTS, p, out, work + 8 * INNER)
    else:
        gap_to_plane(t, work + 8 * INPUTS, p, out, work + 8 * INNER)


def watch(t: float, p: int, out: int, work: int, k: int) -> None:
    """The events of a closed pair."""
    b = gather(p, work, k)
    a, rates = int(floats(p + 8 * (FIRST_PLACE + ENTRIES * k), ENTRIES)[FIRST]), INPUTS + 2 * ROW + 2
    put(work + 8 * rates, work + 8 * (ACCELERATIONS + RATES * a), RATES)
    if b < N_BALLS:
        put(work + 8 * (rates + RATES), work + 8 * (ACCELERATIONS + RATES * b), RATES)
        watch_ball(t, work + 8 * INPUTS, p, out, work + 8 * INNER)
    else:
        watch_plane(t, work + 8 * INPUTS, p, out, work + 8 * INNER)


ENTRY_POINTS: tuple[Any, ...] = (rhs, observe, look, events_open, events_closed)
