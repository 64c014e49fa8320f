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

from pliant.arrays import Floats, Ints
from pliant.codegen.directional_kernel import from_lanes, to_lanes
from pliant.errors import SolveError
from pliant.integrate.memory.run_record import CUTS, SETTLING, STOPS, THROWN, TURNS, UNDAMPED
from pliant.integrate.methods.tableaus import DOP853, Tableau
from pliant.integrate.replay.variation import Variation
from pliant.study.derivatives import grips
from pliant.study.derivatives.edges import FUNCTION_JUMPS, first_edge, function_jumps, reason_at_event
from pliant.study.derivatives.event_slopes import EventReader, Mask
from pliant.study.derivatives.near_misses import Approach, approaches
from pliant.study.derivatives.taped_run import EventPoint
from pliant.study.derivatives.walk_records import Closing, Opening, Phase, Touch, Undefined
from pliant.trace.contacts import PairSlots
from pliant.trace.layout import CONSTANTS, PIECES, SERIES

ON_ZERO = ("it starts at zero, within the tolerances, and parameters decide to which side it goes: no derivative exists; start a "
           "little away from it")  # fmt: skip
TOGETHER = ("it comes to rest or lets go at the same time as something else, and what follows depends on which is first: no "
            "derivative exists beyond")  # fmt: skip
UNORDERED = 1e-6  # relative difference of S after events in both orders, if they do not depend on each other
UNMOVED = 1e-12  # m or rad: effect of theta, by round-off, on an event function that does not depend on it
SAME = 1e-6  # relative difference of two computations of the same entry speed, squared


@dataclass
class Walk(EventReader):
    """A walk along a run, phase by phase."""

    control: bool
    phases: list[Phase] = field(default_factory=list)
    touches: list[Touch] = field(default_factory=list)
    undefined: list[Undefined] = field(default_factory=list)
    lost: dict[int, Undefined] = field(default_factory=dict)  # by entry of theta: those by which alone no derivative exists
    turned: dict[tuple[float, str], Floats] = field(default_factory=dict)  # dt* of what begins or ceases to stick, by time and name
    until: float = np.inf  # s: derivatives are known up to this time
    final: Floats | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._under_way: dict[int, Touch] = {}
        self._corners = 0  # inside steps, so far
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
        if self._starts_in_doubt(p, dp, s):
            self.until = float(tape.times[0, 0])
            return
        self._forget(s, dp)
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
            self._forget(s, dp)
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
        at_corners = self._corners > before or self._cuts_before[last] > self._cuts_before[first]
        crossed = first_edge(self, first, last, p) if at_corners else None
        if crossed is not None:
            self._stop_at(Undefined(crossed.t, crossed.operation, crossed.reason))
        return crossed is not None

    @cached_property
    def _cuts_before(self) -> Ints:
        """How many steps before each end at a corner."""
        cuts = [e for e, event in enumerate(self.traced.events) if event.kind == CUTS]
        return np.append(0, np.cumsum(np.any(self.tape.hits[:, cuts], axis=1)))

    def _event_jumps(self) -> bool:
        """Whether the function of an event of the last phase jumped across zero, so that its time has no derivative here."""
        phase = self.phases[-1]
        for event in self.logged:
            if phase.times.size and phase.times[0] <= event.t <= phase.times[-1]:
                point, rows = self.point_in(phase, event.t), self.event_call(event.index, 1)
                grazes = self.time_of_record(event.index, point) is None and self.time_of(event.index, point)[1] != 0.0
                if not grazes and function_jumps(*rows, point):
                    self._stop_at(Undefined(event.t, self.name_of(event.index), FUNCTION_JUMPS))
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
            seen = self.look_at(approach.event, point)
            error = max(seen.error, float(np.max(self.errors_by_theta(seen.slopes))))
            lowest = approach.side * seen.value - (0.5 * seen.rate**2 / approach.bend if approach.bend > 0.0 else 0.0)
            if lowest <= error and self._matters(approach, point, error):
                miss = self._miss(approach, lowest, error)
                if self._lose(self.within(lowest, seen.error, seen.slopes), miss):
                    self._stop_at(self.undefined.pop())
                    return True
        return False

    def point_in(self, phase: Phase, t: float) -> EventPoint:
        """State and sensitivities at a requested time of a phase."""
        k = int(np.searchsorted(phase.times, t))
        y = np.ascontiguousarray(phase.states[k])
        s = from_lanes(phase.tangents[k])[: y.size, : self.directions]
        return EventPoint(t, y, phase.p, s, phase.dp, self.rates(t, y, phase.p))

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
            seen = self.look_at(approach.event, EventPoint(t, y, point.p, point.s, point.dp, self.rates(t, y, point.p)))
            most = int(np.argmax(np.abs(seen.slopes) * self.tolerances.theta))
            if seen.slopes[most] == 0.0:
                return False
            shift = -seen.value / seen.slopes[most]  # of theta, so that the run goes through zero here
            y, p = y + shift * point.s[:, most], point.p + shift * point.dp[:, most]
            sides = [self.rates(t, y, _with(p, flag, value)) for value in (point.p[flag], 1.0 - point.p[flag])]
            change += np.outer((2.0 * beyond - 1.0) * (sides[1] - sides[0]), seen.slopes / seen.rate)
        count, theta = self.traced.n_controlled, self.tolerances.theta
        allowed = self.tolerances.atol[:count] + self.tolerances.rtol * np.abs(point.y[:count])
        largest = np.maximum(allowed[:, None], self.tolerances.rtol * np.abs(point.s[:count]) * theta)
        return bool(np.any(np.abs(change[:count]) * theta > largest))

    def _lose(self, by: Mask, undefined: Undefined) -> bool:
        """Derivatives by these theta do not exist beyond this; whether none is left. Others go on."""
        by = by.copy()
        by[list(self.lost)] = True
        if np.all(by):
            self.undefined.append(undefined)
            return True
        for k in np.flatnonzero(by).tolist():
            self.lost.setdefault(k, undefined)
        return False

    def _forget(self, *slopes: Floats) -> None:
        """Take no more notice of lost theta."""
        for one in slopes if self.lost else ():
            one[..., list(self.lost)] = 0.0

    def _miss(self, approach: Approach, gap: float, error: float) -> Undefined:
        event, tolerance = self.traced.events[approach.event], f"the tolerances (rtol {self.tolerances.rtol:g}), here {error:.2g}"
        if event.pair is not None and self.traced.pairs[event.pair].gap == approach.event:
            reason = (f"the contact is missed by {max(gap, 0.0):.2g} m: a change within {tolerance} m, would close it and so "
                      "change the number of impacts; no derivative exists beyond")  # fmt: skip
        else:
            effect = "end the run" if event.kind == STOPS else "make the equations switch"
            reason = (f"its function misses zero by {max(gap, 0.0):.2g}: a change within {tolerance}, would {effect} there; "
                      "no derivative exists beyond")  # fmt: skip
        return Undefined(approach.t, self.name_of(approach.event), reason)

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
        return EventPoint(t, y, p, s, dp, self.rates(t, y, p))

    def _cross(self, k: int, p: Floats, p_next: Floats, dp: Floats, s: Floats) -> Floats:
        """S after the end of step k, where p becomes p_next; dp is updated."""
        t = float(self.tape.times[k, 1])
        at_break = np.flatnonzero(self.theta.breakpoints == t)
        point, here = self._point(k, p.copy(), dp, s), p.copy()
        groups = self._groups(k, point, p_next)
        for number, group in enumerate(groups):
            there = self._after(group, here, p_next) if number < len(groups) - 1 or at_break.size else p_next.copy()
            point = self._point(k, here, dp, s) if number else point
            dt = np.zeros(self.directions) if self._goes_on(group[0], point, there) else self._event_slope(k, group[0], point)
            if dt is None:
                return s
            reason = reason_at_event(self, k, here, there) if any(self.traced.events[e].flag is not None for e in group) else ""
            if reason:
                self.undefined.append(Undefined(t, self.name_of(group[0]), reason))
                return s
            self._forget(s, dp, dt)
            s, here = self._jump(point, there, dt, dp), there
        if at_break.size:
            point = self._point(k, here, dp, s) if groups else point
            self._enter_piece(dp, t)
            s = self._jump(point, p_next, self.theta.breakpoint_slopes[int(at_break[0])], dp)
        self._judge_rest(k, p, p_next, dp, s)
        return s

    def _groups(self, k: int, point: EventPoint, p_next: Floats) -> list[list[int]]:
        """The events at the end of step k; those whose times are one for every theta, such as rest of all pins of a loop, together.

        If joints come to rest or let go at the same time as something independent, S must not depend on which is first.
        """
        groups: list[list[int]] = []
        hits = [e for e in np.flatnonzero(self.tape.hits[k]).tolist() if self.traced.events[e].kind <= TURNS]
        for e in grips.causes(self, hits, point, p_next):
            group = next((group for group in groups if grips.coincide(self, e, group[0], point)), None)
            if group is None:
                groups.append([e])
            else:
                group.append(e)
        if len(groups) > 1 and any(self.traced.events[e].holder is not None for group in groups for e in group):
            one, other = (self._passed(k, order, point, p_next) for order in (groups, groups[::-1]))
            if not np.allclose(one, other, rtol=UNORDERED, atol=UNORDERED * float(np.max(np.abs(one)))):
                self.undefined.append(Undefined(point.t, self.name_of(groups[0][0]), TOGETHER))
        return groups

    def _passed(self, k: int, order: Sequence[Sequence[int]], point: EventPoint, p_next: Floats) -> Floats:
        """theta S after groups of events, without what they set."""
        for group in order:
            beyond = self._point(k, self._after(group, point.p, p_next), point.dp, point.s)
            beyond.s = point.s + np.outer(point.slope - beyond.slope, self.look_at(group[0], point).dt)
            point = beyond
        return np.asarray(point.s * self.tolerances.theta)

    def _judge_rest(self, k: int, p: Floats, p_next: Floats, dp: Floats, s: Floats) -> None:
        """Joints that stick from here, or do not, by less than the tolerances."""
        for name, seen in grips.doubtful(self, p, self._point(k, p_next, dp, s)):
            by = self.within(abs(seen.value), seen.error, seen.slopes)
            if np.any(by) and self._lose(by, Undefined(float(self.tape.times[k, 1]), name, grips.ROUND_OFF)):
                return

    def _after(self, now: Sequence[int], p: Floats, p_next: Floats) -> Floats:
        """p with the changes of some of several simultaneous events."""
        there = p.copy()
        for e in now:
            event = self.traced.events[e]
            if event.flag is not None:
                there[event.flag] = p_next[event.flag]
            if event.pair is not None:
                slots = self.traced.pairs[event.pair]
                own = slice(slots.closed, slots.closed + 6)
                there[own] = p_next[own]
            for holder in self.holders:
                if event.holder == holder.name:
                    there[holder.own] = p_next[holder.own]
        return there

    def _goes_on(self, e: int, point: EventPoint, p_next: Floats) -> bool:
        """Whether the forces go on as before, so that the time of the event does not matter: a compression is over, or the closing
        speed that its contact's entry speed has followed is largest. If the contact is struck, its force jumps."""
        pair = self.traced.events[e].pair
        if pair is None or self.traced.pairs[pair].renewal != e:
            return False
        entry = self.traced.pairs[pair].entry
        return point.p[entry] < 0.0 or np.array_equal(point.slope, self.rates(point.t, point.y, p_next))

    def _event_slope(self, k: int, e: int, point: EventPoint) -> Floats | None:
        """dt*; None if a change within the tolerances would undo the event."""
        seen = self.look_at(e, point)
        undone = self.is_undone(k, e, point, seen)
        if np.any(undone) and self._lose(undone, Undefined(point.t, self.name_of(e), self._grazing(e, seen.rate))):
            return None
        if self.traced.events[e].flag is not None and function_jumps(*self.event_call(e, 1), point):
            self.undefined.append(Undefined(point.t, self.name_of(e), FUNCTION_JUMPS))
            return None
        return seen.dt

    def _ends_in_doubt(self, k: int, p: Floats, dp: Floats, s: Floats) -> bool:
        """Whether an event that only just happened ended the run."""
        ends = [e for e in np.flatnonzero(self.tape.hits[k]).tolist() if self.traced.events[e].kind == STOPS]
        return any(self._event_slope(k, e, self._point(k, p, dp, s)) is None for e in ends)

    def _grazing(self, e: int, rate: float) -> str:
        event = self.traced.events[e]
        tolerance = self.tolerances.rtol
        if event.pair is not None and self.traced.pairs[event.pair].gap == e:
            return (f"the contact grazes, at {abs(rate):.2g} m/s: a change within the tolerances (rtol {tolerance:g}) "
                    "would undo it and so change the number of impacts; no derivative exists beyond")  # fmt: skip
        return (f"its function touches zero rather than crossing it, at a rate of {abs(rate):.2g}: a change within the tolerances "
                f"(rtol {tolerance:g}) would undo it; no derivative exists beyond")  # fmt: skip

    def _jump(self, point: EventPoint, p_next: Floats, dt: Floats, dp: Floats) -> Floats:
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
            elif closed and point.p[slots.entry] != p_next[slots.entry]:
                self._renew(number, slots, point, dt, dp, moved)
        if name := grips.turn(self, point, p_next, dt, dp, moved):
            self.undefined.append(Undefined(point.t, name, grips.OTHERWISE))
        self.turned |= {(point.t, holder.name): dt for holder in self.holders if holder.changes(point.p, p_next)}
        after = self.rates(point.t, y_next, p_next)
        return moved - np.outer(after, dt)

    # ---- contacts

    def _starts_in_doubt(self, p: Floats, dp: Floats, s: Floats) -> bool:
        """Whether an event that changes the equations is at zero at the start, and theta decides to which side it goes."""
        t, y = float(self.tape.times[0, 0]), self.tape.begins[0]
        point = EventPoint(t, y, p, s, dp, self.rates(t, y, p))
        gaps = {slots.gap for slots in self.traced.pairs if slots.pair.name not in self.run.resumed}
        looks = [(self.name_of(e), self.look_at(e, point), ON_ZERO) for e, event in enumerate(self.traced.events)
                 if event.flag is not None or e in gaps]  # fmt: skip
        looks += [(name, seen, grips.STARTS) for name, seen in grips.moved_at_rest(self, point)]
        looks += [(name, seen, ON_ZERO) for name, seen in grips.doubtful(self, p, point)]
        for name, seen, reason in looks:
            by = np.abs(seen.slopes) * self.tolerances.theta > UNMOVED
            if abs(seen.value) <= seen.error and np.any(by):
                self._lose(by, Undefined(t, name, reason))
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
        before = p.copy()
        for holder in self.holders:
            if holder.name not in resumed and not holder.exact and np.any(p[holder.direction]):
                before = holder.sticking(before)
        if name := grips.turn(self, EventPoint(t, y, before, s, dp, np.zeros(y.size)), p, none, dp, s):
            self.undefined.append(Undefined(t, name, grips.OTHERWISE))

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
        apart, gap = self.look_at(slots.renewal, point), self.look_at(slots.gap, point)
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
