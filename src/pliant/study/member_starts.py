"""Finds the members of an ensemble that can start from their given states, for all members at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pliant.codegen.llvm import MachineCode, compile_function
from pliant.integrate.rows import evaluate_rows
from pliant.run.inertia import FAST, judged_rates
from pliant.run.starts import is_short

if TYPE_CHECKING:
    from pliant.run.prepare import Compiled, CompiledStructure

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]

TOGETHER = 512  # members that one thread checks at a time
SMALL_PIVOT = 1e-9  # of the scaled mass matrix, as in the general loop: below this `simulate` computes eigenvalues


def doubtful_starts(compiled: Compiled, t: float, states: Floats, p: Floats, threads: int) -> Truths:
    """Members that `simulate` must check: some motion has no kinetic energy, or a strut has zero length.

    states and p have one row per member.
    """
    look = _Look.of(compiled)
    parts = [slice(k, k + TOGETHER) for k in range(0, len(states), TOGETHER)]
    with ThreadPoolExecutor(threads) as pool:
        judged = pool.map(lambda part: look.doubtful(t, states[part], p[part]), parts)
        return np.concatenate([*judged, np.empty(0, dtype=np.bool_)])


@dataclass(frozen=True)
class _Look:
    """The kinetic energy and the lengths of struts as separate code: all observed quantities would cost ten times as much."""

    compiled: Compiled
    code: MachineCode

    @classmethod
    def of(cls, compiled: Compiled) -> _Look:
        code = _CODE.get(compiled.structure)
        if code is None:
            traced = compiled.structure.traced
            observe, columns = traced.functions["observe"], traced.layout.observed
            outputs = [observe.outputs[columns["kinetic"].start], *list(observe.outputs)[columns["strut_length"]]]
            code = compile_function(replace(observe, name="start_look", outputs=outputs), cache=compiled.structure.cache)
            _CODE[compiled.structure] = code
        return cls(compiled, code)

    def doubtful(self, t: float, states: Floats, p: Floats) -> Truths:
        traced = self.compiled.traced
        short = np.zeros(len(states), dtype=np.bool_)
        if traced.system.struts:
            lengths = self._values(t, states, p)[:, 1:]
            for strut, own in zip(traced.system.struts.values(), lengths.T, strict=True):
                short |= np.array([is_short(strut, length) for length in own.tolist()])
        return short | ~self._resisted(t, states, p)

    def _values(self, t: float, states: Floats, p: Floats) -> Floats:
        out = np.empty((len(states), self.code.n_out))
        evaluate_rows(self.code.address, np.full(len(states), t), states, p, out, self.code.n_work)
        return out

    def _quadratic(self, t: float, states: Floats, p: Floats) -> Callable[..., Floats]:
        """v^T M v for rates given by number: one value per member."""
        traced, moved = self.compiled.traced, states.copy()
        rates = moved[:, len(traced.free_q) : len(traced.free_q) + len(traced.free_v)]

        def energy(scale: float, given: dict[int, Floats]) -> Floats:
            rates[:] = 0.0
            for k, rate in given.items():
                rates[:, k] = scale * rate
            return self._values(t, moved, p)[:, 0]

        def quadratic(given: dict[int, Floats]) -> Floats:
            if not traced.tree.prescribed:
                return 2.0 * energy(1.0, given)
            # subtracts the kinetic energy of prescribed motions
            return np.asarray((energy(FAST, given) + energy(-FAST, given) - 2.0 * energy(0.0, {})) / FAST**2)

        return quadratic

    def _resisted(self, t: float, states: Floats, p: Floats) -> Truths:
        """Whether the mass matrix, scaled to a unit diagonal, has no small pivot in Cholesky's method."""
        groups, (first, second) = judged_rates(self.compiled.traced)
        good = np.ones(len(states), dtype=np.bool_)
        if not groups:
            return good
        quadratic, one = self._quadratic(t, states, p), np.ones(len(states))
        weight = [quadratic({k: one}) for k in range(len(self.compiled.traced.free_v))]
        for own in weight:
            good &= own > 0.0  # nan is not
        with np.errstate(invalid="ignore", divide="ignore"):
            unit = [1.0 / np.sqrt(own) for own in weight]
            coupled = {}
            for i, j in zip(first.tolist(), second.tolist(), strict=True):
                coupled[i, j] = 0.5 * (quadratic({i: unit[i], j: unit[j]}) - 2.0)
            for group in groups:
                good &= _has_large_pivots(sorted(group), coupled, len(states))
        return good


def _has_large_pivots(group: Sequence[int], coupled: Mapping[tuple[int, int], Floats], count: int) -> Truths:
    """Cholesky's method on a matrix with a unit diagonal, for all members at once."""
    lower: dict[tuple[int, int], Floats] = {}
    good = np.ones(count, dtype=np.bool_)
    for row, i in enumerate(group):
        pivot = np.ones(count)
        for column, j in enumerate(group[:row]):
            rest = coupled[j, i] - sum((lower[i, k] * lower[j, k] for k in group[:column]), np.zeros(count))
            lower[i, j] = rest / lower[j, j]
            pivot -= lower[i, j] ** 2
        good &= pivot > SMALL_PIVOT
        lower[i, i] = np.sqrt(pivot)
    return good


_CODE: WeakKeyDictionary[CompiledStructure, MachineCode] = WeakKeyDictionary()
