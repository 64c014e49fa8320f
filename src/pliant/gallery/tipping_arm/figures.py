"""Figures 2 to 5 of Wang, Yan, Fang and Jin 2012, and cases beyond them: softer walls, more modes, all terms, the other fall."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.gallery.reproduction import label, panels, shared_legend
from pliant.gallery.tipping_arm.claims import EXACT_SPIN_UP, SOFTER, Study
from pliant.gallery.tipping_arm.runs import Run
from pliant.gallery.tipping_arm.spin_up import RISE, STIFFENINGS
from pliant.gallery.tipping_arm.system import ALPHA

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Series = Callable[[Run], Floats]

COLOURS = {0.5: "#d1731c", 1.0: "#1f5fa8", 2.0: "#2f8f4e"}  # by EI
DAMPINGS = (0.0, ALPHA)
TIME, SINCE = "time, s", "time since the first touch, ms"
KNOCK = (-10.0, 90.0)  # µs since the first touch
IMPACT = (-1.0, 12.0)  # ms since the first touch
TURNING = (-1.0, 30.0)  # ms since the first touch
VIBRATION = (-5.0, 60.0)  # ms since the first touch


def figures(study: Study) -> Mapping[str, Callable[[], Figure]]:
    """Functions that draw, by name."""
    return {
        "fig02": partial(_contact_force, study),
        "fig03": partial(_joint_angle, study),
        "fig04": partial(_angular_velocity, study),
        "fig05": partial(_tip_deflection, study),
        "softer_contact": partial(_softer_contact, study),
        "modes": partial(_modes, study),
        "as_published": partial(_as_published, study),
        "swing135": partial(_other_geometry, study),
        "spin_up": partial(_spin_up, study),
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
    """Fig. 2: the run, the impact, the first knock."""
    figure, axes = panels(2, 3, height=3.0, width_ratios=(1.0, 1.5, 1.0))
    for row, alpha in zip(axes, DAMPINGS, strict=True):
        runs = study.drawn(alpha=alpha)
        _draw(row[0], runs, _force)
        _draw_since(row[1], runs, _force, IMPACT)
        _draw_knock(row[2], runs)
        label(row[0], f"alpha = {alpha:g} 1/s: the run", TIME, "contact force, kN")
        label(row[1], "the impact", SINCE)
        label(row[2], "the first knock", "time since the first touch, µs")
    shared_legend(figure, axes[0, 1])
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
    """Fig. 4."""
    figure, axes = panels(2, 2, height=3.0)
    for row, alpha in zip(axes, DAMPINGS, strict=True):
        runs = study.drawn(alpha=alpha)
        _draw(row[0], runs, lambda run: run.speed, 0.6)
        _draw_since(row[1], runs, lambda run: run.speed, TURNING)
        label(row[0], _damped(alpha), TIME, "angular velocity, rad/s")
        label(row[1], "the impact", SINCE)
    shared_legend(figure, axes[0, 1])
    return figure


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
