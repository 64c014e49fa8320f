"""pliant fit: fits numbers of a model file to measured data."""

from __future__ import annotations

import csv
import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.exits import DONE, FAILED, WRONG, say, stop, write_json
from pliant.cli.options import AsJson, IncludesOutside, ModelArgument, Quiet, Set, load_model, make_folder
from pliant.cli.run import ended_softly
from pliant.cli.sweep import local_processes
from pliant.errors import ModelError
from pliant.host import progress

if TYPE_CHECKING:
    from pliant.files import Model
    from pliant.study.fit.compared import Compared
    from pliant.study.fit.fitted import Fit

REPORT, PICTURE, RESULT = "fit.json", "fit.png", "fit.nc"


def fit(
    file: ModelArgument,
    data: Annotated[
        list[Path] | None,
        typer.Option("--data", metavar="CSV", help="Measured data: time, and columns named as in the result; may be repeated."),
    ] = None,
    free: Annotated[
        str | None, typer.Option("--free", metavar="NAME,NAME", help="Numbers defined by the model that are fitted.")
    ] = None,
    of: Annotated[list[str] | None, typer.Option("--of", metavar="COLUMN", help="A column to fit; default: all.")] = None,
    bounds: Annotated[
        list[str] | None, typer.Option("--bound", metavar="NAME=LOW:HIGH", help="Bounds of a number; may be repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FOLDER", help="Folder for report, picture and results.")] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Page (HTML) with data, intervals, and what is not determined.")
    ] = None,
    loss: Annotated[str, typer.Option("--loss", help="linear; huber or soft_l1: wrong measurements count less.")] = "linear",
    noise: Annotated[str, typer.Option("--noise", help="white; ar: correlated from row to row.")] = "white",
    starts: Annotated[int, typer.Option("--starts", help="Number of first values, spread over the bounds.", min=1)] = 1,
    workers: Annotated[
        int | None, typer.Option("--workers", help="Number of local processes for several --data; default: threads.", min=1)
    ] = None,
    values: Set = None,
    includes_outside: IncludesOutside = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Fit numbers of a model so that its run follows measured series; reports confidence intervals and undetermined numbers."""
    if not data:
        stop(WRONG, "--data must be given: a CSV file with a column time")
    if not free:
        stop(WRONG, "--free must be given: names of numbers that the model defines, as in damping,mu")
    stems = [path.stem for path in data]
    if len(set(stems)) < len(stems):  # output files are named after them
        stop(WRONG, f"--data: files must have different names, got {', '.join(map(str, data))}")
    model = load_model(file, includes_outside, values)
    names = [name.strip() for name in free.split(",") if name.strip()]
    limits = _bounds(bounds or [], model)
    if out is not None:
        make_folder("--out", out)
    with local_processes(workers) as executor, ended_softly():
        how = {"loss": loss, "noise": noise, "starts": starts, "executor": executor}
        found = _fitted(model, data, names, of, limits, quiet or as_json, **how)
        if out is not None:
            _write(found, out)
        if report is not None:
            _write_page(found, report)
    _report(found, model, file, [path for path in (out, report) if path is not None], quiet, as_json)


def _bounds(given: list[str], model: Model) -> dict[str, tuple[float | None, float | None]]:
    """Read mu=0:0.6 or K=1e4: as a name and both bounds; a missing bound is None."""
    from pliant.files.definitions import read_value

    bounds: dict[str, tuple[float | None, float | None]] = {}
    for text in given:
        name, equals, ends = (part.strip() for part in text.partition("="))
        low, colon, high = (part.strip() for part in ends.partition(":"))
        if not (name and equals and colon):
            stop(WRONG, f"--bound: must be NAME=LOW:HIGH, as in mu=0:0.6, got {text!r}")
        unit, written = getattr(model.system.parameters.get(name), "unit", None), model.units.get(name)
        try:
            low_end, high_end = (read_value(name, end, unit, written)[0] if end else None for end in (low, high))
        except ModelError as trouble:
            stop(WRONG, f"--bound: {trouble}")
        bounds[name] = (low_end, high_end)
    return bounds


def _fitted(model: Model, data: list[Path], names: list[str], of: Any, bounds: Any, quiet: bool, **how: Any) -> Fit:
    from pliant.study.fit.experiment import Experiment
    from pliant.study.fit.fit import fit as find

    options = {} if model.run is None else {n: v for n, v in model.run.options.items() if n != "save" and v is not None}
    experiments = [Experiment(path, name=path.stem) for path in data]
    with progress.bar(0.0, 1.0, quiet, "running with the first values") as tell:

        def report(runs: int, squares: float) -> None:
            tell(0.0, f"{runs} runs, sum of squares {squares:.6g}")

        return find(model.system, experiments, names, of, bounds, progress=report, **how, **options)


def _write(found: Fit, out: Path) -> None:
    """Write the report and the picture and, for every experiment, its run and a table of measured and computed values."""
    import json

    from pliant.host.atomic_files import write_text
    from pliant.show import plot

    try:
        write_text(out / REPORT, json.dumps(_plain(found.as_json()), indent=1, allow_nan=False) + "\n")
        plot.save(found.plot(), out / PICTURE)
        for part in found.experiments:
            part.result.to_netcdf(out / f"{part.name}_{RESULT}")
            _write_table(part, out / f"{part.name}_fit.csv")
    except (OSError, RuntimeError) as trouble:
        stop(FAILED, f"--out: {out} could not be written ({trouble})")


def _write_page(found: Fit, path: Path) -> None:
    try:
        found.report(path)
    except OSError as trouble:
        stop(FAILED, f"--report: {path} could not be written ({trouble})")


def _plain(value: Any) -> Any:
    """The value with nan and inf, which JSON does not have, replaced by None."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _write_table(part: Compared, path: Path) -> None:
    from pliant.host.atomic_files import atomic_write

    heads, columns = ["time [s]"], [part.time]
    for name, measured in part.measured.items():
        heads += [f"{name} measured [{part.units[name]}]", f"{name} run [{part.units[name]}]"]
        columns += [measured, part.run[name]]
    with atomic_write(path) as draft, open(draft, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(heads)
        writer.writerows([repr(float(x)) for x in row] for row in zip(*columns, strict=True))


def _report(found: Fit, model: Model, file: Path, written: list[Path], quiet: bool, as_json: bool) -> None:
    code = DONE if found.ok else FAILED
    if as_json:
        names = ", ".join(map(str, written))
        write_json({**found.as_json(), "written": names or None, "exit_code": code})
    elif not quiet:
        say(found)
        values = {name: f"{value:.10g} {found.units[name] if name in model.units else ''}" for name, value in found.values.items()}
        settings = " ".join(f"--set {shlex.quote(f'{name}={value.strip()}')}" for name, value in values.items())
        say(f"to run with these values: pliant run {file} {settings}")
        if written:
            say(f"written: {', '.join(map(str, written))}")
    if code != DONE:
        say(f"error: {found.message}; these are the best values so far", err=True)
        raise typer.Exit(code)
