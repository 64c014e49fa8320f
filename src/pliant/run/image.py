"""Records and arrays laid out for a machine whose memory begins elsewhere, such as a WebAssembly module's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

ALIGNED = 16  # bytes


@dataclass
class Image:
    """Memory from the address `begin` on: first everything that has contents, then what begins with zeros."""

    begin: int
    places: dict[str, int] = field(default_factory=dict)  # addresses, by names such as "run.y"
    _arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    _records: dict[str, NDArray[Any]] = field(default_factory=dict)
    end: int = 0

    def add(self, name: str, array: NDArray[Any], written_first: bool = False) -> None:
        """written_first: contents do not matter, since they are written before they are read."""
        self._arrays[name] = np.zeros_like(array) if written_first else np.ascontiguousarray(array)

    def add_record(
        self, name: str, record: NDArray[Any], arrays: Mapping[str, NDArray[Any]], written_first: frozenset[str]
    ) -> None:
        """A record whose fields of the names of arrays are their addresses."""
        self._records[name] = record.copy()
        for own, array in arrays.items():
            self.add(f"{name}.{own}", array, own in written_first)

    def lay_out(self) -> bytes:
        """Give everything its address; returns the contents from `begin` on, what follows is zero."""
        full = {name: array for name, array in self._arrays.items() if array.any()}
        empty = {name: array for name, array in self._arrays.items() if name not in full}
        at = self.begin
        for name, array in (*self._records.items(), *full.items(), *empty.items()):
            self.places[name] = at
            at += -(-array.nbytes // ALIGNED) * ALIGNED
        self.end = at
        for name, record in self._records.items():
            for key in record.dtype.names or ():
                if f"{name}.{key}" in self.places:
                    record[key] = self.places[f"{name}.{key}"]
        parts = {**self._records, **full}
        contents = bytearray(max((self.places[name] + part.nbytes for name, part in parts.items()), default=at) - self.begin)
        for name, part in parts.items():
            first = self.places[name] - self.begin
            contents[first : first + part.nbytes] = part.tobytes()
        return bytes(contents)
