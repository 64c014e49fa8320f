"""Plots of a fit: data and run, residuals and their correlation, directions of the parameters, profiles and bands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats
from pliant.show.plot.style import (
    ALARM,
    INK,
    MOST_LINES,
    PALETTE,
    PANEL,
    QUIET,
    TIME,
    Size,
    figure,
    legend,
    look,
    prefixed,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURED_SIZE = 9.0  # points^2
MOST_NAMES = 8  # of experiments in a legend
MOST_LAGS = 40  # rows
RARELY = 4.0  # standard deviations: as where fits warn of patterns


@styled
def fit_residuals(fit: Any, *, ax: Any = None, figsize: Size = None) -> Figure:
    """One row of panels per measured column: data and run, residuals, and the distribution of the residuals.

    An orientation is one row: its quaternion, and the rotation between run and data about three axes.
    """
    rows = _rows(fit)
    made, panels = figure(len(rows), 3, width=11.0, width_ratios=(2.0, 2.0, 0.7), ax=ax, figsize=figsize)
    for row, (columns, differences) in zip(panels, rows, strict=True):
        _draw_row(row, fit, columns, differences)
    for panel in panels[-1, :2]:
        panel.set_xlabel(TIME)
    panels[-1, 2].set_xlabel("count")
    return made


def _rows(fit: Any) -> list[tuple[list[str], list[str]]]:
    """(columns, differences) by row: as they are compared."""
    targets = {target.name: target for group in fit.search.targets for target in group}
    return [([column.column for column in target.columns], list(target.parts)) for target in targets.values()]


def _draw_row(row: Any, fit: Any, columns: list[str], names: list[str]) -> None:
    parts = [part for part in fit.experiments if columns[0] in part.measured]
    unit, left_unit = parts[0].units[columns[0]], parts[0].units[names[0]]
    size, name = prefixed(unit, [part.measured[column] for part in parts for column in columns])
    left_size, left_name = prefixed(left_unit, [part.differences[one] for part in parts for one in names])
    single = len(parts) == 1 and len(columns) == 1
    for k, part in enumerate(parts):
        for c, column in enumerate(columns):
            colour = look(k if len(parts) > 1 else c)["color"]
            label = (part.name if c == 0 else None) if len(parts) > 1 else "measured" if single else column
            points = {"s": MEASURED_SIZE, "color": colour, "alpha": 0.45, "linewidths": 0}
            row[0].scatter(part.time, part.measured[column] / size, label=label, **points)
            row[0].plot(
                part.time, part.run[column] / size, **({"color": PALETTE[1], "label": "run"} if single else {"color": colour})
            )
        for c, one in enumerate(names):
            colour = look(k if len(parts) > 1 else c)["color"]
            row[1].plot(part.time, part.differences[one] / left_size, ".", markersize=3, color=colour)
    row[0].set_ylabel(f"{columns[0] if len(columns) == 1 else names[0].rpartition(' about ')[0]}, {name}")
    if len(parts) <= MOST_NAMES:
        row[0].legend(loc="best")
    row[1].axhline(0.0, color=QUIET, linewidth=0.8)
    row[1].set_ylabel(f"run - measured, {left_name}" if len(columns) == 1 else f"rotation between, {left_name}")
    _draw_spread(row[2], np.concatenate([part.differences[one] for part in parts for one in names]) / left_size)
    row[2].sharey(row[1])


def _draw_spread(panel: Any, left: Floats) -> None:
    there = left[np.isfinite(left)]
    panel.hist(there, bins=min(30, max(5, there.size // 10)), orientation="horizontal", color=PALETTE[0], alpha=0.7)
    panel.tick_params(labelleft=False)


@styled
def fit_correlation(fit: Any, *, ax: Any = None, figsize: Size = None) -> Figure:
    """The correlation of the residuals with themselves, some rows later, and what independent noise rarely exceeds."""
    names = list(dict.fromkeys(name for part in fit.experiments for name in part.differences))
    made, panels = figure(1, 1, width=6.5, ax=ax, figsize=figsize)
    panel, most = panels[0, 0], 0
    for k, name in enumerate(names[:MOST_LINES]):
        pieces = [part.residuals[p] for part in fit.experiments for p in part.pieces.get(name, ())]
        lags = min(MOST_LAGS, max((piece.size for piece in pieces), default=1) // 2)
        power = sum(float(piece @ piece) for piece in pieces) or 1.0
        course = [sum(float(p[lag:] @ p[: p.size - lag]) for p in pieces if p.size > lag) / power for lag in range(lags + 1)]
        panel.plot(range(lags + 1), course, marker=".", label=name, **look(k))
        most = max(most, lags)
    rows = sum(part.residuals.size for part in fit.experiments) / max(len(names), 1)
    panel.axhspan(-RARELY / rows**0.5, RARELY / rows**0.5, color=QUIET, alpha=0.2, linewidth=0)
    panel.set_xlabel("rows apart")
    panel.set_ylabel("correlation of the residuals")
    if len(names) > 1:
        legend(panel)
    return made


@styled
def fit_directions(what: Any, *, ax: Any = None, figsize: Size = None) -> Figure:
    """How strongly each direction of the parameters changes the run, in units of the noise, and what it is made of."""
    count = len(what.names)
    made, panels = figure(1, 2, width=9.0, height=max(PANEL, 0.32 * count + 1.2), ax=ax, figsize=figsize)
    rows = np.arange(count)
    strengths = np.maximum(what.strengths, 1e-12 * max(float(what.strengths[0]), 1e-300))
    panels[0, 0].barh(rows, strengths, color=[PALETTE[0] if s > 2.0 else ALARM for s in what.strengths])
    panels[0, 0].set_xscale("log")
    panels[0, 0].axvline(1.0, color=QUIET, linewidth=0.8)
    panels[0, 0].set_yticks(rows, [f"direction {k + 1}" for k in rows])
    panels[0, 0].set_xlabel("change of the data by 100 %, in units of their noise")
    panels[0, 0].invert_yaxis()
    panels[0, 1].imshow(what.directions, cmap="RdBu_r", vmin=-1.0, vmax=1.0, aspect="auto")
    panels[0, 1].set_xticks(rows, what.names, rotation=30, ha="right")
    panels[0, 1].set_yticks(rows, ["" for _ in rows])
    panels[0, 1].grid(False)
    for i in rows:
        for k in rows:
            entry = what.directions[i, k]
            if abs(entry) >= 0.05:
                ink = "white" if abs(entry) > 0.6 else INK
                panels[0, 1].text(k, i, f"{entry:+.2f}", ha="center", va="center", fontsize=8, color=ink)
    return made


@styled
def fit_profile(what: Any, *, ax: Any = None, figsize: Size = None) -> Figure:
    """The profile of one parameter against the parabola of the linear theory, and the level of its interval."""
    made, panels = figure(1, 1, width=6.5, ax=ax, figsize=figsize)
    panel = panels[0, 0]
    panel.plot(what.values, what.excess, marker="o", markersize=3.5, color=PALETTE[0], label="profile")
    if np.isfinite(what.standard_error):
        x = np.linspace(what.values[0], what.values[-1], 201)
        parabola = ((x - what.best) / what.standard_error) ** 2
        shown = parabola <= 1.15 * max(float(np.max(what.excess)), what.limit)
        panel.plot(x[shown], parabola[shown], color=QUIET, linestyle="--", label="linear theory")
    panel.axhline(what.limit, color=ALARM, linewidth=0.9, label=f"{100.0 * what.level:g} % level")
    panel.set_xlabel(f"{what.name}, {what.unit}" if what.unit else what.name)
    panel.set_ylabel("misfit above the least, noise variances")
    legend(panel)
    return made


@styled
def fit_bands(what: Any, *, ax: Any = None, figsize: Size = None) -> Figure:
    """A number of the run with its confidence band, the band of further measurements, and the data."""
    made, panels = figure(1, 1, width=7.0, ax=ax, figsize=figsize)
    panel = panels[0, 0]
    size, name = prefixed(what.unit, [what.value, *what.prediction])
    percent = f"{100.0 * what.level:g} %"
    if what.measured is not None:
        panel.fill_between(what.time, *(end / size for end in what.prediction), color=PALETTE[5], alpha=0.3, linewidth=0,
                           label=f"{percent} of measurements")  # fmt: skip
        panel.plot(what.time, what.measured / size, ".", markersize=3, color=QUIET, label="measured")
    panel.fill_between(what.time, *(end / size for end in what.confidence), color=PALETTE[0], alpha=0.45, linewidth=0,
                       label=f"{percent} of the run")  # fmt: skip
    panel.plot(what.time, what.value / size, color=PALETTE[0], label="run")
    panel.set_xlabel(TIME)
    panel.set_ylabel(f"{what.name}, {name}")
    legend(panel)
    return made
