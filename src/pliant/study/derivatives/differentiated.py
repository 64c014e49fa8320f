"""A number or an array with its derivatives; arithmetic propagates both by the rules of differentiation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Differentiated:
    """value: a number or an array; slope: its derivatives, with the parameters as an additional last dimension."""

    __array_ufunc__ = None  # so that NumPy arrays defer to the operators here

    def __init__(self, value: Any, slope: Any) -> None:
        self.value: Floats = np.asarray(value, dtype=np.float64)
        self.slope: Floats = np.asarray(slope, dtype=np.float64)

    # ---- arithmetic

    def __add__(self, other: Any) -> Differentiated:
        value, slope = _parts(other, self)
        return Differentiated(self.value + value, self.slope + slope)

    def __sub__(self, other: Any) -> Differentiated:
        value, slope = _parts(other, self)
        return Differentiated(self.value - value, self.slope - slope)

    def __mul__(self, other: Any) -> Differentiated:
        value, slope = _parts(other, self)
        return Differentiated(self.value * value, _times(value, self.slope) + _times(self.value, slope))

    def __truediv__(self, other: Any) -> Differentiated:
        value, slope = _parts(other, self)
        ratio = self.value / value
        return Differentiated(ratio, _times(1.0 / value, self.slope - _times(ratio, slope)))

    def __pow__(self, power: Any) -> Differentiated:
        if isinstance(power, Differentiated):
            return self._exp(power * self.log())
        return self._of(self.value**power, power * self.value ** (power - 1.0))

    def __rpow__(self, base: Any) -> Differentiated:
        return self._exp(self * float(np.log(base)))

    def __rsub__(self, other: Any) -> Differentiated:
        return (-self).__add__(other)

    def __rtruediv__(self, other: Any) -> Differentiated:
        return self.__pow__(-1.0).__mul__(other)

    def __neg__(self) -> Differentiated:
        return Differentiated(-self.value, -self.slope)

    def __abs__(self) -> Differentiated:
        return self.fabs()

    __radd__, __rmul__ = __add__, __mul__

    # ---- comparisons, of values

    def __lt__(self, other: Any) -> Any:
        return self.value < _value(other)

    def __le__(self, other: Any) -> Any:
        return self.value <= _value(other)

    def __gt__(self, other: Any) -> Any:
        return self.value > _value(other)

    def __ge__(self, other: Any) -> Any:
        return self.value >= _value(other)

    # ---- functions, by the method names that pliant's functions call (`scalar`)

    def sin(self) -> Differentiated:
        return self._of(np.sin(self.value), np.cos(self.value))

    def cos(self) -> Differentiated:
        return self._of(np.cos(self.value), -np.sin(self.value))

    def tan(self) -> Differentiated:
        return self._of(np.tan(self.value), np.cos(self.value) ** -2.0)

    def arcsin(self) -> Differentiated:
        return self._of(np.arcsin(self.value), (1.0 - self.value**2) ** -0.5)

    def arccos(self) -> Differentiated:
        return self._of(np.arccos(self.value), -((1.0 - self.value**2) ** -0.5))

    def arctan(self) -> Differentiated:
        return self._of(np.arctan(self.value), 1.0 / (1.0 + self.value**2))

    def sinh(self) -> Differentiated:
        return self._of(np.sinh(self.value), np.cosh(self.value))

    def cosh(self) -> Differentiated:
        return self._of(np.cosh(self.value), np.sinh(self.value))

    def tanh(self) -> Differentiated:
        return self._of(np.tanh(self.value), 1.0 - np.tanh(self.value) ** 2)

    def exp(self) -> Differentiated:
        return self._of(np.exp(self.value), np.exp(self.value))

    def log(self) -> Differentiated:
        return self._of(np.log(self.value), 1.0 / self.value)

    def sqrt(self) -> Differentiated:
        return self**0.5

    def fabs(self) -> Differentiated:
        return self._of(np.abs(self.value), np.sign(self.value))

    def fmax(self, other: Any) -> Differentiated:
        return self._chosen(other, np.greater_equal)

    def fmin(self, other: Any) -> Differentiated:
        return self._chosen(other, np.less_equal)

    def hypot(self, other: Any) -> Differentiated:
        squares: Differentiated = self**2 + other * other
        return squares.sqrt()

    # ---- of arrays

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, place: Any) -> Differentiated:
        return Differentiated(self.value[place], self.slope[place])

    def __iter__(self) -> Iterator[Differentiated]:
        return (self[k] for k in range(len(self)))

    def sum(self) -> Differentiated:
        return Differentiated(self.value.sum(), self._rows().sum(axis=0))

    def mean(self) -> Differentiated:
        return self.sum() / self.value.size

    def max(self) -> Differentiated:
        return self._at(int(np.argmax(self.value)))

    def min(self) -> Differentiated:
        return self._at(int(np.argmin(self.value)))

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        return f"Differentiated({self.value}, slope={self.slope})"

    @staticmethod
    def _exp(power: Differentiated) -> Differentiated:
        return power.exp()

    def _at(self, place: int) -> Differentiated:
        return Differentiated(self.value.ravel()[place], self._rows()[place])

    def _rows(self) -> Floats:
        return self.slope.reshape(-1, self.slope.shape[-1])

    def _of(self, value: Any, derivative: Any) -> Differentiated:
        return Differentiated(value, _times(derivative, self.slope))

    def _chosen(self, other: Any, holds: Callable[..., Any]) -> Differentiated:
        value, slope = _parts(other, self)
        mine = holds(self.value, value)
        return Differentiated(np.where(mine, self.value, value), np.where(np.asarray(mine)[..., None], self.slope, slope))


def _parts(other: Any, like: Differentiated) -> tuple[Floats, Floats]:
    """Value and derivatives; those of a plain number are zero."""
    if isinstance(other, Differentiated):
        return other.value, other.slope
    value = np.asarray(other, dtype=np.float64)
    return value, np.zeros((*value.shape, like.slope.shape[-1]))


def _value(other: Any) -> Any:
    return other.value if isinstance(other, Differentiated) else other


def _times(factor: Any, slope: Floats) -> Floats:
    return np.asarray(np.asarray(factor)[..., None] * slope)
