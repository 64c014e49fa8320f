"""Mode shapes: the mechanism at both extremes of a vibration, and at rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.results.result import Result
from pliant.show.plot.mechanism import snapshots
from pliant.show.plot.sketch import Sketch
from pliant.show.plot.style import QUIET, Size, entitle, styled
from pliant.show.scene import Scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 6  # modes drawn by default
GHOSTS = 13  # phases of a cycle drawn faintly; an odd number, so that one is opposite to the first
SPATIAL = (0, 1, 2)


class DrawableModes(Protocol):
    """The protocol of modes that can be plotted."""

    @property
    def name(self) -> str: ...
    @property
    def frequencies(self) -> Floats: ...
    @property
    def damping_ratios(self) -> Floats: ...
    def __len__(self) -> int: ...
    def animated(self, number: int, size: float = ..., cycles: int = ...) -> Result: ...


@styled
def mode_shape(
    modes: DrawableModes, number: int | Sequence[int] | None = None, size: float = 0.15, *, ax: Any = None, figsize: Size = None
) -> Figure:
    """Mode shapes (default: the first six), solid at one extreme of the vibration and faint in between.

    size: the largest displacement of any point, as a fraction of the mechanism's size. The mechanism at rest is dotted.
    """
    chosen = _chosen(modes, number)
    scenes = [Scene(modes.animated(k, size, 1)) for k in chosen]
    _look_alike(scenes)
    sketches = [Sketch(scene) for scene in scenes]
    made, panels = snapshots(max(sketches, key=lambda sketch: _height(sketch)), len(chosen), ax, figsize)
    for k, sketch, panel in zip(chosen, sketches, panels, strict=True):
        sketch.prepare(panel)
        _draw_swing(sketch, panel)
        panel.set_title(_title(modes, k), loc="left")
        if sketch.scene.flat:
            panel.label_outer()
    entitle(made, panels, f"{modes.name}: mode shapes", ax)
    return made


def _chosen(modes: DrawableModes, number: int | Sequence[int] | None) -> list[int]:
    chosen = list(range(min(SHOWN, len(modes)))) if number is None else [int(k) for k in np.atleast_1d(np.asarray(number))]
    if not chosen or any(not 0 <= k < len(modes) for k in chosen):
        raise ModelError.of("plot mode_shape", "number", f"must be from 0 to {len(modes) - 1}", number)
    return chosen


def _look_alike(scenes: Sequence[Scene]) -> None:
    """Give all panels the same view and extent: spatial if any of them is spatial."""
    axes = {scene.axes for scene in scenes}
    if len(axes) > 1:
        for scene in scenes:
            scene.axes = SPATIAL
    boxes = [scene.box for scene in scenes]
    low, high = np.min([box[0] for box in boxes], axis=0), np.max([box[1] for box in boxes], axis=0)
    for scene in scenes:
        scene.box = (low, high)


def _height(sketch: Sketch) -> float:
    extent = sketch.high - sketch.low
    return float(extent[1] / extent[0])


def _draw_swing(sketch: Sketch, panel: Any) -> None:
    scene = sketch.scene
    phases = np.linspace(0.0, 1.0, GHOSTS)
    moved = scene.positions(phases)
    still = [0.5 * (points[0] + points[GHOSTS // 2]) for points in moved]  # opposite phases
    for number, body in enumerate(scene.drawing.bodies):
        for line in body.lines:
            for row in range(1, GHOSTS):
                panel.plot(*(moved[number][row, list(line), axis] for axis in scene.axes), color=sketch.colours[number],
                           linewidth=1.0, alpha=0.15, zorder=2)  # fmt: skip
            panel.plot(*(still[number][list(line), axis] for axis in scene.axes), ":", color=QUIET, linewidth=1.1, zorder=3)
    sketch.draw(panel, 0.0)


def _title(modes: DrawableModes, number: int) -> str:
    w, ratio = float(modes.frequencies[number]), float(modes.damping_ratios[number])
    damped = f", {100.0 * ratio:.3g} %" if abs(ratio) > 1e-9 else ""
    if w > 0.0:
        return f"{number}: {w / (2.0 * np.pi):.4g} Hz{damped}"
    return f"{number}: " + ("rigid" if ratio == 0.0 else "decays" if ratio > 0.0 else "grows")
