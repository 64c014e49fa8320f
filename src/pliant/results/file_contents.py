"""The contents of a result's netCDF file: numbers and texts are plain variables, the rest attributes, readable by any program."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.host.netcdf import Blocks, put, seal
from pliant.results.contacts import NUMBERS
from pliant.results.contents import ResultContents
from pliant.results.sections import SECTIONS, section_variables
from pliant.results.table import QUANTITIES
from pliant.results.timings import TIMINGS

if TYPE_CHECKING:
    from pliant.results.drawing import Drawing

FORMATS = (1, 2)  # versions of the file format; files of the first have no checksums
UNITS, MEANING = "units", "long_name"
UNFINISHED = "unfinished"  # in the record of a file to which a run still writes rows, or was killed while it did
TIME = {UNITS: "s", MEANING: "time"}


@dataclass(frozen=True)
class FileVariable:
    dims: tuple[str, ...]
    values: NDArray[Any]
    attributes: Mapping[str, str] = field(default_factory=dict)


def write_result(result: ResultContents, group: Any, quantities: Collection[str] | None = None, compression: int = 0) -> None:
    """Write a result, or only the named quantities, into an open file or a group of one; compression: zlib's level."""
    names = tuple(name for name in result.values if quantities is None or name in quantities)
    rows = {"time": FileVariable(("time",), result.time, TIME), **label_variables(result.labels, result.drawing)}
    for name in present(names, result.labels):
        rows[name] = FileVariable(("time", *QUANTITIES[name].dims), result.values[name], attributes_of(name))
    write_rest(result, group, names, _put(group, rows, compression))


def write_rest(result: ResultContents, group: Any, names: Sequence[str], blocks: Mapping[str, Blocks]) -> None:
    """Write what is known only at the end of a run into a group that already holds the rows, and seal it.

    names: the quantities kept. blocks: the checksums of the rows.
    """
    rest = _put(group, {**_happenings(result), **_texts(result)}, 0)
    if result.sections is not None:
        own = group.createGroup(SECTIONS)
        variables = {name: FileVariable(*variable) for name, variable in section_variables(result.sections).items()}
        of_sections = _put(own, variables, 0)
        own.setncatts(dict(sorted(result.sections.attrs.items())))
        seal(own, of_sections)
    group.setncatts(_attributes(result, names))
    seal(group, {**blocks, **rest})


def _put(group: Any, variables: Mapping[str, FileVariable], compression: int) -> dict[str, Blocks]:
    for dim, size in _sizes(variables).items():
        if dim not in group.dimensions:
            group.createDimension(dim, size)
    blocks = {}
    for name, variable in variables.items():
        level = compression if variable.dims[:1] == ("time",) else 0
        blocks[name] = put(group, name, variable.dims, variable.values, variable.attributes, level)
    return blocks


def present(names: Iterable[str], labels: Mapping[str, Sequence[str]]) -> list[str]:
    """The quantities that contain numbers; contact forces, for example, contain none in a model without contact pairs."""
    return [name for name in names if all(labels[dim] for dim in QUANTITIES[name].dims)]


def label_variables(labels: Mapping[str, Sequence[str]], drawing: Drawing | None) -> dict[str, FileVariable]:
    """The names along each dimension, and the body and the unit of every coordinate and rate."""
    variables = {dim: FileVariable((dim,), _strings(names)) for dim, names in labels.items() if names}
    for dim in ("coordinate", "rate"):
        if labels[dim]:
            variables[f"body_of_{dim}"] = FileVariable((dim,), _strings(bodies_of(labels[dim])), {MEANING: f"body of each {dim}"})
            units = units_of(dim, labels[dim], drawing)
            if units:
                variables[f"unit_of_{dim}"] = FileVariable((dim,), _strings(units), {MEANING: f"unit of each {dim}"})
    return variables


def bodies_of(names: Sequence[str]) -> list[str]:
    return [name.rsplit(".", 1)[0] for name in names]


def units_of(dim: str, names: Sequence[str], drawing: Drawing | None) -> list[str]:
    """Units of coordinates or rates; empty if an older file does not record them. Other rates are angular velocities of balls."""
    if drawing is None:
        return []
    if dim == "coordinate":
        return [drawing.units[name] for name in names]
    return [f"{drawing.units.get(name, 'rad')}/s" for name in names]


def attributes_of(name: str) -> dict[str, str]:
    """Attributes of a quantity: its unit, its meaning and, if units differ between columns, the variable that holds them."""
    quantity = QUANTITIES[name]
    own = f"unit_of_{quantity.dims[0]}" if name in ("q", "v") else None
    return {UNITS: quantity.unit, MEANING: quantity.meaning, **({} if own is None else {"units_of_columns": own})}


def _happenings(result: ResultContents) -> dict[str, FileVariable]:
    """Events, contacts and warnings."""
    events, contacts = result.events, result.contacts
    columns = {name: np.array([getattr(c, name) for c in contacts], dtype=np.float64) for name in NUMBERS}
    units = FileVariable(("touch",), _strings([c.units[0] for c in contacts]), {MEANING: "unit of each contact's gap"})
    return {
        "event_time": FileVariable(("event",), np.array([e.t for e in events], dtype=np.float64), {UNITS: "s"}),
        "event_name": FileVariable(("event",), _strings([e.name for e in events])),
        "event_direction": FileVariable(("event",), np.array([e.direction for e in events], dtype=np.int32)),
        "contact_pair": FileVariable(("touch",), _strings([c.pair for c in contacts])),
        **{f"contact_{name}": FileVariable(("touch",), column) for name, column in columns.items()},
        **({"contact_unit": units} if any(c.turns for c in contacts) else {}),  # otherwise all are m
        "warning": FileVariable(
            ("warning_number",), _strings(result.warnings), {MEANING: "what to know before believing the numbers"}
        ),
    }


def _texts(result: ResultContents) -> dict[str, FileVariable]:
    """Long texts as variables, because the size of HDF5 attributes is limited."""
    texts: dict[str, FileVariable] = {}
    if result.drawing is not None:
        texts["outline"] = _text(result.drawing.to_json(), "what pictures draw of the mechanism, JSON")
    if result.final_state is not None:
        texts["final_state"] = _text(result.final_state.to_json(), "where the run ended, JSON")
    if result.extremes is not None:
        texts["extremes"] = _text(result.extremes.to_json(), "the ledger's extremes over the whole run, JSON")
    if result.provenance:
        missing = result.provenance.get("no_model", "")
        texts["model"] = _text(result.provenance["model"], "the model as a file, YAML", missing=missing)
    return texts


def unfinished_attributes(title: str, names: Sequence[str]) -> dict[str, str]:
    """The attributes of a file until its run has ended."""
    record = {"format": FORMATS[-1], UNFINISHED: True, "ok": False, "interrupted": True, "stats": {}, "kept": list(names)}
    message = "the run did not end: it was killed, or is still running; events, contacts and the final state are not stored"
    return {"title": title, "message": message, "pliant": json.dumps(record)}


def _attributes(result: ResultContents, names: Sequence[str]) -> dict[str, str]:
    # without computing times, so that the same run gives the same bytes
    counted = {name: value for name, value in result.stats.items() if name not in TIMINGS}
    record = {"format": FORMATS[-1], "ok": result.ok, "interrupted": result.interrupted, "stats": counted}
    record |= {"parameters": result.parameters} if result.parameters else {}
    record |= {"kept": list(names)} if len(names) < len(QUANTITIES) else {}
    attributes = {"title": result.name, "message": result.message, "pliant": json.dumps(record)}
    if result.sections is not None:
        attributes[SECTIONS] = "in a group of their own"
    if result.provenance:
        attributes["pliant_version"] = result.provenance["version"]
        attributes["settings"] = json.dumps(result.provenance["settings"])
    return attributes


def _sizes(variables: Mapping[str, FileVariable]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for variable in variables.values():
        sizes |= dict(zip(variable.dims, variable.values.shape, strict=True))
    return sizes


def _strings(texts: Sequence[str]) -> NDArray[Any]:
    return np.array(list(texts), dtype=object)


def _text(text: str, meaning: str, **attributes: str) -> FileVariable:
    return FileVariable((), np.array(text, dtype=object), {MEANING: meaning, **attributes})
