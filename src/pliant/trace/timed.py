"""Formulas of time in a System, sampled before a run."""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from pliant.codegen.landmarks import landmarks
from pliant.integrate.time_pieces import Pieces, time_pieces
from pliant.trace.layout import FOREVER, WINDOW
from pliant.trace.traced_system import TracedSystem


def pieces_of(
    traced: TracedSystem, y0: NDArray[np.float64], t_start: float, t_end: float, p: NDArray[np.float64] | None = None
) -> Pieces:
    """Pieces of the run on which all formulas of time are nearly cubic; formulas that also depend on the state are taken at y0.

    p: parameters, if they differ from those that the run starts with.
    """
    if traced.timed is None:
        return Pieces(np.empty(0), True)
    p = traced.parameters(t_start, t_end) if p is None else p.copy()
    p[traced.layout.p[WINDOW]] = -FOREVER, FOREVER
    t = ca.SX.sym("t")
    function = ca.Function("timed", [t], [traced.timed.casadi(t, ca.DM(y0), ca.DM(p))])

    def values(times: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(function.map(times.size)(times.reshape(1, -1)).full())

    return time_pieces(values, t_start, t_end, landmarks(traced.timed.program(), y0, p, t_start, t_end))
