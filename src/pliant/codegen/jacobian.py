"""Exact df/dy and df/dt of a traced right-hand side, as a kernel for the implicit methods; built on demand."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from pathlib import Path

import casadi as ca

from pliant.codegen.jacobian_kernel import JacobianKernel
from pliant.codegen.llvm import LARGEST_OPTIMISED, compile_function
from pliant.codegen.program import STATE, Program, read_program

# If columns times operations of the right-hand side exceed this, the full Jacobian is not traced: tracing alone would take seconds,
# and compiling it longer.
LARGEST_TRACED = 1_000_000
# Measured times per operation of the right-hand side: to make the Jacobian, and to evaluate the right-hand side in the loop.
SECONDS_TO_MAKE, SECONDS_TO_RUN = 1.2e-4, 4e-10  # s per operation
NO_MATTER = 3.0  # s: always acceptable, since the Jacobian is made once and kept on disk


def price(operations: int) -> float:
    """Number of evaluations of a right-hand side worth the time to make its Jacobian; from counts, so equal on all machines."""
    seconds = SECONDS_TO_MAKE * operations - NO_MATTER
    return seconds / (SECONDS_TO_RUN * operations) if seconds > 0.0 else 0.0


def jacobian_kernel(rhs: ca.Function, n: int, whole: bool, cache: Path | None, series: Sequence[int] = ()) -> JacobianKernel | None:
    """The Jacobian of `rhs` by the first n components of the state.

    whole: include all rows, followed by df/dt; otherwise only the first n rows. One kernel computes all columns if that is cheap to
    compile and to run; otherwise a directional derivative is called for each column. Returns None if rhs is not a graph of scalars.
    series: see `compile_function`.
    """
    if not rhs.is_a("SXFunction"):
        return None
    began = clock.perf_counter()
    by_columns = n * rhs.n_instructions() > LARGEST_TRACED
    if not by_columns:
        full, column = _full(rhs, n, whole), _directional(rhs, n, whole)
        by_columns = full.n_instructions() > min(LARGEST_OPTIMISED, n * column.n_instructions())
    code = compile_function(_directional(rhs, n, whole) if by_columns else full, cache=cache, series=series)
    operations = code.operations * (n if by_columns else 1)
    program = read_program(rhs)
    rates = _rates(program, n)
    spent = clock.perf_counter() - began
    return JacobianKernel(code.address, code.n_work, operations, program.operations, by_columns, rates, spent, code)


def _rates(program: Program, n: int) -> dict[int, int]:
    """Components whose derivative is another component: q' = v."""
    outputs = enumerate(program.outputs[:n])
    return {k: program.a[value] for k, value in outputs if program.kind[value] == STATE and program.a[value] < n}


def _graph(rhs: ca.Function) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
    t, y, p = (ca.SX.sym(name, rhs.numel_in(k)) for k, name in enumerate(("t", "y", "p")))
    return t, y, p, rhs(t, y, p)


def _full(rhs: ca.Function, n: int, whole: bool) -> ca.Function:
    """The Jacobian row by row, followed by df/dt."""
    t, y, p, out = _graph(rhs)
    rows = out if whole else out[:n]
    matrix = ca.jacobian(rows, y)[:, :n]
    column = ca.vec(ca.densify(matrix).T)
    if whole:
        column = ca.vertcat(column, ca.densify(ca.jacobian(rows, t)))
    return ca.Function("jacobian", [t, y, p], [column], ["t", "y", "p"], ["out"])


def _directional(rhs: ca.Function, n: int, whole: bool) -> ca.Function:
    """J w + w_t df/dt for y = [state, w, w_t]."""
    t, y, p, out = _graph(rhs)
    w = ca.SX.sym("w", n + 1)
    rows = out if whole else out[:n]
    along = ca.vertcat(w[:n], ca.SX.zeros(y.numel() - n))
    product = ca.jtimes(rows, ca.vertcat(y, t), ca.vertcat(along, w[n] if whole else ca.SX(0.0)))
    return ca.Function("directional", [t, ca.vertcat(y, w), p], [ca.densify(product)], ["t", "y", "p"], ["out"])


def slopes_along(functions: Sequence[ca.Function], entries: Sequence[int]) -> ca.Function | None:
    """The derivatives of functions of (t, y, p), one after the other, for y = [state, direction in y] and p = [p, direction in
    these entries of p]; None if one is not a graph of scalars."""
    if not all(function.is_a("SXFunction") for function in functions):
        return None
    t, y, p = (ca.SX.sym(name, functions[0].numel_in(k)) for k, name in enumerate(("t", "y", "p")))
    dy, dp = ca.SX.sym("dy", y.numel()), ca.SX.sym("dp", len(entries))
    along = ca.SX.zeros(p.numel())
    for k, place in enumerate(entries):
        along[place] = dp[k]
    out = ca.vertcat(*(function(t, y, p) for function in functions))
    product = ca.jtimes(out, ca.vertcat(y, p), ca.vertcat(dy, along))
    given = [t, ca.vertcat(y, dy), ca.vertcat(p, dp)]
    return ca.Function("slope", given, [ca.densify(product)], ["t", "y", "p"], ["out"])
