"""Warnings about members in lock-step: those of a single run, from the rows and sums that lock-step keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from pliant.arrays import Floats, Ints, Truths
from pliant.integrate.memory.course import Course
from pliant.results.contacts import ContactRecord, ContactTable
from pliant.results.ledger import GIVEN_SHARE, HELD
from pliant.run.accounts import allowed_share, extremes_of
from pliant.run.evidence import Evidence
from pliant.run.inertia import InertiaCheck
from pliant.run.simulate import scales_at_start, weight_of
from pliant.run.starts import lightened
from pliant.run.validity import OF_COURSE, warnings_of

if TYPE_CHECKING:
    from pliant.ensemble.member_rows import MemberRows
    from pliant.integrate.methods.method import Method
    from pliant.run.prepare import Compiled
    from pliant.trace.traced_system import TracedSystem

TOGETHER, FEW = 64, 16  # members that are cleared together, and members that are judged one by one if they cannot be
AGE = 1e12  # s


@dataclass(frozen=True)
class MemberSums:
    """What lock-step sums up over all steps of members."""

    reach: Floats  # (member, work, 2) J: lowest, highest
    touches: Floats  # (member, pair)
    peak_force: Floats  # (member, pair) N
    entry_speed: Floats  # (member, pair) m/s, the largest
    steps: Ints  # (member)


@dataclass(frozen=True)
class MembersToJudge:
    """Members that ended normally, with what lock-step keeps of them: their rows and sums."""

    method: Method
    rows: MemberRows
    sums: MemberSums
    resisted: Truths  # (member): whether the mass matrix is known to be regular at their states

    def warnings(self, compiled: Callable[[int], Compiled]) -> Iterator[tuple[str, ...]]:
        """For every member, the sentences that a single run would give, as far as its rows tell; compiled: its System."""
        waiting: list[int] = []
        ready: Compiled | None = None
        for member in range(len(self.rows)):
            own = compiled(member)
            if ready is not None and (own is not ready or len(waiting) == TOGETHER):
                yield from self._of_group(ready, waiting)
                waiting = []
            waiting, ready = [*waiting, member], own
        if ready is not None:
            yield from self._of_group(ready, waiting)

    def _of_group(self, compiled: Compiled, members: list[int]) -> Iterator[tuple[str, ...]]:
        """Members with the same numbers in warnings: most are cleared together."""
        alone = len(members) <= FEW or lightened(compiled.traced.original)
        suspect = [True] * len(members) if alone else self._suspects(compiled.traced, np.array(members))
        for member, is_suspect in zip(members, suspect, strict=True):
            yield self._of_one(compiled, member) if is_suspect else compiled.traced.warnings

    def _of_one(self, compiled: Compiled, member: int) -> tuple[str, ...]:
        traced, rows, there = compiled.traced, self.rows, self.rows.there[member]
        course = _course(
            traced,
            rows.times[member, there],
            rows.states[member, there],
            rows.changing[member, there],
            rows.constants[member if len(rows.constants) > 1 else 0],
            self.sums.reach[member],
        )
        evidence = self._evidence(traced, course, rows.observed[member, there], np.array([member]))
        if not self.resisted[member] or lightened(traced.original):
            evidence = replace(evidence, resistance=InertiaCheck(compiled, traced.layout.observed["kinetic"].start))
        return (*traced.warnings, *warnings_of(evidence))

    def _evidence(self, traced: TracedSystem, course: Course, observed: Floats, members: Ints) -> Evidence:
        """From the rows of a course; of contacts, the hardest of these members."""
        size, at_hand = scales_at_start(traced, observed[0])
        return Evidence(
            traced=traced,
            times=np.empty(0),
            values={},
            method=self.method,
            course=course,
            observed=observed,
            extremes=extremes_of(traced, observed, course),
            at_hand=at_hand,
            size=size,
            weight=weight_of(traced),
            contacts=_contacts(traced, self.sums, members),
            resistance=_Resisted(),
            blind=np.zeros(len(traced.events), dtype=np.int64),
            steps=int(self.sums.steps[members].max()),
            continued_from=None,
        )

    # ---- members about which there is nothing to say

    def _suspects(self, traced: TracedSystem, members: Ints) -> Truths:
        """(member): whether a warning is possible, by bounds that are cheap for many members at once."""
        observed = self.rows.observed[members]
        deep = np.any(observed[:, 0, traced.layout.observed["gap"]] < 0.0, axis=1)
        suspect = ~self.resisted[members] | deep | self._unbalanced(traced, members, observed)
        return np.asarray(suspect if np.all(suspect) else suspect | self._beyond_limits(traced, members))

    def _unbalanced(self, traced: TracedSystem, members: Ints, observed: Floats) -> Truths:
        """(member): whether energies may be off, or a source may have given what it must not, by more than errors explain."""
        columns, there = traced.layout.observed, self.rows.there[members]
        held = observed[:, :, [columns[name].start for name in HELD]]
        works = self.rows.states[members][:, :, traced.n_controlled : traced.n_controlled + len(traced.sources)]
        balance = held.sum(axis=2) - works.sum(axis=2)
        error = np.max(np.abs(balance - balance[:, :1]), axis=1, where=there, initial=0.0)
        kinetic = np.max(held[:, :, 0], axis=1, where=there, initial=0.0)  # at most the largest exchange
        off = ~(error <= allowed_share(self.method.rtol) * kinetic)  # nan is off
        dissipative = [k for k, name in enumerate(traced.sources) if name in traced.dissipative]
        lowest = np.minimum.accumulate(np.where(there[:, :, None], works, np.inf), axis=1)
        risen = np.max(works - lowest, axis=1, where=there[:, :, None], initial=0.0)
        given = np.maximum(risen, self.sums.reach[members, :, 1])[:, dissipative]
        return np.asarray(off | np.any(given > GIVEN_SHARE * kinetic[:, None], axis=1))

    def _beyond_limits(self, traced: TracedSystem, members: Ints) -> Truths:
        """(member): whether its rows or contacts may exceed a limit: all members as one, then each half of them.

        Rows are spaced so that duration limits always apply.
        """
        there, rows = self.rows.there[members], self.rows
        states, changing, observed = (x[members][there] for x in (rows.states, rows.changing, rows.observed))
        course = _course(traced, np.linspace(0.0, AGE, len(states)), states, changing, np.empty(0), self.sums.reach[members[0]])
        evidence = self._evidence(traced, course, observed, members)
        if not any(True for warning in OF_COURSE for _ in warning(evidence)):
            return np.zeros(members.size, dtype=np.bool_)
        if members.size <= FEW:
            return np.ones(members.size, dtype=np.bool_)
        return np.concatenate([self._beyond_limits(traced, half) for half in np.array_split(members, 2)])


class _Resisted:
    """A mechanism whose mass matrix was found to be regular."""

    def unresisted(self, t: float, y: Floats, p: Floats) -> None:
        return None

    def left(self, t: float, y: Floats, before: Floats, p: Floats) -> tuple[float, str]:
        return 1.0, ""


def _course(traced: TracedSystem, times: Floats, states: Floats, changing: Floats, constants: Floats, reach: Floats) -> Course:
    """The extremes of works over all steps; when they were reached, and how far a work rose again, is known at rows only."""
    works = states[:, traced.n_controlled : traced.n_controlled + len(traced.sources)]
    lowest, highest = reach.T
    risen = works - np.minimum.accumulate(works, axis=0)
    return Course(
        times=times,
        states=states,
        parameters=changing,
        constants=constants,
        lowest=lowest,
        highest=highest,
        highest_at=times[np.argmax(works, axis=0)],
        rise=np.maximum(risen.max(axis=0), highest),  # works begin at zero
        risen_at=times[np.argmax(risen, axis=0)],
    )


def _contacts(traced: TracedSystem, sums: MemberSums, members: Ints) -> ContactTable:
    """One record for every pair that touched, of the member that was hit hardest and of the slowest; nan for what is not kept.

    A pair that touched again had bounced; how fast is not known.
    """
    touches, force = (x[members].max(axis=0) for x in (sums.touches, sums.peak_force))
    speed = np.min(sums.entry_speed[members], axis=0, where=sums.touches[members] > 0, initial=np.inf)
    ends, exits = np.where(touches > 1, 0.0, nan), np.where(touches > 1, speed, nan)
    every = zip(traced.pairs, ends.tolist(), speed.tolist(), exits.tolist(), force.tolist(), touches.tolist(), strict=True)
    return ContactTable(
        ContactRecord(slots.pair.name, nan, end, entry, left, hardest, nan, nan, nan, nan)
        for slots, end, entry, left, hardest, count in every
        if count > 0
    )
