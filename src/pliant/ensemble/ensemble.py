"""ensemble(): many members of one structure, run inside compiled code on all cores."""

from __future__ import annotations

import os
import threading
import time as clock
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.arrays import Floats, Ints, Truths
from pliant.ensemble.keep import CONTACTS, FINAL, LEDGER, RECORDS, WARNINGS, KeepPlan
from pliant.ensemble.members import Alike, MemberPlan
from pliant.ensemble.store import EnsembleStore
from pliant.errors import ModelError, SolveError
from pliant.host.progress import counted
from pliant.host.stages import Stages
from pliant.integrate.methods.method import Method
from pliant.integrate.status import AT_EVENT, AT_STOP
from pliant.model import check
from pliant.run.accounts import extremes_of, observed_along
from pliant.run.inertia import ALL_JUDGED, MOST_JUDGED
from pliant.run.mechanism import AnySystem
from pliant.run.observed import columns_of
from pliant.run.prepare import Compiled, runnable
from pliant.run.simulate import AUTO, Run, check_compiled, check_limits, method_of, weight_of
from pliant.run.starts import short_struts, start_at, start_rules
from pliant.trace.traced_system import pair_numbers

if TYPE_CHECKING:
    import xarray as xr

    from pliant.trace.traced_system import TracedSystem

SPAN_SECONDS = 0.05  # computing time that a thread takes on at once: short enough to share the last members among threads
MOST_AT_ONCE = 4096
MOST_PIECES = 100_000  # pieces of time, stored once for all members
LOOK = 0.1  # s between checks of progress and Ctrl-C


def ensemble(
    system: AnySystem | Compiled,
    t_end: float,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    starts: Mapping[str, ArrayLike] | None = None,
    rates: Mapping[str, ArrayLike] | None = None,
    method: Method | type[Method] | str | None = AUTO,
    keep: Any = (FINAL, CONTACTS),
    t_start: float = 0.0,
    formulation: str = "articulated",
    max_steps: int | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | bool | None = None,
    loop: str = "auto",
    device: str = "cpu",
) -> xr.Dataset:
    """Run one mechanism many times, with different numbers and starts, on all cores; each member is one row of the Dataset.

    parameters: values of the System's parameters by name; starts and rates: coordinates and their rates by name; each is one number
    or an array with one number per member. keep: "final" (q_end, v_end), "contacts" (counts and sums by pair), "records" (every
    touch), "ledger" (error of the energy balance and its scale, J), "warnings" (those of a Result, one per line), ValuesAt(times,
    quantities ...), ExtremesOf(quantities ...). loop "general": every member equals the result of `simulate`, to the bit.
    "lockstep": members run side by side in vectors, which is faster, and agree with `simulate` within the tolerance; a model that
    lock-step cannot run is refused with the reason. The method "auto" is then DOP853, if it takes no implicit steps in trial runs.
    "auto": lock-step if it can run the model and would finish sooner; `attrs["loop"]` says which was used, and why. device
    "gpu": lock-step on an NVIDIA GPU; "auto": on a GPU if one responds; `attrs["gpu_seconds"]` says how long it computed. A member
    that fails is a row with ok False and a message. progress: True shows a bar; a function is called with (members done, members).
    Ctrl-C keeps the finished members. threads: default, one per processor.
    """
    from pliant.ensemble.loop_choice import DEVICES, LOOPS, choose_loop  # casadi comes in with it

    system = runnable(system, "ensemble")
    check_limits("ensemble", max_steps)
    check.progress("ensemble", progress)
    check.choice("ensemble", "loop", loop, LOOPS)
    check.choice("ensemble", "device", device, DEVICES)
    t_start, t_end = check.number("ensemble", "t_start", t_start, "s"), check.number("ensemble", "t_end", t_end, "s")
    if not t_end > t_start:
        raise ModelError.of("ensemble", "t_end", f"must be > t_start = {t_start} s", t_end)
    method = method_of(method)
    kept = KeepPlan.of(keep, t_start, t_end)
    if isinstance(system, Compiled):
        check_compiled(system.traced, method.near, t_start)
    plan = MemberPlan.of(system, formulation, method.near, t_start, parameters, starts, rates)
    workers = (os.cpu_count() or 1) if threads is None else check.count("ensemble", "threads", threads)
    chosen = choose_loop(plan, method, kept, loop, device, t_end, max_steps)
    if chosen.runner is not None and chosen.explicit is not None:
        from pliant.ensemble.lockstep_ensemble import LockstepEnsemble

        store = EnsembleStore(plan, kept)
        explicit = chosen.explicit
        side_by_side = LockstepEnsemble(
            plan, explicit.method, t_end, kept, max_steps, store, chosen.runner, given=method, most_steps=explicit.most_steps,
            most=chosen.most, fewest_alike=chosen.fewest_alike,
        )  # fmt: skip
        with counted(progress, "members") as told_of:
            side_by_side.run(min(workers, plan.count), told_of)
        all_alone = f"general: simulate ran all members, as none could run in {chosen.words}"
        told = {"loop": all_alone if side_by_side.alone == plan.count else chosen.words, "run_by_simulate": side_by_side.alone}
        if side_by_side.gpu_seconds:
            told["gpu_seconds"] = side_by_side.gpu_seconds
        return store.dataset(side_by_side.interrupted).assign_attrs(told)
    study = _Ensemble(plan, method, t_end, kept, max_steps)
    with counted(progress, "members") as told_of:
        study.run(min(workers, plan.count), told_of)
    return study.store.dataset(study.interrupted).assign_attrs(loop=chosen.words)


class _Ensemble:
    """The data that threads share: the next member, the stored results, whether to continue."""

    def __init__(self, plan: MemberPlan, method: Method, t_end: float, kept: KeepPlan, max_steps: int | None) -> None:
        self.plan, self.method, self.t_end, self.kept, self.max_steps = plan, method, t_end, kept, max_steps
        self.store = EnsembleStore(plan, kept)
        self.interrupted = False
        self._next, self._lock = 0, threading.Lock()
        self._workers: list[_Worker] = []

    def run(self, threads: int, progress: Callable[..., object] | None) -> None:
        pool = ThreadPoolExecutor(threads, thread_name_prefix="member")
        try:
            self._workers = [_Worker(self) for _ in range(threads)]
            self._watch([pool.submit(worker.work) for worker in self._workers], progress)
        except KeyboardInterrupt:
            self._stop()
        finally:
            pool.shutdown(wait=True)

    def _watch(self, futures: list[Future[None]], progress: Callable[..., object] | None) -> None:
        waiting: Iterable[Future[None]] = futures
        while waiting:
            done, waiting = wait(waiting, timeout=LOOK, return_when=FIRST_EXCEPTION)
            for future in done:
                if future.exception() is not None:
                    self._stop()
                future.result()
            if progress is not None:
                progress(self.store.done, self.plan.count)

    def _stop(self) -> None:
        self.interrupted = True
        for worker in self._workers:
            worker.cancel()

    def claim(self, count: int) -> Ints:
        """The next members that no thread has taken; none if all are taken or the run is cancelled."""
        with self._lock:
            first = self._next
            self._next = self.plan.count if self.interrupted else min(first + count, self.plan.count)
            return np.arange(first, first if self.interrupted else self._next)


class _Worker:
    """One thread: runs members in its own memory."""

    def __init__(self, study: _Ensemble) -> None:
        self._study, self._plan = study, study.plan
        self._templates: dict[int, _Template] = {}  # by structure
        self._at_once = 1

    def cancel(self) -> None:
        for template in list(self._templates.values()):
            template.runs.cancel()

    def work(self) -> None:
        while (members := self._study.claim(self._at_once)).size:
            began = clock.perf_counter()
            self._take(members)
            seconds = max(clock.perf_counter() - began, 1e-9) / members.size
            most = 1 if self._study.kept.needs_python else MOST_AT_ONCE
            self._at_once = int(min(max(SPAN_SECONDS / seconds, 1), 8 * self._at_once, most))

    def _take(self, members: Ints) -> None:
        """Runs members that fit into the existing memory together, and the others one by one."""
        for group in self._plan.alike(members, self._study.t_end, self._study.store.failed):
            template = self._template_for(group)
            good = np.zeros(group.members.size, dtype=bool) if template is None else template.fitting(group)
            for k in np.flatnonzero(good).tolist():
                good[k] = not self._has_short_strut(group.of(k), int(group.members[k]))
            for k in np.flatnonzero(~good).tolist():
                self._alone(int(group.members[k]), group.of(k))
            if template is not None and np.any(good):
                self._together(template, group.part(np.flatnonzero(good)))

    def _has_short_strut(self, compiled: Compiled, member: int) -> bool:
        """Whether a member starts with a strut of zero length, which `simulate` refuses."""
        if not compiled.traced.system.struts:
            return False
        t = self._plan.t_start
        y = self._plan.states(compiled, np.array([member]))[0]
        return bool(short_struts(compiled, t, y, compiled.traced.parameters(t, t)))

    def _template_for(self, group: Alike) -> _Template | None:
        """The memory in which members of this structure run, created with the first of them that can start.

        None if it cannot, or if warnings are kept: those come with a Result.
        """
        if WARNINGS in self._study.kept.words:
            return None
        structure = id(group.compiled[0].structure)  # the template keeps the structure alive
        if structure not in self._templates:
            try:
                self._templates[structure] = _Template(self._study, group)
            except SolveError:
                return None
        return self._templates[structure]

    def _together(self, template: _Template, group: Alike) -> None:
        from pliant.integrate.member_runs import Members

        members, compiled, states = group.members, group.compiled, self._plan.states_of(group)
        numbers = [template.numbers_of(own) for own in compiled]
        weights = [weight_of(own.traced) for own in compiled] * (len(members) // len(compiled))
        ends = template.runs.run(
            Members(states, np.array([p for p, _ in numbers]), np.array([pairs for _, pairs in numbers]), np.array(weights))
        )
        good = ends.plain & (ends.blind == 0) & ((ends.code == AT_STOP) | (ends.code == AT_EVENT))
        good[ends.done :] = False
        self._study.store.put(members, ends, good, compiled[0].traced)
        if self._study.kept.needs_python and np.all(good):
            good &= self._look_at(template, int(members[0]), compiled[0])
        for k in np.flatnonzero(~good[: ends.done]).tolist():  # a run by `simulate` gives the full message
            self._alone(int(members[k]), group.of(k))

    def _look_at(self, template: _Template, member: int, compiled: Compiled) -> bool:
        """Stores the ledger and records of the member that was run last; False if it must be run again for that."""
        store, kept = self._study.store, self._study.kept
        if LEDGER in kept.words:
            course = template.run.stepper.course()
            store.put_ledger(member, extremes_of(compiled.traced, observed_along(compiled.observe, course), course))
        if RECORDS in kept.words:
            if template.run.stepper.lost_touches:
                return False
            store.put_records(member, template.run.contact_table())
        return True

    def _alone(self, member: int, compiled: Compiled) -> None:
        """Runs a member by `simulate`: one that does not fit, fails, or needs a closer look."""
        if not self._study.interrupted:
            self._study.store.run_alone(member, compiled, self._study.t_end, self._study.method, self._study.max_steps)


class _Template:
    """The memory of a started run, in which other members of its structure run."""

    def __init__(self, study: _Ensemble, group: Alike) -> None:
        from pliant.integrate.member_runs import Kept

        plan, compiled = study.plan, group.compiled[0]
        traced, self.key, self._plan = compiled.traced, group.key, plan
        start = start_at(compiled, plan.t_start, plan.states(compiled, group.members[:1])[0])
        self.run = Run(compiled, study.method, plan.t_start, study.t_end, study.kept.times, study.max_steps, None, start, Stages())
        self.pieces = next(self.run.pieces_of_time(MOST_PIECES))
        self.simple = self.run.sampling.is_one_batch(MOST_PIECES) and _is_judged_inside(traced)
        self._timed = self._read_by_formulas(group)[:1]
        self.runs = self.run.stepper.members(self.pieces)
        self.runs.judge_by(start_rules(compiled, study.method.rtol))
        places = columns_of(traced, study.kept.quantities)
        columns = np.concatenate([*places.values()]) if places else np.empty(0, dtype=np.int64)
        at_end = np.concatenate([columns_of(traced, ("q",))["q"], columns_of(traced, ("v",))["v"]])
        kept = Kept(at_end[at_end >= 0], columns, study.kept.times.size, bool(study.kept.values), bool(study.kept.extremes))
        self.runs.keep(kept)

    def fitting(self, group: Alike) -> Truths:
        """The members with the same breakpoints and tables, whose formulas of time change at the same times."""
        if not self.simple or group.key != self.key:
            return np.zeros(group.members.size, dtype=bool)
        return np.asarray(np.all(self._read_by_formulas(group) == self._timed, axis=1))

    def _read_by_formulas(self, group: Alike) -> Floats:
        """What formulas of time read besides time, by member."""
        timed = group.compiled[0].traced.timed
        if timed is None:
            return np.empty((group.members.size, 0))
        states = self._plan.states_of(group)
        p = np.array([self.numbers_of(own)[0] for own in group.compiled])
        return timed.read(states, np.broadcast_to(p, (len(states), p.shape[1])))

    def numbers_of(self, compiled: Compiled) -> tuple[Floats, Floats]:
        """(p at the start, numbers of the contacts)."""
        traced = compiled.traced
        return traced.parameters(self.run.stops[0], self.run.stops[1]), pair_numbers(traced)


def _is_judged_inside(traced: TracedSystem) -> bool:
    """Whether the loop itself can check the mass matrix, or no check is needed."""
    rates = len(traced.free_v)
    return (rates <= ALL_JUDGED and not traced.tree.prescribed) or rates > MOST_JUDGED
