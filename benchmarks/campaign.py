"""A campaign of random mechanisms: how many runs end early, hang, miss a contact or fall through one?

    python benchmarks/campaign.py --members 20000 --seed 1 --json campaign.json [--method all] [--workers 2]
    python benchmarks/campaign.py --seed 1 --only 4711      # one member: its model, both of its runs, the verdict

Mechanisms are drawn by `random_mechanisms.py`; each is compiled once (LLVM only translates: the runs are short) and run from the
starts of `random_starts.py`; a member is one mechanism from one start. Each member runs twice, the second time with a tenth of the
longest step the first one took; `verdicts.py` judges both runs and whether they touch the same. Members run in processes of their
own that are replaced when they hang or crash.

Rows of the JSON: `ended_early`, `hung` (limits of time or steps used up), `missed` (a touch or an event not seen), `fell_through`,
`nan`, `exceptions` (other than ModelError and SolveError; crashes), `worst_ledger` (largest error of the balance in units of rtol;
1e3 is allowed), `seconds`; `open_ledger` and `open_loop` count silent violations, `warned` those that the result's own warnings
mention, `singular` the runs that ended where the mass matrix of the model did, or at a dead point of its loops, `unstable` those of
fixed steps that say they ended, `slow` those that used up a limit at an even pace, `refused` the models that were not run;
`failures` tells every member of which one of these is true.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing as mp
import os
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # a spawned worker finds the modules beside this one

from random_mechanisms import Mechanism, make
from random_starts import STARTS, start

FAILURES = ("ended_early", "hung", "missed", "fell_through", "nan", "exceptions", "open_ledger", "open_loop")
COUNTS = (*FAILURES, "warned", "singular", "unstable", "slow", "refused")
MAX_SECONDS = 20.0  # s of computing for one run
MAX_STEPS = 200_000
PATIENCE = 60.0  # s without a word from a worker before it is replaced
ROWS = 200
FIXED_STEP = 1e-4  # s, of methods that control no error
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
AUTO = "Auto"


@dataclass(frozen=True)
class Task:
    """The starts of one mechanism, from `first` on."""

    seed: int
    number: int
    first: int
    last: int  # not included
    method: str
    starts: int = STARTS  # of every mechanism


# ---- one member


def method_for(name: str, rtol: float, longest: float | None = None) -> Any:
    """A method of the registry by name; longest: the step it may not exceed, s."""
    from pliant.integrate.methods.method import METHODS

    kind = next(method for method in METHODS if method.__name__ == name)
    known = {field.name for field in fields(kind)}
    if "step" in known:
        return kind(step=FIXED_STEP if longest is None else longest)
    return kind(rtol=rtol, atol=1e-3 * rtol, max_step=longest)


def compiled_mechanism(task: Task) -> tuple[Mechanism, Any]:
    import pliant.codegen.llvm as llvm
    from pliant.run.prepare import compile_system

    # translate only, Jacobians too: a fifth of the time, and runs are short
    llvm.LARGEST_OPTIMISED = llvm.LARGEST_OPTIMISED_IN_RUN = llvm.compile_function.__kwdefaults__["largest"] = 0
    mechanism = make(task.seed, task.number)
    near = method_for(task.method, 1e-6).near
    return mechanism, compile_system(mechanism.system, cache=False, near=near)


def run_member(task: Task, which: int, mechanism: Mechanism, compiled: Any) -> dict[str, Any]:
    """Both runs of a member and what is wrong with them."""
    from verdicts import different_touches, judge, ledger_error

    import pliant as pl

    rtol = TOLERANCES[(task.number + which) % len(TOLERANCES)]
    begin = start(task.seed, task.number, which, compiled)
    settings = {"t_end": mechanism.t_end, "save": mechanism.t_end / ROWS, "max_seconds": MAX_SECONDS, "max_steps": MAX_STEPS}
    method = method_for(task.method, rtol)
    asked = method.tolerance
    plain = pl.simulate(compiled, **settings, method=method, start=begin)
    found = judge(compiled, plain, asked)
    ledger = ledger_error(compiled, plain) / asked if asked and plain.ok else 0.0
    if plain.ok:
        longest = 0.1 * (plain.stats["largest_step_s"] or mechanism.t_end)
        finer = method_for(task.method, rtol, longest)
        fine = pl.simulate(compiled, **{**settings, "max_steps": enough(plain, longest)}, method=finer, start=begin)
        ignored = ("hung", "slow") if "computing time" in fine.message else ()  # ten times the work may take its time
        wrongs = [one for one in judge(compiled, fine, asked) if one.kind not in ignored]
        found += [replace(one, what=f"{one.what} (a tenth of the step)") for one in wrongs]
        if fine.ok:
            found += missed_by_one(different_touches(compiled, plain, fine, asked or 1e-4))
    return {"wrongs": [(one.kind, one.what) for one in unique(found)], "ledger": ledger, "touches": len(plain.contacts)}


def enough(plain: Any, longest: float) -> int:
    """Steps that a run with shorter steps may take: those of the plain one and those of the limit, and many more, as it may stay
    with an explicit method where the plain one turned to an implicit one."""
    steps = plain.stats["steps"] + plain.stats["rejected"] + plain.final_state.t / longest
    return int(5.0 * steps) + 50_000


def missed_by_one(sentences: list[str]) -> list[Any]:
    from verdicts import Wrong

    return [Wrong("missed", what) for what in sentences]


def unique(found: list[Any]) -> list[Any]:
    """One of each kind: what follows from it is not counted again."""
    kinds = dict.fromkeys(one.kind for one in found)
    return [next(one for one in found if one.kind == kind) for kind in kinds]


def attempt(task: Task) -> Iterator[tuple[int, dict[str, Any]]]:
    """(start, report) of every member of a task; refusals and exceptions are reports too."""
    from pliant.errors import PliantError

    try:
        mechanism, compiled = compiled_mechanism(task)
    except Exception as error:
        yield from ((which, _trouble(error, PliantError)) for which in range(task.first, task.last))
        return
    for which in range(task.first, task.last):
        try:
            report = run_member(task, which, mechanism, compiled)
        except Exception as error:
            report = _trouble(error, PliantError)
        yield which, {**report, "scene": mechanism.scene}


def _trouble(error: Exception, purposeful: type[Exception]) -> dict[str, Any]:
    kind = "refused" if isinstance(error, purposeful) else "exceptions"
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = "" if kind == "refused" else f" ({Path(where.filename).name}:{where.lineno})"
    return {"wrongs": [(kind, f"{type(error).__name__}: {error}{place}"[:400])], "ledger": 0.0, "touches": 0}


# ---- workers


def make_loops() -> None:
    """All compiled loops into the disk cache, so that no member is taken for hung while they are compiled."""
    from pliant.host.stages import Stages
    from pliant.integrate import compiled_loops

    for name in compiled_loops.loop_names():
        compiled_loops.address_of_loop(name, Stages())


def work(channel: Connection) -> None:
    """A worker: takes tasks until it is told to end, answers member by member."""
    while True:
        task = channel.recv()
        if task is None:
            return
        for which, report in attempt(task):
            channel.send((which, report))
        channel.send(None)


class Worker:
    """One process with the task it is on."""

    def __init__(self) -> None:
        context = mp.get_context("spawn")
        self.channel, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.task: Task | None = None
        self.heard = time.perf_counter()

    def give(self, task: Task | None) -> None:
        self.task, self.heard = task, time.perf_counter()
        self.channel.send(task)

    @property
    def late(self) -> bool:
        return self.task is not None and time.perf_counter() - self.heard > PATIENCE

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.channel.close()


class Campaign:
    """Tasks given out to workers, reports taken in."""

    def __init__(self, tasks: list[Task], workers: int, quiet: bool = False) -> None:
        self.waiting = list(reversed(tasks))
        self.total = sum(task.last - task.first for task in tasks)
        self.workers = [Worker() for _ in range(max(1, min(workers, len(tasks))))]
        self.reports: dict[int, dict[str, Any]] = {}
        self.quiet, self.reported = quiet, time.perf_counter()

    def run(self) -> dict[int, dict[str, Any]]:
        """Reports by member; after Ctrl-C, those there are."""
        try:
            self._go()
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
        for worker in self.workers:
            worker.end()
        return self.reports

    def _go(self) -> None:
        for worker in self.workers:
            self._next(worker)
        while any(worker.task for worker in self.workers):
            busy = {worker.channel: worker for worker in self.workers if worker.task}
            for channel in wait(list(busy), timeout=1.0):
                self._hear(busy[channel])  # type: ignore[index]
            for k, worker in enumerate(self.workers):
                if worker.late:
                    self._replace(k, "hung", f"no answer in {PATIENCE:.0f} s")
            self._tell()

    def _next(self, worker: Worker) -> None:
        if self.waiting:
            worker.give(self.waiting.pop())
        else:
            worker.task = None

    def _hear(self, worker: Worker) -> None:
        assert worker.task is not None
        try:
            said = worker.channel.recv()
        except (EOFError, ConnectionError):
            self._replace(self.workers.index(worker), "exceptions", "the process crashed")
            return
        worker.heard = time.perf_counter()
        if said is None:
            self._next(worker)
            return
        which, report = said
        self._take(worker.task, which, report)
        worker.task = replace(worker.task, first=which + 1)

    def _take(self, task: Task, which: int, report: dict[str, Any]) -> None:
        member = task.number * task.starts + which
        self.reports[member] = {**report, "method": task.method}
        for kind, what in report["wrongs"] if not self.quiet else ():
            print(f"seed {task.seed}, member {member}, {task.method}: {kind}: {what}", file=sys.stderr, flush=True)

    def _replace(self, k: int, kind: str, what: str) -> None:
        """A worker that is lost: the member it was on is to blame, the rest of its task goes to another."""
        task = self.workers[k].task
        assert task is not None
        code = self.workers[k].process.exitcode  # None while it lives
        self.workers[k].end()
        if task.first < task.last:
            self._take(task, task.first, {"wrongs": [(kind, f"{what}, exit code {code}")], "ledger": 0.0, "touches": 0})
            if task.first + 1 < task.last:
                self.waiting.append(replace(task, first=task.first + 1))
        self.workers[k] = Worker()
        self._next(self.workers[k])

    def _tell(self) -> None:
        now = time.perf_counter()
        if not self.quiet and now - self.reported > 5.0:
            self.reported = now
            kinds = Counter(kind for report in self.reports.values() for kind, _ in report["wrongs"])
            print(f"{len(self.reports)}/{self.total} members: {dict(kinds)}", file=sys.stderr, flush=True)


# ---- a campaign


def tasks_of(members: int, seed: int, methods: list[str], starts: int = STARTS) -> list[Task]:
    count = math.ceil(members / starts)
    last = [min(starts, members - number * starts) for number in range(count)]
    return [Task(seed, number, 0, last[number], methods[number % len(methods)], starts) for number in range(count)]


def method_names(asked: str) -> list[str]:
    from pliant.integrate.methods.method import METHODS

    names = [method.__name__ for method in METHODS]
    chosen = names if asked == "all" else [AUTO if asked.lower() == "auto" else asked]
    if not set(chosen) <= set(names):
        raise SystemExit(f"--method must be all or one of {names}, got {asked!r}")
    return chosen


def campaign(
    members: int, seed: int, method: str = AUTO, workers: int | None = None, quiet: bool = False, starts: int = STARTS
) -> dict[str, Any]:
    """Run it, and count."""
    make_loops()
    began = time.perf_counter()
    tasks = tasks_of(members, seed, method_names(method), starts)
    reports = Campaign(tasks, workers or os.cpu_count() or 1, quiet).run()
    seconds = time.perf_counter() - began
    counts = Counter(kind for report in reports.values() for kind, _ in report["wrongs"])
    failures = [{"seed": seed, "member": member, "kind": kind, "what": what, "scene": report.get("scene", ""),
                 "method": report["method"]}
                for member, report in sorted(reports.items()) for kind, what in report["wrongs"]]  # fmt: skip
    return {
        "members": len(reports),
        **{kind: counts[kind] for kind in COUNTS},
        "worst_ledger": max((report["ledger"] for report in reports.values()), default=0.0),
        "seconds": seconds,
        "seconds_per_member": seconds / max(len(reports), 1),
        "mechanisms": len(tasks),
        "starts": starts,
        "touches": sum(report["touches"] for report in reports.values()),
        "seed": seed,
        "method": method,
        "failures": failures,
    }


def show(seed: int, member: int, method: str, starts: int) -> None:
    """One member: the model, and the verdict."""
    import pliant as pl

    number, which = divmod(member, starts)
    names = method_names(method)
    task = Task(seed, number, which, which + 1, names[number % len(names)])
    mechanism = make(seed, number)
    print(pl.dump_model(mechanism.system))
    print(f"# seed {seed}, member {member}: mechanism {number} ({mechanism.scene}), start {which}, {task.method}, "
          f"rtol {TOLERANCES[(number + which) % len(TOLERANCES)]:g}, t_end {mechanism.t_end} s")  # fmt: skip
    for _, report in attempt(task):
        for kind, what in report["wrongs"]:
            print(f"# {kind}: {what}")
        print(f"# {report['touches']} touches, ledger off by {report['ledger']:.3g} rtol")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--members", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", type=int, help="run this member alone and print its model")
    parser.add_argument("--method", "--methods", default=AUTO, help="one of the methods, or all in turn, mechanism by mechanism")
    parser.add_argument("--starts", type=int, default=STARTS, help="members of one mechanism; --only wants the same number")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    given = parser.parse_args()
    if given.only is not None:
        show(given.seed, given.only, given.method, given.starts)
        return
    record = campaign(given.members, given.seed, given.method, given.workers, starts=given.starts)
    if given.json:
        given.json.write_text(json.dumps(record, indent=1))
    print(json.dumps({name: value for name, value in record.items() if name != "failures"}, indent=1))
    sys.exit(1 if any(record[kind] for kind in FAILURES) else 0)


if __name__ == "__main__":
    main()
