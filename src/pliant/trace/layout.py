"""The layout of y, p and the observed row: named slices, made once, so that no other module counts offsets.

y holds the integrated states. p holds values that change only at events of a run, followed by the constants of the model. Owners of
states or of entries of p declare them through a protocol, so that a new owner changes no other file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pliant.arrays import Floats
from pliant.codegen.series import ENTRIES
from pliant.integrate.loop.grip_states import SLIDES
from pliant.integrate.loop.group_kernels import ENTRIES as ENTRIES_OF_PLACE
from pliant.integrate.loop.group_kernels import FREE
from pliant.model.input_series import InputSeries
from pliant.results.table import OBSERVED, QUANTITIES

POSITIONS, RATES, BRISTLES, WORKS, IMPULSES = "positions", "rates", "bristles", "works", "impulses"  # of y
# Also of y: the user's own states; outputs and memories of sampled controllers, which jump at sampling instants; delayed outputs.
OWN, SAMPLED, PENDING = "own states", "sampled", "pending"
NEAR_IMPULSES = "near impulses"  # of y: impulse and works of the pairs of a group that are near
WINDOW, PIECES, CONTACTS, STOPS, SWITCHES = "window", "pieces", "contacts", "stops", "switches"  # of p
NEAR = "near pairs"  # of p
SERIES, CONSTANTS = "series", "constants"  # also of p
# Entries of a pair in p: closed (0 or 1), entry speed, and for a law that can stick its mode and the direction in which it yields.
OPEN = (0.0, 1.0, SLIDES, 0.0, 0.0, 0.0)
FOREVER = 1e300  # s: a window that hides nothing
PRESCRIBED_POSITIONS, PRESCRIBED_RATES = "prescribed positions", "prescribed rates"  # of the observed row, after its quantities


class StateOwner(Protocol):
    """An owner of states, with a label for each."""

    @property
    def name(self) -> str: ...
    @property
    def labels(self) -> tuple[str, ...]: ...


class ParameterOwner(Protocol):
    """An owner of entries of p: how many, and their values for begin <= t <= end with contacts open and no stop pressed."""

    @property
    def name(self) -> str: ...
    @property
    def width(self) -> int: ...
    def at(self, begin: float, end: float) -> Sequence[float] | Floats: ...


class TableSignal(Protocol):
    """A signal or a motion given by a table, with the piece that contains a given time."""

    def piece(self, t: float) -> tuple[float, ...]: ...


@dataclass(frozen=True)
class States:
    """States of one kind."""

    name: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Window:
    """The time that formulas with breakpoints may see: strictly inside the present piece."""

    name: str = WINDOW
    width: int = 2

    def at(self, begin: float, end: float) -> Sequence[float]:
        return math.nextafter(begin, math.inf), math.nextafter(end, -math.inf)


@dataclass(frozen=True)
class Pieces:
    """The straight or cubic piece that each table is on."""

    signals: tuple[TableSignal, ...]
    name: str = PIECES

    @property
    def width(self) -> int:
        return self.starts[-1]

    @property
    def starts(self) -> list[int]:
        """The index at which each signal begins, followed by the total width."""
        widths = [len(signal.piece(0.0)) for signal in self.signals]
        return [sum(widths[:k]) for k in range(len(widths) + 1)]

    def at(self, begin: float, end: float) -> Sequence[float]:
        return [number for signal in self.signals for number in signal.piece(begin)]


@dataclass(frozen=True)
class ContactEntries:
    """Of every pair: whether it is closed, its closing speed, and the mode of friction that can stick."""

    pairs: int
    name: str = CONTACTS

    @property
    def width(self) -> int:
        return len(OPEN) * self.pairs

    def at(self, begin: float, end: float) -> Sequence[float]:
        return OPEN * self.pairs


@dataclass(frozen=True)
class NearEntries:
    """How many places for near pairs of a group may be taken; of each its members, whether it is closed, its closing speed."""

    places: int
    name: str = NEAR

    @property
    def width(self) -> int:
        return 1 + ENTRIES_OF_PLACE * self.places if self.places else 0

    def at(self, begin: float, end: float) -> Sequence[float]:
        return (0.0, *FREE * self.places) if self.places else ()


@dataclass(frozen=True)
class Flags:
    """Flags for discontinuities: damped stops that are pressed, comparisons in formulas."""

    name: str
    width: int

    def at(self, begin: float, end: float) -> Sequence[float]:
        return (0.0,) * self.width


@dataclass(frozen=True)
class SeriesEntries:
    """The table of every input, and room for the piece of it that holds at t; see codegen/series.py."""

    inputs: tuple[InputSeries, ...]
    name: str = SERIES

    @property
    def width(self) -> int:
        return ENTRIES * len(self.inputs)

    def at(self, begin: float, end: float) -> Floats:
        entries = np.zeros((len(self.inputs), ENTRIES))
        entries[:, 0] = [series.table.ctypes.data for series in self.inputs]
        return entries.ravel()

    def flat(self) -> Floats:
        """Each input constant, as large as it ever becomes: with these, functions of time are examined."""
        entries = np.zeros((len(self.inputs), ENTRIES))
        entries[:, 2] = [series.largest for series in self.inputs]
        return entries.ravel()


@dataclass(frozen=True, eq=False)
class Constants:
    """Values computed from the model's numbers, once per run."""

    values: Floats
    name: str = CONSTANTS

    @property
    def width(self) -> int:
        return int(self.values.size)

    def at(self, begin: float, end: float) -> Floats:
        return self.values


@dataclass(frozen=True)
class Layout:
    """Slices of y, of p and of the observed row, by name."""

    y: Mapping[str, slice]
    p: Mapping[str, slice]
    observed: Mapping[str, slice]

    @classmethod
    def of(
        cls,
        states: Sequence[StateOwner],
        parameters: Sequence[ParameterOwner],
        labels: Mapping[str, Sequence[str]],
        prescribed: int,
    ) -> Layout:
        """labels: of every dimension of the result; prescribed: the number of prescribed coordinates."""
        quantities = {name: math.prod(len(labels[d]) for d in QUANTITIES[name].dims) for name in OBSERVED}
        quantities |= {PRESCRIBED_POSITIONS: prescribed, PRESCRIBED_RATES: prescribed}
        return cls(
            y=slices({owner.name: len(owner.labels) for owner in states}),
            p=slices({owner.name: owner.width for owner in parameters}),
            observed=slices(quantities),
        )

    @property
    def states(self) -> slice:
        """The slice of y that results show as the quantity "states"."""
        return slice(self.y[OWN].start, self.y[SAMPLED].stop)

    @property
    def held(self) -> slice:
        """The slice of y that is constant between the instants of sampled controllers."""
        return slice(self.y[SAMPLED].start, self.y[PENDING].stop)

    @property
    def n_controlled(self) -> int:
        """Number of states under error control: all but works and impulses."""
        return int(self.y[WORKS].start)

    @property
    def n_changing(self) -> int:
        """Number of entries of p that may change during a run: all but series and constants."""
        return int(self.p[SERIES].start)


def slices(widths: Mapping[str, int]) -> dict[str, slice]:
    """Consecutive slices of these widths."""
    found, offset = {}, 0
    for name, width in widths.items():
        found[name] = slice(offset, offset + width)
        offset += width
    return found
