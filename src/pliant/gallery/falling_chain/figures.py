"""Figures 1 to 14 and tables 1 to 3 of Yousefzadeh and Shafei 2024."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats
from pliant.gallery.falling_chain import system as paper
from pliant.gallery.falling_chain.claims import MEAN_ERROR, SENSITIVE, Study
from pliant.gallery.falling_chain.runs import PAPERS_RTOL, Run
from pliant.gallery.falling_chain.system import ENDS, FRICTION, LENGTH, MODE_SETS, V0, V1, link, shape
from pliant.gallery.reproduction import Table, by_method, label, panels, schematic, shared_legend
from pliant.model.friction_law import Ambrosio, BengisuAkay, Coulomb, CoulombStiction, CoulombViscous, Karnopp, Stribeck
from pliant.show import plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# O1 and O2 are wide and pale, their mirror images O4 and O3 thin and dashed on top, so that both are visible where they agree
STYLES: tuple[dict[str, Any], ...] = (
    {"color": "#7fb2e5", "linewidth": 2.6},
    {"color": "#f2b179", "linewidth": 2.6},
    {"color": "#a63d00", "linewidth": 0.9, "linestyle": "--"},
    {"color": "#00408a", "linewidth": 0.9, "linestyle": "--"},
)
FINE = 0.4  # factor on the widths above, for panels that show the vibration of a whole run
SNAPSHOT = 0.7  # s, fig. 4
MAGNIFIED = 20.0  # times, fig. 4
VIBRATION = (0.5, 0.6)  # s, the zoom of figs. 6 and 8 to 10
AROUND_IMPACT = 1.5e-3  # s shown before and after a cluster of touches
AROUND_TOUCHES = 4.0  # mm shown above the ground there
FLOOR = 1e-14  # % of energy, drawn instead of zero on the logarithmic axis
MIRROR_FLOOR = 1e-17  # m, the same
TIME = "time, s"

FALL = (0.0, 0.3, 0.43, 0.53, 0.7, 1.5)  # s, fig. 2
STATIC_FRICTION = (Coulomb(mu=0.1), CoulombStiction(mu_static=0.15, mu_kinetic=FRICTION, v_kinetic=5e-3),
                   CoulombViscous(mu=0.1, viscous=5.0), Stribeck(mu_static=0.15, mu_kinetic=FRICTION, v_stribeck=3e-3),
                   Karnopp(mu_static=0.15, mu_kinetic=FRICTION),
                   BengisuAkay(mu_static=0.15, mu_kinetic=FRICTION, v0=2e-3, xi=800.0),
                   Ambrosio(mu=FRICTION, v0=V0, v1=V1))  # fmt: skip
TABLE_3 = Table(("quantity", "value", "unit"), (
    ("length l", LENGTH, "m"), ("cross-section A", paper.AREA, "m^2"), ("mass per length mu", paper.MU, "kg/m"),
    ("second moment I", paper.INERTIA, "m^4"), ("rotary inertia J3", paper.ROTARY, "kg m"), ("E", paper.YOUNG, "Pa"),
    ("G", paper.SHEAR, "Pa"), ("shear factor k", paper.SHEAR_FACTOR, "1"), ("Kelvin-Voigt Kv", paper.VISCOSITY, "Pa s"),
    ("air gamma", paper.AIR, "kg/(m s)"), ("restitution", paper.RESTITUTION, "1"), ("K", paper.STIFFNESS, "N/m^1.5"),
    ("friction mu_k", FRICTION, "1"), ("v0", V0, "m/s"), ("v1", V1, "m/s"),
))  # fmt: skip

Line = tuple[str, Floats, dict[str, Any]]  # name, values, style


def figures(study: Study) -> Mapping[str, Callable[[], Figure] | Table]:
    """Functions that draw, by name."""
    runs = study.tight
    zoomed = partial(_with_zoom, runs)
    first = runs[MODE_SETS[0]].result
    return {
        "fig01": schematic(first),
        "fig02": lambda: plot.mechanism(first, times=FALL),
        "fig03": _mode_sets,
        "fig04": partial(_deformed_links, runs),
        "fig05": partial(_sideways, runs),
        "fig06": partial(zoomed, lambda run: _joints(run.positions[:, :, 1]), "X2 of the joints, m", _vibration),
        "fig07": partial(_touches, runs["ss-ss-ss"]),
        "fig08": partial(zoomed, lambda run: _joints(run.velocities[:, :, 0]), "velocity X1, m/s", _vibration, width=FINE),
        "fig09": partial(zoomed, lambda run: _joints(run.velocities[:, :, 1]), "velocity X2, m/s", _vibration, width=FINE),
        "fig10": partial(zoomed, _weights, "mode weight, mm", _vibration, width=FINE),
        "fig11": partial(zoomed, lambda run: _joints(1e-3 * run.normal_forces), "normal force, kN", _first_impact),
        "fig12": partial(zoomed, lambda run: _joints(run.friction_forces), "friction X1, N", _first_impact),
        "fig13": partial(_energies, runs),
        "fig14": partial(_energy_errors, study),
        "half": partial(_half, study),
        "methods": by_method(first, {f"RKF45, rtol {PAPERS_RTOL:g}": study.papers[MODE_SETS[0]].result}, "a.angle", "a.y1", "b.y1"),
        "table1": lambda: plot.law(STATIC_FRICTION, speed=8e-3),
        "table2": lambda: plot.shapes({ends: link(ends) for ends in ("ss", "cc", "sc", "cs")}),
        "table3": TABLE_3,
    }


def _mode_sets() -> Figure:
    """Fig. 3: the shapes of the three links in every set."""
    figure, axes = panels(2, 2, height=1.5, sharex=True, sharey=True)
    x = np.linspace(0.0, LENGTH, 101)
    for panel, name in zip(axes.flat, MODE_SETS, strict=True):
        for k, ends in enumerate(name.split("-")):
            panel.plot(k * LENGTH + x, np.asarray(shape(ends).w(x)), color=f"C{k}")
            panel.plot([k * LENGTH, (k + 1) * LENGTH], [0.0, 0.0], "o:", color="grey", markersize=4, linewidth=1.0)
        label(panel, name)
    _name_outer(axes, "along the three links, m", "W, 1")
    return figure


def _half(study: Study) -> Figure:
    """The set that loses its symmetry beside its half, which cannot; and how the asymmetry of all sets grows."""
    figure, axes = panels(1, 2, height=3.6)
    whole, half = study.tight[SENSITIVE], study.half
    _draw(axes[0, 0], whole.time, _joints(whole.positions[:, :, 1]))
    for k, end in enumerate(ENDS[:2]):
        style = {"color": ("#00408a", "#a63d00")[k], "markersize": 3.5, "markevery": 25, "linestyle": "none"}
        axes[0, 0].plot(half.result.time, half.heights[:, k], "o", label=f"{end}, half of the chain", **style)
    for name, run in study.tight.items():
        axes[0, 1].semilogy(run.time, np.maximum(run.mirror_error, MIRROR_FLOOR), linewidth=1.0, label=name)
    label(axes[0, 0], f"{SENSITIVE}: whole, and half symmetric by construction", TIME, "X2 of the joints, m")
    label(axes[0, 1], "largest mirror error of the joints", TIME, "m")
    for panel in axes[0]:
        panel.legend(fontsize="small")
    return figure


def _joints(values: Floats) -> list[Line]:
    """A quantity of O1 .. O4."""
    return [(name, values[:, k], style) for k, (name, style) in enumerate(zip(ENDS, STYLES, strict=True))]


def _weights(run: Run) -> list[Line]:
    """The mode weights, mm."""
    return [(f"δ{link}", 1e3 * run.weights(link), STYLES[k]) for link, k in ((1, 0), (2, 1), (3, 3))]


def _draw(axes: Any, time: Floats, lines: list[Line], width: float = 1.0) -> None:
    for name, values, style in lines:
        axes.plot(time, values, label=name, **{**style, "linewidth": width * style["linewidth"]})


def _with_zoom(
    runs: Mapping[str, Run],
    lines: Callable[[Run], list[Line]],
    unit: str,
    span: Callable[[Run], tuple[float, float]],
    width: float = 1.0,
) -> Figure:
    """One row per mode set: the whole run on the left, a part of it on the right."""
    figure, axes = panels(len(runs), 2, height=2.3, width_ratios=(1.5, 1.0))
    for row, (name, run) in zip(axes, runs.items(), strict=True):
        begin, end = span(run)
        _draw(row[0], run.time, lines(run), width)
        row[0].axvspan(begin, end, color="grey", alpha=0.2)
        _draw_part(row[1], run, lines(run), begin, end)
        label(row[0], name, y=unit)
        label(row[1], f"{name}, {1e3 * begin:.5g} to {1e3 * end:.5g} ms")
    axes[-1, 0].set_xlabel(TIME)
    axes[-1, 1].set_xlabel("time, ms")
    shared_legend(figure, axes[0, 1])
    return figure


def _draw_part(panel: Any, run: Run, lines: list[Line], begin: float, end: float) -> None:
    """The rows between two times, with the nearest row outside at either end; time in ms."""
    first, last = np.searchsorted(run.time, (begin, end))
    rows = slice(max(int(first) - 1, 0), int(last) + 1)
    _draw(panel, 1e3 * run.time[rows], [(name, values[rows], style) for name, values, style in lines])
    panel.set_xlim(1e3 * begin, 1e3 * end)
    panel.locator_params(axis="x", nbins=5, steps=(1, 2, 5, 10))


def _vibration(run: Run) -> tuple[float, float]:
    return VIBRATION


def _first_impact(run: Run) -> tuple[float, float]:
    return _span(run.clusters[0])


def _span(cluster: Any) -> tuple[float, float]:
    """From just before the first touch to just after the last, s."""
    ends = [record.begin if record.lasting else record.end for record, _ in cluster]
    return cluster[0][0].begin - AROUND_IMPACT, max(ends) + AROUND_IMPACT


def _sideways(runs: Mapping[str, Run]) -> Figure:
    """Fig. 5."""
    figure, axes = panels(2, 2, height=3.2, sharex=True, sharey=True)
    for panel, (name, run) in zip(axes.flat, runs.items(), strict=True):
        _draw(panel, run.time, _joints(run.positions[:, :, 0]))
        label(panel, name)
    _name_outer(axes, TIME, "X1 of the joints, m")
    shared_legend(figure, axes.flat[0])
    return figure


def _name_outer(axes: Any, x: str, y: str) -> None:
    """Axis names where panels share them."""
    for panel in axes[-1]:
        panel.set_xlabel(x)
    for panel in axes[:, 0]:
        panel.set_ylabel(y)


def _deformed_links(runs: Mapping[str, Run]) -> Figure:
    """Fig. 4: every link bent from its chord, magnified; the chords dotted."""
    figure, axes = panels(2, 2, height=1.9, sharex=True, sharey=True)
    x = np.linspace(0.0, LENGTH, 101)
    for panel, (name, run) in zip(axes.flat, runs.items(), strict=True):
        joints = np.array([[np.interp(SNAPSHOT, run.time, run.positions[:, k, d]) for d in (0, 1)] for k in range(4)])
        weights = [_at(run, f"{body}.y1", SNAPSHOT) for body in "abc"]
        panel.plot(joints[:, 0], joints[:, 1], "o:", color="grey", markersize=4, linewidth=1, label="joints and chords")
        for k, ends in enumerate(name.split("-")):
            along = (joints[k + 1] - joints[k]) / LENGTH  # W is zero at both ends in all of Table 2
            deflection = MAGNIFIED * weights[k] * np.asarray(shape(ends).w(x))
            bent = joints[k] + np.outer(x, along) + np.outer(deflection, (-along[1], along[0]))
            panel.plot(bent[:, 0], bent[:, 1], color=f"C{k}", label=f"link {k + 1}, bent {MAGNIFIED:g} times as much")
        panel.axhline(0.0, color="black", linewidth=0.8)
        panel.set_aspect("equal", adjustable="box")
        panel.set(xlim=(-1.7, 1.7), ylim=(-0.1, 0.8))
        label(panel, f"{name} at {SNAPSHOT} s: δ = " + ", ".join(f"{1e3 * weight:.2f}" for weight in weights) + " mm")
    _name_outer(axes, "X1, m", "X2, m")
    shared_legend(figure, axes.flat[0])
    return figure


def _at(run: Run, coordinate: str, t: float) -> float:
    """A coordinate between two rows, by the cubic through its values and rates."""
    from scipy.interpolate import CubicHermiteSpline

    k = int(np.searchsorted(run.time, t))
    rows = slice(k - 1, k + 1)
    spline = CubicHermiteSpline(run.time[rows], run.result[coordinate][rows], run.result.rate(coordinate)[rows])
    return float(spline(t))


def _touches(run: Run) -> Figure:
    """Fig. 7: every contact of the run, numbered, and each cluster of contacts enlarged."""
    from matplotlib.gridspec import GridSpec

    columns = 4
    rows = -(-len(run.clusters) // columns)
    figure, placeholder = panels(rows + 1, 1, height=2.9)
    for panel in placeholder.flat:
        panel.remove()
    grid = GridSpec(rows + 1, columns, figure=figure)
    above = figure.add_subplot(grid[0, :])
    _draw(above, run.time, _joints(run.positions[:, :, 1]))
    label(above, f"{run.modes}: {len(run.touches)} impacts, {len(run.clusters)} clusters", TIME, "X2 of the joints, m")
    number = 0
    for k, cluster in enumerate(run.clusters):
        panel = figure.add_subplot(grid[1 + k // columns, k % columns])
        number = _draw_cluster(panel, run, cluster, number)
        above.annotate(f"{k + 1}", (cluster[0][0].begin, 0.0), xytext=(0, -13), textcoords="offset points", ha="center",
                       fontsize="small", annotation_clip=False)  # fmt: skip
        label(panel, f"cluster {k + 1}", "time, ms", "X2, mm" if k % columns == 0 else "")
    above.set_ylim(-0.12, None)
    shared_legend(figure, above)
    return figure


def _draw_cluster(panel: Any, run: Run, cluster: Any, number: int) -> int:
    begin, end = _span(cluster)
    _draw_part(panel, run, _joints(1e3 * run.positions[:, :, 1]), begin, end)
    panel.axhline(0.0, color="black", linewidth=0.8)
    lowest = -1.0
    for k, (record, joint) in enumerate(cluster):
        rows = (run.time >= record.begin) & (run.time <= (end if record.lasting else record.end))
        depth = 1e3 * float(np.min(run.positions[rows, joint, 1]))
        lowest = min(lowest, depth)
        if k % 2 == 0:  # mirrored joints touch together: one number for both
            pair = f"{number + 1},{number + 2}" if k + 1 < len(cluster) else f"{number + 1}"
            at = 1e3 * 0.5 * (record.begin + (record.begin if record.lasting else record.end))
            panel.annotate(pair, (at, depth), xytext=(0, -10), textcoords="offset points", ha="center", fontsize=7)
        number += 1
    panel.set_ylim(lowest - 0.8, AROUND_TOUCHES)
    return number


def _energies(runs: Mapping[str, Run]) -> Figure:
    """Fig. 13: the terms of eq. 31 and their sum."""
    figure, axes = panels(2, 2, height=3.4, sharex=True, sharey=True)
    for panel, (name, run) in zip(axes.flat, runs.items(), strict=True):
        held = run.result.ledger.held
        terms = {
            "kinetic T": held["kinetic"],
            "potential V, gravity and strain": held["gravity"] + held["strain"],
            "-W of the normal forces": held["contact"] - run.work(" normal"),
            "-W of friction": -run.work(" friction"),
            "-W of damping": -run.work(".kelvin_voigt", ".air"),
        }
        for term, series in terms.items():
            panel.plot(run.time, series, linewidth=0.8, label=term)
        panel.plot(run.time, sum(terms.values()), color="black", linewidth=1.6, label="sum, eq. 31")
        label(panel, name)
    _name_outer(axes, TIME, "energy and work, J")
    shared_legend(figure, axes.flat[0])
    return figure


def _energy_errors(study: Study) -> Figure:
    """Fig. 14 on a logarithmic axis, together with the paper's own method."""
    figure, axes = panels(2, 2, height=3.2, sharex=True, sharey=True)
    for panel, (name, run) in zip(axes.flat, study.tight.items(), strict=True):
        coarse = study.papers[name]
        panel.semilogy(coarse.time, np.maximum(100.0 * coarse.energy_error, FLOOR), color="silver", linewidth=0.8,
                       label=f"the paper's method at rtol {PAPERS_RTOL:g}")  # fmt: skip
        panel.axhline(MEAN_ERROR[name], color="black", linestyle=":", label="the paper's mean")
        panel.semilogy(run.time, np.maximum(100.0 * run.energy_error, FLOOR), color="C0", linewidth=0.8, label="error")
        panel.axhline(100.0 * run.energy_error_mean, color="red", linewidth=1.2, label="its mean")
        label(panel, f"{name}: mean {100.0 * run.energy_error_mean:.1e} %, paper {MEAN_ERROR[name]} %")
    _name_outer(axes, TIME, "energy error, % of T1 + V1")
    shared_legend(figure, axes.flat[0])
    return figure
