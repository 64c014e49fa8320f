"""Result files as earlier versions wrote them."""

from __future__ import annotations

import json

import xarray


def without_checksums(dataset: xarray.Dataset) -> xarray.Dataset:
    """The contents of a result file of the first format, which had no checksums."""
    older = dataset.drop_vars("checksums")
    del older.attrs["checksum"]
    older.attrs["pliant"] = json.dumps(json.loads(older.attrs["pliant"]) | {"format": 1})
    return older
