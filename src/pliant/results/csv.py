"""Results as a table of text: one row a time, one column a number, to the last digit."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.host.atomic_files import atomic_write
from pliant.results.table import QUANTITIES

if TYPE_CHECKING:
    from pliant.results.result import Result

PER_TIME = {"q": "", "v": "/s", "a": "/s^2"}  # what a coordinate's own unit is multiplied by
Column = tuple[str, NDArray[np.float64]]


def write_csv(result: Result, path: str | Path, quantities: Sequence[str] | None = None) -> None:
    """The file appears whole or not at all."""
    names = list(QUANTITIES) if quantities is None else [_known(name) for name in quantities]
    columns = [("time [s]", result.time), *(column for name in names for column in _columns(result, name))]
    with atomic_write(path) as draft, open(draft, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([head for head, _ in columns])
        table = np.column_stack([values for _, values in columns])
        writer.writerows([repr(float(x)) for x in row] for row in table)


def _columns(result: Result, name: str) -> Iterator[Column]:
    """Every number of a quantity with its head, as in "q arm.angle [rad]" or "tip_position arm x [m]"."""
    quantity = QUANTITIES[name]
    units = result.drawing.units if result.drawing is not None else {}
    labels = [list(result.labels[dimension]) for dimension in quantity.dims]
    flat = np.asarray(result.values[name]).reshape(result.time.size, -1)
    for k, place in enumerate(product(*labels)):
        own = units.get(place[0]) if name in PER_TIME else None
        unit = quantity.unit if own is None else own + PER_TIME[name]
        yield " ".join((name, *place)) + f" [{unit}]", flat[:, k]


def _known(name: str) -> str:
    if name in QUANTITIES:
        return name
    close = get_close_matches(name, QUANTITIES, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    raise ModelError.of("to_csv", "quantities", f"must be among {', '.join(QUANTITIES)}{hint}", name)
