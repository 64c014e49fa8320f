"""pliant run: runs a model file, or continues an earlier run, and writes the result."""

from __future__ import annotations

import contextlib
import math
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.exits import DONE, FAILED, INTERRUPTED, WRONG, in_file_words, say, stop, write_json, writing
from pliant.cli.options import (
    AsJson,
    IncludesOutside,
    ModelArgument,
    Quiet,
    Set,
    TEnd,
    check_target,
    load_model,
    load_result,
    missing_unit,
    say_unused,
)
from pliant.cli.report import print_report, report_data
from pliant.errors import ModelError, SolveError, plain
from pliant.host import progress
from pliant.results.shown_units import shown_number

if TYPE_CHECKING:
    from pliant.files import Model, RunSettings
    from pliant.results.result import Result

STATISTICS = {"steps": "steps", "rejected": "rejected", "rhs_evaluations": "evaluations", "wall_s": "time loop, s",
              "stiffening": "stiffening, auto"}  # fmt: skip
READ_FOR_SUMMARY = 10**6  # most rows that are read from a file for the summary
OTHER_FORMATS = {".csv", ".txt", ".parquet", ".mat", ".json", ".yaml", ".yml", ".png", ".svg", ".pdf", ".html", ".xlsx"}
LISTED_EVENTS = 10  # events in the summary; the file contains all


def run(
    file: ModelArgument,
    out: Annotated[Path | None, typer.Option("--out", help="Output file (netCDF); default: MODEL.nc.")] = None,
    t_end: TEnd = None,
    go_on: Annotated[Path | None, typer.Option("--continue", metavar="RESULT.nc", help="Continue this run from its end.")] = None,
    csv: Annotated[Path | None, typer.Option("--csv", help="Also write the rows as CSV.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Also draw the overview as PNG.")] = None,
    keep: Annotated[
        str | None, typer.Option("--keep", metavar="NAME,...", help="Quantities to save, as in q,v; default: all.")
    ] = None,
    stream: Annotated[
        bool, typer.Option("--stream", help="Write rows during the run, so that memory stays small however many rows there are.")
    ] = False,
    compression: Annotated[
        int | None, typer.Option("--compression", min=0, max=9, help="Compression level of the file, 1 to 9; 0 for none.")
    ] = None,
    values: Set = None,
    includes_outside: IncludesOutside = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Run a model file and write the result. After Ctrl-C, the part computed so far is written."""
    model = load_model(file, includes_outside, values)
    settings = _keeping(settings_of(model, file, t_end), keep)
    target = out or Path(f"{file.stem}.nc")
    for option, path in (("--out", target), ("--csv", csv), ("--plot", plot)):
        if path is not None:
            check_target(option, path)
    _check_format(target)
    if not (quiet or as_json):
        say_unused(model, err=True)
    start = None if go_on is None else _earlier(go_on, target, model, settings)
    with ended_softly():
        to = {"to": target, "compression": compression} if stream else {}
        result = simulate_model(model, settings, start, quiet or as_json, **to)
        _write(result, None if stream else target, csv, compression)
        if plot is not None:
            _draw(result, plot)
    _report(result, target, quiet, as_json)


def _check_format(target: Path) -> None:
    """A result is netCDF: by a name that says otherwise, other programs would take it for what it is not."""
    if target.suffix.lower() in OTHER_FORMATS:
        rule = (
            "must be a file of netCDF, such as arm.nc; `pliant export` writes other formats, --csv and --plot a table and a picture"
        )
        stop(WRONG, f"--out: {rule}, got {str(target)!r}")


def _report(result: Result, target: Path, quiet: bool, as_json: bool) -> None:
    code = DONE if result.ok else INTERRUPTED if result.interrupted else FAILED
    if as_json:
        write_json({**summary_data(result), "report": report_data(result), "written": str(target), "exit_code": code})
    elif not quiet:
        _print_summary(result, target)
        print_report(result)
    else:
        for sentence in result.warnings:
            say(f"warning: {sentence}", err=True)
    if code != DONE:
        words = f"{str(result.message).rstrip('.')}; the part computed so far is in {target}"
        say(words if code == INTERRUPTED else f"error: {words}", err=True)
        raise typer.Exit(code)


def settings_of(model: Model, file: Path, t_end: float | None) -> RunSettings:
    from pliant.files import RunSettings

    if t_end is None:
        if model.run is None:
            stop(WRONG, f"{file}: run must be given (t_end and method), got no run section")
        return model.run
    try:
        return RunSettings(t_end=t_end) if model.run is None else replace(model.run, t_end=t_end)
    except ModelError as trouble:
        stop(WRONG, f"--t-end: {trouble}")


def _keeping(settings: RunSettings, keep: str | None) -> RunSettings:
    """The settings with --keep instead of the file's `keep`."""
    if keep is None:
        return settings
    try:
        return replace(settings, keep=tuple(name.strip() for name in keep.split(",") if name.strip()))
    except ModelError as trouble:
        stop(WRONG, f"--keep: {trouble}")


def _earlier(file: Path, target: Path, model: Model, settings: RunSettings) -> Result:
    """The result to continue; refused if nothing remains to be run."""
    if file.resolve() == target.resolve():
        stop(WRONG, f"--out: must be a different file from the one to continue, got {str(target)!r}")
    earlier = load_result(file)
    if earlier.final_state is None:
        stop(WRONG, f"--continue: must be a result that contains its final state, got {str(file)!r}")
    if not settings.t_end > earlier.final_state.t:
        end = earlier.final_state.t
        stop(WRONG, f"--continue: the run in {str(file)!r} ended at t = {end:.6g} s; --t-end must be larger")
    if not _same_model(earlier, model):
        say(f"note: {file} comes from a different model; its coordinates are used as they are", err=True)
    return earlier


def _same_model(earlier: Result, model: Model) -> bool:
    from pliant.files import loads_model

    stored = earlier.provenance.get("model")
    return not stored or loads_model(stored).system == model.system


@contextlib.contextmanager
def ended_softly() -> Iterator[None]:
    """Treats SIGTERM like Ctrl-C, so that computed rows are kept; also in the background, where Ctrl-C is ignored."""
    try:
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    except ValueError:  # only the main thread may set signal handlers
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def simulate_model(model: Model, settings: RunSettings, start: Result | None, quiet: bool, **to: Any) -> Any:
    from pliant.run.simulate import simulate

    begin = settings.t_start if start is None or start.final_state is None else start.final_state.t
    try:
        with progress.of_run(begin, settings.t_end, quiet) as reporter:
            options = {**settings.options, "t_end": settings.t_end, "progress": reporter, "phase": reporter.phase}
            if isinstance(settings.save, tuple):  # the remaining ones of the given times
                options["save"] = tuple(t for t in settings.save if t >= begin) or (settings.t_end,)
            return simulate(model.system, start=start, **options, **to)
    except SolveError as trouble:
        if hint := missing_unit(model, trouble):
            stop(FAILED, f"{trouble}{hint}")
        raise
    except (OSError, RuntimeError) as trouble:  # from the file that is being written; HDF5 reports a full disk as a RuntimeError
        if not to:
            raise
        stop(FAILED, f"{to['to']}: cannot be written: {getattr(trouble, 'strerror', None) or trouble}")


def _write(result: Any, target: Path | None, csv: Path | None, compression: int | None) -> None:
    with writing(target, errors=(OSError, RuntimeError)):  # HDF5 reports a full disk as a RuntimeError
        if target is not None:
            result.to_netcdf(target, **({} if compression is None else {"compression": compression}))
        if csv is not None:
            result.to_csv(csv)


def _draw(result: Any, target: Path) -> None:
    from pliant.show import plot

    with writing(target, "drawn"):
        plot.save(plot.overview(result), target)


# ---- the report


def summary_data(result: Any) -> dict[str, Any]:
    """The summary of a run, for --json."""
    return {
        "system": result.name,
        "ok": result.ok,
        "message": result.message,
        "warnings": list(result.warnings),
        "interrupted": result.interrupted,
        "t": [float(result.time[0]), float(result.time[-1])] if len(result.time) else [],
        "rows": len(result.time),
        "statistics": dict(result.stats),
        "parameters": dict(result.parameters),
        "energy_balance": _balance(result),
        "touches": len(result.contacts),
        "events": [{"name": event.name, "t": event.t, "direction": event.direction} for event in result.events],
    }


def _print_summary(result: Any, target: Path) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=False, box=None)
    for name, value in [*summary_rows(result), ("written to", str(target))]:
        table.add_row(Text(plain(name)), Text(in_file_words(plain(value))))  # Text: messages may contain [brackets]
    Console().print(table)


def summary_rows(result: Any) -> list[tuple[str, str]]:
    """The summary of a run, as rows of a table."""
    stats = dict(result.stats)
    rows = [("status", str(result.message))]
    rows += [("warning", sentence) for sentence in result.warnings]
    rows += [("parameters", _parameters(result))] if result.parameters else []
    rows += [(label, _short(stats[key])) for key, label in STATISTICS.items() if key in stats]
    rows += [("energy balance", f"{_short(error)} J at most")] if (error := _balance(result)["largest_error_J"]) is not None else []
    rows += [("touches", _touches(result.contacts))] if result.contacts else []
    events = list(result.events)
    rows.append(("events", str(len(events))))
    rows += [("", f"{event.name} {_sense(event.direction)} at t = {event.t:.9g} s") for event in events[:LISTED_EVENTS]]
    if len(events) > LISTED_EVENTS:
        rows.append(("", f"and {len(events) - LISTED_EVENTS} more"))
    return rows


def _parameters(result: Any) -> str:
    """The parameters in the units of the model file, as `pliant check` prints them."""
    units = result.provenance.get("settings", {}).get("parameter_units", {})
    return ", ".join(f"{name} = {shown_number(x, units.get(name), result.shown_units)}" for name, x in result.parameters.items())


def _balance(result: Any) -> dict[str, float | None]:
    """The energy balance from the rows; if they lack it, or are too many to read, from the extremes that the run recorded."""
    if not (getattr(result, "lazy", False) and len(result.time) > READ_FOR_SUMMARY):
        with contextlib.suppress(ModelError):
            ledger = result.ledger
            return {"largest_error_J": ledger.balance_error_max, "of_exchange": getattr(ledger, "relative_error_max", None)}
    seen = result.extremes
    if seen is None:
        return {"largest_error_J": None, "of_exchange": None}
    return {"largest_error_J": seen.balance_error, "of_exchange": seen.balance_error / seen.scale if seen.scale > 0.0 else None}


def _touches(contacts: Any) -> str:
    hardest = max(contacts, key=lambda touch: touch.peak_force)
    force = f"{hardest.peak_force:.5g} {hardest.units[1]}"
    at = hardest.begin if math.isnan(hardest.peak_time) else hardest.peak_time  # the peak's, as in the report
    return f"{len(contacts)}, the hardest {force} on {hardest.pair} at t = {at:.6g} s"


def _sense(direction: int) -> str:
    return {1: "rising", -1: "falling"}.get(direction, "")


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
