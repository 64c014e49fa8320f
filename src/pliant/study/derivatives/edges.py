"""Edges inside steps, and at their ends: where a run crosses an edge of an operation (codegen/nonsmooth.py) that no flag marks.

At most of them the equations only have a corner, at which the steps of S are cut. If the equations jump there, S would have to jump
with them; if they are infinitely steep, S cannot be integrated across. Derivatives end at such a point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats, Ints, Truths
from pliant.integrate.rows import evaluate_rows

if TYPE_CHECKING:
    from pliant.codegen.directional_kernel import DirectionalCall
    from pliant.codegen.llvm import MachineCode
    from pliant.study.derivatives.event_slopes import EventReader
    from pliant.study.derivatives.taped_run import EventPoint, TapedRun

PLACES = (1e-3, 0.5, 0.999)  # fractions of a step at which decisions are evaluated, as in integrate/replay/variational.py
SECTIONS, NARROWINGS = 32, 6  # parts of the interval in which a decision changes, and how often it is narrowed to one of them
MOST_CORNERS = 64  # in a half of a step
# Differences of f are taken over two distances from an edge, the shorter a fraction of the step, or a time, s. At a corner they
# are in the ratio of the distances, at a root in that of their roots, at a jump they are equal.
SPANS = (-1.0, 1.0), (1.0, 4.0), (-1.0, -4.0)  # across the edge, beyond it, before it
CLOSE, SHORTEST, RATIO = 1e-6, 1e-12, 1e4
EVENT_CLOSE = 1e-10  # the same for an event function, which was located to 1e-12 s
STEEPEST = 1e-3  # largest ratio of the differences at an edge that derivatives may cross; two corners side by side have less
NOISE = 1e-10  # fraction of the largest rate: smaller differences are round-off

JUMPS = ("the equations jump there, in a formula or a law, and this is not an event of the run: derivatives beyond it are not "
         "computed (a comparison in `where`, or a time among the breakpoints of a formula, is an event)")  # fmt: skip
FUNCTION_JUMPS = "its function jumps across zero, and the derivative of its time is not computed: write it without the jump"
STEEP = "the equations are infinitely steep there: derivatives beyond it are not computed"


@dataclass(frozen=True)
class CrossedEdge:
    """The first edge that derivatives cannot cross."""

    t: float  # s
    operation: str
    jumps: bool

    @property
    def reason(self) -> str:
        return JUMPS if self.jumps else STEEP


def first_edge(walk: EventReader, first: int, last: int, p: Floats) -> CrossedEdge | None:
    """The first edge in steps first ... last - 1, which share p, at which the equations jump or are infinitely steep."""
    kernel = walk.kernel("rhs")
    if kernel.decide is None:
        return None
    steps = _Steps(walk, first, last, p, kernel.decide, kernel.matters(p) != 0.0)
    places, decided = zip(*((x, steps.decisions(np.arange(last - first), np.full(last - first, x))) for x in PLACES), strict=True)
    changed = [np.flatnonzero(np.any(before != after, axis=1)) for before, after in pairwise(decided)]
    low, high = (np.repeat(np.array(ends), [own.size for own in changed]) for ends in (places[:-1], places[1:]))
    before = np.concatenate([own[k] for own, k in zip(decided, changed, strict=False)])
    found = steps.bad_edges(np.concatenate(changed), low, high, before)
    found += steps.bad_ends(decided[-1][:-1], decided[0][1:])
    if not found:
        return None
    t, operation, jumps = min(found)
    return CrossedEdge(t, kernel.edges[operation], jumps)


@dataclass
class _Steps:
    """Steps of a phase, with the cubics through their ends."""

    walk: EventReader
    first: int
    last: int
    p: Floats
    decide: MachineCode
    matters: Truths

    def __post_init__(self) -> None:
        tape = self.walk.tape
        own = slice(self.first, self.last)
        self.t, self.h = tape.times[own, 0], tape.times[own, 1] - tape.times[own, 0]
        self.y0, self.y1 = tape.begins[own], tape.ends[own]
        self.k0 = self._evaluate(self.walk.rhs, self.t, self.y0)
        self.k1 = self._evaluate(self.walk.rhs, tape.times[own, 1], self.y1)

    def _evaluate(self, code: MachineCode, times: Floats, states: Floats) -> Floats:
        out = np.empty((times.size, code.n_out))
        evaluate_rows(code.address, times, states, self.p, out, code.n_work)
        return out

    def _states(self, k: Ints, x: Floats) -> Floats:
        h, x = self.h[k, None], x[:, None]
        bend = h * x * (1.0 - x) ** 2 * self.k0[k] + h * x * x * (x - 1.0) * self.k1[k]
        return np.asarray(self.y0[k] + x * x * (3.0 - 2.0 * x) * (self.y1[k] - self.y0[k]) + bend)

    def decisions(self, k: Ints, x: Floats) -> Floats:
        """Decisions in steps k at fractions x of them; those without effect are 0."""
        return np.asarray(self._evaluate(self.decide, self.t[k] + x * self.h[k], self._states(k, x)) * self.matters)

    def bad_edges(self, k: Ints, low: Floats, end: Floats, before: Floats) -> list[tuple[float, int, bool]]:
        """(time, number of the decision, whether it is a jump) of edges in steps k, from low to end, that S cannot cross."""
        found: list[tuple[float, int, bool]] = []
        for _ in range(MOST_CORNERS):
            if not k.size:
                break
            high = end
            for _ in range(NARROWINGS):
                low, high = self._narrowed(k, low, high, before)
            after = self.decisions(k, high)
            operation = np.argmax(after != before, axis=1)
            jumps, steep = self._judge(k, high)
            times = self.t[k] + high * self.h[k]
            found += [(float(times[i]), int(operation[i]), bool(jumps[i])) for i in np.flatnonzero(jumps | steep)]
            more = np.any(self.decisions(k, end) != after, axis=1)
            k, low, end, before = k[more], high[more], end[more], after[more]
        return found

    def _narrowed(self, k: Ints, low: Floats, high: Floats, before: Floats) -> tuple[Floats, Floats]:
        """The first of SECTIONS parts of low ... high at whose end a decision has changed."""
        edges = low[:, None] + (high - low)[:, None] * np.linspace(0.0, 1.0, SECTIONS + 1)
        edges[:, -1] = high
        inner = edges[:, 1:-1]
        decided = self.decisions(np.repeat(k, inner.shape[1]), inner.ravel()).reshape(*inner.shape, -1)
        beyond = np.column_stack([np.any(decided != before[:, None], axis=2), np.ones(k.size, dtype=bool)])
        rows, part = np.arange(k.size), np.argmax(beyond, axis=1)
        return edges[rows, part], edges[rows, part + 1]

    def bad_ends(self, before: Floats, after: Floats) -> list[tuple[float, int, bool]]:
        """The same at the ends of steps that end at a corner; before, after: decisions before and beyond the end of each."""
        k = np.flatnonzero(np.any(before != after, axis=1))
        if not k.size:
            return []
        jumps, steep = self._judge(k, np.ones(k.size))
        operation, times = np.argmax(before[k] != after[k], axis=1), self.t[k] + self.h[k]
        return [(float(times[i]), int(operation[i]), bool(jumps[i])) for i in np.flatnonzero(jumps | steep)]

    def _judge(self, k: Ints, x: Floats) -> tuple[Truths, Truths]:
        """Whether f jumps, and whether it is infinitely steep, at fractions x of steps k."""
        t, y, rates = self.t[k] + x * self.h[k], self._states(k, x), (self.y1[k] - self.y0[k]) / self.h[k, None]
        close = np.maximum(CLOSE * self.h[k], SHORTEST * (1.0 + np.abs(t)))

        def f(distance: float) -> Floats:
            s = distance * close
            return self._evaluate(self.walk.rhs, t + s, y + s[:, None] * rates)

        # at rest all rates are round-off: a jump that changes the state by less than its tolerance in this step is none
        largest = np.max(np.abs(f(1.0)), axis=1, keepdims=True)
        least = float(np.min(self.walk.tolerances.atol)) / (NOISE * self.h[k, None])
        across, beyond, before = _grow(f, np.maximum(largest, least))
        return across, beyond | before


def reason_at_event(walk: TapedRun, k: int, p: Floats, p_next: Floats) -> str:
    """Why derivatives cannot cross the event at the end of step k, where p becomes p_next; empty if they can."""
    (begin, t), y, rhs = walk.tape.times[k].tolist(), walk.tape.ends[k], walk.rhs
    rates, close = (y - walk.tape.begins[k]) / (t - begin), max(CLOSE * (t - begin), SHORTEST * (1.0 + abs(t)))

    def f(distance: float) -> Floats:
        s = distance * close
        own, at_event = (p, before) if distance < 0.0 else (p_next, after)
        return rhs(t + s, y + s * rates, own) - at_event  # without the jump that the flags make

    before, after = rhs(t, y, p), rhs(t, y, p_next)
    jumps, *steep = _grow(f, np.max(np.abs([before, after])))
    return JUMPS if jumps else STEEP if any(steep) else ""


def function_jumps(call: DirectionalCall, row: int, point: EventPoint) -> bool:
    """Whether an event function jumped across zero at a point, or p did so for it, instead of crossing it."""
    close, none = EVENT_CLOSE * (1.0 + abs(point.t)), (np.zeros((point.y.size, 1)), None, np.zeros((point.p.size, 1)))

    def g(distance: float) -> Floats:
        s = distance * close
        return call(point.t + s, point.y + s * point.slope, point.p, *none)[0][row : row + 1]

    stays = g(-RATIO) * g(RATIO) > 0.0 and g(-1.0) * g(1.0) > 0.0
    return bool(stays or _grow(g, np.max(np.abs([g(-1.0), g(1.0)])))[0])


def _grow(f: Callable[[float], Floats], size: Any) -> tuple[Truths, ...]:
    """Whether f changes over each of SPANS by more than a function with a slope could: more than it does RATIO times as far."""
    near, far = ([np.abs(f(scale * b) - f(scale * a)) for a, b in SPANS] for scale in (1.0, RATIO))
    most = STEEPEST * np.max(far, axis=0) + NOISE * size
    return tuple(np.any(~(change <= most), axis=-1) for change in near)
