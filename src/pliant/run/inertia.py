"""Checks that every coordinate has inertia: the condition of the mass matrix M at a state, computed from kinetic energies.

M is scaled by its diagonal d to d^-1/2 M d^-1/2, so that units and mass ratios of links do not count (1e9 to 1e-9 and beyond pass);
only motions without kinetic energy do.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.arrays import Floats
from pliant.integrate.rows import evaluate_rows

if TYPE_CHECKING:
    from pliant.run.prepare import Compiled
    from pliant.trace.traced_system import TracedSystem

Whole = NDArray[np.intp]

ALL_JUDGED = 30  # rates up to which the whole of M is checked; beyond, only the rates of each body with those of its carrier
MOST_JUDGED = 500  # rates up to which M is checked at all
SINGULAR = 1e-14  # per rate: an eigenvalue of the scaled M that is round-off
HARDLY = 1e-4  # the same for a run that could not go on, which is as close to the singular state as its steps can get
CHUNK = 64  # states evaluated at once
FAST = 1e8  # size of the trial rates when prescribed motions or rotors have kinetic energy, which must not count


class InertiaCheck:
    """Kinetic energies of one mechanism at states of its run."""

    def __init__(self, compiled: Compiled, kinetic: int) -> None:
        """kinetic: the place of the kinetic energy in the observed row."""
        traced = compiled.traced
        self._code, self._kinetic, self._n_q = compiled.observe, kinetic, len(traced.free_q)
        self._groups, self._pairs = judged_rates(traced)
        self._names = [traced.tree.rates[k] for k in traced.free_v]
        self._largest = np.zeros(len(self._names))  # the largest diagonal entries so far, for scale
        rotors = any(drive.motor.is_elastic for drive in traced.system.motors.values())  # behind elastic gears
        self._others_move = rotors or bool(traced.tree.prescribed)

    def unresisted(self, t: float, y: Floats, p: Floats, nothing: float = SINGULAR) -> str | None:
        """The coordinates, by name, of a motion without inertia; None if there is none.

        nothing: the eigenvalue of the scaled M, per rate, that counts as zero.
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
        scaled = self._scaled(t, y, p, units / np.sqrt(alone)[:, None], np.ones(n))
        for group in self._groups:  # if a part of M is singular, so is M
            values, vectors = np.linalg.eigh(scaled if len(group) == n else scaled[np.ix_(group, group)])
            if values[0] <= nothing * len(group):
                part = np.zeros(n)
                part[group] = vectors[:, 0]
                return self._named(part)
        return None

    def left(self, t: float, y: Floats, before: Floats, p: Floats) -> tuple[float, str]:
        """The smallest fraction of its inertia in the state `before` that a motion has at y, and the motion's coordinates."""
        least, named, units = 1.0, "", np.eye(len(self._names))
        if not self._groups or not np.all((alone := self._quadratic(t, before, p, units)) > 0.0):
            return least, named
        units /= np.sqrt(alone)[:, None]
        then = self._scaled(t, before, p, units, np.ones(len(units)))
        now = self._scaled(t, y, p, units, self._quadratic(t, y, p, units))
        for group in self._groups:
            own = np.ix_(group, group)
            values, vectors = np.linalg.eigh(then[own])
            if values[0] <= SINGULAR * len(group):
                continue
            vectors = vectors / np.sqrt(values)
            shares, motions = np.linalg.eigh(vectors.T @ now[own] @ vectors)
            if shares[0] < least:
                part = np.zeros(len(self._names))
                part[group] = vectors @ motions[:, 0]
                least, named = float(shares[0]), self._named(part)
        return least, named

    def _scaled(self, t: float, y: Floats, p: Floats, units: Floats, alone: Floats) -> Floats:
        """M over motions of one rate each, whose own entries are known; only pairs in a common group have others."""
        scaled, (i, j) = np.diag(alone), self._pairs
        scaled[i, j] = scaled[j, i] = 0.5 * (self._quadratic(t, y, p, units[i] + units[j]) - alone[i] - alone[j])
        return scaled

    def _named(self, part: Floats) -> str:
        """The coordinates with the largest components in a motion."""
        large = np.abs(part) > 0.1 * np.max(np.abs(part))
        return ", ".join(name for name, is_large in zip(self._names, large, strict=True) if is_large)

    def _quadratic(self, t: float, y: Floats, p: Floats, rates: Floats) -> Floats:
        """v^T M v for every row of rates."""
        if not self._others_move:
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
    """Groups of rates, by their number among the free rates, whose part of M is checked together; and all pairs in them."""
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
    """All pairs of `count` rates."""
    first, second = np.triu_indices(count, 1)
    return first, second
