"""equilibrium(): the rest position of a mechanism, the forces that hold it there, and its stability."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError, SolveError
from pliant.model import check
from pliant.model.coordinate_pair import coordinate_pairs
from pliant.model.force import Drive
from pliant.model.joint import BALL
from pliant.model.refused import refuse_controllers, refuse_states, require_bodies
from pliant.model.signal import Constant
from pliant.model.system import System
from pliant.results.kept import check_of_bodies
from pliant.results.reading import DIMENSIONS, ReadByName
from pliant.results.state import FinalState, OngoingContact
from pliant.results.table import QUANTITIES
from pliant.run.mechanism import AnySystem, mechanism_of

if TYPE_CHECKING:  # casadi is imported only when an analysis begins
    from pliant.analysis.balance import Balance
    from pliant.analysis.implicit_equations import EvaluationPoint, ImplicitEquations
    from pliant.analysis.operating_point import OperatingPoint
    from pliant.analysis.rest import Rest
    from pliant.results.result import Result

FURTHER = 0.3  # rad or m: how far a steady motion is followed to check that the balance persists
LATER = 0.7391  # s: another time, at which formulas that vanish now do not
ALIKE = 1e-7  # m or rad: how far the free coordinates may be displaced at that point


class Reaction(NamedTuple):
    """Force and moment of a joint on the body it carries, in world axes; the moment is about the body's root."""

    force: Floats  # N
    moment: Floats  # N m


class RestingContact(NamedTuple):
    """A contact pair at rest."""

    closed: bool
    gap: float  # m, negative if the pair is in contact
    force: float  # N


@dataclass(frozen=True, repr=False, eq=False)
class Equilibrium(ReadByName):
    """A position of rest, or a steady motion, with every quantity of a result there except works.

    Read by the names of a result: rest["arm.angle"] is a number, rest["tip_position", "arm"] an array.
    """

    name: str
    message: str  # how the equilibrium was found, and whether it is stable
    stable: bool | None  # whether the equilibrium is stable; None if the linearised equations cannot decide, or do not exist
    stability: str  # the verdict on stability, in words
    steady: Mapping[str, float]  # coordinates that move at a steady rate, rad/s or m/s
    hold: Mapping[str, float]  # coordinates that are held, rad or m
    efforts: Mapping[str, float]  # that hold them, or keep them steady, besides what acts already: by coordinate, N m or N
    commands: Mapping[str, float]  # of motors and drives that hold coordinates: V, 1, N m or N
    friction: Mapping[str, float]  # up to which friction that sticks holds a joint at rest, by coordinate: N m or N
    parameters: Mapping[str, float]
    values: Mapping[str, Floats]
    labels: Mapping[str, Sequence[str]]
    operating: OperatingPoint
    system: System = field(repr=False)
    warnings: tuple[str, ...] = ()  # what to know before believing the numbers

    @property
    def t(self) -> float:
        """Time at which formulas and prescribed motions were evaluated, s."""
        return self.operating.t

    _DIMENSIONS = MappingProxyType({name: dims for name, dims in DIMENSIONS.items() if name != "work"})  # of a run alone

    def of_body(self, quantity: str, body: str) -> Floats:
        """The value of a quantity for one body: of_body("tip_position", "arm")."""
        check_of_bodies("of_body", quantity)
        return np.asarray(self[quantity, body])

    @property
    def coordinates(self) -> dict[str, float]:
        """All coordinates by name."""
        return dict(zip(self.labels["coordinate"], self.values["q"].tolist(), strict=True))

    @property
    def reactions(self) -> dict[str, Reaction]:
        """For each body, the force and moment of its inboard joint on it."""
        both = zip(self.labels["body"], self.values["reaction_force"], self.values["reaction_moment"], strict=True)
        return {body: Reaction(force, moment) for body, force, moment in both}

    @property
    def contacts(self) -> dict[str, RestingContact]:
        """For each contact pair: whether it is closed, its gap and its force."""
        each = zip(self.labels["pair"], self.values["gap"].tolist(), self.values["normal_force"].tolist(), strict=True)
        return {pair: RestingContact(pair in self.operating.contacts, gap, force) for pair, gap, force in each}

    @cached_property
    def state(self) -> FinalState:
        """The equilibrium as a start state for a run: simulate(system, t_end, start=rest) takes it."""
        from pliant.run.prepare import compile_system
        from pliant.trace.layout import OWN, POSITIONS, RATES

        traced = compile_system(self.system, t_start=self.t, parameters=self.parameters).traced
        y = np.zeros(traced.y0.size)
        y[traced.layout.y[POSITIONS]] = self.operating.q[list(traced.free_q)]
        y[traced.layout.y[RATES]] = self.operating.v[list(traced.free_v)]
        y[traced.layout.y[OWN]] = self.values["states"]
        grips = {slots.pair.name: slots.grip is not None for slots in traced.pairs}
        closed = {pair: (entry, OngoingContact(self.t, 0.0, 0.0, 0.0, 0.0, peak_force=self.contacts[pair].force, peak_time=self.t,
                                               grip=(doing, 0.0, 0.0, 0.0) if grips[pair] else None))
                  for pair, (entry, doing) in self.operating.contacts.items()}  # fmt: skip
        return FinalState(self.t, y, closed, traced.labels_of_y, self.t, self.t)

    def to_result(self) -> Result:
        """The equilibrium as a Result of one row: plot it, save it, or start a run with simulate(system, t_end, start=result)."""
        from pliant.analysis.mode_motion import MovedMechanism

        mechanism = MovedMechanism(self._held_system(), self.operating, self.parameters)
        still = np.zeros(len(self.labels["rate"]))
        result = mechanism.rows([still], np.array([self.t]), self.message, equilibrium=dict(self.steady))
        return replace(result, final_state=self.state, warnings=self.warnings)

    def _held_system(self) -> System:
        """The System with what holds its coordinates, without which they would be about to move."""
        found = self.system.snapshot()
        for name, command in self.commands.items():
            if name in found.motors:
                found.motors[name] = replace(found.motors[name], command=Constant(command))
            else:
                found.drives[name] = replace(found.drives[name], effort=Constant(command))
        for name in self.hold:
            if name in self.operating.inputs:
                found.drives[f"{name} hold"] = Drive(f"{name} hold", name, Constant(self.efforts[name]))
        return found

    def __repr__(self) -> str:
        warned = f"; {len(self.warnings)} warning{'s' * (len(self.warnings) > 1)}" if self.warnings else ""
        return f"<Equilibrium {self.name!r}: {self.message}{warned}>"

    def __str__(self) -> str:
        from pliant.analysis.trim import effort_unit

        lines = [repr(self)]
        held = {name: f", held by {effort:.6g} {effort_unit(self.system, name)}" for name, effort in self.efforts.items()}
        lines += [f"  {name} = {value:.6g}{held.get(name, '')}" for name, value in self.coordinates.items()]
        lines += [f"  command of {name}: {command:.6g}" for name, command in self.commands.items()]
        turning = {pair.name: pair.units for pair in coordinate_pairs(self.system)}
        for pair, contact in self.contacts.items():
            metre, newton = turning.get(pair, ("m", "N"))
            words = f"pressed with {contact.force:.6g} {newton}" if contact.closed else f"open by {contact.gap:.3g} {metre}"
            lines.append(f"  {pair}: {words}")
        return "\n".join([*lines, *(f"  warning: {sentence}" for sentence in self.warnings)])


def equilibrium(
    system: AnySystem,
    *,
    parameters: Mapping[str, float] | None = None,
    steady: Mapping[str, float] | None = None,
    hold: Mapping[str, float | str] | None = None,
    t: float = 0.0,
) -> Equilibrium:
    """The equilibrium of a mechanism: springs, gravity, drives, loads, contacts and closed loops in balance.

    The search begins at the System's start, with its loops closed, and descends the potential, so it ends at a stable equilibrium
    unless it begins exactly on an unstable one. steady: constant rates of joint coordinates, as {"shaft.angle": 100.0}; everything
    else is then at rest relative to them. hold: positions of joint coordinates that are held, as {"arm.angle": "-60 deg"}. The
    efforts that hold them are in `efforts`, the commands of motors and drives that give these in `commands`; linearise(system,
    at=...) has the joints free again, under these. Prescribed motions and formulas of time are evaluated at t, s. Friction carries
    no load: of all equilibria that friction would allow, the search finds one that needs none, and says how far from it friction
    in joints may hold. Non-holonomic constraints hold speeds, not positions: of the positions where they can carry the forces, the
    search finds one that the mechanism can roll or slide to, and says how it could rest beside it. A coordinate that nothing holds
    in place raises an error that names it.
    """
    from pliant.analysis.balance import Balance
    from pliant.analysis.implicit_equations import ImplicitEquations
    from pliant.analysis.rest import find_rest
    from pliant.analysis.unheld import refuse_underconstrained

    t = check.number("equilibrium", "t", t, "s")
    system = mechanism_of(system, "equilibrium")
    require_bodies(system, "equilibrium")
    refuse_controllers(system, "equilibrium", "simulate the system until it comes to rest, or analyse it without them")
    if system.own_states:  # motors settle
        refuse_states(system, "equilibrium", "simulate the system until it rests; linearise accepts its start or the end of a run")
    turning, held = checked_steady(system, steady), checked_hold(system, hold, steady)
    still = ImplicitEquations.of(system, t, parameters, still=True, turning=list(turning), positions=held)
    _refuse_moving_constraints(still, t)
    balance = Balance(still, t, {**turning, **dict.fromkeys(held, 0.0)})
    _refuse_moving_loops(balance, turning)
    rest = find_rest(balance, still.start_q)
    rubbed = refuse_underconstrained(balance, rest)
    if not rest.found:
        raise SolveError(
            f"equilibrium: system {system.name!r}: {rest.way}; Newton's method, load steps and arc length all failed. Start nearer "
            "to the equilibrium, or reduce the loads to see whether one exists"
        )
    return _collected(system, balance, rest, turning, rubbed, held)


def _refuse_moving_constraints(still: ImplicitEquations, t: float) -> None:
    from pliant.dynamics.algebra import is_zero

    closures = still.symbols.closures
    rows = [k for k in still.symbols.of_speeds if not is_zero(closures.hard.drift[k])]
    if not rows:
        return
    aside = np.cos(1.0 + np.arange(len(still.tree.rates)))  # b may vanish at the start alone, or at this time
    for now, q in ((t, still.start_q), (t + LATER, still.moved(still.start_q, aside))):
        point = still.point(now, q, np.zeros(len(still.tree.rates)))
        (drifts,) = still.evaluate("drift", lambda e: [e.tracer.column([e.closures.hard.drift[k] for k in rows])], point)
        for k, drift in zip(rows, drifts.ravel(), strict=True):
            if drift != 0.0:
                rule = "must have no term without rates for an equilibrium: what it drives does not rest"
                raise ModelError.of(closures.exact[closures.hard.owners[k]].part, "formula", rule, "a(q, t) v - b(q, t)")


def _refuse_moving_loops(balance: Balance, turning: dict[str, float]) -> None:
    still = balance.equations
    opened = balance.loops_that_move(still.start_q)
    if opened:
        moving = ", ".join([*turning, *(still.tree.rates[k] for k in still.moved_v)]) or "its motion"
        rule = f"must leave all other coordinates at rest: as {moving} moves, closure {', '.join(map(repr, opened))} opens"
        raise ModelError.of("equilibrium", "steady", rule, turning)


def checked_steady(system: System, steady: Mapping[str, float] | None) -> dict[str, float]:
    """Steady rates by coordinate; only joint coordinates without a prescribed motion are allowed."""
    known = _units_of_joints(system)
    return {name: check.number("equilibrium", f"steady[{name!r}]", rate)
            for name, rate in _checked_names(system, "steady", steady, known).items()}  # fmt: skip


def checked_hold(system: System, hold: Mapping[str, float | str] | None, steady: Mapping[str, float] | None) -> dict[str, float]:
    """Positions by coordinate, in rad or m: of joints, and of lengths of telescopic links."""
    from pliant.files.definitions import read_quantity

    known = _units_of_joints(system) | {f"{link.name}.{name}": "m" for link in system.links.values() for name in link.body.lengths}
    held: dict[str, float] = {}
    for name, position in _checked_names(system, "hold", hold, known).items():
        if name in (steady or {}):
            raise ModelError.of("equilibrium", "hold", "must not name a coordinate that steady names", name)
        try:
            value = read_quantity(position, known[name])[0] if isinstance(position, str) else position
        except ModelError as trouble:
            raise ModelError(f"equilibrium: hold[{name!r}] {trouble}") from None
        held[name] = check.number("equilibrium", f"hold[{name!r}]", value, known[name])
    return held


def _units_of_joints(system: System) -> dict[str, str]:
    """rad or m, by joint coordinate."""
    return {f"{link.name}.{motion.name}": motion.unit for link in system.links.values() for motion in link.joint.motions
            if motion.kind != BALL}  # fmt: skip


def _checked_names(system: System, field: str, given: Mapping[str, Any] | None, known: Mapping[str, str]) -> Mapping[str, Any]:
    """What was given by coordinate; only known coordinates without a prescribed motion are allowed."""
    if given is not None:
        check.instance("equilibrium", field, given, Mapping, "a mapping of coordinates")
    for name in given or {}:
        if name not in known:
            rule = f"must name joint coordinates, some of {list(known)}{check.did_you_mean(name, list(known))}"
            raise ModelError.of("equilibrium", field, rule, name)
        body, own = name.rsplit(".", 1)
        if own in system.links[body].prescribed:
            raise ModelError.of("equilibrium", field, "must not name a coordinate whose motion is prescribed", name)
    return given or {}


def _collected(
    system: System, balance: Balance, rest: Rest, turning: dict[str, float], rubbed: list[str], hold: dict[str, float]
) -> Equilibrium:
    from pliant.analysis.kinks import kinks_at, warnings_at
    from pliant.analysis.local_dynamics import Dynamics, SingularMass
    from pliant.analysis.operating_point import OperatingPoint, settled, touching
    from pliant.analysis.stability import not_known, stability_of
    from pliant.analysis.sticking import held_by_friction, sentences
    from pliant.analysis.trim import trimmed
    from pliant.analysis.unheld import one_of_many

    still = balance.equations
    missing = balance.at(rest.q)
    moving = balance.moving
    kept, trim = trimmed(balance, missing, turning), trimmed(balance, missing, hold)
    closed = touching(still, missing.gaps, sticks=True)
    operating = OperatingPoint(balance.t, missing.point.q, missing.point.v, turning, closed, inputs=trim.inputs)
    operating = settled(moving, operating)
    locked = replace(operating, held={**turning, **dict.fromkeys(hold, 0.0)})  # stability is judged with what is held
    try:
        dynamics: Dynamics | None = Dynamics(moving, locked)
    except SingularMass:
        dynamics = None
    seen, point = (still, missing.point) if dynamics is None else (moving, dynamics.point)
    kinks = kinks_at(seen, point)
    judged = not_known(kinks) if kinks else stability_of(balance, rest, dynamics, locked)
    held = [f"friction alone holds {', '.join(rubbed)}"] if rubbed else []
    held += [f"only at this {name}: the balance changes as it moves on" for name in turning if not _goes_on(balance, rest, name)]
    strengths = held_by_friction(seen, point)
    held += sentences(balance, missing, rest, strengths)
    held += [f"held: {', '.join(hold)}"] if hold else []
    held += [one_of_many(balance, missing)] if still.symbols.of_speeds else []
    values, labels = observed_values(seen, point)
    return Equilibrium(
        name=system.name,
        message="; ".join([rest.way, judged.words, *held]),
        stable=judged.stable,
        stability=judged.words,
        steady=turning,
        hold=hold,
        efforts={**kept.efforts, **trim.efforts},
        commands=trim.commands,
        friction=strengths,
        parameters=dict(still.values),
        values=values,
        labels=labels,
        operating=operating,
        system=system,
        warnings=(*_in_degrees(system, hold), *trim.warnings, *warnings_at(kinks), *judged_at(seen, point, values)),
    )


def _in_degrees(system: System, hold: Mapping[str, float]) -> Iterator[str]:
    from pliant.run.number_warnings import many_turns

    units = _units_of_joints(system)
    for name, position in hold.items():
        if units.get(name) == "rad":
            yield from many_turns(f"equilibrium: hold[{name!r}]", position, f"'{position:g} deg'")


def _goes_on(balance: Balance, rest: Rest, name: str) -> bool:
    """Whether the balance still holds a little further along a steady motion; it does not if a rotor turns under gravity."""
    from pliant.analysis.rest import is_balanced

    rates = list(balance.equations.tree.rates)
    change = np.zeros(len(rates))
    change[rates.index(name)] = FURTHER
    return is_balanced(balance, balance.at(balance.equations.moved(rest.q, change)), ALIKE)


def judged_at(equations: ImplicitEquations, point: EvaluationPoint, values: Mapping[str, Floats] | None = None) -> tuple[str, ...]:
    """The warnings about a state that lasts; values: the quantities there, if they are known already."""
    from pliant.run.evidence import JUDGED, LastingState
    from pliant.run.validity import warnings_of_state

    state = LastingState(equations, np.array([point.t]), {})
    if not state.bending:
        return tuple(equations.warnings)
    known = values or observed_values(equations, point, JUDGED)[0]
    state = replace(state, values={name: known[name][None] for name in JUDGED})
    return (*equations.warnings, *warnings_of_state(state))


def observed_values(
    equations: ImplicitEquations, point: EvaluationPoint, names: Sequence[str] | None = None
) -> tuple[dict[str, Floats], dict[str, tuple[str, ...]]]:
    """The quantities of a result at one point, all by default, in the shapes given by their labels."""
    labels = equations.symbols.labels
    chosen = tuple(equations.symbols.observed if names is None else names)
    arrays = equations.evaluate(("observed", chosen), lambda e: [e.tracer.column(e.observed[name]) for name in chosen], point)
    values = {}
    for name, array in zip(chosen, arrays, strict=True):
        values[name] = array.ravel().reshape([len(labels[d]) for d in QUANTITIES[name].dims])
    return values, labels
