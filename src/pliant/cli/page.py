"""pliant page: writes a page in which a model runs, with sliders; pliant serve: shows it and follows the file."""

from __future__ import annotations

import contextlib
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.exits import FAILED, WRONG, say, say_written, stop, writing
from pliant.cli.options import AsJson, IncludesOutside, ModelArgument, Quiet, Set, TEnd, check_target, load_model
from pliant.cli.run import settings_of
from pliant.host import progress

if TYPE_CHECKING:
    from pliant.files import Model

Sliders = Annotated[
    str | None,
    typer.Option(
        "--sliders", metavar="NAME[=LOW:HIGH],...",
        help="Numbers that the page lets its reader change: parameters, starts of coordinates; default: all of them.",
    ),
]  # fmt: skip
Scale = Annotated[float, typer.Option("--scale", help="Magnification of deformations at first.")]


def page(
    file: ModelArgument,
    out: Annotated[Path | None, typer.Option("--out", help="The page; default: MODEL.html.")] = None,
    t_end: TEnd = None,
    sliders: Sliders = None,
    scale: Scale = 1.0,
    values: Set = None,
    includes_outside: IncludesOutside = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Write one HTML file in which the mechanism runs, offline, and again whenever a slider moves."""
    from pliant.host.atomic_files import write_text

    target = out or Path(f"{file.stem}.html")
    check_target("--out", target)
    model = load_model(file, includes_outside, values)
    with progress.waiting("writing the page", quiet or as_json):
        text = _text(model, file, t_end, sliders, scale)
    with writing(target):
        write_text(target, text)
    say_written(str(target), {"written": str(target), "bytes": len(text.encode())}, quiet, as_json)


def serve(
    file: ModelArgument,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port on 127.0.0.1; default: a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
    t_end: TEnd = None,
    sliders: Sliders = None,
    scale: Scale = 1.0,
    values: Set = None,
    includes_outside: IncludesOutside = False,
) -> None:
    """Show the page of a model file on this computer, and write it anew whenever the file is saved. Ctrl-C ends it."""
    from pliant.live.serve import FollowedPage, PageServer

    if not file.is_file():
        stop(WRONG, f"{file}: cannot be read: {'must be a file' if file.exists() else 'No such file'}")
    followed = FollowedPage(file, lambda: _text(load_model(file, includes_outside, values), file, t_end, sliders, scale))
    try:
        server = PageServer(followed, port)
    except OSError as trouble:
        stop(FAILED, f"--port: {port} cannot be listened to: {trouble.strerror or trouble}")
    say(f"{file} is shown at {server.address} (Ctrl-C ends)")
    if browser:
        webbrowser.open(server.address)
    with contextlib.suppress(KeyboardInterrupt):  # the usual end
        server.run()


def _text(model: Model, file: Path, t_end: float | None, sliders: str | None, scale: float) -> str:
    from pliant.live.page import page_text

    settings = settings_of(model, file, t_end)
    given = None if sliders is None else _sliders(sliders)
    return page_text(model, settings.t_end, t_start=settings.t_start, sliders=given, method=settings.method or "auto",
                     formulation=settings.formulation, scale=scale, tell=lambda note: say(f"note: {note}", err=True))  # fmt: skip


def _sliders(text: str) -> Any:
    """Names, each with a range in SI or none."""
    ranges: dict[str, tuple[float, float] | None] = {}
    for entry in text.split(","):
        name, equals, ends = (part.strip() for part in entry.partition("="))
        try:
            low, high = (float(end) for end in ends.split(":")) if equals else (0.0, 0.0)
        except ValueError:
            stop(WRONG, f"--sliders: must be NAME or NAME=LOW:HIGH in SI units, separated by commas, got {entry!r}")
        ranges[name] = (low, high) if equals else None
    return ranges
