"""The equations of motion in implicit, fully symbolic form, of all Systems that differ only in numbers.

R(q, v, a, ...) = M a + h - tau - A^T lam = 0 by recursive inverse dynamics, and c(q, t) = 0 with its first and second time
derivatives. Coordinates whose motion is prescribed are symbols like the others. What is computed from the numbers of a model alone
is a constant that functions read, as in a run.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import casadi as ca
import numpy as np

from pliant.arrays import Floats
from pliant.codegen.graph import Graph
from pliant.codegen.numbers import Numbers
from pliant.codegen.tracer import Scalar
from pliant.dynamics.algebra import total
from pliant.dynamics.contact import ContactForce, holds
from pliant.dynamics.gibbs_appell import Wrench, inverse_dynamics
from pliant.dynamics.kinematics import TreeState
from pliant.dynamics.loads import AppliedForces
from pliant.dynamics.reactions import reactions
from pliant.host.cache_folder import user_cache
from pliant.model.closure import FormulaClosure
from pliant.model.refused import refuse_impulsive
from pliant.model.signal import Signal
from pliant.model.system import System
from pliant.results.table import AXES, OBSERVED, QUATERNION
from pliant.trace.closures import Closures
from pliant.trace.holding import FrictionSolution, solve_friction
from pliant.trace.joint_friction import NO_FRICTION, observed_friction
from pliant.trace.lowered_system import LoweredSystem
from pliant.trace.lowering import numbered
from pliant.trace.observe import TracedState, observe
from pliant.trace.preparation import Preparation
from pliant.trace.tracing import Trace, nothing_collected


class SymbolicEquations(Trace):
    """The traced equations of all Systems of one structure; their numbers are symbols.

    still: if True, all rates are zero except those of prescribed and `turning` coordinates, and all accelerations are zero except
    those of prescribed coordinates. The terms that vanish are left out of the graph, and motors give their settled torque.
    """

    def __init__(self, lowered: LoweredSystem, still: bool, turning: Sequence[str]) -> None:
        self.numbers = Numbers(Graph())
        leaves = {name: self.numbers.leaf(value) for name, value in lowered.parameters.items()}
        system, tree, _, _, _, scale, _, blend = numbered(lowered.root, self.numbers.leaf)
        self.formulas: dict[str, list[Scalar]] = {}  # values of the user's formulas, by owner
        super().__init__(system, "articulated", t_start=lowered.t_start, tree=tree, parameters=leaves)
        self.known_start = replace(lowered.start, scale=scale, blend=blend)
        self.plain_system, self.plain_values = lowered.system, dict(lowered.parameters)
        self.numbers.lift = self.lifted_number
        self._own_numbers = lowered.numbers
        self._functions: dict[Hashable, tuple[ca.Function, int]] = {}
        self._preparation: tuple[tuple[int, int], Preparation] | None = None
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
        signals = signals_by_input(self.system)
        self.signal_names = (*signals, *self.tree.rates)
        self.signal_column, self._added = self.tracer.symbols("input", len(self.signal_names))
        self._numbers = {id(signal): number for number, signal in enumerate(signals.values())}
        self.input_values: list[Scalar] = list(self._added)  # signals are more than what is added to them
        with nothing_collected():
            self._trace_balance()

    def _moved(self) -> list[Scalar]:
        """As functions of time, also after q and v have become variables."""
        return self._motions

    # ---- functions of (an evaluation point, constants)

    def function(self, key: Hashable, outputs: Callable[[Self], Sequence[ca.SX]]) -> tuple[ca.Function, int]:
        """The function of a key, made once, and how many constants it reads, which come after the arguments of a point."""
        known = self._functions.get(key)
        if known is None:
            with nothing_collected():
                columns = list(outputs(self))
                constants = self.constants_column
                name = key if isinstance(key, str) else "of_point"
                known = ca.Function(name, [*self.inputs, constants], columns), constants.numel()
            self._functions[key] = known
        return known

    @property
    def constants_column(self) -> ca.SX:
        """The symbols of all values that were computed from numbers alone until now; more may follow them."""
        return ca.vertcat(ca.SX.zeros(0, 1), *(self.tracer.sx_of(node) for node in self.tracer.numbers))

    @property
    def extent(self) -> tuple[int, int]:
        """What the constants depend on besides numbers: it grows when functions are made."""
        return len(self.tracer.numbers), len(self.numbers.guards)

    def constants_for(self, numbers: Floats) -> Floats | None:
        """The constants for the numbers of a System of this structure; None if the trace is not valid for them."""
        if np.array_equal(numbers, self._own_numbers, equal_nan=True):
            return np.array([self.tracer.values[node].value for node in self.tracer.numbers])  # type: ignore[union-attr]
        if self._preparation is None or self._preparation[0] != self.extent:
            self._preparation = self.extent, Preparation.of(self.numbers, self.tracer, user_cache("machine-code"))
        found = self._preparation[1].constants(numbers)
        return found if found is not None and np.all(np.isfinite(found)) else None

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
        self.here = TreeState.of(self.tree, self.q, self.v)
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

    def _joint_friction(self) -> FrictionSolution:
        """Friction inside joints, from the reactions at these accelerations; joints that stick are left without."""
        if not self.rubbing:
            return NO_FRICTION
        frictional = self._friction_joints(self.rubbing, _Motion(self.a), self.applied.outer, self.closures)  # type: ignore[arg-type]
        held = self.held_column.numel()  # the forces of sticking contacts stay unknown
        frictional = [replace(joint, unknowns=[k - held for k in joint.unknowns]) for joint in frictional]
        return solve_friction(self.tracer, self.unknown_column[held:], [], frictional, self.t_column, [])

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

    @cached_property
    def residual_column(self) -> ca.SX:
        return self.tracer.column(self.residual)

    @cached_property
    def force_column(self) -> ca.SX:
        """Multipliers, then the forces of sticking contacts."""
        return ca.vertcat(self.closures.column, self.held_column)

    @cached_property
    def closing_column(self) -> ca.SX:
        """c of the closures held by multipliers."""
        return self.tracer.column(self.closures.hard.residual)

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
        return reactions(self.here, self.a, self.applied.outer, self.closing)

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
        state = TracedState(self.system, self.here, self.cut_joint_states, self.applied.struts, self.motors)
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


@dataclass(frozen=True)
class _Motion:
    """The part of a Forward that `Trace._friction_joints` reads."""

    accelerations: Sequence[Scalar]


@dataclass(frozen=True)
class _Efforts:
    """The part of a Forward that `Trace._efforts` reads: efforts of coordinates whose motion is prescribed."""

    efforts: Mapping[int, Scalar]


def signals_by_input(system: System) -> dict[str, Signal]:
    """Signals by the name of the input: drives, load components such as "push x", strut actuators, motor commands."""
    signals = {drive.name: drive.effort for drive in system.drives.values()}
    for load in system.loads.values():
        signals |= {f"{load.name} {axis}": signal for axis, signal in zip(AXES, load.vector, strict=True)}
    signals |= {strut.name: strut.force for strut in system.struts.values() if strut.force is not None}
    return signals | {drive.name: drive.command for drive in system.motors.values() if drive.command is not None}
