"""The style of all plots: colours that colour-blind readers can distinguish, plain axes, units with prefixes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.model import check
from pliant.results.result import Result
from pliant.results.shown_units import ShownUnits, shown_unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Size = tuple[float, float] | None  # width and height of a figure, inches
P = ParamSpec("P")

# Okabe and Ito 2008, strongest first, without the yellow, which is hard to see on white paper
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", ":")  # after the last colour the palette repeats with the next dash
MOST_LINES = len(PALETTE) * len(DASHES)  # in one panel; more could not be distinguished
INK, QUIET, ALARM = "#222222", "#8a8a8a", "#C1272D"

WIDTH, PANEL = 8.0, 2.6  # inches: of a figure, and the height of one panel
BESIDE = 0.6  # of a panel's width: a wider legend is drawn inside the panel
SURE = 0.9  # of the room right of a panel's left edge, which the layout moves to the right by the width of tick labels
TIME = "time, s"
SMALL = 0.1  # of a unit of the model file: smaller values are shown in SI, with a prefix

PREFIXED = {"m", "N", "J", "N m", "m/s", "rad", "Pa", "Hz", "W"}  # units that take a prefix
PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p"), (1e-15, "f"))

STYLE = {
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.labelcolor": INK,
    "axes.edgecolor": QUIET,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-4, 5),
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "lines.linewidth": 1.2,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "figure.dpi": 120,
    "savefig.dpi": 120,
    "figure.facecolor": "white",
    "text.usetex": False,
}


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Decorator: the function draws in pliant's style, except for settings that the user has changed, and changes none.

    Arguments that plots share are checked here.
    """
    fields = [own.name for own in inspect.signature(draw).parameters.values() if own.kind is own.POSITIONAL_OR_KEYWORD]

    def checked(field: str, value: Any) -> Any:
        return SHARED[field](f"plot {draw.__name__}", field, value) if field in SHARED else value

    @functools.wraps(draw)
    def drawn(*given: P.args, **options: P.kwargs) -> Figure:
        import matplotlib as mpl
        from matplotlib.text import Text

        positional: Any = map(checked, chain(fields, repeat("")), given)
        by_name: Any = {field: checked(field, value) for field, value in options.items()}
        theirs = {text for panel in _several(options.get("ax")) for text in panel.figure.findobj(Text) if text.get_text()}
        with mpl.rc_context({name: value for name, value in STYLE.items() if not changed(name)}):
            made = draw(*positional, **by_name)
            _take_literally(made, theirs)
            _fit(made, theirs)
            return made

    return drawn


def _result(part: str, field: str, value: Any) -> Result:
    check.instance(part, field, value, Result, "a Result")
    return value  # type: ignore[no-any-return]


def _names(part: str, field: str, value: Any) -> tuple[str, ...] | None:
    return None if value is None else check.names(part, field, value)


def _size(part: str, field: str, value: Any) -> Size:
    return None if value is None else tuple(check.positive(part, field, x) for x in check.numbers(part, field, value, 2))  # type: ignore[return-value]


def _axes(part: str, field: str, value: Any) -> Any:
    for panel in _several(value):
        if not hasattr(panel, "figure"):
            raise ModelError.of(part, field, "must be Axes of matplotlib, or an array of them", value)
    return value


# Arguments that several plots take, with what checks them.
SHARED: dict[str, Callable[[str, str, Any], Any]] = {
    "result": _result, "names": _names, "bodies": _names, "ax": _axes, "figsize": _size,
}  # fmt: skip


def changed(setting: str) -> bool:
    """Whether the user has set this parameter of matplotlib."""
    import matplotlib as mpl

    return bool(mpl.rcParams[setting] != mpl.rcParamsDefault[setting])


def _take_literally(figure: Figure, theirs: set[Any]) -> None:
    """Turn off formulas in texts, because names from models may contain $; tick labels are matplotlib's own and may be formulas.

    theirs: texts that the user's figure already had.
    """
    from matplotlib.axis import Tick
    from matplotlib.text import Text

    ticks = {label for tick in figure.findobj(Tick) for label in (tick.label1, tick.label2)}
    for text in figure.findobj(Text):
        if text not in ticks and text not in theirs:
            text.set_parse_math(False)


def _fit(figure: Figure, theirs: set[Any]) -> None:
    """Shrink titles and labels that are longer than their room, and move legends inside that would squeeze their panel.

    This happens in small figures, such as those for one column of a paper. theirs: texts that stay as they are.
    """
    from matplotlib.text import Text

    edge = figure.bbox.x1
    for text in set(figure.texts) - theirs:
        _shrink(text, edge - text.get_window_extent().x0)
    for panel in figure.axes:
        if panel.name == "3d":
            continue
        room = panel.get_window_extent()
        titles = {text for text in panel.get_children() if isinstance(text, Text)} - set(panel.texts) - theirs
        for text in titles:
            _shrink(text, SURE * (edge - room.x0))
        for label, length in ((panel.xaxis.label, room.width), (panel.yaxis.label, room.height)):
            if label not in theirs:
                _shrink(label, length)
        _move_inside(panel, BESIDE * room.width, theirs)


def _move_inside(panel: Any, width: float, theirs: set[Any]) -> None:
    """Draw a legend that is wider than this, pixels, inside its panel."""
    beside = panel.get_legend()
    if beside is not None and not theirs.intersection(beside.get_texts()) and beside.get_window_extent().width > width:
        beside.set_loc("best")
        beside.set_bbox_to_anchor(None)
        beside.set_frame_on(True)


def _shrink(text: Any, room: float) -> None:
    """Draw a text that is longer than its room, pixels, in smaller letters."""
    extent = text.get_window_extent()
    length = extent.height if text.get_rotation() == 90.0 else extent.width
    if length > room > 0.0:
        text.set_fontsize(text.get_fontsize() * room / length)


def figure(
    rows: int = 1,
    columns: int = 1,
    height: float = PANEL,
    width: float = WIDTH,
    ax: Any = None,
    figsize: Size = None,
    **options: Any,
) -> tuple[Figure, Any]:
    """An empty figure without a window, and its panels (rows, columns); ax: panels of the user's own, see `_inside`."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from pliant.show.plot.notebook_figure import NotebookFigure

    if ax is not None:
        panels = _inside(ax, rows, columns, options)
        return panels[0, 0].figure, panels
    if figsize is None and changed("figure.figsize"):
        figsize = mpl.rcParams["figure.figsize"]
    made = NotebookFigure(figsize=figsize or (width, height * rows + 0.5), layout="constrained")
    FigureCanvasAgg(made)
    return made, made.subplots(rows, columns, squeeze=False, **options)


def _inside(ax: Any, rows: int, columns: int, options: dict[str, Any]) -> Any:
    """The user's Axes as panels (rows, columns); one Axes in place of several panels, or of one in space, is divided into them."""
    given = _several(ax)
    in_space = options.get("subplot_kw", {}).get("projection") == "3d"
    if len(given) == rows * columns and all((panel.name == "3d") == in_space for panel in given):
        return np.array(given, dtype=object).reshape(rows, columns)
    place = given[0].get_subplotspec() if len(given) == 1 else None
    if place is None:
        kind = " in space" if in_space else ""
        raise ModelError.of("plot", "ax", f"must be {rows * columns} Axes{kind}, or one of a grid that can be divided", len(given))
    given[0].remove()
    grid = place.subgridspec(rows, columns, width_ratios=options.pop("width_ratios", None))
    return grid.subplots(squeeze=False, **options)


def _several(ax: Any) -> list[Any]:
    return [] if ax is None else list(np.asarray(ax, dtype=object).flat)


def column(rows: int, **options: Any) -> tuple[Figure, list[Any]]:
    """Panels stacked over a common time axis."""
    made, panels = figure(rows, 1, sharex=True, **options)
    panels[-1, 0].set_xlabel(TIME)
    return made, list(panels[:, 0])


def entitle(made: Figure, panels: Sequence[Any], words: str, ax: Any = None) -> None:
    """The title above all panels; above the first one in a figure of the user's own."""
    if ax is None:
        made.suptitle(words, x=0.01, ha="left", fontsize=10.5)
    else:
        panels[0].set_title(f"{words}\n{panels[0].get_title(loc='left')}".rstrip(), loc="left")


def look(number: int) -> dict[str, Any]:
    """Colour and dash of line `number`; colours are those of the user's own cycle if there is one."""
    import matplotlib as mpl

    colours = mpl.rcParams["axes.prop_cycle"].by_key().get("color", PALETTE) if changed("axes.prop_cycle") else PALETTE
    return {"color": colours[number % len(colours)], "linestyle": DASHES[number // len(colours) % len(DASHES)]}


def lines(
    axes: Any, x: Floats, series: Sequence[tuple[str, Floats]], quantity: str, unit: str, shown: ShownUnits | None = None
) -> None:
    """Named lines over x with a legend at the side, in a unit whose prefix fits, or in that of the model file."""
    factor, name = prefixed(unit, [values for _, values in series], shown)
    for k, (label, values) in enumerate(series[:MOST_LINES]):
        axes.plot(x, values / factor, label=label, **look(k))
    axes.set_ylabel(f"{quantity}, {name}")
    legend(axes, left_out=len(series) - MOST_LINES)


def told_apart(words: Sequence[str]) -> list[str]:
    """Names of lines, numbered where they are the same."""
    return [word if words.count(word) == 1 else f"{word} ({k})" for k, word in enumerate(words, start=1)]


def legend(axes: Any, left_out: int = 0) -> None:
    """Put a legend to the right of the panel, where it hides nothing."""
    handles, _ = axes.get_legend_handles_labels()
    if handles:
        title = f"and {left_out} more" if left_out > 0 else None
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), borderaxespad=0.0, handlelength=1.6, title=title)


def prefixed(unit: str, series: Sequence[Floats], shown: ShownUnits | None = None) -> tuple[float, str]:
    """(factor, unit with prefix) such that the largest value is from 1 to 1000, if the unit takes prefixes.

    shown: units of the model file, which are used as they are unless all values are small in them.
    """
    sizes = [np.abs(values[np.isfinite(values)]) for values in series]
    largest = max((float(np.max(size, initial=0.0)) for size in sizes), default=0.0)
    size, name = shown_unit(unit, shown or {})
    if size != 1.0 and not 0.0 < largest < SMALL * size:
        return size, name
    if unit not in PREFIXED or largest == 0.0 or 0.1 <= largest < 1000.0:
        return 1.0, unit
    for factor, prefix in PREFIXES:
        if largest >= factor and not (unit == "rad" and factor > 1.0):
            return factor, f"{prefix}{unit}"
    return 1.0, unit
