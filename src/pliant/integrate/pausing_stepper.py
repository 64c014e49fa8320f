"""A stepper that is advanced from row to row: it marches until a time is passed, reads the row there, and waits inside that step.

The step that passed the time is accepted but not taken: the state, the derivative and the stages are still those of its beginning,
so each further row inside it costs only a dense output, and it can be replaced by a shorter step that ends exactly at a given time.
Unless that is requested, the steps are the same, bit for bit, as those of one run through all times.
"""

from __future__ import annotations

from functools import partial

from numpy.typing import ArrayLike

from pliant.integrate.compiled_loops import compiled_loop
from pliant.integrate.memory.memory import Floats
from pliant.integrate.memory.run_record import RECORDS, RUN
from pliant.integrate.status import AGAIN, FULL, PAUSED
from pliant.integrate.stepper import Located, Save, Stepper

# Offsets in the record
_T, _T_STOP, _NEXT_SAVE, _N_ROWS, _PAUSING, _HORIZON, _ENTERING, _WAITING, _RESTART = (
    list(RUN.fields or ()).index(name)
    for name in ("t", "t_stop", "next_save", "n_rows", "pausing", "horizon", "entering", "waiting", "restart")
)


class PausingStepper(Stepper):
    """A Stepper with `reach` instead of `advance`; see the module's description."""

    def start(
        self, t0: float, y0: ArrayLike, p: ArrayLike = (), *, save: Save = None, n_changing: int | None = None, tape: bool = False
    ) -> None:
        """As `Stepper.start`, but with room for one row only, the last."""
        super().start(t0, y0, p, save=[t0], n_changing=n_changing, tape=tape)
        self._memory.set(bare=1, pausing=1, t_stop=t0, entering=1)
        self._memory.set(budget=self._budget)
        self._march = compiled_loop("loop.march", self._stages)
        self._loop = partial(self._march, self._memory.address)
        self._floats, self._ints = self._memory.floats_and_ints()
        self._plan, self.row = self._memory.arrays["plan"], self._memory.arrays["row_y"][0]

    @property
    def waits(self) -> bool:
        """Whether a step that passed the last row is waiting to be taken."""
        return bool(self._ints[_WAITING])

    @property
    def t(self) -> float:
        return float(self._floats[_T])

    @property
    def waits_until(self) -> float:
        """The end of the waiting step, s."""
        return float(self._run["waiting_t"])

    def enter(self, head: Floats) -> None:
        """Begin a piece of time at the present time, with this head of p."""
        self._memory.arrays["p"][: head.size] = head

    def look_ahead(self, knots: Floats) -> None:
        """Set the ends of the pieces of time from here on."""
        self._memory.bind_knots(knots)
        self._memory.set(knot=0)

    def restart(self) -> None:
        """Restart after a change of the equations at the present time, which no step straddles."""
        self._ints[_RESTART] = 1

    def reach(self, t: float, stop: float, exactly: bool, horizon: float = 0.0) -> int:
        """March until the row at t is there, but not beyond `stop`; a code of `status`: PAUSED and AT_STOP are in order.

        exactly: end a step at t, which then equals `stop`, and take it. horizon: the expected remaining duration of the run, s, if
        `stop` does not tell.
        """
        floats, ints = self._floats, self._ints
        self._plan[0] = t
        ints[_NEXT_SAVE] = ints[_N_ROWS] = 0
        ints[_PAUSING] = not exactly
        floats[_T_STOP] = stop
        floats[_HORIZON] = horizon
        code: int = self._loop()
        if code == FULL:
            self._flush()
        while code in AGAIN:
            self._serve(code)
            code = self._piece(self._march)
        if code != PAUSED:  # the caller decides before the march continues
            ints[_ENTERING] = 1
        return code

    def stand(self) -> None:
        """Make the present state of the march the row."""
        self.row[:] = self.y

    def noted(self, t: float) -> list[Located]:
        """Crossings of recording events up to t in the waiting step."""
        if not self._run["waiting"]:
            return []
        arrays, kinds = self._memory.arrays, self._memory.arrays["kind"]
        notes = [Located(*(arrays[name][k].item() for name in ("note_t", "note_event", "note_direction")))
                 for k in range(int(self._run["n_notes"]))]  # fmt: skip
        users = [note for note in notes if arrays["event_pair"][note.index] < 0 and kinds[note.index] >= RECORDS]
        return sorted((note for note in users if note.t <= t), key=lambda note: note.t)
