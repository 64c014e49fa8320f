"""Derivatives of the equations by a parameter: eighth-order differences of the whole model, since it may enter via integrals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.model.system import System

if TYPE_CHECKING:
    import casadi as ca

    from pliant.analysis.local_dynamics import Dynamics
    from pliant.analysis.operating_point import OperatingPoint
    from pliant.analysis.symbolic_equations import SymbolicEquations

WEIGHTS = {1: 4.0 / 5.0, 2: -1.0 / 5.0, 3: 4.0 / 105.0, 4: -1.0 / 280.0}  # of f(x + k h) - f(x - k h), over h
STEP = 1e-2  # fraction of the parameter: its eighth power is at round-off
STILL_CLOSED = 1e-9  # m or rad per unit of the parameter's size


@dataclass(frozen=True)
class ParameterSlopes:
    """For each parameter: derivatives of the balance rows, of c'', of the bristle rates and of the outputs."""

    rows: dict[str, Floats] = field(default_factory=dict)
    seconds: dict[str, Floats] = field(default_factory=dict)
    bristle_rates: dict[str, Floats] = field(default_factory=dict)
    outputs: dict[str, Floats] = field(default_factory=dict)


def parameter_slopes(
    system: System,
    dynamics: Dynamics,
    operating: OperatingPoint,
    names: Sequence[str],
    outputs: Mapping[str, tuple[str, int]],
) -> ParameterSlopes:
    slopes = ParameterSlopes()
    for name in names:
        step = _step(system, name, dynamics.equations.values[name])
        difference: list[Floats] = [np.zeros(1)] * 5
        for k, weight in WEIGHTS.items():
            ahead, behind = (_values(system, dynamics, operating, name, sign * k * step, outputs) for sign in (1.0, -1.0))
            difference = [d + weight / step * (a - b) for d, a, b in zip(difference, ahead, behind, strict=True)]
        residual, rows, seconds, bristle_rates, seen = (np.asarray(d) for d in difference)
        if np.max(np.abs(residual), initial=0.0) * abs(step) / STEP > STILL_CLOSED:
            rule = "must not name a parameter that moves a closure: an input cannot change the geometry of an exactly closed loop"
            raise ModelError.of("linearise", "inputs", rule, name)
        slopes.rows[name], slopes.seconds[name] = rows, seconds
        slopes.bristle_rates[name], slopes.outputs[name] = bristle_rates, seen
    return slopes


def _step(system: System, name: str, value: float) -> float:
    """A hundredth of the value, or less if the parameter's bounds are nearer."""
    parameter = system.parameters[name]
    room = [abs(value - bound) / max(WEIGHTS) for bound in (parameter.low, parameter.high) if bound is not None]
    step = min([STEP * (abs(value) or 1.0), *room])
    if step == 0.0:
        raise ModelError.of("linearise", "inputs", f"may name parameter {name!r} only if its value is not on a bound", value)
    return step


def _values(
    system: System,
    dynamics: Dynamics,
    operating: OperatingPoint,
    name: str,
    change: float,
    outputs: Mapping[str, tuple[str, int]],
) -> list[Floats]:
    """All rows at the same point, with the parameter changed."""
    from pliant.analysis.implicit_equations import ImplicitEquations

    before = dynamics.equations
    equations = ImplicitEquations(system, operating.t, {**before.values, name: before.values[name] + change})
    shown = tuple(outputs.values())

    def columns(e: SymbolicEquations) -> list[ca.SX]:
        seen = [e.observed[quantity][k] for quantity, k in shown]
        groups = [e.closures.hard.residual, e.residual, e.constraint_seconds, e.bristle_rates, seen]
        return [e.tracer.column(group) for group in groups]

    values = equations.evaluate(("values", shown), columns, dynamics.point)
    residual, rows, seconds, rates, seen = (x.ravel() for x in values)
    return [residual, rows, seconds[dynamics.sticking], rates, seen]
