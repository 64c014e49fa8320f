"""Event functions along a run: their values, their derivatives, and whether a change within the tolerances would undo an event."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.arrays import Floats, Truths
from pliant.codegen.directional_kernel import DirectionalCall
from pliant.integrate.memory.run_record import MARKS, RECORDS
from pliant.integrate.methods.method import Auto
from pliant.integrate.replay.variation import Tolerances
from pliant.integrate.stepper import Located
from pliant.study.derivatives.gripping import Gripping, gripping
from pliant.study.derivatives.taped_run import EventPoint, TapedRun

Mask = Truths  # (theta)

UNINVOLVED = 1e-9  # fraction of the largest change of an event function by any theta: one that does not depend on a theta
DEFAULT = Auto()  # its tolerances are used for a method that has none


@dataclass(frozen=True)
class EventSlopes:
    """An event function at a point."""

    value: float
    rate: float
    slopes: Floats  # (theta) at this time
    error: float  # its error due to errors of the state within the tolerances

    @property
    def dt(self) -> Floats:
        """Derivative of the event time (theta)."""
        return -self.slopes / self.rate if self.rate != 0.0 else np.zeros_like(self.slopes)


@dataclass
class EventReader(TapedRun):
    """A run whose event functions can be differentiated at any state of it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.directions = len(self.theta.names)
        self.holders: tuple[Gripping, ...] = gripping(self.traced)
        observed = self.traced.layout.observed
        self._contact_rows = tuple(k for name in ("closing_speed", "normal_force", "friction_force")
                                   for k in range(observed[name].start, observed[name].stop))  # fmt: skip
        self._calls: dict[tuple[str, int, tuple[int, ...] | None], DirectionalCall] = {}

    def _call(self, name: str, directions: int, rows: tuple[int, ...] | None = None) -> DirectionalCall:
        key = (name, directions, rows)
        if key not in self._calls:
            self._calls[key] = DirectionalCall(self.kernel(name, rows), directions)
        return self._calls[key]

    @cached_property
    def tolerances(self) -> Tolerances:
        rtol, atol = self.run.stepper.method.tolerance, self.run.stepper.atol
        if rtol is None:  # fixed steps without an error estimate
            rtol, atol = DEFAULT.rtol, np.full_like(atol, float(np.min(DEFAULT.atol)))
        return Tolerances(rtol, atol, self.theta.sizes)

    @cached_property
    def logged(self) -> tuple[Located, ...]:
        """Events in the log that happen where their own functions are zero: what sticks may let go because of something else."""
        return tuple(one for one in self.run.stepper.logged() if self.traced.events[one.index].holder is None)

    def name_of(self, e: int) -> str:
        event = self.traced.events[e]
        return event.name if event.pair is None else self.traced.pairs[event.pair].pair.name

    # ---- event functions

    def time_of_record(self, e: int, point: EventPoint) -> Floats | None:
        """dt* of an event that may lie inside a step; None if a change within the tolerances would undo it."""
        seen, k = self.look_at(e, point), int(np.searchsorted(self.tape.times[:, 1], point.t))
        return None if self.traced.events[e].kind == RECORDS and np.any(self.is_undone(k, e, point, seen)) else seen.dt

    def time_of(self, e: int, point: EventPoint) -> tuple[Floats, float]:
        """(dt*, the rate of the event function) of event e."""
        seen = self.look_at(e, point)
        return seen.dt, seen.rate

    def look_at(self, e: int, point: EventPoint) -> EventSlopes:
        """Event function e at a point: its value and derivatives."""
        m, rows = self.directions, self._rows_with[e]
        if rows not in point.seen:
            (dy, dt, dp), count, tolerances = self._seeds, self.traced.n_controlled, self.tolerances
            dy[:, :m], dp[:, :m], dy[:, m] = point.s, point.dp, point.slope
            dy[:count, m + 1] = dy[:count, m + 2] = tolerances.atol[:count] + tolerances.rtol * np.abs(point.y[:count])
            dy[1:count:2, m + 2] *= -1.0  # errors may add up or cancel
            point.seen[rows] = self._call("event_functions", m + 3, rows)(point.t, point.y, point.p, dy, dt, dp)
        values, slopes = point.seen[rows]
        k = rows.index(e)
        add, cancel = slopes[k, m + 1 :].tolist()
        return EventSlopes(float(values[k]), float(slopes[k, m]), slopes[k, :m].copy(), max(abs(add), abs(cancel)))

    @cached_property
    def _seeds(self) -> tuple[Floats, Floats, Floats]:
        """(dy, dt, dp) of `look_at`: theta, the motion, and errors of the state with equal and with alternating signs."""
        m = self.directions
        dt = np.zeros(m + 3)
        dt[m] = 1.0
        return np.zeros((self.traced.y0.size, m + 3)), dt, np.zeros((self.rhs.n_p, m + 3))

    def event_call(self, e: int, directions: int) -> tuple[DirectionalCall, int]:
        """Derivatives of event functions, and the index of event e; those that cost more are kept apart."""
        rows = self._rows_with[e]
        return self._call("event_functions", directions, rows), rows.index(e)

    @cached_property
    def _rows_with(self) -> dict[int, tuple[int, ...]]:
        """The events that are computed with each: those that cost little, or those that read accelerations: marks, such as force
        peaks, and renewals of entry speeds."""
        renewals = {slots.renewal for slots in self.traced.pairs}
        costly = [event.kind == MARKS or e in renewals for e, event in enumerate(self.traced.events)]
        groups = [tuple(k for k, is_costly in enumerate(costly) if is_costly is asked) for asked in (False, True)]
        return {e: group for group in groups for e in group}

    def contact_slopes(self, t: float, y: Floats, p: Floats, moved: Floats, dt: Floats | None, dp: Floats) -> tuple[Floats, Floats]:
        """(closing speeds, normal forces, friction forces) of all pairs, and their derivatives."""
        return self._call("observe", self.directions, self._contact_rows)(t, y, p, moved, dt, dp)

    # ---- doubts

    def errors_by_theta(self, slopes: Floats) -> Floats:
        """The changes of a number with these derivatives due to relative changes of each theta within the tolerance."""
        return np.asarray(np.abs(slopes) * self.tolerances.theta * self.tolerances.rtol)

    def within(self, distance: float, error: float, slopes: Floats) -> Mask:
        """By which theta no derivative exists, if a function with these slopes is this far from zero where that matters.

        By all, if errors of the state may be that large; if only changes of some theta within the tolerance are, by those that the
        function depends on at all. None, if neither.
        """
        by_theta = self.errors_by_theta(slopes)
        most = float(np.max(by_theta))
        if distance <= error:
            return np.ones(self.directions, dtype=np.bool_)
        return np.asarray(by_theta > UNINVOLVED * most) if distance <= most else np.zeros(self.directions, dtype=np.bool_)

    def is_undone(self, k: int, e: int, point: EventPoint, seen: EventSlopes) -> Mask:
        """By which theta no derivative exists because a change within the run's tolerances would prevent the event.

        The condition is rate^2 <= 2 |g''| error, with g'' over the time in which g changes by its error, but no more than step k,
        which leads here. The error is that of the extreme value at which g would have turned back, so that a gap which only closes
        earlier or later does not count.
        """
        rate, every = seen.rate, np.ones(self.directions, dtype=np.bool_)
        if rate == 0.0:
            return every
        error = max(seen.error, float(np.max(self.errors_by_theta(seen.slopes))))
        if error == 0.0:
            return ~every
        t, y = float(self.tape.times[k, 0]), self.tape.begins[k]
        h = point.t - t
        back = min(2.0 * error / abs(rate), h)
        t, y = point.t - back, cubic(1.0 - back / h, h, (y, point.y), (self.rates(t, y, point.p), point.slope))
        call, row = self.event_call(e, 1)
        _, slopes = call(t, y, point.p, self.rates(t, y, point.p)[:, None], np.ones(1), np.zeros((point.p.size, 1)))
        bend = (rate - float(slopes[row, 0])) / back
        if bend == 0.0:
            return ~every
        slopes, pair = np.zeros(self.directions), self.traced.events[e].pair
        if pair is not None and self.traced.pairs[pair].gap == e:
            _, speeds = self.contact_slopes(point.t, point.y, point.p, point.s, None, point.dp)
            slopes = seen.slopes + rate / bend * speeds[pair]
        elif any(e == holder.reserve for holder in self.holders):  # where it only just lets go, its extreme value is near
            slopes = seen.slopes
        return self.within(0.5 * rate**2 / abs(bend), seen.error, slopes)


def cubic(x: Floats | float, h: float, states: tuple[Floats, Floats], slopes: tuple[Floats, Floats]) -> Floats:
    """The cubic over a step h through the states and slopes at its ends, at the fraction x of the step."""
    bent = h * x * (1.0 - x) ** 2 * slopes[0] + h * x * x * (x - 1.0) * slopes[1]
    return np.asarray(states[0] + x * x * (3.0 - 2.0 * x) * (states[1] - states[0]) + bent)
