"""Equations out: M, bias and constraint Jacobian of a small System as LaTeX, SymPy, C and CasADi."""

from pliant.equations.derive import Equations, derive

__all__ = ["Equations", "derive"]
