"""The equations of motion in implicit, fully symbolic form, from which equilibria and linearisations are computed.

R(q, v, a, ...) = M a + h - tau - A^T lam = 0 by recursive inverse dynamics, and c(q, t) = 0 with its first and second time
derivatives. Coordinates whose motion is prescribed are symbols like the others. Model numbers are folded in as constants, so that
all derivatives come from one traced graph.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from pliant.codegen.tracer import Scalar
from pliant.dynamics.algebra import total
from pliant.dynamics.contact import ContactForce, holds
from pliant.dynamics.gibbs_appell import Wrench, inverse_dynamics
from pliant.dynamics.kinematics import poses, twists
from pliant.dynamics.loads import AppliedForces
from pliant.dynamics.motors import starts_of_states
from pliant.dynamics.reactions import reactions
from pliant.errors import SolveError
from pliant.integrate.loop.grip_states import SLIDES, STICKS
from pliant.model.closure import FormulaClosure
from pliant.model.refused import refuse_controllers, refuse_impulsive
from pliant.model.resolve import checked_values, resolved
from pliant.model.signal import Signal
from pliant.model.system import System
from pliant.model.value_keys import value_key
from pliant.results.table import AXES, OBSERVED, QUATERNION
from pliant.run.recent import Recent
from pliant.run.starts import is_short, no_direction
from pliant.trace.closures import Closures
from pliant.trace.contacts import PARAMETERS
from pliant.trace.holding import Settled, settle
from pliant.trace.joint_friction import JOINT_GRIPS, NO_FRICTION, observed_friction
from pliant.trace.layout import CONTACTS
from pliant.trace.observe import TracedState, observe
from pliant.trace.tracing import Trace

Floats = NDArray[np.float64]

SETTLED: dict[str, Any] = {"inductance": 0.0, "time_constant": 0.0, "gear_stiffness": None, "gear_damping": 0.0}  # of motors
CLOSING_STEPS = 6  # Newton steps from a nearby position, when drawing modes


@dataclass(frozen=True)
class EvaluationPoint:
    """Where the equations are evaluated: all coordinates, rates, accelerations, and the states of contacts and closures."""

    t: float  # s
    q: Floats
    v: Floats
    a: Floats
    multipliers: Floats
    held: Floats  # N, friction forces of sticking contacts
    bristles: Floats  # bristle states, followed by user-defined states
    inputs: Floats  # what is added to signals, and to the efforts along coordinates
    p: Floats  # parameters of the traced functions: windows, pieces of tables, contacts
    share: float = 1.0  # fraction of gravity, drives and loads that acts

    @property
    def arguments(self) -> list[Floats | float]:
        return [self.t, self.q, self.v, self.a, self.multipliers, self.held, self.bristles, self.inputs, self.p,
                self.share]  # fmt: skip


KEPT: Recent[ImplicitEquations] = Recent(4)  # equations of the last calls, by thread: CasADi's graphs must not be used by several


class ImplicitEquations(Trace):
    """The traced equations of one System.

    still: if True, all rates are zero except those of prescribed and `turning` coordinates, and all accelerations are zero except
    those of prescribed coordinates. The terms that vanish are left out of the graph, and motors give their settled torque.
    """

    def __init__(
        self,
        system: System,
        t: float = 0.0,
        parameters: Mapping[str, float] | None = None,
        still: bool = False,
        turning: Sequence[str] = (),
        positions: Mapping[str, float] | None = None,
    ) -> None:
        """positions: where coordinates are held, m or rad; loops are closed with these held."""
        alone = "analyse the mechanism without them; inputs may name the coordinates that they drive"
        refuse_controllers(system, "linearise", alone)
        values = checked_values(system.parameters, parameters)
        plain = resolved(system, values) if values else system
        self.formulas: dict[str, list[Scalar]] = {}  # values of the user's formulas, by owner
        super().__init__(_with_own_signals(plain, still), "articulated", t_start=t, parameters=values)
        self.positions = dict(positions or {})
        self.system.held = tuple(dict.fromkeys([*self.system.held, *self.positions]))
        for name, position in self.positions.items():
            self.start_q[self.tree.positions.index(name)] = position
        self.values, self.original = values, system
        n_q, n_v = len(self.tree.positions), len(self.tree.rates)
        self._motions = super()._moved()
        self.motions_column = self.tracer.column([*self._motions, *(self.known[c.v] for c in self.prescribed)])
        self.moved_v = [c.v for c in self.prescribed]
        driven = {*self.moved_v, *(self.tree.rates.index(name) for name in turning)}
        self.q_column, q = self.tracer.symbols("q", n_q)
        self.v_column, v = self.tracer.symbols("v", n_v)
        self.motion_column = ca.vertcat(self.q_column, self.v_column)
        self.a_column, a = self.tracer.symbols("a", n_v)
        self.share_column, (share,) = self.tracer.symbols("share", 1)
        self.q = list(q)
        self.v = [x if k in driven or not still else 0.0 for k, x in enumerate(v)]
        self.a: list[Scalar] = [x if k in self.moved_v or not still else 0.0 for k, x in enumerate(a)]
        self.share: Scalar = share
        self.tree = replace(self.tree, gravity=tuple(share * g for g in self.tree.gravity))
        signals = _signals_of(self.system)
        self.signal_names = (*signals, *self.tree.rates)
        self.signal_column, self._added = self.tracer.symbols("input", len(self.signal_names))
        self._numbers = {id(signal): number for number, signal in enumerate(signals.values())}
        self.input_values: list[Scalar] = list(self._added)  # signals are more than what is added to them
        self._trace_balance()

    def _moved(self) -> list[Scalar]:
        """As functions of time, also after q and v have become variables: assembly evaluates them."""
        return self._motions

    @classmethod
    def of(
        cls,
        system: System,
        t: float,
        parameters: Mapping[str, float] | None,
        *,
        still: bool = False,
        turning: Sequence[str] = (),
        positions: Mapping[str, float] | None = None,
    ) -> ImplicitEquations:
        """Those of the last calls if they are the same: of an equilibrium, its linearisation, the next speed."""
        values = checked_values(system.parameters, parameters)
        parts = ((name, tuple(x.items()) if isinstance(x, dict) else x) for name, x in vars(system).items())
        key = value_key((*parts, t, tuple(values.items()), still, tuple(turning), tuple((positions or {}).items())))
        here = (threading.get_ident(), key)
        known = [] if key is None else KEPT.get(here)
        if known:
            return known[0]
        made = cls(system.snapshot(), t, values, still, turning, positions)
        if key is not None:
            KEPT.put(here, made, size=1)
        return made

    def read(self, signal: Signal) -> Scalar:
        """The current value of a signal: the fraction of it that acts, plus the input."""
        number = self._numbers[id(signal)]
        self.input_values[number] = value = self.share * super().read(signal) + self._added[number]
        return value

    def _formula(self, function: Any, t: Scalar) -> Scalar:
        value = super()._formula(function, t)
        self.formulas.setdefault(self._part(function), []).append(value)
        return value

    def _trace_balance(self) -> None:
        refuse_impulsive(self.system, "an equilibrium or a linearisation, because its force is not known from the depth")
        self.bodies, self.moving = poses(self.tree, self.q), twists(self.tree, self.q, self.v)
        self.applied: AppliedForces = self.acting()
        bristles, self.contacts = self._contact_forces(self.applied)
        joint_bristles, self.rubbing = self._rub(self.applied)
        self.bristle_column = ca.vertcat(bristles, joint_bristles, self.own_column)
        self.closures: Closures = self.close(self.applied)
        asked = inverse_dynamics(self.tree, self.q, self.v, self.a, self.applied.loads)
        along = self.input_values[len(self.signal_names) - len(asked) :]
        self.multipliers = self.tracer.scalars(self.closures.column) if self.closures.column.numel() else []
        self.accelerated = True
        self.friction = self._joint_friction()
        residual = [f - tau - effort for f, tau, effort in zip(asked, self.applied.tau, along, strict=True)]
        self.residual = self._with_friction(residual)

    def _joint_friction(self) -> Settled:
        """Friction inside joints, from the reactions at these accelerations; joints that stick are left without."""
        if not self.rubbing:
            return NO_FRICTION
        rubbers = self._rubbers(self.rubbing, _Motion(self.a), self.applied.outer, self.closures)  # type: ignore[arg-type]
        held = self.held_column.numel()  # the forces of sticking contacts stay unknown
        rubbers = [replace(rubber, unknowns=[k - held for k in rubber.unknowns]) for rubber in rubbers]
        return settle(self.tracer, self.unknown_column[held:], [], rubbers, self.t_column, [])

    def _with_friction(self, scalars: Sequence[Scalar]) -> list[Scalar]:
        """The scalars with the friction of joints in place of its symbols."""
        if not self.rubbing:
            return list(scalars)
        rubbed = self.unknown_column[self.held_column.numel() :]
        return self.tracer.substitute(scalars, rubbed, self.tracer.column(self.friction.forces))

    # ---- columns, for CasADi

    @cached_property
    def inputs(self) -> list[ca.SX]:
        """Symbols in the order of `EvaluationPoint.arguments`."""
        return [self.t_column, self.q_column, self.v_column, self.a_column, self.closures.column, self.held_column,
                self.bristle_column, self.signal_column, self.p_column, self.share_column]  # fmt: skip

    def function(self, name: str, outputs: Sequence[ca.SX]) -> ca.Function:
        return ca.Function(name, self.inputs, list(outputs))

    @cached_property
    def residual_column(self) -> ca.SX:
        return self.tracer.column(self.residual)

    @property
    def of_speeds(self) -> list[int]:
        """Rows of non-holonomic constraints among those held by multipliers."""
        owners = [self.closures.exact[k] for k in self.closures.hard.owners]
        return [k for k, owner in enumerate(owners) if isinstance(owner, FormulaClosure) and owner.nonholonomic]

    @cached_property
    def constraint_rates(self) -> list[Scalar]:
        """c' of the closures held by multipliers, then the slip velocities of contacts whose friction can stick."""
        slips = [s for contact in self.gripping for s in contact.kinematics.slip]
        return [*self.closures.hard.rate, *slips]

    @cached_property
    def constraint_seconds(self) -> list[Scalar]:
        """c'' and the slip accelerations; both are linear in the accelerations."""
        hard = self.closures.hard
        seconds = [gamma + total(a * self.a[k] for k, a in row.items())
                   for gamma, row in zip(hard.gamma, hard.jacobian, strict=True)]  # fmt: skip
        slips = [s for contact in self.gripping for s in contact.kinematics.slip]
        if not slips:
            return seconds
        along = ca.vertcat(self.t_column, self.q_column, self.v_column)
        rates = self.tracer.column([1.0, *self.position_rates, *self.a])
        return [*seconds, *self.tracer.directional(slips, along, rates)]

    @property
    def bristle_rates(self) -> list[Scalar]:
        """Rates of the friction bristles, then of the user-defined states."""
        of_contacts = [rate for contact in self.contacts for rate in contact.bristle_rates]
        return [*of_contacts, *(rate for own in self.rubbing for rate in own.bristle_rates), *self.own_rates]

    @property
    def gripping(self) -> list[ContactForce]:
        """Contacts whose friction law has a sticking state."""
        return [contact for contact in self.contacts if holds(contact.kinematics)]

    @property
    def position_rates(self) -> list[Scalar]:
        """q' of all coordinates, quaternions included."""
        free, self.free_q = self.free_q, list(range(len(self.q)))
        try:
            return self._coordinate_rates()
        finally:
            self.free_q = free

    @cached_property
    def motion_rates(self) -> list[Scalar]:
        return [*self.position_rates, *self.a]

    @cached_property
    def inboard(self) -> list[Wrench]:
        return reactions(self.tree, self.q, self.v, self.a, self.bodies, self.applied.outer, self.closing)

    @cached_property
    def closure_matrix(self) -> ca.SX:
        """The Jacobian A of the closures held by multipliers, over all rates."""
        count = len(self.tree.rates)
        matrix = ca.SX.zeros(len(self.closures.hard.residual), count)
        for i, row in enumerate(self.closures.hard.jacobian):
            for k, entry in row.items():
                matrix[i, k] = self.tracer.sx(entry)
        return matrix

    @cached_property
    def gaps(self) -> ca.SX:
        return self.tracer.column([contact.kinematics.gap for contact in self.contacts])

    @cached_property
    def observed(self) -> dict[str, list[Scalar]]:
        """Every quantity of a result, in the order of its labels; `drives` holds the names of the efforts."""
        told = {k: self.residual[k] for k in self.moved_v}
        forward = _Efforts(told)
        self.drives, efforts = self._efforts(forward, self.closures)  # type: ignore[arg-type]
        power = dict(self.applied.power)
        power |= {f"{self.tree.rates[k]} motion": effort * self.v[k] for k, effort in told.items()}
        state = TracedState(self.system, self.tree, self.q, self.v, self.bodies, self.moving, self.cut_joint_states,
                            self.applied.struts, self.motors)  # fmt: skip
        rubbed = observed_friction(self.rubbing, self.friction)
        readings = [self.reading(channel, f"sensor {channel!r}") for channel in self.system.channels]
        quantities = observe(state, self.a, power, efforts, self.contacts, self.multipliers, self.closures, rubbed, self.inboard,
                             readings)  # fmt: skip
        self.power_names = tuple(power)
        known = {name: self._with_friction(quantities[name]) for name in OBSERVED}
        return {"q": list(self.q), "v": list(self.v), "states": list(self.own), **known}

    @cached_property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """Names along every dimension of a result."""
        _ = self.observed
        return {
            "coordinate": self.tree.positions,
            "rate": self.tree.rates,
            "body": tuple(node.name for node in self.tree.nodes),
            "axis": AXES,
            "quaternion": QUATERNION,
            "source": self.power_names,
            "drive": self.drives,
            "pair": tuple(pair.name for pair in self.pairs),
            "row": self.closures.names,
            "state": tuple(self.system.states),
            "friction_joint": tuple(own.joint.label for own in self.rubbing),
            "friction_rate": tuple(rate for own in self.rubbing for rate in own.joint.rates),
            "joint_coordinate": (),
            "joint_rate": (),
            "strut": tuple(self.system.struts),
            "motor": tuple(self.system.motors),
            "channel": tuple(self.system.channels),
        }

    # ---- numbers

    def motions_at(self, t: float) -> tuple[Floats, Floats, Floats]:
        """Positions, rates and accelerations of prescribed coordinates."""
        if not self.prescribed:
            return np.zeros(0), np.zeros(0), np.zeros(0)
        values = ca.Function("motions", [self.t_column, self.p_column], [self.motions_column])(t, self.parameters(t))
        x, v, a = np.array(values).ravel().reshape(3, -1)
        return x, v, a

    def point(
        self,
        t: float,
        q: Floats,
        v: Floats,
        contacts: Mapping[str, tuple[float, float]] | None = None,
        inputs: Mapping[str, float] | None = None,
    ) -> EvaluationPoint:
        """The point at the given coordinates and rates; prescribed motions replace theirs; no accelerations or held forces.

        contacts: for each closed contact, its entry speed, m/s, and its friction state. inputs: see `signal_names`.
        """
        q, v, a = q.copy(), v.copy(), np.zeros(len(self.tree.rates))
        x, rates, seconds = self.motions_at(t)
        q[[c.q for c in self.prescribed]] = x
        v[self.moved_v], a[self.moved_v] = rates, seconds
        p = self.parameters(t)
        places = p[self.places[CONTACTS]].reshape(-1, PARAMETERS)
        for k, pair in enumerate(self.pairs):
            if contacts is not None and pair.name in contacts:
                entry, doing = contacts[pair.name]
                places[k, :3] = 1.0, entry, doing
        p[self.places[CONTACTS]] = places.ravel()
        p[self.places[JOINT_GRIPS]] = self._grips(t, q, v, p)
        none = np.zeros
        held, bristles = none(self.held_column.numel()), none(self.bristle_column.numel())
        bristles[bristles.size - len(self.own) :] = starts_of_states(self.system, self.tree, v)
        added = np.array([(inputs or {}).get(name, 0.0) for name in self.signal_names])
        return EvaluationPoint(t, q, v, a, none(self.closures.column.numel()), held, bristles, added, p)

    def _grips(self, t: float, q: Floats, v: Floats, p: Floats) -> list[float]:
        """What joints whose friction can stick do at these rates: stick, or slide one way."""
        holding = [own for own in self.rubbing if own.grip is not None]
        if not holding:
            return []
        slips = self.tracer.column([s for own in holding for s in own.joint.slip])
        slip = ca.Function("slips", [self.t_column, self.q_column, self.v_column, self.p_column], [slips])
        values = iter(np.array(slip(t, q, v, p)).ravel().tolist())
        grips: list[float] = []
        for own in holding:
            moving = [next(values) for _ in own.joint.slip]
            slides = float(np.linalg.norm(moving)) > own.law.band  # type: ignore[union-attr]
            grips += [SLIDES if slides else STICKS, -float(np.sign(moving[0])), 0.0, 0.0]
        return grips

    def check_struts(self, point: EvaluationPoint) -> None:
        """Raise an error if a strut has zero length at the point, so that its force has no direction."""
        if not self.system.struts:
            return
        lengths = self.function("lengths", [self.tracer.column([strut.state.length for strut in self.applied.struts])])
        for strut, length in zip(self.system.struts.values(), np.array(lengths.call(point.arguments)[0]).ravel(), strict=True):
            if is_short(strut, float(length)):
                raise SolveError(no_direction(strut, float(length), "at the point of linearisation"))

    def tangent(self, q: Floats) -> Floats:
        """dq/dxi: change of the coordinates along the rates; for a ball joint q (0, xi/2)."""
        matrix = np.zeros((len(self.tree.positions), len(self.tree.rates)))
        for node in self.tree.nodes:
            for slot in node.slots:
                if slot.is_ball:
                    w, x, y, z = q[slot.q : slot.q + 4]
                    block = [[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]]
                    matrix[slot.q : slot.q + 4, slot.v : slot.v + 3] = 0.5 * np.array(block)
                else:
                    matrix[slot.q, slot.v] = 1.0
            for i, k in zip(node.own_q, node.own_v, strict=True):
                matrix[i, k] = 1.0
        return matrix

    def moved(self, q: Floats, xi: Floats) -> Floats:
        """q (+) xi, with quaternions normalised."""
        result = q + self.tangent(q) @ xi
        for slot in self.tree.slots:
            if slot.is_ball:
                result[slot.q : slot.q + 4] = _turned(q[slot.q : slot.q + 4], xi[slot.v : slot.v + 3])
        return result

    def closed(self, t: float, q: Floats) -> Floats:
        """The coordinates with exact loops closed again by the smallest change; prescribed coordinates stay as they are."""
        residual = self.tracer.column(self.closures.hard.residual)
        if not residual.numel():
            return q
        function, none = self.function("closing", [residual, self.closure_matrix]), np.zeros(len(self.tree.rates))
        for _ in range(CLOSING_STEPS):
            missing, matrix = (np.array(x) for x in function.call(self.point(t, q, none).arguments))
            change = none.copy()
            change[self.free_v] = -np.linalg.lstsq(matrix[:, self.free_v], missing.ravel(), rcond=None)[0]
            q = self.moved(q, change)
        return q

    def drift(self, v: Floats) -> Floats:
        """S in xi' = dv + S xi: zero except for turning ball joints, where it is -omega x."""
        matrix = np.zeros((v.size, v.size))
        for slot in self.tree.slots:
            if slot.is_ball:
                x, y, z = v[slot.v : slot.v + 3]
                block = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
                matrix[slot.v : slot.v + 3, slot.v : slot.v + 3] = -np.array(block)
        return matrix


@dataclass(frozen=True)
class _Motion:
    """The part of a Forward that `Trace._rubbers` reads."""

    accelerations: Sequence[Scalar]


@dataclass(frozen=True)
class _Efforts:
    """The part of a Forward that `Trace._efforts` reads: efforts of coordinates whose motion is prescribed."""

    efforts: Mapping[int, Scalar]


def _turned(quaternion: Floats, turn: Floats) -> Floats:
    """q times exp(turn/2), normalised."""
    angle = float(np.linalg.norm(turn))
    half = 0.5 * np.sinc(angle / (2.0 * np.pi)) * turn
    w, vector = quaternion[0], quaternion[1:]
    real = np.cos(0.5 * angle)
    product = np.array([w * real - vector @ half, *(w * half + real * vector + np.cross(vector, half))])
    return np.asarray(product / np.linalg.norm(product))


def _with_own_signals(system: System, settled: bool) -> System:
    """A copy in which every drive and every load component has its own signal object, so that inputs can be distinguished.

    settled: motors have no lag, and gears are rigid.
    """
    own = system.snapshot()
    for name, drive in own.drives.items():
        own.drives[name] = replace(drive, effort=copy.copy(drive.effort))
    for name, load in own.loads.items():
        own.loads[name] = replace(load, vector=tuple(copy.copy(signal) for signal in load.vector))  # type: ignore[arg-type]
    for name, strut in own.struts.items():
        own.struts[name] = replace(strut, force=copy.copy(strut.force))
    for name, drive_of_motor in own.motors.items():
        motor = replace(drive_of_motor.motor, **SETTLED) if settled else drive_of_motor.motor
        own.motors[name] = replace(drive_of_motor, command=copy.copy(drive_of_motor.command), motor=motor)
        for state in drive_of_motor.states if settled else ():
            del own.states[state]
    return own


def _signals_of(system: System) -> dict[str, Signal]:
    """Signals by the name of the input: drives, load components such as "push x", strut actuators, motor commands."""
    signals = {drive.name: drive.effort for drive in system.drives.values()}
    for load in system.loads.values():
        signals |= {f"{load.name} {axis}": signal for axis, signal in zip(AXES, load.vector, strict=True)}
    signals |= {strut.name: strut.force for strut in system.struts.values() if strut.force is not None}
    return signals | {drive.name: drive.command for drive in system.motors.values() if drive.command is not None}


def contact_state(sticks: bool, entry: float) -> tuple[float, float]:
    """The state of a closed contact, as `ImplicitEquations.point` takes it."""
    return entry, STICKS if sticks else SLIDES
