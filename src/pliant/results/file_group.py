"""Reads a group of a result's netCDF file, and checks that it is as it was written."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.host.netcdf import CHECKSUM, CHECKSUMS, Blocks, opened, rows_of, sealed
from pliant.results.file_contents import FORMATS, UNFINISHED
from pliant.results.sections import FileColumn
from pliant.results.stored import check_size


@dataclass(frozen=True)
class FileGroup:
    """The attributes, sizes and variables of a group; variables that were left in the file have no values here."""

    attributes: Mapping[str, Any]
    shapes: Mapping[str, tuple[int, ...]]
    variables: Mapping[str, FileColumn]
    blocks: Mapping[str, Blocks]  # checksums of the variables; empty in files without
    unfinished: bool = False  # whether rows are all that a run wrote

    def __contains__(self, name: str) -> bool:
        return name in self.variables

    def values(self, name: str) -> NDArray[Any]:
        return self.variables[name][1]

    def text(self, name: str) -> str:
        return str(self.values(name).item())


def read_result_group(path: str | Path, group: str | None, left: Collection[str]) -> tuple[FileGroup, dict[str, Any]]:
    """The group of a result and its record; left: the variables to leave in the file."""
    with opened(path) as file:
        whole = file if group is None else file[group]
        if "pliant" not in whole.ncattrs():
            rule = "must be those of a result written by pliant"
            raise ModelError.of(f"file {str(path)!r}", "attributes", rule, whole.ncattrs())
        record = json.loads(whole.getncattr("pliant"))
        version = record.get("format", FORMATS[0])
        if version not in FORMATS:
            raise ValueError(f"format {version}, this pliant reads {FORMATS}")
        if record.get(UNFINISHED):
            return _read(path, whole, False, left, _complete_rows(whole)), record
        return _read(path, whole, version > 1, left), record


def read_group(path: str | Path, group: str) -> FileGroup:
    with opened(path) as file:
        whole = file[group]
        return _read(path, whole, CHECKSUM in whole.ncattrs(), ())


def _complete_rows(group: Any) -> int:
    """The number of rows in a file whose run was killed: those of a window that was being written may lack a time."""
    times = rows_of(group["time"], None)
    back = np.flatnonzero(~(np.diff(times) >= 0.0))
    return int(back[0]) + 1 if back.size else len(times)


def _read(path: str | Path, group: Any, checked: bool, left: Collection[str], rows: int | None = None) -> FileGroup:
    """rows: how many of them count; default: all."""
    blocks = sealed(group) if checked else {}
    here = {name: variable for name, variable in group.variables.items() if name != CHECKSUMS}
    read = {name: variable for name, variable in here.items() if name not in left}
    check_size(path, sum(math.prod(v.shape) * np.dtype(object if v.dtype is str else v.dtype).itemsize for v in read.values()))
    last = {name: rows if variable.dimensions[:1] == ("time",) else None for name, variable in here.items()}
    variables = {
        name: (variable.dimensions, rows_of(variable, blocks[name] if checked else None, 0, last[name]), _attributes(variable))
        for name, variable in read.items()
    }
    shapes = {name: (v.shape if last[name] is None else (last[name], *v.shape[1:])) for name, v in here.items()}
    return FileGroup(_attributes(group), shapes, variables, blocks, unfinished=rows is not None)


def _attributes(owner: Any) -> dict[str, Any]:
    return {name: owner.getncattr(name) for name in owner.ncattrs() if name != CHECKSUM}
