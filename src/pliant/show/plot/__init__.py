"""Pictures: each function takes a Result, `sweep` takes a sweep's Dataset; all return a matplotlib Figure, none opens on screen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pliant.host.atomic_files import atomic_write
from pliant.show.plot.contact_forces import contact_forces
from pliant.show.plot.energy import balance_error, energies, ledger
from pliant.show.plot.mechanism import mechanism, paths
from pliant.show.plot.over_time import coordinates, tip_deflection
from pliant.show.plot.overview import overview
from pliant.show.plot.phase_portrait import phase_portrait
from pliant.show.plot.spectrum import spectrum
from pliant.show.plot.sweeps import SWEEP_PLOTS, sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLOTS: dict[str, Callable[..., Figure]] = {
    draw.__name__: draw
    for draw in (overview, mechanism, paths, coordinates, tip_deflection, contact_forces, ledger, energies, balance_error,
                 phase_portrait, spectrum)
}  # fmt: skip


def save(figure: Figure, target: str | Path) -> None:
    """Write a picture; the file appears whole or not at all."""
    with atomic_write(target) as draft:
        figure.savefig(draft, format=draft.suffix[1:] or "png")


__all__ = [
    "PLOTS",
    "SWEEP_PLOTS",
    "balance_error",
    "contact_forces",
    "coordinates",
    "energies",
    "ledger",
    "mechanism",
    "overview",
    "paths",
    "phase_portrait",
    "save",
    "spectrum",
    "sweep",
    "tip_deflection",
]
