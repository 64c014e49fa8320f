"""The data of a finished run from which warnings are judged: its rows, its course and its contacts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from pliant.arrays import Floats, Ints
from pliant.results.contacts import ContactTable
from pliant.results.ledger import Extremes
from pliant.results.state import FinalState
from pliant.results.table import HELD, QUANTITIES
from pliant.run.beam_limits import BeamLimits, limits_of
from pliant.run.observed import values_of

if TYPE_CHECKING:  # casadi and LLVM are imported when a run begins
    from pliant.dynamics.tree import Node, Tree
    from pliant.integrate.memory.course import Course
    from pliant.integrate.methods.method import Method
    from pliant.model.system import System
    from pliant.trace.traced_system import TracedSystem

JUDGED = ("q", "v", "orientation", "reaction_force")  # quantities whose course warnings read


class Resists(Protocol):
    """Says which motions have no inertia: see `run.inertia.InertiaCheck`."""

    def unresisted(self, t: float, y: Floats, p: Floats) -> str | None: ...
    def left(self, t: float, y: Floats, before: Floats, p: Floats) -> tuple[float, str]: ...


class Mechanism(Protocol):
    """What judging rows needs to know of a mechanism; every kind of trace has it."""

    @property
    def tree(self) -> Tree: ...
    @property
    def system(self) -> System: ...
    @property
    def original(self) -> System: ...


@dataclass(frozen=True)
class Rows:
    """Rows of states, integrated or not: their times and the observed quantities."""

    traced: Mechanism
    times: Floats  # s, of the saved rows
    values: Mapping[str, Floats]  # of the saved rows, by the names of the result's table

    @property
    def series(self) -> tuple[Floats, Mapping[str, Floats]]:
        """The times and values that are judged."""
        return self.times, self.values

    def growth(self, square: Floats) -> float:
        """int sqrt(square) dt over intervals whose both ends exceed the limit: how often a deflection would grow e-fold."""
        rate = np.sqrt(np.where(square > 0.0, square, 0.0))
        return float(np.minimum(rate[:-1], rate[1:]) @ np.diff(self.series[0])) if rate.size > 1 else 0.0

    @cached_property
    def bending(self) -> list[tuple[Node, BeamLimits]]:
        """Beams and telescopic links that bend."""
        tree = self.traced.tree
        limits = [(node, limits_of(tree.bodies[node.name])) for node in tree.nodes]
        return [(node, known) for node, known in limits if known is not None and known.bends]

    @cached_property
    def largest_q(self) -> Floats:
        """The largest magnitude of every coordinate over all rows, for bounds; nan if a value is nan."""
        return _largest(self.series[1]["q"])

    @cached_property
    def largest_v(self) -> Floats:
        """The largest magnitude of every rate over all rows."""
        return _largest(self.series[1]["v"])

    @cached_property
    def largest_force(self) -> Floats:
        """An upper bound of the joint force of every body, N: the magnitude of its largest components together."""
        force = self.series[1]["reaction_force"]
        return np.asarray(np.linalg.norm(_largest(force.reshape(len(force), -1)).reshape(-1, 3), axis=1))


@dataclass(frozen=True)
class LastingState(Rows):
    """One row, of an equilibrium, a steady motion or the point of a linearisation: whatever grows there has time to grow."""

    def growth(self, square: Floats) -> float:
        return np.inf if np.any(square > 0.0) else 0.0


@dataclass(frozen=True)
class Evidence(Rows):
    """All data of one run that a warning may use."""

    traced: TracedSystem
    method: Method
    course: Course
    observed: Floats  # the observed numbers along the course
    extremes: Extremes
    at_hand: float  # J, the energy that scales the error control of works
    size: float  # m, of the mechanism at the start
    weight: float  # N, of the whole mechanism
    contacts: ContactTable
    resistance: Resists
    blind: Ints  # by event: number of steps in which it could not be evaluated
    steps: int
    continued_from: FinalState | None  # the state from which the run continued, if it did
    impacts: tuple[int, float, float, int] = (0, 0.0, 1.0, 0)  # of impulsive contacts: see `stepper.Impacts`

    @cached_property
    def series(self) -> tuple[Floats, Mapping[str, Floats]]:
        """The times and values of the saved rows or of the course of the run, whichever has more rows."""
        course = self.course
        if self.times.size >= course.times.size and len(self.values) == len(QUANTITIES):
            return self.times, self.values
        return course.times, values_of(self.traced, course.times, course.states, self.observed, JUDGED)

    @cached_property
    def balance_error(self) -> float:
        """The largest imbalance of energies and works, J; nan if an energy is not known."""
        known = len(self.values) == len(QUANTITIES)  # if fewer were kept, only the course is used
        return float(np.maximum(self.extremes.balance_error, _row_error(self.values) if known else 0.0))


def _largest(rows: Floats) -> Floats:
    columns = np.ascontiguousarray(rows.T)  # takes a quarter of the time
    return np.asarray(np.maximum(columns.max(axis=1), -columns.min(axis=1)))


def _row_error(values: Mapping[str, Floats]) -> float:
    """The largest imbalance of the saved rows, J: the ledger's number at a fraction of the cost."""
    work = values["work"]
    unaccounted = sum(values[name] for name in HELD) - work @ np.ones(work.shape[1])
    return float(np.max(np.abs(unaccounted - unaccounted[0]))) if unaccounted.size else 0.0
