"""The energy ledger: stored energies, the work of every source, and the balance error."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pliant.arrays import Floats
from pliant.results import rich_display
from pliant.results.table import HELD as HELD

# The energy that a purely dissipative source may seem to release: this fraction of the largest exchange, this many times the
# balance error, or round-off. Its work is integrated like everything else, and near rest its increments are smaller than the error
# of a step.
GIVEN_SHARE = 1e-6
GIVEN_ERRORS = 10.0
NAMED = 3  # sources that gave energy and are named
ROUND_OFF_HELD = 1e-12  # of the stored energy: the round-off of thousands of exact steps


@dataclass(frozen=True)
class Extremes:
    """Extremes of the ledger and of loads over the whole run, independent of the saved rows."""

    scale: float  # J, the largest exchange of energy
    size: float  # J, the largest stored energy, with its zero level as it is; it scales round-off
    balance_error: float  # J, the largest at the examined steps
    # By purely dissipative source: the energy that it released, J, and the time by which it did, s
    given: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    idle: tuple[str, ...] = ()  # sources that can do no work, such as friction of a pair without a friction law
    # Of loads (reaction_force, reaction_moment, multiplier, closure_force, closure_moment, strut_force, motor_speed, motor_torque,
    # effort), by part: the largest magnitude, and its time, s. In rows, at the examined steps, where the equations change (drives
    # that jump, contacts), at steps whose rates or accelerations outdo all earlier ones, and, while a contact is closed, at the end
    # of every step and where its force peaks.
    largest: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    # The fraction by which such a magnitude exceeds what was examined next to it, where it does: a larger one may lie between
    jumps: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def violations(self, balance_error: float) -> tuple[str, ...]:
        """The sources that released more energy than errors explain, most first, in sentences; balance_error: the largest, J."""
        allowed = float(max(GIVEN_SHARE * self.scale, GIVEN_ERRORS * balance_error, ROUND_OFF_HELD * self.size))
        gave = sorted(((energy, name, t) for name, (energy, t) in self.given.items() if energy > allowed), reverse=True)
        told = [f"{name} must only take energy but gave {energy:.3g} J by t = {t:.6g} s; errors of the run explain {allowed:.2g} J"
                for energy, name, t in gave[:NAMED]]  # fmt: skip
        if len(gave) > NAMED:
            told.append(f"{len(gave) - NAMED} more sources that must only take energy gave some, each less than those named")
        return tuple(told)

    def to_json(self) -> str:
        """As text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Extremes:
        """From the text of `to_json`."""
        plain = json.loads(text)
        given = {str(name): (float(energy), float(t)) for name, (energy, t) in plain["given"].items()}
        idle = tuple(str(name) for name in plain.get("idle", ()))  # older files list none
        largest = {name: {str(label): (float(size), float(t)) for label, (size, t) in of.items()}
                   for name, of in plain.get("largest", {}).items()}  # fmt: skip
        jumps = {name: {str(label): float(share) for label, share in of.items()} for name, of in plain.get("jumps", {}).items()}
        return cls(float(plain["scale"]), float(plain["size"]), float(plain["balance_error"]), given, idle, largest, jumps)


@dataclass(frozen=True)
class Ledger:
    """The energy ledger of a run: stored energies over time, the work of each source since the start, and the balance error."""

    time: Floats
    held: dict[str, Floats]  # J
    work: dict[str, Floats]  # J
    extremes: Extremes | None = None  # of the run; None where nothing was integrated, and in files of older versions

    @cached_property
    def energy(self) -> Floats:
        """The sum of kinetic and potential energies, J."""
        return np.asarray(sum(self.held.values()))

    @cached_property
    def balance_error(self) -> Floats:
        """The balance error over time, J: energy minus work, relative to the first row; zero up to integration error."""
        if not self.time.size:
            return np.zeros(0)
        unaccounted = self.energy - np.sum(list(self.work.values()), axis=0) if self.work else self.energy
        return np.asarray(unaccounted - unaccounted[0])

    @cached_property
    def balance_error_max(self) -> float:
        """The largest balance error in the saved rows and along the run, J."""
        along = 0.0 if self.extremes is None else self.extremes.balance_error
        return float(np.max(np.abs(self.balance_error), initial=along))  # nan where an energy is not known

    @cached_property
    def scale(self) -> float:
        """The largest exchange of energy in the run, J, to which errors are compared."""
        if self.extremes is not None:
            return self.extremes.scale
        works = np.array(list(self.work.values()))
        return exchange(np.array(list(self.held.values())), np.ptp(works, axis=1) if works.size else works)

    @property
    def relative_error_max(self) -> float:
        """balance_error_max/scale; nan if an energy is not known."""
        return 0.0 if self.scale == 0.0 else self.balance_error_max / self.scale

    @cached_property
    def violations(self) -> tuple[str, ...]:
        """A sentence for every source that must only dissipate energy but released some.

        Dampers, stops, damping of beams and of normal forces, and friction by a formula must take it at every moment; friction that
        holds or has bristles returns what it stored, and must have taken on the whole. Drives, loads and motions are free.
        """
        return () if self.extremes is None else self.extremes.violations(self.balance_error_max)

    def rows(self) -> list[tuple[str, float, float]]:
        """(name, value at the start, value at the end) of all stored energies, then of all works."""
        if not self.time.size:
            return []
        return [(name, float(s[0]), float(s[-1])) for name, s in [*self.held.items(), *self.work.items()]]

    def __str__(self) -> str:
        if not self.time.size:
            return "ledger: no rows"
        width = max(len(name) for name in [*self.held, *self.work, "balance error"]) + 2
        lines = [f"{'energy, J':<{width}}{'start':>16}{'end':>16}"]
        lines += [f"{name:<{width}}{s[0]:>16.8g}{s[-1]:>16.8g}" for name, s in self.held.items()]
        if self.work:
            lines.append(f"{'work, J':<{width}}{'':>16}{'since start':>16}")
            lines += [f"{name:<{width}}{'':>16}{s[-1]:>16.8g}" for name, s in self.work.items()]
        error = f"{self.balance_error_max:.3g} ({self.relative_error_max:.1g} of the largest exchange)"
        lines.append(f"{'balance error':<{width}}largest {error}")
        return "\n".join([*lines, *(f"violation: {sentence}" for sentence in self.violations)])

    def _repr_html_(self) -> str:
        if not self.time.size:
            return rich_display.paragraphs([str(self)])
        rows = [(f"{name} energy", f"{s[0]:.6g}", f"{s[-1]:.6g}") for name, s in self.held.items()]
        rows += [(f"work of {name}", "", f"{s[-1]:.6g}") for name, s in self.work.items()]
        rows.append(("largest balance error", "", f"{self.balance_error_max:.3g}"))
        caption = f"Energy ledger; the balance is off by {self.relative_error_max:.1g} of the largest exchange"
        return rich_display.table(("J", "start", "end"), rows, caption) + rich_display.paragraphs(self.violations)

    @classmethod
    def of(cls, values: Any, sources: list[str], extremes: Extremes | None = None) -> Ledger:
        """From a mapping of arrays by name: time, the energies, work (time, source). Idle sources are left out."""
        work = np.asarray(values["work"])
        idle = () if extremes is None else extremes.idle
        return cls(
            time=np.asarray(values["time"]),
            held={name: np.asarray(values[name]) for name in HELD},
            work={name: work[:, k] for k, name in enumerate(sources) if name not in idle},
            extremes=extremes,
        )


def exchange(held: Floats, swings: Floats) -> float:
    """The largest range of an energy (one row for each, kinetic first) or of a work, or the largest kinetic energy, J.

    nan where one is not known.
    """
    largest = held.max(axis=1) - held.min(axis=1) if held.size else np.zeros(1)
    return float(np.max([largest.max(), np.max(swings, initial=0.0), np.max(np.abs(held[0]), initial=0.0)]))
