"""Stepped runs: the caller advances the run step by step, may change inputs between steps, and may return to a saved state.

While inputs do not change, the integrator takes the same steps as one `simulate`: a step of the caller ends inside a step of the
integrator and is read by dense output, like saved rows. When inputs change, that step is discarded, a step that ends there is
taken, and the integration restarts, as at a breakpoint of a table. If inputs change repeatedly, further changes are expected, and
steps end where inputs may change.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError, StepError
from pliant.host.stages import Stages, Tell
from pliant.integrate.methods.method import Method
from pliant.integrate.status import AT_EVENT, AT_STOP, PAUSED, STATUS_OF_CODE, Status
from pliant.integrate.time_pieces import TimePieces
from pliant.model import check
from pliant.model.refused import refuse_controllers
from pliant.results.contacts import ContactTable
from pliant.results.contents import EventRecord
from pliant.results.kept import checked_names
from pliant.results.result import Result
from pliant.results.table import QUANTITIES
from pliant.run.inputs import Inputs, parameters_of_efforts, with_inputs_apart
from pliant.run.mechanism import AnySystem
from pliant.run.observation import Observation
from pliant.run.prepare import Compiled, runnable
from pliant.run.provenance import Provenance
from pliant.run.row_sinks import window_of
from pliant.run.saved_run import RowNode, SavedRun, mechanism_words, nodes_to
from pliant.run.simulate import AUTO, Run, check_limits, compiled_for, method_of, state_of
from pliant.run.starts import AnyStart, start_named
from pliant.run.to_file import RowStream, check_target
from pliant.trace.layout import FOREVER, POSITIONS, RATES

if TYPE_CHECKING:  # LLVM is imported when a run begins
    from pliant.integrate.pausing_stepper import PausingStepper

Given = ParamSpec("Given")
T = TypeVar("T")

OFTEN = 2  # consecutive steps with changed inputs after which the next change is expected
LOOKED_AHEAD = 4096  # steps of the caller over which formulas of time are examined at once if no end is known
# Expected number of steps of a run without an end, or the number it has taken if larger; it decides whether implicit steps pay off.
EXPECTED = 1000
WINDOW = 256  # rows that are written to a file at once
ON_TIME = 1e-9  # of a step: by how much it may exceed t_end through round-off


class _LedRun(Run):
    """A Run whose stepper pauses between rows."""

    stepper: PausingStepper
    last: RowNode | None = None  # the last row
    base: Floats  # constants of p at the start, before inputs were first set

    def kind_of_stepper(self) -> type[PausingStepper]:
        from pliant.integrate.pausing_stepper import PausingStepper

        return PausingStepper

    def time_pieces(self, t_start: float, t_end: float) -> TimePieces:
        if self.t_end >= FOREVER:
            return TimePieces(np.empty(0), True)  # examined chunk by chunk
        return super().time_pieces(t_start, t_end)

    def rows(self) -> tuple[Floats, Floats, Floats]:
        """The rows of the run, observed now, with the inputs of each step."""
        from pliant.integrate.rows import evaluate_rows

        nodes, code, n_changing = nodes_to(self.last), self.compiled.observe, self.traced.layout.n_changing
        times, states = np.array([node.t for node in nodes]), np.array([node.y for node in nodes])
        observed, first = np.empty((len(nodes), code.n_out)), 0
        while first < len(nodes):
            places, numbers = entries = nodes[first].entries
            last = next((k for k in range(first, len(nodes)) if nodes[k].entries is not entries), len(nodes))
            constants = self.base.copy()
            constants[places - n_changing] = numbers
            part, changing = slice(first, last), np.array([node.p for node in nodes[first:last]])
            evaluate_rows(code.address, times[part], states[part], changing, observed[part], code.n_work, constants)
            first = last
        return times, states, observed


def start(
    system: AnySystem | Compiled,
    *,
    method: Method | type[Method] | str | None = AUTO,
    inputs: Sequence[str] | None = None,
    parameters: Mapping[str, float] | None = None,
    t_start: float = 0.0,
    t_end: float | None = None,
    start: AnyStart = None,
    formulation: str = "articulated",
    record: bool = True,
    phase: Tell | None = None,
    max_steps: int | None = None,
    cache: bool = True,
    keep: Sequence[str] | None = None,
    to: str | Path | None = None,
    compression: int | None = None,
    resume: bool = False,
) -> SteppedRun:
    """Begin a run that is advanced by `SteppedRun.step`; other arguments are those of `simulate`.

    inputs: names of the parameters that will change between steps; default: all on which drives and loads depend. t_end: latest end
    of the run, s; default: none. record: keep the rows, for `SteppedRun.result`. to: a netCDF file to which rows are written during
    the run; `SteppedRun.result` completes it. keep: quantities in that file; default: all. resume: go on from what the same run has
    left of that file if its process was killed; `SteppedRun.t` tells from where.
    """
    system = runnable(system, "start")
    check_limits("start", max_steps)
    check.function("start", "phase", phase)
    level = check_target("start", to, compression, resume)
    if (to is None and keep is not None) or (to is not None and not record):
        rule = "must name a file if keep is given, and must be left out if record is False"
        raise ModelError.of("start", "to", rule, to)
    quantities = tuple(QUANTITIES) if keep is None else checked_names("start", "keep", keep)
    inputs = None if inputs is None else check.names("start", "inputs", inputs)
    mechanism = system.traced.original if isinstance(system, Compiled) else system
    refuse_controllers(mechanism, "start", "the caller of the run samples it, and its inputs are held between steps")
    state = None if isinstance(start, Mapping) else state_of(start)
    t_start = check.number("start", "t_start", t_start if state is None else state.t, "s")
    horizon = FOREVER if t_end is None else check.number("start", "t_end", t_end, "s")
    if not horizon > t_start:
        raise ModelError.of("start", "t_end", f"must be > t_start = {t_start} s", t_end)
    method = method_of(method)
    assembled = t_start if state is None else state.t_assembled
    compiled = compiled_for(system, method, assembled, parameters, formulation, cache, phase)
    original = compiled.traced.original
    names = [name for name in parameters_of_efforts(original) if inputs is None or name in inputs]
    names += [name for name in inputs or () if name not in names]
    for name in names:
        check.choice("start", "inputs", name, tuple(original.parameters))
    owner = original if isinstance(system, Compiled) else system
    compiled, places = with_inputs_apart(owner, compiled, names)
    if isinstance(start, Mapping) and start:
        state = start_named(compiled, "start", t_start, start)
    led = _LedRun(compiled, method, t_start, horizon, np.array([t_start]), max_steps, None, state, Stages(phase))
    stream = None if to is None else RowStream("start", to, compiled, quantities, level, resume)
    with stream or nullcontext():
        return SteppedRun(led, Inputs(owner, compiled, places), t_start, record, stream)


def by_one_thread(
    method: Callable[Concatenate[SteppedRun, Given], T],
) -> Callable[Concatenate[SteppedRun, Given], T]:
    """Refuse a second thread while one is inside: it would advance a state that is in the middle of a step."""

    @functools.wraps(method)
    def refusing(self: SteppedRun, /, *given: Given.args, **options: Given.kwargs) -> T:
        if not self._used.acquire(blocking=False):
            rule = "must be used by one thread at a time: start a run for each, or take turns with a lock"
            raise ModelError.of("SteppedRun", method.__name__, rule, "a call during a call by another thread")
        try:
            return method(self, *given, **options)
        finally:
            self._used.release()

    return refusing


class SteppedRun:
    """A run that its caller advances step by step. See `start`.

    `step` advances it, `observe` reads its quantities, `save` and `restore` return to an earlier state, `result` collects its rows.
    """

    def __init__(self, led: _LedRun, inputs: Inputs, t_start: float, record: bool, stream: RowStream | None = None) -> None:
        self._led, self._inputs, self._stepper = led, inputs, led.stepper
        self._traced, self._record, self._t_start = led.traced, record, t_start
        self._observer, self._n_changing = led.compiled.observe, led.traced.layout.n_changing
        places = led.traced.layout.y
        self._positions, self._rates, self._prescribes = places[POSITIONS], places[RATES], bool(led.traced.tree.prescribed)
        self._first_p = led.traced.parameters(t_start, led.stops[1])
        self._entries = (np.empty(0, dtype=np.int64), np.empty(0))  # of inputs in p
        self._admitted: set[str] = set()
        self._t, self._steps, self._endless = t_start, 0, led.t_end >= FOREVER
        self._dt, self._origin, self._count = math.nan, t_start, 0  # steps are counted anew when their length changes
        self._streak = 0  # consecutive steps with changed inputs
        self._piece, self._ahead = 0, t_start if self._looks_ahead else math.inf
        self._begun = False
        self._used = threading.RLock()
        self._stream, self._ended, self._waiting = stream, False, 0  # rows that wait to be written
        if stream is not None:
            led.sink = self._sink = stream.sink(min(WINDOW, window_of(1 + led.y0.size + self._observer.n_out)))
            if stream.saved is not None:
                self._go_on_from("start", stream.saved)

    # ---- reading

    @property
    def t(self) -> float:
        """The present time, s."""
        return self._t

    @property
    @by_one_thread
    def q(self) -> Floats:
        """All coordinates, in the order of `labels["coordinate"]`."""
        if self._prescribes:
            return np.asarray(self.observe().quantity("q"))
        self._begin()
        return np.array(self._stepper.row[self._positions])

    @property
    @by_one_thread
    def v(self) -> Floats:
        """All rates, in the order of `labels["rate"]`."""
        if self._prescribes:
            return np.asarray(self.observe().quantity("v"))
        self._begin()
        return np.array(self._stepper.row[self._rates])

    @property
    def labels(self) -> Mapping[str, tuple[str, ...]]:
        """Names along every dimension, as in a result."""
        return self._traced.columns

    @property
    def inputs(self) -> dict[str, float]:
        """The values of all parameters, with inputs as last set."""
        return dict(self._inputs.values)

    @property
    def events(self) -> tuple[EventRecord, ...]:
        """The events so far, in order."""
        events = self._traced.events
        met = [*self._stepper.logged(), *self._stepper.noted(self._t)]
        return tuple(EventRecord(event.t, events[event.index].name, event.direction) for event in met)

    # names of a result

    @property
    def time(self) -> float:
        """The present time, s."""
        return self._t

    @property
    def parameters(self) -> dict[str, float]:
        """The values of all parameters, as `inputs`."""
        return self.inputs

    @property
    def contacts(self) -> ContactTable:
        """The contacts so far, as `result()` has them."""
        return self._so_far("contacts").contacts

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to consider about the run so far, as `result()` has it."""
        return self._so_far("warnings").warnings

    def _so_far(self, what: str) -> Result:
        if self._stream is not None:
            rule = f"must be left out to read {what} during a run, because the result completes the file"
            raise ModelError.of("start", "to", rule, self)
        return self.result()

    @by_one_thread
    def observe(self) -> Observation:
        """All quantities of a result at the present time."""
        self._begin()
        y = self._stepper.row.copy()
        return Observation(self._traced, self._t, y, self._observer(self._t, y, self._stepper.p))

    def __reduce__(self) -> tuple[Any, ...]:
        why = "because copies would share one integrator: save() gives its state as a value, which restore() of another run takes"
        raise ModelError.of("SteppedRun", "run", f"must not be copied or pickled, {why}", self)

    def __repr__(self) -> str:
        return f"<SteppedRun {self._traced.system.name!r} at t = {self._t:.10g} s>"

    # ---- step

    @by_one_thread
    def step(self, dt: float, inputs: Mapping[str, float] | None = None) -> bool:
        """Advance by dt, s, with these inputs. Returns False if an event ended the run before; `t` is then the time of the event.

        inputs: values of parameters by name, in SI, that apply from now on; others are unchanged. A step that cannot be completed
        raises StepError and leaves the run at the time it reached; so does Ctrl-C, with KeyboardInterrupt.
        """
        if self._ended:
            raise ModelError.of("step", "dt", "must come before result(), which has completed the file of this run", dt)
        if isinstance(dt, (float, int)) and dt == self._dt:
            count = self._count + 1
            t = self._origin + dt * count
        else:
            dt, count = check.positive("step", "dt", dt, "s"), 1
            t = self._t + dt
        if t > self._led.t_end:
            t = self._last_time(t, dt)
        try:
            if inputs is not None:
                self._set(check.mapping("step", "inputs", inputs))
            else:
                self._streak = 0
            if not self._begun:
                self._begin()
            return self._go_to(t, dt, count)
        except KeyboardInterrupt:
            self._stand()
            raise

    def _last_time(self, t: float, dt: float) -> float:
        if t - self._led.t_end > ON_TIME * dt:
            rule = f"must not lead from t = {self._t} s beyond t_end = {self._led.t_end} s"
            raise ModelError.of("step", "dt", rule, dt)
        return self._led.t_end

    def _begin(self) -> None:
        """Determine contacts and events at the start, and read the first row; nothing is integrated."""
        if self._begun:
            return
        self._led.set_out(self._t_start, self._first_p, np.array([self._t_start]))
        self._piece, self._ahead = 0, self._t_start if self._looks_ahead else math.inf
        if self._admitted and self._traced.timed is not None and not self._looks_ahead:
            self._stepper.look_ahead(self._pieces(self._t_start, self._led.t_end))
        self._waiting = 0
        self._led.last, self._led.base = None, self._first_p[self._n_changing :].copy()
        code = self._stepper.reach(self._t_start, self._led.stops[1], False)
        if code != PAUSED:
            self._fail(code)
        self._begun = True
        self._keep_row()

    def _go_to(self, t: float, dt: float, count: int) -> bool:
        stepper, exactly = self._stepper, self._streak >= OFTEN
        horizon = max(self._t - self._t_start, EXPECTED * dt) if self._endless else self._led.t_end - self._t
        while True:
            stop = min(self._led.stops[self._piece + 1], self._ahead)
            if exactly and t <= stop:
                code = stepper.reach(t, t, True, horizon)
            else:
                code = stepper.reach(t, stop, False, horizon if self._endless else 0.0)
            if code == PAUSED or (code == AT_STOP and stepper.t >= t):
                break
            if code == AT_STOP:
                self._next_piece(dt)
            else:
                self._stand()
                if code == AT_EVENT:
                    return False
                self._fail(code)
        if count == 1:
            self._dt, self._origin = dt, self._t
        self._t, self._count, self._led.outcome = t, count, None
        self._steps += 1
        self._keep_row()
        return True

    def _next_piece(self, dt: float) -> None:
        """Begin the next piece of time, at a breakpoint or where formulas of time have been examined so far."""
        stops, t = self._led.stops, self._stepper.t
        if t >= self._ahead:
            begin, self._ahead = self._ahead, self._ahead + LOOKED_AHEAD * dt
            self._stepper.look_ahead(self._pieces(begin, self._ahead))
        if t >= stops[self._piece + 1]:
            self._piece += 1
            self._stepper.enter(self._traced.head(stops[self._piece], stops[self._piece + 1]))

    @property
    def _looks_ahead(self) -> bool:
        """Whether formulas of time are examined chunk by chunk, because no end is known."""
        return self._traced.timed is not None and self._led.t_end >= FOREVER

    def _pieces(self, begin: float, end: float) -> Floats:
        """Ends of the pieces of time within which formulas of time are smooth, with the present inputs."""
        p, y = (self._stepper.p, self._stepper.y) if self._begun else (self._first_p, self._led.y0)
        return self._traced.time_pieces(y, begin, end, p).knots

    # ---- inputs

    def _set(self, inputs: Mapping[str, float]) -> None:
        """Set inputs from now on; a name that is not an input, or a value out of bounds, is refused and changes nothing."""
        values, changed = self._inputs.values, []
        for name, value in inputs.items():
            if name not in self._admitted:
                self._admit(name)
            if value != values[name]:
                changed.append((name, self._inputs.admitted(name).checked(value)))
        if not changed:
            self._streak = 0
            return
        if self._steps == 0:  # nothing was integrated with the earlier values, so they do not count
            timed, p, self._begun = False, self._first_p, False
        else:
            self._land()
            timed, p = False, self._stepper.p
            self._streak += 1
            self._stepper.restart()
        for name, value in changed:
            timed = self._inputs.put(name, value, p) or timed
        places = self._entries[0]
        self._entries = (places, p[places])
        if timed and self._begun:
            self._look_again()

    def _admit(self, name: str) -> None:
        self._inputs.admitted(name)
        self._admitted.add(name)
        places = self._inputs.places(self._admitted)
        self._entries = (places, (self._stepper.p if self._begun else self._first_p)[places])

    def _look_again(self) -> None:
        """Compute the pieces of time from here on, after formulas of time have changed."""
        end = self._ahead if self._looks_ahead else self._led.t_end
        if end > self._t:
            self._stepper.look_ahead(self._pieces(self._t, end))

    def _land(self) -> None:
        """Make a step of the integrator end at the present time."""
        stepper = self._stepper
        if not stepper.waits:
            return
        if stepper.waits_until > self._t:
            stepper.give_up()
        code = AT_EVENT
        while code == AT_EVENT:  # an event that ends runs is recorded, but the run continues with the new inputs
            code = stepper.reach(self._t, self._t, True)
        if code != AT_STOP:
            self._stand()
            self._fail(code)

    # ---- failures

    def _stand(self) -> None:
        """Set the run to the time that the integrator reached."""
        stepper = self._stepper
        if self._begun and not stepper.waits and stepper.t > self._t:
            stepper.stand()
            self._t, self._dt = stepper.t, math.nan
            self._steps += 1
            self._keep_row()

    def _fail(self, code: int) -> None:
        self._led.outcome = self._stepper.outcome(STATUS_OF_CODE[code])
        raise StepError(self._led.message, self._stepper.t)

    # ---- saving

    @functools.cached_property
    def _mechanism(self) -> dict[str, str]:
        return mechanism_words(self._led)

    def _keep_row(self) -> None:
        if self._record:
            stepper, led = self._stepper, self._led
            led.last = RowNode(led.last, self._t, stepper.row.copy(), stepper.p[: self._n_changing].copy(), self._entries)
            if self._stream is not None:
                self._waiting += 1
                if self._waiting >= self._sink.window:
                    self._write_rows()
                if self._sink.due:
                    self._sink.keep(self.save())

    def _write_rows(self) -> None:
        """Write the rows that wait to the file; they need no memory any more."""
        self._sink.take(self._sink.rows, *self._led.rows())
        self._led.last, self._waiting = None, 0

    @by_one_thread
    def save(self) -> SavedRun:
        """A copy of the state, for `restore` in this run or in another run with the same mechanism and method.

        It can be pickled, and restored in another process.
        """
        self._begin()
        numbers = (self._t, self._steps, self._dt, self._origin, self._count, self._streak, self._piece, self._ahead)
        return SavedRun(self._t, dict(self._inputs.values), self._mechanism, self._stepper.saved(), numbers,
                        frozenset(self._admitted), self._led.outcome, self._led.last,
                        0 if self._stream is None else self._sink.rows)  # fmt: skip

    @by_one_thread
    def restore(self, saved: SavedRun) -> None:
        """Return to a state from `save`; from there the run repeats bit for bit."""
        check.instance("restore", "saved", saved, SavedRun, "a SavedRun, as returned by save()")
        if self._stream is not None:
            raise ModelError.of("restore", "saved", "must not be given to a run with to=, whose rows are in their file", saved)
        if self._record and saved._last is None:
            rule = "must come from a run with its rows in memory (record=True, no to=), because this one keeps rows"
            raise ModelError.of("restore", "saved", rule, saved)
        self._go_on_from("restore", saved)

    def _go_on_from(self, caller: str, saved: SavedRun) -> None:
        saved.check_fits(caller, self._mechanism)
        self._begin()
        self._admitted |= saved._inputs_known
        self._stepper.restore(saved._march)
        self._t, steps, self._dt, self._origin, count, streak, piece, self._ahead = saved._numbers
        self._steps, self._count, self._streak, self._piece = int(steps), int(count), int(streak), int(piece)
        self._led.last, self._led.outcome, self._waiting = saved._last, saved._outcome, len(nodes_to(saved._last))
        self._inputs.take(saved.inputs)
        places = self._inputs.places(self._admitted)
        self._entries = (places, self._stepper.p[places])
        if self._steps == 0:
            self._first_p[places] = self._entries[1]

    @by_one_thread
    def result(self) -> Result:
        """The Result so far, one row per step, with events, contacts and ledger; the run can continue.

        A run with to= ends with it: its file is completed, and the result reads from there.
        """
        if not self._record:
            raise ModelError.of("start", "record", "must be True for a run from which a result is wanted", False)
        if self._stream is not None:
            return self._complete_file(self._stream)
        saved = self.save()
        try:
            return self._collected([node.t for node in nodes_to(self._led.last)])
        finally:
            self.restore(saved)

    def _complete_file(self, stream: RowStream) -> Result:
        if self._ended:
            raise ModelError.of("result", "to", "must be asked for once: the file of this run is complete", self)
        self._begin()
        self._write_rows()
        result, self._ended = stream.finish(self._collected(None)), True
        return result

    def _collected(self, times: list[float] | None) -> Result:
        if self._led.outcome is None:
            self._land()
            self._led.outcome = self._stepper.outcome(Status.REACHED)
        settings = {"t_start": self._t_start, "t_end": self._t, "method": self._stepper.method, "save": times,
                    "max_steps": None, "max_seconds": None, "formulation": self._traced.formulation}  # fmt: skip
        provenance = Provenance(self._traced.original, settings, self._led.t_first, self._inputs.values, stepped=True)
        return replace(self._led.collect(provenance), parameters=dict(self._inputs.values))
