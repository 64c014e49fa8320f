"""The operating point of an analysis: an equilibrium, the state of a run, or the start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pliant.analysis.operating_point import OperatingPoint, gaps_at, settled, touching
from pliant.errors import ModelError
from pliant.model.system import System
from pliant.results.result import Result
from pliant.results.state import FinalState

if TYPE_CHECKING:
    from pliant.analysis.equilibrium import Equilibrium
    from pliant.analysis.implicit_equations import ImplicitEquations

START = "start"

Seen = tuple[OperatingPoint, dict[str, float], str]


def operating_point(
    system: System, at: Equilibrium | FinalState | Result | str | None, parameters: Mapping[str, float] | None, t: float
) -> Seen:
    """The operating point, the values of all parameters there, and a sentence on how it was found."""
    from pliant.analysis.equilibrium import Equilibrium, equilibrium
    from pliant.analysis.implicit_equations import ImplicitEquations

    if isinstance(at, Equilibrium):
        if list(at.labels["rate"]) != [f"{link.name}.{name}" for link in system.links.values() for name in link.rates]:
            raise ModelError.of("linearise", "at", "must be an equilibrium of the same mechanism", at.name)
        missing = [name for name in at.commands if name not in {**system.motors, **system.drives}]
        if missing:
            rule = f"must be held by motors and drives of the mechanism: there is no {', '.join(missing)}"
            raise ModelError.of("linearise", "at", rule, at.name)
        return at.operating, {**at.parameters, **(parameters or {})}, f"at the equilibrium: {at.message}"
    equations = ImplicitEquations.of(system, t, parameters)
    if isinstance(at, Result):
        parameters = {**at.parameters, **(parameters or {})}
        if at.final_state is None:
            raise ModelError.of("linearise", "at", "must hold a final state; this result was not integrated", at.name)
        at = at.final_state
    if isinstance(at, FinalState):
        return _of_state(equations, at), dict(ImplicitEquations.of(system, at.t, parameters).values), f"at t = {at.t:g} s of a run"
    if at is None and not system.own_states:  # equilibrium() cannot solve for these; the message says whether they rest
        resting = _resting_start(system, equations, t)
        if resting is not None:
            return resting, dict(equations.values), "at the start, which is in balance"
        found = equilibrium(system, parameters=parameters, t=t)
        return found.operating, dict(found.parameters), f"at the equilibrium: {found.message}"
    if at is not None and (not isinstance(at, str) or at != START):
        rule = "must be an Equilibrium, a Result, a final_state, 'start' or None"
        raise ModelError.of("linearise", "at", rule, at)
    names = ", ".join(system.own_states)
    why = "" if at == START else f", because no equilibrium can be searched for with states besides the motion: {names}"
    return _start(equations, t), dict(equations.values), f"at the start{why}"


def _start(equations: ImplicitEquations, t: float) -> OperatingPoint:
    """The System's start, with its loops closed; contacts that overlap there are closed."""
    gaps = gaps_at(equations, t, equations.start_q)
    q, v = equations.start_q.copy(), equations.start_v.copy()
    point = equations.point(t, q, v)
    return OperatingPoint(t, point.q, point.v, {}, touching(equations, gaps, sticks=True))


def _resting_start(system: System, equations: ImplicitEquations, t: float) -> OperatingPoint | None:
    """The start, if it is in balance and only driven coordinates move there; else None."""
    from pliant.analysis.balance import Balance
    from pliant.analysis.implicit_equations import ImplicitEquations
    from pliant.analysis.rest import is_balanced

    start = _start(equations, t)
    driven = set(equations.moved_v)
    if any(rate != 0.0 for k, rate in enumerate(start.v) if k not in driven):
        return None
    still = ImplicitEquations.of(system, t, equations.values, still=True)
    balance = Balance(still, t, {})
    return settled(equations, start) if is_balanced(balance, balance.at(still.start_q)) else None


def _of_state(equations: ImplicitEquations, state: FinalState) -> OperatingPoint:
    """The operating point at the state of a run; prescribed coordinates take their prescribed values at that time."""
    from pliant.integrate.loop.grip_states import SLIDES
    from pliant.trace.layout import BRISTLES, POSITIONS, RATES, slices

    tree = equations.tree
    if list(state.labels["coordinate"]) != list(tree.positions) or list(state.labels["rate"]) != list(tree.rates):
        raise ModelError.of("linearise", "at", "must be a state of the same mechanism", list(state.labels["coordinate"]))
    n_bristles = equations.symbols.bristle_column.numel()  # user-defined states follow the bristles there too
    places = slices({POSITIONS: len(equations.free_q), RATES: len(equations.free_v), BRISTLES: n_bristles})
    q, v = equations.start_q.copy(), np.zeros(len(tree.rates))
    q[equations.free_q], v[equations.free_v] = state.y[places[POSITIONS]], state.y[places[RATES]]
    point = equations.point(state.t, q, v)
    closed = {pair: (entry, SLIDES if record.grip is None else record.grip[0]) for pair, (entry, record) in state.closed.items()}
    return OperatingPoint(state.t, point.q, point.v, {}, closed, state.y[places[BRISTLES]])
