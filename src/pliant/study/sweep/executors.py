"""Computes tasks in threads here or in a given executor. If a worker is lost, its task is tried again.

A process pool that lost a worker takes no more work and does not say which task was lost. Another pool of the same kind replaces
it, the others continue, and the tasks that were in progress are run again at the end, one item at a time. An item that loses its
worker every time fails.
"""

from __future__ import annotations

import concurrent.futures as futures
import contextlib
import importlib
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from pliant.errors import SolveError
from pliant.study.sweep.transport import TravelError, pack, unpack
from pliant.study.sweep.work import Stopped, Stopping, Work

MOST_ATTEMPTS = 3  # attempts at an item that loses its worker, each time alone
POLL = 0.2  # s between checks of futures that cannot be waited for
PARENT_POLL = 1.0  # s between a worker's checks that its parent is still alive
Keys = tuple[Any, ...]
Done = Callable[[Keys, list[Any]], None]


@dataclass(frozen=True)
class Task:
    """Items that are computed together, such as the cases of a batch."""

    keys: Keys
    items: tuple[Any, ...]


def compute_here(work: Work, items: Sequence[Any], stopping: Stopping | None = None) -> list[Any]:
    outcomes = []
    for item in items:
        if stopping is not None and stopping():
            raise Stopped
        outcomes.append(work.compute(item, stopping))
    return outcomes


def compute_packed(packed: bytes, items: Sequence[Any]) -> list[Any]:
    """Compute a task in another process."""
    return compute_here(unpack(packed), items)


def compute_all(work: Work, tasks: Sequence[Task], executor: Any, done: Done) -> None:
    """Compute tasks, and pass on each result when it is done, in this thread."""
    if tasks:
        with Executing(work, (tasks[0].items[0], tasks[-1].items[-1]), executor) as executing:
            executing.compute(tasks, done)


class Executing:
    """Work in progress on an executor. Threads share the work itself and can be stopped; other executors receive it as bytes."""

    def __init__(self, work: Work, some: Sequence[Any], executor: Any) -> None:
        """some: items by which the work that arrives is compared with the work that was sent."""
        self._lost = work.lost
        self._part = work.part
        self._own = executor is None
        self._executor: Any = futures.ThreadPoolExecutor(processors()) if executor is None else executor
        self._stop = threading.Event()
        self._pending: dict[Any, Task] = {}
        self._last: BaseException = SolveError("no reason known")  # why a worker was lost
        if isinstance(self._executor, futures.ThreadPoolExecutor):
            self._work: Callable[..., list[Any]] = partial(compute_here, work, stopping=self._stop.is_set)
        else:
            self._work = partial(compute_packed, pack(work, some))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, trouble: Any, trace: Any) -> None:
        """Cancel tasks that have not begun; threads are told to stop, other workers finish tasks whose results are discarded."""
        self._stop.set()
        for future in self._pending:
            with contextlib.suppress(Exception):
                future.cancel()
        if self._own:
            close_pool(self._executor)

    @property
    def workers(self) -> int:
        """How many tasks it computes at the same time, as far as it says so."""
        return int(getattr(self._executor, "_max_workers", processors()))

    @property
    def shares_memory(self) -> bool:
        """Whether all workers see the same objects."""
        return isinstance(self._executor, futures.ThreadPoolExecutor)

    def compute(self, tasks: Sequence[Task], done: Done) -> None:
        """Compute tasks, and pass on each result when it is done, in this thread."""
        for task in self._together(tasks, done):
            done(task.keys, [self._alone(item) for item in task.items])

    def _together(self, tasks: Sequence[Task], done: Done) -> list[Task]:
        """Pass on finished results; returns the tasks that lost their worker."""
        waiting, lost = deque(tasks), []
        most = _at_once(self._executor)
        while waiting or self._pending:
            while waiting and len(self._pending) < most:
                self._submit(waiting.popleft())
            for future in self._ready():
                task = self._pending.pop(future)
                outcomes = self._outcome(future)
                if outcomes is None:
                    lost.append(task)
                else:
                    done(task.keys, outcomes)
        return lost

    def _alone(self, item: Any) -> Any:
        """Compute one item alone, so that a lost worker is due to it."""
        for _ in range(MOST_ATTEMPTS):
            future = self._submit(Task((), (item,)))
            while not self._ready():
                pass
            del self._pending[future]
            outcomes = self._outcome(future)
            if outcomes is not None:
                return outcomes[0]
        return self._lost(item, f"it was tried {MOST_ATTEMPTS} times, and each time its worker was lost ({_reason(self._last)})")

    def _submit(self, task: Task) -> Any:
        try:
            future = self._executor.submit(self._work, list(task.items))
        except futures.BrokenExecutor as trouble:
            self._replace(trouble)
            future = self._executor.submit(self._work, list(task.items))
        self._pending[future] = task
        return future

    def _outcome(self, future: Any) -> list[Any] | None:
        """The outcomes of a task; None if the worker was lost. Errors that concern all items are raised."""
        try:
            outcomes: list[Any] = future.result()
        except (TravelError, Stopped):
            raise
        except Exception as trouble:  # executors define their own exceptions; the error of an item is its outcome
            self._last = trouble
            return None
        return outcomes

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
            kept = "; stored cases are kept" if self._part == "sweep" else ""
            raise SolveError(f"{self._part}: executor {broken!r} takes no more work ({trouble}){kept}") from trouble
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


def start_processes(executor: Any, module: str) -> None:
    """Let the processes of a pool start and import what they need, which takes seconds, while this process prepares the work."""
    if isinstance(executor, futures.ProcessPoolExecutor):
        with contextlib.suppress(RuntimeError):  # a pool that takes no work says so when it is given some
            for _ in range(int(getattr(executor, "_max_workers", 1))):
                executor.submit(_import, module)


def _import(module: str) -> None:
    importlib.import_module(module)


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
