"""Results as CSV: one row per time, one column per number, with all digits."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.host.atomic_files import atomic_write
from pliant.results.columns import blocks_of, columns_of

if TYPE_CHECKING:
    from pliant.results.result import Result


def write_csv(result: Result, path: str | Path, quantities: Sequence[str] | None = None) -> None:
    """The file appears whole or not at all."""
    columns = columns_of(result, "to_csv", quantities)
    rows = (map(repr, row) for block in blocks_of(result, columns) for row in block.tolist())
    write_table(path, [column.head for column in columns], rows)


def write_table(path: str | Path, heads: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    """Texts and numbers with all digits; what is None or nan stays empty."""
    with atomic_write(path) as draft, open(draft, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(heads)
        writer.writerows(["" if x is None or x != x else repr(x) if isinstance(x, float) else x for x in row] for row in rows)
