"""A tableau in the form that attempts read: its rows, and the rows of coordinates whose rates are states."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pliant.integrate.memory.setup import LEAST_OLD_ERROR
from pliant.integrate.methods.step_rules import PI_CONTROLLER, PLAIN_CONTROLLER
from pliant.integrate.methods.tableaus import Tableau

# Of methods of order 8: beta, with which steps are slightly shorter, and far fewer are rejected; and the least error of the step
# before that counts, so that steps grow soon after an event.
STEADY, LEAST_OLD_STEADY = 0.02, math.log(1e-2)
ROUND_OFF = 1e-15  # of coefficients of order 1


@dataclass(frozen=True)
class Term:
    """The contribution of a stage to a row: coefficients of its rate for states, and for coordinates chained to them."""

    stage: int
    plain: float
    double: float


@dataclass(frozen=True)
class Scheme:
    """A tableau with rows for coordinates whose rates are states: their stages follow from those of the rates."""

    tableau: Tableau

    @property
    def stages(self) -> int:
        return self.tableau.stages

    @cached_property
    def rows(self) -> np.ndarray:
        """(row, stage): stages, the solution, error estimates."""
        s, t = self.stages, self.tableau
        rows = np.zeros((s + 1 + len(t.error), s + 1))
        for i, row in enumerate((*t.a, t.b, *t.error)):
            for j, value in row.items():
                rows[i, j] = float(value)
        return rows

    @cached_property
    def double_rows(self) -> np.ndarray:
        """Rows of coordinates: the sum over stages j of a row times the row of stage j; entries of round-off size become zero."""
        product = np.asarray(self.rows @ self.rows[: self.stages + 1])
        return np.where(np.abs(product) < ROUND_OFF, 0.0, product)

    def terms(self, row: int) -> list[Term]:
        """The stages that a row reads, in the order of summation: first those in both kinds of sums, so that they are read once."""
        terms = [Term(j, float(a), float(b)) for j, (a, b) in enumerate(zip(self.rows[row], self.double_rows[row], strict=True))]
        both, plain = [x for x in terms if x.plain and x.double], [x for x in terms if x.plain and not x.double]
        return both + plain + [x for x in terms if x.double and not x.plain]

    @cached_property
    def carries(self) -> list[bool]:
        """By stage: whether rates of carried components are read; a start needs the first two to see how works begin."""
        s = self.stages
        return [j in (0, 1, 2, s) or self.advances[j] for j in range(s + 1)]

    @cached_property
    def advances(self) -> list[bool]:
        """By stage: whether its rates are part of the solution or of an error estimate."""
        return [bool(self.rows[self.stages :, j].any()) for j in range(self.stages + 1)]

    @cached_property
    def carried_places(self) -> list[int]:
        """By stage: the place that stores its rates of carried components; -1 if the end does not read them."""
        return _shared_places([len(self.rows) if j == 0 or self.advances[j] else -1 for j in range(self.stages)])

    @cached_property
    def places(self) -> list[int]:
        """By stage: the place that stores its rates; a place is reused once its rates are no longer read, so few are needed."""
        s = self.stages
        read = (self.rows != 0.0) | (self.double_rows != 0.0)
        last = [max([j, *np.flatnonzero(read[:, j]).tolist()]) for j in range(s + 1)]
        last[self.last_stage] = max(last[self.last_stage], s + 1)
        return _shared_places([len(read) if j in (0, s) else last[j] for j in range(s + 1)])

    @property
    def errors_read_the_end(self) -> bool:
        """Whether error estimates depend on the derivative at the step's end."""
        return bool(self.rows[self.stages + 1 :, self.stages].any())

    @property
    def nodes(self) -> list[float]:
        return [float(c) for c in self.tableau.c] + [1.0]

    @property
    def last_stage(self) -> int:
        """The last stage, other than the end itself, at the time of the step's end; 0: none."""
        return max((i for i in range(1, self.stages) if self.tableau.c[i] == 1), default=0)

    @property
    def least_old(self) -> float:
        """The least logarithm of the error of the step before that the controller takes into account."""
        return LEAST_OLD_ERROR if self.tableau.order < 8 else LEAST_OLD_STEADY

    @property
    def control(self) -> list[float]:
        """Numbers of the step-size controller: beta, least and largest factor, exponent."""
        rule = PI_CONTROLLER if self.tableau.order < 8 else replace(PLAIN_CONTROLLER, beta=STEADY)
        return [rule.beta, rule.least, rule.largest, rule.exponent(self.tableau.error_order)]


def _shared_places(last: list[int]) -> list[int]:
    """By value: a place not occupied by a value that is still to be read; value j is written at time j and read until `last`."""
    until: list[int] = []
    places = []
    for j, end in enumerate(last):
        if end < 0:
            places.append(-1)
            continue
        place = next((k for k, busy in enumerate(until) if busy <= j), len(until))
        until[place : place + 1] = [end]
        places.append(place)
    return places
