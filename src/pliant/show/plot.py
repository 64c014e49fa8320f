"""Pictures of a result: each function returns a matplotlib Figure, and draws nothing on screen by itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.results.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_LINES = 12  # in one panel; more could not be told apart


def save(figure: Figure, target: str | Path) -> None:
    """Write a picture; the file appears whole or not at all."""
    target = Path(target)
    draft = target.with_name(f".{target.stem}.{os.getpid()}{target.suffix or '.png'}")
    try:
        figure.savefig(draft)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def overview(result: Result) -> Figure:
    """Joints, mode weights, energies and the balance error, one below the other."""
    figure, panels = _panels(4)
    _draw_coordinates(result, panels[0], panels[1], list(result.labels["coordinate"]))
    _draw_energies(result, panels[2], panels[3])
    panels[0].set_title(result.name)
    return figure


def energies(result: Result) -> Figure:
    """What the mechanism holds and what each source did, with the balance error below."""
    figure, (above, below) = _panels(2)
    _draw_energies(result, above, below)
    above.set_title(result.name)
    return figure


def _draw_energies(result: Result, above: Any, below: Any) -> None:
    ledger = result.ledger
    for name, series in ledger.held.items():
        if np.any(series != 0.0):
            above.plot(ledger.time, series, label=name)
    largest = sorted(ledger.work.items(), key=lambda item: -float(np.max(np.abs(item[1]), initial=0.0)))
    for name, series in largest[: MOST_LINES - 4]:
        above.plot(ledger.time, series, "--", label=f"work of {name}")
    below.plot(ledger.time, ledger.balance_error, color="black")
    _label(above, "", "energy, J")
    _label(below, "time, s", "balance error, J")
    above.legend(fontsize="small", ncols=2)


def coordinates(result: Result, names: list[str] | None = None) -> Figure:
    """Coordinates over time, angles and lengths apart from mode weights."""
    figure, (above, below) = _panels(2)
    _draw_coordinates(result, above, below, list(result.labels["coordinate"]) if names is None else names)
    above.set_title(result.name)
    return figure


def _draw_coordinates(result: Result, above: Any, below: Any, wanted: list[str]) -> None:
    elastic = [name for name in wanted if _is_mode(name)]
    rigid = [name for name in wanted if name not in elastic]
    for axes, group in ((above, rigid), (below, elastic)):
        for name in group[:MOST_LINES]:
            axes.plot(result.time, result[name], label=name)
        if group:
            axes.legend(fontsize="small", ncols=3)
    _label(above, "", "joints, m or rad")
    _label(below, "time, s", "mode weights, m or rad")


def paths(result: Result) -> Figure:
    """The paths of all tips in the x-y plane, with the mechanism drawn root to tip at a few times."""
    figure, (axes,) = _panels(1)
    roots, tips = result.values["root_position"], result.values["tip_position"]
    for k, body in enumerate(result.labels["body"]):
        axes.plot(tips[:, k, 0], tips[:, k, 1], linewidth=0.8, label=body)
    for row in np.linspace(0, len(result.time) - 1, 7, dtype=int):
        for k in range(len(result.labels["body"])):
            pair = np.stack([roots[row, k], tips[row, k]])
            axes.plot(pair[:, 0], pair[:, 1], color="black", alpha=0.25 + 0.5 * row / max(len(result.time), 1))
    axes.set_aspect("equal", adjustable="datalim")
    _label(axes, "x, m", "y, m", f"{result.name}: tips, and the links at seven times")
    axes.legend(fontsize="small")
    return figure


def _panels(count: int) -> tuple[Figure, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 3.2 * count + 1.0), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(count, 1, squeeze=False)[:, 0]
    return figure, panels


def _label(axes: Any, x: str, y: str, title: str = "") -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title)
    axes.grid(alpha=0.3)


def _is_mode(name: str) -> bool:
    last = name.rsplit(".", 1)[1]
    return last.rstrip("0123456789") in ("y", "z", "axial", "torsion") and last[-1].isdigit()
