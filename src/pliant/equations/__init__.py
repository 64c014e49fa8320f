"""The equations of motion of a small System, as LaTeX, SymPy, C and CasADi."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pliant.model.system import System

if TYPE_CHECKING:  # casadi comes in when equations are asked for
    from pliant.equations.derive import Equations


def equations(system: System, parameters: Mapping[str, float] | None = None) -> Equations:
    """Mass matrix, bias and constraint Jacobian of a System as expressions over named symbols.

    parameters: values of the System's parameters, by name, where they are not their own.
    """
    from pliant.equations.derive import derive

    return derive(system, parameters)
