"""The end of a command: exit codes, and messages on the error stream or as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, NoReturn

import typer

from pliant.errors import ModelError, PliantError, plain
from pliant.host.atomic_files import watching
from pliant.host.program_start import command_begins

DONE, FAILED, WRONG, INTERRUPTED = 0, 1, 2, 130
EXIT_CODES = {
    DONE: "done",
    FAILED: "the run or its writing failed",
    WRONG: "the model, the file or the command is wrong",
    INTERRUPTED: "interrupted",
}


class Stopped(Exception):
    """Raised to end a command early, with an exit code and a message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def stop(code: int, message: str) -> NoReturn:
    raise Stopped(code, message)


def ending(command: Callable[..., None]) -> Callable[..., None]:
    """The command, with early ends reported on the error stream and, with --json, as JSON too."""

    @wraps(command)
    def ended(*arguments: Any, **options: Any) -> None:
        with watching() as written:
            try:
                command_begins()
                command(*arguments, **options)
            except KeyboardInterrupt:
                files = list(dict.fromkeys(written.files)) or ["nothing"]
                words = f"{' and '.join(files)} {'were' if len(files) > 1 else 'was'} written"
                end = Stopped(INTERRUPTED, f"interrupted; {words}")
            except Stopped as early:
                end = early
            except PliantError as trouble:
                end = Stopped(WRONG if isinstance(trouble, ModelError) else FAILED, str(trouble))
            else:
                return
        say(f"error: {end}" if end.code != INTERRUPTED else str(end), err=True)
        if options.get("as_json"):
            write_json({"error": str(end), "exit_code": end.code})
        raise typer.Exit(end.code)

    return ended


@contextmanager
def writing(target: object, done: str = "written", errors: tuple[type[Exception], ...] = (OSError,)) -> Iterator[None]:
    """Ends the command if a file cannot be written or drawn; without a target, by the name that the error gives."""
    try:
        yield
    except errors as trouble:
        name = getattr(trouble, "filename", None) if target is None else target
        stop(FAILED, f"{name}: cannot be {done}: {getattr(trouble, 'strerror', None) or trouble}")


def say(what: object, err: bool = False, nl: bool = True) -> None:
    """Print a message. It may contain names from files, so control characters are escaped."""
    typer.echo(in_file_words(plain(str(what))), err=err, nl=nl)


def in_file_words(message: str) -> str:
    """A message in the words of model files: pl.deg(60) is 60 deg there, pl.segmented(beam, n) segments: n, pl.HuGuo hu_guo."""
    message = re.sub(r"\bpl\.deg\(([^()]*)\)", r"\1 deg", message).replace("pl.segmented(beam, n)", "segments: n")
    return re.sub(r"\bpl\.([A-Z]\w*)", lambda found: re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", found[1]).lower(), message)


def write_json(data: Any) -> None:
    """Print one JSON document; nan and inf, which JSON does not have, become null."""
    typer.echo(json.dumps(_clean(data), indent=1, allow_nan=False))


def say_written(words: str, facts: dict[str, Any], quiet: bool, as_json: bool) -> None:
    """Say what was written, in words or as JSON."""
    if as_json:
        write_json(facts)
    elif not quiet:
        typer.echo(f"written to {words}")


def write_list(about: dict[str, str], as_json: bool) -> None:
    """Print names with a line about each."""
    if as_json:
        write_json(about)
        return
    width = max(len(name) for name in about)
    for name, line in about.items():
        typer.echo(f"{name:<{width}}  {line}")


def _clean(value: Any) -> Any:
    if isinstance(value, float):
        return value if value - value == 0.0 else None
    if isinstance(value, dict):
        return {str(name): _clean(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(inner) for inner in value]
    return value if value is None or isinstance(value, (bool, int, str)) else _clean(getattr(value, "item", lambda: str(value))())
