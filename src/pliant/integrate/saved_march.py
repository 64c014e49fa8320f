"""Copies of everything needed to continue a march, in this process or in another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Arrays that no loop writes to, or that are written before they are read: they are not saved.
NOT_SAVED = frozenset((
    "zeros", "work", "row_first", "column", "value", "c", "dense", "samples", "plan", "piece_end", "piece_head", "updates",
))  # fmt: skip
ROWS = ("row_t", "row_y", "row_observed")  # of these, only what is filled
BLOCK = "block."  # before the names of blocks that were copied out of the loop's buffers


@dataclass(frozen=True)
class SavedMarch:
    """The record of a run, its arrays, and what Python has collected of it."""

    record: NDArray[np.uint8]
    arrays: Mapping[str, NDArray[Any]]
    flushed: Mapping[str, Mapping[int, list[NDArray[Any]]]]
    located: tuple[tuple[float, int, int], ...]
    steps_of: Mapping[str, int]
    planned: int
    seconds: float  # s of computing so far

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Its arrays by name, and the rest as plain values."""
        arrays = {"record": self.record, **{f"array.{name}": array for name, array in self.arrays.items()}}
        firsts = {name: min(blocks) for name, blocks in self.flushed.items() if blocks}
        for name in firsts:
            columns = zip(*(self.flushed[name][first] for first in sorted(self.flushed[name])), strict=True)
            arrays |= {f"{BLOCK}{name}.{k}": np.concatenate(parts) for k, parts in enumerate(columns)}
        return arrays, {"firsts": firsts, "buffers": list(self.flushed), "located": self.located, "steps_of": self.steps_of,
                        "planned": self.planned, "seconds": self.seconds}  # fmt: skip

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], plain: Mapping[str, Any]) -> SavedMarch:
        own = {name.removeprefix("array."): array for name, array in arrays.items() if name.startswith("array.")}
        flushed: dict[str, dict[int, list[NDArray[Any]]]] = {name: {} for name in plain["buffers"]}
        for name, first in plain["firsts"].items():
            flushed[name][first] = [arrays[key] for key in sorted(arrays) if key.startswith(f"{BLOCK}{name}.")]
        located = tuple((t, index, direction) for t, index, direction in plain["located"])
        return cls(arrays["record"], own, flushed, located, plain["steps_of"], plain["planned"], plain["seconds"])
