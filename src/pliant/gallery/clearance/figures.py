"""Orbits, accelerations, moments, Poincare maps, convergence and the guided slider."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.gallery.clearance import system as paper
from pliant.gallery.clearance.claims import STRONG, Study
from pliant.gallery.clearance.runs import SETTLED, Run
from pliant.gallery.clearance.system import CLEARANCES, FRICTION, TURN
from pliant.gallery.reproduction import Table, label, panels, schematic, shared_legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#00408a", "#4a9b7f", "#d1495b")
TURNS, SHOWN = "turns of the crank", 2  # turns of every curve
TABLE_1 = Table(("quantity", "bearing", "guide", "unit"), (
    ("crank", paper.CRANK, paper.GUIDED_CRANK, "m"), ("rod", paper.ROD, paper.GUIDED_ROD, "m"),
    ("mass of the crank", paper.CRANK_MASS, paper.GUIDED_MASSES[0], "kg"),
    ("mass of the rod", paper.ROD_MASS, paper.GUIDED_MASSES[1], "kg"),
    ("mass of the slider", paper.SLIDER_MASS, paper.GUIDED_MASSES[2], "kg"),
    ("inertia of the crank", paper.CRANK_INERTIA, paper.GUIDED_INERTIAS[0], "kg m^2"),
    ("inertia of the rod", paper.ROD_INERTIA, paper.GUIDED_INERTIAS[1], "kg m^2"),
    ("speed of the crank", paper.SPEED, paper.GUIDED_RATES[0], "rad/s"),
    ("restitution", paper.RESTITUTION, paper.GUIDED_RESTITUTION, "1"),
    ("friction", f"0, {FRICTION:g}, {STRONG:g}", paper.GUIDED_FRICTION, "1"),
    ("clearance", ", ".join(f"{1e3 * c:g}" for c in CLEARANCES), 1e3 * paper.GUIDE_PLAY, "mm"),
))  # fmt: skip


def figures(study: Study) -> Mapping[str, Callable[[], Figure] | Table]:
    """Functions that draw, by name."""
    return {
        "mechanism": schematic(study.guided["impulsive"]),
        "orbits": partial(_orbits, study),
        "accelerations": partial(_curves, study, "slider's acceleration, km/s$^2$", _acceleration),
        "moments": partial(_curves, study, "crank's moment, kN m", _moment),
        "friction": partial(_forces, (study.smooth, "no friction", COLOURS[2]), (study.rubbed, f"mu = {FRICTION:g}", COLOURS[1]),
                            (study.braked, f"mu = {STRONG:g}", COLOURS[0])),
        "elastic": partial(_forces, (study.smooth, "rigid rod", COLOURS[2]), (study.elastic, "elastic rod", COLOURS[0])),
        "maps": partial(_maps, study),
        "convergence": partial(_convergence, study),
        "guide": partial(_guide, study),
        "table1": TABLE_1,
    }  # fmt: skip


def _acceleration(run: Run) -> Any:
    return 1e-3 * run.result["a", "slider.displacement"]


def _moment(run: Run) -> Any:
    return 1e-3 * run.result.values["effort"][:, 0]


def _force(run: Run) -> Any:
    return 1e-3 * run.force


def _shown(run: Run) -> tuple[Any, Any]:
    """Rows that are drawn, and their turns."""
    turns = run.result.time / TURN - SETTLED
    rows = (turns >= 0.0) & (turns <= SHOWN)
    return rows, turns[rows]


def _name(clearance: float) -> str:
    return f"{1e3 * clearance:g} mm"


def _orbits(study: Study) -> Figure:
    figure, axes = panels(2, 3, width=10.0, height=3.3)
    turn = np.linspace(0.0, 2.0 * np.pi, 181)
    for row, (runs, words) in zip(axes, ((study.smooth, "no friction"), (study.braked, f"mu = {STRONG:g}")), strict=True):
        for panel, clearance, colour in zip(row, CLEARANCES, COLOURS, strict=True):
            panel.plot(np.cos(turn), np.sin(turn), color="black", linewidth=0.8)
            panel.plot(*runs[clearance].orbit.T, color=colour, linewidth=0.5)
            panel.set_aspect("equal")
            label(panel, f"{_name(clearance)}, {words}", "x / clearance", "y / clearance")
    return figure


def _curves(study: Study, unit: str, of: Callable[[Run], Any]) -> Figure:
    figure, axes = panels(3, 1, height=1.9, sharex=True)
    ideal = Run(study.smooth[CLEARANCES[0]].case, study.ideal, study.ideal)
    for panel, clearance, colour in zip(axes[:, 0], CLEARANCES, COLOURS, strict=True):
        rows, turns = _shown(study.smooth[clearance])
        panel.plot(turns, of(study.smooth[clearance])[rows], color=colour, linewidth=0.8)
        for k in range(SHOWN):
            panel.plot(ideal.result.time / TURN + k, of(ideal), color="black", linewidth=0.8)
        label(panel, _name(clearance), TURNS if panel is axes[-1, 0] else "", unit if panel is axes[1, 0] else "")
    return figure


def _forces(*sets: tuple[Mapping[float, Run], str, str]) -> Figure:
    """The force of the bearing: runs by clearance, with what they are called and drawn in."""
    figure, axes = panels(3, 1, height=1.9, sharex=True)
    for panel, clearance in zip(axes[:, 0], CLEARANCES, strict=True):
        for runs, words, colour in sets:
            rows, turns = _shown(runs[clearance])
            panel.plot(turns, _force(runs[clearance])[rows], color=colour, linewidth=0.8, label=words)
        label(panel, _name(clearance), TURNS if panel is axes[-1, 0] else "", "force, kN")
    shared_legend(figure, axes[0, 0])
    return figure


def _maps(study: Study) -> Figure:
    figure, axes = panels(1, len(study.maps), height=3.6)
    for panel, (friction, points) in zip(axes[0], study.maps.items(), strict=True):
        panel.plot(*points.T, "o", color=COLOURS[2 if friction == 0.0 else 0], markersize=3.5)
        panel.set_xlim(-1.3, 1.3)
        panel.set_ylim(-4.0, 4.0)
        label(panel, f"{_name(CLEARANCES[-1])}, mu = {friction:g}", "journal along the guide / clearance", "slider's speed, m/s")
    return figure


def _convergence(study: Study) -> Figure:
    figure, axes = panels(1, 1, height=3.4)
    for (rtol, apart), colour in zip(study.convergence.apart.items(), COLOURS[::-1], strict=True):
        axes[0, 0].semilogy(study.convergence.time, np.maximum(apart, 1e-14), color=colour, label=f"rtol = {rtol:g}")
    label(axes[0, 0], "", TURNS, "distance from a tight run / clearance")
    axes[0, 0].legend()
    return figure


def _guide(study: Study) -> Figure:
    """The slider's middle across the guide, and the crank's speed."""
    figure, axes = panels(2, 1, height=2.3, sharex=True)
    for (name, run), colour in zip(study.guided.items(), (COLOURS[0], COLOURS[2]), strict=True):
        axes[0, 0].plot(run.time, 1e3 * run.of_body("root_position", "slider")[:, 1], color=colour, label=f"{name} contact")
        axes[1, 0].plot(run.time, run["v", "crank.angle"], color=colour)
    label(axes[0, 0], "", "", "slider across the guide, mm")
    label(axes[1, 0], "", "time, s", "crank, rad/s")
    shared_legend(figure, axes[0, 0])
    return figure
