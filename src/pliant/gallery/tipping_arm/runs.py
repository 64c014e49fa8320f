"""The runs of the tipping arm and the quantities that the paper examines: knocks at the wall, rebound, vibration, energy.

The largest angle and the largest deflections are events of the run (the rate of the angle, or of w(l), passes zero). Every event
is a row, so extremes are read from rows, not from an interpolant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pliant.arrays import Floats, Truths
from pliant.beams import beam_shapes
from pliant.dynamics.tree import build_tree
from pliant.gallery.reproduction import Recorded, swept, whole
from pliant.gallery.tipping_arm.system import Case, arm, body_and_arm, tipping_arm
from pliant.integrate.methods.method import DOP853, Method
from pliant.model.beam import Beam
from pliant.model.parameter import Parameter
from pliant.model.system import System
from pliant.results.contacts import ContactRecord
from pliant.results.result import Result
from pliant.run.simulate import simulate
from pliant.study.sweep.over import Grid

TIGHT = DOP853(rtol=1e-12, atol=1e-14)
T_END = {"down45": 1.0, "swing135": 1.3}  # s: after the rebound, before the arm returns to the wall
BODY_T_END = 0.004  # s: the first knock of body and arm is over
PAUSE = 0.02  # s: knocks less than this apart are one cluster
AFTER = (0.0, 0.15)  # s after the first cluster: where the vibration of the tip is measured
LATE = (0.25, 0.30)  # s after the first cluster: where the remaining vibration is measured
ARM_TURNS, TIP_TURNS = "the arm turns", "the tip turns"  # events: theta' = 0, w'(l) = 0


@dataclass(frozen=True)
class Run(Recorded):
    """One run, every step saved."""

    case: Case
    result: Result

    @property
    def angle(self) -> Floats:
        """theta, rad."""
        return self.result["arm.angle"]

    @property
    def speed(self) -> Floats:
        """theta', rad/s."""
        return self.result.rate("arm.angle")

    @property
    def deflection(self) -> Floats:
        """w(l), m."""
        return self.result.of_body("tip_deflection", "arm")[:, 1]

    @property
    def force(self) -> Floats:
        """At the tip, N."""
        return self.result.values["normal_force"][:, 0]

    @cached_property
    def clusters(self) -> list[list[ContactRecord]]:
        """Knocks in quick succession, grouped into impacts of the arm."""
        clusters: list[list[ContactRecord]] = []
        for record in self.result.contacts:
            if not clusters or record.begin - clusters[-1][-1].end >= PAUSE:
                clusters.append([])
            clusters[-1].append(record)
        return clusters

    @property
    def knocks(self) -> list[ContactRecord]:
        """The first cluster."""
        return self.clusters[0]

    @property
    def first_touch(self) -> float:
        return self.knocks[0].begin

    @property
    def release(self) -> float:
        """The end of the first cluster, s."""
        return self.knocks[-1].end

    @property
    def span(self) -> float:
        return self.release - self.first_touch

    @property
    def hardest(self) -> ContactRecord:
        return max(self.knocks, key=lambda record: record.peak_force)

    @property
    def rebound_angle(self) -> float:
        """Largest |theta - wall| between the first cluster and the next, rad."""
        until = self.clusters[1][0].begin if len(self.clusters) > 1 else np.inf
        rows = (self.time >= self.release) & (self.time <= until)
        return float(np.max(np.abs(self.angle[rows] - self.case.wall)))

    def tip_amplitude(self, window: tuple[float, float] = AFTER) -> float:
        """Half the range of the turning points of w(l) between two times after the first cluster, m.

        Only turning points count: an arm that leaves the wall bent and straightens at once does not vibrate.
        """
        turns = np.array([event.t for event in self.result.events if event.name == TIP_TURNS])
        return 0.5 * float(np.ptp(self.deflection[np.isin(self.time, turns) & self._within(self.time, window)]))

    def speed_amplitude(self, window: tuple[float, float] = AFTER) -> float:
        """Half the range of the turning points of theta', rad/s; they are not events, but cubics between rows locate them well."""
        from scipy.interpolate import CubicHermiteSpline

        column = list(self.result.labels["rate"]).index("arm.angle")
        since = self.time >= self.release
        time, kept = np.unique(self.time[since], return_index=True)
        speed, rate = self.speed[since][kept], self.result.values["a"][since, column][kept]
        course = CubicHermiteSpline(time, speed, rate)
        turns = course.derivative().roots(discontinuity=False, extrapolate=False)
        return 0.5 * float(np.ptp(course(turns[self._within(turns, window)])))

    def _within(self, times: Floats, window: tuple[float, float]) -> Truths:
        return (times >= self.release + window[0]) & (times <= self.release + window[1])

    @cached_property
    def energy_error(self) -> Floats:
        """The balance error of the full Lagrangian's energy and the work done on the arm, as a fraction of the energy of the fall.

        The published equations omit terms and conserve no energy of their own, so they are compared with the same energy.
        """
        ledger = self.result.ledger
        if self.case.model == "full":
            return np.abs(ledger.balance_error) / self.case.fall
        kinetic, gravity = self._whole_energies()
        put_in = sum(ledger.work.values(), np.zeros_like(self.time))
        held = kinetic + gravity + ledger.held["strain"] + ledger.held["contact"] - put_in
        return np.asarray(np.abs(held - held[0])) / self.case.fall

    def _whole_energies(self) -> tuple[Floats, Floats]:
        """Kinetic and gravitational energy in the states of this run, with all terms, J; evaluates the formulas over arrays."""
        system = tipping_arm(replace(self.case, model="full"))
        q = [self.result[name] for name in self.result.labels["coordinate"]]
        v = [self.result.rate(name) for name in self.result.labels["rate"]]
        body = build_tree(system).nodes[0].shape(q, v)
        along, across, _ = body.moment
        height = np.sin(self.angle) * along + np.cos(self.angle) * across
        kinetic = body.kinetic_energy((0.0, 0.0, self.speed), (0.0, 0.0, 0.0))
        return np.asarray(kinetic), np.asarray(-system.gravity[1] * height)

    @property
    def entry(self) -> dict[str, Any]:
        """The entry in summary.json."""
        return {
            "contacts": [_contact(record) for record in self.result.contacts],
            "first_touch": self.first_touch,
            "peak_force": self.hardest.peak_force,
            "peak_delay": self.hardest.peak_time - self.first_touch,
            "span": self.span,
            "rebound_angle": self.rebound_angle,
            "tip_amplitude": self.tip_amplitude(),
            "energy_error_max": float(np.max(self.energy_error)),
            "wall_s": float(self.result.stats["wall_s"]),
        }


def _contact(record: ContactRecord) -> dict[str, float]:
    return {
        "begin": record.begin,
        "end": record.end,
        "approach": record.entry_speed,
        "separation": record.exit_speed,
        "peak": record.peak_force,
        "impulse": record.impulse,
    }


def tip_values(beam: Beam) -> list[float]:
    """W_j(l) of the shapes along y."""
    return [float(w) for w in beam_shapes(beam).displacement(beam.length)[0, 1]]


def tip_weights(beam: Beam) -> tuple[Parameter, ...]:
    """W_j(l) as parameters, so that all beams share the same formulas and the same compiled code."""
    return tuple(Parameter(f"tip_weight_{k}", w) for k, w in enumerate(tip_values(beam), start=1))


def watched(case: Case) -> System:
    """The arm with the events from which extremes are read."""
    system = tipping_arm(case)
    tips = tip_weights(arm(case))
    system.event(ARM_TURNS, lambda t, q, v: v["arm.angle"])
    system.event(TIP_TURNS, lambda t, q, v: sum(w * v[f"arm.y{k + 1}"] for k, w in enumerate(tips)))
    return system


def run(case: Case, method: Method = TIGHT, t_end: float | None = None) -> Run:
    """One run with every step saved."""
    end = T_END[case.geometry] if t_end is None else t_end
    return Run(case, whole(simulate(watched(case), end, method=method, save="steps")))


def first_knock(locked: bool, raised: float) -> float:
    """The peak force of the first knock of body and arm, N."""
    return float(simulate(body_and_arm(locked, raised), BODY_T_END, method=TIGHT).contacts[0].peak_force)


def run_all(tell: Callable[[float], None] | None = None, t_end: float | None = None, **axes: Sequence[Any]) -> list[Run]:
    """All combinations of the numbers of cases of one geometry, the last number varying fastest; every step is saved."""
    geometry = str(axes.get("geometry", [Case.geometry])[0])
    settings = {"t_end": T_END[geometry] if t_end is None else t_end, "method": TIGHT, "save": "steps"}
    results = swept(_watched, axes, settings, tell)
    return [Run(_case(**case), result) for case, result in zip(Grid(axes), results, strict=True)]


def _case(**numbers: Any) -> Case:
    return Case(**numbers)


def _watched(**numbers: Any) -> System:
    return watched(_case(**numbers))
