"""Divides a run into pieces of time, on each of which all functions of time are nearly cubic.

An integrator evaluates a function of time only at its stages: it misses a pulse of a prescribed motion or force that begins and
ends within one step. Functions of time are therefore sampled before the run, and steps are then limited to about two of these
pieces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Functions = Callable[[Floats], Floats]  # times -> values (function, time)

SAMPLES = 2**14  # samples over the run: a pulse longer than two of these intervals is found
FINE_SAMPLES = 2**18  # for functions that change all the time
INSIDE = 2**7  # samples in an unresolved interval, where a pulse begins or ends or a function jumps
JUDGED = 2**3  # samples of the shortest piece that can be judged
TOLERANCE = 1e-3  # fraction of a function's range: largest deviation from a cubic on a piece
GLANCE = 2**5  # samples of a piece that are checked first
UNRESOLVED = 256  # number of short pieces that are sampled more finely; if there are more, the whole run is
SCATTER = 0.7  # fraction of an interval: samples are scattered, or a function with the period of their spacing would look constant


@dataclass(frozen=True)
class Pieces:
    """Ends of the pieces, s, from the beginning of the run to its end; none if all functions are nearly cubic."""

    knots: Floats
    resolved: bool  # False if functions change faster than the samples can resolve


def time_pieces(functions: Functions, begin: float, end: float) -> Pieces:
    """The pieces of begin ... end, s."""
    pieces, rough = _look(functions, begin, end, SAMPLES)
    if len(rough) > UNRESOLVED:
        pieces, rough = _look(functions, begin, end, FINE_SAMPLES)
    resolved = len(rough) <= UNRESOLVED
    if resolved:
        for a, b in rough:
            inside, jumps = _look(functions, a, b, INSIDE)
            pieces += inside + jumps
    else:
        pieces += rough
    knots = np.unique([begin, *(b for _, b in pieces), end])
    return Pieces(knots if knots.size > 2 else np.empty(0), resolved)


Piece = tuple[float, float]


def _look(functions: Functions, begin: float, end: float, samples: int) -> tuple[list[Piece], list[Piece]]:
    """(pieces on which functions are nearly cubic, shortest pieces on which they are not)."""
    k = np.arange(samples + 1)
    scatter = SCATTER * (np.modf(k * 0.6180339887498949)[0] - 0.5)  # the golden section avoids any common period
    scatter[::JUDGED] = 0.0
    times = begin + (end - begin) * (k + scatter) / samples
    values = functions(times)
    values = values[np.all(np.isfinite(values), axis=1)]  # a formula outside its domain is reported when it is used
    size = np.ptp(values, axis=1)
    values = values[size > 1e-12 * np.max(np.abs(values), axis=1, initial=0.0)]
    if not values.size:
        return [(begin, end)], []
    values = values / np.ptp(values, axis=1)[:, None]
    done: list[Piece] = []
    width, starts = samples, np.array([0])
    while True:
        good = np.ones(starts.size, dtype=bool)
        for stride in sorted({max(width // GLANCE, 1), 1}, reverse=True):  # a few samples decide for most pieces
            inside = starts[good, None] + np.arange(0, width + 1, stride)
            good[good] = _are_cubics(times[inside], values[:, inside])
        done += [(float(times[s]), float(times[s + width])) for s in starts[good]]
        starts = starts[~good]
        if width == JUDGED or not starts.size:
            return done, [(float(times[s]), float(times[s + width])) for s in starts]
        width //= 2
        starts = np.sort(np.concatenate([starts, starts + width]))


def _are_cubics(times: Floats, values: Floats) -> NDArray[np.bool_]:
    """Whether all functions are nearly cubic on each piece; times: (piece, sample), values: (function, piece, sample)."""
    last = times.shape[1] - 1
    nodes = np.round(last * (0.5 - 0.5 * np.cos(np.pi * (np.arange(4) + 0.5) / 4))).astype(int)  # Chebyshev nodes
    guess = np.zeros_like(values)
    for j in nodes:
        weight = np.ones_like(times)
        for i in nodes[nodes != j]:
            weight *= (times - times[:, i, None]) / (times[:, j] - times[:, i])[:, None]
        guess += values[:, :, j, None] * weight
    return np.asarray(np.max(np.abs(guess - values), axis=(0, 2)) <= TOLERANCE)
