"""The shapes of a beam's modes, and their slopes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.beams.shapes import Shapes, beam_shapes
from pliant.beams.telescopic import unit_beam
from pliant.errors import ModelError
from pliant.model.beam import Beam
from pliant.model.telescopic import TelescopicBeam
from pliant.show.plot.style import MOST_LINES, QUIET, Size, entitle, figure, legend, look, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pliant.model.system import System

AnyBeam = Beam | TelescopicBeam
STATIONS = 401
AXIS = {"axial": 0, "y": 1, "z": 2}
TURN = {"y": (2, 1.0), "z": (1, -1.0), "torsion": (0, 1.0)}  # the axis about which a section turns, and the sign of the slope
WORDS = {"axial": "displacement along x", "y": "displacement along y", "z": "displacement along z"}


@styled
def shapes(beams: AnyBeam | Mapping[str, AnyBeam], *, ax: Any = None, figsize: Size = None) -> Figure:
    """Mode shapes of a beam as the model uses them, and the rotation of its sections; dashed: the slope, where shear parts them.

    beams: one beam, or several by name, each in a row of its own. A column of panels for displacements, one for rotations.
    """
    named = dict(beams) if isinstance(beams, Mapping) else {"": beams}
    if not named or not all(isinstance(beam, (Beam, TelescopicBeam)) for beam in named.values()):
        raise ModelError.of("plot shapes", "beams", "must be a beam, or beams by name", beams)
    rows = [
        (name, beam, beam_shapes(unit_beam(beam) if isinstance(beam, TelescopicBeam) else beam)) for name, beam in named.items()
    ]
    each = [(name, beam, field, direction) for name, beam, field in rows for direction in dict.fromkeys(field.directions)]
    if not each:
        raise ModelError.of("plot shapes", "beams", "must have modes", list(named))
    made, panels = figure(len(each), 2, width=9.5, height=2.6, ax=ax, figsize=figsize, sharex="row")
    for row, (name, beam, field, direction) in zip(panels, each, strict=True):
        length = 1.0 if isinstance(beam, TelescopicBeam) else float(beam.length)
        _draw(row, field, direction, length)
        row[0].set_title(f"{name}: {direction}" if name else direction)
        for panel in row:
            panel.set_xlabel("part of the free length, 1" if isinstance(beam, TelescopicBeam) else "distance from the root, m")
    entitle(made, list(panels.flat), "mode shapes", ax)
    return made


def _draw(row: Any, field: Shapes, direction: str, length: float) -> None:
    x = np.linspace(0.0, length, STATIONS)
    modes = [j for j, own in enumerate(field.directions) if own == direction][:MOST_LINES]
    moves, turns, slopes = field.displacement(x), field.rotation(x), field.displacement(x, 1)
    for k, j in enumerate(modes):
        if direction in AXIS:
            row[0].plot(x, moves[:, AXIS[direction], j], label=field.labels[j], **look(k))
        if direction in TURN:
            axis, sign = TURN[direction]
            turn = sign * turns[:, axis, j]
            row[1].plot(x, turn, label=field.labels[j], **look(k))
            if direction in AXIS and np.max(np.abs(slopes[:, AXIS[direction], j] - turn)) > 1e-3 * np.max(np.abs(turn)):
                row[1].plot(x, slopes[:, AXIS[direction], j], "--", color=look(k)["color"], linewidth=0.9)
    row[0].set_ylabel(f"{WORDS.get(direction, 'displacement')}, 1")
    row[1].set_ylabel("rotation, 1/m" if direction != "torsion" else "rotation, 1")
    for panel in row:
        panel.axhline(0.0, color=QUIET, linewidth=0.8)
        panel.axis("on" if len(panel.lines) > 1 else "off")  # twisting does not move, stretching does not turn
    legend(row[1] if direction in TURN else row[0])


def beams_of(system: System) -> dict[str, AnyBeam]:
    """The beams of a System that have modes; those equal to an earlier one are left out."""
    found = {link.name: link.body for link in system.links.values() if isinstance(link.body, (Beam, TelescopicBeam))}
    first = {repr(beam): name for name, beam in reversed(found.items())}
    return {name: beam for name, beam in found.items() if first[repr(beam)] == name}
