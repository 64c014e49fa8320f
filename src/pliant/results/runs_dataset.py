"""The Dataset of an ensemble or a sweep: an xarray.Dataset that also reads by the names of a result."""

from __future__ import annotations

from typing import Any

import xarray

from pliant.errors import UnknownNameError
from pliant.results.reading import DIMENSIONS, find

LABELLED = {dim for dims in DIMENSIONS.values() for dim in dims}
AT_END = {"q": "q_end", "v": "v_end"}  # what an ensemble keeps of every member


class RunsDataset(xarray.Dataset):  # type: ignore[no-untyped-call]  # of xarray's __init_subclass__
    """Many runs: runs["q"] as in any Dataset, and runs["arm.angle"], runs["tip_position", "arm", "x"] as in a Result.

    An ensemble that kept no "q" or "v" reads coordinates and rates at the end of each run: `q_end`, `v_end`.
    """

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(key)
        except KeyError:
            name, places = self._find(key)
        return super().__getitem__(name).isel(places)

    def __contains__(self, key: object) -> bool:
        if super().__contains__(key):
            return True
        try:
            return bool(self._find(key))
        except UnknownNameError:
            return False

    def _find(self, key: Any) -> tuple[str, dict[str, int]]:
        dimensions = {str(name): [str(dim) for dim in own.dims if dim in LABELLED] for name, own in self.data_vars.items()}
        labels = {dim: self.coords[dim].values.tolist() for dim in LABELLED if dim in self.coords}
        if isinstance(key, tuple) and len(key) > 1 and key[0] not in dimensions and AT_END.get(key[0]) in dimensions:
            key = (AT_END[key[0]], *key[1:])
        name, places = find("dataset", key, labels, dimensions)
        return name, dict(zip(dimensions[name], places, strict=False))
