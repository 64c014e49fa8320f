"""Tables as CSV, with all digits."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pliant.host.atomic_files import atomic_write


def write_table(path: str | Path, heads: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    """Texts and numbers with all digits; what is None or nan stays empty."""
    with atomic_write(path) as draft, open(draft, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(heads)
        writer.writerows(["" if x is None or x != x else repr(x) if isinstance(x, float) else x for x in row] for row in rows)
