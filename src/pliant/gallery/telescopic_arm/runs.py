"""The runs of the telescopic arm: the paper's example, the inverse dynamics of a prescribed motion, a slow extension."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.arrays import Floats
from pliant.gallery.reproduction import Recorded, whole
from pliant.gallery.telescopic_arm.system import (
    DEFLECTION,
    LENGTH,
    MOTION,
    START,
    T_END,
    TORQUE,
    extending_arm,
    telescopic_arm,
)
from pliant.integrate.methods.method import DOP853, Method
from pliant.results.result import Result
from pliant.run.inverse import inverse_dynamics
from pliant.run.prepare import compile_system
from pliant.run.simulate import simulate

TIGHT = DOP853(rtol=1e-12, atol=1e-16)  # atol: the third modal coordinate is only 1e-7 m and needs correct digits too
ROW = 5e-4  # s between rows: 26 rows per period of the first mode
FINE_ROW = 1e-4  # s: seven rows per period of the third mode, which is visible in the torque
SAMPLES = 10  # intervals between the rows of summary.json: 0.1 s
COORDINATES = {"q": "arm.angle", "l": "arm.extension"}  # the paper's names of ours; modes are delta1, delta2, ...
SLOW = 4.0  # s for the slow extension; the error of the ratio decreases with its fifth power


@dataclass(frozen=True)
class Run(Recorded):
    """One run of the paper's example."""

    model: str
    force: float  # N
    modes: int
    result: Result
    derive_s: float  # mode shapes, equations and machine code, with nothing reused from a cache
    wall_s: float  # the time loop, the fastest of several

    @property
    def coordinates(self) -> dict[str, str]:
        return {**COORDINATES, **{f"delta{k}": f"arm.y{k}" for k in range(1, self.modes + 1)}}

    @cached_property
    def columns(self) -> dict[str, Floats]:
        """Over time, by the paper's names, rates with _dot; tip is the deflection of the arm's end, m."""
        positions = {name: self.result[ours] for name, ours in self.coordinates.items()}
        rates = {f"{name}_dot": self.result.rate(ours) for name, ours in self.coordinates.items()}
        tip = self.result.of_body("tip_deflection", "arm")[:, 1]
        return {"t": self.time, **positions, **rates, "tip": tip}

    @property
    def states(self) -> Floats:
        """Coordinates and rates, (time, state)."""
        return np.stack([series for name, series in self.columns.items() if name not in ("t", "tip")], axis=1)

    @property
    def sleeve_end_time(self) -> float | None:
        """When l passes L, s."""
        return _leaves(self.result)

    @property
    def energy_error(self) -> Floats:
        """Stored energy minus work done, J."""
        return self.result.ledger.balance_error

    @property
    def work(self) -> Floats:
        """Work of torque and force, J."""
        return np.asarray(sum(self.result.ledger.work.values()))

    @property
    def case(self) -> dict[str, Any]:
        """The entry in summary.json."""
        return {
            "columns": list(self.columns),
            "samples": _sampled(self.columns),
            "sleeve_end_time": self.sleeve_end_time,
            "energy_error_max": float(np.max(np.abs(self.energy_error))),
            "wall_s": self.wall_s,
            "derive_s": self.derive_s,
        }


def run(
    model: str,
    force: float = TORQUE,
    modes: int = 1,
    method: Method = TIGHT,
    formulation: str = "articulated",
    repeat: int = 1,
) -> Run:
    """The paper's example, freshly compiled; run several times if its run time is wanted."""
    compiled = compile_system(telescopic_arm(model, force, modes), formulation, cache=False)
    results = [whole(simulate(compiled, T_END, method=method, save=_rows(ROW).tolist())) for _ in range(repeat)]
    wall_s = min(float(result.stats["wall_s"]) for result in results)
    made_s = sum(seconds for stage, seconds in compiled.seconds.items() if stage != "import")
    return Run(model, force, modes, results[0], made_s, wall_s)


def continuation(model: str, modes: int = 1, gravity: float = 0.0) -> tuple[float | None, float]:
    """The time at which the arm leaves its sleeve, and the time until which the run can formally continue, s."""
    result = simulate(telescopic_arm(model, modes=modes, gravity=gravity), T_END, method=TIGHT, save="steps")
    return _leaves(result), float(result.time[-1])


def _leaves(result: Result) -> float | None:
    return next((event.t for event in result.events if event.name == "arm leaves its sleeve"), None)


@dataclass(frozen=True)
class Inverse:
    """Torque and force of the prescribed motion."""

    model: str
    modes: int
    result: Result

    @property
    def columns(self) -> dict[str, Floats]:
        efforts = dict(zip(self.result.labels["drive"], self.result.values["effort"].T, strict=True))
        return {"t": self.result.time, "tau": efforts["arm.angle motion"], "F": efforts["arm.extension motion"]}

    @property
    def case(self) -> dict[str, Any]:
        """The entry in summary.json."""
        return {"columns": list(self.columns), "rows": _sampled(self.columns)}


def inverse(model: str, modes: int = 1) -> Inverse:
    """The elastic coordinates run forward from rest."""
    system, rows = telescopic_arm(model, modes=modes), _rows(FINE_ROW).tolist()
    return Inverse(model, modes, whole(inverse_dynamics(system, MOTION, T_END, method=TIGHT, save=rows)))


@dataclass(frozen=True)
class Extension:
    """A vibrating arm extended slowly from L/2 to L."""

    model: str
    result: Result

    @property
    def length(self) -> Floats:
        return self.result["arm.extension"]

    @property
    def ratio(self) -> float:
        """The amplitude at L over that at L/2, from the energy: sqrt(2 E/K), where K falls as 1/l^3.

        At the beginning and at the end l is at rest, so all energy is that of the vibration.
        """
        begin, end = self.result.ledger.energy[0], self.result.ledger.energy[-1]
        return math.sqrt(end / begin * (LENGTH / START) ** 3)

    @property
    def deflection(self) -> Floats:
        """Mode weight over its amplitude at the start."""
        return self.result["arm.y1"] / DEFLECTION


def extend(model: str, duration: float = SLOW, phase: float = 0.0, modes: int = 1, rows: int = 1) -> Extension:
    system, times = extending_arm(model, duration, phase, modes), np.linspace(0.0, duration, rows + 1)
    return Extension(model, whole(simulate(system, duration, method=TIGHT, save=times.tolist())))


def _sampled(columns: Mapping[str, Floats]) -> list[list[float]]:
    """Every tenth of the run, one list per row."""
    step = (len(columns["t"]) - 1) // SAMPLES
    rows: list[list[float]] = np.stack([series[::step] for series in columns.values()], axis=1).tolist()
    return rows


def _rows(interval: float) -> Floats:
    """From 0 to the end; each the double nearest to its multiple."""
    count = round(T_END / interval)
    return np.arange(count + 1) / (count / T_END)
