"""Every number of a result's quantities by its name, as in "tip_position arm y"."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

from pliant.results.table import QUANTITIES


def component_names(quantities: Iterable[str], labels: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, int]]:
    """By name: the quantity, and the place in it."""
    names: dict[str, tuple[str, int]] = {}
    for name in quantities:
        for k, parts in enumerate(itertools.product(*(labels[d] for d in QUANTITIES[name].dims))):
            names[" ".join((name, *parts))] = (name, k)
    return names
