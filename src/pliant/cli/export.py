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
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Output file: .csv, .parquet or .mat.")],
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns", metavar="NAME,...",
            help="Quantities, as in q,normal_force, or columns, as in 'tip_position arm x'; may be repeated; default: all.",
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Write the rows of a result for other programs, as CSV, Parquet (needs the extra parquet) or MATLAB."""
    writer = WRITERS.get(out.suffix)
    if writer is None:
        stop(WRONG, f"OUT: must end in {', '.join(WRITERS)}, got {str(out)!r}")
    check_target("OUT", out)
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


def _names(columns: list[str] | None) -> list[str] | None:
    if columns is None:
        return None
    return [name.strip() for text in columns for name in text.split(",") if name.strip()]
