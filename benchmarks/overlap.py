"""How deep two convex bodies are in each other, from their shapes and poses alone: the shortest way that parts them.

Along a direction the bodies overlap by the sum of how far each reaches; the depth is the least over all directions. Along no
direction do they overlap less, so what is found is never too little, and as exact as the last directions are close: 1e-5 m.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
Reach = Callable[[Floats], Floats]  # of directions in the body's axes: how far it reaches along each from its origin, m

TRIED = 400  # directions all round, at first
STARTS = (0, 4, 12, 23)  # of these, by rank, those about which nearer ones are tried: a depth may have more than one least
TURNED, ROUNDS = 16, 60  # directions tried about the best one, and how often
WIDE = 0.2  # rad: the cone about it at first
PARALLEL = 1e-9  # sine of an angle
WIDER, NARROWER = 1.5, 0.7  # after a round that found a better one, and after one that did not


def box(size: tuple[float, float, float]) -> Reach:
    return lambda n: np.abs(n) @ (0.5 * np.array(size))


def cylinder(radius: float, length: float) -> Reach:
    return lambda n: radius * np.hypot(n[..., 0], n[..., 1]) + 0.5 * length * np.abs(n[..., 2])


def hull(points: Floats) -> Reach:
    return lambda n: np.asarray(np.max(n @ points.T, axis=-1))


def capsule(length: float, radius: float) -> Reach:
    return lambda n: np.maximum(length * n[..., 0], 0.0) + radius


def reached(shape: Reach, place: Floats, turn: Floats, n: Floats) -> Floats:
    """How far a shape reaches along directions (row, direction, 3) in world axes, for rows of places and quaternions."""
    return np.asarray(shape(np.einsum("rki,rij->rkj", n, _matrices(turn))) + np.einsum("rki,ri->rk", n, place))


def depths(shapes: tuple[Reach, Reach], places: Floats, turns: Floats) -> Floats:
    """How deep two shapes are in each other, m, for rows of places (row, body, 3) and quaternions; not above zero if apart."""
    n = np.concatenate([np.broadcast_to(_all_round(TRIED), (len(places), TRIED, 3)), _square(turns)], axis=1)
    tried = _overlaps(shapes, places, turns, n)
    found = tried.min(axis=1)
    close = np.flatnonzero(found > 0.0)  # elsewhere a direction is known along which they are apart
    if close.size:
        ranks = np.argsort(tried[close], axis=1)
        begun = [n[close, ranks[:, rank]] for rank in STARTS]
        found[close] = np.min([_narrowed(shapes, places[close], turns[close], best) for best in begun], axis=0)
    return found


def _narrowed(shapes: tuple[Reach, Reach], places: Floats, turns: Floats, best: Floats) -> Floats:
    """The least overlap near a direction."""
    random, rows, cone = np.random.default_rng(0), np.arange(len(best)), np.full(len(best), WIDE)
    least = _overlaps(shapes, places, turns, best[:, None])[:, 0]
    for _ in range(ROUNDS):
        n = best[:, None] + cone[:, None, None] * random.normal(size=(len(best), TURNED, 3))
        n /= np.linalg.norm(n, axis=-1, keepdims=True)
        overlaps = _overlaps(shapes, places, turns, n)
        k = overlaps.argmin(axis=1)
        less = overlaps[rows, k] < least
        best, least = np.where(less[:, None], n[rows, k], best), np.where(less, overlaps[rows, k], least)
        cone *= np.where(less, WIDER, NARROWER)
    return least


def _overlaps(shapes: tuple[Reach, Reach], places: Floats, turns: Floats, n: Floats) -> Floats:
    return reached(shapes[0], places[:, 0], turns[:, 0], n) + reached(shapes[1], places[:, 1], turns[:, 1], -n)


def _all_round(count: int) -> Floats:
    """Directions on a spiral, nearly evenly spaced."""
    k = np.arange(count) + 0.5
    z, angle = 1.0 - 2.0 * k / count, np.pi * (1.0 + np.sqrt(5.0)) * k
    r = np.sqrt(1.0 - z * z)
    return np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=-1)


def _square(turns: Floats) -> Floats:
    """Both ways along the axes of two bodies and at right angles to one of each: among these are the depths of boxes."""
    one, other = (np.swapaxes(_matrices(turns[:, k]), 1, 2) for k in (0, 1))
    across = np.cross(one[:, :, None], other[:, None]).reshape(len(turns), 9, 3)
    size = np.linalg.norm(across, axis=-1, keepdims=True)
    across = np.where(size > PARALLEL, across / np.maximum(size, PARALLEL), one[:, :1])
    return np.concatenate([one, other, across, -one, -other, -across], axis=1)


def _matrices(turn: Floats) -> Floats:
    w, x, y, z = np.moveaxis(turn, -1, 0)
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
