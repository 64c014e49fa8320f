"""Amplitude spectra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.results.result import Result
from pliant.show.plot.over_time import grouped, is_mode
from pliant.show.plot.style import MOST_LINES, Size, figure, legend, look, prefixed, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_SAMPLES = 2**17
FEWEST_SAMPLES = 16
DEPTH = 1e-6  # fraction of the largest amplitude: lower bound of the amplitude axis
HEARD = 1e-4  # fraction of the largest amplitude: the frequency axis ends at the last line above this
FIRST_LINE = 2  # below this line, Hann's window shows the mean and the trend, not peaks
FAINT = 1e-3  # fraction of the largest amplitude: smaller peaks are not named
PROMINENCE = 3.0  # a peak must exceed the level beside it by this factor
MOST_PEAKS = 3  # named in the legend, per line
STRONGEST = 6  # lines drawn by default


@styled
def spectrum(result: Result, names: Sequence[str] | None = None, *, ax: Any = None, figsize: Size = None) -> Figure:
    """Amplitude spectra of coordinates; by default of the strongest modal coordinates, or of the joints if there are none."""
    known = list(result.labels["coordinate"])
    modes = [name for name in known if is_mode(name)]
    groups = grouped(result, list(names) if names is not None else modes or known)
    made, panels = figure(len(groups), 1, height=3.2, ax=ax, figsize=figsize)
    for panel, ((quantity, unit), group) in zip(panels[:, 0], groups.items(), strict=True):
        spectra = [(name, *amplitudes(result.time, result[name])) for name in group]
        if names is None:
            spectra = sorted(spectra, key=lambda one: -float(np.max(one[2])))[:STRONGEST]
        factor, name_of_unit = prefixed(unit, [amplitude for _, _, amplitude in spectra], result.shown_units)
        largest = max(float(np.max(amplitude)) for _, _, amplitude in spectra) or 1.0
        for k, (name, frequency, amplitude) in enumerate(spectra[:MOST_LINES]):
            panel.semilogy(frequency[1:], np.maximum(amplitude[1:], 1e-3 * DEPTH * largest) / factor, linewidth=0.9, **look(k),
                           label=f"{name}: {_peaks_in_words(frequency, amplitude)}")  # fmt: skip
            tops = np.array(peaks(frequency, amplitude))
            panel.plot(tops, 1.3 * np.interp(tops, frequency, amplitude) / factor, "v", markersize=4, color=look(k)["color"],
                       markerfacecolor="white", zorder=3)  # fmt: skip
        reach = max(_reach(frequency, amplitude, largest) for _, frequency, amplitude in spectra)
        panel.set_ylim(max(DEPTH * largest, 0.5 * _ground(spectra, reach)) / factor, 3.0 * largest / factor)
        panel.set_xlim(0.0, reach)
        panel.set(xlabel="frequency, Hz", ylabel=f"amplitude of {quantity}, {name_of_unit}")
        legend(panel, left_out=len(spectra) - MOST_LINES)
    panels[0, 0].set_title(f"{result.name}: spectrum over {result.time[-1] - result.time[0]:.4g} s")
    return made


def amplitudes(time: Floats, series: Floats) -> tuple[Floats, Floats]:
    """(frequency in Hz, amplitude): mean removed, Hann window, scaled so that a steady sine shows its amplitude.

    Unevenly spaced rows are first interpolated to the same number of evenly spaced ones.
    """
    time, series = time[np.isfinite(series)], series[np.isfinite(series)]
    if len(time) < FEWEST_SAMPLES:
        raise ModelError.of("plot spectrum", "result", f"must have at least {FEWEST_SAMPLES} finite rows", len(time))
    count = min(len(time), MOST_SAMPLES)
    even = np.linspace(time[0], time[-1], count)
    sampled = np.interp(even, time, series)
    window = np.hanning(count)
    weighted = (sampled - np.average(sampled, weights=window)) * window
    step = (time[-1] - time[0]) / (count - 1)
    return np.fft.rfftfreq(count, step), 2.0 * np.abs(np.fft.rfft(weighted)) / np.sum(window)


def peaks(frequency: Floats, amplitude: Floats) -> list[float]:
    """Frequencies of the strongest genuine peaks, Hz, the strongest first.

    A peak is a line that is higher than both neighbours and well above the level beside it; a slope or the trend of a short run is
    not. Its frequency between two lines is the maximum of the parabola through the logarithms of three amplitudes.
    """
    level = np.log(np.maximum(amplitude, np.finfo(np.float64).tiny))
    inner = np.arange(FIRST_LINE, len(level) - 1)
    tops = inner[(level[inner] > level[inner - 1]) & (level[inner] >= level[inner + 1])]
    found = [int(k) for k in tops if amplitude[k] > FAINT * np.max(amplitude[FIRST_LINE:]) and _stands_out(level, int(k))]
    strongest = sorted(found, key=lambda k: -amplitude[k])[:MOST_PEAKS]
    return [float((k + _offset(level[k - 1 : k + 2])) * frequency[1]) for k in strongest]


def _stands_out(level: Floats, k: int) -> bool:
    """Whether the spectrum falls well below a line on both sides before it rises above it."""
    for side in (level[k - 1 :: -1], level[k + 1 :]):
        higher = np.flatnonzero(side > level[k])
        ground = side[: higher[0]] if higher.size else side
        if not ground.size or level[k] - np.min(ground) < np.log(PROMINENCE):
            return False
    return True


def _offset(three: Floats) -> float:
    """The position of the maximum between lines, -0.5 to 0.5."""
    curvature = float(three[0] - 2.0 * three[1] + three[2])
    return 0.5 * float(three[0] - three[2]) / curvature if curvature < 0.0 else 0.0


def _peaks_in_words(frequency: Floats, amplitude: Floats) -> str:
    tops = peaks(frequency, amplitude)
    return f"peaks at {', '.join(f'{top:.4g}' for top in tops)} Hz" if tops else "no peak"


def _ground(spectra: Sequence[tuple[str, Floats, Floats]], reach: float) -> float:
    """The lowest amplitude of all lines that are shown."""
    return min(float(np.min(amplitude[1:][frequency[1:] <= reach])) for _, frequency, amplitude in spectra)


def _reach(frequency: Floats, amplitude: Floats, largest: float) -> float:
    """The last frequency with a visible amplitude."""
    seen = np.flatnonzero(amplitude > HEARD * largest)
    return float(frequency[seen[-1]]) if seen.size else float(frequency[-1])
