"""pliant plot: draws a picture of a result."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.exits import WRONG, say, say_written, stop, write_list, writing
from pliant.cli.options import AsJson, Quiet, check_target, load_model, load_result, seconds
from pliant.cli.plot_sweep import draw_sweep
from pliant.errors import ModelError, did_you_mean
from pliant.host import progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pliant.results.result import Result

OF_SECTIONS = ("stress_envelope", "force_envelope")  # kinds that need stresses, which are computed on demand


def plot(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RESULT.nc...|FOLDER|MODEL.yaml",
            help="The result of a run (of kind series: of several), the folder of a sweep, or a model (of kind law or shapes).",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Output file: PNG, PDF, SVG, or CSV with the curves; default: RESULT_KIND.png.")
    ] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="Kind of picture; --list prints all kinds; default: overview.")] = None,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            help="Draw only this coordinate, body or law; of kind series any quantity, as in 'tip_position arm y'; for a sweep "
            "this kept quantity; may be repeated.",
        ),
    ] = None,
    at: Annotated[
        list[float] | None, typer.Option("--at", parser=seconds, metavar="TIME", help="Time of a snapshot, s; may be repeated.")
    ] = None,
    time: Annotated[
        float | None, typer.Option("--time", parser=seconds, metavar="TIME", help="Time of a still picture of the mechanism, s.")
    ] = None,
    scale: Annotated[float | None, typer.Option("--scale", help="Magnification of deformations.")] = None,
    labels: Annotated[bool, typer.Option("--labels", help="A schematic of the mechanism: frames, names, lengths, joints.")] = False,
    zoom: Annotated[
        str | None, typer.Option("--zoom", help="Number of the contact to enlarge, or none; of kind series BEGIN:END, times.")
    ] = None,
    reference: Annotated[
        Path | None, typer.Option("--reference", metavar="RESULT.nc", help="Of kind series: draw differences to this run.")
    ] = None,
    figsize: Annotated[
        str | None, typer.Option("--figsize", metavar="WIDTHxHEIGHT", help="Size of the picture, inches, as in 7x4.")
    ] = None,
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
    from pliant.show.plot import MODEL_PLOTS, PLOTS, save

    known = [*PLOTS, *MODEL_PLOTS]
    if listing:
        _list({**PLOTS, **{name: draw for name, (draw, _) in MODEL_PLOTS.items()}}, as_json)
        return
    if not files:
        stop(WRONG, "RESULT.nc must be given: the result of a run")
    file = files[0]
    if file.is_dir():
        alien = {"--kind": kind, "--at": at, "--time": time, "--scale": scale, "--zoom": zoom, "--reference": reference,
                 "--figsize": figsize, "--labels": labels or None, "a second file": files[1:] or None}  # fmt: skip
        draw_sweep(file, out, names, reduce, where, alien, quiet, as_json)
        return
    for option, given in (("--reduce", reduce), ("--where", where)):
        if given is not None:
            stop(WRONG, f"{option}: must be left out for the result of a single run")
    kind = kind or "overview"
    if kind not in known:
        close = difflib.get_close_matches(kind, known, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        stop(WRONG, f"--kind: must be one of {', '.join(known)}{hint}, got {kind!r}")
    if len(files) > 1 and kind != "series":
        stop(WRONG, f"{files[1]}: must be left out for pictures of kind {kind}; several runs are drawn by --kind series")
    target = out or Path(f"{file.stem}_{kind}.png")
    check_target("--out", target)
    draw = PLOTS[kind] if kind in PLOTS else MODEL_PLOTS[kind][0]
    chosen: dict[str, Any] = {"names": names, "bodies": names, "times": at, "time": time, "scale": scale, "zoom": _zoom(zoom),
                              "reference": reference, "figsize": _size(figsize), "labels": labels or None}  # fmt: skip
    if kind in MODEL_PLOTS:
        chosen["names"] = chosen["bodies"] = None
    options = _options(kind, draw, chosen)
    try:
        with writing(target, "drawn"), progress.waiting(f"drawing {kind}", quiet or as_json):
            save(_drawn(kind, files, names, options), target)
    except (ModelError, KeyError, ValueError) as trouble:
        stop(WRONG, str(trouble))
    say_written(str(target), {"written": str(target), "kind": kind}, quiet, as_json)


def _drawn(kind: str, files: list[Path], names: list[str] | None, options: dict[str, Any]) -> Figure:
    from pliant.show.plot import MODEL_PLOTS, PLOTS, series

    if kind in MODEL_PLOTS:
        draw, parts_of = MODEL_PLOTS[kind]
        return draw(_chosen(kind, parts_of(load_model(files[0]).system), names), **options)
    results = [load_result(file) for file in files]
    if kind in OF_SECTIONS:
        results = [with_stresses(result) for result in results]
    if kind != "series":
        return PLOTS[kind](results[0], **options)
    if "reference" in options:
        options["reference"] = load_result(options["reference"])
    named = results[0] if len(results) == 1 else {str(file): result for file, result in zip(files, results, strict=True)}
    return series(named, *options.pop("names", ()), **options)


def _chosen(kind: str, parts: Mapping[str, Any], names: list[str] | None) -> Mapping[str, Any]:
    """The parts of a model with these names."""
    for name in names or ():
        if name not in parts:
            raise ModelError.of(f"plot {kind}", "name", f"must be among {list(parts)}{did_you_mean(name, list(parts))}", name)
    return parts if names is None else {name: parts[name] for name in names}


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


def _zoom(text: str | None) -> int | str | tuple[float, float] | None:
    if text is not None and ":" in text:
        begin, _, end = text.partition(":")
        return seconds(begin), seconds(end)
    return int(text) if text is not None and text.lstrip("-").isdigit() else text


def _size(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    parts = text.split("x")
    if len(parts) != 2 or not all(part.replace(".", "", 1).isdigit() and float(part) > 0.0 for part in parts):
        stop(WRONG, f"--figsize: must be width x height in inches, as in 7x4, got {text!r}")
    return float(parts[0]), float(parts[1])


OF_OPTION = {"names": "--name", "bodies": "--name", "times": "--at", "time": "--time", "scale": "--scale", "zoom": "--zoom",
             "reference": "--reference", "figsize": "--figsize", "labels": "--labels"}  # fmt: skip


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
