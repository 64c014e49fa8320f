"""What a forward run takes over from inverse dynamics: efforts as smooth tables, and the state in which the motion begins."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.signal import PiecewiseSmooth
from pliant.results.result import Result

PART = "drive_by"
CORNERS = "corners"  # of the motion, in the statistics of a result
LABELS = (" motion", " motor")  # with which inverse dynamics ends the labels of the efforts it computed
SHRINKS = 16.0  # times: the error of a cubic spline at half the interval


def efforts_of(inverse: Any) -> dict[str, PiecewiseSmooth]:
    """The efforts that inverse dynamics computed, by coordinate."""
    check.instance(PART, "inverse", inverse, Result, "a result of inverse_dynamics")
    names = [name for name in inverse.labels["drive"] if name.endswith(LABELS)]
    if not names:
        raise ModelError.of(PART, "inverse", "must be a result of inverse_dynamics, with the efforts of a motion", inverse)
    times, corners = tuple(np.asarray(inverse.time).tolist()), tuple(inverse.stats.get(CORNERS, ()))
    try:
        return {name.rpartition(" ")[0]: PiecewiseSmooth(times, tuple(inverse["effort", name].tolist()), corners) for name in names}
    except ModelError as trouble:
        raise ModelError(f"{PART}: rows of the inverse dynamics must be saved more often; {trouble}") from None


def interpolation_error(table: PiecewiseSmooth) -> float:
    """How far a table may be from the effort between its rows: a sixteenth of how far every second row leaves the others."""
    inner = [t for t in table.times if all(abs(t - corner) > 0.0 for corner in table.corners)]
    known = dict(zip(table.times, table.values, strict=True))
    kept = [t for k, t in enumerate(inner) if k % 2 == 0 or t == inner[-1]]
    try:
        half = PiecewiseSmooth(kept, [known[t] for t in kept], table.corners)
    except ModelError:  # too few rows between corners
        return float("nan")
    return max((abs(half.at(t) - known[t]) for t in inner), default=0.0) / SHRINKS


def first_row(inverse: Result) -> tuple[dict[str, float], dict[str, float]]:
    """Coordinates and rates at which the motion begins, by name."""
    q = dict(zip(inverse.labels["coordinate"], inverse.values["q"][0].tolist(), strict=True))
    return q, dict(zip(inverse.labels["rate"], inverse.values["v"][0].tolist(), strict=True))
