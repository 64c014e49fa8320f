"""A number or an array with its derivatives; arithmetic propagates both by the rules of differentiation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from pliant.arrays import Floats
from pliant.scalar import OPERATOR_SLOPES, Compared, Function


class Differentiated(Compared):
    """value: a number or an array; slope: its derivatives, with the parameters as an additional last dimension."""

    __array_ufunc__ = None  # so that NumPy arrays defer to the operators here

    def __init__(self, value: Any, slope: Any) -> None:
        self.value: Floats = np.asarray(value, dtype=np.float64)
        self.slope: Floats = np.asarray(slope, dtype=np.float64)

    def _operate(self, operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
        if operation not in OPERATOR_SLOPES:  # a comparison
            return operation(_value(a), _value(b))
        return _derived(operation, OPERATOR_SLOPES[operation], a, b)

    def _of_one(self, function: Function) -> Differentiated:
        return _derived(function.of_arrays, function.slopes, self)

    def _of_two(self, function: Function, a: Any, b: Any) -> Differentiated:
        return _derived(function.of_arrays, function.slopes, a, b)

    def __neg__(self) -> Differentiated:
        return Differentiated(-self.value, -self.slope)

    # ---- of arrays

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, place: Any) -> Differentiated:
        return Differentiated(self.value[place], self.slope[place])

    def __iter__(self) -> Iterator[Differentiated]:
        return (self[k] for k in range(len(self)))

    def sum(self) -> Differentiated:
        """The sum over all entries."""
        return Differentiated(self.value.sum(), self._rows().sum(axis=0))

    def mean(self) -> Differentiated:
        """The mean over all entries."""
        return self.sum() / self.value.size

    def max(self) -> Differentiated:
        """The largest entry."""
        return self._at(int(np.argmax(self.value)))

    def min(self) -> Differentiated:
        """The smallest entry."""
        return self._at(int(np.argmin(self.value)))

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        return f"Differentiated({self.value}, slope={self.slope})"

    def _at(self, place: int) -> Differentiated:
        return Differentiated(self.value.ravel()[place], self._rows()[place])

    def _rows(self) -> Floats:
        return self.slope.reshape(-1, self.slope.shape[-1])


def _derived(function: Callable[..., Any], slopes: Sequence[Callable[..., Any]], *arguments: Any) -> Differentiated:
    """A function of arguments with and without derivatives, by the chain rule."""
    values = [np.asarray(_value(x), dtype=np.float64) for x in arguments]
    f = np.asarray(function(*values))
    pairs = [(slope, x.slope) for slope, x in zip(slopes, arguments, strict=True) if isinstance(x, Differentiated)]
    return Differentiated(f, sum(_times(np.broadcast_to(slope(f, *values), f.shape), inner) for slope, inner in pairs))


def _value(other: Any) -> Any:
    return other.value if isinstance(other, Differentiated) else other


def _times(factor: Floats, slope: Floats) -> Floats:
    """Their product; a truth value chooses, since the slope not chosen may be nan."""
    return np.where(factor[..., None], slope, 0.0) if factor.dtype == bool else factor[..., None] * slope
