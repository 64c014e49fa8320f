"""Measured series: time and columns of numbers, from a CSV file, a pandas table, an xarray Dataset or a mapping of arrays."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.files.units import convert
from pliant.study.fit.series import TIME, split_head

Floats = NDArray[np.float64]
PART = "fit"


@dataclass(frozen=True)
class Measurements:
    """time, s, ascending; columns by heading, with a unit in brackets, else in the unit of the result. Missing values are nan."""

    time: Floats
    columns: Mapping[str, Floats]


def measurements_of(data: Any, of: Iterable[str] | None = None) -> Measurements:
    """The given data, checked: times ascend, all columns have their length, and there is at least one measured value.

    of: the columns in use; others need not be numbers over time."""
    used = None if of is None else {TIME, *of}

    def is_used(head: str) -> bool:
        return used is None or head in used or split_head(head)[0] in used

    if isinstance(data, (str, Path)):
        table = _of_csv(Path(data))
    elif isinstance(data, Measurements):
        table = {TIME: data.time, **data.columns}
    elif hasattr(data, "data_vars"):
        table = _of_dataset(data, is_used)
    elif hasattr(data, "columns") and hasattr(data, "index"):
        table = _of_frame(data)
    elif isinstance(data, Mapping):
        table = {str(name): values for name, values in data.items()}
    else:
        kinds = "a CSV file, a pandas table, an xarray Dataset or a mapping of arrays"
        raise ModelError.of(PART, "data", f"must be {kinds}", type(data).__name__)
    numbers = {head: _numbers(head, values) for head, values in table.items() if is_used(head) or _are_numbers(values)}
    return _checked(numbers)


def _of_csv(path: Path) -> dict[str, Any]:
    """Headings are in the first row; an empty field is a missing value."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if any(field.strip() for field in row)]
    except (OSError, UnicodeDecodeError) as trouble:
        raise ModelError.of(PART, "data", "must be a readable CSV file", f"{path} ({trouble})") from trouble
    if len(rows) < 2:
        raise ModelError.of(PART, "data", "must have a row of names followed by rows of numbers", f"{path}, {len(rows)} rows")
    heads = [head.strip() for head in rows[0]]
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(heads):
            rule = f"must have {len(heads)} fields in every row, as in the first row"
            raise ModelError.of(PART, "data", rule, f"{path}, row {number}: {len(row)}")
    if len(set(heads)) < len(heads):
        raise ModelError.of(PART, "data", "must name each column once", heads)
    return {head: [row[k].strip() or "nan" for row in rows[1:]] for k, head in enumerate(heads)}


def _of_dataset(data: Any, is_used: Callable[[str], bool]) -> dict[str, Any]:
    """Variables over time only, with their units if they have any; those that are not in use may be anything."""
    table: dict[str, Any] = {}
    for name in [TIME, *data.data_vars]:
        if name not in data or (data[name].dims != (TIME,) and not is_used(str(name))):
            continue
        if data[name].dims != (TIME,):
            raise ModelError.of(PART, "data", f"must have {name!r} over the dimension {TIME!r} only", data[name].dims)
        unit = data[name].attrs.get("units")
        table[str(name) if unit is None else f"{name} [{unit}]"] = data[name].values
    return table


def _of_frame(data: Any) -> dict[str, Any]:
    table = {str(name): data[name].to_numpy() for name in data.columns}
    if not any(split_head(head)[0] == TIME for head in table) and split_head(str(data.index.name))[0] == TIME:
        table[TIME] = data.index.to_numpy()
    return table


def _are_numbers(values: Any) -> bool:
    try:
        _numbers("", values)
    except ModelError:
        return False
    return True


def _numbers(head: str, values: Any) -> Floats:
    if np.asarray(values).dtype.kind in "mM":  # which numpy would read as numbers of nanoseconds
        raise ModelError.of(PART, f"data {head!r}", "must be numbers, times in s, not dates", str(np.asarray(values).dtype))
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as trouble:
        raise ModelError.of(PART, f"data {head!r}", "must be numbers", str(trouble)) from trouble


def _in_seconds(time: Floats, head: str) -> Floats:
    unit = split_head(head)[1]
    try:
        return time if unit in (None, "s") else time * convert(1.0, str(unit), "s")
    except ModelError as trouble:
        raise ModelError.of(PART, f"data {head!r}", "must be in a unit of time, or name none", str(trouble)) from None


def _checked(table: Mapping[str, Floats]) -> Measurements:
    times = [head for head in table if split_head(head)[0] == TIME]
    if len(times) != 1:
        raise ModelError.of(PART, "data", "must have one column 'time' or 'time [s]'", list(table))
    time = _in_seconds(table[times[0]], times[0])
    if time.ndim != 1 or time.size == 0 or not np.all(np.isfinite(time)) or np.any(np.diff(time) <= 0.0):
        raise ModelError.of(PART, "data", "must have finite, ascending times", times[0])
    columns = {head: values for head, values in table.items() if head != times[0]}
    names = [split_head(head)[0] for head in columns]
    if len(set(names)) < len(names):
        raise ModelError.of(PART, "data", "must name each column once, in whatever unit", list(columns))
    for head, values in columns.items():
        if values.shape != time.shape:
            raise ModelError.of(PART, f"data {head!r}", f"must have {time.size} numbers, one for each time", values.shape)
        if np.any(np.isinf(values)):
            raise ModelError.of(PART, f"data {head!r}", "must be finite, or nan for missing values", float("inf"))
    if not any(np.any(np.isfinite(values)) for values in columns.values()):
        raise ModelError.of(PART, "data", "must have at least one column with measured values besides time", list(table))
    return Measurements(time, columns)
