"""Where rows go while a run makes them: to memory, of the quantities kept only, or to a file."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from pliant.results.kept import KeptValues
from pliant.results.table import QUANTITIES
from pliant.run.observed import needs_observer, values_of

if TYPE_CHECKING:
    from pliant.results.rows_file import RowsFile
    from pliant.trace.traced_system import TracedSystem

Floats = NDArray[np.float64]

AT_ONCE = 2**20  # numbers of the rows in the loop's buffer, 8 MiB
MOST_ROWS, FEWEST_ROWS = 2**14, 16


def window_of(width: int) -> int:
    """Rows of so many numbers that are in the loop's buffer at most: a power of two, so that chunks of a file fill a window."""
    rows = max(FEWEST_ROWS, min(MOST_ROWS, AT_ONCE // width))
    return 1 << (rows.bit_length() - 1)


class Sink(Protocol):
    """What a run asks of whoever takes its rows, see `integrate.stepper.RowSink`."""

    window: int
    observes: bool

    @property
    def width(self) -> int:
        """Numbers of a row that stay in memory."""

    def take(self, first: int, times: Floats, states: Floats, observed: Floats) -> None: ...

    def collect(self) -> tuple[Floats, KeptValues]:
        """Times and values that are in memory."""


MakeSink = Callable[[int], Sink]


class KeptRows:
    """Rows in memory: of the numbers that the loop writes only the quantities kept stay."""

    def __init__(self, traced: TracedSystem, names: Sequence[str], window: int) -> None:
        self.window, self.observes = window, needs_observer(traced, names)
        self._traced, self._names = traced, names
        self._blocks: dict[int, tuple[Floats, dict[str, Floats]]] = {}  # by the number of the first row

    @property
    def width(self) -> int:
        return 1 + sum(math.prod(self._shape(name)) for name in self._names)

    def take(self, first: int, times: Floats, states: Floats, observed: Floats) -> None:
        values = values_of(self._traced, times, states, observed, self._names)
        self._blocks[first] = times.copy(), {name: array.copy() for name, array in values.items()}

    def collect(self) -> tuple[Floats, KeptValues]:
        """All rows; the blocks go, one quantity after the other."""
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
    """Rows in a file; none of them stays in memory."""

    def __init__(self, traced: TracedSystem, file: RowsFile, window: int) -> None:
        self.window, self.observes = window, needs_observer(traced, file.names)
        self._traced, self.file = traced, file
        self.width = 0

    def take(self, first: int, times: Floats, states: Floats, observed: Floats) -> None:
        self.file.put(first, times, values_of(self._traced, times, states, observed, self.file.names))

    def collect(self) -> tuple[Floats, KeptValues]:
        return np.empty(0), KeptValues()
