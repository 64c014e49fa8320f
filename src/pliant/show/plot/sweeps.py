"""Plots of a sweep: curves for one axis, a map for two, small multiples for three, points for a sample."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.model.check import did_you_mean
from pliant.show.plot.over_time import is_mode
from pliant.show.plot.style import ALARM, PALETTE, TIME, Size, entitle, figure, legend, prefixed, styled

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

FACTS = ("ok", "message", "warnings", "balance_error", "result", "time")
CASE, RUN_TIME, RUN_ROW = "case", "time", "time_row"
NOT_YET = "not yet computed"
MOST_FAMILIES, MOST_MAPS, MOST_POINTS = 4, 4, 4  # quantities in one figure by default
MOST_NAMED = len(PALETTE)  # the most curves that a legend names; more curves are coloured by their number
ACROSS = 4  # small multiples in a row
COLOURS = "viridis"

REDUCTIONS: dict[str, tuple[str, Callable[[Floats], Floats]]] = {  # of a series over time: the label, and the number taken
    "largest": ("largest |{}|", lambda rows: np.max(np.abs(rows), axis=-1, initial=-np.inf, where=np.isfinite(rows))),
    "final": ("final {}", lambda rows: _final(rows)),
    "range": ("range of {}", lambda rows: _range(rows)),
}


@dataclass(frozen=True)
class Series:
    """One number, or one series over time, per case."""

    label: str
    unit: str
    values: Floats  # (axes of the sweep ...) or (axes ..., time)
    time: Floats | None  # (time) or (axes ..., time); None if each case has one number

    def reduced(self, how: str) -> Series:
        """One number per case."""
        if self.time is None:
            return self
        words, take = REDUCTIONS[how]
        values = take(self.values)
        return Series(words.format(self.label), self.unit, np.where(np.isfinite(values), values, np.nan), None)


@styled
def family(
    data: xarray.Dataset, names: Sequence[str] | None = None, reduce: str | None = None, *, ax: Any = None, figsize: Size = None
) -> Figure:
    """One axis: series over time, one curve per value; numbers are drawn over the axis. `reduce` turns series into numbers."""
    (axis,) = _axes(data, 1, "family")
    data = _sorted(data)
    chosen = _chosen(data, names, MOST_FAMILIES)
    if reduce is not None:
        chosen = [series.reduced(reduce) for series in chosen]
    made, panels = figure(len(chosen), 1, height=2.8, ax=ax, figsize=figsize)
    for panel, series in zip(panels[:, 0], chosen, strict=True):
        (_draw_numbers if series.time is None else _draw_courses)(panel, data, axis, series)
    panels[0, 0].set_title(_title(data))
    return made


@styled
def heat_map(
    data: xarray.Dataset, names: Sequence[str] | None = None, reduce: str | None = None, *, ax: Any = None, figsize: Size = None
) -> Figure:
    """Two axes: one map per quantity; a series over time is reduced to its largest magnitude, or as `reduce` says."""
    _axes(data, 2, "heat_map")
    data = _sorted(data)
    chosen = [series.reduced(reduce or "largest") for series in _chosen(data, names, MOST_MAPS)]
    across = min(2, len(chosen))
    rows = -(-len(chosen) // across)
    made, panels = figure(rows, across, height=3.6, width=5.0 * across + 0.5, ax=ax, figsize=figsize)
    for panel, series in zip(panels.flat, chosen, strict=False):
        factor, unit = prefixed(series.unit, [series.values])
        drawn = _draw_map(panel, data, series.values / factor, *_limits(series.values / factor))
        _bar(made, drawn, panel, _labelled(series.label, unit))
    for panel in list(panels.flat)[len(chosen) :]:
        panel.remove()
    entitle(made, list(panels.flat), _title(data), ax)
    return made


@styled
def multiples(
    data: xarray.Dataset, names: Sequence[str] | None = None, reduce: str | None = None, *, ax: Any = None, figsize: Size = None
) -> Figure:
    """Three axes: maps over two axes for each value of the third, which is the one with the fewest values; common colours."""
    data = _sorted(data)
    axes = _axes(data, 3, "multiples")
    apart = min(axes, key=lambda axis: data.sizes[axis])
    data = data.transpose(apart, *(axis for axis in axes if axis != apart), ...)
    series = _chosen(data, names, 1)[0].reduced(reduce or "largest")
    factor, unit = prefixed(series.unit, [series.values])
    limits = _limits(series.values / factor)
    count = data.sizes[apart]
    across = min(ACROSS, count)
    made, panels = figure(-(-count // across), across, height=2.6, width=2.5 * across + 1.2, sharex=True, sharey=True,
                          ax=ax, figsize=figsize)  # fmt: skip
    for k, panel in enumerate(list(panels.flat)[:count]):
        drawn = _draw_map(panel, data.isel({apart: k}), series.values[k] / factor, *limits)
        panel.set_title(_value_label(data, apart, k), fontsize=9.5)
        panel.label_outer()
    for panel in list(panels.flat)[count:]:
        panel.remove()
    _bar(made, drawn, list(panels.flat)[:count], _labelled(series.label, unit))
    entitle(made, list(panels.flat), _title(data), ax)
    return made


@styled
def points(
    data: xarray.Dataset, names: Sequence[str] | None = None, reduce: str | None = None, *, ax: Any = None, figsize: Size = None
) -> Figure:
    """A list of cases or a sample: each quantity over each varied number."""
    if CASE not in data.dims:
        raise ModelError.of("plot points", "sweep", "must be over a list of cases or a sample", list(data.dims))
    numbers = [str(name) for name, values in data.coords.items() if values.dims == (CASE,) and values.dtype.kind in "iuf"]
    chosen = [series.reduced(reduce or "largest") for series in _chosen(data, names, MOST_POINTS)]
    made, panels = figure(len(chosen), len(numbers), height=2.4, width=2.6 * len(numbers) + 1.4, sharex="col",
                          sharey="row", ax=ax, figsize=figsize)  # fmt: skip
    for row, series in zip(panels, chosen, strict=True):
        factor, unit = prefixed(series.unit, [series.values])
        for panel, name in zip(row, numbers, strict=True):
            size, word = prefixed(_unit(data, name), [np.asarray(data[name].values, dtype=np.float64)])
            panel.scatter(data[name].values / size, series.values / factor, s=9, color=PALETTE[0], linewidths=0, alpha=0.8)
            panel.set(xlabel=_labelled(name, word))
            panel.label_outer()
        row[0].set_ylabel(_labelled(series.label, unit))
    entitle(made, list(panels.flat), _title(data), ax)
    return made


SWEEP_PLOTS: dict[str, Callable[..., Figure]] = {draw.__name__: draw for draw in (family, heat_map, multiples, points)}


def sweep(
    data: xarray.Dataset, names: Sequence[str] | None = None, reduce: str | None = None, *, ax: Any = None, figsize: Size = None
) -> Figure:
    """The plot that fits the axes of a sweep.

    names: what was kept ("tip_deflection"), one number of it ("tip_deflection arm y"), or a coordinate ("arm.angle"). reduce:
    "largest", "final" or "range", the number taken from series over time.
    """
    check_reduction(reduce)
    return SWEEP_PLOTS[kind_of(data)](data, names, reduce, ax=ax, figsize=figsize)


def check_reduction(reduce: str | None) -> None:
    if reduce is not None and reduce not in REDUCTIONS:
        rule = f"must be one of {', '.join(REDUCTIONS)}{did_you_mean(reduce, REDUCTIONS)}"
        raise ModelError.of("sweep", "reduce", rule, reduce)


def kind_of(data: xarray.Dataset) -> str:
    """The name of the plot that fits the axes of a sweep."""
    axes = own_axes(data)
    if CASE in axes:
        return points.__name__
    kinds = {1: family.__name__, 2: heat_map.__name__, 3: multiples.__name__}
    if len(axes) not in kinds:
        rule = "must be one, two or three to be drawn (choose a value of the others, as in data.sel(name=value))"
        raise ModelError.of("plot sweep", "axes", rule, axes)
    return kinds[len(axes)]


def own_axes(data: xarray.Dataset) -> list[str]:
    """The axes of the sweep."""
    return [str(dim) for dim in data["ok"].dims]


# ---- what is drawn


def _axes(data: xarray.Dataset, count: int, plot: str) -> list[str]:
    axes = own_axes(data)
    if len(axes) != count:
        raise ModelError.of(f"plot {plot}", "sweep", f"must have {count} {'axis' if count == 1 else 'axes'}", axes)
    return axes


def _sorted(data: xarray.Dataset) -> xarray.Dataset:
    """The dataset with the numbers along every axis sorted, whatever order they were added in."""
    for axis in own_axes(data):
        if data[axis].dtype.kind in "iuf":
            data = data.isel({axis: np.argsort(data[axis].values)})
    return data


def _chosen(data: xarray.Dataset, names: Sequence[str] | None, most: int) -> list[Series]:
    """The named quantities; by default the numbers that were kept, otherwise series of joints, otherwise everything available."""
    titles = titles_of(data)
    if names is not None:
        return [series_of(data, title) for name in names for title in named(name, titles)]
    if not titles:
        raise ModelError.of("plot sweep", "sweep", "must contain a computed case", NOT_YET)
    numbers = [title for title in titles if not _has_time(data, title[0])]
    joints = [title for title in titles if title[0] == "q" and not is_mode(title[1][0])]
    plain = [title for title in titles if not title[1]]
    return [series_of(data, title) for title in (numbers or plain or joints or titles)[:most]]


Title = tuple[str, tuple[str, ...]]  # the name of a variable, and the labels along its own dimensions


def titles_of(data: xarray.Dataset) -> list[Title]:
    """What was kept, number by number."""
    found: list[Title] = []
    for name, variable in data.data_vars.items():
        if name in FACTS:
            continue
        dims = [dim for dim in variable.dims if dim not in (*own_axes(data), RUN_TIME, RUN_ROW)]
        labels = [[str(x) for x in (data[dim].values if dim in data.coords else range(data.sizes[dim]))] for dim in dims]
        found += [(str(name), place) for place in product(*labels)]
    return found


def named(name: str, titles: Sequence[Title]) -> list[Title]:
    """The titles that a name means: all of what was kept by this name, or one number."""
    fitting = [title for title in titles if name in (title[0], " ".join((title[0], *title[1])), " ".join(title[1]))]
    if not fitting:
        known = dict.fromkeys([title[0] for title in titles] + [" ".join((title[0], *title[1])) for title in titles])
        raise ModelError.of("plot sweep", "names", f"must be among {', '.join(known)}{did_you_mean(name, known)}", name)
    whole = [title for title in fitting if title[0] == name]
    return whole or fitting[:1]


def _has_time(data: xarray.Dataset, name: str) -> bool:
    return RUN_TIME in data[name].dims or RUN_ROW in data[name].dims


def series_of(data: xarray.Dataset, title: Title) -> Series:
    name, labels = title
    variable = data[name]
    dims = [dim for dim in variable.dims if dim not in (*own_axes(data), RUN_TIME, RUN_ROW)]
    for dim, label in zip(dims, labels, strict=True):
        names = [str(x) for x in data[dim].values] if dim in data.coords else []
        variable = variable.isel({dim: names.index(label) if names else int(label)})
    time = np.asarray(data[RUN_TIME].values) if _has_time(data, name) else None
    units = json.loads(variable.attrs.get("units_of", "{}"))
    unit = units.get(labels[0]) if labels and labels[0] in units else variable.attrs.get("units", "")
    label = labels[0] if name == "q" else " ".join((name.replace("_", " "), *labels))
    return Series(label, str(unit), np.asarray(variable.values), time)


def _final(rows: Floats) -> Floats:
    """The last finite number."""
    count = rows.shape[-1]
    last = count - 1 - np.argmax(np.isfinite(rows)[..., ::-1], axis=-1)
    return np.asarray(np.take_along_axis(rows, last[..., None], axis=-1)[..., 0])


def _range(rows: Floats) -> Floats:
    known = np.isfinite(rows)
    return np.asarray(np.max(rows, axis=-1, initial=-np.inf, where=known) - np.min(rows, axis=-1, initial=np.inf, where=known))


# ---- how it is drawn


def _draw_courses(panel: Any, data: xarray.Dataset, axis: str, series: Series) -> None:
    from matplotlib.cm import ScalarMappable

    assert series.time is not None
    values = data[axis].values
    factor, unit = prefixed(series.unit, [series.values])
    few = len(values) <= MOST_NAMED or values.dtype.kind not in "iuf"
    scale = None if few else _norm(np.asarray(values, dtype=np.float64))
    for k in range(len(values)):
        time = series.time if series.time.ndim == 1 else series.time[k]
        colour = PALETTE[k % len(PALETTE)] if scale is None else _colour(scale(values[k]))
        label = _value_label(data, axis, k) if few else None
        panel.plot(time, series.values[k] / factor, color=colour, linewidth=1.2 if few else 0.9, label=label)
    panel.set(xlabel=TIME, ylabel=_labelled(series.label, unit))
    panel.margins(x=0.0)
    if scale is None:
        legend(panel)
    else:
        size, word = prefixed(_unit(data, axis), [np.asarray(values, dtype=np.float64)])
        shown = ScalarMappable(_norm(np.asarray(values, dtype=np.float64) / size), COLOURS)
        _bar(panel.figure, shown, panel, _labelled(axis, word))


def _draw_numbers(panel: Any, data: xarray.Dataset, axis: str, series: Series) -> None:
    factor, unit = prefixed(series.unit, [series.values])
    size, word = _axis_scale(data, axis)
    extra = series.values.reshape(series.values.shape[0], -1)
    for k in range(extra.shape[1]):
        panel.plot(
            _places(data, axis) / size,
            extra[:, k] / factor,
            marker="o",
            markersize=3.5,
            color=PALETTE[k % len(PALETTE)],
        )
    _mark_axis(panel, data, axis, "x", size, word)
    panel.set_ylabel(_labelled(series.label, unit))
    missing = ~np.isfinite(extra[:, 0])
    for place in _places(data, axis)[missing] / size:
        panel.axvline(place, color=ALARM, linewidth=0.8, linestyle=":")


def _draw_map(panel: Any, data: xarray.Dataset, values: Floats, low: float, high: float) -> Any:
    down, across = own_axes(data)
    (size_x, word_x), (size_y, word_y) = _axis_scale(data, across), _axis_scale(data, down)
    x, y = _places(data, across) / size_x, _places(data, down) / size_y
    edges = (_edges(x, _is_geometric(data, across)), _edges(y, _is_geometric(data, down)))
    drawn = panel.pcolormesh(*edges, values, cmap=COLOURS, vmin=low, vmax=high, shading="flat")
    panel.grid(False)
    _mark_axis(panel, data, across, "x", size_x, word_x)
    _mark_axis(panel, data, down, "y", size_y, word_y)
    rows, columns = np.nonzero(~np.isfinite(values))
    if rows.size:  # failed, or not yet computed
        panel.plot(x[columns], y[rows], linestyle="none", marker="x", color=ALARM, markersize=4.0)
    return drawn


def _places(data: xarray.Dataset, axis: str) -> Floats:
    """Positions along an axis: numbers at their values, words at equal intervals."""
    values = data[axis].values
    return np.asarray(values, dtype=np.float64) if values.dtype.kind in "iuf" else np.arange(float(len(values)))


def _axis_scale(data: xarray.Dataset, axis: str) -> tuple[float, str]:
    return prefixed(_unit(data, axis), [_places(data, axis)])


def _mark_axis(panel: Any, data: xarray.Dataset, axis: str, which: str, size: float, unit: str) -> None:
    getattr(panel, f"set_{which}label")(_labelled(axis, unit))
    if _is_geometric(data, axis):
        getattr(panel, f"set_{which}scale")("log")
    if data[axis].dtype.kind not in "iuf":
        getattr(panel, f"set_{which}ticks")(_places(data, axis) / size, [str(value) for value in data[axis].values])


def _edges(centres: Floats, geometric: bool) -> Floats:
    """The edges of cells, halfway between their centres."""
    places = np.log(centres) if geometric else centres
    if places.size == 1:
        half = 0.5 * (abs(places[0]) or 1.0)
        edges = np.array([places[0] - half, places[0] + half])
    else:
        middle = 0.5 * (places[1:] + places[:-1])
        edges = np.concatenate([[2.0 * places[0] - middle[0]], middle, [2.0 * places[-1] - middle[-1]]])
    return np.exp(edges) if geometric else edges


def _is_geometric(data: xarray.Dataset, axis: str) -> bool:
    """Whether an axis is best drawn logarithmically: at least three values, with more even ratios than differences."""
    values = data[axis].values
    if values.dtype.kind not in "iuf" or len(values) < 3 or np.min(values) <= 0.0:
        return False
    ratios, steps = np.diff(np.log(values)), np.diff(np.asarray(values, dtype=np.float64))
    return bool(np.ptp(ratios) < 0.1 * np.mean(ratios) and np.ptp(steps) > 0.5 * np.mean(steps))


def _limits(values: Floats) -> tuple[float, float]:
    known = values[np.isfinite(values)]
    return (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)


def _norm(values: Floats) -> Any:
    from matplotlib.colors import Normalize

    return Normalize(float(np.min(values)), float(np.max(values)))


def _colour(share: float) -> Any:
    import matplotlib as mpl

    return mpl.colormaps[COLOURS](share)


def _bar(made: Any, drawn: Any, panels: Any, label: str) -> None:
    bar = made.colorbar(drawn, ax=panels, label=label, pad=0.02)
    bar.outline.set_visible(False)


def _unit(data: xarray.Dataset, axis: str) -> str:
    return str(data[axis].attrs.get("units", ""))


def _labelled(name: str, unit: str) -> str:
    return f"{name}, {unit}" if unit not in ("", "1") else name


def _value_label(data: xarray.Dataset, axis: str, k: int) -> str:
    """payload = 0.3 kg."""
    value = data[axis].values[k]
    if isinstance(value, (float, np.floating)):
        factor, unit = prefixed(_unit(data, axis), [np.array([value])])
        return f"{axis} = {value / factor:.4g} {unit}".rstrip()
    return f"{axis} = {value} {_unit(data, axis)}".rstrip()


def _title(data: xarray.Dataset) -> str:
    """The title: the mechanism, and how many cases are missing."""
    messages, ok = data["message"].values, data["ok"].values
    waiting = int(np.sum(messages == NOT_YET))
    failed = int(np.sum(~ok)) - waiting
    words = [
        f"{ok.size} cases",
        *([f"{failed} failed"] if failed else []),
        *([f"{waiting} not yet computed"] if waiting else []),
    ]
    return f"{data.attrs.get('title', 'sweep')}: {', '.join(words)}"
