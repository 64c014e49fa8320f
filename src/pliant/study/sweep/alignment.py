"""Dimensions that several arrays share: matched by names, by numbers that agree, or only by count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.study.sweep.keep import Coordinate


@dataclass(frozen=True)
class Axis:
    """One dimension. If its numbers differ from array to array (`differs`), it has no common coordinate: each array has its own."""

    size: int
    coordinate: Coordinate = None
    differs: bool = False

    def places(self, own: Axis) -> NDArray[np.intp]:
        """Indices along this axis of the entries of an array with the other axis."""
        if self.coordinate is None or own.coordinate is None or not _is_text(self.coordinate):
            return np.arange(own.size)
        index = {name: k for k, name in enumerate(self.coordinate.tolist())}
        return np.array([index[name] for name in own.coordinate.tolist()], dtype=np.intp)

    @property
    def names(self) -> list[str] | None:
        return None if self.coordinate is None or not _is_text(self.coordinate) else [str(x) for x in self.coordinate]


def common_axis(axes: Sequence[Axis]) -> Axis:
    """Names are merged; numbers must agree up to the shorter length, as do the times of runs that ended early."""
    size = max(axis.size for axis in axes)
    coordinates = [axis.coordinate for axis in axes if axis.coordinate is not None]
    differs = any(axis.differs for axis in axes)
    if differs or len(coordinates) < len(axes):
        return Axis(size, None, differs)
    if any(_is_text(coordinate) for coordinate in coordinates):
        names = _united(coordinate.tolist() for coordinate in coordinates)
        return Axis(len(names), np.array(names, dtype=object))
    longest = max(coordinates, key=len)
    if all(np.array_equal(longest[: len(coordinate)], coordinate) for coordinate in coordinates):
        return Axis(size, longest)
    return Axis(size, None, differs=True)


def _united(lists: Iterable[list[object]]) -> list[str]:
    return list(dict.fromkeys(str(name) for names in lists for name in names))


def _is_text(coordinate: NDArray[np.generic]) -> bool:
    return coordinate.dtype.kind in "OUS"
