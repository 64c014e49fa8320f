"""How many operations the efforts of a given motion take in different forms of the equations."""

from __future__ import annotations

from typing import Any

from pliant.errors import ModelError
from pliant.model.system import System
from pliant.run.mechanism import AnySystem, mechanism_of


def count_operations(system: AnySystem) -> dict[str, int]:
    """Operations of inverse dynamics by form: Gibbs-Appell and Newton-Euler (recursive), Kane and Lagrange.

    Given are coordinates, rates and accelerations; computed are the efforts of all coordinates, by Newton-Euler also the whole
    wrench that each joint transmits. Equal operations on equal arguments are counted once; a sine counts as one operation. Springs,
    drives, loads, contacts and closures are left out. Lagrange is counted unless a beam has terms as published, which follow
    from no energy.
    """
    import casadi as ca

    from pliant.codegen.program import read_program
    from pliant.dynamics import gibbs_appell, lagrange
    from pliant.trace.tracing import Trace, check_formulation

    made = Trace(mechanism_of(system, "count_operations"), "articulated")
    tree, q, v, tracer = made.tree, made.q, made.v, made.tracer
    column, a = tracer.symbols("acceleration", len(tree.rates))
    motions = gibbs_appell.outward(tree, q, v, a, tree.gravity)
    efforts, wrenches = gibbs_appell.transmitted(tree, q, v, a, motions, None)
    forms = {
        "Gibbs-Appell": efforts,
        "Newton-Euler": [*efforts, *(x for wrench in wrenches for vector in wrench for x in vector)],
        "Kane": gibbs_appell.kane(tree, q, v, a),
    }
    try:
        for node in tree.nodes:
            check_formulation(node, "lagrange")
        mass, bias = lagrange.equations(tree, q, v, tracer)
        forms["Lagrange"] = [h + sum(m * x for m, x in zip(row, a, strict=True)) for row, h in zip(mass, bias, strict=True)]
    except ModelError:
        pass
    inputs = [made.t_column, ca.vertcat(made.state_column, column), made.p_column]
    return {name: read_program(ca.Function("f", inputs, [tracer.column(rows)])).operations for name, rows in forms.items()}


def efforts_function(system: System) -> Any:
    """The efforts of all coordinates for given accelerations as a function of (t, [state, accelerations], p), by Gibbs-Appell.

    The numbers of the System are part of it. Springs, drives, loads, contacts and closures are left out.
    """
    import casadi as ca

    from pliant.dynamics import gibbs_appell
    from pliant.trace.tracing import Trace

    made = Trace(system, "articulated")
    tree, q, v, tracer = made.tree, made.q, made.v, made.tracer
    column, a = tracer.symbols("acceleration", len(tree.rates))
    efforts, _ = gibbs_appell.transmitted(tree, q, v, a, gibbs_appell.outward(tree, q, v, a, tree.gravity), None)
    inputs = [made.t_column, ca.vertcat(made.state_column, column), made.p_column]
    return ca.Function("efforts", inputs, [tracer.column(efforts)], ["t", "y", "p"], ["out"])
