"""pliant fmu: writes a model as a functional mock-up unit, for other simulators."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.exits import say_written, writing
from pliant.cli.options import AsJson, IncludesOutside, ModelArgument, Quiet, Set, TEnd, check_target, load_model
from pliant.cli.run import settings_of
from pliant.host import progress

if TYPE_CHECKING:
    from pliant.files import Model


def fmu(
    file: ModelArgument,
    out: Annotated[Path | None, typer.Option("--out", help="The FMU; default: MODEL.fmu.")] = None,
    kind: Annotated[str, typer.Option("--kind", help="co-simulation (with its time loop) or model-exchange.")] = "co-simulation",
    fmi: Annotated[str, typer.Option("--fmi", help="Version of the standard: 3.0 or 2.0.")] = "3.0",
    inputs: Annotated[
        str | None,
        typer.Option("--inputs", metavar="NAME,...", help="Parameters that change in runs; default: those of drives and loads."),
    ] = None,
    outputs: Annotated[
        str | None,
        typer.Option("--columns", metavar="NAME,...", help="Outputs, as in arm.angle,'tip_position arm y'."),
    ] = None,
    parameters: Annotated[
        str | None,
        typer.Option("--parameters", metavar="NAME,...", help="Parameters to tune, and coordinates whose start may be set."),
    ] = None,
    platforms: Annotated[
        str | None,
        typer.Option("--platforms", metavar="NAME,...", help="As in x86_64-linux,x86_64-windows; default: this one; '': only C."),
    ] = None,
    t_end: TEnd = None,
    values: Set = None,
    includes_outside: IncludesOutside = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Write a model as an FMU, which other simulators run without Python, for times up to --t-end (default: that of the file)."""
    from pliant.exchange.fmu import write_fmu

    target = out or Path(f"{file.stem}.fmu")
    check_target("--out", target)
    model = load_model(file, includes_outside, values)
    times, method = times_of(model, file, t_end), None if model.run is None else model.run.method
    with writing(target), progress.waiting("writing the FMU", quiet or as_json):
        write_fmu(model, target, kind=kind, version=fmi, method=method or "auto", inputs=names_of(inputs), **times,
                  outputs=names_of(outputs), parameters=names_of(parameters), platforms=names_of(platforms))  # fmt: skip
    say_written(f"{target}: {kind}, FMI {fmi}", {"written": str(target), "bytes": target.stat().st_size}, quiet, as_json)


def times_of(model: Model, file: Path, t_end: float | None) -> dict[str, Any]:
    """What a file says of runs; a robot file says nothing, and runs of what is written of it need not end."""
    if model.run is None and t_end is None:
        return {}
    settings = settings_of(model, file, t_end)
    return {"t_start": settings.t_start, "t_end": settings.t_end, "formulation": settings.formulation}


def names_of(text: str | None) -> list[str] | None:
    """The names of an option, separated by commas."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]
