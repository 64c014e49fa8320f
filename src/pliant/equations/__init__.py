"""The equations of motion of a small System, as LaTeX, SymPy, C and CasADi."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.model.system import System

if TYPE_CHECKING:  # casadi comes in when equations are asked for
    from pliant.equations.derive import Equations


def equations(system: System) -> Equations:
    """Mass matrix, bias and constraint Jacobian of a System as expressions over named symbols."""
    from pliant.equations.derive import derive

    return derive(system)
