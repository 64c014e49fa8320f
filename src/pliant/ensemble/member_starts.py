"""Finds the members of an ensemble that can start from their given states, for all members at once."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from pliant.arrays import Floats, Ints, Truths
from pliant.codegen.llvm import MachineCode, compile_function
from pliant.codegen.program import STATE
from pliant.integrate.memory.batch_record import COINCIDENT_SHARE
from pliant.integrate.rows import evaluate_rows
from pliant.run.inertia import judged_rates
from pliant.run.starts import SHORTEST, SHORTEST_AT_ALL, is_between_spheres

if TYPE_CHECKING:
    from pliant.codegen.program import Program
    from pliant.run.prepare import Compiled, CompiledStructure
    from pliant.trace.traced_system import TracedSystem

TOGETHER = 8192  # members that one thread checks at a time: so many that calls of NumPy cost less than what they compute
SMALL_PIVOT = 1e-9  # of the scaled mass matrix, as in the general loop: below this `simulate` computes eigenvalues


def doubtful_starts(compiled: Compiled, t: float, states: Floats, p: Floats, reaches: Floats, threads: int) -> Truths:
    """Members that `simulate` must check: some motion has no kinetic energy, a strut has zero length, or spheres are concentric.

    states has one row per member; p and reaches (sum of the radii of each pair, m) have one per member, or one for all.
    """
    look = _Look.of(compiled)
    if look.is_same_for(states, p, reaches):
        return np.repeat(look.doubtful(np.array([t]), states[:1], p[:1], reaches[:1]), len(states))
    return doubtful_states(compiled, np.full(len(states), t), states, p, reaches, threads)


def doubtful_states(compiled: Compiled, times: Floats, states: Floats, p: Floats, reaches: Floats, threads: int) -> Truths:
    """The same for states at times (s) of their own."""
    look = _Look.of(compiled)

    def judged(first: int) -> Truths:
        part = slice(first, first + TOGETHER)
        own = p[part] if len(p) > 1 else p
        return look.doubtful(times[part], states[part], own, reaches[part] if len(reaches) > 1 else reaches)

    with ThreadPoolExecutor(threads) as pool:
        return np.concatenate([*pool.map(judged, range(0, len(states), TOGETHER)), np.empty(0, dtype=np.bool_)])


@dataclass(frozen=True)
class _Look:
    """Lengths of struts, gaps between spheres and the mass matrix as separate code: the observed row would cost far more."""

    compiled: Compiled
    code: MachineCode
    used: Sequence[int]  # components of the state on which these depend

    @classmethod
    def of(cls, compiled: Compiled) -> _Look:
        known = _CODE.get(compiled.structure)
        if known is None:
            program = _program(compiled.structure.traced)
            code = compile_function(program, cache=compiled.structure.cache)
            known = _CODE[compiled.structure] = code, program.entries_read(STATE)
        return cls(compiled, *known)

    def is_same_for(self, states: Floats, p: Floats, reaches: Floats) -> bool:
        """Whether members differ in nothing that is checked."""
        own = states[:, self.used]
        return len(states) > 0 and len(p) == 1 and len(reaches) == 1 and bool(np.all(own == own[:1]))

    def doubtful(self, times: Floats, states: Floats, p: Floats, reaches: Floats) -> Truths:
        traced = self.compiled.traced
        out = np.empty((len(states), self.code.n_out))
        evaluate_rows(self.code.address, times, states, p if len(p) > 1 else p[0], out, self.code.n_work)
        spheres = _spheres(traced)
        lengths, gaps, mass = np.split(out, np.cumsum([len(traced.system.struts), len(spheres)]), axis=1)
        shortest = [SHORTEST * strut.unstretched + SHORTEST_AT_ALL for strut in traced.system.struts.values()]
        reach = reaches[:, spheres]
        fine = np.all(lengths > np.array(shortest), axis=1) & np.all(gaps + reach > COINCIDENT_SHARE * reach, axis=1)  # nan is not
        return np.asarray(~(fine & _resists(traced, mass)))


def _program(traced: TracedSystem) -> Program:
    """Lengths of struts, gaps between spheres, then the diagonal of the mass matrix and its entries that are checked.

    The mass matrix is the second derivative of the kinetic energy by the rates.
    """
    observe, columns = traced.functions["observe"], traced.layout.observed
    outputs = list(observe.outputs)
    gaps = outputs[columns["gap"]]
    asked = [*outputs[columns["strut_length"]], *(gaps[k] for k in _spheres(traced))]
    groups, (first, second) = judged_rates(traced)
    if groups:
        begin = len(traced.free_q)
        rates = observe.inputs[1][begin : begin + len(traced.free_v)]
        momentum = observe.tracer.gradient(outputs[columns["kinetic"].start], rates)
        mass = observe.tracer.jacobian(momentum, rates)
        asked += [mass[k][k] for k in range(len(traced.free_v))]
        asked += [mass[i][j] for i, j in zip(first.tolist(), second.tolist(), strict=True)]
    return replace(observe, name="start_look", outputs=asked).program()


def _spheres(traced: TracedSystem) -> list[int]:
    """The contacts between two spheres, whose centres must not coincide."""
    return [k for k, slots in enumerate(traced.pairs) if is_between_spheres(slots.pair)]


def _resists(traced: TracedSystem, mass: Floats) -> Truths:
    """Whether the mass matrix, scaled to a unit diagonal, has no small pivot in Cholesky's method: one answer per member."""
    groups, (first, second) = judged_rates(traced)
    count = len(traced.free_v)
    if not groups:
        return np.ones(len(mass), dtype=np.bool_)
    columns = np.ascontiguousarray(mass.T)
    diagonal = columns[:count]
    good = np.asarray(np.all(diagonal > 0.0, axis=0))  # nan is not
    place = np.empty((count, count), dtype=np.int64)
    place[first, second] = place[second, first] = np.arange(first.size)
    with np.errstate(invalid="ignore", divide="ignore"):
        unit = 1.0 / np.sqrt(diagonal)
        scaled = columns[count:] * unit[first] * unit[second]
        for group in groups:
            own = np.array(sorted(group))
            good &= _has_large_pivots(scaled, place[np.ix_(own, own)])
    return good


def _has_large_pivots(scaled: Floats, place: Ints) -> Truths:
    """Cholesky's method on a matrix with a unit diagonal, for all members at once; place: its entries as rows of `scaled`."""
    size, count = len(place), scaled.shape[1]
    lower = np.empty((size, size, count))
    good = np.ones(count, dtype=np.bool_)
    for i in range(size):
        for j in range(i):
            rest = scaled[place[i, j]] - np.einsum("km,km->m", lower[i, :j], lower[j, :j])
            np.divide(rest, lower[j, j], out=lower[i, j])
        pivot = 1.0 - np.einsum("km,km->m", lower[i, :i], lower[i, :i])
        good &= pivot > SMALL_PIVOT
        np.sqrt(pivot, out=lower[i, i])
    return good


_CODE: WeakKeyDictionary[CompiledStructure, tuple[MachineCode, list[int]]] = WeakKeyDictionary()  # made once for a structure
