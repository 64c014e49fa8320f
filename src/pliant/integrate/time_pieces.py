"""Divides a run into pieces of time, on each of which all functions of time are nearly cubic.

An integrator evaluates a function of time only at its stages: it misses a pulse of a prescribed motion or force that begins and
ends within one step. Functions of time are therefore sampled before the run, and steps are then limited to about two of these
pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Functions = Callable[[Floats], Floats]  # times -> values (function, time)

SAMPLES = 2**14  # samples over the run: a pulse longer than two of these intervals is found, wherever it is
FINE_SAMPLES = 2**18  # for functions that change all the time
INSIDE = 2**7  # samples in an unresolved interval, where a pulse begins or ends or a function jumps
JUDGED = 2**3  # samples of the shortest piece that can be judged
TOLERANCE = 1e-3  # of how much a function bends there: largest deviation from a cubic on a piece
FADE = 0.9  # what a function bends by in the whole of a piece counts as much for each half of it
ROUND_OFF = 1e-9  # fraction of a function's range: a smaller deviation is none
NOISE = 2.0**-47  # fraction of a function's largest value: the same, because a cubic through values adds up their round-off
GLANCE = 2**5  # samples of a piece that are checked first
UNRESOLVED = 256  # number of short pieces that are sampled more finely; if there are more, the whole run is
SCATTER = 0.7  # fraction of an interval: samples are scattered, or a function with the period of their spacing would look constant
OCTAVES = 46  # samples around a landmark, at the run's length times 2^-1, 2^-2, ...: a pulse of any width has some
MOST_AROUND = 2**19  # samples around all landmarks
PLACES = 0.5 - 0.5 * np.cos(np.pi * np.arange(17) / 16)  # fractions of a piece: its own samples
NODES = np.array([2, 6, 10, 14])  # those which are Chebyshev's nodes of a cubic
ULPS = 8.0 * 2.0**-52  # relative to t: nearer to a landmark than this, its own round-off decides on which side a sample is


@dataclass(frozen=True)
class TimePieces:
    """Ends of the pieces, s, from the beginning of the run to its end; none if all functions are nearly cubic."""

    knots: Floats
    resolved: bool  # False if functions change faster than the samples can resolve


def time_pieces(functions: Functions, begin: float, end: float, landmarks: Floats | None = None) -> TimePieces:
    """The pieces of begin ... end, s. landmarks: times around which functions may change within any time, however short."""
    marks = np.empty(0) if landmarks is None else landmarks
    for samples in (SAMPLES, FINE_SAMPLES):
        pieces, rough = _look(functions, begin, end, samples)
        unknown = [piece for piece in rough if not _holds(marks, piece)]
        resolved = len(unknown) <= UNRESOLVED
        if resolved:
            break
    if resolved:
        for a, b in unknown:
            inside, jumps = _look(functions, a, b, INSIDE)
            pieces += inside + jumps
    else:
        pieces += unknown
    near = sorted(piece for piece in {*pieces, *rough} if _holds(marks, piece))
    ends = {b for piece in pieces if not _holds(marks, piece) for b in piece}
    knots = np.unique([begin, *ends, *_divided(functions, _joined(near), marks, end - begin), end])
    return TimePieces(knots if knots.size > 2 else np.empty(0), resolved)


def joined(pieces: TimePieces, knots: Sequence[Floats], begin: float, end: float) -> TimePieces:
    """The same pieces, divided at knots as well."""
    more = np.concatenate([np.empty(0), *knots])
    inside = more[(more > begin) & (more < end)]
    if not inside.size:
        return pieces
    return TimePieces(np.unique(np.concatenate([pieces.knots, [begin, end], inside])), pieces.resolved)


def nearly_cubic(times: Floats, values: Floats) -> Floats:
    """Ends of pieces of a sampled function, all of them samples, such that it is nearly cubic on each, s."""
    size = float(np.ptp(values))
    if size == 0.0:
        return times[[0, -1]]
    width = JUDGED * 2 ** int(np.ceil(np.log2(max((times.size - 1) / JUDGED, 1.0))))
    beyond = np.arange(1, width + 2 - times.size) * (times[-1] - times[0]) / (times.size - 1)  # constant there
    long, more = np.append(times, times[-1] + beyond), np.append(values, np.full(beyond.size, values[-1]))
    pieces, rough = _divide(long, more[None] / size, np.array([ROUND_OFF + NOISE * float(np.max(np.abs(values))) / size]))
    ends = np.array(pieces).ravel()
    inside = [times[(times >= a) & (times <= b)] for a, b in _joined(sorted(rough))]
    knots = np.unique(np.concatenate([times[[0, -1]], ends, *inside]))
    return np.asarray(knots[knots <= times[-1]])


Piece = tuple[float, float]


def _holds(marks: Floats, piece: Piece) -> bool:
    """Whether a landmark is inside a piece or at one of its ends."""
    return bool(np.searchsorted(marks, piece[0]) < np.searchsorted(marks, piece[1], side="right"))


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Neighbours as one: landmarks divide them better than samples that know nothing of them."""
    joined: list[Piece] = []
    for a, b in pieces:
        if joined and joined[-1][1] == a:
            joined[-1] = joined[-1][0], b
        else:
            joined.append((a, b))
    return joined


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
    noise = _noise(values, size := np.ptp(values, axis=1)) / size
    return _divide(times, values / size[:, None], noise)


def _divide(times: Floats, values: Floats, noise: Floats) -> tuple[list[Piece], list[Piece]]:
    """The same for samples, one more than a power of two, of functions whose range is 1; noise: deviations without meaning."""
    width, done = times.size - 1, list[Piece]()
    starts, scale = np.array([0]), np.zeros((len(values), 1))
    while True:
        good = np.ones(starts.size, dtype=bool)
        for stride in sorted({max(width // GLANCE, 1), 1}, reverse=True):  # a few samples decide for most pieces
            inside = starts[good, None] + np.arange(0, width + 1, stride)
            bend, off = _shape(times[inside], values[:, inside], _nodes(inside.shape[1] - 1))
            scale[:, good] = np.maximum(scale[:, good], bend)
            good[good] = np.all(off <= TOLERANCE * scale[:, good] + noise[:, None], axis=0)
        done += [(float(times[s]), float(times[s + width])) for s in starts[good]]
        starts, scale = starts[~good], FADE * scale[:, ~good]
        if width == JUDGED or not starts.size:
            return done, [(float(times[s]), float(times[s + width])) for s in starts]
        width //= 2
        starts, scale = np.stack([starts, starts + width], axis=1).ravel(), np.repeat(scale, 2, axis=1)


def _noise(values: Floats, size: Floats) -> Floats:
    """Deviations of functions (function, sample) of this range that mean nothing."""
    return np.asarray(ROUND_OFF * size + NOISE * np.fmax.reduce(np.abs(values), axis=1))


def _nodes(last: int) -> NDArray[np.int64]:
    """The samples 0 ... last, evenly spaced, that are nearest to Chebyshev's nodes of a cubic."""
    return np.round(last * (0.5 - 0.5 * np.cos(np.pi * (np.arange(4) + 0.5) / 4))).astype(np.int64)


def _shape(times: Floats, values: Floats, nodes: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Largest deviations of all functions from their chord and from a cubic; times: (piece, sample), values: (function, ...)."""
    ends = np.array([0, times.shape[1] - 1])
    chord, cubic = (_through(times[:, some], values[:, :, some], times) for some in (ends, nodes))
    return np.max(np.abs(chord - values), axis=2), np.max(np.abs(cubic - values), axis=2)


def _through(nodes: Floats, values: Floats, times: Floats) -> Floats:
    """Lagrange's polynomials through values at nodes (piece, node), at times (piece, sample)."""
    result = np.zeros((len(values), *times.shape))
    for j in range(nodes.shape[1]):
        weight = np.ones_like(times)
        for i in range(nodes.shape[1]):
            if i != j:
                weight *= (times - nodes[:, i, None]) / (nodes[:, j] - nodes[:, i])[:, None]
        result += values[:, :, j, None] * weight
    return result


# ---- around landmarks


def _divided(functions: Functions, pieces: list[Piece], marks: Floats, span: float) -> list[float]:
    """Ends of pieces with landmarks, divided at these or by halves until functions are nearly cubic on each."""
    if not pieces:
        return []

    def values(times: Floats) -> Floats:
        found = functions(times)
        return np.where(np.isfinite(found), found, np.nan)  # outside its domain nothing is known about a function

    away = span * 0.5 ** np.arange(1, min(OCTAVES, MOST_AROUND // marks.size) + 1)
    low, high = np.array(pieces).T
    around = np.sort((marks[:, None] + np.concatenate([away, -away, [0.0]])).ravel())
    around = around[(around >= low[0]) & (around <= high[-1])]
    seen = values(around)
    noise = _noise(seen, np.fmax.reduce(seen, axis=1) - np.fmin.reduce(seen, axis=1))[:, None]
    scale, ends = np.zeros((len(seen), low.size)), [*low.tolist(), *high.tolist()]
    while low.size:
        bend, off = _shape_around(values, low, high, around, seen)
        scale = np.fmax(scale, bend)
        bad = np.any(off > TOLERANCE * scale + noise, axis=0)
        low, high, scale = low[bad], high[bad], FADE * scale[:, bad]
        guard = ULPS * np.maximum(np.abs(low), np.abs(high))
        first, last = np.searchsorted(marks, low + guard), np.searchsorted(marks, high - guard)
        middle = 0.5 * (low + high)
        nearest = np.clip(np.searchsorted(marks, middle), first, np.maximum(last - 1, first)).clip(0, marks.size - 1)
        middle = np.where(first < last, marks[nearest], middle)
        touched = np.searchsorted(marks, low - guard) < np.searchsorted(marks, high + guard, side="right")
        on = high - low > np.where(touched, 8.0 * guard, span / FINE_SAMPLES)
        ends += middle[on].tolist()
        low, high = np.stack([low[on], middle[on]], axis=1).ravel(), np.stack([middle[on], high[on]], axis=1).ravel()
        scale = np.repeat(scale[:, on], 2, axis=1)
        long = high - low > 4.0 * ULPS * np.maximum(np.abs(low), np.abs(high))  # between landmarks nearly at the same time: nothing
        low, high, scale = low[long], high[long], scale[:, long]
    return ends


def _shape_around(functions: Functions, low: Floats, high: Floats, around: Floats, seen: Floats) -> tuple[Floats, Floats]:
    """As `_shape` of pieces low ... high, by samples of their own and by those around landmarks; where finite."""
    guard = ULPS * np.maximum(np.abs(low), np.abs(high))
    times = (low + guard)[:, None] + (high - low - 2.0 * guard)[:, None] * PLACES
    values = functions(times.ravel()).reshape(-1, *times.shape)
    bend, off = _shape(times, values, NODES)
    of = np.searchsorted(low, around) - 1
    inside = (of >= 0) & (around > low[of] + guard[of]) & (around < high[of] - guard[of])
    of, at, found = of[inside], around[inside], seen[:, inside]
    for some, largest in ((NODES, off), (np.array([0, PLACES.size - 1]), bend)):
        guess = _through(times[:, some][of], values[:, :, some][:, of], at[:, None])[:, :, 0]
        for row, error in zip(largest, np.abs(guess - found), strict=True):
            np.fmax.at(row, of, error)
    return bend, off
