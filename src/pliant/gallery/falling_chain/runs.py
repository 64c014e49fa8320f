"""The runs of the falling chain and the quantities that the paper examines: joints, impacts, mirror symmetry, eq. 31."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pliant.arrays import Floats
from pliant.gallery.falling_chain.system import ENDS, FRICTION, T_END, V1, falling_chain, half_chain
from pliant.gallery.reproduction import Recorded, whole
from pliant.integrate.methods.method import DOP853, RKF45, Method
from pliant.model.friction_law import BengisuAkay, Coulomb, FrictionLaw, Karnopp, Threlfall
from pliant.results.contacts import ContactRecord
from pliant.results.result import Result
from pliant.run.prepare import Compiled, compile_system
from pliant.run.simulate import simulate

TIGHT = DOP853(rtol=1e-12, atol=1e-14)
HALF_ROWS = 1e-3  # s between rows of the half
FLIGHT_ROWS = 2e-3  # s between rows of the first flight, which otherwise takes only one or two steps
# The paper's method. It prints no tolerance; at this one its method gives the energy errors it prints.
PAPERS_RTOL = 1e-4
# Changes of the tolerance, relative: what changes with them is decided by round-off.
NUDGES = (0.0, 1e-14, 1e-13, 1e-12)
CLUSTER = 0.01  # s: contacts of one end closer together than this belong to one impact of the chain

# Laws of Table 1 with the coefficient and the upper speed of the paper's own
OTHER_FRICTION: dict[str, FrictionLaw] = {
    "Coulomb": Coulomb(mu=FRICTION, transition=V1),
    "Threlfall": Threlfall(mu=FRICTION, v_r=V1),
    "Bengisu-Akay": BengisuAkay(mu_static=FRICTION, mu_kinetic=FRICTION, v0=V1, xi=1.0),
    "Karnopp": Karnopp(mu_static=FRICTION, mu_kinetic=FRICTION, band=V1),
    "Coulomb, 0.001 mm/s": Coulomb(mu=FRICTION, transition=1e-3 * V1),
}
SHARP = ("Karnopp", "Coulomb, 0.001 mm/s")  # these hold, or nearly so

# The paper's names (eq. 13) of our coordinates
COORDINATES = {
    "q1": "a.angle", "delta1": "a.y1", "q2": "b.angle", "delta2": "b.y1", "q3": "c.angle", "delta3": "c.y1",
    "X1": "a.x", "X2": "a.y",
}  # fmt: skip
PAIRS = {"ground a.root": 0, "ground a.tip": 1, "ground b.tip": 2, "ground c.tip": 3}  # which of O1 .. O4 touches
MIRRORED = ((0, 3), (1, 2))  # O1 and O4, O2 and O3


def fehlberg(rtol: float = PAPERS_RTOL) -> Method:
    return RKF45(rtol=rtol, atol=1e-3 * rtol)


@dataclass(frozen=True)
class Run(Recorded):
    """One run to 1.5 s; joints are numbered from 0, as in summary.json."""

    modes: str
    result: Result

    @cached_property
    def positions(self) -> Floats:
        """Positions of O1 .. O4: (time, joint, axis), m."""
        return self._joints(self.result.values["root_position"][:, 0], "tip_position")

    @cached_property
    def velocities(self) -> Floats:
        """Velocities of O1 .. O4: (time, joint, axis), m/s."""
        return self._joints(np.stack([self.result.rate("a.x"), self.result.rate("a.y")], axis=1), "tip_velocity")

    def _joints(self, first: Floats, others: str) -> Floats:
        return np.concatenate([first[:, None, :2], self.result.values[others][:, :, :2]], axis=1)

    @property
    def normal_forces(self) -> Floats:
        """(time, joint), N."""
        return self.result.values["normal_force"]

    @property
    def friction_forces(self) -> Floats:
        """Along X1: (time, joint), N."""
        return self.result.values["friction_force"][:, :, 0]

    def weights(self, link: int) -> Floats:
        """Mode weight of link 1, 2 or 3, m."""
        return self.result[COORDINATES[f"delta{link}"]]

    @cached_property
    def touches(self) -> list[tuple[ContactRecord, int]]:
        """Every touch with its joint, in the order they began."""
        return [(record, PAIRS[record.pair]) for record in self.result.contacts]

    @cached_property
    def clusters(self) -> list[list[tuple[ContactRecord, int]]]:
        """Contacts in quick succession, grouped into impacts of the chain."""
        clusters: list[list[tuple[ContactRecord, int]]] = []
        for record, joint in self.touches:
            if not clusters or record.begin - clusters[-1][-1][0].begin > CLUSTER:
                clusters.append([])
            clusters[-1].append((record, joint))
        return clusters

    @cached_property
    def events(self) -> list[list[float | int]]:
        """[t, joint, 1 begins | 0 ends, speed of approach or separation], by time.

        A contact ends when its force becomes zero; for a law that would then pull, this is before the surfaces separate.
        """
        begins = [[record.begin, joint, 1, record.entry_speed] for record, joint in self.touches]
        ends = [[record.end, joint, 0, record.exit_speed] for record, joint in self.touches if not record.lasting]
        return sorted(begins + ends)

    @property
    def peak_forces(self) -> list[float]:
        """Largest normal force at each joint, N."""
        return [max((r.peak_force for r, joint in self.touches if joint == end), default=0.0) for end in range(len(ENDS))]

    @cached_property
    def mirror_error(self) -> Floats:
        """Over time: largest |x + x'| and |y - y'| of the mirrored joints, m."""
        p = self.positions
        errors = [np.abs(p[:, i] * (1.0, -1.0) + p[:, j] * (1.0, 1.0)) for i, j in MIRRORED]
        return np.asarray(np.max(np.concatenate(errors, axis=1), axis=1))

    @property
    def energy_base(self) -> float:
        """T1 + V1 of eq. 31, J: the energy at the start, heights counted from the ground. 36.297 J."""
        return float(self.result.ledger.energy[0])

    @cached_property
    def energy_error(self) -> Floats:
        """|T2 + V2 - W_D - W_FN - W_FT - (T1 + V1)| / (T1 + V1), eq. 31."""
        return np.abs(self.result.ledger.balance_error) / self.energy_base

    @property
    def energy_error_mean(self) -> float:
        """Mean over time, not over rows, because rows are dense during impacts."""
        midway = 0.5 * (self.energy_error[1:] + self.energy_error[:-1])
        return float(midway @ np.diff(self.time) / (self.time[-1] - self.time[0]))

    def work(self, *kinds: str) -> Floats:
        """Work of all sources whose names end in one of `kinds`, J."""
        parts = [w for name, w in self.result.ledger.work.items() if name.endswith(kinds)]
        return np.sum(parts, axis=0) if parts else np.zeros_like(self.time)

    @property
    def final(self) -> dict[str, float]:
        """The state at the end by the paper's names, rates with _dot."""
        known = {name: ours for name, ours in COORDINATES.items() if ours in self.result.labels["coordinate"]}
        state = {name: float(self.result[ours][-1]) for name, ours in known.items()}
        return {**state, **{f"{name}_dot": float(self.result.rate(ours)[-1]) for name, ours in known.items()}}

    @property
    def case(self) -> dict[str, Any]:
        """The entry in summary.json. Energy errors are fractions of T1 + V1, not percent."""
        return {
            "events": self.events,
            "peak_normal_force": self.peak_forces,
            "energy_error_max": float(np.max(self.energy_error)),
            "energy_error_mean": self.energy_error_mean,
            "symmetry_error_max": float(np.max(self.mirror_error)),
            "wall_s": float(self.result.stats["wall_s"]),
            "rhs_evaluations": int(self.result.stats["rhs_evaluations"]),
            "final": self.final,
        }


def run(modes: str | tuple[str, Compiled], method: Method = TIGHT, progress: Callable[[float, float], None] | None = None) -> Run:
    """One run with every step saved, of a mode set or of one already compiled; the first flight has rows between steps."""
    name, compiled = (modes, compile_system(falling_chain(modes))) if isinstance(modes, str) else modes
    result = whole(simulate(compiled, T_END, method=method, save="steps", progress=progress))
    flight = simulate(compiled, result.contacts[0].begin, method=method, save=FLIGHT_ROWS)
    return Run(name, _with_rows(result, flight))


def impacts(compiled: Compiled, rtol: float) -> list[int]:
    """Touches with the paper's method, for tolerances that differ by round-off."""
    methods = [fehlberg(rtol * (1.0 + nudge)) for nudge in NUDGES]
    return [len(whole(simulate(compiled, T_END, method=method, save=[T_END])).contacts) for method in methods]


def inner_friction(law: FrictionLaw) -> float:
    """The largest friction of O2 and O3 with another friction law, N: ss-ss-ss, tight."""
    system = falling_chain()
    system.contacts = {name: replace(pair, friction=law) for name, pair in system.contacts.items()}
    done = Run("ss-ss-ss", whole(simulate(system, T_END, method=TIGHT, save="steps")))
    return float(np.max(np.abs(done.friction_forces[:, 1:3])))


def mirror_errors(name: str, compiled: Compiled) -> list[float]:
    """Largest mirror errors of tight runs, m, for tolerances that differ by round-off."""
    methods = [replace(TIGHT, rtol=TIGHT.rtol * (1.0 + nudge)) for nudge in NUDGES]
    return [float(np.max(run((name, compiled), method).mirror_error)) for method in methods]


@dataclass(frozen=True)
class HalfRun:
    """One run of the half that is symmetric by construction."""

    result: Result

    @property
    def touches(self) -> int:
        """Of the whole chain."""
        return 2 * len(self.result.contacts)

    @property
    def heights(self) -> Floats:
        """Of O1 and O2: (time, joint), m."""
        return np.column_stack([self.result.of_body("tip_position", "a")[:, 1], self.result.of_body("root_position", "b")[:, 1]])


def run_half(modes: str) -> HalfRun:
    return HalfRun(whole(simulate(half_chain(modes), T_END, method=TIGHT, save=HALF_ROWS)))


def _with_rows(result: Result, more: Result) -> Result:
    """The result with the inner rows of another one inserted in order of time."""
    time = np.concatenate([result.time, more.time[1:-1]])
    order = np.argsort(time, kind="stable")
    values = {name: np.concatenate([rows, more.values[name][1:-1]])[order] for name, rows in result.values.items()}
    return replace(result, time=time[order], values=values)
