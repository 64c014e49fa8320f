"""Exact derivatives of the implicit equations at a point, as numbers."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from pliant.analysis.implicit_equations import EvaluationPoint, ImplicitEquations

Floats = NDArray[np.float64]


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


def derivatives(equations: ImplicitEquations, rows: ca.SX, point: EvaluationPoint) -> Derivatives:
    """Derivatives of a column of rows; those by quaternions are taken by the corresponding rotation vectors."""
    if rows.numel() == 0:
        sizes = (equations.v_column, equations.v_column, equations.a_column, _forces(equations), equations.bristle_column,
                 equations.signal_column)  # fmt: skip
        return Derivatives(np.zeros(0), *(np.zeros((0, column.numel())) for column in sizes))
    along = [equations.q_column, equations.v_column, equations.a_column, _forces(equations), equations.bristle_column,
             equations.signal_column]  # fmt: skip
    function = equations.function("rows", [rows, *(ca.jacobian(rows, column) for column in along)])
    value, q, *others = (np.array(x) for x in function.call(point.arguments))
    return Derivatives(value.ravel(), q @ equations.tangent(point.q), *others)


def _forces(equations: ImplicitEquations) -> ca.SX:
    return ca.vertcat(equations.closures.column, equations.held_column)
