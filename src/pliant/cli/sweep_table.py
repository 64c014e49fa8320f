"""The cases of a sweep as a table: its parameters, then what was kept, one row per case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.cli.exits import say, write_json
from pliant.errors import plain

if TYPE_CHECKING:
    import xarray

LISTED_CASES, LISTED_COLUMNS = 20, 5  # of the table that is printed; a file has all

NUMBER = len("0.0001234")  # the widest number that is printed


@dataclass(frozen=True)
class SweepTable:
    heads: list[str]
    rows: list[list[Any]]
    parameters: int  # how many of the columns are parameters


def read_sweep(folder: Path) -> xarray.Dataset:
    """The cases of a sweep, without whole results."""
    from pliant.study.sweep.sweep import open_sweep

    return open_sweep(folder).drop_vars("result", errors="ignore").load()


def sweep_table(data: xarray.Dataset, names: Sequence[str] | None = None, reduce: str | None = None) -> SweepTable:
    """names: what was kept, or numbers of it, by default all; reduce: the number taken from a series, by default the largest."""
    from pliant.show.plot.sweeps import check_reduction, named, own_axes, series_of, titles_of

    check_reduction(reduce)
    ok, axes, every = data["ok"], own_axes(data), titles_of(data)
    chosen = every if names is None else [title for name in names for title in named(name, every)]
    columns: dict[str, list[Any]] = {}
    for name, coordinate in data.coords.items():
        if coordinate.dims and set(coordinate.dims) <= set(axes):
            spread = coordinate.broadcast_like(ok).transpose(*axes)
            columns[_head(str(name), coordinate.attrs.get("units", ""))] = spread.values.ravel().tolist()
    parameters = len(columns)
    columns["ok"] = ok.values.ravel().tolist()
    for series in (series_of(data, title).reduced(reduce or "largest") for title in chosen):
        columns[_head(series.label, series.unit)] = series.values.ravel().tolist()
    columns["balance_error"] = data["balance_error"].values.ravel().tolist()
    columns |= {name: ["; ".join(str(text).splitlines()) for text in data[name].values.ravel()] for name in ("message", "warnings")}
    return SweepTable(list(columns), [list(row) for row in zip(*columns.values(), strict=True)], parameters)


def _head(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit not in ("", "1") else name


def print_sweep(folder: Path, as_json: bool) -> None:
    """pliant info FOLDER."""
    from pliant.study.sweep.dataset import NOT_YET

    data = read_sweep(folder)
    table = sweep_table(data)
    messages, ok = data["message"].values.ravel(), data["ok"].values.ravel()
    waiting = int((messages == NOT_YET).sum())
    failed = int((~ok).sum()) - waiting
    if as_json:
        facts = {"system": data.attrs["title"], "cases": int(ok.size), "failed": failed, "not_yet_computed": waiting}
        write_json(facts | {"kept": data.attrs["kept"].split(), "columns": table.heads, "rows": table.rows})
        return
    more = f", {waiting} not yet computed" if waiting else ""
    say(f"{data.attrs['title']}: {ok.size} cases, {failed} failed{more}; kept: {', '.join(data.attrs['kept'].split())}")
    _print_rows(table, failed > 0)


def _print_rows(table: SweepTable, failed: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    last = len(table.heads) - 3  # balance_error, message and warnings follow
    kept = [k for k in range(table.parameters + 1, last) if any(row[k] for row in table.rows)]  # without columns of zeros
    shown = [*range(table.parameters + 1), *kept[:LISTED_COLUMNS], *([last + 1] if failed else [])]
    printed = Table(box=None)
    for k in shown:
        printed.add_column(Text(plain(table.heads[k])), min_width=NUMBER if k in kept else None)
    for row in table.rows[:LISTED_CASES]:
        printed.add_row(*(Text(plain(f"{row[k]:.4g}" if isinstance(row[k], float) else str(row[k]))) for k in shown))
    Console().print(printed)
    left = [f"{len(table.rows) - LISTED_CASES} more cases"] if len(table.rows) > LISTED_CASES else []
    left += [f"{len(kept) - LISTED_COLUMNS} more columns"] if len(kept) > LISTED_COLUMNS else []
    if left:
        say(f"and {' and '.join(left)}; `pliant export FOLDER --out table.csv` writes all")
