"""A netCDF file to which rows are written while a run produces them."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.arrays import Floats
from pliant.host.interrupts import postponed
from pliant.host.netcdf import Blocks, alone, crc, put, put_rows, writing
from pliant.results.contents import ResultContents
from pliant.results.file_contents import TIME, attributes_of, label_variables, present, unfinished_attributes, write_rest
from pliant.results.table import QUANTITIES

if TYPE_CHECKING:
    from pliant.results.drawing import Drawing

CHUNK_ROWS = 2048  # rows of a variable stored together; few enough that an unfilled last chunk wastes little space


class RowsFile:
    """A file that stays open for the whole run; others may use the library between writes. window: rows per write."""

    def __init__(
        self, path: Path, title: str, names: Sequence[str], labels: Mapping[str, Sequence[str]], drawing: Drawing | None,
        window: int, compression: int,
    ) -> None:  # fmt: skip
        import netCDF4

        self.names, self._path = tuple(names), path
        self.shapes: dict[str, tuple[int, ...]] = {}  # shapes of the variables over time, known once the file is finished
        self._present = present(names, labels)
        self._codes: dict[str, dict[int, tuple[int, int]]] = {name: {} for name in ("time", *self._present)}  # by the first row
        self._labels: dict[str, Blocks] = {}
        with postponed(), writing(path):
            self._file: Any = netCDF4.Dataset(path, "w")
            self._file.set_auto_mask(False)
            self._file.setncatts(unfinished_attributes(title, self.names))
            self._file.createDimension("time", None)  # the number of rows is known only at the end
            variables = label_variables(labels, drawing)
            for dim in dict.fromkeys(variable.dims[0] for variable in variables.values()):
                self._file.createDimension(dim, len(labels[dim]))
            for name, variable in variables.items():
                self._labels[name] = put(self._file, name, variable.dims, variable.values, variable.attributes)
            rows = min(window, CHUNK_ROWS)
            put_rows(self._file, "time", ("time",), (), rows, TIME, compression)
            for name in self._present:
                dims = QUANTITIES[name].dims
                shape = tuple(len(labels[dim]) for dim in dims)
                put_rows(self._file, name, ("time", *dims), shape, rows, attributes_of(name), compression)
            self._file.sync()  # so that it can be read if the process is killed before there are rows

    def put(self, first: int, times: Floats, values: Mapping[str, Floats]) -> None:
        """Write rows starting at number `first`; after an interrupt the same rows may be written again.

        They are then in the file even if the process is killed.
        """
        last = first + times.size
        with postponed(), writing(self._path):
            for name, array in {"time": times, **{name: values[name] for name in self._present}}.items():
                self._file[name][first:last] = array
                self._codes[name][first] = last, crc(array)
            self._file.sync()

    @property
    def blocks(self) -> dict[str, Blocks]:
        """The checksums of everything written so far."""
        return {**self._labels, **{name: [codes[first] for first in sorted(codes)] for name, codes in self._codes.items()}}

    def finish(self, result: ResultContents) -> None:
        """Write what is known only at the end, and close the file."""
        with postponed(), writing(self._path):
            write_rest(result, self._file, self.names, self.blocks)
            self.shapes = {name: tuple(self._file[name].shape) for name in ("time", *self._present)}
            self._file.close()

    def abandon(self) -> None:
        """Close a file that will not be finished."""
        with alone(), contextlib.suppress(RuntimeError):  # on a full disk; the first error is the one to report
            if self._file.isopen():
                self._file.close()
