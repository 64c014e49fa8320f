"""Starts of a random mechanism: the one it was built with, and others that lie on the zeros of what a run watches."""

from __future__ import annotations

import math

import numpy as np
from random_parts import Rng, often, one_of

from pliant.results.state import LAYOUT, FinalState
from pliant.run.prepare import Compiled

STARTS = 4  # of one mechanism: a member of a campaign is one of them
ULP = 2.0**-53
# Where a gap may begin: on its zero, round-off to either side of it, or apart. m
GAPS = (0.0, 0.0, ULP, -ULP, 1e-14, -1e-14, 1e-9, 0.02)


def start(seed: int, number: int, which: int, compiled: Compiled) -> FinalState:
    """Start `which` of a mechanism: 0 is the one it was built with, the others are drawn; see `_drawn`."""
    traced = compiled.traced
    rng = np.random.default_rng([seed, number, which + 1])
    y = traced.y0.copy() if which == 0 else _drawn(rng, compiled)
    labels = {name: tuple(traced.columns[name]) for name in LAYOUT}
    return FinalState(0.0, y, {}, labels, traced.t_start, 0.0)


def _drawn(rng: Rng, compiled: Compiled) -> np.ndarray:
    """Other rates; where no loop forbids it other joint positions too, often with a gap put on its zero and no speed across it."""
    traced = compiled.traced
    n_q, n_v = len(traced.free_q), len(traced.free_v)
    y = traced.y0.copy()
    rates = slice(n_q, n_q + n_v)
    if any(closure.by == "multipliers" for closure in traced.system.closures.values()):
        prescribed = traced.tree.prescribed or any(c.prescribed for c in traced.system.closures.values())
        y[rates] *= 1.0 if prescribed else float(one_of(rng, (-1.0, 0.0, 0.3, 2.0)))  # loops stay closed at any multiple
        return y
    joints = {slot.q for node in traced.tree.nodes for slot in node.slots if not slot.is_ball}
    moved = [i for i, k in enumerate(traced.free_q) if k in joints]
    if often(rng, 0.7):
        y[moved] += rng.uniform(-0.3, 0.3, len(moved))
    y[rates] = 0.0 if often(rng, 0.35) else rng.uniform(-1.5, 1.5, n_v) * (0.05 if often(rng, 0.3) else 1.0)
    if traced.pairs:
        y = _put_down(rng, compiled, y, moved)
    return y


def _put_down(rng: Rng, compiled: Compiled, y: np.ndarray, moved: list[int]) -> np.ndarray:
    """The nearest gap brought to its zero along one coordinate; the start it was built with where others would be pressed."""
    gap = lambda state: seen(compiled, state, "gap")  # noqa: E731
    k = int(np.argmin(gap(y)))
    target = float(one_of(rng, GAPS))
    slopes = np.array([(gap(_shifted(y, i, 1e-6))[k] - gap(y)[k]) / 1e-6 for i in moved])
    if slopes.size and np.max(np.abs(slopes)) > 0.1 and (often(rng, 0.8) or gap(y)[k] < 0.0):
        i = moved[int(np.argmax(np.abs(slopes)))]
        for _ in range(30):
            slope = (gap(_shifted(y, i, 1e-7))[k] - gap(y)[k]) / 1e-7
            step = (target - gap(y)[k]) / slope if slope else 0.0
            if not math.isfinite(step) or abs(step) < 1e-17:
                break
            y = _shifted(y, i, max(-0.3, min(0.3, step)))
    if not np.min(gap(y)) > -1e-8:
        return compiled.traced.y0.copy()
    return _without_closing(compiled, y, k) if often(rng, 0.5) else y


def _without_closing(compiled: Compiled, y: np.ndarray, k: int) -> np.ndarray:
    """The nearest rates at which gap k neither opens nor closes, but for round-off."""
    n_q, n_v = len(compiled.traced.free_q), len(compiled.traced.free_v)
    rest = y.copy()
    rest[n_q : n_q + n_v] = 0.0
    offset = seen(compiled, rest, "closing_speed")[k]
    row = np.array([seen(compiled, _shifted(rest, n_q + i, 1.0), "closing_speed")[k] - offset for i in range(n_v)])
    found = y.copy()
    if row @ row > 1e-6:  # else no rate that is worth the name changes it
        found[n_q : n_q + n_v] -= row * (seen(compiled, y, "closing_speed")[k] / (row @ row))
    return found


def _shifted(y: np.ndarray, i: int, by: float) -> np.ndarray:
    found = y.copy()
    found[i] += by
    return found


def seen(compiled: Compiled, y: np.ndarray, name: str) -> np.ndarray:
    """A quantity that the observer gives at t = 0, all contacts open."""
    values = compiled.observe(0.0, y, compiled.traced.parameters(0.0, 1.0))
    return np.asarray(values[compiled.traced.layout.observed[name]])
