"""The runs of the slider-crank, free and driven, and the quantities that the paper examines: slider, rod, contacts, energy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from pliant.arrays import Floats, Truths
from pliant.gallery.reproduction import Recorded, swept, whole
from pliant.gallery.slider_crank.system import (
    AREA,
    MATERIALS,
    ROD,
    SLIDER_MASS,
    SPEED,
    driven_crank,
    free_slider,
    slider_crank,
)
from pliant.integrate.methods.method import DOP853, Method
from pliant.model.modes import ElementModes
from pliant.model.system import System
from pliant.results.contacts import ContactRecord
from pliant.results.result import Result
from pliant.run.simulate import simulate

TIGHT = DOP853(rtol=1e-11, atol=1e-14)
T_END = 0.1  # s
GRID = 2e-4  # s between samples of summary.json
FINE = 2e-5  # s between rows: a tenth of the period of one element's axial vibration
IMPACT = (0.0362, 0.0374, 1e-6)  # s: the first impact of all rods, and the rows in it
TURN = 2.0 * math.pi / SPEED  # s
TURNS = 4
FREE_END = 1e-3  # s: by then a free slider at 15 m/s has hit the obstacle and left it
DRIVEN_GRID, DRIVEN_STORED, DRIVEN_SAMPLES = (
    1e-5,
    10,
    100,
)  # s between rows, rows between stored ones and between samples
COLUMNS = ("t", "crank_angle", "crank_speed", "slider_x", "slider_v", "u_tip", "v_mid", "kinetic", "strain",
           "rayleigh_loss", "contact_loss")  # fmt: skip
DRIVEN_COLUMNS = ("t", "crank_angle", "slider_x", "slider_v", "u_tip", "v_mid")


@dataclass(frozen=True)
class Mechanism(Recorded):
    """A result, by the names of the paper. elements: of the rod, 0 for a rigid one."""

    elements: int
    result: Result

    @property
    def crank_angle(self) -> Floats:
        return self.result["crank.angle"]

    @property
    def crank_speed(self) -> Floats:
        return self.result.rate("crank.angle")

    @property
    def slider_x(self) -> Floats:
        return self.result.of_body("tip_position", "rod")[:, 0]

    @property
    def slider_v(self) -> Floats:
        return self.result.of_body("tip_velocity", "rod")[:, 0]

    @property
    def u_tip(self) -> Floats:
        """The elongation of the rod, m."""
        return self.result[f"rod.axial{self.elements}"] if self.elements else np.zeros_like(self.time)

    @cached_property
    def v_mid(self) -> Floats:
        """Deflection of the rod's mid-point from the line through its pins, m."""
        if not self.elements:
            return np.zeros_like(self.time)
        nodal = ElementModes(self.elements).nodal
        coordinate = {place: self.result[f"rod.y{k + 1}"] for k, place in enumerate(nodal)}
        if self.elements % 2 == 0:
            return coordinate[self.elements // 2, "deflection"]
        # middle of a cubic: half the sum of both deflections, plus an eighth of the length times the difference of both slopes
        left, right, h = self.elements // 2, self.elements // 2 + 1, ROD / self.elements
        zero = np.zeros_like(self.time)
        ends = [coordinate.get((node, "deflection"), zero) for node in (left, right)]
        bent = coordinate[left, "slope"] - coordinate[right, "slope"]
        return np.asarray(0.5 * (ends[0] + ends[1]) + 0.125 * h * bent)

    @property
    def wall_s(self) -> float:
        return float(self.result.stats["wall_s"])

    def rows(self, columns: Sequence[str], chosen: Any) -> list[list[float]]:
        series = [self.time, *(getattr(self, name) for name in columns[1:])]
        return np.column_stack([values[chosen] for values in series]).tolist()  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Run(Mechanism):
    """One run towards the obstacle."""

    @property
    def stored(self) -> Result:
        """The result for the file: the rows of summary.json and those of the first impact."""
        return _rows_of(self.result, self._every(GRID) | ((self.time >= IMPACT[0]) & (self.time <= IMPACT[1])))

    @property
    def contacts(self) -> tuple[ContactRecord, ...]:
        return tuple(self.result.contacts)

    @property
    def first_impact(self) -> list[ContactRecord]:
        """The contacts of the slider's first approach to the obstacle."""
        return [record for record in self.contacts if record.begin < IMPACT[1]]

    @property
    def kinetic(self) -> Floats:
        return self.result.values["kinetic"]

    @property
    def strain(self) -> Floats:
        return self.result.values["strain"]

    @property
    def force(self) -> Floats:
        """Normal force of the contact, N."""
        return self.result.values["normal_force"][:, 0]

    @property
    def rayleigh_loss(self) -> Floats:
        return self._taken(".rayleigh")

    @property
    def contact_loss(self) -> Floats:
        return self._taken(" normal")

    def _taken(self, kind: str) -> Floats:
        """By one kind of source, J."""
        parts = [-work for name, work in self.result.ledger.work.items() if name.endswith(kind)]
        return np.sum(parts, axis=0) + 0.0 if parts else np.zeros_like(self.time)

    @property
    def loss(self) -> Floats:
        """Fig. 7: the initial energy minus that of the mechanism. Energy stored in the contact counts as lost until it returns."""
        held = self.kinetic + self.strain
        return np.asarray(held[0] - held)

    @property
    def energy_error_max(self) -> float:
        """Largest error of the energy balance, as a fraction of the initial energy."""
        return self.result.ledger.balance_error_max / float(self.kinetic[0])

    @property
    def compression_max(self) -> float:
        """Largest mean axial compression of the rod, N: -E A u / L."""
        return float(MATERIALS["steel"].E * AREA / ROD * np.max(-self.u_tip))

    def between(self, begin: float, end: float) -> Truths:
        """Evenly spaced rows from one time to another."""
        return self._every(FINE) & (self.time >= begin) & (self.time <= end)

    def at(self, t: float) -> int:
        """The row nearest to a time."""
        return int(np.argmin(np.abs(self.time - t)))

    def _every(self, interval: float) -> Truths:
        """Rows at multiples of an interval."""
        steps = self.time / interval
        return np.asarray(np.abs(steps - np.round(steps)) < 1e-6)

    @property
    def case(self) -> dict[str, Any]:
        """The entry in summary.json. Speeds of separation are negative, as in the page's table."""
        touches = [
            {"begin": record.begin, "end": None if record.lasting else record.end, "approach": record.entry_speed,
             "separation": -record.exit_speed, "peak": record.peak_force, "loss": record.normal_loss}
            for record in self.contacts
        ]  # fmt: skip
        return {
            "contacts": touches,
            "columns": list(COLUMNS),
            "samples": self.rows(COLUMNS, self._every(GRID)),
            "energy_error_max": self.energy_error_max,
            "wall_s": self.wall_s,
        }


@dataclass(frozen=True)
class Driven(Mechanism):
    """The crank at constant speed; rows every 1e-5 s, four turns."""

    material: str

    @property
    def stored(self) -> Result:
        """The result for the file: every tenth row."""
        return _rows_of(self.result, slice(None, None, DRIVEN_STORED))

    @property
    def first_turn(self) -> Floats:
        return self.v_mid[self.time <= TURN]

    @cached_property
    def transient(self) -> tuple[Floats, Floats]:
        """The transient: the first three turns minus the fourth, which is steady; times, and deflections in m."""
        steady = self.time >= (TURNS - 1) * TURN
        when = self.time[~steady]
        phase = (TURNS - 1) * TURN + np.mod(when, TURN)
        return when, self.v_mid[~steady] - np.interp(phase, self.time[steady], self.v_mid[steady])

    @cached_property
    def decay_rate(self) -> float:
        """1/s, from the peaks of the first turn's transient."""
        when, rest = self.transient
        size = np.abs(rest)
        inner = (size[1:-1] > size[:-2]) & (size[1:-1] >= size[2:]) & (when[1:-1] < TURN)
        peaks = np.flatnonzero(inner) + 1
        return float(-np.polyfit(when[peaks], np.log(size[peaks]), 1)[0])

    @property
    def case(self) -> dict[str, Any]:
        chosen = slice(None, None, DRIVEN_SAMPLES)
        return {
            "v_mid_max": float(np.max(self.first_turn)),
            "v_mid_min": float(np.min(self.first_turn)),
            "columns": list(DRIVEN_COLUMNS),
            "samples": self.rows(DRIVEN_COLUMNS, chosen),
            "wall_s": self.wall_s,
        }


def run(elements: int = 1, damped: bool = False, method: Method = TIGHT, t_end: float = T_END) -> Run:
    """One run, saved evenly and more finely in the first impact. elements = 0 is a rigid rod."""
    return Run(elements, _done(slider_crank(elements, damped), t_end, _impact_rows(t_end), method))


def run_all(
    elements: Sequence[int], damped: Sequence[bool], tell: Callable[[float], None] | None = None
) -> dict[tuple[int, bool], Run]:
    """All combinations, by elements and damping."""
    settings = {"t_end": T_END, "method": TIGHT, "save": _impact_rows(T_END)}
    results = swept(slider_crank, {"damped": damped, "elements": elements}, settings, tell)
    return {(n, d): Run(n, result) for (d, n), result in zip(product(damped, elements), results, strict=True)}


def _impact_rows(t_end: float) -> list[float]:
    begin, end, step = IMPACT
    grid = np.arange(round(t_end / FINE) + 1) * FINE
    impact = begin + step * np.arange(round((end - begin) / step) + 1)
    times: list[float] = np.unique(np.concatenate([grid, impact[impact < t_end]]).round(9)).tolist()
    return times


def drive(material: str = "steel", elements: int = 1, damped: bool = True, slider_mass: float = SLIDER_MASS,
          method: Method = TIGHT) -> Driven:  # fmt: skip
    """Four turns of the driven crank."""
    system = driven_crank(material, elements, damped, slider_mass)
    return Driven(elements, _done(system, TURNS * TURN, DRIVEN_GRID, method), material)


def drive_all(cases: Sequence[Mapping[str, Any]]) -> list[Driven]:
    """Four turns each; cases are mappings of arguments of `driven_crank`, all with the same keys."""
    results = swept(driven_crank, cases, {"t_end": TURNS * TURN, "method": TIGHT, "save": DRIVEN_GRID})
    return [Driven(int(case.get("elements", 1)), result, case["material"]) for case, result in zip(cases, results, strict=True)]


def delivered_restitution(speed: float = 15.0) -> float:
    """Speed of separation over speed of approach of the slider alone."""
    contacts = _done(free_slider(speed), FREE_END, "steps", TIGHT).contacts
    return contacts[0].restitution


def _rows_of(result: Result, chosen: Any) -> Result:
    return replace(result, time=result.time[chosen], values={k: v[chosen] for k, v in result.values.items()})


def _done(system: System, t_end: float, save: Any, method: Method) -> Result:
    return whole(simulate(system, t_end, method=method, save=save))
