"""A System prepared for tracing: its tree, its start with loops closed, its structure and its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pliant.arrays import Floats
from pliant.dynamics.tree import Tree
from pliant.model.closure import FormulaClosure
from pliant.model.input_series import InputSeries, series_in
from pliant.model.signal import Constant, Formula, MotionTable, PiecewiseConstant, PiecewiseLinear, PiecewiseSmooth, Signal
from pliant.model.system import System
from pliant.trace.assembly import Assembly
from pliant.trace.lowering import Lowered, RememberedReadings, lower

Table = PiecewiseConstant | PiecewiseLinear | PiecewiseSmooth | MotionTable


@dataclass(frozen=True)
class LoweredSystem:
    """Structure and numbers of one System, and its data that no equation reads."""

    original: System  # as the user wrote it
    system: System  # as its formulation rewrote it
    tree: Tree
    formulation: str  # of the equations
    asked: str  # the formulation that was requested
    near: float | None
    t_start: float
    parameters: Mapping[str, float]  # values of the user's parameters
    start: Assembly  # coordinates and rates with exact loops closed, and which of their rows are independent
    warnings: tuple[str, ...]
    readings: RememberedReadings | None = None  # of an earlier run of the System
    hold_at: tuple[Floats, ...] = ()  # coordinates, beside the start, in which the rows held must hold the loops

    @cached_property
    def lowered(self) -> Lowered:
        """Structure and numbers of everything that a trace reads; parameters, which formulas may read, come first."""
        lowered = lower(self.root, self.readings)
        return replace(
            lowered,
            structure=(tuple(self.parameters), tuple(self.inputs), lowered.structure),
            numbers=[*self.parameters.values(), *lowered.numbers],
        )

    @property
    def root(self) -> tuple[object, ...]:
        """Everything that a trace reads except parameters."""
        start = self.start
        return self.system, self.tree, self.near, self.formulation, start.independent, start.scale, start.places, start.blend

    @property
    def numbers(self) -> Floats:
        return np.array(self.lowered.numbers)

    @property
    def redundant(self) -> tuple[str, ...]:
        """Names of closures with directions that others imply."""
        return self.start.redundant

    @cached_property
    def signals(self) -> tuple[Table, ...]:
        return tables(self.system, self.tree)

    @cached_property
    def inputs(self) -> dict[str, InputSeries]:
        """The series that replace parameters, by their names."""
        return series_in(self.parameters)

    @cached_property
    def breakpoints(self) -> tuple[float, ...]:
        return breakpoints(self.system, self.inputs.values())


def signals_of(system: System) -> list[Signal]:
    """The signals of drives, loads, struts, motors and rates of states."""
    drives = [drive.effort for drive in system.drives.values()]
    loads = [component for load in system.loads.values() for component in load.vector]
    struts = [strut.force for strut in system.struts.values() if strut.force is not None]
    motors = [drive.command for drive in system.motors.values() if drive.command is not None]
    return [*drives, *loads, *struts, *motors, *(state.rate for state in system.states.values())]


def tables(system: System, tree: Tree) -> tuple[Table, ...]:
    """Signals and motions that are given by tables, in the order in which p holds their pieces."""
    motions = [c.motion for c in tree.prescribed] + [m for c in system.closures.values() for m in c.prescribed]
    found = [motion for motion in motions if isinstance(motion, MotionTable)]
    return tuple(s for s in [*signals_of(system), *found] if not isinstance(s, (Constant, Formula)))


def breakpoints(system: System, inputs: Iterable[InputSeries] = ()) -> tuple[float, ...]:
    """All times at which a step must end."""
    times = {t for series in inputs for t in series.breakpoints}
    for signal in signals_of(system):
        if not isinstance(signal, Constant):
            times.update(signal.breakpoints)
    for closure in system.closures.values():
        if isinstance(closure, FormulaClosure):
            times.update(closure.formula.breakpoints)
    motions = [motion for link in system.links.values() for motion in link.prescribed.values()]
    for motion in [*motions, *(motion for closure in system.closures.values() for motion in closure.prescribed)]:
        times.update(motion.breakpoints)
    return tuple(sorted(times))
