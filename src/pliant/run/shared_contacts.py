"""Which contact forces statics alone cannot divide: those of a box on four corners, of a beam on three supports.

The forces of bodies at rest balance all others in the equations of the free coordinates, J^T f = rest. Forces in the null space of
J^T act against each other and change nothing there: only the stiffnesses of the laws, equal for all pairs of a contact, decide
about their share. If two laws are not as stiff as the real bodies are, the division is not theirs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from pliant.arrays import Floats
from pliant.dynamics.contact import ContactKinematics, contact_kinematics
from pliant.dynamics.kinematics import TreeState, poses, twists
from pliant.dynamics.tree import Tree
from pliant.model.coordinate_pair import Pair
from pliant.model.normal_law import Impulsive
from pliant.model.system import System
from pliant.results.contacts import ContactRecord
from pliant.run.evidence import Evidence

ROUND_OFF = 1e-9  # of the largest singular value
# Square of a share: feet that stand a little deeper than others take 1e-3 of the forces between them, which is nothing.
SHARED = 1e-6
STILL = 1e-3  # m/s: slip below which friction holds with a force of its own
MOST_NAMED = 4  # pairs in a sentence


def divided_by_stiffness(evidence: Evidence) -> Iterator[str]:
    """Warn of pairs that share a load at the end of a run, if the bodies rest there."""
    traced, values = evidence.traced, {name: rows[-1].tolist() for name, rows in evidence.series[1].items() if name in ("q", "v")}
    if traced.system.closures:
        return
    last = {name: evidence.observed[-1, traced.layout.observed[name]] for name in ("normal_force", "closing_speed")}
    resting = (last["normal_force"] > 0.0) & (np.abs(last["closing_speed"]) < STILL)
    pairs = [slots.pair for slots, rests in zip(traced.pairs, resting.tolist(), strict=True) if rests]
    near = pressed_in_groups(traced.tree, traced.system, evidence.contacts, math.inf, values["q"], values["v"])
    pairs += [one.pair for one in near if abs(float(one.closing)) < STILL]
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


def pressed_in_groups(
    tree: Tree, system: System, contacts: Iterable[ContactRecord], t: float, q: list[float], v: list[float]
) -> list[ContactKinematics]:
    """The pairs of contacts among shapes that press at a state, that of time t: rows have no columns of them, but records do."""
    if not system.groups:
        return []
    closed = {record.pair for record in contacts if record.begin <= t and not record.end <= t}  # at the end, it is nan
    pairs = [pair for group in system.groups.values() for pair in group.named(closed)]
    return [one for one in contact_kinematics(TreeState.of(tree, q, v), pairs) if float(one.gap) < 0.0]


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

    def at(rates: Sequence[Any]) -> list[ContactKinematics]:
        return contact_kinematics(TreeState(tree, q, rates, bodies, twists(tree, q, rates)), pairs)

    holds = [one.pair.friction is not None and float(one.speed) < STILL for one in at(v)]
    prescribed = {coordinate.v for coordinate in tree.prescribed}
    free = np.eye(len(v))[[k for k in range(len(v)) if k not in prescribed]]  # each row one motion, all of them at once
    found = at(list(free.T))

    def columns(numbers: list[Any]) -> Floats:
        return np.array([np.broadcast_to(x, len(free)) for x in numbers]).reshape(-1, len(free)).T

    tangents = [x for one, held in zip(found, holds, strict=True) if held for x in _slip(one)]
    return -columns([one.closing for one in found]), columns(tangents)


def _slip(one: ContactKinematics) -> list[Any]:
    """The slip in world axes: its directions depend on which of them are possible."""
    return [sum(s * t[i] for s, t in zip(one.slip, one.tangents, strict=True)) for i in range(3)]


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
