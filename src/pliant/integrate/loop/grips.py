"""Contacts and joints whose friction law can stick: their states, decided at the events of a run.  Compiled.

Within a phase their forces do not jump; `dynamics.grip.Grip` describes the states. A sliding contact sticks when its slip speed
falls below its band. A sticking contact yields when more force is needed than it can supply, creeps once its slip has a direction,
slides when the slip leaves the band, and sticks again when the slip has come to rest. A joint that slips along one direction and
whose law has no band (an exact joint) slides one way, stored in p, until its slip is zero; there it sticks or slides back. The
state of each changes the forces needed from the others, so all states are settled together whenever the equations change.

They are numbered in one sequence: contact pairs, then joints whose friction can stick.
"""

from __future__ import annotations

import math
from typing import Any

from pliant.codegen.loop_language import flags, floats, ints
from pliant.integrate.loop.event_log import log
from pliant.integrate.loop.grip_states import CREEPS, REST_SHARE, RETURNS, SLIDES, STICKS, YIELDS
from pliant.integrate.loop.kernels import call_kernel
from pliant.integrate.loop.pairs import observe_contacts, pair_number, pair_place
from pliant.integrate.memory.run_record import (
    BAND,
    GRIP,
    JOINT_EDGE,
    JOINT_EXACT,
    JOINT_GRIP,
    JOINT_PLACES,
    JOINT_WAYS,
    N_SWITCHES,
    SWITCHES,
)

TOGETHER = 1e-6  # fraction of their strength: contacts that share one motion yield together, regardless of round-off
AT_LIMIT = 1e-12  # fraction of its strength: a joint at its limit still holds, up to round-off
STILL = 1e-14  # m/s: slip due to round-off at rest, for speeds of up to about 10 m/s
BLOCKED = 1e-8  # m/s^2: slip acceleration due to round-off of a joint that others hold at rest
SMALLEST_FORCE = 1e-300  # N: avoids division by zero


def close_grip(run: Any, pair: int) -> None:
    """A pair has closed: it sticks if its slip is within the band."""
    if pair_place(run, pair, GRIP) < 0:
        return
    _set(run, pair, SLIDES)
    _measure(run)
    if floats(run.g_try, run.n_events)[_edge(run, pair)] < 0.0:
        _set(run, pair, STICKS)


def open_grip(run: Any, pair: int) -> None:
    if pair_place(run, pair, GRIP) < 0:
        return
    _set(run, pair, SLIDES)
    for i in range(pair_place(run, pair, N_SWITCHES)):
        flags(run.active, run.n_events)[pair_place(run, pair, SWITCHES) + i] = 0


def grip_happened(run: Any, pair: int, e: int) -> bool:
    """Handle an event of a closed pair; True if it changed its friction state, so that all others must be settled with it."""
    if _place(run, pair) < 0:
        return False
    doing = _doing(run, pair)
    if doing == YIELDS and _is_exact(run, pair):
        if e == _edge(run, pair):  # it leaves the band again
            _set(run, pair, STICKS)
        else:
            _slide(run, pair, floats(run.p, run.n_parameters)[_place(run, pair) + 1])
    elif e == _edge(run, pair):
        if doing <= SLIDES:
            _set(run, pair, STICKS)
        else:
            _set(run, pair, CREEPS if doing == YIELDS else RETURNS)
    elif doing == STICKS:
        ints(run.breaking, _count(run))[pair] = 1
    else:
        _set(run, pair, STICKS)
    return True


def settle_grips(run: Any) -> None:
    """Let everything at rest stick again, then let those yield that cannot supply the force needed."""
    if run.n_holding == 0:
        return
    breaking, inside = ints(run.breaking, _count(run)), 0
    if run.n_joints > 0:
        _stop_what_rests(run)
    for k in range(_count(run)):
        if _doing(run, k) < STICKS:
            breaking[k] = 0
            continue
        inside += 1
        if _doing(run, k) == YIELDS and breaking[k] == 0:
            _set(run, k, STICKS)
    for _ in range(inside):
        if not _give_way(run):
            break
    for k in range(_count(run)):
        breaking[k] = 0
    if run.n_joints > 0:
        _slide_what_moves(run)
        _turn_back_what_goes_back(run)
        _measure(run)
        _forgive_residues(run)
        _log_changes(run)


def _stop_what_rests(run: Any) -> None:
    """Let exact joints stick that came to rest at the same instant as another one."""
    _measure(run)
    for k in range(run.n_pairs, _count(run)):
        if _is_exact(run, k) and _doing(run, k) == SLIDES and floats(run.g_try, run.n_events)[_edge(run, k) + 2] <= 0.0:
            _set(run, k, STICKS)


def _slide_what_moves(run: Any) -> None:
    """Let yielding exact joints slide with kinetic friction, unless others hold them at rest; these keep applying their largest
    force.

    To test whether a joint is held, its friction is reversed for a moment: a held joint does not accelerate.
    """
    tried, p = 0, floats(run.p, run.n_parameters)
    for k in range(run.n_pairs, _count(run)):
        if _is_exact(run, k) and _doing(run, k) == YIELDS:
            _slide(run, k, -p[_place(run, k) + 1])
            ints(run.breaking, _count(run))[k] = 1
            tried += 1
    if tried == 0:
        return
    _measure(run)
    for k in range(run.n_pairs, _count(run)):
        if ints(run.breaking, _count(run))[k]:
            ints(run.breaking, _count(run))[k] = 0
            if abs(floats(run.g_try, run.n_events)[_edge(run, k) + 3]) <= BLOCKED:
                _yield_along(run, k, -p[_place(run, k) + 1])
            else:
                _slide(run, k, -p[_place(run, k) + 1])


def _turn_back_what_goes_back(run: Any) -> None:
    """Reverse exact joints that begin to move against their assumed direction, because other joints have let go since.

    One that would then begin to move against that direction, too, needs less than its kinetic friction: it sticks after all.
    """
    turned, breaking = 0, ints(run.breaking, _count(run))
    _measure(run)
    for k in range(run.n_pairs, _count(run)):
        if _goes_back(run, k):
            _slide(run, k, -floats(run.p, run.n_parameters)[_place(run, k) + 1])
            breaking[k] = 1
            turned += 1
    if turned == 0:
        return
    _measure(run)
    for k in range(run.n_pairs, _count(run)):
        if breaking[k]:
            breaking[k] = 0
            if _goes_back(run, k):
                _set(run, k, STICKS)


def _goes_back(run: Any, joint: int) -> bool:
    """Whether an exact joint that slides from rest does so along its friction, as last measured."""
    if not _is_exact(run, joint) or _doing(run, joint) != SLIDES:
        return False
    edge, g = _edge(run, joint), floats(run.g_try, run.n_events)
    return bool(g[edge + 2] <= 0.0 and floats(run.p, run.n_parameters)[_place(run, joint) + 1] * g[edge + 3] < -BLOCKED)


def _forgive_residues(run: Any) -> None:
    """Treat slip left on the wrong side of zero by event location as rest; only further motion counts as reversal."""
    g, dead = floats(run.g_try, run.n_events), floats(run.dead, run.n_events)
    for k in range(run.n_pairs, _count(run)):
        if _is_exact(run, k) and _doing(run, k) == SLIDES:
            dead[_edge(run, k)] = max(STILL, -2.0 * g[_edge(run, k)])


def _log_changes(run: Any) -> None:
    """Log joints that have begun or ceased to stick since the last call; their state at the start is not an event."""
    stuck = ints(run.stuck, run.n_joints)
    for j in range(run.n_joints):
        doing, edge = _doing(run, run.n_pairs + j), _edge(run, run.n_pairs + j)
        sticks = doing == STICKS or (doing == YIELDS and _is_exact(run, run.n_pairs + j))
        if sticks != (stuck[j] != 0):
            stuck[j] = sticks
            if run.starting == 0:
                log(run, run.t, edge if sticks else edge + 1, -1)


def let_slide(run: Any, joint: int) -> None:
    """Let a joint slide, if exact with friction along +1: the state in which its events are measured for `begin_grip`."""
    if _is_exact(run, joint):
        _slide(run, joint, 1.0)
    else:
        _set(run, joint, SLIDES)


def begin_grip(run: Any, joint: int, still: float) -> None:
    """Initialise a joint, with its events measured as if it slid; it may stick if its slip is below `still`, m/s."""
    edge, g = _edge(run, joint), floats(run.g_try, run.n_events)
    if not _is_exact(run, joint):
        _set(run, joint, STICKS if g[edge] < 0.0 else SLIDES)
        return
    way = 1.0 if g[edge] > 0.0 else -1.0  # friction along +1 opposes a slip along -1
    if abs(g[edge]) <= max(still, floats(run.noise, run.n_events)[edge]):
        _set(run, joint, STICKS)
    else:
        _slide(run, joint, way)


def _give_way(run: Any) -> bool:
    """Let those yield that stick and are overloaded or at their limit; False if all that stick can hold."""
    breaking, margins = ints(run.breaking, _count(run)), floats(run.g_try, run.n_events)
    sticking, least, broken, contacts = 0, math.inf, 0, False
    _measure(run)
    for k in range(_count(run)):
        if _doing(run, k) == STICKS:
            sticking += 1
            least = min(least, margins[_edge(run, k) + 1] + (AT_LIMIT if k >= run.n_pairs else 0.0))
            contacts = contacts or (k < run.n_pairs and margins[_edge(run, k) + 1] <= TOGETHER)
        broken += breaking[k]
    if sticking == 0 or (broken == 0 and least > 0.0):
        return False
    if run.n_pairs > 0:
        observe_contacts(run, run.t, run.y)
    for k in range(_count(run)):
        weak = margins[_edge(run, k) + 1] <= TOGETHER if _doing(run, k) == STICKS else False
        # a joint may be loaded only by a contact that cannot hold, so joints are judged without it
        if _doing(run, k) == STICKS and (breaking[k] or (weak and (k < run.n_pairs or not contacts))):
            _let_yield(run, k)
        breaking[k] = 0
    if run.n_joints > 0:
        _turn_against(run)
    return True


def _turn_against(run: Any) -> None:
    """Let exact joints that have just let go yield against the slip that would develop without their friction.

    The force needed for sticking gives the direction only if others hold the joint at rest: near a dead centre that force would be
    so large that the resulting loads belong to another mechanism.
    """
    _measure(run)
    g, p = floats(run.g_try, run.n_events), floats(run.p, run.n_parameters)
    for k in range(run.n_pairs, _count(run)):
        if _is_exact(run, k) and _doing(run, k) == SLIDES and p[_place(run, k) + 1] == 0.0:
            asked, way = g[_edge(run, k) + 3], float(ints(run.asked_way, run.n_joints)[k - run.n_pairs])
            if abs(asked) > BLOCKED:
                way = 1.0 if asked > 0.0 else -1.0
            _yield_along(run, k, way)


def _let_yield(run: Any, pair: int) -> None:
    """Apply its largest force against the slip; at rest, along the force that sticking would need."""
    if pair >= run.n_pairs:
        _let_joint_yield(run, pair)
        return
    band = pair_number(run, pair, BAND)
    speed = floats(run.g_try, run.n_events)[_edge(run, pair)] + band  # it stuck, so its edge is that of the band
    if speed >= REST_SHARE * band:
        _set(run, pair, CREEPS)
        return
    force = floats(run.observed + 8 * (run.at_friction + 3 * pair), 3)
    size = max(math.sqrt(force[0] ** 2 + force[1] ** 2 + force[2] ** 2), SMALLEST_FORCE)
    _set(run, pair, YIELDS)
    resists = floats(run.p + 8 * (pair_place(run, pair, GRIP) + 1), 3)
    for i in range(3):
        resists[i] = force[i] / size


def _let_joint_yield(run: Any, joint: int) -> None:
    """The same for a joint: the force needed for sticking was measured with its events."""
    edge, g = _edge(run, joint), floats(run.g_try, run.n_events)
    if _is_exact(run, joint):  # without friction for a moment; `_turn_against` then finds the direction in which it resists
        ints(run.asked_way, run.n_joints)[joint - run.n_pairs] = -1 if g[edge + 3] < 0.0 else 1
        _slide(run, joint, 0.0)
        return
    if g[edge + 2] >= 0.0:
        _set(run, joint, CREEPS)
        return
    ways, size = ints(run.joint_places, run.n_joints * JOINT_PLACES)[JOINT_PLACES * (joint - run.n_pairs) + JOINT_WAYS], 0.0
    for i in range(ways):
        size += g[edge + 3 + i] ** 2
    _set(run, joint, YIELDS)
    resists = floats(run.p + 8 * (_place(run, joint) + 1), 3)
    for i in range(ways):
        resists[i] = g[edge + 3 + i] / max(math.sqrt(size), SMALLEST_FORCE)


def _yield_along(run: Any, joint: int, way: float) -> None:
    _set(run, joint, YIELDS)
    floats(run.p, run.n_parameters)[_place(run, joint) + 1] = way


def _slide(run: Any, joint: int, way: float) -> None:
    """Let an exact joint slide with friction along `way` until its slip is zero; beyond that, its equations change."""
    _set(run, joint, SLIDES)
    floats(run.p, run.n_parameters)[_place(run, joint) + 1] = way


def _measure(run: Any) -> None:
    """Evaluate all event functions at the present state into g_try."""
    call_kernel(run.events_closed, run.t, run.y, run.p, run.g_try, run.work)


def _edge(run: Any, pair: int) -> int:
    """The event at which it enters or leaves its band, or rest; the next event is that of its reserve."""
    if pair >= run.n_pairs:
        return int(ints(run.joint_places, run.n_joints * JOINT_PLACES)[JOINT_PLACES * (pair - run.n_pairs) + JOINT_EDGE])
    return int(pair_place(run, pair, SWITCHES))


def _place(run: Any, pair: int) -> int:
    """The index in p of its state; -1 for a contact whose law cannot stick."""
    if pair >= run.n_pairs:
        return int(ints(run.joint_places, run.n_joints * JOINT_PLACES)[JOINT_PLACES * (pair - run.n_pairs) + JOINT_GRIP])
    return int(pair_place(run, pair, GRIP))


def _is_exact(run: Any, pair: int) -> bool:
    """Whether it is a joint that sticks at a slip of exactly zero."""
    if pair < run.n_pairs:
        return False
    return bool(ints(run.joint_places, run.n_joints * JOINT_PLACES)[JOINT_PLACES * (pair - run.n_pairs) + JOINT_EXACT] != 0)


def _count(run: Any) -> int:
    return int(run.n_pairs + run.n_joints)


def _doing(run: Any, pair: int) -> float:
    """Its state; SLIDES if its law cannot stick."""
    place = _place(run, pair)
    return float(floats(run.p, run.n_parameters)[place]) if place >= 0 else SLIDES


def _set(run: Any, pair: int, doing: float) -> None:
    p, place = floats(run.p, run.n_parameters), _place(run, pair)
    p[place] = doing
    p[place + 1] = p[place + 2] = p[place + 3] = 0.0
    watch_grip(run, pair)


def watch_grip(run: Any, pair: int) -> None:
    """Set the watched events: while sliding, entry into the band; inside, leaving the band, and the reserve of strength or slip."""
    if _place(run, pair) < 0:
        return
    edge, n, inside = _edge(run, pair), run.n_events, _doing(run, pair) >= STICKS
    active, direction = flags(run.active, n), ints(run.direction, n)
    active[edge], direction[edge] = 1, 1 if inside else -1
    active[edge + 1], direction[edge + 1] = inside, -1
    if pair >= run.n_pairs:
        _watch_joint(run, pair)


def _watch_joint(run: Any, joint: int) -> None:
    """Set the watched events of a joint; measured ones are not watched. A sliding exact joint is on its side of zero."""
    edge, n = _edge(run, joint), run.n_events
    active, dead, required, direction = flags(run.active, n), floats(run.dead, n), ints(run.required, n), ints(run.direction, n)
    ways = ints(run.joint_places, run.n_joints * JOINT_PLACES)[JOINT_PLACES * (joint - run.n_pairs) + JOINT_WAYS]
    for i in range(ways + 1):
        active[edge + 2 + i] = 0
    doing = _doing(run, joint)
    dead[edge + 1], required[edge + 1] = AT_LIMIT, 1 if doing == STICKS else 0
    if _is_exact(run, joint):
        active[edge], direction[edge], dead[edge] = doing != STICKS, -1, STILL
        required[edge] = 1 if doing == SLIDES else 0
