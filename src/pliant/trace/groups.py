"""The group of a System in a trace: where its members are, and what two of them do to each other, once for every kind of pair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca

from pliant.codegen.tracer import Scalar, Tracer
from pliant.dynamics.algebra import ZERO, Vec, add, cross, dot, is_zero, scale, sub, vanishes
from pliant.dynamics.contact import LONGEST_TURN, ContactForce, ContactKinematics, contact_force, step_within, turning
from pliant.dynamics.grip import Grip
from pliant.dynamics.kinematics import Pose, TreeState
from pliant.dynamics.loads import AppliedForces, at_place
from pliant.dynamics.pairs import touching
from pliant.dynamics.rotation import NO_TURN
from pliant.dynamics.tangents import tangents_of
from pliant.dynamics.tree import ROOT
from pliant.integrate.loop.grip_states import SLIDES
from pliant.integrate.loop.group_kernels import CARRIED, ENTERED, ENTRIES, RATES, ROW, SHUT, WRENCH
from pliant.integrate.memory.run_record import CUTS, MARKS, TURNS
from pliant.model.contact import ContactPair, Plane, Sphere
from pliant.model.contact_group import ContactGroup
from pliant.model.system import System
from pliant.model.walk import unchecked_copy
from pliant.scalar import minimum
from pliant.trace.contacts import PairSlots, renewal_function, switch_functions
from pliant.trace.events import CORNER, GAP, LET_GO, PEAK, RENEWAL, SWITCH, Event, pulling

KINDS = {"ball": Sphere, "plane": Plane}  # of the second member of a pair; the first is a ball
Function = tuple[ca.SX, list[Scalar]]  # the column of its inputs, and its outputs


def group_of(system: System) -> ContactGroup | None:
    return next(iter(system.groups.values()), None)


@dataclass
class TracedGroup:
    """A group at the traced state."""

    group: ContactGroup
    tracer: Tracer
    here: TreeState
    changing: Callable[[Sequence[Scalar]], list[Scalar]]  # the rates of functions of the coordinates

    def __post_init__(self) -> None:
        count = WRENCH * len(self.group.balls)
        self.column, inputs = self.tracer.symbols("met", count + 3)
        self.wrenches = [(vector(inputs, k), vector(inputs, k + 3)) for k in range(0, count, WRENCH)]
        self.lost, self.rubbed, self.stored = inputs[count:]

    # ---- what the members do to the mechanism

    def push(self, applied: AppliedForces) -> None:
        """Apply the wrenches of near pairs, which are inputs of all functions, to the bodies."""
        for ball, (force, moment) in zip(self.group.balls, self.wrenches, strict=True):
            here, place = self.here, self.here.tree.place(ball.at)
            if place.node != ROOT:
                into = here.bodies[place.node].rotation.into
                load = at_place(here.tree, place, into(force), into(moment) if self.spins else ZERO, here.q, here.v)
                applied.loads[place.node] = applied.loads[place.node].plus(load)
        applied.dissipate(f"{self.group.name} normal", self.lost)
        returns = self.group.friction is not None and self.group.friction.returns
        applied.dissipate(f"{self.group.name} friction", self.rubbed, returns=returns)

    # ---- where they are

    @property
    def spins(self) -> bool:
        """Whether spin counts: without friction the force of a sphere passes through its centre."""
        return self.group.friction is not None

    @cached_property
    def centres(self) -> list[Vec]:
        return [self.here.pose(self.here.tree.place(ball.at)).position for ball in self.group.balls]

    @cached_property
    def motions(self) -> list[tuple[Vec, Vec]]:
        """The velocity and the angular velocity of every ball, in world axes."""
        moving = iter(self.changing([x for centre in self.centres for x in centre]))
        return [
            ((next(moving), next(moving), next(moving)), self._omega(ball) if self.spins else ZERO) for ball in self.group.balls
        ]

    def _omega(self, ball: Sphere) -> Vec:
        place = self.here.tree.place(ball.at)
        turn = self.here.pose(place).rotation
        return ZERO if place.node == ROOT else turn.out(self.here.twist(place).omega)

    def rows(self) -> list[Scalar]:
        """The row of every member: see `group_kernels`."""
        found: list[Scalar] = []
        for ball, centre, (velocity, omega) in zip(self.group.balls, self.centres, self.motions, strict=True):
            found += [*centre, *velocity, *omega, ball.radius, *ZERO]
        for plane in self.group.planes:
            pose = self.here.pose(self.here.tree.place(plane.on))
            foot = add(pose.position, pose.rotation.out(vector(tuple(plane.point), 0)))
            normal = pose.rotation.out(vector(tuple(plane.normal), 0))
            found += [*foot, *ZERO, *ZERO, 0.0, *normal]
        return found

    @property
    def moving_parts(self) -> list[Scalar]:
        """All velocities of balls, whose rates are their accelerations."""
        return [x for motion in self.motions for vector in motion for x in vector]

    def longest_turn(self, rates: Sequence[Scalar]) -> Scalar | None:
        """The longest step in which no body that carries a ball turns too far; rates: of `turns`, in order."""
        longest: Scalar | None = None
        for k, omega in enumerate(self.turns):
            own = step_within(LONGEST_TURN, omega, rates[3 * k : 3 * k + 3])
            longest = own if longest is None else longest if own is None else minimum(longest, own)
        return longest

    @property
    def turns(self) -> list[Vec]:
        """Angular velocities that carry balls round."""
        every = [turning(self.here, self.here.tree.place(ball.at)) for ball in self.group.balls]
        return [omega for omega in every if not vanishes(omega)]

    # ---- what two of them do

    def _pair(self, kind: str) -> tuple[ca.SX, list[Scalar], ContactForce]:
        """Inputs of functions of a pair, in the order of `group_kernels`, and its force."""
        column, inputs = self.tracer.symbols(f"pair with {kind}", 2 * ROW + 2)
        one, other = _Member(inputs[:ROW], self.spins), _Member(inputs[ROW : 2 * ROW], self.spins)
        shapes = {"ball": self.group.balls, "plane": self.group.planes}[kind]
        first = unchecked_copy(self.group.balls[0], {"radius": one.radius})
        numbers = {"radius": other.radius} if kind == "ball" else {"normal": other.normal, "point": ZERO}
        second = unchecked_copy(shapes[0], numbers)
        laws = {"normal": self.group.normal, "friction": self.group.friction, "station": 0.0, "wear": None, "piece": 0}
        pair = unchecked_copy(self.group.pair(0, 0), {"name": self.group.name, "ball": first, "against": second, **laws})
        closed, entry = inputs[2 * ROW :]
        found = kinematics_of(pair, one, other)
        return column, inputs, contact_force(found, closed, entry, Grip(SLIDES, ZERO), (), ())

    def meeting(self, kind: str) -> Function:
        """What a pair does: see `group_kernels.MET`."""
        column, inputs, contact = self._pair(kind)
        found, force = contact.kinematics, contact.vector
        arms = [sub(found.point, vector(inputs, first)) for first in (0, ROW)]
        moments = [*cross(arms[0], force), *cross(arms[1], scale(-1.0, force))] if self.spins else [*ZERO, *ZERO]
        numbers = [contact.force, *contact.powers, contact.stored, found.gap, found.closing]
        return column, [*force, *moments, *numbers, *contact.friction_vector, *found.point, *found.normal]

    def gap(self, kind: str) -> Function:
        column, _, contact = self._pair(kind)
        return column, [contact.kinematics.gap]

    def watching(self, kind: str) -> Function:
        """The functions of `events` of a closed pair."""
        column, inputs, contact = self._pair(kind)
        rates_column, accelerations = self.tracer.symbols(f"rates with {kind}", 2 * RATES)
        changing = [_rates(inputs[:ROW], accelerations[:RATES]), _rates(inputs[ROW : 2 * ROW], accelerations[RATES:])]
        along = self.tracer.column([*changing[0], *changing[1], 0.0, 0.0])
        growing, acceleration = self.tracer.directional([contact.raw, contact.kinematics.closing], column, along)
        functions = {GAP: contact.kinematics.gap, PEAK: growing, LET_GO: contact.raw}
        functions[RENEWAL] = renewal_function(contact.kinematics.closing, acceleration, inputs[-1])
        functions[CORNER] = pulling(contact)
        corners = iter(switch_functions(contact.kinematics))
        own = [next(corners) if name == SWITCH else functions[name] for name, *_ in self.event_kinds]
        return ca.vertcat(column, rates_column), own

    @cached_property
    def event_kinds(self) -> list[tuple[str, int, int, int]]:
        """(name, direction, kind, side) of the events of every place, as of a named pair."""
        law, friction = self.group.normal, self.group.friction
        kinds = [(GAP, -1, TURNS, 0), (PEAK, -1, MARKS, 0)]
        kinds += [(LET_GO, 0, MARKS, 0)] if law.can_pull and not law.pulls else []
        kinds += [(RENEWAL, 0, TURNS, 1)] if self._uses_entry_speed else []
        kinds += [(SWITCH, 0, CUTS, 0) for _ in (friction.switches if friction is not None else ())]
        return kinds + ([(CORNER, 0, CUTS, 0)] if law.has_corner else [])

    @cached_property
    def _uses_entry_speed(self) -> bool:
        _, inputs, contact = self._pair(self.kinds[0])
        (slope,) = self.tracer.directional([contact.raw], self.tracer.column([inputs[-1]]), self.tracer.column([1.0]))
        return not is_zero(slope)

    @property
    def kinds(self) -> list[str]:
        """What the second member of a pair may be."""
        return ["ball"] * (len(self.group.balls) > 1) + ["plane"] * bool(self.group.planes)

    def slots(self, first: int, carried: int, n_events: int) -> tuple[PairSlots, ...]:
        """The indices of every place; first: in p; carried: in y; n_events: those before."""
        names = [name for name, *_ in self.event_kinds]
        corners, found = names.count(SWITCH) + names.count(CORNER), []
        for k in range(self.group.places):
            at = {name: n_events + len(names) * k + i for i, name in reversed(list(enumerate(names)))}
            own, entry, cuts = carried + CARRIED * k, first + ENTRIES * k, [at[name] for name in (SWITCH, CORNER) if name in at]
            found.append(PairSlots(
                pair=self.group.pair(0, 0), closed=entry + SHUT, entry=entry + ENTERED, grip=None, bristles=range(0),
                impulse=own, lost=own + 1, rubbed=own + 2, gap=at[GAP], peak=at[PEAK], let_go=at.get(LET_GO), near=None,
                renewal=at.get(RENEWAL), switches=range(cuts[0], cuts[0] + corners) if cuts else range(0), knocks=range(0),
            ))  # fmt: skip
        return tuple(found)

    def events(self, named: int) -> list[Event]:
        """The events of every place; named: number of pairs besides the group."""
        return [Event(f"{self.group.name} {name} {k}", direction, kind, named + k, side=side)
                for k in range(self.group.places) for name, direction, kind, side in self.event_kinds]  # fmt: skip


def vector(numbers: Sequence[Any], first: int) -> Vec:
    return numbers[first], numbers[first + 1], numbers[first + 2]


@dataclass(frozen=True)
class _Member:
    """The numbers of a member's row."""

    numbers: Sequence[Scalar]
    spins: bool

    @property
    def place(self) -> Vec:
        return vector(self.numbers, 0)

    @property
    def velocity(self) -> Vec:
        return vector(self.numbers, 3)

    @property
    def omega(self) -> Vec:
        return vector(self.numbers, 6) if self.spins else ZERO

    @property
    def radius(self) -> Scalar:
        return self.numbers[9]

    @property
    def normal(self) -> Vec:
        return vector(self.numbers, 10)

    def velocity_at(self, point: Vec) -> Vec:
        return add(self.velocity, cross(self.omega, sub(point, self.place)))


def kinematics_of(pair: ContactPair, one: _Member, other: _Member) -> ContactKinematics:
    """As `contact_kinematics`, of two members."""
    found = touching(pair, Pose(one.place, NO_TURN), Pose(other.place, NO_TURN))
    point, normal = found.point, found.normal
    still = isinstance(pair.against, Plane)
    relative = one.velocity_at(point) if still else sub(one.velocity_at(point), other.velocity_at(point))
    tangents = tangents_of(normal)
    return ContactKinematics(
        pair=pair,
        places=(),
        gap=found.gap,
        closing=-dot(normal, relative),
        normal=normal,
        tangents=tangents,
        slip=tuple(dot(t, relative) for t in tangents),
        point=point,
        centres=(one.place, other.place),
        drift=ZERO,
        turning=(ZERO, ZERO),
    )


def _rates(row: Sequence[Scalar], accelerations: Sequence[Scalar]) -> list[Scalar]:
    """The rate of a member's row."""
    return [*row[3:6], *accelerations, 0.0, *ZERO]
