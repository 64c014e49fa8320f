"""What the observer of a System writes, by the names of the result's table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.results.table import OBSERVED, QUANTITIES

if TYPE_CHECKING:
    from pliant.trace.tracing import TracedSystem


def columns_of(traced: TracedSystem) -> dict[str, slice]:
    """Where each observed quantity stands in what the observer writes."""
    columns, offset = {}, 0
    for name in OBSERVED:
        width = math.prod(len(traced.columns[d]) for d in QUANTITIES[name].dims)
        columns[name] = slice(offset, offset + width)
        offset += width
    return columns


def values_of(
    traced: TracedSystem, times: NDArray[np.float64], states: NDArray[np.float64], observed: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """States and observed quantities, by the names of the table; prescribed coordinates come from the observer's tail."""
    labels, columns = traced.columns, columns_of(traced)
    values = {"q": np.empty((times.size, len(labels["coordinate"]))), "v": np.empty((times.size, len(labels["rate"])))}
    n_q, n_v = len(traced.free_q), len(traced.free_v)
    works = traced.n_controlled
    values["q"][:, traced.free_q] = states[:, :n_q]
    values["v"][:, traced.free_v] = states[:, n_q : n_q + n_v]
    values["work"] = states[:, works : works + len(traced.sources)]
    for name, place in columns.items():
        shape = tuple(len(labels[d]) for d in QUANTITIES[name].dims)
        values[name] = observed[:, place].reshape((times.size, *shape))
    prescribed, tail = traced.tree.prescribed, observed[:, columns[OBSERVED[-1]].stop :]
    for k, coordinate in enumerate(prescribed):
        values["q"][:, coordinate.q], values["v"][:, coordinate.v] = tail[:, k], tail[:, len(prescribed) + k]
    return {name: values[name] for name in QUANTITIES}


def component_name(traced: TracedSystem, k: int) -> str:
    """What a component of the state is, in words."""
    names = [traced.tree.positions[i] for i in traced.free_q] + [f"the rate of {traced.tree.rates[i]}" for i in traced.free_v]
    names += [f"bristle {i} of friction" for i in range(traced.n_bristles)] + [f"the work of {name}" for name in traced.sources]
    names += [f"the impulse of {slots.pair.name}" for slots in traced.pairs]
    return names[k]
