"""Warnings about contacts along beams: where one nearest station does not describe what touches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from pliant.arrays import Floats
from pliant.dynamics.along import beyond_ends, depths_along, sine_between
from pliant.dynamics.tree import Tree
from pliant.model.along import Along
from pliant.model.contact import Bore, ContactPair
from pliant.model.coordinate_pair import Pair
from pliant.run.evidence import Evidence
from pliant.run.observed import values_of

ROWS = 100  # of those in which a pair is closed
STATIONS = 65  # along a beam
WIDE = 0.25  # of a beam or its piece: a touch as long as this is no point
ASKEW = 0.1  # sine of the angle of two beams below which they touch along a line
EVEN = 1e-2  # of the depth: a place that is as deep but for this may be the next at which the force acts
SHALLOW = 1e-3  # of the deepest touch: less is round-off, or a touch that bears nothing


def along_beams(evidence: Evidence) -> Iterator[str]:
    """Warn of a beam that touches at several places at once, or along a line, where its force acts at one station."""
    touched = {touch.pair for touch in evidence.contacts}
    for k, slots in enumerate(evidence.traced.pairs):
        pair = slots.pair
        if isinstance(pair, ContactPair) and isinstance(pair.ball, Along) and pair.name in touched:
            times, q, gaps = _closed(evidence, k)
            if times.size:
                looked_at = {Along: _parallel, Bore: _left}.get(type(pair.against), _several)
                yield from looked_at(evidence, pair, times, q, gaps)


def jumping_station(tree: Tree, pairs: Iterable[Pair], q: Floats, gaps: Floats) -> str:
    """Why steps became too small at an instant, if a beam is touched at places far apart that are as deep; else empty."""
    for pair, gap in zip(pairs, gaps, strict=True):
        if not gap < 0.0 or not isinstance(pair, ContactPair) or isinstance(pair.against, Along | Bore):
            continue
        if isinstance(pair.ball, Along):
            depths = depths_along(tree, pair, q[None], gap[None], STATIONS)[0]
            even = np.flatnonzero(depths > (1.0 - EVEN) * -gap)
            if even.size and even[-1] - even[0] > WIDE * STATIONS:
                return (
                    f"; contact {pair.name!r} is as deep at places of {_length(pair)} far apart, and its force jumps between them: "
                    "let spheres at several stations touch instead, or give pl.Along more touches"
                )
    return ""


def _closed(evidence: Evidence, k: int) -> tuple[Floats, Floats, Floats]:
    """Times, coordinates and gaps of rows in which a pair is closed."""
    times, values, course = evidence.times, evidence.values, evidence.course
    if times.size < course.times.size or not {"q", "gap"} <= set(values):
        times, values = course.times, values_of(evidence.traced, course.times, course.states, evidence.observed, ("q", "gap"))
    closed = np.flatnonzero(values["gap"][:, k] < 0.0)
    if closed.size:
        deepest = closed[np.argmin(values["gap"][closed, k])]
        closed = np.unique(np.append(closed[:: -(-closed.size // ROWS)], deepest))
    return times[closed], values["q"][closed], values["gap"][closed, k]


def _several(evidence: Evidence, pair: ContactPair, times: Floats, q: Floats, gaps: Floats) -> Iterator[str]:
    assert isinstance(pair.ball, Along)
    depths = depths_along(evidence.traced.tree, pair, q, gaps, STATIONS)
    wet = depths > SHALLOW * np.max(-gaps)
    wide = wet.mean(axis=1)
    starts = np.count_nonzero(wet[:, 1:] & ~wet[:, :-1], axis=1) + wet[:, 0]
    if starts.max() > 1:
        row = int(np.argmax(starts > 1))
        second = f"touches={pair.ball.touches + 1}" if pair.ball.touches == 1 else "more touches"
        yield (
            f"contact {pair.name!r} touches at {starts[row]} places of {pair.ball.at.body!r} at once at t = {times[row]:.6g} s, "
            f"but its force acts at the deepest only; give pl.Along {second}, or let spheres at several stations touch instead"
        )
    elif wide.max() > WIDE:
        row = int(np.argmax(wide))
        yield (
            f"contact {pair.name!r} is closed along {wide[row]:.2g} of {_length(pair)} at t = {times[row]:.6g} s, but its force "
            "acts at one station, which may jump; where a beam lies flat, let spheres at several stations touch instead"
        )


def _left(evidence: Evidence, pair: ContactPair, times: Floats, q: Floats, gaps: Floats) -> Iterator[str]:
    assert isinstance(pair.ball, Along)
    beyond = beyond_ends(evidence.traced.tree, pair, q)
    row = int(np.argmax(beyond))
    if beyond[row] > pair.ball.radius:
        yield (
            f"contact {pair.name!r} is closed at t = {times[row]:.6g} s, when the rim is {beyond[row]:.3g} m beyond the end of "
            f"{pair.ball.at.body!r}: there the beam is continued straight on; stop the run where it leaves its bore"
        )


def _parallel(evidence: Evidence, pair: ContactPair, times: Floats, q: Floats, gaps: Floats) -> Iterator[str]:
    sine = sine_between(evidence.traced.tree, pair, q)
    row = int(np.argmin(sine))
    if sine[row] < ASKEW:
        yield (
            f"contact {pair.name!r}: the two beams cross at an angle of {np.degrees(np.arcsin(sine[row])):.2g} degrees at "
            f"t = {times[row]:.6g} s; beams that are nearly parallel touch along a line, but their force acts at one station"
        )


def _length(pair: ContactPair) -> str:
    assert isinstance(pair.ball, Along)
    return repr(pair.ball.at.body) if pair.ball.touches == 1 else f"piece {pair.piece + 1} of {pair.ball.at.body!r}"
