"""Every number of a result's quantities by its name, as in "tip_position arm y"."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pliant.results.table import QUANTITIES


def component_names(quantities: Iterable[str], labels: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, int]]:
    """By name: the quantity, and the place in it."""
    return {" ".join((name, *parts)): (name, k) for name, parts, k in _components(quantities, labels)}


def components_of(wanted: str, quantities: Iterable[str], labels: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, int]]:
    """Those that a name selects, as in "tip_position arm", by whole labels: the tip of `arm payload` is not among them."""
    return {
        " ".join((name, *parts)): (name, k)
        for name, parts, k in _components(quantities, labels)
        if any(wanted == " ".join((name, *parts[:n])) for n in range(len(parts) + 1))
    }


def _components(quantities: Iterable[str], labels: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """Every number: its quantity, its labels and its place."""
    for name in quantities:
        for k, parts in enumerate(itertools.product(*(labels[d] for d in QUANTITIES[name].dims))):
            yield name, parts, k
