"""Joint friction in a trace: its unknown forces, states, events and entries of p."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pliant.codegen.tracer import Scalar
from pliant.dynamics.algebra import total
from pliant.dynamics.gibbs_appell import Wrench
from pliant.dynamics.grip import SMALLEST_SPEED, Grip
from pliant.dynamics.joint_friction import RubbingJoint, pressing, push
from pliant.dynamics.kinematics import Pose, TreeState
from pliant.dynamics.loads import AppliedForces
from pliant.errors import ModelError
from pliant.integrate.loop.grip_states import REST_SHARE, SLIDES
from pliant.integrate.memory.run_record import CUTS, STOPS, TURNS
from pliant.model.friction_law import BristleLaw, CustomFriction, FrictionLaw
from pliant.model.joint_friction import JointFriction
from pliant.model.system import System
from pliant.scalar import maximum, where
from pliant.trace.events import Event, Watched
from pliant.trace.holding import FrictionJoint, FrictionSolution, StickingContact, margin

JOINT_GRIPS = "joint grips"  # of p
# Entries of p of a joint that can stick: its mode (sticks, yields, slides), and the direction of its friction while it yields, or
# while it slides along a single direction.
FREE = (SLIDES, 1.0, 0.0, 0.0)
STICKS, SLIPS, MEASURED, REVERSES = "sticks", "slips", "measured", "load reverses"  # names of events, after the joint's
MOST_NAMED = 3  # joints in a sentence


@dataclass(frozen=True)
class JointGrips:
    """Entries of p with the mode of every joint whose friction can stick."""

    joints: int
    name: str = JOINT_GRIPS

    @property
    def width(self) -> int:
        return len(FREE) * self.joints

    def at(self, begin: float, end: float) -> Sequence[float]:
        return FREE * self.joints


def frictions_of(system: System) -> list[JointFriction]:
    """The friction of all joints, sleeves and closures of a System."""
    every = [link.frictions for link in system.links.values()] + [cut.joint.frictions for cut in system.cut_joints.values()]
    every += [closure.frictions for closure in system.closures.values()]
    return [friction for frictions in every for friction in frictions.values()]


def count_of_grips(system: System) -> int:
    """How many joints and closures have friction that can stick."""
    return sum(bool(getattr(friction.law, "holds", False)) for friction in frictions_of(system))


@dataclass(frozen=True)
class JointSlots:
    """Indices of a joint with friction in p, in y and among the events."""

    label: str
    rates: tuple[str, ...]
    bristles: range  # in y
    grip: int | None  # in p: the mode of a law that can stick, followed by a direction
    exact: bool  # it sticks at a slip of exactly zero
    edge: int | None  # event functions: entering or leaving rest, then its reserve, what the run measures, its friction


@dataclass(frozen=True)
class Rubbing:
    """A joint with friction and its unknowns: friction f = size(N) direction, N along the slip."""

    joint: RubbingJoint
    unknowns: range
    force: tuple[Scalar, ...]  # symbols
    direction: tuple[Scalar, ...]  # of friction that slips, per newton of its size
    bristle_rates: tuple[Scalar, ...]
    grip: Grip | None

    @property
    def law(self) -> FrictionLaw | BristleLaw:
        return self.joint.friction.law

    @property
    def exact(self) -> bool:
        return is_exact(self.joint)

    def size(self, normal: Scalar) -> Scalar:
        """The factor of the direction, for a normal load."""
        return self.law.force(self.joint.speed, normal) if isinstance(self.law, CustomFriction) else normal

    def friction_joint(self, reaction: Wrench, bodies: Sequence[Pose]) -> FrictionJoint:
        friction, proportional = self.joint.friction, not isinstance(self.law, CustomFriction)
        parts = pressing(self.joint, reaction, bodies) if friction.pressed else ()
        return FrictionJoint(self.unknowns, self.direction, self.size, proportional, friction.preload, parts)

    def holder(self, number: int) -> StickingContact:
        """number: the index of this joint among those with friction."""
        assert self.grip is not None
        return StickingContact(self.unknowns, self.joint.slip, self.grip.sticks, self.law.stiction(1.0), number)  # type: ignore[union-attr]


def is_exact(joint: RubbingJoint) -> bool:
    """Whether it sticks at a slip of exactly zero: along one direction only."""
    law = joint.friction.law
    return isinstance(law, FrictionLaw) and law.exact and len(joint.slip) == 1


def holds(joint: RubbingJoint) -> bool:
    return isinstance(joint.friction.law, FrictionLaw) and joint.friction.law.holds


def bristle_count(joint: RubbingJoint) -> int:
    law = joint.friction.law
    return len(joint.slip) + law.dwells if isinstance(law, BristleLaw) else 0


def check_served(joints: Sequence[RubbingJoint]) -> None:
    """Raise an error for friction that cannot be solved for."""
    for joint in joints:
        if holds(joint) and not joint.free:
            law = type(joint.friction.law).__name__
            rule = "must be a law without sticking if the motion is prescribed: sticking leaves the force at rest undetermined"
            raise ModelError.of(joint.part, "friction.law", rule, law)


# ---- forces


def rub(
    state: TreeState, joints: Sequence[RubbingJoint], p: Sequence[Scalar], bristles: Sequence[Scalar], symbols: Sequence[Scalar],
    first_unknown: int, applied: AppliedForces,
) -> list[Rubbing]:  # fmt: skip
    """Apply the unknown friction of all joints to their bodies; p and bristles contain the joints' entries only."""
    found: list[Rubbing] = []
    taken, gripped, place = 0, 0, 0
    for joint in joints:
        own = bristles[taken : taken + bristle_count(joint)]
        taken += len(own)
        grip = None
        if holds(joint):
            doing, x, y, z = p[gripped : gripped + len(FREE)]
            grip, gripped = Grip(doing, (x, y, z)), gripped + len(FREE)
        count = len(joint.slip)
        force = tuple(symbols[place : place + count])
        unknowns = range(first_unknown + place, first_unknown + place + count)
        direction, rates = _direction(joint, own, grip)
        found.append(Rubbing(joint, unknowns, force, direction, rates, grip))
        push(state, joint, force, applied)
        power = total(f * s for f, s in zip(force, joint.slip, strict=True))
        applied.dissipate(f"{joint.label} friction", power, returns=joint.friction.law.returns)
        place += count
    return found


def _direction(joint: RubbingJoint, bristles: Sequence[Scalar], grip: Grip | None) -> tuple[tuple[Scalar, ...], tuple[Scalar, ...]]:
    """Slip friction per newton of its size, and the rates of the law's own states; neither depends on the normal force."""
    law, slip, speed = joint.friction.law, joint.slip, joint.speed
    if isinstance(law, BristleLaw):
        count = len(slip)
        deflections, dwell = bristles[:count], bristles[count] if law.dwells else 0.0
        rates = [law.deflection_rate(s, z, speed, 1.0) for s, z in zip(slip, deflections, strict=True)]
        rates += [law.dwell_rate(dwell, speed)] if law.dwells else []
        return tuple(-f for f in law.forces(slip, deflections, speed, 1.0, dwell)), tuple(rates)
    safe = maximum(speed, SMALLEST_SPEED)
    size = 1.0 if isinstance(law, CustomFriction) else law.force(speed, 1.0)
    sliding = tuple(-size * (s / safe) for s in slip)
    if grip is None:
        return sliding, ()
    strength = law.stiction(1.0)  # type: ignore[attr-defined]
    if is_exact(joint):  # the direction of sliding is an entry of p, so that nothing jumps or bends where the slip is zero
        way = grip.along(joint)[0]
        pushed = where(grip.rests > 0.5, strength, law.force(-way * slip[0], 1.0)) * way
        return (where(grip.sticks > 0.5, 0.0, pushed),), ()
    return grip.friction(joint, strength, sliding, (0.0,) * len(slip)), ()


def reactions_of(
    rubbing: Sequence[Rubbing], inboard: Sequence[Wrench], of_closures: Mapping[str, Mapping[int, Wrench]],
    of_sleeve: Callable[[int], Wrench],
) -> list[Wrench]:  # fmt: skip
    """The reaction that presses each joint: moment and force of the inboard joint, of the sleeve, or of the closure."""
    none: Wrench = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    return [of_sleeve(r.joint.node) if r.joint.sleeve is not None else inboard[r.joint.node] if r.joint.closure is None
            else of_closures[r.joint.closure].get(r.joint.node, none) for r in rubbing]  # fmt: skip


# ---- events


def joint_events(rubbing: Sequence[Rubbing], settled: FrictionSolution, margins: Sequence[Scalar]) -> list[Watched]:
    """Events at corners of laws, at rest and its end for laws that can stick, and where loads reverse or are no longer unique."""
    events: list[Watched] = []
    left = iter(margins)
    asked = iter(settled.asked[len(settled.asked) - len(margins) :])
    for own in rubbing:
        label, joint, law = own.joint.label, own.joint, own.law
        if own.grip is None:
            events += [(Event(f"{label} friction switches", 0, kind=CUTS, reported=False), joint.speed - corner, False)
                       for corner in law.switches]  # fmt: skip
            if isinstance(law, BristleLaw) and len(joint.slip) == 1:  # |s| has a corner
                events.append((Event(f"{label} slip turns", 0, kind=CUTS, reported=False), joint.slip[0], False))
            continue
        names = (STICKS, SLIPS, *(MEASURED for _ in range(1 + len(joint.slip))))
        for k, g in enumerate(_grip_functions(own, next(left), next(asked))):
            events.append((Event(f"{label} {names[k]}", 0, kind=TURNS, holder=own.joint.label, reported=k < 2), g, False))
    if rubbing:
        events.append((Event(_unsure(rubbing), -1, STOPS, side=1), settled.uniqueness_margin, False))
    return events


def reversals(rubbing: Sequence[Rubbing], frictional: Sequence[FrictionJoint]) -> list[Watched]:
    """Events at the reversal of loads along one direction, whose magnitude has a corner at zero."""
    return [(Event(f"{own.joint.label} {REVERSES}", 0, kind=CUTS, reported=False), part[0], False)
            for own, joint in zip(rubbing, frictional, strict=True) for part in joint.pressing if len(part) == 1]  # fmt: skip


def _unsure(rubbing: Sequence[Rubbing]) -> str:
    names = [own.joint.label for own in rubbing]
    shown = ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")
    return (
        f"friction of {shown} locks itself: it presses its own joint by as much as it is pressed, so that no load or more than one "
        "fits (a smaller mu or radius, a longer guide)"
    )


def _grip_functions(own: Rubbing, left: Scalar, asked: Sequence[Scalar]) -> list[Scalar]:
    """Functions that are zero where it comes to rest and where it must let go; then its speed and required acceleration there."""
    joint, grip = own.joint, own.grip
    assert grip is not None
    band = own.law.band  # type: ignore[union-attr]
    if own.exact:
        onward = -grip.along(joint)[0] * joint.slip[0]
        edge = where(grip.sticks > 0.5, 1.0, where(grip.rests > 0.5, onward + band, onward))
        reserve = where(grip.sticks > 0.5, left, where(grip.rests > 0.5, band - onward, 1.0))
        return [edge, reserve, joint.speed - band, *asked]
    return [joint.speed - grip.edge(band), grip.reserve(left, joint, band), joint.speed - REST_SHARE * band, *asked]


def joint_margins(rubbing: Sequence[Rubbing], settled: FrictionSolution, first_holder: int) -> list[Scalar]:
    """The remaining strength of every joint that can stick."""
    margins, number = [], first_holder
    for own, load in zip(rubbing, settled.loads, strict=True):
        if own.grip is not None:
            left = margin(settled.held[number], own.law.stiction(load))  # type: ignore[union-attr]
            margins.append(where(settled.reached[number] > 0.5, left, -1.0))
            number += 1
    return margins


def joint_slots(
    rubbing: Sequence[Rubbing], events: Sequence[Event], first_parameter: int, first_bristle: int
) -> tuple[JointSlots, ...]:
    slots, grip, bristle = [], first_parameter, first_bristle
    for own in rubbing:
        label, count = own.joint.label, len(own.bristle_rates)
        edges = [k for k, event in enumerate(events) if event.holder == label]
        slots.append(JointSlots(
            label=label,
            rates=own.joint.rates,
            bristles=range(bristle, bristle + count),
            grip=None if own.grip is None else grip,
            exact=own.exact,
            edge=edges[0] if edges else None,
        ))  # fmt: skip
        bristle += count
        grip += 0 if own.grip is None else len(FREE)
    return tuple(slots)


# ---- results


def observed_friction(rubbing: Sequence[Rubbing], settled: FrictionSolution) -> dict[str, list[Scalar]]:
    """Observed quantities of joint friction, by their names in the results' table."""
    return {
        "joint_friction": [lever * f for own in rubbing for lever, f in zip(own.joint.levers, own.force, strict=True)],
        "joint_slip": [s for own in rubbing for s in own.joint.slip],
        "joint_load": list(settled.loads),
        "joint_sticks": [0.0 if own.grip is None else own.grip.rests if own.exact else own.grip.sticks for own in rubbing],
    }


NO_FRICTION = FrictionSolution([], [], 1.0, [], [], [])
