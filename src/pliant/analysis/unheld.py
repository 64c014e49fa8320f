"""What nothing holds: directions without stiffness along which forces do not change, by the names of their coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
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
SLIPS = 1e-6  # of the way: slip at a contact with friction, which then holds it


def refuse_what_nothing_holds(balance: Balance, rest: Rest) -> list[str]:
    """Names of coordinates that are held by friction alone; what nothing holds at all is refused.

    A direction counts that is loose here and beside here: at a point of buckling it is loose only here.
    """
    loose = [motion for motion in _loose(balance, rest) if _stays_loose(balance, rest, motion)]
    if not loose:
        return []
    free, rubbed = _parted(balance, rest, np.array(loose).T)
    names = _names(balance, free)
    if not names:
        return _names(balance, rubbed)
    acts = "" if rest.found else ", and something pushes along it"
    raise SolveError(
        f"equilibrium: system {balance.equations.system.name!r}: nothing holds {', '.join(names)}: no spring, gravity, contact or "
        f"closure resists it{acts}; prescribe its motion, give it a spring, or name its rate in steady"
    )


def _names(balance: Balance, motions: Floats) -> list[str]:
    """Of the coordinates that take the largest parts, each once."""
    parts = [name for motion in motions.T for name in largest_parts(tuple(balance.names), motion).split(", ")]
    return list(dict.fromkeys(parts))


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


def _stays_loose(balance: Balance, rest: Rest, direction: Floats) -> bool:
    """Whether the force along a direction is the same on both sides, beside what a coordinate's own stiffness would make of it."""
    here = balance.at(rest.q, rest.share)
    own = np.abs(np.diag(balance.stiffness(here)))
    typical = float(np.max(own * direction**2, initial=0.0))
    moved = [balance.at(balance.moved(rest.q, sign * direction), rest.share) for sign in (1.0, -1.0)]
    changes = [abs(float((there.force - here.force) @ direction)) for there in moved]
    scale = max(typical, float(np.max(np.abs(here.force * direction), initial=0.0)), 1e-300)
    largest_own = float(np.max(own, initial=0.0)) * float(np.max(np.abs(direction))) ** 2
    return max(changes) <= SAME * max(scale, 1e-3 * largest_own)


def _parted(balance: Balance, rest: Rest, loose: Floats) -> tuple[Floats, Floats]:
    """Loose motions at which no contact with friction slips, and the rest of them, at which one does."""
    slips = _slip_matrix(balance, rest) @ loose if rest.found else np.zeros((0, loose.shape[1]))
    if not len(slips):
        return loose, loose[:, :0]
    _, sizes, directions = np.linalg.svd(slips)
    slipping = int(np.sum(sizes > SLIPS * float(np.max(np.abs(loose)))))
    return loose @ directions[slipping:].T, loose @ directions[:slipping].T


def _slip_matrix(balance: Balance, rest: Rest) -> Floats:
    """Slips of closed contacts that have friction, over the free rates."""
    missing, moving = balance.at(rest.q, rest.share), balance.moving
    rubbing = [contact for contact, gap in zip(moving.contacts, missing.gaps, strict=True)
               if gap < 0.0 and contact.kinematics.pair.friction is not None]  # fmt: skip
    slips = [s for contact in rubbing for s in contact.kinematics.slip]
    if not slips:
        return np.zeros((0, len(balance.free)))
    matrix = moving.function("slips", [ca.jacobian(moving.tracer.column(slips), moving.v_column)])
    point = moving.point(balance.t, rest.q, balance.v)
    return np.asarray(np.array(matrix.call(point.arguments)[0])[:, balance.free])
