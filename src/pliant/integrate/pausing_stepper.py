"""A stepper that is led from row to row: it marches until a time is passed, reads the row there, and waits inside that step.

The step that passed the time is accepted but not taken: the state, the derivative and the stages are still those of its beginning,
so that more rows inside it cost a dense output each, and it can be given up for a shorter one that ends at a time exactly. While
nobody asks for that, the steps are those that one run through all times would take, bit by bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.integrate.compiled_loops import bound_march, march_loop
from pliant.integrate.memory import Floats
from pliant.integrate.run_record import RECORDS, RUN
from pliant.integrate.status import AGAIN, FULL, PAUSED, TURN, Status
from pliant.integrate.stepper import Located, Outcome, Save, Stepper

# Arrays that no loop writes to, or that are written before they are read: no part of what is saved.
_NOT_SAVED = frozenset((
    "zeros", "work", "row_first", "column", "value", "c", "dense", "samples", "plan", "knots", "piece_end", "piece_head",
    "row_t", "row_observed",
))  # fmt: skip

# Places in the record
_T, _T_STOP, _NEXT_SAVE, _N_ROWS, _PAUSING, _HORIZON, _ENTERING, _WAITING = (
    list(RUN.fields or ()).index(name)
    for name in ("t", "t_stop", "next_save", "n_rows", "pausing", "horizon", "entering", "waiting")
)


@dataclass(frozen=True)
class SavedMarch:
    """Everything that a march goes on with, as copies."""

    record: NDArray[np.uint8]
    arrays: dict[str, NDArray[Any]]
    knots: Floats
    flushed: dict[str, dict[int, list[NDArray[Any]]]]
    located: tuple[Located, ...]
    steps_of: dict[str, int]
    kernel: Any  # of the Jacobian, kept alive


class PausingStepper(Stepper):
    """See above; `reach` instead of `advance`."""

    def start(
        self, t0: float, y0: ArrayLike, p: ArrayLike = (), *, save: Save = None, n_changing: int | None = None, tape: bool = False
    ) -> None:
        """As `Stepper.start`; whatever is to be saved, there is room for one row, the last."""
        super().start(t0, y0, p, save=[t0], n_changing=n_changing, tape=tape)
        self._memory.set(bare=1, pausing=1, t_stop=t0, entering=1)
        self._memory.set(budget=self._budget)
        self._march = march_loop(self._stages)
        self._loop = bound_march(self._stages, self._memory.address)
        self._floats, self._ints = self._memory.floats_and_ints()
        self._plan, self.row = self._memory.arrays["plan"], self._memory.arrays["row_y"][0]

    @property
    def waits(self) -> bool:
        """Whether a step that passed the last row waits to be taken."""
        return bool(self._ints[_WAITING])

    @property
    def t(self) -> float:
        return float(self._floats[_T])

    @property
    def waits_until(self) -> float:
        """Where that step ends, s."""
        return float(self._run["waiting_t"])

    def outcome(self, status: Status) -> Outcome:
        """How the march ended, or stands."""
        return self._outcome(status)

    def enter(self, head: Floats) -> None:
        """A piece of time begins where the march stands, with this head of p."""
        self._memory.arrays["p"][: head.size] = head

    def look_ahead(self, knots: Floats) -> None:
        """Ends of pieces of time, from here on."""
        self._memory.bind_knots(knots)
        self._memory.set(knot=0)

    def restart(self) -> None:
        """The equations have changed here, at a time that no step straddles."""
        self._memory.set(restart=1)

    def reach(self, t: float, stop: float, exactly: bool, horizon: float = 0.0) -> int:
        """March until the row at t is there, but not beyond `stop`; a code of `status`: PAUSED and AT_STOP are in order.

        exactly: a step ends at t (which is `stop` then), and is taken. horizon: for how long the run is expected to go on, s, where
        `stop` does not tell.
        """
        floats, ints = self._floats, self._ints
        self._plan[0] = t
        ints[_NEXT_SAVE] = ints[_N_ROWS] = 0
        ints[_PAUSING] = not exactly
        floats[_T_STOP] = stop
        floats[_HORIZON] = horizon
        code = self._loop()
        while code in AGAIN:
            if code == TURN:
                self._turn()
            elif code == FULL:
                self._flush()
            code = self._piece(self._march)
        if code != PAUSED:  # the caller has a say before the march goes on
            ints[_ENTERING] = 1
        return code

    def give_up(self) -> None:
        """The step that waits is not taken: as if it had been refused, but for its length, which was good."""
        run = self._run
        run["waiting"] = 0
        self._memory.arrays["hit"][:] = 0
        run["accepted"] -= 1
        run["rejected"] += 1
        if run["error_rows"] > 0:
            run["h"] = max(float(run["h"]), float(run["waiting_h"]))

    def stand(self) -> None:
        """The row is where the march itself stands."""
        self.row[:] = self.y

    def noted(self, t: float) -> list[Located]:
        """What recording events did until t in the step that waits."""
        if not self._run["waiting"]:
            return []
        arrays, kinds = self._memory.arrays, self._memory.arrays["kind"]
        notes = [Located(*(arrays[name][k].item() for name in ("note_t", "note_event", "note_direction")))
                 for k in range(int(self._run["n_notes"]))]  # fmt: skip
        users = [note for note in notes if arrays["event_pair"][note.index] < 0 and kinds[note.index] >= RECORDS]
        return sorted((note for note in users if note.t <= t), key=lambda note: note.t)

    def saved(self) -> SavedMarch:
        """Of the march as it stands."""
        arrays = {name: array.copy() for name, array in self._memory.arrays.items() if name not in _NOT_SAVED}
        flushed = {name: dict(blocks) for name, blocks in self._flushed.items()}
        return SavedMarch(self._memory.bytes_of_record(), arrays, self._memory.arrays["knots"].copy(), flushed,
                          tuple(self._located), dict(self._steps_of), self._memory.kernel)  # fmt: skip

    def restore(self, saved: SavedMarch) -> None:
        """Go on from there."""
        self._take_family(saved)
        memory = self._memory
        for name, array in saved.arrays.items():
            if memory.arrays[name].shape == array.shape:
                memory.arrays[name][...] = array
            else:
                memory.bind(**{name: array.copy()})
        memory.bind_knots(saved.knots)
        memory.take_record(saved.record)
        self._flushed = {name: dict(blocks) for name, blocks in saved.flushed.items()}
        self._located, self._steps_of = list(saved.located), dict(saved.steps_of)
        memory.kernel = saved.kernel

    def _take_family(self, saved: SavedMarch) -> None:
        """Of an automatic method, the one of its two families that was at work."""
        from pliant.integrate.setup import set_up

        watching = int(saved.record.view(RUN)[0]["watching"])
        if watching != int(self._run["watching"]):
            method = self.method.alternatives[watching == 2]
            set_up(self._memory, method, self._atol, self._jacobian, self._n_newton, stages=self._stages)
