"""Save times: at an interval, at given times, or at every step."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.host.memory import require_memory
from pliant.model import check

MOST_ROWS = 50_000_000  # in memory, however large it is
MOST_STREAMED = 100_000_000_000  # rows written to a file during the run
COPIES = 2  # of every number while rows are collected
DEFAULT_ROWS = 1000  # default number of intervals between saved rows


@dataclass(frozen=True)
class Every:
    """Save a row every `interval` seconds, and at the end."""

    interval: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "interval", check.positive("every", "interval", self.interval, "s"))


def every(interval: float) -> Every:
    """The value of `save` that saves a row every `interval` seconds, and at the end."""
    return Every(interval)


@dataclass(frozen=True)
class Times:
    """Save times that are computed window by window, so that the whole list is never in memory."""

    size: int
    between: Callable[[int, int], Floats]  # s, of the rows from the first index up to the second
    checksum: int | None = None  # of a list of times; those at an interval are known by the second one

    def __repr__(self) -> str:
        listed = "" if self.checksum is None else f", checksum {self.checksum:08x}"
        return f"{self.size} times, the second at {float(self.between(0, min(2, self.size))[-1])!r} s{listed}"


def save_plan(save: Any, t_start: float, t_end: float) -> Floats | str:
    if isinstance(save, str):
        check.choice("simulate", "save", save, ("steps",))
        return save
    return save_times(save, t_start, t_end)


def save_windows(save: Any, t_start: float, t_end: float) -> Times | str:
    """The same times as those of `save_plan`, bit for bit, but computed on demand."""
    if isinstance(save, (Every, int, float)):
        return _at_interval(save, t_start, t_end, MOST_STREAMED)
    plan = save_plan(save, t_start, t_end)
    return plan if isinstance(plan, str) else Times(plan.size, lambda first, last: plan[first:last], zlib.crc32(plan.tobytes()))


def save_times(save: Any, t_start: float, t_end: float) -> Floats:
    """The times of the rows for an interval, a list of times, or None."""
    if save is None:
        return np.linspace(t_start, t_end, DEFAULT_ROWS + 1)
    if isinstance(save, (Every, int, float)):
        plan = _at_interval(save, t_start, t_end, MOST_ROWS)
        check_rows(plan.size, 1, save)
        return plan.between(0, plan.size)
    if isinstance(save, np.ndarray) and save.dtype == np.float64 and save.ndim == 1 and np.all(np.isfinite(save)):
        times = save.copy()
    else:
        if isinstance(save, str) or not isinstance(save, Iterable):
            raise ModelError.of("simulate", "save", "must be an interval in s, a list of times or 'steps'", save)
        times = np.array([check.number("simulate", f"save[{k}]", t, "s") for k, t in enumerate(save)], dtype=np.float64)
    if times.size == 0 or np.any(np.diff(times) <= 0.0) or times[0] < t_start or times[-1] > t_end:
        raise ModelError.of("simulate", "save", f"must be increasing times in [{t_start}, {t_end}] s", list(save))
    return times


def _at_interval(save: Every | float, t_start: float, t_end: float, most: int) -> Times:
    """Every `interval` seconds, and at the end."""
    interval = save.interval if isinstance(save, Every) else every(save).interval
    if (t_end - t_start) / interval > most:
        raise ModelError.of("simulate", "save", f"must give at most {most:.0e} rows", interval)
    count = math.floor((t_end - t_start) / interval * (1.0 + 1e-12))
    last = min(t_start + interval * float(count), t_end)
    size = count + 1 if t_end - last < 1e-9 * interval else count + 2

    def between(first: int, end: int) -> Floats:
        times: Floats = t_start + interval * np.arange(first, end, dtype=np.float64)
        if first <= count < end:
            times[count - first] = last
        if end == count + 2:
            times[-1] = t_end
        return times

    return Times(size, between)


def check_rows(rows: float, width: int, save: Any) -> None:
    """Refuse, before the run, rows of this width that would not fit into memory."""
    rule = f"must give rows that fit into memory, {rows:.3g} of {width} numbers"
    require_memory("simulate", "save", rule, COPIES * 8.0 * rows * width, save)
