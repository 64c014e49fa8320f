"""Arrays whose rows stay in their file until they are read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.host.netcdf import Blocks, opened, rows_of, small_cache
from pliant.results.kept import KeptValues
from pliant.results.stored import WHOLE, check_size
from pliant.results.table import QUANTITIES

ROWS_AT_ONCE = 2**16  # of those that are picked out of many


class LazyArray(NDArrayOperatorsMixin):
    """A variable of a netCDF file as an array. Indexing reads only the indexed rows; computing with the array reads all of it."""

    def __init__(
        self, path: str | Path, name: str, shape: tuple[int, ...], group: str | None = None, blocks: Blocks | None = None
    ) -> None:
        """blocks: checksums of the rows; None in a file without."""
        self.path, self.name, self.group, self.shape, self._blocks = os.path.abspath(path), name, group, shape, blocks
        self.dtype, self.ndim = np.dtype(np.float64), len(shape)
        self._as_of = _version(self.path)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def nbytes(self) -> int:
        return 8 * self.size

    @property
    def T(self) -> Floats:
        return np.asarray(self).T

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<{self.name} {self.shape} in {self.path}>"

    def __getitem__(self, key: Any) -> Any:
        rows, rest = (key[0], key[1:]) if isinstance(key, tuple) and key else (key, ())
        if rows is Ellipsis or rows is None:
            return np.asarray(self)[key]
        if isinstance(rows, slice):
            first, last, step = rows.indices(self.shape[0])
            if step > 0:
                return self._rows(first, max(last, first), step)[(slice(None), *rest)]
            return self[first + step * (len(range(first, last, step)) - 1) : first + 1 : -step][(slice(None, None, -1), *rest)]
        if isinstance(rows, (int, np.integer)):
            number = range(self.shape[0])[int(rows)]
            return self._rows(number, number + 1)[(0, *rest)]
        return self._picked(np.asarray(rows))[(slice(None), *rest)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        check_size(self.path, self.nbytes)
        return self._rows(0, self.shape[0]).astype(dtype or self.dtype, copy=False)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*(np.asarray(x) if isinstance(x, LazyArray) else x for x in inputs), **options)

    def __getattr__(self, name: str) -> Any:
        """What else arrays can do, such as `reshape` and `max`: done with all of it."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    def _rows(self, first: int, last: int, step: int = 1) -> Floats:
        if self._as_of != _version(self.path):
            rule = "must not have changed since the result was read (read it again)"
            raise ModelError.of(f"file {self.path!r}", "contents", rule, self.name)
        try:
            with opened(self.path) as file:
                variable = (file if self.group is None else file[self.group])[self.name]
                small_cache(variable)
                return np.asarray(rows_of(variable, self._blocks, first, last)[::step], dtype=np.float64)
        except (ValueError, RuntimeError) as trouble:  # the latter from HDF5
            raise ModelError.of(f"file {self.path!r}", "contents", WHOLE, str(trouble)) from trouble

    def _picked(self, rows: NDArray[Any]) -> Floats:
        """Rows by a mask or by their numbers, in any order."""
        numbers = np.flatnonzero(rows) if rows.dtype == bool else rows % max(self.shape[0], 1)
        picked = np.empty((*numbers.shape, *self.shape[1:]))
        for first in range(0, self.shape[0], ROWS_AT_ONCE):
            here = (numbers >= first) & (numbers < first + ROWS_AT_ONCE)
            if np.any(here):
                low, high = int(numbers[here].min()), int(numbers[here].max())
                picked[here] = self._rows(low, high + 1)[numbers[here] - low]
        return picked


def _version(path: str) -> tuple[int, ...]:
    """By what a file is known again."""
    status = os.stat(path)
    return status.st_ino, status.st_size, status.st_mtime_ns


def lazy_rows(
    path: str | Path,
    names: Sequence[str],
    labels: Mapping[str, Sequence[str]],
    stored: Mapping[str, tuple[int, ...]],
    blocks: Mapping[str, Blocks],
    group: str | None = None,
) -> tuple[Floats, KeptValues]:
    """Time and the quantities in a file; empty ones are not stored. stored, blocks: shapes and checksums of those that are."""

    def array(name: str, dims: tuple[str, ...]) -> Floats:
        empty = np.empty((stored["time"][0], *(len(labels[dim]) for dim in dims)))
        lazy: Any = LazyArray(path, name, stored[name], group, blocks.get(name)) if name in stored else empty
        return cast("Floats", lazy)

    return array("time", ()), KeptValues({name: array(name, QUANTITIES[name].dims) for name in names})
