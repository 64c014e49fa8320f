"""Section forces and stresses as one labelled dataset: time, beam, station."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.results.contents import ResultContents
from pliant.results.csv import write_table
from pliant.results.table import AXES, Quantity

if TYPE_CHECKING:  # xarray takes half a second to import
    import xarray

FileColumn = tuple[tuple[str, ...], NDArray[Any], dict[str, Any]]  # dimensions, values and attributes of a variable in a file

SECTIONS = "sections"  # what a file calls them
WARNINGS = "warnings"  # attribute: a line for each
ALONG, ROOT = ("beam", "station"), ("beam", "axis")
COORDINATES = ("time", "beam", "station", "x", "axis")
FORCES = ("axial_force", "shear_force_y", "shear_force_z", "torsion", "bending_moment_y", "bending_moment_z")
STRESSES = ("largest_normal_stress", "smallest_normal_stress", "equivalent_stress")

SECTION_QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        Quantity("axial_force", ALONG, "N", "axial force, positive in tension"),
        Quantity("shear_force_y", ALONG, "N", "shear force along y, of the outboard part on the inboard part"),
        Quantity("shear_force_z", ALONG, "N", "shear force along z, of the outboard part on the inboard part"),
        Quantity("torsion", ALONG, "N m", "moment about x, of the outboard part on the inboard part"),
        Quantity("bending_moment_y", ALONG, "N m", "moment about y, positive where the beam curves towards -z"),
        Quantity("bending_moment_z", ALONG, "N m", "moment about z, positive where the beam curves towards +y"),
        Quantity("largest_normal_stress", ALONG, "Pa", "largest normal stress in the section, positive in tension"),
        Quantity("smallest_normal_stress", ALONG, "Pa", "smallest normal stress in the section, negative in compression"),
        Quantity("equivalent_stress", ALONG, "Pa", "largest equivalent stress (von Mises) in the section"),
        Quantity("truncation", (*ALONG, "axis"), "N m", "moments from balance minus those from curvature: truncation of modes"),
        Quantity("root_force_residual", ROOT, "N", "force at the root and the joint's reaction, added: 0 up to round-off"),
        Quantity("root_moment_residual", ROOT, "N m", "moment at the root and the joint's reaction, added: 0 up to round-off"),
    )
}


def dataset_of(
    result: ResultContents, by: str, beams: Sequence[str], stations: Floats, x: Floats, values: Mapping[str, Floats],
    said: Sequence[str],
) -> xarray.Dataset:  # fmt: skip
    """Quantities by name, time first, with names and units. x: of all rows; lengths that stay need one; said: warnings."""
    import xarray

    moves = bool(np.any(x != x[:1]))

    variables = {name: _variable(name, array) for name, array in values.items()}
    coordinates = {
        "time": ("time", result.time, {"units": "s", "long_name": "time"}),
        "beam": ("beam", np.array(list(beams), dtype=object)),
        "station": ("station", stations, {"units": "1", "long_name": "station as a fraction of the length"}),
        "x": (("time", *ALONG) if moves else ALONG, x if moves else x[0], {"units": "m", "long_name": "distance from the root"}),
        "axis": ("axis", np.array(AXES, dtype=object)),
    }
    used = {d for v in variables.values() for d in v[0]}
    kept = {name: value for name, value in coordinates.items() if name in (*used, "x")}
    return xarray.Dataset(variables, kept, {"title": result.name, "by": by, WARNINGS: "\n".join(said)})


def warnings_of_sections(sections: xarray.Dataset) -> tuple[str, ...]:
    """What to know before believing the numbers; in a file, one text with a line for each."""
    return tuple(str(sections.attrs.get(WARNINGS, "")).splitlines())


def check_sections(sections: Any, result: ResultContents) -> None:
    """Refuse what are no section forces of this result."""
    part, field = f"result {result.name!r}", SECTIONS
    names = set(getattr(sections, "data_vars", ()))
    if not set(FORCES) <= names or not names <= set(SECTION_QUANTITIES):
        rule = "must be the dataset that section_forces or stresses returns"
        raise ModelError.of(part, field, rule, sorted(map(str, names)) or type(sections).__name__)
    if not np.array_equal(sections["time"].values, result.time):
        raise ModelError.of(part, field, f"must have {len(result.time)} rows, as the result has", len(sections["time"]))


def section_variables(sections: xarray.Dataset) -> dict[str, FileColumn]:
    """Dimensions, values and attributes of all variables, in an order that does not depend on where the dataset comes from."""
    names = [name for name in (*SECTION_QUANTITIES, *COORDINATES) if name in sections.variables]
    return {name: _column(sections[name]) for name in names}


def _column(array: xarray.DataArray) -> FileColumn:
    values = array.values.astype(object) if array.dtype.kind == "U" else array.values
    beside = {"coordinates": "x"} if array.name in SECTION_QUANTITIES else {}  # where other programs look for it
    return tuple(map(str, array.dims)), values, {**dict(sorted(array.attrs.items())), **beside}


def sections_of(variables: Mapping[str, FileColumn], attributes: Mapping[str, Any]) -> xarray.Dataset:
    """The dataset from the contents of a file."""
    import xarray

    own = {
        name: (dims, values, {word: text for word, text in attrs.items() if word not in ("coordinates", "_FillValue")})
        for name, (dims, values, attrs) in variables.items()
    }
    coordinates = {name: own.pop(name) for name in COORDINATES if name in own}
    return xarray.Dataset(own, coordinates, dict(attributes))


def write_sections(sections: xarray.Dataset, path: str | Path) -> None:
    """Section forces and stresses as CSV: one row per time, beam and station."""
    names = [name for name in (*FORCES, *STRESSES) if name in sections]
    x = np.broadcast_to(sections["x"].values, sections[names[0]].shape)
    along, stations = [sections[name].values for name in names], sections["station"].values.tolist()
    rows = (
        [t, beam, stations[k], float(x[row, j, k]), *(float(values[row, j, k]) for values in along)]
        for row, t in enumerate(sections["time"].values.tolist())
        for j, beam in enumerate(map(str, sections["beam"].values))
        for k in range(len(stations))
    )
    heads = [f"{name} [{SECTION_QUANTITIES[name].unit}]" for name in names]
    write_table(path, ["time [s]", "beam", "station", "x [m]", *heads], rows)


def with_quantities(dataset: xarray.Dataset, values: Mapping[str, Floats]) -> xarray.Dataset:
    """The same with more quantities."""
    return dataset.assign({name: _variable(name, array) for name, array in values.items()})


def _variable(name: str, array: Floats) -> tuple[tuple[str, ...], Floats, dict[str, str]]:
    quantity = SECTION_QUANTITIES[name]
    return ("time", *quantity.dims), array, {"units": quantity.unit, "long_name": quantity.meaning}
