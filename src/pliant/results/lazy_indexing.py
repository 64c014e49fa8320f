"""Rows in a file as a variable of xarray, without a file that xarray opens itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

from pliant.results.lazy_array import LazyArray


class _Rows(BackendArray):
    def __init__(self, array: LazyArray) -> None:
        self._array, self.shape, self.dtype = array, array.shape, array.dtype

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read)

    def _read(self, key: tuple[int | slice, ...]) -> Any:
        return np.asarray(self._array[key])


def lazily_indexed(array: LazyArray) -> Any:
    return indexing.LazilyIndexedArray(_Rows(array))
