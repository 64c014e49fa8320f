"""The options --steady and --hold, for commands that search for an equilibrium: coordinates that move steadily, or are held."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from pliant.cli.exits import WRONG, stop
from pliant.cli.options import read_settings

Steady = Annotated[
    list[str] | None,
    typer.Option("--steady", metavar="COORDINATE=RATE", help="A joint that turns or slides steadily, SI; may be repeated."),
]

Hold = Annotated[
    list[str] | None,
    typer.Option("--hold", metavar="COORDINATE=POSITION[unit]", help="A joint held in place: arm.angle=-60deg; may be repeated."),
]


def read_steady(given: Sequence[str] | None) -> dict[str, float]:
    """Read shaft.angle=100 as a name and a rate."""
    rates: dict[str, float] = {}
    for name, text in read_settings(given or (), "--steady").items():
        try:
            rates[name] = float(text)
        except ValueError:
            stop(WRONG, f"--steady: must be COORDINATE=RATE with a number in rad/s or m/s, got {name}={text!r}")
    return rates
