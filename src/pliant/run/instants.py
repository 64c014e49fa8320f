"""The pieces of a run's time, divided at breakpoints of signals and at the instants of sampled controllers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.arrays import Floats, Ints, Truths
from pliant.errors import ModelError
from pliant.model.sampled import SAME

if TYPE_CHECKING:
    from pliant.model.system import System
    from pliant.trace.sampling import Instant

ULPS = 4  # of t: times closer than this coincide, however short the period
MOST_INSTANTS = 20_000_000  # in a run


@dataclass(frozen=True)
class Schedule:
    """The beginnings of the pieces of a run's time and its end, s; and what controllers do at each beginning."""

    times: Floats
    due: Truths  # (piece, instant)
    breaks: Ints  # (piece) number of breakpoints up to its beginning
    one_instant: float  # s: times closer than this coincide

    @classmethod
    def of(
        cls, system: System, instants: Sequence[Instant], breakpoints: Sequence[float], t_start: float, t_end: float
    ) -> Schedule:
        """The schedule of a run; instants at t_end are left to a run that continues from there."""
        inside = np.array([b for b in breakpoints if t_start < b < t_end])
        edges = np.concatenate([[t_start], inside, [t_end]])
        near = one_instant(system, t_start, t_end)
        series = [_instants(system, instant, t_start, t_end, near) for instant in instants]
        if not series:
            return cls(edges, np.zeros((edges.size - 1, 0), dtype=np.bool_), np.arange(edges.size - 1), near)
        times = _merged(edges, np.concatenate(series), near)
        due = np.zeros((times.size, len(series)), dtype=np.bool_)
        for k, own in enumerate(series):
            due[_nearest(times, own), k] = True
        breaks = np.searchsorted(edges[1:], times[:-1], side="right")
        return cls(times, due[:-1], breaks, near)

    @property
    def pieces(self) -> int:
        return len(self.due)


def one_instant(system: System, t_start: float, t_end: float) -> float:
    """The distance in s below which two times coincide; 0 if nothing is sampled."""
    periods = [controller.period for controller in system.controllers.values()]
    return max(SAME * min(periods), ULPS * float(np.spacing(max(abs(t_start), abs(t_end))))) if periods else 0.0


def _instants(system: System, instant: Instant, t_start: float, t_end: float, near: float) -> Floats:
    """The instants k period, plus the delay for outputs, within t_start ... t_end."""
    from pliant.trace.sampling import APPLY

    controller = system.controllers[instant.controller]
    after = controller.rest if instant.kind == APPLY else 0.0
    first = max(int(np.ceil((t_start - near - after) / controller.period)), 0)
    last = int(np.floor((t_end + near - after) / controller.period))
    if last - first > MOST_INSTANTS:
        rule = f"must give at most {MOST_INSTANTS:.0e} instants from {t_start} to {t_end} s"
        raise ModelError.of(f"sampled {controller.name!r}", "period", rule, controller.period)
    return np.asarray(np.arange(first, last + 1) * controller.period + after)


def _merged(edges: Floats, instants: Floats, near: float) -> Floats:
    """All times in order, without duplicates: of coinciding times the edge of the run is kept if it is one, else the first."""
    far = instants[np.abs(edges[_nearest(edges, instants)] - instants) > near]
    order = np.sort(far)
    kept = order[np.concatenate([[True], np.diff(order) > near])] if order.size else order
    return np.sort(np.concatenate([edges, kept]))


def _nearest(times: Floats, wanted: Floats) -> Ints:
    """The index of the nearest time to each wanted time."""
    after = np.clip(np.searchsorted(times, wanted), 1, times.size - 1)
    return np.asarray(after - (wanted - times[after - 1] < times[after] - wanted))
