"""pliant export: writes a result or a sweep for other programs, or a model as C for a target."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pliant.cli.exits import FAILED, WRONG, say_written, stop
from pliant.cli.options import AsJson, Quiet, check_target, load_model, load_result, seconds
from pliant.cli.plot import with_stresses
from pliant.cli.sweep_table import read_sweep, sweep_table
from pliant.errors import ModelError, PliantError, did_you_mean

if TYPE_CHECKING:
    from pliant.results.result import Result

WRITERS = {".csv": "to_csv", ".parquet": "to_parquet", ".mat": "to_matlab"}  # methods of a Result, by suffix
ROWS = "rows"
TABLES = (ROWS, "contacts", "stresses", "report")


def export(
    file: Annotated[Path, typer.Argument(metavar="RESULT.nc|FOLDER|MODEL.yaml",
                                         help="The result of a run, the folder of a sweep; with --target a model.")],
    place: Annotated[Path | None, typer.Argument(metavar="OUT", hidden=True)] = None,  # --out without its name
    out: Annotated[
        Path | None, typer.Option("--out", help="Output file: .csv, .parquet or .mat; other tables, sweeps: .csv; must be given.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns", metavar="NAME,...",
            help="Coordinates or quantities, as in arm.angle,normal_force, or parts, as in 'tip_position arm x'; may be repeated; "
            "default: all.",
        ),
    ] = None,
    table: Annotated[str, typer.Option("--table", help="rows, contacts, stresses or report (the largest values).")] = ROWS,
    reduce: Annotated[
        str | None, typer.Option("--reduce", help="For a sweep: the value of a series: largest (the default), final or range.")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", help="For a model: c, or a processor as in cortex-m7 or riscv64; --out is a folder, --columns "
                     "the outputs."),
    ] = None,
    step: Annotated[
        float | None, typer.Option("--step", parser=seconds, metavar="TIME", help="With --target: the fixed step; default: 1 ms.")
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Write the rows of a result as CSV, Parquet (needs the extra parquet) or MATLAB; other tables, and a sweep's cases, as CSV.

    With --target, write a model as C that runs without Python: sources, a header and an example of a program.
    """
    if target is not None:
        for option, without in (("--table", table == ROWS), ("--reduce", reduce is None)):
            if not without:
                stop(WRONG, f"{option}: must be left out with --target")
        written = _write_target(file, out or place, target, step, _names(columns))
        names = ", ".join(path.name for path in written)
        say_written(f"{written[0].parent}: {names}", {"written": [str(path) for path in written]}, quiet, as_json)
        return
    if step is not None:
        stop(WRONG, "--step: must be left out without --target")
    if table not in TABLES:
        stop(WRONG, f"--table: must be one of {', '.join(TABLES)}{did_you_mean(table, TABLES)}, got {table!r}")
    out = _target(place, out, [".csv"] if table != ROWS or file.is_dir() else list(WRITERS))
    check_target("--out", out)
    try:
        rows = _write_sweep(file, out, table, columns, reduce) if file.is_dir() else _write(file, out, table, columns, reduce)
    except PliantError as trouble:
        stop(WRONG, str(trouble))
    except (OSError, RuntimeError) as trouble:
        stop(FAILED, f"{out}: cannot be written: {getattr(trouble, 'strerror', None) or trouble}")
    say_written(f"{out}: {rows} rows", {"written": str(out), "rows": rows}, quiet, as_json)


def _write_target(file: Path, out: Path | None, target: str, step: float | None, outputs: list[str] | None) -> list[Path]:
    """Write a model as C; returns the files."""
    from pliant.cli.fmu import times_of
    from pliant.exchange.target import STEP, write_c

    model = load_model(file)
    try:
        return write_c(model, out or Path(file.stem), target=target, step=STEP if step is None else step, outputs=outputs,
                       **times_of(model, file, None))  # fmt: skip
    except ModelError as trouble:
        stop(WRONG, str(trouble))
    except (PliantError, OSError) as trouble:
        stop(FAILED, str(trouble))


def _write(file: Path, out: Path, table: str, columns: list[str] | None, reduce: str | None) -> int:
    """Write a table of a result; returns the number of its rows."""
    for option, given in (("--reduce", reduce), ("--columns", columns if table != ROWS else None)):
        if given is not None:
            stop(WRONG, f"{option}: must be left out {'for a result' if option == '--reduce' else f'with --table {table}'}")
    result = load_result(file, lazy=table != "stresses")
    if table == ROWS:
        getattr(result, WRITERS[out.suffix])(out, _names(columns))
        return len(result.time)
    return _write_table(result, out, table)


def _write_table(result: Result, out: Path, table: str) -> int:
    from pliant.analysis.report import report
    from pliant.results.sections import write_sections

    if table == "stresses":
        sections = with_stresses(result).sections
        assert sections is not None
        write_sections(sections, out)
        return len(result.time) * sections.sizes["beam"] * sections.sizes["station"]
    found = result.contacts if table == "contacts" else report(result)
    found.to_csv(out)
    return len(found)


def _write_sweep(folder: Path, out: Path, table: str, columns: list[str] | None, reduce: str | None) -> int:
    from pliant.results.csv import write_table

    if table != ROWS:
        stop(
            WRONG,
            "--table: must be left out for a sweep; keep its stresses and largest values, as in --keep largest_reaction_force",
        )
    found = sweep_table(read_sweep(folder), _names(columns), reduce)
    write_table(out, found.heads, found.rows)
    return len(found.rows)


def _target(place: Path | None, out: Path | None, suffixes: list[str]) -> Path:
    """The output file, given by --out or by its place alone."""
    if place is not None and out is not None:
        stop(WRONG, f"--out: must be given only once, got {str(place)!r} and {str(out)!r}")
    found = out or place
    if found is None:
        stop(WRONG, f"--out must be given: a file that ends in {', '.join(suffixes)}")
    if found.suffix not in suffixes:
        stop(WRONG, f"--out: must end in {', '.join(suffixes)}, got {str(found)!r}")
    return found


def _names(columns: list[str] | None) -> list[str] | None:
    if columns is None:
        return None
    return [name.strip() for text in columns for name in text.split(",") if name.strip()]
