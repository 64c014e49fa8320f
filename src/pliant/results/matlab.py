"""Results as a MATLAB file: an array for every quantity, time along its rows, with the labels of its columns and their units."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import ModelError
from pliant.host.atomic_files import atomic_write
from pliant.results.columns import columns_of
from pliant.results.contents import ResultContents

LARGEST = 2**31 - 1  # bytes of an array in a MATLAB 5 file, which is what everybody reads


def write_matlab(result: ResultContents, path: str | Path, quantities: Sequence[str] | None = None) -> None:
    """`time`, a matrix (row, column) for every quantity, and the structs `columns` and `units` that tell what its columns are.

    The file appears whole or not at all.
    """
    from scipy.io import savemat

    columns = columns_of(result, "to_matlab", quantities)
    names = list(dict.fromkeys(column.quantity for column in columns))
    arrays: dict[str, Any] = {}
    for name in names:
        places = [column.place for column in columns if column.quantity == name]
        if 8 * result.time.size * len(places) > LARGEST:
            rule = f"must have less than 2 GiB, the limit of arrays in MATLAB files, but {name} has {result.time.size} rows"
            raise ModelError.of("to_matlab", "quantities", rule, name)
        values = result.time if name == "time" else result.values[name]
        arrays[name] = np.asarray(values).reshape(result.time.size, -1)[:, places]
    told: dict[str, Any] = {
        "columns": {name: _cells([column.name for column in columns if column.quantity == name]) for name in names},
        "units": {name: _cells([column.unit for column in columns if column.quantity == name]) for name in names},
        "message": result.message,
        "system": result.name,
    }
    with atomic_write(path) as draft, open(draft, "wb") as file:
        savemat(file, {**arrays, **told}, long_field_names=True)


def _cells(texts: Sequence[str]) -> Any:
    """A cell array: (1, n) texts of any length."""
    cells = np.empty((1, len(texts)), dtype=object)
    cells[0, :] = texts
    return cells
