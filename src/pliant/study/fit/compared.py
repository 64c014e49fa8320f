"""An experiment compared with its run: differences, and the weighted residuals that a search makes small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.results.result import Result

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Compared:
    """One experiment compared with its run."""

    name: str
    time: Floats
    measured: Mapping[str, Floats]  # by column, in SI units
    run: Mapping[str, Floats]  # the same of the run
    units: Mapping[str, str]  # of columns, of what is compared and of its differences
    differences: Mapping[str, Floats]  # run minus measurement, in SI units, nan where there is no measurement; rotations by three
    residuals: Floats  # weighted (and whitened) residuals of all measured values, difference by difference
    size: float  # root of the sum of squares of the weighted measured values
    slopes: Floats  # derivatives of the residuals by the parameters
    result: Result
    warnings: tuple[str, ...]
    pieces: Mapping[str, tuple[slice, ...]]  # consecutive rows of each difference among the residuals
    exact: bool = True  # whether no derivative is a difference of runs
    values: Mapping[str, float] = field(default_factory=dict)  # of the free parameters in this run, its own among them

    def rows(self, name: str) -> slice:
        """Where the residuals of a difference are."""
        pieces = self.pieces[name]
        return slice(pieces[0].start, pieces[-1].stop) if pieces else slice(0, 0)


def difference_names(compared: Sequence[Compared]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for part in compared for name in part.differences))


def groups_of(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Names of differences that belong together: the three of a rotation; all others are alone."""
    groups: dict[str, tuple[str, ...]] = {}
    for name in names:
        head, about, axis = name.rpartition(" about ")
        group = head if about and axis in {"x", "y", "z"} else name
        groups[group] = (*groups.get(group, ()), name)
    return groups


def unit_of(compared: Sequence[Compared], name: str) -> str:
    """The unit of a column or of what is compared."""
    return next(part.units[name] for part in compared if name in part.units)


def root_mean_square(values: Any) -> float:
    return float(np.sqrt(np.nanmean(np.square(values))))
