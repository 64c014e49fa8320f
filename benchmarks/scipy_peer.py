"""scipy's solve_ivp on pliant's own compiled right-hand side: the falling chain, contacts found and closed by solve_ivp's events.

Seconds are of the processor, so that what else runs on the machine does not count.
"""

from __future__ import annotations

import ctypes
import time
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import pliant as pl
from pliant.results.table import OBSERVED, QUANTITIES
from pliant.run.prepare import Compiled

KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 4)
TOUCH = 1e-9  # m: ends that are so near the ground when another touches it touch it too
METHODS = ("DOP853", "Radau")
ENOUGH_SECONDS = 1.0  # of one run, to be told from the next without repeating it


class Chain:
    """The equations of a System with contacts but no memory, as a scipy user has them: t, y -> y', and the gaps."""

    def __init__(self, compiled: Compiled) -> None:
        self.traced, self.n = compiled.traced, compiled.traced.n_controlled
        self.p = self.traced.parameters(0.0, 1e9)
        self.evaluations = 0
        self._whole = self.traced.y0.copy()
        self._calls = {name: KERNEL(code.address) for name, code in (("rhs", compiled.rhs), ("observe", compiled.observe))}
        self._out = {"rhs": np.empty(compiled.rhs.n_out), "observe": np.empty(compiled.observe.n_out)}
        self._work = np.empty(max(compiled.rhs.n_work, compiled.observe.n_work, 1))
        self._places = _places(compiled)

    def rates(self, t: float, y: np.ndarray) -> np.ndarray:
        self.evaluations += 1
        return self._call("rhs", t, y)[: self.n].copy()

    def seen(self, name: str, t: float, y: np.ndarray) -> np.ndarray:
        """gap or closing_speed of every pair."""
        return self._call("observe", t, y)[self._places[name]].copy()

    def _call(self, name: str, t: float, y: np.ndarray) -> np.ndarray:
        self._whole[: self.n] = y
        out = self._out[name]
        self._calls[name](t, *(a.ctypes.data for a in (self._whole, self.p, out, self._work)))
        return out

    def events(self) -> list[Any]:
        """A gap that closes, or opens where it is closed, ends the phase."""
        return [self._event(k) for k in range(len(self.traced.pairs))]

    def _event(self, k: int) -> Any:
        def gap(t: float, y: np.ndarray) -> float:
            return float(self.seen("gap", t, y)[k])

        gap.terminal, gap.direction = True, 1.0 if self.p[self.traced.pairs[k].closed] else -1.0  # type: ignore[attr-defined]
        return gap

    def turn(self, t: float, y: np.ndarray) -> None:
        """Close what touches and comes nearer, open what has come back."""
        gaps, speeds = self.seen("gap", t, y), self.seen("closing_speed", t, y)
        for slots, gap, speed in zip(self.traced.pairs, gaps, speeds, strict=True):
            if abs(gap) < TOUCH:
                self.p[slots.closed], self.p[slots.entry] = (1.0, speed) if speed > 0.0 else (0.0, 1.0)


def integrate(chain: Chain, t_end: float, every: float, method: str, rtol: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows (q, v) on a grid, phase by phase."""
    grid = every * np.arange(round(t_end / every) + 1)
    t, y, rows = 0.0, chain.traced.y0[: chain.n].copy(), []
    while t < t_end:
        wanted = grid[(grid > t) & (grid <= t_end)] if rows else grid
        done = solve_ivp(chain.rates, (t, t_end), y, method, rtol=rtol, atol=1e-3 * rtol, events=chain.events(), t_eval=wanted)
        if not done.success:
            raise RuntimeError(f"solve_ivp {method}: {done.message}")
        rows += list(np.transpose(done.y)) if len(done.t) else []
        if done.status == 0:
            break
        t, y = next((times[0], states[0]) for times, states in zip(done.t_events, done.y_events, strict=True) if len(times))
        chain.turn(t, y)
    return grid, np.array(rows)


def measure(compiled: Compiled, t_end: float, every: float, rtol: float, repeat: int = 3) -> dict[str, Any]:
    """Seconds and errors (of q, m and rad) of solve_ivp and of pliant's DOP853 at one tolerance."""
    chain = Chain(compiled)
    names = compiled.traced.tree.positions
    best = _coordinates(pl.simulate(compiled, t_end, method=pl.DOP853(rtol=1e-12, atol=1e-15), save=every), names)
    found: dict[str, Any] = {"rtol": rtol}
    for method in METHODS:
        seconds = np.inf
        for _ in range(repeat):
            chain.p[:] = chain.traced.parameters(0.0, 1e9)
            chain.evaluations, began = 0, time.process_time()
            rows = integrate(chain, t_end, every, method, rtol)[1]
            seconds = min(seconds, time.process_time() - began)
            if seconds > ENOUGH_SECONDS:
                break
        error = float(np.max(np.abs(rows[:, : len(names)] - best)))
        found[method] = {"s": seconds, "error": error, "rhs_evaluations": chain.evaluations}
    seconds = np.inf
    for _ in range(repeat + 1):
        began = time.process_time()
        result = pl.simulate(compiled, t_end, method=pl.DOP853(rtol=rtol, atol=1e-3 * rtol), save=every)
        seconds = min(seconds, time.process_time() - began)
    error = float(np.max(np.abs(_coordinates(result, names) - best)))
    found["pliant"] = {"s": seconds, "error": error, "rhs_evaluations": result.stats["rhs_evaluations"]}
    return found


def _coordinates(result: pl.Result, names: tuple[str, ...]) -> np.ndarray:
    return np.stack([result[name] for name in names], axis=1)


def _places(compiled: Compiled) -> dict[str, slice]:
    """Where the observer writes each quantity."""
    places, offset = {}, 0
    for name in OBSERVED:
        width = int(np.prod([len(compiled.traced.columns[d]) for d in QUANTITIES[name].dims]))
        places[name] = slice(offset, offset + width)
        offset += width
    return places
