"""Runs an ensemble in lock-step: members side by side in vectors on every core, or one member per thread of a GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from pliant.arrays import Floats, Ints, Truths
from pliant.ensemble.keep import LEDGER, OF_PAIR, RECORDS, WARNINGS, KeepPlan
from pliant.ensemble.lockstep.judge import AT_EVENT as STOPPED
from pliant.ensemble.lockstep.judge import REACHED
from pliant.ensemble.lockstep.runs import HostLoop, HostRuns, LockstepEnds, LockstepMembers, LockstepTolerances, rows_of
from pliant.ensemble.lockstep_model import corner_speeds, explicit_tableau, lockstep_model, why_not
from pliant.ensemble.member_numbers import MemberNumbers
from pliant.ensemble.member_pieces import members_by_knots
from pliant.ensemble.member_rows import MemberRows
from pliant.ensemble.member_starts import doubtful_starts
from pliant.ensemble.member_warnings import MembersToJudge, MemberSums
from pliant.ensemble.members import OWN_EFFORTS, Alike, MemberPlan, heads_of
from pliant.errors import SolveError
from pliant.host.memory import free_memory
from pliant.host.stages import Stages
from pliant.integrate.member_runs import Ends
from pliant.integrate.memory.run_record import ENTRY_FLOOR, REACH
from pliant.integrate.status import AT_EVENT, AT_STOP
from pliant.results.ledger import HELD
from pliant.run.observed import columns_of
from pliant.run.simulate import Run, weight_of
from pliant.run.starts import start_at
from pliant.trace.traced_system import pair_numbers

if TYPE_CHECKING:
    from pliant.ensemble.store import EnsembleStore
    from pliant.integrate.methods.method import Method
    from pliant.run.prepare import Compiled, CompiledStructure
    from pliant.trace.traced_system import TracedSystem

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
    if plan.first.traced.original.undriven is not None:
        return OWN_EFFORTS
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
    fallback: Callable[[int], None] | None = None  # runs such members; default: `simulate`, into the store
    fewest_alike: int = FEWEST_ALIKE
    given: Method | None = None  # with which `simulate` runs members; default: the method of all
    most_steps: int | None = None  # of a member in lock-step, before `simulate` runs it
    most: Batch = ON_CORES
    interrupted: bool = False
    alone: int = 0  # members that `simulate` ran
    gpu_seconds: float = 0.0  # during which kernels ran

    def __post_init__(self) -> None:
        self._runners: dict[tuple[int, bool], Runner] = {}
        self._begun = 0  # members in the parts run so far
        self._threads = 1
        self._progress: Callable[..., object] | None = None
        self._judged: dict[tuple[float, ...], Compiled] = {}  # by parameters: Systems whose numbers warnings read

    def run(self, threads: int, progress: Callable[..., object] | None) -> None:
        self._threads, self._progress = threads, progress
        together = self._together
        try:
            for first in range(0, self.plan.count, together):
                if self.interrupted:
                    break
                self._begun = first
                self._take(np.arange(first, min(first + together, self.plan.count)))
        except KeyboardInterrupt:
            self.interrupted = True

    def _tell(self, done: int) -> None:
        if self._progress is not None:
            self._progress(self._begun + done, self.plan.count)

    @property
    def _together(self) -> int:
        """Members at a time, by the memory that is free at present.

        With parameters it is always the same: of members that are not plain numbers, small groups fall back to `simulate`.
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

    def _take(self, members: Ints) -> None:
        if self.plan.parameters and self._numbers is not None:
            members = self._take_plain(self._numbers, members)
        most = ON_CORES.members if self.plan.parameters else self.plan.count  # a System is held for each
        for first in range(0, members.size, most):
            for group in self.plan.alike(members[first : first + most], self.t_end, self._refused):
                few = bool(self.plan.parameters) and len(group.members) < self.fewest_alike
                if few or why_not(group.compiled[0], self.method):
                    self._all_alone(group)
                else:
                    self._run_together(group)

    @cached_property
    def _numbers(self) -> MemberNumbers | None:
        return MemberNumbers.of(self.plan)

    def _take_plain(self, numbers: MemberNumbers, members: Ints) -> Ints:
        """Runs members whose parameters are plain numbers of the model, all prepared at once; returns the other members."""
        traced = numbers.compiled.traced
        constants, good = numbers.constants(self.plan, members)
        if why_not(numbers.compiled, self.method) or not good.any():
            return members
        stops, own = self.plan.stops(traced, self.t_end), members[good]
        begin = traced.parameters(stops[0], stops[1])[: traced.layout.n_changing]
        p = np.hstack([np.tile(begin, (own.size, 1)), constants[good]])
        self._run_together(Alike(own, [numbers.compiled]), p)
        return members[~good]

    def _run_together(self, group: Alike, numbers: Floats | None = None) -> None:
        """numbers: p at the start, one row per member, if already known."""
        first, states = group.compiled[0], self.plan.states_of(group)
        changing, stops = first.traced.layout.n_changing, self.plan.stops(first.traced, self.t_end)
        if numbers is None:
            numbers = np.array([one.traced.parameters(stops[0], stops[1]) for one in group.compiled])
        pairs = np.array([pair_numbers(one.traced) for one in group.compiled])
        doubtful = doubtful_starts(first, self.plan.t_start, states, numbers, pairs[:, :, REACH], self._threads)
        if np.any(doubtful):
            self._all_alone(group.part(np.flatnonzero(doubtful)))
            good = np.flatnonzero(~doubtful)
            group, states = group.part(good), states[good]
            numbers, pairs = rows_of(numbers, good), rows_of(pairs, good)
        tolerances = self._tolerances(group, states)
        if tolerances is None:
            self._all_alone(group)
            return
        whole = LockstepMembers(
            y=states, p=numbers[0, :changing], constants=numbers[:, changing:],
            weight=np.array([weight_of(one.traced) for one in group.compiled]),
            floors=pairs[:, :, ENTRY_FLOOR], corners=corner_speeds(first),
            ends=np.array(stops[1:]), heads=heads_of(first.traced, stops), plan=self._plan_times, t_start=self.plan.t_start,
        )  # fmt: skip
        for knots, which in members_by_knots(first, self.plan.t_start, self.t_end, states, whole.constants):
            if knots is None:  # a run by `simulate` gives the error
                self._all_alone(group.part(which))
            elif not self.interrupted:
                self._run_alike(group.part(which), whole.of(which), knots, tolerances)

    def _run_alike(self, group: Alike, own: LockstepMembers, knots: Floats, tolerances: LockstepTolerances) -> None:
        """knots: times at which steps must end, besides those of rows."""
        runner = self._runner(group.compiled[0], bool(self.plan.parameters))
        times = self._with_knots(knots)
        width = len(own.y[0]) + own.p.size
        most = max(self.most.numbers // (1 + times.size * width), 64)
        for first in range(0, len(own), most):
            which = np.arange(first, min(first + most, len(own)))
            part, alike = group.part(which), own.of(which)
            tell = None if self._progress is None else self._tell
            ends = runner.run(replace(alike, plan=times), tolerances, self._threads, tell)
            self._begun += which.size
            rows = np.searchsorted(times, self._plan_times)
            ends.row_y, ends.row_p = ends.row_y[:, rows], ends.row_p[:, rows]
            self.interrupted |= ends.interrupted
            self.gpu_seconds += ends.gpu_seconds
            good = (ends.code == REACHED) | (ends.code == STOPPED)
            ended = np.flatnonzero(good)
            at_rows = MemberRows(part.compiled[0].observe, self._plan_times, ends, ended, alike.constants)
            good[ended] = at_rows.see_events(part.compiled[0]) & at_rows.stay_closed(part.compiled[0])
            self._put(part, ends, good, alike.constants)
            self._all_alone(part.part(np.flatnonzero(~good & (ends.code >= 0))))  # a run by `simulate` gives the full message

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

    def _tolerances(self, group: Alike, states: Floats) -> LockstepTolerances | None:
        """The tolerances of a single run; None if none of the first members can start."""
        from pliant.integrate.stepper import MAX_STEPS

        run = None
        for k, y in enumerate(states[:MOST_TRIED]):
            own = group.of(k)
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

    def _put(self, group: Alike, ends: LockstepEnds, good: Truths, numbers: Floats) -> None:
        """numbers: constants, one row per member or one for all."""
        members, traced, rows = group.members, group.compiled[0].traced, np.flatnonzero(good)
        own = MemberRows(group.compiled[0].observe, self._plan_times, ends, rows, numbers)
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
            self._put_warnings(group.part(rows), rows, ends, own)

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

    def _put_warnings(self, group: Alike, rows: Ints, ends: LockstepEnds, own: MemberRows) -> None:
        """Stores the warnings of members that ended normally; rows: their indices in `ends`."""
        touches, force, speed = (ends.tally[rows, :, OF_PAIR.index(name)] for name in ("touches", "peak_force", "entry_speed"))
        sums = MemberSums(ends.reach[rows], touches, force, speed, ends.steps[rows])
        judged = MembersToJudge(self.method, own, sums, own.are_resisted(group.compiled[0], self._threads))
        every = judged.warnings(lambda k: self._judged_by(int(group.members[k]), group.of(k)))
        for member, sentences in zip(group.members.tolist(), every, strict=True):
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
        if self.fallback is None:
            self.store.failed(member, message)
        else:
            self.fallback(member)

    def _all_alone(self, group: Alike) -> None:
        """Runs members by `simulate`: those that do not fit, fail, or need a closer look."""
        for k, member in enumerate(group.members.tolist()):
            self.alone += 1
            if self.fallback is not None:
                self.fallback(member)
            else:
                own = group.compiled[k] if len(group.compiled) > 1 else None  # the one for all may have other numbers
                self.store.run_alone(member, own, self.t_end, self.given or self.method, self.max_steps)


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
