"""The claims of the literature on slider-cranks with clearance, compared with our results.

Motion after some impacts is chaotic: its numbers depend on round-off. Verdicts do not, since means over many turns are compared.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pliant.arrays import Floats
from pliant.gallery.clearance.runs import COMPARED_ROWS, MAPPED, Convergence, Free, Run, share_of_circle, spread
from pliant.gallery.clearance.system import CLEARANCES, FRICTION, SLIDER_MASS
from pliant.gallery.reproduction import ROUND_OFF, Claim
from pliant.results.result import Result

EXACT = 1e-10  # m: what "the same mechanism" may differ by
PUBLISHED = (3.0648, 110.72)  # turns and rad/s of the crank at the end, by time stepping with h = 1e-4 s
SAME = 0.01  # relative: numbers that agree with printed ones
SHARP = 5.0  # times the moment of the ideal mechanism: a sharp peak
FILLED = 0.5  # of the cells of the clearance circle
NEAR = 2.0  # times the acceleration of the ideal mechanism
TOUCHING = 0.1  # turn: a contact that lasts longer is a continuous one
STRONG = 0.1  # mu: more friction
SCATTERED, PERIODIC = 0.05, 1e-2  # clearances: spreads of a Poincare map


@dataclass(frozen=True)
class Study:
    """All runs of the reproduction."""

    smooth: Mapping[float, Run]  # without friction, by clearance
    rubbed: Mapping[float, Run]  # with the literature's least friction
    braked: Mapping[float, Run]  # with its largest
    elastic: Mapping[float, Run]  # with a rod that bends and stretches
    line: Run  # the largest clearance, by a law of a line of contact
    ideal: Result
    free: Mapping[str, Free]  # until the first touch
    convergence: Convergence
    maps: Mapping[float, Floats]  # Poincare maps of the largest clearance, by friction
    guided: Mapping[str, Result]

    @property
    def ideal_acceleration(self) -> float:
        return float(np.max(np.abs(self.ideal["a", "slider.displacement"])))

    @property
    def ideal_moment(self) -> float:
        return float(np.max(np.abs(self.ideal.values["effort"])))


def claims(study: Study) -> list[Claim]:
    return [*_before(study), *_clearance(study), *_crank(study), *_smoothing(study), *_chaos(study), *_guide(study)]


def mm(numbers: Mapping[float, float]) -> dict[str, float]:
    """Numbers by clearance."""
    return {f"{1e3 * clearance:g} mm": value for clearance, value in numbers.items()}


def _grows(numbers: Mapping[float, float]) -> bool:
    values = [numbers[clearance] for clearance in CLEARANCES]
    return values == sorted(values) and values[0] < values[-1]


def _before(study: Study) -> list[Claim]:
    apart = {name: one.apart for name, one in study.free.items()}
    return [
        Claim("until the first touch the mechanism moves as without its bearing or guide (largest distance, m)", "the same", apart,
              max(apart.values()) < EXACT, "beside Lagrange's equations without contacts"),
    ]  # fmt: skip


def _clearance(study: Study) -> list[Claim]:
    """What the size of the clearance does, without friction."""
    runs = study.smooth
    modes = {"free flight, share of time": runs[CLEARANCES[-1]].flight, "contacts per turn": runs[CLEARANCES[-1]].impacts,
             "longest contact, turns": runs[CLEARANCES[-1]].longest}  # fmt: skip
    impacts = mm({c: run.impacts for c, run in runs.items()})
    peaks, most = {c: run.peak for c, run in runs.items()}, {c: run.acceleration for c, run in runs.items()}
    inertia = SLIDER_MASS * study.ideal_acceleration
    fewer = runs[CLEARANCES[-1]].impacts < runs[CLEARANCES[0]].impacts
    return [
        Claim("free flight, impacts and continuous contact alternate (0.5 mm)", "alternate", modes,
              0.0 < modes["free flight, share of time"] < 1.0 and modes["longest contact, turns"] > TOUCHING, varies=ROUND_OFF),
        Claim("a larger clearance gives harder impacts (largest force of a turn, on average, N)", "harder", mm(peaks),
              _grows(peaks), f"an ideal joint carries {inertia:.0f} N", ROUND_OFF),
        Claim("a larger clearance gives larger peaks of the slider's acceleration (of a turn, on average, m/s^2)", "larger",
              mm(most), _grows(most), f"ideal: {study.ideal_acceleration:.0f} m/s^2", ROUND_OFF),
        Claim("a larger clearance gives fewer impacts (contacts per turn)", "fewer", impacts, fewer,
              "" if fewer else "with the smallest clearance the journal hardly leaves its bearing after the first turns; with the "
              "largest it bounces several times after each flight", ROUND_OFF),
    ]  # fmt: skip


def _crank(study: Study) -> list[Claim]:
    """Forces on the crank, and orbits."""
    moments = {c: run.moment for c, run in study.smooth.items()}
    shares = mm({c: share_of_circle(run.orbit) for c, run in study.smooth.items()})
    fills = share_of_circle(study.smooth[CLEARANCES[-1]].orbit)
    way = _largest_error(study)
    return [
        Claim("the crank's moment has sharp peaks (largest, N m)", "sharp", mm(moments),
              moments[CLEARANCES[-1]] > SHARP * study.ideal_moment, f"ideal: {study.ideal_moment:.0f} N m", ROUND_OFF),
        Claim("the journal's orbit fills the clearance circle (share of 144 cells of equal area that it visits)", "fills", shares,
              fills > FILLED, "" if fills > FILLED else "it stays near the wall, and crosses the circle on few ways", ROUND_OFF),
        Claim("the slider's position hardly differs from the ideal one (largest difference, clearances)", "hardly", mm(way),
              max(way.values()) < 1.5, "about the clearance itself", ROUND_OFF),
    ]  # fmt: skip


def _largest_error(study: Study) -> dict[float, float]:
    """Of the slider's position from that of the ideal mechanism, in clearances."""
    ideal = study.ideal["slider.displacement"]
    whole = len(ideal) - 1
    return {c: float(np.max(np.abs(run.result["slider.displacement"][run.late]
                                   - ideal[np.flatnonzero(run.late) % whole]))) / c for c, run in study.smooth.items()}  # fmt: skip


def _smoothing(study: Study) -> list[Claim]:
    """What takes from the peaks."""
    largest = CLEARANCES[-1]
    frictions = {"no friction": study.smooth, f"mu = {FRICTION:g}": study.rubbed, f"mu = {STRONG:g}": study.braked}
    peaks = {name: runs[largest].peak for name, runs in frictions.items()}
    smallest = study.rubbed[CLEARANCES[0]].acceleration / study.ideal_acceleration
    bent = {c: run.peak for c, run in study.elastic.items()}
    rigid = ", ".join(f"{study.smooth[c].peak:.0f}" for c in CLEARANCES)
    lower = all(bent[c] < study.smooth[c].peak for c in CLEARANCES)
    ratio = study.line.peak / study.smooth[largest].peak
    steadier = {name: runs[largest].flight for name, runs in frictions.items()}
    return [
        Claim("friction lowers the peaks (largest force of a turn, on average, 0.5 mm, N)", "lowers", peaks,
              list(peaks.values()) == sorted(peaks.values(), reverse=True), varies=ROUND_OFF),
        Claim("with more friction the joint loses contact less (share of free flight, 0.5 mm)", "less", steadier,
              list(steadier.values()) == sorted(steadier.values(), reverse=True), varies=ROUND_OFF),
        Claim("a small clearance with friction approaches the ideal joint (largest acceleration of a turn, "
              "on average, over the ideal one, 0.1 mm, "
              f"mu = {FRICTION:g})", "1", smallest, smallest < NEAR, varies=ROUND_OFF),
        Claim("an elastic rod lowers the peaks (largest force of a turn, on average, no friction, N)", "lowers", mm(bent), lower,
              f"rigid: {rigid} N; a bar of steel of 15 mm by 15 mm", ROUND_OFF),
        Claim("a law of spheres may stand for one of cylinders (largest force of a turn, on average, by Johnson's law "
              "over that by Lankarani-Nikravesh's)",
              "1", ratio, abs(ratio - 1.0) < 0.1, "a journal of 15 mm is stiffer than a ball in a hollow one of the same radii",
              ROUND_OFF),
    ]  # fmt: skip


def _chaos(study: Study) -> list[Claim]:
    """Convergence with the tolerance, and Poincare maps."""
    within = study.convergence.time <= 1.0
    errors = {f"rtol = {rtol:g}": float(np.max(apart[within])) for rtol, apart in study.convergence.apart.items()}
    spreads = {friction: spread(points) for friction, points in study.maps.items()}
    order = list(errors.values()) == sorted(errors.values(), reverse=True)
    lasts = study.convergence.apart[min(study.convergence.apart)]
    kept = int(np.argmax(lasts > SAME)) / COMPARED_ROWS if np.any(lasts > SAME) else math.inf
    return [
        Claim("runs converge with their tolerance (largest distance in the first turn from a tight run, clearances)", "converge",
              errors, order and min(errors.values()) < 1e-3, varies=ROUND_OFF),
        Claim("afterwards the motion is chaotic (turns until a run with rtol = 1e-11 is off by 1 % of the clearance)", "chaotic",
              kept, math.isfinite(kept),
              "the orbit is lost; over 200 turns, contacts per turn still agree to 1 % and mean peaks of a turn to 2 %", ROUND_OFF),
        Claim(f"a Poincare map of {MAPPED} turns without friction is scattered (standard deviation, clearances)", "scattered",
              spreads[0.0], spreads[0.0] > SCATTERED, varies=ROUND_OFF),
        Claim(f"with mu = {STRONG:g} it is one point (standard deviation, clearances)", "periodic", spreads[STRONG],
              spreads[STRONG] < PERIODIC, varies=ROUND_OFF),
    ]  # fmt: skip


def _guide(study: Study) -> list[Claim]:
    """The slider with play in its guide."""
    end = {name: [float(run["crank.angle"][-1]) / (2.0 * math.pi), float(run["v", "crank.angle"][-1])]
           for name, run in study.guided.items()}  # fmt: skip
    ours = end["impulsive"]
    same = all(abs(a / b - 1.0) < SAME for a, b in zip(ours, PUBLISHED, strict=True))
    why = ("time stepping of Moreau's with the paper's numbers ends at 2.818 turns with h = 1e-4 s and at 2.8715 and 2.8748 with "
           "1e-5 and 5e-6 s, on its way to ours: the printed end is not that of the printed numbers")  # fmt: skip
    off = abs(end["elastic"][0] - ours[0])
    return [
        Claim("the guided slider's crank at 0.2 s: turns, and rad/s (rigid impacts)", list(PUBLISHED), ours, same,
              "" if same else why),
        Claim("an elastic corner cannot equal a rigid impact after the first touch (difference of the crank's turns)", "differs",
              off, off > 1e-4, "with K = 1e9 N/m^1.5 and a law that delivers e = 0.4", ROUND_OFF),
    ]  # fmt: skip
