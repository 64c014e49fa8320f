"""The equations of task-space inverse dynamics: constraints of loops and path on the coordinates, and the efforts of a motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from pliant.arrays import Floats
from pliant.codegen.llvm import MachineCode, compile_function
from pliant.codegen.tracer import Scalar
from pliant.dynamics.loads import applied_forces
from pliant.dynamics.retraction import retract
from pliant.host.cache_folder import user_cache
from pliant.model.system import System
from pliant.trace.closures import springs
from pliant.trace.tracing import Trace


@dataclass(frozen=True)
class TaskRows:
    """Functions of a System in which closures to bodies with prescribed motion follow the path. Columns are its free rates.

    Rows are those of exact closures, first of loops and then of the path; `second` is c'' without the accelerations of free
    coordinates.
    """

    owners: tuple[str, ...]  # of rows: names of closures
    angular: tuple[bool, ...]  # rows that are angles
    n_loops: int  # number of rows of loops
    rates: tuple[str, ...]  # names of the free rates
    start: Floats  # free coordinates, as the System has them
    constraints: MachineCode  # (t, [q, v], p) -> residual, rate, second, Jacobian
    asked: MachineCode  # (t, [q, v, a], p) -> the effort that free rows require beyond the applied forces
    moved: MachineCode  # (t, [q, change along free rates], p) -> q
    trace: Trace

    def parameters(self, t: float) -> Floats:
        return self.trace.parameters(t)


def task_rows(system: System, formulation: str, path: Sequence[str]) -> TaskRows:
    """path: names of the closures that follow it; all others are loops."""
    made = Trace(system, formulation)
    free_q, free_v = made.free_q, made.free_v
    state, n_q, n_v = made.state_column, len(free_q), len(free_v)
    a_column, accelerations = made.tracer.symbols("acceleration", n_v)
    a: list[Scalar] = [made.known.get(k, 0.0) for k in range(len(made.v))]
    for k, x in zip(free_v, accelerations, strict=True):
        a[k] = x
    applied = applied_forces(made.system, made.tree, made.q, made.v, made.read)
    sprung = [c for c in system.closures.values() if c.by == "springs"]
    springs(made.rows_of(sprung), sprung, applied, pull=True)
    missing = [x - acting for x, acting in zip(made.inverse(a, applied), applied.tau, strict=True)]
    exact = [c for c in system.closures.values() if c.by != "springs"]
    exact = [c for c in exact if c.name not in path] + [c for c in exact if c.name in path]
    rows = made.rows_of(exact)
    second = [gamma + sum(row.get(k, 0.0) * x for k, x in made.known.items())
              for gamma, row in zip(rows.gamma, rows.jacobian, strict=True)]  # fmt: skip
    matrix = [row.get(k, 0.0) for row in rows.jacobian for k in free_v]
    owners = [exact[k].name for k in rows.owners]
    change_column, change = made.tracer.symbols("change", n_v)
    along: list[Scalar] = [0.0] * len(made.v)
    for k, x in zip(free_v, change, strict=True):
        along[k] = x
    moved = retract(made.tree, made.q, along)
    column, t, p = made.tracer.column, made.t_column, made.p_column

    def code(name: str, y: ca.SX, outputs: Sequence[Scalar]) -> MachineCode:
        return compile_function(ca.Function(name, [t, y, p], [column(outputs)]), cache=user_cache("machine-code"))

    return TaskRows(
        owners=tuple(owners),
        angular=rows.angular,
        n_loops=sum(name not in path for name in owners),
        rates=tuple(made.tree.rates[k] for k in free_v),
        start=np.array(made.tree.start)[free_q],
        constraints=code("constraints", state, [*rows.residual, *rows.rate, *second, *matrix]),
        asked=code("asked", ca.vertcat(state, a_column), [missing[k] for k in free_v]),
        moved=code("moved", ca.vertcat(state[:n_q], change_column), [moved[k] for k in free_q]),
        trace=made,
    )
