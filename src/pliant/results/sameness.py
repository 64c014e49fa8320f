"""Whether two results say the same: numbers to the bit, nan equal to nan, seconds of computing left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.results.contents import ResultContents
from pliant.results.timings import TIMINGS

WORDS = ("name", "events", "ok", "message", "interrupted", "warnings", "parameters")


def same_results(one: ResultContents, other: ResultContents) -> bool:
    """Rows, events, touches, words, counts and where the runs ended."""
    if any(getattr(one, field) != getattr(other, field) for field in WORDS):
        return False
    if {d: list(names) for d, names in one.labels.items()} != {d: list(names) for d, names in other.labels.items()}:
        return False
    if _counts(one.stats) != _counts(other.stats) or repr(one.contacts) != repr(other.contacts):
        return False
    if _json(one.final_state) != _json(other.final_state) or _json(one.extremes) != _json(other.extremes):
        return False
    if (one.sections is None or other.sections is None) and one.sections is not other.sections:
        return False
    if one.sections is not None and other.sections is not None and not one.sections.equals(other.sections):
        return False
    arrays = {"time": (one.time, other.time), **{name: (one.values[name], other.values[name]) for name in one.values}}
    return one.values.keys() == other.values.keys() and all(np.array_equal(*pair, equal_nan=True) for pair in arrays.values())


def _counts(stats: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in stats.items() if name not in TIMINGS}


def _json(part: Any) -> str | None:
    return None if part is None else str(part.to_json())
