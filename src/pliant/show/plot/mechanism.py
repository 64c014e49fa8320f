"""Snapshots of the mechanism, and the paths of its tips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.results.result import Result
from pliant.results.table import AXES
from pliant.scalar import Numbers
from pliant.show.plot.sketch import Sketch
from pliant.show.plot.style import INK, MOST_LINES, Size, entitle, figure, legend, look, styled
from pliant.show.scene import Scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SNAPSHOTS = 6  # snapshots if the user gives no times
ACROSS = 3
ROOM = 0.04  # around a schematic, as a fraction of its extent
GHOSTS = 7  # times at which `paths` shows the links
NEAR, TALL, MARGIN = 0.6, 4.0, 0.9  # inches: smallest and largest height of a panel, and the space for titles and numbers


@styled
def mechanism(
    result: Result,
    times: Numbers | None = None,
    scale: float = 1.0,
    time: float | None = None,
    *,
    labels: bool = False,
    ax: Any = None,
    figsize: Size = None,
) -> Figure:
    """Snapshots of the mechanism at given times (default: six), with elastic deformation magnified by `scale`.

    time: a single time instead, for a still picture. Deformation is magnified relative to the undeformed beam, which is dotted,
    or relative to the line through the points held by loops and contacts, so that these do not move; a clamped root stays clamped.
    Positions between rows are interpolated. labels: a schematic, with frames, names, lengths and the coordinates of joints.
    """
    if time is not None:
        if times is not None:
            raise ModelError.of("plot mechanism", "time", "must be left out when times are given", time)
        times = [time]
    scene = Scene(result, _number("scale", scale))
    result = scene.result
    chosen = np.linspace(result.time[0], result.time[-1], SNAPSHOTS) if times is None else _times(result, times)
    if labels:
        scene.box = _box(scene, chosen)
    sketch = Sketch(scene)
    made, panels = snapshots(sketch, len(chosen), ax, figsize)
    for panel, t in zip(panels, chosen, strict=True):
        sketch.prepare(panel)
        sketch.draw(panel, float(t))
        panel.set_title(f"{t:.4g} s", loc="left")
        if scene.flat:
            panel.label_outer()
    title = f"{result.name}, deformation × {scene.scale:g}" if scene.scale != 1.0 else result.name
    if len(chosen) == 1:
        panels[0].set_title(f"{title}, {chosen[0]:.4g} s", loc="left")
    else:
        entitle(made, panels, title, ax)
    for panel, t in zip(panels, chosen if labels else (), strict=labels):  # last, for names take places in the final layout
        sketch.label(panel, float(t))
    return made


def _box(scene: Scene, times: Floats) -> tuple[Floats, Floats]:
    """The corners of what is seen at these times, with room for names."""
    found = np.concatenate([*(points.reshape(-1, 3) for points in scene.positions(times)), scene.drawing.ground])
    low, high = found.min(axis=0), found.max(axis=0)
    room = np.where(high > low, ROOM * np.max(high - low), 0.0)  # what is flat stays flat
    return low - room, high + room


def snapshots(sketch: Sketch, count: int, ax: Any = None, figsize: Size = None) -> tuple[Figure, list[Any]]:
    """A figure with panels in the proportions of the mechanism."""
    across = min(ACROSS, count)
    rows = -(-count // across)
    width = 9.0 if across > 1 else 7.0
    shape = (sketch.high - sketch.low)[1] / (sketch.high - sketch.low)[0] if sketch.scene.flat else 0.85
    height = float(np.clip(shape * (width / across - MARGIN), NEAR, TALL)) + MARGIN
    options = {} if sketch.scene.flat else {"subplot_kw": {"projection": "3d"}}
    made, panels = figure(rows, across, height=height, width=width, ax=ax, figsize=figsize, **options)
    if sketch.scene.flat and ax is None:
        made.set_layout_engine("compressed")  # the only layout engine that handles panels with equal scales
    for panel in list(panels.flat)[count:]:
        panel.remove()
    return made, list(panels.flat)[:count]


@styled
def paths(result: Result, *, ax: Any = None, figsize: Size = None) -> Figure:
    """The paths of all tips, with the mechanism at a few times; later times are darker."""
    scene = Scene(result)
    result = scene.result
    sketch = Sketch(scene)
    made, (panel,) = snapshots(sketch, 1, ax, figsize)
    sketch.prepare(panel)
    tips = result.values["tip_position"]
    for k, name in enumerate(result.labels["body"][:MOST_LINES]):
        panel.plot(*(tips[:, k, axis] for axis in scene.axes), linewidth=0.9, label=f"tip of {name}", **look(k))
    times = np.linspace(result.time[0], result.time[-1], GHOSTS)
    for body, points in zip(scene.drawing.bodies, scene.positions(times), strict=True):
        for row in range(GHOSTS):
            for line in body.lines:
                panel.plot(*(points[row, list(line), axis] for axis in scene.axes), color=INK, linewidth=1.1,
                           alpha=0.15 + 0.65 * row / (GHOSTS - 1))  # fmt: skip
    seen = "-".join(AXES[k] for k in scene.axes)
    panel.set_title(f"{result.name}: paths of the tips in {seen}, links at {GHOSTS} times", loc="left")
    legend(panel)
    return made


def _times(result: Result, times: Numbers) -> Floats:
    chosen = np.array([_number("times", t) for t in np.atleast_1d(np.asarray(times, dtype=object))])
    begin, end = float(result.time[0]), float(result.time[-1])
    slack = 1e-9 * (end - begin)
    if not chosen.size or np.any(chosen < begin - slack) or np.any(chosen > end + slack):
        raise ModelError.of("plot mechanism", "times", f"must be from {begin:g} to {end:g} s", list(times))
    return chosen


def _number(field: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
        raise ModelError.of("plot mechanism", field, "must be a finite number", value)
    return float(value)
