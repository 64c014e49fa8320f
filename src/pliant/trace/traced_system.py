"""A traced System: its functions of (t, y, p), with the names that go with their rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import casadi as ca
import numpy as np

from pliant.arrays import Floats
from pliant.codegen.function import TracedFunction
from pliant.dynamics.motors import starts_of_states
from pliant.dynamics.tree import Tree
from pliant.errors import ModelError
from pliant.integrate.memory.run_record import PAIR_NUMBERS
from pliant.integrate.time_pieces import TimePieces, joined
from pliant.model.check import did_you_mean
from pliant.model.coordinate_pair import Pair, coordinate_pairs
from pliant.model.input_series import InputSeries
from pliant.model.normal_law import Impulsive
from pliant.model.system import System
from pliant.results.state import BRISTLE, ENTRIES, IMPULSE, LAYOUT, WORK
from pliant.results.table import AXES, QUATERNION
from pliant.trace.contacts import PairSlots
from pliant.trace.events import Event
from pliant.trace.inputs import knots_of
from pliant.trace.joint_friction import FREE, JOINT_GRIPS, JointGrips, JointSlots
from pliant.trace.layout import (
    BRISTLES,
    FOREVER,
    IMPULSES,
    NEAR_IMPULSES,
    OWN,
    PENDING,
    PIECES,
    POSITIONS,
    RATES,
    SAMPLED,
    SERIES,
    STOPS,
    SWITCHES,
    WINDOW,
    WORKS,
    Constants,
    ContactEntries,
    Flags,
    Layout,
    NearEntries,
    ParameterOwner,
    Pieces,
    SeriesEntries,
    States,
    Window,
)
from pliant.trace.lowered_system import LoweredSystem
from pliant.trace.preparation import Preparation
from pliant.trace.timed import TimedFormulas

SHARED = ("states", "layout", "columns")  # properties that depend only on the structure, which includes names and counts


@dataclass(frozen=True)
class TracedSystem:
    """All functions of one System. Systems of equal structure share everything that the structure decides; each has its numbers."""

    system: System
    tree: Tree
    # rhs, observe, event_functions; open_contact_event_functions, the same while no contact is closed, with constants for events of
    # closed contacts; step_limit, the longest step in which no two balls pass through each other; project, see below
    functions: Mapping[str, TracedFunction]
    free_q: tuple[int, ...]
    free_v: tuple[int, ...]
    sources: tuple[str, ...]
    dissipative: Mapping[str, bool]  # sources that must only take energy, and whether they may return energy they stored
    drives: tuple[str, ...]
    events: tuple[Event, ...]
    breakpoints: tuple[float, ...]
    y0: Floats
    pairs: tuple[PairSlots, ...]
    near_pairs: tuple[PairSlots, ...]  # places for pairs of a group that are near, after all other pairs
    joints: tuple[JointSlots, ...]  # joints with friction
    n_bristles: int
    near: float | None  # m, a gap whose crossing is an event of every pair
    partition: tuple[TracedFunction, TracedFunction] | None  # constraints, displaced coordinates: see `Trace._partition`
    rows: tuple[str, ...]  # names of the directions that closures constrain
    kinds: tuple[tuple[str, bool], ...]  # of these rows: the closure's name, and whether the direction is an angle
    held: int  # number of rows held by multipliers: all exact ones except those that others imply
    # exact rows, by number, each with its unit, in the order in which a run watches them: first those that others imply, which are
    # left out of the equations
    watched: tuple[tuple[int, str], ...]
    redundant: tuple[str, ...]  # closures with directions that others imply
    t_start: float  # s, when closed loops were assembled
    formulation: str
    original: System  # as the user wrote it; `system` is what its formulation made of it
    warnings: tuple[str, ...]  # for the result: findings about the System from tracing
    timed: TimedFormulas | None
    owners: tuple[ParameterOwner, ...]  # of the entries of p, in order
    inputs: Mapping[str, InputSeries]  # in place of parameters; they keep the tables alive that p points to
    preparation: Preparation  # how constants follow from numbers
    parameter_values: Mapping[str, float]  # of the user's parameters, by name
    hold_at: tuple[Floats, ...] = ()  # coordinates beside the start for which the rows held were chosen

    @property
    def all_pairs(self) -> tuple[PairSlots, ...]:
        """The pairs of the loop."""
        return (*self.pairs, *self.near_pairs)

    @property
    def rhs(self) -> ca.Function:
        return self.functions["rhs"].casadi

    @property
    def observe(self) -> ca.Function:
        return self.functions["observe"].casadi

    @property
    def project(self) -> ca.Function | None:
        """The state put back on closed loops, one Newton step."""
        found = self.functions.get("project")
        return None if found is None else found.casadi

    @property
    def implied(self) -> tuple[tuple[int, str], ...]:
        """Exact rows that others imply, each with its unit."""
        return self.watched[: len(self.watched) - self.held]

    @property
    def independent(self) -> int:
        """Degrees of freedom with all exact loops closed."""
        return len(self.free_v) - self.held

    @property
    def plain_values(self) -> dict[str, float]:
        """The values of parameters, without those that inputs replace."""
        return {name: value for name, value in self.parameter_values.items() if name not in self.inputs}

    @property
    def tables(self) -> bool:
        """Whether p holds pieces of tables."""
        return self._width(PIECES) > 0

    @property
    def n_controlled(self) -> int:
        return self.layout.n_controlled

    @cached_property
    def states(self) -> tuple[States, ...]:
        """The owners of the entries of y, in order."""
        return (
            States(POSITIONS, tuple(self.tree.positions[k] for k in self.free_q)),
            States(RATES, tuple(f"the rate of {self.tree.rates[k]}" for k in self.free_v)),
            States(BRISTLES, tuple(f"{BRISTLE}{k} of friction" for k in range(self.n_bristles))),
            States(OWN, tuple(self.system.states)),
            States(SAMPLED, tuple(label for c in self.system.controllers.values() for label in c.labels)),
            States(PENDING, pending_labels(self.system)),
            States(WORKS, tuple(f"{WORK}{name}" for name in self.sources)),
            States(IMPULSES, tuple(f"{IMPULSE}{slots.pair.name}" for slots in self.pairs)),
            States(
                NEAR_IMPULSES,
                tuple(
                    f"{name} of near pair {k}"
                    for k in range(len(self.near_pairs))
                    for name in ("impulse", "normal work", "friction work")
                ),
            ),
        )

    @property
    def labels_of_y(self) -> dict[str, tuple[str, ...]]:
        """What a state of a run is laid out by."""
        entries = tuple(label for owner in self.states for label in owner.labels)
        return {name: tuple(self.columns[name]) for name in LAYOUT} | {ENTRIES: entries}

    @cached_property
    def layout(self) -> Layout:
        return Layout.of(self.states, self.owners, self.columns, len(self.tree.prescribed))

    @cached_property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """Labels of every dimension of the result."""
        pairs = tuple(slots.pair.name for slots in self.pairs)
        rubbing = [(slots.label, slots.rates) for slots in self.joints]
        return labels_of(self.system, self.tree, self.sources, self.drives, pairs, self.rows, rubbing)

    def parameters(self, begin: float, end: float) -> Floats:
        """p while begin <= t <= end and no breakpoint lies between; all contacts open, no damped stop pressed."""
        return np.concatenate([np.asarray(owner.at(begin, end), dtype=np.float64) for owner in self.owners])

    def parameters_at(self, t: float) -> Floats:
        """p in the piece of time that contains t."""
        edges = [-np.inf, *self.breakpoints, np.inf]
        k = int(np.searchsorted(self.breakpoints, t, side="right"))
        return self.parameters(max(edges[k], t - 1.0), min(edges[k + 1], t + 1.0))

    def head(self, begin: float, end: float) -> Floats:
        """The first entries of p, which change from piece to piece of time: the window and the tables' pieces."""
        changing = [owner.at(begin, end) for owner in self.owners if owner.name in (WINDOW, PIECES)]
        return np.concatenate([np.asarray(entries, dtype=np.float64) for entries in changing])

    def heads(self, times: Sequence[float]) -> Floats:
        """(piece, entry): `head` between each of these times and the next, of which there may be a million."""
        if self.tables:
            return np.array([self.head(begin, end) for begin, end in pairwise(times)])
        edges = np.asarray(times)
        return np.stack([np.nextafter(edges[:-1], np.inf), np.nextafter(edges[1:], -np.inf)], axis=1)

    def time_pieces(self, y0: Floats, t_start: float, t_end: float, p: Floats | None = None) -> TimePieces:
        """Pieces of time on which formulas of time are nearly cubic, at the state y0.

        p: parameters, if they differ from those that the run starts with.
        """
        knots = [knots_of(series) for series in self.inputs.values()]
        if self.timed is None:
            return joined(TimePieces(np.empty(0), True), knots, t_start, t_end)
        p = self._examined(self.parameters(t_start, t_end) if p is None else p.copy())
        return joined(self.timed.pieces(y0, p, t_start, t_end), knots, t_start, t_end)

    def _examined(self, p: Floats) -> Floats:
        """p with which functions of time are examined: a window that hides nothing, and inputs that do not move."""
        p[self.layout.p[WINDOW]] = -FOREVER, FOREVER
        p[self.layout.p[SERIES]] = SeriesEntries(tuple(self.inputs.values())).flat()
        return p

    def corners(self, t_start: float, t_end: float) -> list[float]:
        """Times inside the run at which a function of time, or a derivative of it, may jump."""
        found = {b for b in self.breakpoints if t_start < b < t_end}
        if self.timed is not None:
            p = self._examined(self.parameters(t_start, t_end))
            found.update(self.timed.edges(self.y0, p, t_start, t_end).tolist())
        return sorted(found)

    def for_numbers(self, lowered: LoweredSystem, constants: Floats) -> TracedSystem:
        """The same functions for another System of the same structure."""
        ends = {pair.name: pair for pair in coordinate_pairs(lowered.system)}
        laws: dict[str, Pair] = {**lowered.system.contacts, **ends}
        alike = [group.pair(0, 0) for group in lowered.system.groups.values()]  # a near pair has the laws of all
        other = replace(
            self,
            system=lowered.system,
            tree=lowered.tree,
            original=lowered.original,
            breakpoints=lowered.breakpoints,
            y0=self._start(lowered),
            pairs=tuple(slots.of(laws[slots.pair.name]) for slots in self.pairs),
            near_pairs=tuple(slots.of(alike[0]) for slots in self.near_pairs),
            near=lowered.near,
            t_start=lowered.t_start,
            hold_at=lowered.hold_at,
            warnings=lowered.warnings,
            redundant=lowered.redundant,
            parameter_values=lowered.parameters,
            inputs=lowered.inputs,
            owners=owners_of(
                lowered, len(self.pairs), self._width(STOPS), self._width(JOINT_GRIPS), self._width(SWITCHES), constants
            ),
        )
        vars(other).update({name: getattr(self, name) for name in SHARED})
        return other

    @cached_property
    def start_places(self) -> dict[str, dict[str, int]]:
        """The indices in y of everything that a run's start may set, by name: coordinates and states, and rates of coordinates."""
        y, tree = self.layout.y, self.tree
        starts = {tree.positions[k]: y[POSITIONS].start + i for i, k in enumerate(self.free_q)}
        settled = self.system.filter_states  # start where their sensors are
        starts |= {name: y[OWN].start + i for i, name in enumerate(self.system.states) if name not in settled}
        return {"starts": starts, "rates": {tree.rates[k]: y[RATES].start + i for i, k in enumerate(self.free_v)}}

    def start_place(self, part: str, kind: str, name: str) -> int:
        """The index in y of one of them; refuses what cannot be set."""
        free = self.start_places[kind]
        if name not in free:
            rule = "must be free coordinates of the mechanism"
            if kind == "starts" and str(name).startswith("v "):
                raise ModelError.of(part, kind, f'{rule}; a rate is given as ("v", {str(name)[2:]!r})', name)
            raise ModelError.of(part, kind, f"{rule}{did_you_mean(name, free)}", name)
        if kind == "rates" and any(drive.coordinate == name and drive.motor.is_elastic for drive in self.system.motors.values()):
            rule = "must not name the coordinate of an elastic gear, with which a rotor turns: use a parameter in its joint"
            raise ModelError.of(part, kind, rule, name)
        return free[name]

    def _start(self, lowered: LoweredSystem) -> Floats:
        """y at the start: bristles, works and impulses begin at zero."""
        y0, places = np.zeros(self.y0.size), self.layout.y
        y0[places[POSITIONS]], y0[places[RATES]] = lowered.start.q[list(self.free_q)], lowered.start.v[list(self.free_v)]
        y0[places[OWN]] = starts_of_states(lowered.system, self.tree, lowered.start.v)
        controllers = lowered.system.controllers.values()
        y0[places[SAMPLED]] = [x for c in controllers for x in c.starts]
        y0[places[PENDING]] = [x for c in controllers for _ in range(c.pending) for x in c.starts[: len(c.outputs)]]
        return y0

    def _width(self, name: str) -> int:
        place = self.layout.p[name]
        return int(place.stop - place.start)


def labels_of(
    system: System,
    tree: Tree,
    sources: tuple[str, ...],
    drives: tuple[str, ...],
    pairs: tuple[str, ...],
    rows: tuple[str, ...],
    rubbing: Sequence[tuple[str, Sequence[str]]],
) -> dict[str, tuple[str, ...]]:
    """Names along every dimension of the results' table; rubbing: joints with friction, and the rates along which it acts."""
    return {
        "coordinate": tree.positions,
        "rate": tree.rates,
        "body": tuple(node.name for node in tree.nodes),
        "axis": AXES,
        "quaternion": QUATERNION,
        "source": sources,
        "drive": drives,
        "pair": pairs,
        "row": rows,
        "state": state_labels(system),
        "friction_joint": tuple(label for label, _ in rubbing),
        "friction_rate": tuple(name for _, names in rubbing for name in names),
        "joint_coordinate": tuple(name for c in system.cut_joints.values() for name in c.positions),
        "joint_rate": tuple(name for c in system.cut_joints.values() for name in c.rates),
        "strut": tuple(system.struts),
        "motor": tuple(system.motors),
        "channel": tuple(system.channels),
    }


def state_labels(system: System) -> tuple[str, ...]:
    """Labels of the user's own states, then of the values that controllers hold."""
    return (*system.states, *(label for controller in system.controllers.values() for label in controller.labels))


def pending_labels(system: System) -> tuple[str, ...]:
    """Labels of delayed outputs, newest first."""
    return tuple(f"{controller.name}.{name} of {k + 1} instants ago" for controller in system.controllers.values()
                 for k in range(controller.pending) for name in controller.outputs)  # fmt: skip


def owners_of(
    lowered: LoweredSystem, pairs: int, stops: int, grips: int, switches: int, constants: Floats
) -> tuple[ParameterOwner, ...]:
    """The owners of the entries of p, in order; grips: number of entries of joints that can stick."""
    return (
        Window(),
        Pieces(lowered.signals),
        ContactEntries(pairs),
        NearEntries(lowered.system.near_places),
        Flags(STOPS, stops),
        JointGrips(grips // len(FREE)),
        Flags(SWITCHES, switches),
        SeriesEntries(tuple(lowered.inputs.values())),
        Constants(constants),
    )


def pair_numbers(traced: TracedSystem) -> Floats:
    """For every contact, the numbers of its laws and shapes that the loop reads."""
    return np.array([_numbers(slots) for slots in traced.all_pairs], dtype=np.float64).reshape(-1, PAIR_NUMBERS)


def _numbers(slots: PairSlots) -> list[float]:
    """The numbers of a contact in the order of `run_record`: ENTRY_FLOOR, REACH, BAND, RESTITUTION, MU, POISSON."""
    pair = slots.pair
    band = math.nan if slots.grip is None else float(pair.friction.band)  # type: ignore[union-attr]
    law, mu = pair.normal, getattr(pair.friction, "mu", getattr(pair.friction, "mu_kinetic", 0.0))
    struck = (law.restitution, mu, law.kind == "poisson") if isinstance(law, Impulsive) else (0.0, 0.0, False)
    return [float(law.entry_floor), float(pair.reach), band, *map(float, struck)]
