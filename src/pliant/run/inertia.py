"""Whether every coordinate is resisted by some mass or inertia: the condition of the mass matrix at a state, from kinetic energies.

M is judged with its coordinates measured by what they would weigh alone, d^-1/2 M d^-1/2 with d its diagonal: units and mass ratios
of links do not count (1e9 to 1e-9 and beyond pass), only motions that cost no kinetic energy at all do.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.integrate.rows import evaluate_rows

if TYPE_CHECKING:
    from pliant.run.prepare import Compiled
    from pliant.trace.traced_system import TracedSystem

Floats = NDArray[np.float64]
Whole = NDArray[np.intp]

ALL_JUDGED = 30  # rates up to which M is judged whole; of more, what each body and the one it stands on move by
MOST_JUDGED = 500  # rates up to which that is done
SINGULAR = 1e-14  # per rate: an eigenvalue of the scaled M that round-off alone could leave
HARDLY = 1e-4  # the same where a run could not go on: it has come as near to the singular state as steps can be told apart
CHUNK = 64  # states evaluated at once
FAST = 1e8  # of a rate tried, where prescribed motions have kinetic energy of their own that must not count


class Resistance:
    """Kinetic energies of one mechanism at states of its run."""

    def __init__(self, compiled: Compiled, kinetic: int) -> None:
        """kinetic: where the observer writes the kinetic energy."""
        traced = compiled.traced
        self._code, self._kinetic, self._n_q = compiled.observe, kinetic, len(traced.free_q)
        self._groups, self._pairs = judged_rates(traced)
        self._names = [traced.tree.rates[k] for k in traced.free_v]
        self._largest = np.zeros(len(self._names))  # the largest diagonal so far: what it could be
        self._prescribes = bool(traced.tree.prescribed)

    def unresisted(self, t: float, y: Floats, p: Floats, nothing: float = SINGULAR) -> str | None:
        """The coordinates, by name, of a motion that nothing resists; None where there is none.

        nothing: the eigenvalue of the scaled M, per rate, that counts as none.
        """
        n = len(self._names)
        if not self._groups:
            return None
        units = np.eye(n)
        alone = self._quadratic(t, y, p, units)
        bad = ~(alone > SINGULAR * self._largest)  # nan is bad too
        if np.any(bad):
            return ", ".join(name for name, is_bad in zip(self._names, bad, strict=True) if is_bad)
        self._largest = np.maximum(self._largest, alone)
        scaled = units.copy()
        units /= np.sqrt(alone)[:, None]
        i, j = self._pairs
        scaled[i, j] = scaled[j, i] = 0.5 * (self._quadratic(t, y, p, units[i] + units[j]) - 2.0)
        for group in self._groups:  # a part of M that is singular makes the whole so
            values, vectors = np.linalg.eigh(scaled if len(group) == n else scaled[np.ix_(group, group)])
            if values[0] <= nothing * len(group):
                part = np.zeros(n)
                part[group] = vectors[:, 0]
                return self._named(part)
        return None

    def _named(self, part: Floats) -> str:
        """The coordinates that take the largest part in a motion."""
        large = np.abs(part) > 0.1 * np.max(np.abs(part))
        return ", ".join(name for name, is_large in zip(self._names, large, strict=True) if is_large)

    def _quadratic(self, t: float, y: Floats, p: Floats, rates: Floats) -> Floats:
        """v^T M v of every row of rates."""
        if not self._prescribes:
            return 2.0 * self._energies(t, y, p, rates)
        both = self._energies(t, y, p, FAST * rates) + self._energies(t, y, p, -FAST * rates)
        return np.asarray((both - 2.0 * self._energies(t, y, p, np.zeros((1, rates.shape[1])))) / FAST**2)

    def _energies(self, t: float, y: Floats, p: Floats, rates: Floats) -> Floats:
        found = np.empty(len(rates))
        for first in range(0, len(rates), CHUNK):
            part = rates[first : first + CHUNK]
            states = np.empty((len(part), y.size))
            states[:] = y
            states[:, self._n_q : self._n_q + part.shape[1]] = part
            out = np.empty((len(part), self._code.n_out))
            evaluate_rows(self._code.address, np.full(len(part), t), states, p, out, self._code.n_work)
            found[first : first + len(part)] = out[:, self._kinetic]
        return found


def judged_rates(traced: TracedSystem) -> tuple[Sequence[Sequence[int]], tuple[Whole, Whole]]:
    """Rates, by their number among the free ones, whose part of M is judged together; and all pairs among them."""
    count = len(traced.free_v)
    if not 0 < count <= MOST_JUDGED:
        return (), _pairs(0)
    if count <= ALL_JUDGED:
        return (range(count),), _pairs(count)
    from pliant.dynamics.denoc import numbers

    place = {number: k for k, number in enumerate(traced.free_v)}
    own = [[place[number] for number in numbers(node) if number in place] for node in traced.tree.nodes]
    groups = [own[k] + (own[node.parent] if node.parent >= 0 else []) for k, node in enumerate(traced.tree.nodes)]
    pairs = sorted({(a, b) for group in groups for a in group for b in group if a < b})
    first, second = np.array(pairs, dtype=int).reshape(-1, 2).T
    return [sorted(group) for group in groups if group], (first, second)


@cache
def _pairs(count: int) -> tuple[Whole, Whole]:
    """All pairs of so many rates."""
    first, second = np.triu_indices(count, 1)
    return first, second
