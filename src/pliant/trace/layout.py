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
from numpy.typing import NDArray

from pliant.integrate.grip_states import SLIDES
from pliant.results.table import OBSERVED, QUANTITIES

Floats = NDArray[np.float64]

POSITIONS, RATES, BRISTLES, WORKS, IMPULSES = "positions", "rates", "bristles", "works", "impulses"  # of y
# Also of y: states of the user's own; outputs and memories of sampled controllers, which jump at instants; outputs on their way.
OWN, SAMPLED, PENDING = "own states", "sampled", "pending"
WINDOW, PIECES, CONTACTS, STOPS, SWITCHES, CONSTANTS = "window", "pieces", "contacts", "stops", "switches", "constants"  # of p
# Of a pair in p: closed (0 or 1), entry speed; of a law that holds what it is doing and the direction in which it yields.
OPEN = (0.0, 1.0, SLIDES, 0.0, 0.0, 0.0)
FOREVER = 1e300  # s: a window that hides nothing
PRESCRIBED_POSITIONS, PRESCRIBED_RATES = "prescribed positions", "prescribed rates"  # of the observed row, behind its quantities


class StateOwner(Protocol):
    """Who has states: what each of them is called, in words."""

    @property
    def name(self) -> str: ...
    @property
    def labels(self) -> tuple[str, ...]: ...


class ParameterOwner(Protocol):
    """Who has entries of p: how many, and what they are while begin <= t <= end, contacts open and nothing pressed."""

    @property
    def name(self) -> str: ...
    @property
    def width(self) -> int: ...
    def at(self, begin: float, end: float) -> Sequence[float] | Floats: ...


class TableSignal(Protocol):
    """A signal or a motion given by a table: which piece of it holds a time."""

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
        """Where each signal begins, and the end."""
        widths = [len(signal.piece(0.0)) for signal in self.signals]
        return [sum(widths[:k]) for k in range(len(widths) + 1)]

    def at(self, begin: float, end: float) -> Sequence[float]:
        return [number for signal in self.signals for number in signal.piece(begin)]


@dataclass(frozen=True)
class ContactEntries:
    """Of every pair: whether it is closed, how fast it closed, what friction that holds is doing."""

    pairs: int
    name: str = CONTACTS

    @property
    def width(self) -> int:
        return len(OPEN) * self.pairs

    def at(self, begin: float, end: float) -> Sequence[float]:
        return OPEN * self.pairs


@dataclass(frozen=True)
class Flags:
    """Flags of what jumps: damped stops that are pressed, comparisons in formulas."""

    name: str
    width: int

    def at(self, begin: float, end: float) -> Sequence[float]:
        return (0.0,) * self.width


@dataclass(frozen=True, eq=False)
class Constants:
    """What was computed from the model's numbers, once for a run."""

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
        """labels: of every dimension of the result; prescribed: how many coordinates are."""
        quantities = {name: math.prod(len(labels[d]) for d in QUANTITIES[name].dims) for name in OBSERVED}
        quantities |= {PRESCRIBED_POSITIONS: prescribed, PRESCRIBED_RATES: prescribed}
        return cls(
            y=slices({owner.name: len(owner.labels) for owner in states}),
            p=slices({owner.name: owner.width for owner in parameters}),
            observed=slices(quantities),
        )

    @property
    def states(self) -> slice:
        """The quantity "states" of results, in y."""
        return slice(self.y[OWN].start, self.y[SAMPLED].stop)

    @property
    def held(self) -> slice:
        """Of y: what stays as it is between the instants of sampled controllers."""
        return slice(self.y[SAMPLED].start, self.y[PENDING].stop)

    @property
    def n_controlled(self) -> int:
        """States that decide the step: all but works and impulses."""
        return int(self.y[WORKS].start)

    @property
    def n_changing(self) -> int:
        """Entries of p that may change in a run: all but the constants."""
        return int(self.p[CONSTANTS].start)


def slices(widths: Mapping[str, int]) -> dict[str, slice]:
    """One behind the other."""
    found, offset = {}, 0
    for name, width in widths.items():
        found[name] = slice(offset, offset + width)
        offset += width
    return found
