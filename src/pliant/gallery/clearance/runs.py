"""The runs of both slider-cranks, and what that literature looks at: forces, accelerations, the crank's moment, orbits, maps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pliant.arrays import Floats, Truths
from pliant.gallery.clearance.system import (
    GUIDED_END,
    TURN,
    Case,
    guided_slider_crank,
    ideal_slider_crank,
    slider_crank,
)
from pliant.gallery.reproduction import whole
from pliant.integrate.methods.method import DOP853, Auto, Method
from pliant.model.system import System
from pliant.results.contacts import ContactTable
from pliant.results.result import Result
from pliant.results.table import IN_LEDGER
from pliant.run.simulate import simulate

SETTLED, TURNS = 4, 12  # turns: the first of them are not looked at
ROWS = 720  # a turn
MAPPED = 80  # turns of a Poincare map
KEPT = ("q", "v", "a", "tip_position", "normal_force", "effort", "gap", *IN_LEDGER)
# The motion is chaotic, and which of a few turns has the hardest impact is chance: what is compared are means over many turns.
LONG, LONG_ROWS = 150, 360  # turns, rows a turn
LONG_KEPT = ("a", "normal_force", "effort", "gap")
METHOD = Auto(rtol=1e-11, atol=1e-14)  # the energy of thousands of hard impacts balances
FAST = Auto(rtol=1e-8, atol=1e-11)  # for means
TIGHT = DOP853(rtol=1e-12, atol=1e-14)
LOOSER = (1e-7, 1e-9, 1e-11)  # rtol of the runs that are compared with a tight one
COMPARED, COMPARED_ROWS = 3, 300  # turns, rows a turn
PIN = "pin rod.tip"


@dataclass(frozen=True)
class Run:
    """A bearing that runs; numbers are of the turns after the first few."""

    case: Case
    result: Result
    long: Result  # many more turns, less tightly

    @property
    def late(self) -> Truths:
        return np.asarray(self.result.time >= SETTLED * TURN)

    @cached_property
    def force(self) -> Floats:
        """Of the bearing, N."""
        return np.asarray(self.result["normal_force", PIN])

    @cached_property
    def contacts(self) -> ContactTable:
        return ContactTable(one for one in self.long.contacts if one.lasting or one.end > SETTLED * TURN)

    @property
    def impacts(self) -> float:
        """Contacts that begin, per turn."""
        return sum(one.begin > SETTLED * TURN for one in self.contacts) / (LONG - SETTLED)

    @property
    def flight(self) -> float:
        """Share of the time in which nothing touches."""
        return float(np.mean(self._by_turn(self.long["gap", PIN]) > 0.0))

    @property
    def longest(self) -> float:
        """The longest of the contacts that ended, in turns; 0 if none did."""
        return max((one.duration for one in self.contacts if not one.lasting), default=0.0) / TURN

    @property
    def peak(self) -> float:
        """The largest force of a turn, N, on average."""
        largest = np.max(self._by_turn(self.long["normal_force", PIN]), axis=1)
        for one in self.contacts:
            turn = math.floor(one.peak_time / TURN) - SETTLED
            if 0 <= turn < len(largest):
                largest[turn] = max(largest[turn], one.peak_force)
        return float(np.mean(largest))

    @property
    def acceleration(self) -> float:
        """The largest of the slider in a turn, m/s^2, on average, in rows."""
        return float(np.mean(np.max(np.abs(self._by_turn(self.long["a", "slider.displacement"])), axis=1)))

    @property
    def moment(self) -> float:
        """The largest of the crank, N m, in rows."""
        return float(np.max(np.abs(self._by_turn(self.long.values["effort"][:, 0]))))

    def _by_turn(self, rows: Floats) -> Floats:
        """(turn, row): rows of the long run, a turn being without its last, with which the next begins."""
        return np.array(rows[SETTLED * LONG_ROWS : LONG * LONG_ROWS], dtype=float).reshape(-1, LONG_ROWS)

    @cached_property
    def orbit(self) -> Floats:
        """(row, axis): the journal's centre in the bearing, in clearances."""
        way = self.result.of_body("tip_position", "rod") - self.result.of_body("tip_position", "slider")
        return np.asarray(way[self.late, :2] / self.case.clearance)

    @property
    def summary(self) -> dict[str, Any]:
        return {"impacts_per_turn": self.impacts, "flight": self.flight, "peak_force": self.peak, "acceleration": self.acceleration,
                "moment": self.moment, "energy_error_max": self.result.ledger.relative_error_max}  # fmt: skip


@dataclass(frozen=True)
class Free:
    """A run until its first touch beside the free mechanism, by other equations and another method."""

    touch: float  # s
    apart: float  # m, the largest distance of the tips of both


@dataclass(frozen=True)
class Convergence:
    """How far runs of looser tolerance are from a tight one, in clearances."""

    time: Floats  # turns
    apart: Mapping[float, Floats]  # by rtol


def run(case: Case) -> Run:
    system = slider_crank(case)
    shown = whole(simulate(system, TURNS * TURN, method=METHOD, save=TURN / ROWS, keep=KEPT))
    return Run(case, shown, whole(simulate(system, LONG * TURN, method=FAST, save=TURN / LONG_ROWS, keep=LONG_KEPT)))


def ideal() -> Result:
    """A turn of the mechanism with an ideal joint."""
    return whole(simulate(ideal_slider_crank(), TURN, save=TURN / ROWS, keep=KEPT))


def poincare(case: Case) -> Floats:
    """(turn, 2): position of the journal along the guide, in clearances, and the slider's speed, m/s, once a turn."""
    kept = ("q", "v", "tip_position")
    result = whole(simulate(slider_crank(case), MAPPED * TURN, save=TURN, keep=kept))
    way = result.of_body("tip_position", "rod") - result.of_body("tip_position", "slider")
    late = slice(SETTLED, None)
    return np.stack([way[late, 0] / case.clearance, result["v", "slider.displacement"][late]], axis=1)


def convergence(case: Case) -> Convergence:
    system, save = slider_crank(case), TURN / COMPARED_ROWS

    def positions(method: Method) -> Floats:
        return np.asarray(whole(simulate(system, COMPARED * TURN, method=method, save=save, keep=KEPT)).values["tip_position"])

    tight = positions(TIGHT)
    apart = {rtol: _distance(positions(DOP853(rtol=rtol, atol=1e-2 * rtol)), tight) / case.clearance for rtol in LOOSER}
    return Convergence(np.arange(len(tight)) / COMPARED_ROWS, apart)


def until_touch(touching: System, free: System, end: float) -> Free:
    """The run stands beside the same bodies without contacts, by Lagrange's equations and a finer tolerance."""
    begin = whole(simulate(touching, end, method=TIGHT, save=[0.0, end])).contacts[0].begin
    rows = np.linspace(0.0, begin, 101)
    kept = ("q", "tip_position")
    ours = simulate(touching, begin, method=TIGHT, save=rows, keep=kept)
    theirs = simulate(free, begin, method=replace(TIGHT, rtol=1e-13), save=rows, formulation="lagrange", keep=kept)
    return Free(begin, float(np.max(_distance(ours.values["tip_position"], theirs.values["tip_position"]))))


def _distance(one: Floats, other: Floats) -> Floats:
    """By row, of the tip that is farthest from that of the other."""
    return np.asarray(np.max(np.linalg.norm(one - other, axis=2), axis=1))


def guided(impulsive: bool = True) -> Result:
    return whole(simulate(guided_slider_crank(impulsive), GUIDED_END, method=DOP853(rtol=1e-10, atol=1e-12)))


def spread(points: Floats) -> float:
    """Of a map along its first axis: standard deviation, in clearances."""
    return float(np.std(points[:, 0]))


def share_of_circle(orbit: Floats, cells: int = 12) -> float:
    """The share of cells of equal area of the clearance circle that an orbit visits."""
    radius, angle = np.hypot(*orbit.T), np.arctan2(orbit[:, 1], orbit[:, 0])
    ring = np.minimum((np.minimum(radius, 1.0) ** 2 * cells).astype(int), cells - 1)
    sector = ((angle / (2.0 * math.pi) + 0.5) * cells).astype(int) % cells
    return len(set(zip(ring.tolist(), sector.tolist(), strict=True))) / cells**2
