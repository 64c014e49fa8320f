"""A System traced into named functions of (t, y, p): right-hand side, observed quantities, event functions.

y = [free coordinates, free rates, bristles of friction, work of every source, impulse of every contact]. p holds what changes at
events of the run only: the window of time that formulas with breakpoints may see, the straight piece each table signal is on, and
for each contact whether it is closed and how fast it closed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from pliant.compile.closures import Assembly, Solved, assemble, chosen, push, springs
from pliant.compile.closures import solve as solve_loops
from pliant.compile.contacts import PARAMETERS, PairSlots, held_count, press_all, solve_held, switch_functions
from pliant.compile.formulas import NamedScalars, called
from pliant.compile.traced import Scalar, Tracer
from pliant.dynamics import articulated, gibbs, gibbs_appell, lagrange
from pliant.dynamics.algebra import ZERO, Vec, sub, total
from pliant.dynamics.articulated import Forward
from pliant.dynamics.body import combine
from pliant.dynamics.contact import Pressed, Touch, bristle_count, holds, longest_step, touches
from pliant.dynamics.energy import gravity_energy, kinetic_energy, momenta, spring_energy, strain_energy
from pliant.dynamics.kinematics import place_pose, place_twist, poses, twists
from pliant.dynamics.loads import Actions, actions
from pliant.dynamics.loops import Rows, rows
from pliant.dynamics.rotation import quaternion_rate
from pliant.dynamics.tree import Node, Place, Tree, build_tree
from pliant.errors import ModelError
from pliant.model import check
from pliant.model.force import DIRECTIONS
from pliant.model.loop import Closure
from pliant.model.signal import Constant, Formula, MotionTable, PiecewiseConstant, PiecewiseLinear, Prescribed, Signal
from pliant.model.system import System
from pliant.model.telescopic import TelescopicBeam
from pliant.results.table import AXES, OBSERVED
from pliant.scalar import maximum, minimum

FORMULATIONS = ("articulated", "gibbs_appell", "lagrange", "gibbs")
SHORTEST = 1e-3  # of a telescopic link's length: below it the free part is a stub that no mode describes
WINDOW = 2  # parameters that bound the time formulas see
GAP, PEAK, LET_GO, SWITCH, NEAR = "gap", "peak", "lets go", "friction switches", "near"


@dataclass(frozen=True)
class Event:
    """One event function: what to call it, which crossings count, whether it ends the run.

    Those of contacts belong to a pair, by number, and are watched only while it is open or closed.
    """

    name: str
    direction: int
    stop: bool = False
    pair: int | None = None


@dataclass(frozen=True)
class Traced:
    """All functions of one System, with the names that go with their rows."""

    system: System
    tree: Tree
    rhs: ca.Function
    observe: ca.Function
    event_functions: ca.Function
    flight_functions: ca.Function  # the same where no contact is closed: what only closed ones need is constant
    step_limit: ca.Function | None  # longest step in which no two balls pass through each other
    free_q: tuple[int, ...]
    free_v: tuple[int, ...]
    sources: tuple[str, ...]
    drives: tuple[str, ...]
    events: tuple[Event, ...]
    breakpoints: tuple[float, ...]
    y0: NDArray[np.float64]
    signals: tuple[PiecewiseConstant | PiecewiseLinear | MotionTable, ...]
    pairs: tuple[PairSlots, ...]
    n_bristles: int
    near: float | None  # m, distance whose crossing is an event of every pair
    project: ca.Function | None  # the state put back on closed loops, one Newton step
    rows: tuple[str, ...]  # names of the directions that closures hold
    redundant: tuple[str, ...]  # closures with directions that others imply

    @property
    def independent(self) -> int:
        """Degrees of freedom with all exact loops closed."""
        held = sum(1 for name in self.rows if self.system.closures[name.rsplit(" ", 1)[0]].by == "multipliers")
        return len(self.free_v) - held

    @property
    def n_controlled(self) -> int:
        """States that decide the step: all but works and impulses."""
        return len(self.free_q) + len(self.free_v) + self.n_bristles

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """Labels of every dimension of the result."""
        return {
            "coordinate": self.tree.positions,
            "rate": self.tree.rates,
            "body": tuple(node.name for node in self.tree.nodes),
            "axis": AXES,
            "source": self.sources,
            "drive": self.drives,
            "pair": tuple(slots.pair.name for slots in self.pairs),
            "row": self.rows,
        }

    def parameters(self, begin: float, end: float) -> NDArray[np.float64]:
        """p while begin <= t <= end and no breakpoint lies between; all contacts open."""
        pieces = [number for signal in self.signals for number in signal.piece(begin)]
        open_pairs = [0.0, 1.0] * len(self.pairs)
        return np.array([math.nextafter(begin, math.inf), math.nextafter(end, -math.inf), *pieces, *open_pairs])


def trace(
    system: System, formulation: str = "articulated", still: bool = False, near: float | None = None
) -> Traced:
    """All functions of a System; `still` allows one whose every coordinate is prescribed.

    near: a distance, m, whose crossing by the gap of any pair is an event too.
    """
    check.choice("simulate", "formulation", formulation, FORMULATIONS)
    if not system.links:
        raise ModelError.of(f"system {system.name!r}", "bodies", "must hold at least one body", 0)
    made = Trace(system, formulation, near)
    for node in made.tree.nodes:
        if node.place.first_order and formulation == "lagrange":
            rule = "must be a recursion (as published) or 'gibbs' (differentiated) where a tip turns to first order"
            raise ModelError.of(f"body {node.name!r}", "formulation", rule, formulation)
    if not made.free_v and not still:
        raise ModelError.of(f"system {system.name!r}", "degrees of freedom", "must be >= 1", 0)
    return made.finish()


@dataclass(frozen=True)
class Loops:
    """The closures of a System in one trace: rows held exactly, rows held by springs."""

    exact: Sequence[Closure]
    hard: Rows
    column: ca.SX  # symbols of the multipliers
    soft_closures: Sequence[Closure]
    soft: Rows
    stored: Scalar
    redundant: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        owners = [self.exact[k].name for k in self.hard.owners] + [self.soft_closures[k].name for k in self.soft.owners]
        return tuple(f"{name} {owners[:k].count(name)}" for k, name in enumerate(owners))

    @property
    def spring_forces(self) -> list[Scalar]:
        laws = [self.soft_closures[k] for k in self.soft.owners]
        return [-law.stiffness * c - law.damping * rate
                for law, c, rate in zip(laws, self.soft.residual, self.soft.rate, strict=True)]  # fmt: skip


class Trace:
    """One trace in the making."""

    def __init__(self, system: System, formulation: str, near: float | None = None) -> None:
        self.system, self.formulation, self.near = system, formulation, near
        self.tree = build_tree(system)
        self.tracer = Tracer()
        self.told = self.tree.told
        self.free_q = [k for k in range(len(self.tree.positions)) if k not in {told.q for told in self.told}]
        self.free_v = [k for k in range(len(self.tree.rates)) if k not in {told.v for told in self.told}]
        tables = [told.motion for told in self.told if isinstance(told.motion, MotionTable)]
        self.signals = [s for s in [*_signals(system), *tables] if not isinstance(s, (Constant, Formula))]
        self.t_column, (self.t,) = self.tracer.symbols("t", 1)
        self.pairs = list(system.contacts.values())
        widths = [len(signal.piece(0.0)) for signal in self.signals]
        self.first_of = [WINDOW + sum(widths[:k]) for k in range(len(widths) + 1)]  # where each signal stands in p
        self.first_pair = self.first_of[-1]
        self.p_column, self.p = self.tracer.symbols("p", self.first_pair + PARAMETERS * len(self.pairs))
        n_q, n_v = len(self.free_q), len(self.free_v)
        self.state_column, state = self.tracer.symbols("y", n_q + n_v)
        self.q: list[Scalar] = [0.0] * len(self.tree.positions)
        self.v: list[Scalar] = [0.0] * len(self.tree.rates)
        self.known: dict[int, Scalar] = {}
        self.held: list[Scalar] = []
        self.start_q, self.start_v = np.array(self.tree.start), np.array(self.tree.start_rates)
        for k, x in zip(self.free_q, state[:n_q], strict=True):
            self.q[k] = x
        for k, x in zip(self.free_v, state[n_q:], strict=True):
            self.v[k] = x
        for told in self.told:
            self.q[told.q], self.v[told.v], self.known[told.v] = self._prescribed(told.motion)

    def finish(self) -> Traced:
        self.bodies, self.moving = poses(self.tree, self.q), twists(self.tree, self.q, self.v)
        acting = actions(self.system, self.tree, self.q, self.v, self.read)
        bristle_column, pressed = self._press(acting)
        loops = self._close(acting)
        forward = self._forward(acting)
        forward, solved = self._solve_loops(loops, forward)
        power = dict(acting.power)
        for number, effort in forward.efforts.items():
            power[f"{self.tree.rates[number]} motion"] = effort * self.v[number]
        rates = self._coordinate_rates() + [forward.accelerations[k] for k in self.free_v]
        rates += [rate for one in pressed for rate in one.bristle_rates]
        self.state_column = ca.vertcat(self.state_column, bristle_column)
        margins = self._hold(pressed, rates)
        carried_column, _ = self.tracer.symbols("carried", len(power) + len(pressed))
        inputs = [self.t_column, ca.vertcat(self.state_column, carried_column), self.p_column]
        events = self._events() + self._contact_events(pressed, rates, margins)
        drives, efforts = self._efforts(forward)
        observed = self._observed(forward, power, efforts, pressed, loops)
        limit = self._step_limit([one.touch for one in pressed], rates)
        return Traced(
            system=self.system,
            tree=self.tree,
            rhs=self._function("rhs", inputs, [*rates, *power.values(), *(one.force for one in pressed)]),
            observe=self._function("observe", inputs, [x for name in OBSERVED for x in observed[name]] + self._moved()),
            event_functions=self._function("events", inputs, [g for _, g, _ in events]),
            flight_functions=self._function("flight", inputs, [1.0 if closed else g for _, g, closed in events]),
            step_limit=None if limit is None else self._function("limit", inputs, [limit]),
            free_q=tuple(self.free_q),
            free_v=tuple(self.free_v),
            sources=tuple(power),
            drives=drives,
            events=tuple(event for event, _, _ in events),
            breakpoints=_breakpoints(self.system),
            y0=self._start(bristle_column.numel() + len(power) + len(pressed)),
            signals=tuple(self.signals),
            pairs=tuple(self._slots(pressed, list(power), [event for event, _, _ in events])),
            n_bristles=bristle_column.numel(),
            near=self.near,
            project=self._projection(solved, inputs),
            rows=loops.names,
            redundant=loops.redundant,
        )

    def _close(self, acting: Actions) -> Loops:
        """Residuals of all closures; those by multipliers push with symbols to be solved for, springs push at once."""
        exact = [c for c in self.system.closures.values() if c.by == "multipliers"]
        sprung = [c for c in self.system.closures.values() if c.by == "springs"]
        soft = rows(self.tree, sprung, self.q, self.v, self.tracer)
        stored = springs(soft, sprung, acting)
        if not exact:
            column, _ = self.tracer.symbols("multiplier", 0)
            return Loops(exact, rows(self.tree, [], self.q, self.v, self.tracer), column, sprung, soft, stored, ())
        start = self._assemble(exact)
        hard = chosen(rows(self.tree, exact, self.q, self.v, self.tracer), start.independent)
        column, multipliers = self.tracer.symbols("multiplier", len(hard.residual))
        push(hard, multipliers, acting)
        return Loops(exact, hard, column, sprung, soft, stored, start.redundant)

    def _assemble(self, exact: Sequence[Closure]) -> Assembly:
        """A start that closes the loops; prescribed coordinates stand where they are told to at t = 0."""
        told = ca.Function("told", [self.t_column, self.p_column], [self.tracer.column(self._moved())])
        p0 = np.concatenate([[-math.inf, math.inf], *(s.piece(0.0) for s in self.signals), np.zeros(2 * len(self.pairs))])
        values = np.array(told(0.0, np.nan_to_num(p0))).ravel()
        q0, v0 = np.array(self.tree.start), np.array(self.tree.start_rates)
        for k, one in enumerate(self.told):
            q0[one.q], v0[one.v] = values[k], values[len(self.told) + k]
        found = assemble(self.tree, exact, self.tracer, q0, v0, self.free_v)
        self.start_q, self.start_v = found.q, found.v
        return found

    def _solve_loops(self, loops: Loops, forward: Forward) -> tuple[Forward, Solved | None]:
        if not loops.hard.residual:
            self.multipliers: list[Scalar] = []
            return forward, None
        done = solve_loops(self.tracer, self.tree, loops.hard, loops.column, forward.accelerations, self.q, self.v)
        self.multipliers = done.multipliers
        values = self.tracer.column(done.multipliers)
        names = list(forward.efforts)
        efforts = self.tracer.substitute([forward.efforts[k] for k in names], loops.column, values) if names else []
        return Forward(done.accelerations, dict(zip(names, efforts, strict=True))), done

    def _projection(self, solved: Solved | None, inputs: list[ca.SX]) -> ca.Function | None:
        if solved is None:
            return None
        kept = inputs[1][len(self.free_q) + len(self.free_v) :]
        rest = self.tracer.scalars(kept) if kept.numel() else []
        moved = [solved.q[k] for k in self.free_q] + [solved.v[k] for k in self.free_v]
        return self._function("project", inputs, [*moved, *rest])

    def _press(self, acting: Actions) -> tuple[ca.SX, list[Pressed]]:
        """The contacts' forces, put on the bodies, and the column of bristle states they brought along."""
        found = touches(self.tree, self.pairs, self.q, self.v, self.bodies, self.moving)
        column, bristles = self.tracer.symbols("bristle", sum(bristle_count(touch) for touch in found))
        self.held_column, held = self.tracer.symbols("held", sum(held_count(touch) for touch in found))
        p = self.p[self.first_pair :]
        return column, press_all(self.tree, found, self.q, self.v, self.bodies, p, bristles, held, acting)

    def _hold(self, pressed: Sequence[Pressed], rates: Sequence[Scalar]) -> list[Scalar]:
        """Solve for what holds, to be put in wherever it stands; returns the margins of strength, pair by pair."""
        if self.held_column.numel() == 0:
            return []
        # time is a state of rate one: what a told motion stands on accelerates too
        clocked = ca.vertcat(self.t_column, self.state_column)
        self.held, margins = solve_held(self.tracer, pressed, self.held_column, clocked, [1.0, *rates])
        return margins

    def _step_limit(self, touching: Sequence[Touch], rates: Sequence[Scalar]) -> Scalar | None:
        """The longest step in which nothing passes unseen."""
        moving = [x for touch in touching for x in touch.motion]
        clocked = ca.vertcat(self.t_column, self.state_column)
        return longest_step(touching, self.tracer.directional(moving, clocked, self.tracer.column([1.0, *rates])))

    def read(self, signal: Signal) -> Scalar:
        """The value of a signal now."""
        if isinstance(signal, Constant):
            return signal.value
        if isinstance(signal, Formula):
            return self._formula(signal.function, self._clock(signal.breakpoints))
        value, slope, origin = self._piece(signal)
        return value if isinstance(signal, PiecewiseConstant) else value + slope * (self.t - origin)

    def _piece(self, signal: object) -> list[Scalar]:
        """What p holds of a signal given by a table."""
        k = next(k for k, known in enumerate(self.signals) if known is signal)
        return self.p[self.first_of[k] : self.first_of[k + 1]]

    def _formula(self, function: Any, t: Scalar) -> Scalar:
        q = NamedScalars("q", self.tree.positions, self.q)
        v = NamedScalars("v", self.tree.rates, self.v)
        return called(function, t, q, v)

    def _clock(self, breakpoints: Sequence[float]) -> Scalar:
        """Time as a formula with breakpoints may see it: strictly inside the present piece."""
        return minimum(maximum(self.t, self.p[0]), self.p[1]) if breakpoints else self.t

    def _prescribed(self, motion: Prescribed | MotionTable) -> tuple[Scalar, Scalar, Scalar]:
        """Position, rate and acceleration of a prescribed coordinate."""
        if isinstance(motion, MotionTable):
            c0, c1, c2, c3, origin = self._piece(motion)
            s = self.t - origin
            return ((c3 * s + c2) * s + c1) * s + c0, (3.0 * c3 * s + 2.0 * c2) * s + c1, 6.0 * c3 * s + 2.0 * c2
        column, (time,) = self.tracer.symbols("time", 1)
        one = ca.SX(1.0)
        position = [called(motion.function, time)]
        rate = self.tracer.directional(position, column, one)
        acceleration = self.tracer.directional(rate, column, one)
        now = self.tracer.column([self._clock(motion.breakpoints)])
        x, v, a = self.tracer.substitute([*position, *rate, *acceleration], column, now)
        return x, v, a

    def _forward(self, acting: Actions) -> Forward:
        state = (self.tree, self.q, self.v, acting.tau, acting.loads, self.known)
        if self.formulation == "lagrange":
            return lagrange.forward_dynamics(*state, self.tracer)
        if self.formulation == "gibbs":
            return gibbs.forward_dynamics(*state, self.tracer)
        if self.formulation == "gibbs_appell":
            return gibbs_appell.forward_dynamics(*state)
        return articulated.forward_dynamics(*state)

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

    def _events(self) -> list[tuple[Event, Scalar, bool]]:
        """The user's conditions, and both ends of every joint with stops (their force has a corner there)."""
        found: list[tuple[Event, Scalar, bool]] = []
        for condition in self.system.conditions.values():
            g = self._formula(condition.function, self.t)
            found.append((Event(condition.name, DIRECTIONS[condition.direction], condition.stop), g, False))
        for node in self.tree.nodes:
            found += self._sleeve_events(node)
            for slot in node.slots:
                stop = node.link.joint.stops.get(slot.motion.name)
                if stop is not None:
                    label = f"{node.name}.{slot.motion.name}"
                    found.append((Event(f"{label} low stop", 0), self.q[slot.q] - stop.low, False))
                    found.append((Event(f"{label} high stop", 0), self.q[slot.q] - stop.high, False))
        return found

    def _sleeve_events(self, node: Node) -> list[tuple[Event, Scalar, bool]]:
        """The ends of a telescopic link's travel: out of its sleeve, and wholly inside, where nothing is left to bend."""
        body = node.link.body
        if not isinstance(body, TelescopicBeam):
            return []
        length = self.q[node.own_q[0]]
        out = Event(f"{node.name} leaves its sleeve", 1, stop=body.on_sleeve_end == "stop")
        inside = Event(f"{node.name} is all inside its sleeve", -1, stop=True)
        return [(out, length - body.length, False), (inside, length - SHORTEST * body.length, False)]

    def _contact_events(
        self, pressed: Sequence[Pressed], rates: Sequence[Scalar], margins: Sequence[Scalar]
    ) -> list[tuple[Event, Scalar, bool]]:
        """Per pair: its gap; while closed, the peak of its force, its letting go, the corners of its friction law."""
        forces = [one.raw for one in pressed]
        along = self.tracer.directional(forces, self.state_column, self.tracer.column(rates))
        explicit = self.tracer.directional(forces, self.t_column, ca.SX(1.0))
        found: list[tuple[Event, Scalar, bool]] = []
        left = iter(margins)
        for k, one in enumerate(pressed):
            name = one.touch.pair.name
            found.append((Event(f"{name} {GAP}", -1, pair=k), one.touch.gap, False))
            found.append((Event(f"{name} {PEAK}", -1, pair=k), along[k] + explicit[k], True))
            if one.touch.pair.normal.can_pull and not one.touch.pair.normal.pulls:
                found.append((Event(f"{name} {LET_GO}", 0, pair=k), one.raw, True))
            if self.near is not None:
                found.append((Event(f"{name} {NEAR}", 0, pair=k), one.touch.gap - self.near, False))
            corners = switch_functions(one.touch) + ([next(left)] if holds(one.touch) else [])
            found += [(Event(f"{name} {SWITCH}", 0, pair=k), g, True) for g in corners]
        return found

    def _slots(self, pressed: Sequence[Pressed], sources: list[str], events: Sequence[Event]) -> Iterator[PairSlots]:
        names = [event.name for event in events]
        bristle = len(self.free_q) + len(self.free_v)
        works = bristle + sum(len(one.bristle_rates) for one in pressed)
        for k, one in enumerate(pressed):
            pair = one.touch.pair
            switches = [i for i, event in enumerate(events) if event.pair == k and event.name.endswith(SWITCH)]
            yield PairSlots(
                pair=pair,
                closed=self.first_pair + PARAMETERS * k,
                entry=self.first_pair + PARAMETERS * k + 1,
                bristles=range(bristle, bristle + len(one.bristle_rates)),
                impulse=works + len(sources) + k,
                lost=works + sources.index(f"{pair.name} normal"),
                rubbed=works + sources.index(f"{pair.name} friction"),
                gap=names.index(f"{pair.name} {GAP}"),
                peak=names.index(f"{pair.name} {PEAK}"),
                let_go=names.index(f"{pair.name} {LET_GO}") if f"{pair.name} {LET_GO}" in names else None,
                near=names.index(f"{pair.name} {NEAR}") if f"{pair.name} {NEAR}" in names else None,
                switches=range(switches[0], switches[-1] + 1) if switches else range(0),
            )
            bristle += len(one.bristle_rates)

    def _efforts(self, forward: Forward) -> tuple[tuple[str, ...], list[Scalar]]:
        names = [drive.name for drive in self.system.drives.values()]
        values = [self.read(drive.effort) for drive in self.system.drives.values()]
        names += [f"{self.tree.rates[k]} motion" for k in forward.efforts]
        return tuple(names), values + list(forward.efforts.values())

    def _observed(
        self,
        forward: Forward,
        power: Mapping[str, Scalar],
        efforts: Sequence[Scalar],
        pressed: Sequence[Pressed],
        loops: Loops,
    ) -> dict[str, list[Scalar]]:
        tree, q, v, bodies, moving = self.tree, self.q, self.v, self.bodies, self.moving
        momentum, angular = momenta(tree, q, v, bodies, moving)
        observed: dict[str, list[Scalar]] = {
            "a": forward.accelerations,
            "root_position": [x for pose in bodies for x in pose.position],
            "kinetic": [kinetic_energy(tree, q, v, moving)],
            "gravity": [gravity_energy(tree, q, bodies)],
            "strain": [strain_energy(tree, q)],
            "spring": [spring_energy(tree, q) + loops.stored],
            "contact": [total(one.stored for one in pressed)],
            "power": list(power.values()),
            "momentum": list(momentum),
            "angular_momentum": list(angular),
            "gap": [one.touch.gap for one in pressed],
            "closing_speed": [one.touch.closing for one in pressed],
            "normal_force": [one.force for one in pressed],
            "friction_force": [x for one in pressed for x in one.friction_vector],
            "multiplier": self.multipliers + loops.spring_forces,
            "constraint": loops.hard.residual + loops.soft.residual,
            "effort": list(efforts),
            "tip_position": [],
            "tip_velocity": [],
            "tip_deflection": [],
        }
        for node in tree.nodes:
            place = tree.place(self.system.handle(node.name).tip)
            pose, twist = place_pose(tree, place, bodies, q), place_twist(tree, place, moving, q, v)
            observed["tip_position"] += pose.position
            observed["tip_velocity"] += pose.rotation.out(twist.velocity)
            observed["tip_deflection"] += self._deflection(node, place)
        return observed

    def _deflection(self, node: Node, place: Place) -> Vec:
        """How far the fields carry a place from where it is with all the body's modes at zero, body axes."""
        if not place.displacement:
            return ZERO
        z, _ = node.own(self.q, self.v)
        straight = [x if name not in node.link.mode_labels else 0.0
                    for x, name in zip(z, node.link.own_labels, strict=True)]  # fmt: skip
        still = [0.0] * len(z)
        bent, rest = (combine(node.body.spread(x, still).position, place.displacement) for x in (z, straight))
        return sub(bent, rest)

    def _moved(self) -> list[Scalar]:
        """Prescribed positions, then their rates: no states, but a result shows them."""
        return [self.q[told.q] for told in self.told] + [self.v[told.v] for told in self.told]

    def _start(self, carried: int) -> NDArray[np.float64]:
        q = [float(self.start_q[k]) for k in self.free_q]
        v = [float(self.start_v[k]) for k in self.free_v]
        return np.array([*q, *v, *([0.0] * carried)])

    def _function(self, name: str, inputs: list[ca.SX], outputs: Sequence[Scalar]) -> ca.Function:
        column = self.tracer.column(outputs)
        if self.held:
            column = ca.densify(ca.substitute(column, self.held_column, self.tracer.column(self.held)))
        return ca.Function(name, inputs, [column], ["t", "y", "p"], ["out"])


def _signals(system: System) -> list[Signal]:
    drives = [drive.effort for drive in system.drives.values()]
    return drives + [component for load in system.loads.values() for component in load.vector]


def _breakpoints(system: System) -> tuple[float, ...]:
    """All times that no step may straddle."""
    times: set[float] = set()
    for signal in _signals(system):
        if not isinstance(signal, Constant):
            times.update(signal.breakpoints)
    for link in system.links.values():
        for motion in link.told.values():
            times.update(motion.breakpoints)
    return tuple(sorted(times))


