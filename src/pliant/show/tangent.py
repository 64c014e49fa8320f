"""The direction of a beam's drawn line at one of its points; a body welded there keeps its angle to it at any magnification."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.arrays import Floats

SlopeWeights = tuple[tuple[int, ...], Floats]  # points, and their weights in the slope


def slope_weights(x: Floats, line: Sequence[int], point: int) -> SlopeWeights | None:
    """Weights for the slope of a line at one of its points, from the parabola through three points.

    x: the position of every point along the line. None if the line does not contain the point or is too short to bend.
    """
    if point not in line or len(line) < 3:
        return None
    first = min(max(line.index(point) - 1, 0), len(line) - 3)
    three = tuple(line[first : first + 3])
    a, b, c = (float(x[k]) for k in three)
    at = float(x[point])
    weights = [
        (2.0 * at - b - c) / ((a - b) * (a - c)),
        (2.0 * at - a - c) / ((b - a) * (b - c)),
        (2.0 * at - a - b) / ((c - a) * (c - b)),
    ]
    return three, np.array(weights)


def turn_between(before: Floats, after: Floats) -> Floats:
    """The smallest rotations that turn some directions (times, 3) into others: matrices (times, 3, 3)."""
    a, b = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (before, after))
    axis, cosine = np.cross(a, b), np.sum(a * b, axis=1)
    zero = np.zeros(len(a))
    x, y, z = axis.T
    skew = np.moveaxis(np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]]), 2, 0)
    return np.asarray(np.eye(3) + skew + skew @ skew / (1.0 + cosine)[:, None, None])
