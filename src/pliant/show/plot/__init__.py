"""Plots. Most functions take a Result; `series` takes several; `law` and `shapes` take parts of a model; `sweep` takes a sweep's
Dataset; `mode_shape`, `bode` and `campbell` take analysis results.

All of them return a matplotlib Figure; none opens a window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.host.atomic_files import atomic_write
from pliant.show.plot.bode import bode
from pliant.show.plot.campbell import campbell
from pliant.show.plot.contact_forces import contact_forces
from pliant.show.plot.curves import write_curves
from pliant.show.plot.energy import balance_error, energies, ledger
from pliant.show.plot.friction import friction
from pliant.show.plot.laws import law, laws_of
from pliant.show.plot.loads import motors, reactions, struts
from pliant.show.plot.mechanism import mechanism, paths
from pliant.show.plot.mode_shape import mode_shape
from pliant.show.plot.over_time import coordinates, states, tip_deflection
from pliant.show.plot.overview import overview
from pliant.show.plot.phase_portrait import phase_portrait
from pliant.show.plot.sections import force_envelope, stress_envelope
from pliant.show.plot.series import series
from pliant.show.plot.shapes import beams_of, shapes
from pliant.show.plot.spectrum import spectrum
from pliant.show.plot.sweeps import SWEEP_PLOTS, sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pliant.model.system import System

PLOTS: dict[str, Callable[..., Figure]] = {
    draw.__name__: draw
    for draw in (overview, mechanism, paths, coordinates, states, tip_deflection, contact_forces, ledger, energies, balance_error,
                 phase_portrait, spectrum, stress_envelope, force_envelope, reactions, struts, motors, friction, series)
}  # fmt: skip

# Plots of parts of a model, with the function that gives those parts of a System by name.
MODEL_PLOTS: dict[str, tuple[Callable[..., Figure], Callable[[System], Mapping[str, Any]]]] = {
    "law": (law, laws_of),
    "shapes": (shapes, beams_of),
}


def save(figure: Figure, target: str | Path) -> None:
    """Write a picture, or its curves as a table (.csv); the file appears complete or not at all."""
    if Path(target).suffix == ".csv":
        write_curves(figure, target)
        return
    with atomic_write(target) as draft, _laid_out(figure):
        figure.savefig(draft, format=draft.suffix[1:] or "png")


@contextmanager
def _laid_out(figure: Figure) -> Iterator[None]:
    """Compute the layout beforehand; otherwise matplotlib draws the figure twice, the first time only for the layout."""
    import matplotlib as mpl

    engine = figure.get_layout_engine()
    if engine is None or mpl.rcParams["savefig.dpi"] != "figure":  # another resolution would change the layout
        yield
        return
    engine.execute(figure)
    with mpl.rc_context({"figure.autolayout": False, "figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)
    try:
        yield
    finally:
        figure.set_layout_engine(engine)


__all__ = [
    "MODEL_PLOTS",
    "PLOTS",
    "SWEEP_PLOTS",
    "balance_error",
    "bode",
    "campbell",
    "contact_forces",
    "coordinates",
    "energies",
    "force_envelope",
    "friction",
    "law",
    "ledger",
    "mechanism",
    "mode_shape",
    "motors",
    "overview",
    "paths",
    "phase_portrait",
    "reactions",
    "save",
    "series",
    "shapes",
    "spectrum",
    "states",
    "stress_envelope",
    "struts",
    "sweep",
    "tip_deflection",
]
