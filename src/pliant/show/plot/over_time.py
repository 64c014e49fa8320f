"""Coordinates and deflections over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.results.result import Result
from pliant.show.plot.style import Size, column, lines, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CONTACT_FORCE = "contact force"  # a title
VISIBLE = 1e-6  # fraction of the largest deflection: anything smaller is round-off


@styled
def coordinates(result: Result, names: Sequence[str] | None = None, *, ax: Any = None, figsize: Size = None) -> Figure:
    """Coordinates over time, one panel per kind and unit: angles, displacements, modal coordinates."""
    groups = grouped(result, list(result.labels["coordinate"]) if names is None else list(names))
    figure, panels = column(len(groups), ax=ax, figsize=figsize)
    for panel, ((quantity, unit), group) in zip(panels, groups.items(), strict=True):
        lines(panel, result.time, [(name, result[name]) for name in group], quantity, unit, result.shown_units)
    panels[0].set_title(f"{result.name}: coordinates")
    return figure


@styled
def states(result: Result, names: Sequence[str] | None = None, *, ax: Any = None, figsize: Size = None) -> Figure:
    """States of the user's own over time, one panel each."""
    known = list(result.labels["state"])
    _check_names("states", "names", names, known)
    shown = known if names is None else list(names)
    if not shown:
        raise ModelError.of("plot states", "result", "must contain states of the user's own", result.name)
    figure, panels = column(len(shown), ax=ax, figsize=figsize)
    for panel, name in zip(panels, shown, strict=True):
        panel.plot(result.time, result[name])
        panel.set_ylabel(name)
    panels[0].set_title(f"{result.name}: states of its own")
    return figure


@styled
def tip_deflection(result: Result, bodies: Sequence[str] | None = None, *, ax: Any = None, figsize: Size = None) -> Figure:
    """Elastic displacement of every beam's tip, in the beam's axes: along and across the beam."""
    found = deflections(result, bodies)
    figure, panels = column(len(found), ax=ax, figsize=figsize)
    for panel, (axis, series) in zip(panels, found.items(), strict=True):
        lines(panel, result.time, series, f"deflection along {axis}", "m", result.shown_units)
    panels[0].set_title(f"{result.name}: elastic deflection of the tips, body axes")
    return figure


def plots_of(result: Result) -> Iterator[tuple[str, str, list[tuple[str, str, int]]]]:
    """Plots of a page besides energies: (title, unit, curves). Of a curve: its name, quantity, and place in a row of that."""
    coordinates = list(result.labels["coordinate"])
    for (quantity, unit), names in grouped(result, coordinates).items():
        yield f"{quantity}s", unit, [(name, "q", coordinates.index(name)) for name in names]
    if np.any(np.nan_to_num(result.values["tip_deflection"])):
        bodies, axes = list(result.labels["body"]), list(result.labels["axis"])
        found = deflections(result)
        yield "tip deflection, body axes", "m", [
            (f"{body} {axis}" if len(found) > 1 else body, "tip_deflection", bodies.index(body) * len(axes) + axes.index(axis))
            for axis, series in found.items() for body, _ in series]  # fmt: skip
    for title, quantity, dimension, unit in ((CONTACT_FORCE, "normal_force", "pair", "N"),
                                             ("effort of drives", "effort", "drive", "N m or N")):  # fmt: skip
        if result.labels[dimension]:
            yield title, unit, [(str(label), quantity, k) for k, label in enumerate(result.labels[dimension])]


def deflections(result: Result, bodies: Sequence[str] | None = None) -> dict[str, list[tuple[str, Floats]]]:
    """By axis, (body, tip deflection) of all bodies whose tip is deflected along that axis."""
    known = list(result.labels["body"])
    _check_names("tip_deflection", "bodies", bodies, known)
    values = np.nan_to_num(result.values["tip_deflection"], nan=0.0)  # a run that failed may end in nan
    least = VISIBLE * float(np.max(np.abs(values), initial=0.0))
    found: dict[str, list[tuple[str, Floats]]] = {}
    for k, axis in enumerate(result.labels["axis"]):
        for j, body in enumerate(known):
            wanted = body in bodies if bodies is not None else np.max(np.abs(values[:, j, k]), initial=0.0) > least
            if wanted:
                found.setdefault(axis, []).append((body, values[:, j, k]))
    if not found:
        rule = "must have a tip with a deflection (`coordinates` shows modal coordinates)"
        raise ModelError.of("plot tip_deflection", "result", rule, result.name)
    return found


def grouped(result: Result, names: Sequence[str]) -> dict[tuple[str, str], list[str]]:
    """Names of coordinates by (quantity, unit); each group shares one panel."""
    _check_names("coordinates", "names", names, result.labels["coordinate"])
    groups: dict[tuple[str, str], list[str]] = {}
    for name in names:
        groups.setdefault((_quantity(result, name), unit_of(result, name)), []).append(name)
    if not groups:
        raise ModelError.of("plot coordinates", "names", "must name at least one coordinate", list(names))
    return groups


def unit_of(result: Result, coordinate: str) -> str:
    """The unit of a coordinate: m, rad, or 1 for parts of a quaternion; 'm or rad' if an old file does not record it."""
    return "m or rad" if result.drawing is None else result.drawing.units[coordinate]


def is_mode(name: str) -> bool:
    """Whether a coordinate is the weight of a mode."""
    last = name.rsplit(".", 1)[1]
    return last.rstrip("0123456789") in ("y", "z", "axial", "torsion", "mode") and last[-1].isdigit()


def _quantity(result: Result, name: str) -> str:
    if is_mode(name):
        return "mode weight"
    return {"rad": "angle", "m": "displacement", "1": "quaternion"}.get(unit_of(result, name), "joint")


def _check_names(plot: str, field: str, names: Any, known: Sequence[str]) -> None:
    for name in names or ():
        if name not in known:
            raise ModelError.of(f"plot {plot}", field, f"must be among {list(known)}", name)
