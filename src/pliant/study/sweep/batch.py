"""The records of several cases as one table, and as one netCDF file whose bytes depend only on them.

A batch has the dimension `case`. Values that a case does not have are nan. A dimension whose numbers differ from case to case, such
as the times of runs that save every step, is only counted (`time_row`), and its numbers are a variable (`time`). Whole Results are
stored in groups.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.host.atomic_files import atomic_write
from pliant.host.interrupts import postponed
from pliant.host.netcdf import CHECKSUM, Blocks, opened, put, rows_of, seal, sealed
from pliant.results.file_contents import write_result
from pliant.results.result import Result
from pliant.study.sweep.alignment import Axis, common_axis
from pliant.study.sweep.fingerprint import LENGTH
from pliant.study.sweep.job import Record
from pliant.study.sweep.keep import BALANCE, KEY, MESSAGE, OK, WARNINGS
from pliant.study.sweep.over import CASE
from pliant.version import VERSION

FORMATS = (1, 2)  # versions of the file format; in files of the first, only whole files have a checksum
RESULTS, ROW = "results", "_row"
SUFFIX = ".nc"
TROUBLES = (
    OSError,
    RuntimeError,
    KeyError,
    IndexError,
    ValueError,
    AttributeError,
)  # raised by a file that is not a batch, or is incomplete


@dataclass(frozen=True)
class Variable:
    """One variable of a batch: its dimensions after `case`, and its attributes."""

    dims: tuple[str, ...]
    attributes: Mapping[str, str]


class Batch(Protocol):
    """Computed cases, in memory or in a file."""

    @property
    def keys(self) -> tuple[str, ...]: ...

    @property
    def axes(self) -> Mapping[str, Axis]: ...

    @property
    def variables(self) -> Mapping[str, Variable]: ...

    def read(self, name: str, rows: NDArray[np.intp]) -> NDArray[Any]:
        """One variable of these cases."""

    def result(self, row: int) -> Result | None:
        """A whole Result; None if the case has none."""


def batch_name(keys: Sequence[str]) -> str:
    """The name of the file of these cases."""
    return hashlib.sha256("\n".join(keys).encode()).hexdigest()[:LENGTH]


# ---- in memory


@dataclass(frozen=True)
class MemoryBatch:
    keys: tuple[str, ...]
    axes: Mapping[str, Axis]
    variables: Mapping[str, Variable]
    values: Mapping[str, NDArray[Any]]
    results: Mapping[int, Result] = field(default_factory=dict)

    def read(self, name: str, rows: NDArray[np.intp]) -> NDArray[Any]:
        return self.values[name][rows]

    def result(self, row: int) -> Result | None:
        return self.results.get(row)


def gather(keys: Sequence[str], records: Sequence[Record]) -> MemoryBatch:
    """Collect records into one table."""
    texts = {KEY: list(keys), MESSAGE: [r.message for r in records], WARNINGS: ["\n".join(r.warnings) for r in records]}
    values: dict[str, NDArray[Any]] = {name: np.array(column, dtype=object) for name, column in texts.items()}
    values[OK] = np.array([r.ok for r in records], dtype=np.int8)
    values[BALANCE] = np.array([r.balance_error for r in records])
    variables = {name: Variable((), {}) for name in values}
    variables[BALANCE] = Variable((), {"units": "1", "long_name": "largest energy imbalance, relative to the largest exchange"})
    axes = _axes(records)
    names = dict.fromkeys(name for record in records for name in record.pieces)
    for name in names:
        variables[name], values[name] = _column(name, records, axes)
    for dim, axis in axes.items():
        if axis.differs:
            variables[dim], values[dim] = _own_numbers(dim, axis, records)
    stored = {dim + ROW if axis.differs else dim: axis for dim, axis in axes.items()}
    results = {k: record.result for k, record in enumerate(records) if record.result is not None}
    return MemoryBatch(tuple(keys), stored, variables, values, results)


def _axes(records: Sequence[Record]) -> dict[str, Axis]:
    found: dict[str, list[Axis]] = {}
    for record in records:
        for piece in record.pieces.values():
            for dim, size in zip(piece.dims, piece.values.shape, strict=True):
                found.setdefault(dim, []).append(Axis(size, piece.coordinates[dim]))
    return {dim: common_axis(axes) for dim, axes in found.items()}


def _column(name: str, records: Sequence[Record], axes: Mapping[str, Axis]) -> tuple[Variable, Floats]:
    pieces = {k: record.pieces[name] for k, record in enumerate(records) if name in record.pieces}
    first = next(iter(pieces.values()))
    for piece in pieces.values():
        if piece.dims != first.dims:
            raise ModelError.of("sweep", f"keep {name!r}", f"must have the dimensions {first.dims} in every case", piece.dims)
    values = np.full((len(records), *(axes[dim].size for dim in first.dims)), np.nan)
    for k, piece in pieces.items():
        own = [Axis(size, piece.coordinates[dim]) for dim, size in zip(piece.dims, piece.values.shape, strict=True)]
        values[np.ix_(np.array([k]), *(axes[dim].places(axis) for dim, axis in zip(piece.dims, own, strict=True)))] = piece.values
    dims = tuple(dim + ROW if axes[dim].differs else dim for dim in first.dims)
    return Variable(dims, dict(first.attributes)), values


def _own_numbers(dim: str, axis: Axis, records: Sequence[Record]) -> tuple[Variable, Floats]:
    """The numbers of each case along a dimension in which they differ."""
    values = np.full((len(records), axis.size), np.nan)
    for k, record in enumerate(records):
        given = next((piece.coordinates[dim] for piece in record.pieces.values() if dim in piece.dims), None)
        if given is not None:
            values[k, : len(given)] = given
    return Variable((dim + ROW,), {}), values


# ---- in files


def write_batch(batch: MemoryBatch, path: Path) -> None:
    """Write the file atomically: it appears complete or not at all."""
    with atomic_write(path) as draft, postponed(), opened(draft, "w") as file:
        for row, result in batch.results.items():
            write_result(result, file.createGroup(f"{RESULTS}/{row}"))
        seal(file, _write(batch, file))


def _write(batch: MemoryBatch, file: Any) -> dict[str, Blocks]:
    """Write all but whole Results; returns checksums."""
    file.setncatts({"pliant_sweep": FORMATS[-1], "pliant_version": VERSION})
    file.createDimension(CASE, len(batch.keys))
    blocks = {}
    for dim, axis in batch.axes.items():
        file.createDimension(dim, axis.size)
        if axis.coordinate is not None:
            blocks[dim] = put(file, dim, (dim,), np.asarray(axis.coordinate), {})
    for name, variable in batch.variables.items():
        blocks[name] = put(file, name, (CASE, *variable.dims), batch.values[name], variable.attributes)
    return blocks


@dataclass(frozen=True)
class FileBatch:
    """A file of cases, opened for each read."""

    path: Path
    keys: tuple[str, ...]
    axes: Mapping[str, Axis]
    variables: Mapping[str, Variable]
    blocks: Mapping[str, Blocks]  # checksums; empty in a file of the first format

    def read(self, name: str, rows: NDArray[np.intp]) -> NDArray[Any]:
        first, last = (int(rows.min()), int(rows.max()) + 1) if rows.size else (0, 0)
        with _reading(self.path) as file:
            return rows_of(file[name], self.blocks.get(name), first, last)[rows - first]

    def result(self, row: int) -> Result | None:
        with _reading(self.path) as file:
            there = RESULTS in file.groups and str(row) in file[RESULTS].groups
        return Result.from_netcdf(self.path, f"{RESULTS}/{row}") if there else None


def open_batch(path: Path, keys: Sequence[str]) -> FileBatch:
    """Open the file of these cases; an error if it holds anything else."""
    with _reading(path) as file:
        if file.getncattr("pliant_sweep") not in FORMATS:
            raise ValueError(f"format {file.getncattr('pliant_sweep')}, this pliant reads {FORMATS}")
        blocks = sealed(file) if file.getncattr("pliant_sweep") > 1 else {}
        stored = tuple(str(key) for key in rows_of(file[KEY], blocks.get(KEY)))
        sizes = {name: len(dim) for name, dim in file.dimensions.items() if name != CASE}
        numbers = {dim: rows_of(file[dim], blocks.get(dim)) for dim in sizes if dim in file.variables}
        axes = {dim: Axis(size, numbers.get(dim)) for dim, size in sizes.items()}
        of_cases = {name: variable for name, variable in file.variables.items() if CASE in variable.dimensions}
        variables = {name: _variable(variable) for name, variable in of_cases.items()}
    if stored != tuple(keys):
        raise damaged(path, "it does not hold the cases that its name says")
    axes = {dim: Axis(axis.size, axis.coordinate, dim.endswith(ROW)) for dim, axis in axes.items()}
    return FileBatch(path, stored, axes, variables, blocks)


def check_batch(path: Path, keys: Sequence[str]) -> None:
    """Read a whole file; an error if it is not as it was written."""
    open_batch(path, keys)
    with _reading(path) as file:
        waiting = [file]
        while waiting:
            group = waiting.pop()
            waiting += group.groups.values()
            for name, blocks in (sealed(group) if CHECKSUM in group.ncattrs() else {}).items():
                rows_of(group[name], blocks)


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[Any]:
    """The open file of a batch; an error that names it if it is not as it was written."""
    try:
        with opened(path) as file:
            yield file
    except TROUBLES as trouble:
        raise damaged(path, str(getattr(trouble, "strerror", None) or trouble)) from trouble


def damaged(path: Path, reason: str) -> ModelError:
    return ModelError(f"{path}: is damaged ({reason}); nothing was overwritten. Delete it to have its cases computed again")


def _variable(variable: Any) -> Variable:
    attributes = {name: str(variable.getncattr(name)) for name in variable.ncattrs() if not name.startswith("_")}
    return Variable(tuple(dim for dim in variable.dimensions if dim != CASE), attributes)
