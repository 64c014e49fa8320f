"""Envelopes along beams: the ranges of stresses and section forces over the whole run.

A failed run may end in rows of nan, which are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.results.result import Result
from pliant.results.sections import FORCES, STRESSES
from pliant.results.shown_units import ShownUnits, shown_unit
from pliant.show.plot.style import ALARM, PALETTE, QUIET, Size, entitle, figure, legend, prefixed, styled

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

ACROSS = 3  # panels in a row
WORDS = {"axial_force": "axial force", "shear_force_y": "shear force y", "shear_force_z": "shear force z", "torsion": "torsion",
         "bending_moment_y": "bending moment y", "bending_moment_z": "bending moment z"}  # fmt: skip
VISIBLE = 1e-9  # fraction of the largest force of its kind: anything smaller is round-off


@styled
def stress_envelope(result: Result, bodies: Sequence[str] | None = None, *, ax: Any = None, figsize: Size = None) -> Figure:
    """Stress envelope along every beam: the range of normal stress over the run, and the largest equivalent stress.

    The result must hold stresses: `result.with_sections(pl.stresses(result))`.
    """
    sections = _sections(result, STRESSES, "stress_envelope")
    beams = _beams(sections, bodies, "stress_envelope")
    made, panels = _grid(len(beams), ax, figsize)
    factor, unit = prefixed("Pa", [sections[name].sel(beam=beams).values for name in STRESSES])
    for panel, name in zip(panels, beams, strict=False):
        beam = sections.sel(beam=name)
        x, words = _places(beam, result.shown_units)
        largest, smallest, equivalent = (beam[quantity].values / factor for quantity in STRESSES)
        _band(panel, x, np.fmin.reduce(smallest), np.fmax.reduce(largest), PALETTE[0], "normal stress")
        panel.plot(x, np.fmax.reduce(equivalent), color=ALARM, label="largest equivalent stress")
        row, station = np.unravel_index(int(np.argmax(np.nan_to_num(equivalent))), equivalent.shape)
        peak = f"{equivalent[row, station]:.4g} {unit} at {result.time[row]:.4g} s"
        panel.plot(x[station], equivalent[row, station], "o", markersize=4, color=ALARM, label=peak)
        panel.set(title=name, xlabel=words, ylabel=f"stress, {unit}")
        panel.legend(loc="best", fontsize="small")
    entitle(made, panels, f"{result.name}: stresses over the run", ax)
    return made


@styled
def force_envelope(
    result: Result,
    forces: Sequence[str] | None = None,
    bodies: Sequence[str] | None = None,
    *,
    ax: Any = None,
    figsize: Size = None,
) -> Figure:
    """Section-force envelope along every beam: the range over the run, one panel per kind of force.

    forces: by name, as in `bending_moment_z`. The result must hold them: `result.with_sections(pl.section_forces(result))`.
    """
    sections = _sections(result, FORCES, "force_envelope")
    beams = _beams(sections, bodies, "force_envelope")
    chosen = _kinds(sections.sel(beam=beams), forces)
    made, panels = _grid(len(chosen), ax, figsize)
    for panel, name in zip(panels, chosen, strict=False):
        factor, unit = prefixed(sections[name].attrs["units"], [sections[name].sel(beam=beams).values])
        for k, label in enumerate(beams):
            beam = sections.sel(beam=label)
            values, (x, words) = beam[name].values / factor, _places(beam, result.shown_units)
            _band(panel, x, np.fmin.reduce(values), np.fmax.reduce(values), PALETTE[k % len(PALETTE)], label)
        panel.set(title=WORDS[name], xlabel=words, ylabel=f"{WORDS[name]}, {unit}")
    legend(panels[min(ACROSS, len(chosen)) - 1])
    entitle(made, panels, f"{result.name}: section forces over the run", ax)
    return made


def _places(beam: xarray.Dataset, shown: ShownUnits) -> tuple[Floats, str]:
    """The positions of stations and their unit; fractions of the length if any length changes during the run."""
    if beam["x"].ndim == 1:
        size, unit = shown_unit("m", shown)
        return beam["x"].values / size, f"distance from the root, {unit}"
    return beam["station"].values, "part of the (free) length"


def _band(panel: Any, x: Floats, low: Floats, high: Floats, colour: str, label: str) -> None:
    panel.axhline(0.0, color=QUIET, linewidth=0.8)
    panel.fill_between(x, low, high, color=colour, alpha=0.25, linewidth=0.0, label=label)
    for edge in (low, high):
        panel.plot(x, edge, color=colour, linewidth=0.9)


def _grid(count: int, ax: Any, figsize: Size) -> tuple[Figure, list[Any]]:
    across = min(ACROSS, count)
    made, panels = figure(-(-count // across), across, height=3.0, width=max(3.6 * across, 5.0), ax=ax, figsize=figsize)
    for panel in list(panels.flat)[count:]:
        panel.remove()
    return made, list(panels.flat)[:count]


def _sections(result: Result, needed: Sequence[str], plot: str) -> xarray.Dataset:
    sections = result.sections
    if sections is None or any(name not in sections for name in needed):
        function = "stresses" if needed is STRESSES else "section_forces"
        rule = f"must contain {', '.join(needed)}, as result.with_sections(pl.{function}(result)) does"
        raise ModelError.of(f"plot {plot}", "result", rule, result.name)
    return sections


def _beams(sections: xarray.Dataset, bodies: Sequence[str] | None, plot: str) -> list[str]:
    known = [str(name) for name in sections["beam"].values]
    for name in bodies or ():
        if name not in known:
            raise ModelError.of(f"plot {plot}", "bodies", f"must be among {known}", name)
    return known if bodies is None else list(bodies)


def _kinds(sections: xarray.Dataset, forces: Sequence[str] | None) -> list[str]:
    """The requested forces, or all that exceed round-off."""
    for name in forces or ():
        if name not in FORCES:
            raise ModelError.of("plot force_envelope", "forces", f"must be among {list(FORCES)}", name)
    if forces is not None:
        return list(forces)
    sizes = {name: float(np.nanmax(np.abs(np.nan_to_num(sections[name].values)))) for name in FORCES}
    kinds = (FORCES[:3], FORCES[3:])
    largest = {name: max(sizes[other] for other in kind) for kind in kinds for name in kind}
    return [name for name in FORCES if sizes[name] > VISIBLE * largest[name]] or [FORCES[-1]]
