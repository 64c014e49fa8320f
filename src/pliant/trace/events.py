"""The events of a run: user conditions, stops, ends of sleeves, and contact events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pliant.codegen.tracer import Scalar
from pliant.dynamics.contact import ContactForce, holds, is_impulsive
from pliant.dynamics.cut_joint import CutJointState
from pliant.dynamics.tree import Node, Tree
from pliant.integrate.memory.run_record import CUTS, MARKS, RECORDS, STOPS, TURNS
from pliant.model.force import DIRECTIONS
from pliant.model.friction_law import FrictionLaw
from pliant.model.joint import ROTATION
from pliant.model.modes import direction_of
from pliant.model.normal_law import CustomNormal
from pliant.model.play import Limits
from pliant.model.system import System
from pliant.model.telescopic import TelescopicBeam
from pliant.scalar import absolute, maximum, pi, sqrt, where
from pliant.trace.contacts import PARAMETERS, PairSlots, grip_functions, knock_count, switch_functions

SHORTEST = 1e-3  # of a telescopic link's length: below it the free part is a stub that no mode describes, and so it is below the
# radius of gyration of its section: no beam is that thick, and its frequencies, as 1/l^2, would only use up steps
NEARLY_HALF_A_TURN = 0.95 * pi  # rad: the angle between two frames in space is known within half a turn
# m or rad, and per second: bodies that only just touch, nearer and slower than this, press and pull by round-off
JUST_TOUCHING, STILL = 1e-12, 1e-10
GAP, PEAK, LET_GO, CORNER = "gap", "peak", "lets go", "force has a corner"
SWITCH, NEAR, RENEWAL = "friction switches", "near", "is struck"


@dataclass(frozen=True)
class Event:
    """One event function: its name, which crossings count, and what the time loop does there (STOPS ends the run).

    A contact event belongs to a pair, by number, and is watched only while the pair is open, or only while it is closed. A force
    that jumps (of a damped end stop or a user's formula) is switched by entry `flag` of p: 1 while the function is on the side
    `pressed`.
    """

    name: str
    direction: int
    kind: int = TURNS
    pair: int | None = None
    flag: int | None = None
    pressed: int = 0
    reported: bool = True  # whether it appears in the result
    holder: str | None = None  # name of the sticking joint that the event belongs to
    side: int = 0  # the sign of the function for which the equations hold at the start; 0: either


Watched = tuple[Event, Scalar, bool]  # an event, its function, and whether it is needed only while a contact is closed
Flags = Mapping[str, tuple[int, Scalar]]  # of each damped stop: the index in p of its flag (pressed or not), and the flag


def model_events(
    system: System,
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    formula: Callable[[Any], Scalar],
    flags: Flags,
) -> list[Watched]:
    """Events of the user's conditions, of sleeve ends and corners of sleeve friction, and of both ends of joints with stops."""
    events: list[Watched] = []
    for condition in system.conditions.values():
        g = formula(condition.function)
        kind = STOPS if condition.stop else RECORDS
        events.append((Event(condition.name, DIRECTIONS[condition.direction], kind), g, False))
    for node in tree.nodes:
        events += _sleeve_events(node, q, v)
        for slot in node.slots:
            stop = node.link.joint.stops.get(slot.motion.name)
            if stop is not None:
                events += _stop_events(f"{node.name}.{slot.motion.name}", stop, q[slot.q], v[slot.v], flags)
    return events


def _stop_events(label: str, stop: Limits, x: Scalar, rate: Scalar, flags: Flags) -> list[Watched]:
    """Events at both ends of a motion with stops: the force has a corner there, or a jump if the stop is damped.

    A damped stop lets go of what leaves it faster than its spring pushes: there its force has a corner, too.
    """
    events: list[Watched] = []
    for end, limit, side in (("low", stop.low, -1), ("high", stop.high, 1)):
        index, pressed = flags.get(f"{label} {end}", (None, 0.0))
        events.append((Event(f"{label} {end} stop", 0, flag=index, pressed=side), x - limit, False))
        if index is not None:
            assert stop.stiffness is not None
            pushed = side * (stop.stiffness * (x - limit) + stop.damping * rate)
            pushed += stop.stiffness * JUST_TOUCHING + stop.damping * STILL
            events.append((Event(f"{label} {end} stop lets go", 0, CUTS, reported=False), where(pressed > 0.5, pushed, 1.0), False))
    return events


def cut_joint_events(cut_joints: Sequence[CutJointState], flags: Flags) -> list[Watched]:
    """Stops of cut joints, and the limit of the half turn within which a spatial spring or stop can measure its angle."""
    events: list[Watched] = []
    for cut in cut_joints:
        joint, start = cut.cut_joint.joint, iter(cut.cut_joint.start)
        for coordinate in cut.coordinates:
            x, (first, *_) = coordinate.positions[0], [next(start) for _ in coordinate.positions]
            stop, spring = joint.stops.get(coordinate.motion.name), joint.springs.get(coordinate.motion.name)
            if stop is not None:
                events += _stop_events(coordinate.label, stop, x, coordinate.rates[0], flags)
            counted = cut.turn.index is not None or coordinate.motion.kind != ROTATION
            if not counted and (stop is not None or spring is not None):
                event = Event(f"{coordinate.label} has turned half a turn, beyond which its spring cannot count", 1, STOPS)
                events.append((event, (x - first) ** 2 - NEARLY_HALF_A_TURN**2, False))
    return events


def _sleeve_events(node: Node, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Watched]:
    """The ends of a telescopic link's travel: out of its sleeve, and fully retracted, where no free length can bend.

    Also the corners of its friction law.
    """
    body = node.link.body
    if not isinstance(body, TelescopicBeam):
        return []
    length = q[node.own_q[0]]
    both_ways = body.on_sleeve_end == "spring"  # the spring's force has a corner at the end
    kind = {"spring": TURNS, "stop": STOPS}.get(body.on_sleeve_end, RECORDS)
    out = Event(f"{node.name} leaves its sleeve", 0 if both_ways else 1, kind)
    inside = Event(f"{node.name} is all inside its sleeve", -1, STOPS)
    speed = absolute(v[node.own_v[0]])
    corners = body.friction.switches if isinstance(body.friction, FrictionLaw) else ()
    rubs = [(Event(f"{node.name} sleeve {SWITCH}", 0, kind=CUTS), speed - corner, False) for corner in corners]
    return [(out, length - body.length, False), (inside, length - _stub(body), False), *rubs]


def _stub(body: TelescopicBeam) -> Scalar:
    """The free length below which a telescopic link is all inside its sleeve, m."""
    bent, shortest = {direction_of(modes) for modes in body.mode_sets}, SHORTEST * body.length
    for plane, moment in (("y", body.section.Iz), ("z", body.section.Iy)):
        if plane in bent and moment is not None:
            shortest = maximum(shortest, sqrt(moment / body.section.A))
    return shortest


def contact_events(
    contacts: Sequence[ContactForce],
    growing: Sequence[Scalar],
    renewals: Sequence[Scalar | None],
    margins: Sequence[Scalar],
    near: float | None,
) -> list[Watched]:
    """Events of every pair: its gap; while closed, the peak of its force, its release, a new compression and the corners of its
    friction law.

    growing: rates of the raw forces, and of impulsive contacts the acceleration of the gap, which is only measured; renewals: None
    for a law that does not use the entry speed; margins: the remaining strength of sticking contacts; near: a distance to watch.
    """
    events: list[Watched] = []
    left = iter(margins)
    for k, contact in enumerate(contacts):
        name = contact.kinematics.pair.name
        events.append((Event(f"{name} {GAP}", -1, pair=k), contact.kinematics.gap, False))
        events.append((Event(f"{name} {PEAK}", -1, pair=k, kind=MARKS), growing[k], True))
        if is_impulsive(contact.kinematics):
            events.append((Event(f"{name} {LET_GO}", -1, pair=k), contact.raw, True))
        elif contact.kinematics.pair.normal.can_pull and not contact.kinematics.pair.normal.pulls:
            events.append((Event(f"{name} {LET_GO}", 0, pair=k, kind=MARKS), contact.raw, True))
        if near is not None:
            events.append((Event(f"{name} {NEAR}", 0, pair=k), contact.kinematics.gap - near, False))
        renewal = renewals[k]
        if renewal is not None:
            events.append((Event(f"{name} {RENEWAL}", 0, pair=k, side=1), renewal, True))
        corners = grip_functions(contact, next(left)) if holds(contact.kinematics) else switch_functions(contact.kinematics)
        kind = TURNS if holds(contact.kinematics) else CUTS  # a law that sticks changes its mode at such an event
        events += [(Event(f"{name} {SWITCH}", 0, pair=k, kind=kind), g, True) for g in corners]
        if contact.kinematics.pair.normal.has_corner and not is_impulsive(contact.kinematics):
            events.append((Event(f"{name} {CORNER}", 0, pair=k, kind=CUTS), pulling(contact), True))
    return events


def pulling(contact: ContactForce) -> Scalar:
    """Below zero where the law of a contact would pull by more than round-off; of a law of one's own, at all."""
    law = contact.kinematics.pair.normal
    return contact.raw + (0.0 if isinstance(law, CustomNormal) else law.force(JUST_TOUCHING, STILL, STILL))


def pair_slots(
    contacts: Sequence[ContactForce],
    sources: list[str],
    events: Sequence[Event],
    first_parameter: int,
    first_bristle: int,
    works: int,
) -> tuple[PairSlots, ...]:
    """The indices of every pair's flags, states, works and events; works: the index in y of the first work."""
    names = [event.name for event in events]
    bristle, knock, slots = first_bristle, 0, []
    for k, contact in enumerate(contacts):
        pair = contact.kinematics.pair
        switches = [i for i, event in enumerate(events) if event.pair == k and event.name.endswith((SWITCH, CORNER))]
        slots.append(PairSlots(
            pair=pair,
            closed=first_parameter + PARAMETERS * k,
            entry=first_parameter + PARAMETERS * k + 1,
            grip=first_parameter + PARAMETERS * k + 2 if contact.grip is not None else None,
            bristles=range(bristle, bristle + len(contact.bristle_rates)),
            impulse=works + len(sources) + k,
            lost=works + sources.index(f"{pair.name} normal"),
            rubbed=works + sources.index(f"{pair.name} friction"),
            gap=names.index(f"{pair.name} {GAP}"),
            peak=names.index(f"{pair.name} {PEAK}"),
            let_go=names.index(f"{pair.name} {LET_GO}") if f"{pair.name} {LET_GO}" in names else None,
            near=names.index(f"{pair.name} {NEAR}") if f"{pair.name} {NEAR}" in names else None,
            renewal=names.index(f"{pair.name} {RENEWAL}") if f"{pair.name} {RENEWAL}" in names else None,
            switches=range(switches[0], switches[-1] + 1) if switches else range(0),
            knocks=range(knock, knock + knock_count(contact.kinematics)),
        ))  # fmt: skip
        bristle, knock = bristle + len(contact.bristle_rates), knock + knock_count(contact.kinematics)
    return tuple(slots)
