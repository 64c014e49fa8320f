"""Bode plot: magnitude and phase of outputs over the frequency of inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.show.plot.style import MOST_LINES, Size, figure, legend, look, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class DrawableResponse(Protocol):
    """The protocol of a frequency response that can be plotted."""

    @property
    def name(self) -> str: ...
    @property
    def frequencies(self) -> Floats: ...
    @property
    def inputs(self) -> tuple[str, ...]: ...
    @property
    def outputs(self) -> tuple[str, ...]: ...
    @property
    def magnitude(self) -> Floats: ...
    @property
    def phase(self) -> Floats: ...


@styled
def bode(
    response: DrawableResponse,
    outputs: Sequence[str] | None = None,
    inputs: Sequence[str] | None = None,
    *,
    ax: Any = None,
    figsize: Size = None,
) -> Figure:
    """Bode plot: magnitude (both axes logarithmic) and phase in degrees, one line per output and input."""
    rows, columns = _numbers("outputs", outputs, response.outputs), _numbers("inputs", inputs, response.inputs)
    pairs = [(i, j) for i in rows for j in columns]
    made, panels = figure(2, 1, sharex=True, ax=ax, figsize=figsize)
    hertz = response.frequencies / (2.0 * np.pi)
    upper, lower = panels[:, 0]
    for k, (i, j) in enumerate(pairs[:MOST_LINES]):
        label = response.outputs[i] if len(columns) == 1 else f"{response.outputs[i]} / {response.inputs[j]}"
        upper.loglog(hertz, response.magnitude[:, i, j], label=label, **look(k))
        lower.semilogx(hertz, np.degrees(response.phase[:, i, j]), **look(k))
    upper.set(ylabel="magnitude, SI")
    lower.set(xlabel="frequency, Hz", ylabel="phase, °")
    lower.yaxis.set_major_locator(_quarter_turns(response.phase[:, rows][:, :, columns]))
    put_in = f" of {response.inputs[columns[0]]}" if len(columns) == 1 else ""
    upper.set_title(f"{response.name}: response to a sine{put_in}")
    legend(upper, left_out=len(pairs) - MOST_LINES)
    return made


def _numbers(field: str, names: Sequence[str] | None, known: Sequence[str]) -> list[int]:
    wanted = list(known) if names is None else [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in known:
            raise ModelError.of("plot bode", field, f"must be some of {list(known)}", name)
    return [list(known).index(name) for name in wanted]


def _quarter_turns(phase: Floats) -> object:
    """Ticks at multiples of 90°, few enough to read."""
    from matplotlib.ticker import MultipleLocator

    span = float(np.ptp(np.degrees(phase))) if phase.size else 0.0
    return MultipleLocator(90.0 * max(1, int(np.ceil(span / 720.0))))
