"""Writes a method into the memory of a run: its family, its coefficients, and the settings of its step control."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from pliant.codegen.jacobian_kernel import JacobianKernel
from pliant.host.stages import Stages
from pliant.integrate.compiled_loops import address_of_loop
from pliant.integrate.memory.constraint_kernel import ConstraintKernels
from pliant.integrate.memory.memory import Floats, Memory
from pliant.integrate.methods.method import Method, Scheme
from pliant.integrate.methods.step_rules import PI_CONTROLLER, PLAIN_CONTROLLER, STIFF_CONTROLLER
from pliant.integrate.methods.tableaus import Tableau

Constraints = Callable[[], ConstraintKernels | None]
Jacobian = Callable[[bool], JacobianKernel | None]  # argument: whether rows of quadratures and df/dt are needed

LEAST_OLD_ERROR, LEAST_OLD_ERROR_STIFF = math.log(1e-4), math.log(1e-2)
HOLD = 1.2  # a step that would grow by less than this factor is kept, with its factorisation
OPERATIONS_A_COMPONENT = 30.0  # assumed for a right-hand side of unknown size
LARGEST_COUPLED = 600  # unknowns of all stages together: a matrix of 3 MB, about 70 ms per factorisation
ROUND_OFF = 2.0**-52


def set_up(
    memory: Memory,
    method: Method,
    atol: Floats,
    jacobian: Jacobian | None,
    n_newton: int,
    constraints: Constraints | None = None,
    stages: Stages | None = None,
) -> None:
    """Set up a method; the state, its derivative and the step stay as they are."""
    memory.set(effort=1.0, hold=1.0, predictive=0, max_step=math.inf, watching=len(method.alternatives) > 1)
    memory.set(family=address_of_loop(f"methods.{method.family}", stages or Stages()))
    _bind_scheme(memory, method, n_newton)
    if method.needs_jacobian:
        _bind_jacobian(memory, method, jacobian, n_newton)
    if method.needs_partition:
        _bind_constraints(memory, None if constraints is None else constraints())
    _set_control(memory, method, atol)


def _bind_scheme(memory: Memory, method: Method, n_newton: int) -> None:
    """Bind the method's coefficients, and memory for its stages."""
    scheme = method.tableau
    if isinstance(scheme, Tableau):
        memory.bind_tableau(scheme)
        return
    rows = int(memory.run["n"]) if method.needs_time_derivative else n_newton
    memory.bind_implicit(scheme.pack(), scheme.stages, scheme.pairs, n_newton, rows)
    memory.set(pole=scheme.pole, error_rows=1, terms=scheme.terms)


def _bind_jacobian(memory: Memory, method: Method, jacobian: Jacobian | None, n_newton: int) -> None:
    """Bind the kernel of the Jacobian, if there is one, and memory for the linear systems."""
    kernel = None if jacobian is None else jacobian(method.needs_time_derivative)
    if kernel is None:
        memory.set(jacobian=0, jacobian_by_columns=0)
    else:
        memory.kernel = kernel
        memory.bind_work(kernel.n_work)
        memory.set(jacobian=kernel.address, jacobian_by_columns=kernel.by_columns)
    chained = {} if kernel is None else _chained(kernel.rates)
    size = n_newton - len(chained)
    coupled = method.collocates and method.tableau.stages * size <= LARGEST_COUPLED
    memory.bind_systems(chained, coupled)
    _note_costs(memory, kernel, size)


def _bind_constraints(memory: Memory, kernels: ConstraintKernels | None) -> None:
    """Bind the constraints of a run with partitioned coordinates; they hold at every stage, so no projection is needed."""
    if kernels is None:
        memory.bind_partition(0, 0, np.zeros(0))
        return
    memory.kernel = kernels
    memory.bind_partition(kernels.rows, kernels.positions, kernels.ease)
    memory.bind_work(kernels.n_work)
    memory.set(constraints=kernels.values, shift=kernels.shift, project=0)


def _chained(rates: dict[int, int]) -> dict[int, int]:
    """Components whose rate is another component, and that component; none of them is itself a rate."""
    chosen: dict[int, int] = {}
    for k, rate in rates.items():
        if rate not in chosen and k not in chosen.values() and k != rate:
            chosen[k] = rate
    return chosen


def _note_costs(memory: Memory, kernel: JacobianKernel | None, size: int) -> None:
    """Note the costs of a Jacobian and of a factorisation, in evaluations of the right-hand side; differences count themselves."""
    evaluation = max(kernel.rhs_operations, 1) if kernel is not None else OPERATIONS_A_COMPONENT * int(memory.run["n"])
    systems = 1 + 4 * int(memory.run["pairs"])  # a complex product is four real ones
    factorisation = size**3 / 3.0 * systems
    iteration = 2 * size**2 * systems + 3 * int(memory.run["schemed"]) ** 2 * int(memory.run["n_newton"])  # ... and T, T^-1, 1/h
    memory.set(jacobian_cost=0.0 if kernel is None else kernel.operations / evaluation)
    memory.set(factorisation_cost=factorisation / evaluation, iteration_cost=iteration / evaluation)


def _set_control(memory: Memory, method: Method, atol: Floats) -> None:
    scheme = method.tableau
    memory.bind(atol=atol)
    memory.loosened = 1.0
    if method.fixed_step is not None:
        memory.set(error_rows=0, rtol=method.rtol, at_ends=method.events_at_ends)
        return
    explicit = not method.needs_jacobian
    usual = STIFF_CONTROLLER if not explicit else PI_CONTROLLER if scheme.order < 8 else PLAIN_CONTROLLER
    rule = method.rule or usual
    memory.set(
        rtol=method.rtol,
        max_step=math.inf if method.max_step is None else method.max_step,
        first_step=method.first_step or 0.0,
        order=scheme.order,
        beta=rule.beta,
        min_factor=rule.least,
        max_factor=rule.largest,
        exponent=rule.exponent(scheme.error_order),
        safety=rule.safety,
        again=rule.again,
        worst=rule.worst,
        stretch=rule.stretch,
        halves=rule.halves,
        predictive=not explicit,
        least_old_error=LEAST_OLD_ERROR if explicit else LEAST_OLD_ERROR_STIFF,
        at_ends=method.events_at_ends,
    )
    if method.collocates:
        _loosen(memory, scheme, method.rtol, atol)
    if method.newton is not None:
        memory.set(newton_tolerance=method.newton)


def _loosen(memory: Memory, scheme: Scheme, rtol: float, atol: Floats) -> None:
    """The tolerance of the estimate, of order s, at which the solution, of order 2 s - 1, meets the requested tolerance.

    Hairer, radau: 0.1 rtol^((s+1)/(2s)), both tolerances in proportion.
    """
    power = (scheme.stages + 1) / (2 * scheme.stages)
    held = 0.1 * rtol**power
    memory.set(rtol=held, hold=HOLD, newton_limit=7 + (scheme.stages - 3) * 5 // 2)
    memory.set(newton_tolerance=max(10.0 * ROUND_OFF / held, min(0.03, held ** (1.0 / power - 1.0))))
    memory.loosened = held / rtol
    memory.bind(atol=atol * memory.loosened)
