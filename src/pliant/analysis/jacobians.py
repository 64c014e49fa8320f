"""Exact derivatives of the implicit equations at a point, as numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import casadi as ca

from pliant.analysis.implicit_equations import EvaluationPoint, ImplicitEquations
from pliant.analysis.symbolic_equations import SymbolicEquations
from pliant.arrays import Floats
from pliant.codegen.tracer import Scalar


@dataclass(frozen=True)
class Derivatives:
    """Values of some rows, and their derivatives by xi, rates, accelerations, multipliers, sticking forces, bristles, signals."""

    value: Floats
    xi: Floats
    v: Floats
    a: Floats
    forces: Floats
    bristles: Floats
    signals: Floats


def derivatives(
    equations: ImplicitEquations, key: Hashable, rows: Callable[[SymbolicEquations], Sequence[Scalar]], point: EvaluationPoint
) -> Derivatives:
    """Derivatives of rows, which are known by a key; those by quaternions are taken by the corresponding rotation vectors."""

    def outputs(e: SymbolicEquations) -> list[ca.SX]:
        column = e.tracer.column(rows(e))
        along = [e.q_column, e.v_column, e.a_column, e.force_column, e.bristle_column, e.signal_column]
        return [column, *(ca.jacobian(column, by) for by in along)]

    value, q, *others = equations.evaluate(("derivatives", key), outputs, point)
    return Derivatives(value.ravel(), q @ equations.tangent(point.q), *others)
