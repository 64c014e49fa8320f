"""Contact forces over the run, and one impact enlarged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.errors import ModelError
from pliant.results.contacts import ContactRecord
from pliant.results.result import Result
from pliant.show.plot.style import INK, MOST_LINES, QUIET, TIME, Size, figure, legend, look, prefixed, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HARDEST = "hardest"
AROUND = 0.35  # fraction of a contact's duration shown before and after it
LONGEST = 0.05  # fraction of the run: of a contact that does not end only this much is shown, from its beginning
ABOVE = 0.1  # fraction of the panel above the largest peak: room for its mark
FEW_ROWS = 6  # fewer rows in a contact do not give a curve
MS = 1e-3  # s


@styled
def contact_forces(result: Result, zoom: int | str | None = HARDEST, *, ax: Any = None, figsize: Size = None) -> Figure:
    """Normal forces of all pairs with the peak of every contact; below, one contact enlarged, with friction.

    zoom: the number of a contact in result.contacts, "hardest", or None. Peaks come from the table of contacts, which is accurate
    to the step whatever rows are saved; curves come from the saved rows.
    """
    if not result.labels["pair"]:
        raise ModelError.of("plot contact_forces", "result", "must have contact pairs", result.name)
    touch = _touch(result, zoom)
    made, panels = figure(1 if touch is None else 2, 1, height=2.9, ax=ax, figsize=figsize)
    _draw_run(result, panels[0, 0], touch)
    if touch is not None:
        _draw_touch(result, panels[1, 0], touch)
    return made


def _touch(result: Result, zoom: int | str | None) -> ContactRecord | None:
    touches = [touch for touch in result.contacts if touch.pair in result.labels["pair"]]
    if zoom is None or (zoom == HARDEST and not touches):
        return None
    if zoom == HARDEST:
        return max(touches, key=lambda touch: touch.peak_force)
    if isinstance(zoom, bool) or not isinstance(zoom, int) or not -len(touches) <= zoom < len(touches):
        rule = f"must be 'hardest', None or the number of one of {len(touches)} contacts"
        raise ModelError.of("plot contact_forces", "zoom", rule, zoom)
    return touches[zoom]


def _draw_run(result: Result, axes: Any, touch: ContactRecord | None) -> None:
    draw_forces(result, axes)
    if touch is not None:
        axes.axvline(touch.begin, color=QUIET, linewidth=0.8, linestyle=":")
    count = len(result.contacts)
    axes.set(xlabel=TIME, title=f"{result.name}: {count} {'touch' if count == 1 else 'touches'}")
    axes.margins(x=0.01, y=ABOVE)


def draw_forces(result: Result, axes: Any) -> None:
    """The normal forces of all pairs over time, and the peak of every contact, which may lie between rows."""
    forces, pairs = result.values["normal_force"], list(result.labels["pair"])
    units = " or ".join(sorted({record.units[1] for record in result.contacts})) or "N"
    factor, unit = prefixed(units, [forces, np.array([record.peak_force for record in result.contacts])])
    for k, pair in enumerate(pairs[:MOST_LINES]):
        own = result.contacts.of(pair)
        axes.plot(result.time, forces[:, k] / factor, label=pair, **look(k))
        axes.plot([c.peak_time for c in own], [c.peak_force / factor for c in own], "v", markersize=4,
                  color=look(k)["color"], markerfacecolor="white", zorder=3)  # fmt: skip
    if result.contacts:
        axes.plot([], [], "v", markersize=4, color=INK, markerfacecolor="white", label="peak of a touch")
    axes.set_ylabel(f"normal force, {unit}")
    legend(axes, left_out=len(pairs) - MOST_LINES)


def _draw_touch(result: Result, axes: Any, touch: ContactRecord) -> None:
    """Time from the beginning of the contact, in ms."""
    begin, end = _span(result, touch)
    k = list(result.labels["pair"]).index(touch.pair)
    first, last = np.searchsorted(result.time, (begin, end))
    rows = slice(max(int(first) - 1, 0), int(last) + 1)
    normal, friction = result.values["normal_force"][rows, k], result.values["friction_force"][rows, k]
    factor, unit = prefixed(touch.units[1], [normal, friction, np.array([touch.peak_force])])
    t = (result.time[rows] - touch.begin) / MS
    few = np.count_nonzero((t >= 0.0) & (t <= (end - touch.begin) / MS)) < FEW_ROWS
    mark = {"marker": "o", "markersize": 3.5, "linestyle": "none"} if few else {}
    axes.plot(t, normal / factor, label="normal", **{**look(k), **mark})
    for n, (axis, values) in enumerate(zip(result.labels["axis"], friction.T, strict=True), start=1):
        if np.any(values != 0.0):
            axes.plot(t, values / factor, label=f"friction along {axis}", **{**look(k + n), "linewidth": 1.0, **mark})
    axes.plot((touch.peak_time - touch.begin) / MS, touch.peak_force / factor, "v", color=INK, markerfacecolor="white",
              label=f"peak {touch.peak_force / factor:.4g} {unit}")  # fmt: skip
    for edge in (touch.begin, touch.end):
        if np.isfinite(edge):
            axes.axvline((edge - touch.begin) / MS, color=QUIET, linewidth=0.8, linestyle=":")
    axes.margins(y=ABOVE)
    axes.set_xlim((begin - touch.begin) / MS, (end - touch.begin) / MS)
    axes.set(xlabel=f"time since the touch began at {touch.begin:.6g} s, ms", ylabel=f"force, {unit}", title=_words(touch))
    if few:
        axes.text(0.99, 0.5, 'few rows were saved in this touch:\nsave="steps" gives a curve', transform=axes.transAxes,
                  ha="right", va="center", fontsize="small", color=QUIET)  # fmt: skip
    legend(axes)


def _span(result: Result, touch: ContactRecord) -> tuple[float, float]:
    """The interval from just before a contact to just after it, or until one that does not end has settled, s."""
    run = float(result.time[-1] - result.time[0])
    duration = min(float(result.time[-1]) - touch.begin, LONGEST * run) if touch.lasting and run > 0.0 else touch.duration
    return touch.begin - AROUND * duration, touch.begin + (1.0 + AROUND) * duration


def _words(touch: ContactRecord) -> str:
    speed = f"{touch.units[0]}/s"
    if touch.lasting:
        return f"{touch.pair}: met at {touch.entry_speed:.3g} {speed} and still touching when the run ended"
    speeds = f"{touch.entry_speed:.3g} {speed} in, {touch.exit_speed:.3g} {speed} out"
    return f"{touch.pair}: {touch.duration / MS:.3g} ms, {speeds}"
