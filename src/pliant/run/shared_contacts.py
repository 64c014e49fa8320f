"""Which contact forces statics alone cannot divide: those of a box on four corners, of a beam on three supports.

The forces of bodies at rest balance all others in the equations of the free coordinates, J^T f = rest. Forces in the null space of
J^T act against each other and change nothing there: only the stiffnesses of the laws, equal for all pairs of a contact, decide
about their share. If two laws are not as stiff as the real bodies are, the division is not theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pliant.arrays import Floats
from pliant.dynamics.contact import ContactKinematics, contact_kinematics
from pliant.dynamics.kinematics import TreeState, poses, twists
from pliant.dynamics.tree import Tree
from pliant.model.coordinate_pair import Pair
from pliant.model.normal_law import Impulsive
from pliant.run.evidence import Evidence

ROUND_OFF = 1e-9  # of the largest singular value
# Square of a share: feet that stand a little deeper than others take 1e-3 of the forces between them, which is nothing.
SHARED = 1e-6
STILL = 1e-3  # m/s: slip below which friction holds with a force of its own
MOST_NAMED = 4  # pairs in a sentence


def divided_by_stiffness(evidence: Evidence) -> Iterator[str]:
    """Warn of pairs that share a load at the end of a run, if the bodies rest there."""
    traced, values = evidence.traced, {name: rows[-1].tolist() for name, rows in evidence.series[1].items() if name in ("q", "v")}
    if len(traced.pairs) < 2 or traced.system.closures:
        return
    last = {name: evidence.observed[-1, traced.layout.observed[name]] for name in ("normal_force", "closing_speed")}
    resting = (last["normal_force"] > 0.0) & (np.abs(last["closing_speed"]) < STILL)
    pairs = [slots.pair for slots, rests in zip(traced.pairs, resting.tolist(), strict=True) if rests]
    rigid = {pair.name for pair in pairs if isinstance(pair.normal, Impulsive)}
    for names in groups_at(traced.tree, pairs, values["q"], values["v"]) if len(pairs) > 1 else ():
        shown, more = ", ".join(map(repr, names[:MOST_NAMED])), len(names) - MOST_NAMED
        loose = (
            "this is one of many ways in which rigid bodies could"
            if rigid & set(names)
            else "only the stiffnesses of their laws do"
        )
        yield (
            f"contacts {shown}{f' and {more} more' if more > 0 else ''} share a load at rest that statics does not divide: "
            f"{loose}; believe the sum of their forces, not the parts (see pl.undetermined_forces)"
        )


def groups_at(tree: Tree, pairs: Sequence[Pair], q: list[float], v: list[float]) -> tuple[tuple[str, ...], ...]:
    """Of pairs that press at a state: those whose normal forces statics does not divide, in groups that share a load."""
    if not pairs or len(tree.prescribed) == len(v):
        return ()
    normals, tangents = _columns(tree, pairs, q, v)
    names = [pair.name for pair in pairs]
    return _groups(names, _null_space(np.hstack([normals, tangents]))[: len(names)])


def _columns(tree: Tree, pairs: Sequence[Pair], q: list[float], v: list[float]) -> tuple[Floats, Floats]:
    """Efforts on the free coordinates per unit of each normal force, and of each friction force where nothing slips."""
    bodies = poses(tree, q)

    def at(rates: list[float]) -> list[ContactKinematics]:
        return contact_kinematics(TreeState(tree, q, rates, bodies, twists(tree, q, rates)), pairs)

    holds = [one.pair.friction is not None and float(one.speed) < STILL for one in at(v)]
    prescribed, each = {coordinate.v for coordinate in tree.prescribed}, np.eye(len(v)).tolist()
    found = [at(rates) for k, rates in enumerate(each) if k not in prescribed]
    tangents = [[x for one, held in zip(row_of, holds, strict=True) if held for x in _slip(one)] for row_of in found]
    return -np.array([[float(one.closing) for one in row_of] for row_of in found]), np.array(tangents)


def _slip(one: ContactKinematics) -> list[float]:
    """The slip in world axes: its directions depend on which of them are possible."""
    return [sum(float(s) * float(t[i]) for s, t in zip(one.slip, one.tangents, strict=True)) for i in range(3)]


def _null_space(matrix: Floats) -> Floats:
    """Orthonormal columns; the rows are the forces."""
    _, sizes, rows = np.linalg.svd(matrix)
    rank = int(np.sum(sizes > ROUND_OFF * sizes[0])) if sizes.size else 0
    return np.asarray(rows[rank:].T)


def _groups(names: list[str], free: Floats) -> tuple[tuple[str, ...], ...]:
    """Pairs whose forces change together: connected by entries of the projector on the null space."""
    shared = np.abs(free @ free.T) > SHARED
    left, found = [k for k in range(len(names)) if shared[k, k]], []
    while left:
        group, waiting = set(), [left[0]]
        while waiting:
            k = waiting.pop()
            if k not in group:
                group.add(k)
                waiting += [j for j in left if shared[k, j]]
        left = [k for k in left if k not in group]
        found.append(tuple(names[k] for k in sorted(group)))
    return tuple(found)
