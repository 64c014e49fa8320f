"""Amplitudes over frequency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.results.result import Result
from pliant.show.plot.over_time import grouped, is_mode
from pliant.show.plot.style import MOST_LINES, figure, legend, look, prefixed, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

MOST_SAMPLES = 2**17
FEWEST_SAMPLES = 16
DEPTH = 1e-6  # of the largest amplitude: lines are drawn down to here
HEARD = 1e-4  # of the largest amplitude: frequencies are shown as far as any line is above this
STRONGEST = 6  # lines where the user names none


@styled
def spectrum(result: Result, names: Sequence[str] | None = None) -> Figure:
    """Amplitude spectra of coordinates, by default of the strongest mode weights, or of the joints where there are none."""
    known = list(result.labels["coordinate"])
    modes = [name for name in known if is_mode(name)]
    groups = grouped(result, list(names) if names is not None else modes or known)
    made, panels = figure(len(groups), 1, height=3.2)
    for panel, ((quantity, unit), group) in zip(panels[:, 0], groups.items(), strict=True):
        spectra = [(name, *amplitudes(result.time, result[name])) for name in group]
        if names is None:
            spectra = sorted(spectra, key=lambda one: -float(np.max(one[2])))[:STRONGEST]
        factor, name_of_unit = prefixed(unit, [amplitude for _, _, amplitude in spectra])
        largest = max(float(np.max(amplitude)) for _, _, amplitude in spectra) or 1.0
        for k, (name, frequency, amplitude) in enumerate(spectra[:MOST_LINES]):
            peak = int(np.argmax(amplitude))
            panel.semilogy(frequency[1:], np.maximum(amplitude[1:], 1e-3 * DEPTH * largest) / factor, linewidth=0.9, **look(k),
                           label=f"{name}: largest at {frequency[peak]:.4g} Hz")  # fmt: skip
        panel.set_ylim(DEPTH * largest / factor, 2.0 * largest / factor)
        panel.set_xlim(0.0, max(_reach(frequency, amplitude, largest) for _, frequency, amplitude in spectra))
        panel.set(xlabel="frequency, Hz", ylabel=f"amplitude of {quantity}, {name_of_unit}")
        legend(panel, left_out=len(spectra) - MOST_LINES)
    panels[0, 0].set_title(f"{result.name}: spectrum over {result.time[-1] - result.time[0]:.4g} s")
    return made


def amplitudes(time: Floats, series: Floats) -> tuple[Floats, Floats]:
    """(frequency in Hz, amplitude): the mean taken off, Hann's window, scaled so that a steady sine shows its amplitude.

    Rows that are not even in time are interpolated to as many that are.
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


def _reach(frequency: Floats, amplitude: Floats, largest: float) -> float:
    """The last frequency with an amplitude to be seen."""
    seen = np.flatnonzero(amplitude > HEARD * largest)
    return float(frequency[seen[-1]]) if seen.size else float(frequency[-1])
