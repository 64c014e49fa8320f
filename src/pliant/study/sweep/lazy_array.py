"""One variable of a sweep over all its cases, read from the batches on demand, without Dask."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xarray import Variable
from xarray.backends import BackendArray
from xarray.core import indexing

from pliant.study.sweep.alignment import Axis
from pliant.study.sweep.batch import ROW, Batch

Index = int | slice | NDArray[np.intp]


@dataclass(frozen=True)
class Places:
    """The location of every case: its batch (-1: none yet) and its row there, in the shape of the sweep's dimensions."""

    batch: NDArray[np.intp]
    row: NDArray[np.intp]


class SweepArray(BackendArray):
    """An array with the sweep's dimensions followed by those of the variable."""

    def __init__(
        self, name: str, batches: Sequence[Batch], places: Places, axes: Mapping[str, Axis], missing: Any, dtype: Any
    ) -> None:
        """axes: those of the variable, by the names of its dimensions. missing: the value where nothing was computed or kept."""
        self._name, self._batches, self._places, self._axes, self._missing = name, batches, places, axes, missing
        self.shape = (*places.batch.shape, *(axis.size for axis in axes.values()))
        self.dtype = np.dtype(dtype)

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

    def _read(self, key: tuple[Index, ...]) -> NDArray[Any]:
        of_cases, inner = key[: self._places.batch.ndim], key[self._places.batch.ndim :]
        numbers, rows = (
            np.atleast_1d(_outer(self._places.batch, of_cases)),
            np.atleast_1d(_outer(self._places.row, of_cases)),
        )
        sizes = _outer(np.empty(self.shape[self._places.batch.ndim :], dtype=np.int8), inner).shape
        values = np.full((numbers.size, *sizes), self._missing, dtype=self.dtype)
        for number in np.unique(numbers[numbers >= 0]):
            chosen = np.flatnonzero(numbers.ravel() == number)
            block = self._block(self._batches[number], rows.ravel()[chosen])
            if block is not None:
                values[chosen] = _outer(block, (slice(None), *inner))
        return values.reshape((*_outer(self._places.batch, of_cases).shape, *sizes))

    def _block(self, batch: Batch, rows: NDArray[np.intp]) -> NDArray[Any] | None:
        """Some cases of a batch, along the axes of the whole sweep; None if the batch does not have the variable."""
        if self._name not in batch.variables:
            return None
        known, back = np.unique(rows, return_inverse=True)
        own = batch.read(self._name, known)[back]
        if not self._axes:
            return own
        block = np.full((len(rows), *self.shape[self._places.batch.ndim :]), self._missing, dtype=self.dtype)
        stored = [_stored_axis(batch, dim) for dim in self._axes]
        places = (axis.places(of) for axis, of in zip(self._axes.values(), stored, strict=True))
        block[np.ix_(np.arange(len(rows)), *places)] = own
        return block


class NumbersAlong(SweepArray):
    """The numbers along a dimension in which cases differ; a batch in which they agree stores them once."""

    def _block(self, batch: Batch, rows: NDArray[np.intp]) -> NDArray[Any] | None:
        common = batch.axes.get(self._name)
        if common is None or common.coordinate is None:
            return super()._block(batch, rows)
        block = np.full((len(rows), *self.shape[self._places.batch.ndim :]), self._missing, dtype=self.dtype)
        block[:, : common.size] = common.coordinate
        return block


class ResultArray(SweepArray):
    """Whole Results, each read on demand."""

    def _block(self, batch: Batch, rows: NDArray[np.intp]) -> NDArray[Any] | None:
        block = np.empty(len(rows), dtype=object)
        for k, row in enumerate(rows):
            block[k] = batch.result(int(row))
        return block


def lazy(dims: Sequence[str], array: SweepArray, attributes: Mapping[str, Any]) -> Variable:
    return Variable(dims, indexing.LazilyIndexedArray(array), dict(attributes))


def places_of(batches: Sequence[Batch], keys: Sequence[str], shape: Sequence[int]) -> Places:
    where = {key: (k, row) for k, batch in enumerate(batches) for row, key in enumerate(batch.keys)}
    pairs = np.array([where.get(key, (-1, 0)) for key in keys], dtype=np.intp).reshape(math.prod(shape), 2)
    return Places(pairs[:, 0].reshape(shape), pairs[:, 1].reshape(shape))


def _stored_axis(batch: Batch, dim: str) -> Axis:
    """The axis of a dimension in a batch; it may have numbers there even if it is only counted in the whole sweep."""
    return batch.axes[dim] if dim in batch.axes else batch.axes[dim.removesuffix(ROW)]


def _outer(array: NDArray[Any], key: tuple[Index, ...]) -> NDArray[Any]:
    """Index each dimension separately, from the last; an integer removes its dimension."""
    for k in reversed(range(len(key))):
        array = array[(*(slice(None),) * k, key[k])]
    return np.asarray(array)
