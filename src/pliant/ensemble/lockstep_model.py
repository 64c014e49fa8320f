"""A compiled System in the form that the lock-step loop needs, or the reason why it must run in the general loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

from pliant.arrays import Floats
from pliant.ensemble.lockstep.events import CUT, FLAG, GAP, NEVER, PEAK, RENEWAL, STOP
from pliant.ensemble.lockstep.tables import EventTable, LockstepModel, PairTable
from pliant.integrate.memory.run_record import CUTS, MARKS, RECORDS, STOPS, TURNS
from pliant.integrate.methods.tableaus import Tableau
from pliant.trace.contacts import renewal_rate
from pliant.trace.layout import CONSTANTS

if TYPE_CHECKING:
    from pliant.codegen.function import TracedFunction
    from pliant.codegen.program import Program
    from pliant.codegen.tracer import Scalar
    from pliant.integrate.methods.method import Method
    from pliant.run.prepare import Compiled, CompiledStructure
    from pliant.trace.events import Event
    from pliant.trace.traced_system import TracedSystem

LARGEST = 6000  # operations of a right-hand side: above this, loops are rolled and vectors of members gain little
EXPLICIT = "Tsit5, DOP853, DormandPrince or RKF45"
SURVEYED = ("tip_position", "kinetic", "strain", "spring")


def why_not(compiled: Compiled, method: Method) -> str:
    """Why a System must run in the general loop; "" if lock-step can run it."""
    traced, tableau, name = compiled.traced, method.tableau, type(method).__name__
    if method.needs_jacobian or not getattr(tableau, "error", ()):
        return f"{name} is not an explicit method with an error estimate: take {EXPLICIT}"
    if method.rule is not None:
        return f"{name} has step rules of its own: take {EXPLICIT}"
    if method.near is not None:
        return f"{name} changes its precision near contacts: take {EXPLICIT}"
    if method.needs_partition:
        return f"{name} integrates independent coordinates, and chooses them anew during a run: take {EXPLICIT}"
    if traced.implied:
        return "some closures are implied by others, and lock-step cannot watch these during the run"
    if traced.near_pairs:
        return "a contact among shapes has other near pairs in every member, which each run lists"
    if any(slots.knocks for slots in traced.pairs):
        return "impulses of impulsive contacts are solved for all contacts together at every impact"
    if any(slots.grip is not None for slots in traced.pairs):
        return "friction that can stick (Karnopp and similar laws) is solved for all contacts together at every event"
    if traced.joints:
        return "joint friction must be solved together with the reactions that press the joints"
    if traced.system.controllers:
        return "sampled controllers must run at their own sampling instants"
    if "settle" in traced.functions:
        return "filters of sensors start in equilibrium with what these measure, which the general loop finds"
    operations = traced.functions["rhs"].program().operations
    if operations > LARGEST:
        return f"its right-hand side has {operations} operations, more than the {LARGEST} that fit"
    return ""


def explicit_tableau(method: Method) -> Tableau:
    """The tableau of a method that lock-step can run."""
    assert isinstance(method.tableau, Tableau)
    return method.tableau


def lockstep_model(compiled: Compiled) -> LockstepModel:
    """The programs of a structure and the tables of its events and contacts."""
    model = _MODELS.get(compiled.structure)
    if model is None:
        model = _MODELS[compiled.structure] = _model_of(compiled.structure.traced)
    return model


_MODELS: WeakKeyDictionary[CompiledStructure, LockstepModel] = WeakKeyDictionary()  # made once for a structure


def _model_of(traced: TracedSystem) -> LockstepModel:
    layout, rhs = traced.layout, traced.functions["rhs"]
    n, n_controlled = traced.y0.size, traced.n_controlled
    tracer, (t, y, _) = rhs.tracer, rhs.inputs
    chained = _chained(rhs, n_controlled)
    rates = list(rhs.outputs)
    stored = [rates[i] for i in range(n_controlled) if chained[i] < 0] + rates[n_controlled:]
    every = [_event_table(event, number, traced) for number, event in enumerate(traced.events)]
    # first those that are watched whether or not a contact is closed: a GPU copies them together, and looks at them first
    tables = tuple(sorted((table for table in every if table.does != NEVER), key=lambda table: table.of_contact))
    functions = [_event_functions(traced)[table.number] for table in tables]
    clocked, along = ca.vertcat(t, y), tracer.column([1.0, *rates])
    rated = [e for e, table in enumerate(tables) if table.has_rate and table.does != RENEWAL]
    slopes: list[Scalar] = [0.0] * len(tables)
    if rated:
        for e, slope in zip(rated, tracer.directional([functions[e] for e in rated], clocked, along), strict=True):
            slopes[e] = slope
    observe, p = traced.functions["observe"].outputs, tracer.scalars(rhs.inputs[2])
    closing = observe[layout.observed["closing_speed"]]
    for e, table in enumerate(tables):
        if table.does == RENEWAL:
            slots = traced.pairs[table.pair]
            (acceleration,) = tracer.directional([closing[table.pair]], clocked, along)
            slopes[e] = p[slots.closed] * renewal_rate(closing[table.pair], acceleration, p[slots.entry])
    forces = list(observe[layout.observed["normal_force"]])
    limits = _limit(traced, rates)
    look = [*stored, *functions, *slopes, *forces, *limits]
    survey = [x for name in SURVEYED for x in observe[layout.observed[name]]]
    tips = layout.observed["tip_position"]
    for x in (*look, *survey):
        tracer.node_of(x)
    constants = layout.p[CONSTANTS]
    return LockstepModel(
        rhs=replace(rhs, name="member_rhs", outputs=stored).program(),
        look=replace(rhs, name="member_look", outputs=look).program(),
        survey=replace(rhs, name="member_survey", outputs=survey).program(),
        n=n,
        n_controlled=n_controlled,
        n_works=len(traced.sources),
        n_changing=layout.n_changing,
        n_constants=constants.stop - constants.start,
        n_head=int(traced.head(0.0, 1.0).size),
        n_tips=(tips.stop - tips.start) // 3,
        chained=chained,
        events=tables,
        pairs=tuple(PairTable(s.closed, s.entry, s.bristles.start, len(s.bristles), s.impulse, s.lost, s.rubbed)
                    for s in traced.pairs),
        limited=bool(limits),
        project=_projection(traced),
    )  # fmt: skip


def corner_speeds(compiled: Compiled) -> Floats:
    """(event) m/s: the slip speed at which friction changes its branch; 0 for other events."""
    speeds = {number: float(speed) for slots in compiled.traced.pairs if slots.pair.friction is not None
              for number, speed in zip(slots.switches, slots.pair.friction.switches, strict=False)}  # fmt: skip
    return np.array([speeds.get(event.number, 0.0) for event in lockstep_model(compiled).events])


def _projection(traced: TracedSystem) -> Program | None:
    function = traced.functions.get("project")
    if function is None:
        return None
    return replace(function, name="member_project", outputs=list(function.outputs)[: traced.n_controlled]).program()


def _chained(rhs: TracedFunction, n_controlled: int) -> tuple[int, ...]:
    """By controlled component: the index of the state that is its rate, or -1."""
    state = {rhs.tracer.number_of(symbol): i for i, symbol in enumerate(rhs.inputs[1].nonzeros())}
    found = [state.get(rhs.tracer.node_of(x), -1) for x in list(rhs.outputs)[:n_controlled]]
    # a rate that is itself chained would have no row of its own
    return tuple(rate if 0 <= rate < n_controlled and found[rate] < 0 else -1 for rate in found)


def _event_table(event: Event, number: int, traced: TracedSystem) -> EventTable:
    pair = -1 if event.pair is None else event.pair
    flag = 0 if event.flag is None else event.flag
    does, has_rate = NEVER, True
    if event.kind == STOPS:
        does = STOP
    elif event.kind == CUTS:
        does = CUT
    elif event.kind == MARKS:
        does, has_rate = (PEAK if _is_peak(event, number, traced) else NEVER), False
    elif event.kind == TURNS:
        does = GAP if event.pair is not None else FLAG if event.flag is not None else CUT
        if event.pair is not None and traced.pairs[event.pair].renewal == number:
            does = RENEWAL
    elif event.kind == RECORDS:
        has_rate = False
    direction = 0 if does == GAP else event.direction  # that of a gap turns as its contact closes and opens
    return EventTable(does, number, pair, flag, event.pressed, direction, has_rate)


def _is_peak(event: Event, number: int, traced: TracedSystem) -> bool:
    return event.pair is not None and traced.pairs[event.pair].peak == number


def _event_functions(traced: TracedSystem) -> list[Scalar]:
    """Event functions; those needed only while a contact is closed are zero while it is open, so they need not be computed."""
    if not traced.events:
        return []
    closed_only = traced.functions["event_functions"]
    always = traced.functions.get("open_contact_event_functions", closed_only)
    entries = closed_only.tracer.scalars(closed_only.inputs[2])
    functions: list[Scalar] = []
    for number, (event, g, open_g) in enumerate(zip(traced.events, closed_only.outputs, always.outputs, strict=True)):
        if event.kind in (MARKS, RECORDS) and not _is_peak(event, number, traced):
            functions.append(0.0)
        elif event.pair is not None and isinstance(open_g, float):
            functions.append(entries[traced.pairs[event.pair].closed] * g)
        else:
            functions.append(g)
    return functions


def _limit(traced: TracedSystem, rates: Sequence[Scalar]) -> list[Scalar]:
    """The longest step from a state, with the derivative substituted."""
    function = traced.functions.get("step_limit")
    if function is None:
        return []
    n = traced.y0.size
    slope = function.inputs[1][n:]
    return function.tracer.substitute(list(function.outputs), slope, function.tracer.column(rates))
