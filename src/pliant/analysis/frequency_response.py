"""Frequency response: steady outputs for sinusoidal inputs, G(i w)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.analysis.linear_matrices import LinearMatrices
from pliant.analysis.modes import modes_of
from pliant.arrays import Complexes, Floats
from pliant.errors import ModelError
from pliant.scalar import Numbers

POINTS = 400  # number of frequencies by default
AROUND = 10.0  # default range: this factor below the slowest and above the fastest mode


@dataclass(frozen=True, repr=False, eq=False)
class FrequencyResponse:
    """Complex amplitudes of the outputs for sinusoidal inputs of unit amplitude."""

    name: str
    frequencies: Floats  # rad/s
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    values: Complexes  # indexed by frequency, output, input
    warnings: tuple[str, ...] = ()  # what to know before believing the numbers

    @property
    def magnitude(self) -> Floats:
        """The amplitude of every output per unit of every input."""
        return np.abs(self.values)

    @property
    def phase(self) -> Floats:
        """Phase angles, rad, unwrapped along the frequencies."""
        return np.asarray(np.unwrap(np.angle(self.values), axis=0))

    def of(self, output: str, input: str) -> Complexes:
        """The response of one output to one input, over the frequencies."""
        for field, name, known in (("output", output, self.outputs), ("input", input, self.inputs)):
            if name not in known:
                raise ModelError.of("frequency response", field, f"must be one of {list(known)}", name)
        return np.asarray(self.values[:, self.outputs.index(output), self.inputs.index(input)])

    def __repr__(self) -> str:
        return (f"<FrequencyResponse {self.name!r}: {len(self.outputs)} outputs, {len(self.inputs)} inputs, "
                f"{len(self.frequencies)} frequencies>")  # fmt: skip


def frequency_response(linear: LinearMatrices, frequencies: Numbers | None) -> FrequencyResponse:
    if not linear.inputs:
        rule = "must have at least one: linearise(system, inputs=[...])"
        raise ModelError.of("frequency response", "inputs", rule, list(linear.inputs))
    chosen = _around(linear) if frequencies is None else _checked(frequencies)
    n = len(linear.A)
    values = np.empty((chosen.size, len(linear.outputs), len(linear.inputs)), dtype=np.complex128)
    for k, w in enumerate(chosen):
        try:
            values[k] = linear.C @ np.linalg.solve(1j * w * np.eye(n) - linear.A, linear.B) + linear.D
        except np.linalg.LinAlgError:  # the frequency is exactly that of an undamped mode
            values[k] = np.inf
    return FrequencyResponse(linear.name, chosen, linear.inputs, linear.outputs, values, linear.warnings)


def _checked(frequencies: Numbers) -> Floats:
    try:
        chosen = np.atleast_1d(np.asarray(frequencies, dtype=np.float64))
    except (TypeError, ValueError):
        chosen = np.array([np.nan])
    if chosen.ndim != 1 or not np.all(np.isfinite(chosen)) or np.any(chosen < 0.0):
        raise ModelError.of("frequency response", "frequencies", "must be finite and >= 0 rad/s", frequencies)
    return chosen


def _around(linear: LinearMatrices) -> Floats:
    """Logarithmically spaced frequencies, from below the slowest to above the fastest mode."""
    modes = modes_of(linear).frequencies
    moving = modes[modes > 0.0]
    low, high = (float(moving[0]), float(moving[-1])) if moving.size else (1.0, 1.0)
    return np.geomspace(low / AROUND, high * AROUND, POINTS)
