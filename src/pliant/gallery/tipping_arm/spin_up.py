"""The spin-up of Kane, Ryan and Banerjee, a test of the stiffening terms: a long beam is brought to 6 rad/s in 15 s.

Without foreshortening (`none`) the beam loses its stiffness as it turns faster, and its deflection grows without bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.arrays import Floats
from pliant.gallery.reproduction import Recorded, whole
from pliant.gallery.tipping_arm.runs import TIP_TURNS, tip_weights
from pliant.integrate.methods.method import DOP853, Method
from pliant.model.beam import Beam
from pliant.model.joint import Revolute
from pliant.model.material import Material
from pliant.model.modes import Modes
from pliant.model.section import Section
from pliant.model.signal import Prescribed
from pliant.model.system import System
from pliant.results.result import Result
from pliant.run.simulate import simulate
from pliant.scalar import cos, where

LENGTH, AREA, INERTIA = 10.0, 4e-4, 2e-7  # m, m^2, m^4
YOUNG, DENSITY = 7e10, 3000.0  # Pa, kg/m^3
SPEED, RISE = 6.0, 15.0  # rad/s, s
T_END = 20.0  # s
BROKEN = 1.0  # m of deflection, beyond which the beam without stiffening has diverged
STIFFENINGS = ("none", "linear", "full")
TIGHT = DOP853(rtol=1e-12, atol=1e-14)
DIVERGED = "diverged"


def beam(stiffening: str, modes: int) -> Beam:
    return Beam(
        length=LENGTH,
        section=Section(A=AREA, Iz=INERTIA),
        material=Material(E=YOUNG, density=DENSITY),
        theory="euler-bernoulli",
        modes=Modes("cf", modes, static=False),
        stiffening=stiffening,
    )


def angle(t: Any) -> Any:
    """omega = (6/15)[t - (15/2 pi) sin(2 pi t/15)], then 6 rad/s; integrated."""
    phase = 2.0 * math.pi / RISE
    rising = SPEED / RISE * (0.5 * t * t + (cos(phase * t) - 1.0) / phase**2)
    return where(t < RISE, rising, SPEED * t - 0.5 * SPEED * RISE)


def spin_up_beam(stiffening: str = "full", modes: int = 4) -> System:
    """The beam on a hub of zero radius with prescribed rotation; no gravity."""
    system = System(f"spin-up {stiffening}/{modes}", gravity=(0.0, 0.0))
    motion = Prescribed(angle, breakpoints=(RISE,))
    system.add("beam", beam(stiffening, modes), joint=Revolute(motion=motion))
    return system


@dataclass(frozen=True)
class SpinUp(Recorded):
    """One run; the turning points of the tip are events, and every event is a row."""

    stiffening: str
    modes: int
    result: Result

    @property
    def name(self) -> str:
        return f"{self.stiffening}/{self.modes}"

    @property
    def deflection(self) -> Floats:
        """Transverse deflection of the tip in the rotating axes of the root, m."""
        return self.result.of_body("tip_deflection", "beam")[:, 1]

    @property
    def extreme(self) -> int:
        """The row of the largest deflection; for a beam that diverges, the row at which it was stopped."""
        return int(np.argmax(np.abs(self.deflection)))

    @property
    def entry(self) -> dict[str, float]:
        """The entry in summary.json."""
        return {"tip_extreme": float(self.deflection[self.extreme]), "at": float(self.time[self.extreme])}


def run(stiffening: str, modes: int, method: Method = TIGHT) -> SpinUp:
    """To 20 s, or until the tip has moved 1 m."""
    system = spin_up_beam(stiffening, modes)
    tips = tip_weights(beam(stiffening, modes))

    def across(weights: Any) -> Any:
        return sum(w * weights[f"beam.y{k + 1}"] for k, w in enumerate(tips))

    system.event(TIP_TURNS, lambda t, q, v: across(v))
    system.event(DIVERGED, lambda t, q, v: across(q) ** 2 - BROKEN**2, direction="rising", stop=True)
    return SpinUp(stiffening, modes, whole(simulate(system, T_END, method=method, save="steps")))
