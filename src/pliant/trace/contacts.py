"""The contacts of a System in a trace: which parameters, states and event functions each pair has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pliant.codegen.tracer import Scalar
from pliant.dynamics.contact import (
    ContactForce,
    ContactKinematics,
    apply,
    bristle_count,
    contact_force,
    holds,
    is_impulsive,
    knocked,
)
from pliant.dynamics.grip import Grip
from pliant.dynamics.kinematics import TreeState
from pliant.dynamics.loads import AppliedForces
from pliant.integrate.memory.run_record import SPENT, UNDAMPED
from pliant.model.coordinate_pair import Pair
from pliant.model.normal_law import CustomNormal
from pliant.scalar import where
from pliant.trace.holding import STICK_TIME, StickingContact
from pliant.trace.layout import OPEN

PARAMETERS = len(OPEN)  # entries of p for each pair
# Times the entry speed: in the midst of a compression, a contact whose closing speed grows beyond this is being struck. The weight
# of a body and its vibrating links make it grow by less within one impact: up to 4.6 times in published mechanisms.
STRUCK = 10.0


@dataclass(frozen=True)
class PairSlots:
    """Indices of one pair in p, in y and among the event functions and works."""

    pair: Pair
    closed: int  # in p
    entry: int  # in p
    grip: int | None  # in p: the state of a law that can stick, followed by the direction in which it yields
    bristles: range  # in y
    impulse: int  # in y
    lost: int  # in y: work of the normal force without its potential part
    rubbed: int  # in y: work of friction
    gap: int  # event functions
    peak: int
    let_go: int | None
    near: int | None
    renewal: int | None
    switches: range
    knocks: range  # rows of the function "impact": its normal and its tangents; empty unless impulsive

    def of(self, pair: Pair) -> PairSlots:
        """The same indices for a pair with other numbers."""
        return self if pair is self.pair else replace(self, pair=pair)


def contact_forces(
    state: TreeState, contacts: Sequence[ContactKinematics], p: Sequence[Scalar], bristles: Sequence[Scalar],
    held: Sequence[Scalar], knocks: Sequence[Scalar], applied: AppliedForces,
) -> list[ContactForce]:  # fmt: skip
    """Computes the forces of all pairs and applies them to the bodies; p, bristles and held contain the contacts' entries only.

    knocks: forces that the responses to impulses are found by, zero otherwise.
    """
    forces: list[ContactForce] = []
    taken, grasped, knocking = 0, 0, iter(knocks)
    for k, kinematics in enumerate(contacts):
        count = bristle_count(kinematics)
        closed, entry, doing, x, y, z = p[PARAMETERS * k : PARAMETERS * (k + 1)]
        holding = held_count(kinematics)
        own, grasp = bristles[taken : taken + count], held[grasped : grasped + holding]
        forces.append(contact_force(kinematics, closed, entry, Grip(doing, (x, y, z)), own, grasp))
        taken, grasped = taken + count, grasped + holding
        apply(state, knocked(forces[-1], [next(knocking) for _ in range(knock_count(kinematics))]), applied)
        _account(forces[-1], applied)
    return forces


def _account(contact: ContactForce, applied: AppliedForces) -> None:
    """Records both powers of a pair; a normal law without a declared potential may return an unknown part of the energy it took."""
    pair, (lost, rubbed) = contact.kinematics.pair, contact.powers
    if isinstance(pair.normal, CustomNormal) and pair.normal.energy is None:
        applied.power[f"{pair.name} normal"] = lost
    else:
        applied.dissipate(f"{pair.name} normal", lost)
    applied.dissipate(f"{pair.name} friction", rubbed, returns=pair.friction is not None and pair.friction.returns)


def switch_functions(kinematics: ContactKinematics) -> list[Scalar]:
    """Functions that are zero where the friction law changes branch: slip speed minus each corner speed."""
    friction = kinematics.pair.friction
    return [kinematics.speed - corner for corner in friction.switches] if friction is not None and kinematics.slip else []


def renewal_function(closing: Scalar, acceleration: Scalar, entry: Scalar) -> Scalar:
    """Zero where a compression ends, or a contact is struck in it; then (entry < 0) where the closing speed has grown beyond the
    entry speed and is largest: the entry speed of a new compression. Of a contact that nothing damps, the acceleration.
    """
    below = _below(closing, entry)
    return where(entry < 0.0, where(below > 0.0, below, acceleration), (closing - SPENT * entry) * (STRUCK * entry - closing))


def renewal_rate(closing: Scalar, acceleration: Scalar, entry: Scalar) -> Scalar:
    """The rate of `renewal_function`; 0 where this is an acceleration."""
    within = acceleration * ((STRUCK + SPENT) * entry - 2.0 * closing)
    return where(entry < 0.0, where(_below(closing, entry) > 0.0, -acceleration, 0.0), within)


def _below(closing: Scalar, entry: Scalar) -> Scalar:
    """How far the closing speed is below the entry speed -entry, m/s, after a compression."""
    return where(entry > -UNDAMPED, -entry - closing, 0.0)


def grip_functions(contact: ContactForce, margin: Scalar) -> list[Scalar]:
    """Functions that are zero where a sticking law enters or leaves its band, and where it must yield or comes to rest again."""
    assert contact.grip is not None
    band = contact.kinematics.pair.friction.band  # type: ignore[union-attr]
    return [contact.kinematics.speed - contact.grip.edge(band), contact.grip.reserve(margin, contact.kinematics, band)]


def held_count(kinematics: ContactKinematics) -> int:
    return (len(kinematics.slip) if holds(kinematics) else 0) + is_impulsive(kinematics)


def knock_count(kinematics: ContactKinematics) -> int:
    return 1 + len(kinematics.slip) if is_impulsive(kinematics) else 0


def speeds_apart(contacts: Sequence[ContactForce]) -> list[Scalar]:
    """Of every impulsive contact: the speeds along its normal and its tangents, which an impact changes."""
    struck = [contact.kinematics for contact in contacts if is_impulsive(contact.kinematics)]
    return [x for kinematics in struck for x in (-kinematics.closing, *kinematics.slip)]


def holders(contacts: Sequence[ContactForce], p: Sequence[Scalar]) -> list[StickingContact]:
    """Contacts that can stick, then impulsive contacts, which may rest, with their unknowns; p: entries of the contacts."""
    sticking, resting, first = [], [], 0
    for k, contact in enumerate(contacts):
        kinematics, rigid = contact.kinematics, is_impulsive(contact.kinematics)
        if holds(kinematics):
            assert contact.grip is not None
            count = len(kinematics.slip)
            unknowns = range(first, first + count)
            sticking.append(StickingContact(unknowns, kinematics.slip, contact.grip.sticks, contact.strength, rigid=rigid))
            first += count
        if rigid:
            closed, gap = p[PARAMETERS * k : PARAMETERS * k + 2]
            apart = (kinematics.gap - gap) / STICK_TIME - kinematics.closing
            resting.append(StickingContact([first], (-kinematics.closing,), closed, 0.0, rigid=True, extra=(apart / STICK_TIME,)))
            first += 1
    return sticking + resting
