"""The equations of motion of a small System, as LaTeX, SymPy, C and CasADi."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pliant.model.system import System

if TYPE_CHECKING:  # casadi is imported only when equations are derived
    from pliant.equations.derive import Equations


def equations(system: System, parameters: Mapping[str, float] | None = None) -> Equations:
    """Mass matrix, bias and constraint Jacobian of a System as expressions over named symbols.

    parameters: values by name that replace those of the System's parameters.
    """
    from pliant.equations.derive import derive

    return derive(system, parameters)
