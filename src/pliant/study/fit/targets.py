"""What is compared: a column by its difference, a wrapped angle by the turn between, an orientation by the rotation between."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.study.fit.series import READINGS

if TYPE_CHECKING:
    from pliant.study.fit.experiment import Column

Floats = NDArray[np.float64]
HALF, TURN = np.pi, 2.0 * np.pi
ROUNDED = 1e-3  # rad: angles that are wrapped lie within one turn, up to their rounding
UNIT = 0.05  # of a measured quaternion's length: more is not a rotation
SMALL = 1e-3  # sine of half an angle: below, its ratio to the angle is taken from its series
QUATERNION = re.compile(r"(?P<owner>q .+)\.q(?P<axis>[wxyz])|(?P<body>orientation .+) (?P<of>[wxyz])")


@dataclass(frozen=True)
class Target:
    """One column, compared by the difference between run and measurement."""

    name: str
    columns: tuple[Column, ...]
    parts: tuple[str, ...]  # names of its series of differences
    unit: str

    @cached_property
    def there(self) -> NDArray[np.bool_]:
        """At which rows there is a measurement that counts."""
        there: NDArray[np.bool_] = np.all([np.isfinite(column.values) for column in self.columns], axis=0)
        return there if self.weights is None else there & (self.weights > 0.0)

    @cached_property
    def size(self) -> Floats:
        """Sizes of the measured values, by row and part."""
        return np.abs(self.columns[0].values)[:, None]

    @property
    def weights(self) -> Floats | None:
        return self.columns[0].weights

    def differences(self, run: Sequence[Floats]) -> Floats:
        """Run minus measurement, by row and part, from the columns of a run; nan where there is no measurement."""
        return (run[0] - self.columns[0].values)[..., None]

    def slopes(self, run: Sequence[Floats], slopes: Sequence[Floats]) -> Floats:
        """Derivatives of the differences by the parameters: by row, part and parameter."""
        return slopes[0][:, None, :]


@dataclass(frozen=True)
class WrappedAngle(Target):
    """An angle that was measured within one turn: whole turns between run and measurement do not count."""

    def differences(self, run: Sequence[Floats]) -> Floats:
        return np.mod(super().differences(run) + HALF, TURN) - HALF


@dataclass(frozen=True)
class Rotation(Target):
    """An orientation, measured as a quaternion (w, x, y, z): compared by the vector of the rotation between, in body axes."""

    @cached_property
    def measured(self) -> Floats:
        given = np.stack([column.values for column in self.columns], axis=-1)
        length = np.linalg.norm(given, axis=-1)
        off = np.abs(length - 1.0) > UNIT
        if np.any(off):
            raise ModelError.of("fit", f"data {self.name}", "must be quaternions of length 1", float(length[off][0]))
        return np.asarray(given / length[:, None])

    @cached_property
    def size(self) -> Floats:
        return np.ones((self.measured.shape[0], 3))

    @cached_property
    def _back(self) -> Floats:
        """By row, the matrix that multiplies a quaternion by the inverse of the measured one, from the left."""
        w, x, y, z = self.measured.T * np.array([[1.0], [-1.0], [-1.0], [-1.0]])
        return np.moveaxis(np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]]), 2, 0)

    def differences(self, run: Sequence[Floats]) -> Floats:
        q = _times(self._back, np.stack(run, axis=-1))
        between = np.where(q[..., :1] < 0.0, -q, q)  # at most half a turn
        return np.asarray(_angle_over_sine(between) * between[..., 1:])

    def slopes(self, run: Sequence[Floats], slopes: Sequence[Floats]) -> Floats:
        """r = k v, k = angle / |v|: dr = k dv + v dk."""
        raw = _times(self._back, np.stack(run, axis=-1))
        sign = np.where(raw[..., :1] < 0.0, -1.0, 1.0)
        between, moved = sign * raw, sign[:, None] * _times(self._back[:, None], np.stack(slopes, axis=-1))
        w, v, s = between[..., :1], between[..., 1:], np.linalg.norm(between[..., 1:], axis=-1, keepdims=True)
        k, safe = _angle_over_sine(between), np.maximum(s, SMALL)
        along = np.sum(v[:, None, :] * moved[..., 1:], axis=-1)  # v . dv
        by_s = np.where(s < SMALL, -4.0 / (3.0 * np.maximum(w, SMALL) ** 3), (2.0 * w / (w * w + s * s) - k) / safe**2)  # dk/ds / s
        by_w = -2.0 / (w * w + s * s)
        rate = by_s * along + by_w * moved[..., 0]
        return np.asarray(np.moveaxis(k[:, None] * moved[..., 1:] + rate[..., None] * v[:, None, :], 1, 2))


def _times(matrices: Floats, vectors: Floats) -> Floats:
    return np.asarray(np.matmul(matrices, vectors[..., None])[..., 0])


def _angle_over_sine(q: Floats) -> Floats:
    """The angle of a rotation over the length of its quaternion's vector; 2/w (1 - s^2/(3 w^2)) near zero."""
    w, s = q[..., :1], np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    near = np.maximum(w, SMALL)
    series = 2.0 / near * (1.0 - s * s / (3.0 * near * near))
    return np.asarray(np.where(s < SMALL, series, 2.0 * np.arctan2(s, w) / np.maximum(s, SMALL)))


def targets_of(columns: Sequence[Column]) -> tuple[Target, ...]:
    """Four columns of a quaternion are one target, and so is every other column."""
    groups: dict[str, dict[str, Column]] = {}
    for column in columns:
        match = QUATERNION.fullmatch(column.series.name)
        if match is not None:
            owner = f"{match['owner'][2:]} orientation" if match["owner"] else match["body"]
            groups.setdefault(owner, {})[match["axis"] or match["of"]] = column
    whole = {name: tuple(found[axis] for axis in "wxyz") for name, found in groups.items() if len(found) == 4}
    taken = {id(column) for four in whole.values() for column in four}
    return (
        *(_single(column) for column in columns if id(column) not in taken),
        *(Rotation(name, four, tuple(f"{name} about {axis}" for axis in "xyz"), "rad") for name, four in whole.items()),
    )


def _single(column: Column) -> Target:
    wrapped = column.series.quantity in {"q", READINGS} and column.series.unit == "rad" and _is_wrapped(column.values)
    return (WrappedAngle if wrapped else Target)(column.column, (column,), (column.column,), column.series.unit)


def _is_wrapped(values: Floats) -> bool:
    """Whether angles jump by more than half a turn from row to row, but stay within one turn."""
    there = values[np.isfinite(values)]
    return bool(there.size > 1 and np.max(np.abs(np.diff(there))) > HALF and np.ptp(there) <= TURN + ROUNDED)


def by_name(targets: Sequence[Target]) -> Mapping[str, Target]:
    return {target.name: target for target in targets}
