"""A point to linearise about: coordinates, rates, held coordinates and closed contacts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import casadi as ca
import numpy as np

from pliant.analysis.implicit_equations import ImplicitEquations, contact_state
from pliant.analysis.symbolic_equations import SymbolicEquations
from pliant.arrays import Floats

SETTLING_STEPS = 3  # of Newton's method: the rate of a lag is linear in its state, unless a command reads it


@dataclass(frozen=True)
class OperatingPoint:
    """The state of a mechanism about which an analysis is made."""

    t: float  # s
    q: Floats
    v: Floats
    held: Mapping[str, float]  # m/s or rad/s: coordinates held at a constant rate, in addition to the prescribed ones
    contacts: Mapping[str, tuple[float, float]]  # closed contacts: entry speed, m/s, and the state of friction that can stick
    bristles: Floats | None = None  # bristle states, followed by user-defined states
    inputs: Mapping[str, float] = field(default_factory=dict)  # added to signals or along coordinates, by name: they hold the point


def gaps_at(equations: ImplicitEquations, t: float, q: Floats, v: Floats | None = None) -> Floats:
    """Gaps of all contact pairs at given coordinates, m; v: rates, zero by default."""
    if not equations.pairs:
        return np.zeros(0)
    point = equations.point(t, q, np.zeros(len(equations.tree.rates)) if v is None else v)
    return equations.evaluate("gaps", lambda e: [e.gaps], point)[0].ravel()


def settled(equations: ImplicitEquations, operating: OperatingPoint) -> OperatingPoint:
    """The point with the states of motors at the values at which they stay."""
    if not equations.system.states:
        return operating

    def outputs(e: SymbolicEquations) -> list[ca.SX]:
        rates = e.tracer.column(e.own_rates)
        return [rates, ca.jacobian(rates, e.own_column)]

    point = equations.point(operating.t, operating.q, operating.v, operating.contacts, operating.inputs)
    for _ in range(SETTLING_STEPS):
        left, slope = equations.evaluate("settled", outputs, point)
        bristles = point.bristles.copy()
        bristles[bristles.size - left.size :] -= np.linalg.solve(slope, left.ravel())
        point = replace(point, bristles=bristles)
    return replace(operating, bristles=point.bristles)


def touching(equations: ImplicitEquations, gaps: Floats, sticks: bool = False) -> dict[str, tuple[float, float]]:
    """Closed contacts, as `ImplicitEquations.point` takes them; at rest their entry speed is the law's floor.

    sticks: whether friction laws that can stick do stick.
    """
    return {pair.name: contact_state(sticks and bool(getattr(pair.friction, "holds", False)), float(pair.normal.entry_floor))
            for pair, gap in zip(equations.pairs, gaps, strict=True) if gap < 0.0}  # fmt: skip
