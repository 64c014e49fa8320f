"""Runs an ensemble in lock-step: members side by side in vectors on every core, or one member per thread of a GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pliant.ensemble.keep import LEDGER, OF_PAIR, RECORDS, WARNINGS, KeepPlan
from pliant.ensemble.lockstep.judge import AT_EVENT as STOPPED
from pliant.ensemble.lockstep.judge import REACHED
from pliant.ensemble.lockstep.runs import HostLoop, HostRuns, LockstepEnds, LockstepMembers, LockstepTolerances
from pliant.ensemble.lockstep_model import corner_speeds, explicit_tableau, lockstep_model, why_not
from pliant.ensemble.member_numbers import MemberNumbers
from pliant.ensemble.member_pieces import members_by_knots
from pliant.ensemble.member_rows import MemberRows
from pliant.ensemble.member_starts import doubtful_starts
from pliant.ensemble.member_warnings import MembersToJudge, MemberSums
from pliant.ensemble.members import MemberPlan, start_at
from pliant.errors import ModelError, SolveError
from pliant.host.memory import free_memory
from pliant.host.stages import Stages
from pliant.integrate.member_runs import Ends
from pliant.integrate.run_record import ENTRY_FLOOR, REACH
from pliant.integrate.status import AT_EVENT, AT_STOP
from pliant.results.ledger import HELD
from pliant.run.contact_phases import pair_numbers
from pliant.run.observed import columns_of
from pliant.run.simulate import Run, simulate, weight_of

if TYPE_CHECKING:
    from pliant.ensemble.store import EnsembleStore
    from pliant.integrate.methods import Method
    from pliant.run.prepare import Compiled, CompiledStructure
    from pliant.trace.traced_system import TracedSystem

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST = 256  # members from which "auto" builds the loop: fewer finish before it is built
FEWEST_ALIKE = 16  # members of one structure that justify a loop of their own
MOST_TRIED = 8  # members tried until one can start
SLIVER = 1e-9  # of a run: prescribed ends of steps are at least this far apart
LEDGER_ROWS = 24  # rows at which the energy balance is checked, besides the end of the run
MOST_JUDGED = 256  # Systems held whose numbers warnings read
SHARE_OF_MEMORY = 0.25  # of the free memory, for the members that run at a time
MOST_WITH_NUMBERS = 2**18  # members at a time that have constants of their own


class Batch(NamedTuple):
    """The most that runs at a time, to limit memory."""

    members: int
    numbers: int  # in their stored rows


ON_CORES = Batch(32_768, 2**26)  # the rows take 512 MB
ON_GPU = Batch(2**21, 2**28)  # a GPU needs many to be busy until the last has ended


class Runner(Protocol):
    """Runs members: on this machine's cores, or on a GPU."""

    def run(
        self, members: LockstepMembers, tolerances: LockstepTolerances, threads: int, progress: Callable[[int], None] | None = None
    ) -> LockstepEnds: ...

    def cancel(self) -> None: ...


def reason_against(plan: MemberPlan, method: Method, kept: KeepPlan) -> str:
    """Why an ensemble must run in the general loop; "" if lock-step can run it."""
    if RECORDS in kept.words:
        return 'keep="records" lists every touch, which the general loop writes down'
    return why_not(plan.first, method)


@dataclass
class LockstepEnsemble:
    """One ensemble; members that cannot run in lock-step, or fail there, are run by `simulate`."""

    plan: MemberPlan
    method: Method
    t_end: float
    kept: KeepPlan
    max_steps: int | None
    store: EnsembleStore
    runner: Callable[[Compiled, bool], Runner]
    by_itself: Callable[[int], None] | None = None  # runs such members; default: `simulate`, into the store
    fewest_alike: int = FEWEST_ALIKE
    given: Method | None = None  # with which `simulate` runs members; default: the method of all
    most_steps: int | None = None  # of a member in lock-step, before `simulate` runs it
    most: Batch = ON_CORES
    interrupted: bool = False
    alone: int = 0  # members that `simulate` ran
    gpu_seconds: float = 0.0  # during which kernels ran

    def __post_init__(self) -> None:
        self._runners: dict[tuple[int, bool], Runner] = {}
        self._begun = 0  # members of a batch in the parts run so far
        self._threads = 1
        self._judged: dict[tuple[float, ...], Compiled] = {}  # by parameters: Systems whose numbers warnings read

    def run(self, threads: int, progress: Callable[[int, int], None] | None) -> None:
        self._threads = threads
        together = self._together
        try:
            for first in range(0, self.plan.count, together):
                if self.interrupted:
                    break
                members = np.arange(first, min(first + together, self.plan.count))
                tell = None if progress is None else _Shifted(progress, first, self.plan.count)
                self._take(members, threads, tell)
        except KeyboardInterrupt:
            self.interrupted = True

    @property
    def _together(self) -> int:
        """Members at a time, by the memory that is free at present.

        With parameters it is always the same: of members that are not plain numbers, few alike are run by `simulate`.
        """
        traced = self.plan.first.traced
        own = traced.y0.size + traced.layout.n_changing
        by_rows = self.most.numbers // (1 + self._plan_times.size * (own + self.plan.first.observe.n_out))
        by_memory = int(SHARE_OF_MEMORY * free_memory()) // (8 * 3 * own)  # at the start, at the end, and what is made of that
        most = MOST_WITH_NUMBERS if self.plan.parameters else max(by_memory, ON_CORES.members)
        return max(min(self.most.members, by_rows, most), 64)

    @property
    def _plan_times(self) -> Floats:
        """Times of the requested rows, and of those at which the energy balance is checked."""
        times = self.kept.times
        if self.kept.words & {LEDGER, WARNINGS}:
            times = np.union1d(times, np.linspace(self.plan.t_start, self.t_end, LEDGER_ROWS + 2)[:-1])
        return times

    def _take(self, members: Ints, threads: int, progress: Callable[[int], None] | None) -> None:
        self._begun = 0
        if not self.plan.parameters:
            self._together_or_alone(members, [self.plan.first], self.plan.states(self.plan.first, members), threads, progress)
            return
        if self._numbers is not None:
            members = self._take_plain(self._numbers, members, threads, progress)
        for first in range(0, members.size, ON_CORES.members):  # a System is held for each
            self._take_compiled(members[first : first + ON_CORES.members], threads, progress)

    def _take_compiled(self, members: Ints, threads: int, progress: Callable[[int], None] | None) -> None:
        """Runs members whose Systems are compiled one by one."""
        groups: dict[tuple[object, ...], dict[int, Compiled]] = {}  # members of one structure with the same breakpoints and tables
        for member in members.tolist():
            try:
                compiled = self.plan.compiled(member)
            except (ModelError, SolveError) as trouble:
                self._refused(member, str(trouble))
            else:
                stops = self._stops(compiled)
                key = id(compiled.structure), *stops, _heads(compiled.traced, stops).tobytes()
                groups.setdefault(key, {})[member] = compiled
        for group in groups.values():
            own = list(group.values())
            rows = np.array([self.plan.states(compiled, np.array([member]))[0] for member, compiled in group.items()])
            self._together_or_alone(np.array(list(group)), own, rows, threads, progress)

    @cached_property
    def _numbers(self) -> MemberNumbers | None:
        return MemberNumbers.of(self.plan)

    def _take_plain(self, numbers: MemberNumbers, members: Ints, threads: int, progress: Callable[[int], None] | None) -> Ints:
        """Runs members whose parameters are plain numbers of the model, all prepared at once; returns the other members."""
        compiled = numbers.compiled
        constants, good = numbers.constants(self.plan, members)
        if why_not(compiled, self.method) or not good.any():
            return members
        stops, own = self._stops(compiled), members[good]
        begin = compiled.traced.parameters(stops[0], stops[1])[: compiled.traced.layout.n_changing]
        p = np.hstack([np.tile(begin, (own.size, 1)), constants[good]])
        self._run_together(own, [compiled], self.plan.states(compiled, own), stops, threads, progress, p)
        return members[~good]

    def _together_or_alone(
        self, members: Ints, compiled: list[Compiled], states: Floats, threads: int, progress: Callable[[int], None] | None
    ) -> None:
        """Runs members of one structure with the same breakpoints and tables."""
        few = bool(self.plan.parameters) and len(members) < self.fewest_alike
        if few or why_not(compiled[0], self.method):
            for k, member in enumerate(members.tolist()):
                self._alone(member, compiled[k if len(compiled) > 1 else 0])
            return
        self._run_together(members, compiled, states, self._stops(compiled[0]), threads, progress)

    def _stops(self, compiled: Compiled) -> list[float]:
        inside = [b for b in compiled.traced.breakpoints if self.plan.t_start < b < self.t_end]
        return [self.plan.t_start, *inside, self.t_end]

    def _run_together(
        self,
        members: Ints,
        compiled: list[Compiled],
        states: Floats,
        stops: list[float],
        threads: int,
        progress: Callable[[int], None] | None,
        numbers: Floats | None = None,
    ) -> None:
        """numbers: p at the start, one row per member, if already known."""
        traced = compiled[0].traced
        changing = traced.layout.n_changing
        if numbers is None:
            numbers = np.array([one.traced.parameters(stops[0], stops[1]) for one in compiled])
        pairs = np.array([pair_numbers(one.traced) for one in compiled])
        doubtful = doubtful_starts(compiled[0], self.plan.t_start, states, numbers, pairs[:, :, REACH], threads)
        if np.any(doubtful):
            for k in np.flatnonzero(doubtful).tolist():
                self._alone(int(members[k]), compiled[k] if len(compiled) > 1 else None)
            good = np.flatnonzero(~doubtful)
            members, states = members[good], states[good]
            numbers, pairs = (rows[good] if len(rows) > 1 else rows for rows in (numbers, pairs))
            compiled = [compiled[k] for k in good] if len(compiled) > 1 else compiled
        if not len(members):
            return
        tolerances = self._tolerances(compiled, states)
        if tolerances is None:
            for k, member in enumerate(members.tolist()):
                self._alone(member, compiled[k] if len(compiled) > 1 else None)
            return
        whole = LockstepMembers(
            y=states, p=numbers[0, :changing], constants=numbers[:, changing:],
            weight=np.array([weight_of(one.traced) for one in compiled]),
            floors=pairs[:, :, ENTRY_FLOOR], corners=corner_speeds(compiled[0]),
            ends=np.array(stops[1:]), heads=_heads(traced, stops), plan=self._plan_times, t_start=self.plan.t_start,
        )  # fmt: skip
        for knots, which in members_by_knots(compiled[0], self.plan.t_start, self.t_end, states, whole.constants):
            part = [compiled[k] for k in which] if len(compiled) > 1 else compiled
            if knots is None:  # a run by `simulate` gives the error
                for k, member in enumerate(members[which].tolist()):
                    self._alone(member, part[k] if len(part) > 1 else None)
            elif not self.interrupted:
                self._run_alike(members[which], part, whole.of(which), knots, tolerances, threads, progress)

    def _run_alike(
        self,
        members: Ints,
        compiled: list[Compiled],
        own: LockstepMembers,
        knots: Floats,
        tolerances: LockstepTolerances,
        threads: int,
        progress: Callable[[int], None] | None,
    ) -> None:
        """knots: times at which steps must end, besides those of rows."""
        runner = self._runner(compiled[0], bool(self.plan.parameters))
        times = self._with_knots(knots)
        width = len(own.y[0]) + own.p.size
        most = max(self.most.numbers // (1 + times.size * width), 64)
        for first in range(0, len(members), most):
            part = np.arange(first, min(first + most, len(members)))
            tell = None if progress is None else partial(_from, progress, self._begun)
            alike = own.of(part)
            ends = runner.run(replace(alike, plan=times), tolerances, threads, tell)
            self._begun += part.size
            rows = np.searchsorted(times, self._plan_times)
            ends.row_y, ends.row_p = ends.row_y[:, rows], ends.row_p[:, rows]
            self.interrupted |= ends.interrupted
            self.gpu_seconds += ends.gpu_seconds
            good = (ends.code == REACHED) | (ends.code == STOPPED)
            ready = [compiled[k] for k in part] if len(compiled) > 1 else compiled
            ended = np.flatnonzero(good)
            at_rows = MemberRows(ready[0].observe, self._plan_times, ends, ended, alike.constants)
            good[ended] = at_rows.see_events(ready[0]) & at_rows.stay_closed(ready[0])
            self._put(members[part], ends, good, ready, alike.constants)
            for k in np.flatnonzero(~good & (ends.code >= 0)).tolist():  # a run by `simulate` gives the full message
                self._alone(int(members[part[k]]), ready[k] if len(ready) > 1 else None)

    def _with_knots(self, knots: Floats) -> Floats:
        """The times of rows, and the knots that do not coincide with one of them."""
        times = self._plan_times
        taken = np.array([self.plan.t_start, *times, self.t_end])
        far = [np.abs(taken - knot).min() > SLIVER * (self.t_end - self.plan.t_start) for knot in knots.tolist()]
        return np.union1d(times, knots[np.array(far, dtype=np.bool_)])

    def _runner(self, compiled: Compiled, own: bool) -> Runner:
        key = id(compiled.structure), own
        if key not in self._runners:
            self._runners[key] = self.runner(compiled, own)
        return self._runners[key]

    def _tolerances(self, compiled: list[Compiled], states: Floats) -> LockstepTolerances | None:
        """The tolerances of a single run; None if none of the first members can start."""
        from pliant.integrate.stepper import MAX_STEPS

        run = None
        for k, y in enumerate(states[:MOST_TRIED]):
            own = compiled[k if len(compiled) > 1 else 0]
            start = start_at(own, self.plan.t_start, y)
            try:
                run = Run(own, self.method, self.plan.t_start, self.t_end, np.array([self.t_end]), None, None, start, Stages())
                break
            except SolveError:  # reported when `simulate` runs it
                continue
        if run is None:
            return None
        memory, n = run.stepper.memory, run.traced.n_controlled
        atol = np.append(run.stepper.plain_atol[:n] * memory.loosened, np.append(run.stepper.plain_atol, 0.0)[n])
        return LockstepTolerances(
            rtol=float(memory.run["rtol"]), atol=atol, asked_rtol=self.method.rtol, loosened=memory.loosened,
            max_step=float(memory.run["max_step"]),
            max_steps=min(MAX_STEPS if limit is None else limit for limit in (self.max_steps, self.most_steps)),
        )  # fmt: skip

    # ---- stored results

    def _put(self, members: Ints, ends: LockstepEnds, good: NDArray[np.bool_], compiled: list[Compiled], numbers: Floats) -> None:
        """numbers: constants, one row per member or one for all."""
        traced, rows = compiled[0].traced, np.flatnonzero(good)
        own = MemberRows(compiled[0].observe, self._plan_times, ends, rows, numbers)
        at_end = np.concatenate([columns_of(traced, ("q",))["q"], columns_of(traced, ("v",))["v"]])
        at_end = at_end[at_end >= 0]
        end_values = np.full((len(members), at_end.size), np.nan)
        if at_end.size and rows.size:
            end_values[rows] = own.observed_at_end[:, at_end]
        values, extremes = self._rows(traced, own, rows, len(members))
        self.store.put(members, Ends(
            done=len(members), plain=good, code=np.where(ends.code == STOPPED, AT_EVENT, AT_STOP), event=ends.event, t=ends.t,
            y=ends.y, tally=ends.tally, blind=np.zeros(len(members), dtype=np.int64), steps=ends.steps, end_values=end_values,
            values=values, extremes=extremes,
        ), good, traced)  # fmt: skip
        if LEDGER in self.kept.words and rows.size:
            self._put_ledger(members[rows], traced, own, ends.reach[rows])
        if WARNINGS in self.kept.words and rows.size:
            self._put_warnings(members, rows, ends, own, compiled)

    def _rows(self, traced: TracedSystem, own: MemberRows, rows: Ints, count: int) -> tuple[Floats, Floats]:
        """The selected columns of the requested rows, and their extremes; rows: the members of `own` among all `count`."""
        places = columns_of(traced, self.kept.quantities)
        columns = np.concatenate([*places.values()]) if places else np.empty(0, dtype=np.int64)
        times = self.kept.times
        values = np.full((count if self.kept.values or self.kept.extremes else 0, times.size, columns.size), np.nan)
        if values.size and rows.size:
            asked = np.searchsorted(self._plan_times, times)
            seen, states = own.observed[:, asked], own.states[:, asked]
            chosen = np.where(columns >= 0, seen[:, :, np.maximum(columns, 0)], states[:, :, np.maximum(-1 - columns, 0)])
            chosen[~own.there[:, asked]] = np.nan
            values[rows] = chosen
        extremes = np.full((count, 2, columns.size), np.nan)
        if self.kept.extremes and rows.size:
            extremes[rows] = np.stack([np.fmin.reduce(values[rows], axis=1), np.fmax.reduce(values[rows], axis=1)], axis=1)
        return values, extremes

    def _put_ledger(self, members: Ints, traced: TracedSystem, own: MemberRows, reach: Floats) -> None:
        """Stores the error of the energy balance over evenly spaced rows and the end, and the largest exchange."""
        columns, n = traced.layout.observed, traced.n_controlled
        held = own.observed[:, :, [columns[name].start for name in HELD]]
        held[~own.there] = np.nan
        balance = held.sum(axis=2) - own.states[:, :, n : n + len(traced.sources)].sum(axis=2)
        swings = np.nanmax(held, axis=1) - np.nanmin(held, axis=1)
        works = (reach[:, :, 1] - reach[:, :, 0]).max(axis=1, initial=0.0)
        self.store.ledger["balance_error"][members] = np.nanmax(np.abs(balance - balance[:, :1]), axis=1)
        scale = np.maximum(np.maximum(swings.max(axis=1), works), np.nanmax(np.abs(held[:, :, 0]), axis=1))
        self.store.ledger["balance_scale"][members] = scale

    def _put_warnings(self, members: Ints, rows: Ints, ends: LockstepEnds, own: MemberRows, compiled: list[Compiled]) -> None:
        """Stores the warnings of members that ended normally; rows: their indices in `ends`."""
        touches, peak_force = (ends.tally[rows, :, OF_PAIR.index(name)] for name in ("touches", "peak_force"))
        sums = MemberSums(ends.reach[rows], touches, peak_force, ends.steps[rows])
        judged = MembersToJudge(self.method, own, sums, own.are_resisted(compiled[0], self._threads))

        def ready(k: int) -> Compiled:
            return self._judged_by(int(members[rows[k]]), compiled[rows[k] if len(compiled) > 1 else 0])

        for member, sentences in zip(members[rows].tolist(), judged.warnings(ready), strict=True):
            self.store.warnings[member] = sentences

    def _judged_by(self, member: int, compiled: Compiled) -> Compiled:
        """The System with the numbers of a member that warnings read; the given one if these are the same."""
        numbers = self._numbers if self.plan.parameters else None
        if numbers is None or compiled is not numbers.compiled or not numbers.judged:
            return compiled
        key = tuple(float(self.plan.parameters[name][member]) for name in numbers.judged)
        if key not in self._judged:
            if len(self._judged) >= MOST_JUDGED:
                self._judged.clear()
            self._judged[key] = self.plan.compiled(member)
        return self._judged[key]

    def _refused(self, member: int, message: str) -> None:
        if self.by_itself is None:
            self.store.failed(member, message)
        else:
            self.by_itself(member)

    def _alone(self, member: int, compiled: Compiled | None) -> None:
        """Runs a member by `simulate`: one that does not fit, fails, or needs a closer look."""
        self.alone += 1
        if self.by_itself is not None:
            self.by_itself(member)
            return
        save = self.kept.times.tolist() or [self.t_end]
        try:
            compiled = self.plan.compiled(member) if compiled is None else compiled
            result = simulate(compiled, self.t_end, method=self.given or self.method, save=save, t_start=self.plan.t_start,
                              start=self.plan.start(compiled, member), max_steps=self.max_steps)  # fmt: skip
        except (ModelError, SolveError) as trouble:
            self.store.failed(member, str(trouble))
        else:
            self.store.put_result(member, result)


_LOOPS: WeakKeyDictionary[CompiledStructure, dict[tuple[str, bool, int | None], HostLoop]] = WeakKeyDictionary()  # made once


def host_runner(method: Method, width: int | None = None) -> Callable[[Compiled, bool], Runner]:
    """Runs vectors of members on this machine's cores."""

    def of(compiled: Compiled, own_constants: bool) -> Runner:
        tableau, known = explicit_tableau(method), _LOOPS.setdefault(compiled.structure, {})
        key = tableau.name, own_constants, width
        if key not in known:
            known[key] = HostLoop.of(lockstep_model(compiled), tableau, own_constants, compiled.structure.cache, width)
        return HostRuns(known[key])

    return of


def _heads(traced: TracedSystem, stops: list[float]) -> Floats:
    return np.array([traced.head(begin, end) for begin, end in pairwise(stops)])


def _from(progress: Callable[[int], None], before: int, done: int) -> None:
    progress(before + done)


@dataclass
class _Shifted:
    """Progress of one batch among all members."""

    tell: Callable[[int, int], None]
    first: int
    count: int

    def __call__(self, done: int) -> None:
        self.tell(self.first + done, self.count)
