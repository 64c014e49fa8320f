"""Rotations over any scalar. A rotation about a coordinate axis is stored as an angle, so that successive angles add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pliant.dynamics.algebra import (
    IDENTITY,
    Mat,
    Scalar,
    Vec,
    add,
    cross,
    dot,
    is_zero,
    mat_add,
    mat_scale,
    mirrored,
    product,
    scale,
    skew,
    times,
    transpose,
    transposed_times,
)
from pliant.scalar import atan2, cos, sin, sqrt, where


@dataclass(frozen=True)
class Rotation:
    """R maps components in the turned frame to components in the frame it turned from."""

    index: int | None = None  # 0, 1, 2: about x, y, z by `angle`; None: the matrix below
    angle: Scalar = 0.0
    general: Mat = IDENTITY

    @property
    def is_identity(self) -> bool:
        return self.index is not None and is_zero(self.angle)

    @cached_property
    def matrix(self) -> Mat:
        if self.index is None:
            return self.general
        if self.is_identity:
            return IDENTITY
        c, s = cos(self.angle), sin(self.angle)
        i, j, k = self.index, (self.index + 1) % 3, (self.index + 2) % 3
        rows: list[list[Scalar]] = [[0.0] * 3 for _ in range(3)]
        rows[i][i], rows[j][j], rows[k][k], rows[j][k], rows[k][j] = 1.0, c, c, -s, s
        return tuple(tuple(row) for row in rows)  # type: ignore[return-value]

    def out(self, v: Vec) -> Vec:
        """Components in the turned frame -> components in the base frame."""
        return v if self.is_identity else times(self.matrix, v)

    def into(self, v: Vec) -> Vec:
        """Components in the base frame -> components in the turned frame."""
        return v if self.is_identity else transposed_times(self.matrix, v)

    def then(self, after: Rotation) -> Rotation:
        """This rotation, followed by `after` about the rotated axes."""
        if self.is_identity or after.is_identity:
            return after if self.is_identity else self
        if self.index is not None and self.index == after.index:
            return Rotation(self.index, self.angle + after.angle)
        return Rotation(None, 0.0, product(self.matrix, after.matrix))

    def symmetric_out(self, m: Mat) -> Mat:
        """R m R^T for symmetric m."""
        if self.is_identity:
            return m
        if self.index is None:
            return mirrored(product(self.matrix, product(m, transpose(self.matrix))))
        return self._symmetric_about_axis(m)

    def matrix_out(self, m: Mat) -> Mat:
        """R m R^T for any m."""
        if self.is_identity or all(is_zero(x) for row in m for x in row):
            return m
        return product(self.matrix, product(m, transpose(self.matrix)))

    def _symmetric_about_axis(self, m: Mat) -> Mat:
        """R m R^T about a coordinate axis; the invariant trace of the plane normal to it reduces 21 operations to 14."""
        assert self.index is not None
        i, j, k = self.index, (self.index + 1) % 3, (self.index + 2) % 3
        c, s = self.matrix[j][j], self.matrix[k][j]
        a, b, d = m[j][j], m[j][k], m[k][k]
        x, y = c * a - s * b, c * b - s * d
        aa, bb = c * x - s * y, s * x + c * y
        u, w = m[i][j], m[i][k]
        uu, ww = c * u - s * w, s * u + c * w
        rows: list[list[Scalar]] = [[0.0] * 3 for _ in range(3)]
        rows[i][i], rows[j][j], rows[k][k] = m[i][i], aa, (a + d) - aa
        rows[j][k] = rows[k][j] = bb
        rows[i][j] = rows[j][i] = uu
        rows[i][k] = rows[k][i] = ww
        return tuple(tuple(row) for row in rows)  # type: ignore[return-value]


NO_TURN = Rotation(2, 0.0)


def about(axis: Sequence[float], angle: Scalar) -> Rotation:
    """Rotation by `angle` about a constant unit axis."""
    for index in range(3):
        if abs(axis[index]) == 1.0:
            return Rotation(index, angle if axis[index] > 0.0 else -angle)
    if is_zero(angle):
        return NO_TURN
    k = skew((axis[0], axis[1], axis[2]))
    turned = mat_add(mat_scale(sin(angle), k), mat_scale(1.0 - cos(angle), product(k, k)))
    return Rotation(None, 0.0, mat_add(IDENTITY, turned))


def from_quaternion(q: Sequence[Scalar]) -> Rotation:
    """R of the quaternion (w, x, y, z), divided by |q|^2, so that R stays a rotation if the norm drifts."""
    w, x, y, z = q
    s = 2.0 / (w * w + x * x + y * y + z * z)
    return Rotation(None, 0.0, (
        (1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)),
        (s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)),
        (s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)),
    ))  # fmt: skip


def quaternion_of(rotation: Rotation) -> tuple[Scalar, ...]:
    """A unit quaternion (w, x, y, z) of a rotation; the largest of its four components is computed first (Shepperd 1978)."""
    if rotation.index is not None:
        half = [0.0, 0.0, 0.0]
        half[rotation.index] = sin(0.5 * rotation.angle)
        return (cos(0.5 * rotation.angle), *half)
    (a, b, c), (d, e, f), (g, h, i) = rotation.matrix
    columns = (
        (1.0 + a + e + i, h - f, c - g, d - b),
        (h - f, 1.0 + a - e - i, b + d, c + g),
        (c - g, b + d, 1.0 - a + e - i, f + h),
        (d - b, c + g, f + h, 1.0 - a - e + i),
    )
    chosen, largest = columns[0], columns[0][0]
    for k in (1, 2, 3):
        larger = columns[k][k] > largest
        chosen = tuple(where(larger, new, old) for new, old in zip(columns[k], chosen, strict=True))
        largest = where(larger, columns[k][k], largest)
    size = sqrt(chosen[0] * chosen[0] + chosen[1] * chosen[1] + chosen[2] * chosen[2] + chosen[3] * chosen[3])
    return tuple(x / size for x in chosen)


def quaternion_rate(q: Sequence[Scalar], omega: Vec) -> tuple[Scalar, ...]:
    """q' = q (0, omega) / 2 for omega in the rotated axes."""
    w, x, y, z = q
    a, b, c = omega
    return (
        -0.5 * (x * a + y * b + z * c),
        0.5 * (w * a + y * c - z * b),
        0.5 * (w * b + z * a - x * c),
        0.5 * (w * c + x * b - y * a),
    )


@dataclass(frozen=True)
class SmallTurn:
    """exp(psi) of a rotation vector, and its exact tangent map in the base axes.

    omega = J psi', J = 1 + a [psi] + b [psi]^2 (the left Jacobian), a = (1 - cos)/theta^2, b = (theta - sin)/theta^3.
    """

    psi: Vec

    @cached_property
    def single_axis(self) -> int | None:
        live = [k for k in range(3) if not is_zero(self.psi[k])]
        return (live[0] if live else 2) if len(live) <= 1 else None

    @cached_property
    def rotation(self) -> Rotation:
        if self.single_axis is not None:
            return Rotation(self.single_axis, self.psi[self.single_axis])
        s, a = _sinc(self._square), self._a
        k = skew(self.psi)
        return Rotation(None, 0.0, mat_add(IDENTITY, mat_add(mat_scale(s, k), mat_scale(a, product(k, k)))))

    def tangent(self, rate: Vec) -> Vec:
        """J psi' for a column or a rate."""
        if self._parallel(rate):
            return rate
        first = cross(self.psi, rate)
        return add(rate, add(scale(self._a, first), scale(self._b, cross(self.psi, first))))

    def tangent_bias(self, rate: Vec) -> Vec:
        """J' psi' with psi'' = 0: a' psi x psi' + b' psi x (psi x psi') + b psi' x (psi x psi')."""
        if self._parallel(rate):
            return (0.0, 0.0, 0.0)
        x_rate = 2.0 * dot(self.psi, rate)
        first = cross(self.psi, rate)
        drift = add(scale(_a_slope(self._square) * x_rate, first),
                    scale(_b_slope(self._square) * x_rate, cross(self.psi, first)))  # fmt: skip
        return add(drift, scale(self._b, cross(rate, first)))

    def _parallel(self, rate: Vec) -> bool:
        """Whether a vector is structurally parallel to the single axis of the rotation."""
        axis = self.single_axis
        return axis is not None and all(is_zero(rate[k]) for k in range(3) if k != axis)

    @cached_property
    def _square(self) -> Scalar:
        return dot(self.psi, self.psi)

    @cached_property
    def _a(self) -> Scalar:
        return _versine(self._square)

    @cached_property
    def _b(self) -> Scalar:
        return _cubic(self._square)


class FirstOrderTurn(SmallTurn):
    """1 + skew(psi) with omega = psi', its transpose used as inverse: not a rotation, but the small-angle form of some papers."""

    @cached_property
    def rotation(self) -> Rotation:
        return Rotation(None, 0.0, mat_add(IDENTITY, skew(self.psi)))

    def tangent(self, rate: Vec) -> Vec:
        return rate

    def tangent_bias(self, rate: Vec) -> Vec:
        return (0.0, 0.0, 0.0)


# Functions of x = theta^2 that are smooth at 0. Below SERIES_BELOW a Taylor series is used: its first omitted term is under 1e-17
# there, and above it cancellation in the closed form costs less than 1e-14.
SERIES_BELOW = 1.0
SERIES_TERMS = 10


def _series(x: Scalar, coefficients: Sequence[float]) -> Scalar:
    value: Scalar = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        value = value * x + coefficient
    return value


def _factorials(first: int) -> list[float]:
    """(-1)^n / (2n + first)!."""
    terms, value = [], 1.0
    for k in range(2, first + 1):
        value /= k
    for n in range(SERIES_TERMS):
        terms.append(value)
        value /= -float((2 * n + first + 1) * (2 * n + first + 2))
    return terms


_SINC, _VERSINE, _CUBIC = _factorials(1), _factorials(2), _factorials(3)
_SLOPES = {name: [n * c for n, c in enumerate(series)][1:] for name, series in (("a", _VERSINE), ("b", _CUBIC))}


def _safe(x: Scalar) -> Scalar:
    """x, kept away from 0 where the series is used, so that neither value nor derivative is nan."""
    return where(x < SERIES_BELOW, 1.0, x)


def _sinc(x: Scalar) -> Scalar:
    t = sqrt(_safe(x))
    return where(x < SERIES_BELOW, _series(x, _SINC), sin(t) / t)


def _versine(x: Scalar) -> Scalar:
    y = _safe(x)
    return where(x < SERIES_BELOW, _series(x, _VERSINE), (1.0 - cos(sqrt(y))) / y)


def _cubic(x: Scalar) -> Scalar:
    y = _safe(x)
    t = sqrt(y)
    return where(x < SERIES_BELOW, _series(x, _CUBIC), (t - sin(t)) / (t * y))


def _a_slope(x: Scalar) -> Scalar:
    """d/dx of (1 - cos sqrt x)/x."""
    y = _safe(x)
    t = sqrt(y)
    return where(x < SERIES_BELOW, _series(x, _SLOPES["a"]), (0.5 * t * sin(t) - (1.0 - cos(t))) / (y * y))


def _b_slope(x: Scalar) -> Scalar:
    """d/dx of (t - sin t)/t^3, t = sqrt x."""
    y = _safe(x)
    t = sqrt(y)
    closed = (t * (1.0 - cos(t)) - 3.0 * (t - sin(t))) / (2.0 * t * y * y)
    return where(x < SERIES_BELOW, _series(x, _SLOPES["b"]), closed)


def rotation_vector(q: Sequence[Scalar]) -> Vec:
    """The rotation vector of a quaternion of any norm, |theta| <= pi, smooth at zero rotation."""
    w, x, y, z = q
    sine = x * x + y * y + z * z
    tiny = 1e-16 * (w * w + sine)
    safe = sqrt(where(sine < tiny, 1.0, sine))
    sign = where(w < 0.0, -1.0, 1.0)
    factor = where(sine < tiny, 2.0 / w, sign * 2.0 * atan2(safe, sign * w) / safe)
    return scale(factor, (x, y, z))


def spin(matrix: Mat, rate: Mat) -> Vec:
    """omega in the rotated axes, from R and R': the vector of R^T R'."""
    w = product(transpose(matrix), rate)
    return (0.5 * (w[2][1] - w[1][2]), 0.5 * (w[0][2] - w[2][0]), 0.5 * (w[1][0] - w[0][1]))
