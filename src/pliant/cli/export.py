"""pliant export: writes the rows of a result as CSV, Parquet or MATLAB."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pliant.cli.exits import FAILED, WRONG, stop, write_json
from pliant.cli.options import AsJson, Quiet, check_target, load_result
from pliant.errors import PliantError

WRITERS = {".csv": "to_csv", ".parquet": "to_parquet", ".mat": "to_matlab"}  # methods of a Result, by suffix


def export(
    file: Annotated[Path, typer.Argument(metavar="RESULT.nc", help="The result of a run.")],
    table: Annotated[Path | None, typer.Argument(metavar="OUT", hidden=True)] = None,  # OUT without its name
    out: Annotated[Path | None, typer.Option("--out", help="Output file: .csv, .parquet or .mat; must be given.")] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns", metavar="NAME,...",
            help="Coordinates or quantities, as in arm.angle,normal_force, or parts, as in 'tip_position arm x'; may be repeated; "
            "default: all.",
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Write the rows of a result for other programs, as CSV, Parquet (needs the extra parquet) or MATLAB."""
    out = _target(table, out)
    writer = WRITERS[out.suffix]
    check_target("--out", out)
    result = load_result(file, lazy=True)
    try:
        getattr(result, writer)(out, _names(columns))
    except PliantError as trouble:
        stop(WRONG, str(trouble))
    except (OSError, RuntimeError) as trouble:
        stop(FAILED, f"{out}: cannot be written: {getattr(trouble, 'strerror', None) or trouble}")
    if as_json:
        write_json({"written": str(out), "rows": len(result.time)})
    elif not quiet:
        typer.echo(f"written to {out}: {len(result.time)} rows")


def _target(table: Path | None, out: Path | None) -> Path:
    """The output file, given by --out or by its place alone."""
    if table is not None and out is not None:
        stop(WRONG, f"--out: must be given only once, got {str(table)!r} and {str(out)!r}")
    found = out or table
    if found is None:
        stop(WRONG, f"--out must be given: a file that ends in {', '.join(WRITERS)}")
    if found.suffix not in WRITERS:
        stop(WRONG, f"--out: must end in {', '.join(WRITERS)}, got {str(found)!r}")
    return found


def _names(columns: list[str] | None) -> list[str] | None:
    if columns is None:
        return None
    return [name.strip() for text in columns for name in text.split(",") if name.strip()]
