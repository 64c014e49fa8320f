"""Which contact forces statics alone cannot divide: those of a box on four corners, of a beam on three supports.

The forces of bodies at rest balance all others in the equations of the free coordinates, J^T f = rest. Forces in the null space of
J^T act against each other and change nothing there: only the stiffnesses of the laws, equal for all pairs of a contact, decide
about their share. If two laws are not as stiff as the real bodies are, the division is not theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.model import check
from pliant.results.result import Result
from pliant.run.mechanism import AnySystem

if TYPE_CHECKING:
    from pliant.analysis.recorded_motion import RecordedMotion
    from pliant.dynamics.contact import ContactKinematics

Floats = NDArray[np.float64]

ROUND_OFF = 1e-9  # of the largest singular value
# Square of a share: feet that stand a little deeper than others take 1e-3 of the forces between them, which is nothing.
SHARED = 1e-6
STILL = 1e-3  # m/s: slip below which friction holds with a force of its own


def undetermined_forces(result: Result, t: float | None = None, system: AnySystem | None = None) -> tuple[tuple[str, ...], ...]:
    """The contact pairs whose normal forces statics does not divide, in groups that share a load; t: a time, by default the end.

    system: the system of the run; needed only if the result comes from a file that does not hold its model. Friction of contacts
    that do not slip counts as a force that is not known either: a block between two walls may be jammed.
    """
    from pliant.analysis.recorded_motion import RecordedMotion

    check.instance("undetermined_forces", "result", result, Result, "a Result")
    motion: RecordedMotion = RecordedMotion(result, system, "undetermined_forces")
    if motion.system.closures:
        rule = "must have no closures, whose forces share loads with contacts as well"
        raise ModelError.of("undetermined_forces", "system", rule, result.name)
    if not result.keeps("q", "v", "normal_force"):
        raise ModelError.of("undetermined_forces", "result", "must hold q, v and normal_force", sorted(result.values))
    at = float(result.time[-1]) if t is None else check.number("undetermined_forces", "t", t, "s")
    if not result.time[0] <= at <= result.time[-1]:
        rule = f"must be within the rows of the result, {float(result.time[0]):.6g} to {float(result.time[-1]):.6g} s"
        raise ModelError.of("undetermined_forces", "t", rule, at)
    row = int(np.argmin(np.abs(np.asarray(result.time) - at)))
    pressed = np.flatnonzero(result.values["normal_force"][row] > 0.0)
    names = [result.labels["pair"][k] for k in pressed.tolist()]
    if not names:
        return ()
    normals, tangents = _columns(motion, row, names)
    return _groups(names, _null_space(np.hstack([normals, tangents]))[: len(names)])


def _columns(motion: RecordedMotion, row: int, names: list[str]) -> tuple[Floats, Floats]:
    """Efforts on the free coordinates per unit of each normal force, and of each friction force where nothing slips."""
    from pliant.dynamics.contact import contact_kinematics
    from pliant.dynamics.kinematics import poses, twists

    tree, pairs = motion.tree, [motion.system.contacts[name] for name in names]
    q, v = (motion.result.values[name][row].tolist() for name in ("q", "v"))
    bodies = poses(tree, q)

    def at(rates: list[float]) -> list[ContactKinematics]:
        return contact_kinematics(tree, pairs, q, rates, bodies, twists(tree, q, rates))

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
