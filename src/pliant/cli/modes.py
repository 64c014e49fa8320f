"""pliant modes: natural frequencies, damping and shapes of a model about its equilibrium."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.exits import WRONG, say, stop, write_json, writing
from pliant.cli.options import AsJson, IncludesOutside, ModelArgument, Quiet, Set, check_target, load_model, read_settings
from pliant.cli.steady import Hold, Steady, read_steady
from pliant.errors import plain
from pliant.host import progress
from pliant.host.atomic_files import atomic_write

if TYPE_CHECKING:
    from pliant.analysis.linear_model import Linearisation
    from pliant.analysis.modes import NaturalModes
    from pliant.model.system import System


def modes(
    file: ModelArgument,
    steady: Steady = None,
    hold: Hold = None,
    free: Annotated[bool, typer.Option("--free", help="Free the joints of --hold, under efforts that hold them.")] = False,
    start: Annotated[bool, typer.Option("--start", help="Linearise about the start instead of the equilibrium.")] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="MODES.csv", help="Write the table, one mode per line.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="SHAPES.png", help="Draw the first mode shapes.")] = None,
    page: Annotated[Path | None, typer.Option("--page", metavar="MODE.html", help="Write a page that plays a mode.")] = None,
    number: Annotated[int, typer.Option("--mode", help="Number of the mode on the page.")] = 0,
    settings: Set = None,
    includes_outside: IncludesOutside = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Print the natural frequencies of a mechanism about its equilibrium, and the damping and main coordinates of each mode.

    Joints of --hold are blocked: they move in no mode, as behind a brake. With --free they move, with constant efforts along them.
    """
    rates, held = read_steady(steady), read_settings(hold or (), "--hold")
    if start and (rates or held):
        stop(WRONG, f"--start and {'--steady' if rates else '--hold'}: at most one of them may be given")
    if free and not held:
        stop(WRONG, "--free: must be given with --hold, whose joints it frees")
    for option, target in (("--out", out), ("--plot", plot), ("--page", page)):
        if target is not None:
            check_target(option, target)
    model = load_model(file, includes_outside, settings)
    with writing(None), progress.waiting("searching for the equilibrium and its modes", quiet or as_json):
        linear = _linearised(model.system, rates, held, free, start)
        found = linear.modes()
        written = _write(found, out, plot, page, number)
    if as_json:
        write_json({"system": found.name, "message": linear.message, "modes": rows(found), "warnings": list(found.warnings),
                    "written": written})  # fmt: skip
    elif not quiet:
        say(f"{found.name}: {linear.message}")
        _print(found)
        for sentence in found.warnings:
            say(f"warning: {sentence}")
        for name in written:
            say(f"written to {name}")


def _linearised(system: System, rates: dict[str, float], held: dict[str, str], free: bool, start: bool) -> Linearisation:
    from pliant.analysis.equilibrium import equilibrium
    from pliant.analysis.linearise import linearise

    if not rates and not held:
        return linearise(system, at="start" if start else None, inputs=(), outputs=())
    rest = equilibrium(system, steady=rates, hold=held)
    if not free:  # the rates of held joints stay zero, as those of steady ones stay what they are
        blocked = {**rest.operating.held, **dict.fromkeys(rest.hold, 0.0)}
        rest = replace(rest, operating=replace(rest.operating, held=blocked))
    linear = linearise(system, at=rest, inputs=(), outputs=())
    how = "free in the modes, under the efforts that hold them" if free else "blocked in all modes; --free frees them"
    return replace(linear, message=f"{linear.message}; {', '.join(held)}: {how}") if held else linear


def rows(found: NaturalModes) -> list[dict[str, Any]]:
    """One row per mode, for --json."""
    each = zip(found.frequencies.tolist(), found.damping_ratios.tolist(), found.eigenvalues.real.tolist(), strict=True)
    return [{"mode": k, "rad_per_s": w, "Hz": w / (2.0 * math.pi), "damping_ratio": ratio, "growth_per_s": growth + 0.0,
             "moves": found.moving(k)} for k, (w, ratio, growth) in enumerate(each)]  # fmt: skip


def _write(found: NaturalModes, out: Path | None, plot: Path | None, page: Path | None, number: int) -> list[str]:
    """The names of the written files."""
    if page is not None:
        from pliant.show import player

        player.write(found.animated(number), page)
    if out is not None:
        with atomic_write(out) as draft:
            numbers = ("mode", "rad_per_s", "Hz", "damping_ratio", "growth_per_s")
            lines = [",".join((*numbers, "moves"))]
            for row in rows(found):
                lines.append(",".join((*(repr(row[name]) for name in numbers), f'"{row["moves"]}"')))
            draft.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if plot is not None:
        from pliant.show.plot import mode_shape, save

        save(mode_shape(found), plot)
    return [str(target) for target in (out, plot, page) if target is not None]


def _print(found: NaturalModes) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("mode", "rad/s", "Hz", "damping ratio", "pole, 1/s", "moves most", box=None)
    for column in table.columns[:5]:
        column.justify = "right"
    for row in rows(found):
        numbers = f"{row['rad_per_s']:.6g}", f"{row['Hz']:.6g}", f"{row['damping_ratio']:.3g}", found.pole(row["mode"])
        table.add_row(str(row["mode"]), *numbers, found.course(row["mode"]) + plain(row["moves"]))
    Console().print(table)
