"""Runs that write their rows to a file while they go on, and go on from there after their process was killed."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.errors import ModelError
from pliant.host.atomic_files import complete, create, draft_of, streamed, unfinished_files
from pliant.model import check
from pliant.results.kept import check_level
from pliant.results.lazy_array import lazy_rows
from pliant.results.result import Result
from pliant.results.rows_file import RowsFile
from pliant.run.row_sinks import FiledRows
from pliant.run.saved_run import SavedRun

if TYPE_CHECKING:
    from pliant.run.prepare import Compiled


def check_target(caller: str, to: str | Path | None, compression: int | None, resume: bool) -> int:
    """The level of compression. A pipe, which cannot be read again, is refused, and so are options of a file without one."""
    check.instance(caller, "resume", resume, bool, "True or False")
    for name, given in (("compression", compression), ("resume", resume or None)):
        if to is None and given is not None:
            raise ModelError.of(caller, name, "must be left out unless to= names a file", given)
    if to is not None and streamed(check.path(caller, "to", to)):
        raise ModelError.of(caller, "to", "must be a regular file, because its rows are read again from there", str(to))
    return check_level(caller, compression)


class RowStream:
    """The file of a run: arm.unfinished.nc until the run has ended, then arm.nc; and beside it the state to go on from."""

    def __init__(
        self, caller: str, to: str | Path, compiled: Compiled, names: Sequence[str], compression: int, resume: bool
    ) -> None:
        """resume: go on from what a killed run has left, if there is any."""
        self._caller, self._to, self._compiled, self._names, self._compression = caller, Path(to), compiled, names, compression
        self._left = unfinished_files(self._to) if resume else []
        stated = [path for path in self._left if _state_of(path).exists()]
        self._former = max(stated, key=lambda path: _state_of(path).stat().st_mtime, default=None)
        self.saved = None if self._former is None else self._read(_state_of(self._former))
        self._draft, self._files = draft_of(self._to, unfinished=True), list[RowsFile]()
        create(self._draft)

    def _read(self, state: Path) -> SavedRun:
        try:
            return SavedRun.from_bytes(state.read_bytes())
        except (ValueError, KeyError) as trouble:
            rule = "must go on from a complete state of a run (delete the unfinished files to begin anew)"
            raise ModelError.of(f"file {str(state)!r}", "resume", rule, str(trouble)) from trouble

    def sink(self, window: int) -> FiledRows:
        """Where the rows go; if this is called again, the run is repeated from its start."""
        again = bool(self._files)
        while self._files:
            self._files.pop().abandon()
        traced = self._compiled.traced
        file = RowsFile(self._draft, traced.system.name, self._names, traced.columns, self._compiled.drawing, window,
                        self._compression)  # fmt: skip
        self._files.append(file)
        sink = FiledRows(traced, file, window, _state_of(self._draft), self._forget_former)
        if self._former is not None and self.saved is not None and not again:
            self._copy_rows(self._former, sink, self.saved._rows)
        return sink

    def _copy_rows(self, former: Path, sink: FiledRows, count: int) -> None:
        """Copy the rows that the saved state counts on; later ones are computed again."""
        rows = Result.from_netcdf(former, lazy=True)
        if list(rows.values) != list(self._names) or len(rows.time) < count:
            rule = f"must find {count} rows of {', '.join(self._names)} in {str(former)!r}"
            raise ModelError.of(self._caller, "resume", rule, f"{len(rows.time)} of {', '.join(rows.values)}")
        for first in range(0, count, sink.window):
            part = slice(first, min(first + sink.window, count))
            sink.put(first, rows.time[part], {name: array[part] for name, array in rows.values.items()})

    def _forget_former(self) -> None:
        """Delete what killed runs have left once it is not needed any more, also rows without a state to go on from."""
        for path in self._left:
            for part in (_state_of(path), path):
                with contextlib.suppress(OSError):
                    part.unlink(missing_ok=True)
        self._left, self._former = [], None

    def finish(self, result: Result) -> Result:
        """Complete the file with what is known at the end; the result that reads its rows from there."""
        file = self._files[0]
        file.finish(result)
        complete(self._draft, self._to)
        _state_of(self._draft).unlink(missing_ok=True)
        self._forget_former()
        time, values = lazy_rows(self._to, self._names, self._compiled.traced.columns, file.shapes, file.blocks)
        return replace(result, time=time, values=values)

    def discard(self) -> None:
        """Delete a file that will not be finished."""
        for file in self._files:
            file.abandon()
        for path in (self._draft, _state_of(self._draft)):
            with contextlib.suppress(OSError):  # the first error is the one to report
                path.unlink(missing_ok=True)

    def __enter__(self) -> RowStream:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is not None:
            self.discard()


def _state_of(rows: Path) -> Path:
    return rows.with_name(f"{rows.name}.state")
