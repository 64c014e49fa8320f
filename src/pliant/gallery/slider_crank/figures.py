"""Figures 1 to 8 and table 1 of Ebrahimi, Nouri and Salahshoor; and that the double hit is an artefact of the mesh."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats, Truths
from pliant.gallery.reproduction import Table, by_method, label, panels, schematic, shared_legend
from pliant.gallery.slider_crank import system as paper
from pliant.gallery.slider_crank.claims import Study
from pliant.gallery.slider_crank.runs import TURN, Run
from pliant.gallery.slider_crank.system import RESTITUTION, SLIDER_MASS, SPHERE, STEEL, TOUCH, slider_crank
from pliant.model.hertz import hertz_stiffness
from pliant.model.normal_law import Hertz
from pliant.results.result import Result
from pliant.show import plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TIME, MILLISECONDS = "time, s", "time, ms"
STYLES: dict[str, dict[str, Any]] = {
    "undamped": {"color": "#d1495b", "linewidth": 0.9},
    "damped": {"color": "#00408a", "linewidth": 1.3},
    "rigid rod": {"color": "grey", "linewidth": 0.9, "linestyle": ":"},
}
BENT, FIG_1_SCALE = 0.05, 3.0  # s, and times the deformation, of fig. 1
TABLE_1 = Table(("quantity", "value", "unit"), (
    ("crank", paper.CRANK, "m"), ("rod", paper.ROD, "m"), ("radius of both", paper.RADIUS, "m"),
    ("density", STEEL.density, "kg/m^3"), ("E", STEEL.E, "Pa"), ("slider", SLIDER_MASS, "kg"),
    ("radius of the spheres", SPHERE, "m"), ("obstacle at", paper.OBSTACLE, "m"), ("restitution", RESTITUTION, "1"),
    ("damping ratios", paper.RATIOS, "1"), ("initial angle", paper.START, "rad"), ("initial speed", paper.SPEED, "rad/s"),
))  # fmt: skip
MATERIAL_COLOURS = {"steel": "#00408a", "copper": "#c8691c", "aluminium": "#4a9b7f"}
ZOOM = (0.0367, 0.0371)  # s, the double hit
ZOOM_ELEMENTS = (0.03675, 0.03725)  # s, all meshes
WIDE = (0.0364, 0.0373)  # s, the impacts of all rods


def figures(study: Study, methods: Mapping[str, Result]) -> Mapping[str, Callable[[], Figure] | Table]:
    """Functions that draw, by name; numbers are the paper's."""
    one = study.undamped[1]
    return {
        "fig01": schematic(one.result, BENT, scale=FIG_1_SCALE),
        "fig02": partial(_spheres, one.contacts[0].entry_speed),
        "fig03": schematic(one.result),
        "fig04": partial(_motion, study, lambda run: run.slider_x, "slider position, m", TOUCH),
        "fig05": partial(_motion, study, lambda run: run.slider_v, "slider velocity, m/s"),
        "fig06": partial(_motion, study, lambda run: 1e3 * run.v_mid, "mid-point deflection, mm"),
        "fig07": partial(_energy_loss, study),
        "fig08": partial(_materials, study),
        "elements": partial(_elements, study),
        "methods": by_method(one.result, methods, "crank.angle", "rod.y1", "rod.axial1"),
        "table1": TABLE_1,
    }


def _spheres(speed: float) -> Figure:
    """Fig. 2: the force between the two spheres over their overlap, in the first impact, of the slider alone."""
    (pair,) = slider_crank().contacts.values()
    elastic = Hertz(stiffness=hertz_stiffness(SPHERE, STEEL, SPHERE, STEEL))
    laws = {f"Lankarani-Nikravesh, {RESTITUTION:g} asked": pair.normal, "Hertz": elastic}
    return plot.law(laws, speed=speed, mass=SLIDER_MASS)


def _compared(study: Study) -> dict[str, Run]:
    return {"undamped": study.undamped[1], "damped": study.damped[1], "rigid rod": study.rigid}


def _part(run: Run, span: tuple[float, float]) -> Truths:
    return np.asarray((run.time >= span[0]) & (run.time <= span[1]))


def _motion(study: Study, of: Callable[[Run], Floats], unit: str, obstacle: float | None = None) -> Figure:
    """The paper's two runs and a rigid rod: the whole run on the left, the impact on the right."""
    figure, axes = panels(1, 2, height=3.6, width_ratios=(1.6, 1.0))
    whole, near = axes[0]
    for name, run in _compared(study).items():
        whole.plot(run.time, of(run), label=name, **STYLES[name])
        rows = _part(run, WIDE)
        near.plot(1e3 * run.time[rows], of(run)[rows], **STYLES[name])
    whole.axvspan(*WIDE, color="grey", alpha=0.3)
    if obstacle is not None:
        for panel in (whole, near):
            panel.axhline(obstacle, color="black", linewidth=0.8, label="obstacle" if panel is whole else None)
    near.set_xlim(1e3 * WIDE[0], 1e3 * WIDE[1])
    label(whole, "one element", TIME, unit)
    label(near, "the first impact", MILLISECONDS)
    shared_legend(figure, whole)
    return figure


def _energy_loss(study: Study) -> Figure:
    """Fig. 7 with its zoom: E(0) minus the kinetic and strain energy; the parts of this loss are dashed and dotted."""
    figure, axes = panels(1, 2, height=3.8, width_ratios=(1.3, 1.0))
    whole, near = axes[0]
    for name, run in list(_compared(study).items())[:2]:
        rows = _part(run, ZOOM)
        for panel, time, chosen in ((whole, run.time, slice(None)), (near, 1e3 * run.time[rows], rows)):
            panel.plot(time, run.loss[chosen], label=f"{name}: lost", **STYLES[name])
            thin = {**STYLES[name], "linewidth": 1.0, "alpha": 0.8}
            panel.plot(time, run.contact_loss[chosen], label=f"{name}: taken by the contact", **{**thin, "linestyle": "--"})
            if np.any(run.rayleigh_loss):
                panel.plot(time, run.rayleigh_loss[chosen], label=f"{name}: taken in the rod", **{**thin, "linestyle": ":"})
    whole.axvspan(*ZOOM, color="grey", alpha=0.3)
    near.set_xlim(1e3 * ZOOM[0], 1e3 * ZOOM[1])
    label(whole, f"of {study.undamped[1].kinetic[0]:.4f} J at the start", TIME, "energy lost, J")
    label(near, "the impact: what the contact holds comes back", MILLISECONDS)
    shared_legend(figure, whole)
    return figure


def _materials(study: Study) -> Figure:
    """Fig. 8, and the transients on a logarithmic axis, where equal decay rates would be parallel lines."""
    figure, axes = panels(1, 2, height=3.6, width_ratios=(1.4, 1.0))
    whole, near = axes[0]
    for name, run in study.driven.items():
        shown = run.time <= 2.0 * TURN
        whole.plot(run.time[shown], 1e3 * run.v_mid[shown], color=MATERIAL_COLOURS[name], linewidth=1.1, label=name)
        when, rest = run.transient
        first = when < TURN
        near.semilogy(when[first], np.abs(1e3 * rest[first]), color=MATERIAL_COLOURS[name], linewidth=0.7)
        size = 1e3 * float(np.max(np.abs(rest[first])))
        near.semilogy(when[first], size * np.exp(-run.decay_rate * when[first]), "--", color=MATERIAL_COLOURS[name],
                      linewidth=1.2, label=f"{name}, {run.decay_rate:.1f} 1/s")  # fmt: skip
    near.set_ylim(1e-3, 2e1)
    label(whole, "crank at 150 rad/s, one damped element", TIME, "mid-point deflection, mm")
    label(near, "first turn less the steady motion", TIME, "size, mm")
    whole.legend(fontsize="small", loc="upper right")
    near.legend(fontsize="small", loc="upper right")
    return figure


def _elements(study: Study) -> Figure:
    """The contact force with finer rods: two hits with one element, one with more."""
    figure, axes = panels(1, 2, height=3.4, sharex=True, sharey=True)
    for panel, (name, runs) in zip(axes[0], (("undamped", study.undamped), ("damped", study.damped)), strict=True):
        for k, (n, run) in enumerate(runs.items()):
            rows = _part(run, ZOOM_ELEMENTS)
            hits, peak = len(run.first_impact), 1e-3 * run.first_impact[0].peak_force
            name_of = f"{n} element{'s' if n > 1 else ''}, {hits} hit{'s' if hits > 1 else ''}, {peak:.1f} kN"
            panel.plot(1e3 * run.time[rows], 1e-3 * run.force[rows], color=f"C{k}", linewidth=1.2, label=name_of)
        label(panel, name, MILLISECONDS, "contact force, kN" if panel is axes[0, 0] else "")
        panel.legend(fontsize="small", loc="upper right")
    return figure
