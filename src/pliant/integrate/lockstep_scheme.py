"""A tableau as attempts read it: its rows, and the rows of coordinates whose rates are states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.integrate.setup import PI_CONTROLLER, PLAIN_CONTROLLER
from pliant.integrate.tableaus import Tableau


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
        """Of coordinates: sum over stages j of a row times the row of stage j."""
        return np.asarray(self.rows @ self.rows[: self.stages + 1])

    @property
    def nodes(self) -> list[float]:
        return [float(c) for c in self.tableau.c] + [1.0]

    @property
    def last_stage(self) -> int:
        """The last one before the end that is at the step's end; 0: none."""
        return max((i for i in range(1, self.stages) if self.tableau.c[i] == 1), default=0)

    @property
    def control(self) -> list[float]:
        """Of the controller: beta, least and largest factor, exponent."""
        beta, least, largest = PI_CONTROLLER if self.tableau.order < 8 else PLAIN_CONTROLLER
        return [beta, least, largest, 1.0 / (self.tableau.error_order + 1) - 0.75 * beta]
