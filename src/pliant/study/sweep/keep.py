"""The parts of every Result that a sweep keeps: quantities and coordinates by name, functions of the Result, or the Result."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.analysis.report import REPORTED, Report, report
from pliant.analysis.section_forces import section_forces
from pliant.analysis.stresses import stresses
from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.model.check import did_you_mean
from pliant.model.system import System
from pliant.results.result import Result
from pliant.results.sections import ALONG, FORCES, STRESSES, warnings_of_sections
from pliant.results.table import QUANTITIES
from pliant.study.sweep.fingerprint import fingerprint
from pliant.study.sweep.over import CASE

if TYPE_CHECKING:
    import xarray

RESULT = "result"  # keeps the whole Result
OK, MESSAGE, WARNINGS, BALANCE = "ok", "message", "warnings", "balance_error"  # kept for every case
FACTS = (OK, MESSAGE, WARNINGS, BALANCE)
TIME, KEY = "time", "key"  # KEY is the name of a case in its batch
OWN_DIMENSIONS = (TIME, *dict.fromkeys(d for quantity in QUANTITIES.values() for d in quantity.dims))
TAKEN = (*FACTS, RESULT, KEY, CASE, *OWN_DIMENSIONS)  # reserved names
DEFAULT = ("q", "tip_position", "tip_deflection", "normal_force")

OF_SECTIONS = (*FORCES, *STRESSES)
LARGEST = {f"largest_{quantity}": quantity for quantity in REPORTED}  # over the whole run, one number per part
DERIVED = (*OF_SECTIONS, *LARGEST)  # computed from a whole Result

What = str | Callable[[Result], Any]
Coordinate = NDArray[Any] | None  # numbers or names along a dimension, if it has any


@dataclass(frozen=True)
class Piece:
    """An array kept of one Result."""

    dims: tuple[str, ...]
    values: Floats
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

    @property
    def derived(self) -> list[str]:
        """What must be computed from a whole Result: stresses, section forces and largest values."""
        return [what for what in self.what.values() if what in DERIVED]

    @property
    def dimensions(self) -> list[str]:
        """The dimensions of what is derived."""
        sections = [dim for what in self.derived if what in OF_SECTIONS for dim in ALONG]
        return list(dict.fromkeys([*sections, *(REPORTED[LARGEST[what]][2] for what in self.derived if what in LARGEST)]))

    def check(self, system: System) -> None:
        """Raise an error for names that this System does not have."""
        coordinates = [f"{link.name}.{name}" for link in system.links.values() for name in link.positions]
        for what in self.what.values():
            if isinstance(what, str) and what not in (*QUANTITIES, *DERIVED, *coordinates):
                known = [*QUANTITIES, *DERIVED, *coordinates, RESULT]
                names = ", ".join((*QUANTITIES, *DERIVED))
                rule = f"must name a quantity ({names}), a coordinate ({', '.join(coordinates)}) or {RESULT!r}"
                raise ModelError.of("sweep", "keep", f"{rule}{did_you_mean(what, known)}", what)

    def pieces(self, result: Result) -> tuple[dict[str, Piece], list[str], list[str]]:
        """The available pieces, a sentence for each that is not available, and warnings about those that are derived."""
        pieces: dict[str, Piece] = {}
        troubles: list[str] = []
        derived = _Derived(result)
        for name, what in self.what.items():
            try:
                piece = derived.piece(str(what)) if what in DERIVED else _piece(name, what, result)
            except Exception as trouble:  # a user-defined function may fail for some Results
                troubles.append(f"keep {name!r}: {type(trouble).__name__}: {trouble}")
            else:
                if piece.values.size:
                    pieces[name] = piece
        return pieces, troubles, list(dict.fromkeys(derived.warnings))


@dataclass
class _Derived:
    """What is computed from a whole Result, each once."""

    result: Result
    warnings: list[str] = field(default_factory=list)

    def piece(self, what: str) -> Piece:
        if what in LARGEST:
            return self._largest(LARGEST[what])
        array = self._stresses[what] if what in STRESSES else self._forces[what]
        coordinates: dict[str, Coordinate] = {str(dim): array[dim].values for dim in array.dims}
        return Piece(tuple(coordinates), array.values, coordinates, {str(name): str(text) for name, text in array.attrs.items()})

    def _largest(self, quantity: str) -> Piece:
        """One number per part, zero for a pair that never touched; an error if one is not known."""
        name, unit, dimension = REPORTED[quantity]
        found = self._report.of(quantity)
        if unknown := [one for one in found if not one.known]:
            raise ModelError(unknown[0].warnings[0])
        values = dict.fromkeys(self.result.labels.get(dimension, ()), 0.0) | {one.part: one.value for one in found}
        self.warnings += found.warnings
        units = {one.unit for one in found}
        labels = np.array(list(values), dtype=object)
        attributes = {"units": units.pop() if len(units) == 1 else unit, "long_name": f"largest {name}"}
        return Piece((dimension,), np.array(list(values.values())), {dimension: labels}, attributes)

    @cached_property
    def _report(self) -> Report:
        return report(self.result)

    @cached_property
    def _stresses(self) -> xarray.Dataset:
        return self._noted(stresses(self.result))

    @cached_property
    def _forces(self) -> xarray.Dataset:
        return self._noted(section_forces(self.result))

    def _noted(self, sections: xarray.Dataset) -> xarray.Dataset:
        self.warnings += [sentence for sentence in warnings_of_sections(sections) if sentence not in self.result.warnings]
        return sections


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
