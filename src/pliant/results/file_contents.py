"""What the netCDF file of a result holds: numbers and texts as plain variables, the rest as attributes, for any reader."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.host.netcdf import put
from pliant.results.contacts import NUMBERS
from pliant.results.sections import SECTIONS
from pliant.results.table import QUANTITIES
from pliant.results.timings import TIMINGS

if TYPE_CHECKING:
    from pliant.results.result import Result

FORMAT = 1
UNITS, MEANING = "units", "long_name"


@dataclass(frozen=True)
class FileVariable:
    dims: tuple[str, ...]
    values: NDArray[Any]
    attributes: Mapping[str, str] = field(default_factory=dict)


def write_result(result: Result, group: Any) -> None:
    """All of a result into an open file, or into a group of one."""
    variables = {**_rows(result), **_happenings(result), **_texts(result)}
    for dim, size in _sizes(variables).items():
        group.createDimension(dim, size)
    for name, variable in variables.items():
        put(group, name, variable.dims, variable.values, variable.attributes)
    group.setncatts(_attributes(result))


def _rows(result: Result) -> dict[str, FileVariable]:
    """Quantities over time with the labels of their dimensions; not those that have no numbers, as forces where nothing touches."""
    rows = {"time": FileVariable(("time",), result.time, {UNITS: "s", MEANING: "time"})}
    rows |= {dim: FileVariable((dim,), _strings(names)) for dim, names in result.labels.items() if names}
    for name, values in result.values.items():
        quantity = QUANTITIES[name]
        if all(result.labels[dim] for dim in quantity.dims):
            attributes = {UNITS: quantity.unit, MEANING: quantity.meaning}
            rows[name] = FileVariable(("time", *quantity.dims), values, attributes)
    return rows


def _happenings(result: Result) -> dict[str, FileVariable]:
    """Events, contacts and warnings."""
    events, contacts = result.events, result.contacts
    columns = {name: np.array([getattr(c, name) for c in contacts], dtype=np.float64) for name in NUMBERS}
    return {
        "event_time": FileVariable(("event",), np.array([e.t for e in events], dtype=np.float64), {UNITS: "s"}),
        "event_name": FileVariable(("event",), _strings([e.name for e in events])),
        "event_direction": FileVariable(("event",), np.array([e.direction for e in events], dtype=np.int32)),
        "contact_pair": FileVariable(("touch",), _strings([c.pair for c in contacts])),
        **{f"contact_{name}": FileVariable(("touch",), column) for name, column in columns.items()},
        "warning": FileVariable(
            ("warning_number",), _strings(result.warnings), {MEANING: "what to know before believing the numbers"}
        ),
    }


def _texts(result: Result) -> dict[str, FileVariable]:
    """As variables, not as attributes: those of HDF5 are short."""
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


def _attributes(result: Result) -> dict[str, str]:
    # without seconds, so that the same run gives the same bytes
    counted = {name: value for name, value in result.stats.items() if name not in TIMINGS}
    record = {"format": FORMAT, "ok": result.ok, "interrupted": result.interrupted, "stats": counted}
    record |= {"parameters": result.parameters} if result.parameters else {}
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
