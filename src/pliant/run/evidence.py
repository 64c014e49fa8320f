"""What a finished run shows of itself, as warnings judge it: its rows, its course, its touches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.results.contacts import ContactTable
from pliant.results.ledger import Extremes
from pliant.results.state import FinalState
from pliant.results.table import QUANTITIES
from pliant.run.accounts import row_error
from pliant.run.beam_limits import BeamLimits, limits_of
from pliant.run.inertia import Resistance
from pliant.run.observed import values_of

if TYPE_CHECKING:  # casadi and numba come in when a run begins
    from pliant.dynamics.tree import Node
    from pliant.integrate.course import Course
    from pliant.integrate.methods import Method
    from pliant.trace.traced_system import TracedSystem

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """Of states, integrated or not: their times, and what was observed."""

    traced: TracedSystem
    times: Floats  # s, of the saved rows
    values: Mapping[str, Floats]  # of the saved rows, by the names of the result's table

    @property
    def series(self) -> tuple[Floats, Mapping[str, Floats]]:
        """Times and values that are judged."""
        return self.times, self.values

    @cached_property
    def bending(self) -> list[tuple[Node, BeamLimits]]:
        """Beams and telescopic links that bend."""
        tree = self.traced.tree
        limits = [(node, limits_of(tree.bodies[node.name])) for node in tree.nodes]
        return [(node, known) for node, known in limits if known is not None and known.bends]

    @cached_property
    def largest_q(self) -> Floats:
        """Of every coordinate, without its sign, over all rows: bounds come from these; nan where it became so."""
        return _largest(self.series[1]["q"])

    @cached_property
    def largest_v(self) -> Floats:
        """Of every rate."""
        return _largest(self.series[1]["v"])

    @cached_property
    def largest_force(self) -> Floats:
        """Of every body's joint, N: what its largest components would make together."""
        force = self.series[1]["reaction_force"]
        return np.asarray(np.linalg.norm(_largest(force.reshape(len(force), -1)).reshape(-1, 3), axis=1))


@dataclass(frozen=True)
class Evidence(Rows):
    """Of one run, all that a warning may ask for."""

    method: Method
    course: Course
    observed: Floats  # of the course: what the observer writes
    extremes: Extremes
    at_hand: float  # J, the energy that works were controlled against
    size: float  # m, of the mechanism at the start
    weight: float  # N, of all of it
    contacts: ContactTable
    resistance: Resistance
    blind: NDArray[np.int64]  # by event: steps in which it could not be judged
    steps: int
    gone_on: FinalState | None  # where the run went on from, if it did

    @cached_property
    def series(self) -> tuple[Floats, Mapping[str, Floats]]:
        """Times and values of whichever has more rows: what was saved, or what the run kept of its course."""
        course = self.course
        if self.times.size >= course.times.size and len(self.values) == len(QUANTITIES):
            return self.times, self.values
        return course.times, values_of(self.traced, course.times, course.states, self.observed)

    @cached_property
    def balance_error(self) -> float:
        """The largest imbalance of energies and works anywhere, J; nan where an energy is not known."""
        known = len(self.values) == len(QUANTITIES)  # where fewer were kept, the course has to do
        return float(np.maximum(self.extremes.balance_error, row_error(self.values) if known else 0.0))


def _largest(rows: Floats) -> Floats:
    columns = np.ascontiguousarray(rows.T)  # a quarter of the time along rows
    return np.asarray(np.maximum(columns.max(axis=1), -columns.min(axis=1)))
