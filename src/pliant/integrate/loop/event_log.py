"""The event log of a run: time, event, direction.  Compiled."""

from __future__ import annotations

from typing import Any

from pliant.codegen.loop_language import floats, ints


def log(run: Any, t: float, e: int, direction: int) -> None:
    k = run.n_logged
    floats(run.log_t, run.max_logged)[k] = t
    ints(run.log_event, run.max_logged)[k] = e
    ints(run.log_direction, run.max_logged)[k] = direction
    run.n_logged += 1
