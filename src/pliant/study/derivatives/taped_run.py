"""A run with the tape of its steps and the parameters by which it is differentiated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pliant.arrays import Floats
from pliant.codegen.llvm import RepeatedCall
from pliant.run.theta import Theta, active_entries

if TYPE_CHECKING:
    from pliant.codegen.directional_kernel import DirectionalKernel
    from pliant.codegen.llvm import MachineCode
    from pliant.host.stages import Stages
    from pliant.integrate.stepper import Tape
    from pliant.run.simulate import Run


@dataclass
class TapedRun:
    """What the files of this folder read of a run."""

    run: Run
    tape: Tape
    theta: Theta
    stages: Stages

    def __post_init__(self) -> None:
        self.traced = self.run.traced
        self.n_changing = self.traced.layout.n_changing
        self.active = active_entries(self.theta, self.traced)
        self.structure = self.theta.structure
        self.rhs: MachineCode = self.structure.code["rhs"]
        self.rates = RepeatedCall(self.rhs)

    def kernel(self, name: str, rows: tuple[int, ...] | None = None) -> DirectionalKernel:
        return self.structure.directional(name, self.active, rows, self.stages)


@dataclass
class EventPoint:
    """The state at an event, before the event changes anything."""

    t: float
    y: Floats
    p: Floats
    s: Floats
    dp: Floats
    slope: Floats  # f-
    seen: dict[tuple[int, ...], tuple[Floats, Floats]] = field(default_factory=dict, init=False)  # event functions, by their rows

    def moved(self, dt: Floats) -> Floats:
        """A: the derivative of the state at the event."""
        return self.s + np.outer(self.slope, dt)
