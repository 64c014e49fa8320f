"""The contacts of a System in a trace: which parameters, states and event functions each pair has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca

from pliant.codegen.tracer import Scalar, Tracer
from pliant.dynamics.algebra import factorise, is_zero, substitute, total
from pliant.dynamics.contact import ContactForce, ContactKinematics, Grip, apply, bristle_count, contact_force, holds
from pliant.dynamics.kinematics import Pose
from pliant.dynamics.loads import AppliedForces
from pliant.dynamics.tree import Tree
from pliant.model.coordinate_pair import Pair
from pliant.model.normal_law import CustomNormal
from pliant.scalar import maximum, sqrt, where
from pliant.trace.layout import OPEN

PARAMETERS = len(OPEN)  # entries of p, of each pair


@dataclass(frozen=True)
class PairSlots:
    """Where one pair stands in p, in y and among the event functions and works."""

    pair: Pair
    closed: int  # in p
    entry: int  # in p
    grip: int | None  # in p: what a law that holds is doing, and behind it the direction in which it yields
    bristles: range  # in y
    impulse: int  # in y
    lost: int  # in y: work of the normal force without its potential part
    rubbed: int  # in y: work of friction
    gap: int  # event functions
    peak: int
    let_go: int | None
    near: int | None
    switches: range

    def of(self, pair: Pair) -> PairSlots:
        """The same place for a pair of other numbers."""
        return self if pair is self.pair else replace(self, pair=pair)


def contact_forces(
    tree: Tree,
    contacts: Sequence[ContactKinematics],
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    bodies: Sequence[Pose],
    p: Sequence[Scalar],
    bristles: Sequence[Scalar],
    held: Sequence[Scalar],
    applied: AppliedForces,
) -> list[ContactForce]:
    """Forces of all pairs, put on their bodies; p, bristles and held are just what belongs to contacts."""
    forces: list[ContactForce] = []
    taken, grasped = 0, 0
    for k, kinematics in enumerate(contacts):
        count = bristle_count(kinematics)
        closed, entry, doing, x, y, z = p[PARAMETERS * k : PARAMETERS * (k + 1)]
        holding = held_count(kinematics)
        own, grasp = bristles[taken : taken + count], held[grasped : grasped + holding]
        forces.append(contact_force(kinematics, closed, entry, Grip(doing, (x, y, z)), own, grasp))
        taken, grasped = taken + count, grasped + holding
        apply(tree, forces[-1], bodies, q, v, applied)
        _account(forces[-1], applied)
    return forces


def _account(contact: ContactForce, applied: AppliedForces) -> None:
    """Both powers of a pair; a normal law that tells of no potential may give back what it took, and nobody knows how much."""
    pair, (lost, rubbed) = contact.kinematics.pair, contact.powers
    if isinstance(pair.normal, CustomNormal) and pair.normal.energy is None:
        applied.power[f"{pair.name} normal"] = lost
    else:
        applied.dissipate(f"{pair.name} normal", lost)
    applied.dissipate(f"{pair.name} friction", rubbed, returns=pair.friction is not None and pair.friction.returns)


def switch_functions(kinematics: ContactKinematics) -> list[Scalar]:
    """Zero where the friction law changes branch: slip speed against each of its corners."""
    friction = kinematics.pair.friction
    return [kinematics.speed - corner for corner in friction.switches] if friction is not None and kinematics.slip else []


def grip_functions(contact: ContactForce, margin: Scalar) -> list[Scalar]:
    """Zero where a law that holds enters or leaves its band; and where it must yield or, yielding, has come to rest again."""
    assert contact.grip is not None
    band = contact.kinematics.pair.friction.band  # type: ignore[union-attr]
    return [contact.kinematics.speed - contact.grip.edge(band), contact.grip.reserve(margin, contact.kinematics, band)]


def held_count(kinematics: ContactKinematics) -> int:
    return len(kinematics.slip) if holds(kinematics) else 0


# While a contact sticks, what slip is left dies away with this time constant, s: far below any motion of a mechanism, and
# slow enough for an explicit method not to notice.
STICK_TIME = 1e-3
# Contacts that hold one and the same motion, as the corners of a block do, share the force in proportion to their strength: of all
# forces that hold equally well those are taken with the least sum of h^2/strength. This, m/s^2, says what "equally" means: it
# is weighed against how strongly contacts can accelerate what they hold (about mu g), so that corners whose slips differ by
# round-off or by a rocking of micrometres do not strain against each other. It leaves a slip of STICK_TIME times the
# acceleration resisted times (HOLD_CREEP/mu g)^4, below round-off; where a contact is hardly forces, at most about
# STICK_TIME HOLD_CREEP/2, a few um/s.
HOLD_CREEP = 3e-3


def solve_held(
    tracer: Tracer, contacts: Sequence[ContactForce], held: ca.SX, state: ca.SX, rates: Sequence[Scalar]
) -> tuple[list[Scalar], list[Scalar]]:
    """The forces of the contacts that stick, and what is left of each one's strength, as a share (negative: it breaks away).

    Accelerations are linear in the held forces h, so slip' = b + D h. Asked is slip' = -slip/STICK_TIME of all that stick at once.
    """
    gripping = [contact for contact in contacts if holds(contact.kinematics)]
    slips = [s for contact in gripping for s in contact.kinematics.slip]
    slip_rates = tracer.directional(slips, state, tracer.column(rates))
    response = tracer.jacobian(slip_rates, held)
    none = tracer.column([0.0] * len(slips))
    free = tracer.substitute(slip_rates, held, none)
    response = [tracer.substitute(row, held, none) for row in response]
    asked = [-s / STICK_TIME - b for s, b in zip(slips, free, strict=True)]
    # what does not stick has no strength, and nothing is asked of its slip
    sticks = [contact.grip.sticks for contact in gripping for _ in contact.kinematics.slip]  # type: ignore[union-attr]
    strengths = [contact.strength for contact in gripping for _ in contact.kinematics.slip]
    strengths = [where(stick > 0.5, s, 0.0) for stick, s in zip(sticks, strengths, strict=True)]
    response = [[where(sticks[i] > 0.5, x, 0.0) for x in row] for i, row in enumerate(response)]
    forces = _shared(response, strengths, asked)
    margins: list[Scalar] = []
    first = 0
    for contact in gripping:
        own = forces[first : first + len(contact.kinematics.slip)]
        share = sqrt(total(h * h for h in own)) / maximum(contact.strength, SMALLEST_FORCE)
        margins.append(1.0 - share)
        first += len(own)
    return forces, margins


def _shared(response: list[list[Scalar]], strengths: list[Scalar], asked: list[Scalar]) -> list[Scalar]:
    """h = W x, W^2 = strength times the strength of all; x has the least |D W x - asked|^2 + HOLD_CREEP^2 |x|^2.

    That is unique however many contacts hold one motion. It is improved once by what it left: iterated Tikhonov
    regularisation (Engl, Hanke, Neubauer 1996, 5.1).
    """
    count = range(len(asked))
    # of all that could act on the same slip: what has nothing to do with it must not set its scale
    everything = [total(strengths[j] for j in count if not is_zero(response[i][j])) for i in count]
    weights = [sqrt(maximum(s * every, SMALLEST_FORCE**2)) for s, every in zip(strengths, everything, strict=True)]
    reach = [[response[i][j] * weights[j] for j in count] for i in count]
    matrix = [[total(reach[k][i] * reach[k][j] for k in count) for j in count] for i in count]
    for i in count:
        matrix[i][i] = matrix[i][i] + HOLD_CREEP**2
    factors = factorise(matrix)
    x = substitute(factors, [total(reach[k][i] * asked[k] for k in count) for i in count])
    left = [asked[k] - total(reach[k][i] * x[i] for i in count) for k in count]
    more = substitute(factors, [total(reach[k][i] * left[k] for k in count) for i in count])
    return [w * (a + b) for w, a, b in zip(weights, x, more, strict=True)]


SMALLEST_FORCE = 1e-30  # N: stands for the strength of a contact that has none
