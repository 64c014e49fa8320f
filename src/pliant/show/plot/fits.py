"""Plot of a fit: measured data, the fitted run and the residuals over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.show.plot.style import PALETTE, QUIET, TIME, Floats, Size, figure, look, prefixed, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURED_SIZE = 9.0  # points^2


@styled
def fit_residuals(fit: Any, *, ax: Any = None, figsize: Size = None) -> Figure:
    """One row of panels per measured column: data and run, residuals, and the distribution of the residuals."""
    columns = list(dict.fromkeys(column for part in fit.experiments for column in part.measured))
    made, panels = figure(len(columns), 3, width=11.0, width_ratios=(2.0, 2.0, 0.7), ax=ax, figsize=figsize)
    for row, column in zip(panels, columns, strict=True):
        _draw_column(row, fit, column)
    for panel in panels[-1, :2]:
        panel.set_xlabel(TIME)
    panels[-1, 2].set_xlabel("count")
    return made


def _draw_column(row: Any, fit: Any, column: str) -> None:
    parts = [part for part in fit.experiments if column in part.measured]
    unit = parts[0].units[column]
    size, name = prefixed(unit, [part.measured[column] for part in parts])
    left_size, left_name = prefixed(unit, [part.differences[column] for part in parts])
    for k, part in enumerate(parts):
        colour = look(k)["color"]
        points = {"s": MEASURED_SIZE, "color": colour, "alpha": 0.45, "linewidths": 0}
        row[0].scatter(part.time, part.measured[column] / size, label=part.name if len(parts) > 1 else "measured", **points)
        run = (part.measured[column] + part.differences[column]) / size
        row[0].plot(part.time, run, **({"color": colour} if len(parts) > 1 else {"color": PALETTE[1], "label": "run"}))
        row[1].plot(part.time, part.differences[column] / left_size, ".", markersize=3, color=colour)
    row[0].set_ylabel(f"{column}, {name}")
    row[0].legend(loc="best")
    row[1].axhline(0.0, color=QUIET, linewidth=0.8)
    row[1].set_ylabel(f"run - measured, {left_name}")
    _draw_spread(row[2], np.concatenate([part.differences[column] for part in parts]) / left_size)
    row[2].sharey(row[1])


def _draw_spread(panel: Any, left: Floats) -> None:
    there = left[np.isfinite(left)]
    panel.hist(there, bins=min(30, max(5, there.size // 10)), orientation="horizontal", color=PALETTE[0], alpha=0.7)
    panel.tick_params(labelleft=False)
