"""Runs cases of a sweep in lock-step, as members of an ensemble: side by side in vectors on every core, or on a GPU."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.ensemble.keep import LEDGER, WARNINGS, KeepPlan, ValuesAt, shape_of
from pliant.ensemble.lockstep_ensemble import LockstepEnsemble, reason_against
from pliant.ensemble.loop_choice import AUTO, ExplicitChoice, RunnerOf, explicit_choice, place_of
from pliant.ensemble.members import MemberPlan
from pliant.ensemble.store import EnsembleStore
from pliant.errors import ModelError, PliantError
from pliant.results.contacts import ContactTable
from pliant.results.result import Result
from pliant.results.table import QUANTITIES
from pliant.run.prepare import Compiled
from pliant.run.save_times import save_plan
from pliant.run.simulate import method_of
from pliant.study.sweep.executors import Done, Task, compute_all, processors
from pliant.study.sweep.job import Job, Record, compiled_of
from pliant.study.sweep.keep import Keep
from pliant.study.sweep.over import Case, Over
from pliant.study.sweep.subject import FunctionSubject

if TYPE_CHECKING:
    from pliant.integrate.methods.method import Method
    from pliant.model.system import System

MOST_NUMBERS = 2**24  # numbers held for cases before their batches are handed over: 128 MB
LOOKED_AT = 16  # cases tried until one is a mechanism that can be prepared


@dataclass(frozen=True)
class Setting:
    """One mechanism of a sweep, and how all of its cases are run."""

    compiled: Compiled
    method: Method
    kept: KeepPlan
    t_start: float
    t_end: float
    max_steps: int | None

    @classmethod
    def of(cls, job: Job, case: Case) -> Setting:
        """From a job whose settings allow lock-step; a PliantError if the mechanism of this case is impossible."""
        given = job.options(case)
        method, t_start, t_end = method_of(given.get("method")), float(given.get("t_start", 0.0)), float(given["t_end"])
        keep = (LEDGER, WARNINGS, ValuesAt(save_plan(given.get("save"), t_start, t_end), *_quantities(job.keep)))
        compiled = compiled_of(job.mechanism(case), given)
        return cls(compiled, method, KeepPlan.of(keep, t_start, t_end), t_start, t_end, given.get("max_steps"))

    def plan(self, parameters: Mapping[str, Any]) -> MemberPlan:
        formulation = self.compiled.traced.formulation
        return MemberPlan.of(self.compiled, formulation, self.method.near, self.t_start, parameters, None, None)

    def tried(self) -> ExplicitChoice:
        """The method in lock-step, by a trial run if the given method switches."""
        return explicit_choice(self.plan({}), self.method, self.t_end, self.max_steps)

    @property
    def reason_against(self) -> str:
        """Why its cases must run one by one; "" if lock-step can run them by an explicit method."""
        return reason_against(self.plan({}), self.method.alternatives[0], self.kept)

    @property
    def numbers(self) -> int:
        """How many numbers are kept of one case."""
        traced = self.compiled.traced
        return 1 + self.kept.times.size * sum(math.prod(shape_of(traced, name)) for name in self.kept.quantities)


def _quantities(keep: Keep) -> tuple[str, ...]:
    """The quantities that rows must contain for what is kept: for one coordinate, all coordinates."""
    return tuple(dict.fromkeys(what if what in QUANTITIES else "q" for what in keep.what.values() if isinstance(what, str)))


def _reason_of_settings(job: Job, case: Case) -> str:
    """The first setting of the sweep that only individual runs support, as a reason; "" if there is none."""
    if callable(job.run):
        return "run is a function, which must be called for every case to make its Result"
    if isinstance(job.subject, FunctionSubject):
        return "a function makes a new System for every case: sweep parameters of one System, or a model file"
    if job.keep.whole or not all(isinstance(what, str) for what in job.keep.what.values()):
        return "whole results or functions of them are kept, which only individual runs have: keep quantities or coordinates"
    if job.keep.derived:
        return f"{', '.join(job.keep.derived)} are computed from whole results, which only individual runs have"
    given = job.options(case)
    if given.get("max_seconds") is not None:
        return "max_seconds limits the computing time of every run, but cases in lock-step run at the same time"
    if isinstance(given.get("save"), str):
        return f"save={given['save']!r} asks for rows at every step, but every case has its own steps"
    return ""


@dataclass
class SideBySide:
    """Computes cases of a sweep; cases that lock-step cannot run, or that fail there, are run individually."""

    job: Job
    device: str
    explicit: ExplicitChoice  # the method in lock-step, by the first case of all: a resumed sweep has the same
    _runners: dict[Method, RunnerOf]
    _settings: dict[int, Setting | None] = field(default_factory=dict)  # by System, which its subject keeps

    def compute(self, tasks: Sequence[Task], done: Done) -> None:
        """Computes as many tasks at a time as fit in memory, and hands each over in order."""
        waiting, count = list[Task](), 0
        for task in tasks:
            waiting.append(task)
            count += len(task.items) * self._numbers(task.items[0])
            if count >= MOST_NUMBERS:
                self._together(waiting, done)
                waiting, count = [], 0
        self._together(waiting, done)

    def _numbers(self, case: Case) -> int:
        """How many numbers are kept of one case."""
        try:
            setting = self._setting(self.job.mechanism(case).system, case)
        except PliantError:
            return 1
        return 1 if setting is None else setting.numbers

    def _together(self, tasks: Sequence[Task], done: Done) -> None:
        cases = [case for task in tasks for case in task.items]
        groups: dict[int, tuple[System, list[int]]] = {}
        for k, case in enumerate(cases):
            with contextlib.suppress(PliantError):  # the case's record will give the reason
                system = self.job.mechanism(case).system
                groups.setdefault(id(system), (system, []))[1].append(k)
        records: dict[int, Record] = {}
        for system, members in groups.values():
            own = self._records(system, [cases[k] for k in members])
            records.update((members[k], record) for k, record in own.items())
        records |= self._one_by_one({k: case for k, case in enumerate(cases) if k not in records})
        first = 0
        for task in tasks:
            done(task.keys, [records[k] for k in range(first, first + len(task.items))])
            first += len(task.items)

    def _setting(self, system: System, case: Case) -> Setting | None:
        """The setting of a System; None if its cases must run individually."""
        if id(system) not in self._settings:
            try:
                setting = Setting.of(self.job, case)
            except PliantError:
                return None  # perhaps only this case fails
            self._settings[id(system)] = None if setting.reason_against else setting
        return self._settings[id(system)]

    def _one_by_one(self, cases: Mapping[int, Case]) -> dict[int, Record]:
        records: dict[int, Record] = {}
        tasks = [Task((str(k),), (case,)) for k, case in cases.items()]
        compute_all(self.job, tasks, None, lambda keys, own: records.update({int(keys[0]): own[0]}))
        return records

    def _records(self, system: System, cases: Sequence[Case]) -> dict[int, Record]:
        """Records of cases of one System with different parameters; cases that must run individually are left out."""
        setting = next((found for case in cases if (found := self._setting(system, case)) is not None), None)
        if setting is None:
            return {}
        explicit = self.explicit if setting.method == self.explicit.given else setting.tried()
        if explicit.reason:
            return {}
        values = [self.job.mechanism(case).parameters for case in cases]
        plan = setting.plan({name: [own[name] for own in values] for name in values[0]})
        store, alone = EnsembleStore(plan, setting.kept), set[int]()
        study = LockstepEnsemble(
            plan, explicit.method, setting.t_end, setting.kept, setting.max_steps, store, self._runner_of(explicit.method),
            alone.add, fewest_alike=1, most_steps=explicit.most_steps,  # 1: no case depends on the others in its batch
        )  # fmt: skip
        study.run(min(processors(), plan.count), None)
        if study.interrupted:
            raise KeyboardInterrupt
        alone |= set(np.flatnonzero(store.t_end != setting.t_end).tolist())  # ended by an event: their last row is at its time
        return {k: self._record(setting, store, k) for k in range(len(cases)) if k not in alone}

    def _runner_of(self, method: Method) -> RunnerOf:
        if method not in self._runners:
            self._runners[method] = place_of(method, self.device)[1]
        return self._runners[method]

    def _record(self, setting: Setting, store: EnsembleStore, member: int) -> Record:
        """From the rows of a member, as from those of a Result."""
        traced, message = setting.compiled.traced, store.message[member]
        values = {name: rows[member] for name, rows in store.values.items()}
        rows = Result(traced.system.name, setting.kept.times, values, traced.columns, (), ContactTable(()), True, message,
                      drawing=setting.compiled.drawing)  # fmt: skip
        pieces, _, _ = self.job.keep.pieces(rows)
        error, scale = (float(store.ledger[name][member]) for name in ("balance_error", "balance_scale"))
        return Record(True, message, store.warnings[member], 0.0 if scale == 0.0 else error / scale, pieces)


def side_by_side(job: Job, over: Over, device: str) -> tuple[SideBySide | None, str]:
    """An object that computes cases in lock-step, and words that say where; None if "auto" leaves them to individual runs.

    Raises a ModelError if lock-step is required but impossible, and a SolveError if no GPU responds.
    """
    reason, explicit = _looked_at(job, over)
    if reason and device != AUTO:
        raise ModelError.of("sweep", "device", f"must be left out here: {reason}", device)
    if reason or explicit is None:
        return None, f"one by one: {reason}"
    where, runner, _ = place_of(explicit.method, device)
    return SideBySide(job, device, explicit, {explicit.method: runner}), explicit.told(where)


def _looked_at(job: Job, over: Over) -> tuple[str, ExplicitChoice | None]:
    """The reason against lock-step and the method, of the first case that is a mechanism; others are checked later."""
    reason = _reason_of_settings(job, next(iter(over)))
    if reason:
        return reason, None
    trouble: PliantError | None = None
    for case in islice(iter(over), LOOKED_AT):
        try:
            setting = Setting.of(job, case)
            if setting.reason_against:
                return setting.reason_against, None
            explicit = setting.tried()
            return explicit.reason, explicit
        except PliantError as other:
            trouble = trouble or other
    return f"none of the first cases can be run: {trouble}", None
