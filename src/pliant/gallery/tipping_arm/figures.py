"""Figures 1 to 5 and table 1 of Wang, Yan, Fang and Jin 2012, and beyond: softer walls, more modes, all terms, the other fall."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats
from pliant.gallery.reproduction import Table, by_method, label, panels, schematic, shared_legend
from pliant.gallery.tipping_arm.claims import EXACT_SPIN_UP, SOFTER, Study
from pliant.gallery.tipping_arm.runs import Run
from pliant.gallery.tipping_arm.spin_up import RISE, STIFFENINGS
from pliant.gallery.tipping_arm.system import ALPHA, AREA, DENSITY, INERTIA, LENGTH, START, STIFFNESS, YOUNG
from pliant.results.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Series = Callable[[Run], Floats]

COLOURS = {0.5: "#d1731c", 1.0: "#1f5fa8", 2.0: "#2f8f4e"}  # by EI
DAMPINGS = (0.0, ALPHA)
TIME, SINCE = "time, s", "time since the first touch, ms"
TABLE_1 = Table(("quantity", "value", "unit"), (
    ("density rho", DENSITY, "kg/m^3"), ("length l", LENGTH, "m"), ("cross-section S", AREA, "m^2"), ("E", YOUNG, "Pa"),
    ("I (printed as an inertia, kg m^2)", INERTIA, "m^4"), ("initial angle theta_0", START, "rad"),
    ("contact stiffness k (printed in N/m)", STIFFNESS, "N/m^1.5"),
))  # fmt: skip
KNOCK = (-10.0, 90.0)  # µs since the first touch
IMPACT = (-1.0, 12.0)  # ms since the first touch
TURNING = (-1.0, 30.0)  # ms since the first touch
VIBRATION = (-5.0, 60.0)  # ms since the first touch


def figures(study: Study, methods: Mapping[str, Result]) -> Mapping[str, Callable[[], Figure] | Table]:
    """Functions that draw, by name."""
    ours = study.drawn()[1].result
    return {
        "fig01": schematic(ours),
        "fig02": partial(_contact_force, study),
        "fig03": partial(_joint_angle, study),
        "fig04": partial(_angular_velocity, study),
        "fig05": partial(_tip_deflection, study),
        "softer_contact": partial(_softer_contact, study),
        "modes": partial(_modes, study),
        "as_published": partial(_as_published, study),
        "swing135": partial(_other_geometry, study),
        "spin_up": partial(_spin_up, study),
        "methods": by_method(ours, methods, "arm.angle", "tip_deflection arm y"),
        "table1": TABLE_1,
    }


def _draw(panel: Any, runs: Sequence[Run], series: Series, width: float = 0.9) -> None:
    """Lines over time, one colour per EI; the softest arm, which swings most, is drawn at the back."""
    for run in runs:
        panel.plot(run.time, series(run), color=COLOURS[run.case.bending], linewidth=width, label=f"EI x{run.case.bending:g}")


def _draw_since(panel: Any, runs: Sequence[Run], series: Series, span: tuple[float, float], width: float = 1.1) -> None:
    """Over the time since each run's own first touch, in ms."""
    for run in runs:
        since = 1e3 * (run.time - run.first_touch)
        first, last = np.searchsorted(since, span)
        rows = slice(max(int(first) - 1, 0), int(last) + 1)
        panel.plot(since[rows], series(run)[rows], color=COLOURS[run.case.bending], linewidth=width,
                   label=f"EI x{run.case.bending:g}")  # fmt: skip
    panel.set_xlim(*span)


def _damped(alpha: float) -> str:
    return f"structural damping alpha = {alpha:g} 1/s" if alpha else "no structural damping"


def _force(run: Run) -> Floats:
    return 1e-3 * run.force


def _tip(run: Run) -> Floats:
    return 1e3 * run.deflection


def _contact_force(study: Study) -> Figure:
    """Fig. 2: a, the impact of each arm with the peak of every knock; b, the first knock enlarged."""
    figure, axes = panels(4, 2, height=1.7)
    for column, alpha in zip(axes.T, DAMPINGS, strict=True):
        runs = study.drawn(alpha=alpha)
        for panel, run in zip(column, runs, strict=False):
            _draw_since(panel, [run], _force, IMPACT)
            for knock in run.knocks:
                at = 1e3 * (knock.peak_time - run.first_touch), 1e-3 * knock.peak_force
                panel.annotate(f"{knock.peak_force:.0f} N", at, xytext=(4, -4), textcoords="offset points", fontsize="x-small")
            panel.set_ylim(0.0, 3.4)
            label(panel, f"a: EI x{run.case.bending:g}, {_damped(alpha)}", SINCE if run is runs[-1] else "", "force, kN")
        _draw_knock(column[3], runs)
        label(column[3], "b: the first knock, all three", "time since the first touch, µs", "force, kN")
    return figure


def _draw_knock(panel: Any, runs: Sequence[Run]) -> None:
    """The first knock by Hertz's law, from the gap and its rate, smooth between steps. Curves coincide: upper ones are thinner."""
    from scipy.interpolate import CubicHermiteSpline

    for run, width in zip(runs, (4.0, 2.2, 0.9), strict=True):
        since = 1e6 * (run.time - run.first_touch)
        first, last = np.searchsorted(since, KNOCK)
        rows = slice(max(int(first) - 1, 0), int(last) + 1)
        time, kept = np.unique(since[rows], return_index=True)
        gap, closing = (run.result.values[name][rows, 0][kept] for name in ("gap", "closing_speed"))
        fine = np.linspace(*KNOCK, 400)
        depth = np.maximum(-CubicHermiteSpline(time, gap, -1e-6 * closing)(fine), 0.0)
        panel.plot(fine, 1e-3 * run.case.stiffness * depth**1.5, color=COLOURS[run.case.bending], linewidth=width)
    panel.set_xlim(*KNOCK)


def _joint_angle(study: Study) -> Figure:
    """Fig. 3."""
    figure, axes = panels(1, 2, height=3.6, sharey=True)
    for panel, alpha in zip(axes.flat, DAMPINGS, strict=True):
        runs = study.drawn(alpha=alpha)
        _draw(panel, runs, lambda run: run.angle, 1.2)
        panel.axhline(runs[0].case.wall, color="grey", linewidth=0.8, linestyle=":", label="the wall")
        label(panel, _damped(alpha), TIME)
    axes[0, 0].set_ylabel("joint angle, rad")
    shared_legend(figure, axes[0, 0])
    return figure


def _angular_velocity(study: Study) -> Figure:
    """Fig. 4: of each arm, without structural damping and with it; the range of the vibration, and the impact enlarged."""
    figure, axes = panels(3, 2, height=2.2, sharey=True)
    for row, free, damped in zip(axes, *(study.drawn(alpha=alpha) for alpha in DAMPINGS), strict=True):
        for run, colour in ((free, COLOURS[free.case.bending]), (damped, "#222222")):
            since = 1e3 * (run.time - run.first_touch)
            near = (since >= TURNING[0]) & (since <= TURNING[1])
            row[1].plot(since[near], run.speed[near], color=colour, linewidth=1.1, label=_damped(run.case.alpha))
            if run is free:
                middle, low, high = _range(run.time, run.speed)
                row[0].fill_between(middle, low, high, color=colour, alpha=0.35, linewidth=0.0, label="range within 10 ms")
                row[0].plot(middle, 0.5 * (low + high), color=colour, linewidth=1.0, label="its middle")
            else:
                row[0].plot(run.time, run.speed, color=colour, linewidth=0.8, label=_damped(run.case.alpha))
        label(row[0], f"EI x{free.case.bending:g}", TIME if free.case.bending == 2.0 else "", "angular velocity, rad/s")
        label(row[1], "the impact", SINCE if free.case.bending == 2.0 else "")
        for panel in row:
            panel.legend(fontsize="x-small", loc="upper right")
    return figure


def _range(time: Floats, series: Floats, width: float = 1e-2) -> tuple[Floats, Floats, Floats]:
    """Middles of intervals of this width, s, and the lowest and highest value in each."""
    edges = np.arange(time[0], time[-1], width)
    parts = np.split(series, np.searchsorted(time, edges[1:]))
    return edges + 0.5 * width, np.array([part.min() for part in parts]), np.array([part.max() for part in parts])


def _tip_deflection(study: Study) -> Figure:
    """Fig. 5: three stiffnesses; and one of them with and without structural damping."""
    figure, axes = panels(2, 2, height=3.0)
    runs = study.drawn()
    _draw(axes[0, 0], runs, _tip, 0.6)
    _draw_since(axes[0, 1], runs, _tip, VIBRATION)
    label(axes[0, 0], "a: no structural damping", TIME, "tip deflection, mm")
    label(axes[0, 1], "a: the impact", SINCE)
    axes[0, 0].legend(fontsize="small", loc="lower left")
    both = {"no structural damping": (study.drawn()[1], COLOURS[1.0]),
            f"alpha = {ALPHA:g} 1/s": (study.drawn(alpha=ALPHA)[1], "#b0203a")}  # fmt: skip
    for name, (run, colour) in both.items():
        axes[1, 0].plot(run.time, _tip(run), color=colour, linewidth=0.7, label=name)
        since = 1e3 * (run.time - run.first_touch)
        axes[1, 1].plot(since, _tip(run), color=colour, linewidth=1.1, label=name)
    axes[1, 1].set_xlim(*VIBRATION)
    label(axes[1, 0], "b: EI x1, with and without structural damping", TIME, "tip deflection, mm")
    label(axes[1, 1], "b: the impact", SINCE)
    axes[1, 0].legend(fontsize="small", loc="lower left")
    return figure


def _softer_contact(study: Study) -> Figure:
    """A case in which the force does grow with EI."""
    figure, axes = panels(1, 2, height=3.4)
    runs = list(study.soft.values())
    _draw_since(axes[0, 0], study.drawn(), lambda run: run.force, IMPACT)
    _draw_since(axes[0, 1], runs, lambda run: run.force, (-1.0, 18.0))
    label(axes[0, 0], "the paper's contact stiffness: peaks " + _peaks(study.drawn()), SINCE, "contact force, N")
    label(axes[0, 1], f"{SOFTER:g} times softer: peaks " + _peaks(runs), SINCE)
    shared_legend(figure, axes[0, 0])
    return figure


def _peaks(runs: Sequence[Run]) -> str:
    return ", ".join(f"{run.hardest.peak_force:.4g}" for run in runs) + " N"


def _modes(study: Study) -> Figure:
    """The contact force with an increasing number of modes."""
    figure, axes = panels(2, 3, height=2.6, sharex=True, sharey=True)
    for panel, (count, run) in zip(axes.flat, study.by_modes.items(), strict=True):
        _draw_since(panel, [run], _force, (-0.5, 8.0))
        knocks = f"{len(run.knocks)} knocks, peak {run.hardest.peak_force:.0f} N"
        label(panel, f"{count} mode{'s' if count > 1 else ''}: {knocks}")
    for panel in axes[-1]:
        panel.set_xlabel(SINCE)
    for panel in axes[:, 0]:
        panel.set_ylabel("contact force, kN")
    return figure


def _as_published(study: Study) -> Figure:
    """All terms compared with eq. 22: the rebound, and the energy that eq. 22 does not conserve."""
    figure, axes = panels(1, 2, height=3.6)
    for run in [*study.drawn(), *study.drawn(model="as-published")]:
        printed = run.case.model == "as-published"
        style = {"color": COLOURS[run.case.bending], "linewidth": 1.0, "linestyle": "--" if printed else "-"}
        name = f"EI x{run.case.bending:g}, {'eq. 22' if printed else 'all terms'}"
        axes[0, 0].plot(run.time, run.angle, label=name, **style)
        axes[0, 1].semilogy(run.time, np.maximum(run.energy_error, 1e-17), label=name, **{**style, "linewidth": 0.6})
    label(axes[0, 0], "no structural damping, Hertz contact", TIME, "joint angle, rad")
    label(axes[0, 1], "error of the energy", TIME, "part of the energy of the fall")
    axes[0, 1].set_ylim(1e-16, 1.0)
    shared_legend(figure, axes[0, 0])
    return figure


def _other_geometry(study: Study) -> Figure:
    """The fall in the other direction, from 45 to -90 degrees."""
    figure, axes = panels(2, 2, height=3.0)
    runs = study.drawn(geometry="swing135")
    _draw_since(axes[0, 0], runs, _force, IMPACT)
    _draw(axes[0, 1], runs, lambda run: run.angle, 1.2)
    axes[0, 1].axhline(runs[0].case.wall, color="grey", linewidth=0.8, linestyle=":")
    _draw_since(axes[1, 0], runs, lambda run: run.speed, TURNING)
    _draw_since(axes[1, 1], runs, _tip, VIBRATION)
    label(axes[0, 0], "the impact", SINCE, "contact force, kN")
    label(axes[0, 1], "the run", TIME, "joint angle, rad")
    label(axes[1, 0], "the impact", SINCE, "angular velocity, rad/s")
    label(axes[1, 1], "the impact", SINCE, "tip deflection, mm")
    shared_legend(figure, axes[0, 0])
    return figure


def _spin_up(study: Study) -> Figure:
    """The tip of the spun-up beam, and the convergence of its extreme with the number of modes."""
    figure, axes = panels(1, 2, height=3.6, width_ratios=(1.4, 1.0))
    for colour, stiffening in zip(("#b0203a", "#1f5fa8", "#2f8f4e"), STIFFENINGS, strict=True):
        spins = [spin for spin in study.spin_up.values() if spin.stiffening == stiffening]
        last, dashes = spins[-1], "--" if stiffening == "full" else "-"
        axes[0, 0].plot(last.time, last.deflection, dashes, color=colour, linewidth=1.2, label=f"{stiffening}, {last.modes} modes")
        if stiffening != "none":
            extremes = [spin.entry["tip_extreme"] for spin in spins]
            axes[0, 1].plot([spin.modes for spin in spins], extremes, "o-", color=colour, label=stiffening)
    axes[0, 0].axvline(RISE, color="grey", linewidth=0.8, linestyle=":")
    axes[0, 1].axhline(EXACT_SPIN_UP, color="black", linewidth=0.8, linestyle=":", label="geometrically exact beam")
    axes[0, 1].set_xticks([spin.modes for spin in study.spin_up.values() if spin.stiffening == "full"])
    label(axes[0, 0], "spin-up to 6 rad/s in 15 s", TIME, "tip deflection, m")
    label(axes[0, 1], "its extreme", "number of modes", "tip extreme, m")
    axes[0, 0].legend(fontsize="small")
    axes[0, 1].legend(fontsize="small")
    return figure
