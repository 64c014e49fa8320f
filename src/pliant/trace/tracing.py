"""A System traced into named functions of (t, y, p): right-hand side, observed quantities, event functions.

y = [free coordinates, free rates, bristles of friction, the user's own states, work of every source, impulse of every contact].
p holds values that change only at events of the run: the window of time that formulas with breakpoints may see; the current piece
of each table signal; for each contact whether it is closed, its closing speed and the mode of friction that can stick; and flags
for discontinuities (damped end stops that are pressed, comparisons in formulas).
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

import casadi as ca
import numpy as np

from pliant.arrays import Floats
from pliant.codegen.function import TracedFunction
from pliant.codegen.graph import Graph
from pliant.codegen.numbers import Numbers
from pliant.codegen.tracer import Scalar
from pliant.dynamics import articulated, denoc, gibbs, gibbs_appell, lagrange
from pliant.dynamics.algebra import Vec, is_zero
from pliant.dynamics.closure_twists import TwistRow, on_sleeve, twist_rows, weighted, wrenches
from pliant.dynamics.closures import ConstraintRows, rows, stored_energy
from pliant.dynamics.contact import (
    ContactForce,
    ContactKinematics,
    bristle_count,
    contact_kinematics,
    is_impulsive,
    longest_step,
)
from pliant.dynamics.forward import Driven, Forward
from pliant.dynamics.gibbs_appell import Wrench
from pliant.dynamics.joint_friction import RubbingJoint, rubbing_joints
from pliant.dynamics.kinematics import Pose, TreeState, Twist, poses
from pliant.dynamics.loads import AppliedForces, BodyLoad
from pliant.dynamics.reactions import of_sleeve, reactions
from pliant.dynamics.retraction import retract
from pliant.dynamics.rotation import quaternion_rate
from pliant.dynamics.tree import Node, RememberedTree, Tree, build_tree
from pliant.errors import ModelError, SolveError
from pliant.integrate.loop.group_kernels import CARRIED
from pliant.model import check
from pliant.model.beam import Beam
from pliant.model.closure import Closure, FormulaClosure
from pliant.model.contact import ContactPair
from pliant.model.signal import Formula, Prescribed
from pliant.model.system import System
from pliant.model.telescopic import TelescopicBeam
from pliant.results.table import OBSERVED
from pliant.scalar import minimum
from pliant.trace.absolute import floating, refuse_tree_only
from pliant.trace.apart import Pieces, solve_apart, taken_apart
from pliant.trace.assembly import Assembly, assemble
from pliant.trace.closures import Closures, Solved, blended, chosen, motion_power, push, springs
from pliant.trace.closures import solve as solve_closures
from pliant.trace.contacts import (
    PARAMETERS,
    PairSlots,
    contact_forces,
    held_count,
    holders,
    knock_count,
    renewal_function,
    speeds_apart,
)
from pliant.trace.events import Event, Watched, contact_events, cut_joint_events, model_events, pair_slots
from pliant.trace.groups import TracedGroup, group_of
from pliant.trace.holding import FrictionJoint, FrictionSolution, StickingContact, margin, solve_friction
from pliant.trace.inputs import TracedInputs
from pliant.trace.joint_friction import (
    JOINT_GRIPS,
    NO_FRICTION,
    JointSlots,
    Rubbing,
    check_served,
    frictions_of,
    joint_events,
    joint_margins,
    joint_slots,
    observed_friction,
    reactions_of,
    reversals,
    rub,
)
from pliant.trace.joint_friction import (
    bristle_count as joint_bristle_count,
)
from pliant.trace.layout import CONTACTS, FOREVER, NEAR, WINDOW
from pliant.trace.looking import frames_read
from pliant.trace.lowered_system import LoweredSystem, signals_of
from pliant.trace.lowering import numbered
from pliant.trace.moved import what_moved
from pliant.trace.observe import TracedState, observe
from pliant.trace.preparation import Preparation
from pliant.trace.sampling import APPLY, Holds, Measured, instants_of, measured_places, run_update
from pliant.trace.sensing import measured
from pliant.trace.signals import Signals
from pliant.trace.switches import Switches
from pliant.trace.timed import TimedFormulas
from pliant.trace.traced_system import TracedSystem, labels_of, owners_of

FORMULATIONS = ("articulated", "gibbs_appell", "lagrange", "gibbs", "denoc")  # in the coordinates of the tree
AUGMENTED = "augmented"  # in absolute ones
DIFFERENTIATING = ("lagrange", "denoc")  # these obtain velocity terms by differentiating the inertia
SETTLE = "settle"  # the function with which filters of sensors start
WHILE_CLOSED = ("event_functions",)  # evaluated only while a contact is closed, so leaving contacts out gains nothing


def trace(
    system: System,
    formulation: str = "articulated",
    still: bool = False,
    near: float | None = None,
    t_start: float = 0.0,
) -> TracedSystem:
    """All functions of a System; `still` allows a System with all coordinates prescribed.

    near: a gap, m, whose crossing by any pair is an event too. t_start: the time at which closed loops are assembled.
    """
    lowered = lower_system(system, formulation, still, near, t_start)
    return trace_lowered(lowered, cache=None)


def lower_system(
    system: System,
    formulation: str = "articulated",
    still: bool = False,
    near: float | None = None,
    t_start: float = 0.0,
    parameters: Mapping[str, float] | None = None,
    known: RememberedTree | None = None,
    hold_at: Sequence[Floats] = (),
) -> LoweredSystem:
    """Splits a System into structure and numbers, and finds its start. See `trace`.

    parameters: values of those that formulas may read; parts hold plain numbers already. known: from an earlier run of the System.
    hold_at: coordinates, beside those at the start, at which rows of closures that are not redundant must hold the loops.
    """
    check.choice("simulate", "formulation", formulation, (*FORMULATIONS, AUGMENTED))
    if not system.links:
        raise ModelError.of(f"system {system.name!r}", "bodies", "must hold at least one body", 0)
    if formulation == AUGMENTED:  # the same recursion, with every body floating and every joint a closure
        floats, warnings = absolute_coordinates(system, t_start)
        apart = lower_system(floats, "articulated", still, near, t_start, parameters, hold_at=hold_at)
        return replace(apart, original=system, asked=formulation, warnings=(*warnings, *apart.warnings))
    frames = frames_read(system, parameters or {})
    tree = build_tree(system, frames=frames) if known is None else known.of(system, frames)
    for node in tree.nodes:
        check_formulation(node, formulation)
    if len(tree.rates) == len(tree.prescribed) and not still:
        raise ModelError.of(f"system {system.name!r}", "degrees of freedom", "must be >= 1", 0)
    start, moved = start_of(system, tree, formulation, t_start, parameters or {}, hold_at)
    warnings = (*moved, *start.warnings)
    if start.locked:
        if not still:
            raise SolveError(f"system {system.name!r}: {start.locked}")
        warnings = (*warnings, start.locked)
    return LoweredSystem(system, system, tree, formulation, formulation, near, t_start, parameters or {}, start, warnings,
                         hold_at=tuple(hold_at))  # fmt: skip


def absolute_coordinates(system: System, t_start: float = 0.0) -> tuple[System, tuple[str, ...]]:
    """The System in absolute coordinates, with its bodies where they are at t_start; and warnings of what assembling moved."""
    if system.cut_joints:  # already in absolute coordinates
        return system, ()
    refuse_tree_only(system)
    made = Trace(system, "articulated", None, t_start, near_pairs=True)
    q, v = made.start()
    return floating(system, made.tree, made.q, q, v), tuple(made.warnings)


def start_of(
    system: System, tree: Tree, formulation: str, t_start: float, parameters: Mapping[str, float],
    hold_at: Sequence[Floats] = (), positions: Mapping[str, float] | None = None,
) -> tuple[Assembly, tuple[str, ...]]:  # fmt: skip
    """The start with its loops, if any, closed, and warnings of what that moved; positions: other starts of some coordinates."""
    first = np.array(tree.start)
    for name, position in (positions or {}).items():
        first[tree.positions.index(name)] = position
    if not any(closure.by == "multipliers" for closure in system.closures.values()):
        return Assembly(first, np.array(tree.start_rates), ()), ()
    with nothing_collected():
        assembling = Trace(system, formulation, t_start=t_start, tree=tree, parameters=parameters, near_pairs=True)
        assembling.start_q = first
        start = assembling.assemble(hold_at)
    return start, tuple(assembling.warnings)


def trace_lowered(lowered: LoweredSystem, cache: Path | None) -> TracedSystem:
    """The functions of a System, over its numbers."""
    with nothing_collected():
        numbers, inputs = Numbers(Graph()), TracedInputs(lowered.inputs)
        parameters = {name: numbers.leaf(float(value)) for name, value in lowered.parameters.items()} | inputs.values
        with inputs.checked(lowered.system):
            system, tree, near, _, _, scale, _, blend = numbered(lowered.root, numbers.leaf, parameters)
            start = replace(lowered.start, scale=scale, blend=blend)
            made = Trace(system, lowered.formulation, near, lowered.t_start, tree, start, parameters, inputs, near_pairs=True)
            numbers.lift = made.lifted_number
            made.plain_system, made.plain_values = lowered.system, dict(lowered.parameters)
            return made.finish(lowered, numbers, cache)


@contextmanager
def nothing_collected() -> Iterator[None]:
    """Pauses Python's garbage collector: scanning the growing graph again and again takes a sixth of the time and frees nothing."""
    at_work = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if at_work:
            gc.enable()


class Trace(Signals):
    """One trace in the making."""

    def __init__(
        self,
        system: System,
        formulation: str,
        near: float | None = None,
        t_start: float = 0.0,
        tree: Tree | None = None,
        start: Assembly | None = None,
        parameters: Mapping[str, Scalar] | None = None,
        inputs: TracedInputs | None = None,
        near_pairs: bool = False,
    ) -> None:
        """tree: the System's tree, if known. start: its independent rows of exact closures; without it, loops are assembled.

        parameters: the parameters that formulas read, by name; a missing one has its own value. inputs: those that are series.
        near_pairs: whether the caller supplies what near pairs of a contact among shapes do.
        """
        if system.groups and not near_pairs:
            rule = "must be pairs, by points= and against=, outside of runs"
            raise ModelError.of(f"contact {next(iter(system.groups))!r}", "among", rule, system.name)
        super().__init__(system, build_tree(system) if tree is None else tree, parameters, inputs)
        self.formulation, self.near, self.t_start = formulation, near, t_start
        self.known_start = start
        self.prescribed = self.tree.prescribed
        self.free_q = [k for k in range(len(self.tree.positions)) if k not in {c.q for c in self.prescribed}]
        self.free_v = [k for k in range(len(self.tree.rates)) if k not in {c.v for c in self.prescribed}]
        n_q, n_v = len(self.free_q), len(self.free_v)
        self.state_column, state = self.tracer.symbols("y", n_q + n_v)
        self.motion_column = self.state_column
        self.accelerated = False  # whether accelerations are known, so that sensors may read what follows from them
        self.known: dict[int, Scalar] = {}
        self.held: list[Scalar] = []
        self.warnings: list[str] = []
        self.locked = ""  # why the mechanism cannot move; empty if it can
        self.start_q, self.start_v = np.array(self.tree.start), np.array(self.tree.start_rates)
        for k, x in zip(self.free_q, state[:n_q], strict=True):
            self.q[k] = x
        for k, x in zip(self.free_v, state[n_q:], strict=True):
            self.v[k] = x
        if start is not None:  # the functions of a run, at whose events flags change
            self.switches = Switches(self.tracer, len(self.p), self.t, t_start, self._still)
        for coordinate in self.prescribed:
            self.q[coordinate.q], self.v[coordinate.v], self.known[coordinate.v] = self._prescribed_values(coordinate.motion)

    def finish(self, lowered: LoweredSystem, numbers: Numbers, cache: Path | None) -> TracedSystem:
        """All functions of a run; each stage builds on what the stages before it made."""
        self._move()
        self._collect_rates()
        self._solve_friction()
        drives, efforts = self._efforts(self.forward, self.closures)
        self._complete_columns()
        events = self._events()
        happenings = tuple(event for event, _, _ in events)
        pairs, joints = self._slots(happenings)
        observed = self._observed(efforts)
        self.slope_column, slopes = self.tracer.symbols("slope", self.whole_column.numel())
        self.slopes = slopes[: self.state_column.numel()]
        slope_column, limits = self._step_limits()
        of_group = self._group_functions()
        functions = {
            "rhs": [*self.rates, *self.power.values(), *(one.force for one in self.contacts)],
            "observe": observed,
            "event_functions": [g for _, g, _ in events],
            "open_contact_event_functions": [1.0 if closed else g for _, g, closed in events],
        }
        if any(sensor.filters(channel) for channel, sensor in self.system.channels.items()):
            functions[SETTLE] = self._settled()
        if self.system.controllers:
            names, rubs = tuple(pair.name for pair in self.pairs), [(one.label, one.rates) for one in joints]
            labels = labels_of(self.system, self.tree, tuple(self.power), drives, names, self.closures.names, rubs)
            functions |= self._updates(Measured(observed, measured_places(labels)), self.pending)
        functions |= self._functions_of_closures() | self._impact()
        timed = self._timed() + [g for _, g, _ in self._switches.events() if ca.depends_on(self.tracer.sx(g), self.t_column)]
        change_column, constraints, shifted = self._partition(self.closures)
        for outputs in (*functions.values(), limits, timed, constraints, shifted, *(outputs for _, outputs in of_group.values())):
            for x in outputs:
                self.tracer.node_of(x)  # also registers a number that is itself an output
        self.constants = self.tracer.numbers
        constants = np.array([self.tracer.values[node].value for node in self.constants])  # type: ignore[union-attr]
        preparation = Preparation.of(numbers, self.tracer, cache)
        made = {name: self._function(name, outputs) for name, outputs in functions.items()}
        if limits:
            made["step_limit"] = self._function("step_limit", limits, slope_column)
        made |= {name: self._function_over(name, column, outputs) for name, (column, outputs) in of_group.items()}
        grips, flags = self._width(JOINT_GRIPS), len(self._switches.columns)
        traced = TracedSystem(
            system=lowered.system,
            tree=lowered.tree,
            functions=made,
            free_q=tuple(self.free_q),
            free_v=tuple(self.free_v),
            sources=tuple(self.power),
            dissipative=self.applied.dissipative,
            drives=drives,
            events=(*happenings, *(() if self.group is None else self.group.events(len(pairs)))),
            breakpoints=lowered.breakpoints,
            y0=np.zeros(self.whole_column.numel()),
            pairs=pairs,
            near_pairs=self._near_slots(len(happenings)),
            joints=joints,
            n_bristles=sum(column.numel() for column in self.bristle_columns),
            near=self.near,
            partition=(
                (self._function("constraints", constraints), self._function("shift", shifted, change_column))
                if self.closures.hard.residual and self.pieces is None
                else None
            ),
            rows=self.closures.names,
            kinds=self.closures.kinds,
            held=len(self.closures.held),
            watched=tuple((k, "rad" if self.closures.every.angular[k] else "m") for k in self.closures.watched),
            redundant=lowered.redundant,
            t_start=self.t_start,
            formulation=lowered.asked,
            original=lowered.original,
            warnings=lowered.warnings,
            timed=TimedFormulas(self._function("timed", timed)) if timed else None,
            owners=owners_of(lowered, len(self.pairs), len(self.stops), grips, flags, constants),
            preparation=preparation,
            parameter_values=lowered.parameters,
            inputs=lowered.inputs,
        )
        return traced.for_numbers(lowered, constants)

    @property
    def _switches(self) -> Switches:
        assert self.switches is not None
        return self.switches

    def _move(self) -> None:
        """Forces of all parts, and the accelerations that they cause."""
        self.here = TreeState.of(self.tree, self.q, self.v)
        self.applied = self.acting({label: self.p[k] for label, k in self.stops.items()})
        bristles, self.contacts = self._contact_forces(self.applied)
        if self.group is not None:
            self.group.push(self.applied)
        joint_bristles, self.rubbing = self._rub(self.applied)
        self.bristle_columns = (bristles, joint_bristles)
        self.pieces = self._pieces()
        self.closures = self.close(self.applied, self.pieces)
        self.forward, self.solved = self._solve_closures(self.closures)
        self.accelerated = True

    def _collect_rates(self) -> None:
        """Powers of all sources, and derivatives of coordinates, rates, bristles, own states and sampled values."""
        closures, forward = self.closures, self.forward
        self.power = dict(self.applied.power)
        self.power |= motion_power(closures.hard, closures.exact, self.multipliers)
        self.power |= motion_power(closures.soft, closures.soft_closures, closures.spring_forces)
        for number, effort in forward.efforts.items():
            self.power[f"{self.tree.rates[number]} motion"] = effort * self.v[number]
        self.rates = list(self.motion_rates)
        self.rates += [rate for one in self.contacts for rate in one.bristle_rates]
        self.rates += [rate for one in self.rubbing for rate in one.bristle_rates] + self.own_rates
        waiting = sum(controller.pending * len(controller.outputs) for controller in self.system.controllers.values())
        pending_column, self.pending = self.tracer.symbols("pending", waiting)
        self.rates += [0.0] * (len(self.sampled) + waiting)
        self.state_column = ca.vertcat(
            self.state_column, *self.bristle_columns, self.own_column, self.sampled_column, pending_column
        )

    # ---- what sensors read of the motion that the forces cause

    @cached_property
    def motion_rates(self) -> list[Scalar]:
        """The rates of the free coordinates, then the free accelerations."""
        return self._coordinate_rates() + [self.forward.accelerations[k] for k in self.free_v]

    @cached_property
    def closing(self) -> dict[int, Wrench]:
        """Wrenches of closures on the bodies they hold."""
        return self._closing(self.closures)

    @cached_property
    def inboard(self) -> list[Wrench]:
        """The wrench of every inboard joint on its body."""
        return reactions(self.here, self.forward.accelerations, self.applied.outer, self.closing)

    def _sensed(self, name: str, part: str) -> list[Scalar]:
        return measured(self, name, part)

    def changing(self, vector: Sequence[Scalar], part: str, name: str) -> list[Scalar]:
        if not self.accelerated:
            return super().changing(vector, part, name)
        clocked = ca.vertcat(self.t_column, self.motion_column)
        return self.tracer.directional(vector, clocked, self.tracer.column([1.0, *self.motion_rates]))

    def reaction(self, number: int, part: str, name: str) -> Wrench:
        return self.inboard[number] if self.accelerated else super().reaction(number, part, name)

    def contact_force(self, pair: str, part: str, name: str) -> tuple[Scalar, Vec]:
        if not self.accelerated:
            return super().contact_force(pair, part, name)
        contact = self.contacts[[own.name for own in self.pairs].index(pair)]
        return contact.pressing, contact.friction_vector

    def wearing(self, pair: ContactPair, part: str) -> Scalar:
        if not self.accelerated:
            return super().wearing(pair, part)
        contact = self.contacts[[own.name for own in self.pairs].index(pair.name)]
        assert pair.wear is not None
        return pair.wear.rate(contact.pressing, contact.kinematics.speed)

    @cached_property
    def group(self) -> TracedGroup | None:
        """The shapes of which any two may touch, at the traced state."""
        group = group_of(self.system)
        if group is None:
            return None
        return TracedGroup(group, self.tracer, self.here, lambda vector: self._rates_of(vector, self.rates))

    def _solve_friction(self) -> None:
        self.frictional = self._friction_joints(self.rubbing, self.forward, self.applied.outer, self.closures)
        self.friction = self._hold(self.contacts, self.rubbing, self.frictional, self.rates)

    def _complete_columns(self) -> None:
        """Add works and impulses to y, and the flags of switches to p."""
        count = len(self.power) + len(self.contacts) + CARRIED * self.system.near_places
        carried_column, _ = self.tracer.symbols("carried", count)
        self.p_column = ca.vertcat(self.p_column, *self._switches.columns, self.given_inputs.column)
        self.whole_column = ca.vertcat(self.state_column, carried_column)

    def _events(self) -> list[Watched]:
        contacts, rubbing, friction = self.contacts, self.rubbing, self.friction
        growing = self._rates_of([-c.kinematics.closing if is_impulsive(c.kinematics) else c.raw for c in contacts], self.rates)
        formula = partial(self._formula, t=self.t)
        flags = {label: (index, self.p[index]) for label, index in self.stops.items()}
        events = model_events(self.system, self.tree, self.q, self.v, formula, flags)
        events += cut_joint_events(self.cut_joint_states, flags)
        events += self._switches.events()
        events += joint_events(rubbing, friction, joint_margins(rubbing, friction, len(self._holders(contacts))))
        events += reversals(rubbing, self.frictional)
        renewals, margins = self._renewals(contacts, self.rates), self._margins(contacts, friction)
        return events + contact_events(contacts, growing, renewals, margins, self.near)

    def _slots(self, events: Sequence[Event]) -> tuple[tuple[PairSlots, ...], tuple[JointSlots, ...]]:
        """Where contacts and joints with friction are in y, p and among the events."""
        first, works = len(self.free_q) + len(self.free_v), int(self.state_column.numel())
        pairs = pair_slots(self.contacts, list(self.power), events, self.places[CONTACTS].start, first, works)
        of_joints = first + self.bristle_columns[0].numel()
        return pairs, joint_slots(self.rubbing, events, self.places[JOINT_GRIPS].start, of_joints)

    def _near_slots(self, n_events: int) -> tuple[PairSlots, ...]:
        """The places for near pairs of the group; n_events: of all others."""
        if self.group is None:
            return ()
        carried = self.whole_column.numel() - CARRIED * self.group.group.places
        return self.group.slots(self.places[NEAR].start + 1, carried, n_events)

    def _observed(self, efforts: Sequence[Scalar]) -> list[Scalar]:
        state = TracedState(self.system, self.here, self.cut_joint_states, self.applied.struts, self.motors)
        met = 0.0 if self.group is None else self.group.stored
        readings = [self.reading(channel, f"sensor {channel!r}") for channel in self.system.channels]
        observed = observe(state, self.forward.accelerations, self.power, efforts, self.contacts, self.multipliers, self.closures,
                           observed_friction(self.rubbing, self.friction), self.inboard, readings, met)  # fmt: skip
        return [x for name in OBSERVED for x in observed[name]] + self._moved()

    def _settled(self) -> list[Scalar]:
        """The user's own states, with filters in equilibrium with what their sensors measure now."""
        found: dict[str, Scalar] = dict(zip(self.system.states, self.own, strict=True))
        for channel, sensor in self.system.channels.items():
            now = self.measured(channel, f"sensor {channel!r}")
            found |= {name: now if name in sensor.settled(channel) else 0.0 for name in sensor.rates(channel)}
        return list(found.values())

    def _step_limits(self) -> tuple[ca.SX, list[Scalar]]:
        """As a function of the state and its derivative, which a step evaluates first anyway; the column of the derivative."""
        column, slopes = self.slope_column, self.slopes
        limit = self._step_limit([one.kinematics for one in self.contacts], slopes)
        if self.group is not None:
            turned = self.group.longest_turn(self._rates_of([x for omega in self.group.turns for x in omega], slopes))
            limit = turned if limit is None else limit if turned is None else minimum(limit, turned)
        return column, [] if limit is None else [limit]

    def _group_functions(self) -> dict[str, tuple[ca.SX, list[Scalar]]]:
        """Functions of a group's members and pairs, each with the column of its inputs."""
        if self.group is None:
            return {}
        group, slopes = self.group, self.slopes
        found = {
            "members": (self.whole_column, group.rows()),
            "member_rates": (ca.vertcat(self.whole_column, self.slope_column), self._rates_of(group.moving_parts, slopes)),
        }
        for kind in group.kinds:
            found |= {f"meet_{kind}": group.meeting(kind), f"gap_to_{kind}": group.gap(kind), f"watch_{kind}": group.watching(kind)}
        return found

    def _functions_of_closures(self) -> dict[str, list[Scalar]]:
        found = {}
        if self.solved is not None and self.system.baumgarte is None:
            found = {"project": self._projected(self.solved, self.whole_column)}
        watched = {"closures": self.closures.residuals(self.system.closure_tolerance)} if self.closures.watched else {}
        return found | watched

    def _impact(self) -> dict[str, list[Scalar]]:
        """Of impulsive contacts: the speeds u of all rows; per unit of impulse in each row the change of u, of the rates and works.

        A force acts on accelerations as an impulse does on speeds, closures included; prescribed motions do not jump.
        """
        speeds = speeds_apart(self.contacts)
        moved = [*self._rates_of(speeds, self.rates), *(self.forward.accelerations[k] for k in self.free_v), *self.power.values()]
        responses = self.tracer.jacobian(moved, self.knock_column) if speeds else []
        return {"impact": [*speeds, *(x for row in responses for x in row)]} if speeds else {}

    def _updates(self, measured: Measured, pending: Sequence[Scalar]) -> dict[str, list[Scalar]]:
        """The values held after each instant, by the name of its function."""
        functions = {}
        for instant in instants_of(self.system):
            holds = Holds(self.system, list(self.sampled.values()), pending)
            controller = self.system.controllers[instant.controller]
            if instant.kind == APPLY:
                holds.apply(controller.name)
            elif not instant.python:
                memory = holds.memory_of(controller.name)
                seen = self.seen(f"sampled {controller.name!r}")
                sampled = measured.with_noise(self.system, controller, self.t)
                outputs = run_update(controller, controller.update, (self.t, *seen, sampled), memory)
                new = {name: self._scalar(x) for name, x in memory.items()}
                holds.put(controller.name, [self._scalar(x) for x in outputs], new)
            else:
                continue
            functions[instant.function] = holds.values
        return functions

    def _timed(self) -> list[Scalar]:
        """Formulas that depend explicitly on time; tables have known breakpoints and need no search."""
        assert self.switches is not None
        motions = [coordinate.motion for coordinate in self.prescribed]
        motions += [motion for closure in self.system.closures.values() for motion in closure.prescribed]
        with self.switches.leaving_time():  # jumps in time are what the search is for
            found = [self._prescribed_values(motion)[0] for motion in motions if isinstance(motion, Prescribed)]
            found += [self.read(signal) for signal in signals_of(self.system) if isinstance(signal, Formula)]
        found += [self._formula(condition.function, self.t) for condition in self.system.conditions.values()]
        given = [closure for closure in self.system.closures.values() if isinstance(closure, FormulaClosure)]
        found += [self._formula_at(closure, self.q, self.v, 0.0) for closure in given]
        return [x for x in found if ca.depends_on(self.tracer.sx(x), self.t_column)]

    def _pieces(self) -> Pieces | None:
        """The tree with joints taken apart, if so many of its loops hang on one another that this costs less."""
        exact = [c for c in self.system.closures.values() if c.by == "multipliers"]
        start = self.known_start
        if self.formulation != "articulated" or start is None or start.redundant:
            return None
        return taken_apart(self.tracer, self.here, exact, self._formula_at)

    def close(self, applied: AppliedForces, pieces: Pieces | None = None) -> Closures:
        """Residuals of all closures; multipliers act as symbols to be solved for, penalty springs act directly.

        pieces: over whose rates rows of exact closures are taken, if joints of the tree are taken apart; nothing acts on the tree.
        """
        exact = [c for c in self.system.closures.values() if c.by == "multipliers"]
        sprung = [c for c in self.system.closures.values() if c.by == "springs"]
        soft = self.rows_of(sprung)
        stored = springs(soft, sprung, applied, pull=self.formulation != "lagrange")
        if not exact:
            column, _ = self.tracer.symbols("multiplier", 0)
            none = self.rows_of([])
            return Closures(exact, none, (), (), none, column, sprung, soft, stored, None)
        start = self.assemble() if self.known_start is None else self.known_start
        found = self.rows_of(exact, pieces)
        # with numbers as data, a row may look as if it moved that is zero for any numbers
        every = chosen(found, [k for k, at in enumerate(zip(found.owners, found.directions, strict=True)) if at in start.places])
        blend = start.blend or tuple(((k, 1.0),) for k in start.independent)
        hard = blended(every, blend) if start.blend else chosen(every, start.independent)
        column, multipliers = self.tracer.symbols("multiplier", len(hard.residual))
        if pieces is None:
            push(hard, multipliers, applied)
        return Closures(exact, every, start.independent, blend, hard, column, sprung, soft, stored, start)

    def start(self) -> tuple[list[float], list[float]]:
        """Coordinates and rates at t_start, with loops closed and prescribed coordinates on their motions."""
        self.assemble()
        return self.start_q.tolist(), self.start_v.tolist()

    def _closing(self, closures: Closures, which: Callable[[Closure, TwistRow], bool] = lambda *_: True) -> dict[int, Wrench]:
        """Wrenches of closures on the bodies they hold, without those of cut joints, whose wrenches are reactions."""
        owners = [closures.exact[k] for k in closures.hard.owners] + [closures.soft_closures[k] for k in closures.soft.owners]
        every = zip(owners, self.twist_rows(closures), [*self.multipliers, *closures.spring_forces], strict=True)
        kept = [(row, force) for closure, row, force in every
                if closure.name not in self.system.cut_joints and which(closure, row)]  # fmt: skip
        return wrenches([row for row, _ in kept], [force for _, force in kept])

    def twist_rows(self, closures: Closures) -> list[TwistRow]:
        """K of all rows, exact ones first."""
        state, places = (poses(self.tree, self.q), self.q, self.tracer), self.places_of(closures.exact)
        every = twist_rows(self.tree, closures.exact, closures.every, places, *state, self._formula_of_bodies)
        hard = [weighted(every, parts) for parts in closures.blend]
        places = self.places_of(closures.soft_closures)
        return hard + twist_rows(self.tree, closures.soft_closures, closures.soft, places, *state, self._formula_of_bodies)

    def places_of(self, closures: Sequence[Closure]) -> list[list[Scalar]]:
        """Present positions of the motions that closures follow."""
        return [[None if m is None else m[0] for m in motions] for motions in self._followed(closures)]

    def rows_of(self, closures: Sequence[Closure], pieces: Pieces | None = None) -> ConstraintRows:
        """Residuals of closures at the traced state, with their derivatives; over the rates of the pieces, if there are any."""
        state = (self.tree, self.q, self.v) if pieces is None else (pieces.tree, pieces.q, pieces.v)
        tree, q, v = state
        return rows(tree, closures, q, v, self.tracer, self._followed(closures), self._formula_at)

    def _formula_at(self, closure: FormulaClosure, q: Sequence[Scalar], v: Sequence[Scalar], dt: Scalar) -> Scalar:
        """The formula of a closure at coordinates and rates, some time after the present."""
        return self.elsewhere(q, v).constraint(closure, self._clock(closure.formula.breakpoints) + dt)

    def _formula_of_bodies(
        self, closure: FormulaClosure, bodies: Sequence[Pose], q: Sequence[Scalar], moving: Sequence[Twist] | None
    ) -> Scalar:
        """The formula of a closure for given poses and twists of the bodies."""
        there = self.elsewhere(q, self.v, bodies, moving)
        return there.constraint(closure, self._clock(closure.formula.breakpoints))

    def _followed(self, closures: Sequence[Closure]) -> list[list[tuple[Scalar, Scalar, Scalar] | None]]:
        """The motions that closures follow: position, rate, acceleration."""
        return [[None if m is None else self._prescribed_values(m) for m in closure.motions] for closure in closures]

    def assemble(self, hold_at: Sequence[Floats] = ()) -> Assembly:
        """A start that closes the loops, with prescribed motions at their values then; numbers must be folded in."""
        exact = [c for c in self.system.closures.values() if c.by == "multipliers"]
        followed = self._followed(exact)
        motions = [x for one in followed for m in one if m is not None for x in m]
        motions_at = ca.Function("motions_at", [self.t_column, self.p_column], [self.tracer.column([*self._moved(), *motions])])
        values = np.array(motions_at(self.t_start, self.parameters(self.t_start))).ravel()
        q0, v0 = self.start_q.copy(), self.start_v.copy()
        for k, coordinate in enumerate(self.prescribed):
            q0[coordinate.q], v0[coordinate.v] = values[k], values[len(self.prescribed) + k]
        rest = iter(values[2 * len(self.prescribed) :].tolist())
        at_start = [[None if m is None else (next(rest), next(rest), next(rest)) for m in one] for one in followed]
        found = assemble(
            self.tree, exact, self.tracer, q0, v0, self.free_v, at_start, self.system.closure_tolerance,
            lambda closure, q, v, dt: self.elsewhere(q, v).constraint(closure, self.t_start + dt), self.system.held,
            hold_at,
        )  # fmt: skip
        moved = what_moved(self.tree, (q0, v0), (found.q, found.v), (self.free_q, self.free_v), found.size)
        self.warnings += moved
        self.start_q, self.start_v, self.locked = found.q, found.v, found.locked
        return found

    def parameters(self, t: float) -> Floats:
        """p at t with contacts open; tables with a breakpoint at t use the later piece, and formulas may see all times."""
        p = np.concatenate([owner.at(t, t) for owner in self.owners])
        p[self.places[WINDOW]] = -FOREVER, FOREVER
        return p

    def _solve_closures(self, closures: Closures) -> tuple[Forward, Solved | None]:
        if not closures.hard.residual:
            self.multipliers: list[Scalar] = []
            return self._forward(self.applied), None
        tracer, column, baumgarte = self.tracer, closures.column, self.system.baumgarte
        if self.pieces is not None:
            count, after = len(self.v), len(closures.exact)
            forward, done = solve_apart(tracer, self.pieces, closures.hard, closures.every, self.applied, self.known, baumgarte,
                                        column, count, after)  # fmt: skip
            self.multipliers = done.multipliers
            return forward, done
        forward = self._forward(self.applied)
        done = solve_closures(tracer, closures.hard, closures.every, column, forward.accelerations, baumgarte)
        self.multipliers = done.multipliers
        values = tracer.column(done.multipliers)
        names = list(forward.efforts)
        efforts = tracer.substitute([forward.efforts[k] for k in names], column, values) if names else []
        return Forward(done.accelerations, dict(zip(names, efforts, strict=True))), done

    def _projected(self, solved: Solved, y: ca.SX) -> list[Scalar]:
        """The state projected onto the constraints; all other components of y are unchanged."""
        kept = y[len(self.free_q) + len(self.free_v) :]
        q = retract(self.tree, self.q, solved.shift)
        moved = [q[k] for k in self.free_q] + [self.v[k] + solved.slow[k] for k in self.free_v]
        return moved + (self.tracer.scalars(kept) if kept.numel() else [])

    def _partition(self, closures: Closures) -> tuple[ca.SX, list[Scalar], list[Scalar]]:
        """(Symbols of a change along the free rates; C, C' and C_q over those rates; the free coordinates after that change)."""
        found = closures.hard
        if self.pieces is not None:
            return self.tracer.symbols("change", 0)[0], [], []
        matrix = [row.get(k, 0.0) for row in found.jacobian for k in self.free_v]
        change_column, change = self.tracer.symbols("change", len(self.free_v))
        along: list[Scalar] = [0.0] * len(self.v)
        for k, x in zip(self.free_v, change, strict=True):
            along[k] = x
        moved = retract(self.tree, self.q, along) if found.residual else self.q
        return change_column, [*found.residual, *found.rate, *matrix], [moved[k] for k in self.free_q]

    def _contact_forces(self, applied: AppliedForces) -> tuple[ca.SX, list[ContactForce]]:
        """Applies the contacts' forces to the bodies; also returns the column of their bristle states."""
        found = contact_kinematics(self.here, self.pairs)
        column, bristles = self.tracer.symbols("bristle", sum(bristle_count(kinematics) for kinematics in found))
        self.held_column, held = self.tracer.symbols("held", sum(held_count(kinematics) for kinematics in found))
        self.knock_column, knocks = self.tracer.symbols("knock", sum(knock_count(kinematics) for kinematics in found))
        p = self.p[self.places[CONTACTS]]
        return column, contact_forces(self.here, found, p, bristles, held, knocks, applied)

    @cached_property
    def rubbing_joints(self) -> list[RubbingJoint]:
        """Joints and closures with friction, at the traced state."""
        if not frictions_of(self.system):
            return []
        joints = rubbing_joints(self.system, self.here, self.cut_joint_states)
        check_served(joints)
        return joints

    def _rub(self, applied: AppliedForces) -> tuple[ca.SX, list[Rubbing]]:
        """Applies joint friction to the bodies as unknowns; also returns the column of its bristle states."""
        joints = self.rubbing_joints
        column, bristles = self.tracer.symbols("joint_bristle", sum(joint_bristle_count(joint) for joint in joints))
        rubbed, symbols = self.tracer.symbols("rubbed", sum(len(joint.slip) for joint in joints))
        first = self.held_column.numel()
        self.unknown_column = ca.vertcat(self.held_column, rubbed, self.knock_column)
        p = self.p[self.places[JOINT_GRIPS]]
        return column, rub(self.here, joints, p, bristles, symbols, first, applied)

    def _friction_joints(
        self, rubbing: Sequence[Rubbing], forward: Forward, outer: Sequence[BodyLoad], closures: Closures
    ) -> list[FrictionJoint]:
        """Joints with friction, with the reactions that press them."""
        if not rubbing:
            return []
        owners = [closures.exact[k].name for k in closures.hard.owners]
        owners += [closures.soft_closures[k].name for k in closures.soft.owners]
        every = list(zip(owners, self.twist_rows(closures), [*self.multipliers, *closures.spring_forces], strict=True))
        of_closures = {}
        for name in {r.joint.closure for r in rubbing if r.joint.closure is not None}:
            own = [(row, force) for owner, row, force in every if owner == name]
            of_closures[name] = wrenches([row for row, _ in own], [force for _, force in own])

        def sleeve(k: int) -> Wrench:
            held = self._closing(closures, lambda closure, row: on_sleeve(self.tree, closure, row, k))
            return of_sleeve(self.here, k, forward.accelerations, outer, held, self.inboard)

        pressed = reactions_of(rubbing, self.inboard, of_closures, sleeve)
        return [own.friction_joint(reaction, self.here.bodies) for own, reaction in zip(rubbing, pressed, strict=True)]

    def _hold(
        self,
        contacts: Sequence[ContactForce],
        rubbing: Sequence[Rubbing],
        frictional: Sequence[FrictionJoint],
        rates: Sequence[Scalar],
    ) -> FrictionSolution:
        """Solve for all unknown friction, to be substituted wherever it occurs."""
        if self.unknown_column.numel() == 0:
            return NO_FRICTION
        # time is a state with rate one, so that accelerations of prescribed motions are included
        clocked = ca.vertcat(self.t_column, self.state_column)
        held = [*self._holders(contacts), *(own.holder(k) for k, own in enumerate(rubbing) if own.grip is not None)]
        friction = solve_friction(self.tracer, self.unknown_column, held, frictional, clocked, [1.0, *rates])
        self.held = friction.forces
        return friction

    def _holders(self, contacts: Sequence[ContactForce]) -> list[StickingContact]:
        return holders(contacts, self.p[self.places[CONTACTS]])

    def _margins(self, contacts: Sequence[ContactForce], friction: FrictionSolution) -> list[Scalar]:
        """The remaining strength of contacts that can stick."""
        strong = [contact for contact in contacts if contact.grip is not None]
        return [margin(h, contact.strength) for h, contact in zip(friction.held, strong, strict=False)]

    def _width(self, name: str) -> int:
        return int(self.places[name].stop - self.places[name].start)

    def _step_limit(self, contacts: Sequence[ContactKinematics], rates: Sequence[Scalar]) -> Scalar | None:
        """The longest step in which no contact can be missed. rates: derivatives of coordinates, rates and bristles."""
        return longest_step(contacts, self._rates_of([x for kinematics in contacts for x in kinematics.motion], rates))

    def _rates_of(self, scalars: Sequence[Scalar], rates: Sequence[Scalar]) -> list[Scalar]:
        """Time derivatives of functions of time and state."""
        if not scalars:
            return []
        clocked = ca.vertcat(self.t_column, self.state_column)
        return self.tracer.directional(scalars, clocked, self.tracer.column([1.0, *rates]))

    def _renewals(self, contacts: Sequence[ContactForce], rates: Sequence[Scalar]) -> list[Scalar | None]:
        """See `renewal_function`; None for a law that does not use the entry speed."""
        if not contacts:
            return []
        entries = self.p[self.places[CONTACTS]][1::PARAMETERS]
        along = self.tracer.column([1.0] * len(entries))
        uses = self.tracer.directional([one.raw for one in contacts], self.tracer.column(entries), along)
        accelerations = self._rates_of([one.kinematics.closing for one in contacts], rates)
        return [None if is_zero(slope) else renewal_function(one.kinematics.closing, acceleration, entry)
                for one, slope, acceleration, entry in zip(contacts, uses, accelerations, entries, strict=True)]  # fmt: skip

    def _forward(self, applied: AppliedForces) -> Forward:
        driven = Driven(self.tree, self.q, self.v, applied.tau, applied.loads, self.known)
        if self.formulation == "lagrange":
            sprung = [c for c in self.system.closures.values() if c.by == "springs"]
            places = self.places_of(sprung)
            return lagrange.forward_dynamics(
                driven,
                self.tracer,
                lambda q: stored_energy(self.tree, sprung, q, places, lambda closure: self._formula_at(closure, q, self.v, 0.0)),
            )
        if self.formulation == "gibbs":
            return gibbs.forward_dynamics(driven, self.tracer)
        if self.formulation == "denoc":
            return denoc.forward_dynamics(driven, self.tracer)
        if self.formulation == "gibbs_appell":
            return gibbs_appell.forward_dynamics(driven)
        return articulated.forward_dynamics(driven)

    def inverse(self, a: Sequence[Scalar], applied: AppliedForces) -> list[Scalar]:
        """Efforts on all coordinates that accelerations require beyond loads: by the orthogonal complement, or recursively."""
        state = (self.tree, self.q, self.v, a, applied.loads)
        if self.formulation == "denoc":
            return denoc.inverse_dynamics(*state, self.tracer)
        return gibbs_appell.inverse_dynamics(*state)

    def _coordinate_rates(self) -> list[Scalar]:
        rates: list[Scalar] = [0.0] * len(self.q)
        for node in self.tree.nodes:
            for slot in node.slots:
                if slot.is_ball:
                    omega = (self.v[slot.v], self.v[slot.v + 1], self.v[slot.v + 2])
                    rates[slot.q : slot.q + 4] = quaternion_rate(self.q[slot.q : slot.q + 4], omega)
                else:
                    rates[slot.q] = self.v[slot.v]
            for i, k in zip(node.own_q, node.own_v, strict=True):
                rates[i] = self.v[k]
        return [rates[k] for k in self.free_q]

    def _efforts(self, forward: Forward, closures: Closures) -> tuple[tuple[str, ...], list[Scalar]]:
        """Efforts of drives, of coordinates prescribed by joints, and of those prescribed by closures (the multipliers)."""
        names = [drive.name for drive in self.system.drives.values()] + list(self.system.motors)
        values = [self.read(drive.effort) for drive in self.system.drives.values()] + [motor.effort for motor in self.motors]
        names += [f"{self.tree.rates[k]} motion" for k in forward.efforts]
        driven = [(closures.exact[owner], x) for owner, x in zip(closures.hard.owners, self.multipliers, strict=True)]
        driven = [(closure, x) for closure, x in driven if closure.coordinates and closure.prescribed]
        names += [f"{closure.name} motion" for closure, _ in driven]
        return tuple(names), [*values, *forward.efforts.values(), *(x for _, x in driven)]

    def _moved(self) -> list[Scalar]:
        """Prescribed positions, then their rates: they are not states, but results show them."""
        return [self.q[coordinate.q] for coordinate in self.prescribed] + [self.v[coordinate.v] for coordinate in self.prescribed]

    def _function(self, name: str, outputs: Sequence[Scalar], more: ca.SX | None = None) -> TracedFunction:
        """A function of (t, y, p); more: symbols that follow those of y."""
        more = self.group.column if more is None and self.group is not None else more
        return self._function_over(name, self.whole_column if more is None else ca.vertcat(self.whole_column, more), outputs)

    def _function_over(self, name: str, state: ca.SX, outputs: Sequence[Scalar]) -> TracedFunction:
        """A function of (t, column, p)."""
        if self.held:
            outputs = self.tracer.substitute(outputs, self.unknown_column, self.tracer.column(self.held))
        first = self.places[CONTACTS].start
        closed = [first + PARAMETERS * k for k in range(len(self.pairs))]
        guards = () if name in WHILE_CLOSED else closed
        series = self.given_inputs.places(self.p_column.numel())
        return TracedFunction(name, self.tracer, [self.t_column, state, self.p_column], outputs, self.constants, guards, series)


def check_formulation(node: Node, formulation: str) -> None:
    """Raise an error if a formulation derived from energies meets a body whose published form leaves terms out."""
    part, body = f"body {node.name!r}", node.link.body
    if node.place.first_order and formulation in DIFFERENTIATING:
        rule = "must be a recursion (as published) or 'gibbs' (differentiated) if a tip rotates to first order"
        raise ModelError.of(part, "formulation", rule, formulation)
    if isinstance(body, TelescopicBeam) and body.form == "as-published" and formulation in DIFFERENTIATING:
        rule = f"must not be {' or '.join(map(repr, DIFFERENTIATING))} for a form as published"
        raise ModelError.of(part, "formulation", rule, formulation)
    if isinstance(body, Beam) and body.stiffening == "as-published" and formulation in (*DIFFERENTIATING, "gibbs"):
        raise ModelError.of(part, "formulation", "must be a recursion for stiffening as published", formulation)
