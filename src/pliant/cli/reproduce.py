"""pliant reproduce: runs a published system, draws its figures and compares it with its paper."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.exits import FAILED, INTERRUPTED, WRONG, stop, write_json, write_list
from pliant.cli.options import AsJson, Quiet, make_folder
from pliant.errors import PliantError
from pliant.host import progress

if TYPE_CHECKING:
    from pliant.gallery.reproduction import Pictures

ALL = "all"


def reproduce(
    name: Annotated[str | None, typer.Argument(help="A published system, or all; without it, the systems are listed.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for figures, results and summary.json; created if necessary.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="Format of the figures: png, pdf or svg.")] = "png",
    data: Annotated[bool, typer.Option("--data", help="Write the curves of every figure too, as CSV.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Run a published system, draw its figures and compare its claims with pliant's results."""
    from pliant.gallery.reproduction import ABOUT, FORMATS, Pictures

    if name is None:
        write_list(ABOUT, as_json)
        return
    if name != ALL and name not in ABOUT:
        close = difflib.get_close_matches(name, [*ABOUT, ALL], n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        stop(WRONG, f"unknown system {name!r}{hint}; known: {', '.join(ABOUT)}, and all")
    if out is None:
        stop(WRONG, f"--out must be given: a folder for figures, results and summary.json of {name}")
    if form not in FORMATS:
        stop(WRONG, f"--format: must be one of {', '.join(FORMATS)}, got {form!r}")
    make_folder("--out", out)
    pictures = Pictures(form, data)
    names = list(ABOUT) if name == ALL else [name]
    summaries = {one: _one(one, out / one if name == ALL else out, pictures, quiet or as_json) for one in names}
    _report(summaries, out, quiet, as_json)


def _one(name: str, out: Path, pictures: Pictures, quiet: bool) -> dict[str, Any]:
    from pliant.gallery.reproduction import REPRODUCTIONS

    make_folder("--out", out)
    try:
        with progress.bar(0.0, 1.0, quiet) as tell:
            return REPRODUCTIONS[name](out, lambda doing, done: tell(done, f"{name}: {doing}"), pictures)
    except KeyboardInterrupt:
        stop(INTERRUPTED, f"interrupted; {out} contains what had been written")
    except PliantError as trouble:
        stop(FAILED, str(trouble))
    except OSError as trouble:
        stop(FAILED, f"{trouble.filename or out}: cannot be written: {trouble.strerror or trouble}")


def _report(summaries: dict[str, dict[str, Any]], out: Path, quiet: bool, as_json: bool) -> None:
    """Print one table of claims; with several systems, each claim is listed with its system."""
    from pliant.gallery.reproduction import print_claims, print_warnings

    several = len(summaries) > 1
    claims = [{**claim, **({"system": name} if several else {})} for name, one in summaries.items() for claim in one["claims"]]
    if as_json:
        told = {name: one["warnings"] for name, one in summaries.items()}
        held = sum(bool(claim["holds"]) for claim in claims)
        write_json({"claims": claims, "hold": held, "warnings": told, "written": str(out)})
    elif not quiet:
        print_claims(claims)
        print_warnings(summaries)
        typer.echo(f"summary.json, figures and results are in {out}{' and its folders' if several else ''}")
