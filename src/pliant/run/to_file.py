"""Runs that write their rows to a file while they go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.errors import ModelError
from pliant.host.atomic_files import atomic_write, streamed
from pliant.model import check
from pliant.results.kept import check_level
from pliant.results.lazy_array import lazy_rows
from pliant.results.result import Result
from pliant.results.rows_file import RowsFile
from pliant.run.row_sinks import FiledRows, MakeSink

if TYPE_CHECKING:
    from pliant.run.prepare import Compiled


def check_target(to: str | Path | None, compression: int | None) -> int:
    """The level of compression. A pipe, which cannot be read again, is refused, and so is a compression level without a file."""
    if to is None and compression is not None:
        raise ModelError.of("simulate", "compression", "must be left out unless to= names a file", compression)
    if to is not None and streamed(check.path("simulate", "to", to)):
        raise ModelError.of("simulate", "to", "must be a regular file, because its rows are read again from there", str(to))
    return check_level("simulate", compression)


def to_file(
    to: str | Path,
    compiled: Compiled,
    names: Sequence[str],
    compression: int,
    run_with: Callable[[MakeSink], tuple[Any, Result]],
) -> tuple[Any, Result]:
    """The run and its result, which reads rows from the file; the file appears, complete, when the run has ended in any way."""
    files: list[RowsFile] = []

    def make_sink(window: int) -> FiledRows:
        while files:  # the run is repeated from its start
            files.pop().abandon()
        title = compiled.traced.system.name
        files.append(RowsFile(draft, title, names, compiled.traced.columns, compiled.drawing, window, compression))
        return FiledRows(compiled.traced, files[0], window)

    with atomic_write(to, keep_unfinished=True) as draft:
        try:
            run, result = run_with(make_sink)
            files[0].finish(result)
        finally:
            for file in files:
                file.abandon()
    time, values = lazy_rows(to, names, compiled.traced.columns, files[0].shapes, files[0].blocks)
    return run, replace(result, time=time, values=values)
