"""Any quantity over time, of any number of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.results.columns import Column, blocks_of, columns_of
from pliant.results.result import Result
from pliant.show.plot.over_time import is_mode
from pliant.show.plot.style import MOST_LINES, PALETTE, QUIET, TIME, Size, figure, legend, look, prefixed, styled, told_apart

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Results = Result | Sequence[Result] | Mapping[str, Result]
COLOURS = "viridis"  # of many runs, in their order
KINDS = {"rad": "angle", "m": "displacement", "1": "quaternion", "rad/s": "angular velocity", "m/s": "velocity",
         "rad/s^2": "angular acceleration", "m/s^2": "acceleration"}  # fmt: skip


@styled
def series(
    results: Results,
    *names: str,
    reference: Result | None = None,
    zoom: tuple[float, float] | None = None,
    ax: Any = None,
    figsize: Size = None,
) -> Figure:
    """Any quantities over time, of one run or of several: "arm.angle", "v arm.angle", "tip_position arm y", "reaction_force arm".

    results: a run, several, or several by the names that the legend gives them. Of a run, quantities of the same kind and unit
    share a panel. Of several, each number has a panel and each run a line. Default: all coordinates.
    reference: a run that is subtracted from the others, with its rows interpolated linearly where theirs are at other times.
    zoom: (begin, end), s; a second panel beside each shows this part of the time enlarged.
    """
    runs = _named(results)
    window = _window(runs, zoom)
    asked = list(names) or list(next(iter(runs.values())).labels["coordinate"])
    lines = [(run, name, column) for name, run in runs.items() for column in columns_of(run, "plot series", asked)[1:]]
    alone = isinstance(results, Result)
    panels = _panels(lines, alone)
    made, axes = figure(len(panels), 1 if window is None else 2, ax=ax, figsize=figsize, height=2.6 if len(panels) < 5 else 2.0,
                        width=8.0 if window is None else 11.0, sharex="col")  # fmt: skip
    for k, (row, (quantity, group)) in enumerate(zip(axes, panels.items(), strict=True)):
        _draw(row, quantity, group, reference, window, many=len(runs))
        if alone or k == 0:
            legend(row[-1], left_out=len(group) - MOST_LINES)
    for panel in axes[-1]:
        panel.set_xlabel(TIME)
    title = next(iter(runs)) if alone else ", ".join(dict.fromkeys(run.name for run in runs.values()))
    axes[0, 0].set_title(title + ("" if reference is None else f", minus {reference.name}"))
    return made


def _named(results: Results) -> dict[str, Result]:
    """Runs by the names of the legend: their own, with the parameters by which they differ, or numbered."""
    if isinstance(results, Result):
        return {results.name: results}
    runs = list(results.values()) if isinstance(results, Mapping) else list(results) if isinstance(results, (list, tuple)) else []
    if not runs or not all(isinstance(run, Result) for run in runs):
        raise ModelError.of("plot series", "results", "must be a result, a list of them, or a mapping from names to them", results)
    if isinstance(results, Mapping):
        return dict(zip(map(str, results), runs, strict=True))
    varied = [name for name in runs[0].parameters if len({run.parameters.get(name) for run in runs}) > 1]
    words = [", ".join(f"{name} = {run.parameters.get(name, np.nan):.6g}" for name in varied) or run.name for run in runs]
    return dict(zip(told_apart(words), runs, strict=True))


def _window(runs: Mapping[str, Result], zoom: tuple[float, float] | None) -> tuple[float, float] | None:
    if zoom is None:
        return None
    last = max(float(run.time[-1]) for run in runs.values())
    try:
        begin, end = (float(t) for t in zoom)
    except (TypeError, ValueError):
        begin = end = np.nan
    if not begin < end or begin >= last:
        raise ModelError.of("plot series", "zoom", f"must be (begin, end), two increasing times before {last:g} s", zoom)
    return begin, end


Line = tuple[Result, str, Column]  # a run, its name, and what is drawn of it


def _panels(lines: Sequence[Line], alone: bool) -> dict[tuple[str, str], list[tuple[str, Result, Column]]]:
    """By (quantity, unit): labels and what they show."""
    panels: dict[tuple[str, str], list[tuple[str, Result, Column]]] = {}
    for run, name, column in lines:
        own = column.name.removeprefix(f"{column.quantity} ")
        kind = _kind(column, own) if alone else column.name.removeprefix("q ")
        panels.setdefault((kind, column.unit), []).append((own if alone else name, run, column))
    return panels


def _kind(column: Column, own: str) -> str:
    if column.quantity not in ("q", "v", "a"):
        return column.quantity.replace("_", " ")
    kind = KINDS.get(column.unit, column.quantity)
    return f"modal {kind}" if is_mode(own) else kind


def _draw(row: Any, quantity: tuple[str, str], group: Sequence[tuple[str, Result, Column]], reference: Result | None,
          window: tuple[float, float] | None, many: int) -> None:  # fmt: skip
    curves = [(label, *_values(run, column, reference)) for label, run, column in group]
    factor, unit = prefixed(quantity[1], [values for _, _, values in curves], group[0][1].shown_units)
    for k, (label, time, values) in enumerate(curves[: MOST_LINES if many == 1 else None]):
        for panel in row:
            panel.plot(time, values / factor, label=label if k < MOST_LINES else None, **_look(k, many))
    row[0].set_ylabel(f"{'Δ ' if reference is not None else ''}{quantity[0]}, {unit}")
    if window is not None:
        row[0].axvspan(*window, color=QUIET, alpha=0.18, linewidth=0.0)
        _enlarge(row[1], curves, factor, window)


def _look(number: int, many: int) -> dict[str, Any]:
    """Few runs in the palette's colours, many in colours that follow their order."""
    from matplotlib import colormaps

    if many <= len(PALETTE):
        return look(number)
    return {"color": colormaps[COLOURS](0.95 * number / (many - 1)), "linewidth": 0.9}


def _values(run: Result, column: Column, reference: Result | None) -> tuple[Floats, Floats]:
    """Times and values; with a reference, the difference to it where both have rows."""
    values = np.concatenate([block[:, 0] for block in blocks_of(run, [column])])
    time = np.asarray(run.time)
    if reference is None:
        return time, values
    (_, other) = columns_of(reference, "plot series", [column.name])
    both = (time >= reference.time[0]) & (time <= reference.time[-1])
    theirs = np.interp(time[both], reference.time, np.concatenate([block[:, 0] for block in blocks_of(reference, [other])]))
    return time[both], values[both] - theirs


def _enlarge(panel: Any, curves: Sequence[tuple[str, Floats, Floats]], factor: float, window: tuple[float, float]) -> None:
    seen = [values[(time >= window[0]) & (time <= window[1])] / factor for _, time, values in curves]
    seen = [part[np.isfinite(part)] for part in seen]
    low, high = (min(np.min(part, initial=np.inf) for part in seen), max(np.max(part, initial=-np.inf) for part in seen))
    panel.set_xlim(window)
    if low < high:
        panel.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
