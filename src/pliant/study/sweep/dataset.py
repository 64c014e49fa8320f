"""All cases of a sweep as one Dataset: axes become dimensions, missing values are nan, and data are read on demand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.errors import ModelError
from pliant.study.sweep.alignment import Axis, common_axis
from pliant.study.sweep.batch import ROW, Batch, Variable
from pliant.study.sweep.keep import BALANCE, KEY, MESSAGE, OK, RESULT, WARNINGS
from pliant.study.sweep.store import Manifest

if TYPE_CHECKING:
    import xarray

    from pliant.study.sweep.lazy_array import Places

NOT_YET = "not yet computed"
TEXTS = {MESSAGE: NOT_YET, WARNINGS: ""}
FACTS = {
    OK: "whether the run succeeded and everything to be kept was available",
    MESSAGE: "how the run ended, in words",
    WARNINGS: "warnings to read before trusting the numbers, one per line",
    BALANCE: "largest energy imbalance, relative to the largest exchange",
}


def dataset_of(manifest: Manifest, batches: Sequence[Batch]) -> xarray.Dataset:
    """batches: the existing batches, in the order of the manifest."""
    from pliant.results.runs_dataset import RunsDataset
    from pliant.study.sweep.lazy_array import places_of

    places = places_of(batches, manifest.keys, tuple(manifest.over.dims.values()))
    axes = _axes(batches)
    variables: dict[str, Any] = {name: _fact(name, manifest, batches, places) for name in FACTS}
    for name, variable in _variables(batches).items():
        variables[name] = _kept(name, variable, manifest, batches, places, axes)
    for dim, axis in axes.items():
        if axis.differs:
            variables[dim.removesuffix(ROW)] = _numbers_along(dim, axis, manifest, batches, places)
    if RESULT in manifest.kept:
        variables[RESULT] = _results(manifest, batches, places)
    coordinates = {
        **_coordinates(manifest),
        **{dim: (dim, axis.coordinate) for dim, axis in axes.items() if axis.coordinate is not None},
    }
    attributes = {"title": manifest.title, "pliant_version": manifest.version, "kept": " ".join(manifest.kept)}
    return RunsDataset(variables, coordinates, attributes)


def _coordinates(manifest: Manifest) -> dict[str, Any]:
    """The swept numbers as coordinates, with their units."""
    coordinates = {}
    for name, (dim, values) in manifest.over.columns.items():
        units = {"units": manifest.units[name]} if name in manifest.units else {}
        kind = object if isinstance(values[0], str) else None
        coordinates[name] = (dim, np.array(values, dtype=kind), units)
    return coordinates


def _axes(batches: Sequence[Batch]) -> dict[str, Axis]:
    """The axes of all batches together, by dimension; a dimension whose numbers differ anywhere is only counted everywhere."""
    found: dict[str, list[Axis]] = {}
    for batch in batches:
        for dim, axis in batch.axes.items():
            found.setdefault(dim.removesuffix(ROW) if axis.differs else dim, []).append(axis)
    common = {dim: common_axis(axes) for dim, axes in found.items()}
    return {dim + ROW if axis.differs else dim: axis for dim, axis in common.items()}


def _variables(batches: Sequence[Batch]) -> dict[str, Variable]:
    """The kept variables, with their dimensions, which must be the same in all batches."""
    found: dict[str, Variable] = {}
    for batch in batches:
        along = {dim.removesuffix(ROW) for dim, axis in batch.axes.items() if axis.differs}
        for name, variable in batch.variables.items():
            if name in FACTS or name == KEY or name in along:
                continue
            known = found.setdefault(name, variable)
            if _plain(known) != _plain(variable):
                rule = f"must have the dimensions {_plain(known)} in every case"
                raise ModelError.of("sweep", f"keep {name!r}", rule, _plain(variable))
    return found


def _plain(variable: Variable) -> tuple[str, ...]:
    return tuple(dim.removesuffix(ROW) for dim in variable.dims)


def _fact(name: str, manifest: Manifest, batches: Sequence[Batch], places: Places) -> Any:
    from pliant.study.sweep.lazy_array import SweepArray, lazy

    if name in TEXTS:
        array = SweepArray(name, batches, places, {}, TEXTS[name], object)
    else:
        array = SweepArray(name, batches, places, {}, False if name == OK else np.nan, bool if name == OK else np.float64)
    units = {"units": "1"} if name == BALANCE else {}
    return lazy(tuple(manifest.over.dims), array, {"long_name": FACTS[name], **units})


def _kept(
    name: str,
    variable: Variable,
    manifest: Manifest,
    batches: Sequence[Batch],
    places: Places,
    axes: Mapping[str, Axis],
) -> Any:
    from pliant.study.sweep.lazy_array import SweepArray, lazy

    dims = [dim if dim in axes else dim + ROW for dim in _plain(variable)]
    array = SweepArray(name, batches, places, {dim: axes[dim] for dim in dims}, np.nan, np.float64)
    return lazy((*manifest.over.dims, *dims), array, variable.attributes)


def _numbers_along(dim: str, axis: Axis, manifest: Manifest, batches: Sequence[Batch], places: Places) -> Any:
    from pliant.study.sweep.lazy_array import NumbersAlong, lazy

    name = dim.removesuffix(ROW)
    array = NumbersAlong(name, batches, places, {dim: axis}, np.nan, np.float64)
    return lazy((*manifest.over.dims, dim), array, {"units": "s"} if name == "time" else {})


def _results(manifest: Manifest, batches: Sequence[Batch], places: Places) -> Any:
    from pliant.study.sweep.lazy_array import ResultArray, lazy

    array = ResultArray(RESULT, batches, places, {}, None, object)
    return lazy(tuple(manifest.over.dims), array, {"long_name": "whole results"})
