"""What nothing holds: directions without stiffness along which forces do not change, by the names of their coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.analysis.modes import largest_parts
from pliant.analysis.rest import LOOSE
from pliant.errors import SolveError

if TYPE_CHECKING:
    from pliant.analysis.balance import Balance
    from pliant.analysis.rest import Rest

Floats = NDArray[np.float64]

ASIDE = 0.05  # rad, or of the mechanism's size: how far a loose direction is followed
SAME = 1e-7  # of the stiffness of a coordinate itself, over that way: forces that stay within it do not hold


def refuse_what_nothing_holds(balance: Balance, rest: Rest) -> None:
    """Name the coordinates of directions that are loose here and beside here; a load at a point of buckling is loose only here."""
    names: list[str] = []
    for direction in _loose(balance, rest):
        if _stays_loose(balance, rest.q, direction):
            names += [name for name in largest_parts(tuple(balance.names), direction).split(", ") if name not in names]
    if not names:
        return
    acts = "" if rest.found else ", and something pushes along it"
    friction = ""
    if any(pair.friction is not None for pair in balance.equations.pairs):
        friction = "; friction, which may hold it, carries nothing at an equilibrium"
    raise SolveError(
        f"equilibrium: system {balance.equations.system.name!r}: nothing holds {', '.join(names)}: no spring, gravity, contact or "
        f"closure resists it{acts}{friction}; prescribe its motion, give it a spring, or name its rate in steady"
    )


def _loose(balance: Balance, rest: Rest) -> list[Floats]:
    """Over the free rates, each of size ASIDE."""
    if not rest.stiffness.size:
        return []
    _, sizes, directions = np.linalg.svd(rest.stiffness)
    found = []
    for size, direction in zip(sizes, directions, strict=True):
        if size <= LOOSE:
            motion = rest.free_motions @ direction
            measured = np.abs(motion) / np.where(balance.turns, 1.0, balance.size)
            found.append(motion * (ASIDE / max(float(np.max(measured)), 1e-300)))
    return found


def _stays_loose(balance: Balance, q: Floats, direction: Floats) -> bool:
    """Whether the force along a direction is the same on both sides, beside what a coordinate's own stiffness would make of it."""
    here = balance.at(q)
    own = np.abs(np.diag(balance.stiffness(here)))
    typical = float(np.max(own * direction**2, initial=0.0))
    moved = [balance.at(balance.moved(q, sign * direction)) for sign in (1.0, -1.0)]
    changes = [abs(float((there.force - here.force) @ direction)) for there in moved]
    scale = max(typical, float(np.max(np.abs(here.force * direction), initial=0.0)), 1e-300)
    largest_own = float(np.max(own, initial=0.0)) * float(np.max(np.abs(direction))) ** 2
    return max(changes) <= SAME * max(scale, 1e-3 * largest_own)
