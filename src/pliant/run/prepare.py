"""Prepares a System for runs: traces it and compiles its functions; functions that only some runs need are compiled on demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.host.cache_folder import user_cache
from pliant.host.stages import Stages, Tell
from pliant.model import check
from pliant.model.resolve import checked_values
from pliant.model.system import System
from pliant.results.drawing import Drawing
from pliant.run.mechanism import MOST_PAIRS, AnySystem, mechanism_of
from pliant.run.recent import HashedOnce, Recent
from pliant.run.system_memory import SystemMemory

if TYPE_CHECKING:  # casadi and LLVM are imported when a run begins
    from pliant.codegen.directional_kernel import DirectionalKernel
    from pliant.codegen.function import TracedFunction
    from pliant.codegen.jacobian_kernel import JacobianKernel
    from pliant.codegen.llvm import MachineCode
    from pliant.dynamics.tree import Tree
    from pliant.integrate.memory.constraint_kernel import ConstraintKernels
    from pliant.trace.lowered_system import LoweredSystem
    from pliant.trace.traced_system import TracedSystem


@dataclass(frozen=True, eq=False)
class CompiledStructure:
    """What all Systems of the same structure share: the trace of one of them, and the machine code of its functions."""

    traced: TracedSystem
    code: Mapping[str, MachineCode]
    cache: Path | None  # folder of cached machine code
    _jacobians: dict[bool, JacobianKernel | None] = field(default_factory=dict)
    _constraints: list[ConstraintKernels | None] = field(default_factory=list)
    _directional: dict[tuple[Any, ...], DirectionalKernel] = field(default_factory=dict)

    def jacobian(self, whole: bool, stages: Stages) -> JacobianKernel | None:
        from pliant.codegen.jacobian import jacobian_kernel

        if whole not in self._jacobians:
            with stages.stage("jacobian", _compiling("the Jacobian, for implicit steps", self.cache)):
                self._jacobians[whole] = jacobian_kernel(
                    self.traced.rhs, self.traced.n_controlled, whole, self.cache, self.traced.functions["rhs"].series
                )
        return self._jacobians[whole]

    def constraints(self, stages: Stages) -> ConstraintKernels | None:
        from pliant.trace.partition import constraint_kernels

        if not self._constraints:
            with stages.stage("jacobian", _compiling("the constraints of closed loops", self.cache)):
                self._constraints.append(constraint_kernels(self.traced, self.cache))
        return self._constraints[0]

    def directional(self, name: str, active: tuple[int, ...], rows: tuple[int, ...] | None, stages: Stages) -> DirectionalKernel:
        """The kernel of derivatives of a function (or some of its rows) by t, y and these entries of p; of "prepare" by numbers."""
        from pliant.codegen.directional_kernel import DirectionalKernel
        from pliant.codegen.llvm import LARGEST_OPTIMISED_IN_RUN

        key = (name, active, rows)
        if key not in self._directional:
            preparing, largest = name == "prepare", 0 if name in ("prepare", "observe") else LARGEST_OPTIMISED_IN_RUN
            program = self.traced.preparation.program if preparing else self.traced.functions[name].program()
            if rows is not None:
                program = replace(program, outputs=[program.outputs[k] for k in rows])
            with stages.stage("compile", _compiling(f"derivatives of {COMPILED.get(name, 'the constants')}", self.cache)):
                self._directional[key] = DirectionalKernel.of(program, active, self.cache, largest)
        return self._directional[key]

    def fitting(self, lowered: LoweredSystem) -> TracedSystem | None:
        """The trace with the numbers of another System of this structure; None if the trace is not valid for them."""
        constants = self.traced.preparation.constants(lowered.numbers)
        if constants is None or not np.all(np.isfinite(constants)):
            return None
        return self.traced.for_numbers(lowered, constants)


LOWERING, TRACING = "preparing the mechanism", "deriving the equations"
COMPILED = {
    "rhs": "the equations of motion",
    "observe": "the quantities of results",
    "event_functions": "the events",
    "open_contact_event_functions": "the events of open contacts",
    "step_limit": "the limit of steps near contacts",
    "project": "the projection onto closed loops",
    "closures": "the rows of closures",
    "impact": "the responses to impulses",
    "settle": "the start of sensors' filters",
}

MOST_OPERATIONS = 2_000_000  # of all structures kept in the process
PER_STRUCTURE = 10_000  # operations that take as much memory as a structure does besides its operations, 0.25 MiB
STRUCTURES: Recent[CompiledStructure] = Recent(MOST_OPERATIONS)


@dataclass(frozen=True, eq=False)
class Compiled:
    """A compiled System, ready to run: the machine code of its structure, and its own numbers. Made by `compile_system`."""

    traced: TracedSystem
    structure: CompiledStructure
    seconds: Mapping[str, float]  # s that each stage took: "import", "trace", "prepare", "compile"

    def __reduce__(self) -> tuple[Any, ...]:
        rule = "must not be pickled: pickle the System, and compile_system in the other process reads the same code from the cache"
        raise ModelError.of("Compiled", "system", rule, self.traced.system.name)

    def __copy__(self) -> Compiled:
        return self  # nothing in it changes

    def __deepcopy__(self, memo: dict[int, Any]) -> Compiled:
        return self

    @property
    def rhs(self) -> MachineCode:
        return self.structure.code["rhs"]

    @property
    def observe(self) -> MachineCode:
        return self.structure.code["observe"]

    @property
    def look(self) -> MachineCode:
        """The observed row, and behind it what the loop observes of near pairs, if there is a group."""
        return self.structure.code.get("look", self.observe)

    @property
    def events(self) -> MachineCode | None:
        return self.structure.code.get("event_functions")

    @property
    def open_contact_events(self) -> MachineCode | None:
        """The events while no contact is closed."""
        return self.structure.code.get("open_contact_event_functions", self.events)

    @property
    def step_limit(self) -> MachineCode | None:
        return self.structure.code.get("step_limit")

    @property
    def project(self) -> MachineCode | None:
        return self.structure.code.get("project")

    @property
    def closures(self) -> MachineCode | None:
        """The rows of exact closures, implied ones first, and the tolerance of each."""
        return self.structure.code.get("closures")

    @property
    def impact(self) -> MachineCode | None:
        """The speeds of impulsive contacts, and the responses to their impulses."""
        return self.structure.code.get("impact")

    @property
    def settle(self) -> MachineCode | None:
        """The user's own states, with filters of sensors in equilibrium."""
        return self.structure.code.get("settle")

    def with_flags(self, t: float, y: Floats, p: Floats) -> Floats:
        """p with the flags that a run would have in this state, just after t: of comparisons and of damped stops."""
        flags = [(k, event.flag, event.pressed) for k, event in enumerate(self.traced.events) if event.flag is not None]
        code, p = self.open_contact_events, p.copy()
        for _ in flags if code is not None else ():  # a comparison may depend on another
            assert code is not None
            g = code(float(np.nextafter(t, np.inf)), y, p)
            now = [float(g[k] * pressed > 0.0) for k, _, pressed in flags]
            places = [place for _, place, _ in flags]
            if np.array_equal(p[places], now):
                break
            p[places] = now
        return p

    def jacobian(self, whole: bool, stages: Stages | None = None) -> JacobianKernel | None:
        """The kernel of df/dy, compiled on first use; whole: include the rows of works and impulses, and df/dt."""
        return self.structure.jacobian(whole, stages or Stages())

    @property
    def jacobian_price(self) -> float:
        """The rough cost of a Jacobian, in evaluations of the right-hand side."""
        from pliant.codegen.jacobian import price

        return price(self.rhs.operations)

    def constraints(self, stages: Stages | None = None) -> ConstraintKernels | None:
        """The kernels of exact loops that a method with partitioned coordinates needs."""
        return self.structure.constraints(stages or Stages())

    @cached_property
    def drawing(self) -> Drawing:
        """The drawing of the mechanism for pictures, made on first use for all runs; the rows of a run say how it moves."""
        return Drawing.later(partial(_draw, self.traced.system, self.traced.tree))


def _draw(system: System, tree: Tree) -> Drawing:
    from pliant.show.drawing import draw

    return draw(system, tree)


def runnable(system: AnySystem | Compiled, caller: str) -> System | Compiled:
    """What a call runs: a System, or one that was compiled for it."""
    if not isinstance(system, Compiled):
        return mechanism_of(system, caller)
    if system.traced.near_pairs and caller != "simulate":
        rule = f"must be given to {caller} as a System, not compiled: among its shapes only pairs that are near have been prepared"
        raise ModelError.of(f"contact {next(iter(system.traced.system.groups))!r}", "among", rule, system.traced.system.name)
    return system


def compile_system(
    system: AnySystem,
    formulation: str = "articulated",
    cache: bool = True,
    still: bool = False,
    near: float | None = None,
    t_start: float = 0.0,
    parameters: Mapping[str, float] | None = None,
    phase: Tell | None = None,
) -> Compiled:
    """Prepare a System for runs: trace and compile its functions, unless a System with the same structure was compiled before.

    cache: keep machine code in the process and on disk. still: allow a System with every coordinate prescribed. near: record when
    gaps cross this distance, m. t_start: time at which closed loops are assembled, s. parameters: values of parameters by name.
    phase: called with a description of each stage.
    """
    return compile_to_hold((), system, formulation, cache, still, near, t_start, parameters, phase)


def compile_to_hold(
    positions: Sequence[Floats],
    system: AnySystem,
    formulation: str,
    cache: bool,
    still: bool = False,
    near: float | None = None,
    t_start: float = 0.0,
    parameters: Mapping[str, float] | None = None,
    phase: Tell | None = None,
) -> Compiled:
    """The same, with rows of redundant closures that hold the mechanism in these positions, too: coordinates of each."""
    check.function("compile_system", "phase", phase)
    system = mechanism_of(system, "compile_system")
    near = None if near is None else check.number("compile_system", "near", near, "m")
    if near is not None:  # gaps are events of every pair
        system = system.with_named_pairs(f"near={near} m", MOST_PAIRS)
    stages = Stages(phase)
    known, system = SystemMemory.of(system, snapshot := system.snapshot()), snapshot
    with stages.stage("import"):
        from pliant.trace.tracing import lower_system

    with _telling_of_overflow(system):
        with stages.stage("trace", LOWERING):
            values = checked_values(known.parameters(system), parameters)
            plain = known.resolved(system, values)
            lowered = lower_system(plain, formulation, still, near, t_start, values, known.tree, positions)
            lowered = replace(lowered, original=system, readings=known.readings)
            folder: Path | None = user_cache("machine-code") if cache else None
            key = HashedOnce((lowered.lowered.structure, lowered.asked, folder))
            shared = cache and lowered.lowered.shareable
        with stages.stage("prepare"):
            for structure in STRUCTURES.get(key) if shared else ():
                traced = structure.fitting(lowered)
                if traced is not None:
                    return Compiled(traced, structure, stages.seconds)
        structure = _compile_structure(lowered, folder, stages)
    if shared:
        STRUCTURES.put(key, structure, size=PER_STRUCTURE + sum(code.operations for code in structure.code.values()))
    return Compiled(structure.traced, structure, stages.seconds)


def clear_compiled() -> None:
    """Free the machine code that this process keeps for the next System of the same structure; the cache on disk stays.

    About 200 structures are kept, fewer if they are large. A `Compiled` keeps its own machine code as long as it lives.
    """
    STRUCTURES.clear()


def _compile_structure(lowered: LoweredSystem, folder: Path | None, stages: Stages) -> CompiledStructure:
    from pliant.codegen.llvm import LARGEST_OPTIMISED_IN_RUN, compile_function
    from pliant.trace.tracing import trace_lowered

    with stages.stage("trace", TRACING):
        traced = trace_lowered(lowered, folder)
        if lowered.inputs:
            from pliant.run.admission import check_admitted

            check_admitted(traced, lowered)
    code = {}
    for name, function in _wanted(traced).items():
        # functions called only for saved rows are not optimised: a fifth of the time to compile, a third more to run
        largest = 0 if name == "observe" else LARGEST_OPTIMISED_IN_RUN
        with stages.stage("compile", _compiling(COMPILED.get(name, "sampled controllers"), folder)):
            code[name] = compile_function(function, cache=folder, largest=largest)
    if traced.near_pairs:
        from pliant.run.with_groups import composed_code

        with stages.stage("compile", _compiling("contacts among shapes", folder)):
            code |= composed_code(traced, folder)
    with stages.stage("prepare", _compiling("constants of the equations", folder)):
        constants = traced.preparation.constants(lowered.numbers)
    assert constants is not None  # the numbers it was traced with
    return CompiledStructure(traced.for_numbers(lowered, constants), code, folder)


def _compiling(what: str, folder: Path | None) -> str:
    return f"compiling {what}" + (", once for all mechanisms of this structure" if folder is not None else "")


@contextmanager
def _telling_of_overflow(system: System) -> Iterator[None]:
    try:
        yield
    except (OverflowError, ZeroDivisionError) as trouble:
        rule = "must contain numbers from which the equations can be computed"
        got = f"some that are too large or too small ({trouble})"
        raise ModelError.of(f"system {system.name!r}", "model", rule, got) from trouble


def _wanted(traced: TracedSystem) -> dict[str, TracedFunction]:
    """The functions that a run needs: no event functions without events, and none for open contacts without contacts."""
    missing = {"event_functions": not traced.events, "open_contact_event_functions": not traced.all_pairs}
    if traced.near_pairs:
        from pliant.run.with_groups import OWN

        missing |= {name: name not in OWN for name in traced.functions}
    return {name: function for name, function in traced.functions.items() if not missing.get(name)}


def absolute_coordinates(system: AnySystem, t_start: float = 0.0) -> System:
    """The same mechanism in absolute coordinates: every body floats and every joint is a closure, as with formulation="augmented".

    Bodies start at their positions in the tree at t_start, s. The joint that carries body `arm` becomes the closure `arm joint`.
    """
    from pliant.trace.tracing import absolute_coordinates

    t_start = check.number("absolute_coordinates", "t_start", t_start, "s")
    return absolute_coordinates(mechanism_of(system, "absolute_coordinates"), t_start)[0]
