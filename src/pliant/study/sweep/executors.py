"""Computes batches in threads here or in a given executor. If a worker is lost, its batch is tried again.

A process pool that lost a worker takes no more work and does not say which task was lost. Another pool of the same kind replaces
it, the sweep continues, and the tasks that were in progress are run again at the end, one case at a time. A case that loses its
worker every time fails.
"""

from __future__ import annotations

import concurrent.futures as futures
import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pliant.errors import SolveError
from pliant.study.sweep.job import Job, Record, Stopped, Stopping
from pliant.study.sweep.over import Case
from pliant.study.sweep.transport import TravelError, pack, unpack

MOST_ATTEMPTS = 3  # attempts at a case that loses its worker, each time alone
POLL = 0.2  # s between checks of futures that cannot be waited for
PARENT_POLL = 1.0  # s between a worker's checks that its parent is still alive
Keys = tuple[str, ...]
Done = Callable[[Keys, list[Record]], None]


@dataclass(frozen=True)
class Task:
    """Cases that are computed together."""

    keys: Keys
    cases: tuple[Case, ...]


def compute_here(job: Job, cases: Sequence[Case], stopping: Stopping | None = None) -> list[Record]:
    records = []
    for case in cases:
        if stopping is not None and stopping():
            raise Stopped
        records.append(job.compute(case, stopping))
    return records


def compute_packed(packed: bytes, cases: Sequence[Case]) -> list[Record]:
    """Compute a task in another process."""
    return compute_here(unpack(packed), cases)


def compute_all(job: Job, tasks: Sequence[Task], executor: Any, done: Done) -> None:
    """Compute tasks, and pass on each result when it is done, in this thread."""
    if not tasks:
        return
    with _Executing(job, tasks, executor) as executing:
        for task in executing.together(done):
            done(task.keys, [executing.alone(case) for case in task.cases])


class _Executing:
    """A job in progress on an executor. Threads share the job itself and can be stopped; other executors receive it as bytes."""

    def __init__(self, job: Job, tasks: Sequence[Task], executor: Any) -> None:
        self._tasks = tasks
        self._own = executor is None
        self._executor: Any = futures.ThreadPoolExecutor(processors()) if executor is None else executor
        self._stop = threading.Event()
        self._pending: dict[Any, Task] = {}
        self._last: BaseException = SolveError("no reason known")  # why a worker was lost
        if isinstance(self._executor, futures.ThreadPoolExecutor):
            self._work: Callable[..., list[Record]] = partial(compute_here, job, stopping=self._stop.is_set)
        else:
            self._work = partial(compute_packed, pack(job, (tasks[0].cases[0], tasks[-1].cases[-1])))

    def __enter__(self) -> _Executing:
        return self

    def __exit__(self, kind: Any, trouble: Any, trace: Any) -> None:
        """Cancel tasks that have not begun; threads are told to stop, other workers finish tasks whose results are discarded."""
        self._stop.set()
        for future in self._pending:
            with contextlib.suppress(Exception):
                future.cancel()
        if self._own:
            close_pool(self._executor)

    def together(self, done: Done) -> list[Task]:
        """Pass on finished results; returns the tasks that lost their worker."""
        waiting, lost = deque(self._tasks), []
        most = _at_once(self._executor)
        while waiting or self._pending:
            while waiting and len(self._pending) < most:
                self._submit(waiting.popleft())
            for future in self._ready():
                task = self._pending.pop(future)
                records = self._outcome(future)
                if records is None:
                    lost.append(task)
                else:
                    done(task.keys, records)
        return lost

    def alone(self, case: Case) -> Record:
        """Compute one case alone, so that a lost worker is due to it."""
        for _ in range(MOST_ATTEMPTS):
            future = self._submit(Task((), (case,)))
            while not self._ready():
                pass
            del self._pending[future]
            records = self._outcome(future)
            if records is not None:
                return records[0]
        return Record(False, f"it was tried {MOST_ATTEMPTS} times, and each time its worker was lost ({_reason(self._last)})")

    def _submit(self, task: Task) -> Any:
        try:
            future = self._executor.submit(self._work, list(task.cases))
        except futures.BrokenExecutor as trouble:
            self._replace(trouble)
            future = self._executor.submit(self._work, list(task.cases))
        self._pending[future] = task
        return future

    def _outcome(self, future: Any) -> list[Record] | None:
        """The outcome of a task; None if the worker was lost. Errors that concern all cases are raised."""
        try:
            records: list[Record] = future.result()
        except (TravelError, Stopped):
            raise
        except Exception as trouble:  # executors define their own exceptions; errors of a case itself are in its record
            self._last = trouble
            return None
        return records

    def _ready(self) -> set[Any]:
        """Futures that are done; waits until there is one."""
        pending = set(self._pending)
        if all(isinstance(future, futures.Future) for future in pending):
            return futures.wait(pending, return_when=futures.FIRST_COMPLETED).done
        ready = {future for future in pending if future.done()}  # jobs of a queue, as in submitit
        if not ready:
            time.sleep(POLL)
        return ready

    def _replace(self, trouble: BaseException) -> None:
        """Replace a broken pool with one of the same kind; only process pools can be replaced."""
        broken = self._executor
        if not isinstance(broken, futures.ProcessPoolExecutor):
            raise SolveError(f"sweep: executor {broken!r} takes no more work ({trouble}); stored cases are kept") from trouble
        hidden = {
            "max_workers": "_max_workers",
            "mp_context": "_mp_context",
            "initializer": "_initializer",
            "initargs": "_initargs",
        }
        given = {name: getattr(broken, attribute) for name, attribute in hidden.items() if hasattr(broken, attribute)}
        if self._own:
            close_pool(broken)
        self._executor, self._own = futures.ProcessPoolExecutor(**given), True


def _reason(trouble: BaseException) -> str:
    """The system's error message; an executor's own message contains process and port numbers, which differ every time."""
    name = type(trouble).__name__
    return f"{name}: {trouble}" if isinstance(trouble, (OSError, MemoryError)) else name


def _at_once(executor: Any) -> int:
    """The number of tasks given to an executor at once: few for a process pool, which loses all of them with one worker."""
    if isinstance(executor, futures.ProcessPoolExecutor):
        return 2 * int(getattr(executor, "_max_workers", processors()))
    return 1_000_000


def processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# ---- processes of our own


@contextlib.contextmanager
def process_pool(workers: int) -> Iterator[futures.ProcessPoolExecutor]:
    """A pool of processes that end with this one, however it ends."""
    context = multiprocessing.get_context("spawn")  # a forked process inherits locks that nobody will release
    pool = futures.ProcessPoolExecutor(workers, mp_context=context, initializer=_begin_worker, initargs=(os.getpid(),))
    try:
        yield pool
    finally:
        close_pool(pool)


def close_pool(pool: Any) -> None:
    """Close without waiting for processes, whose work is discarded; threads are waited for, since they were told to stop."""
    processes = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=not processes, cancel_futures=True)
    for process in processes:
        process.terminate()


def _begin_worker(parent: int) -> None:
    """Ignore Ctrl-C, which reaches workers too: the parent handles it and ends them. Exit if the parent was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_POLL)
    os._exit(1)
