"""Sensitivities through the events of a run: S jumps where the equations change, because the event time changes.

At an event at time t*: dt* = -(g_y S + g_p dp) / (g_t + g_y f-); the state there changes by A = S + f- dt*; values that the event
sets (an entry speed, a bristle at zero) follow from A; after it S = A - f+ dt*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pliant.codegen.directional_kernel import DirectionalCall, from_lanes, to_lanes
from pliant.errors import SolveError
from pliant.integrate.memory.run_record import CUTS, MARKS, RECORDS, SETTLING, STOPS, THROWN, TURNS, UNDAMPED
from pliant.integrate.methods.method import Auto
from pliant.integrate.methods.tableaus import DOP853, Tableau
from pliant.integrate.replay.variation import Tolerances, Variation
from pliant.study.derivatives.edges import FUNCTION_JUMPS, first_edge, function_jumps, reason_at_event
from pliant.study.derivatives.near_misses import Approach, approaches, cubic
from pliant.study.derivatives.taped_run import EventPoint, TapedRun
from pliant.trace.contacts import PairSlots
from pliant.trace.layout import CONSTANTS, PIECES, SERIES

Floats = NDArray[np.float64]

DEFAULT = Auto()  # its tolerances are used for a method that has none
UNMOVED = 1e-12  # m or rad: effect of theta, by round-off, on an event function that does not depend on it
SAME = 1e-6  # relative difference of two computations of the same entry speed, squared
STICKS = 1.0  # value in p of a contact whose friction sticks


@dataclass(frozen=True)
class Undefined:
    """A time beyond which a derivative does not exist."""

    t: float  # s
    name: str  # name of the contact or event
    reason: str

    def __str__(self) -> str:
        return f"t = {self.t:.10g} s: {self.name}: {self.reason}"


@dataclass(frozen=True)
class Phase:
    """An interval of the run with one set of parameters, and the output requested in it."""

    begin: float  # s
    p: Floats
    dp: Floats  # (entry of p, theta)
    times: Floats  # requested times
    states: Floats  # (time, component)
    tangents: Floats  # (time, group, row, lane)


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
class Closing:
    """A contact that has closed: derivatives of the initial values of its record."""

    t: float
    begin: Floats
    entry_speed: Floats
    impulse: Floats
    lost: Floats
    rubbed: Floats
    point: EventPoint  # just after closing
    dt: Floats


@dataclass
class Opening:
    """Derivatives of the final values of a contact's record."""

    end: Floats | None  # None while the contact lasts
    exit_speed: Floats
    impulse: Floats
    lost: Floats
    rubbed: Floats


@dataclass
class Touch:
    """One contact from closing to opening."""

    pair: int
    closing: Closing | None  # None: it was already closed at the start of a continued run
    opening: Opening | None = None
    t_end: float = np.nan  # s, time at which the pair separated


@dataclass
class Walk(TapedRun):
    """A walk along a run, phase by phase."""

    control: bool
    phases: list[Phase] = field(default_factory=list)
    touches: list[Touch] = field(default_factory=list)
    undefined: list[Undefined] = field(default_factory=list)
    until: float = np.inf  # s: derivatives are known up to this time
    final: Floats | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.directions = len(self.theta.names)
        observed = self.traced.layout.observed
        self._contact_rows = tuple(k for name in ("closing_speed", "normal_force", "friction_force")
                                   for k in range(observed[name].start, observed[name].stop))  # fmt: skip
        self._under_way: dict[int, Touch] = {}
        self._corners = 0  # inside steps, so far
        self._calls: dict[tuple[str, int, tuple[int, ...] | None], DirectionalCall] = {}
        method = self.run.stepper.method
        steps_of = self.run.stepper.statistics.steps_of
        explicit = all(not m.needs_jacobian for m in method.alternatives if type(m).__name__ in steps_of)
        self.tableau = method.tableau if explicit and isinstance(method.tableau, Tableau) else DOP853
        project = self.kernel("project") if self.run.compiled.project else None
        self.variation = Variation(
            self.tape, self.tableau, self.rhs, self.kernel("rhs"), project, self.directions, self.traced.n_controlled,
            self.tolerances,
            control=self.control or not explicit, own=explicit and self.tableau is method.tableau, stages=self.stages,
        )  # fmt: skip

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

    # ---- the walk

    def go(self, times: Floats) -> None:
        """times: sorted times at which state and sensitivities are requested."""
        tape = self.tape
        near = approaches(self)
        times = np.union1d(times, [approach.t for approach in near])
        p = self._parameters(tape.parameters[0])
        dp = np.zeros((p.size, self.directions))
        dp[self.traced.layout.p[CONSTANTS].start :] = self.theta.constant_slopes
        self._enter_piece(dp, float(tape.times[0, 0]))
        s = self.theta.start.copy()
        self._begin(p, dp, s)
        self._settle(p, dp, s)
        asked = int(np.searchsorted(times, tape.times[0, 0], side="right"))
        if asked:
            self._answer_start(times[:asked], p, dp, s)
        if self._starts_on_zero(p, dp, s):
            self.until = float(tape.times[0, 0])
            return
        for first, last in self._stretches():
            end = int(np.searchsorted(times, tape.times[last - 1, 1], side="right"))
            self.variation.s = s
            self.variation.set_parameters(p, dp)
            states, tangents = self.variation.go_along(first, last, times[asked:end])
            done = times[asked : asked + len(states)]  # fewer if it failed
            self.phases.append(Phase(float(tape.times[first, 0]), p.copy(), dp.copy(), done, states, tangents))
            if self.variation.failed:
                self._fail(first, last, p)
                return
            asked, s = end, self.variation.s
            if self._crosses_edge(first, last, p) or self._event_jumps() or self._misses(near):
                return
            if last == len(tape.times):
                self._finish(last - 1, p, dp, s)
                if self._ends_in_doubt(last - 1, p, dp, s):
                    self.until = float(tape.times[-1, 1])
                    return
                break
            p_next = self._parameters(tape.parameters[last])
            s = self._cross(last - 1, p, p_next, dp, s)
            p = p_next
            if self.undefined:
                self.until = float(tape.times[last - 1, 1])
                return
        self.final = s

    def _fail(self, first: int, last: int, p: Floats) -> None:
        """S cannot be integrated up to an edge at which the equations are infinitely steep; anything else is an error."""
        failed, crossed = self.variation.failed_t, first_edge(self, first, last, p)
        if crossed is None:
            after = f"after t = {failed:.10g} s"
            raise SolveError(f"sensitivities: S must be finite and within its error tolerance, but was not {after}")
        self._stop_at(Undefined(min(crossed.t, failed), crossed.operation, crossed.reason))

    def _crosses_edge(self, first: int, last: int, p: Floats) -> bool:
        """Whether the equations jump, or are infinitely steep, in a step or at its end: only flags mark jumps that S takes."""
        before, self._corners = self._corners, self.variation.statistics["corners"]
        cuts = [e for e, event in enumerate(self.traced.events) if event.kind == CUTS]
        at_corners = self._corners > before or np.any(self.tape.hits[first:last, cuts])
        crossed = first_edge(self, first, last, p) if at_corners else None
        if crossed is not None:
            self._stop_at(Undefined(crossed.t, crossed.operation, crossed.reason))
        return crossed is not None

    def _event_jumps(self) -> bool:
        """Whether the function of an event of the last phase jumped across zero, so that its time has no derivative here."""
        phase = self.phases[-1]
        for event in self.run.stepper.logged():
            if phase.times.size and phase.times[0] <= event.t <= phase.times[-1]:
                point, rows = self.point_in(phase, event.t), self._event_call(event.index, 1)
                grazes = self.time_of_record(event.index, point) is None and self.time_of(event.index, point)[1] != 0.0
                if not grazes and function_jumps(*rows, point):
                    self._stop_at(Undefined(event.t, self._name(event.index), FUNCTION_JUMPS))
                    return True
        return False

    def _misses(self, near: Sequence[Approach]) -> bool:
        """Whether an event that matters was so near in the last phase that a change within the tolerances would cause it."""
        phase = self.phases[-1]
        if not phase.times.size:
            return False
        for approach in near:
            if not phase.times[0] <= approach.t <= phase.times[-1]:
                continue
            point = self.point_in(phase, approach.t)
            seen = self._look_at(approach.event, point)
            error = max(seen.error, self.error_by_theta(seen.slopes))
            lowest = approach.side * seen.value - (0.5 * seen.rate**2 / approach.bend if approach.bend > 0.0 else 0.0)
            if lowest <= error and self._matters(approach, point, error):
                self._stop_at_miss(approach, lowest, error)
                return True
        return False

    def point_in(self, phase: Phase, t: float) -> EventPoint:
        """State and sensitivities at a requested time of a phase."""
        k = int(np.searchsorted(phase.times, t))
        y = np.ascontiguousarray(phase.states[k])
        s = from_lanes(phase.tangents[k])[: y.size, : self.directions]
        return EventPoint(t, y, phase.p, s, phase.dp, self.rhs(t, y, phase.p))

    def _matters(self, approach: Approach, point: EventPoint, error: float) -> bool:
        """Whether S would change if the event happened: only a flag may make no difference, such as that of a corner.

        A neighbouring run that just goes through zero and back does so at this rate twice; S changes by the sum of both.
        """
        flag, rate = self.traced.events[approach.event].flag, np.sqrt(2.0 * approach.bend * error)
        if flag is None or rate == 0.0:
            return True
        change = np.zeros_like(point.s)
        for late, beyond in ((-rate / approach.bend, 1.0), (rate / approach.bend, 0.0)):
            t, y = point.t + late, point.y + late * point.slope
            seen = self._look_at(approach.event, EventPoint(t, y, point.p, point.s, point.dp, self.rhs(t, y, point.p)))
            most = int(np.argmax(np.abs(seen.slopes) * self.tolerances.theta))
            if seen.slopes[most] == 0.0:
                return False
            shift = -seen.value / seen.slopes[most]  # of theta, so that the run goes through zero here
            y, p = y + shift * point.s[:, most], point.p + shift * point.dp[:, most]
            sides = [self.rhs(t, y, _with(p, flag, value)) for value in (point.p[flag], 1.0 - point.p[flag])]
            change += np.outer((2.0 * beyond - 1.0) * (sides[1] - sides[0]), seen.slopes / seen.rate)
        count, theta = self.traced.n_controlled, self.tolerances.theta
        allowed = self.tolerances.atol[:count] + self.tolerances.rtol * np.abs(point.y[:count])
        largest = np.maximum(allowed[:, None], self.tolerances.rtol * np.abs(point.s[:count]) * theta)
        return bool(np.any(np.abs(change[:count]) * theta > largest))

    def _stop_at_miss(self, approach: Approach, gap: float, error: float) -> None:
        event, tolerance = self.traced.events[approach.event], f"the tolerances (rtol {self.tolerances.rtol:g}), here {error:.2g}"
        if event.pair is not None and self.traced.pairs[event.pair].gap == approach.event:
            reason = (f"the contact is missed by {max(gap, 0.0):.2g} m: a change within {tolerance} m, would close it and so "
                      "change the number of impacts; no derivative exists beyond")  # fmt: skip
        else:
            effect = "end the run" if event.kind == STOPS else "make the equations switch"
            reason = (f"its function misses zero by {max(gap, 0.0):.2g}: a change within {tolerance}, would {effect} there; "
                      "no derivative exists beyond")  # fmt: skip
        self._stop_at(Undefined(approach.t, self._name(approach.event), reason))

    def _stop_at(self, undefined: Undefined) -> None:
        """End derivatives inside the last phase."""
        self.undefined.append(undefined)
        self.until = undefined.t
        phase = self.phases.pop()
        kept = phase.times <= undefined.t
        self.phases.append(replace(phase, times=phase.times[kept], states=phase.states[kept], tangents=phase.tangents[kept]))

    def _parameters(self, changing: Floats) -> Floats:
        series = self.traced.layout.p[SERIES]
        return np.concatenate([changing, self.run.stepper.p[series], self.theta.constants])

    def _stretches(self) -> Iterator[tuple[int, int]]:
        """Ranges of steps between changes of parameters or jumps of the state."""
        tape = self.tape
        changed = np.any(tape.parameters[1:] != tape.parameters[:-1], axis=1) | np.any(tape.begins[1:] != tape.ends[:-1], axis=1)
        edges = [0, *(np.flatnonzero(changed) + 1).tolist(), len(tape.times)]
        yield from pairwise(edges)

    def _answer_start(self, times: Floats, p: Floats, dp: Floats, s: Floats) -> None:
        states, tangents = np.tile(self.tape.begins[0], (times.size, 1)), np.stack([to_lanes(s)] * times.size)
        self.phases.append(Phase(float(self.tape.times[0, 0]), p.copy(), dp.copy(), times, states, tangents))

    def _enter_piece(self, dp: Floats, t: float) -> None:
        """Set the tables to the piece of time that begins at t."""
        if self.theta.piece_slopes.size:
            piece = int(np.searchsorted(self.theta.breakpoints, t, side="right"))
            dp[self.traced.layout.p[PIECES]] = self.theta.piece_slopes[piece]

    # ---- events

    def _point(self, k: int, p: Floats, dp: Floats, s: Floats) -> EventPoint:
        """The end of step k."""
        t, y = float(self.tape.times[k, 1]), self.tape.ends[k]
        return EventPoint(t, y, p, s, dp, self.rhs(t, y, p))

    def _cross(self, k: int, p: Floats, p_next: Floats, dp: Floats, s: Floats) -> Floats:
        """S after the end of step k, where p becomes p_next; dp is updated."""
        hits = [e for e in np.flatnonzero(self.tape.hits[k]).tolist() if self.traced.events[e].kind <= TURNS]
        t = float(self.tape.times[k, 1])
        at_break = np.flatnonzero(self.theta.breakpoints == t)
        here = p.copy()
        for i, e in enumerate(hits):
            there = p_next.copy() if i == len(hits) - 1 and not at_break.size else self._after(e, here, p_next)
            point = self._point(k, here.copy(), dp, s)
            dt = np.zeros(self.directions) if self._goes_on(e, point, there) else self._event_slope(k, e, point)
            if dt is None:
                return s
            reason = reason_at_event(self, k, here, there) if self.traced.events[e].flag is not None else ""
            if reason:
                self.undefined.append(Undefined(t, self._name(e), reason))
                return s
            s = self._jump(k, point, there, dt, dp, e)
            here = there
        if at_break.size:
            point = self._point(k, here.copy(), dp, s)
            self._enter_piece(dp, t)
            s = self._jump(k, point, p_next, self.theta.breakpoint_slopes[int(at_break[0])], dp, None)
        return s

    def _after(self, e: int, p: Floats, p_next: Floats) -> Floats:
        """p with the changes of one of several simultaneous events."""
        there, event = p.copy(), self.traced.events[e]
        if event.flag is not None:
            there[event.flag] = p_next[event.flag]
        if event.pair is not None:
            slots = self.traced.pairs[event.pair]
            own = slice(slots.closed, slots.closed + 6)
            there[own] = p_next[own]
        return there

    def _goes_on(self, e: int, point: EventPoint, p_next: Floats) -> bool:
        """Whether the forces go on as before, so that the time of the event does not matter: a compression is over, or the closing
        speed that its contact's entry speed has followed is largest. If the contact is struck, its force jumps."""
        pair = self.traced.events[e].pair
        if pair is None or self.traced.pairs[pair].renewal != e:
            return False
        entry = self.traced.pairs[pair].entry
        return point.p[entry] < 0.0 or np.array_equal(point.slope, self.rhs(point.t, point.y, p_next))

    def _event_slope(self, k: int, e: int, point: EventPoint) -> Floats | None:
        """dt*; None if a change within the tolerances would undo the event."""
        seen = self._look_at(e, point)
        if self._is_undone(k, e, point, seen):
            self.undefined.append(Undefined(point.t, self._name(e), self._grazing(e, seen.rate)))
            return None
        if self.traced.events[e].flag is not None and function_jumps(*self._event_call(e, 1), point):
            self.undefined.append(Undefined(point.t, self._name(e), FUNCTION_JUMPS))
            return None
        return seen.dt

    def _ends_in_doubt(self, k: int, p: Floats, dp: Floats, s: Floats) -> bool:
        """Whether an event that only just happened ended the run."""
        ends = [e for e in np.flatnonzero(self.tape.hits[k]).tolist() if self.traced.events[e].kind == STOPS]
        return any(self._event_slope(k, e, self._point(k, p, dp, s)) is None for e in ends)

    def time_of_record(self, e: int, point: EventPoint) -> Floats | None:
        """dt* of an event that may lie inside a step; None if a change within the tolerances would undo it."""
        seen, k = self._look_at(e, point), int(np.searchsorted(self.tape.times[:, 1], point.t))
        return None if self.traced.events[e].kind == RECORDS and self._is_undone(k, e, point, seen) else seen.dt

    def time_of(self, e: int, point: EventPoint) -> tuple[Floats, float]:
        """(dt*, the rate of the event function) of event e."""
        seen = self._look_at(e, point)
        return seen.dt, seen.rate

    def _look_at(self, e: int, point: EventPoint) -> EventSlopes:
        """Event function e at a point: its value and derivatives."""
        m, n = self.directions, point.y.size
        dy, dt, dp = np.zeros((n, m + 3)), np.zeros(m + 3), np.zeros((point.p.size, m + 3))
        dy[:, :m], dp[:, :m], dy[:, m], dt[m] = point.s, point.dp, point.slope, 1.0
        count, tolerances = self.traced.n_controlled, self.tolerances
        dy[:count, m + 1] = dy[:count, m + 2] = tolerances.atol[:count] + tolerances.rtol * np.abs(point.y[:count])
        dy[1::2, m + 2] *= -1.0  # errors may add up or cancel
        call, k = self._event_call(e, m + 3)
        values, slopes = call(point.t, point.y, point.p, dy, dt, dp)
        return EventSlopes(float(values[k]), float(slopes[k, m]), slopes[k, :m].copy(), float(np.max(np.abs(slopes[k, m + 1 :]))))

    def _event_call(self, e: int, directions: int) -> tuple[DirectionalCall, int]:
        """Derivatives of event functions, and the index of event e; those that cost more are kept apart."""
        rows = next(rows for rows in self._event_rows if e in rows)
        return self._call("event_functions", directions, rows), rows.index(e)

    @cached_property
    def _event_rows(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """(Events that cost little; those that read accelerations: marks, such as force peaks, and renewals of entry speeds)."""
        renewals = {slots.renewal for slots in self.traced.pairs}
        costly = [event.kind == MARKS or e in renewals for e, event in enumerate(self.traced.events)]
        plain, others = (tuple(k for k, is_costly in enumerate(costly) if is_costly is asked) for asked in (False, True))
        return plain, others

    def error_by_theta(self, slopes: Floats) -> float:
        """The change of a number with these derivatives due to relative changes of theta within the tolerance."""
        return float(np.max(np.abs(slopes) * self.tolerances.theta)) * self.tolerances.rtol

    def _is_undone(self, k: int, e: int, point: EventPoint, seen: EventSlopes) -> bool:
        """Whether a change of state or theta within the run's tolerances would prevent the event.

        The condition is rate^2 <= 2 |g''| error, with g'' over the time in which g changes by its error, but no more than step k,
        which leads here. The error is that of the extreme value at which g would have turned back, so that a gap which only closes
        earlier or later does not count.
        """
        rate = seen.rate
        if rate == 0.0:
            return True
        error = max(seen.error, self.error_by_theta(seen.slopes))
        if error == 0.0:
            return False
        t, y = float(self.tape.times[k, 0]), self.tape.begins[k]
        h = point.t - t
        back = min(2.0 * error / abs(rate), h)
        t, y = point.t - back, cubic(1.0 - back / h, h, (y, point.y), (self.rhs(t, y, point.p), point.slope))
        call, row = self._event_call(e, 1)
        _, slopes = call(t, y, point.p, self.rhs(t, y, point.p)[:, None], np.ones(1), np.zeros((point.p.size, 1)))
        bend = (rate - float(slopes[row, 0])) / back
        error, pair = seen.error, self.traced.events[e].pair
        if pair is not None and self.traced.pairs[pair].gap == e and bend != 0.0:
            _, speeds = self.contact_slopes(point.t, point.y, point.p, point.s, None, point.dp)
            error = max(error, self.error_by_theta(seen.slopes + rate / bend * speeds[pair]))
        return rate**2 <= 2.0 * abs(bend) * error

    def _name(self, e: int) -> str:
        event = self.traced.events[e]
        return event.name if event.pair is None else self.traced.pairs[event.pair].pair.name

    def _grazing(self, e: int, rate: float) -> str:
        event = self.traced.events[e]
        tolerance = self.tolerances.rtol
        if event.pair is not None and self.traced.pairs[event.pair].gap == e:
            return (f"the contact grazes, at {abs(rate):.2g} m/s: a change within the tolerances (rtol {tolerance:g}) "
                    "would undo it and so change the number of impacts; no derivative exists beyond")  # fmt: skip
        return (f"its function touches zero rather than crossing it, at a rate of {abs(rate):.2g}: a change within the tolerances "
                f"(rtol {tolerance:g}) would undo it; no derivative exists beyond")  # fmt: skip

    def _jump(self, k: int, point: EventPoint, p_next: Floats, dt: Floats, dp: Floats, e: int | None) -> Floats:
        """S after an event whose time has the derivative dt, and at which p becomes p_next."""
        moved = point.moved(dt)
        y_next = point.y.copy()
        for number, slots in enumerate(self.traced.pairs):
            closed, closes = point.p[slots.closed] != 0.0, p_next[slots.closed] != 0.0
            if closes and not closed:
                self._close(number, slots, point, p_next, dt, dp, moved)
                y_next[slots.bristles.start : slots.bristles.stop] = 0.0
                moved[slots.bristles.start : slots.bristles.stop] = 0.0
            elif closed and not closes:
                self._open(number, slots, point, dt, dp, moved)
            elif closed:
                if point.p[slots.entry] != p_next[slots.entry]:
                    self._renew(number, slots, point, dt, dp, moved)
                if slots.grip is not None:
                    self._grip(slots, point, p_next, dt, dp, moved)
        after = self.rhs(point.t, y_next, p_next)
        return moved - np.outer(after, dt)

    # ---- contacts

    def contact_slopes(self, t: float, y: Floats, p: Floats, moved: Floats, dt: Floats | None, dp: Floats) -> tuple[Floats, Floats]:
        """(closing speeds, normal forces, friction forces) of all pairs, and their derivatives."""
        return self._call("observe", self.directions, self._contact_rows)(t, y, p, moved, dt, dp)

    def _starts_on_zero(self, p: Floats, dp: Floats, s: Floats) -> bool:
        """Whether an event that changes the equations is at zero at the start, and theta decides to which side it goes."""
        t, y = float(self.tape.times[0, 0]), self.tape.begins[0]
        point = EventPoint(t, y, p, s, dp, self.rhs(t, y, p))
        gaps = {slots.gap for slots in self.traced.pairs if slots.pair.name not in self.run.resumed}
        for e, event in enumerate(self.traced.events):
            if event.flag is None and e not in gaps:
                continue
            seen = self._look_at(e, point)
            if abs(seen.value) <= seen.error and float(np.max(np.abs(seen.slopes) * self.tolerances.theta)) > UNMOVED:
                reason = ("it starts at zero, within the tolerances, and parameters decide to which side it goes: no derivative "
                          "exists; start a little away from it")  # fmt: skip
                self.undefined.append(Undefined(t, self._name(e), reason))
        return bool(self.undefined)

    def _begin(self, p: Floats, dp: Floats, s: Floats) -> None:
        """Initialise contacts that are closed at the start of the run."""
        t, y = float(self.tape.times[0, 0]), self.tape.begins[0]
        resumed = self.run.resumed
        none = np.zeros(self.directions)
        for number, slots in enumerate(self.traced.pairs):
            if p[slots.closed] == 0.0:
                continue
            if slots.pair.name in resumed:
                self._under_way[number] = Touch(number, None)
                self.touches.append(self._under_way[number])
                continue
            before = p.copy()
            before[slots.closed] = 0.0
            point = EventPoint(t, y, before, s, dp, np.zeros(y.size))
            self._close(number, slots, point, p, none, dp, s)
            if slots.renewal is not None:
                self._throw(slots, point, p, dp)

    def _settle(self, p: Floats, dp: Floats, s: Floats) -> None:
        """Filters of sensors start in equilibrium with what the sensors measure: as `begin` sets them."""
        settling = self.run.settling
        if settling is None:
            return
        y, own = self.tape.begins[0].copy(), settling.which != 0
        places = settling.first + np.flatnonzero(own)
        y[places], s[places] = 0.0, 0.0
        for _ in range(SETTLING):
            values, slopes = self._call("settle", self.directions)(float(self.tape.times[0, 0]), y, p, s, None, dp)
            y[places], s[places] = values[own], slopes[own]

    def _throw(self, slots: PairSlots, point: EventPoint, p: Floats, dp: Floats) -> None:
        """The entry speed of a contact that starts pressed, if it is the speed at which it would be thrown out: see `begin`."""
        assert slots.renewal is not None
        undamped = p.copy()
        undamped[[other.entry for other in self.traced.pairs if p[other.closed] != 0.0]] = -UNDAMPED
        point = replace(point, p=undamped)
        apart, gap = self._look_at(slots.renewal, point), self._look_at(slots.gap, point)
        square = THROWN * apart.value * gap.value  # both are negative if it is thrown out
        if gap.value < 0.0 and abs(p[slots.entry] ** 2 - square) <= SAME * square:
            dp[slots.entry] = THROWN * (apart.slopes * gap.value + apart.value * gap.slopes) / (2.0 * p[slots.entry])

    def _close(self, pair: int, slots: PairSlots, point: EventPoint, p_next: Floats, dt: Floats, dp: Floats, moved: Floats) -> None:
        values, slopes = self.contact_slopes(point.t, point.y, point.p, moved, dt, dp)
        speed, speed_slope = float(values[pair]), slopes[pair].copy()
        floored = speed <= float(slots.pair.normal.entry_floor)
        dp[slots.entry] = 0.0 if floored else speed_slope
        beyond = EventPoint(point.t, point.y, p_next.copy(), moved.copy(), dp.copy(), point.slope)
        closing = Closing(point.t, dt.copy(), speed_slope if speed > 0.0 else np.zeros(dt.size), moved[slots.impulse].copy(),
                          moved[slots.lost].copy(), moved[slots.rubbed].copy(), beyond, dt.copy())  # fmt: skip
        self._under_way[pair] = Touch(pair, closing)
        self.touches.append(self._under_way[pair])
        if slots.grip is not None:
            self._grip(slots, point, p_next, dt, dp, moved)

    def _renew(self, pair: int, slots: PairSlots, point: EventPoint, dt: Floats, dp: Floats, moved: Floats) -> None:
        """The entry speed of a contact may grow after a compression, or once it is struck; it ends as the largest closing speed."""
        if point.p[slots.entry] > 0.0:
            dp[slots.entry] *= -1.0
        else:
            dp[slots.entry] = self.contact_slopes(point.t, point.y, point.p, moved, dt, dp)[1][pair]

    def _open(self, pair: int, slots: PairSlots, point: EventPoint, dt: Floats, dp: Floats, moved: Floats) -> None:
        _, slopes = self.contact_slopes(point.t, point.y, point.p, moved, dt, dp)
        touch = self._under_way.pop(pair)
        touch.t_end = point.t
        at_end = (moved[place].copy() for place in (slots.impulse, slots.lost, slots.rubbed))
        touch.opening = Opening(dt.copy(), -slopes[pair], *at_end)
        dp[slots.entry] = 0.0
        if slots.grip is not None:
            dp[slots.grip + 1 : slots.grip + 4] = 0.0

    def _grip(self, slots: PairSlots, point: EventPoint, p_next: Floats, dt: Floats, dp: Floats, moved: Floats) -> None:
        """The direction in which friction yields: that of the force needed while it stuck."""
        assert slots.grip is not None
        own = slice(slots.grip + 1, slots.grip + 4)
        if np.array_equal(point.p[own], p_next[own]):
            return
        dp[own] = 0.0
        if not np.any(p_next[own]):
            return
        sticking = point.p.copy()
        sticking[slots.closed], sticking[slots.grip] = 1.0, STICKS
        sticking[slots.entry] = p_next[slots.entry]
        values, slopes = self.contact_slopes(point.t, point.y, sticking, moved, dt, dp)
        count, pair = len(self.traced.pairs), self.traced.pairs.index(slots)
        at = 2 * count + 3 * pair
        force, change = values[at : at + 3], slopes[at : at + 3]
        size = max(float(np.linalg.norm(force)), 1e-300)
        unit = force / size
        dp[own] = (change - np.outer(unit, unit @ change)) / size

    def _finish(self, k: int, p: Floats, dp: Floats, s: Floats) -> None:
        """Finish contacts that are still closed, with their data at the end of the run."""
        p_end = self._parameters(self.run.stepper.p[: self.n_changing])
        point = self._point(k, p, dp, s)
        closed_now = [number for number, slots in enumerate(self.traced.pairs) if p_end[slots.closed] != 0.0]
        values_slopes = self.contact_slopes(point.t, point.y, p, s, None, dp)[1] if closed_now else None
        for number in closed_now:
            slots = self.traced.pairs[number]
            if number in self._under_way and values_slopes is not None:
                self._under_way[number].opening = Opening(
                    None, -values_slopes[number], s[slots.impulse].copy(), s[slots.lost].copy(), s[slots.rubbed].copy()
                )


def _with(p: Floats, entry: int, value: float) -> Floats:
    changed = p.copy()
    changed[entry] = value
    return changed
