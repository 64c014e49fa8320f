"""Figures 1 to 6 and tables 1 and 2 of Raoofian, Taghvaeipour and Kamali 2017, the cost for every Ks, and what holds the loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats
from pliant.gallery.parallel_robot import system as paper
from pliant.gallery.parallel_robot.claims import BELOW, EXACT_SECONDS, PAPER_SECONDS, REACTIONS_AT, Study
from pliant.gallery.parallel_robot.runs import Run, tip_forces
from pliant.gallery.parallel_robot.system import LEGS, T_END, T_LOOP, rose
from pliant.gallery.reproduction import Table, by_method, label, panels, schematic, shared_legend
from pliant.results.result import Result
from pliant.show import plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TIME = "time, s"
PATH: dict[str, Any] = {"color": "#f2b179", "linewidth": 3.2}
OURS: dict[str, Any] = {"color": "#00408a", "linewidth": 0.8}
FLOOR = 1e-17  # m or rad, drawn instead of zero on the logarithmic axis
SHADES = ("#8c510a", "#d8b365", "#CC79A7", "#D55E00", "#E69F00", "#009E73", "#56B4E9", "#0072B2", "#000000")
ENVELOPE = 10  # rows of 0.01 s: the errors oscillate faster than a page can show
SHOWN = ("1e2", "1e3", "1e4", "1e5", "1e6", None)  # Ks of fig. 4; None: multipliers. 1e7 and 1e8 look like the last
SOFT, APART = "1e1", 0.4  # Ks, and the time, s, at which figs. 1 and 3 show springs that have stretched
TABLE_1 = Table(("quantity", "value", "unit"), (
    ("l1", paper.UPPER, "m"), ("l2", paper.LOWER, "m"), ("side of the base S_B", paper.BASE, "m"),
    ("side of the platform S_P", paper.PLATFORM, "m"), ("m1", paper.MASS_UPPER, "kg"), ("m2", paper.MASS_LOWER, "kg"),
    ("m_P", paper.MASS_PLATFORM, "kg"), ("I1", paper.INERTIA_UPPER, "kg m^2"), ("I2", paper.INERTIA_LOWER, "kg m^2"),
    ("I_P", paper.INERTIA_PLATFORM, "kg m^2"), ("r0", paper.RADIUS, "m"),
))  # fmt: skip
Series = Callable[[Run], Floats]


def figures(study: Study, methods: Mapping[str, Result]) -> Mapping[str, Callable[[], Figure] | Table]:
    """Functions that draw, by name."""
    apart = study.tight[SOFT].result
    return {
        "fig01": schematic(apart, APART),
        "fig02": schematic(study.multipliers.result),
        "fig03": lambda: plot.mechanism(apart, times=(0.0, 0.5 * APART, APART)),
        "fig04": partial(_roses, study),
        "fig05": partial(_errors, study, {"e_C = log10(sum |c|)": lambda run: run.constraint_error}),
        "fig06": partial(
            _errors,
            study,
            {"e_P = log10 | |r| - |rbar| |": lambda run: run.position_error, "log10 |angle|, rad": lambda run: np.abs(run.angle)},
        ),
        "table1": TABLE_1,
        "table2": _times(study),
        "cost": partial(_cost, study),
        "methods": by_method(study.rk45[REACTIONS_AT].result, methods, "platform.x", "platform.y", "platform.angle"),
        "reactions": partial(_reactions, study),
        "inverse": partial(_inverse, study),
    }  # fmt: skip


def _times(study: Study) -> Table:
    """Table 2: the paper's seconds, and our evaluations and seconds by the same method and tolerance."""
    rows = [(ks, PAPER_SECONDS[ks], run.evaluations, run.wall) for ks, run in study.rk45.items()]
    exact = study.multipliers_rk45
    return Table(
        ("Ks, N/m", "paper, s", "ours, evaluations", "ours, s (varies with the computer)"),
        (*rows, ("multipliers", EXACT_SECONDS, exact.evaluations, exact.wall)),
    )


def _roses(study: Study) -> Figure:
    """Fig. 4: the rose, and what the platform makes of it in three rounds with springs, with tight tolerances."""
    figure, axes = panels(2, 3, width=10.0, height=3.3)
    path = 1e3 * np.column_stack(rose(np.linspace(0.0, T_LOOP, 401))[0])
    for panel, ks in zip(axes.flat, SHOWN, strict=True):
        run = study.multipliers if ks is None else study.tight[ks]
        panel.plot(path[:, 0], path[:, 1], label="the rose", **PATH)
        panel.plot(1e3 * run.position[:, 0], 1e3 * run.position[:, 1], label="centre of the platform", **OURS)
        panel.set_aspect("equal", adjustable="datalim")
        far = 1e3 * float(np.max(run.distance))
        label(panel, f"{'multipliers' if ks is None else f'Ks = {ks} N/m'}: {far:.2g} mm off at most", "x, mm", "y, mm")
    shared_legend(figure, axes.flat[0])
    return figure


def _errors(study: Study, rows: Mapping[str, Series]) -> Figure:
    """Logarithms of errors for every Ks, the largest within 0.1 s: by the paper's method, and with tight tolerances."""
    figure, axes = panels(len(rows), 2, height=3.8, sharex=True)
    columns = (("modified DeNOC, ode45, rtol 1e-3", study.multipliers_rk45, study.rk45),
               ("the same, DOP853, rtol 1e-12", study.multipliers, study.tight))  # fmt: skip
    for k, (unit, series) in enumerate(rows.items()):
        for panel, (name, exact, runs) in zip(axes[k], columns, strict=True):
            for number, (ks, run) in enumerate({**runs, "multipliers": exact}.items()):
                _draw_error(panel, run, series, ks, {"color": SHADES[number], "linestyle": "-" if number % 2 else "--"})
            if k == 0:
                panel.axhline(BELOW, color="red", linewidth=1.2, linestyle=":")
                panel.text(0.02, BELOW + 0.15, f"{BELOW:g}: 0.01 mm", color="red", fontsize="small")
            panel.set_xlim(0.0, T_END + 0.9)
            label(panel, name if k == 0 else "", TIME if k == len(rows) - 1 else "", unit if panel is axes[k, 0] else "")
    return figure


def _draw_error(panel: Any, run: Run, series: Series, name: str, style: dict[str, Any]) -> None:
    """The upper envelope of an error, named at its end."""
    error = np.log10(np.maximum(series(run)[1:], FLOOR))
    count = error.size // ENVELOPE
    largest = error[: count * ENVELOPE].reshape(count, ENVELOPE).max(axis=1)
    time = run.time[1 : count * ENVELOPE + 1].reshape(count, ENVELOPE).mean(axis=1)
    panel.plot(time, largest, linewidth=1.4, label=name, **style)
    panel.annotate(name, (time[-1], largest[-1]), xytext=(4, 0), textcoords="offset points", va="center", fontsize="x-small",
                   color=style["color"])  # fmt: skip


def _cost(study: Study) -> Figure:
    """Evaluations and seconds against Ks."""
    figure, axes = panels(1, 2, height=4.2)
    ks = [float(name) for name in study.tight]
    lines = (("rtol 1e-12, DOP853", study.tight, study.multipliers, "C0"),
             ("rtol 1e-3, ode45", study.rk45, study.multipliers_rk45, "C1"))  # fmt: skip
    for name, runs, exact, color in lines:
        for panel, what in zip(axes[0], ("evaluations", "wall"), strict=True):
            panel.loglog(ks, [getattr(run, what) for run in runs.values()], "o-", color=color, label=name)
            panel.axhline(
                getattr(exact, what),
                color=color,
                linestyle="--",
                linewidth=1.0,
                label=f"multipliers, {name.split(',')[0]}",
            )
    axes[0, 1].loglog(ks, list(PAPER_SECONDS.values()), "x:", color="black", label="paper, Table 2")
    label(axes[0, 0], "evaluations for 6 s", "Ks, N/m", "right-hand sides")
    label(axes[0, 1], "time for 6 s", "Ks, N/m", "wall time, s")
    for panel in axes[0]:
        panel.legend(fontsize="small")
    return figure


def _reactions(study: Study) -> Figure:
    """Force on the tip of leg I along x, from springs and from multipliers."""
    starts = {
        "c(0) = 0": study.tight[REACTIONS_AT],
        "prestretched": study.prestretched[REACTIONS_AT],
        "damped": study.damped,
    }
    figure, axes = panels(len(starts), 2, height=2.4, width_ratios=(1.0, 1.5))
    for row, (name, run) in zip(axes, starts.items(), strict=True):
        near = study.beginnings[name]
        rows = run.time <= T_LOOP  # points instead of lines, because these oscillations are too fast for the rows
        row[0].plot(near.time, tip_forces(near.time)[:, 0], label="exact", **PATH)
        row[0].plot(near.time, near.result.values["multiplier"][:, 0], label="springs", **OURS)
        row[1].plot(run.time[rows], tip_forces(run.time[rows])[:, 0], **PATH)
        row[1].plot(run.time[rows], run.result.values["multiplier"][rows, 0], ".", markersize=3, color=OURS["color"])
        label(row[0], f"Ks = {REACTIONS_AT} N/m, {name}", y="force x on tip I, N")
        label(row[1], f"every 0.01 s; error {run.reaction_error():.2g} N rms over 6 s")
        row[0].locator_params(axis="x", nbins=5)
    for panel in axes[-1]:
        panel.set_xlabel(TIME)
    shared_legend(figure, axes[0, 0])
    return figure


def _inverse(study: Study) -> Figure:
    """Torques and forces that the rose requires, for one loop."""
    figure, axes = panels(3, 1, height=2.4, sharex=True)
    time = study.loop.result.time
    for k, leg in enumerate(LEGS):
        axes[0, 0].plot(time, study.loop.torques[:, k], color=f"C{k}", label=f"leg {leg}")
        for d, panel in enumerate(axes[1:, 0]):
            panel.plot(time, study.loop.forces[:, 2 * k + d], color=f"C{k}", label=f"leg {leg}")
    for panel, unit in zip(axes[:, 0], ("motor torque, N m", "force x on the tip, N", "force y on the tip, N"), strict=True):
        label(panel, y=unit)
    axes[-1, 0].set_xlabel(TIME)
    shared_legend(figure, axes[0, 0])
    return figure
