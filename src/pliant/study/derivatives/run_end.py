"""The quantities of a result at the end of its run, with derivatives; if an event ended the run, its time changes too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.arrays import Floats
from pliant.run.observed import values_of
from pliant.study.derivatives.row_derivatives import row_derivatives

if TYPE_CHECKING:
    from pliant.study.derivatives.saltation import Walk

APART = 1e-5  # fraction of the time in which the state changes by its own size: fourth-order differences are accurate to 1e-11
FOURTH = ((-2.0, 1.0 / 12.0), (-1.0, -8.0 / 12.0), (1.0, 8.0 / 12.0), (2.0, -1.0 / 12.0))  # (position, weight)


def quantity_at_end(walk: Walk, name: str, dt: Floats) -> tuple[Floats, Floats]:
    """A quantity and its derivatives (..., theta); dt: the derivatives of the end time of the run."""
    t, y = float(walk.tape.times[-1, 1]), walk.tape.ends[-1]
    value = _observed(walk, np.array([t]), y[None])[name][0]
    slope = row_derivatives(walk, np.array([t]), y[None], (name,))[name][0]
    return value, slope + (np.multiply.outer(_rate(walk, name, t, y), dt) if np.any(dt) else 0.0)


def _rate(walk: Walk, name: str, t: float, y: Floats) -> Floats:
    """The rate of a quantity at the end: differences along the tangent of the run, in its last phase."""
    slope = walk.structure.code["rhs"](t, y, walk.phases[-1].p)
    step = APART / max(float(np.max(np.abs(slope) / (np.abs(y) + 1.0))), 1.0)
    places = np.array([place for place, _ in FOURTH]) * step
    rows = _observed(walk, t + places, y + np.multiply.outer(places, slope))[name]
    return np.asarray(np.tensordot([weight / step for _, weight in FOURTH], rows, axes=1))


def _observed(walk: Walk, times: Floats, states: Floats) -> dict[str, Floats]:
    p, observe = walk.phases[-1].p, walk.structure.code["observe"]
    observed = np.array([observe(t, y, p) for t, y in zip(times.tolist(), states, strict=True)])
    return values_of(walk.traced, times, states, observed)
