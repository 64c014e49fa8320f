"""The equations with all free coordinates at rest, for quasi-static balance."""

from __future__ import annotations

import casadi as ca

from pliant.model.refused import refuse_friction
from pliant.trace.traced_system import TracedSystem
from pliant.trace.tracing import Trace


def static_rows(traced: TracedSystem, formulation: str) -> tuple[ca.Function, ca.Function, ca.Function]:
    """(residual, Jacobian, efforts) of (t, free coordinates, p): inverse dynamics with the free coordinates at rest.

    The residual is the effort that the free coordinates' rows require beyond the applied forces; efforts are those of the
    prescribed coordinates. Numbers are folded in, so p has no constants.
    """
    refuse_friction(traced.system, "quasi-static balance")
    made = Trace(traced.system, formulation)
    for k in made.free_v:
        made.v[k] = 0.0
    applied = made.acting()
    seconds = [made.known.get(k, 0.0) for k in range(len(made.v))]
    asked = made.inverse(seconds, applied)
    missing = [a - t for a, t in zip(asked, applied.tau, strict=True)]
    count = len(made.free_q)
    free = made.state_column[:count]
    rest, none = made.state_column[count:], ca.SX.zeros(len(made.free_v), 1)
    rows = made.tracer.column([missing[k] for k in made.free_v] + [missing[coordinate.v] for coordinate in made.prescribed])
    rows = ca.substitute(rows, rest, none)
    inputs, balance = [made.t_column, free, made.p_column], rows[: len(made.free_v)]
    return (
        ca.Function("residual", inputs, [balance]),
        ca.Function("jacobian", inputs, [ca.jacobian(balance, free)]),
        ca.Function("efforts", inputs, [rows[len(made.free_v) :]]),
    )
