"""The program pliant: its commands, each with an example in its help, exit codes and --version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from pliant.cli.animate import animate
from pliant.cli.check import check
from pliant.cli.equations import equations
from pliant.cli.equilibrium import equilibrium
from pliant.cli.exits import EXIT_CODES, ending
from pliant.cli.export import export
from pliant.cli.fit import fit
from pliant.cli.fmu import fmu
from pliant.cli.info import info
from pliant.cli.modes import modes
from pliant.cli.new import new
from pliant.cli.page import page, serve
from pliant.cli.plot import plot
from pliant.cli.reproduce import reproduce
from pliant.cli.run import run
from pliant.cli.schema import schema
from pliant.cli.sweep import sweep
from pliant.version import VERSION

# Every command, with an example for its help.
COMMANDS: dict[Callable[..., None], str] = {
    new: "pliant new four-bar",
    check: "pliant check arm.yaml",
    run: "pliant run arm.yaml --out arm.nc --plot arm.png",
    sweep: "pliant sweep arm.yaml --over payload=0.1:1.0:20 --out arm-sweep --workers 4",
    equilibrium: "pliant equilibrium arm.yaml --out rest.nc",
    modes: "pliant modes arm.yaml --plot shapes.png",
    fit: "pliant fit arm.yaml --data measured.csv --free damping,mu --out arm-fit",
    info: "pliant info arm.nc",
    export: "pliant export arm.nc --out arm.csv --columns arm.angle,normal_force",
    plot: "pliant plot arm.nc --kind ledger --out ledger.png",
    animate: "pliant animate arm.nc --html arm.html",
    page: "pliant page arm.yaml --out arm.html --sliders payload=0.1:1.0,arm.angle",
    serve: "pliant serve arm.yaml",
    fmu: "pliant fmu arm.yaml --kind model-exchange --out arm.fmu",
    reproduce: "pliant reproduce falling-chain --out chain",
    equations: "pliant equations arm.yaml --form c --out arm.c",
    schema: "pliant schema --out pliant.schema.json",
}
CODES = "; ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items())

app = typer.Typer(
    help="Flexible multibody dynamics: mechanisms whose links bend and whose parts hit things.",
    epilog=f"Exit codes: {CODES}.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


@app.callback(invoke_without_command=True)
def main(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        typer.echo(f"pliant {VERSION}")
        raise typer.Exit()


for command, example in COMMANDS.items():
    app.command(epilog=f"Example: [bold]{example}[/bold]")(ending(command))
