"""The style of all plots: colours that colour-blind readers can distinguish, plain axes, units with prefixes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
P = ParamSpec("P")

# Okabe and Ito 2008, strongest first, without the yellow, which is hard to see on white paper
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", ":")  # after the last colour the palette repeats with the next dash
MOST_LINES = len(PALETTE) * len(DASHES)  # in one panel; more could not be distinguished
INK, QUIET, ALARM = "#222222", "#8a8a8a", "#C1272D"

WIDTH, PANEL = 8.0, 2.6  # inches: of a figure, and the height of one panel
TIME = "time, s"

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
    """Decorator: the function draws in pliant's style without changing the user's matplotlib settings."""

    @functools.wraps(draw)
    def drawn(*given: P.args, **options: P.kwargs) -> Figure:
        import matplotlib as mpl

        with mpl.rc_context(STYLE):
            made = draw(*given, **options)
            _take_literally(made)
            return made

    return drawn


def _take_literally(figure: Figure) -> None:
    """Turn off formulas in texts, because names from models may contain $; tick labels are matplotlib's own and may be formulas."""
    from matplotlib.axis import Tick
    from matplotlib.text import Text

    ticks = {label for tick in figure.findobj(Tick) for label in (tick.label1, tick.label2)}
    for text in figure.findobj(Text):
        if text not in ticks:
            text.set_parse_math(False)


def figure(rows: int = 1, columns: int = 1, height: float = PANEL, width: float = WIDTH, **options: Any) -> tuple[Figure, Any]:
    """An empty figure without a window, and its panels (rows, columns)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from pliant.show.plot.notebook_figure import NotebookFigure

    made = NotebookFigure(figsize=(width, height * rows + 0.5), layout="constrained")
    FigureCanvasAgg(made)
    return made, made.subplots(rows, columns, squeeze=False, **options)


def column(rows: int, **options: Any) -> tuple[Figure, list[Any]]:
    """Panels stacked over a common time axis."""
    made, panels = figure(rows, 1, sharex=True, **options)
    panels[-1, 0].set_xlabel(TIME)
    return made, list(panels[:, 0])


def look(number: int) -> dict[str, Any]:
    """Colour and dash of line `number`."""
    return {"color": PALETTE[number % len(PALETTE)], "linestyle": DASHES[number // len(PALETTE) % len(DASHES)]}


def lines(axes: Any, x: Floats, series: Sequence[tuple[str, Floats]], quantity: str, unit: str) -> None:
    """Named lines over x with a legend at the side, in a unit whose prefix fits."""
    factor, name = prefixed(unit, [values for _, values in series])
    for k, (label, values) in enumerate(series[:MOST_LINES]):
        axes.plot(x, values / factor, label=label, **look(k))
    axes.set_ylabel(f"{quantity}, {name}")
    legend(axes, left_out=len(series) - MOST_LINES)


def legend(axes: Any, left_out: int = 0) -> None:
    """Put a legend to the right of the panel, where it hides nothing."""
    handles, _ = axes.get_legend_handles_labels()
    if handles:
        title = f"and {left_out} more" if left_out > 0 else None
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), borderaxespad=0.0, handlelength=1.6, title=title)


def prefixed(unit: str, series: Sequence[Floats]) -> tuple[float, str]:
    """(factor, unit with prefix) such that the largest value is from 1 to 1000, if the unit takes prefixes."""
    sizes = [np.abs(values[np.isfinite(values)]) for values in series]
    largest = max((float(np.max(size, initial=0.0)) for size in sizes), default=0.0)
    if unit not in PREFIXED or largest == 0.0 or 0.1 <= largest < 1000.0:
        return 1.0, unit
    for factor, prefix in PREFIXES:
        if largest >= factor and not (unit == "rad" and factor > 1.0):
            return factor, f"{prefix}{unit}"
    return 1.0, unit
