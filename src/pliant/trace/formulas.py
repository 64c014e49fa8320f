"""A user's formulas on traced scalars: q and v by name, and what cannot be traced told as a fault of the formula."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pliant.codegen.tracer import Scalar
from pliant.errors import ModelError
from pliant.model import check


class NamedScalars(Mapping[str, Scalar]):
    """q or v as a formula sees them: q["arm.angle"]."""

    def __init__(self, kind: str, names: Sequence[str], values: Sequence[Scalar]) -> None:
        self._kind = kind
        self._values = dict(zip(names, values, strict=True))

    def __getitem__(self, name: str) -> Scalar:
        if name not in self._values:
            known = list(self._values)
            rule = f"must name one of {known}{check.did_you_mean(name, known)}"
            raise ModelError.of("formula", self._kind, rule, name)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def called(function: Any, *arguments: Any) -> Scalar:
    """A user's formula on traced scalars; what it cannot do with them is told as a fault of the formula."""
    try:
        return function(*arguments)
    except TypeError as trouble:
        advice = TABLE if _names_in(function) & TABLES else str(trouble)
        raise ModelError(f"formula {_name(function)!r}: must be arithmetic on scalars: {advice}") from trouble
    except ModelError:
        raise
    except ValueError as trouble:  # a root or a logarithm of a number that has none
        raise ModelError(f"formula {_name(function)!r}: must have a value ({trouble})") from trouble


# Names in a formula that say that a table is read.
TABLES = {"interp", "interp1d", "CubicSpline", "PchipInterpolator", "Akima1DInterpolator", "searchsorted"}
TABLE = "a table of time is given as such instead of a formula: pl.PiecewiseLinear(times=..., values=...), smooth: pl.MotionTable"


def _names_in(function: Any) -> set[str]:
    code = getattr(function, "__code__", None)
    return set() if code is None else {*code.co_names, *code.co_freevars}


def _name(function: Any) -> str:
    return getattr(function, "text", "") or getattr(function, "__qualname__", repr(function))
