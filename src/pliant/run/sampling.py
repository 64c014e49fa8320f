"""Sampled controllers of a run: at which instants the compiled loop runs them itself, and at which Python is called."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats, Ints, Truths
from pliant.errors import ModelError
from pliant.results.table import QUANTITIES
from pliant.run.instants import Schedule

if TYPE_CHECKING:  # casadi and LLVM are imported when a run begins
    from pliant.codegen.llvm import MachineCode
    from pliant.integrate.memory.phase_tables import Updates
    from pliant.integrate.stepper import Stepper
    from pliant.run.prepare import Compiled


class Sampling:
    """The controllers of one run."""

    def __init__(self, compiled: Compiled, t_start: float, t_end: float, done: bool) -> None:
        """done: the controllers have already run at t_start."""
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
        from pliant.integrate.memory.phase_tables import Updates

        if not self.instants:
            return None
        code, held = self._compiled.structure.code, self._traced.layout.held
        addresses = [0 if instant.python else code[instant.function].address for instant in self.instants]
        return Updates(np.array(addresses, dtype=np.int64), held.start, held.stop - held.start, self.schedule.one_instant)

    def batches(self, most: int) -> Iterator[tuple[int, int]]:
        """Batches of pieces for the loop, as first and last; in a batch, Python is called only at the beginning of the first."""
        calls = np.flatnonzero(np.any(self.schedule.due[:, self._by_python], axis=1))
        first = 0
        while first < self.schedule.pieces:
            later = calls[np.searchsorted(calls, first + 1) :]
            last = min([first + most, self.schedule.pieces, *later[:1].tolist()])
            yield first, last
            first = last

    def is_one_batch(self, most: int) -> bool:
        """Whether the loop covers the whole run in one call."""
        return self.schedule.pieces <= most and not np.any(self.schedule.due[:, self._by_python])

    def calls_python(self, piece: int) -> bool:
        """Whether Python is called at the beginning of a piece."""
        return bool(np.any(self.schedule.due[piece, self._by_python]))

    def due(self, first: int, last: int, stepper: Stepper) -> Truths:
        """What the loop does at the beginnings of these pieces; Python's controllers of the first piece run now."""
        due = self.schedule.due[first:last].copy()
        if self.calls_python(first):
            due[0] = self._call_python(due[0], stepper)
        return due

    def _call_python(self, due: Truths, stepper: Stepper) -> Truths:
        """Run Python's controllers; the loop takes over their outputs together with other outputs that are due at the same time."""
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
        """Call one of Python's controllers with plain numbers."""
        from pliant.trace.sampling import Measured, run_update

        controller = self._system.controllers[name]
        row = self._compiled.observe(t, y, p)
        both = np.concatenate([row, y[::-1]])  # component i of the state has the index -1 - i
        q, v = (dict(zip(names, both[places].tolist(), strict=True)) for names, places in self._named)
        memory = holds.memory_of(name)
        measured = Measured(row.tolist(), self._measured).with_noise(self._system, controller, t)
        outputs = run_update(controller, controller.python, (t, q, v, measured), memory)
        part = f"sampled {name!r}"
        numbers = [_number(part, x) for x in outputs]
        holds.put(name, numbers, {key: _number(part, x) for key, x in memory.items()})

    @cached_property
    def _measured(self) -> dict[str, int]:
        from pliant.trace.sampling import measured_places

        return measured_places(self._traced.columns)

    @cached_property
    def _named(self) -> tuple[tuple[list[str], Ints], ...]:
        """Names and places of q and of v; cut joints keep their names in the tree."""
        from pliant.run.observed import columns_of
        from pliant.trace.absolute import JOINT

        columns, found = self._traced.columns, []
        for kinds in (("q", "joint_q", "states", "sensor"), ("v", "joint_v")):
            names = [name.replace(f"{JOINT}.", ".") for kind in kinds for name in columns[QUANTITIES[kind].dims[0]]]
            places = columns_of(self._traced, kinds)
            found.append((names, np.concatenate([places[kind] for kind in kinds])))
        return tuple(found)


def _number(part: str, x: Any) -> float:
    try:
        number = float(x)
    except (TypeError, ValueError):
        raise ModelError.of(part, "update", "must return numbers", x) from None
    if not np.isfinite(number):
        raise ModelError.of(part, "update", "must return finite numbers", number)
    return number
