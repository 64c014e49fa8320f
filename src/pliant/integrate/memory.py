"""What the compiled loops work on: one record of scalars and of addresses of arrays.

Numba passes a record as one pointer, so every compiled function is `f(run, ...)`; bundles of arrays as arguments took
it 76 s to compile where this takes a few.  Arrays are made and kept alive here; no loop allocates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.integrate.tableaus import Tableau, hermite_rows

Floats = NDArray[np.float64]

BLOCK = 8  # components that a stage sum takes at a time: vectors are filled up with zeros to a multiple of this
SAVE_NOTHING, SAVE_TIMES, SAVE_STEPS = 0, 1, 2
INTERIOR = 5  # places inside a step where events are looked for
SAMPLES = INTERIOR + 2 + 8  # with both ends, and room for turning points of event functions

_MOTION = {  # where the run is; times in s
    "t": "f8",
    "h": "f8",  # proposed next step
    "t_stop": "f8",
    "log_old_error": "f8",
    "anchor": "f8",  # fixed steps end at anchor + i step
    "anchor_steps": "i8",
    "rejected_last": "i8",
    "not_finite": "i8",  # the last rejection was for nan or inf
    "extras_done": "i8",  # this step's dense stages exist
    "last_taken": "f8",  # the step that y_new and the stages belong to, while an event is located
    "starting": "i8",
    "entering": "i8",
    "restart": "i8",
    "budget": "i8",  # evaluations of the right-hand side before Python has a turn
    "next_save": "i8",
    "n_rows": "i8",
    "first_row": "i8",  # number of the row at the head of the buffer
    "flushed": "i8",  # Python has copied the buffer
    "accepted": "i8",
    "rejected": "i8",
    "rhs_evaluations": "i8",
    "event_evaluations": "i8",
    "smallest": "f8",
    "largest": "f8",
}
_SETTINGS = {  # what the caller asked for, and the method
    "rhs": "i8",  # address
    "events": "i8",  # address
    "step_limit": "i8",  # address, 0: none
    "project": "i8",  # address, 0: none
    "n": "i8",
    "n_padded": "i8",  # to a multiple of BLOCK
    "n_controlled": "i8",  # components whose error counts
    "n_mean": "f8",  # what the sum of their squares is divided by
    "n_parameters": "i8",
    "n_events": "i8",
    "rtol": "f8",
    "max_step": "f8",
    "first_step": "f8",
    "max_steps": "i8",
    "stages": "i8",
    "extras": "i8",
    "terms": "i8",  # of the dense output
    "error_rows": "i8",
    "error_needs_end": "i8",  # the estimate uses the derivative at the step's end (first same as last)
    "order": "f8",
    "exponent": "f8",
    "beta": "f8",
    "min_factor": "f8",
    "max_factor": "f8",
    "save": "i8",
    "n_plan": "i8",
    "capacity": "i8",  # of the buffer of rows
}
_ARRAYS = {  # addresses; see `floats`, `ints`, `flags` in kernels
    # a tableau.  Rows: stages 0 ... s-1, the solution (s), extra stages, error estimates
    "row_first": "i8",  # (row) row r is the terms row_first[r] ... row_first[r + 1] - 1
    "column": "i8",  # (term) stage number
    "value": "i8",  # (term) coefficient
    "c": "i8",  # (stage) nodes
    "dense": "i8",  # (term, stage) F0, F1, ... of the nested form
    # states
    "zeros": "i8",
    "y": "i8",
    "y_new": "i8",
    "y_try": "i8",
    "spare": "i8",
    "y_seen": "i8",  # as the last call left it: a difference means that the caller moved the state
    "p": "i8",
    "p_seen": "i8",
    "work": "i8",
    "k": "i8",  # (stage, component)
    "longest": "i8",  # (1) what the step limit answers, s
    "atol": "i8",
    "weights": "i8",  # (stage)
    # event functions g and what is known of them
    "g": "i8",
    "g_new": "i8",
    "g_try": "i8",
    "g_low": "i8",
    "g_high": "i8",
    "side": "i8",  # ints, of zero that g is on at the start of the step; 0: began at zero, waiting to leave it
    "before": "i8",  # ints, the same at a place inside the step
    "active": "i8",  # flags
    "direction": "i8",  # ints: -1 falling, +1 rising, 0 both
    "hit": "i8",  # ints: -1, +1 located now, falling or rising
    "theta": "i8",  # (sample) places in the step, 0 ... 1
    "samples": "i8",  # (sample, event)
    # rows
    "plan": "i8",  # times asked for
    "row_t": "i8",
    "row_y": "i8",  # (row, component)
}
RUN = np.dtype(list((_MOTION | _SETTINGS | _ARRAYS).items()))


class Memory:
    """The record, and the arrays it points to."""

    def __init__(self, tableau: Tableau, n: int, n_events: int, n_work: int, atol: Floats) -> None:
        self._record = np.zeros(1, dtype=RUN)
        self.run: Any = self._record[0]
        self.arrays: dict[str, NDArray[Any]] = {}
        scheme = pack(tableau)
        n_k = scheme["c"].size
        padded = -(-n // BLOCK) * BLOCK
        self.bind(**scheme, k=np.zeros((n_k, padded)), weights=np.zeros(n_k), work=np.zeros(max(n_work, 1)), atol=atol)
        self.bind(**{name: np.zeros(padded) for name in ("zeros", "y", "y_new", "y_try", "spare", "y_seen")})
        self.bind(**{name: np.zeros(n_events) for name in ("g", "g_new", "g_try", "g_low", "g_high")})
        self.bind(**{name: np.zeros(n_events, dtype=np.int64) for name in ("side", "before", "direction", "hit")})
        self.bind(active=np.ones(n_events, dtype=np.uint8))
        self.bind(longest=np.zeros(1), theta=np.zeros(SAMPLES), samples=np.zeros((SAMPLES, n_events)))
        self.bind_parameters(np.zeros(0))
        self.bind_rows(np.zeros(0), 0, n)
        self.set(n=n, n_padded=padded, n_events=n_events, stages=tableau.stages, extras=len(tableau.extra_a))
        self.set(terms=3 + len(tableau.dense), error_rows=len(tableau.error))
        self.set(error_needs_end=any(tableau.stages in row for row in tableau.error))

    @property
    def address(self) -> int:
        """Of the record: what the compiled loop takes."""
        return int(self._record.ctypes.data)

    def set(self, **fields: float) -> None:
        for name, value in fields.items():
            self.run[name] = value

    def bind(self, **arrays: NDArray[Any]) -> None:
        for name, array in arrays.items():
            self.arrays[name] = np.ascontiguousarray(array)
            self.run[name] = self.arrays[name].ctypes.data

    def bind_parameters(self, p: Floats) -> None:
        self.set(n_parameters=p.size)
        self.bind(p=p, p_seen=np.zeros_like(p))

    def bind_rows(self, plan: Floats, capacity: int, n: int) -> None:
        self.set(n_plan=plan.size, capacity=capacity)
        self.bind(plan=plan, row_t=np.empty(capacity), row_y=np.empty((capacity, n)))

    def forget_motion(self) -> None:
        self.set(**dict.fromkeys(_MOTION, 0))


def pack(tableau: Tableau) -> dict[str, NDArray[Any]]:
    """A tableau in arrays."""
    s, n_k = tableau.stages, tableau.stages + 1 + len(tableau.extra_a)
    rows = [sorted(row.items()) for row in (*tableau.a, tableau.b, *tableau.extra_a, *tableau.error)]
    dense = [*hermite_rows(tableau.b, s), *tableau.dense]
    return {
        "row_first": np.cumsum([0, *map(len, rows)], dtype=np.int64),
        "column": np.array([j for row in rows for j, _ in row], dtype=np.int64),
        "value": np.array([float(a) for row in rows for _, a in row]),
        "c": np.array([float(c) for c in (*tableau.c, 1, *tableau.extra_c)]),
        "dense": np.array([[float(row.get(j, 0)) for j in range(n_k)] for row in dense]),
    }
