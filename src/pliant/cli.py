"""The command line: pliant check FILE.yaml, pliant run FILE.yaml --out result.nc, pliant reproduce NAME --out DIR.

Exit codes: 0 done, 1 the run or its writing failed, 2 the model, the file or the command is wrong, 130 interrupted.
"""

from __future__ import annotations

import contextlib
import difflib
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from pliant.errors import ModelError, PliantError

if TYPE_CHECKING:
    from pliant.files import Model, RunSettings

FAILED, WRONG, INTERRUPTED = 1, 2, 130
STATISTICS = {"steps": "steps", "rejected": "rejected", "rhs_evaluations": "evaluations", "wall_s": "wall seconds"}
LISTED_EVENTS = 10  # rows of the summary; the file holds all

app = typer.Typer(
    help="Flexible multibody dynamics.", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
)


@app.callback(invoke_without_command=True)
def main(version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False) -> None:
    if version:
        import pliant

        typer.echo(f"pliant {pliant.__version__}")
        raise typer.Exit()


@app.command()
def check(file: Annotated[Path, typer.Argument(help="The model file, YAML.")]) -> None:
    """Check a model file and print its tree and its run settings; where loops are closed, what is left to move."""
    model = _load(file)
    typer.echo(model.system)
    if model.system.closures:
        typer.echo(_freedom(model))
    typer.echo(model.run if model.run is not None else "no run section")


@app.command()
def run(
    file: Annotated[Path, typer.Argument(help="The model file, YAML.")],
    out: Annotated[Path, typer.Option("--out", help="Where the result goes, netCDF.")],
    t_end: Annotated[float | None, typer.Option("--t-end", help="End time in s, instead of the file's.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw coordinates and energies into a PNG.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar, no summary.")] = False,
) -> None:
    """Run a model file and write the result."""
    model = _load(file)
    settings = _settings(model, file, t_end)
    _check_target("--out", out)
    if plot is not None:
        _check_target("--plot", plot)
    try:
        result = _simulate(model, settings, quiet)
        _write(result, out)
        if plot is not None:
            _draw(result, plot)
    except KeyboardInterrupt:
        _stop(INTERRUPTED, f"interrupted; nothing was written to {out}")
    if not quiet:
        _print_summary(result, out)
    if not result.ok:
        code = INTERRUPTED if result.interrupted else FAILED
        _stop(code, f"{str(result.message).rstrip('.')}; what was computed is in {out}")


@app.command()
def reproduce(
    name: Annotated[str, typer.Argument(help="The published system: falling-chain, telescopic-arm, tipping-arm, ...")],
    out: Annotated[Path, typer.Option("--out", help="Folder for figures, results and summary.json; made if need be.")],
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar, no table.")] = False,
) -> None:
    """Run a published system, draw its figures and hold its claims against ours."""
    from pliant.gallery.reproduction import REPRODUCTIONS, print_claims

    if name not in REPRODUCTIONS:
        close = difflib.get_close_matches(name, REPRODUCTIONS, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        _stop(WRONG, f"unknown system {name!r}{hint}; there are: {', '.join(REPRODUCTIONS)}")
    _make_folder("--out", out)
    try:
        with _bar(quiet, total=1.0) as tell:
            summary = REPRODUCTIONS[name](out, lambda doing, done: tell(done, 1.0, doing))
    except KeyboardInterrupt:
        _stop(INTERRUPTED, f"interrupted; {out} holds what had been written")
    except PliantError as trouble:
        _stop(FAILED, str(trouble))
    except OSError as trouble:
        _stop(FAILED, f"{trouble.filename or out}: cannot be written: {trouble.strerror or trouble}")
    if not quiet:
        print_claims(summary["claims"])
        typer.echo(f"summary.json, figures and results are in {out}")


def _freedom(model: Model) -> str:
    """Degrees of freedom with the loops closed, which takes closing them."""
    from pliant.compile.trace import trace

    try:
        traced = trace(model.system, still=True)
    except PliantError as trouble:
        _stop(WRONG, str(trouble))
    implied = f"; implied by others: {', '.join(traced.redundant)}" if traced.redundant else ""
    return f"{traced.independent} degrees of freedom with the loops closed{implied}"


def _make_folder(option: str, out: Path) -> None:
    """The folder itself may be new; the one it stands in must exist."""
    if not out.absolute().parent.is_dir():
        _stop(WRONG, f"{option}: folder {str(out.parent)!r} must exist, got {str(out)!r}")
    try:
        out.mkdir(exist_ok=True)
    except OSError as trouble:
        _stop(WRONG, f"{option}: must be a folder or a new name for one, got {str(out)!r} ({trouble.strerror})")
    if not os.access(out, os.W_OK):
        _stop(WRONG, f"{option}: must be a folder that can be written to, got {str(out)!r}")


def _load(file: Path) -> Model:
    from pliant.files import load_model

    try:
        return load_model(file)
    except ModelError as trouble:
        _stop(WRONG, str(trouble))


def _settings(model: Model, file: Path, t_end: float | None) -> RunSettings:
    if model.run is None:
        _stop(WRONG, f"{file}: run must be given (t_end and method), got no run section")
    if t_end is None:
        return model.run
    try:
        return replace(model.run, t_end=t_end)
    except ModelError as trouble:
        _stop(WRONG, f"--t-end: {trouble}")


def _check_target(option: str, out: Path) -> None:
    """Before the run, not after: a result that cannot be written is an hour lost."""
    folder = out.parent
    if not folder.is_dir():
        _stop(WRONG, f"{option}: folder {str(folder)!r} must exist, got {str(out)!r}")
    if out.is_dir() or not os.access(folder, os.W_OK):
        _stop(WRONG, f"{option}: must be a file that can be written, got {str(out)!r}")


def _simulate(model: Model, settings: RunSettings, quiet: bool) -> Any:
    from pliant.simulate import simulate

    try:
        with _progress(settings.t_end, quiet) as progress:
            return simulate(
                model.system, t_end=settings.t_end, method=settings.method, save=settings.save, progress=progress
            )
    except ModelError as trouble:
        _stop(WRONG, str(trouble))
    except PliantError as trouble:
        _stop(FAILED, str(trouble))


@contextlib.contextmanager
def _progress(t_end: float, quiet: bool) -> Iterator[Callable[[float, float], None]]:
    """Simulated time as a bar."""
    with _bar(quiet, total=t_end) as tell:
        yield lambda t, t_end: tell(t, t_end, f"t = {t:.4g} s")


@contextlib.contextmanager
def _bar(quiet: bool, total: float) -> Iterator[Callable[[float, float, str], None]]:
    """A bar on the terminal's error stream; nothing where that is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("preparing", total=total)

        def advance(done: float, total: float, doing: str) -> None:
            bar.update(task, completed=done, total=total, description=doing)

        yield advance


def _write(result: Any, out: Path) -> None:
    try:
        result.to_netcdf(out)
    except (OSError, RuntimeError) as trouble:  # HDF5 reports a full disk as a RuntimeError
        _stop(FAILED, f"{out}: cannot be written: {getattr(trouble, 'strerror', None) or trouble}")


def _draw(result: Any, target: Path) -> None:
    from pliant.show import plot

    try:
        plot.save(plot.overview(result), target)
    except OSError as trouble:
        _stop(FAILED, f"{target}: cannot be drawn: {trouble.strerror or trouble}")


def _print_summary(result: Any, out: Path) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=False, box=None)
    for name, value in _summary(result, out):
        table.add_row(Text(name), Text(value))  # Text: messages may hold [brackets]
    Console().print(table)


def _summary(result: Any, out: Path) -> list[tuple[str, str]]:
    stats = dict(result.stats)
    rows = [("status", str(result.message))]
    rows += [(label, _short(stats[key])) for key, label in STATISTICS.items() if key in stats]
    rows.append(("energy balance", _short(result.ledger.balance_error_max)))
    rows += [("touches", _touches(result.contacts))] if result.contacts else []
    events = list(result.events)
    rows.append(("events", str(len(events))))
    rows += [("", f"{event.name} {_sense(event.direction)} at t = {event.t:.9g} s") for event in events[:LISTED_EVENTS]]
    if len(events) > LISTED_EVENTS:
        rows.append(("", f"and {len(events) - LISTED_EVENTS} more"))
    return [*rows, ("written to", str(out))]


def _touches(contacts: Any) -> str:
    hardest = max(contacts, key=lambda touch: touch.peak_force)
    return f"{len(contacts)}, the hardest {hardest.peak_force:.5g} N on {hardest.pair} at t = {hardest.begin:.6g} s"


def _sense(direction: int) -> str:
    return {1: "rising", -1: "falling"}.get(direction, "")


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _stop(code: int, message: str) -> NoReturn:
    typer.echo(f"error: {message}" if code != INTERRUPTED else message, err=True)
    raise typer.Exit(code)
