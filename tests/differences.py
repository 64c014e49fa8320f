"""Derivatives of runs by extrapolated central differences, at the tightest tolerances: what sensitivities are held against."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

import pliant as pl

Floats = NDArray[np.float64]
Outcome = Callable[[pl.Result], Floats]

TIGHT = pl.DOP853(rtol=1e-13, atol=1e-16)
STEP = 1e-4  # of a parameter; with three steps, each half the one before, errors are of the sixth order


def final_state(result: pl.Result) -> Floats:
    assert result.final_state is not None
    return result.final_state.y


def contact_numbers(result: pl.Result) -> Floats:
    """Of contacts that have ended."""
    names = ("begin", "end", "entry_speed", "exit_speed", "peak_force", "impulse", "normal_loss", "friction_loss")
    return np.array([[getattr(record, name) for name in names] for record in result.contacts if not record.lasting])


def extrapolated(of: Callable[[float], Floats], value: float, step: float = STEP) -> tuple[Floats, Floats]:
    """(derivative, an estimate of its error) of a function, by central differences."""
    slopes = []
    for share in (1.0, 0.5, 0.25):
        h = share * step * (abs(value) or 1.0)
        slopes.append((of(value + h) - of(value - h)) / (2.0 * h))
    coarse, fine = (4.0 * slopes[1] - slopes[0]) / 3.0, (4.0 * slopes[2] - slopes[1]) / 3.0
    return (16.0 * fine - coarse) / 15.0, np.abs(fine - coarse) / 15.0


def by_parameter(
    system: pl.System, t_end: float, name: str, outcome: Outcome = final_state, step: float = STEP, method: pl.DOP853 = TIGHT,
    values: Mapping[str, float] | None = None,
) -> tuple[Floats, Floats]:  # fmt: skip
    """d outcome / d parameter."""
    value = {**{n: p.value for n, p in system.parameters.items()}, **(values or {})}[name]

    def at(x: float) -> Floats:
        return outcome(pl.simulate(system, t_end, method=method, parameters={**(values or {}), name: x}, save=[t_end]))

    return extrapolated(at, value, step)


def relative(ours: Floats, theirs: Floats) -> float:
    """The largest error of a row or column, of its size."""
    return float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))
