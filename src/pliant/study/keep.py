"""The parts of every Result that a sweep keeps: quantities and coordinates by name, functions of the Result, or the Result."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.model.check import did_you_mean
from pliant.model.system import System
from pliant.results.result import Result
from pliant.results.table import QUANTITIES
from pliant.study.fingerprint import fingerprint
from pliant.study.over import CASE

RESULT = "result"  # keeps the whole Result
OK, MESSAGE, WARNINGS, BALANCE = "ok", "message", "warnings", "balance_error"  # kept for every case
FACTS = (OK, MESSAGE, WARNINGS, BALANCE)
TIME, KEY = "time", "key"  # KEY is the name of a case in its batch
OWN_DIMENSIONS = (TIME, *dict.fromkeys(d for quantity in QUANTITIES.values() for d in quantity.dims))
TAKEN = (*FACTS, RESULT, KEY, CASE, *OWN_DIMENSIONS)  # reserved names
DEFAULT = ("q", "tip_position", "tip_deflection", "normal_force")

What = str | Callable[[Result], Any]
Coordinate = NDArray[Any] | None  # numbers or names along a dimension, if it has any


@dataclass(frozen=True)
class Piece:
    """An array kept of one Result."""

    dims: tuple[str, ...]
    values: NDArray[np.float64]
    coordinates: Mapping[str, Coordinate]  # by dimension
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Keep:
    """The results to keep, by name."""

    what: Mapping[str, What]
    whole: bool  # whether the whole Result is kept too

    @property
    def identity(self) -> str:
        return fingerprint("sweep", "keep", [sorted(self.what.items()), self.whole])

    @property
    def names(self) -> list[str]:
        return [*self.what, *([RESULT] if self.whole else [])]

    def check(self, system: System) -> None:
        """Raise an error for names that this System does not have."""
        coordinates = [f"{link.name}.{name}" for link in system.links.values() for name in link.positions]
        for what in self.what.values():
            if isinstance(what, str) and what not in QUANTITIES and what not in coordinates:
                known = [*QUANTITIES, *coordinates, RESULT]
                rule = f"must name a quantity ({', '.join(QUANTITIES)}), a coordinate ({', '.join(coordinates)}) or {RESULT!r}"
                raise ModelError.of("sweep", "keep", f"{rule}{did_you_mean(what, known)}", what)

    def pieces(self, result: Result) -> tuple[dict[str, Piece], list[str]]:
        """The available pieces, and a sentence for each that is not available."""
        pieces: dict[str, Piece] = {}
        troubles: list[str] = []
        for name, what in self.what.items():
            try:
                piece = _piece(name, what, result)
            except Exception as trouble:  # a user-defined function may fail for some Results
                troubles.append(f"keep {name!r}: {type(trouble).__name__}: {trouble}")
            else:
                if piece.values.size:
                    pieces[name] = piece
        return pieces, troubles


def keep_of(given: Any) -> Keep:
    """A name, a function, a list of these, or a mapping of names to them; by default positions, deflections and contact forces."""
    if given is None:
        given = DEFAULT
    if isinstance(given, str) or callable(given):
        given = (given,)
    if not isinstance(given, Mapping):
        given = _named(given) if isinstance(given, Iterable) else {"": given}
    what = {name: wanted for name, wanted in given.items() if wanted != RESULT}
    if not given:
        raise ModelError.of("sweep", "keep", "must name at least one thing to keep of each result", given)
    for name, wanted in what.items():
        if not isinstance(wanted, str) and not callable(wanted):
            raise ModelError.of("sweep", "keep", "must hold names of quantities and functions of a Result", wanted)
        if not isinstance(name, str) or not name or "/" in name or name in TAKEN:
            rule = f"must use a name without '/' and other than {', '.join(TAKEN)}: keep={{'name': ...}}"
            raise ModelError.of("sweep", "keep", rule, name)
    return Keep(what, len(what) < len(given))


def _named(given: Iterable[Any]) -> dict[str, Any]:
    """A mapping by name; functions are kept under their own names."""
    named: dict[str, Any] = {}
    for wanted in given:
        name = wanted if isinstance(wanted, str) else getattr(wanted, "__name__", "")
        if not name.isidentifier() and callable(wanted):
            raise ModelError.of("sweep", "keep", "must name a function that has no name: keep={'peak': lambda result: ...}", wanted)
        if name in named:
            raise ModelError.of("sweep", "keep", "must use each name once", name)
        named[name] = wanted
    return named


def _piece(name: str, what: What, result: Result) -> Piece:
    if not isinstance(what, str):
        return _of_value(name, what(result), result)
    if what in QUANTITIES:
        quantity = QUANTITIES[what]
        labels = {d: np.array(list(result.labels[d]), dtype=object) for d in quantity.dims}
        attributes = {"units": quantity.unit, "long_name": quantity.meaning}
        if what == "q" and result.drawing is not None:  # units differ from coordinate to coordinate
            attributes["units_of"] = json.dumps(result.drawing.units)
        return Piece((TIME, *quantity.dims), np.asarray(result.values[what]), {TIME: result.time, **labels}, attributes)
    unit = result.drawing.units.get(what, "") if result.drawing is not None else ""
    return Piece((TIME,), result[what], {TIME: result.time}, {"long_name": what} | ({"units": unit} if unit else {}))


def _of_value(name: str, value: Any, result: Result) -> Piece:
    """A piece from a function's return value: a number, an array, or an xarray.DataArray, whose dimensions are kept."""
    dims = tuple(str(dim) for dim in getattr(value, "dims", ()))
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "biuf":
        raise TypeError(f"must return numbers, got {value!r}")
    if not dims:
        own = tuple(f"{name}_{k}" for k in range(numbers.ndim))
        return Piece(own, numbers.astype(np.float64), dict.fromkeys(own))
    coordinates: dict[str, Coordinate] = {}
    for dim in dims:
        given = value.coords[dim].values if dim in value.coords else None
        shared = given is not None and dim in OWN_DIMENSIONS and _same(given, result, dim)
        coordinates[dim if shared else f"{name}_{dim}"] = given
    attributes = {str(key): word for key, word in value.attrs.items() if isinstance(word, str)}
    return Piece(tuple(coordinates), numbers.astype(np.float64), coordinates, attributes)


def _same(given: NDArray[Any], result: Result, dim: str) -> bool:
    """Whether a dimension is that of the result; a part of it gets a separate name."""
    own = result.time if dim == TIME else np.array(list(result.labels[dim]), dtype=object)
    return given.shape == own.shape and bool(np.all(given == own))
