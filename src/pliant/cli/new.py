"""pliant new: writes a commented model to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pliant.cli.exits import WRONG, say_written, stop, write_list, writing
from pliant.cli.options import AsJson, Quiet, check_target
from pliant.errors import did_you_mean
from pliant.host.atomic_files import write_text

TEMPLATES = {  # models in `templates`
    "flexible-arm": "two elastic links with drives, above a floor; also written if only a file is named",
    "slider-crank": "a crank at constant speed, an elastic connecting rod, a piston under gas force",
    "four-bar": "a crank that a DC motor turns all the way round, an elastic coupler, a rocker",
    "gripper": "two elastic fingers that close on a ball, hold it by friction and lift it",
    "delta-robot": "three driven arms and parallelograms of rods that move a platform in space",
}
SUFFIXES = (".yaml", ".yml")


def new(
    what: Annotated[
        str | None, typer.Argument(metavar="TEMPLATE", help="Which model, see --list; or only the file, for a flexible arm.")
    ] = None,
    out: Annotated[Path | None, typer.Argument(metavar="MODEL.yaml", help="The file to write; default: TEMPLATE.yaml.")] = None,
    names: Annotated[bool, typer.Option("--list", help="Print the names of the templates.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Write a commented model to start from: a flexible arm, slider-crank, four-bar, gripper or delta robot."""
    if names:
        write_list(TEMPLATES, as_json)
        return
    template, file = _chosen(what, out)
    check_target("the model", file)
    if file.exists() and not force:
        stop(WRONG, f"{file}: already exists; --force replaces it")
    with writing(file):
        write_text(file, _text(template, file))
    say_written(f"{file}; next: pliant run {file}", {"written": str(file)}, quiet, as_json)


def _chosen(what: str | None, out: Path | None) -> tuple[str, Path]:
    """The template and the file to write."""
    if what is None:
        stop(WRONG, f"a template or a file must be given, as in pliant new four-bar; templates: {', '.join(TEMPLATES)}")
    if out is None and what not in TEMPLATES and Path(what).suffix:
        what, out = "flexible-arm", Path(what)
    name = what.lower().replace("_", "-").replace(" ", "-")
    if name not in TEMPLATES:
        rule = f"must be a template ({', '.join(TEMPLATES)}) or a file that ends in .yaml"
        stop(WRONG, f"{rule}{did_you_mean(name, list(TEMPLATES))}, got {what!r}")
    file = Path(f"{name}.yaml") if out is None else out
    if file.suffix not in SUFFIXES:
        stop(WRONG, f"the name of a model must end in .yaml, got {str(file)!r}")
    return name, file


def _text(template: str, file: Path) -> str:
    """The template, with the names of the file and of the system in place of its own."""
    text = Path(__file__).with_name("templates").joinpath(f"{template}.yaml").read_text(encoding="utf-8")
    if file.stem == template:
        return text
    name = "".join(letter if letter.isalnum() else " " for letter in file.stem).strip() or template  # YAML reads it as a string
    lines = (f"system: {name}" if line.startswith("system:") else line for line in text.splitlines())
    return "\n".join(lines).replace(f"{template}.", f"{file.stem}.") + "\n"
