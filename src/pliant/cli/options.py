"""Arguments and options that several commands share, with the checks made before anything runs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pliant.cli.exits import WRONG, say, stop
from pliant.errors import ModelError, NotClosed, PliantError
from pliant.host.atomic_files import streamed
from pliant.host.netcdf_head import is_netcdf

if TYPE_CHECKING:
    from pliant.files import Model
    from pliant.results.result import Result

ROBOT_FILES = (".urdf", ".xml")
OF_SMALL_LENGTHS = 10.0  # m: a mechanism drawn in mm or cm hardly has parts of this length

ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL.yaml", help="The model file, or a robot as URDF or MJCF.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress bar and no report.")]

IncludesOutside = Annotated[
    bool, typer.Option("--allow-includes-outside", help="Allow the model to include files from outside its folder.")
]

Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE[unit]", help="Value of a number that the model defines; may be repeated."),
]


def seconds(text: object) -> float:
    """A time such as 0.1, 100ms or 2 min, in s."""
    from pliant.files.definitions import read_quantity

    try:
        return read_quantity(str(text), "s")[0]
    except ModelError as trouble:
        raise typer.BadParameter(f"{trouble}; a time is a number in s, or has a unit, as in 100ms") from None


TEnd = Annotated[
    float | None,
    typer.Option("--t-end", parser=seconds, metavar="TIME", help="End time, s; replaces that of the file."),
]


def load_model(file: Path, includes_outside: bool = False, settings: Sequence[str] | None = None) -> Model:
    """Load a model file, or a robot (URDF or MJCF); settings: the values of --set."""
    from pliant import files

    if file.suffix.lower() in ROBOT_FILES:
        from pliant.exchange.robot_files import load_robot

        if settings:
            stop(WRONG, f"--set: must be left out for a robot file, which defines no numbers by name, got {settings[0]!r}")
        return load_robot(file)
    return files.load_model(file, includes_outside, read_settings(settings or ()))


def say_unused(model: Model, err: bool = False) -> None:
    """Tell of definitions that nothing reads: a slip, as a formula with a number in the place of the name."""
    not_used: Sequence[str] = getattr(model.system, "unused", ())  # of a robot file
    for sentence in not_used:
        say(f"not used: {sentence}", err=err)
    if model.unused:
        one = len(model.unused) == 1
        say(f"note: {', '.join(model.unused)} under define {'is' if one else 'are'} used nowhere in the file", err=err)


def missing_unit(model: Model, trouble: PliantError) -> str:
    """A hint for a loop that cannot close: numbers without a unit, if the file writes its lengths in mm or cm."""
    unit, size = model.system.shown_units.get("m", ("m", 1.0))
    plain = [one for one in model.system.parameters.values() if one.unit is None and one.value >= OF_SMALL_LENGTHS]
    if not plain or size > 1.0 / OF_SMALL_LENGTHS or not isinstance(trouble, NotClosed):
        return ""
    told = ", ".join(f"{one.name} = {one.value:g}" for one in plain)
    return f" (a length without a unit is in m, and this file writes lengths in {unit}: is a unit missing in {told}?)"


def read_settings(settings: Sequence[str], option: str = "--set") -> dict[str, str]:
    """Read payload=310 g as a name and the text of its value."""
    values: dict[str, str] = {}
    for setting in settings:
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not (name and equals and value):
            stop(WRONG, f"{option}: must be NAME=VALUE, as in payload=0.31kg, got {setting!r}")
        if name in values:
            stop(WRONG, f"{option}: must name {name!r} only once, got {values[name]!r} and {value!r}")
        values[name] = value
    return values


def load_result(file: Path, lazy: bool = False) -> Result:
    """Load a result; lazy: rows stay in the file until they are read."""
    from pliant.results.result import Result

    if not file.is_file():
        stop(WRONG, f"{file}: cannot be read: {'must be a file' if file.exists() else 'No such file'}")
    if not is_netcdf(file):
        hint = f"; `pliant run {file}` runs a model and writes its result" if file.suffix in (".yaml", ".yml") else ""
        stop(WRONG, f"{file}: must be the result of a run (netCDF), got another kind of file{hint}")
    try:
        return Result.from_netcdf(file, lazy=lazy)
    except ModelError as trouble:
        stop(WRONG, str(trouble))
    except (OSError, RuntimeError, KeyError, ValueError) as trouble:
        stop(WRONG, f"{file}: cannot be read: {getattr(trouble, 'strerror', None) or trouble}")


def check_target(option: str, out: Path) -> None:
    """Check, before the run, that a file can be written: otherwise an hour of computing could be lost."""
    try:
        if streamed(out):  # whether it accepts data shows when it is written to
            return
        folder = Path(os.path.realpath(out)).parent
        if not folder.is_dir():
            stop(WRONG, f"{option}: folder {str(folder if out.is_symlink() else out.parent)!r} must exist, got {str(out)!r}")
        reason = _refusal(folder)
    except OSError as trouble:
        reason = trouble.strerror or str(trouble)
    if reason:
        stop(WRONG, f"{option}: must be a file that can be written, got {str(out)!r} ({reason})")


def make_folder(option: str, out: Path) -> None:
    """Create a folder if necessary; its parent must exist."""
    if not out.absolute().parent.is_dir():
        stop(WRONG, f"{option}: folder {str(out.parent)!r} must exist, got {str(out)!r}")
    try:
        out.mkdir(exist_ok=True)
    except OSError as trouble:
        stop(WRONG, f"{option}: must be a folder or a new name for one, got {str(out)!r} ({trouble.strerror})")
    reason = _refusal(out)
    if reason:
        stop(WRONG, f"{option}: must be a folder that can be written to, got {str(out)!r} ({reason})")


def _refusal(folder: Path) -> str:
    """Why no file can be created in a folder, or an empty string; tested by creating one, since permissions do not tell all."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as trouble:
        return trouble.strerror or str(trouble)
