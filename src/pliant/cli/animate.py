"""pliant animate: makes a film, or a page that plays the motion, from a result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pliant.cli.exits import FAILED, WRONG, say_written, stop
from pliant.cli.options import AsJson, IncludesOutside, Quiet, Set, check_target, load_model, load_result
from pliant.cli.plot import with_stresses
from pliant.cli.run import settings_of, simulate_model
from pliant.errors import PliantError
from pliant.host import progress
from pliant.host.netcdf_head import is_netcdf

if TYPE_CHECKING:
    from pliant.results.result import Result

MODELS = (".yaml", ".yml")


def animate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The result of a run, or a model file, which is run first.")],
    out: Annotated[Path | None, typer.Option("--out", help="A film: MP4 (needs ffmpeg) or GIF.")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="A page that plays in any browser, offline.")] = None,
    fps: Annotated[int, typer.Option("--fps", help="Frames per second of the film.")] = 30,
    scale: Annotated[float, typer.Option("--scale", help="Magnification of deformations.")] = 1.0,
    speed: Annotated[float | None, typer.Option("--speed", help="Seconds of the run per second of the film.")] = None,
    size: Annotated[
        str | None, typer.Option("--size", metavar="WIDTHxHEIGHT", help="Size of the film, pixels; default: as the motion.")
    ] = None,
    stress: Annotated[bool, typer.Option("--stress", help="Colour the beams of the page by their equivalent stress.")] = False,
    values: Set = None,
    includes_outside: IncludesOutside = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Make a film (--out) or a page that plays the motion (--html) from a result or from a run of a model."""
    targets = {"--out": out, "--html": html}
    if out is None and html is None:
        stop(WRONG, "--out (a film) or --html (a page) must be given")
    for option, target in targets.items():
        if target is not None:
            check_target(option, target)
    if stress and html is None:
        stop(WRONG, "--stress: must be given with --html, because a film does not show stresses")
    if size is not None and out is None:
        stop(WRONG, "--size: must be given with --out, because a page has the size of its window")
    pixels = None if size is None else _pixels(size)
    result = _result(file, values, includes_outside, quiet or as_json)
    try:
        with progress.waiting("making the film", quiet or as_json):
            if out is not None:
                from pliant.show.animation import write_animation

                write_animation(result, out, fps=fps, scale=scale, speed=speed, size=pixels)
            if html is not None:
                from pliant.show import player

                player.write(with_stresses(result) if stress else result, html, scale=scale, speed=speed)
    except PliantError as trouble:
        stop(WRONG, str(trouble))
    except OSError as trouble:
        stop(FAILED, f"{trouble.filename or out or html}: cannot be written: {trouble.strerror or trouble}")
    written = [str(target) for target in targets.values() if target is not None]
    say_written(" and ".join(written), {"written": written}, quiet, as_json)


def _pixels(text: str) -> tuple[int, int]:
    width, x, height = text.lower().partition("x")
    if not (x and width.isdigit() and height.isdigit()):
        stop(WRONG, f"--size: must be WIDTHxHEIGHT, as in 1280x720, got {text!r}")
    return int(width), int(height)


def _result(file: Path, values: list[str] | None, includes_outside: bool, quiet: bool) -> Result:
    """The result in a file, or of a run of a model with these values."""
    if is_netcdf(file):
        if values:
            stop(WRONG, f"--set: must be given with a model file, but {str(file)!r} is a finished run, got {values[0]!r}")
        return load_result(file)
    if file.suffix not in MODELS:
        return load_result(file)  # reports what is wrong with the file
    model = load_model(file, includes_outside, values)
    result: Result = simulate_model(model, settings_of(model, file, None), None, quiet)
    if not len(result.time):
        stop(FAILED, result.message)
    return result
