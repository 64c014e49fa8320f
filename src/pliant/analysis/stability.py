"""Stability of an equilibrium: by its stiffness if the forces have a potential, else by eigenvalues of the linear equations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.analysis.linear_equations import LinearEquations
from pliant.analysis.modes import is_conservative, largest_parts
from pliant.analysis.rest import LOOSE

if TYPE_CHECKING:
    from pliant.analysis.balance import Balance
    from pliant.analysis.kinks import Kink
    from pliant.analysis.local_dynamics import Dynamics
    from pliant.analysis.operating_point import OperatingPoint
    from pliant.analysis.rest import Rest

POTENTIAL = 1e-9  # fraction of the scaled stiffness: bound on its skew part if the forces have a potential
GROWS = 1e-8  # fraction of the largest eigenvalue: smaller real parts are round-off
MASSLESS = "one of the coordinates has no mass or inertia, so only its stiffness decides"


@dataclass(frozen=True)
class Stability:
    stable: bool | None
    words: str


def stability_of(balance: Balance, rest: Rest, dynamics: Dynamics | None, operating: OperatingPoint) -> Stability:
    """Lagrange-Dirichlet: an equilibrium is stable at a minimum of the potential; damping cannot stabilise any other."""
    stiffness = rest.stiffness
    if not stiffness.size:
        return Stability(True, "stable: nothing is free to move")
    skew = float(np.max(np.abs(stiffness - stiffness.T), initial=0.0))
    if not np.any(operating.v) and skew <= POTENTIAL and not balance.equations.symbols.of_speeds:
        return _by_potential(balance, rest)
    return _by_eigenvalues(balance, dynamics, operating) if dynamics is not None else Stability(None, MASSLESS)


def not_known(kinks: Sequence[Kink]) -> Stability:
    """Where the equations have no derivative there is no stiffness to judge by."""
    return Stability(None, f"undecided: {', '.join(map(str, kinks))}, so that there is no stiffness to decide by")


def _by_potential(balance: Balance, rest: Rest) -> Stability:
    values, vectors = np.linalg.eigh(0.5 * (rest.stiffness + rest.stiffness.T))
    moving = largest_parts(tuple(balance.names), rest.free_motions @ vectors[:, 0])
    if values[0] > LOOSE:
        return Stability(True, "stable: the potential has a minimum there")
    if values[0] < -LOOSE:
        count = int(np.sum(values < -LOOSE))
        more = f" and in {count - 1} more directions" if count > 1 else ""
        return Stability(False, f"unstable: the potential falls along {moving}{more}")
    return Stability(None, f"undecided: the stiffness along {moving} is zero there")


def _by_eigenvalues(balance: Balance, dynamics: Dynamics, operating: OperatingPoint) -> Stability:
    linear = LinearEquations(dynamics, operating, {}, {}, balance.equations.original).collected("", None)
    if not linear.coordinates:
        return Stability(True, "stable: nothing is free to move")
    modes = linear.modes()
    largest = float(np.max(np.abs(modes.eigenvalues), initial=0.0))
    # one zero for every non-holonomic constraint: the other positions of rest around this one (Neimark and Fufaev 1972)
    left = np.flatnonzero(modes.eigenvalues != 0.0)
    fastest = int(left[np.argmax(modes.eigenvalues[left].real)]) if left.size else 0
    growth = float(modes.eigenvalues[fastest].real)
    if growth > GROWS * largest:
        way = "flutters" if modes.eigenvalues[fastest].imag > 0.0 else "diverges"
        return Stability(False, f"unstable: {way} along {modes.moving(fastest)}, growing by a factor e every {1.0 / growth:.3g} s")
    if np.sum(modes.eigenvalues == 0.0) > len(balance.equations.symbols.of_speeds):
        return Stability(None, f"undecided: nothing drives {modes.moving(0)} back")
    if is_conservative(linear) or growth > -GROWS * largest:
        return Stability(True, "stable: no small motion grows, though not every one decays")
    return Stability(True, f"stable: every small motion decays, the slowest by a factor e every {-1.0 / growth:.3g} s")
