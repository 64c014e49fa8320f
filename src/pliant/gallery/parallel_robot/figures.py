"""The rose, the errors and the cost for every Ks, as in Raoofian, Taghvaeipour and Kamali 2017, and what holds the loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.gallery.parallel_robot.claims import BELOW, PAPER_SECONDS, REACTIONS_AT, Study
from pliant.gallery.parallel_robot.runs import Run, tip_forces
from pliant.gallery.parallel_robot.system import LEGS, RADIUS, T_LOOP, rose
from pliant.gallery.reproduction import label, panels, shared_legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

TIME = "time, s"
PATH: dict[str, Any] = {"color": "#f2b179", "linewidth": 3.2}
OURS: dict[str, Any] = {"color": "#00408a", "linewidth": 0.8}
FLOOR = 1e-17  # m or rad, drawn instead of zero on the logarithmic axis
VIEW = 3.0 * RADIUS  # m, half of what is shown of the plane
EXACT: dict[str, Any] = {"color": "black", "linewidth": 1.2, "label": "multipliers"}
Series = Callable[[Run], Floats]


def figures(study: Study) -> Mapping[str, Callable[[], Figure]]:
    """Functions that draw, by name."""
    return {
        "rose": partial(_roses, study),
        "constraint_error": partial(_errors, study, {"sum |c|, m": lambda run: run.constraint_error}),
        "position_error": partial(
            _errors,
            study,
            {"| |r| - |rbar| |, m": lambda run: run.position_error, "angle of the platform, rad": lambda run: np.abs(run.angle)},
        ),
        "cost": partial(_cost, study),
        "reactions": partial(_reactions, study),
        "inverse": partial(_inverse, study),
    }  # fmt: skip


def _roses(study: Study) -> Figure:
    """Three roses of the platform for every closure, with tight tolerances, drawn over the path."""
    figure, axes = panels(3, 3, width=10.0, height=3.2, sharex=True, sharey=True)
    path = np.column_stack(rose(np.linspace(0.0, T_LOOP, 401))[0])
    runs = {"multipliers": study.multipliers, **{f"springs, Ks = {ks} N/m": run for ks, run in study.tight.items()}}
    for panel, (name, run) in zip(axes.flat, runs.items(), strict=True):
        panel.plot(1e3 * path[:, 0], 1e3 * path[:, 1], label="the rose", **PATH)
        panel.plot(1e3 * run.position[:, 0], 1e3 * run.position[:, 1], label="centre of the platform", **OURS)
        panel.set(xlim=(-1e3 * VIEW, 1e3 * VIEW), ylim=(-1e3 * VIEW, 1e3 * VIEW))
        panel.set_aspect("equal", adjustable="box")
        label(panel, name)
    for panel in axes[-1]:
        panel.set_xlabel("x, mm")
    for panel in axes[:, 0]:
        panel.set_ylabel("y, mm")
    shared_legend(figure, axes.flat[0])
    return figure


def _errors(study: Study, rows: Mapping[str, Series]) -> Figure:
    """A quantity over time for every Ks: tight tolerances on the left, the paper's method on the right."""
    figure, axes = panels(len(rows), 2, height=3.4, sharex=True, sharey="row")
    shades = _shades(len(study.tight))
    columns = (("DOP853, rtol 1e-12", study.multipliers, study.tight),
               ("ode45, rtol 1e-3", study.multipliers_rk45, study.rk45))  # fmt: skip
    for k, (unit, series) in enumerate(rows.items()):
        for panel, (name, exact, runs) in zip(axes[k], columns, strict=True):
            for (ks, run), shade in zip(runs.items(), shades, strict=True):
                panel.semilogy(run.time[1:], np.maximum(series(run)[1:], FLOOR), color=shade, linewidth=0.7, label=f"Ks = {ks}")
            panel.semilogy(exact.time[1:], np.maximum(series(exact)[1:], FLOOR), **EXACT)
            if k == 0:
                panel.axhline(10.0**BELOW, color="red", linewidth=1.2, linestyle="--", label=f"log10 = {BELOW:g}: 0.01 mm")
                panel.axhline(np.exp(BELOW), color="red", linewidth=0.8, linestyle=":", label=f"ln = {BELOW:g}")
            label(panel, name if k == 0 else "", TIME if k == len(rows) - 1 else "", unit if panel is axes[k, 0] else "")
    shared_legend(figure, axes[0, 0])
    return figure


def _shades(count: int) -> list[Any]:
    from matplotlib import colormaps

    return [colormaps["turbo"](0.05 + 0.9 * k / (count - 1)) for k in range(count)]


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
