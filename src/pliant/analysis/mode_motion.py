"""A mechanism vibrating in one of its modes, as rows of a Result, for pictures and the player."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.arrays import Complexes, Floats
from pliant.errors import ModelError
from pliant.model.system import System

if TYPE_CHECKING:
    from pliant.analysis.operating_point import OperatingPoint
    from pliant.results.result import Result

ROWS = 48  # rows per cycle
SMALL = 1e-4  # m or rad: displacement used to measure how far the drawn points move


@dataclass(frozen=True)
class MovedMechanism:
    """A System that can be drawn displaced from an operating point."""

    system: System
    operating: OperatingPoint
    parameters: Mapping[str, float]

    def rows(self, changes: Sequence[Floats], times: Floats, message: str, **more: object) -> Result:
        """The coordinates displaced from the operating point by each change; rates keep their values at the point."""
        from pliant.analysis.implicit_equations import ImplicitEquations
        from pliant.run.observed import values_of
        from pliant.run.prepare import compile_system
        from pliant.run.provenance import Provenance
        from pliant.run.simulate import collect_rows
        from pliant.trace.layout import OWN, POSITIONS, RATES

        t = self.operating.t
        compiled = compile_system(self.system, still=True, t_start=t, parameters=self.parameters)
        equations, traced = ImplicitEquations.of(self.system, t, self.parameters), compiled.traced
        states = np.zeros((len(changes), traced.y0.size))
        states[:, traced.layout.y[OWN]] = self._own(traced.y0[traced.layout.y[OWN]])
        for state, change in zip(states, changes, strict=True):
            moved = equations.closed(t, equations.moved(self.operating.q, change))  # shapes close loops to first order only
            state[traced.layout.y[POSITIONS]] = moved[list(traced.free_q)]
            state[traced.layout.y[RATES]] = self.operating.v[list(traced.free_v)]
        p = traced.parameters(t, np.nextafter(t, np.inf))
        for slots in traced.pairs:
            if slots.pair.name in self.operating.contacts:
                p[slots.closed], (p[slots.entry], doing) = 1.0, self.operating.contacts[slots.pair.name]
                if slots.grip is not None:
                    p[slots.grip] = doing
        observed = np.array([compiled.observe(t, state, compiled.with_flags(t, state, p)) for state in states])
        settings = {"t_start": float(times[0]), "t_end": float(times[-1]), "save": None, "formulation": traced.formulation}
        provenance = Provenance(self.system, settings, float(times[0]), dict(self.parameters), **more)
        return collect_rows(compiled, times, values_of(traced, times, states, observed), message, provenance)

    def _own(self, starts: Floats) -> Floats:
        """User-defined states at the operating point."""
        known = self.operating.bristles
        return starts if known is None else known[known.size - starts.size :]


def swinging(mechanism: MovedMechanism, shape: Complexes, size: float, cycles: int, message: str, **more: object) -> Result:
    """Rows over some cycles of 1 s each; the largest displacement of a drawn point is `size` times the mechanism's size."""
    if not (np.isfinite(size) and size > 0.0):
        raise ModelError.of("modes", "size", "must be > 0", size)
    amplitude = size / _reach(mechanism, shape)
    times = np.linspace(0.0, float(cycles), ROWS * cycles + 1)
    changes = [amplitude * (shape * np.exp(2j * np.pi * t)).real for t in times]
    return mechanism.rows(changes, times, message, **more)


def _reach(mechanism: MovedMechanism, shape: Complexes) -> float:
    """The largest displacement of a drawn point for unit amplitude, as a fraction of the mechanism's size."""
    from pliant.show.scene import Scene

    changes = [np.zeros(len(shape)), SMALL * shape.real, SMALL * shape.imag]
    times = np.arange(3.0)
    result = mechanism.rows(changes, times, "")
    points = np.concatenate(Scene(result).positions(times), axis=1)
    size = max(float(np.max(np.ptp(points[0], axis=0))), 1e-9)
    gone = np.linalg.norm(points[1:] - points[0], axis=2)
    return max(float(np.max(gone)) / (SMALL * size), 1e-12)
