"""Formulas of time in a System, sampled before a run."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from pliant.arrays import Floats
from pliant.codegen.function import TracedFunction
from pliant.codegen.landmarks import edge_times, landmarks
from pliant.codegen.over_time import OverTime
from pliant.codegen.program import PARAMETER, STATE, Program
from pliant.integrate.time_pieces import TimePieces, time_pieces

MOST_KEPT = 256  # pieces of earlier runs


class TimedFormulas:
    """Prescribed positions, drives, loads and conditions that depend explicitly on time, of all Systems of a structure."""

    def __init__(self, function: TracedFunction) -> None:
        self._function = function
        self._kept: dict[tuple[bytes, float, float], TimePieces] = {}  # of earlier runs, by all that their formulas read

    @cached_property
    def program(self) -> Program:
        return self._function.program()

    @cached_property
    def _states_read(self) -> list[int]:
        return self.program.entries_read(STATE)

    @cached_property
    def _parameters_read(self) -> list[int]:
        return self.program.entries_read(PARAMETER)

    def read(self, y: Floats, p: Floats) -> Floats:
        """What these formulas read besides time; y and p may have a row for each of many members."""
        return np.concatenate([y[..., self._states_read], p[..., self._parameters_read]], axis=-1)

    def edges(self, y: Floats, p: Floats, t_start: float, t_end: float) -> Floats:
        """Times at which a formula, or a derivative of it, may jump."""
        return edge_times(self.program, y, p, t_start, t_end)

    def pieces(self, y: Floats, p: Floats, t_start: float, t_end: float) -> TimePieces:
        """TimePieces on which all formulas are nearly cubic; those that also depend on the state are taken at y."""
        key = (self.read(y, p).tobytes(), t_start, t_end)
        known = self._kept.get(key)
        if known is None:
            functions = OverTime(self.program, y, p)
            marks = landmarks(functions, t_start, t_end)
            known = time_pieces(lambda times: functions(self.program.outputs, times), t_start, t_end, marks)
            if len(self._kept) >= MOST_KEPT:
                self._kept.pop(next(iter(self._kept)), None)
            self._kept[key] = known
        return known
