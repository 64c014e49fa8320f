"""Runs of compiled equations: from a state to a stop time or an event, in portions short enough for Ctrl-C."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import ModelError
from pliant.host.interrupts import postponed
from pliant.host.stages import Stages
from pliant.integrate.compiled_loops import CompiledLoop, compiled_loop
from pliant.integrate.member_runs import MemberRuns
from pliant.integrate.memory.course import Course, course_of
from pliant.integrate.memory.memory import Floats, Memory
from pliant.integrate.memory.phase_tables import Group, Observed, Phases, PiecesOfTime, Settling, Updates
from pliant.integrate.memory.run_record import BLOCK as PADDING
from pliant.integrate.memory.run_record import GOES_ON, RECORDS, RUN, SAVE_NOTHING, SAVE_STEPS, SAVE_TIMES, STOPS
from pliant.integrate.memory.setup import Constraints, Jacobian, set_up
from pliant.integrate.methods.method import Method
from pliant.integrate.saved_march import NOT_SAVED, ROWS, SavedMarch
from pliant.integrate.status import AGAIN, FULL, GO_ON, NEW_PHASE, PAUSED, STATUS_OF_CODE, TURN, Status

PIECE = 0.075  # s of computing before control returns to Python: progress, Ctrl-C, the time limit
FIRST_BUDGET = 256  # evaluations in the first portion, before their cost is known
BLOCK = 2**17  # numbers in a block of saved steps, 1 MiB
MAX_STEPS = 10**9
PATIENCE = 15  # steps that must favour another family before it is used (Hairer, dop853)
LONGEST_PATIENCE = 10_000

Save = ArrayLike | Literal["steps"] | None


class Windows(Protocol):
    """Sorted times that are supplied one window after another."""

    @property
    def size(self) -> int: ...

    @property
    def between(self) -> Callable[[int, int], Floats]: ...


class RowSink(Protocol):
    """A receiver of rows as they are computed, so that the stepper holds only a window of them."""

    @property
    def window(self) -> int:
        """Number of rows in the buffer."""

    @property
    def observes(self) -> bool:
        """Whether the observed numbers are needed too."""

    def take(self, first: int, times: Floats, states: Floats, observed: Floats) -> None:
        """Receive rows from number `first` on, in arrays that will be overwritten; after Ctrl-C the same rows may arrive again."""


class _Buffer(NamedTuple):
    """A buffer that the loop fills until Python copies it: its arrays, and its fields in the record."""

    arrays: tuple[str, ...]
    filled: str
    first: str  # number of the first entry in the buffer


_BUFFERS = {
    "rows": _Buffer(("row_t", "row_y", "row_observed"), "n_rows", "first_row"),
    "touches": _Buffer(("finished",), "n_touches", "first_touch"),
    "log": _Buffer(("log_t", "log_event", "log_direction"), "n_logged", "first_logged"),
    "tape": _Buffer(("tape_t", "tape_y", "tape_end", "tape_p", "tape_hit"), "n_tape", "first_tape"),
}


@dataclass(frozen=True)
class Located:
    """A located event: its time, its number, and whether its function fell (-1) or rose (+1)."""

    t: float  # s
    index: int
    direction: int


@dataclass(frozen=True)
class Statistics:
    accepted: int
    rejected: int
    rhs_evaluations: int
    event_evaluations: int
    smallest_step: float  # s, among steps not cut short by a stop or an event
    largest_step: float  # s
    wall_seconds: float  # s, without compiling the loop
    jacobians: int = 0
    factorisations: int = 0
    iterations: int = 0  # Newton iterations
    steps_of: dict[str, int] = field(default_factory=dict)  # accepted steps by method
    mean_error: float = 0.0  # mean estimated error of fixed steps, over the tolerance
    largest_error: float = 0.0
    partitions: int = 0  # how often independent coordinates were chosen
    constraint_evaluations: int = 0


@dataclass(frozen=True)
class Outcome:
    status: Status
    t: float  # s
    events: tuple[Located, ...]  # events that stopped the run; several if they coincide
    h: float  # s, the step at the end
    limit: float | str  # the limit that was used up, if any
    method: str
    component: int | None = None  # component of the state that caused the end of the run, if any
    opened: tuple[int, float, float] = (0, 0.0, 0.0)  # violated constraint, its violation, and the time in s

    @property
    def sentence(self) -> str:
        """The sentence for the user; formed on demand, because runs through contacts stop at thousands of events."""
        return self.sentence_with(())

    def sentence_with(self, names: Sequence[str]) -> str:
        """The same sentence with the names of the events."""
        events = ", ".join(repr(names[event.index]) if names else str(event.index) for event in self.events)
        _, amount, t_open = self.opened
        words = {"events": events, "method": self.method, "amount": amount, "t_open": t_open}
        return self.status.sentence(t=self.t, h=self.h, limit=self.limit, **words)

    def __str__(self) -> str:
        return self.sentence


class Impacts(NamedTuple):
    """Impacts whose restitution was lowered lest energy be created: number, time of the first, s, factor; number of unsolved."""

    lowered: int = 0
    t: float = 0.0
    factor: float = 1.0
    unsolved: int = 0


@dataclass(frozen=True)
class Tape:
    """Accepted steps."""

    times: Floats  # (step, 2), s: begin and end
    begins: Floats  # (step, component): the state
    ends: Floats
    parameters: Floats  # (step, parameter): parameters that may change, with their values in the step
    hits: NDArray[np.int64]  # (step, event): -1 or +1 if the step ends at the event, falling or rising


class Stepper:
    """Integrates y' = rhs(t, y, p), both kernels given by address:

    void kernel(double t, const double* y, const double* p, double* out, double* work)

    The first `n_controlled` components determine the step, `n_added` more take part without diluting the mean, and the rest are not
    controlled. `step_limit` is a kernel whose single output is the longest step, s, allowed from a state; its y is the state
    followed by its derivative. `knots` are the ends of pieces of time on which functions of time are smooth: a step covers at most
    about two of them. `project` is a kernel that returns the state projected onto its constraints; it is applied after every step.
    `closures` is a kernel whose 2 `n_closures` outputs are constraints, and how far from zero each may be at the end of a step; the
    first `n_implied` were implied by the others at the start, and only these end the run at once. `jacobian` makes the kernel of
    df/dy of the first `n_newton` components when an implicit method needs it (otherwise differences are used); the other components
    must not feed back. `jacobian_price` is the number of evaluations that take as long as making it; an automatic method must be
    held back for that long before it asks for the Jacobian. `atol_floor` raises the absolute tolerance of components with a known
    size. `observed` is a kernel whose outputs are saved with every row. `phases` says what events change inside the loop. Without
    it, and at events of the kind STOPS (the default in `kinds`), the caller decides: between two calls of `advance` it may write to
    `y`, `p`, `active`, `direction` and `required`, and the stepper detects the changes. `updates` are those of sampled controllers,
    `settling` sets states to their equilibrium at the start. `group` has the shapes of which any two may touch.
    `on_phase` is called when a contact has closed or opened. `stages` is notified of compilation.
    """

    def __init__(
        self,
        rhs: int,
        n_state: int,
        n_work: int,
        method: Method,
        *,
        n_controlled: int | None = None,
        n_added: int = 0,
        events: int | None = None,
        n_events: int = 0,
        kinds: ArrayLike = STOPS,
        step_limit: int | None = None,
        knots: Floats | None = None,
        project: int | None = None,
        closures: int | None = None,
        n_closures: int = 0,
        n_implied: int = 0,
        jacobian: Jacobian | None = None,
        jacobian_price: float = 0.0,
        n_newton: int | None = None,
        constraints: Constraints | None = None,
        atol_floor: ArrayLike = 0.0,
        max_steps: int = MAX_STEPS,
        max_seconds: float | None = None,
        observed: Observed | None = None,
        phases: Phases | None = None,
        updates: Updates | None = None,
        settling: Settling | None = None,
        group: Group | None = None,
        on_phase: Callable[[], object] | None = None,
        stages: Stages | None = None,
    ) -> None:
        n_controlled = n_state if n_controlled is None else n_controlled
        _check_counts(n_state, n_controlled + n_added, n_events, events, max_steps, max_seconds)
        self.method, self._n_controlled, self._n_added = method, n_controlled, n_added
        self.plain_atol = _tolerances(method, n_state, n_controlled, n_added)
        atol = np.maximum(self.plain_atol, atol_floor)
        # components without error control may still be solved for
        self._atol = np.concatenate([atol, np.full(n_state - atol.size, float(np.max(atol)))])
        self._jacobian, self._n_newton = jacobian, n_state if n_newton is None else n_newton
        self._memory = Memory(n_state, n_events, n_work, self._atol)
        self._memory.set(rhs=rhs, step_limit=step_limit or 0, project=project or 0, telling=on_phase is not None)
        self._memory.set(events=events or 0, events_open=events or 0, events_closed=events or 0)
        self._memory.set(closures=closures or 0, n_closures=n_closures, n_implied=n_implied)
        self._memory.bind(closure_values=np.zeros(2 * n_closures))
        self._memory.set(n_read=-(-self._n_newton // PADDING) * PADDING)
        resting = 0 if updates is None else updates.held  # held outputs have no error that could dilute the mean
        self._memory.set(n_controlled=n_controlled + n_added, n_mean=n_controlled - resting, max_steps=max_steps)
        self._memory.bind_knots(np.empty(0) if knots is None else knots)
        self._stages, self._jacobian_price = stages or Stages(), jacobian_price
        set_up(self._memory, method, self._atol, jacobian, self._n_newton, constraints, self._stages)
        self._run = self._memory.run
        self._max_seconds = math.inf if max_seconds is None else float(max_seconds)
        self._on_phase = on_phase
        self._flushed: dict[str, dict[int, list[NDArray[Any]]]] = {}
        self._sink: RowSink | None = None
        self._windows: Windows | None = None
        self._planned = 0  # number of times in the windows given to the loop so far
        self._located: list[Located] = []
        self._memory.arrays["kind"][:] = kinds
        for part in (observed, phases, updates, settling, group):
            if part is not None:
                part.bind(self._memory)
        self._memory.bind_notes(int(np.count_nonzero(self._memory.arrays["kind"] >= RECORDS)), n_state)
        self._budget = FIRST_BUDGET
        self._seconds, self._charged = 0.0, 0
        self._steps_of: dict[str, int] = {}

    # ---- the run

    def start(
        self, t0: float, y0: ArrayLike, p: ArrayLike = (), *, save: Save = None, n_changing: int | None = None, tape: bool = False
    ) -> None:
        """Begin at (t0, y0). save: sorted times, "steps" (every accepted step), or None; n_changing: number of variable entries of
        p.

        tape: whether accepted steps are recorded, see `tape`.
        """
        n = self.y.size
        y, parameters = np.asarray(y0, dtype=np.float64), np.array(p, dtype=np.float64).reshape(-1)
        if y.shape != (n,):
            raise ModelError.of("run", "y0", f"must have {n} components", y.shape)
        if not math.isfinite(t0):
            raise ModelError.of("run", "t0", "must be a finite time in s", t0)
        self._steps_of = {}
        if self._run["watching"] == 2:
            set_up(self._memory, self.method, self._atol, self._jacobian, self._n_newton, stages=self._stages)
        self._memory.forget_motion()
        self._memory.set(patience=PATIENCE, price=self._jacobian_price, window_t=t0, earlier_t=t0)
        self._memory.set(t=t0, starting=1, new_phase=1, smallest=math.inf, h=self.method.fixed_step or 0.0)
        self._memory.set(events=self._run["events_open"], shorter=math.inf)
        self._memory.bind_parameters(parameters, parameters.size if n_changing is None else n_changing)
        self._memory.bind_course(self._n_controlled, self._n_added)
        self.y[:] = y
        for name in ("hit", "blind", "turns", "pair_start", "joint_start"):
            self._memory.arrays[name][:] = 0
        self._flushed = {name: {} for name in _BUFFERS}
        self._located, self._seconds = [], 0.0
        self._begun: float | None = None
        self._told = perf_counter()  # when progress was last reported
        self._sink, self._windows, self._planned = None, None, 0
        self._memory.set(bare=0, pausing=0)
        self._plan_rows(t0, save)
        n_noted = 2 + 2 * n + int(self._run["n_parameters"]) + int(self._run["n_events"])
        self._memory.bind_tape(max(16, BLOCK // n_noted) if tape else 0)

    def settle(self, event: int, direction: int) -> None:
        """Call between start and advance: this event was located here before, so its round-off is not a crossing."""
        self._memory.arrays["hit"][event] = direction

    def stream(self, sink: RowSink, save: Windows | str) -> None:
        """Call between start, with save None, and advance: rows go to a sink as they are computed, not into `rows`."""
        self._sink = sink
        self._memory.set(bare=int(not sink.observes))
        if isinstance(save, str):
            self._plan_rows(self.t, save)
            return
        self._windows = save
        self._memory.set(save=SAVE_TIMES)
        self._memory.bind_rows(np.empty(0), min(sink.window, save.size))
        self._next_window()

    def _plan_rows(self, t0: float, save: Save) -> None:
        n = self.y.size
        if save is None:
            plan, capacity, mode = np.empty(0), 0, SAVE_NOTHING
        elif isinstance(save, str):
            if save != "steps":
                raise ModelError.of("run", "save", "must be times, 'steps' or None", save)
            inside_a_step, n_row = int(self._run["max_notes"]), n + int(self._run["n_row"])
            plan, capacity, mode = np.empty(0), max(16, BLOCK // n_row) + inside_a_step, SAVE_STEPS
        else:
            plan = np.array(save, dtype=np.float64).reshape(-1)
            if not np.all(np.isfinite(plan)) or np.any(np.diff(plan) <= 0.0):
                raise ModelError.of("run", "save", "must be finite times in ascending order, without repetition", save)
            if plan.size and plan[0] < t0:
                raise ModelError.of("run", "save", f"must not begin before t0 = {t0} s", float(plan[0]))
            capacity, mode = plan.size, SAVE_TIMES
        self._memory.set(save=mode)
        self._memory.bind_rows(plan, capacity)

    def _next_window(self) -> None:
        """Give the loop the next times; if there are more, it pauses inside a step after passing these."""
        assert self._windows is not None
        first, size = self._planned, self._windows.size
        last = min(first + int(self._run["capacity"]), size)
        self._memory.bind(plan=self._windows.between(first, last))
        self._memory.set(n_plan=last - first, next_save=0, pausing=int(last < size))
        self._planned = last

    def advance(
        self, t_stop: float | PiecesOfTime, *, progress: Callable[[float], object] | None = None, saved: SavedMarch | None = None
    ) -> Outcome:
        """Integrate from the present state to t_stop exactly, or to the first event of the kind STOPS, or as far as it goes.

        t_stop may be pieces of time, each with its own head of p; the run then goes through all of them. `progress` is called with
        t about every 75 ms of computing. `saved` is a march that was saved in these pieces, to go on from. A KeyboardInterrupt ends
        the run with Status.INTERRUPTED; nothing that was computed is lost.
        """
        run = self._run
        pieces = t_stop if isinstance(t_stop, PiecesOfTime) else PiecesOfTime(np.array([float(t_stop)]), np.empty((1, 0)))
        if not (np.all(np.isfinite(pieces.ends)) and pieces.ends[0] >= run["t"]):
            raise ModelError.of("run", "t_stop", f"must be a time >= the present t = {run['t']} s", float(pieces.ends[0]))
        loop = compiled_loop("loop.march", self._stages)
        self._memory.enter_pieces(pieces.ends, pieces.heads, pieces.due, pieces.tail)
        if saved is not None:
            self.restore(saved)
        now = perf_counter()
        self._begun = now - self._seconds if self._begun is None else self._begun
        self._seconds = now - self._begun
        try:
            # asked here as well, because each call may end at its pieces before a portion of computing is over
            self._tell(progress, now)
            if self._seconds >= self._max_seconds:
                self._take_waiting_step(loop)
                return self._outcome(Status.OUT_OF_TIME)
            code = GO_ON
            while code in AGAIN:
                code = self._piece(loop)
                if code == PAUSED:
                    self._flush()
                    self._next_window()
                    code = GO_ON
                self._serve(code)
                now = perf_counter()
                self._seconds = now - self._begun
                if code in AGAIN:
                    self._tell(progress, now)
                # checked however the portion ended, because a run may do nothing but stop at events
                if self._seconds >= self._max_seconds and (code in AGAIN or STATUS_OF_CODE[code] is Status.EVENT):
                    self._take_waiting_step(loop)
                    return self._outcome(Status.OUT_OF_TIME)
            return self._outcome(STATUS_OF_CODE[code])
        except KeyboardInterrupt:
            self._take_waiting_step(loop)
            return self._outcome(Status.INTERRUPTED)
        finally:
            self._seconds = perf_counter() - self._begun

    def outcome(self, status: Status) -> Outcome:
        """How the march ended, or its present status."""
        return self._outcome(status)

    def _tell(self, progress: Callable[[float], object] | None, now: float) -> None:
        """Report the time that was reached, if the last report is half a portion of computing ago."""
        if progress is not None and now - self._told >= 0.5 * PIECE:
            progress(self.t)
            self._told = now

    def hold(self, values: Floats) -> None:
        """Set the outputs of the next update that has no kernel."""
        self._memory.arrays["held_new"][:] = values

    @property
    def has_sampled(self) -> bool:
        """Whether controllers have already run at the present time, because their outputs ended the run."""
        return bool(self._run["pace_kept"])

    def _serve(self, code: int) -> None:
        """Python's tasks before the loop continues; the time to set up a method does not count as time of the run."""
        if code == TURN:
            seconds = self._turn()
            self._begun = None if self._begun is None else self._begun + seconds
        elif code == NEW_PHASE and self._on_phase is not None:
            self._on_phase()

    def _take_waiting_step(self, loop: CompiledLoop) -> None:
        """If a run ends among the rows of one step, make no row later than the state: go to the end of the step, or discard it.

        Rows in windows have been handed over.
        """
        if self._windows is None and self._run["waiting"]:
            self.give_up()
            late = int(np.count_nonzero(self._memory.arrays["row_t"][: int(self._run["n_rows"])] > self._run["t"]))
            self._memory.set(n_rows=int(self._run["n_rows"]) - late, next_save=int(self._run["next_save"]) - late)
        with contextlib.suppress(KeyboardInterrupt), postponed():  # one interrupt is enough
            while self._windows is not None and self._run["waiting"]:
                if int(self._run["next_save"]) >= int(self._run["n_plan"]) and self._run["pausing"]:
                    if not self._run["flushed"]:
                        self._flush()
                    self._next_window()
                self._run["budget"] = 0
                loop(self._memory.address)

    def charge(self, before: Stepper) -> None:
        """Call between start and advance: the limits count what an earlier run has used up, too."""
        self._charged, self._seconds = before._steps_tried, before._seconds
        self._memory.set(max_steps=int(self._run["max_steps"]) - self._charged)

    @property
    def _steps_tried(self) -> int:
        return self._charged + int(self._run["accepted"]) + int(self._run["rejected"])

    @property
    def used_up(self) -> bool:
        """Whether the limits leave nothing for another run."""
        return self._steps_tried >= int(self._run["max_steps"]) + self._charged or self._seconds >= self._max_seconds

    def give_up(self) -> None:
        """Discard the waiting step, as if it had been refused, but keep its length."""
        run = self._run
        run["waiting"] = 0
        self._memory.arrays["hit"][:] = 0
        run["accepted"] -= 1
        run["rejected"] += 1
        if run["error_rows"] > 0:
            run["h"] = max(float(run["h"]), float(run["waiting_h"]))

    def members(self, pieces: PiecesOfTime) -> MemberRuns:
        """Instead of advancing: many runs like the one started here."""
        self._memory.enter_pieces(pieces.ends, pieces.heads, pieces.due, pieces.tail)
        return MemberRuns(self._memory, self._stages, self.plain_atol)

    # ---- copies

    def saved(self) -> SavedMarch:
        """A copy of the present march."""
        arrays = {name: array.copy() for name, array in self._memory.arrays.items() if name not in NOT_SAVED and name not in ROWS}
        rows = slice(None if self._sink is None else 0 if self._run["flushed"] else int(self._run["n_rows"]))
        arrays |= {name: self._memory.arrays[name][rows].copy() for name in ROWS}
        flushed = {name: dict(blocks) for name, blocks in self._flushed.items()}
        located = tuple((event.t, event.index, event.direction) for event in self._located)
        return SavedMarch(
            self._memory.bytes_of_record(), arrays, flushed, located, dict(self._steps_of), self._planned, self._seconds
        )

    def restore(self, saved: SavedMarch) -> None:
        """Continue from a saved march."""
        self._take_family(saved)
        memory = self._memory
        for name, array in saved.arrays.items():
            if name in ROWS:
                memory.arrays[name][: len(array)] = array
            elif memory.arrays[name].shape == array.shape:
                memory.arrays[name][...] = array
            else:
                memory.bind(**{name: array.copy()})
        memory.take_record(saved.record)
        self._flushed = {name: dict(blocks) for name, blocks in saved.flushed.items()}
        self._located, self._steps_of = [Located(*event) for event in saved.located], dict(saved.steps_of)
        self._planned, self._seconds = saved.planned, saved.seconds
        if self._windows is not None:
            memory.bind(plan=self._windows.between(saved.planned - int(self._run["n_plan"]), saved.planned))

    def _take_family(self, saved: SavedMarch) -> None:
        """For an automatic method, restore the family that was active."""
        watching = int(saved.record.view(RUN)[0]["watching"])
        if watching != int(self._run["watching"]):
            method = self.method.alternatives[watching == 2]
            set_up(self._memory, method, self._atol, self._jacobian, self._n_newton, stages=self._stages)

    @property
    def memory(self) -> Memory:
        """The memory of the run, for other loops that use the same tolerances."""
        return self._memory

    def _piece(self, loop: CompiledLoop) -> int:
        """One call of the compiled loop; the number of evaluations and rows is chosen by their measured cost."""
        run = self._run
        run["budget"] = self._budget
        began, spent = perf_counter(), self._spent
        code: int = loop(self._memory.address)
        if code == GO_ON:
            seconds = max(perf_counter() - began, 1e-7)
            wanted = (self._spent - spent) * min(PIECE, self._max_seconds) / seconds
            self._budget = int(min(max(wanted, 1.0), 16.0 * self._budget))
        elif code == FULL:
            self._flush()
        return code

    @property
    def _spent(self) -> int:
        """Evaluations and rows so far."""
        return int(self._run["rhs_evaluations"]) + int(self._run["first_row"]) + int(self._run["n_rows"])

    def _flush(self) -> None:
        """Copy the contents of the buffers; if this is interrupted, the same entries are stored again under the same numbers."""
        run = self._run
        for name, buffer in _BUFFERS.items():
            if name != "rows" or self._sink is None:
                self._flushed[name][int(run[buffer.first])] = self._held(buffer)
        self.hand_over()
        run["flushed"] = 1

    def hand_over(self) -> None:
        """Pass the rows in the buffer to the sink, if there is one; called at the end of a run."""
        if self._sink is not None and not self._run["flushed"]:
            count, arrays = int(self._run["n_rows"]), self._memory.arrays
            if count:
                rows = (arrays[name][:count] for name in _BUFFERS["rows"].arrays)
                self._sink.take(int(self._run["first_row"]), *rows)

    def _held(self, buffer: _Buffer) -> list[NDArray[Any]]:
        count = 0 if self._run["flushed"] else int(self._run[buffer.filled])
        return [self._memory.arrays[array][:count].copy() for array in buffer.arrays]

    def _all_of(self, name: str) -> list[NDArray[Any]]:
        """Everything that was put into a buffer since the start."""
        buffer = _BUFFERS[name]
        before = int(self._run[buffer.first]) + bool(self._run["flushed"])  # else the first block was not copied completely
        blocks = [self._flushed[name][first] for first in sorted(self._flushed[name]) if first < before]
        if not blocks:
            return self._held(buffer)
        return [np.concatenate(parts) for parts in zip(*blocks, self._held(buffer), strict=True)]

    def _turn(self) -> float:
        """Switch to the other of an automatic method's two families; returns the time that took, s."""
        began, run = perf_counter(), self._run
        self._count_steps()
        implicit = int(run["watching"]) == 1
        method = self.method.alternatives[implicit]
        set_up(self._memory, method, self._atol, self._jacobian, self._n_newton, stages=self._stages)
        # the price of the Jacobian is paid once
        self._memory.set(watching=2 if implicit else 1, signs=0, price=0.0, steps_without=0, reach=0.0, loss=0.0, h_old=0.0)
        gain, run["gain"] = float(run["gain"]), 0.0
        cost = float(run["cost_before"])
        self._memory.set(window_t=self.t, window_cost=cost, earlier_t=self.t, earlier_cost=cost)
        if not implicit:
            paid = gain > 0.0
            run["turns_back"] = 0 if paid else int(run["turns_back"]) + 1
            run["patience"] = PATIENCE if paid else min(2 * int(run["patience"]), LONGEST_PATIENCE)
            run["h"] = min(float(run["h"]), float(run["explicit_h"]))
        return perf_counter() - began

    def _count_steps(self) -> None:
        """Add the accepted steps to the count of the active family."""
        method = self.method.alternatives[int(self._run["watching"]) == 2]
        name, accepted = type(method).__name__, int(self._run["accepted"])
        self._steps_of[name] = self._steps_of.get(name, 0) + accepted - sum(self._steps_of.values())

    def _outcome(self, status: Status) -> Outcome:
        run = self._run
        t = float(run["t"])
        events: tuple[Located, ...] = ()
        if status is Status.EVENT:
            kinds = self._memory.arrays["kind"].tolist()
            events = tuple(Located(t, e, direction) for e, direction in self.hits if kinds[e] == STOPS)
            self._located += events
        if status is Status.EVENT_LOST:
            events = (Located(t, int(run["lost"]) - 1, 0),)
        if status is Status.CHATTERS:
            events = (Located(t, int(run["chattering"]), 0),)
        limit = {Status.TOO_MANY_STEPS: int(run["max_steps"]) + self._charged, Status.OUT_OF_TIME: self._max_seconds}.get(
            status, ""
        )
        return Outcome(status, t, events, float(run["h"]), limit, type(self.method).__name__, self._to_blame(status),
                       (int(run["open_row"]), float(run["open_amount"]), float(run["open_t"])))  # fmt: skip

    def _to_blame(self, status: Status) -> int | None:
        """If steps became too small or too many, the component that changes fastest relative to its tolerance; or the first nan."""
        arrays, n = self._memory.arrays, int(self._run["n"])
        if status is Status.NOT_FINITE:
            bad = ~np.isfinite(arrays["y_new"][:n]) | ~np.all(np.isfinite(arrays["k"][:, :n]), axis=0)
            return int(np.argmax(bad)) if np.any(bad) else None
        if status not in (Status.STEP_TOO_SMALL, Status.TOO_MANY_STEPS, Status.OUT_OF_TIME):
            return None
        count = int(self._run["n_mean"])
        scale = arrays["atol"][:count] + float(self._run["rtol"]) * np.abs(arrays["y"][:count])
        return int(np.argmax(np.abs(arrays["k"][0, :count]) / scale))

    # ---- state that the caller may read, and write between advances

    @property
    def atol(self) -> Floats:
        """Absolute tolerances of the components under error control: those that determine the step, then those added to them."""
        return self._atol[: self._n_controlled + self._n_added]

    @property
    def t(self) -> float:
        return float(self._run["t"])

    @property
    def y(self) -> Floats:
        """The present state; write into it to move the mechanism."""
        return self._memory.arrays["y"][: int(self._run["n"])]

    @property
    def p(self) -> Floats:
        """The parameters; write into them to change the equations."""
        return self._memory.arrays["p"]

    @property
    def active(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which events stop the run."""
        return self._memory.arrays["active"].view(np.bool_)

    @property
    def direction(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Which crossings count: -1 falling, +1 rising, 0 both."""
        return self._memory.arrays["direction"]

    @property
    def required(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The side of zero that the current equations belong to, +1 or -1; on the other side the event happens. 0: any side."""
        return self._memory.arrays["required"]

    @property
    def dead(self) -> Floats:
        """Dead band around zero for round-off of an event function: no change of side within it."""
        return self._memory.arrays["dead"]

    @property
    def blind(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Number of steps in which an event could not be judged: its function was nan, or crossed more often than can be noted."""
        return self._memory.arrays["blind"]

    @property
    def impacts(self) -> Impacts:
        """What was found of impulsive contacts."""
        return Impacts(*(self._run[name].item() for name in ("n_lowered", "lowered_t", "lowered_to", "n_unsolved")))

    @property
    def g(self) -> Floats:
        """The event functions at the present state (as last evaluated; a copy)."""
        return self._memory.arrays["g"].copy()

    @property
    def events(self) -> tuple[Located, ...]:
        """Every event of the kind STOPS since start, in order."""
        return tuple(self._located)

    @property
    def hits(self) -> tuple[tuple[int, int], ...]:
        """Events, by number and direction, at the present time."""
        hits = self._memory.arrays["hit"]
        return tuple((int(e), int(hits[e])) for e in np.flatnonzero(hits))

    def logged(self) -> list[Located]:
        """The event log since start, in order: recording events, and events that `phases` marks as reported."""
        return [Located(*entry) for entry in zip(*(column.tolist() for column in self._all_of("log")), strict=True)]

    # ---- contacts

    def resume(self, pair: int, touch: ArrayLike) -> None:
        """Call between start and advance: this pair is already closed; touch: the data of its contact (see `run_record`)."""
        self._memory.arrays["pair_start"][pair] = GOES_ON
        self._memory.arrays["touch"][pair] = touch

    def resume_joint(self, joint: int) -> None:
        """Call between start and advance: p already holds the friction state of this joint."""
        self._memory.arrays["joint_start"][joint] = GOES_ON

    @property
    def touch(self) -> Floats:
        """(pair, TOUCH): the data of ongoing contacts."""
        return self._memory.arrays["touch"]

    @property
    def lost_touches(self) -> bool:
        """Whether finished contacts were only counted, as `members` does if there are too many."""
        return bool(self._run["first_touch"] > 0 and not self._flushed["touches"])

    def touches(self) -> Floats:
        """(contact, FINISHED): finished contacts, in the order of their ends."""
        return self._all_of("touches")[0]

    def rows(self) -> tuple[Floats, Floats]:
        """(times, states) saved so far, as copies."""
        times, states, _ = self._all_of("rows")
        return times, states

    def observed_rows(self) -> tuple[Floats, Floats, Floats]:
        """(times, states, observed numbers) saved so far, as copies."""
        times, states, observed = self._all_of("rows")
        return times, states, observed

    def tape(self) -> Tape:
        """Copies of all accepted steps, if `start` was asked to record them."""
        return Tape(*self._all_of("tape"))

    def course(self) -> Course:
        """The history of the run so far, whatever was saved: some of its states, and extremes of accumulated components."""
        return course_of(self._memory)

    @property
    def largest(self) -> Floats:
        """(vector, 2): the largest magnitudes of observed vectors, and their times, s.

        Observed while contacts were closed, where the equations changed, and at steps that outdid earlier rates and accelerations.
        """
        return np.array(self._memory.arrays["size_peaks"])

    @property
    def dependent(self) -> tuple[int, ...]:
        """Indices of the rates that a method with partitioned coordinates currently treats as dependent."""
        return tuple(int(k) for k in self._memory.arrays["dependent"]) if self._run["partitions"] else ()

    @property
    def statistics(self) -> Statistics:
        run = self._run
        largest = float(run["largest"])
        self._count_steps()
        return Statistics(
            accepted=int(run["accepted"]),
            rejected=int(run["rejected"]),
            rhs_evaluations=int(run["rhs_evaluations"]),
            event_evaluations=int(run["event_evaluations"]),
            smallest_step=min(float(run["smallest"]), largest),
            largest_step=largest,
            wall_seconds=self._seconds,
            jacobians=int(run["jacobians"]),
            factorisations=int(run["factorisations"]),
            iterations=int(run["iterations"]),
            steps_of=dict(self._steps_of),
            mean_error=float(run["error_sum"]) / max(int(run["error_count"]), 1),
            largest_error=float(run["error_largest"]),
            partitions=int(run["partitions"]),
            constraint_evaluations=int(run["constraint_evaluations"]),
        )


def _tolerances(method: Method, n_state: int, n_controlled: int, n_added: int) -> Floats:
    atol = np.asarray(method.atol, dtype=np.float64)
    if atol.ndim == 0:
        return np.full(n_controlled + n_added, float(atol))
    if atol.size not in (n_controlled, n_state):
        rule = f"must be one number or one for each of the {n_controlled} controlled components"
        raise ModelError.of(type(method).__name__, "atol", rule, f"{atol.size} numbers")
    return np.concatenate([atol[:n_controlled], np.full(n_added, float(np.max(atol[:n_controlled])))])


def _check_counts(
    n_state: int, n_controlled: int, n_events: int, events: int | None, max_steps: int, max_seconds: float | None
) -> None:
    if n_state < 1:
        raise ModelError.of("run", "n_state", "must be >= 1", n_state)
    if not 1 <= n_controlled <= n_state:
        raise ModelError.of("run", "n_controlled", f"must be in 1 ... n_state = {n_state}", n_controlled)
    if n_events < 0 or (n_events > 0 and not events):
        raise ModelError.of("run", "n_events", "must be >= 0, and 0 without an event kernel", n_events)
    if max_steps < 1:
        raise ModelError.of("run", "max_steps", "must be >= 1", max_steps)
    if max_seconds is not None and not max_seconds > 0.0:
        raise ModelError.of("run", "max_seconds", "must be > 0 s", max_seconds)
