"""Coordinates against their rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.errors import ModelError
from pliant.results.result import Result
from pliant.show.plot.over_time import is_mode, unit_of
from pliant.show.plot.style import INK, Size, entitle, figure, prefixed, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 6  # portraits in one figure by default
ACROSS = 3


@styled
def phase_portrait(result: Result, names: Sequence[str] | None = None, *, ax: Any = None, figsize: Size = None) -> Figure:
    """Phase portraits: each coordinate against its rate, coloured by time; by default joints first."""
    known = [name for name in result.labels["coordinate"] if name in result.labels["rate"]]
    chosen = sorted(known, key=is_mode)[:MOST] if names is None else list(names)
    for name in chosen:
        if name not in known:
            raise ModelError.of("plot phase_portrait", "names", f"must be among {known}", name)
    if not chosen:
        raise ModelError.of("plot phase_portrait", "names", "must name at least one coordinate", chosen)
    across = min(ACROSS, len(chosen))
    rows = -(-len(chosen) // across)
    made, panels = figure(rows, across, height=2.6 if across > 1 else 4.0, width=3.0 * across + 1.0 if across > 1 else 6.0,
                          ax=ax, figsize=figsize)  # fmt: skip
    for panel, name in zip(panels.flat, chosen, strict=False):
        drawn = _draw(result, panel, name)
    for panel in list(panels.flat)[len(chosen) :]:
        panel.remove()
    bar = made.colorbar(drawn, ax=list(panels.flat)[: len(chosen)], label="time, s", pad=0.02, fraction=0.05)
    bar.outline.set_visible(False)
    entitle(made, list(panels.flat), f"{result.name}: phase portraits", ax)
    return made


def _draw(result: Result, axes: Any, name: str) -> Any:
    from matplotlib.collections import LineCollection

    q, v, unit = result[name], result.rate(name), unit_of(result, name)
    (to_q, of_q), (to_v, of_v) = (prefixed(own, [of], result.shown_units) for own, of in ((unit, q), (f"{unit}/s", v)))
    path = np.stack([q / to_q, v / to_v], axis=1)
    pieces = list(np.stack([path[:-1], path[1:]], axis=1))
    drawn = axes.add_collection(LineCollection(pieces, array=result.time[:-1], cmap="viridis", linewidth=1.0))
    axes.plot(*path[0], "o", color=INK, markersize=4.5, zorder=3)
    axes.plot(*path[-1], "s", color=INK, markerfacecolor="white", markersize=4.5, zorder=3)
    axes.autoscale()
    axes.set(xlabel=f"{name}, {of_q}", ylabel=f"its rate, {of_v}")
    return drawn
