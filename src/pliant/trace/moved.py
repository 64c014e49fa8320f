"""Describes in words how assembly changed the start that a user gave."""

from __future__ import annotations

from collections.abc import Sequence

from pliant.arrays import Floats
from pliant.dynamics.tree import Tree
from pliant.model.joint import BALL, ROTATION

# Fraction of the mechanism's size (of 1 rad for angles, of a rate itself): rounding a start to six digits moves it about as much.
WORTH_TELLING = 1e-6
# Fraction of the fastest given rate (lengths over the mechanism's size): below it is what computing a start leaves instead of zero.
ROUND_OFF = 1e-12
NAMED = 5  # changes that are listed individually, largest first


def what_moved(
    tree: Tree, given: tuple[Floats, Floats], found: tuple[Floats, Floats], free: tuple[Sequence[int], Sequence[int]], size: float
) -> tuple[str, ...]:
    """One sentence if assembly changed coordinates or given rates; from (q, v) before, after, and which of them are free.

    A rate of zero, or of round-off, is taken as not given: it follows from the others.
    """
    (q0, v0), (q, v) = given, found
    lengths, turns = _units(tree)
    scale = {k: 1.0 if lengths.get(k) in ("rad", "") else size for k in free[0]}
    far = {k: abs(q[k] - q0[k]) / scale[k] for k in free[0]}
    paces = {k: abs(v0[k]) / (1.0 if turns.get(k) == "rad/s" else size) for k in free[1]}
    least = ROUND_OFF * max(paces.values(), default=0.0)
    fast = {k: abs(v[k] - v0[k]) / abs(v0[k]) for k, pace in paces.items() if pace > least}
    changes = [*_changes("coordinate", far, tree.positions, q0, q, lengths), *_changes("rate", fast, tree.rates, v0, v, turns)]
    if not changes:
        return ()
    return (f"assembly changed the start to close the loops: {'; '.join(changes)} (hold keeps chosen coordinates)",)


def _changes(
    kind: str, by: dict[int, float], names: Sequence[str], before: Floats, after: Floats, units: dict[int, str]
) -> list[str]:
    """Coordinates or rates before and after, the largest changes first."""
    far = sorted((k for k, change in by.items() if change > WORTH_TELLING), key=lambda k: -by[k])
    if not far:
        return []
    each = [f"{names[k]} from {before[k]:.9g} to {after[k]:.9g} {units.get(k, '')}".rstrip() for k in far[:NAMED]]
    rest = f" and {len(far) - NAMED} more" if len(far) > NAMED else ""
    return [f"{len(far)} {kind}{'s' * (len(far) > 1)}, {', '.join(each)}{rest}"]


def _units(tree: Tree) -> tuple[dict[int, str], dict[int, str]]:
    """Units of joint coordinates and of their rates, by number; modes are given no unit, since each would have its own."""
    lengths, rates = {}, {}
    for slot in tree.slots:
        unit = "rad" if slot.motion.kind == ROTATION else "" if slot.motion.kind == BALL else "m"
        for i in range(len(slot.motion.positions)):
            lengths[slot.q + i] = unit
        for i in range(len(slot.motion.rates)):
            rates[slot.v + i] = "m/s" if unit == "m" else "rad/s"
    return lengths, rates
