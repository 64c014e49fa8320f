"""A System ready to run: traced, and its functions compiled; what only some runs need is made when asked for."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.host.cache_folder import user_cache
from pliant.model.system import System
from pliant.results.drawing import Drawing

if TYPE_CHECKING:  # casadi and numba come in when a run begins
    from pliant.codegen.function import TracedFunction
    from pliant.codegen.jacobian_kernel import JacobianKernel
    from pliant.codegen.llvm import MachineCode
    from pliant.integrate.constraint_kernel import ConstraintKernels
    from pliant.integrate.time_pieces import Pieces
    from pliant.trace.traced_system import TracedSystem


@dataclass(frozen=True)
class Compiled:
    """A System ready to run: its trace and the machine code of its functions."""

    traced: TracedSystem
    rhs: MachineCode
    observe: MachineCode
    events: MachineCode | None
    open_contact_events: MachineCode | None  # events where no contact is closed
    step_limit: MachineCode | None
    project: MachineCode | None
    implied: MachineCode | None  # rows of closures that others imply, and how far each may go
    trace_seconds: float
    compile_seconds: float
    cache: Path | None = None  # where machine code is kept
    _pieces: dict[tuple[bytes, float, float], Pieces] = field(default_factory=dict, repr=False, compare=False)
    _jacobians: dict[bool, JacobianKernel | None] = field(default_factory=dict, repr=False, compare=False)

    def jacobian(self, whole: bool) -> JacobianKernel | None:
        """The kernel of df/dy, compiled when first asked for; whole: with the rows of works and impulses, and df/dt."""
        from pliant.codegen.jacobian import jacobian_kernel

        if whole not in self._jacobians:
            n = self.traced.n_controlled
            self._jacobians[whole] = jacobian_kernel(self.traced.rhs, n, whole, self.cache)
        return self._jacobians[whole]

    def time_pieces(self, y0: NDArray[np.float64], t_start: float, t_end: float) -> Pieces:
        """Pieces of time within which formulas of time are smooth, at the state y0; kept for the next run."""
        from pliant.trace.timed import pieces_of

        key = (y0.tobytes(), t_start, t_end)
        if key not in self._pieces:
            self._pieces[key] = pieces_of(self.traced, y0, t_start, t_end)
        return self._pieces[key]

    def constraints(self) -> ConstraintKernels | None:
        """The kernels of exact loops that a method with partitioned coordinates asks for."""
        from pliant.trace.partition import constraint_kernels

        return constraint_kernels(self.traced, self.cache)

    @cached_property
    def drawing(self) -> Drawing:
        """What pictures draw of the mechanism, made once for all runs; where it moves to is in their rows."""
        from pliant.show.drawing import draw

        return draw(self.traced.system, self.traced.tree)


def compile_system(
    system: System,
    formulation: str = "articulated",
    cache: bool = True,
    still: bool = False,
    near: float | None = None,
    t_start: float = 0.0,
) -> Compiled:
    """Trace a System and compile its functions; machine code is kept on disk for later processes.

    still: allow a System whose every coordinate is prescribed. near: watch for gaps that pass this distance, m.
    t_start: when closed loops are assembled, s.
    """
    from pliant.codegen.llvm import LARGEST_OPTIMISED, LARGEST_OPTIMISED_IN_RUN, compile_function
    from pliant.trace.tracing import trace

    began = clock.perf_counter()
    try:
        traced = trace(system, formulation, still, near, t_start)
    except (OverflowError, ZeroDivisionError) as trouble:
        rule = "must hold numbers from which the equations can be computed"
        got = f"some that are too large or too small ({trouble})"
        raise ModelError.of(f"system {system.name!r}", "model", rule, got) from trouble
    done = clock.perf_counter()
    folder: Path | None = user_cache("machine-code") if cache else None
    code = {}
    for name, function in _wanted(traced).items():
        largest = LARGEST_OPTIMISED if name == "observe" else LARGEST_OPTIMISED_IN_RUN
        code[name] = compile_function(function, cache=folder, largest=largest)
    events = code.get("event_functions")
    return Compiled(
        traced,
        rhs=code["rhs"],
        observe=code["observe"],
        events=events,
        open_contact_events=code.get("open_contact_event_functions", events),
        step_limit=code.get("step_limit"),
        project=code.get("project"),
        implied=code.get("implied"),
        trace_seconds=done - began,
        compile_seconds=clock.perf_counter() - done,
        cache=folder,
    )


def _wanted(traced: TracedSystem) -> dict[str, TracedFunction]:
    """The functions a run needs: no events where there are none, none of flight where there are no contacts."""
    missing = {"event_functions": not traced.events, "open_contact_event_functions": not traced.pairs}
    return {name: function for name, function in traced.functions.items() if not missing.get(name)}


def absolute_coordinates(system: System, t_start: float = 0.0) -> System:
    """The same mechanism with every body floating and every joint a closure: what formulation="augmented" runs.

    Bodies start where the tree's joints have them at t_start, s. The joint that carried body `arm` is the closure `arm joint`.
    """
    from pliant.trace.absolute import absolute_coordinates

    return absolute_coordinates(system, t_start)[0]
