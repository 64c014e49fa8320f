"""Sampled controllers of a run: which instants the compiled loop takes by itself, and at which Python is called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.results.table import OBSERVED
from pliant.run.instants import Schedule

if TYPE_CHECKING:  # casadi and numba come in when a run begins
    from pliant.codegen.llvm import MachineCode
    from pliant.integrate.phase_tables import Updates
    from pliant.integrate.stepper import Stepper
    from pliant.run.prepare import Compiled

Floats = NDArray[np.float64]


class Sampling:
    """The controllers of one run."""

    def __init__(self, compiled: Compiled, t_start: float, t_end: float, done: bool) -> None:
        """done: those of t_start have run already."""
        from pliant.trace.sampling import instants_of

        self._compiled, self._traced = compiled, compiled.traced
        self._system = compiled.traced.system
        self.instants = instants_of(self._system)
        self.schedule = Schedule.of(self._system, self.instants, self._traced.breakpoints, t_start, t_end)
        if done:
            self.schedule.due[0] = False
        self._by_python = np.array([instant.python for instant in self.instants], dtype=np.bool_)

    @property
    def kernels(self) -> list[MachineCode]:
        code = self._compiled.structure.code
        return [code[instant.function] for instant in self.instants if not instant.python]

    @property
    def updates(self) -> Updates | None:
        from pliant.integrate.phase_tables import Updates

        if not self.instants:
            return None
        code, held = self._compiled.structure.code, self._traced.layout.held
        addresses = [0 if instant.python else code[instant.function].address for instant in self.instants]
        return Updates(np.array(addresses, dtype=np.int64), held.start, held.stop - held.start, self.schedule.one_instant)

    def batches(self, most: int) -> Iterator[tuple[int, int]]:
        """Pieces that the loop is given at once: first and last, none of which but the first begins with what Python does."""
        calls = np.flatnonzero(np.any(self.schedule.due[:, self._by_python], axis=1))
        first = 0
        while first < self.schedule.pieces:
            later = calls[np.searchsorted(calls, first + 1) :]
            last = min([first + most, self.schedule.pieces, *later[:1].tolist()])
            yield first, last
            first = last

    def is_one_batch(self, most: int) -> bool:
        """Whether the loop runs through all of the run's time at once."""
        return self.schedule.pieces <= most and not np.any(self.schedule.due[:, self._by_python])

    def due(self, first: int, last: int, stepper: Stepper) -> NDArray[np.bool_]:
        """What the loop does where these pieces begin; what Python has to do first, it does now."""
        due = self.schedule.due[first:last].copy()
        if np.any(due[0, self._by_python]):
            due[0] = self._call_python(due[0], stepper)
        return due

    def _call_python(self, due: NDArray[np.bool_], stepper: Stepper) -> NDArray[np.bool_]:
        """Run Python's controllers; the loop takes up what they put out, as it does what falls due at the same time."""
        from pliant.trace.layout import PENDING, SAMPLED
        from pliant.trace.sampling import APPLY, Holds

        y, places = stepper.y.copy(), self._traced.layout
        for k, instant in enumerate(self.instants):
            if not due[k] or not (instant.python or instant.kind == APPLY):
                continue
            holds = Holds(self._system, y[places.y[SAMPLED]].tolist(), y[places.y[PENDING]].tolist())
            if instant.kind == APPLY:
                holds.apply(instant.controller)
            else:
                self._run(instant.controller, holds, stepper.t, y, stepper.p)
            y[places.held] = holds.values
        stepper.hold(y[places.held])
        left = due & ~np.array([instant.kind == APPLY for instant in self.instants])
        return np.asarray(left)

    def _run(self, name: str, holds: Any, t: float, y: Floats, p: Floats) -> None:
        """One of Python's controllers, called with plain numbers."""
        from pliant.trace.sampling import Measured, run_update

        controller, traced = self._system.controllers[name], self._traced
        row = self._compiled.observe(t, y, p)
        observed = {quantity: row[traced.layout.observed[quantity]].tolist() for quantity in OBSERVED}
        memory = holds.memory_of(name)
        outputs = run_update(controller, controller.python, (t, *self._seen(y, row), Measured(observed, traced.columns)), memory)
        part = f"sampled {name!r}"
        numbers = [_number(part, x) for x in outputs]
        holds.put(name, numbers, {key: _number(part, x) for key, x in memory.items()})

    def _seen(self, y: Floats, row: Floats) -> tuple[dict[str, float], dict[str, float]]:
        """q and v by name."""
        from pliant.run.observed import values_of
        from pliant.trace.absolute import JOINT

        columns = self._traced.columns
        values = values_of(self._traced, np.zeros(1), y[None], row[None])

        def by_name(dimension: str, quantity: str) -> dict[str, float]:
            names = [name.replace(f"{JOINT}.", ".") for name in columns[dimension]]  # joints apart keep their names in the tree
            return dict(zip(names, values[quantity][0].tolist(), strict=True))

        q = {**by_name("coordinate", "q"), **by_name("joint_coordinate", "joint_q"), **by_name("state", "states")}
        return q, {**by_name("rate", "v"), **by_name("joint_rate", "joint_v")}


def _number(part: str, x: Any) -> float:
    try:
        number = float(x)
    except (TypeError, ValueError):
        raise ModelError.of(part, "update", "must return numbers", x) from None
    if not np.isfinite(number):
        raise ModelError.of(part, "update", "must return finite numbers", number)
    return number
