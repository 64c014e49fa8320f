"""Campbell diagram: natural frequencies over a speed or a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pliant.arrays import Floats
from pliant.show.plot.style import ALARM, MOST_LINES, QUIET, Size, figure, legend, look, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HARMONICS = (1, 2, 3)
GROWS = 1e-9  # fraction of critical damping that exceeds round-off


class DrawableCampbell(Protocol):
    """The protocol of a Campbell diagram that can be plotted."""

    @property
    def name(self) -> str: ...
    @property
    def over(self) -> str: ...
    @property
    def values(self) -> Floats: ...
    @property
    def is_speed(self) -> bool: ...
    @property
    def unit(self) -> str: ...
    @property
    def pose(self) -> str: ...
    @property
    def frequencies(self) -> Floats: ...
    @property
    def damping_ratios(self) -> Floats: ...


@styled
def campbell(diagram: DrawableCampbell, modes: int | None = None, *, ax: Any = None, figsize: Size = None) -> Figure:
    """Campbell diagram: frequencies in Hz, one line per mode; over a speed, also its first harmonics; unstable modes are marked.

    modes: how many to draw, starting with the slowest.
    """
    frequencies = diagram.frequencies / (2.0 * np.pi)
    count = frequencies.shape[1] if modes is None else min(int(modes), frequencies.shape[1])
    order = np.argsort(np.nan_to_num(frequencies[0], nan=np.inf))[:count]
    made, ((panel,),) = figure(1, 1, height=4.0, ax=ax, figsize=figsize)
    for k, number in enumerate(order[:MOST_LINES]):
        panel.plot(diagram.values, frequencies[:, number], label=f"mode {k}", **look(k))
        grows = diagram.damping_ratios[:, number] < -GROWS
        panel.plot(diagram.values[grows], frequencies[grows, number], "x", color=ALARM, markersize=5, zorder=4)
    top = 1.08 * float(np.nanmax(frequencies[:, order], initial=0.0)) or 1.0
    if diagram.is_speed:
        for harmonic in HARMONICS:
            line = harmonic * np.abs(diagram.values) / (2.0 * np.pi)
            panel.plot(diagram.values, line, "--", color=QUIET, linewidth=0.8)
            inside = np.flatnonzero(line <= top)
            if inside.size and line[inside[-1]] > 0.0:
                panel.annotate(f"{harmonic}×", (diagram.values[inside[-1]], line[inside[-1]]), color=QUIET, fontsize=8.5)
    panel.set_ylim(0.0, top)
    unit = f", {diagram.unit}" if diagram.unit else ""
    panel.set(xlabel=f"{'speed of ' if diagram.is_speed else ''}{diagram.over}{unit}", ylabel="frequency, Hz")
    panel.set_title(f"{diagram.name}: frequencies over {diagram.over}{f', {diagram.pose}' if diagram.pose else ''}")
    legend(panel, left_out=count - MOST_LINES)
    return made
