"""Values of signals and formulas at a traced state: numbers, tables, functions of (t, q, v), prescribed motions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Self

import casadi as ca

from pliant.codegen.numbers import Number
from pliant.codegen.tracer import Scalar, TracedScalar
from pliant.dynamics.algebra import Vec
from pliant.dynamics.cut_joint import CutJointState, cut_joint_state
from pliant.dynamics.gibbs_appell import Wrench
from pliant.dynamics.kinematics import Pose, TreeState, Twist
from pliant.dynamics.loads import AppliedForces, applied_forces, damped_stops
from pliant.dynamics.motors import MotorState, push_motors
from pliant.dynamics.struts import StrutState, strut_state
from pliant.dynamics.tree import Tree
from pliant.errors import ModelError
from pliant.integrate.memory.run_record import CUTS, TURNS
from pliant.model.closure import FormulaClosure
from pliant.model.contact import ContactPair
from pliant.model.coordinate_pair import Pair, all_pairs
from pliant.model.motor import COMMAND, MotorDrive
from pliant.model.parameter import evaluated, expression_of
from pliant.model.sensor import UNFILTERED
from pliant.model.signal import Constant, Formula, MotionTable, PiecewiseConstant, PiecewiseSmooth, Prescribed, Signal
from pliant.model.system import System
from pliant.model.wear import WEARS
from pliant.scalar import Numbers, called, maximum, minimum
from pliant.trace.formulas import NamedScalars
from pliant.trace.inputs import TracedInputs
from pliant.trace.joint_friction import JOINT_GRIPS, JointGrips, count_of_grips
from pliant.trace.layout import PIECES, STOPS, ContactEntries, Flags, NearEntries, ParameterOwner, Pieces, Window, slices
from pliant.trace.lowered_system import tables
from pliant.trace.switches import Switches
from pliant.trace.world import World


def changing(system: System, tree: Tree) -> tuple[ParameterOwner, ...]:
    """The owners of the entries of p that change at events, except switches."""
    return (Window(), Pieces(tables(system, tree)), ContactEntries(len(all_pairs(system))), NearEntries(system.near_places),
            Flags(STOPS, len(damped_stops(system, tree))), JointGrips(count_of_grips(system)))  # fmt: skip


class Signals:
    """Time, p and the coordinates of a trace, with the functions that read signals there."""

    def __init__(
        self, system: System, tree: Tree, parameters: Mapping[str, Scalar] | None, inputs: TracedInputs | None = None
    ) -> None:
        self.system, self.tree = system, tree
        # values of parameters as plain numbers, by which frames are found
        plain = {name: x for name, x in (parameters or {}).items() if isinstance(x, float)}
        self.plain_system, self.plain_values = system, plain
        self.given_inputs = inputs or TracedInputs({})
        self.tracer = self.given_inputs.tracer
        self._parameters = parameters or {}
        self.tracer.lift = self._lifted
        self.signals = tables(system, tree)
        self.t_column, self.t = self.given_inputs.t_column, self.given_inputs.t
        self.pairs: list[Pair] = all_pairs(system)
        stops = damped_stops(system, tree)
        self.owners = changing(system, tree)
        self.places = slices({owner.name: owner.width for owner in self.owners})  # in p
        self.stops = {label: self.places[STOPS].start + k for k, label in enumerate(stops)}  # in p: pressed or not
        self.p_column, self.p = self.tracer.symbols("p", self.places[JOINT_GRIPS].stop)
        self.q: list[Scalar] = [0.0] * len(tree.positions)
        self.v: list[Scalar] = [0.0] * len(tree.rates)
        self.switches: Switches | None = None  # while functions of p are traced
        self.own_column, self.own = self.tracer.symbols("own", len(system.states))
        held = [label for controller in system.controllers.values() for label in controller.labels]
        self.sampled_column, sampled = self.tracer.symbols("sampled", len(held))
        self.sampled = dict(zip(held, sampled, strict=True))  # outputs and memories of controllers
        self.motors: list[MotorState] = []
        self._given_bodies: Sequence[Pose] | None = None
        self._given_moving: Sequence[Twist] | None = None
        self._own_rates: dict[str, Scalar] = {}
        self._measured: dict[str, Scalar] = {}  # by sensors' channels
        self._under_way: list[str] = []  # states whose rates are being computed

    def read(self, signal: Signal) -> Scalar:
        """The present value of a signal of a force or drive."""
        return self._value(signal)

    def _value(self, signal: Signal) -> Scalar:
        if isinstance(signal, Constant):
            return signal.value
        if isinstance(signal, Formula):
            clock = self._clock(signal.breakpoints)
            return self._watched(signal, lambda: self._formula(signal.function, clock), clock if signal.breakpoints else None)
        if isinstance(signal, PiecewiseSmooth):
            c0, c1, c2, c3, origin = self._piece(signal)
            s = self.t - origin
            return ((c3 * s + c2) * s + c1) * s + c0
        value, slope, origin = self._piece(signal)
        return value if isinstance(signal, PiecewiseConstant) else value + slope * (self.t - origin)

    def _watched(self, formula: Formula | Prescribed, trace: Callable[[], Scalar], clock: Scalar | None = None) -> Scalar:
        """A formula's value; flags decide its comparisons, and the corners of a motion, if the trace has entries of p for them.

        Steps end at other corners.
        """
        if self.switches is None:
            return trace()
        corners = TURNS if isinstance(formula, Prescribed) else CUTS
        with self.switches.watching(self._part(formula.function), clock, corners):
            return self.switches.safe(trace)

    def _part(self, function: Any) -> str:
        """The owner of a formula, in words."""
        signals: dict[str, tuple[Signal, ...]] = {drive.name: (drive.effort,) for drive in self.system.drives.values()}
        signals |= {load.name: load.vector for load in self.system.loads.values()}
        signals |= {strut.name: (strut.force,) for strut in self.system.struts.values() if strut.force is not None}
        signals |= {drive.name: (drive.command,) for drive in self.system.motors.values() if drive.command is not None}
        signals |= {state.name: (state.rate,) for state in self.system.states.values()}
        owners = [name for name, own in signals.items() for each in own if isinstance(each, Formula) and each.function is function]
        motions = [(self.tree.positions[one.q], one.motion) for one in self.tree.prescribed]
        motions += [(closure.name, motion) for closure in self.system.closures.values() for motion in closure.prescribed]
        owners += [name for name, motion in motions if isinstance(motion, Prescribed) and motion.function is function]
        owners += [closure.name for closure in self.system.closures.values()
                   if isinstance(closure, FormulaClosure) and closure.formula.function is function]  # fmt: skip
        owners += [condition.name for condition in self.system.conditions.values() if condition.function is function]
        return f"formula of {owners[0]!r}" if owners else "formula"

    def _still(self) -> set[int]:
        """Symbols that change only at events."""
        return {x.number for x in [*self.p, *self.sampled.values()]}

    def _piece(self, signal: object) -> list[Scalar]:
        """The entries of p of a signal given by a table."""
        k = next(k for k, known in enumerate(self.signals) if known is signal)
        first, starts = self.places[PIECES].start, Pieces(self.signals).starts
        return self.p[first + starts[k] : first + starts[k + 1]]

    def _formula(self, function: Any, t: Scalar) -> Scalar:
        part = self._part(function)
        return self._scalar(called(function, t, *self.seen(part), of=part.removeprefix("formula")))

    def elsewhere(
        self,
        q: Sequence[Scalar],
        v: Sequence[Scalar],
        bodies: Sequence[Pose] | None = None,
        moving: Sequence[Twist] | None = None,
    ) -> Self:
        """The same mechanism at other coordinates and rates; poses and twists of its bodies, if these are moved by themselves."""
        there = copy.copy(self)
        for name in ("cut_joint_states", "strut_states", "here"):
            vars(there).pop(name, None)
        there._measured = {}
        there.q, there.v, there._given_bodies, there._given_moving = list(q), list(v), bodies, moving
        return there

    def constraint(self, closure: FormulaClosure, t: Scalar) -> Scalar:
        """The formula of a closure, which may read coordinates, rates and frames, but no states."""
        q, v = self.seen(closure.part, states=False)
        value = self._scalar(called(closure.formula.function, t, q, v))
        moving = {symbol for x in (*self.q, *self.v) if isinstance(x, TracedScalar) for symbol in self.tracer.symbols_in(x)}
        if edges := self.tracer.edges_in(value, moving - {self.t.number}):
            rule = "must be smooth in coordinates and rates, as no multiplier holds a corner or a jump"
            raise ModelError.of(closure.part, "formula", rule, f"a formula with {' and '.join(edges)}")
        return value

    def seen(self, part: str, states: bool = True) -> tuple[NamedScalars, NamedScalars]:
        """q and v as formulas see them; part: the formula's owner; states: whether they see states besides coordinates."""
        found = [one for each in self.cut_joint_states for one in each.coordinates]
        apart = list(self.system.cut_joints.values())
        positions = [*self.tree.positions, *(name for cut_joint in apart for name in cut_joint.positions)]
        rates = [*self.tree.rates, *(name for cut_joint in apart for name in cut_joint.rates)]
        q = dict(zip(positions, [*self.q, *(x for one in found for x in one.positions)], strict=True))
        v = dict(zip(rates, [*self.v, *(x for one in found for x in one.rates)], strict=True))
        q |= {state.strut.name: state.length for state in self.strut_states}
        v |= {state.strut.name: state.rate for state in self.strut_states}
        own = dict(zip(self.system.states, self.own, strict=True)) | self.sampled
        later = {name: partial(self.own_rate, name) for name in self.system.states}
        shared = self.plain_system is not self.system
        world = World(self.plain_system, self.plain_values, self.tree, self.q, self.v, part, shared, self._given_bodies,
                      self._given_moving)  # fmt: skip
        if not states:
            return NamedScalars("q", q, world=world, part=part), NamedScalars("v", v, part=part)
        told = {f"{drive.name}.{COMMAND}": partial(self._command, drive) for drive in self.system.motors.values()}
        for channel in self.system.channels:
            told |= {channel: partial(self.reading, channel, part), channel + UNFILTERED: partial(self.measured, channel, part)}
        told |= {pair.name + WEARS: partial(self.wearing, pair, part) for pair in self.system.contacts.values() if pair.wear}
        return (NamedScalars("q", q, own, later=told, world=world, part=part), NamedScalars("v", v, later=later, part=part))

    def _command(self, drive: MotorDrive) -> Scalar:
        """The command of a motor; formulas may read it, except the command's own formula."""
        if drive.name in self._under_way:
            rule = "must not read its own value: that is an algebraic loop"
            raise ModelError.of(f"motor {drive.name!r}", COMMAND, rule, f"q[{f'{drive.name}.{COMMAND}'!r}]")
        self._under_way.append(drive.name)
        command = 0.0 if drive.command is None else self.read(drive.command)
        self._under_way.pop()
        return command

    def acting(self, pressed: Mapping[str, Scalar] | None = None) -> AppliedForces:
        """All forces at the traced state except those of contacts and closures. pressed: see `AppliedForces`."""
        applied = applied_forces(self.system, self.tree, self.q, self.v, self.read, pressed)
        driven = [drive for drive in self.system.motors.values() if drive.command is not None]
        commands = {drive.name: self._command(drive) for drive in driven}
        own = dict(zip(self.system.states, self.own, strict=True))
        self.motors = push_motors(self.tree, self.system.motors.values(), self.v, commands, own, applied)
        return applied

    # ---- sensors

    def reading(self, channel: str, part: str) -> Scalar:
        """The reading of a sensor. part: the owner of the formula that reads it."""
        own = dict(zip(self.system.states, self.own, strict=True))
        sensor = self.system.channels[channel]
        if not sensor.filters(channel):
            own |= {channel + UNFILTERED: self.measured(channel, part)}
        return sensor.reading(channel, own)

    def measured(self, channel: str, part: str) -> Scalar:
        """What a sensor measures, before its filter and delay."""
        if channel not in self._measured:
            name = next(own for own, sensor in self.system.sensors.items() if channel in sensor.channels(own))
            self._measured |= dict(zip(self.system.sensors[name].channels(name), self._sensed(name, part), strict=True))
        return self._measured[channel]

    def _sensed(self, name: str, part: str) -> list[Scalar]:
        """What a sensor measures, by channel: known once the motion is."""
        raise NotImplementedError

    def changing(self, vector: Sequence[Scalar], part: str, name: str) -> list[Scalar]:
        """The rate of a function of time and motion, as its accelerations make it. name: of the sensor that reads it."""
        raise self._too_early(part, name)

    def reaction(self, number: int, part: str, name: str) -> Wrench:
        """(moment about the body's origin, force) of the joint that carries a body, on the body, in world axes."""
        raise self._too_early(part, name)

    def contact_force(self, pair: str, part: str, name: str) -> tuple[Scalar, Vec]:
        """(normal force, friction in world axes) of a contact pair."""
        raise self._too_early(part, name)

    def wearing(self, pair: ContactPair, part: str) -> Scalar:
        """The rate at which a contact pair wears, m^3/s."""
        raise self._too_early(part, f"{pair.name}{WEARS}")

    @staticmethod
    def _too_early(part: str, name: str) -> ModelError:
        rule = (
            f"must not read sensor {name!r} directly, because its reading follows from the accelerations, and these from this "
            "formula: an algebraic loop; give the sensor a low_pass, or read it in a state, an event or a sampled controller"
        )
        return ModelError.of(part, "q", rule, name)

    @property
    def own_rates(self) -> list[Scalar]:
        """The rates of the user's own states, in order."""
        return [self.own_rate(name) for name in self.system.states]

    def own_rate(self, name: str) -> Scalar:
        """The rate of one of the user's own states; formulas may read it, except those it is computed from."""
        if name in self._under_way:
            loop = " reads ".join(f"v[{each!r}]" for each in [*self._under_way[self._under_way.index(name) :], name])
            raise ModelError.of(f"state {name!r}", "rate", "must not depend on itself: that is an algebraic loop", loop)
        if name not in self._own_rates:
            self._under_way.append(name)
            self._own_rates[name] = self._value(self.system.states[name].rate)
            self._under_way.pop()
        return self._own_rates[name]

    def _lifted(self, x: Any) -> Scalar:
        """A traced scalar for a foreign operand in a formula: a parameter, an expression of parameters, an integer."""
        return evaluated(x, self._parameters) if expression_of(x) is not None else float(x)

    def lifted_number(self, x: Any) -> Any:
        """The same for an operand that meets a Number; a traced scalar needs no conversion."""
        is_number = isinstance(x, (float, int)) or expression_of(x) is not None
        return self._lifted(x) if is_number else NotImplemented

    def _scalar(self, x: Any) -> Scalar:
        """The value of a formula as a scalar of this trace."""
        return x if isinstance(x, (float, TracedScalar, Number)) and expression_of(x) is None else self._lifted(x)

    @cached_property
    def cut_joint_states(self) -> list[CutJointState]:
        """Cut joints at the traced state."""
        if not self.system.cut_joints:
            return []
        here = TreeState.of(self.tree, self.q, self.v)
        return [cut_joint_state(here, one) for one in self.system.cut_joints.values()]

    @cached_property
    def strut_states(self) -> list[StrutState]:
        """Struts at the traced state: formulas read their lengths and rates."""
        if not self.system.struts:
            return []
        here = TreeState.of(self.tree, self.q, self.v)
        return [strut_state(here, strut) for strut in self.system.struts.values()]

    def _clock(self, breakpoints: Numbers) -> Scalar:
        """Time as a formula with breakpoints may see it: strictly inside the present piece."""
        return minimum(maximum(self.t, self.p[0]), self.p[1]) if breakpoints else self.t

    def _prescribed_values(self, motion: Prescribed | MotionTable) -> tuple[Scalar, Scalar, Scalar]:
        """Position, rate and acceleration of a prescribed coordinate."""
        if isinstance(motion, MotionTable):
            c0, c1, c2, c3, origin = self._piece(motion)
            s = self.t - origin
            return ((c3 * s + c2) * s + c1) * s + c0, (3.0 * c3 * s + 2.0 * c2) * s + c1, 6.0 * c3 * s + 2.0 * c2
        one, cut = ca.SX(1.0), bool(motion.breakpoints)
        column, (time,) = self.tracer.symbols("time", 1) if cut else (self.t_column, [self.t])

        def place() -> Scalar:
            return self._scalar(called(motion.function, time))

        position = [place() if cut else self._watched(motion, place)]
        rate = self.tracer.directional(position, column, one)
        acceleration = self.tracer.directional(rate, column, one)
        if not cut:
            return position[0], rate[0], acceleration[0]
        now = self.tracer.column([self._clock(motion.breakpoints)])
        x, v, a = self.tracer.substitute([*position, *rate, *acceleration], column, now)
        return x, v, a
