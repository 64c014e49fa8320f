"""Where loops start: coordinates and rates that close them, which rows say something new there, and what cannot be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from pliant.compile.traced import Tracer
from pliant.dynamics.lagrange import retract
from pliant.dynamics.loops import Told, rows
from pliant.dynamics.sparse import LeastChange, least_change
from pliant.dynamics.tree import Tree
from pliant.errors import SolveError
from pliant.model.loop import Closure

Floats = NDArray[np.float64]

ASSEMBLY_STEPS = 100
ASSEMBLED = 1e-12  # m or rad, what is left of a residual that counts as closed
LONGEST_ASSEMBLY_STEP = 0.3  # m or rad: Gauss-Newton is not to leap to another branch
BENDING = 1e-3  # how readily modes and free lengths give way in assembly, beside joints
FOLLOWED = 1e-9  # m/s or rad/s, what is left of a residual's rate that counts as none
BESIDE = 1e-2  # m or rad, how far beside the start the rows are looked at again
DEPENDENT = 1e-9  # of the largest singular value: rows below it say nothing new


@dataclass(frozen=True)
class Assembly:
    """A start that closes every loop: coordinates, rates, and which rows are independent there."""

    q: Floats
    v: Floats
    independent: tuple[int, ...]
    redundant: tuple[str, ...]  # names of closures with rows that others imply


class _Look:
    """Residuals, rates and Jacobian of closures as numbers."""

    def __init__(
        self, tree: Tree, closures: Sequence[Closure], tracer: Tracer, free: Sequence[int], told: Sequence[Sequence[Told | None]]
    ) -> None:
        q_column, q = tracer.symbols("q", len(tree.positions))
        v_column, v = tracer.symbols("v", len(tree.rates))
        step_column, step = tracer.symbols("step", len(tree.rates))
        self.found = rows(tree, closures, q, v, tracer, told)
        self.free, own = tuple(free), {k for node in tree.nodes for k in node.own_v}
        self.ease = {k: BENDING if k in own else 1.0 for k in free}
        self.count = len(tree.rates)
        entries = [x for row in self.found.jacobian for x in row.values()]
        outputs = [tracer.column(x) for x in (self.found.residual, self.found.rate, entries)]
        self._values = ca.Function("look", [q_column, v_column], outputs)
        self._move = ca.Function("move", [q_column, step_column], [tracer.column(retract(tree, q, step))])

    def at(self, q: Floats, v: Floats) -> tuple[Floats, Floats, LeastChange]:
        """c, c', and A with columns eased, which solves for the least change."""
        c, rate, entries = (np.array(x).ravel() for x in self._values(q, v))
        values = iter(entries.tolist())
        whole = [{k: next(values) for k in row} for row in self.found.jacobian]
        eased = [{k: a * self.ease[k] for k, a in row.items() if k in self.ease} for row in whole]
        return c, rate, least_change(eased, self.count, DEPENDENT)

    def change(self, matrix: LeastChange, missing: Floats) -> Floats:
        """The least change, in eased measure, that makes up for what is missing."""
        found = np.array(matrix.solve((-missing).tolist(), self.count))
        for k in self.free:
            found[k] *= self.ease[k]
        return found

    def moved(self, q: Floats, step: Floats) -> Floats:
        return np.array(self._move(q, step)).ravel()


def assemble(
    tree: Tree,
    closures: Sequence[Closure],
    tracer: Tracer,
    q0: Floats,
    v0: Floats,
    free: Sequence[int],
    told: Sequence[Sequence[Told | None]],
) -> Assembly:
    """Close the loops from a rough start by Gauss-Newton on all free coordinates, least change first.

    told: the motions that closures follow, at the start.
    """
    look = _Look(tree, closures, tracer, free, told)
    owners = [closures[owner].name for owner in look.found.owners]
    position = _closed(look, q0, v0)
    c, speed, matrix = look.at(position, v0)
    _check_closed(owners, c)
    rate = v0 + look.change(matrix, speed)
    _check_followed(owners, look.at(position, rate)[1])
    kept = set(matrix.independent)
    redundant = {name for k, name in enumerate(owners) if k not in kept}
    if redundant:
        _check_regular(look, owners, position, rate, matrix)
    return Assembly(position, rate, matrix.independent, tuple(sorted(redundant)))


def _closed(look: _Look, start: Floats, v: Floats) -> Floats:
    position = start.copy()
    for _ in range(ASSEMBLY_STEPS):
        c, _, matrix = look.at(position, v)
        if np.max(np.abs(c), initial=0.0) <= ASSEMBLED:
            break
        change = look.change(matrix, c)
        longest = np.max(np.abs(change))
        change *= min(1.0, LONGEST_ASSEMBLY_STEP / max(longest, 1e-300))
        position = look.moved(position, change)
    return position


def _check_closed(owners: Sequence[str], c: Floats) -> None:
    if np.max(np.abs(c), initial=0.0) <= 1e3 * ASSEMBLED:
        return
    worst = owners[int(np.argmax(np.abs(c)))]
    raise SolveError(
        f"closure {worst!r}: residual must come to 0 in {ASSEMBLY_STEPS} assembly steps, {np.max(np.abs(c)):.3g} is left: the loop "
        "cannot close with these lengths, or starts too far from closing"
    )


def _check_followed(owners: Sequence[str], rate: Floats) -> None:
    """Rates that keep every loop closed exist unless a told motion asks for what others forbid."""
    if np.max(np.abs(rate), initial=0.0) <= FOLLOWED:
        return
    worst = owners[int(np.argmax(np.abs(rate)))]
    raise SolveError(
        f"closure {worst!r}: rates at the start must keep it closed, {np.max(np.abs(rate)):.3g} per second is left: a motion asks "
        "for what other closures or motions forbid"
    )


def _check_regular(look: _Look, owners: Sequence[str], q: Floats, v: Floats, matrix: LeastChange) -> None:
    """Rows that say nothing new here but do so beside it, where all loops are closed too, mean a singular position.

    A redundant closure says nothing new anywhere; so the question is put once more, a little further along the mechanism.
    """
    push = np.zeros(look.count)
    push[list(look.free)] = np.cos(1.0 + np.arange(len(look.free)))  # along no direction in particular
    _, gone, _ = look.at(q, push)
    _, still, _ = look.at(q, np.zeros(look.count))
    push += look.change(matrix, gone - still)  # only what all rows allow
    size = float(np.max(np.abs(push), initial=0.0))
    if size <= DEPENDENT:
        return
    beside = _closed(look, look.moved(q, push * (BESIDE / size)), v)
    c, _, there = look.at(beside, v)
    more = len(there.independent) - len(matrix.independent)
    if np.max(np.abs(c), initial=0.0) <= ASSEMBLED and more > 0:
        names = sorted({repr(owners[k]) for k in set(there.independent) - set(matrix.independent)})
        raise SolveError(
            f"closure {', '.join(names)}: directions must be independent at the start, {more} of them are so only beside it: "
            "a singular position, from which the loops may go on in more ways than one; start beside it"
        )
