"""pliant schema: prints the JSON Schema of model files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from pliant.cli.exits import writing
from pliant.cli.options import check_target
from pliant.host.atomic_files import write_text


def schema(
    out: Annotated[Path | None, typer.Option("--out", help="Write it to this file instead of printing it.")] = None,
    output: Annotated[Path | None, typer.Option("--output", hidden=True)] = None,  # as it was called once
) -> None:
    """Print the JSON Schema of model files, with which editors complete and check them."""
    from pliant.files.schema import schema as made

    text = json.dumps(made(), indent=1) + "\n"
    target = out or output
    if target is None:
        typer.echo(text, nl=False)
        return
    check_target("--out", target)
    with writing(target):
        write_text(target, text)
