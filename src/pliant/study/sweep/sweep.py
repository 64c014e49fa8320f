"""sweep(): many runs over numbers of a mechanism, stored as they finish; open_sweep(): the stored cases, also during a sweep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.errors import ModelError, PliantError, SolveError
from pliant.host.progress import counted
from pliant.model import check
from pliant.results.result import Result
from pliant.scalar import ArrayOf
from pliant.study.sweep.batch import MemoryBatch, gather
from pliant.study.sweep.executors import Done, Task, compute_all
from pliant.study.sweep.job import Job, Record, check_settings, checked_run, names_of_run
from pliant.study.sweep.keep import MESSAGE, OK, RESULT, TAKEN, What, keep_of
from pliant.study.sweep.over import Case, Cases, Grid, Over, Value, over_of
from pliant.study.sweep.store import Keys, Manifest, Store, manifest_of, planned
from pliant.study.sweep.subject import NotASystem, Subject, subject_of

if TYPE_CHECKING:
    import xarray

    from pliant.model.system import System
    from pliant.run.mechanism import AnySystem

Progress = Callable[..., object]
Computing = Callable[[Sequence[Task], Done], None]


class SweepInterrupted(KeyboardInterrupt):
    """Raised on Ctrl-C: says how many cases are stored and how to continue."""


def sweep(
    system_or_function: AnySystem | Callable[..., System],
    over: Mapping[str, ArrayOf[Value]] | Sequence[Mapping[str, Value]] | Grid | Cases,
    run: Mapping[str, Any] | Callable[..., Result] | None = None,
    keep: What | Sequence[What] | Mapping[str, What] | None = None,
    store: str | Path | None = None,
    executor: Any = None,
    *,
    batch: int | None = None,
    progress: Progress | bool | None = None,
    device: str | None = None,
) -> xarray.Dataset:
    """Run a mechanism over a grid, a list or a sample of numbers, and return the requested results of all runs as one Dataset.

    - system_or_function: a System or a loaded Model, whose parameters are swept; a model file, whose definitions are swept; or
      a function of numbers that returns a System.
    - over: {name: values} for a grid (or `Grid`), a list of {name: value} (or `Cases`), or a `Sample`.
    - run: arguments of `simulate` by name, or a function of a System that returns a Result; the function may take swept numbers as
      further arguments. A model may have its own settings.
    - keep: names of quantities or coordinates, functions of a Result that return numbers or arrays, or a mapping of names to these;
      names of section forces and stresses (`equivalent_stress`); `largest_` with a quantity of `report` (`largest_reaction_force`),
      one number per part; "result" keeps whole Results. Default: coordinates, tips and contact forces.
    - store: a folder; a sweep that ended early continues from there, and a longer axis computes only the new cases.
    - executor: any object with the interface of concurrent.futures.Executor. Default: threads of this process.
    - batch: how many cases are computed and stored together.
    - progress: True shows a bar; a function is called with the number of cases done, of all cases, and of failed cases.
    - device: "cpu" runs cases side by side, in lock-step, in vectors on all cores; "gpu" on NVIDIA GPUs; "auto" on a GPU if one
      responds, else on the CPU, and one by one if lock-step cannot run them; `attrs["loop"]` says which was used, and why.
      Default: one by one.

    The Dataset has `ok`, `message`, `warnings` and `balance_error` of every case besides what is kept. With a store it is lazy.
    """
    subject, cases = subject_of(system_or_function), over_of(over)
    folder = None if store is None else Path(store)
    check.progress("sweep", progress)
    with counted(progress, "cases") as tell:
        return sweep_subject(subject, cases, run, keep, folder, executor, batch, tell, device)


def sweep_subject(
    subject: Subject,
    over: Over,
    run: Any,
    keep: Any,
    folder: Path | None,
    executor: Any,
    size: int | None,
    progress: Progress | None,
    device: str | None = None,
) -> xarray.Dataset:
    job = _job(subject, over, run, keep)
    if size is not None:
        check.count("sweep", "batch", size)
    job, computing, attributes = _computing(job, over, executor, device)
    manifest = manifest_of(job, over)
    if folder is None:
        from pliant.study.sweep.dataset import dataset_of

        memory = _Sweep(planned(manifest, (), size), computing, progress)
        return dataset_of(memory.manifest, memory.in_memory()).load().assign_attrs(attributes)
    store = Store(folder)
    manifest = store.begin(manifest, size, job)
    stored = store.stored(manifest)
    store.check(stored)
    under_way = _Sweep(manifest, computing, progress)
    try:
        under_way.compute(stored, store.write)
    except KeyboardInterrupt:
        there = under_way.among(store.stored(manifest))  # read again: Ctrl-C may have come between writing and counting
        words = f"interrupted; {there} of {under_way.total} cases are in {folder}: the same sweep goes on from there"
        raise SweepInterrupted(words) from None
    return _opened(store, manifest).assign_attrs(attributes)


def open_sweep(store: str | Path) -> xarray.Dataset:
    """The cases of a sweep that a folder holds, also while the sweep is running: missing cases are nan, with `ok` False.

    Batches are read only when their data are used; Dask is not needed.
    """
    folder = Store(check.path("open_sweep", "store", store))
    manifest = folder.read_manifest()
    if manifest is None:
        raise ModelError.of("open_sweep", "store", "must be the folder of a sweep, with a sweep.json", str(store))
    return _opened(folder, manifest)


def _opened(store: Store, manifest: Manifest) -> xarray.Dataset:
    """The cases of this manifest."""
    from pliant.study.sweep.dataset import dataset_of

    wanted = set(manifest.keys)
    return dataset_of(manifest, store.open(keys for keys in store.stored(manifest) if not wanted.isdisjoint(keys)))


def sweep_results(
    function: Callable[..., System],
    over: Mapping[str, ArrayOf[Value]] | Sequence[Mapping[str, Value]],
    run: Mapping[str, Any],
    executor: Any = None,
    progress: Progress | None = None,
) -> list[Result]:
    """The whole Results of a sweep as a plain list, in the order of its cases; the error of a failed case is raised."""
    cases = over_of(over)
    job = _job(subject_of(function), cases, run, RESULT)
    memory = _Sweep(planned(manifest_of(job, cases), (), None), _one_by_one(job, executor), progress)
    results: dict[str, Result] = {}
    for batch in memory.in_memory():
        for row, (key, ok, message) in enumerate(zip(batch.keys, batch.values[OK], batch.values[MESSAGE], strict=True)):
            result = batch.result(row)
            if not ok or result is None:
                raise SolveError(f"{function.__name__ if result is None else result.name}: {message}")
            results[key] = result
    return [results[key] for key in memory.manifest.keys]


def _job(subject: Subject, over: Over, run: Any, keep: Any) -> Job:
    checked = checked_run(run, subject.settings is not None)
    job = Job(subject, checked, keep_of(keep), names_of_run(checked, over.columns))
    _check(job, over)
    return job


def _check(job: Job, over: Over) -> None:
    """Checks names, values, settings and requested quantities on the first System, before anything runs."""
    taken = (*TAKEN, *job.keep.names, *job.keep.dimensions)
    for name in over.columns:
        if name in taken:
            raise ModelError.of("sweep", "over", f"must have names that the results do not use: {', '.join(taken)}", name)
    job.check(over)
    first = next(iter(over))
    if not callable(job.run):
        check_settings(job.options(first))
    try:
        system = job.mechanism(first).system
    except NotASystem:
        raise
    except PliantError:  # perhaps only this case fails: its record will say so
        pass
    else:
        job.keep.check(system)


def _computing(job: Job, over: Over, executor: Any, device: str | None) -> tuple[Job, Computing, dict[str, str]]:
    """The job in the form in which it is computed, the object that computes it, and the attributes that say so in its Dataset."""
    if device is None:
        return job, _one_by_one(job, executor), {}
    from pliant.ensemble.loop_choice import DEVICES  # casadi comes in with it
    from pliant.study.sweep.side_by_side import side_by_side

    check.choice("sweep", "device", device, DEVICES)
    if executor is not None:
        raise ModelError.of(
            "sweep", "executor", f"must be left out if device is given ({device!r}), which runs cases in this process", executor
        )
    together, words = side_by_side(job, over, device)
    if together is None:
        return job, _one_by_one(job, None), {"loop": words}
    return replace(job, lockstep=True), together.compute, {"loop": words}


def _one_by_one(job: Job, executor: Any) -> Computing:
    return lambda tasks, done: compute_all(job, tasks, executor, done)


class _Sweep:
    """A sweep in progress."""

    def __init__(self, manifest: Manifest, computing: Computing, progress: Progress | None) -> None:
        self.manifest, self._computing, self._progress = manifest, computing, progress
        self._cases: dict[str, Case] = dict(zip(manifest.keys, manifest.over, strict=True))
        self.total, self._done, self._failed = len(self._cases), 0, 0

    def in_memory(self) -> list[MemoryBatch]:
        """All batches, in the order of the cases, regardless of the order in which they finished."""
        done: dict[Keys, MemoryBatch] = {}
        self.compute((), lambda batch: done.update({batch.keys: batch}))
        return [done[keys] for keys in self.manifest.batches]

    def compute(self, stored: Sequence[Keys], hand_over: Callable[[MemoryBatch], None]) -> None:
        """Computes the requested batches that are not stored yet."""
        self._count(stored)
        known = set(stored)
        left = [keys for keys in self.manifest.batches if keys not in known and any(key in self._cases for key in keys)]
        tasks = [Task(keys, tuple(self._cases[key] for key in keys)) for keys in left]

        def done(keys: Keys, records: list[Record]) -> None:
            hand_over(gather(keys, records))
            self._count([keys], sum(not record.ok for record in records))

        self._computing(tasks, done)

    def _count(self, batches: Sequence[Keys], failed: int = 0) -> None:
        self._done += self.among(batches)
        self._failed += failed
        if self._progress is not None:
            self._progress(self._done, self.total, self._failed)

    def among(self, batches: Sequence[Keys]) -> int:
        """The number of this sweep's cases in these batches."""
        return sum(key in self._cases for keys in batches for key in keys)
