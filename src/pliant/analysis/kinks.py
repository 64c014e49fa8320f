"""Where the equations have no derivative: forces that jump, or have a corner, exactly at the point of an analysis, by owner."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import casadi as ca
import numpy as np

from pliant.analysis.implicit_equations import EvaluationPoint, ImplicitEquations
from pliant.analysis.operating_point import OperatingPoint, gaps_at, touching
from pliant.analysis.symbolic_equations import SymbolicEquations
from pliant.arrays import Floats
from pliant.codegen.llvm import compile_function
from pliant.codegen.nonsmooth import CORNER, JUMP, STEEP, edges_of
from pliant.codegen.program import read_program
from pliant.codegen.tracer import Scalar
from pliant.dynamics.loads import sleeve_stop, stop_force
from pliant.errors import ModelError, SolveError
from pliant.model.check import did_you_mean

ASIDE = 1e-9  # m, rad, m/s or rad/s: how far on one side of a point the derivatives of that side are taken
NEAR, NEARER = 1e-10, 1e-11  # m, rad, m/s or rad/s: both sides of an edge at the point itself; round-off is far below
ALIKE = 0.5  # ratio of differences over these distances: those of a smooth function are as 1 to 10, at a root 1 to 3
SLIGHT = 1e-6  # fraction of the largest slope: the least difference of slopes that counts
RATE = "rate of "  # names a rate among the states, as in a Linearisation


class Kink(NamedTuple):
    """A force that has no derivative at a point, because an operation in it has its edge there (codegen/nonsmooth.py)."""

    owner: str
    operation: str  # as users write it; empty if it is known by its owner
    what: str  # jumps, has a corner or is infinitely steep
    by_rates: bool  # whether it does as rates change, and not positions

    def __str__(self) -> str:
        by = f" ({self.operation})" if self.operation else ""
        return f"{self.owner}{by} {self.what} at this point"


def kinks_at(equations: ImplicitEquations, point: EvaluationPoint) -> list[Kink]:
    """The forces that have no derivative at a point, by positions or by rates."""
    owned = _owned(equations.symbols)
    owners = [owner for owner, forces in owned.items() for _ in forces]
    found = dict.fromkeys(_first_touches(equations, point))
    if owners:

        def outputs(e: SymbolicEquations) -> list[ca.SX]:
            column = e.tracer.column([x for forces in _owned(e).values() for x in forces])
            return [column, ca.jacobian(column, ca.vertcat(e.q_column, e.v_column))]

        for by_rates, beside in enumerate(_ways(equations, point)):
            values, slopes = zip(*(equations.evaluate("owned", outputs, beside(x)) for x in (NEAR, -NEAR, NEARER, -NEARER)),
                                 strict=True)  # fmt: skip
            known = {kink.owner for kink in found}
            for row, what in _broken(np.array(values)[:, :, 0], np.array(slopes)):
                if owners[row] in known:
                    continue  # what jumps as positions change need not be told of rates
                found[Kink(owners[row], " and ".join(_crossed(equations, row, beside)), what, bool(by_rates))] = None
    return list(found)


def no_slope(equations: ImplicitEquations, point: EvaluationPoint) -> SolveError:
    """The error of an analysis whose derivatives are not finite."""
    steep = ", ".join(f"{kink.owner}{f' ({kink.operation})' * bool(kink.operation)}" for kink in kinks_at(equations, point))
    rule = f"system {equations.system.name!r}: the derivatives of {steep or 'the equations'} must be finite where it is analysed"
    return SolveError(f"{rule}; start a little aside, or give linearise at='start' and a side")


def warnings_at(kinks: Sequence[Kink]) -> tuple[str, ...]:
    sides = ["{'coordinate': 1 or -1}", "{'rate of coordinate': 1 or -1}"]
    return tuple(f"{kink}, so that the equations have no derivative there: the numbers are those of one side, or a mean of both. "
                 f"linearise(..., side={sides[kink.by_rates]}) gives those of one side" for kink in kinks)  # fmt: skip


def beside(equations: ImplicitEquations, operating: OperatingPoint, side: Mapping[str, float]) -> OperatingPoint:
    """The operating point a little on one side: {coordinate or "rate of coordinate": 1 or -1}."""
    rates = list(equations.tree.rates)
    known = [*rates, *(RATE + name for name in rates)]
    change, faster = np.zeros(len(rates)), np.zeros(len(rates))
    for name, sign in side.items():
        if name not in known:
            raise ModelError.of("linearise", "side", f"must name coordinates or rates: {known}{did_you_mean(name, known)}", name)
        if sign not in (1, -1):
            raise ModelError.of("linearise", f"side[{name!r}]", "must be 1 or -1", sign)
        (faster if name.startswith(RATE) else change)[rates.index(name.removeprefix(RATE))] = sign * ASIDE
    q = equations.moved(operating.q, change)
    before, after = gaps_at(equations, operating.t, operating.q), gaps_at(equations, operating.t, q)
    now = touching(equations, after, sticks=True)
    near = {pair.name for pair, a, b in zip(equations.pairs, before, after, strict=True) if max(abs(a), abs(b)) <= 2.0 * ASIDE}
    contacts = {name: state for name, state in operating.contacts.items() if name not in near}
    contacts |= {name: state for name, state in now.items() if name in near}
    return replace(operating, q=q, v=operating.v + faster, contacts=contacts)


def _owned(equations: SymbolicEquations) -> dict[str, list[Scalar]]:
    """Forces that may have edges and are no plain numbers, by their owners."""
    return {owner: [x for x in forces if hasattr(x, "number")] for owner, forces in _forces(equations)}


def _forces(equations: SymbolicEquations) -> Iterator[tuple[str, list[Scalar]]]:
    """Forces that may have edges, with their owners: formulas, stops, contacts."""
    yield from equations.formulas.items()
    for node in equations.tree.nodes:
        own = sleeve_stop(node)
        if own is not None:
            yield f"sleeve of {node.name!r}", [stop_force(own, equations.q[node.own_q[0]], equations.v[node.own_v[0]], "", {})[0]]
        for slot in node.slots:
            stop = node.link.joint.stops.get(slot.motion.name)
            if stop is not None:
                label = f"{node.name}.{slot.motion.name}"
                yield f"stop of {label!r}", [stop_force(stop, equations.q[slot.q], equations.v[slot.v], "", {})[0]]
    for cut in equations.cut_joint_states:
        for coordinate in cut.coordinates:
            stop = cut.cut_joint.joint.stops.get(coordinate.motion.name)
            if stop is not None:
                yield f"stop of {coordinate.label!r}", [stop_force(stop, coordinate.away[0], coordinate.rates[0], "", {})[0]]
    for contact in equations.contacts:
        yield f"contact {contact.kinematics.pair.name!r}", [contact.force]


def _first_touches(equations: ImplicitEquations, point: EvaluationPoint) -> Iterator[Kink]:
    """Contacts that just touch, and whose force begins with a stiffness."""
    gaps = gaps_at(equations, point.t, point.q)
    for pair, gap in zip(equations.pairs, gaps.tolist(), strict=True):
        if abs(gap) <= NEAR:
            far, near = (float(pair.normal.force(depth, 0.0, pair.normal.entry_floor)) / depth for depth in (NEAR, NEARER))
            if near > ALIKE * far:
                yield Kink(f"contact {pair.name!r}, which just touches,", "", CORNER, False)


Beside = Callable[[float], EvaluationPoint]


def _ways(equations: ImplicitEquations, point: EvaluationPoint) -> tuple[Beside, Beside]:
    """Points at a distance, in positions and in rates: in a direction that lies in no edge."""
    way = np.cos(1.0 + np.arange(point.v.size))
    way[equations.moved_v] = 0.0
    return (lambda x: replace(point, q=equations.moved(point.q, x * way)), lambda x: replace(point, v=point.v + x * way))


def _broken(values: Floats, slopes: Floats) -> Iterator[tuple[int, str]]:
    """Rows that jump, are infinitely steep or have a corner, from their values and slopes on both sides, far and near."""
    far, near = np.abs(values[0] - values[1]), np.abs(values[2] - values[3])
    steepest = np.max(np.abs(slopes), axis=(0, 2), initial=0.0)
    bent, bends = (np.max(np.abs(slopes[k] - slopes[k + 1]), axis=1, initial=0.0) for k in (0, 2))
    jumps = (near > ALIKE * far) & (near > NEAR * steepest + SLIGHT * NEAR * np.max(np.abs(values), axis=0))
    corners = ~(bends <= ALIKE * bent) & ~(bends <= SLIGHT * steepest)
    steep = ALIKE * np.max(np.abs(slopes[2:]), axis=(0, 2), initial=0.0) > np.max(np.abs(slopes[:2]), axis=(0, 2), initial=0.0)
    for row in np.flatnonzero(jumps | corners | steep).tolist():
        yield row, JUMP if jumps[row] else STEEP if steep[row] else CORNER


def _crossed(equations: ImplicitEquations, row: int, beside: Beside) -> list[str]:
    """The operations of the register that have their edge at the point or between both sides; row: of the forces that are owned."""
    symbols = equations.symbols
    force = [x for forces in _owned(symbols).values() for x in forces][row]
    column = symbols.tracer.column([force])
    t, *state, p, share = symbols.inputs
    program = read_program(ca.Function("row", [t, ca.vertcat(*state), ca.vertcat(p, share, symbols.constants_column)], [column]))
    functions, edges = edges_of(program)
    if not edges:
        return []
    code = compile_function(functions, cache=None)
    sides = []
    for x in (NEAR, 0.0, -NEAR):
        at = beside(x)
        _, *there, _, _ = at.arguments
        own = np.concatenate([at.p, [at.share], equations.constants])
        sides.append(np.sign(code(at.t, np.concatenate([np.ravel(part) for part in there]), own)))
    return list(dict.fromkeys(edge.name for edge, a, at, b in zip(edges, *sides, strict=True) if a != b or at == 0.0))
