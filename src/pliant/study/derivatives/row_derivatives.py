"""Derivatives of the quantities of a result, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.arrays import Floats
from pliant.codegen.directional_kernel import from_lanes
from pliant.integrate.replay.variation import derivatives_of_rows
from pliant.results.table import QUANTITIES, STATES
from pliant.run.observed import parted
from pliant.trace.layout import WORKS

if TYPE_CHECKING:
    from pliant.study.derivatives.saltation import Walk


def row_derivatives(walk: Walk, times: Floats, states: Floats, names: Sequence[str]) -> dict[str, Floats]:
    """Derivatives by name: (row, ..., theta). times and states: those of the rows, all of which the walk was asked for."""
    traced, m = walk.traced, walk.directions
    layout, labels = traced.layout, traced.columns
    columns = {name: layout.observed[name] for name in names if name not in STATES}
    if traced.tree.prescribed:
        columns |= {name: parted(traced, name)[3] for name in ("q", "v") if name in names}
    wanted = tuple(k for own in columns.values() for k in range(own.start, own.stop))
    observed = np.empty((times.size, len(wanted), m))
    tangents = np.empty((times.size, traced.y0.size, m))
    done = 0
    for phase in walk.phases:
        # several rows may have the same time, where the bristles of a contact were reset to zero
        end = int(np.searchsorted(times, phase.times[-1], side="right")) if phase.times.size else done
        if end <= done:
            continue
        at = np.searchsorted(phase.times, times[done:end])
        lanes = phase.tangents[at]
        tangents[done:end] = from_lanes(lanes)[:, : traced.y0.size, :m]
        if wanted:
            kernel = walk.kernel("observe", wanted)
            observed[done:end] = derivatives_of_rows(kernel, times[done:end], states[done:end], phase.p, lanes, phase.dp, m)
        done = end
    return _by_name(walk, names, columns, tangents[:done], observed[:done], labels)


def _by_name(walk: Walk, names: Sequence[str], columns: dict[str, slice], tangents: Floats, observed: Floats,
             labels: dict[str, tuple[str, ...]]) -> dict[str, Floats]:  # fmt: skip
    traced, y = walk.traced, walk.traced.layout.y
    rows, m = len(tangents), walk.directions
    parts: dict[str, Floats] = {}
    first = 0
    for name, own in columns.items():
        parts[name] = observed[:, first : first + own.stop - own.start]
        first += own.stop - own.start
    values: dict[str, Floats] = {}
    for name in names:
        if name == "work":
            values[name] = tangents[:, y[WORKS]]
        elif name == "states":
            values[name] = tangents[:, traced.layout.states]
        elif name in STATES:
            free, own, prescribed, _ = parted(traced, name)
            values[name] = np.zeros((rows, len(free) + len(prescribed), m))
            values[name][:, free] = tangents[:, own]
            if prescribed:
                values[name][:, prescribed] = parts[name]
        else:
            shape = tuple(len(labels[d]) for d in QUANTITIES[name].dims)
            values[name] = parts[name].reshape(rows, *shape, m)
    return values
