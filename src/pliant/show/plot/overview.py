"""Overview of a run on one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pliant.results.result import Result
from pliant.show.plot.contact_forces import draw_forces
from pliant.show.plot.energy import draw_balance, draw_energies
from pliant.show.plot.over_time import grouped
from pliant.show.plot.style import Size, column, lines, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def overview(result: Result, *, ax: Any = None, figsize: Size = None) -> Figure:
    """Overview: joints, modal coordinates, contact forces (if any), energies and balance error, one below the other."""
    groups = grouped(result, list(result.labels["coordinate"]))
    pairs = list(result.labels["pair"])
    figure, panels = column(len(groups) + bool(pairs) + 2, height=2.2, ax=ax, figsize=figsize)
    for panel, ((quantity, unit), group) in zip(panels, groups.items(), strict=False):
        lines(panel, result.time, [(name, result[name]) for name in group], quantity, unit, result.shown_units)
    if pairs:
        draw_forces(result, panels[-3])
    draw_energies(result, panels[-2])
    draw_balance(result, panels[-1])
    panels[0].set_title(result.name)
    return figure
