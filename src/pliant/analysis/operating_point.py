"""A point to linearise about: coordinates, rates, held coordinates and closed contacts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.analysis.implicit_equations import ImplicitEquations, contact_state

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class OperatingPoint:
    """The state of a mechanism about which an analysis is made."""

    t: float  # s
    q: Floats
    v: Floats
    held: Mapping[str, float]  # m/s or rad/s: coordinates held at a constant rate, in addition to the prescribed ones
    contacts: Mapping[str, tuple[float, float]]  # closed contacts: entry speed, m/s, and the state of friction that can stick
    bristles: Floats | None = None  # bristle states, followed by user-defined states


def gaps_at(equations: ImplicitEquations, t: float, q: Floats) -> Floats:
    """Gaps of all contact pairs at given coordinates, m."""
    if not equations.pairs:
        return np.zeros(0)
    function = equations.function("gaps", [equations.gaps])
    return np.array(function.call(equations.point(t, q, np.zeros(len(equations.tree.rates))).arguments)[0]).ravel()


def touching(equations: ImplicitEquations, gaps: Floats, sticks: bool = False) -> dict[str, tuple[float, float]]:
    """Closed contacts, as `ImplicitEquations.point` takes them; at rest their entry speed is the law's floor.

    sticks: whether friction laws that can stick do stick.
    """
    return {pair.name: contact_state(sticks and bool(getattr(pair.friction, "holds", False)), float(pair.normal.entry_floor))
            for pair, gap in zip(equations.pairs, gaps, strict=True) if gap < 0.0}  # fmt: skip
