"""The contacts of a System in a trace: which parameters, states and event functions each pair has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from pliant.compile.traced import Scalar, Tracer
from pliant.dynamics.algebra import solve_symmetric, total
from pliant.dynamics.contact import Pressed, Touch, apply, bristle_count, holds, press
from pliant.dynamics.kinematics import Pose
from pliant.dynamics.loads import Actions
from pliant.dynamics.tree import Tree
from pliant.model.contact import ContactPair
from pliant.model.normal_law import CustomNormal
from pliant.scalar import maximum, minimum, sqrt, where

PARAMETERS = 2  # of a pair: closed (0 or 1), entry speed


@dataclass(frozen=True)
class PairSlots:
    """Where one pair stands in p, in y and among the event functions and works."""

    pair: ContactPair
    closed: int  # in p
    entry: int  # in p
    bristles: range  # in y
    impulse: int  # in y
    lost: int  # in y: work of the normal force without its potential part
    rubbed: int  # in y: work of friction
    gap: int  # event functions
    peak: int
    let_go: int | None
    near: int | None
    switches: range


def press_all(
    tree: Tree,
    touching: Sequence[Touch],
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    bodies: Sequence[Pose],
    p: Sequence[Scalar],
    bristles: Sequence[Scalar],
    held: Sequence[Scalar],
    acting: Actions,
) -> list[Pressed]:
    """Forces of all pairs, put on their bodies; p, bristles and held are just what belongs to contacts."""
    pressed: list[Pressed] = []
    taken, grasped = 0, 0
    for k, touch in enumerate(touching):
        count = bristle_count(touch)
        closed, entry = p[PARAMETERS * k], p[PARAMETERS * k + 1]
        holding = held_count(touch)
        own, grip = bristles[taken : taken + count], held[grasped : grasped + holding]
        pressed.append(press(touch, closed, entry, own, grip))
        taken, grasped = taken + count, grasped + holding
        apply(tree, pressed[-1], bodies, q, v, acting)
        _account(pressed[-1], acting)
    return pressed


def _account(pressed: Pressed, acting: Actions) -> None:
    """Both powers of a pair; a normal law that tells of no potential may give back what it took, and nobody knows how much."""
    pair, (lost, rubbed) = pressed.touch.pair, pressed.powers
    if isinstance(pair.normal, CustomNormal) and pair.normal.energy is None:
        acting.power[f"{pair.name} normal"] = lost
    else:
        acting.dissipate(f"{pair.name} normal", lost)
    acting.dissipate(f"{pair.name} friction", rubbed, returns=pair.friction is not None and pair.friction.returns)


def switch_functions(touch: Touch) -> list[Scalar]:
    """Zero where the friction law changes branch: slip speed against each of its corners."""
    friction = touch.pair.friction
    return [touch.speed - corner for corner in friction.switches] if friction is not None and touch.slip else []


def held_count(touch: Touch) -> int:
    return len(touch.slip) if holds(touch) else 0


# While a law holds, what slip is left dies away with this time constant, s: far below any motion of a mechanism, and
# slow enough for an explicit method not to notice.
STICK_TIME = 1e-3
# Contacts that hold one and the same motion, as both ends of a rigid bar do, share the force in proportion to their strength:
# each gives way, m/s^2, by this times the share of its strength in use. What slip that leaves is STICK_TIME times as much.
HOLD_CREEP = 1e-9


def solve_held(
    tracer: Tracer, pressed: Sequence[Pressed], held: ca.SX, state: ca.SX, rates: Sequence[Scalar]
) -> tuple[list[Scalar], list[Scalar]]:
    """The forces that hold, and what is left of each one's strength (negative: it breaks away).

    Accelerations are linear in the held forces h, so slip' = b + D h; h solves slip' = -slip/STICK_TIME for all that stick at
    once, then each is cut to what its contact can hold.
    """
    gripping = [one for one in pressed if holds(one.touch)]
    slips = [s for one in gripping for s in one.touch.slip]
    sticks = [one.sticking for one in gripping for _ in one.touch.slip]
    slip_rates = tracer.directional(slips, state, tracer.column(rates))
    response = tracer.jacobian(slip_rates, held)
    none = tracer.column([0.0] * len(slips))
    free = tracer.substitute(slip_rates, held, none)
    response = [tracer.substitute(row, held, none) for row in response]
    count = range(len(slips))
    matrix = [[where(sticks[i] > 0.5, response[i][j], 1.0 if i == j else 0.0) for j in count] for i in count]
    strengths = [_strength(one) for one in gripping for _ in one.touch.slip]
    for i in count:
        matrix[i][i] = matrix[i][i] + HOLD_CREEP / maximum(strengths[i], SMALLEST_FORCE)
    wanted = [where(sticks[i] > 0.5, -slips[i] / STICK_TIME - free[i], 0.0) for i in count]
    asked = solve_symmetric(matrix, wanted)
    forces: list[Scalar] = []
    margins: list[Scalar] = []
    for one in gripping:
        own = asked[len(forces) : len(forces) + len(one.touch.slip)]
        size = sqrt(total(h * h for h in own))
        strength = _strength(one)
        share = minimum(strength / maximum(size, SMALLEST_FORCE), 1.0)
        forces += [share * h for h in own]
        margins.append(where(one.sticking > 0.5, strength - size, 1.0))
    return forces, margins


def _strength(one: Pressed) -> Scalar:
    """The most a contact can hold, N."""
    return one.touch.pair.friction.stiction(one.force)  # type: ignore[union-attr]


SMALLEST_FORCE = 1e-30  # N, where nothing pulls at a contact that holds
