"""The runs of the parallel robot and the quantities that the paper examines: the path, the loops, the forces that close them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.arrays import Floats
from pliant.gallery.parallel_robot.system import LEGS, T_LOOP, constrained_robot, efforts_on_the_rose, parallel_robot, rose
from pliant.gallery.reproduction import Recorded, swept, whole
from pliant.integrate.methods.method import DOP853, ODE45, DormandPrince, Method
from pliant.results.result import Result
from pliant.run.prepare import compile_system
from pliant.run.simulate import simulate

STIFFNESSES = {f"1e{n}": 10.0**n for n in range(1, 9)}  # N/m, Table 2
TIGHT = DOP853(rtol=1e-12, atol=1e-14)
# Stiff springs turn the round-off of positions, 1e-16 m, into accelerations of about 1e-7. A smaller absolute tolerance only makes
# steps shrink for digits that do not exist (Ks = 1e8 with atol 1e-14: 234 million evaluations instead of 2 million).
TIGHT_STIFF = DOP853(rtol=1e-12, atol=1e-13)
STIFF = 1e8  # N/m, from which that applies; for prestretched springs, which hardly move, from 1e6
PAPERS = ODE45(rtol=1e-3, atol=1e-6)  # what the paper ran: MATLAB's RK45 with its default tolerances
OTHER_RULES = DormandPrince(rtol=1e-3, atol=1e-6)  # the same pair and tolerances with another step control
GRID = np.arange(601) / 100.0  # s
INSTANTS = ("0.1", "0.5", "1", "2", "6")  # s, of the summary
INVERSE_TIMES = ("0", "0.1", "0.25", "0.5", "0.7", "1", "1.3", "1.75")  # s


@dataclass(frozen=True)
class Run(Recorded):
    """One run, usually to 6 s with rows on the grid."""

    result: Result

    @property
    def position(self) -> Floats:
        """Position of the platform: (time, axis), m."""
        return np.column_stack([self.result["platform.x"], self.result["platform.y"]])

    @property
    def angle(self) -> Floats:
        """Angle of the platform, rad; on the rose it is 0."""
        return self.result["platform.angle"]

    @cached_property
    def path(self) -> Floats:
        """Where the platform should be: (time, axis), m."""
        return np.column_stack(rose(self.time)[0])

    @property
    def distance(self) -> Floats:
        """From the path, m."""
        return np.asarray(np.linalg.norm(self.position - self.path, axis=1))

    @cached_property
    def constraint_error(self) -> Floats:
        """sum |c| of the six components, m."""
        return np.asarray(np.sum(np.abs(self.result.values["constraint"]), axis=1))

    @cached_property
    def position_error(self) -> Floats:
        """The paper's error: how much the distances from the centre differ, m. It misses rotations and sideways errors."""
        return np.asarray(np.abs(np.linalg.norm(self.position, axis=1) - np.linalg.norm(self.path, axis=1)))

    @property
    def evaluations(self) -> int:
        return int(self.result.stats["rhs_evaluations"])

    @property
    def wall(self) -> float:
        return float(self.result.stats["wall_s"])

    def reaction_error(self, since: float = 0.0) -> float:
        """Closure forces minus those of the exact robot on the rose, root mean square of the six components, N."""
        rows = self.time > since
        exact = tip_forces(self.time[rows])
        return float(np.sqrt(np.mean((self.result.values["multiplier"][rows] - exact) ** 2)))

    @property
    def case(self) -> dict[str, Any]:
        """The entry in summary.json: logarithms to base 10 of the largest errors over 0 < t <= 6 s."""
        return {
            "at_times": {instant: self._at(float(instant)) for instant in INSTANTS},
            "constraint_error_max_log10": float(np.log10(np.max(self.constraint_error[1:]))),
            "position_error_max_log10": float(np.log10(np.max(self.position_error[1:]))),
            "rhs_evaluations": self.evaluations,
            "wall_s": self.wall,
        }

    def _at(self, t: float) -> dict[str, float]:
        k = int(np.argmin(np.abs(self.time - t)))
        (x, y), phi = self.position[k], self.angle[k]
        return {"x": float(x), "y": float(y), "phi": float(phi), "sum_abs_c": float(self.constraint_error[k])}


def run(
    stiffness: float | None = None,
    method: Method | None = None,
    *,
    damping: float = 0.0,
    prestretched: bool = False,
    times: Floats = GRID,
    formulation: str = "articulated",
) -> Run:
    """The robot driven by the torques of the rose. Defaults: tight tolerances if no method, exact closures if no stiffness."""
    method = method or tight(stiffness, prestretched)
    system = parallel_robot(stiffness, damping=damping, prestretched=prestretched)
    return Run(whole(simulate(compile_system(system, formulation), float(times[-1]), method=method, save=times.tolist())))


def run_springs(names: Sequence[str], method: Method | None = None, **start: Any) -> dict[str, Run]:
    """Springs of several stiffnesses, run one after the other because run times are compared; default: tight tolerances."""
    runs: dict[str, Run] = {}
    prestretched = bool(start.get("prestretched", False))
    with ThreadPoolExecutor(1) as alone:
        for chosen in (method,) if method else (TIGHT, TIGHT_STIFF):
            fitting = [name for name in names if method or tight(STIFFNESSES[name], prestretched) is chosen]
            axes = {"stiffness": [STIFFNESSES[name] for name in fitting], **{name: [value] for name, value in start.items()}}
            settings = {"t_end": float(GRID[-1]), "method": chosen, "save": GRID.tolist()}
            results = swept(parallel_robot, axes, settings, executor=alone) if fitting else []
            runs |= {name: Run(result) for name, result in zip(fitting, results, strict=True)}
    return runs


def strayed(formulas: str, stiffness: float) -> float:
    """How far the robot leaves its rose in the first turn, m, with penalty springs on these formulas."""
    times = GRID[GRID <= T_LOOP]
    done = simulate(constrained_robot(formulas, stiffness), T_LOOP, method=DOP853(rtol=1e-9, atol=1e-12), save=times.tolist())
    return float(np.max(Run(whole(done)).distance))


def tight(stiffness: float | None, prestretched: bool) -> Method:
    limit = 1e6 if prestretched else STIFF
    return TIGHT_STIFF if stiffness is not None and stiffness >= limit else TIGHT


@dataclass(frozen=True)
class Inverse:
    """Motors prescribed to follow the rose: their torques, and the forces on the tips of the legs."""

    result: Result

    @property
    def torques(self) -> Floats:
        """(time, motor), N m."""
        drives = list(self.result.labels["drive"])
        return self.result.values["effort"][:, [drives.index(f"upper {leg}.angle motion") for leg in LEGS]]

    @property
    def forces(self) -> Floats:
        """(time, component), N: x and y of leg I, II, III."""
        return self.result.values["multiplier"]

    @property
    def case(self) -> dict[str, Any]:
        """The entry in summary.json, for a run saved at the times of the summary."""
        rows = zip(INVERSE_TIMES, self.torques.tolist(), self.forces.tolist(), strict=True)
        return {instant: {"tau": torques, "leg_tip_forces": forces} for instant, torques, forces in rows}


def inverse(times: Sequence[float] | None = None) -> Inverse:
    """Inverse dynamics: no degree of freedom is left, because the loops move elbows and platform with the motors."""
    wanted = [float(instant) for instant in INVERSE_TIMES] if times is None else list(times)
    compiled = compile_system(parallel_robot(prescribed=True))
    return Inverse(whole(simulate(compiled, wanted[-1], method=TIGHT, save=wanted)))


@dataclass(frozen=True)
class Derivations:
    """The same robot by the paper's two methods, at the states of a run."""

    apart: float  # largest difference of accelerations, as a fraction of the largest acceleration
    operations: dict[str, int]  # of one right-hand side, by formulation


def derivations(of: Run, stiffness: float | None, names: Sequence[str]) -> Derivations:
    """Accelerations by several formulations at the saved states of a run."""
    from pliant.trace.tracing import trace

    system = parallel_robot(stiffness)
    traced = {name: trace(system, name) for name in names}
    found: dict[str, list[Floats]] = {name: [] for name in names}
    for t, q, v in zip(of.time, of.result.values["q"], of.result.values["v"], strict=True):
        for name, one in traced.items():
            y = np.concatenate([q, v, np.zeros(one.y0.size - q.size - v.size)])
            rates = np.array(one.rhs(t, y, one.parameters(t - 1.0, t + 1.0))).ravel()
            found[name].append(rates[q.size : q.size + v.size])
    first, *others = (np.array(rows) for rows in found.values())
    apart = max(float(np.max(np.abs(other - first))) for other in others) / float(np.max(np.abs(first)))
    return Derivations(apart, {name: one.rhs.n_instructions() for name, one in traced.items()})


def motor_torques(times: Floats) -> Floats:
    """In closed form, (time, motor), N m."""
    return np.column_stack(efforts_on_the_rose(times).motors)


def tip_forces(times: Floats) -> Floats:
    """In closed form, (time, component), N."""
    return np.column_stack([part for tip in efforts_on_the_rose(times).tips for part in tip])
