"""When rows are saved: at an interval, at given times, or at every step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.host.memory import require_memory
from pliant.model import check

MOST_ROWS = 50_000_000  # whatever the memory
COPIES = 2  # of every number while rows are collected
DEFAULT_ROWS = 1000  # intervals between saved rows where the user says nothing


@dataclass(frozen=True)
class Every:
    """Save a row every `interval` seconds, and at the end."""

    interval: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "interval", check.positive("every", "interval", self.interval, "s"))


def every(interval: float) -> Every:
    return Every(interval)


def save_plan(save: Any, t_start: float, t_end: float) -> NDArray[np.float64] | str:
    if isinstance(save, str):
        check.choice("simulate", "save", save, ("steps",))
        return save
    return save_times(save, t_start, t_end)


def save_times(save: Any, t_start: float, t_end: float) -> NDArray[np.float64]:
    """The times of rows for an interval, a list of times, or None."""
    if save is None:
        return np.linspace(t_start, t_end, DEFAULT_ROWS + 1)
    if isinstance(save, (Every, int, float)):
        interval = save.interval if isinstance(save, Every) else every(save).interval
        if (t_end - t_start) / interval > MOST_ROWS:
            raise ModelError.of("simulate", "save", f"must give at most {MOST_ROWS:.0e} rows", interval)
        check_rows((t_end - t_start) / interval, 1, interval)
        count = math.floor((t_end - t_start) / interval * (1.0 + 1e-12))
        times: NDArray[np.float64] = t_start + interval * np.arange(count + 1, dtype=np.float64)
        times[-1] = min(times[-1], t_end)
        return times if t_end - times[-1] < 1e-9 * interval else np.append(times, t_end)
    if isinstance(save, np.ndarray) and save.dtype == np.float64 and save.ndim == 1 and np.all(np.isfinite(save)):
        times = save.copy()
    else:
        times = np.array([check.number("simulate", f"save[{k}]", t, "s") for k, t in enumerate(save)], dtype=np.float64)
    if times.size == 0 or np.any(np.diff(times) <= 0.0) or times[0] < t_start or times[-1] > t_end:
        raise ModelError.of("simulate", "save", f"must be increasing times in [{t_start}, {t_end}] s", list(save))
    return times


def check_rows(rows: float, width: int, save: Any) -> None:
    """Refuse rows of so many numbers that would not fit into memory, before the run."""
    rule = f"must give rows that fit into memory, {rows:.3g} of {width} numbers"
    require_memory("simulate", "save", rule, COPIES * 8.0 * rows * width, save)
