"""pliant plot: draws a picture of a result."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.exits import FAILED, WRONG, say, stop, write_json, write_list
from pliant.cli.options import AsJson, Quiet, check_target, load_result, seconds
from pliant.cli.plot_sweep import draw_sweep
from pliant.errors import ModelError
from pliant.host import progress

if TYPE_CHECKING:
    from pliant.results.result import Result

OF_SECTIONS = ("stress_envelope", "force_envelope")  # kinds that need stresses, which are computed on demand


def plot(
    file: Annotated[
        Path | None, typer.Argument(metavar="RESULT.nc|FOLDER", help="The result of a run, or the folder of a sweep.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Output file: PNG, PDF or SVG; default: RESULT_KIND.png.")] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="Kind of picture; --list prints all kinds; default: overview.")] = None,
    names: Annotated[
        list[str] | None,
        typer.Option("--name", help="Draw only this coordinate or body or, for a sweep, this kept quantity; may be repeated."),
    ] = None,
    at: Annotated[
        list[float] | None, typer.Option("--at", parser=seconds, metavar="TIME", help="Time of a snapshot, s; may be repeated.")
    ] = None,
    time: Annotated[
        float | None, typer.Option("--time", parser=seconds, metavar="TIME", help="Time of a still picture of the mechanism, s.")
    ] = None,
    scale: Annotated[float | None, typer.Option("--scale", help="Magnification of deformations.")] = None,
    zoom: Annotated[str | None, typer.Option("--zoom", help="Number of the contact to enlarge, or none.")] = None,
    reduce: Annotated[
        str | None, typer.Option("--reduce", help="For a sweep: the value of a series to draw: largest, final or range.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="NAME=VALUE", help="For a sweep: only the cases nearest to this value of an axis, SI."),
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="Print the kinds of pictures and exit.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Draw a picture of a result or, for a sweep, curves over one axis, a map over two or small multiples over three."""
    from pliant.show.plot import PLOTS, save

    if listing:
        _list(PLOTS, as_json)
        return
    if file is None:
        stop(WRONG, "RESULT.nc must be given: the result of a run")
    if file.is_dir():
        alien = {"--kind": kind, "--at": at, "--time": time, "--scale": scale, "--zoom": zoom}
        draw_sweep(file, out, names, reduce, where, alien, quiet, as_json)
        return
    for option, given in (("--reduce", reduce), ("--where", where)):
        if given is not None:
            stop(WRONG, f"{option}: must be left out for the result of a single run")
    kind = kind or "overview"
    if kind not in PLOTS:
        close = difflib.get_close_matches(kind, PLOTS, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        stop(WRONG, f"--kind: must be one of {', '.join(PLOTS)}{hint}, got {kind!r}")
    target = out or Path(f"{file.stem}_{kind}.png")
    check_target("--out", target)
    draw = PLOTS[kind]
    chosen: dict[str, Any] = {"names": names, "bodies": names, "times": at, "time": time, "scale": scale, "zoom": _zoom(zoom)}
    options = _options(kind, draw, chosen)
    result = load_result(file)
    try:
        with progress.waiting(f"drawing {kind}", quiet or as_json):
            if kind in OF_SECTIONS:
                result = with_stresses(result)
            save(draw(result, **options), target)
    except (ModelError, KeyError, ValueError) as trouble:
        stop(WRONG, str(trouble))
    except OSError as trouble:
        stop(FAILED, f"{target}: cannot be drawn: {trouble.strerror or trouble}")
    if as_json:
        write_json({"written": str(target), "kind": kind})
    elif not quiet:
        typer.echo(f"written to {target}")


def with_stresses(result: Result) -> Result:
    """The result with the stresses of its beams, computed if it has none."""
    from pliant.analysis.stresses import stresses
    from pliant.results.sections import warnings_of_sections

    if result.sections is not None:
        return result
    sections = stresses(result)
    for sentence in warnings_of_sections(sections):
        say(f"warning: {sentence}", err=True)
    return result.with_sections(sections)


def _list(plots: dict[str, Callable[..., Any]], as_json: bool) -> None:
    write_list({name: (inspect.getdoc(draw) or "").split("\n")[0] for name, draw in plots.items()}, as_json)


def _zoom(text: str | None) -> int | str | None:
    return int(text) if text is not None and text.lstrip("-").isdigit() else text


OF_OPTION = {"names": "--name", "bodies": "--name", "times": "--at", "time": "--time", "scale": "--scale", "zoom": "--zoom"}


def _options(kind: str, draw: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """The options of this kind of picture; a given option that it does not take is refused."""
    takes = set(inspect.signature(draw).parameters)
    asked = {name: value for name, value in given.items() if value is not None}
    for name in asked:
        option = OF_OPTION[name]
        if not takes & {other for other, same in OF_OPTION.items() if same == option}:
            stop(WRONG, f"{option}: must be left out for pictures of kind {kind}")
    options = {name: value for name, value in asked.items() if name in takes}
    if options.get("zoom") == "none":
        options["zoom"] = None
    return options
