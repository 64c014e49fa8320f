"""pliant equilibrium: the equilibrium of a model, its reactions, and its stability."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.exits import say, write_json, writing
from pliant.cli.options import AsJson, IncludesOutside, ModelArgument, Quiet, Set, check_target, load_model, read_settings, seconds
from pliant.cli.steady import Hold, Steady, read_steady
from pliant.errors import plain
from pliant.host import progress
from pliant.results.shown_units import shown_number

if TYPE_CHECKING:
    from pliant.analysis.equilibrium import Equilibrium

ROUND_OFF = 1e-12  # of the largest value in the table; smaller values are printed as zero


def equilibrium(
    file: ModelArgument,
    steady: Steady = None,
    hold: Hold = None,
    t: Annotated[
        float, typer.Option("--t", parser=seconds, metavar="TIME", help="Time of formulas of time and prescribed motions, s.")
    ] = 0.0,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="REST.nc", help="Write the equilibrium as a result (netCDF).")
    ] = None,
    settings: Set = None,
    includes_outside: IncludesOutside = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Find the equilibrium of a mechanism, downhill from its start: coordinates, efforts, reactions, contacts, stability."""
    from pliant.analysis.equilibrium import equilibrium as find

    rates, held = read_steady(steady), read_settings(hold or (), "--hold")
    if out is not None:
        check_target("--out", out)
    model = load_model(file, includes_outside, settings)
    with progress.waiting("searching for the equilibrium", quiet or as_json):
        rest = find(model.system, steady=rates, hold=held, t=t)
    if out is not None:
        with writing(out):
            rest.to_result().to_netcdf(out)
    if as_json:
        write_json({**equilibrium_data(rest), "written": None if out is None else str(out)})
    elif not quiet:
        _print(rest)
        if out is not None:
            say(f"written to {out}")


def equilibrium_data(rest: Equilibrium) -> dict[str, Any]:
    """An equilibrium, for --json."""
    reactions = {body: {"force_N": found.force.tolist(), "moment_Nm": found.moment.tolist()}
                 for body, found in rest.reactions.items()}  # fmt: skip
    contacts = {pair: {"closed": found.closed, "gap_m": found.gap, "force_N": found.force} for pair, found in rest.contacts.items()}
    return {"system": rest.name, "message": rest.message, "stable": rest.stable, "steady": dict(rest.steady),
            "hold": dict(rest.hold), "efforts": dict(rest.efforts), "commands": dict(rest.commands),
            "coordinates": rest.coordinates, "reactions": reactions, "contacts": contacts,
            "parameters": dict(rest.parameters), "warnings": list(rest.warnings)}  # fmt: skip


def _print(rest: Equilibrium) -> None:
    from rich.console import Console
    from rich.table import Table

    from pliant.analysis.trim import effort_unit
    from pliant.model.coordinate_pair import coordinate_pairs
    from pliant.show.drawing import units_of_coordinates

    console = Console()
    say(f"{rest.name}: {rest.message}")
    table = Table("coordinate", "value", *(["held by"] if rest.efforts else []), title="coordinates",
                  title_justify="left", box=None)  # fmt: skip
    table.columns[1].justify = "right"
    shown, units = rest.system.shown_units, units_of_coordinates(rest.system)
    for name, value in rest.coordinates.items():
        effort = [f"{rest.efforts[name]:.6g} {effort_unit(rest.system, name)}"] if name in rest.efforts else []
        table.add_row(plain(name), shown_number(value, units.get(name), shown, 6), *effort)
    console.print(table)
    for name, command in rest.commands.items():
        say(f"command of {name}: {command:.6g}")
    table = Table("body", *(f"{kind} {axis}" for kind in ("force", "moment") for axis in "xyz"),
                  title="forces and moments of joints on bodies, N and N m", title_justify="left", box=None)  # fmt: skip
    largest = {name: float(abs(rest.values[f"reaction_{name}"]).max(initial=0.0)) for name in ("force", "moment")}
    for body, reaction in rest.reactions.items():
        force, moment = ((x if abs(x) > ROUND_OFF * largest[name] else 0.0 for x in getattr(reaction, name)) for name in largest)
        table.add_row(plain(body), *(f"{x:.5g}" for x in (*force, *moment)))
    for column in table.columns[1:]:
        column.justify = "right"
    console.print(table)
    if rest.contacts:
        table = Table("contact", "state", "gap", "force", title="contacts", title_justify="left", box=None)
        turning = {pair.name: pair.units for pair in coordinate_pairs(rest.system)}
        for pair, contact in rest.contacts.items():
            metre, newton = turning.get(pair, ("m", "N"))
            told = shown_number(contact.gap, metre, shown, 4), f"{contact.force:.5g} {newton}"
            table.add_row(plain(pair), "closed" if contact.closed else "open", *told)
        console.print(table)
    for sentence in rest.warnings:
        say(f"warning: {sentence}")
