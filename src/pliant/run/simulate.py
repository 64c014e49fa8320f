"""simulate(): checks, traces, compiles and runs a System, and collects the result."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields, replace
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats, Truths
from pliant.errors import ModelError, PliantError
from pliant.host.interrupts import Interrupts
from pliant.host.stages import Stages, Tell, log
from pliant.integrate.methods.method import METHODS, Auto, Method
from pliant.integrate.status import Status
from pliant.integrate.time_pieces import FINE_SAMPLES
from pliant.model import check
from pliant.model.driven_by import CORNERS
from pliant.model.system import System
from pliant.results.contacts import ContactTable
from pliant.results.contents import EventRecord
from pliant.results.kept import checked_names
from pliant.results.result import Result
from pliant.results.state import FinalState, HasState
from pliant.results.table import QUANTITIES
from pliant.results.timings import STAGES
from pliant.run.accounts import extremes_of, observed_along, with_loads
from pliant.run.along_warnings import jumping_station
from pliant.run.contact_phases import Contacts, observed_of, phases_of
from pliant.run.given_inputs import with_inputs
from pliant.run.inertia import HARDLY, InertiaCheck
from pliant.run.mechanism import AnySystem
from pliant.run.observed import component_name, values_of
from pliant.run.pace import held_by_stability
from pliant.run.prepare import Compiled, compile_system, compile_to_hold, runnable
from pliant.run.provenance import Provenance
from pliant.run.row_sinks import FiledRows, KeptRows, MakeSink, window_of
from pliant.run.sampling import Sampling
from pliant.run.save_times import Every, Times, check_rows, save_plan, save_windows
from pliant.run.saved_run import SavedRun, mechanism_words
from pliant.run.settling import settling_of
from pliant.run.starts import AnyStart, check_start, lightened, start_named
from pliant.run.to_file import RowStream, check_target
from pliant.run.with_groups import group_tables, seen_places
from pliant.scalar import Numbers

if TYPE_CHECKING:  # casadi and LLVM are imported when a run begins
    from pliant.integrate.memory.phase_tables import PiecesOfTime
    from pliant.integrate.stepper import Located, Outcome, Stepper
    from pliant.integrate.time_pieces import TimePieces
    from pliant.run.evidence import Evidence
    from pliant.trace.traced_system import TracedSystem

AUTO = "auto"  # the method Auto() by its name
DEPENDENT = 1e-5  # of the smallest singular value that the rows held had at the start: they hardly hold in some direction
WEAK = 1e-3  # of the same: redundant rows may hold better
EXCHANGES = 3  # how often a run is repeated with other sums of its closures' redundant rows
PIECES_AT_ONCE = 256  # pieces of time per call of the loop, so that memory stays small however many there are
_UNRESOLVED = (
    "a motion, drive, load or condition given as a formula of time changes within less than {:.2g} s, the shortest interval that "
    "was examined, so changes between two steps may be missed; give the method a max_step"
)

Progress = Callable[[float, float], None]


def simulate(
    system: AnySystem | Compiled,
    t_end: float,
    *,
    method: Method | type[Method] | str | None = AUTO,
    save: Every | float | Numbers | str | None = None,
    t_start: float = 0.0,
    start: AnyStart = None,
    formulation: str = "articulated",
    parameters: Mapping[str, float] | None = None,
    inputs: Mapping[str, Any] | None = None,
    progress: Progress | bool | None = None,
    phase: Tell | None = None,
    max_steps: int | None = None,
    max_seconds: float | None = None,
    cache: bool = True,
    keep: Sequence[str] | None = None,
    to: str | Path | None = None,
    compression: int | None = None,
    resume: bool = False,
) -> Result:
    """Simulate a mechanism from t_start to t_end (s), or from the end of an earlier run.

    method: an integration method or its name; default "auto", which switches between explicit and implicit steps, with rtol 1e-9
    and atol 1e-12. save: every(dt) or a number (interval, s), a list of times (s), or "steps"; default: 1001 rows. start: a result
    (or its final_state) or an equilibrium of the same mechanism to continue from, with its closed contacts; t_start is then its
    time; or coordinates, states and rates that start elsewhere, as {"arm.angle": 0.3, ("v", "arm.angle"): 1.0}. Works continue too
    if the system has the same parts; states that the start does not know have their own. formulation: of the equations of motion.
    parameters: values of the System's parameters by name, in SI; others keep their own value, or the value with which a Compiled
    was made. inputs: series that replace parameters, on which only forces depend, during the run, as in
    {"current": pl.InputSeries(times, values, "held")}. progress: True shows a bar on a terminal or in a notebook; a function is
    called with (t, t_end). phase: function called with a description of what is being compiled, and of each phase of the run ("in
    flight", "touching ground arm.tip").
    max_steps, max_seconds: limits of steps and of computing time. cache: keep machine code on disk. keep: quantities to save, as in
    ["q", "normal_force"]; default: all. The result refuses to read other quantities. to: a netCDF file to which rows are written
    during the run, so that memory stays small however many rows there are; the result reads from the file on demand. compression:
    zlib level of that file, 1 to 9. resume: go on from what the same run has left of that file if its process was killed, so that
    it ends with the rows of a run that was not; if there is nothing, begin at the start.

    A run that cannot continue, or that Ctrl-C interrupts, returns what it has computed, with ok = False and a message that says
    when and why.
    """
    state = None if isinstance(start, Mapping) else state_of(start)
    with told(progress, phase, t_start if state is None else state.t, t_end) as (tell, say):
        result = run_to_end(
            system, t_end, method=method, save=save, t_start=t_start, start=start, formulation=formulation, parameters=parameters,
            inputs=inputs, progress=tell, phase=say, max_steps=max_steps, max_seconds=max_seconds, cache=cache, keep=keep, to=to,
            compression=compression, resume=resume,
        ).result  # fmt: skip
    log_outcome(result)
    return result


@contextmanager
def told(
    progress: Progress | bool | None, phase: Tell | None, t_start: float, t_end: float
) -> Iterator[tuple[Progress | None, Tell | None]]:
    """The receivers of time and phase: the caller's functions, or a bar if progress is True."""
    if progress is not True:
        yield None if progress is False else progress, phase
        return
    from pliant.host.progress import of_run

    with of_run(t_start, t_end, quiet=False) as bar:
        yield bar, phase or bar.phase


def log_outcome(result: Result) -> None:
    """Log the end of the run and its warnings to `logging.getLogger("pliant")`."""
    log.log(logging.INFO if result.ok else logging.ERROR, "%s: %s", result.name, result.message)
    for warning in result.warnings:
        log.warning("%s: %s", result.name, warning)


def run_to_end(
    system: AnySystem | Compiled,
    t_end: float,
    *,
    method: Method | type[Method] | str | None,
    save: Every | float | Numbers | str | None,
    t_start: float,
    start: AnyStart,
    formulation: str,
    parameters: Mapping[str, float] | None,
    progress: Progress | None,
    phase: Tell | None,
    max_steps: int | None,
    max_seconds: float | None,
    cache: bool,
    inputs: Mapping[str, Any] | None = None,
    tape: bool = False,
    keep: Sequence[str] | None = None,
    to: str | Path | None = None,
    compression: int | None = None,
    resume: bool = False,
) -> Run:
    """A run that has ended; see `simulate`. tape: record the steps, so that they can be repeated."""
    system = runnable(system, "simulate")
    check_limits("simulate", max_steps, max_seconds)
    check.function("simulate", "phase", phase)
    check.function("simulate", "progress", progress)
    state = None if isinstance(start, Mapping) else state_of(start)
    t_start = check.number("simulate", "t_start", t_start if state is None else state.t, "s")
    t_end = check.number("simulate", "t_end", t_end, "s")
    if not t_end > t_start:
        raise ModelError.of("simulate", "t_end", f"must be > t_start = {t_start} s", t_end)
    names = None if keep is None else checked_names("simulate", "keep", keep)
    level = check_target("simulate", to, compression, resume)
    times = save_plan(save, t_start, t_end) if names is None and to is None else save_windows(save, t_start, t_end)
    method = method_of(method)
    parameters = with_inputs("simulate", system, parameters, inputs, t_start, t_end)
    assembled = t_start if state is None else state.t_assembled
    compiled = compiled_for(system, method, assembled, parameters, formulation, cache, phase)
    if compiled.traced.near_pairs and state is not None:
        rule = "must not be continued with a contact among shapes, whose near pairs a state does not have: give starts by name"
        raise ModelError.of("simulate", "start", rule, compiled.traced.system.name)
    if isinstance(start, Mapping) and start:
        state = start_named(compiled, "simulate", t_start, start)
    stages = Stages(phase)
    settings = {"t_start": t_start, "t_end": t_end, "method": method, "save": save, "max_steps": max_steps,
                "max_seconds": max_seconds, "formulation": compiled.traced.formulation}  # fmt: skip
    settings |= {} if names is None else {"keep": names}

    def run_with(make_sink: MakeSink | None, saved: SavedRun | None = None) -> Run:
        held: Compiled | None = compiled
        if saved is not None and saved._hold_at:
            held = with_parameters(compiled, {}, saved._hold_at)
        run = None
        while held is not None:
            with stages.stage("setup"):
                run = Run(held, method, t_start, t_end, times, max_steps, max_seconds, state, stages, tape, make_sink, run)
            run.go(progress, saved)
            held, saved = run.held_better(), None
        traced = compiled.traced
        assert run is not None
        own = {"start": str(dict(start))} if isinstance(start, Mapping) and start else {}
        own |= {"inputs": "; ".join(f"{name}: {one}" for name, one in traced.inputs.items())} if traced.inputs else {}
        run.provenance = Provenance(traced.original, settings, run.t_first, traced.plain_values, **own)
        return run

    if to is not None:
        with RowStream("simulate", to, compiled, tuple(QUANTITIES) if names is None else names, level, resume) as stream:
            run = run_with(stream.sink, stream.saved)
            run.result = stream.finish(run.result)
            return run
    return run_with(None if names is None else lambda window: KeptRows(compiled.traced, names, window))


def state_of(start: Result | FinalState | HasState | None) -> FinalState | None:
    start = getattr(start, "state", start)
    if isinstance(start, Result):
        if start.final_state is None:
            rule = "must contain its final state (this one was not integrated, or was written by an older version)"
            raise ModelError.of("simulate", "start", rule, start)
        return start.final_state
    if start is not None:
        check.instance("simulate", "start", start, FinalState, "a Result, its final_state, an Equilibrium or a mapping")
    assert start is None or isinstance(start, FinalState)
    return start


def method_of(method: Method | type[Method] | str | None) -> Method:
    """The requested method, or the default; a class stands for its name."""
    if method is None:
        return Auto()
    if isinstance(method, type) and issubclass(method, Method):
        return Auto() if method is Auto else _method_named(method.__name__)
    if isinstance(method, str):
        return _method_named(method)
    check.instance("simulate", "method", method, Method, "a method such as DOP853(rtol=1e-9, atol=1e-12), its class or its name")
    return method


def check_limits(part: str, max_steps: Any, max_seconds: Any = None) -> None:
    """Refuse limits of a run that are not numbers."""
    if max_steps is not None and check.number(part, "max_steps", max_steps) != max(1, int(max_steps)):
        raise ModelError.of(part, "max_steps", "must be a whole number >= 1", max_steps)
    if max_seconds is not None:
        check.positive(part, "max_seconds", max_seconds, "s")


def _method_named(name: str) -> Method:
    """A method by its name: "auto" is Auto(), "DOP853" gets Auto's tolerances; a method that needs a step is refused."""
    known: dict[str, Any] = {AUTO: Auto} | {kind.__name__: kind for kind in METHODS}
    check.choice("simulate", "method", name, tuple(known))
    usual = {"rtol": Auto().rtol, "atol": Auto().atol}
    tolerances = {f.name: usual[f.name] for f in fields(known[name]) if f.name in usual}
    needed = [f.name for f in fields(known[name]) if f.default is MISSING and f.name not in usual]
    if needed:
        rule = f"must be an object, as in pl.{name}({needed[0]}=...), because it needs {', '.join(needed)}"
        raise ModelError.of("simulate", "method", rule, name)
    method: Method = known[name](**tolerances)
    return method


def compiled_for(
    system: System | Compiled,
    method: Method,
    assembled: float,
    parameters: Mapping[str, float] | None,
    formulation: str,
    cache: bool,
    phase: Tell | None,
) -> Compiled:
    """The compiled System for a run with this method and these parameters; assembled: time at which loops were closed, s."""
    if not isinstance(system, Compiled):
        return compile_system(system, formulation, cache, False, method.near, assembled, parameters, phase)
    compiled = with_parameters(system, parameters) if parameters else system
    check_compiled(compiled.traced, method.near, assembled)
    return compiled


def with_parameters(compiled: Compiled, parameters: Mapping[str, float], hold_at: Sequence[Floats] | None = None) -> Compiled:
    """The same System with other parameter values; nothing is compiled if the structure stays the same.

    hold_at: positions in which the rows of its closures must hold it; default: as before.
    """
    traced = compiled.traced
    values = {**traced.parameter_values, **parameters}
    cached = compiled.structure.cache is not None
    positions = traced.hold_at if hold_at is None else hold_at
    return compile_to_hold(positions, traced.original, traced.formulation, cached, False, traced.near, traced.t_start, values)


def check_compiled(traced: TracedSystem, near: float | None, t_start: float) -> None:
    """Refuse a compiled System that was made for other settings than those of the run."""
    if near is not None and traced.pairs and traced.near != near:
        rule = f"must be compiled with near={near}, by compile_system(system, near={near})"
        raise ModelError.of("simulate", "system", rule, traced.near)
    if "project" in traced.functions and traced.t_start != t_start:
        rule = f"must be assembled at t_start = {t_start} s, by compile_system(system, t_start={t_start})"
        raise ModelError.of("simulate", "system", rule, traced.t_start)


class Run:
    """One run, from its start to its Result."""

    def __init__(
        self,
        compiled: Compiled,
        method: Method,
        t_start: float,
        t_end: float,
        times: Floats | Times | str,
        max_steps: int | None,
        max_seconds: float | None,
        state: FinalState | None,
        stages: Stages,
        tape: bool = False,
        make_sink: MakeSink | None = None,
        before: Run | None = None,
    ) -> None:
        """make_sink: makes the receiver of the rows, given how many rows come at once. before: the run that this one repeats."""
        from pliant.integrate.stepper import MAX_STEPS

        self.compiled, self.traced, self.t_end, self.stages = compiled, compiled.traced, t_end, stages
        self.times, self.batch = times, 0  # the pieces of time in the loop, counted by calls
        self.settling = settling_of(compiled, state)
        if state is not None:
            motion = [label for owner in self.traced.states[:2] for label in owner.labels]
            state = state.fitted(self.traced.labels_of_y, self.traced.y0, motion)
        self.y0, self.t_first = (self.traced.y0, t_start) if state is None else (state.y, state.t_first)
        self.sampling = Sampling(compiled, t_start, t_end, state is not None and state.sampled)
        self.stops = [t_start, *(b for b in self.traced.breakpoints if t_start < b < t_end), t_end]
        pieces = self.time_pieces(t_start, t_end)
        kernels = (compiled.rhs, compiled.observe, compiled.look, compiled.events, compiled.open_contact_events,
                   compiled.step_limit, compiled.project, compiled.closures, compiled.impact, compiled.settle,
                   *self.sampling.kernels)  # fmt: skip
        self.stepper = self.kind_of_stepper()(
            rhs=compiled.rhs.address,
            n_state=self.traced.y0.size,
            n_work=max(kernel.n_work for kernel in kernels if kernel is not None),
            method=method.over(t_end - t_start),
            n_controlled=self.traced.n_controlled,
            n_added=len(self.traced.sources),
            atol_floor=self._work_tolerance(method, t_start),
            events=compiled.open_contact_events.address if compiled.open_contact_events else None,
            n_events=len(self.traced.events),
            kinds=[event.kind for event in self.traced.events],
            step_limit=compiled.step_limit.address if compiled.step_limit else None,
            knots=pieces.knots,
            project=compiled.project.address if compiled.project else None,
            closures=compiled.closures.address if compiled.closures else None,
            n_closures=len(self.traced.watched),
            n_implied=len(self.traced.implied),
            jacobian=None if self.traced.near_pairs else lambda whole: compiled.jacobian(whole, stages),
            jacobian_price=float(self.traced.n_controlled) if self.traced.near_pairs else compiled.jacobian_price,
            n_newton=self.traced.n_controlled,
            constraints=lambda: compiled.constraints(stages),
            observed=observed_of(compiled, self.at_hand),
            phases=phases_of(compiled, method),
            updates=self.sampling.updates,
            settling=self.settling,
            group=group_tables(self.traced, compiled.structure.code),
            on_phase=(lambda: stages.say(self.contacts.words)) if stages.heard else None,
            stages=stages,
            max_steps=MAX_STEPS if max_steps is None else max_steps,
            max_seconds=max_seconds,
        )
        self.contacts = Contacts(self.traced, self.stepper)
        self.continued_from = state
        self.columns = self.traced.layout.observed
        self.outcome: Outcome | None = None
        self.provenance: Provenance | None = None  # once it has ended
        self.trouble: PliantError | None = None  # what a controller that Python runs raised
        self.warnings: list[str] = list(self.traced.warnings)
        # else error control notices it
        if not pieces.resolved and (self.traced.all_pairs or self.traced.system.conditions):
            self.warnings.append(_UNRESOLVED.format((t_end - t_start) / FINE_SAMPLES))
        width = self.y0.size + compiled.observe.n_out
        self.sink = None if make_sink is None else make_sink(window_of(1 + width))
        if not isinstance(times, str):
            check_rows(times.size, width if self.sink is None else self.sink.width, f"{times.size} times")
        first = self.traced.parameters(t_start, self.stops[1])
        self.resistance = InertiaCheck(compiled, self.columns["kinetic"].start)
        check_start(compiled, self.resistance, t_start, self.y0, first)
        self.resumed = frozenset[str]() if state is None else frozenset(state.closed)  # contacts that continue
        self.set_out(t_start, first, times, tape)
        self.repeats = 0
        if before is not None:
            self.repeats = before.repeats + 1
            self.stepper.charge(before.stepper)

    def kind_of_stepper(self) -> type[Stepper]:
        from pliant.integrate.stepper import Stepper

        return Stepper

    def time_pieces(self, t_start: float, t_end: float) -> TimePieces:
        """Pieces of time within which formulas of time are smooth; steps do not cross their ends."""
        return self.compiled.traced.time_pieces(self.y0, t_start, t_end)

    def set_out(self, t_start: float, p: Floats, times: Floats | Times | str, tape: bool = False) -> None:
        """Put the stepper at the start of the run; contacts of an earlier run continue."""
        save = None if isinstance(times, Times) or self.sink is not None else times
        self.stepper.start(t_start, self.y0, p, save=save, n_changing=self.traced.layout.n_changing, tape=tape)
        if self.sink is not None and not isinstance(times, np.ndarray):
            self.stepper.stream(self.sink, times)
        if self.continued_from is not None:
            self.contacts.resume(self.continued_from)
            for number, direction in self.continued_from.hits:
                self.stepper.settle(number, direction)

    def _lost_inertia(self) -> str:
        """Why steps became too small, if a nearly singular mass matrix is the cause; else empty."""
        loose = self.resistance.unresisted(self.stepper.t, self.stepper.y, self.stepper.p, HARDLY)
        if loose is None:
            return ""
        return (
            f"; the mass matrix is nearly singular there: hardly any mass or inertia resists a motion of {loose}, so the model is "
            f"no longer valid (such as a telescopic link out of its sleeve){lightened(self.traced.system)}"
        )

    def _hold(self) -> float:
        """The smallest singular value of the rows of closures that the run holds, over that at its start."""
        if self.traced.partition is None:
            return 1.0
        rows_at, count = self.traced.partition[0].casadi, self.traced.held
        start = (self.stops[0], self.y0, self.traced.parameters(*self.stops[:2]))
        weakest = []
        for t, y, p in (start, (self.stepper.t, self.stepper.y, self.stepper.p)):
            rows = np.array(rows_at(t, y, p)).ravel()[2 * count :].reshape(count, -1)  # after C and C'
            weakest.append(float(np.linalg.svd(rows, compute_uv=False)[-1]))
        return weakest[1] / weakest[0]

    def _lost_hold(self) -> str:
        """Why steps became too small, if nearly dependent rows of closed loops are the cause; else empty."""
        if self._hold() > DEPENDENT:
            return ""
        return (
            "; the rows of closures that the run holds are nearly dependent there: the loops are near a dead point, or rows that "
            "were redundant at the start would hold them better; start the run nearer to this position"
        )

    def _jumping(self) -> str:
        """Why steps became too small, if the station at which a beam is touched jumps; else empty."""
        at = (self.stepper.t, self.stepper.y, self.stepper.p)
        here = values_of(self.traced, np.array(at[:1]), at[1][None], self.compiled.observe(*at)[None], ("q", "gap"))
        return jumping_station(self.traced.tree, [slots.pair for slots in self.traced.pairs], here["q"][0], here["gap"][0])

    def held_better(self) -> Compiled | None:
        """If loops came open that redundant rows may hold better here: the System with sums of rows, for a run from the start.

        None if the run did not end for this, or was repeated too often.
        """
        assert self.outcome is not None
        traced, at = self.traced, (self.stepper.t, self.stepper.y, self.stepper.p)
        failed = self.outcome.status in (Status.CAME_OPEN, Status.STEP_TOO_SMALL)
        if not (failed and traced.implied) or len(traced.hold_at) >= EXCHANGES or self._hold() > WEAK or self.stepper.used_up:
            return None
        here = values_of(traced, np.array(at[:1]), at[1][None], self.compiled.observe(*at)[None], ("q",))["q"][0]
        return with_parameters(self.compiled, {}, (*traced.hold_at, here))

    def _work_tolerance(self, method: Method, t: float) -> Floats:
        """The tolerance of works: as for states, but relative to the energy at hand, because each work starts at zero."""
        observed = self.compiled.observe(t, self.y0, self.traced.parameters(t, self.t_end))
        self.size, self.at_hand = scales_at_start(self.traced, observed)
        floor = np.zeros(self.traced.n_controlled + len(self.traced.sources))
        floor[self.traced.n_controlled :] = method.rtol * self.at_hand
        return floor

    def go(self, progress: Progress | None, saved: SavedRun | None = None) -> None:
        """Run to the end, to an event that stops the run, to a failure or to Ctrl-C; computed rows are kept.

        saved: a state of the same run, to go on from.
        """

        def tell(t: float) -> None:
            if progress is not None:
                progress(t, self.t_end)
            if self.sink is not None and self.sink.due:
                self.sink.keep(self.saved())

        if saved is not None:
            saved.check_fits("simulate", self._mechanism)
            self.batch = int(saved._numbers[0])
        interrupts = Interrupts()
        with interrupts.held():
            for pieces in self.pieces_of_time(begun=saved is not None):
                with interrupts.at_once():
                    told = progress is not None or self.sink is not None
                    march = None if saved is None else saved._march
                    self.outcome = self.stepper.advance(pieces, progress=tell if told else None, saved=march)
                self.batch, saved = self.batch + 1, None
                if interrupts.asked and self.outcome.status.goes_on:  # between two calls of the loop
                    self.outcome = replace(self.outcome, status=Status.INTERRUPTED)
                if self.outcome.status is not Status.REACHED:
                    return

    @cached_property
    def _mechanism(self) -> dict[str, str]:
        return mechanism_words(self)

    def _sampled(self, first: int, last: int) -> Truths | None:
        """What the loop does in these pieces, after Python's controllers have run; None if one of them has ended the run."""
        try:
            return self.sampling.due(first, last, self.stepper)
        except KeyboardInterrupt:
            self.outcome = self.stepper.outcome(Status.INTERRUPTED)
        except PliantError as trouble:
            if first == 0:  # nothing was computed that could be lost
                raise
            self.outcome, self.trouble = self.stepper.outcome(Status.STOPPED_BY_PYTHON), trouble
        return None

    def saved(self) -> SavedRun:
        """The present state, between two portions of computing."""
        assert isinstance(self.sink, FiledRows)
        return SavedRun(self.stepper.t, {}, self._mechanism, self.stepper.saved(), (self.batch,), _rows=self.sink.rows,
                        _hold_at=tuple(self.traced.hold_at))  # fmt: skip

    def pieces_of_time(self, most: int | None = None, begun: bool = False) -> Iterator[PiecesOfTime]:
        """The pieces of time for each call of the loop, with the head of p on each piece; Python's controllers run in between.

        begun: from the batch in which a saved run was, whose controllers have run.
        """
        from pliant.integrate.memory.phase_tables import PiecesOfTime

        schedule, table = self.sampling.schedule, self.traced.heads(self.stops)
        any_due = np.append(np.any(schedule.due, axis=1), False)
        batches = self.sampling.batches(most or PIECES_AT_ONCE)
        if self.traced.all_pairs and self.sampling.calls_python(0):  # it may measure contacts, so close them first
            batches = chain([(0, 0)], batches)
        for first, last in islice(batches, self.batch, None):
            if last == 0:
                yield PiecesOfTime(schedule.times[:1], table[:1], tail=any_due[:1])
                begun = False
                continue
            due, ends = schedule.due[first:last] if begun else self._sampled(first, last), slice(first + 1, last + 1)
            begun = False
            if due is None:
                return
            yield PiecesOfTime(schedule.times[ends], table[schedule.breaks[first:last]], due, any_due[ends])

    @property
    def state(self) -> FinalState:
        """The present state of the run."""
        assert self.outcome is not None
        hits = self.stepper.hits if self.outcome.status is Status.EVENT else ()
        y = self.stepper.y.copy()
        here, done, closed, grips = self.stepper.t, self.stepper.has_sampled, self.contacts.closed, self.contacts.grips
        return FinalState(here, y, closed, self.traced.labels_of_y, self.traced.t_start, self.t_first, hits, done, grips)

    @cached_property
    def result(self) -> Result:
        """The Result of a run that has ended, collected when it is first read."""
        assert self.provenance is not None
        return self.collect(self.provenance)

    @property
    def ok(self) -> bool:
        """Whether the run has done what was asked."""
        assert self.outcome is not None
        return self.outcome.status.goes_on and not self._lost_its_equations

    def collect(self, provenance: Provenance) -> Result:
        from pliant.run.validity import warnings_of

        assert self.outcome is not None
        with self.stages.stage("collect"):
            times, values = self._rows_by_name()
            evidence = self._evidence(times, values)
            warnings = (*self.warnings, *warnings_of(evidence))
        return Result(
            name=self.traced.system.name,
            time=times,
            values=values,
            labels=self.traced.columns,
            events=tuple(sorted(self._events(), key=lambda event: event.t)),
            contacts=evidence.contacts,
            ok=self.ok,
            message=self.message,
            interrupted=self.outcome.status is Status.INTERRUPTED,
            stats=self._statistics(),
            drawing=self.compiled.drawing,
            final_state=self.state,
            make_provenance=provenance,
            warnings=warnings,
            extremes=with_loads(evidence, self.stepper.largest),
            parameters=self.traced.plain_values,
        )

    @property
    def message(self) -> str:
        """How, when and why the run ended."""
        assert self.outcome is not None
        if self.trouble is not None:
            return f"{self.outcome.sentence}: {self.trouble}"
        if self.outcome.status is Status.CAME_OPEN:
            return _came_open(self.traced, self.outcome)
        if self.outcome.status is Status.EVENT:
            return f"event {self._name(self.outcome.events[-1])!r} ended the run at t = {self.outcome.t:.10g} s"
        if self.outcome.status is Status.CHATTERS and (holder := self._chattering_joint) is not None:
            return (
                f"friction of {holder} kept switching between sticking and slipping at t = {self.outcome.t:.10g} s, because it can "
                "do neither with the other joints that stick; give the joints of this motion a smoothed law (Coulomb, Stribeck)"
            )
        if self.outcome.status is Status.CHATTERS and (jammed := self._jammed_contact) is not None:
            return (
                f"contact {jammed!r} can neither rest nor separate at t = {self.outcome.t:.10g} s: its friction presses the bodies "
                "together more than its normal force parts them (Painleve's paradox); lower its coefficient or take a compliant law"
            )
        message = self.outcome.sentence_with([event.name for event in self.traced.events])
        used_up = self.outcome.status in (Status.TOO_MANY_STEPS, Status.OUT_OF_TIME)
        if self.outcome.component is not None:
            name = component_name(self.traced, self.outcome.component)
            message += f"; fastest of all changes {name}" if used_up else f" (most of all {name})"
        failed = self.outcome.status in (Status.STEP_TOO_SMALL, Status.NOT_FINITE, Status.TOO_MANY_STEPS)
        held = self.outcome.status is Status.STEP_TOO_SMALL
        if used_up:
            at = (self.stepper.t, self.stepper.y, self.stepper.p)
            message += held_by_stability(self.stepper.method, self.compiled.rhs, at, self.outcome.h)
        return message + (self._lost_inertia() if failed else "") + (self._lost_hold() + self._jumping() if held else "")

    def rows(self) -> tuple[Floats, Floats, Floats]:
        """The saved rows: (times, states, observed numbers)."""
        return self.stepper.observed_rows()

    @property
    def _chattering_joint(self) -> str | None:
        """The joint whose friction switches endlessly between sticking and slipping, if there is one."""
        assert self.outcome is not None
        return next((holder for one in self.outcome.events if (holder := self.traced.events[one.index].holder) is not None), None)

    @property
    def _jammed_contact(self) -> str | None:
        """The impulsive contact for which no force at rest exists, if there is one."""
        assert self.outcome is not None
        pairs = [self.traced.events[one.index].pair for one in self.outcome.events]
        return next((self.traced.pairs[k].pair.name for k in pairs if k is not None), None)

    @property
    def _lost_its_equations(self) -> bool:
        """Whether the run was ended by an event beyond which its equations are not valid."""
        assert self.outcome is not None
        ended = self.outcome.status is Status.EVENT
        return ended and any(self.traced.events[located.index].side != 0 for located in self.outcome.events)

    def _rows_by_name(self) -> tuple[Floats, Mapping[str, Floats]]:
        if self.sink is None:
            times, states, observed = self.rows()
            return times, values_of(self.traced, times, states, observed)
        self.stepper.hand_over()
        return self.sink.collect()

    def _evidence(self, times: Floats, values: Mapping[str, Floats]) -> Evidence:
        from pliant.run.evidence import Evidence

        course = self.stepper.course()
        along = observed_along(self.compiled.observe, course)
        return Evidence(
            traced=self.traced,
            method=self.stepper.method,
            times=times,
            values=values,
            course=course,
            observed=along,
            extremes=extremes_of(self.traced, along, course),
            at_hand=self.at_hand,
            size=self.size,
            weight=weight_of(self.traced),
            contacts=self.contact_table(),
            resistance=self.resistance,
            blind=self.stepper.blind,
            impacts=self.stepper.impacts,
            steps=self.stepper.statistics.accepted,
            continued_from=self.continued_from,
        )

    def _events(self) -> list[EventRecord]:
        return [EventRecord(logged.t, self._name(logged), logged.direction) for logged in self.stepper.logged()]

    def _name(self, event: Located) -> str:
        return self.traced.events[event.index].name

    def contact_table(self) -> ContactTable:
        if not self.traced.all_pairs:
            return ContactTable()
        now, first = self.compiled.look(self.stepper.t, self.stepper.y, self.stepper.p), self.columns["closing_speed"].start
        if self.traced.near_pairs:
            first = seen_places(self.traced, self.compiled.observe.n_out)["at_closing"]
        return self.contacts.table(now[first : first + len(self.traced.all_pairs)])

    def _statistics(self) -> dict[str, Any]:
        s = self.stepper.statistics
        partition = {"partitions": s.partitions, "constraint_evaluations": s.constraint_evaluations,
                     "independent": self._independent()} if s.partitions else {}  # fmt: skip
        return {
            "steps": s.accepted,
            "rejected": s.rejected,
            "rhs_evaluations": s.rhs_evaluations,
            "event_evaluations": s.event_evaluations,
            "smallest_step_s": s.smallest_step,
            "largest_step_s": s.largest_step,
            "steps_of": s.steps_of,
            "error_mean": s.mean_error,
            "error_largest": s.largest_error,
            "jacobians": s.jacobians,
            "factorisations": s.factorisations,
            "newton_iterations": s.iterations,
            **({"repeated": self.repeats} if self.repeats else {}),
            "wall_s": s.wall_seconds,
            **timings({**self.compiled.seconds, **self.stages.seconds}),
            "operations": self.compiled.rhs.operations,
            "degrees_of_freedom": self.traced.independent,
            "method": repr(self.stepper.method),
            **partition,
            **({"stiffening": taken} if (taken := self.traced.original.automatic_stiffening) else {}),
        }

    def _independent(self) -> str:
        """The rates that were integrated, in the last partition."""
        free, dependent = self.traced.free_v, set(self.stepper.dependent)
        return ", ".join(self.traced.tree.rates[k] for i, k in enumerate(free) if i not in dependent)


def collect_rows(
    compiled: Compiled, times: Floats, values: dict[str, Floats], message: str, provenance: Provenance,
    corners: Sequence[float] = (),
) -> Result:  # fmt: skip
    """A Result of states, and works, that were not integrated. corners: times at which efforts may jump."""
    from pliant.run.evidence import Rows
    from pliant.run.validity import warnings_of_rows

    traced = compiled.traced
    warnings = (*traced.warnings, *warnings_of_rows(Rows(traced, times, values)))
    values = {**values, "work": np.full_like(values["work"], np.nan)}
    stats = {**timings(compiled.seconds), CORNERS: list(corners)}
    return Result(traced.system.name, times, values, traced.columns, (), ContactTable(), True, message, stats=stats,
                  drawing=compiled.drawing, make_provenance=provenance, warnings=warnings,
                  parameters=traced.plain_values)  # fmt: skip


def timings(seconds: Mapping[str, float]) -> dict[str, float]:
    """The entries of `stats` with the seconds of each stage."""
    return {f"{kind}_s": seconds.get(kind, 0.0) for kind in STAGES}


def scales_at_start(traced: TracedSystem, observed: Floats) -> tuple[float, float]:
    """(size of the mechanism, m; energy at hand, J) from the observed row of its start."""
    columns = traced.layout.observed
    tips = observed[columns["tip_position"]].reshape(-1, 3)
    size = float(np.max(np.ptp(np.vstack([tips, np.zeros(3)]), axis=0)))
    energies = sum(abs(float(observed[columns[name]][0])) for name in ("kinetic", "strain", "spring"))
    return size, weight_of(traced) * size + energies


def weight_of(traced: TracedSystem) -> float:
    """The weight of the whole mechanism, N."""
    return float(traced.system.mass * float(np.linalg.norm(traced.tree.gravity)))


def _came_open(traced: TracedSystem, outcome: Outcome) -> str:
    """The message about a closure that opened: which, where, when, and what it means."""
    number, amount, t_open = outcome.opened
    k, unit = traced.watched[number]
    row, allowed, implied = traced.rows[k], traced.system.closure_tolerance, number < len(traced.implied)
    which = ", which other rows implied at the start," if implied else ""
    why = "the loops are locked, a motion contradicts them, or they have passed a singular configuration"
    if not implied:
        why = "the loops have reached a dead point, beyond which they cannot follow the motion, or the step is too long"
    if traced.system.baumgarte is not None:
        why += f"; or baumgarte = {traced.system.baumgarte:g} 1/s is too small to hold them (without it, they are projected)"
    return (
        f"closure {traced.kinds[k][0]!r} came open after t = {outcome.t:.10g} s: its row {row!r}{which} is off by "
        f"{abs(amount):.3g} {unit} at t = {t_open:.10g} s, more than closure_tolerance = {allowed:g} of the mechanism's size; {why}"
    )
