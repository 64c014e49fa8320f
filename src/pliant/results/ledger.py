"""Every joule: what the mechanism holds, what was put in or taken out, and what does not add up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

HELD = ("kinetic", "gravity", "strain", "spring", "contact")

Series = NDArray[np.float64]


@dataclass(frozen=True)
class Ledger:
    """Energies held over time, work of each source since the start, and the balance between them."""

    time: Series
    held: dict[str, Series]  # J
    work: dict[str, Series]  # J

    @cached_property
    def energy(self) -> Series:
        """Kinetic and all potential energies, J."""
        return np.asarray(sum(self.held.values()))

    @cached_property
    def balance_error(self) -> Series:
        """E - work against their first row, J; zero but for the integration."""
        if not self.time.size:
            return np.zeros(0)
        put_in = sum(self.work.values(), np.zeros_like(self.time))
        return np.asarray(self.energy - self.energy[0] - (put_in - put_in[0]))

    @property
    def balance_error_max(self) -> float:
        return float(np.max(np.abs(self.balance_error), initial=0.0))

    @cached_property
    def scale(self) -> float:
        """The largest exchange of energy in the run, J: what an error is to be held against."""
        series = [*self.held.values(), *self.work.values()]
        swings = [float(np.ptp(s)) for s in series if s.size]
        return max([*swings, *(float(np.max(np.abs(self.held["kinetic"]), initial=0.0)),)], default=0.0)

    @property
    def relative_error_max(self) -> float:
        return self.balance_error_max / self.scale if self.scale > 0.0 else 0.0

    def rows(self) -> list[tuple[str, float, float]]:
        """(name, at the start, at the end) of all that is held, then of all work."""
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
        return "\n".join([*lines, f"{'balance error':<{width}}largest {error}"])

    @classmethod
    def of(cls, values: Any, sources: list[str]) -> Ledger:
        """From a mapping of arrays by name: time, the energies, work (time, source)."""
        work = np.asarray(values["work"])
        return cls(
            time=np.asarray(values["time"]),
            held={name: np.asarray(values[name]) for name in HELD},
            work={name: work[:, k] for k, name in enumerate(sources)},
        )
