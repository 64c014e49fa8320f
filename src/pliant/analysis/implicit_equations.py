"""The implicit equations of one System at its numbers, from which equilibria and linearisations are computed.

The equations themselves are traced once for all Systems of the same structure (`symbolic_equations`); this adds what belongs to one
System: its numbers, its start with loops closed, its parts.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from pliant.analysis.symbolic_equations import SymbolicEquations
from pliant.arrays import Floats
from pliant.dynamics.motors import starts_of_states
from pliant.dynamics.tree import build_tree
from pliant.errors import SolveError
from pliant.integrate.loop.grip_states import SLIDES, STICKS
from pliant.model.coordinate_pair import all_pairs
from pliant.model.refused import refuse_controllers
from pliant.model.resolve import checked_values, resolved
from pliant.model.system import System
from pliant.model.value_keys import value_key
from pliant.run.recent import HashedOnce, Recent
from pliant.run.starts import is_short, no_direction
from pliant.trace.contacts import PARAMETERS
from pliant.trace.joint_friction import JOINT_GRIPS
from pliant.trace.layout import CONTACTS, FOREVER, WINDOW
from pliant.trace.looking import frames_read
from pliant.trace.lowered_system import LoweredSystem
from pliant.trace.signals import changing
from pliant.trace.tracing import start_of

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


Outputs = Callable[[SymbolicEquations], Sequence[ca.SX]]

# Both by thread: CasADi's graphs must not be used by several.
KEPT: Recent[ImplicitEquations] = Recent(4)  # equations of the last calls
MOST_NODES = 500_000  # of the graphs of all structures kept
STRUCTURES: Recent[SymbolicEquations] = Recent(MOST_NODES)


class ImplicitEquations:
    """The equations of one System.

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
        checked: bool = False,
    ) -> None:
        """positions: where coordinates are held, m or rad; loops are closed with these held. checked: parameters are complete."""
        alone = "analyse the mechanism without them; inputs may name the coordinates that they drive"
        refuse_controllers(system, "linearise", alone)
        self.values = dict(parameters or {}) if checked else checked_values(system.parameters, parameters)
        self.original, self.t, self.positions = system, t, dict(positions or {})
        self._content: Hashable = None  # everything that these equations follow from, if it can be told
        plain = resolved(system, self.values) if self.values else system
        self.system = _with_own_signals(plain, still)
        self.system.held = tuple(dict.fromkeys([*self.system.held, *self.positions]))
        self.tree = build_tree(self.system, frames=frames_read(self.system, self.values))
        start, self.warnings = start_of(self.system, self.tree, "articulated", t, self.values, (), self.positions)
        self.start_q, self.start_v = start.q, start.v
        self.pairs, self.prescribed = all_pairs(self.system), self.tree.prescribed
        self.moved_v = [c.v for c in self.prescribed]
        self.free_q, self.free_v = (
            [k for k in range(len(names)) if k not in {getattr(c, kind) for c in self.prescribed}]
            for kind, names in (("q", self.tree.positions), ("v", self.tree.rates))
        )
        self._lowered = LoweredSystem(system, self.system, self.tree, "articulated", "articulated", None, t, self.values, start, ())
        self._still, self._turning = still, tuple(turning)
        self.symbols = self._shared()
        self._known: tuple[tuple[int, int], Floats] | None = None  # the constants, and for which extent of the graph
        self._owners = changing(self.system, self.tree)

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
        content = value_key((*parts, t, tuple(values.items()), tuple((positions or {}).items())))
        return cls._kept(
            content, still, turning, lambda: cls(system.snapshot(), t, values, still, turning, positions, checked=True)
        )

    @classmethod
    def _kept(
        cls, content: Hashable, still: bool, turning: Sequence[str], make: Callable[[], ImplicitEquations]
    ) -> ImplicitEquations:
        here = (threading.get_ident(), content, still, tuple(turning))
        known = [] if content is None else KEPT.get(here)
        if known:
            return known[0]
        made = make()
        made._content = content
        if content is not None:
            KEPT.put(here, made, size=1)
        return made

    def moving(self) -> ImplicitEquations:
        """The full equations of the same System, including rates and accelerations."""

        def made() -> ImplicitEquations:
            if self.system.motors:  # they settle where all is still
                return ImplicitEquations(self.original, self.t, self.values, positions=self.positions, checked=True)
            other = copy.copy(self)
            other._still, other._turning, other._known = False, (), None
            other.symbols = other._shared()
            return other

        return self._kept(self._content, False, (), made)

    # ---- functions of a point

    def evaluate(self, key: Hashable, outputs: Outputs, point: EvaluationPoint) -> list[Floats]:
        """The values of columns at a point; their function is made once for all Systems of this structure, and known by its key."""
        function, count = self.symbols.function(key, outputs)
        if not self._is_valid():
            self.symbols, self._known = self._shared(anew=True), None
            return self.evaluate(key, outputs, point)
        return [np.array(x) for x in function.call([*point.arguments, self.constants[:count]])]

    @property
    def constants(self) -> Floats:
        """What the equations compute from the System's numbers alone."""
        assert self._is_valid() and self._known is not None
        return self._known[1]

    def _is_valid(self) -> bool:
        """Whether the equations hold for these numbers: not if comparisons of numbers come out otherwise than in the trace."""
        if self._known is None or self._known[0] != self.symbols.extent:
            found = self.symbols.constants_for(self._lowered.numbers)
            self._known = None if found is None else (self.symbols.extent, found)
        return self._known is not None

    def _shared(self, anew: bool = False) -> SymbolicEquations:
        """The equations of this structure that are valid for these numbers."""
        lowered = self._lowered.lowered
        key = (threading.get_ident(), HashedOnce((lowered.structure, self._still, self._turning)))
        for known in STRUCTURES.get(key) if lowered.shareable and not anew else ():
            if known.constants_for(self._lowered.numbers) is not None:
                return known
        made = SymbolicEquations(self._lowered, self._still, self._turning)
        if lowered.shareable:
            STRUCTURES.put(key, made, size=len(made.tracer.kind))
        return made

    def motions_at(self, t: float) -> tuple[Floats, Floats, Floats]:
        """Positions, rates and accelerations of prescribed coordinates."""
        if not self.prescribed:
            return np.zeros(0), np.zeros(0), np.zeros(0)
        (values,) = self.evaluate("motions", lambda e: [e.motions_column], self._blank(t))
        x, v, a = values.ravel().reshape(3, -1)
        return x, v, a

    def parameters(self, t: float) -> Floats:
        """p at t with contacts open; tables with a breakpoint at t use the later piece, and formulas may see all times."""
        p = np.concatenate([owner.at(t, t) for owner in self._owners])
        p[self.symbols.places[WINDOW]] = -FOREVER, FOREVER
        return p

    def _blank(self, t: float) -> EvaluationPoint:
        """A point with zeros for what only the caller knows."""
        e, none = self.symbols, np.zeros
        n_q, n_v = len(self.tree.positions), len(self.tree.rates)
        return EvaluationPoint(t, none(n_q), none(n_v), none(n_v), none(e.closures.column.numel()), none(e.held_column.numel()),
                               none(e.bristle_column.numel()), none(len(e.signal_names)), self.parameters(t))  # fmt: skip

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
        slots = self.symbols.places
        places = p[slots[CONTACTS]].reshape(-1, PARAMETERS)
        for k, pair in enumerate(self.pairs):
            if contacts is not None and pair.name in contacts:
                entry, doing = contacts[pair.name]
                places[k, :3] = 1.0, entry, doing
        p[slots[CONTACTS]] = places.ravel()
        p[slots[JOINT_GRIPS]] = self._grips(t, q, v, p)
        blank = self._blank(t)
        bristles = blank.bristles
        bristles[bristles.size - len(self.system.states) :] = starts_of_states(self.system, self.tree, v)
        added = np.array([(inputs or {}).get(name, 0.0) for name in self.symbols.signal_names])
        return replace(blank, q=q, v=v, a=a, inputs=added, p=p)

    def _grips(self, t: float, q: Floats, v: Floats, p: Floats) -> list[float]:
        """What joints whose friction can stick do at these rates: stick, or slide one way."""
        holding = [own for own in self.symbols.rubbing if own.grip is not None]
        if not holding:
            return []

        def slips(e: SymbolicEquations) -> list[ca.SX]:
            own = [one for one in e.rubbing if one.grip is not None]
            return [e.tracer.column([s for one in own for s in one.joint.slip]),
                    e.tracer.column([one.law.band for one in own])]  # type: ignore[union-attr]  # fmt: skip

        slip, bands = (x.ravel().tolist() for x in self.evaluate("slips", slips, replace(self._blank(t), q=q, v=v, p=p)))
        values = iter(slip)
        grips: list[float] = []
        for own, band in zip(holding, bands, strict=True):
            moving = [next(values) for _ in own.joint.slip]
            slides = float(np.linalg.norm(moving)) > band
            grips += [SLIDES if slides else STICKS, -float(np.sign(moving[0])), 0.0, 0.0]
        return grips

    def check_struts(self, point: EvaluationPoint) -> None:
        """Raise an error if a strut has zero length at the point, so that its force has no direction."""
        if not self.system.struts:
            return

        def outputs(e: SymbolicEquations) -> list[ca.SX]:
            return [e.tracer.column([strut.state.length for strut in e.applied.struts])]

        (lengths,) = self.evaluate("lengths", outputs, point)
        for strut, length in zip(self.system.struts.values(), lengths.ravel(), strict=True):
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
        if not self.symbols.closures.hard.residual:
            return q
        none = np.zeros(len(self.tree.rates))
        for _ in range(CLOSING_STEPS):
            missing, matrix = self.evaluate("closing", lambda e: [e.closing_column, e.closure_matrix], self.point(t, q, none))
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


def contact_state(sticks: bool, entry: float) -> tuple[float, float]:
    """The state of a closed contact, as `ImplicitEquations.point` takes it."""
    return entry, STICKS if sticks else SLIDES
