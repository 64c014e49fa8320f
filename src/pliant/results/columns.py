"""Results as columns: time, then one column per number of the requested quantities, with its name and unit as header."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError, did_you_mean
from pliant.results.components import components_of
from pliant.results.contents import ResultContents
from pliant.results.csv import write_table
from pliant.results.reading import AT_ROOT, BY_LABEL, DIMENSIONS, ROOT
from pliant.results.table import QUANTITIES

PER_TIME = {"q": "", "v": "/s", "a": "/s^2"}  # what a coordinate's own unit is multiplied by
NUMBERS_AT_ONCE = 2**20  # of a table that is written in blocks


@dataclass(frozen=True)
class Column:
    quantity: str  # of the table, or time
    name: str  # as in "q arm.angle" or "tip_position arm x"
    unit: str
    place: int  # among the numbers of one row of the quantity

    @property
    def head(self) -> str:
        return f"{self.name} [{self.unit}]"


def columns_of(result: ResultContents, part: str, asked: Sequence[str] | None) -> list[Column]:
    """The columns that names select: quantities, parts of them, coordinates; by default all that the run kept."""
    units = result.drawing.units if result.drawing is not None else {}
    if asked is not None and not isinstance(asked, str) and isinstance(asked, Iterable):
        by_label = {label for name in BY_LABEL if name in result.values for label in result.labels[DIMENSIONS[name][0]]}
        for name in asked:
            if name in QUANTITIES and name not in by_label:
                result.values[name]  # raises for a quantity that was not kept
    return [Column("time", "time", "s", 0), *columns_named(list(result.values), result.labels, units, part, asked)]


def columns_named(
    quantities: Sequence[str], labels: Mapping[str, Sequence[str]], units: Mapping[str, str], part: str, asked: Sequence[str] | None
) -> list[Column]:
    """The columns of these quantities that names select. units: of coordinates, by name."""
    if asked is not None and not (isinstance(asked, Iterable) and all(isinstance(name, str) for name in asked)):
        raise ModelError.of(part, "quantities", "must be a list of names", asked)
    every = {name: list(_of_quantity(name, labels, units)) for name in quantities}
    by_name = {column.name: column for columns in every.values() for column in columns}
    by_label = {label: f"{name} {label}" for name in BY_LABEL if name in every for label in labels[DIMENSIONS[name][0]]}
    chosen: dict[str, Column] = {}
    for name in every if asked is None else asked:
        wanted = by_label.get(name, name)
        if wanted.startswith(AT_ROOT):
            wanted = f"{wanted} ".replace(f"{ROOT} ", " ").rstrip()
        hits = components_of(wanted, [own for own in every if f"{wanted} ".startswith(f"{own} ")], labels)
        if not hits and name not in QUANTITIES and name != "time":
            hint = did_you_mean(name, [*by_label, *QUANTITIES, *by_name])
            rule = f"must be among {', '.join(QUANTITIES)}, or one of their columns, or a coordinate{hint}"
            raise ModelError.of(part, "quantities", rule, name)
        chosen |= {hit: by_name[hit] for hit in hits}
    return list(chosen.values())


def _of_quantity(name: str, all_labels: Mapping[str, Sequence[str]], units: Mapping[str, str]) -> Iterator[Column]:
    quantity = QUANTITIES[name]
    labels = [list(all_labels[dimension]) for dimension in quantity.dims]
    for k, place in enumerate(product(*labels)):
        own = units.get(place[0]) if name in PER_TIME else None
        unit = quantity.unit if own is None else own + PER_TIME[name]
        yield Column(name, " ".join((name, *place)), unit, k)


def blocks_of(result: ResultContents, columns: Sequence[Column]) -> Iterator[Floats]:
    """The table (row, column) in blocks whose size does not depend on the number of rows."""
    rows, names = int(result.time.size), dict.fromkeys(column.quantity for column in columns)
    numbers = sum(int(np.prod(result.values[name].shape[1:])) for name in names if name != "time")
    step = max(1, NUMBERS_AT_ONCE // (1 + numbers))
    for first in range(0, rows, step):
        last = min(first + step, rows)
        parts = {name: (result.time if name == "time" else result.values[name])[first:last] for name in names}
        flat = {name: part.reshape(last - first, -1) for name, part in parts.items()}
        yield np.column_stack([flat[column.quantity][:, column.place] for column in columns])


def write_csv(result: ResultContents, path: str | Path, quantities: Sequence[str] | None = None) -> None:
    """One row per time, one column per number, with all digits; the file appears whole or not at all."""
    columns = columns_of(result, "to_csv", quantities)
    rows = (map(repr, row) for block in blocks_of(result, columns) for row in block.tolist())
    write_table(path, [column.head for column in columns], rows)
