"""Runs members of an ensemble in lock-step on this machine: every core runs vectors of members, taken from one queue."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.codegen.member_lanes import Lanes
from pliant.ensemble.lockstep.attempt import HOST_ENTRY, host_text
from pliant.ensemble.lockstep.events import TALLIED
from pliant.ensemble.lockstep.tables import SHARED, LockstepModel
from pliant.ensemble.lockstep.text import LockstepText
from pliant.host.object_cache import kept
from pliant.host.processor import VERSIONS, Target, host, load_object, optimised
from pliant.integrate.methods.tableaus import Tableau

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LOCKSTEP_VERSION = "1"  # to be changed whenever equal text must give new object code
# A step that ends beyond an event by less than this fraction of a step that its error allows is moved back by parabolas: times
# rtol, and at most. With a tenth or a hundredth of it, a falling chain is as accurate after ten touches, and takes 1 or 2 % more
# steps.
NEAR_EVENT, NEAR_AT_MOST = 100.0, 1e-3
# How closely peaks of forces are located, as a fraction of the step, at this rtol. Then a straight line for the rate of the force
# is accurate enough. At a smaller rtol, it may take two attempts more.
NEAR_PEAK, ROUGH = 2e-2, 1e-6
LOOK = 0.1  # s between progress checks

RECORD = np.dtype([(name, "i8" if code.endswith("*") else code) for name, code in SHARED.items()])


def host_width() -> int:
    """Members in a vector: as many as fill the processor's widest registers."""
    features = host().features.split(",")
    return 8 if "+avx512f" in features else 4 if "+avx" in features else 2


def object_code_of(text: str, target: Target, folder: Path | None) -> bytes:
    def compiled() -> bytes:
        machine = target.machine(3)
        return bytes(machine.emit_object(optimised(text, machine)))

    parts = (text, target.triple, target.cpu, target.features, *VERSIONS, LOCKSTEP_VERSION, "lockstep")
    return kept(folder, parts, compiled)[0]


@dataclass(frozen=True, eq=False)
class HostLoop:
    """The machine code of a lock-step loop on this machine."""

    text: LockstepText
    _engine: Any = field(repr=False)

    @classmethod
    def of(
        cls, model: LockstepModel, tableau: Tableau, own_constants: bool, folder: Path | None, width: int | None = None
    ) -> HostLoop:
        text = LockstepText(model, tableau, Lanes(width or host_width(), own_constants))
        target = host()
        return cls(text, load_object(object_code_of(host_text(text), target, folder), target))

    def __call__(self, shared: int, memory: int) -> None:
        self._function(shared, memory)

    @property
    def _function(self) -> Any:
        return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(self._engine.get_function_address(HOST_ENTRY))

    def memory(self) -> Floats:
        """Memory for one core, aligned to the size of vectors."""
        return np.zeros(self.text.slots.size * self.text.lanes.width + 8)


@dataclass(frozen=True)
class LockstepMembers:
    """What members start with. constants, weight and floors may have one row for all."""

    y: Floats  # (member, component)
    p: Floats  # (entry that events change): the same for all at the start
    constants: Floats  # (member or 1, constant)
    weight: Floats  # (member or 1) N
    floors: Floats  # (member or 1, pair) m/s
    corners: Floats  # (event) m/s: the slip speed of a corner of friction, 0 for other events; only lengths of steps depend on it
    ends: Floats  # (piece) s
    heads: Floats  # (piece, entry)
    plan: Floats  # (row) s: where rows are kept, all in (t_start, t_end] but the first
    t_start: float

    def __len__(self) -> int:
        return len(self.y)

    def of(self, which: NDArray[np.intp] | slice) -> LockstepMembers:
        """A selection of these members."""
        if isinstance(which, np.ndarray) and which.size == len(self) and np.array_equal(which, np.arange(len(self))):
            return self
        constants, weight, floors = (rows_of(rows, which) for rows in (self.constants, self.weight, self.floors))
        return replace(self, y=self.y[which], constants=constants, weight=weight, floors=floors)


def rows_of(rows: Floats, which: NDArray[np.intp] | slice) -> Floats:
    """The rows of these members, if there is not one for all."""
    return rows[which] if len(rows) > 1 else rows


@dataclass(frozen=True)
class LockstepTolerances:
    """The tolerances that a single run with the same method has."""

    rtol: float
    atol: Floats  # (controlled components, then one for works)
    asked_rtol: float
    loosened: float
    max_step: float
    max_steps: int


@dataclass
class LockstepEnds:
    """How members ended, and their stored results; if a member was not run, only its code has a meaning."""

    code: Ints  # codes of `judge`; -1: not run
    event: Ints
    t: Floats
    y: Floats
    p: Floats  # what events change
    tally: Floats  # (member, pair, TALLIED)
    reach: Floats  # (member, work, 2) lowest, highest
    steps: Ints
    refused: Ints
    row_y: Floats  # (member, row, component)
    row_p: Floats
    interrupted: bool = False  # whether some members were not run
    gpu_seconds: float = 0.0  # during which kernels ran, on the GPU that took longest

    @classmethod
    def room(cls, count: int, model: LockstepModel, rows: int, *, filled: bool = True) -> LockstepEnds:
        """Room for so many members, none of which was run. filled: with nan and -1, for what is not written."""
        pairs, n, changing = len(model.pairs), model.n, model.n_changing

        def numbers(*shape: int) -> Floats:
            return np.full((count, *shape), np.nan) if filled else np.empty((count, *shape))

        def whole() -> Ints:
            return np.full(count, -1, dtype=np.int64) if filled else np.empty(count, dtype=np.int64)

        return cls(
            code=np.full(count, -1, dtype=np.int64), event=whole(), t=numbers(), y=numbers(n), p=numbers(changing),
            tally=numbers(pairs, TALLIED), reach=numbers(model.n_works, 2), steps=whole(), refused=whole(),
            row_y=numbers(rows, n), row_p=numbers(rows, changing),
        )  # fmt: skip

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays, by their names in the shared record."""
        return {
            "code": self.code, "event": self.event, "t_end": self.t, "y_end": self.y, "p_end": self.p, "tally": self.tally,
            "reach": self.reach, "steps": self.steps, "refused": self.refused, "row_y": self.row_y, "row_p": self.row_p,
        }  # fmt: skip


def inputs_of(members: LockstepMembers, tolerances: LockstepTolerances) -> tuple[dict[str, float], dict[str, NDArray[Any]]]:
    """(Numbers, arrays) of the shared record at the start of a run."""
    numbers = {
        "members": len(members), "n_plan": members.plan.size, "n_pieces": members.ends.size, "max_steps": tolerances.max_steps,
        "weight_step": int(members.weight.size > 1), "floors_step": members.floors.shape[1] if len(members.floors) > 1 else 0,
        "t_start": members.t_start, "rtol": tolerances.rtol, "asked_rtol": tolerances.asked_rtol, "loosened": tolerances.loosened,
        "max_step": tolerances.max_step, "near": min(NEAR_EVENT * tolerances.rtol, NEAR_AT_MOST),
        "near_peak": NEAR_PEAK * min((tolerances.rtol / ROUGH) ** 0.25, 1.0),
        "peak_tries": 1.0 if tolerances.rtol >= ROUGH else 2.0,
    }  # fmt: skip
    arrays: dict[str, NDArray[Any]] = {
        "y": members.y, "p": members.p, "constants": members.constants, "weight": members.weight, "floors": members.floors,
        "corners": members.corners,
        "atol": tolerances.atol, "ends": members.ends, "heads": members.heads, "plan": members.plan,
        "next": np.zeros(1, dtype=np.int64), "cancelled": np.zeros(1, dtype=np.int64),
    }  # fmt: skip
    return numbers, {name: np.ascontiguousarray(array) for name, array in arrays.items()}


class HostRuns:
    """Runs members on all cores; `cancel`, called from another thread, ends the run soon."""

    def __init__(self, loop: HostLoop) -> None:
        self._loop = loop
        self._arrays: dict[str, NDArray[Any]] = {}

    def cancel(self) -> None:
        if self._arrays:
            self._arrays["cancelled"][0] = 1

    @property
    def done(self) -> int:
        """The number of members started."""
        return int(self._arrays["next"][0]) if self._arrays else 0

    def run(
        self, members: LockstepMembers, tolerances: LockstepTolerances, threads: int, progress: Callable[[int], None] | None = None
    ) -> LockstepEnds:
        ends = LockstepEnds.room(len(members), self._loop.text.model, members.plan.size)
        numbers, self._arrays = inputs_of(members, tolerances)
        record = np.zeros(1, dtype=RECORD)
        for name, value in numbers.items():
            record[0][name] = value
        for name, array in {**self._arrays, **ends.arrays}.items():
            record[0][name] = array.ctypes.data
        memories = [self._loop.memory() for _ in range(threads)]
        address = int(record.ctypes.data)
        with ThreadPoolExecutor(threads, thread_name_prefix="lockstep") as pool:
            futures: list[Future[None]] = [pool.submit(self._loop, address, int(memory.ctypes.data)) for memory in memories]
            waiting: Any = futures
            try:
                while waiting:
                    _, waiting = wait(waiting, timeout=LOOK)
                    if progress is not None:
                        progress(min(self.done, len(members)))
            except KeyboardInterrupt:  # members in progress are finished
                self.cancel()
                ends.interrupted = True
            except BaseException:
                self.cancel()
                raise
        return ends
