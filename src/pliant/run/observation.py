"""The quantities of a mechanism at one time, read by the names of a result's quantities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.results.reading import find
from pliant.results.table import QUANTITIES
from pliant.run.observed import parted
from pliant.trace.layout import WORKS

if TYPE_CHECKING:
    from pliant.trace.traced_system import TracedSystem


class Observation(Mapping[str | tuple[str, ...], Any]):
    """All quantities at one time, by the names of a result: observation["arm.angle"] is a coordinate or a state,
    observation["tip_position"] a quantity, observation["v", "arm.angle"] and observation["tip_position", "arm", "x"] parts of one.

    The array of a quantity is laid out by the labels of its dimensions, like a row of a result; a quantity without dimensions is a
    number.
    """

    __slots__ = ("_observed", "_traced", "_y", "t")

    def __init__(self, traced: TracedSystem, t: float, y: Floats, observed: Floats) -> None:
        self._traced, self.t, self._y, self._observed = traced, t, y, observed

    def __eq__(self, other: object) -> bool:
        """Whether all numbers, and their names, are the same."""
        if not isinstance(other, Observation):
            return NotImplemented
        same = self.t == other.t and self.labels == other.labels and np.array_equal(self._y, other._y, equal_nan=True)
        return bool(same and np.array_equal(self._observed, other._observed, equal_nan=True))

    __hash__ = object.__hash__  # by identity, because it contains arrays

    def __reduce__(self) -> tuple[Any, ...]:
        rule = "must not be pickled: dict(observation) has the same arrays, and can be"
        raise ModelError.of("observation", "values", rule, self.t)

    def __copy__(self) -> Observation:
        return Observation(self._traced, self.t, self._y.copy(), self._observed.copy())

    def __deepcopy__(self, memo: dict[int, Any]) -> Observation:
        return self.__copy__()

    @property
    def labels(self) -> Mapping[str, tuple[str, ...]]:
        """The labels of every dimension, as in a result."""
        return self._traced.columns

    def __getitem__(self, key: str | tuple[str, ...]) -> Any:
        name, places = find("observation", key, self.labels)
        values = self.quantity(name)
        return values[places] if places else values

    def __iter__(self) -> Iterator[str]:
        """The names of quantities; keys that read parts of them are not listed."""
        return iter(QUANTITIES)

    def __len__(self) -> int:
        return len(QUANTITIES)

    def quantity(self, name: str) -> Any:
        """A whole quantity, also one whose name is that of a state."""
        layout, traced = self._traced.layout, self._traced
        if name in ("q", "v"):
            free, own, prescribed, moved = parted(traced, name)
            if not prescribed:
                return self._y[own]
            whole = np.empty(len(free) + len(prescribed))
            whole[free], whole[prescribed] = self._y[own], self._observed[moved]
            return whole
        if name == "work":
            return self._y[layout.y[WORKS]]
        if name == "states":
            return self._y[layout.states]
        shape = tuple(len(traced.columns[d]) for d in QUANTITIES[name].dims)
        values = self._observed[layout.observed[name]]
        return values.reshape(shape) if shape else float(values[0])
