"""pliant sweep: runs a model file over values of its numbers, and stores the cases in a folder; it can be resumed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.axes import parse_axes
from pliant.cli.exits import DONE, FAILED, INTERRUPTED, WRONG, say, stop, write_json
from pliant.cli.options import AsJson, IncludesOutside, ModelArgument, Quiet, Set, TEnd, read_settings
from pliant.cli.run import ended_softly
from pliant.host import progress

if TYPE_CHECKING:
    import xarray

LISTED_FAILURES = 3


def sweep(
    file: ModelArgument,
    over: Annotated[
        list[str] | None,
        typer.Option("--over", metavar="NAME=VALUES", help="An axis: payload=0.1:1.0:20 or E=60,70,200GPa; may be repeated."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FOLDER", help="Folder for the cases.")] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="NAME",
            help="A quantity, a coordinate, largest_effort, ..., or result; may be repeated.",
        ),
    ] = None,
    t_end: TEnd = None,
    workers: Annotated[int | None, typer.Option("--workers", help="Number of local processes; default: threads.")] = None,
    dask: Annotated[str | None, typer.Option("--dask", metavar="ADDRESS", help="Address of a Dask scheduler.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the sweep in the folder.")] = False,
    batch: Annotated[int | None, typer.Option("--batch", help="Number of cases that are computed and stored together.")] = None,
    device: Annotated[
        str | None,
        typer.Option("--device", metavar="gpu|auto|cpu", help="Run cases in lock-step, side by side; default: one by one."),
    ] = None,
    values: Set = None,
    includes_outside: IncludesOutside = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Run a model over all combinations of values of its numbers. Finished cases survive Ctrl-C and a killed process."""
    from pliant.study.sweep.over import Grid
    from pliant.study.sweep.subject import FileSubject

    _check_options(over, out, workers, dask, resume, device)
    assert out is not None
    subject = FileSubject(file, includes_outside, read_settings(values or ()))
    grid = Grid(parse_axes(over or (), subject.parameters, subject.written_units))
    if subject.settings is None and t_end is None:
        stop(WRONG, f"{file}: run must be given (t_end and method), got no run section; or give --t-end")
    run = None if t_end is None else {"t_end": t_end}
    with _executor(workers, dask) as executor, ended_softly():
        asked = {"run": run, "keep": keep, "folder": out, "executor": executor, "size": batch, "device": device}
        data = _sweep(subject, grid, quiet or as_json, **asked)
    _report(data, out, quiet, as_json)


def _check_options(
    over: list[str] | None, out: Path | None, workers: int | None, dask: str | None, resume: bool, device: str | None
) -> None:
    if not over:
        stop(WRONG, "--over must be given: an axis such as payload=0.1:1.0:20")
    if out is None:
        stop(WRONG, "--out must be given: a folder for the cases")
    if workers is not None and dask is not None:
        stop(WRONG, "--workers and --dask: at most one of them may be given")
    if device is not None and (workers is not None or dask is not None):
        stop(WRONG, "--device: must be given without --workers and --dask, because it runs the cases on this machine")
    if workers is not None and workers < 1:
        stop(WRONG, f"--workers: must be >= 1, got {workers}")
    if not resume and (out / "sweep.json").exists():
        stop(WRONG, f"--out: {str(out)!r} already contains a sweep; --resume continues it")


@contextlib.contextmanager
def _executor(workers: int | None, dask: str | None) -> Iterator[Any]:
    with local_processes(workers) if dask is None else _dask(dask) as executor:
        yield executor


@contextlib.contextmanager
def local_processes(workers: int | None) -> Iterator[Any]:
    """An executor of this many processes; None: threads."""
    from pliant.study.sweep.executors import process_pool

    if workers is None:
        yield None
    else:
        with process_pool(workers) as executor:
            yield executor


@contextlib.contextmanager
def _dask(address: str) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError:
        stop(WRONG, "--dask: Dask must be installed, by pip install 'pliant[dask]'")
    try:
        client = Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as trouble:
        stop(FAILED, f"--dask: no cluster answers at {address!r} ({trouble})")
    with client:
        yield client.get_executor()


def _sweep(subject: Any, grid: Any, quiet: bool, **options: Any) -> xarray.Dataset:
    from pliant.study.sweep.sweep import SweepInterrupted, sweep_subject

    try:
        with progress.bar(0.0, float(len(grid)), quiet, "preparing the cases") as tell:
            return sweep_subject(subject, grid, **options, progress=_Rate(tell))
    except SweepInterrupted as trouble:
        stop(INTERRUPTED, f"{trouble}, with --resume")


class _Rate:
    """Shows the progress as in "120 of 200 cases, 35 a second, 2 failed"; cases stored earlier do not count for the rate."""

    def __init__(self, tell: progress.Tell) -> None:
        self._tell, self._began, self._first = tell, perf_counter(), -1

    def __call__(self, done: int, total: int, failed: int) -> None:
        if self._first < 0:
            self._first, self._began = done, perf_counter()
        rate = (done - self._first) / max(perf_counter() - self._began, 1e-9)
        pace = [] if done == self._first else [f"{rate:.3g} a second" if rate >= 1.0 else f"{1.0 / rate:.3g} s each"]
        words = [f"{done} of {total} cases", *pace, *([f"{failed} failed"] if failed else [])]
        self._tell(float(done), ", ".join(words))


def _report(data: xarray.Dataset, out: Path, quiet: bool, as_json: bool) -> None:
    ok, messages = data["ok"].values.ravel(), data["message"].values.ravel()
    failures = [str(message) for message in messages[~ok]]
    code = FAILED if failures else DONE
    if as_json:
        facts = {"cases": int(ok.size), "failed": len(failures), "failures": failures, "written": str(out), "exit_code": code}
        write_json(facts | ({"loop": data.attrs["loop"]} if "loop" in data.attrs else {}))
    elif not quiet:
        if "loop" in data.attrs:
            say(f"loop: {data.attrs['loop']}")
        say(f"{ok.size} cases in {out}: {', '.join(f'{name} ({data.sizes[name]})' for name in data['ok'].dims)}")
    if failures and not as_json:
        say(f"{len(failures)} of {ok.size} cases failed:", err=True)
        for message in list(dict.fromkeys(failures))[:LISTED_FAILURES]:
            say(f"  {message}", err=True)
    if code != DONE:
        raise typer.Exit(code)
