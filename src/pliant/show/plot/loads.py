"""Joint reactions, struts and motors over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.errors import ModelError
from pliant.model.check import did_you_mean
from pliant.results.result import Result
from pliant.results.table import QUANTITIES
from pliant.show.plot.style import INK, Size, column, lines, look, prefixed, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = {"reaction_force": "force", "reaction_moment": "moment", "strut_force": "force", "strut_length": "length",
         "motor_torque": "torque", "motor_speed": "speed"}  # fmt: skip


@styled
def reactions(result: Result, bodies: Sequence[str] | None = None, *, ax: Any = None, figsize: Size = None) -> Figure:
    """Force and moment of each body's inboard joint over time, with the largest of the run, which may lie between rows."""
    return _drawn(result, "reactions", ("reaction_force", "reaction_moment"), bodies, "joint reactions, magnitudes", ax, figsize)


@styled
def struts(result: Result, names: Sequence[str] | None = None, *, ax: Any = None, figsize: Size = None) -> Figure:
    """Force and length of each strut over time, with the largest force of the run, which may lie between rows."""
    return _drawn(result, "struts", ("strut_force", "strut_length"), names, "struts", ax, figsize)


@styled
def motors(result: Result, names: Sequence[str] | None = None, *, ax: Any = None, figsize: Size = None) -> Figure:
    """Torque and speed of each motor over time, before its gear, with the largest of the run, which may lie between rows."""
    return _drawn(result, "motors", ("motor_torque", "motor_speed"), names, "motors, before their gears", ax, figsize)


def _drawn(result: Result, plot: str, quantities: Sequence[str], asked: Sequence[str] | None, words: str, ax: Any,
           figsize: Size) -> Figure:  # fmt: skip
    known = list(result.labels[QUANTITIES[quantities[0]].dims[0]])
    for name in asked or ():
        if name not in known:
            raise ModelError.of(f"plot {plot}", "names", f"must be among {known}{did_you_mean(name, known)}", name)
    parts = known if asked is None else list(asked)
    if not parts:
        raise ModelError.of(f"plot {plot}", "result", f"must have {plot}", result.name)
    figure, panels = column(len(quantities), ax=ax, figsize=figsize)
    noted = result.extremes.largest if result.extremes is not None else {}
    for panel, quantity in zip(panels, quantities, strict=True):
        values, unit = np.asarray(result.values[quantity]), QUANTITIES[quantity].unit
        sizes = values if values.ndim == 2 else np.linalg.norm(values, axis=2)
        series = [(part, sizes[:, known.index(part)]) for part in parts]
        largest = {part: noted[quantity][part] for part in parts if part in noted.get(quantity, {})}
        every = [*(of for _, of in series), np.array([size for size, _ in largest.values()])]
        factor, name = prefixed(unit, every, result.shown_units)
        lines(panel, result.time, [(part, of / factor) for part, of in series], SHOWN[quantity], name)
        for k, (part, of) in enumerate(series):
            if part in largest:
                size, t = largest[part]
                sign = np.sign(of[np.argmin(np.abs(result.time - t))]) or 1.0
                panel.plot(t, sign * size / factor, "v", markersize=4, color=look(k)["color"], markerfacecolor="white", zorder=3)
    if any(quantity in noted for quantity in quantities):
        panels[0].plot([], [], "v", markersize=4, color=INK, markerfacecolor="white", label="largest of the run")
        panels[0].legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), borderaxespad=0.0, handlelength=1.6)
    panels[0].set_title(f"{result.name}: {words}")
    return figure
