"""The cases of a sweep: all combinations of axes, a list, or a sample from distributions."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from numbers import Integral, Real
from typing import Any

import numpy as np

from pliant.errors import ModelError
from pliant.model import check
from pliant.scalar import ArrayOf
from pliant.study.sweep.distributions import quantile

Value = float | int | bool | str
Case = dict[str, Value]

CASE = "case"  # the dimension of a list or a sample
METHODS = ("latin-hypercube", "sobol")
MOST_CASES = 10_000_000


@dataclass(frozen=True)
class Grid:
    """All combinations of the values of named axes; each axis becomes a dimension, and the last one varies fastest."""

    axes: Mapping[str, ArrayOf[Value]]

    def __post_init__(self) -> None:
        if not isinstance(self.axes, Mapping) or not self.axes:
            raise ModelError.of(
                "Grid", "axes", "must be a mapping with at least one axis, such as {'payload': [0.1, 0.2]}", self.axes
            )
        axes = {_name("Grid", name): _values("Grid", name, values) for name, values in self.axes.items()}
        for name, values in axes.items():
            if len(set(values)) < len(values):
                raise ModelError.of("Grid", f"axis {name!r}", "must hold each value once", list(values))
        object.__setattr__(self, "axes", axes)
        if len(self) > MOST_CASES:
            raise ModelError.of("Grid", "axes", f"must have at most {MOST_CASES} combinations", len(self))

    @property
    def dims(self) -> dict[str, int]:
        """The length of every dimension."""
        return {name: len(values) for name, values in self.axes.items()}

    @property
    def columns(self) -> dict[str, tuple[str, tuple[Value, ...]]]:
        """For every number, its dimension and its values along it."""
        return {name: (name, tuple(values)) for name, values in self.axes.items()}

    def __len__(self) -> int:
        return math.prod(self.dims.values())

    def __iter__(self) -> Iterator[Case]:
        return (dict(zip(self.axes, values, strict=True)) for values in product(*self.axes.values()))

    def to_json(self) -> dict[str, Any]:
        """As data of JSON."""
        return {"kind": "grid", "axes": {name: list(values) for name, values in self.axes.items()}}


@dataclass(frozen=True)
class Cases:
    """A list of cases, each a mapping of the same names to values; its dimension is `case`."""

    cases: Sequence[Mapping[str, Value]]

    def __post_init__(self) -> None:
        cases = list(self.cases) if isinstance(self.cases, Sequence) else []
        if not cases or not all(isinstance(case, Mapping) and case for case in cases):
            raise ModelError.of("Cases", "cases", "must be a list of mappings such as [{'payload': 0.1}]", self.cases)
        names = list(cases[0])
        for k, case in enumerate(cases):
            if set(case) != set(names):
                raise ModelError.of("Cases", f"cases[{k}]", f"must have values for {names}, as the first one does", list(case))
        columns = {_name("Cases", name): _values("Cases", name, [case[name] for case in cases]) for name in names}
        object.__setattr__(self, "cases", tuple({name: columns[name][k] for name in names} for k in range(len(cases))))

    @property
    def dims(self) -> dict[str, int]:
        """The length of its one dimension."""
        return {CASE: len(self.cases)}

    @property
    def columns(self) -> dict[str, tuple[str, tuple[Value, ...]]]:
        """For every number, its dimension and its values along it."""
        return {name: (CASE, tuple(case[name] for case in self.cases)) for name in self.cases[0]}

    def __len__(self) -> int:
        return len(self.cases)

    def __iter__(self) -> Iterator[Case]:
        return (dict(case) for case in self.cases)

    def to_json(self) -> dict[str, Any]:
        """As data of JSON."""
        return {"kind": "cases", "columns": {name: list(values) for name, (_, values) in self.columns.items()}}


@dataclass(frozen=True)
class Sample(Cases):
    """`count` cases drawn from distributions and evenly spread, by a Latin hypercube or a Sobol sequence.

    distributions: ("uniform", low, high), ("loguniform", low, high), ("normal", mean, deviation), ("truncated_normal", mean,
    deviation, low, high), ("lognormal", median, deviation of the logarithm), ("triangular", low, mode, high), or a distribution of
    scipy.stats. The same seed gives the same cases; with a Sobol sequence, a larger sample begins with the cases of a smaller one.
    """

    cases: Sequence[Mapping[str, Value]] = field(init=False)
    distributions: Mapping[str, Any]
    count: int
    method: str = "latin-hypercube"
    seed: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.distributions, Mapping) or not self.distributions:
            rule = "must be a mapping such as {'payload': ('uniform', 0.1, 1.0)}"
            raise ModelError.of("Sample", "distributions", rule, self.distributions)
        check.count("Sample", "count", self.count)
        if self.count > MOST_CASES:
            raise ModelError.of("Sample", "count", f"must be <= {MOST_CASES}", self.count)
        check.choice("Sample", "method", self.method, METHODS)
        if isinstance(self.seed, bool) or not isinstance(self.seed, Integral) or self.seed < 0:
            raise ModelError.of("Sample", "seed", "must be a whole number >= 0", self.seed)
        columns = {}
        for share, (name, given) in zip(self._shares().T, self.distributions.items(), strict=True):
            columns[name] = [float(x) for x in quantile("Sample", f"distribution of {name!r}", given)(share)]
        object.__setattr__(
            self, "cases", [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        )
        super().__post_init__()

    def _shares(self) -> Any:
        """Points in the unit cube, (case, number)."""
        from scipy.stats import qmc

        kind = qmc.Sobol if self.method == "sobol" else qmc.LatinHypercube
        random = "rng" if "rng" in inspect.signature(kind.__init__).parameters else "seed"  # "seed" in older versions of scipy
        engine = kind(len(self.distributions), **{random: np.random.default_rng(int(self.seed))})
        if self.method == "sobol":  # balanced at powers of two; other counts take the first points of the next power
            return engine.random_base2(max(self.count - 1, 0).bit_length())[: self.count]
        return engine.random(self.count)


Over = Grid | Cases


def over_of(given: Any) -> Over:
    """A mapping of axes is a grid, a list of mappings is a list of cases."""
    if isinstance(given, (Grid, Cases)):
        return given
    if isinstance(given, Mapping):
        return Grid(given)
    if isinstance(given, Sequence) and not isinstance(given, str):
        return Cases(given)
    raise ModelError.of("sweep", "over", "must be a mapping of axes, a list of cases, a Grid, Cases or a Sample", given)


def union(one: Over, other: Over, cases: Iterable[Case], default: Callable[[Case, str], Any]) -> Over:
    """All cases of both: a grid if they fill one, else a list. default: what a case has for a number that it does not name."""
    listed = list(cases)
    if isinstance(one, Grid) and isinstance(other, Grid) and set(one.axes) == set(other.axes):
        whole = Grid({name: list(dict.fromkeys((*values, *other.axes[name]))) for name, values in one.axes.items()})
        if len(whole) == len(listed):
            return whole
    names = dict.fromkeys((*one.columns, *other.columns))
    return Cases([{name: case[name] if name in case else default(case, name) for name in names} for case in listed])


def from_json(data: Mapping[str, Any]) -> Over:
    if data["kind"] == "grid":
        return Grid(data["axes"])
    columns: Mapping[str, ArrayOf[Value]] = data["columns"]
    return Cases([dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)])


def _name(part: str, name: Any) -> str:
    if not isinstance(name, str) or not name.isidentifier() or name == CASE:
        rule = f"must be a name of letters, digits and _, other than {CASE!r}"
        raise ModelError.of(part, "name", rule, name)
    return name


def _values(part: str, name: str, given: Any) -> tuple[Value, ...]:
    """Numbers (integers stay integers), or strings and booleans, which only functions take; one kind per axis."""
    listed = isinstance(given, Sequence) and not isinstance(given, str)
    if not listed and not (isinstance(given, np.ndarray) and given.ndim == 1):
        raise ModelError.of(part, f"axis {name!r}", "must be a list of values", given)
    values = tuple(_value(part, name, value) for value in given)
    if not values:
        raise ModelError.of(part, f"axis {name!r}", "must hold at least one value", list(values))
    kinds = {type(value) for value in values}
    if kinds == {int, float}:
        return tuple(float(value) for value in values)
    if len(kinds) > 1:
        raise ModelError.of(part, f"axis {name!r}", "must hold values of one kind", list(values))
    return values


def _value(part: str, name: str, value: Any) -> Value:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, str):
        check.visible(part, f"axis {name!r}", value)
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return check.number(part, f"axis {name!r}", float(value))
    raise ModelError.of(part, f"axis {name!r}", "must hold numbers (or strings, for a function that takes them)", value)
