"""Result: the outcome of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.host.atomic_files import atomic_write
from pliant.host.interrupts import postponed
from pliant.host.netcdf import opened
from pliant.results import rich_display
from pliant.results.columns import write_csv
from pliant.results.contacts import ANGULAR, LINEAR, NUMBERS, ContactRecord, ContactTable
from pliant.results.contents import EventRecord, ResultContents
from pliant.results.drawing import Drawing
from pliant.results.file_contents import TIME, attributes_of, bodies_of, units_of, write_result
from pliant.results.file_group import FileGroup, read_group, read_result_group
from pliant.results.kept import KeptValues, check_level, check_of_bodies, checked_names
from pliant.results.lazy_array import LazyArray, lazy_rows
from pliant.results.ledger import Extremes, Ledger
from pliant.results.matlab import write_matlab
from pliant.results.parquet import write_parquet
from pliant.results.reading import ReadByName
from pliant.results.sameness import same_results
from pliant.results.sections import SECTIONS, check_sections, sections_of
from pliant.results.state import FinalState
from pliant.results.stored import refusing
from pliant.results.table import AXES, IN_LEDGER, QUANTITIES, QUATERNION

if TYPE_CHECKING:  # xarray takes half a second to import; a run does not need it
    import xarray

MOST_SHOWN = 10**6  # largest number of rows that a display reads from a file


@dataclass(frozen=True, eq=False)
class Result(ResultContents, ReadByName):
    """The result of a run: rows over time with names and units, events, contacts, energy ledger, warnings and statistics.

    `values` contains the arrays by the names of the table of quantities, with time along the first axis; `labels` contains the
    names along each dimension.
    """

    def __eq__(self, other: object) -> bool:
        """Whether two results are the same: every row, event, contact and message; computing times do not count."""
        return isinstance(other, Result) and same_results(self, other)

    __hash__ = object.__hash__  # by identity, because it contains arrays

    def __repr__(self) -> str:
        return f"<Result {self.name!r}: {len(self.time)} rows, {len(self.contacts)} contacts, {self.message}>"

    def __str__(self) -> str:
        named = [f"parameters: {self.parameters_text}"] if self.parameters else []
        return "\n".join([repr(self), *named, *(f"warning: {sentence}" for sentence in self.warnings)])

    def _repr_html_(self) -> str:
        state = "" if self.ok else "; not reliable beyond that"
        facts = [f"{self.name}: {self.message}{state}", f"{len(self.time)} rows, {len(self.contacts)} contacts"]
        facts += [f"parameters: {self.parameters_text}"] if self.parameters else []
        facts += [f"warning: {sentence}" for sentence in self.warnings]
        parts = [rich_display.paragraphs(facts), self._ledger_html() if self.time.size else ""]
        return "".join([*parts, self.contacts._repr_html_() if self.contacts else ""])

    def _ledger_html(self) -> str:
        if not self.keeps(*IN_LEDGER):
            kept = ", ".join(self.values) or "time alone"
            return rich_display.paragraphs([f"no energy ledger, which needs {', '.join(IN_LEDGER)}; the run kept {kept}"])
        return "" if self.lazy and self.time.size > MOST_SHOWN else self.ledger._repr_html_()

    def keeps(self, *quantities: str) -> bool:
        """Whether the rows contain all of these quantities."""
        return all(name in self.values for name in quantities)

    @property
    def lazy(self) -> bool:
        """Whether the rows are in a file and are read on demand."""
        return isinstance(self.time, LazyArray)

    def show(self, height: int = 560, scale: float = 1.0, speed: float | None = None) -> rich_display.Frame:
        """Show the page that plays the motion in a notebook cell; height in pixels, scale and speed as in `pl.player.write`."""
        return rich_display.framed(self, height, scale=scale, speed=speed)

    @property
    def parameters_text(self) -> str:
        """The parameters as text, such as "payload = 0.31, stiffness = 2000"."""
        return ", ".join(f"{name} = {value:.10g}" for name, value in self.parameters.items())

    @cached_property
    def data(self) -> xarray.Dataset:
        """All quantities as a labelled xarray.Dataset: result.data["q"].sel(coordinate="arm.angle")."""
        import xarray

        variables = {name: (("time", *QUANTITIES[name].dims), _indexed(v), attributes_of(name)) for name, v in self.values.items()}
        coordinates: dict[str, Any] = {"time": ("time", np.asarray(self.time), TIME)}
        for dimension, names in self.labels.items():
            coordinates[dimension] = (dimension, np.array(list(names), dtype=object if names else "U1"))
        for dimension in ("coordinate", "rate"):
            told = {"body": bodies_of(self.labels[dimension])}
            told |= {"unit": units} if (units := units_of(dimension, self.labels[dimension], self.drawing)) else {}
            for what, texts in told.items():
                coordinates[f"{what}_of_{dimension}"] = (dimension, np.array(texts, dtype=object if texts else "U1"))
        return xarray.Dataset(variables, coordinates, {"title": self.name, "message": self.message})

    _BEFORE = (slice(None),)  # time

    def __getitem__(self, key: str | tuple[str, ...]) -> Floats:
        """Numbers over time: a coordinate or a state of the user's own, result["arm.angle"]; a quantity, result["tip_position"],
        or a part of it by its labels, result["v", "arm.angle"], result["tip_position", "arm", "x"].
        """
        return np.asarray(super().__getitem__(key))

    def rate(self, coordinate: str) -> Floats:
        """The rate of a coordinate over time."""
        return self["v", coordinate]

    def of_body(self, quantity: str, body: str) -> Floats:
        """A quantity of a body over time, as in of_body("tip_position", "arm")."""
        check_of_bodies("of_body", quantity)
        return self[quantity, body]

    @cached_property
    def ledger(self) -> Ledger:
        """The energy of every part and the work of every source over time."""
        if not self.keeps(*IN_LEDGER):
            rule = f"must contain {', '.join(IN_LEDGER)} for an energy ledger"
            raise ModelError.of(f"result {self.name!r}", "keep", rule, list(self.values))
        return Ledger.of({"time": self.time, **self.values}, list(self.labels["source"]), self.extremes)

    def with_sections(self, sections: xarray.Dataset) -> Result:
        """A copy with section forces and stresses, as `stresses` returns them; files and pages then contain them."""
        check_sections(sections, self)
        return replace(self, sections=sections)

    def to_netcdf(self, path: str | Path, quantities: Sequence[str] | None = None, compression: int | None = None) -> None:
        """Write the result as a netCDF file, which appears complete or not at all.

        quantities: quantities to write; default: all. compression: zlib level, 1 to 9; default: none.
        """
        names = None if quantities is None else checked_names("to_netcdf", "quantities", quantities)
        level = check_level("to_netcdf", compression)
        for name in names or ():
            self.values[name]  # raises for a quantity that was not kept
        with atomic_write(path) as draft, postponed(), opened(draft, "w") as file:  # HDF5, interrupted, may abort as Python exits
            write_result(self, file, names, level)

    def to_csv(self, path: str | Path, quantities: Sequence[str] | None = None) -> None:
        """Write the rows as CSV, one column per number, with names and units in the header.

        quantities: coordinates such as "arm.angle", names from the table of quantities, or parts of these such as
        "tip_position arm" and "tip_position arm x"; default: all.
        """
        write_csv(self, path, quantities)

    def to_parquet(self, path: str | Path, quantities: Sequence[str] | None = None) -> None:
        """Write the columns of `to_csv` as a Parquet file with units (needs the extra `parquet`)."""
        write_parquet(self, path, quantities)

    def to_matlab(self, path: str | Path, quantities: Sequence[str] | None = None) -> None:
        """Write quantities as arrays of a MATLAB file, time along the rows, with labels and units; they must fit into memory."""
        write_matlab(self, path, quantities)

    @classmethod
    @refusing
    def from_netcdf(cls, path: str | Path, group: str | None = None, lazy: bool = False) -> Result:
        """Read a result that `to_netcdf` wrote. group: the group of the result in a file of several.

        lazy: leave rows in the file until they are read, as in `result.values["q"][1000:2000]`.
        """
        stored, record = read_result_group(path, group, ["time", *QUANTITIES] if lazy else [])
        dimensions = {d for quantity in QUANTITIES.values() for d in quantity.dims}
        # in the order of the file, so that writing the result again gives the same bytes
        ordered = [name for name in stored.shapes if name in dimensions] + sorted(dimensions - stored.shapes.keys())
        labels = {d: [str(x) for x in stored.values(d)] if d in stored else [] for d in ordered}
        labels["axis"], labels["quaternion"] = list(AXES), list(QUATERNION)
        kept = [name for name in record.get("kept", QUANTITIES) if name in QUANTITIES]
        missing = [name for name in kept if name not in stored.shapes and all(labels[d] for d in QUANTITIES[name].dims)]
        if lazy:
            names = [name for name in kept if name not in missing]
            time, values = lazy_rows(path, names, labels, stored.shapes, stored.blocks, group)
        else:
            time = stored.values("time")
            values = KeptValues({name: _stored(stored, name, labels, time.size) for name in kept})
        warnings = tuple(str(sentence) for sentence in stored.values("warning")) if "warning" in stored else ()
        return cls(
            name=stored.attributes["title"],
            time=time,
            values=values,
            labels=labels,
            events=_stored_events(stored),
            contacts=_stored_contacts(stored),
            ok=record["ok"],
            message=stored.attributes["message"],
            interrupted=record["interrupted"],
            stats=record["stats"],
            drawing=Drawing.from_json(stored.text("outline")) if "outline" in stored else None,
            final_state=FinalState.from_json(stored.text("final_state")) if "final_state" in stored else None,
            make_provenance=_Stored(_stored_provenance(stored)),
            warnings=(*warnings, *_not_stored(missing if time.size else [], lazy)),
            extremes=Extremes.from_json(stored.text("extremes")) if "extremes" in stored else None,
            parameters=dict(record.get("parameters", {})),
            sections=_stored_sections(path, group) if SECTIONS in stored.attributes else None,
        )


@dataclass(frozen=True)
class _Stored:
    """The provenance from a file."""

    provenance: Mapping[str, Any]

    def __call__(self) -> Mapping[str, Any]:
        return self.provenance


def _indexed(array: Floats) -> Any:
    """Rows as a variable of xarray contains them: those in a file stay there until they are read."""
    if not isinstance(array, LazyArray):
        return array
    from pliant.results.lazy_indexing import lazily_indexed

    return lazily_indexed(array)


def _stored_sections(path: str | Path, group: str | None) -> xarray.Dataset:
    stored = read_group(path, SECTIONS if group is None else f"{group}/{SECTIONS}")
    return sections_of(stored.variables, stored.attributes)


def _stored_provenance(stored: FileGroup) -> Mapping[str, Any]:
    if "model" not in stored:
        return {}
    provenance = {"version": stored.attributes["pliant_version"], "model": stored.text("model")}
    missing = stored.variables["model"][2].get("missing", "")
    return {**provenance, **({"no_model": missing} if missing else {}), "settings": json.loads(stored.attributes["settings"])}


def _stored_events(stored: FileGroup) -> tuple[EventRecord, ...]:
    if stored.unfinished:
        return ()
    columns = (stored.values(f"event_{name}") for name in ("time", "name", "direction"))
    return tuple(EventRecord(float(t), str(name), int(direction)) for t, name, direction in zip(*columns, strict=True))


def _stored_contacts(stored: FileGroup) -> ContactTable:
    if stored.unfinished:
        return ContactTable(())
    columns = {name: stored.values(f"contact_{name}") for name in NUMBERS}
    pairs = stored.values("contact_pair")
    units = stored.values("contact_unit") if "contact_unit" in stored else [LINEAR[0]] * len(pairs)
    turns = {LINEAR[0]: False, ANGULAR[0]: True}
    return ContactTable(
        ContactRecord(str(pair), **{name: float(column[k]) for name, column in columns.items()}, turns=turns[str(unit)])
        for k, (pair, unit) in enumerate(zip(pairs, units, strict=True))
    )


def _stored(stored: FileGroup, name: str, labels: Mapping[str, Sequence[str]], rows: int) -> Floats:
    if name in stored:
        return stored.values(name)
    return np.full((rows, *(len(labels[d]) for d in QUANTITIES[name].dims)), np.nan)


def _not_stored(missing: Sequence[str], lazy: bool) -> tuple[str, ...]:
    """A warning about quantities that a file of an older version lacks. Quantities without numbers are not missing."""
    read = "cannot be read" if lazy else "read as nan"
    return (f"the file contains no {', '.join(missing)} (an older version wrote it), so they {read}",) if missing else ()
