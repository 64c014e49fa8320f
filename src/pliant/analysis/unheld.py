"""Unconstrained motions: directions without stiffness, along which forces do not change, by the names of their coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from pliant.analysis.modes import largest_parts
from pliant.analysis.rest import LOOSE
from pliant.arrays import Floats
from pliant.errors import SolveError

if TYPE_CHECKING:
    from pliant.analysis.balance import Balance, Missing
    from pliant.analysis.rest import Rest
    from pliant.analysis.symbolic_equations import SymbolicEquations

ASIDE = 0.05  # rad, or fraction of the mechanism's size: how far a loose direction is followed
SAME = 1e-7  # fraction of a coordinate's own stiffness times ASIDE: a smaller change of force does not hold it
SLIPS = 1e-6  # fraction of ASIDE: with more slip than this at a contact, its friction holds the motion


def refuse_underconstrained(balance: Balance, rest: Rest) -> list[str]:
    """Names of coordinates that only friction holds; coordinates that nothing holds raise an error.

    A direction counts only if it is loose both at the point and nearby: at a buckling point it is loose only at the point itself.
    """
    loose = [motion for motion in _loose(balance, rest) if _stays_loose(balance, rest, motion)]
    if not loose:
        return []
    free, rubbed = _parted(balance, rest, np.array(loose).T)
    names = _names(balance, free)
    if not names:
        return _names(balance, rubbed)
    acts = "" if rest.found else ", yet a force acts along it"
    rubbing = {rate for own in balance.equations.symbols.rubbing if own.grip is not None for rate in own.joint.rates}
    if rubbing.intersection(names):
        acts += " (the friction inside the joint may hold it, but an equilibrium is sought without)"
    raise SolveError(
        f"equilibrium: system {balance.equations.system.name!r}: nothing holds {', '.join(names)}: no spring, gravity, contact or "
        f"closure resists it{acts}; prescribe its motion, give it a spring, name its position in hold, or its rate in steady"
    )


def one_of_many(balance: Balance, missing: Missing) -> str:
    """Other positions of rest beside this one, to first order: one direction for each row that holds a speed, not a position."""
    of_speeds, closures = balance.equations.symbols.of_speeds, balance.equations.symbols.closures
    held = np.delete(missing.matrix, of_speeds, axis=0)
    placed = np.linalg.qr(held.T, mode="complete")[0][:, len(held) :]  # over positions, non-holonomic constraints hold nothing
    _, _, directions = np.linalg.svd(missing.free_motions.T @ balance.stiffness(missing) @ placed)
    names = _names(balance, placed @ directions[len(directions) - len(of_speeds) :].T)
    constraints = dict.fromkeys(closures.exact[closures.hard.owners[k]].name for k in of_speeds)
    words = f"one of many: {', '.join(map(repr, constraints))} hold{'s' * (len(constraints) == 1)} speeds but no position"
    return f"{words}, so that it may also rest displaced along {', '.join(names)}"


def _names(balance: Balance, motions: Floats) -> list[str]:
    """Names of the coordinates that move most, each once."""
    parts = [name for motion in motions.T for name in largest_parts(tuple(balance.names), motion).split(", ")]
    return list(dict.fromkeys(parts))


def _loose(balance: Balance, rest: Rest) -> list[Floats]:
    """Loose directions over the free rates, each scaled to ASIDE."""
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
    """Whether the force along a direction stays the same on both sides, compared with each coordinate's own stiffness."""
    here = balance.at(rest.q, rest.share)
    own = np.abs(np.diag(balance.stiffness(here)))
    typical = float(np.max(own * direction**2, initial=0.0))
    moved = [balance.at(balance.moved(rest.q, sign * direction), rest.share) for sign in (1.0, -1.0)]
    changes = [abs(float((there.force - here.force) @ direction)) for there in moved]
    scale = max(typical, float(np.max(np.abs(here.force * direction), initial=0.0)), 1e-300)
    largest_own = float(np.max(own, initial=0.0)) * float(np.max(np.abs(direction))) ** 2
    return max(changes) <= SAME * max(scale, 1e-3 * largest_own)


def _parted(balance: Balance, rest: Rest, loose: Floats) -> tuple[Floats, Floats]:
    """Loose motions without slip at any contact with friction, and those with slip at one."""
    slips = _slip_matrix(balance, rest) @ loose if rest.found else np.zeros((0, loose.shape[1]))
    if not len(slips):
        return loose, loose[:, :0]
    _, sizes, directions = np.linalg.svd(slips)
    slipping = int(np.sum(sizes > SLIPS * float(np.max(np.abs(loose)))))
    return loose @ directions[slipping:].T, loose @ directions[:slipping].T


def _slip_matrix(balance: Balance, rest: Rest) -> Floats:
    """Slip velocities of closed contacts and of joints with friction that can hold, over the free rates."""
    missing, moving = balance.at(rest.q, rest.share), balance.moving
    closed = tuple(bool(gap < 0.0) for gap in missing.gaps)

    def outputs(e: SymbolicEquations) -> list[ca.SX]:
        rubbing = [contact for contact, touches in zip(e.contacts, closed, strict=True)
                   if touches and contact.kinematics.pair.friction is not None]  # fmt: skip
        slips = [s for contact in rubbing for s in contact.kinematics.slip]
        slips += [s for own in e.rubbing if own.grip is not None for s in own.joint.slip]
        return [ca.jacobian(e.tracer.column(slips), e.v_column)]

    (matrix,) = moving.evaluate(("slip matrix", closed), outputs, moving.point(balance.t, rest.q, balance.v))
    return np.asarray(matrix[:, balance.free])
