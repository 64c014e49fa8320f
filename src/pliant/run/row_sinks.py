"""Destinations of rows during a run: memory (only the quantities kept), or a file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

import numpy as np

from pliant.arrays import Floats
from pliant.host.atomic_files import atomic_write
from pliant.results.kept import KeptValues
from pliant.results.table import QUANTITIES
from pliant.run.observed import needs_observer, values_of

if TYPE_CHECKING:
    from pliant.results.rows_file import RowsFile
    from pliant.run.saved_run import SavedRun
    from pliant.trace.traced_system import TracedSystem

AT_ONCE = 2**20  # numbers in the loop's buffer of rows (8 MiB)
MOST_ROWS, FEWEST_ROWS = 2**14, 16
KEEP_EVERY = 1.0  # s between states that are kept of a run into a file, and at least this many times what keeping one takes
KEEP_SHARE = 20.0


def window_of(width: int) -> int:
    """The number of rows of this width in the loop's buffer: a power of two, so that chunks of a file fill a window."""
    rows = max(FEWEST_ROWS, min(MOST_ROWS, AT_ONCE // width))
    return 1 << (rows.bit_length() - 1)


class Sink(Protocol):
    """The protocol of destinations of rows; see `integrate.stepper.RowSink`."""

    window: int
    observes: bool

    @property
    def width(self) -> int:
        """The number of numbers per row that stay in memory."""

    @property
    def due(self) -> bool:
        """Whether the state of the run is to be kept now."""

    def take(self, first: int, times: Floats, states: Floats, observed: Floats) -> None: ...

    def keep(self, saved: SavedRun) -> None: ...

    def collect(self) -> tuple[Floats, KeptValues]:
        """The times and values in memory."""


MakeSink = Callable[[int], Sink]


class KeptRows:
    """Rows in memory; only the quantities kept are stored."""

    def __init__(self, traced: TracedSystem, names: Sequence[str], window: int) -> None:
        self.window, self.observes = window, needs_observer(traced, names)
        self._traced, self._names, self.due = traced, names, False
        self._blocks: dict[int, tuple[Floats, dict[str, Floats]]] = {}  # by the number of the first row

    @property
    def width(self) -> int:
        return 1 + sum(math.prod(self._shape(name)) for name in self._names)

    def take(self, first: int, times: Floats, states: Floats, observed: Floats) -> None:
        values = values_of(self._traced, times, states, observed, self._names)
        self._blocks[first] = times.copy(), {name: array.copy() for name, array in values.items()}

    def keep(self, saved: SavedRun) -> None:
        """Not needed: if the process is killed, its rows are lost."""

    def collect(self) -> tuple[Floats, KeptValues]:
        """All rows; the blocks are freed quantity by quantity."""
        blocks = [self._blocks[first] for first in sorted(self._blocks)]
        times = np.concatenate([times for times, _ in blocks]) if blocks else np.empty(0)
        values = KeptValues()
        for name in self._names:
            parts = [block.pop(name) for _, block in blocks]
            values[name] = np.concatenate(parts) if parts else np.empty((0, *self._shape(name)))
        return times, values

    def _shape(self, name: str) -> tuple[int, ...]:
        return tuple(len(self._traced.columns[dim]) for dim in QUANTITIES[name].dims)


class FiledRows:
    """Rows in a file; none stay in memory. Beside it, from time to time, the state from which the run can go on."""

    def __init__(self, traced: TracedSystem, file: RowsFile, window: int, state: Path, kept: Callable[[], None]) -> None:
        """state: the file of the state. kept: called when it was written."""
        self.window, self.observes = window, needs_observer(traced, file.names)
        self._traced, self.file, self._state, self._kept = traced, file, state, kept
        self.width = self.rows = 0
        self._next = perf_counter() + KEEP_EVERY

    @property
    def due(self) -> bool:
        return perf_counter() >= self._next

    def take(self, first: int, times: Floats, states: Floats, observed: Floats) -> None:
        self.put(first, times, values_of(self._traced, times, states, observed, self.file.names))

    def put(self, first: int, times: Floats, values: Mapping[str, Floats]) -> None:
        self.file.put(first, times, values)
        self.rows = first + times.size

    def keep(self, saved: SavedRun) -> None:
        """Write the state from which the run can go on; rarely, if that takes long."""
        began = perf_counter()
        with atomic_write(self._state) as draft:
            draft.write_bytes(saved.to_bytes())
        self._kept()
        now = perf_counter()
        self._next = now + max(KEEP_EVERY, KEEP_SHARE * (now - began))

    def collect(self) -> tuple[Floats, KeptValues]:
        return np.empty(0), KeptValues()
