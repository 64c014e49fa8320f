"""Figures 1 to 8 and table 1 of Korayem, Shafei and Dehkordi, consistent and as published, and figures beyond the paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.gallery.reproduction import Table, by_method, label, panels, schematic, shared_legend
from pliant.gallery.telescopic_arm import system as paper
from pliant.gallery.telescopic_arm.claims import Study
from pliant.gallery.telescopic_arm.runs import Run
from pliant.gallery.telescopic_arm.system import FORCES, LENGTH, MODE_COUNTS, MODELS, START

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# as published: wide and pale; consistent: thin and dark on top, so that both are visible where they agree
STYLES: Mapping[str, dict[str, Any]] = {
    "as-published": {"color": "#f2b179", "linewidth": 2.4},
    "consistent": {"color": "#00408a", "linewidth": 0.9},
}
MODE_STYLES: Mapping[int, dict[str, Any]] = {
    1: {"color": "#f2b179", "linewidth": 1.2},
    2: {"color": "#7fb2e5", "linewidth": 2.2},
    3: {"color": "#00306b", "linewidth": 0.8},
}
TIME = "time, s"
FIG_1_SCALE = 400.0  # of the deformation
TABLE_1 = Table(("quantity", "value", "unit"), (
    ("length L", LENGTH, "m"), ("cross-section A", paper.AREA, "m^2"), ("second moment I", paper.INERTIA, "m^4"),
    ("mass per length mu", paper.MU, "kg/m"), ("E", paper.YOUNG, "Pa"), ("G", paper.SHEAR, "Pa"),
    ("g (the plane must be horizontal)", paper.GRAVITY, "m/s^2"),
))  # fmt: skip
FLOOR = 1e-17  # J, drawn instead of zero on the logarithmic axis
FIRST = 0.05  # s of the prescribed motion, enlarged
ZOOM = (0.25, 0.45)  # s, where the pull reverses


def figures(study: Study) -> Mapping[str, Callable[[], Figure] | Table]:
    """Functions that draw, by name; numbers are the paper's."""
    over_time = partial(_both_models, study)
    published = study.formulations["as-published"]
    others = {"Gibbs-Appell recursion": published["gibbs_appell"], **study.methods}
    names = ("arm.angle", "arm.extension", "arm.y1")
    return {
        "fig01": schematic(study.example("consistent").result, 0.3, scale=FIG_1_SCALE),
        "fig02": schematic(study.example("consistent").result),
        "fig03": partial(over_time, "q", 1.0, "angle q, rad"),
        "fig04": partial(over_time, "q_dot", 1.0, "angular velocity, rad/s", near=True),
        "fig05": partial(over_time, "delta1", 1e3, "mode weight δ, mm", near=True),
        "fig06": partial(over_time, "delta1_dot", 1e3, "rate of δ, mm/s", near=True),
        "fig07": partial(over_time, "l", 1.0, "free length l, m"),
        "fig08": partial(over_time, "l_dot", 1.0, "rate of l, m/s"),
        "energy": partial(_energies, study),
        "modes": partial(_tips, study),
        "inverse": partial(_efforts, study),
        "slow_extension": partial(_extensions, study),
        "methods": by_method(published["articulated"].result, {name: run.result for name, run in others.items()}, *names),
        "table1": TABLE_1,
    }


def _both_models(study: Study, name: str, scale: float, unit: str, near: bool = False) -> Figure:
    """One quantity with both forces: the whole run, a part of it enlarged, and the difference between the two models."""
    figure, axes = panels(3 if near else 2, len(FORCES), height=2.4, height_ratios=(2.0, 1.5, 1.0) if near else (2.0, 1.0))
    for column, force in zip(axes.T, FORCES, strict=True):
        runs = {model: study.example(model, force) for model in reversed(MODELS)}
        for model, run in runs.items():
            column[0].plot(run.time, scale * run.columns[name], label=model, **STYLES[model])
        apart = runs["consistent"].columns[name] - runs["as-published"].columns[name]
        column[-1].plot(runs["consistent"].time, scale * apart, color="#444444", linewidth=0.8)
        column[-1].ticklabel_format(axis="y", scilimits=(-2, 4))
        label(column[0], f"F = {FORCES[force]:g} N", y=unit)
        label(column[-1], "consistent less as-published", TIME, unit)
        for panel in (column[0], column[-1]):
            _shade_outside(panel, runs["consistent"])
        if near:
            _draw_near(column[1], runs, name, scale, unit)
        if name == "l":
            column[0].axhline(LENGTH, color="black", linewidth=0.8, linestyle=":", label="L, the sleeve's end")
    shared_legend(figure, axes[0, 0])
    return figure


def _draw_near(panel: Any, runs: Mapping[str, Run], name: str, scale: float, unit: str) -> None:
    for model, run in runs.items():
        part = (run.time >= ZOOM[0]) & (run.time <= ZOOM[1])
        panel.plot(run.time[part], scale * run.columns[name][part], **STYLES[model])
    label(panel, f"{ZOOM[0]:g} to {ZOOM[1]:g} s", y=unit)
    _frame(panel, ZOOM)


def _frame(panel: Any, span: tuple[float, float]) -> None:
    """Set the time limits, with few enough tick labels that they do not overlap."""
    panel.set_xlim(*span)
    panel.locator_params(axis="x", nbins=5, steps=(1, 2, 5, 10))


def _shade_outside(panel: Any, run: Run, name: str = "out of the sleeve: formal continuation") -> None:
    """Grey where l > L and the run is a formal continuation."""
    panel.set_xlim(run.time[0], run.time[-1])
    if run.sleeve_end_time is not None:
        panel.axvspan(run.sleeve_end_time, run.time[-1], color="grey", alpha=0.15, linewidth=0, label=name)


def _energies(study: Study) -> Figure:
    """Stored energy, work input, and the balance error."""
    figure, axes = panels(2, len(FORCES), height=3.2, sharex=True, sharey="row")
    for column, force in zip(axes.T, FORCES, strict=True):
        run = study.example("consistent", force)
        held = run.result.ledger.held
        column[0].plot(run.time, run.work, color="#7fb2e5", linewidth=3.0, label="work of τ and F")
        column[0].plot(run.time, held["kinetic"], color="#a63d00", linewidth=1.2, label="kinetic")
        column[0].plot(run.time, 100.0 * held["strain"], color="#2a7a2a", linewidth=0.6, label="strain, 100 times")
        _shade_outside(column[0], run)
        for model in reversed(MODELS):
            error = np.abs(study.example(model, force).energy_error)
            column[1].semilogy(run.time, np.maximum(error, FLOOR), color=STYLES[model]["color"], linewidth=1.0,
                               label=model)  # fmt: skip
        _shade_outside(column[1], run, name="")
        label(column[0], f"F = {FORCES[force]:g} N, consistent")
        label(column[1], "energy held less work put in", TIME)
        column[1].legend(loc="center right", fontsize="small")
    axes[0, 0].set_ylabel("energy, J")
    axes[1, 0].set_ylabel("difference, J")
    shared_legend(figure, axes[0, 0])
    return figure


def _tips(study: Study) -> Figure:
    """The tip's deflection with one, two and three modes."""
    figure, axes = panels(2, len(FORCES), height=2.9, sharey=True)
    for column, force in zip(axes.T, FORCES, strict=True):
        for modes in MODE_COUNTS:
            run = study.example("consistent", force, modes)
            name = f"{modes} mode{'s' * (modes > 1)}"
            for panel in column:
                panel.plot(run.time, 1e3 * run.columns["tip"], label=name, **MODE_STYLES[modes])
        _shade_outside(column[0], run)
        _frame(column[1], ZOOM)
        label(column[0], f"F = {FORCES[force]:g} N, consistent")
        label(column[1], f"{ZOOM[0]:g} to {ZOOM[1]:g} s", TIME)
    for panel in axes[:, 0]:
        panel.set_ylabel("deflection of the tip, mm")
    shared_legend(figure, axes[0, 0])
    return figure


def _efforts(study: Study) -> Figure:
    """Torque and force of the prescribed motion: both models, their difference, and the effect of more modes at the start."""
    figure, axes = panels(3, 2, height=2.5)
    for column, (name, unit) in zip(axes.T, (("tau", "torque τ, N m"), ("F", "force F, N")), strict=True):
        one, other = (study.inverse[f"{model}/1"].columns for model in MODELS)
        for model, columns in (("as-published", other), ("consistent", one)):
            column[0].plot(columns["t"], columns[name], label=model, **STYLES[model])
        column[1].plot(one["t"], one[name] - other[name], color="#444444", linewidth=0.8)
        for modes in MODE_COUNTS:
            columns = study.inverse[f"consistent/{modes}"].columns
            part = columns["t"] <= FIRST
            column[2].plot(columns["t"][part], columns[name][part], label=f"{modes} mode{'s' * (modes > 1)}", **MODE_STYLES[modes])
        label(column[0], "q = 0.5 sin²(πt) rad, l = 0.5 + 0.1 sin²(πt) m, one mode", y=unit)
        label(column[1], "consistent less as-published", y=unit)
        label(column[2], f"consistent, the first {FIRST:g} s", TIME, unit)
        for panel, span in zip(column, ((0.0, 1.0), (0.0, 1.0), (0.0, FIRST)), strict=True):
            _frame(panel, span)
    axes[0, 1].legend(loc="upper center", fontsize="small")
    axes[2, 1].legend(loc="lower left", fontsize="small")
    return figure


def _extensions(study: Study) -> Figure:
    """The vibration of an arm extended slowly from L/2 to L, with its envelopes, and its beginning and end enlarged."""
    figure, axes = panels(len(MODELS), 3, height=3.0, sharey=True, width_ratios=(2.0, 1.0, 1.0))
    for row, (model, extension) in zip(axes, study.extensions.items(), strict=True):
        time, longer = extension.result.time, extension.length / START
        end = float(time[-1])
        for panel, span in zip(row, ((0.0, end), (0.0, 0.1), (end - 0.2, end)), strict=True):
            part = (time >= span[0]) & (time <= span[1])
            panel.plot(time[part], extension.deflection[part], color="#7fb2e5", linewidth=0.5 if panel is row[0] else 1.2)
            for power, style, name in ((0.5, "-", "± sqrt(l/l0)"), (1.0, "--", "± l/l0")):
                for sign in (1.0, -1.0):
                    panel.plot(time[part], sign * longer[part] ** power, color="#a63d00", linestyle=style, linewidth=1.0,
                               label=name if sign > 0.0 else None)  # fmt: skip
            _frame(panel, span)
        label(row[0], f"{model}: amplitude grows {extension.ratio:.7f} times", y="δ over its amplitude at the start")
        label(row[1], "begin")
        label(row[2], "end")
    for panel in axes[-1]:
        panel.set_xlabel(TIME)
    shared_legend(figure, axes[0, 0])
    return figure
