"""The observed numbers of a System by the names of the result's table of quantities."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.arrays import Floats, Ints
from pliant.results.table import OBSERVED, QUANTITIES, STATES
from pliant.trace.layout import POSITIONS, PRESCRIBED_POSITIONS, PRESCRIBED_RATES, RATES, WORKS

if TYPE_CHECKING:
    from pliant.trace.traced_system import TracedSystem


def parted(traced: TracedSystem, name: str) -> tuple[list[int], slice, list[int], slice]:
    """Of coordinates ("q") or rates ("v"): which are integrated, where in y; which are prescribed, where in the observed row."""
    layout, prescribed = traced.layout, traced.tree.prescribed
    if name == "q":
        moved = layout.observed[PRESCRIBED_POSITIONS]
        return list(traced.free_q), layout.y[POSITIONS], [coordinate.q for coordinate in prescribed], moved
    return list(traced.free_v), layout.y[RATES], [coordinate.v for coordinate in prescribed], layout.observed[PRESCRIBED_RATES]


def values_of(
    traced: TracedSystem,
    times: Floats,
    states: Floats,
    observed: Floats,
    names: Collection[str] = tuple(QUANTITIES),
) -> dict[str, Floats]:
    """States and observed quantities by the names of the table; prescribed coordinates come from the end of the observed row.

    names: the wanted quantities; all by default.
    """
    labels, layout = traced.columns, traced.layout
    values: dict[str, Floats] = {}
    for name in {"q", "v"}.intersection(names):
        free, own, prescribed, moved = parted(traced, name)
        values[name] = np.empty((times.size, len(free) + len(prescribed)))
        values[name][:, free] = states[:, own]
        values[name][:, prescribed] = observed[:, moved]
    if "work" in names:
        values["work"] = states[:, layout.y[WORKS]]
    if "states" in names:
        values["states"] = states[:, layout.states]
    for name in OBSERVED:
        if name in names:
            shape = tuple(len(labels[d]) for d in QUANTITIES[name].dims)
            values[name] = observed[:, layout.observed[name]].reshape((times.size, *shape))
    return {name: values[name] for name in QUANTITIES if name in names}


def needs_observer(traced: TracedSystem, names: Collection[str]) -> bool:
    """Whether any of these quantities is not part of the integrated state."""
    return any(name in OBSERVED for name in names) or bool(traced.tree.prescribed and {"q", "v"}.intersection(names))


def columns_of(traced: TracedSystem, quantities: Sequence[str]) -> dict[str, Ints]:
    """The flat places of each quantity: in the observed row, or -1 - i for component i of the state."""
    layout, places = traced.layout, {}
    for name in quantities:
        if name not in STATES:
            places[name] = np.arange(layout.observed[name].start, layout.observed[name].stop)
        elif name in ("work", "states"):
            own = layout.y[WORKS] if name == "work" else layout.states
            places[name] = -1 - np.arange(own.start, own.stop)
        else:
            free, own, prescribed, moved = parted(traced, name)
            places[name] = place = np.empty(len(free) + len(prescribed), dtype=np.int64)
            place[free] = -1 - np.arange(own.start, own.stop)
            place[prescribed] = np.arange(moved.start, moved.stop)
    return places


def component_name(traced: TracedSystem, k: int) -> str:
    """The name of a component of the state, for messages."""
    return [label for owner in traced.states for label in owner.labels][k]
