"""Curves along which a segmented beam lies: its nodes and the axes of its section there, from a function or from points.

The section's y and z follow the curve without turning about it (Bishop 1975), so that no twist is hidden in a spatial curve; a
pretwist turns them on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError

Curve = Callable[[float], Sequence[float]] | Sequence[Sequence[float]] | Floats
Twist = Callable[[float], float] | float

PART = "segmented"
FINE = 64  # stations within a segment at which the axes are carried along the curve
APART = 1e-3  # fraction of the beam's length by which the length of its curve may differ from it
POINTS = 2000  # at which the arc length of a spline is added up
STEP = 1e-5  # fraction of the beam's length: over it, tangents are differences of fourth order, whose round-off is 1e-11
UPRIGHT = (0.0, 0.0, 1.0)  # z axis of the section at the root, unless the curve begins along it
NEARLY = 1e-6  # sine of a turn below which its axis is not that of its skew part
VERTICAL = 1e-6  # sine of the angle to z below which a curve begins along it


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes of n segments on a curve: positions (n + 1, 3), m, and axes of the section as columns (n + 1, 3, 3)."""

    places: Floats
    axes: Floats
    middles: Floats  # axes of the section in the middle of each segment: (n, 3, 3)


def nodes_on(field: str, curve: Curve | None, twist: Twist | None, length: float, n: int) -> Nodes:
    """The nodes of a beam of this length on a curve from the origin; without a curve, on the x axis."""
    s = np.linspace(0.0, length, 2 * FINE * n + 1)
    places = _points(field, curve, s) if curve is not None else s[:, None] * np.array([1.0, 0.0, 0.0])
    straight = np.broadcast_to(np.eye(3), (s.size, 3, 3))
    axes = straight if curve is None else _carried(places, _tangents(field, curve, s, length))
    if twist is not None:
        angles = np.array([_angle(twist, x, length) for x in s])
        axes = axes @ np.stack([about_x(angle) for angle in angles])
    nodes, middles = slice(None, None, 2 * FINE), slice(FINE, None, 2 * FINE)
    return Nodes(places[nodes], np.array(axes[nodes]), np.array(axes[middles]))


def points(field: str, given: Any) -> tuple[tuple[float, ...], ...]:
    """Points of a curve, checked."""
    rule = "must be a function of the arc length, or at least two points of 2 or 3 numbers, m"
    try:
        rows = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as trouble:
        raise ModelError.of(PART, field, rule, given) from trouble
    if rows.ndim != 2 or rows.shape[1] not in (2, 3) or len(rows) < 2 or not np.all(np.isfinite(rows)):
        raise ModelError.of(PART, field, rule, given)
    if not np.all(np.any(np.diff(rows, axis=0) != 0.0, axis=1)):
        raise ModelError.of(PART, field, "must be points that follow one another at a distance", given)
    return tuple(tuple(row) for row in rows.tolist())


def _points(field: str, curve: Curve, s: Floats) -> Floats:
    """Places on the curve at arc lengths, from where it begins."""
    given = _function(field, curve, float(s[-1]))
    try:
        places = [np.asarray(given(float(x)), dtype=np.float64).ravel() for x in s]
    except (TypeError, ValueError, ArithmeticError) as trouble:
        raise ModelError.of(PART, field, "must give places of 2 or 3 numbers, m", curve) from trouble
    if any(there.size not in (2, 3) for there in places) or len({there.size for there in places}) > 1:
        raise ModelError.of(PART, field, "must give places of 2 or 3 numbers, m", curve)
    found = np.zeros((s.size, 3))
    found[:, : places[0].size] = places
    if not np.all(np.isfinite(found)):
        raise ModelError.of(PART, field, "must be finite all along the beam", curve)
    _check_length(field, curve, float(np.sum(np.linalg.norm(np.diff(found, axis=0), axis=1))), float(s[-1]))
    return np.asarray(found - found[0])


def _check_length(field: str, curve: Curve, whole: float, length: float) -> None:
    if abs(whole - length) > APART * length:
        rule = f"must be a function of the arc length, or points, as long as the beam ({length:.6g} m): it is {whole:.6g} m long"
        raise ModelError.of(PART, field, rule, curve)


def _function(field: str, curve: Curve, length: float) -> Callable[[float], Sequence[float] | Floats]:
    """A curve as a function of its arc length; a spline through points."""
    if callable(curve):
        return curve
    from scipy.interpolate import CubicSpline  # slow to import, and needed only for points

    rows = np.asarray(curve, dtype=np.float64)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(rows, axis=0), axis=1))])
    spline = CubicSpline(along, rows) if len(rows) > 2 else lambda x: rows[0] + np.multiply.outer(x / along[-1], rows[1] - rows[0])
    fine = np.linspace(0.0, along[-1], max(POINTS, 50 * len(rows)))
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(spline(fine), axis=0), axis=1))])
    _check_length(field, curve, float(arc[-1]), length)
    inverse = CubicSpline(arc * (length / arc[-1]), fine)
    return lambda s: np.asarray(spline(inverse(s)))


def _tangents(field: str, curve: Curve, s: Floats, length: float) -> Floats:
    """Unit tangents at arc lengths, by differences of fourth order, one-sided at the ends."""
    h = STEP * length
    middle = np.clip(s, 2.0 * h, length - 2.0 * h)
    steps, weights = (-2.0, -1.0, 1.0, 2.0), (1.0, -8.0, 8.0, -1.0)
    given = _function(field, curve, length)

    def at(places: Floats) -> Floats:
        return np.array([np.pad(np.asarray(given(float(x)), dtype=np.float64).ravel(), (0, 3))[:3] for x in places])

    slopes: Floats = np.asarray(sum(w * at(middle + k * h) for k, w in zip(steps, weights, strict=True))) / (12.0 * h)
    ends = np.flatnonzero(middle != s)
    sides = np.where(s[ends] < 0.5 * length, h, -h)  # (-25 f0 + 48 f1 - 36 f2 + 16 f3 - 3 f4) / 12 h
    rows = sum(w * at(s[ends] + k * sides) for k, w in enumerate((-25.0, 48.0, -36.0, 16.0, -3.0)))
    slopes[ends] = rows / (12.0 * sides[:, None])
    sizes = np.linalg.norm(slopes, axis=1)
    if np.any(np.abs(sizes - 1.0) > 10.0 * APART):
        k = int(np.argmax(np.abs(sizes - 1.0)))
        rule = f"must be a function of the arc length: at {s[k]:.6g} m it advances by {sizes[k]:.6g} m per m"
        raise ModelError.of(PART, field, rule, curve)
    return np.asarray(slopes / sizes[:, None])


def _carried(places: Floats, tangents: Floats) -> Floats:
    """Axes that follow the tangents without turning about them, by double reflection (Wang, Juettler, Zheng, Liu 2008)."""
    first, upright = tangents[0], np.array(UPRIGHT)
    if np.linalg.norm(np.cross(first, upright)) < VERTICAL:
        upright = np.array([-first[2], 0.0, 0.0])
    y = np.cross(upright, first)
    normals = [y / np.linalg.norm(y)]
    for k in range(len(places) - 1):
        step, normal, tangent = places[k + 1] - places[k], normals[-1], tangents[k]
        c = step @ step
        normal, tangent = normal - 2.0 / c * (step @ normal) * step, tangent - 2.0 / c * (step @ tangent) * step
        rest = tangents[k + 1] - tangent
        c = rest @ rest
        normals.append(normal - 2.0 / c * (rest @ normal) * rest if c > 0.0 else normal)
    y = np.array(normals)
    return np.stack([tangents, y, np.cross(tangents, y)], axis=2)


def _angle(twist: Twist, s: float, length: float) -> float:
    """The pretwist at a station, rad; a number is that of the tip, and the twist is even."""
    try:
        angle = float(twist(s)) if callable(twist) else float(twist) * s / length
    except (TypeError, ValueError, ArithmeticError) as trouble:
        raise ModelError.of(
            PART, "twist", "must be a number or a function of the arc length that gives one, rad", twist
        ) from trouble
    if not np.isfinite(angle):
        raise ModelError.of(PART, "twist", "must be finite all along the beam, rad", twist)
    return angle


def about_x(angle: float) -> Floats:
    c, s = float(np.cos(angle)), float(np.sin(angle))
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def leaning(along: Floats, axes: Floats) -> Floats:
    """Axes with x in a given direction, nearer to theirs than a half turn: the given ones, turned by the smallest rotation."""
    first, x = axes[:, 0], along / np.linalg.norm(along)
    v, c = np.cross(first, x), float(first @ x)
    k = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    return np.asarray((np.eye(3) + k + k @ k / (1.0 + c)) @ axes)


def rotation_vector(rotation: Floats) -> Floats:
    """The rotation vector of a rotation, exact for small ones."""
    v = 0.5 * np.array([rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]])
    s = float(np.linalg.norm(v))
    angle = float(np.arctan2(s, 0.5 * (np.trace(rotation) - 1.0)))
    if s > NEARLY or angle < 1.0:
        return np.asarray(v * (angle / s)) if s > 0.0 else np.zeros(3)
    both = 0.5 * (rotation + rotation.T) + np.eye(3)  # near half a turn: 2 n n^T, to second order in what is missing
    k = int(np.argmax(np.diag(both)))
    axis = both[:, k] / np.linalg.norm(both[:, k])
    return np.asarray(axis * (angle if axis @ v >= 0.0 else -angle))


def rotation_of(vector: Floats) -> Floats:
    """exp of a rotation vector."""
    angle = float(np.linalg.norm(vector))
    k = np.array([[0.0, -vector[2], vector[1]], [vector[2], 0.0, -vector[0]], [-vector[1], vector[0], 0.0]])
    half = 0.5 * np.sinc(angle / (2.0 * np.pi))
    return np.asarray(np.eye(3) + np.sinc(angle / np.pi) * k + 2.0 * half * half * (k @ k))
