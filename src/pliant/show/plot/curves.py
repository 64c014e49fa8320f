"""The curves of a figure as a table."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.results.csv import write_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_curves(figure: Figure, path: str | Path) -> None:
    """Two columns per curve, x and y as drawn, named after the panel, the curve and the axes; shorter columns end empty."""
    heads: list[str] = []
    columns: list[list[float]] = []
    for panel, axes in enumerate(figure.axes, start=1):
        for number, (name, points) in enumerate(_curves(axes), start=1):
            title = next(filter(None, (axes.get_title(loc=side) for side in ("left", "center"))), "").split("\n")[-1]
            words = f"{panel} {title}: {name or f'curve {number}'}".replace(" :", ":")
            names = [getattr(axes, f"get_{axis}label")() or axis for axis in "xyz"[: len(points)]]
            heads += [f"{words}: {of}" for of in names]
            columns += [np.asarray(part, dtype=np.float64).tolist() for part in points]
    write_table(path, heads, zip_longest(*columns))


def _curves(axes: Any) -> list[tuple[str, tuple[Any, ...]]]:
    """Lines and points in the units of the axes: name, coordinates; lines across a whole panel have none."""
    found = []
    for line in axes.lines:
        if line.get_transform().contains_branch_seperately(axes.transData) == (True, True):
            points = line.get_data_3d() if hasattr(line, "get_data_3d") else line.get_data()
            found.append((line.get_label(), points))
    found += [
        (dots.get_label(), tuple(np.asarray(dots.get_offsets()).T)) for dots in axes.collections if len(dots.get_offsets()) > 1
    ]
    return [("" if str(name).startswith("_") else str(name), points) for name, points in found]
